//! The bill of materials of the program that is handed out, in CycloneDX's JSON: `cargo run -p xtask -- materials TRIPLE`.
//!
//! It lists what is compiled into the program: the crates that `cargo metadata` resolves for the platform, without those that only
//! tests or the build itself use, each with version, licence and the digest that `Cargo.lock` holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// The bill for a platform such as `x86_64-unknown-linux-musl`, as text.
pub(crate) fn bill(root: &Path, triple: &str) -> Result<String, String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version",
            "1",
            "--locked",
            "--filter-platform",
            triple,
        ])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata could not be run: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    let bill = of(&metadata, &checksums(&lock)?)?;
    serde_json::to_string_pretty(&bill).map_err(|error| error.to_string())
}

/// The digest of each crate by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: toml::Table = lock.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array);
    let packages = packages.ok_or("Cargo.lock holds no packages")?;
    let digest = |package: &toml::Value| {
        let field = |name: &str| Some(package.get(name)?.as_str()?.to_owned());
        Some(((field("name")?, field("version")?), field("checksum")?))
    };
    Ok(packages.iter().filter_map(digest).collect())
}

fn of(metadata: &Value, checksums: &BTreeMap<(String, String), String>) -> Result<Value, String> {
    let packages: BTreeMap<&str, &Value> = entries(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = entries(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let program = packages.iter().find(|(_, package)| package["name"] == PROGRAM);
    let (&start, program) = program.ok_or_else(|| format!("there is no package {PROGRAM}"))?;
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    let mut uses = BTreeMap::new();
    while let Some(id) = open.pop() {
        let node = nodes.get(id).ok_or_else(|| format!("{id} is not resolved"))?;
        let used: Vec<&str> = entries(&node["deps"])
            .filter(|dependency| entries(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null()))
            .filter_map(|dependency| dependency["pkg"].as_str())
            .collect();
        open.extend(used.iter().filter(|id| seen.insert(id)));
        uses.insert(id, used);
    }
    let reference = |id: &str| {
        let package = packages[id];
        format!("pkg:cargo/{}@{}", text(package, "name"), text(package, "version"))
    };
    let component = |id: &&str| {
        let package = packages[*id];
        let (name, version) = (text(package, "name"), text(package, "version"));
        let mut component = json!({
            "type": "library", "bom-ref": reference(id), "name": name, "version": version, "purl": reference(id),
        });
        if let Some(license) = package["license"].as_str() {
            component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
        }
        if let Some(digest) = checksums.get(&(name, version)) {
            component["hashes"] = json!([{ "alg": "SHA-256", "content": digest }]);
        }
        component
    };
    let mut components: Vec<Value> = seen.iter().filter(|id| **id != start).map(component).collect();
    components.sort_by_key(|component| component["bom-ref"].to_string());
    let mut dependencies: Vec<Value> = uses
        .iter()
        .map(|(id, used)| {
            let used: BTreeSet<String> = used.iter().map(|id| reference(id)).collect();
            json!({ "ref": reference(id), "dependsOn": used })
        })
        .collect();
    dependencies.sort_by_key(|dependency| dependency["ref"].to_string());
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": reference(start), "name": "slowpath", "version": text(program, "version"),
        } },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn entries(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

fn text(package: &Value, field: &str) -> String {
    package[field].as_str().unwrap_or_default().to_owned()
}

/// The package of the program.
const PROGRAM: &str = "slowpath-cli";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compiled_in_is_listed_with_its_digest_and_nothing_else() {
        let bill: Value =
            serde_json::from_str(&bill(&crate::root(), "x86_64-unknown-linux-gnu").unwrap()).unwrap();
        let of = |name: &str| entries(&bill["components"]).find(|component| component["name"] == name);
        for inside in ["clap", "ring", "serde_json"] {
            let component = of(inside).unwrap_or_else(|| panic!("{inside} is missing"));
            assert_eq!(component["hashes"][0]["content"].as_str().unwrap().len(), 64);
            assert!(component["licenses"][0]["expression"].is_string());
        }
        assert!(of("slowpath-facts").is_some_and(|component| component.get("hashes").is_none()));
        for only_in_tests in ["proptest", "slowpath-validate", "rcgen", "xtask"] {
            assert!(
                of(only_in_tests).is_none(),
                "{only_in_tests} is not in the program"
            );
        }
        // Every arrow leads to something that is listed.
        let known: BTreeSet<&str> = entries(&bill["dependencies"])
            .filter_map(|d| d["ref"].as_str())
            .collect();
        for arrow in entries(&bill["dependencies"]).flat_map(|d| entries(&d["dependsOn"])) {
            assert!(known.contains(arrow.as_str().unwrap()), "{arrow}");
        }
    }
}

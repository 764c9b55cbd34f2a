//! Which crate may depend on which.

use std::path::Path;
use std::process::Command;

/// Each crate with the crates it may name directly: those listed with it and all that these may use.
///
/// The order is bottom to top; `ARCHITECTURE.md` explains it.
pub(crate) const ALLOWED: &[(&str, &[&str])] = &[
    ("slowpath-words", &[]),
    ("slowpath-units", &[]),
    ("slowpath-sys", &[]),
    ("slowpath-packet", &["slowpath-units"]),
    ("slowpath-record", &["slowpath-units", "slowpath-packet"]),
    ("slowpath-path", &["slowpath-record"]),
    ("slowpath-endpoint", &["slowpath-record"]),
    ("slowpath-capture", &["slowpath-record"]),
    ("slowpath-workload", &["slowpath-record", "slowpath-sys"]),
    ("slowpath-facts", &["slowpath-record"]),
    ("slowpath-verdict", &["slowpath-facts", "slowpath-words"]),
    ("slowpath-scenario", &["slowpath-path", "slowpath-endpoint"]),
    ("slowpath-sim", &["slowpath-scenario"]),
    ("slowpath-page", &["slowpath-sim"]),
    ("slowpath-lab", &["slowpath-scenario", "slowpath-sys"]),
    ("slowpath-vendor", &["slowpath-scenario"]),
    ("slowpath-fit", &["slowpath-verdict", "slowpath-sim"]),
    ("slowpath-diagnose", &["slowpath-verdict", "slowpath-scenario"]),
    ("slowpath-report", &["slowpath-diagnose"]),
    (
        "slowpath-live",
        &["slowpath-capture", "slowpath-workload", "slowpath-report"],
    ),
    (
        "slowpath-stage",
        &[
            "slowpath-capture",
            "slowpath-workload",
            "slowpath-sim",
            "slowpath-lab",
            "slowpath-diagnose",
        ],
    ),
    (
        "slowpath",
        &[
            "slowpath-capture",
            "slowpath-workload",
            "slowpath-sim",
            "slowpath-lab",
            "slowpath-vendor",
            "slowpath-fit",
            "slowpath-page",
            "slowpath-report",
            "slowpath-live",
            "slowpath-stage",
        ],
    ),
    ("slowpath-validate", &["slowpath"]),
    ("slowpath-ui", &["slowpath"]),
    ("slowpath-python", &["slowpath"]),
    ("slowpath-cli", &["slowpath", "slowpath-ui"]),
    ("xtask", &["slowpath"]),
];

/// Arrows that the table does not allow, as sentences.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output();
    let metadata: serde_json::Value = match output {
        Ok(output) if output.status.success() => match serde_json::from_slice(&output.stdout) {
            Ok(value) => value,
            Err(error) => return vec![format!("cargo metadata printed no JSON: {error}")],
        },
        Ok(output) => {
            return vec![format!(
                "cargo metadata failed: {}",
                String::from_utf8_lossy(&output.stderr)
            )];
        }
        Err(error) => return vec![format!("cargo metadata could not be run: {error}")],
    };
    let mut faults = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(reachable) = reachable(name) else {
            faults.push(format!(
                "{name} is not in the table of xtask/src/arrows.rs; say what it may depend on"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let on = dependency["name"].as_str().unwrap_or_default();
            let is_dev = dependency["kind"].as_str() == Some("dev");
            let ours = on == "slowpath" || on.starts_with("slowpath-");
            // Tests may look further, but analysis may not see the truth even there (invariant 7).
            let blind = BLIND.contains(&name) && on == "slowpath-scenario";
            if ours && (!is_dev || blind) && !reachable.contains(&on) {
                faults.push(format!(
                    "{name} -> {on} is not allowed; arrows only go up the list in ARCHITECTURE.md"
                ));
            }
            if !is_dev && needs_table(name, on) && dependency["target"].as_str() != Some(LINUX) {
                faults.push(format!(
                    "{name} -> {on}: {on} builds on Linux alone and {name} everywhere; name it in \
                     [target.'{LINUX}'.dependencies]"
                ));
            }
            if !is_dev && PAST.contains(&(name, on)) {
                faults.push(format!(
                    "{name} -> {on} is not allowed; a verdict is made from facts and never touches packets"
                ));
            }
        }
    }
    faults
}

/// Crates that build on Linux alone. All others build on any system (`scripts/ports`), so they name these in a table of
/// [`LINUX`].
const LINUX_ONLY: &[&str] = &[
    "slowpath-sys",
    "slowpath-workload",
    "slowpath-lab",
    "slowpath-live",
    "slowpath-validate",
    "xtask",
];

/// The condition of such a table.
const LINUX: &str = "cfg(target_os = \"linux\")";

/// Whether `name` may name `on` for Linux alone.
fn needs_table(name: &str, on: &str) -> bool {
    LINUX_ONLY.contains(&on) && !LINUX_ONLY.contains(&name)
}

/// Crates that may not see the scenario of a run, even in tests (invariant 7).
const BLIND: &[&str] = &["slowpath-facts", "slowpath-verdict"];

/// Arrows that would go past a crate which stands between the two on purpose (invariant 8).
const PAST: &[(&str, &str)] = &[
    ("slowpath-verdict", "slowpath-packet"),
    ("slowpath-verdict", "slowpath-record"),
];

/// Every crate that `name` may use, directly or through another.
fn reachable(name: &str) -> Option<Vec<&'static str>> {
    let (_, direct) = ALLOWED.iter().find(|(candidate, _)| *candidate == name)?;
    let mut all: Vec<&str> = direct.to_vec();
    for one in *direct {
        all.extend(reachable(one).unwrap_or_default());
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn analysis_cannot_reach_the_truth() {
        for blind in BLIND {
            let seen = reachable(blind).unwrap();
            for hidden in [
                "slowpath-scenario",
                "slowpath-path",
                "slowpath-sim",
                "slowpath-lab",
            ] {
                assert!(!seen.contains(&hidden), "{blind}: {hidden}");
            }
        }
    }

    #[test]
    fn lab_and_workload_do_not_know_each_other() {
        assert!(!reachable("slowpath-lab").unwrap().contains(&"slowpath-workload"));
        assert!(!reachable("slowpath-workload").unwrap().contains(&"slowpath-lab"));
    }

    #[test]
    fn what_builds_everywhere_names_linux_in_a_table() {
        assert!(needs_table("slowpath", "slowpath-sys") && needs_table("slowpath-stage", "slowpath-lab"));
        assert!(!needs_table("slowpath-lab", "slowpath-sys") && !needs_table("slowpath", "slowpath-sim"));
        let known = |name: &&&str| ALLOWED.iter().any(|(candidate, _)| candidate == *name);
        assert_eq!(LINUX_ONLY.iter().filter(known).count(), LINUX_ONLY.len());
    }

    #[test]
    fn arrows_only_go_up() {
        for (index, (_, direct)) in ALLOWED.iter().enumerate() {
            for on in *direct {
                let place = ALLOWED.iter().position(|(name, _)| name == on).unwrap();
                assert!(place < index, "{on} stands below its user");
            }
        }
    }
}

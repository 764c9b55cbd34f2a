//! Rules on the sources themselves.

use std::fs;
use std::path::Path;

use super::tree::Tree;
use super::{circles, words};

/// Crates that may not fetch time, chance, files, sockets or the environment.
const SANS_IO: &[&str] = &[
    "slowpath-words",
    "slowpath-units",
    "slowpath-packet",
    "slowpath-record",
    "slowpath-path",
    "slowpath-endpoint",
    "slowpath-facts",
    "slowpath-verdict",
    "slowpath-scenario",
    "slowpath-sim",
    "slowpath-page",
    "slowpath-vendor",
    "slowpath-diagnose",
];

/// The only crate with `unsafe`.
const UNSAFE: &str = "slowpath-sys";

/// The crate of which a page calls functions by their names: keeping a name is an unsafe attribute, and no more of `unsafe` is in it.
const NAMED: &str = "slowpath-page";

/// The attribute, and the file that has it.
const KEEPS_NAME: (&str, &str) = ("#[unsafe(no_mangle)]", "exports.rs");

/// The only crate that prints.
const PRINTS: &str = "slowpath-cli";

/// What every library says at its top.
const QUIET: &str = "#![deny(clippy::print_stdout, clippy::print_stderr)]";

/// Broken rules, as sentences.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    let Ok(entries) = fs::read_dir(root.join("crates")) else {
        return vec!["the folder crates/ cannot be read".to_owned()];
    };
    let shared = fs::read_to_string(root.join("xtask/sans-io.clippy.toml")).unwrap_or_default();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let source = ["src/lib.rs", "src/main.rs"]
            .iter()
            .find_map(|file| fs::read_to_string(entry.path().join(file)).ok())
            .unwrap_or_default();
        if name == NAMED {
            faults.extend(more_than_names(&entry.path().join("src"), &source));
        } else if name != UNSAFE && !source.contains("#![forbid(unsafe_code)]") {
            faults.push(format!(
                "{name} does not forbid unsafe code; only {UNSAFE} may use it"
            ));
        }
        let prints = name == PRINTS;
        if !prints && !source.contains(QUIET) {
            faults.push(format!(
                "{name} does not refuse to print; its lib.rs needs `{QUIET}`"
            ));
        }
        let manifest = fs::read_to_string(entry.path().join("Cargo.toml")).unwrap_or_default();
        if ![UNSAFE, NAMED].contains(&name.as_str()) && !manifest.contains("[lints]\nworkspace = true") {
            faults.push(format!("{name} does not take the workspace's lints"));
        }
        let own = fs::read_to_string(entry.path().join("clippy.toml")).unwrap_or_default();
        if SANS_IO.contains(&name.as_str()) && own != shared {
            faults.push(format!(
                "{name} is sans-IO but its clippy.toml is not a link to xtask/sans-io.clippy.toml"
            ));
        }
        let sources = entry.path().join("src");
        let target = if prints { "main.rs" } else { "lib.rs" };
        let tree = Tree::read(&sources.join(target));
        faults.extend(circles::faults(&tree, root));
        let refused = words::refused(&name, SANS_IO.contains(&name.as_str()));
        faults.extend(words::faults(&tree, &refused, root));
    }
    faults.sort();
    faults
}

/// What is more than kept names in [`NAMED`], as sentences.
fn more_than_names(sources: &Path, root: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !root.contains("#![deny(unsafe_code)]") {
        faults.push(format!("{NAMED} does not deny unsafe code"));
    }
    let files = fs::read_dir(sources).into_iter().flatten().flatten();
    for file in files.map(|entry| entry.path()) {
        let (attribute, allowed) = KEEPS_NAME;
        let text = fs::read_to_string(&file).unwrap_or_default();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let mut rest = code.collect::<Vec<_>>().join("\n").replace("unsafe_code", "");
        if file.file_name().is_some_and(|name| name == allowed) {
            // The lint's reason, in words, is text.
            rest = rest.replace(attribute, "");
            rest = rest.split('"').step_by(2).collect();
        }
        if rest.contains("unsafe") {
            faults.push(format!(
                "{}: only {allowed} of {NAMED} may name `unsafe`, in `{attribute}` alone",
                file.display()
            ));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::more_than_names;
    use crate::fixture::Fixture;

    #[test]
    fn a_name_is_kept_and_nothing_else_is_unsafe() {
        let root = "#![deny(unsafe_code)]\n// unsafe in a comment\n";
        let kept = "#![expect(unsafe_code, reason = \"an unsafe attribute\")]\n#[unsafe(no_mangle)]\npub extern \"C\" fn f() {}\n";
        let faults = |lib: &str, exports: &str, other: &str| {
            let files = [("lib.rs", lib), ("exports.rs", exports), ("other.rs", other)];
            more_than_names(Fixture::new(&files).folder(), lib).len()
        };
        assert_eq!(faults(root, kept, ""), 0);
        assert_eq!(faults("", kept, ""), 1);
        assert_eq!(faults(root, &format!("{kept}fn g() {{ unsafe {{ }} }}"), ""), 1);
        assert_eq!(faults(root, kept, "#[unsafe(no_mangle)] fn g() {}"), 1);
    }
}

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
    "slowpath-vendor",
    "slowpath-diagnose",
];

/// The only crate with `unsafe`.
const UNSAFE: &str = "slowpath-sys";

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
        if name != UNSAFE && !source.contains("#![forbid(unsafe_code)]") {
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
        if name != UNSAFE && !manifest.contains("[lints]\nworkspace = true") {
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

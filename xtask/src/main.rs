//! Checks of this repository's own rules: `cargo run -p xtask -- check`.
//!
//! `check` refuses dependency arrows that `ARCHITECTURE.md` does not allow ([`arrows`]); crates without
//! `forbid(unsafe_code)`, libraries without the lints against printing, sans-IO crates without the shared clippy
//! configuration ([`sources`]); circles of files inside a crate ([`circles`]); and a printed line in a library, a
//! float in the network model, a hash map in a sans-IO crate, a packet in the verdict crate, a limit in the facts
//! crate, a bare number or a sentence in a rule of the verdict ([`words`]); and a message that nothing says
//! ([`catalogue`]). The last rules read the sources themselves ([`tree`]); what only tests compile is left out.
//! Paths that `ARCHITECTURE.md` names and that are not there ([`documents`]). And figures of the built-in
//! experiments whose label is not true ([`labels`]); `cargo run -p xtask -- labels` writes
//! the page about them, and `materials TRIPLE` the bill of materials of the program ([`materials`]).

mod arrows;
mod catalogue;
mod circles;
mod documents;
#[cfg(test)]
mod fixture;
mod labels;
mod materials;
mod sources;
mod tree;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    let root = root();
    if task == "labels" {
        return match labels::page(&root) {
            Ok(()) => ExitCode::SUCCESS,
            Err(fault) => {
                eprintln!("labels: {fault}");
                ExitCode::FAILURE
            }
        };
    }
    if task == "materials" {
        let triple = std::env::args().nth(2).unwrap_or_default();
        return match materials::bill(&root, &triple) {
            Ok(bill) => {
                println!("{bill}");
                ExitCode::SUCCESS
            }
            Err(fault) => {
                eprintln!("materials: {fault}");
                ExitCode::FAILURE
            }
        };
    }
    if task != "check" {
        eprintln!("usage: cargo run -p xtask -- check|labels|materials TRIPLE");
        return ExitCode::from(2);
    }
    let mut faults = arrows::faults(&root);
    faults.extend(sources::faults(&root));
    faults.extend(documents::faults(&root));
    faults.extend(labels::faults(&root));
    faults.extend(catalogue::faults(&root));
    for fault in &faults {
        eprintln!("architecture: {fault}");
    }
    if faults.is_empty() {
        println!("architecture: every rule on arrows, sources, files and words holds");
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The repository's root folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository")
        .to_owned()
}

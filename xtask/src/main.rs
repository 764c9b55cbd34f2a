//! Checks of this repository's own rules: `cargo run -p xtask -- check`.
//!
//! `check` refuses dependency arrows that `ARCHITECTURE.md` does not allow, crates without
//! `forbid(unsafe_code)` and sans-IO crates without the shared clippy configuration.

mod arrows;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1).unwrap_or_default();
    if task != "check" {
        eprintln!("usage: cargo run -p xtask -- check");
        return ExitCode::from(2);
    }
    let root = root();
    let mut faults = arrows::faults(&root);
    faults.extend(sources::faults(&root));
    for fault in &faults {
        eprintln!("architecture: {fault}");
    }
    if faults.is_empty() {
        println!("architecture: every arrow, unsafe and sans-IO rule holds");
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

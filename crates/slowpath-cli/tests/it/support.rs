//! What the tests of the command share: the program itself, scratch folders, a small experiment.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder that goes away with its value.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("slowpath-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn slowpath() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slowpath"));
    command
        .env("RUST_BACKTRACE", "0")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    slowpath().args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether a lab can be built here; says why a test is skipped otherwise.
pub(crate) fn lab_or_skip(test: &str) -> bool {
    let able = run(&["doctor"]).status.code() == Some(0);
    if !able {
        eprintln!("skipped: {test}: no lab can be built here, see `slowpath doctor`");
    }
    able
}

pub(crate) const SMALL: &str = r#"
title = "a small transfer"
[network]
both = [{ rate = "20 Mbit/s", queue = "100 packets" }, { delay = "5 ms" }]
[workload]
kind = "ftp-get"
size = "1 MiB"
repeats = 2
deadline = "60 s"
[hosts.server]
system = "linux"
congestion_control = "cubic"
[hosts.client]
system = "linux"
congestion_control = "cubic"
[[variants]]
name = "auto"
[[variants]]
name = "narrow"
hosts.client = { window = "16384 B" }
"#;

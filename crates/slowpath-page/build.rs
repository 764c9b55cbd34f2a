//! Compiles this crate once more, as the program that a page runs, where the standard library for WebAssembly is there.
//!
//! `program.rs` in the folder of built files says what came of it: `PROGRAM`, deflated, or `None` without that library
//! (`rustup target add wasm32-unknown-unknown`, which `scripts/setup` tries). What is compiled lies in `target/page`, whichever build asked
//! for it, so that lints, tests and other systems compile it once.

#![allow(
    clippy::disallowed_methods,
    reason = "what builds the crate reads files and starts a compiler; the crate itself does neither"
)]

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const TARGET: &str = "wasm32-unknown-unknown";

/// The crates that the program is made of.
const MADE_OF: [&str; 8] = [
    "units", "packet", "record", "path", "endpoint", "scenario", "sim", "page",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32") {
        return;
    }
    let own = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let root = own
        .ancestors()
        .nth(2)
        .expect("the crate lies in crates/")
        .to_owned();
    for name in MADE_OF {
        for part in ["src", "Cargo.toml"] {
            println!("cargo::rerun-if-changed=../slowpath-{name}/{part}");
        }
    }
    for file in ["Cargo.lock", "Cargo.toml"] {
        println!("cargo::rerun-if-changed=../../{file}");
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let said = if has_library() {
        let packed = deflated(&compiled(&root));
        fs::write(out.join("program.deflate"), packed).expect("the folder of built files can be written");
        "Some(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/program.deflate\")))"
    } else {
        "None"
    };
    let text = format!(
        "/// This crate as a program for WebAssembly, deflated (RFC 1951); `None` where it was built without that target's library.\n\
         pub const PROGRAM: Option<&[u8]> = {said};\n"
    );
    fs::write(out.join("program.rs"), text).expect("the folder of built files can be written");
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("cargo sets {name}"))
}

/// Whether the toolchain has the standard library of the target; looks again once a target is added.
fn has_library() -> bool {
    let asked = |what: &[&str]| {
        let output = Command::new(variable("RUSTC")).args(what).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| PathBuf::from(text.trim()))
    };
    if let Some(sysroot) = asked(&["--print", "sysroot"]) {
        // rustup's list: a folder as a whole would be looked through at each build.
        let list = sysroot.join("lib/rustlib/components");
        if list.is_file() {
            println!("cargo::rerun-if-changed={}", list.display());
        }
    }
    asked(&["--print", "target-libdir", "--target", TARGET]).is_some_and(|folder| folder.is_dir())
}

/// The program's bytes.
fn compiled(root: &Path) -> Vec<u8> {
    let folder = env::var("CARGO_TARGET_DIR").map_or_else(|_| root.join("target"), |dir| root.join(dir));
    let folder = folder.join("page");
    // What is there was fetched for the program that this one is a part of; other versions of cargo may still want to look.
    let mut said = String::new();
    for offline in [true, false] {
        let output = cargo(root, &folder, offline)
            .output()
            .expect("cargo runs, since it runs this");
        if output.status.success() {
            let program = folder.join(TARGET).join("page/slowpath_page.wasm");
            return fs::read(&program).unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        }
        said = String::from_utf8_lossy(&output.stderr).into_owned();
    }
    panic!("compiling the page's program for {TARGET}:\n{said}");
}

fn cargo(root: &Path, folder: &Path, offline: bool) -> Command {
    let mut cargo = Command::new(variable("CARGO"));
    // What the outer call says of itself (flags, wrappers of lints, profiles) is not meant for this one.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let of_cargo = text.starts_with("CARGO_")
            && ![
                "CARGO_HOME",
                "CARGO_MAKEFLAGS",
                "CARGO_NET_",
                "CARGO_HTTP_",
                "CARGO_REGISTR",
                "CARGO_SOURCE_",
            ]
            .iter()
            .any(|kept| text.starts_with(kept));
        if of_cargo
            || text.starts_with("RUSTFLAGS")
            || text.starts_with("CLIPPY")
            || text.starts_with("RUSTC_")
        {
            cargo.env_remove(&name);
        }
    }
    // The same commit gives the same bytes, wherever it is built.
    let mut plain = vec![(root.to_owned(), "/slowpath")];
    if let Some(home) = env::var_os("CARGO_HOME").map(PathBuf::from) {
        plain.push((home, "/cargo"));
    } else if let Some(home) = env::var_os("HOME") {
        plain.push((PathBuf::from(home).join(".cargo"), "/cargo"));
    }
    let flags: Vec<String> = plain
        .iter()
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect();
    cargo
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .current_dir(root)
        .args([
            "rustc",
            "--quiet",
            "--locked",
            "--package",
            "slowpath-page",
            "--lib",
        ])
        .args([
            "--crate-type",
            "cdylib",
            "--profile",
            "page",
            "--target",
            TARGET,
            "--target-dir",
        ])
        .arg(folder);
    if offline {
        cargo.arg("--offline");
    }
    cargo
}

fn deflated(program: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(program).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

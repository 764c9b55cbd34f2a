//! The schema of experiment files and its page: as they are in the documents, and as editors judge by them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Scratch, slowpath, text};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_reference_of_experiment_files_is_what_the_reader_reads() {
    let output = slowpath().arg("schema").output().unwrap();
    assert!(output.status.success());
    for (name, made) in [
        ("experiment.schema.json", text(&output.stdout)),
        ("experiment-file.md", slowpath::schema::page()),
    ] {
        let path = root().join("docs/reference").join(name);
        if std::env::var_os("SLOWPATH_BLESS").is_some() {
            fs::write(&path, made).unwrap();
            continue;
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == made,
            "docs/reference/{name} is not what the reader reads; SLOWPATH_BLESS=1 writes it"
        );
    }
}

/// Files as they are meant, and how each is spoilt so that an editor should mark it.
const SPOILT: [(&str, &str); 8] = [
    ("both = ", "bothways = "),
    ("50 Mbit/s", "50"),
    ("delay = ", "dealy = "),
    ("ftp-get", "ftp-fetch"),
    ("size = \"50 MiB\"", ""),
    ("repeats = 3", "repeats = 0"),
    ("congestion_control = \"cubic\"", "congestion_control = \"cubix\""),
    ("name = \"bbr\"", ""),
];

#[test]
fn editors_take_what_is_right_and_mark_what_is_wrong() {
    let has_checker = Command::new("python3")
        .args(["-c", "import jsonschema, tomllib"])
        .stderr(Stdio::null())
        .status();
    if !has_checker.is_ok_and(|status| status.success()) {
        eprintln!(
            "skipped: editors_take_what_is_right_and_mark_what_is_wrong: Python has no jsonschema (scripts/setup installs it)"
        );
        return;
    }
    let scratch = Scratch::new("schema");
    let schema = scratch.file(
        "schema.json",
        &text(&slowpath().arg("schema").output().unwrap().stdout),
    );
    let mut right: Vec<PathBuf> = fs::read_dir(root().join("experiments"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("experiment.toml"))
        .collect();
    assert_eq!(right.len(), 5);
    // What the documents show as whole files is right, too.
    let guide = fs::read_to_string(root().join("docs/guide/experiment-files.md")).unwrap();
    let shown: Vec<&str> = guide
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"))
        .map(|(block, _)| block)
        .collect();
    let example = shown.iter().find(|block| block.starts_with("title")).unwrap();
    right.push(scratch.file("example.toml", example));
    let wrong: Vec<PathBuf> = SPOILT
        .iter()
        .enumerate()
        .map(|(number, (good, bad))| {
            assert!(example.contains(good), "the example has no {good}");
            scratch.file(&format!("wrong{number}.toml"), &example.replacen(good, bad, 1))
        })
        .collect();
    let asked =
        serde_json::json!({ "schema": schema, "files": right.iter().chain(&wrong).collect::<Vec<_>>() });
    let mut checker = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/schema.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    checker
        .stdin
        .take()
        .unwrap()
        .write_all(asked.to_string().as_bytes())
        .unwrap();
    let output = checker.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let faults = |path: &Path| answer[path.to_str().unwrap()].as_array().unwrap().clone();
    for path in &right {
        assert!(faults(path).is_empty(), "{}: {:#?}", path.display(), faults(path));
    }
    for (path, (good, bad)) in wrong.iter().zip(SPOILT) {
        assert!(
            !faults(path).is_empty(),
            "\"{bad}\" instead of \"{good}\" was taken"
        );
        // The reader refuses the same.
        let output = slowpath()
            .arg("run")
            .arg(path)
            .args(["--quick", "--clock", "simulated"])
            .current_dir(&scratch.0)
            .output()
            .unwrap();
        assert!(!output.status.success(), "{bad}: the reader takes it");
    }
}

//! A results folder holds one experiment: what may join the finished runs in it, and what may not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::{SMALL, Scratch, lab_or_skip, run, text};

/// One variant, short enough for both clocks.
fn tiny() -> String {
    SMALL
        .replace("1 MiB", "64 KiB")
        .replace("repeats = 2", "repeats = 1")
}

/// Every file below a folder with its content.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                found.insert(path.display().to_string(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Fills `out` with `arguments` on the first clock, then runs `others` into it on every clock: all are refused with
/// `expected`, and no file changes.
fn refused(clocks: &[&str], out: &Path, arguments: &[&str], others: &[&str], expected: &[&str]) {
    let place = out.to_str().unwrap();
    for filled in clocks {
        let _ = fs::remove_dir_all(out);
        let output = run(&[&["run", "--out", place, "--clock", filled], arguments].concat());
        assert!(
            matches!(output.status.code(), Some(0 | 4)),
            "{}",
            text(&output.stderr)
        );
        let before = contents(out);
        assert!(
            before
                .keys()
                .any(|name| name.ends_with(&format!(".{filled}.json")))
        );
        for clock in ["simulated", "lab", "both"] {
            let output = run(&[&["run", "--out", place, "--clock", clock], others].concat());
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{filled}, {clock}: {said}");
            assert!(output.stdout.is_empty(), "{filled}, {clock}");
            for part in expected.iter().chain(&["--out", place]) {
                assert!(
                    said.contains(part),
                    "{filled}, {clock} does not say {part}: {said}"
                );
            }
            assert!(before == contents(out), "{filled}, {clock}: the folder changed");
        }
    }
}

/// Simulated time, and the lab where one can be built.
fn clocks(test: &str) -> Vec<&'static str> {
    let mut clocks = vec!["simulated"];
    if lab_or_skip(test) {
        clocks.push("lab");
    }
    clocks
}

#[test]
fn other_values_set_are_refused() {
    let scratch = Scratch::new("folder-set");
    let file = scratch.file("small.toml", &tiny());
    let file = file.to_str().unwrap();
    let out = scratch.0.join("out");
    let other = [
        "--variant",
        "auto",
        file,
        "--set",
        "network.both[0].rate=10 Mbit/s",
    ];
    let clocks = clocks("other_values_set_are_refused");
    refused(
        &clocks,
        &out,
        &other[..3],
        &other,
        &["no --set there", "--set 'network.both[0].rate=10 Mbit/s' here"],
    );
    refused(
        &["simulated"],
        &out,
        &other,
        &other[..3],
        &["--set 'network.both[0].rate=10 Mbit/s' there"],
    );
}

#[test]
fn another_seed_is_refused() {
    let scratch = Scratch::new("folder-seed");
    let file = scratch.file("small.toml", &tiny());
    let file = file.to_str().unwrap();
    let out = scratch.0.join("out");
    refused(
        &clocks("another_seed_is_refused"),
        &out,
        &["--variant", "auto", file],
        &["--variant", "auto", file, "--seed", "2"],
        &["--seed 1 there, 2 here"],
    );
}

#[test]
fn a_changed_file_is_refused() {
    let scratch = Scratch::new("folder-file");
    let file = scratch.file("small.toml", &tiny());
    let other = scratch.0.join("other");
    fs::create_dir(&other).unwrap();
    let other = other.join("small.toml");
    fs::write(&other, tiny().replace("\"5 ms\"", "\"6 ms\"")).unwrap();
    let out = scratch.0.join("out");
    refused(
        &clocks("a_changed_file_is_refused"),
        &out,
        &["--variant", "auto", file.to_str().unwrap()],
        &["--variant", "auto", other.to_str().unwrap()],
        &["experiment.toml line 4", "\"5 ms\"", "\"6 ms\""],
    );
}

/// A rate's recording belongs to the experiment that names it: the text of the experiment stays, its runs do not.
#[test]
fn a_changed_recording_of_a_rate_is_refused() {
    let scratch = Scratch::new("folder-trace");
    let text = tiny().replace("rate = \"20 Mbit/s\"", "rate = { trace = \"cell.down\" }");
    assert!(text.contains("cell.down"), "{text}");
    // A packet of 1500 bytes each millisecond, against one each other.
    let [old, new] = [("old", "1\n2\n3\n4\n"), ("new", "2\n4\n")].map(|(name, recording)| {
        let folder = scratch.0.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("small.toml"), &text).unwrap();
        fs::write(folder.join("cell.down"), recording).unwrap();
        folder.join("small.toml").display().to_string()
    });
    let out = scratch.0.join("out");
    refused(
        &clocks("a_changed_recording_of_a_rate_is_refused"),
        &out,
        &["--variant", "auto", &old],
        &["--variant", "auto", &new],
        &["cell.down line 1"],
    );
}

/// As after an update of slowpath: the folder's runs are of the same name, but of an older text.
#[test]
fn a_changed_built_in_experiment_is_refused() {
    let scratch = Scratch::new("folder-builtin");
    let older = scratch.0.join("cisco-ftp");
    fs::create_dir(&older).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/cisco-ftp");
    for entry in fs::read_dir(source).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, older.join(path.file_name().unwrap())).unwrap();
    }
    let text = fs::read_to_string(older.join("experiment.toml")).unwrap();
    let out = scratch.0.join("out");
    let place = older.to_str().unwrap();
    let small = ["--quick", "--variant", "linux-clean", "--repeats", "1"];
    let [old, new] = [place, "cisco-ftp"].map(|name| [&small[..], &[name]].concat());
    fs::write(
        older.join("experiment.toml"),
        text.replace("250 Mbit/s", "200 Mbit/s"),
    )
    .unwrap();
    refused(
        &clocks("a_changed_built_in_experiment_is_refused"),
        &out,
        &old,
        &new,
        &["200 Mbit/s", "250 Mbit/s", "experiment.toml line"],
    );
    // A device configuration belongs to the experiment, too.
    fs::write(older.join("experiment.toml"), text).unwrap();
    let config = fs::read_to_string(older.join("tuned.cfg")).unwrap();
    let changed = config.lines().find(|line| line.contains("window-size")).unwrap();
    let value = changed.split_whitespace().next_back().unwrap();
    fs::write(older.join("tuned.cfg"), config.replace(value, "65535")).unwrap();
    let small = ["--quick", "--variant", "iosxe-tuned", "--repeats", "1"];
    let [old, new] = [place, "cisco-ftp"].map(|name| [&small[..], &[name]].concat());
    refused(
        &["simulated"],
        &out,
        &old,
        &new,
        &["tuned.cfg line", "65535", value],
    );
}

#[test]
fn more_of_the_same_experiment_joins() {
    let scratch = Scratch::new("folder-more");
    let file = scratch.file("small.toml", &tiny());
    let name = file.to_str().unwrap();
    let out = scratch.0.join("out");
    let base = ["run", "--out", out.to_str().unwrap(), name];
    let more = |arguments: &[&str], kept: &str| {
        let output = run(&[&base, arguments].concat());
        let said = text(&output.stderr);
        assert!(
            matches!(output.status.code(), Some(0 | 4)),
            "{arguments:?}: {said}"
        );
        assert!(said.contains(kept), "{arguments:?}: {said}");
    };
    more(&["--clock", "simulated", "--variant", "auto"], "auto.0.simulated");
    let first = fs::read(out.join("runs/auto.0.simulated.json")).unwrap();
    more(
        &["--clock", "simulated", "--variant", "auto", "--repeats", "2"],
        "1 of 2 runs",
    );
    more(&["--clock", "simulated"], "1 of 2 runs");
    // A comment changes no run, nor does a value set to what it is.
    fs::write(&file, tiny() + "# a thought\n").unwrap();
    let set = ["--set", "network.both[1].delay=5 ms"];
    more(
        &[&["--clock", "simulated", "--repeats", "2"], &set[..]].concat(),
        "3 of 4 runs",
    );
    if lab_or_skip("more_of_the_same_experiment_joins") {
        more(&["--clock", "both"], "2 of 2 runs were finished");
        let result = fs::read_to_string(out.join("result.json")).unwrap();
        let result: serde_json::Value = serde_json::from_str(&result).unwrap();
        assert_eq!(result["variants"].as_array().unwrap().len(), 4);
    }
    assert!(first == fs::read(out.join("runs/auto.0.simulated.json")).unwrap());
}

/// A record that cannot be read may be an hour's work of another version; it is not written over.
#[test]
fn a_record_that_cannot_be_read_is_not_replaced() {
    let scratch = Scratch::new("folder-broken");
    let file = scratch.file("small.toml", &tiny());
    let out = scratch.0.join("out");
    fs::create_dir_all(out.join("runs")).unwrap();
    fs::write(out.join("runs/auto.0.simulated.json"), "{\"of\": \"old\"}").unwrap();
    let place = out.to_str().unwrap();
    let output = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--out",
        place,
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("move it away"));
    assert_eq!(contents(&out).len(), 1);
}

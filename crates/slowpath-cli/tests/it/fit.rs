//! From a capture to its path as an experiment, and to an answer for a change.

use std::fs;
use std::path::PathBuf;

use crate::support::{Scratch, run, text};

/// A transfer over a known path, captured beside its sender.
pub(crate) fn captured(scratch: &Scratch) -> PathBuf {
    captured_of(scratch, "4 MB")
}

fn captured_of(scratch: &Scratch, size: &str) -> PathBuf {
    let file = scratch.file(
        "known.toml",
        &format!("title = \"known\"\n[network]\nup = [{{ rate = \"10 Mbit/s\", queue = \"60000 B\", layer = \"L2+FCS\" }}, {{ delay = \"15 ms\" }}]\ndown = [{{ delay = \"15 ms\" }}]\n[workload]\nkind = \"iperf3\"\nsize = \"{size}\"\n[hosts.client]\nsystem = \"linux\"\ncongestion_control = \"reno\"\n"),
    );
    let out = scratch.0.join("known");
    let output = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let captures = fs::read_dir(out.join("captures")).unwrap();
    captures
        .map(|entry| entry.unwrap().path())
        .find(|path| path.file_name().unwrap().to_string_lossy().contains("client"))
        .expect("a capture at the client")
}

#[test]
fn a_capture_becomes_an_experiment_that_runs_alike() {
    let scratch = Scratch::new("fit");
    let capture = captured(&scratch);
    let path = scratch.0.join("path.toml");
    let arguments = ["--simulations", "160", "--format", "json", "-q"];
    let base = ["fit", capture.to_str().unwrap(), "-o", path.to_str().unwrap()];
    let output = run(&[&base[..], &arguments[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let fit: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(fit["schema"], "slowpath/fit/1");
    let rate = fit["model"]["rate"].as_f64().unwrap();
    assert!((rate / 10e6 - 1.0).abs() < 0.15, "{rate}");
    let captured_s = fit["captured"]["duration_s"].as_f64().unwrap();
    // A FIN takes a sequence number, and was counted as a byte.
    let output = run(&["explain", capture.to_str().unwrap(), "--format", "json", "-q"]);
    let explained: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        fit["captured"]["bytes"],
        explained["connections"][0]["bytes_delivered"]
    );

    let written = fs::read_to_string(&path).unwrap();
    assert!(written.starts_with("# Fitted to "), "{written}");
    let out = scratch.0.join("again");
    let output = run(&[
        "run",
        path.to_str().unwrap(),
        "--clock",
        "simulated",
        "--format",
        "json",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}\n{written}", text(&output.stderr));
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let again = result["variants"][0]["runs"][0]["duration_s"].as_f64().unwrap();
    // The run's own duration begins with the connection, the capture's with the data: one round trip.
    assert!(
        (again / captured_s - 1.0).abs() < 0.1,
        "{again} s, captured {captured_s} s"
    );
}

#[test]
fn what_if_is_answered_or_refused_and_wrong_words_are_explained() {
    let scratch = Scratch::new("what-if");
    let capture = captured(&scratch);
    let capture = capture.to_str().unwrap();
    let output = run(&[
        "explain",
        capture,
        "--what-if",
        "rate=20 Mbit/s",
        "--format",
        "json",
        "-q",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let explained: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let answer = &explained["connections"][0]["what_if"][0];
    assert_eq!(answer["identifiable"], true, "{answer}");
    let (before, after) = (
        answer["before_s"].as_f64().unwrap(),
        answer["duration_s"].as_f64().unwrap(),
    );
    assert!(after < before * 0.7, "{answer}");
    assert!(answer["low90_s"].as_f64().unwrap() <= after && after <= answer["high90_s"].as_f64().unwrap());

    let output = run(&["explain", capture, "--what-if", "warp=9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("there is no change `warp`"),
        "{}",
        text(&output.stderr)
    );
    let output = run(&["fit", capture, "--flow", "99"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("no connection 99"),
        "{}",
        text(&output.stderr)
    );
}

/// A change of what is not there, one that no model takes and one after which the transfer hardly moves were all "not identifiable".
#[test]
fn a_change_without_an_answer_says_which_kind_of_reason_there_is() {
    let scratch = Scratch::new("what-if-untold");
    let capture = captured(&scratch);
    let asked = [
        "explain",
        capture.to_str().unwrap(),
        "--what-if",
        "policer=none",
        "--what-if",
        "congestion-control=vegas",
        "--what-if",
        "window=1 kB",
        "-q",
    ];
    let output = run(&asked);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout).replace("\n    ", " ");
    for answer in [
        "remove the policer in both directions: nothing to change: there is no policer",
        "use vegas on the sender: not simulated: the model endpoint does not have it",
        "too slow to tell: the changed transfer does not come to an end",
    ] {
        assert!(said.contains(answer), "{answer}: {said}");
    }
    let output = run(&[&asked[..], &["--format", "json"]].concat());
    let explained: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let answers = explained["connections"][0]["what_if"].as_array().unwrap();
    let untold: Vec<_> = answers
        .iter()
        .map(|answer| answer["untold"].as_str().unwrap())
        .collect();
    assert_eq!(untold, ["nothing-to-change", "not-simulated", "no-end"]);
    assert!(answers.iter().all(|answer| answer["identifiable"] == false));
}

#[test]
fn what_a_capture_says_is_there_also_without_an_answer_to_what_if() {
    let scratch = Scratch::new("what-if-short");
    let capture = captured_of(&scratch, "20 kB");
    let output = run(&["explain", capture.to_str().unwrap(), "--what-if", "usual"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stdout);
    assert!(said.contains("20,000 B"), "{said}");
    assert!(
        text(&output.stderr).contains("a fit needs"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_transfer_is_reproduced_beside_its_capture() {
    let scratch = Scratch::new("reproduce");
    let capture = captured(&scratch);
    let out = scratch.0.join("reproduced");
    let base = [
        "reproduce",
        capture.to_str().unwrap(),
        "--repeats",
        "1",
        "--clock",
        "simulated",
        "-q",
        "--out",
    ];
    let with = |more: &[&str]| run(&[&base[..], &[out.to_str().unwrap()], more].concat());
    let output = with(&["--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(made["schema"], "slowpath/reproduce/1");
    assert_eq!(made["explained"], true);
    let runs = made["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    for run in runs {
        let (again, first) = (&run["shown"], &made["captured"]);
        let ratio = again["duration_s"].as_f64().unwrap() / first["duration_s"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.05, "{made:#}");
        assert_eq!(again["limit"], first["limit"]);
        assert!(run["apart"]["sequence"].as_f64().unwrap() < 0.05, "{made:#}");
        // It is a run of its own, not the capture once more.
        assert!(run["apart"]["rate"].as_f64().unwrap() > 0.0);
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for words in ["Acknowledged by time", ">captured<", ">reproduced<"] {
        assert!(page.contains(words), "the page lacks {words}");
    }

    // What has run is not run again; the same in words, and in Japanese.
    let output = with(&[]);
    let said = text(&output.stdout);
    let joined = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("limited by the same: 1 of 1"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let output = with(&["--lang", "ja"]);
    let said = text(&output.stdout);
    assert!(
        said.contains("再現した転送は") && !said.contains("Reproduced"),
        "{said}"
    );

    let output = run(&["reproduce", "missing.pcap", "--clock", "simulated"]);
    let said = text(&output.stderr);
    assert!(
        !output.status.success() && said.contains("missing.pcap"),
        "{said}"
    );
    assert!(!PathBuf::from("results/missing-reproduced").exists());
}

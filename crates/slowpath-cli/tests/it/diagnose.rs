//! `slowpath diagnose`: each variant with its limit, what was tried, what came of it, and the lines that make it.

use std::fs;

use crate::support::{SMALL, Scratch, run, text};

/// A window that holds the transfer, on a path that others over it have filled.
fn small() -> String {
    SMALL.replace("1 MiB", "8 MiB")
}

#[test]
fn a_small_window_is_found_widened_and_measured_again() {
    let scratch = Scratch::new("diagnose");
    let file = scratch.file("window.toml", &small());
    let out = scratch.0.join("out");
    let arguments = [
        "diagnose",
        file.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
        "--check",
    ];
    let output = run(&arguments);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    let narrow = said
        .split("narrow")
        .nth(1)
        .expect("a block of the narrow variant");
    assert!(narrow.contains("limited by receiver-window"), "{said}");
    assert!(
        narrow.contains("held      a receiver's window of 2,500,000 bytes"),
        "{said}"
    );
    assert!(narrow.contains("sysctl> net.ipv4.tcp_rmem"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("result.json")).unwrap()).unwrap();
    let proof = document["proofs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|proof| proof["variant"] == "narrow")
        .unwrap();
    assert_eq!(proof["outcome"], "held");
    assert_eq!(proof["intervention"]["change"], "set-window");
    let (before, after) = (&proof["before_byte_per_s"], &proof["measured_byte_per_s"]);
    assert!(
        after.as_f64().unwrap() > before.as_f64().unwrap() * 1.3,
        "{proof}"
    );
}

#[test]
fn what_was_proven_of_other_variants_stays() {
    let scratch = Scratch::new("diagnose-again");
    let file = scratch.file("window.toml", &small());
    let (file, out) = (file.to_str().unwrap(), scratch.0.join("out"));
    let out = out.to_str().unwrap();
    let first = text(&run(&["diagnose", file, "--out", out]).stdout);
    let again = run(&["diagnose", file, "--out", out, "--variant", "auto"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    // What was asked for is printed, and as before; the folder keeps both.
    let said = text(&again.stdout);
    let auto = said
        .split("Report:")
        .next()
        .unwrap()
        .split_once("auto")
        .unwrap()
        .1;
    let block = auto.split("\n\n").next().unwrap().split_whitespace();
    let block: Vec<&str> = block.collect();
    let before: Vec<&str> = first.split_once("auto").unwrap().1.split_whitespace().collect();
    assert_eq!(before[..block.len()], block[..], "{said}");
    assert!(!said.contains("narrow"), "{said}");
    let document: serde_json::Value =
        serde_json::from_slice(&fs::read(scratch.0.join("out/result.json")).unwrap()).unwrap();
    let proven: Vec<&str> = document["proofs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|proof| proof["variant"].as_str())
        .collect();
    assert_eq!(proven, ["auto", "narrow"]);
}

#[test]
fn a_dossiers_questions_are_answered_from_the_results() {
    let scratch = Scratch::new("questions");
    let file = scratch.file("window.toml", &small());
    scratch.file(
        "dossier.toml",
        "[[questions]]\nask = \"What does the window cost?\"\ngain = [[\"narrow\", \"auto\"]]\ntime = [\"narrow\"]\n\
         range = [{ of = [\"narrow\", \"auto\"], sweep = \"delay=50 us,5 ms,20 ms\", called = \"delay each way\" }]\n",
    );
    let out = scratch.0.join("out");
    let out = out.to_str().unwrap();
    let output = run(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--out",
        out,
    ]);
    let said = text(&output.stdout)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for part in [
        "* narrow, mean of 2 runs: of ",
        "auto is ",
        "the receiver's window held it, then the bottleneck bandwidth does",
        "auto is faster than narrow by a tenth and more from a delay each way of 5 ms on",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let page = fs::read_to_string(std::path::Path::new(out).join("report.html")).unwrap();
    assert!(page.contains("What does the window cost?"));
}

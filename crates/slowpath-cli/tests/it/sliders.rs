//! Sliders in a report: what the page simulates is what `slowpath run` does with the same experiment file, to the last bit.

use std::fs;
use std::path::Path;

use serde_json::Value;
use slowpath_page::{Question, answer};
use slowpath_units::ByteCount;

use crate::browser::look;
use crate::fit::captured;
use crate::support::{Scratch, run, text};

#[test]
fn sliders_show_what_native_runs_say() {
    let test = "sliders_show_what_native_runs_say";
    if slowpath_page::PROGRAM.is_none() {
        eprintln!(
            "skipped: {test}: built without the simulator for pages (rustup target add wasm32-unknown-unknown)"
        );
        return;
    }
    let scratch = Scratch::new("sliders");
    let capture = captured(&scratch);
    let capture = capture.to_str().unwrap();
    let path = scratch.0.join("path.toml");
    let fitted = done(&[
        "fit",
        capture,
        "-o",
        path.to_str().unwrap(),
        "--format",
        "json",
        "-q",
    ]);
    let fitted: Value = serde_json::from_str(&fitted).unwrap();
    let experiment = fs::read_to_string(&path).unwrap();
    let page = done(&[
        "explain",
        capture,
        "--what-if",
        "rate=20 Mbit/s",
        "--format",
        "html",
        "-q",
    ]);
    scratch.file("page.html", &page);
    let reproduced = scratch.0.join("reproduced");
    done(&[
        "reproduce",
        capture,
        "--repeats",
        "1",
        "--clock",
        "simulated",
        "-q",
        "--out",
        reproduced.to_str().unwrap(),
    ]);
    fs::copy(reproduced.join("report.html"), scratch.0.join("report.html")).unwrap();
    if !look(test, "sliders", &scratch.0) {
        return;
    }
    let seen = fs::read_to_string(scratch.0.join("seen.json")).unwrap();
    let seen: Vec<Value> = serde_json::from_str(&seen).unwrap();
    assert!(seen.len() > 10, "{seen:?}");

    // The fitted values are the fit's own run.
    let number = |shown: &Value, key: &str| shown[key].as_str().unwrap().parse::<f64>().unwrap();
    let count = |shown: &Value, key: &str| shown[key].as_str().unwrap().parse::<u64>().unwrap();
    let own = fitted["fitted"]["duration_s"].as_f64().unwrap();
    for shown in [&seen[0], seen.last().unwrap()] {
        assert_eq!(
            number(shown, "fitted duration").to_bits(),
            own.to_bits(),
            "{shown}"
        );
        assert_eq!(
            count(shown, "fitted bytes"),
            fitted["captured"]["bytes"].as_u64().unwrap()
        );
    }
    let mut edited_runs = 0;
    for shown in &seen {
        let changes: Vec<String> = serde_json::from_value(shown["changes"].clone()).unwrap();
        // The same code, compiled for this machine.
        let native = answer(&Question {
            experiment: experiment.clone(),
            variant: String::new(),
            seed: 1,
            at_sender: true,
            bytes: fitted["model"]["given"]["bytes"].as_u64().unwrap(),
            changes: changes.clone(),
        })
        .unwrap();
        assert_eq!(
            number(shown, "now duration").to_bits(),
            native.duration_s.to_bits(),
            "{changes:?}"
        );
        assert_eq!(
            number(shown, "now goodput").to_bits(),
            native.goodput_bit_per_s.to_bits()
        );
        assert_eq!(count(shown, "now bytes"), native.bytes);
        assert_eq!(count(shown, "now resent"), native.resent);
        // The experiment file, edited by hand, as `slowpath run` takes it.
        let Some(edited) = edited(&experiment, &changes) else {
            continue;
        };
        edited_runs += 1;
        let result = ran(&scratch, &edited, edited_runs);
        assert_eq!(
            number(shown, "run duration").to_bits(),
            result["duration_s"].as_f64().unwrap().to_bits(),
            "{changes:?}"
        );
        assert_eq!(
            count(shown, "run bytes"),
            result["bytes"].as_u64().unwrap(),
            "{changes:?}"
        );
        assert_eq!(
            count(shown, "run resent"),
            result["retransmitted_segments"].as_u64().unwrap(),
            "{changes:?}"
        );
    }
    assert!(edited_runs >= 10, "{edited_runs}");

    let japanese = done(&[
        "--lang",
        "ja",
        "explain",
        capture,
        "--what-if",
        "rate=20 Mbit/s",
        "--format",
        "html",
        "-q",
    ]);
    for words in ["スライダーを動かすと", "最も遅い回線の速度", "輻輳制御"] {
        assert!(japanese.contains(words), "{words}");
    }
    for words in ["Move a slider", ">Delay each way<", "not told by", ">Now<"] {
        assert!(!japanese.contains(words), "{words}");
    }
    // A page without a fit carries no simulator.
    let plain = done(&["explain", capture, "--format", "html", "-q"]);
    assert!(!plain.contains("wasm-unsafe-eval") && !plain.contains("id=\"simulator\""));
    assert!(page.len() > plain.len() + 100_000);
}

fn done(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// The experiment with changes written into it; `None` where a change is no line of it.
fn edited(experiment: &str, changes: &[String]) -> Option<String> {
    let mut text = experiment.to_owned();
    for change in changes {
        let (key, value) = change.split_once('=').unwrap();
        if key == "window" {
            text = with_window(&text, value.parse().unwrap());
            continue;
        }
        let (before, after) = match key {
            "rate" | "delay" | "queue" | "loss" => (format!("{key} = \""), "\""),
            "congestion-control" => ("congestion_control = \"".to_owned(), "\""),
            _ => return None,
        };
        let mut out = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(&before) {
            let begin = at + before.len();
            let end = begin + rest[begin..].find(after).unwrap();
            out.push_str(&rest[..begin]);
            out.push_str(value);
            rest = &rest[end..];
        }
        out.push_str(rest);
        assert_ne!(out, text, "{change} changes nothing in\n{experiment}");
        text = out;
    }
    // What is slower takes longer than the fit waits.
    Some(text.replace("deadline = \"", "deadline = \"9"))
}

/// The experiment whose receiver has a window of so many bytes: a program that asks Linux for a buffer has five quarters of it as
/// window.
fn with_window(experiment: &str, window: ByteCount) -> String {
    let (before, receiver) = experiment.split_once("[hosts.receiver]\n").unwrap();
    let others: Vec<&str> = receiver
        .lines()
        .filter(|line| !line.starts_with("rmem") && !line.starts_with("window = "))
        .collect();
    let asked = (window.bytes() * 4).div_ceil(5);
    format!(
        "{before}[hosts.receiver]\nwindow = \"{asked} B\"\n{}\n",
        others.join("\n")
    )
}

/// The first run of an experiment in `result.json`.
fn ran(scratch: &Scratch, experiment: &str, number: usize) -> Value {
    let file = scratch.file(&format!("edited-{number}.toml"), experiment);
    let out = scratch.0.join(format!("edited-{number}"));
    done(&[
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "-q",
        "--out",
        out.to_str().unwrap(),
    ]);
    first_run(&out)
}

fn first_run(folder: &Path) -> Value {
    let result = fs::read_to_string(folder.join("result.json")).unwrap();
    let result: Value = serde_json::from_str(&result).unwrap();
    result["variants"][0]["runs"][0].clone()
}

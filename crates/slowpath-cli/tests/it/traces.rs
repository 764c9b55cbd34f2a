//! A recorded rate is read from its file, by an experiment and by a path on the command line.

use std::fs;

use crate::support::{SMALL, Scratch, lab_or_skip, run, text};

/// 1500 bytes every other millisecond: 6 Mbit/s.
const TRACE: &str = "2\n4\n6\n8\n10\n";

#[test]
fn an_experiment_runs_over_a_recorded_rate_and_leaves_its_tables() {
    let scratch = Scratch::new("trace");
    scratch.file("cell.trace", TRACE);
    let text_of = SMALL.replace("rate = \"20 Mbit/s\"", "rate = { trace = \"cell.trace\" }");
    let file = scratch.file("recorded.toml", &text_of);
    let out = scratch.0.join("out");
    let arguments = [
        "run",
        file.to_str().unwrap(),
        "--clock",
        "simulated",
        "--variant",
        "auto",
        "--out",
    ];
    let output = run(&[&arguments[..], &[out.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = fs::read_to_string(out.join("runs.csv")).unwrap();
    let mut lines = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|cell| *cell == name).unwrap();
    let (goodput, clock) = (column("goodput_byte_per_s"), column("clock"));
    let rows: Vec<_> = lines.collect();
    assert_eq!(rows.len(), 2, "{table}");
    for row in rows {
        assert_eq!((row.len(), row[clock]), (head.len(), "simulated"), "{table}");
        let rate: f64 = row[goodput].parse().unwrap();
        assert!(
            (500_000.0..750_000.0).contains(&rate),
            "{rate} of at most 750,000"
        );
    }
    // The trace lies with the results, so that these can be made again without the original.
    assert_eq!(fs::read_to_string(out.join("cell.trace")).unwrap(), TRACE);
    let missing = scratch.file("missing.toml", &text_of.replace("cell.trace", "other.trace"));
    let output = run(&[
        "run",
        missing.to_str().unwrap(),
        "--clock",
        "simulated",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("other.trace"));
}

#[test]
fn a_path_on_the_command_line_has_a_recorded_rate() {
    let scratch = Scratch::new("shell-trace");
    let file = scratch.file("cell.trace", TRACE);
    let path = |file: &str| format!("trace {file}, delay 1 ms");
    let output = run(&["shell", &path("/nowhere/cell.trace"), "--", "true"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(
        text(&output.stderr).contains("/nowhere/cell.trace"),
        "{}",
        text(&output.stderr)
    );
    if !lab_or_skip("a_path_on_the_command_line_has_a_recorded_rate") {
        return;
    }
    let output = run(&["shell", &path(file.to_str().unwrap()), "--", "sh", "-c", "exit 7"]);
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
}

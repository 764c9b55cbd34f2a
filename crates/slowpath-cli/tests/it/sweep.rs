//! Sweeps: in parts, interrupted, killed, put together; always the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::support::{SMALL, Scratch, slowpath, text};

fn sweep(scratch: &Scratch, arguments: &[&str]) -> Output {
    let mut command = slowpath();
    command.current_dir(&scratch.0).args(arguments);
    command.output().unwrap()
}

fn done(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// The tables of a folder: every file but what was computed when.
fn tables(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() {
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// The small experiment with a random loss that can be changed.
fn lossy() -> String {
    SMALL.replace(
        "{ delay = \"5 ms\" }]",
        "{ delay = \"5 ms\" }, { loss = \"0.01 %\" }]",
    )
}

const GRID: [&str; 6] = [
    "sweep",
    "small.toml",
    "delay=5 ms..60 ms step 5 ms",
    "loss=0 %,0.1 %,1 %",
    "--repeats",
    "2",
];

fn grid<'a>(more: &[&'a str]) -> Vec<&'a str> {
    GRID.iter().chain(more).copied().collect()
}

#[test]
fn shards_put_together_have_the_bytes_of_one() {
    let scratch = Scratch::new("shards");
    scratch.file("small.toml", &lossy());
    done(&sweep(&scratch, &grid(&["--out", "one"])));
    let whole = tables(&scratch.0.join("one"));
    for name in [
        "sweep.csv",
        "sweep.json",
        "runs.parquet",
        "ledgers.parquet",
        "ledgers.csv",
        "CITATION.cff",
        "design.json",
    ] {
        assert!(whole.contains_key(name), "{name} is missing: {:?}", whole.keys());
    }
    let header = text(&whole["sweep.csv"]);
    assert!(
        header.starts_with("delay [s],loss [fraction],variant,repeat,seed,"),
        "{header}"
    );
    let lines = header.lines().count();
    assert!(lines > 1 + 12 * 3 * 2, "{lines} lines");

    // On one processor.
    let mut alone = Command::new("taskset");
    alone.args(["-c", "0", env!("CARGO_BIN_EXE_slowpath")]);
    alone.current_dir(&scratch.0).args(grid(&["--out", "alone"]));
    done(&alone.output().unwrap());
    assert_eq!(tables(&scratch.0.join("alone")), whole);

    // In four folders, and in one by processes at the same time.
    let together: Vec<_> = ["1/4", "2/4", "3/4", "4/4"]
        .into_iter()
        .map(|part| {
            let mut command = slowpath();
            command
                .current_dir(&scratch.0)
                .args(grid(&["--shard", part, "--out", "shared"]))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for process in together {
        done(&process.wait_with_output().unwrap());
    }
    let mut folders = Vec::new();
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        let out = format!("part{}", &part[..1]);
        done(&sweep(&scratch, &grid(&["--shard", part, "--out", &out])));
        assert!(
            !scratch.0.join(&out).join("sweep.csv").exists(),
            "a part has no table"
        );
        folders.push(out);
    }
    let lacking = sweep(
        &scratch,
        &["merge", "part1", "part3", "part4", "--out", "lacking"],
    );
    assert_eq!(lacking.status.code(), Some(2));
    assert!(
        text(&lacking.stderr).contains("are not computed"),
        "{}",
        text(&lacking.stderr)
    );
    let mut merge = vec!["merge", "--out", "merged"];
    merge.extend(folders.iter().map(String::as_str));
    done(&sweep(&scratch, &merge));
    assert_eq!(tables(&scratch.0.join("merged")), whole);
    done(&sweep(&scratch, &["merge", "shared"]));
    assert_eq!(tables(&scratch.0.join("shared")), whole);

    // Parts of another sweep do not go with them.
    done(&sweep(
        &scratch,
        &grid(&["--seed", "2", "--shard", "2/4", "--out", "other"]),
    ));
    let mixed = sweep(&scratch, &["merge", "part1", "other", "--out", "mixed"]);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(
        text(&mixed.stderr).contains("another seed"),
        "{}",
        text(&mixed.stderr)
    );
    let none = sweep(&scratch, &["merge", "."]);
    assert!(
        text(&none.stderr).contains("holds no design.json"),
        "{}",
        text(&none.stderr)
    );
}

#[test]
fn a_killed_sweep_goes_on_and_loses_nothing() {
    let scratch = Scratch::new("killed-sweep");
    scratch.file("small.toml", &lossy().replace("1 MiB", "8 MiB"));
    let wanted = grid(&["--out", "swept"]);
    let mut kills = 0;
    for _ in 0..3 {
        let mut command = slowpath();
        command
            .current_dir(&scratch.0)
            .args(&wanted)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let parts = scratch.0.join("swept/parts");
        let count = || fs::read_dir(&parts).map_or(0, Iterator::count);
        let (begun, before) = (Instant::now(), count());
        while count() <= before
            && begun.elapsed() < Duration::from_mins(1)
            && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_millis(20));
        }
        if child.try_wait().unwrap().is_none() {
            kills += 1;
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    // What lies there now is not made again: a mark in a part survives in the tables.
    let whole_part = |path: &std::path::PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
    let part = fs::read_dir(scratch.0.join("swept/parts"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .find(whole_part)
        .expect("a part was written before the last kill");
    let kept = fs::read_to_string(&part).unwrap();
    let place = kept.find("\"bytes\":").unwrap();
    let marked = format!(
        "{}\"bytes\":42{}",
        &kept[..place],
        &kept[kept[place..].find(',').unwrap() + place..]
    );
    fs::write(&part, marked).unwrap();
    done(&sweep(&scratch, &wanted));
    let resumed = text(&tables(&scratch.0.join("swept"))["sweep.csv"]);
    assert_eq!(
        resumed
            .lines()
            .filter(|line| line.split(',').any(|field| field == "42"))
            .count(),
        1
    );
    fs::write(&part, kept).unwrap();
    done(&sweep(&scratch, &wanted));
    done(&sweep(&scratch, &grid(&["--out", "whole"])));
    assert_eq!(tables(&scratch.0.join("swept")), tables(&scratch.0.join("whole")));
    if kills == 0 {
        eprintln!("no kill met the sweep while it ran: it was too fast here");
    }
    // A broken part is named.
    fs::write(&part, "{").unwrap();
    let broken = sweep(&scratch, &wanted);
    assert_eq!(broken.status.code(), Some(2));
    assert!(
        text(&broken.stderr).contains("delete it"),
        "{}",
        text(&broken.stderr)
    );
}

#[test]
fn samples_and_intervals() {
    let scratch = Scratch::new("sampled-sweep");
    scratch.file("small.toml", &lossy());
    let sampled = [
        "sweep",
        "small.toml",
        "rate=5 Mbit/s..500 Mbit/s:log",
        "delay=1 ms..40 ms",
        "loss=0.0001 %..1 %:log",
        "queue=10 packets..400 packets",
        "--sample",
        "8",
        "--repeats",
        "1",
        "--samples",
        "--out",
        "sampled",
    ];
    done(&sweep(&scratch, &sampled));
    let found = tables(&scratch.0.join("sampled"));
    assert!(text(&found["samples.csv"]).lines().count() > 100);
    let rates: Vec<f64> = text(&found["sweep.csv"])
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert!(
        rates.iter().any(|rate| *rate < 1e7) && rates.iter().any(|rate| *rate > 1e8),
        "{rates:?}"
    );

    // One point without chance needs the least number of repeats, one with losses more.
    let narrow = [
        "sweep",
        "small.toml",
        "loss=0 %,0.5 %",
        "--within",
        "2 %",
        "--most",
        "12",
        "--format",
        "json",
        "--out",
        "narrow",
    ];
    let output = sweep(&scratch, &narrow);
    done(&output);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for point in document["points"].as_array().unwrap() {
        let (runs, goodput) = (
            point["runs"].as_array().unwrap().len(),
            &point["goodput_byte_per_s"],
        );
        let half = (goodput["high95"].as_f64().unwrap() - goodput["low95"].as_f64().unwrap()) / 2.0;
        let narrow = half <= 0.02 * goodput["mean"].as_f64().unwrap();
        assert!((3..=12).contains(&runs) && (narrow || runs == 12), "{point}");
        if point["values"][0] == "0 %" {
            assert_eq!(runs, 3, "nothing of chance");
        }
    }
    for (wrong, says) in [
        (
            &["sweep", "small.toml", "rate=1..2 by 2", "--sample", "3"][..],
            "no step",
        ),
        (&["sweep", "small.toml"][..], "KEY=RANGE"),
        (&["sweep", "small.toml", "loss=1 %", "--shard", "3/2"][..], "2/4"),
        (&["sweep", "small.toml", "loss=1 %", "--within", "0 %"][..], "5 %"),
    ] {
        let output = sweep(&scratch, wrong);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(says),
            "{wrong:?}: {}",
            text(&output.stderr)
        );
    }
}

/// A sweep over other settings leaves the tables of the first where they are; one with other values goes on there.
#[test]
fn another_sweep_has_a_folder_of_its_own() {
    let scratch = Scratch::new("another-sweep");
    scratch.file("small.toml", &lossy());
    let run = |range: &str| {
        done(&sweep(
            &scratch,
            &[
                "sweep",
                "small.toml",
                range,
                "--variant",
                "auto",
                "--repeats",
                "1",
            ],
        ));
    };
    let of = |folder: &str| tables(&scratch.0.join("results").join(folder));
    run("delay=5 ms,10 ms");
    let first = of("small-sweep");
    run("loss=0 %,1 %");
    assert_eq!(of("small-sweep"), first);
    let second = text(&of("small-sweep-2")["sweep.csv"]);
    assert!(second.starts_with("loss [fraction],"), "{second}");
    run("delay=5 ms,10 ms,20 ms");
    let longer = text(&of("small-sweep")["sweep.csv"]);
    assert!(longer.lines().count() > text(&first["sweep.csv"]).lines().count());
    run("loss=0.1 %");
    assert!(!scratch.0.join("results/small-sweep-3").exists());
}

//! `slowpath run cisco-ftp --clock simulated --repeats 20` from start to end: its processor time against that of its
//! simulations and their analyses alone, and one processor against two, in turns in the same run.
//!
//! `SLOWPATH_BENCH_REPEATS` sets the repeats, `SLOWPATH_BENCH_ROUNDS` the rounds (default 3). Prints ratios of the least of each, and which
//! goals were missed.

#![allow(clippy::disallowed_methods)] // a bench reads files, starts programs and measures time

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use slowpath::Clock;
use slowpath::load::Loaded;
use slowpath::run::{Planned, RunOptions};

/// The command, as users run it.
const SLOWPATH: &str = env!("CARGO_BIN_EXE_slowpath");
/// The experiment.
const NAME: &str = "cisco-ftp";
/// Most processor time of the command, as a multiple of that of its simulations and analyses alone.
const MOST: f64 = 1.3;
/// How many times as fast two processors are to be as one.
const GAIN: f64 = 1.8;
/// A processor's clock in `/proc/PID/stat`, ticks a second (`USER_HZ`).
const TICKS: f64 = 100.0;

fn main() {
    // `cargo test --benches` runs every bench: one repeat of few variants shows that it works.
    let as_test = !std::env::args().any(|argument| argument == "--bench");
    let repeats = setting("SLOWPATH_BENCH_REPEATS", if as_test { 1 } else { 20 });
    let rounds = setting("SLOWPATH_BENCH_ROUNDS", if as_test { 1 } else { 3 });
    let loaded = Loaded::open(NAME, &[]).expect("a built-in experiment");
    let options = RunOptions {
        clocks: vec![Clock::Simulated],
        variants: Vec::new(),
        repeats: Some(repeats),
        decide: false,
        seed: 1,
        quick: false,
        capture: false,
        out: PathBuf::new(),
        places: 1,
        worker: (PathBuf::new(), Vec::new()),
    };
    let planned = slowpath::run::plan(&loaded, &options).expect("a built-in experiment can be planned");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let has_taskset = Command::new("taskset").arg("--version").output().is_ok();
    if !has_taskset {
        println!("skipped: the command on one processor: taskset is not installed");
        return;
    }
    let mut alone = f64::INFINITY;
    let (mut one, mut two) = (Cost::NONE, Cost::NONE);
    for _ in 0..rounds {
        alone = alone.min(simulations(&planned));
        one = one.least(command("0", repeats));
        if processors > 1 {
            two = two.least(command("0,1", repeats));
        }
    }
    let (count, ratio) = (planned.len(), one.processor_s / alone);
    println!(
        "{NAME}, {count} runs: the command takes {:.2} s of processor time, {ratio:.2} times that of its simulations and analyses alone ({alone:.2} s)",
        one.processor_s
    );
    if ratio > MOST {
        println!("MISSED processor time of the command: {ratio:.2} x, wanted {MOST}");
    }
    if processors < 2 {
        println!("skipped: the command on two processors: there is one");
        return;
    }
    let gain = one.elapsed_s / two.elapsed_s;
    println!(
        "on two processors it is {gain:.2} times as fast as on one ({:.2} and {:.2} s)",
        two.elapsed_s, one.elapsed_s
    );
    if gain < GAIN {
        println!("MISSED two processors: {gain:.2} times as fast, wanted {GAIN}");
    }
}

/// Processor time of all simulations and analyses, one after the other, with nothing written.
fn simulations(planned: &[Planned]) -> f64 {
    let begun = processor_s("/proc/thread-self/stat", OWN);
    for run in planned {
        let done = slowpath::simulated::explained(NAME, &run.plan, false);
        black_box(done.expect("a built-in experiment can be simulated"));
    }
    processor_s("/proc/thread-self/stat", OWN) - begun
}

/// What the command costs on these processors.
fn command(processors: &str, repeats: u32) -> Cost {
    let folder = std::env::temp_dir().join(format!("slowpath-bench-run-{}", std::process::id()));
    let begun = (processor_s("/proc/self/stat", CHILDREN), Instant::now());
    let status = Command::new("taskset")
        .args(["-c", processors, SLOWPATH, "run", NAME, "--clock", "simulated"])
        .args(["--repeats", &repeats.to_string(), "--out"])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let cost = Cost {
        processor_s: processor_s("/proc/self/stat", CHILDREN) - begun.0,
        elapsed_s: begun.1.elapsed().as_secs_f64(),
    };
    let _ = fs::remove_dir_all(&folder);
    assert!(status.is_ok_and(|status| status.success()), "the command failed");
    cost
}

/// What a run of the command costs, seconds.
#[derive(Clone, Copy)]
struct Cost {
    processor_s: f64,
    elapsed_s: f64,
}

impl Cost {
    const NONE: Self = Self {
        processor_s: f64::INFINITY,
        elapsed_s: f64::INFINITY,
    };

    fn least(self, other: Self) -> Self {
        Self {
            processor_s: self.processor_s.min(other.processor_s),
            elapsed_s: self.elapsed_s.min(other.elapsed_s),
        }
    }
}

/// Fields of user and system time in `/proc/PID/stat` behind the name (proc(5), `utime` and `cutime`).
const OWN: usize = 11;
const CHILDREN: usize = 13;

/// User and system time of a `stat` file, seconds.
fn processor_s(file: &str, field: usize) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let behind = text.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks = behind
        .split(' ')
        .skip(field)
        .take(2)
        .filter_map(|word| word.parse::<f64>().ok());
    ticks.sum::<f64>() / TICKS
}

fn setting(name: &str, default: u32) -> u32 {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

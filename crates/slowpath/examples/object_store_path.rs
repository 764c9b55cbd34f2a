//! Looks for a path that explains the uploads of `bbr-object-storage`, in simulated time.
//!
//! ```text
//! cargo run --release -p slowpath --example object_store_path -- try 'network.up[0].queue=400 packets' ...
//! cargo run --release -p slowpath --example object_store_path -- search [CANDIDATES [used-again|used-once]]
//! ```
//!
//! `try` computes all six rows of the built-in experiment with ten seeds, with changes to it if any are given. `search` draws
//! paths from the ranges below by a Halton sequence (so a longer search begins with the shorter one's candidates),
//! with connections that are used again, used once, or by turns both. For each path the time per request is set from the
//! two rows of 1 MiB, which hardly anything else can move; then all four rows with 16 connections score it, a path whose
//! small rows are far off being given up before the large ones. The best paths are improved, and only then the rows
//! with 32 connections are computed, for the best of all and with several seeds. The same call prints the same table.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use slowpath::{Clock, simulated};
use slowpath_diagnose::stats::Summary;
use slowpath_scenario::{Experiment, Fragments, PlanOptions};

type Change = (String, String);

/// A candidate path and client.
#[derive(Clone, Copy)]
struct Point {
    /// One number for each range.
    values: [f64; RANGES.len()],
    /// Whether connections are used again.
    reuse: bool,
    /// Time of each request beside its data in milliseconds, from the small rows.
    service_ms: f64,
}

/// A candidate with its error and what it gives for the fitted rows.
type Scored = (f64, Point, Vec<f64>);

/// One unknown of the path.
struct Range {
    title: &'static str,
    key: &'static str,
    /// The setting, with `#` for the number.
    setting: &'static str,
    /// Bounds; values are drawn evenly over their logarithms.
    from: f64,
    to: f64,
    digits: usize,
}

const RANGES: [Range; 4] = [
    Range {
        title: "rate (Mbit/s)",
        key: "network.up[0].rate",
        setting: "# Mbit/s",
        from: 600.0,
        to: 1200.0,
        digits: 0,
    },
    Range {
        title: "queue (packets)",
        key: "network.up[0].queue",
        setting: "# packets",
        from: 20.0,
        to: 3000.0,
        digits: 0,
    },
    Range {
        title: "loss (ppm)",
        key: "network.up[1].loss",
        setting: "# ppm",
        from: 0.3,
        to: 300.0,
        digits: 2,
    },
    // About 160/256 of it is window: below 1.2 MB it holds one connection under 6 MiB/s.
    Range {
        title: "rmem (kB)",
        key: "hosts.server.rmem",
        setting: "[\"4 KiB\", \"128 KiB\", \"# kB\"]",
        from: 700.0,
        to: 7000.0,
        digits: 0,
    },
];

/// The rows with their published throughput in MiB/s; the first four are fitted.
const ROWS: [(&str, f64); 6] = [
    ("cubic-1m-16", 7.738_037),
    ("bbr-1m-16", 10.320_328),
    ("cubic-16m-16", 35.019_121),
    ("bbr-16m-16", 63.878_509),
    ("cubic-16m-32", 38.083_356),
    ("bbr-16m-32", 85.140_798),
];
const FITTED: usize = 4;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["try", changes @ ..] => {
            let changes: Option<Vec<Change>> = changes.iter().map(|text| change(text)).collect();
            let Some(changes) = changes else {
                eprintln!("write changes as KEY=VALUE, such as 'network.up[0].rate=800 Mbit/s'");
                return ExitCode::from(2);
            };
            print_rows(&rows(&changes, &ROWS, SEED));
            print_seeds(&with_seeds(&changes));
        }
        ["search", rest @ ..] => {
            let candidates = rest
                .first()
                .and_then(|text| text.parse().ok())
                .unwrap_or(CANDIDATES);
            let reuse = match rest.get(1) {
                Some(&"used-again") => Some(true),
                Some(&"used-once") => Some(false),
                _ => None,
            };
            search(candidates, reuse);
        }
        _ => {
            eprintln!(
                "usage: object_store_path try [KEY=VALUE ...] | search [CANDIDATES [used-again|used-once]]"
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn change(text: &str) -> Option<Change> {
    text.split_once('=')
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
}

/// Throughput of each row in MiB/s with these changes to the experiment; 0 where a run did not come to its end.
fn rows(changes: &[Change], wanted: &[(&str, f64)], seed: u64) -> Vec<f64> {
    let experiment = Experiment::read(NAME, &text(), changes)
        .unwrap_or_else(|errors| panic!("the experiment cannot be changed like this: {errors}"));
    wanted
        .iter()
        .map(|(variant, _)| {
            let options = PlanOptions {
                variant: (*variant).to_owned(),
                repeat: 0,
                seed,
                clock: Clock::Simulated,
                quick: false,
                size: None,
            };
            let plan = experiment
                .plan(&options, &Fragments::new())
                .unwrap_or_else(|error| panic!("planning {variant} failed: {error}"));
            let record = simulated::bare(NAME, &plan)
                .unwrap_or_else(|error| panic!("simulating {variant} failed: {error}"));
            let done = record.transfers.iter().find(|transfer| transfer.complete);
            done.map_or(0.0, |transfer| transfer.goodput_byte_per_s() / MIB)
        })
        .collect()
}

/// The experiment with the variants of [`ROWS`] alone: changes to its path need not fit the paths of the others.
fn text() -> String {
    let mut parts = EXPERIMENT.split(VARIANT);
    let head = parts.next().unwrap_or_default().to_owned();
    let wanted = |part: &&str| {
        ROWS.iter()
            .any(|(name, _)| part.starts_with(&format!("name = \"{name}\"\n")))
    };
    parts
        .filter(wanted)
        .fold(head, |text, part| text + VARIANT + part)
}

fn print_rows(measured: &[f64]) {
    println!("row           published  simulated  ratio   (MiB/s)");
    for ((name, published), value) in ROWS.iter().zip(measured) {
        println!(
            "{name:<13} {published:>9.2} {value:>10.2} {:>6.2}",
            value / published
        );
    }
    println!("BBR over CUBIC    published  simulated  ratio");
    for pair in [0, 2, 4] {
        let (published, simulated) = (
            ROWS[pair + 1].1 / ROWS[pair].1,
            measured[pair + 1] / measured[pair],
        );
        let name = ROWS[pair].0.trim_start_matches("cubic-");
        println!(
            "{name:<13} {published:>13.2} {simulated:>10.2} {:>6.2}",
            simulated / published
        );
    }
}

/// The largest error, as a multiple of what is allowed: 25 % for each row, 15 % for each ratio.
fn score(measured: &[f64]) -> f64 {
    let off = |value: f64, published: f64| {
        if value > 0.0 {
            (value / published).ln().abs()
        } else {
            99.0
        }
    };
    let mut worst: f64 = 0.0;
    for pair in (0..measured.len()).step_by(2) {
        let (cubic, bbr) = (ROWS[pair].1, ROWS[pair + 1].1);
        worst = worst
            .max(off(measured[pair], cubic) / 1.25_f64.ln())
            .max(off(measured[pair + 1], bbr) / 1.25_f64.ln())
            .max(off(measured[pair + 1] / measured[pair], bbr / cubic) / 1.15_f64.ln());
    }
    worst
}

fn search(candidates: usize, reuse: Option<bool>) {
    let points: Vec<Point> = (1..=candidates).map(|index| draw(index, reuse)).collect();
    let mut known = scored(&points);
    let mut tried = known.len();
    for round in 1..=ROUNDS {
        known.truncate(SURVIVORS.max(SHOWN));
        let step = 0.5_f64.powi(round);
        let near: Vec<Point> = known
            .iter()
            .take(SURVIVORS)
            .flat_map(|(_, point, _)| neighbours(point, step))
            .collect();
        tried += near.len();
        known.extend(scored(&near));
        known.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    known.truncate(SHOWN);
    for range in &RANGES {
        print!("{:>16}", range.title);
    }
    println!("{:>14}{:>8}  error  rows (MiB/s)", "service (ms)", "reuse");
    for (error, point, values) in &known {
        for (range, value) in RANGES.iter().zip(point.values) {
            print!("{value:>16.*}", range.digits);
        }
        print!("{:>14.0}{:>8}", point.service_ms, point.reuse);
        let values: Vec<String> = values.iter().map(|value| format!("{value:.1}")).collect();
        println!("  {error:.2}   {}", values.join(" "));
    }
    if let Some((error, point, _)) = known.first() {
        println!(
            "\n{tried} paths tried. The best one, error {error:.2} of what is allowed; the last two rows and ratio were \
             not used:"
        );
        println!("seed {SEED}");
        print_rows(&rows(&changes(point), &ROWS, SEED));
        print_seeds(&with_seeds(&changes(point)));
    }
}

/// All rows with each of the seeds.
fn with_seeds(changes: &[Change]) -> Vec<Vec<f64>> {
    let next = AtomicU64::new(SEED);
    let found = Mutex::new(BTreeMap::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > SEEDS {
                        break;
                    }
                    let result = rows(changes, &ROWS, seed);
                    found
                        .lock()
                        .expect("no worker panics while it holds the list")
                        .insert(seed, result);
                }
            });
        }
    });
    let found = found.into_inner().expect("all workers have ended");
    found.into_values().collect()
}

/// Means of the rows and of the ratios with their 95 % intervals, and the smallest and largest of each.
fn print_seeds(runs: &[Vec<f64>]) {
    println!(
        "{} seeds        published      mean  95 % CI   least    most",
        runs.len()
    );
    let line = |name: &str, published: f64, values: &[f64]| {
        let Some(summary) = Summary::of(values) else {
            return;
        };
        println!(
            "{name:<14} {published:>9.2} {:>9.2} {:>8.2} {:>7.2} {:>7.2}",
            summary.mean,
            summary.half_width().unwrap_or(f64::NAN),
            summary.min,
            summary.max
        );
    };
    for (row, (name, published)) in ROWS.iter().enumerate() {
        let values: Vec<f64> = runs.iter().map(|run| run[row]).collect();
        line(name, *published, &values);
    }
    for pair in [0, 2, 4] {
        let values: Vec<f64> = runs.iter().map(|run| run[pair + 1] / run[pair]).collect();
        let name = format!("ratio {}", ROWS[pair].0.trim_start_matches("cubic-"));
        line(&name, ROWS[pair + 1].1 / ROWS[pair].1, &values);
    }
}

/// The path with its time per request set, its error, and its rows; without the large ones if the small ones are far off.
fn evaluate(point: &Point) -> Scored {
    let mut point = *point;
    let mut values = Vec::new();
    for round in 0..=SERVICE_ROUNDS {
        values = rows(&changes(&point), &ROWS[..SMALL], SEED);
        if round == SERVICE_ROUNDS || values.iter().any(|value| *value <= 0.0) {
            break;
        }
        // Seconds of one request of 1 MiB with 16 connections, published less simulated, over both rows.
        let missing: f64 = (ROWS.iter().zip(&values))
            .map(|((_, published), value)| 16.0 / published - 16.0 / value)
            .sum();
        point.service_ms = (point.service_ms + missing / SMALL as f64 * 1000.0).clamp(0.0, 3000.0);
    }
    if score(&values) < HOPELESS {
        values.extend(rows(&changes(&point), &ROWS[SMALL..FITTED], SEED));
    }
    // A path that was given up comes behind all others.
    let given_up = if values.len() < FITTED { 100.0 } else { 0.0 };
    (score(&values) + given_up, point, values)
}

/// The points with their scores and values, best first.
fn scored(points: &[Point]) -> Vec<Scored> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(points.len()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(point) = points.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = evaluate(point);
                    eprintln!(
                        "{:.0?} {} {:.0} ms: {:.2} {:.1?}",
                        result.1.values, result.1.reuse, result.1.service_ms, result.0, result.2
                    );
                    found
                        .lock()
                        .expect("no worker panics while it holds the list")
                        .push(result);
                }
            });
        }
    });
    let mut found = found.into_inner().expect("all workers have ended");
    // Points with equal scores in the order of their values, so that the number of workers does not matter.
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| compare(&a.1, &b.1)));
    found
}

fn compare(a: &Point, b: &Point) -> std::cmp::Ordering {
    let mut different = a.values.iter().zip(b.values).map(|(a, b)| a.total_cmp(&b));
    different
        .find(|order| order.is_ne())
        .unwrap_or_else(|| a.reuse.cmp(&b.reuse))
}

fn changes(point: &Point) -> Vec<Change> {
    let numbers = RANGES.iter().zip(point.values);
    let mut changes: Vec<Change> = numbers
        .map(|(range, value)| {
            (
                range.key.to_owned(),
                range.setting.replace('#', &format!("{value:.*}", range.digits)),
            )
        })
        .collect();
    changes.push(("workload.reuse".to_owned(), point.reuse.to_string()));
    changes.push((
        "workload.service_time".to_owned(),
        format!("{:.0} ms", point.service_ms),
    ));
    changes
}

/// Candidate number `index` of the Halton sequence.
fn draw(index: usize, reuse: Option<bool>) -> Point {
    let values = std::array::from_fn(|dimension| {
        let range = &RANGES[dimension];
        let share = radical_inverse(index, PRIMES[dimension]);
        range.from * (range.to / range.from).powf(share)
    });
    Point {
        values,
        reuse: reuse.unwrap_or(index.is_multiple_of(2)),
        service_ms: 1000.0,
    }
}

/// Each unknown a step up and down, `step` being a share of its range.
fn neighbours(point: &Point, step: f64) -> Vec<Point> {
    let mut near = Vec::new();
    for (dimension, range) in RANGES.iter().enumerate() {
        for sign in [-1.0, 1.0] {
            let mut moved = *point;
            let factor = (range.to / range.from).powf(sign * step / 4.0);
            moved.values[dimension] = (moved.values[dimension] * factor).clamp(range.from, range.to);
            near.push(moved);
        }
    }
    near
}

/// The digits of `index` in base `base`, mirrored at the point (Halton 1960).
fn radical_inverse(mut index: usize, base: usize) -> f64 {
    let (mut value, mut digit) = (0.0, 1.0 / base as f64);
    while index > 0 {
        value += (index % base) as f64 * digit;
        index /= base;
        digit /= base as f64;
    }
    value
}

const PRIMES: [usize; RANGES.len()] = [3, 5, 7, 11];
/// Paths drawn when the command line does not say.
const CANDIDATES: usize = 40;
/// How often the best ones are improved, and how many they are.
const ROUNDS: i32 = 3;
const SURVIVORS: usize = 3;
/// Rows of 1 MiB, at the beginning of the list, and how often they correct the time per request.
const SMALL: usize = 2;
const SERVICE_ROUNDS: usize = 3;
/// Error of the small rows, as a multiple of what is allowed, from which the large ones are not computed.
const HOPELESS: f64 = 2.0;
/// The best path is computed for the search's own seed and those up to this one.
const SEEDS: u64 = 10;
/// Candidates in the printed table.
const SHOWN: usize = 12;
const NAME: &str = "bbr-object-storage";
const EXPERIMENT: &str = include_str!("../../../experiments/bbr-object-storage/experiment.toml");
const VARIANT: &str = "[[variants]]\n";
const SEED: u64 = 1;
const MIB: f64 = 1_048_576.0;

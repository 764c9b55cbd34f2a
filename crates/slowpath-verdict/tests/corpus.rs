//! Scores verdicts over labelled captures.
//!
//! The labels are read here and nowhere else: the analysis gets packets only, no file name and no label.
//!
//! How the cut-offs in `judge::rules::cutoff` were chosen: as round numbers inside the gap between the two classes that
//! each of them separates, after a look at the figures of all files, never at one file. `cut_offs_hold_across_halves` shows
//! how much that look could have flattered the score: it sets each cut-off in the middle of the gap of one half of the files
//! and scores the other half with it, both ways.

#![allow(clippy::disallowed_methods)] // the labels are read from a file

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use slowpath_verdict::{Analysis, Limit};

struct Labelled {
    file: String,
    cause: String,
    also: Vec<String>,
    not: Vec<String>,
    may_be_unknown: bool,
    rate: Option<f64>,
    bucket: Option<f64>,
    queue: Option<f64>,
    flows: i64,
    reached: Option<f64>,
    analysis: Analysis,
}

impl Labelled {
    fn limit(&self) -> Limit {
        self.analysis
            .main_connection()
            .map_or(Limit::Unknown, |connection| connection.verdict.limit)
    }

    /// The label in the vocabulary of verdicts; `None` where the label says nothing about a limit.
    fn expected(&self) -> Option<&str> {
        match self.cause.as_str() {
            "bufferbloat" => Some("bottleneck-bandwidth"),
            "duplicates" | "unknown" => None,
            cause => Some(cause),
        }
    }

    fn undecided(&self) -> bool {
        self.limit().is_undecided()
    }

    fn right(&self) -> bool {
        self.expected() == Some(self.limit().name())
    }

    fn is_policed(&self) -> bool {
        self.cause == "policed"
    }
}

fn labelled(test: &str) -> Option<&'static [Labelled]> {
    static CASES: OnceLock<Vec<Labelled>> = OnceLock::new();
    let folder = support::corpus(test)?;
    Some(CASES.get_or_init(|| read_all(&folder)))
}

fn read_all(folder: &Path) -> Vec<Labelled> {
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the corpus has a manifest");
    let manifest: toml::Table = text.parse().expect("the manifest is TOML");
    let captures = manifest["capture"].as_array().expect("captures are listed");
    captures.iter().filter_map(|entry| one(folder, entry)).collect()
}

fn one(folder: &Path, entry: &toml::Value) -> Option<Labelled> {
    let file = entry["file"].as_str()?.to_owned();
    let truth = entry.get("truth")?;
    let analysis = support::analyze(&folder.join(&file))?;
    let text = |key: &str| truth.get(key).and_then(toml::Value::as_str).map(str::to_owned);
    let number = |key: &str| {
        truth.get(key).and_then(|value| {
            value
                .as_float()
                .or_else(|| value.as_integer().map(|whole| whole as f64))
        })
    };
    let list = |key: &str| -> Vec<String> {
        truth
            .get(key)
            .and_then(toml::Value::as_array)
            .map(|items| {
                items
                    .iter()
                    .filter_map(toml::Value::as_str)
                    .map(str::to_owned)
                    .collect()
            })
            .unwrap_or_default()
    };
    Some(Labelled {
        file,
        cause: text("cause")?,
        also: list("also"),
        not: list("not"),
        may_be_unknown: truth
            .get("may_be_unknown")
            .and_then(toml::Value::as_bool)
            .unwrap_or(false),
        rate: number("rate_bit_per_s"),
        bucket: number("bucket_bytes"),
        queue: number("queue_bytes"),
        flows: truth.get("flows").and_then(toml::Value::as_integer).unwrap_or(1),
        reached: number("reached_fraction"),
        analysis,
    })
}

fn print_confusion(cases: &[Labelled]) {
    let mut table: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in cases {
        *table
            .entry((case.cause.as_str(), case.limit().name()))
            .or_default() += 1;
    }
    println!("{:24} {:24} count", "label", "verdict");
    for ((label, verdict), count) in &table {
        println!("{label:24} {verdict:24} {count:5}");
    }
}

#[test]
fn verdicts_agree_with_labels() {
    let Some(cases) = labelled("verdicts_agree_with_labels") else {
        return;
    };
    print_confusion(cases);
    let mut faults = Vec::new();
    let decided: Vec<&Labelled> = cases.iter().filter(|case| case.expected().is_some()).collect();
    assert!(
        decided.len() > 150,
        "only {} labelled captures were read",
        decided.len()
    );
    for case in &decided {
        let contradicted = case.not.iter().any(|not| not == case.limit().name());
        if contradicted
            || !(case.right() || case.undecided() || case.also.iter().any(|also| also == case.limit().name()))
        {
            faults.push(format!(
                "{}: labelled {}, judged {}",
                case.file,
                case.cause,
                case.limit()
            ));
        }
        let reason = case
            .analysis
            .main_connection()
            .and_then(|main| main.verdict.next_step.clone());
        if case.undecided() && reason.is_none() && case.analysis.main_connection().is_some() {
            faults.push(format!("{}: undecided without saying what to capture", case.file));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
    let right = decided.iter().filter(|case| case.right()).count();
    let surprising = decided
        .iter()
        .filter(|case| case.undecided() && !case.may_be_unknown)
        .count();
    println!(
        "{right} of {} right, {surprising} undecided without need",
        decided.len()
    );
    assert!(right * 100 >= decided.len() * 97, "{right} of {}", decided.len());
}

#[test]
fn policers_are_found_with_rate_and_bucket() {
    let Some(cases) = labelled("policers_are_found_with_rate_and_bucket") else {
        return;
    };
    let large: Vec<&Labelled> = cases
        .iter()
        .filter(|case| case.is_policed() && case.bucket.is_none_or(|bucket| bucket >= 40_000.0))
        .collect();
    assert!(large.len() >= 30, "{} captures", large.len());
    let missed: Vec<&str> = large
        .iter()
        .filter(|case| case.limit() != Limit::Policed)
        .map(|case| case.file.as_str())
        .collect();
    assert!(missed.len() <= 1, "missed: {missed:?}");
    let found: Vec<&&Labelled> = large
        .iter()
        .filter(|case| case.limit() == Limit::Policed)
        .collect();
    let parameters = |case: &Labelled| {
        case.analysis
            .main_connection()
            .map(|main| main.verdict.parameters)
    };
    let (mut near, mut sized, mut with_bucket) = (0, 0, 0);
    for case in &found {
        let parameters = parameters(case).expect("a verdict has parameters");
        let rate = parameters.rate_bit_per_s.expect("a policer has a rate") / case.rate.expect("labelled");
        let close = (rate - 1.0).abs() <= 0.06;
        near += usize::from(close);
        let bucket = case
            .bucket
            .map(|bucket| parameters.bucket_bytes.unwrap_or(0) as f64 / bucket);
        with_bucket += usize::from(bucket.is_some());
        sized += usize::from(bucket.is_some_and(|ratio| (ratio - 1.0).abs() <= 0.30));
        if !close || bucket.is_some_and(|ratio| (ratio - 1.0).abs() > 0.05) {
            println!("{}: rate x {rate:.3}, bucket x {bucket:.2?}", case.file);
        }
    }
    println!(
        "{} of {} found; rate within 6 % on {near}, bucket within 30 % on {sized} of {with_bucket}",
        found.len(),
        large.len()
    );
    assert!(
        near * 10 >= found.len() * 9,
        "rate within 6 % on {near} of {}",
        found.len()
    );
    assert!(
        sized * 10 >= with_bucket * 9,
        "bucket within 30 % on {sized} of {with_bucket}"
    );
}

#[test]
fn small_and_shared_buckets_are_found() {
    let Some(cases) = labelled("small_and_shared_buckets_are_found") else {
        return;
    };
    for case in cases.iter().filter(|case| case.is_policed()) {
        let may_be_undecided = case.reached.is_some_and(|reached| reached < 0.9);
        let accepted = case.limit() == Limit::Policed || (may_be_undecided && case.undecided());
        let small = case.bucket.is_some_and(|bucket| bucket < 40_000.0);
        if small || case.flows > 1 {
            assert!(accepted, "{}: {}", case.file, case.limit());
        }
    }
}

#[test]
fn queues_random_loss_and_cross_traffic_are_never_called_policed() {
    let Some(cases) = labelled("queues_random_loss_and_cross_traffic_are_never_called_policed") else {
        return;
    };
    for case in cases.iter().filter(|case| !case.is_policed()) {
        for connection in &case.analysis.connections {
            assert_ne!(
                connection.verdict.limit,
                Limit::Policed,
                "{} (queue {:?}): {}",
                case.file,
                case.queue,
                connection.verdict.sentence
            );
        }
    }
}

#[test]
fn duplicates_of_the_capture_are_counted() {
    let Some(cases) = labelled("duplicates_of_the_capture_are_counted") else {
        return;
    };
    let marked =
        |case: &&Labelled| case.cause == "duplicates" || case.also.iter().any(|also| also == "duplicates");
    let mut seen = 0;
    for case in cases.iter().filter(marked) {
        seen += 1;
        assert!(
            case.analysis.capture.quality.duplicate_packets >= 10,
            "{}",
            case.file
        );
    }
    assert!(seen >= 5);
    for case in cases
        .iter()
        .filter(|case| !marked(case) && case.file.starts_with("lab/"))
    {
        assert_eq!(
            case.analysis.capture.quality.duplicate_packets, 0,
            "{}",
            case.file
        );
    }
}

/// A figure that one cut-off judges: `low` cases must lie below it and `high` cases above.
struct Separation {
    name: &'static str,
    low: Vec<f64>,
    high: Vec<f64>,
}

#[test]
fn cut_offs_hold_across_halves() {
    let Some(cases) = labelled("cut_offs_hold_across_halves") else {
        return;
    };
    let flow = |case: &Labelled| {
        let main = case.analysis.main_connection()?;
        let queue = if main.parallel_flows > 1 {
            main.shared_queue
        } else {
            main.facts.queue
        };
        Some((main.facts.clone(), queue?))
    };
    let halves: [Vec<&Labelled>; 2] = [0, 1].map(|parity| {
        cases
            .iter()
            .filter(|case| !case.file.starts_with("derived/") && !case.file.starts_with("tcptrace/"))
            .enumerate()
            .filter(|(index, _)| index % 2 == parity)
            .map(|(_, case)| case)
            .collect()
    });
    let separations = halves.each_ref().map(|half| {
        let figure = |keep: &dyn Fn(&Labelled) -> bool,
                      value: &dyn Fn(&slowpath_facts::FlowFacts, &slowpath_facts::QueueFit) -> f64|
         -> Vec<f64> {
            half.iter()
                .filter(|case| keep(case))
                .filter_map(|case| flow(case))
                .map(|(facts, queue)| value(&facts, &queue))
                .collect()
        };
        let cause = |name: &'static str| move |case: &Labelled| case.cause == name;
        let queued = |case: &Labelled| {
            matches!(
                case.cause.as_str(),
                "bottleneck-bandwidth" | "bufferbloat" | "shared-bottleneck"
            )
        };
        let with_losses = |case: &Labelled| {
            queued(case)
                && flow(case).is_some_and(|(_, queue)| queue.losses >= 10)
                && case.analysis.capture.quality.tap != slowpath_facts::Tap::Receiver
                && case.queue.is_some_and(|queue| queue >= 40_000.0)
        };
        vec![
            Separation {
                name: "fit error (policed below, random loss above)",
                low: figure(&cause("policed"), &|_, queue| queue.error),
                high: figure(&cause("random-loss"), &|_, queue| queue.error),
            },
            Separation {
                name: "delay step (policed below, queue above)",
                low: figure(&cause("policed"), &|_, queue| queue.delay_step.abs()),
                high: figure(&with_losses, &|_, queue| queue.delay_step),
            },
            Separation {
                name: "window held (others below, receiver window above)",
                low: figure(
                    &|case| case.cause != "receiver-window" && case.cause != "receiver-application",
                    &|facts, _| (facts.time.window_full_s + facts.time.window_closed_s) / facts.time.total_s,
                ),
                high: figure(&cause("receiver-window"), &|facts, _| {
                    facts.time.window_full_s / facts.time.total_s
                }),
            },
        ]
    });
    for (index, half) in separations.iter().enumerate() {
        let other = &separations[1 - index];
        for (separation, test) in half.iter().zip(other) {
            let top = separation.low.iter().copied().fold(f64::MIN, f64::max);
            let bottom = separation.high.iter().copied().fold(f64::MAX, f64::min);
            if separation.high.is_empty() || test.high.is_empty() {
                println!("half {index}: {}: no figure on one side", separation.name);
                continue;
            }
            assert!(top < bottom, "{}: {top} and {bottom} overlap", separation.name);
            let cut = f64::midpoint(top, bottom);
            println!(
                "half {index}: {}: {top:.3} | {cut:.3} | {bottom:.3}",
                separation.name
            );
            let wrong = test.low.iter().filter(|&&value| value >= cut).count()
                + test.high.iter().filter(|&&value| value <= cut).count();
            assert_eq!(
                wrong, 0,
                "{} with the cut-off {cut:.3} of the other half",
                separation.name
            );
        }
    }
}

//! How well fitted paths explain captures, and how well they predict changes.
//!
//! Factual: the labelled captures of a corpus are fitted; labels are read for the score alone. Counterfactual: a path A and a
//! change are drawn by a fixed seed, a transfer over A is captured in simulated time and fitted, the change predicted, and
//! compared with the transfer over A with the change made.

#![allow(clippy::cast_sign_loss)] // drawn numbers and counts, none of them negative

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use serde::Deserialize;
use slowpath::fit::{self, Effort, Fit, OnAll, Parameter};
use slowpath::import;
use slowpath_facts::Analyzer;
use slowpath_record::packets::{CaptureSummary, Record};
use slowpath_scenario::device::Fragments;
use slowpath_scenario::{Clock, Experiment, Intervention, PlanOptions};
use slowpath_sim::{Recorder, Simulation, planned};
use slowpath_verdict::{Analysis, Connection};

/// A corpus's list of captures.
#[derive(Debug, Deserialize)]
struct Manifest {
    capture: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    file: String,
    truth: Option<Truth>,
}

#[derive(Debug, Deserialize)]
struct Truth {
    cause: String,
    rate_bit_per_s: Option<f64>,
    bucket_bytes: Option<f64>,
    queue_bytes: Option<f64>,
    flows: Option<i64>,
}

/// One labelled capture that was fitted.
#[derive(Debug, Clone)]
pub struct Factual {
    /// File in the corpus.
    pub file: String,
    /// What the label says.
    pub cause: String,
    /// What came of it: the fit, or why there is none.
    pub fit: Result<Box<Fit>, String>,
    /// Wall-clock seconds that the fit took.
    pub seconds: f64,
    /// What the label knows of the path: parameter, truth, fitted.
    pub parameters: Vec<(Parameter, f64, f64)>,
    /// The sender's congestion control, where it is known.
    pub congestion: Option<&'static str>,
}

impl Factual {
    /// The fitted goodput over that captured.
    pub fn ratio(&self) -> Option<f64> {
        let fit = self.fit.as_ref().ok()?;
        Some(fit.fitted.goodput_bit_per_s / fit.captured.goodput_bit_per_s)
    }
}

/// Fits the labelled transfers of the corpus in `folder` that last longer than a second; derived copies are left out.
///
/// # Errors
/// The manifest cannot be read.
pub fn factual(
    folder: &Path,
    only: &[String],
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(&Factual),
) -> io::Result<Vec<Factual>> {
    let text = std::fs::read_to_string(folder.join("manifest.toml"))?;
    let manifest: Manifest = toml::from_str(&text).map_err(io::Error::other)?;
    let mut all = Vec::new();
    for entry in manifest.capture {
        let Some(truth) = entry.truth else { continue };
        let whole = ["lab/", "usc/", "other/"]
            .iter()
            .any(|part| entry.file.starts_with(part));
        if !whole || !crate::is_wanted(&entry.file, only) {
            continue;
        }
        let Ok(analysis) = import::analyze_file(&folder.join(&entry.file)) else {
            continue;
        };
        let Some(connection) = analysis.main_connection() else {
            continue;
        };
        if connection.facts.active_s < SHORTEST {
            continue;
        }
        let begin = Instant::now();
        let simulator = OnAll::new(cancel, &|_| {});
        let fit = fit::fit(connection, Effort::default(), &simulator).map_err(|error| error.to_string());
        let one = Factual {
            parameters: fit.as_ref().map_or_else(|_| Vec::new(), |fit| known(fit, &truth)),
            congestion: control(&entry.file),
            file: entry.file,
            cause: truth.cause,
            fit: fit.map(Box::new),
            seconds: begin.elapsed().as_secs_f64(),
        };
        observe(&one);
        all.push(one);
        if cancel.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
    }
    Ok(all)
}

/// What the label knows of the path beside what was fitted.
fn known(fit: &Fit, truth: &Truth) -> Vec<(Parameter, f64, f64)> {
    // The label's rate is the path's, which several flows share.
    if truth.flows.unwrap_or(1) > 1 {
        return Vec::new();
    }
    let pairs = match truth.cause.as_str() {
        "policed" => vec![
            (Parameter::PolicerRate, truth.rate_bit_per_s),
            (Parameter::Bucket, truth.bucket_bytes),
        ],
        "bottleneck-bandwidth" | "bufferbloat" => vec![
            (Parameter::Rate, truth.rate_bit_per_s),
            (Parameter::Queue, truth.queue_bytes),
        ],
        "receiver-application" => vec![(Parameter::ReaderRate, truth.rate_bit_per_s)],
        "sender-application" => vec![(Parameter::WriterRate, truth.rate_bit_per_s)],
        _ => Vec::new(),
    };
    pairs
        .into_iter()
        .filter_map(|(parameter, truth)| {
            // A parameter that the model lacks was not found: it counts as far off.
            Some((parameter, truth?, parameter.of(&fit.model).unwrap_or(0.0)))
        })
        .collect()
}

/// The corpus's own recordings name the control where it is not CUBIC.
fn control(file: &str) -> Option<&'static str> {
    if file.starts_with("other/") {
        return None;
    }
    Some(if file.contains("bbr") {
        "bbr"
    } else if file.contains("reno") {
        "reno"
    } else {
        "cubic"
    })
}

/// One pair: a path, a change, what was predicted and what came.
#[derive(Debug, Clone)]
pub struct Counterfactual {
    /// Number of the pair.
    pub number: u32,
    /// The path.
    pub path: String,
    /// The change.
    pub change: String,
    /// The duration before, seconds.
    pub before_s: f64,
    /// The duration with the change made.
    pub truth_s: f64,
    /// What was predicted; `None` where it was refused, with the reason.
    pub predicted: Option<(f64, f64, f64)>,
    /// Why it was refused.
    pub refused: Option<String>,
    /// Wall-clock seconds for fit and answer.
    pub seconds: f64,
}

impl Counterfactual {
    /// How far the prediction is off, as a share of the truth.
    pub fn error(&self) -> Option<f64> {
        self.predicted
            .map(|(value, ..)| (value / self.truth_s - 1.0).abs())
    }

    /// Whether the truth lies in the interval.
    pub fn is_covered(&self) -> Option<bool> {
        self.predicted
            .map(|(_, low, high)| (low..=high).contains(&self.truth_s))
    }
}

/// Draws `count` pairs from `seed`, fits A, predicts B and simulates B.
pub fn counterfactual(
    count: u32,
    seed: u64,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(&Counterfactual),
) -> Vec<Counterfactual> {
    let mut dice = Dice(seed);
    let mut all = Vec::new();
    let mut number = 0;
    while number < count && !cancel.load(std::sync::atomic::Ordering::Relaxed) {
        let path = DrawnPath::drawn(&mut dice);
        let (key, value) = path.change(&mut dice);
        number += 1;
        let begin = Instant::now();
        let changes = vec![Intervention::spelled(key, &value).expect("drawn changes are spelled right")];
        let Some((connection, before_s)) = path.captured(&[], 1_000 + u64::from(number)) else {
            continue;
        };
        let Some((_, truth_s)) = path.captured(&changes, 2_000 + u64::from(number)) else {
            continue;
        };
        let simulator = OnAll::new(cancel, &|_| {});
        let answer = fit::fit(&connection, Effort::default(), &simulator)
            .and_then(|fitted| fit::answers(&fitted, std::slice::from_ref(&changes), &simulator));
        if cancel.load(std::sync::atomic::Ordering::Relaxed) {
            break;
        }
        let (predicted, refused) = match answer {
            Err(error) => (None, Some(error.to_string())),
            Ok(answers) => {
                let answer = &answers[0];
                let range = answer.duration_s.zip(answer.low90_s.zip(answer.high90_s));
                (
                    range.map(|(value, (low, high))| (value, low, high)),
                    answer.reason.clone(),
                )
            }
        };
        let one = Counterfactual {
            number,
            path: path.words(),
            change: format!("{key}={value}"),
            before_s,
            truth_s,
            predicted,
            refused,
            seconds: begin.elapsed().as_secs_f64(),
        };
        observe(&one);
        all.push(one);
    }
    all
}

/// A drawn path with its ends and job.
#[derive(Debug, Clone)]
struct DrawnPath {
    kind: &'static str,
    control: &'static str,
    rate: u64,
    delay_us: u64,
    queue: u64,
    loss_ppm: u64,
    police: u64,
    bucket: u64,
    window: u64,
    reader: u64,
    bytes: u64,
}

impl DrawnPath {
    fn drawn(dice: &mut Dice) -> Self {
        let kind = dice.one(&["link", "link", "loss", "policer", "window", "reader"]);
        let control = dice.one(&["cubic", "cubic", "reno", "bbr"]);
        let rate = dice.between(4e6, 80e6) as u64;
        let delay_us = dice.between(3e3, 60e3) as u64;
        let product = rate as f64 / 8.0 * delay_us as f64 * 2e-6;
        let queue = (product * dice.between(0.3, 3.0)).max(12_000.0) as u64;
        let seconds = dice.between(4.0, 12.0);
        let window = (product * dice.between(0.15, 0.5)).max(8_000.0) as u64;
        let police = (rate as f64 * dice.between(0.1, 0.5)) as u64;
        let reader = (rate as f64 * dice.between(0.1, 0.5)) as u64;
        let used = match kind {
            "policer" => police,
            "reader" => reader,
            "window" => (window as f64 * 8.0 / (delay_us as f64 * 2e-6)) as u64,
            "loss" => rate / 3,
            _ => rate,
        };
        Self {
            kind,
            control,
            rate,
            delay_us,
            queue,
            loss_ppm: dice.between(300.0, 10_000.0) as u64,
            police,
            bucket: dice.between(10e3, 200e3) as u64,
            window,
            reader,
            bytes: ((used as f64 / 8.0 * seconds) as u64).clamp(300_000, 30_000_000),
        }
    }

    /// A change of the list that makes sense for the kind of path.
    fn change(&self, dice: &mut Dice) -> (&'static str, String) {
        let other = if self.control == "bbr" { "cubic" } else { "bbr" };
        let streams = |count: u32| ("streams", count.to_string());
        let control = ("congestion-control", other.to_owned());
        let queue = ("queue", format!("{} B", self.queue * 2));
        let mut list = vec![control, streams(2), streams(4)];
        match self.kind {
            "policer" => list.extend([("policer", "none".to_owned()), queue]),
            "window" => list.extend([1, 2, 4].map(|by| ("window", format!("{} B", self.window * 2 * by)))),
            "reader" => list.extend([("reader", "unlimited".to_owned()), queue]),
            "loss" => list.extend([("loss", format!("{} ppm", self.loss_ppm / 2)), queue]),
            _ => list.extend([queue, ("rate", format!("{} bit/s", self.rate * 2))]),
        }
        list.swap_remove(dice.below(list.len() as u64) as usize)
    }

    fn words(&self) -> String {
        let own = match self.kind {
            "policer" => format!(
                ", policer {:.1} Mbit/s {} B",
                self.police as f64 / 1e6,
                self.bucket
            ),
            "window" => format!(", window {} B", self.window),
            "reader" => format!(", reader {:.1} Mbit/s", self.reader as f64 / 1e6),
            "loss" => format!(", loss {} ppm", self.loss_ppm),
            _ => String::new(),
        };
        format!(
            "{:.1} Mbit/s, {:.0} ms, queue {} B{own}, {}",
            self.rate as f64 / 1e6,
            self.delay_us as f64 * 2e-3,
            self.queue,
            self.control
        )
    }

    fn document(&self) -> String {
        let mut elements = Vec::new();
        if self.kind == "loss" {
            elements.push(format!("{{ loss = \"{} ppm\" }}", self.loss_ppm));
        }
        if self.kind == "policer" {
            elements.push(format!(
                "{{ police = \"{} bit/s\", burst = \"{} B\", layer = \"L2+FCS\" }}",
                self.police, self.bucket
            ));
        }
        elements.push(format!(
            "{{ rate = \"{} bit/s\", queue = \"{} B\", layer = \"L2+FCS\" }}",
            self.rate, self.queue
        ));
        elements.push(format!("{{ delay = \"{} us\" }}", self.delay_us));
        let mut receiver = String::new();
        if self.kind == "window" {
            let _ = writeln!(receiver, "window = \"{} B\"", self.window);
        }
        if self.kind == "reader" {
            let _ = writeln!(receiver, "window = \"200000 B\"");
            let _ = writeln!(
                receiver,
                "storage = {{ rate = \"{} bit/s\", unit = \"16 KiB\", chunk = \"16 KiB\" }}",
                self.reader
            );
        }
        format!(
            "title = \"drawn\"\n[network]\nup = [{}]\ndown = [{{ delay = \"{} us\" }}]\n[workload]\nkind = \"iperf3\"\nsize = \"{} B\"\ndeadline = \"400 s\"\n[hosts.client]\nsystem = \"linux\"\ncongestion_control = \"{}\"\n[hosts.server]\nsystem = \"linux\"\n{receiver}",
            elements.join(", "),
            self.delay_us,
            self.bytes,
            self.control
        )
    }

    /// A transfer over the path with changes made: what a capture beside the sender says, and how long it took.
    fn captured(&self, changes: &[Intervention], seed: u64) -> Option<(Connection, f64)> {
        let experiment = Experiment::read("drawn", &self.document(), &[]).ok()?;
        let options = PlanOptions::first("default", seed, Clock::Simulated);
        let mut plan = experiment.plan(&options, &Fragments::new()).ok()?;
        for change in changes {
            plan = change.apply(&plan).ok()?;
        }
        let mut spec = planned::spec(&plan).ok()?;
        spec.sample_every = None;
        let mut recorder = Recorder::at_host(0);
        let report = Simulation::new(&spec).ok()?.run(&mut recorder);
        if !report.complete {
            return None;
        }
        let times = || {
            recorder.records.iter().filter_map(|record| match record {
                Record::Tcp(packet) => Some((packet.at, packet.payload_len > 0)),
                Record::Other(_) => None,
            })
        };
        let first = times().find(|(_, data)| *data)?.0;
        let last = times().filter(|(_, data)| *data).map(|(at, _)| at).max()?;
        let acknowledged = times().map(|(at, _)| at).find(|at| *at > last).unwrap_or(last);
        let mut analyzer = Analyzer::new();
        for record in &recorder.records {
            analyzer.push(record, &recorder.conversations);
        }
        let summary = CaptureSummary {
            format: "simulated".to_owned(),
            packets: recorder.records.len() as u64,
            stated_resolution_ns: 1,
            ..CaptureSummary::default()
        };
        let analysis = Analysis::of(analyzer.finish(&recorder.conversations, &summary));
        let connection = analysis.connections.into_iter().next()?;
        Some((connection, (acknowledged - first) as f64 / 1e9))
    }
}

/// Numbers from a seed (SplitMix64: Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }

    fn one<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as u64) as usize]
    }

    /// Evenly on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        low * (high / low).powf(share)
    }
}

/// The page `docs/validation/what-if.md`.
pub fn page(factual: &[Factual], pairs: &[Counterfactual], seed: u64) -> String {
    let mut out = String::from(
        "# Fitted paths: how well they explain and predict\n\nWritten by `cargo run --release -p slowpath-validate --example standing -- what-if`. No label reaches a fit.\n\n",
    );
    write_factual(&mut out, factual);
    write_pairs(&mut out, pairs, seed);
    out
}

fn write_factual(out: &mut String, factual: &[Factual]) {
    let ratios: Vec<f64> = factual.iter().filter_map(Factual::ratio).collect();
    let near = ratios.iter().filter(|ratio| (**ratio - 1.0).abs() <= 0.1).count();
    let explains = factual
        .iter()
        .filter(|one| one.fit.as_ref().is_ok_and(|fit| fit.explains));
    let parameters: Vec<_> = factual.iter().flat_map(|one| &one.parameters).collect();
    let hit = parameters
        .iter()
        .filter(|(_, truth, fitted)| (fitted / truth - 1.0).abs() <= 0.15)
        .count();
    let controls: Vec<_> = factual
        .iter()
        .filter_map(|one| Some((one.congestion?, &one.fit.as_ref().ok()?.congestion)))
        .collect();
    let in_set = controls
        .iter()
        .filter(|(truth, set)| set.fits.contains(truth))
        .count();
    let single = controls.iter().filter(|(_, set)| set.fits.len() == 1).count();
    let mut seconds: Vec<f64> = factual.iter().map(|one| one.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let _ = writeln!(
        out,
        "## Factual: labelled captures of more than a second\n\n| | |\n|---|---|\n| captures | {} |\n| goodput within 10 % | {near} |\n| model near enough to answer by | {} |\n| parameters that the label knows, within 15 % | {hit} of {} |\n| true congestion control in the set | {in_set} of {} |\n| set of one | {single} of {} |\n| seconds per fit, median and most | {:.1}, {:.1} |\n",
        factual.len(),
        explains.count(),
        parameters.len(),
        controls.len(),
        controls.len(),
        seconds.get(seconds.len() / 2).copied().unwrap_or(0.0),
        seconds.last().copied().unwrap_or(0.0)
    );
    let _ = writeln!(
        out,
        "| capture | label | verdict | goodput, fitted over captured | off by | explains | parameters, fitted over true | congestion control | s |\n|---|---|---|---|---|---|---|---|---|"
    );
    for one in factual {
        let parameters: Vec<String> = one
            .parameters
            .iter()
            .map(|(parameter, truth, fitted)| format!("{} {:.2}", parameter.words(), fitted / truth))
            .collect();
        let _ = match &one.fit {
            Err(why) => writeln!(
                out,
                "| {} | {} | refused: {why} | | | | | | {:.1} |",
                one.file, one.cause, one.seconds
            ),
            Ok(fit) => writeln!(
                out,
                "| {} | {} | {} | {:.3} | {:.1} | {} | {} | {} | {:.1} |",
                one.file,
                one.cause,
                fit.limit,
                one.ratio().unwrap_or(0.0),
                fit.difference.total(),
                if fit.explains { "yes" } else { "no" },
                parameters.join(", "),
                fit.congestion.fits.join(" "),
                one.seconds
            ),
        };
    }
    out.push('\n');
}

fn write_pairs(out: &mut String, pairs: &[Counterfactual], seed: u64) {
    let mut errors: Vec<f64> = pairs.iter().filter_map(Counterfactual::error).collect();
    errors.sort_by(f64::total_cmp);
    let answered = errors.len();
    let covered = pairs
        .iter()
        .filter(|pair| pair.is_covered() == Some(true))
        .count();
    let share = |count: usize, of: usize| 100.0 * count as f64 / of.max(1) as f64;
    let mut seconds: Vec<f64> = pairs.iter().map(|pair| pair.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    let _ = writeln!(
        out,
        "## Counterfactual: fitted under A, predicted for B, both in simulated time\n\nPairs drawn by seed {seed}.\n\n| | |\n|---|---|\n| pairs | {} |\n| answered | {answered} |\n| refused | {} ({:.0} %) |\n| median error | {:.1} % |\n| 90th percentile of the error | {:.1} % |\n| 90 % intervals that cover the truth | {covered} of {answered} ({:.0} %) |\n| seconds per pair, median and most | {:.1}, {:.1} |\n",
        pairs.len(),
        pairs.len() - answered,
        share(pairs.len() - answered, pairs.len()),
        errors.get(answered / 2).map_or(0.0, |error| error * 100.0),
        errors.get(answered * 9 / 10).map_or(0.0, |error| error * 100.0),
        share(covered, answered),
        seconds.get(seconds.len() / 2).copied().unwrap_or(0.0),
        seconds.last().copied().unwrap_or(0.0)
    );
    // A change that changes nothing is easily predicted.
    let matters = |pair: &&Counterfactual| (pair.truth_s / pair.before_s - 1.0).abs() > 0.1;
    let mut hard: Vec<f64> = pairs
        .iter()
        .filter(matters)
        .filter_map(Counterfactual::error)
        .collect();
    hard.sort_by(f64::total_cmp);
    let held = pairs
        .iter()
        .filter(matters)
        .filter(|pair| pair.is_covered() == Some(true));
    let _ = writeln!(
        out,
        "Of these, {} pairs in which the change moves the duration by more than 10 %: {} answered, median error {:.1} %, 90th percentile {:.1} %, covered {}.\n",
        pairs.iter().filter(matters).count(),
        hard.len(),
        hard.get(hard.len() / 2).map_or(0.0, |error| error * 100.0),
        hard.get(hard.len() * 9 / 10).map_or(0.0, |error| error * 100.0),
        held.count()
    );
    let _ = writeln!(
        out,
        "| # | path A | change | before, s | in truth, s | predicted, s | covered |\n|---|---|---|---|---|---|---|"
    );
    for pair in pairs {
        let predicted = match (pair.predicted, &pair.refused) {
            (Some((value, low, high)), _) => format!("{value:.2} ({low:.2} to {high:.2})"),
            (None, why) => format!("refused: {}", why.as_deref().unwrap_or("")),
        };
        let covered = match pair.is_covered() {
            Some(true) => "yes",
            Some(false) => "no",
            None => "",
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} | {predicted} | {covered} |",
            pair.number, pair.path, pair.change, pair.before_s, pair.truth_s
        );
    }
}

/// The corpus: `SLOWPATH_CORPUS`.
pub fn corpus() -> Option<PathBuf> {
    std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from)
}

/// Shortest transfer that is scored, seconds.
const SHORTEST: f64 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_paths_can_be_captured_and_stay_the_same() {
        let drawn = |seed| {
            let mut dice = Dice(seed);
            let path = DrawnPath::drawn(&mut dice);
            let change = path.change(&mut dice);
            (path, change)
        };
        for seed in 0..20 {
            let (path, (key, value)) = drawn(seed);
            Experiment::read("drawn", &path.document(), &[]).unwrap_or_else(|error| panic!("{error}"));
            Intervention::spelled(key, &value).unwrap();
            assert_eq!(path.document(), drawn(seed).0.document());
        }
    }
}

//! Pairs of a path and a change in simulated time, and the scoring of all pairs.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use slowpath::fit::{self, Effort, OnAll};
use slowpath_facts::Analyzer;
use slowpath_record::packets::{CaptureSummary, Record};
use slowpath_scenario::device::Fragments;
use slowpath_scenario::{Clock, Experiment, Intervention, PlanOptions};
use slowpath_sim::{Recorder, Simulation, planned};
use slowpath_verdict::{Analysis, Connection};

use super::Kept;
use super::drawn::{Dice, DrawnPath, KINDS, LASTING};

/// One pair: a path, a change, what was predicted and what came.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pair {
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
    /// What was predicted, with the ends of its interval; `None` where it was refused.
    pub predicted: Option<(f64, f64, f64)>,
    /// Why it was refused.
    pub refused: Option<String>,
    /// The fitted path in short.
    pub fitted: String,
    /// Which congestion control the fit tells, and which it was; `None` where A cannot be fitted.
    #[serde(default)]
    pub congestion: Option<Told>,
    /// Wall-clock seconds for fit and answer.
    pub seconds: f64,
}

/// Which congestion control a fit tells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// The sender's.
    pub truth: String,
    /// Those that fit.
    pub fits: Vec<String>,
    /// Loss episodes of the capture.
    pub events: u64,
    /// Whether the fit says that it cannot be told.
    pub cannot_tell: bool,
}

impl Told {
    pub(super) fn new(truth: &str, congestion: &fit::Congestion) -> Self {
        Self {
            truth: truth.to_owned(),
            fits: congestion.fits.iter().map(|name| (*name).to_owned()).collect(),
            events: congestion.events,
            cannot_tell: congestion.cannot_tell.is_some(),
        }
    }
}

impl Pair {
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

    /// Whether the change moves the duration by more than a tenth: one that changes nothing is easily predicted.
    pub fn matters(&self) -> bool {
        (self.truth_s / self.before_s - 1.0).abs() > 0.1
    }
}

/// Draws `count` pairs from `seed`; for those whose numbers are missing among `kept` fits A, predicts B and simulates B.
///
/// # Errors
/// The results cannot be written.
pub fn simulated(
    count: u32,
    seed: u64,
    only: Option<u32>,
    kept: &mut Kept<Pair>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(&Pair),
) -> io::Result<()> {
    let mut dice = Dice(seed);
    for number in 1..=count {
        let path = DrawnPath::drawn(&mut dice, &KINDS, LASTING);
        let (key, value) = path.change(&mut dice);
        if kept.rows.iter().any(|pair| pair.number == number) || only.is_some_and(|only| only != number) {
            continue;
        }
        let begin = Instant::now();
        let changes = vec![Intervention::spelled(key, &value).expect("drawn changes are spelled right")];
        let Some((connection, before_s)) = captured(&path, &[], 1_000 + u64::from(number)) else {
            continue;
        };
        let Some((_, truth_s)) = captured(&path, &changes, 2_000 + u64::from(number)) else {
            continue;
        };
        let said = predicted(&connection, path.control(), &changes, cancel);
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let pair = Pair {
            number,
            path: path.words(),
            change: format!("{key}={value}"),
            before_s,
            truth_s,
            predicted: said.range,
            refused: said.refused,
            fitted: said.fitted,
            congestion: said.congestion,
            seconds: begin.elapsed().as_secs_f64(),
        };
        observe(&pair);
        kept.push(pair)?;
    }
    Ok(())
}

/// What a fit says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The fitted path in short.
    pub fitted: String,
    /// The duration with the change made, and the ends of its interval.
    pub range: Option<(f64, f64, f64)>,
    /// Why it is refused.
    pub refused: Option<String>,
    /// Which congestion control it was.
    pub congestion: Option<Told>,
}

/// What the fitted path says of a change; `control` is the sender's, for the score.
pub(super) fn predicted(
    connection: &Connection,
    control: &str,
    changes: &[Intervention],
    cancel: &AtomicBool,
) -> Said {
    let simulator = OnAll::new(cancel, &|_| {});
    let fitted = match fit::fit(connection, Effort::default(), &simulator) {
        Err(error) => {
            return Said {
                refused: Some(error.to_string()),
                ..Said::default()
            };
        }
        Ok(fitted) => fitted,
    };
    let ranges: Vec<String> = fitted
        .parameters
        .iter()
        .map(|one| {
            let end = |end: Option<f64>| end.map_or_else(|| "?".to_owned(), |value| format!("{value:.3e}"));
            format!(
                "{} {:.4e} [{}, {}]",
                one.parameter.words(),
                one.value,
                end(one.low),
                end(one.high)
            )
        })
        .collect();
    let lost = match &fitted.model.loss {
        fit::Loss::Packets(packets) => format!(", {} lost", packets.len()),
        _ => String::new(),
    };
    let words = format!(
        "{}: {}{lost}, {} of {}, off {:.1}, {} models; {}",
        fitted.limit,
        fitted.model.shape.words(),
        fitted.model.congestion,
        fitted.congestion.fits.join(" "),
        fitted.difference.total(),
        fitted.members.len(),
        ranges.join(", ")
    );
    let mut said = Said {
        fitted: words,
        congestion: Some(Told::new(control, &fitted.congestion)),
        ..Said::default()
    };
    match fit::answers(&fitted, &[changes.to_vec()], &simulator) {
        Err(error) => said.refused = Some(error.to_string()),
        Ok(answers) => {
            let answer = &answers[0];
            let range = answer.duration_s.zip(answer.low90_s.zip(answer.high90_s));
            said.range = range.map(|(value, (low, high))| (value, low, high));
            said.refused.clone_from(&answer.reason);
        }
    }
    said
}

/// A transfer over the path with changes made: what a capture beside the sender says, and how long it took.
fn captured(path: &DrawnPath, changes: &[Intervention], seed: u64) -> Option<(Connection, f64)> {
    let experiment = Experiment::read("drawn", &path.document(), &[]).ok()?;
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

#[cfg(test)]
mod tests {
    use slowpath::explain::RemedyView;

    use super::*;

    #[test]
    fn remedies_are_predicted_by_the_fitted_path_and_say_so() {
        // The first drawn path of a plain link: another control changes little, a link twice as fast much.
        let mut dice = Dice(5);
        let path = DrawnPath::drawn(&mut dice, &["link"], (1.0, 2.0));
        let (connection, before_s) = captured(&path, &[], 1).unwrap();
        let cancel = AtomicBool::new(false);
        let simulator = OnAll::new(&cancel, &|_| {});
        let fitted = fit::fit(&connection, Effort::default(), &simulator).unwrap();
        let asked = |key, value: &str| Intervention::spelled(key, value).unwrap();
        let view = |change: Intervention| RemedyView {
            change: change.to_string(),
            asked: Some(change),
            because: "the capture alone".to_owned(),
            ..RemedyView::default()
        };
        let faster = asked("rate", &format!("{} bit/s", path.rate() * 2));
        // Nothing reads slowly here, so no reader can be made faster.
        let mut remedies = [view(faster.clone()), view(asked("reader", "unlimited"))];
        fit::predict_remedies(&fitted, &mut remedies, &simulator).unwrap();
        let [told, untold] = &remedies;
        let (_, truth_s) = captured(&path, &[faster], 2).unwrap();
        let gain = told.gain.unwrap();
        assert!(
            (gain - (before_s / truth_s - 1.0)).abs() < 0.3,
            "{told:?}: {before_s} to {truth_s} s"
        );
        assert!(
            told.because.starts_with("by the path fitted to this capture"),
            "{told:?}"
        );
        assert!(told.predicted_goodput_bit_per_s.unwrap() <= told.at_most_bit_per_s.unwrap());
        assert_eq!(
            (untold.gain, untold.because.as_str()),
            (None, "the capture alone")
        );
    }
}

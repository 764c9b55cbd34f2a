//! Fits of labelled captures.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::{Deserialize, Serialize};
use slowpath::fit::{self, Effort, Fit, OnAll, Parameter};
use slowpath::import;

use super::Kept;

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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Factual {
    /// File in the corpus.
    pub file: String,
    /// What the label says.
    pub cause: String,
    /// What came of it: the fit in figures, or why there is none.
    pub fit: Result<Figures, String>,
    /// The sender's congestion control, where it is known.
    pub congestion: Option<String>,
    /// Wall-clock seconds that the fit took.
    pub seconds: f64,
}

/// A fit in figures.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// The verdict.
    pub verdict: String,
    /// The fitted goodput over that captured.
    pub ratio: f64,
    /// How far it is off in all.
    pub off: f64,
    /// Whether it is near enough to answer by.
    pub explains: bool,
    /// What the label knows of the path: parameter, fitted over true.
    pub parameters: Vec<(String, f64)>,
    /// Congestion controls that fit.
    pub controls: Vec<String>,
    /// Why the congestion control cannot be told.
    pub cannot_tell: Option<String>,
    /// Each control that was tried, and how far off it is.
    pub tried: Vec<(String, f64)>,
    /// Congestion events of the capture.
    pub events: u64,
    /// Stretches between losses from which the control was told, and how much less likely than the best each control makes them.
    pub answers: (usize, Vec<(String, f64)>),
    /// Whether the corpus has the path alone, or the lab that knows every number.
    pub known_by_lab: bool,
}

/// Fits the labelled transfers of the corpus in `folder` that last longer than a second and are not among `kept`; derived copies are
/// left out.
///
/// # Errors
/// The manifest cannot be read, or the results cannot be written.
pub fn run(
    folder: &Path,
    only: &[String],
    kept: &mut Kept<Factual>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(&Factual),
) -> io::Result<()> {
    let text = std::fs::read_to_string(folder.join("manifest.toml"))?;
    let manifest: Manifest = toml::from_str(&text).map_err(io::Error::other)?;
    for entry in manifest.capture {
        let Some(truth) = entry.truth else { continue };
        let whole = ["lab/", "usc/", "other/"]
            .iter()
            .any(|part| entry.file.starts_with(part));
        let known = kept.rows.iter().any(|one| one.file == entry.file);
        if !whole || known || !crate::is_wanted(&entry.file, only) {
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
        let fit = fit::fit(connection, Effort::default(), &simulator);
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let one = Factual {
            congestion: control(&entry.file).map(str::to_owned),
            fit: fit
                .map(|fit| figures(&fit, &truth, entry.file.starts_with("lab/")))
                .map_err(|error| error.to_string()),
            file: entry.file,
            cause: truth.cause,
            seconds: begin.elapsed().as_secs_f64(),
        };
        observe(&one);
        kept.push(one)?;
    }
    Ok(())
}

fn figures(fit: &Fit, truth: &Truth, known_by_lab: bool) -> Figures {
    let known = known(fit, truth).into_iter();
    Figures {
        verdict: fit.limit.to_string(),
        ratio: fit.fitted.goodput_bit_per_s / fit.captured.goodput_bit_per_s,
        off: fit.difference.total(),
        explains: fit.explains,
        parameters: known
            .map(|(parameter, truth, fitted)| (parameter.words().to_owned(), fitted / truth))
            .collect(),
        controls: fit
            .congestion
            .fits
            .iter()
            .map(|name| (*name).to_owned())
            .collect(),
        cannot_tell: fit.congestion.cannot_tell.clone(),
        tried: fit
            .congestion
            .tried
            .iter()
            .map(|(name, off)| ((*name).to_owned(), *off))
            .collect(),
        events: fit.congestion.events,
        answers: (
            fit.congestion.answers.stretches,
            (fit.congestion.tried.iter())
                .map(|(name, _)| ((*name).to_owned(), fit.congestion.answers.against(name)))
                .collect(),
        ),
        known_by_lab,
    }
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

/// Shortest transfer that is scored, seconds.
const SHORTEST: f64 = 1.0;

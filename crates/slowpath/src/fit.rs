//! The path behind a capture as a fitted model, as an experiment file, and asked what a change would give.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde::Serialize;
pub use slowpath_fit::fit::{Congestion, Fit, Interval};
pub use slowpath_fit::model::{Loss, Model, Parameter};
pub use slowpath_fit::what_if::{Answer, Untold, sensible};
pub use slowpath_fit::{Effort, Refused};
use slowpath_fit::{Outcome, Simulator, Trial};
use slowpath_report::Style;
use slowpath_report::explain::RemedyView;
use slowpath_report::quantity::{bit_rate, bytes, percent, seconds};
use slowpath_report::text::{Tone, columns, left, right};
use slowpath_scenario::Intervention;
use slowpath_scenario::intervention::SpellingError;
use slowpath_verdict::Analysis;
pub use slowpath_verdict::Connection;

use crate::processors;
use slowpath_words::{english, say, told};

/// Version of the JSON form of a fit.
pub const SCHEMA: &str = "slowpath/fit/1";

/// A fit in the form in which it is written as JSON.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The capture's file.
    pub capture: &'a str,
    /// The connection's number in the capture.
    pub connection: u32,
    /// The fit.
    #[serde(flatten)]
    pub fit: &'a Fit,
}

/// Why a flow cannot be fitted.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// No such connection.
    #[error("fitting a path: the capture has no connection {0}; `slowpath explain` lists them")]
    NoFlow(u32),
    /// No connection at all.
    #[error("fitting a path: the capture holds no TCP connection; give one of a transfer over TCP")]
    Empty,
    /// Too little is known.
    #[error(
        "fitting a path: {0}; give a capture of a longer transfer with both directions, taken at the sender"
    )]
    Refused(#[from] Refused),
    /// A change that is not one.
    #[error("reading --what-if {0}: it has no value; write KEY=VALUE, such as congestion-control=bbr")]
    NoChange(String),
    /// A change that is not understood.
    #[error("reading --what-if: {0}")]
    Spelling(#[from] SpellingError),
}

/// The connection of that number, or the one that moved the most data.
///
/// # Errors
/// [`FitError::NoFlow`], [`FitError::Empty`].
pub fn connection(analysis: &Analysis, flow: Option<u32>) -> Result<&Connection, FitError> {
    match flow {
        None => analysis.main_connection().ok_or(FitError::Empty),
        Some(id) => {
            let found = analysis.connections.iter().find(|one| one.id == id);
            found.ok_or(FitError::NoFlow(id))
        }
    }
}

/// Simulates on all processors, until it is told to stop.
pub struct OnAll<'a> {
    cancel: &'a AtomicBool,
    done: AtomicUsize,
    progress: &'a (dyn Fn(usize) + Sync),
}

impl<'a> OnAll<'a> {
    /// Stops when `cancel` is raised; `progress` is told how many simulations are done.
    pub const fn new(cancel: &'a AtomicBool, progress: &'a (dyn Fn(usize) + Sync)) -> Self {
        Self {
            cancel,
            done: AtomicUsize::new(0),
            progress,
        }
    }
}

impl Simulator for OnAll<'_> {
    fn simulate(&self, trials: &[Trial]) -> Option<Vec<Option<Outcome>>> {
        let outcomes = processors::each(trials.len(), &|number| {
            if self.cancel.load(Ordering::Relaxed) {
                return None;
            }
            let outcome = trials[number].run().ok();
            (self.progress)(self.done.fetch_add(1, Ordering::Relaxed) + 1);
            outcome
        });
        (!self.cancel.load(Ordering::Relaxed)).then_some(outcomes)
    }
}

/// Finds the path that explains a connection.
///
/// # Errors
/// [`FitError::Refused`].
pub fn fit(connection: &Connection, effort: Effort, simulator: &OnAll<'_>) -> Result<Fit, FitError> {
    Ok(slowpath_fit::fit::fit(connection, simulator, effort)?)
}

/// Changes that are made together.
pub type Changes = Vec<Intervention>;

/// Reads changes as users type them: `KEY=VALUE`, several that are made together joined by `and`.
///
/// # Errors
/// [`FitError::NoChange`], [`FitError::Spelling`].
pub fn changes(typed: &str) -> Result<Changes, FitError> {
    typed
        .split(" and ")
        .map(|one| {
            let (key, value) = one
                .split_once('=')
                .ok_or_else(|| FitError::NoChange(typed.to_owned()))?;
            Ok(Intervention::spelled(key.trim(), value.trim())?)
        })
        .collect()
}

/// What each of several changes would give.
///
/// # Errors
/// [`FitError::Refused`] if the search was stopped.
pub fn answers(
    fit: &Fit,
    wanted: &[Vec<Intervention>],
    simulator: &OnAll<'_>,
) -> Result<Vec<Answer>, FitError> {
    let mut out = Vec::with_capacity(wanted.len());
    for changes in wanted {
        out.push(slowpath_fit::what_if::what_if(fit, changes, simulator)?);
    }
    Ok(out)
}

/// Predicts the remedies of the connection that was fitted by its path, and says so; where the fitted path cannot tell what one gives, the
/// remedy stays as it was.
///
/// # Errors
/// [`FitError::Refused`] if the search was stopped.
pub fn predict_remedies(
    fit: &Fit,
    remedies: &mut [RemedyView],
    simulator: &OnAll<'_>,
) -> Result<(), FitError> {
    let rate = |duration_s: f64| fit.captured.bytes as f64 * 8.0 / duration_s;
    for remedy in remedies {
        let Some(change) = remedy.asked.clone() else {
            continue;
        };
        let answer = slowpath_fit::what_if::what_if(fit, &[change], simulator)?;
        let (Some(duration), Some(low), Some(high)) = (answer.duration_s, answer.low90_s, answer.high90_s)
        else {
            continue;
        };
        remedy.predicted_goodput_bit_per_s = Some(rate(duration));
        remedy.at_most_bit_per_s = Some(rate(low));
        remedy.gain = Some((answer.before_s / duration - 1.0).max(0.0));
        remedy.next_limit = answer.next_limit;
        remedy.because = english!(
            "fit-remedy-by-model",
            before = seconds(answer.before_s),
            after = seconds(duration),
            low = seconds(low),
            high = seconds(high)
        );
        if remedy.in_vain() {
            remedy.configuration.clear();
        }
    }
    Ok(())
}

/// The experiment file of a fit, with comments.
pub fn experiment(fit: &Fit, capture: &Path) -> String {
    let name = capture
        .file_name()
        .unwrap_or(capture.as_os_str())
        .to_string_lossy();
    let mut top = vec![
        format!("Fitted to {name}: {} to {}.", fit.sender, fit.receiver),
        format!(
            "Captured: {} in {}, {}. Fitted: {} in simulated time ({} simulations).",
            bytes(fit.captured.bytes as f64),
            seconds(fit.captured.duration_s),
            bit_rate(fit.captured.goodput_bit_per_s),
            seconds(fit.fitted.duration_s),
            fit.simulations
        ),
        format!("Congestion control: {}.", congestion(fit)),
    ];
    if !fit.explains {
        top.push("CARE: this model is far from the capture; do not rely on it.".to_owned());
    }
    top.extend(
        fit.untold
            .iter()
            .map(|line| format!("Not told by the capture: {line}.")),
    );
    let notes: Vec<(Parameter, String)> = fit
        .parameters
        .iter()
        .map(|interval| (interval.parameter, fits(interval)))
        .collect();
    fit.model
        .for_people(&format!("The path behind {name}, fitted"), &top, &notes)
}

/// The variants of [`experiment`] that lose what the capture shows as lost; none where there is only one variant.
pub fn as_captured(fit: &Fit) -> Vec<String> {
    match &fit.model.loss {
        Loss::Packets(packets) if !packets.is_empty() => vec![Model::AS_CAPTURED.to_owned()],
        _ => Vec::new(),
    }
}

fn congestion(fit: &Fit) -> String {
    let set = fit.congestion.fits.join(", ");
    match &fit.congestion.cannot_tell {
        Some(why) => format!("cannot tell ({why}); {set} fit"),
        None if fit.congestion.fits.len() == 1 => set,
        None => format!("one of {set}"),
    }
}

pub(crate) fn fits(interval: &Interval) -> String {
    let show = |value: f64| shown(interval, value);
    match (interval.low, interval.high) {
        (Some(low), Some(high)) if low >= high => "as seen".to_owned(),
        (Some(low), Some(high)) => format!("{} to {} fit", show(low), show(high)),
        (Some(low), None) => format!("{} and more fit", show(low)),
        (None, Some(high)) => format!("{} and less fit", show(high)),
        (None, None) => "any value fits".to_owned(),
    }
}

fn shown(interval: &Interval, value: f64) -> String {
    match interval.unit {
        "bit/s" => bit_rate(value),
        "B" => bytes(value),
        "s" => seconds(value),
        "" => percent(value),
        unit => format!("{value:.0} {unit}"),
    }
}

/// Writes a fit for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_text(fit: &Fit, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let off = (fit.fitted.duration_s / fit.captured.duration_s - 1.0) * 100.0;
    let head = format!(
        "{} to {}: {} explains {} of {} in {} ({}); replayed it takes {} ({off:+.1} %).",
        fit.sender,
        fit.receiver,
        fit.model.shape.words(),
        if fit.share < WHOLE {
            "the beginning"
        } else {
            "the transfer"
        },
        bytes(fit.captured.bytes as f64),
        seconds(fit.captured.duration_s),
        bit_rate(fit.captured.goodput_bit_per_s),
        seconds(fit.fitted.duration_s)
    );
    style.paragraph(&head, "", "  ", Tone::Plain, out)?;
    if !fit.explains {
        let words = "No model that was tried explains this transfer well: read the figures as a beginning, not as an answer.";
        style.paragraph(words, "", "  ", Tone::Care, out)?;
    }
    writeln!(out)?;
    for interval in &fit.parameters {
        let (name, value) = (
            told(interval.parameter.words()),
            told(&shown(interval, interval.value)).into_owned(),
        );
        let row = format!(
            "  {}  {}  {}",
            left(&name, NAME),
            right(&value, VALUE),
            told(&fits(interval))
        );
        if columns(&row) > style.rows {
            let words = format!("{name}: {value}, {}", fits(interval));
            style.paragraph(&words, "  ", "    ", Tone::Plain, out)?;
        } else {
            writeln!(out, "{row}")?;
        }
    }
    if let Loss::Packets(packets) = &fit.model.loss {
        let words = format!("{} packets lost where no queue was full", packets.len());
        writeln!(out, "  {}", told(&words))?;
    }
    writeln!(out)?;
    let words = format!("Congestion control: {}.", congestion(fit));
    style.paragraph(&words, "", "  ", Tone::Plain, out)?;
    if !fit.others.is_empty() {
        let words: Vec<&str> = fit.others.iter().map(|model| model.shape.words()).collect();
        let words = format!("Cannot be told from: {}.", words.join("; "));
        style.paragraph(&words, "", "  ", Tone::Plain, out)?;
    }
    for line in &fit.untold {
        style.paragraph(&format!("Not told: {line}."), "", "  ", Tone::Plain, out)?;
    }
    if style.verbose {
        let d = &fit.difference;
        let words = format!(
            "Difference (1 is as far as a good model of a kernel is): duration {:.2}, sequence {:.2}, rate {:.2}, round trip {:.2}, losses {:.2}; {} simulations.",
            d.duration, d.sequence, d.rate, d.round_trip, d.losses, fit.simulations
        );
        style.paragraph(&words, "", "  ", Tone::Plain, out)?;
        for (name, total) in &fit.congestion.tried {
            writeln!(out, "  {name}: {total:.2}")?;
        }
    }
    Ok(())
}

/// Writes what changes would give, for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_answers(fit: &Fit, answers: &[Answer], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let (now, by_model) = (seconds(fit.captured.duration_s), seconds(fit.fitted.duration_s));
    let head = if fit.share < WHOLE {
        let part = bytes(fit.captured.bytes as f64);
        say!(
            "errors-what-if-by-path-fitted-beginning",
            part = part,
            a = now,
            b = by_model
        )
    } else {
        say!("errors-what-if-by-path-fitted-capture", a = now, b = by_model)
    };
    style.paragraph(&head, "", "  ", Tone::Plain, out)?;
    for answer in answers {
        let words = match (answer.duration_s, answer.low90_s, answer.high90_s) {
            (Some(duration), Some(low), Some(high)) => {
                let next = answer.next_limit.map_or_else(String::new, |limit| {
                    say!("errors-then-limited-by", a = limit.noun())
                });
                say!(
                    "errors-to",
                    a = answer.change,
                    b = seconds(duration),
                    c = seconds(low),
                    d = seconds(high),
                    next = next
                )
            }
            _ => without_duration(answer),
        };
        style.paragraph(&words, "  ", "    ", Tone::Plain, out)?;
    }
    Ok(())
}

/// An answer that has no duration, with the reason.
fn without_duration(answer: &Answer) -> String {
    let (change, reason) = (&answer.change, answer.reason.as_deref().unwrap_or("unknown"));
    match answer.untold {
        Some(Untold::NothingToChange) => say!("errors-nothing-to-change", a = change, b = reason),
        Some(Untold::NotSimulated) => say!("errors-not-simulated", a = change, b = reason),
        Some(Untold::NoEnd) => say!("errors-no-end", a = change, b = reason),
        Some(Untold::NotIdentifiable) | None => say!("errors-not-identifiable", a = change, b = reason),
    }
}

/// Writes an explanation as JSON (`slowpath/explain/1`) with what changes would give beside the connection that was fitted.
///
/// # Errors
/// Those of `out`.
pub fn write_explanation_json(
    explanation: &slowpath_report::explain::Explanation,
    connection: u32,
    answers: &[Answer],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = Vec::new();
    crate::explain::write_json(explanation, &mut text)?;
    let mut document: serde_json::Value = serde_json::from_slice(&text)?;
    let connections = document["connections"].as_array_mut().into_iter().flatten();
    for one in connections.filter(|one| one["id"] == connection) {
        one["what_if"] = serde_json::to_value(answers)?;
    }
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// Writes a fit as JSON ([`SCHEMA`]).
///
/// # Errors
/// Those of `out`.
pub fn write_json(document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    writeln!(out)
}

/// Columns of a parameter's name and of its value.
const NAME: usize = 32;
const VALUE: usize = 14;
/// Share of a transfer from which a fit is of all of it.
const WHOLE: f64 = 0.999;

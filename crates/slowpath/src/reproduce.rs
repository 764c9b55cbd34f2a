//! The transfer of a capture once more: on the path that was fitted to it, by real programs over the kernel's TCP, beside the capture.

use std::io::{self, Write};

use serde::Serialize;
use slowpath_fit::Fit;
use slowpath_fit::compare::{Apart, Target};
use slowpath_fit::seen::{self, Seen};
use slowpath_record::health::Health;
use slowpath_record::{Curve, HealthState, Origin};
use slowpath_report::Style;
use slowpath_report::quantity::{bit_rate, grouped, percent, seconds};
use slowpath_report::text::{Tone, columns, left, right};
use slowpath_verdict::{Connection, Limit};
use slowpath_words::{say, told};

use crate::analyzed::Analyzed;
use crate::folder::{Folder, FolderError};
use crate::import::{self, ImportError};
use crate::outcome;

/// Version of the JSON form of a reproduction.
pub const SCHEMA: &str = "slowpath/reproduce/1";

/// A transfer, and what came of it on the fitted path.
#[derive(Debug, Serialize)]
pub struct Reproduction {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What the capture shows.
    pub captured: Shown,
    /// Each run that may be believed.
    pub runs: Vec<Run>,
    /// Runs that could not be judged, each with the reason.
    pub unjudged: Vec<String>,
    /// Whether the fitted model explains the capture at all.
    pub explained: bool,
    /// Share of the transfer's payload that was fitted and reproduced: its beginning.
    pub share: f64,
}

/// A transfer in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// From the first data to the last new acknowledgement.
    pub duration_s: f64,
    /// Payload acknowledged per second of that.
    pub goodput_bit_per_s: f64,
    /// The median round trip; `None` where the tap does not tell.
    pub round_trip_s: Option<f64>,
    /// Segments sent again.
    pub resent: u64,
    /// Loss episodes.
    pub episodes: u64,
    /// What limited it.
    pub limit: Limit,
}

/// One run of the fitted path.
#[derive(Debug, Serialize)]
pub struct Run {
    /// Name of the run in the folder.
    pub name: String,
    /// What the machine did to it, where it did something that shows.
    pub disturbed: Vec<String>,
    /// What its capture shows, taken at the same end.
    pub shown: Shown,
    /// How far its curves are from those of the capture.
    pub apart: Apart,
}

/// Why a transfer cannot be laid beside its reproduction.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// The results cannot be read or written.
    #[error("comparing the runs with the capture: {0}")]
    Folder(#[from] FolderError),
    /// The capture shows no curve.
    #[error(
        "comparing the runs with the capture: the capture shows no data with acknowledgements; give one with both directions"
    )]
    OneWay,
}

/// Lays the runs in `folder` beside the connection to which `fit` was fitted, and keeps the curves of both with the runs' records.
///
/// # Errors
/// [`ReproduceError`].
pub fn beside(fit: &Fit, connection: &Connection, folder: &Folder) -> Result<Reproduction, ReproduceError> {
    let seen = seen::of(connection, fit.captured.bytes).ok_or(ReproduceError::OneWay)?;
    let target = Target::new(seen);
    let mut made = Reproduction {
        schema: SCHEMA,
        captured: Shown::of(target.seen(), connection.verdict.limit),
        runs: Vec::new(),
        unjudged: Vec::new(),
        explained: fit.explains,
        share: fit.share,
    };
    for mut run in outcome::analyze(folder)? {
        // In simulated time captures of a few runs are kept.
        if run.record.captures.is_empty() && run.record.origin == Origin::Simulated {
            continue;
        }
        let (seen, limit) = match seen_at(&run, fit, folder) {
            Ok(found) => found,
            Err(why) => {
                made.unjudged.push(format!("{}: {why}", run.name));
                continue;
            }
        };
        run.record.curves = curves(target.seen(), &seen);
        folder.write_record(&run.name, &run.record)?;
        made.runs.push(Run {
            shown: Shown::of(&seen, limit),
            apart: target.difference(&seen).apart(),
            disturbed: reasons(&run.record.health),
            name: run.name,
        });
    }
    Ok(made)
}

/// What a run shows at the end at which the capture was taken.
fn seen_at(run: &Analyzed, fit: &Fit, folder: &Folder) -> Result<(Seen, Limit), String> {
    let health = &run.record.health;
    if health.state == HealthState::Invalid {
        return Err(format!("invalid: {}", reasons(health).join("; ")));
    }
    if let Some(problem) = &run.problem {
        return Err(problem.clone());
    }
    let at_receiver;
    let analysis = if fit.at_sender {
        run.analysis.as_ref()
    } else {
        // The first capture is the one at the sender.
        at_receiver = (run.record.captures.last())
            .map(|capture| import::analyze_file(&folder.root().join(&capture.file)))
            .transpose()
            .map_err(|error: ImportError| error.to_string())?;
        at_receiver.as_ref()
    };
    let largest = analysis
        .and_then(|analysis| (analysis.connections.iter()).max_by_key(|connection| connection.facts.bytes))
        .ok_or("it left no capture")?;
    let seen = seen::of(largest, fit.captured.bytes).ok_or("its capture shows no transfer")?;
    Ok((seen, largest.verdict.limit))
}

fn reasons(health: &Health) -> Vec<String> {
    health.reasons.iter().map(|reason| reason.text.clone()).collect()
}

impl Shown {
    fn of(seen: &Seen, limit: Limit) -> Self {
        let mut trips: Vec<f64> = seen.round_trips.iter().map(|sample| sample.1).collect();
        trips.sort_unstable_by(f64::total_cmp);
        Self {
            duration_s: seen.duration_s,
            goodput_bit_per_s: if seen.duration_s > 0.0 {
                seen.bytes as f64 * 8.0 / seen.duration_s
            } else {
                0.0
            },
            round_trip_s: trips.get(trips.len() / 2).copied(),
            resent: seen.resent,
            episodes: seen.episodes,
            limit,
        }
    }
}

/// Time/sequence and round trips of both, on the same axes.
fn curves(captured: &Seen, reproduced: &Seen) -> Vec<Curve> {
    let both = [("captured", captured), ("reproduced", reproduced)];
    let curve = |kind: &str, name: &str, y: &str, y_unit: &str, points: Vec<(f64, f64)>| Curve {
        name: format!("{kind}/{name}"),
        x: "time".to_owned(),
        x_unit: "s".to_owned(),
        y: y.to_owned(),
        y_unit: y_unit.to_owned(),
        points,
    };
    let sequence =
        both.map(|(name, seen)| curve("sequence", name, "acknowledged", "B", thinned(&seen.delivered)));
    let trips =
        both.map(|(name, seen)| curve("round-trip", name, "round trip", "s", thinned(&seen.round_trips)));
    (sequence.into_iter())
        .chain(trips)
        .filter(|curve| !curve.points.is_empty())
        .collect()
}

/// So many points that a picture shows the curve, the last one always.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let step = points.len().div_ceil(POINTS).max(1);
    let mut few: Vec<(f64, f64)> = points.iter().step_by(step).copied().collect();
    if let Some(last) = points.last()
        && few.last() != Some(last)
    {
        few.push(*last);
    }
    few
}

/// Points of a curve in a picture.
const POINTS: usize = 60;

/// Writes a reproduction for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_text(made: &Reproduction, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let runs = &made.runs;
    if let Some(off) = median(runs, |shown| Some(shown.duration_s)) {
        let off = (off / made.captured.duration_s - 1.0) * 100.0;
        let same = runs
            .iter()
            .filter(|run| run.shown.limit == made.captured.limit)
            .count();
        let head = say!(
            "reproduce-answer",
            captured = seconds(made.captured.duration_s),
            reproduced = range(runs, |shown| Some(shown.duration_s), seconds),
            off = format!("{off:+.1} %"),
            same = same,
            runs = runs.len()
        );
        style.paragraph(&head, "", "  ", Tone::Plain, out)?;
    } else {
        style.paragraph(&say!("reproduce-nothing"), "", "  ", Tone::Care, out)?;
    }
    if !made.explained {
        style.paragraph(&say!("reproduce-unexplained"), "", "  ", Tone::Care, out)?;
    }
    if made.share < 0.999 {
        let words = say!("reproduce-beginning", share = percent(made.share));
        style.paragraph(&words, "", "  ", Tone::Plain, out)?;
    }
    for why in &made.unjudged {
        style.paragraph(
            &say!("reproduce-unjudged", why = told(why)),
            "",
            "  ",
            Tone::Care,
            out,
        )?;
    }
    let disturbed: Vec<&Run> = runs.iter().filter(|run| !run.disturbed.is_empty()).collect();
    if let Some(first) = disturbed.first() {
        let words = say!(
            "reproduce-disturbed",
            count = disturbed.len(),
            runs = runs.len(),
            why = told(&first.disturbed[0])
        );
        style.paragraph(&words, "", "  ", Tone::Care, out)?;
    }
    if !runs.is_empty() {
        writeln!(out)?;
        table(made, out)?;
        writeln!(out)?;
        let worst = |part: fn(&Apart) -> f64| runs.iter().map(|run| part(&run.apart)).fold(0.0, f64::max);
        let words = say!(
            "reproduce-apart",
            sequence = percent(worst(|apart| apart.sequence)),
            rate = percent(worst(|apart| apart.rate)),
            trip = percent(worst(|apart| apart.round_trip))
        );
        style.paragraph(&words, "", "  ", Tone::Plain, out)?;
    }
    Ok(())
}

fn table(made: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    let runs = &made.runs;
    let count = |value: u64| grouped(value as f64, 0);
    let whole = |value: f64| grouped(value, 0);
    let one = std::slice::from_ref(&made.captured);
    let limits = |shown: &mut dyn Iterator<Item = Limit>| {
        let mut names: Vec<&str> = shown.map(Limit::name).collect();
        names.dedup();
        names.join(", ")
    };
    let rows: [(String, String, String); 6] = [
        (
            say!("reproduce-duration"),
            seconds(made.captured.duration_s),
            range(runs, |shown| Some(shown.duration_s), seconds),
        ),
        (
            say!("reproduce-goodput"),
            bit_rate(made.captured.goodput_bit_per_s),
            range(runs, |shown| Some(shown.goodput_bit_per_s), bit_rate),
        ),
        (
            say!("reproduce-trip"),
            made.captured.round_trip_s.map_or_else(|| "-".to_owned(), seconds),
            range(runs, |shown| shown.round_trip_s, seconds),
        ),
        (
            say!("reproduce-resent"),
            count(made.captured.resent),
            range(runs, |shown| Some(shown.resent as f64), whole),
        ),
        (
            say!("reproduce-episodes"),
            count(made.captured.episodes),
            range(runs, |shown| Some(shown.episodes as f64), whole),
        ),
        (
            say!("reproduce-limit"),
            limits(&mut one.iter().map(|shown| shown.limit)),
            limits(&mut runs.iter().map(|run| run.shown.limit)),
        ),
    ];
    let heads = [
        String::new(),
        say!("reproduce-captured"),
        say!("reproduce-reproduced"),
    ];
    let width = |of: fn(&(String, String, String)) -> &String, head: &str| {
        rows.iter()
            .map(|row| columns(of(row)))
            .chain([columns(head)])
            .max()
            .unwrap_or(0)
    };
    let (first, second) = (width(|row| &row.0, &heads[0]), width(|row| &row.1, &heads[1]));
    writeln!(
        out,
        "  {}  {}  {}",
        left(&heads[0], first),
        right(&heads[1], second),
        heads[2]
    )?;
    for (name, captured, reproduced) in &rows {
        writeln!(
            out,
            "  {}  {}  {reproduced}",
            left(name, first),
            right(&told(captured), second)
        )?;
    }
    Ok(())
}

/// The least and the largest figure of several runs.
fn range(runs: &[Run], figure: fn(&Shown) -> Option<f64>, write: fn(f64) -> String) -> String {
    let mut all: Vec<f64> = runs.iter().filter_map(|run| figure(&run.shown)).collect();
    all.sort_unstable_by(f64::total_cmp);
    match (
        all.first().map(|low| write(*low)),
        all.last().map(|high| write(*high)),
    ) {
        (Some(low), Some(high)) if low == high => told(&low).into_owned(),
        (Some(low), Some(high)) => told(&format!("{low} to {high}")).into_owned(),
        _ => "-".to_owned(),
    }
}

fn median(runs: &[Run], figure: fn(&Shown) -> Option<f64>) -> Option<f64> {
    let mut all: Vec<f64> = runs.iter().filter_map(|run| figure(&run.shown)).collect();
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied()
}

/// Writes a reproduction as JSON ([`SCHEMA`]).
///
/// # Errors
/// Those of `out`.
pub fn write_json(made: &Reproduction, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, made)?;
    writeln!(out)
}

//! The twin: every cell in the lab with kernel hosts and in simulated time with model hosts, side by side.
//!
//! Both clocks get the same plan: the same path with the same dice for the same numbered packet, the same network
//! cards, the same buffers, the same file.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use slowpath_diagnose::stats::{self, Summary};
use slowpath_record::{Code, HealthState, Reason, RunRecord};
use slowpath_scenario::{Captures, Clock};
use slowpath_verdict::Limit;

use crate::captures::main_verdict;
use crate::cells::{self, Cell};
use slowpath::folder::{Folder, FolderError};
use slowpath::import;
use slowpath::run::{self, Event, Failed, Planned, RunError, RunOptions, run_name};

mod page;

pub use page::page;

/// What to do and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the records go; a second run goes on with what is missing.
    pub out: PathBuf,
    /// Only cells whose name contains one of these; empty means all.
    pub only: Vec<String>,
    /// The clocks to run; the page always shows both.
    pub clocks: Vec<Clock>,
    /// Seed from which every run's own follows.
    pub seed: u64,
    /// Places for slow cells at a time; how many each takes says [`Cell::places`].
    pub places: usize,
    /// How often a disturbed lab run is tried; the last try stays, whatever disturbed it.
    pub passes: u32,
    /// The program that runs one assignment, as [`RunOptions::worker`].
    pub worker: (PathBuf, Vec<String>),
}

/// Runs what is missing, and again what the machine disturbed, then more seeds of cells whose interval is too wide.
///
/// Seeds are doubled up to [`cells::MOST_SEEDS`] by the interval's width alone, whatever its middle.
///
/// # Errors
/// [`RunError`].
pub fn make(
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    let folder = Folder::create(&settings.out)?;
    let mut wanted = Vec::new();
    for cell in chosen(settings) {
        wanted.push((cell, seeds_run(&folder, &cell, settings.seed)?));
    }
    let mut failed = Vec::new();
    while !wanted.is_empty() {
        make_all(&wanted, settings, &folder, &mut failed, cancel, observe)?;
        let mut wider = Vec::new();
        for &(cell, seeds) in &wanted {
            let more = (2 * seeds).min(cells::MOST_SEEDS);
            if more > seeds
                && settings.clocks.contains(&Clock::Lab)
                && is_wide(&folder, &cell, settings.seed)?
            {
                wider.push((cell, more));
            }
        }
        wanted = wider;
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(RunError::Failed { failed })
    }
}

/// How many seeds of a cell are wanted or were run in the lab before, whichever is more.
fn seeds_run(folder: &Folder, cell: &Cell, seed: u64) -> Result<u32, FolderError> {
    let first = cell.seeds();
    let mut seeds = first;
    for repeat in first..cells::MOST_SEEDS {
        if folder.record(&name(cell, Clock::Lab, repeat, seed))?.is_some() {
            seeds = repeat + 1;
        }
    }
    Ok(seeds)
}

/// Whether there are too few runs to tell the mean ratio to 10 %.
fn is_wide(folder: &Folder, cell: &Cell, seed: u64) -> Result<bool, FolderError> {
    let lab = runs(folder, cell, Clock::Lab, seed)?;
    let simulated = runs(folder, cell, Clock::Simulated, seed)?;
    Ok(ratio(&lab.figures, &simulated.figures).is_some_and(|ratio| !ratio.is_narrow()))
}

/// Runs so many seeds of each cell in the clocks that are wanted.
fn make_all(
    wanted: &[(Cell, u32)],
    settings: &Settings,
    folder: &Folder,
    failed: &mut Vec<Failed>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    for (clock, number) in passes(settings) {
        let planned = planned(wanted, clock, settings.seed);
        // What failed before is missing now and tried again.
        failed.retain(|failed| planned.iter().all(|(_, run)| run.name != failed.name));
        for (cell, run) in &planned {
            // A simulated run belongs to the model of this very program; a lab run can be resumed.
            let stale = match clock {
                Clock::Simulated => true,
                Clock::Lab => folder
                    .record(&run.name)?
                    .is_some_and(|record| wants_repeat(&record, cell)),
            };
            if stale {
                let _ = std::fs::remove_file(folder.runs().join(format!("{}.json", run.name)));
            }
        }
        let planned: Vec<Planned> = planned.into_iter().map(|(_, run)| run).collect();
        let missing = |run: &Planned| !matches!(folder.record(&run.name), Ok(Some(_)));
        if number > 0 && !planned.iter().any(missing) {
            continue;
        }
        let options = RunOptions {
            clocks: vec![clock],
            variants: Vec::new(),
            repeats: None,
            decide: false,
            seed: settings.seed,
            quick: false,
            capture: true,
            out: settings.out.clone(),
            places: settings.places,
            worker: settings.worker.clone(),
        };
        match run::execute("twin", planned, &options, folder, cancel, observe) {
            Err(RunError::Failed { failed: more }) => failed.extend(more),
            other => other?,
        }
    }
    Ok(())
}

/// The clocks in turn; the lab several times, the later times for what was disturbed.
fn passes(settings: &Settings) -> impl Iterator<Item = (Clock, u32)> + '_ {
    settings.clocks.iter().flat_map(|&clock| {
        let count = match clock {
            Clock::Simulated => 1,
            Clock::Lab => settings.passes,
        };
        (0..count).map(move |number| (clock, number))
    })
}

/// Round by round, so that an interrupted matrix has every cell some times and not some cells every time.
fn planned(wanted: &[(Cell, u32)], clock: Clock, seed: u64) -> Vec<(Cell, Planned)> {
    let rounds = wanted.iter().map(|&(_, seeds)| seeds).max().unwrap_or(0);
    let mut planned = Vec::new();
    for repeat in 0..rounds {
        for (cell, _) in wanted.iter().filter(|&&(_, seeds)| seeds > repeat) {
            let mut plan = cell
                .plan(clock, repeat, seed)
                .expect("a cell of the list can be planned");
            if repeat > 0 {
                plan.captures = Captures::None;
            }
            let twin = (clock == Clock::Lab).then(|| cell.plan(Clock::Simulated, repeat, seed).ok());
            let run = Planned::new(run_name(&plan), plan)
                .with_twin(twin.flatten())
                .taking(cell.places());
            planned.push((*cell, run));
        }
    }
    planned
}

/// Whether the machine disturbed a lab run: its health refuses it, or the wire stood still for so long that it matters.
///
/// What hosts send during a stall reaches the bottleneck all at once, which a queue of 2 ms does not survive. The
/// judgement looks at the machine alone, never at the result.
fn wants_repeat(record: &RunRecord, cell: &Cell) -> bool {
    let stalled = |reason: &Reason| reason.code == Code::WireStalled && reason.state > HealthState::Valid;
    is_refused(record, cell) || record.health.reasons.iter().any(stalled)
}

/// Whether a run does not count: its health refuses it, or would if today's program had recorded it.
///
/// Older records do not know the reason `queue-bunched`: where the bottleneck's queue overflowed, and one packet in a
/// thousand was late by as long as that queue takes to empty (and by 1 ms), the lab decided what was lost.
fn is_refused(record: &RunRecord, cell: &Cell) -> bool {
    if record.health.state == HealthState::Invalid {
        return true;
    }
    let overflowed = record
        .elements
        .iter()
        .flat_map(|element| &element.dropped)
        .any(|(cause, _)| cause == "queue-full");
    let queue_s = cell.queue_bytes() as f64 * 8e-6 / f64::from(cell.rate_mbit_per_s);
    let late_s = record
        .health
        .release_lateness
        .as_ref()
        .map_or(0.0, |late| late.p999.seconds());
    overflowed && late_s >= queue_s.max(1e-3)
}

fn chosen(settings: &Settings) -> impl Iterator<Item = Cell> + '_ {
    cells::all()
        .into_iter()
        .filter(|cell| crate::is_wanted(&cell.name(), &settings.only))
}

/// One cell's runs in both clocks.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The cell.
    pub cell: Cell,
    /// Means in the lab.
    pub lab: Side,
    /// Means in simulated time.
    pub simulated: Side,
    /// Simulated over lab goodput, with the 95 % interval of its mean over pairs of the same seed.
    pub ratio: Option<Ratio>,
    /// Lab runs that their own health refuses.
    pub refused: usize,
}

/// A ratio with its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Number of pairs.
    pub pairs: usize,
    /// Geometric mean.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Ratio {
    /// Whether the interval reaches at most 10 % either way from the mean.
    pub fn is_narrow(&self) -> bool {
        self.high / self.mean <= 1.1 && self.low / self.mean >= 0.9
    }
}

/// Means over the runs of one clock, each over those runs that know it; absent where none does.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Side {
    /// Runs.
    pub runs: usize,
    /// Payload bits per second at the receiver.
    pub goodput_bit_per_s: Option<f64>,
    /// From asking to the last byte.
    pub duration_s: Option<f64>,
    /// Retransmitted over needed segments.
    pub retransmitted: Option<f64>,
    /// Smoothed round-trip time at the sender beyond the empty path's, averaged over the transfer.
    pub queue_s: Option<f64>,
    /// What the first run's capture says.
    pub verdict: Option<Limit>,
}

/// One run's figures.
#[derive(Debug, Clone, Copy)]
struct Figures {
    repeat: u32,
    goodput: f64,
    duration: f64,
    retransmitted: Option<f64>,
    queue: Option<f64>,
}

/// Puts the runs in the folder side by side.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn compare(settings: &Settings) -> Result<Vec<Compared>, FolderError> {
    let folder = Folder::open(&settings.out);
    let mut all = Vec::new();
    for cell in chosen(settings) {
        let lab = runs(&folder, &cell, Clock::Lab, settings.seed)?;
        let simulated = runs(&folder, &cell, Clock::Simulated, settings.seed)?;
        all.push(Compared {
            cell,
            ratio: ratio(&lab.figures, &simulated.figures),
            lab: side(&lab.figures, verdict(&folder, &lab)),
            simulated: side(&simulated.figures, verdict(&folder, &simulated)),
            refused: lab.refused,
        });
    }
    Ok(all)
}

/// What the folder has of one cell in one clock.
#[derive(Debug, Default)]
struct Runs {
    figures: Vec<Figures>,
    /// Runs that their health refuses.
    refused: usize,
    /// The first run's capture, if its health accepts the run.
    capture: Option<String>,
}

fn runs(folder: &Folder, cell: &Cell, clock: Clock, seed: u64) -> Result<Runs, FolderError> {
    let mut runs = Runs::default();
    for repeat in 0..cells::MOST_SEEDS {
        let Some(record) = folder.record(&name(cell, clock, repeat, seed))? else {
            continue;
        };
        if is_refused(&record, cell) {
            runs.refused += 1;
            continue;
        }
        let Some(transfer) = record.transfers.first() else {
            continue;
        };
        if let Some(capture) = record.captures.first() {
            runs.capture = Some(capture.file.clone());
        }
        let again = transfer
            .retransmitted_segments
            .map(|count| count as f64)
            .or_else(|| last_of(&record, "/retransmissions"));
        runs.figures.push(Figures {
            repeat,
            goodput: transfer.goodput_byte_per_s() * 8.0,
            duration: transfer.duration().seconds(),
            retransmitted: again
                .filter(|_| transfer.bytes > 0)
                .map(|count| count * SEGMENT / transfer.bytes as f64),
            queue: queue(&record, cell),
        });
    }
    Ok(runs)
}

/// The name of one run of a cell.
fn name(cell: &Cell, clock: Clock, repeat: u32, seed: u64) -> String {
    let plan = cell
        .plan(clock, repeat, seed)
        .expect("a cell of the list can be planned");
    run_name(&plan)
}

/// What the capture says.
fn verdict(folder: &Folder, runs: &Runs) -> Option<Limit> {
    let analysis = import::analyze_file(&folder.root().join(runs.capture.as_ref()?)).ok()?;
    main_verdict(&analysis).map(|verdict| verdict.limit)
}

/// The last value of the sender's series whose name ends so, of the connection with the largest.
fn last_of(record: &RunRecord, ending: &str) -> Option<f64> {
    record
        .series
        .iter()
        .filter(|series| series.name.starts_with("server/") && series.name.ends_with(ending))
        .filter_map(|series| series.points.last())
        .map(|point| point.1)
        .reduce(f64::max)
}

/// Mean of the sender's smoothed round-trip time beyond the empty path's, over the connection that carried most.
fn queue(record: &RunRecord, cell: &Cell) -> Option<f64> {
    let base = f64::from(cell.rtt_ms) / 1e3;
    let names = ["/rtt", "/srtt"];
    let series = record
        .series
        .iter()
        .filter(|series| series.name.starts_with("server/"))
        .filter(|series| names.iter().any(|name| series.name.ends_with(name)))
        .filter(|series| !series.name.contains("control"));
    // The connection that carried the file, not the one for commands.
    let acknowledged = |name: &str| {
        let connection = name.rsplit_once('/').map_or(name, |(connection, _)| connection);
        record
            .series
            .iter()
            .filter(|series| series.name.starts_with(connection))
            .filter(|series| series.name.ends_with("/bytes-acked") || series.name.ends_with("/acknowledged"))
            .filter_map(|series| series.points.last())
            .map(|point| point.1)
            .fold(0.0, f64::max)
    };
    let busiest = series.max_by(|a, b| acknowledged(&a.name).total_cmp(&acknowledged(&b.name)))?;
    let values: Vec<f64> = busiest
        .points
        .iter()
        .map(|(_, value)| (value - base).max(0.0))
        .collect();
    (!values.is_empty()).then(|| stats::mean(&values))
}

fn side(runs: &[Figures], verdict: Option<Limit>) -> Side {
    let mean = |value: fn(&Figures) -> Option<f64>| {
        let values: Vec<f64> = runs.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| stats::mean(&values))
    };
    Side {
        runs: runs.len(),
        goodput_bit_per_s: mean(|run| Some(run.goodput)),
        duration_s: mean(|run| Some(run.duration)),
        retransmitted: mean(|run| run.retransmitted),
        queue_s: mean(|run| run.queue),
        verdict,
    }
}

/// Pairs of the same seed, compared by their logarithms: a ratio of two and one of a half are equally far from one.
fn ratio(lab: &[Figures], simulated: &[Figures]) -> Option<Ratio> {
    let logs: Vec<f64> = lab
        .iter()
        .filter_map(|run| {
            let twin = simulated.iter().find(|twin| twin.repeat == run.repeat)?;
            Some((twin.goodput / run.goodput).ln())
        })
        .collect();
    let summary = Summary::of(&logs)?;
    Some(Ratio {
        pairs: summary.n,
        mean: summary.mean.exp(),
        low: summary.low95?.exp(),
        high: summary.high95?.exp(),
    })
}

impl Compared {
    /// Whether the ratio lies within 10 % of one, with an interval of at most 10 % either way.
    pub fn is_close(&self) -> bool {
        self.ratio
            .is_some_and(|ratio| within(ratio.mean, 0.1) && ratio.is_narrow())
    }

    /// Whether the ratio lies within 20 % of one.
    pub fn is_near(&self) -> bool {
        self.ratio.is_some_and(|ratio| within(ratio.mean, 0.2))
    }

    /// Whether both clocks' captures lead to the same verdict; absent where one has none.
    pub fn same_verdict(&self) -> Option<bool> {
        Some(self.lab.verdict? == self.simulated.verdict?)
    }
}

impl Compared {
    /// Where the two clocks differ beside the goodput: what to look at first.
    fn differences(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.ratio.is_none() {
            return found;
        }
        let (lab, twin) = (&self.lab, &self.simulated);
        // What one of the two does not know is no difference.
        let apart = |a: Option<f64>, b: Option<f64>, least: f64| {
            a.zip(b)
                .filter(|&(a, b)| (a - b).abs() > least && (a > b * 1.5 || b > a * 1.5))
        };
        if let Some((a, b)) = apart(lab.retransmitted, twin.retransmitted, 0.002) {
            found.push(format!(
                "the kernel sends {:.2} % again, the model {:.2} %",
                a * 100.0,
                b * 100.0
            ));
        }
        if let Some((a, b)) = apart(lab.queue_s, twin.queue_s, 0.003) {
            found.push(format!(
                "the kernel's mean queue is {:.1} ms, the model's {:.1} ms",
                a * 1e3,
                b * 1e3
            ));
        }
        found
    }
}

fn within(ratio: f64, share: f64) -> bool {
    (1.0 - share..=1.0 + share).contains(&ratio)
}

/// Payload of a full segment with timestamps.
const SEGMENT: f64 = 1_448.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(goodputs: &[f64]) -> Vec<Figures> {
        goodputs
            .iter()
            .zip(0..)
            .map(|(&goodput, repeat)| Figures {
                repeat,
                goodput,
                duration: 1.0,
                retransmitted: Some(0.01),
                queue: None,
            })
            .collect()
    }

    fn compared(lab: &[f64], simulated: &[f64]) -> Compared {
        let (lab, simulated) = (figures(lab), figures(simulated));
        Compared {
            cell: cells::all()[0],
            ratio: ratio(&lab, &simulated),
            lab: side(&lab, Some(Limit::RandomLoss)),
            simulated: side(&simulated, Some(Limit::RandomLoss)),
            refused: 0,
        }
    }

    #[test]
    fn pairs_of_equal_seeds_are_compared() {
        // Twice the goodput for every seed: the spread of the seeds is not the ratio's.
        let twice = compared(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 4.0, 6.0, 8.0, 10.0]);
        let ratio = twice.ratio.unwrap();
        assert!((ratio.mean - 2.0).abs() < 1e-9 && (ratio.high - ratio.low) < 1e-9);
        assert!(!twice.is_near());
        let close = compared(&[1.0, 2.0, 3.0], &[1.01, 2.1, 3.0]);
        assert!(close.is_close(), "{:?}", close.ratio);
        let wide = compared(&[1.0, 1.0, 1.0], &[0.7, 1.0, 1.4]);
        assert!(wide.is_near() && !wide.is_close(), "{:?}", wide.ratio);
    }

    #[test]
    fn the_page_counts_and_lists() {
        let all = [
            compared(&[1e6, 2e6, 3e6], &[1.01e6, 2.0e6, 3.0e6]),
            compared(&[1e6, 1e6], &[2e6, 2e6]),
            compared(&[], &[1e6]),
        ];
        let text = page(&all);
        assert!(text.contains("**1 of 2 (50 %)**"), "{text}");
        assert!(
            text.contains("Same verdict in both clocks: **3 of 3 (100 %)**"),
            "{text}"
        );
        assert!(text.contains("the ratio is 2.000."), "{text}");
        assert!(text.contains("not compared: 0 lab runs"), "{text}");
        // The third cell was never run in the lab, and nobody sampled a queue.
        assert!(
            text.contains("| - / 1.00 | - | - | - / 1.00 | - / - | - / 1.0 |"),
            "{text}"
        );
    }

    #[test]
    fn what_is_not_known_is_no_difference() {
        let mut one = compared(&[1e6, 2e6], &[1e6, 2e6]);
        one.lab.queue_s = Some(0.1);
        assert_eq!(one.differences(), Vec::<String>::new());
        one.simulated.queue_s = Some(0.01);
        assert_eq!(
            one.differences(),
            ["the kernel's mean queue is 100.0 ms, the model's 10.0 ms"]
        );
        (one.lab.retransmitted, one.simulated.queue_s) = (None, None);
        assert_eq!(one.differences(), Vec::<String>::new());
    }
}

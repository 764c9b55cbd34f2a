//! Pairs of a path and a change in the lab: A and B are run by real programs over the kernel's TCP, and only A is shown to the fit.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use slowpath::folder::{Folder, FolderError};
use slowpath::import;
use slowpath::run::{self, Event, Planned, RunError, RunOptions};
use slowpath_record::HealthState;
use slowpath_scenario::device::Fragments;
use slowpath_scenario::{Captures, Clock, Experiment, Intervention, Plan, PlanOptions};
use slowpath_verdict::Analysis;

use super::Kept;
use super::drawn::{Dice, DrawnPath, KINDS_OF_LAB, LASTING_IN_LAB};
use super::pairs::{self, Pair};

/// What to do and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How many pairs.
    pub count: u32,
    /// Draws them.
    pub seed: u64,
    /// Where the records and captures go; a second call goes on with what is missing.
    pub out: PathBuf,
    /// No run begins after this time; a later call goes on.
    pub until: Option<Instant>,
    /// The program that runs one assignment, as [`RunOptions::worker`].
    pub worker: (PathBuf, Vec<String>),
}

/// A pair as it is drawn.
struct Drawn {
    number: u32,
    path: DrawnPath,
    key: &'static str,
    value: String,
}

impl Drawn {
    fn changes(&self) -> Vec<Intervention> {
        vec![Intervention::spelled(self.key, &self.value).expect("drawn changes are spelled right")]
    }

    /// The names of the runs of A and of B.
    fn names(&self) -> [String; 2] {
        ["a", "b"].map(|side| format!("{:03}-{side}", self.number))
    }

    fn plan(&self, changes: &[Intervention], seed: u64) -> Plan {
        let experiment =
            Experiment::read("drawn", &self.path.document(), &[]).expect("a drawn path can be read");
        let options = PlanOptions::first("default", seed, Clock::Lab);
        let plan = experiment
            .plan(&options, &Fragments::new())
            .expect("a drawn path can be planned");
        let mut plan = changes.iter().fold(plan, |plan, change| {
            change.apply(&plan).expect("a drawn change fits its path")
        });
        plan.captures = Captures::Hosts;
        plan
    }
}

fn drawn(settings: &Settings) -> Vec<Drawn> {
    let mut dice = Dice(settings.seed);
    (1..=settings.count)
        .map(|number| {
            let path = DrawnPath::drawn(&mut dice, &KINDS_OF_LAB, LASTING_IN_LAB);
            let (key, value) = path.change(&mut dice);
            Drawn {
                number,
                path,
                key,
                value,
            }
        })
        .collect()
}

/// Runs what is missing, A and B of a pair one after the other, alone. A run that its health calls invalid is run again by a later call.
///
/// # Errors
/// [`RunError`].
pub fn make(
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    let folder = Folder::create(&settings.out)?;
    let options = RunOptions {
        clocks: vec![Clock::Lab],
        variants: Vec::new(),
        repeats: None,
        decide: false,
        seed: settings.seed,
        quick: false,
        capture: true,
        out: settings.out.clone(),
        places: 1,
        worker: settings.worker.clone(),
    };
    for pair in drawn(settings) {
        let [a, b] = pair.names();
        let seed = 3_000 + 2 * u64::from(pair.number);
        for (name, changes, seed) in [(a, Vec::new(), seed), (b, pair.changes(), seed + 1)] {
            if folder
                .record(&name)?
                .is_some_and(|record| record.health.state != HealthState::Invalid)
            {
                continue;
            }
            let late = settings.until.is_some_and(|until| Instant::now() > until);
            if late || cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            let runs = vec![Planned::new(name.clone(), pair.plan(&changes, seed)).once()];
            match run::execute("what-if", runs, &options, &folder, cancel, observe) {
                // A run that failed is missing; the others are worth having.
                Err(RunError::Failed { .. }) => {}
                other => other?,
            }
        }
    }
    Ok(())
}

/// The pairs that could not be scored, with the reason.
#[derive(Debug, Clone, Default)]
pub struct LeftOut(pub Vec<String>);

/// Fits A and predicts B for every pair whose runs are there and valid.
///
/// # Errors
/// A record cannot be read, or the results cannot be written.
pub fn score(
    settings: &Settings,
    kept: &mut Kept<Pair>,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(&Pair),
) -> Result<LeftOut, ScoreError> {
    let folder = Folder::open(&settings.out);
    let mut left_out = LeftOut::default();
    for pair in drawn(settings) {
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        if kept.rows.iter().any(|one| one.number == pair.number) {
            continue;
        }
        let [a, b] = pair.names();
        let (a, b) = match (analysis(&folder, &a)?, analysis(&folder, &b)?) {
            (Ok(a), Ok(b)) => (a, b),
            (Err(why), _) | (_, Err(why)) => {
                left_out.0.push(format!("pair {}: {why}", pair.number));
                continue;
            }
        };
        let begin = Instant::now();
        let Some(connection) = a.connections.iter().max_by_key(|one| one.bytes_delivered) else {
            continue;
        };
        let said = pairs::predicted(connection, pair.path.control(), &pair.changes(), cancel);
        if cancel.load(Ordering::Relaxed) {
            break;
        }
        let one = Pair {
            number: pair.number,
            path: pair.path.words(),
            change: format!("{}={}", pair.key, pair.value),
            before_s: duration(&a),
            truth_s: duration(&b),
            predicted: said.range,
            refused: said.refused,
            fitted: said.fitted,
            congestion: said.congestion,
            seconds: begin.elapsed().as_secs_f64(),
        };
        observe(&one);
        kept.push(one)?;
    }
    Ok(left_out)
}

/// Why scoring cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ScoreError {
    /// Of a record.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Of the results.
    #[error("keeping what was scored: {0}")]
    Kept(#[from] io::Error),
}

/// What the sender's capture of a run says, or why the run does not count.
fn analysis(folder: &Folder, name: &str) -> Result<Result<Analysis, String>, FolderError> {
    let Some(record) = folder.record(name)? else {
        return Ok(Err(format!("{name} was not run")));
    };
    if record.health.state == HealthState::Invalid {
        let reasons: Vec<&str> = record
            .health
            .reasons
            .iter()
            .map(|reason| reason.text.as_str())
            .collect();
        return Ok(Err(format!("{name} is invalid ({})", reasons.join("; "))));
    }
    // The first capture is the one at the client, which sends.
    let Some(capture) = record.captures.first() else {
        return Ok(Err(format!("{name} left no capture")));
    };
    Ok(import::analyze_file(&folder.root().join(&capture.file)).map_err(|error| format!("{name}: {error}")))
}

/// From the first data of any connection that moves data to the last new acknowledgement.
fn duration(analysis: &Analysis) -> f64 {
    let (mut first, mut last) = (f64::INFINITY, 0.0_f64);
    for connection in analysis
        .connections
        .iter()
        .filter(|one| one.bytes_delivered >= LEAST)
    {
        if let Some(segment) = connection.graphs.segments.first() {
            first = first.min(segment.at_s);
        }
        let mut highest = f64::NEG_INFINITY;
        for ack in &connection.graphs.acks {
            if ack.value > highest {
                highest = ack.value;
                last = last.max(ack.at_s);
            }
        }
    }
    last - first
}

/// A connection that moves less than so many bytes is the program's own talk.
const LEAST: u64 = 30_000;

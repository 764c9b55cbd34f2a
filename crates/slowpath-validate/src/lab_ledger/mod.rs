//! The ledger of a capture against what the sending kernel counted of the same transfer, in the lab.
//!
//! `cargo run --release -p slowpath-validate --example lab-ledger` is the front end, which writes `docs/validation/lab-ledger.md`.
//!
//! * [`draw`]: transfers drawn by a digest of their number: what may hold a sender ([`Set::Chronographs`]), programs with a
//!   pace of their own ([`Set::Paced`]), links whose rate varies ([`Set::Varying`]) or was recorded ([`Set::Recorded`]).
//! * [`make`]: runs those that are missing, and those that the machine disturbed again.
//! * [`chronographs`]: the ledger's shares beside those of the kernel. [`verdicts`]: what a transfer is said to be limited by.
//! * [`page()`]: all of it as a document.
//!
//! Even numbers are for development, odd ones are held out, and those behind them are scored afresh. Runs that the machine disturbed are run again, and what is left of
//! them is scored apart from the valid ones: the kernel's counts and the capture are of the same transfer, whatever befell it,
//! but the capture's stamps may be late, and the path is not the one that was drawn.

pub mod chronographs;
pub mod draw;
mod page;
pub mod verdicts;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use slowpath::folder::{Folder, FolderError};
use slowpath::import;
use slowpath::run::{self, Event, Planned, RunError, RunOptions};
use slowpath_record::HealthState;
use slowpath_scenario::Clock;
use slowpath_verdict::Connection;

use crate::cells::CellError;
use crate::taps::PLACES;
use crate::worker::{KernelAccount, account_file};

pub use draw::{Drawn, Set};
pub use page::{Part, page, summary, verdicts as verdicts_summary};

/// What a run's health may be, the best first: each is scored by itself.
pub const STATES: [HealthState; 3] = [HealthState::Valid, HealthState::Degraded, HealthState::Invalid];

/// Which of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// Even numbers: rules are improved on them.
    Development,
    /// Odd ones: scored once.
    HeldOut,
    /// Numbers behind these, half as many: scored once, when rules had been improved on both.
    Afresh,
    /// As many behind these: scored once, when the counts of a sender with BBR were followed.
    Further,
}

impl Numbers {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Development, Self::HeldOut, Self::Afresh, Self::Further];

    /// The name in arguments and folders.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Development => "development",
            Self::HeldOut => "held-out",
            Self::Afresh => "afresh",
            Self::Further => "further",
        }
    }
}

/// What to run and where.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which transfers.
    pub set: Set,
    /// Which of its numbers.
    pub numbers: Numbers,
    /// Where the folders of all sets are; a second run goes on with what is missing.
    pub out: PathBuf,
    /// Only these numbers; empty means all.
    pub only: Vec<u64>,
    /// How many transfers at a time.
    pub places: usize,
    /// How often a run that the machine disturbed is done at most.
    pub passes: u32,
    /// Where recorded rates lie; without it, the links that need one are left out.
    pub traces: Option<PathBuf>,
    /// The program that runs one assignment, as [`RunOptions::worker`].
    pub worker: (PathBuf, Vec<String>),
}

impl Settings {
    /// The folder of this set and numbers.
    pub fn folder(&self) -> PathBuf {
        self.out
            .join(format!("{}-{}", self.set.name(), self.numbers.name()))
    }

    /// The transfers, in the order of their numbers.
    pub fn drawn(&self) -> impl Iterator<Item = Drawn> + '_ {
        let count = self.set.count();
        let (numbers, step) = match self.numbers {
            Numbers::Development => (0..count, 2),
            Numbers::HeldOut => (1..count, 2),
            Numbers::Afresh => (count..count + count / 2, 1),
            Numbers::Further => (count + count / 2..2 * count, 1),
        };
        numbers
            .step_by(step)
            .filter(|number| self.only.is_empty() || self.only.contains(number))
            .map(|number| draw::draw(self.set, number))
            .filter(|drawn| drawn.trace().is_none() || self.traces.is_some())
    }
}

/// Why transfers could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// A drawn transfer cannot be planned.
    #[error(transparent)]
    Plan(#[from] draw::PlanError),
    /// Runs failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A record that is to be made again cannot be removed.
    #[error("removing {path} failed: {source}")]
    Remove {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl From<CellError> for MakeError {
    fn from(error: CellError) -> Self {
        Self::Plan(error.into())
    }
}

/// Runs what is missing, and again what the machine disturbed.
///
/// # Errors
/// [`MakeError`]; what had finished stays in the folder.
pub fn make(
    settings: &Settings,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), MakeError> {
    let folder = Folder::create(&settings.folder())?;
    let options = RunOptions {
        clocks: vec![Clock::Lab],
        variants: Vec::new(),
        repeats: None,
        decide: false,
        seed: draw::SEED,
        quick: false,
        capture: true,
        out: settings.folder(),
        places: settings.places,
        worker: settings.worker.clone(),
    };
    for _ in 0..settings.passes {
        let mut planned = Vec::new();
        for drawn in settings.drawn() {
            let name = drawn.name();
            let record = folder.record(&name)?;
            if record
                .as_ref()
                .is_some_and(|record| record.health.state == HealthState::Valid)
            {
                continue;
            }
            if record.is_some() {
                let path = folder.runs().join(format!("{name}.json"));
                std::fs::remove_file(&path).map_err(|source| MakeError::Remove { path, source })?;
            }
            planned.push(Planned::new(name, drawn.plan(settings.traces.as_deref())?));
        }
        if planned.is_empty() {
            break;
        }
        run::execute("lab-ledger", planned, &options, &folder, cancel, observe)?;
    }
    Ok(())
}

/// One transfer that was run: what its sender's kernel knows, and what the capture beside it says.
pub(crate) struct Ran {
    health: HealthState,
    account: KernelAccount,
    connection: Box<Connection>,
}

/// Reads one run, or says why it cannot be scored.
fn ran(folder: &Folder, drawn: &Drawn) -> Result<Result<Ran, String>, FolderError> {
    let name = drawn.name();
    let Some(record) = folder.record(&name)? else {
        return Ok(Err("no run".to_owned()));
    };
    let account = std::fs::read(folder.root().join(account_file(&name))).ok();
    let Some(account) = account.and_then(|text| serde_json::from_slice::<KernelAccount>(&text).ok()) else {
        return Ok(Err("no account of the kernel".to_owned()));
    };
    let place = |reference: &&slowpath_record::CaptureRef| reference.point == PLACES[0];
    let Some(reference) = record.captures.iter().find(place) else {
        return Ok(Err("no capture".to_owned()));
    };
    Ok(match connection(&folder.root().join(&reference.file)) {
        Ok(Some(connection)) => Ok(Ran {
            health: record.health.state,
            account,
            connection: Box::new(connection),
        }),
        Ok(None) => Err("no connection in the capture".to_owned()),
        Err(error) => Err(error.to_string()),
    })
}

/// The connection with the most data of a capture, if it holds any.
fn connection(path: &Path) -> Result<Option<Connection>, import::ImportError> {
    let analysis = import::analyze_file(path)?;
    Ok(analysis.connections.into_iter().next())
}

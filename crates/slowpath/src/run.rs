//! Runs an experiment: every variant and repeat, interleaved, side by side where the paths are slow, resumable.
//!
//! Lab runs take place in worker processes of their own, so that a crash costs one run, namespaces are
//! entered before any thread exists, and several paths can run side by side. Simulated runs are computed
//! here, on all processors. Every finished run is written at once.

mod cores;
mod error;
mod event;
mod options;
mod planned;
#[cfg_attr(not(target_os = "linux"), path = "run/no_workers.rs")]
mod workers;

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use slowpath_record::{Code, HealthState, RunRecord};
use slowpath_scenario::Clock;

pub use error::{Failed, RunError};
pub use event::Event;
pub use options::RunOptions;
pub use planned::{Planned, plan, run_name};

use crate::folder::{Folder, FolderError};
use crate::identity;
use crate::load::Loaded;
use crate::repeat;
use crate::settings::{SETTINGS, Settings};

/// Runs everything that is planned and not yet finished.
///
/// # Errors
/// [`RunError`]; what had finished before an error stays in the folder.
pub fn run(
    loaded: &Loaded,
    options: &RunOptions,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Folder, RunError> {
    let planned = plan(loaded, options)?;
    let settings = Settings::of(loaded, options.seed, options.quick);
    let differences = identity::differences(loaded, &settings, &Folder::open(&options.out))?;
    if !differences.is_empty() {
        return Err(RunError::Mixed {
            folder: options.out.clone(),
            differences,
        });
    }
    let folder = Folder::create(&options.out)?;
    keep_sources(loaded, &settings, &folder)?;
    execute(&loaded.name, planned, options, &folder, cancel, observe)?;
    decide(loaded, options, &folder, cancel, observe)?;
    Ok(folder)
}

/// Repeats simulated runs until the comparisons that the experiment wishes for are decided, if that is asked for and the
/// number of repeats was not given; with a cap.
fn decide(
    loaded: &Loaded,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    if !options.decide || options.repeats.is_some() || options.quick || options.clocks == [Clock::Lab] {
        return Ok(());
    }
    let mut last = Vec::new();
    loop {
        let wanted = repeat::wanted(loaded, &options.variants, options.seed, folder)?;
        // Runs that failed leave no record, and would be wanted for ever.
        if wanted.is_empty() || wanted == last {
            return Ok(());
        }
        let again = wanted
            .iter()
            .map(|(variant, number)| planned::again(loaded, options, variant, *number))
            .collect::<Result<Vec<Planned>, RunError>>()?;
        execute(&loaded.name, again, options, folder, cancel, observe)?;
        last = wanted;
    }
}

/// Keeps with the results what they were made from, so that a report can be made again without the originals.
fn keep_sources(loaded: &Loaded, settings: &Settings, folder: &Folder) -> Result<(), FolderError> {
    folder.write("experiment.toml", loaded.text.as_bytes())?;
    for (name, text) in &loaded.files {
        // A configuration from elsewhere keeps its last name only; the plan inside each record is complete anyway.
        let plain = name.rsplit('/').next().unwrap_or(name);
        folder.write(plain, text.as_bytes())?;
    }
    let text = serde_json::to_vec_pretty(settings).expect("settings can always be written as JSON");
    folder.write(SETTINGS, &text).map(drop)
}

/// Runs `planned` into `folder`, as [`run`] does.
///
/// # Errors
/// [`RunError`].
pub fn execute(
    experiment: &str,
    planned: Vec<Planned>,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<(), RunError> {
    let total = planned.len();
    let mut waiting = VecDeque::new();
    for run in planned {
        let before = folder.record(&run.name).ok().flatten();
        if before.is_none_or(|record| record.plan_digest != run.plan.digest() || !has_ended(&record)) {
            waiting.push_back(run);
        }
    }
    observe(Event::Planned {
        total,
        resumed: total - waiting.len(),
    });

    let (simulated, lab): (VecDeque<_>, VecDeque<_>) = waiting
        .into_iter()
        .partition(|run| run.plan.clock == Clock::Simulated);
    let mut failed = cores::simulate(experiment, simulated, options, folder, cancel, observe)?;
    failed.extend(workers::work(experiment, lab, options, folder, cancel, observe)?);
    if failed.is_empty() {
        Ok(())
    } else {
        Err(RunError::Failed { failed })
    }
}

/// Whether a run came to a usable end, so that it need not be done again.
fn has_ended(record: &RunRecord) -> bool {
    let starved = (record.health.reasons.iter()).any(|reason| reason.code == Code::Unfinished);
    record.health.state != HealthState::Invalid
        && (starved || record.transfers.iter().all(|transfer| transfer.complete))
}

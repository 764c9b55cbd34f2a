//! Simulated runs on all processors.
//!
//! Each run depends on its plan alone and leaves files of its own, so that neither the number of processors nor the
//! order in which runs end shows in the results.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use slowpath_record::RunRecord;

use super::error::{Failed, RunError};
use super::event::Event;
use super::options::RunOptions;
use super::planned::Planned;
use crate::folder::Folder;
use crate::simulated::SimulatedError;

/// Computes `runs`, as many side by side as there are processors, writes each record as it comes, and gives the names
/// of those that failed, with the reason.
///
/// # Errors
/// [`RunError::Interrupted`] when `cancel` was set before all had ended: runs under way are broken off.
/// [`RunError::Folder`] when a record cannot be written; runs under way are finished before.
pub(super) fn simulate(
    experiment: &str,
    runs: VecDeque<Planned>,
    options: &RunOptions,
    folder: &Folder,
    cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Failed>, RunError> {
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(runs.len());
    let waiting = Mutex::new(runs);
    let stop = AtomicBool::new(false);
    let mut failed = Vec::new();
    let mut trouble = None;
    let mut broken_off = false;
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        for _ in 0..threads {
            let tell = tell.clone();
            let (waiting, stop) = (&waiting, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && !cancel.load(Ordering::Relaxed) {
                    let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let Some(run) = next else { break };
                    // The receiver lives until all threads have ended.
                    let _ = tell.send(News::Started(run.name.clone()));
                    let result = crate::simulated::run_unless(
                        experiment,
                        &run.plan,
                        &run.name,
                        options.capture,
                        folder,
                        cancel,
                    )
                    .map(|record| RunRecord {
                        kind: run.kind,
                        ..record
                    });
                    let _ = tell.send(News::Ended(run.name, result.map(Box::new)));
                }
            });
        }
        drop(tell);
        for news in told {
            match news {
                News::Started(name) => observe(Event::Started { name: &name }),
                News::Ended(name, Ok(record)) => match folder.write_record(&name, &record) {
                    Ok(()) => observe(Event::Finished {
                        name: &name,
                        record: &record,
                    }),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        trouble = Some(error);
                    }
                },
                News::Ended(_, Err(SimulatedError::Interrupted)) => broken_off = true,
                News::Ended(name, Err(error)) => {
                    let error = error.to_string();
                    observe(Event::Failed {
                        name: &name,
                        error: &error,
                    });
                    failed.push(Failed {
                        name,
                        error,
                        crashed: false,
                    });
                }
            }
        }
    });
    if let Some(error) = trouble {
        return Err(error.into());
    }
    let waiting = waiting.into_inner().unwrap_or_else(PoisonError::into_inner);
    if broken_off || !waiting.is_empty() {
        return Err(RunError::Interrupted {
            folder: folder.root().to_owned(),
        });
    }
    failed.sort_by(|a: &Failed, b| a.name.cmp(&b.name));
    Ok(failed)
}

/// What a thread has to tell.
enum News {
    /// It began a run.
    Started(String),
    /// It ended one.
    Ended(String, Result<Box<RunRecord>, SimulatedError>),
}

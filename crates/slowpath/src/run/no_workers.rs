//! Lab runs where no lab can be built: each fails, and says so.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use super::error::{Failed, RunError};
use super::event::Event;
use super::options::RunOptions;
use super::planned::Planned;
use crate::folder::Folder;
use crate::system;

/// Gives `runs` as failed, with the reason.
#[allow(clippy::unnecessary_wraps)] // has the form that it has where a lab can be built
pub(super) fn work(
    _experiment: &str,
    runs: VecDeque<Planned>,
    _options: &RunOptions,
    _folder: &Folder,
    _cancel: &AtomicBool,
    observe: &mut dyn FnMut(Event<'_>),
) -> Result<Vec<Failed>, RunError> {
    let error = system::needs_linux("running in real time");
    let failed = runs.into_iter().map(|run| {
        observe(Event::Failed {
            name: &run.name,
            error: &error,
        });
        Failed {
            name: run.name,
            error: error.clone(),
            crashed: false,
        }
    });
    Ok(failed.collect())
}

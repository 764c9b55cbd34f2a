//! Computes units on all processors; what is computed is kept at once, and what is kept is not computed again.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use slowpath_diagnose::stats::Summary;

use super::design::Units;
use super::error::Error;
use super::kept::{self, Kept, identity};
use super::options::{Narrow, Progress};
use crate::folder::Folder;
use crate::processors;

/// How a sweep is computed.
pub(super) struct Work<'a> {
    /// On how many threads.
    pub(super) threads: usize,
    /// Raised by whoever wants it to stop.
    pub(super) cancel: &'a AtomicBool,
    /// Is told how far it is.
    pub(super) observe: &'a Progress<'a>,
}

/// The runs of `wanted` units, in their order. Runs of `known` are taken from there; others are computed and, where there
/// is a folder, written to it about once a second.
///
/// # Errors
/// [`Error::Interrupted`], or the first run that failed once all others are done; what was computed lies in the folder.
pub(super) fn compute(
    units: &Units,
    wanted: &[usize],
    known: &HashMap<String, Kept>,
    folder: Option<&Folder>,
    work: &Work<'_>,
) -> Result<Vec<Vec<Kept>>, Error> {
    let Work {
        threads,
        cancel,
        observe,
    } = *work;
    // A unit's place in `wanted`, and its repeat where repeats do not depend on each other.
    let tasks: Vec<(usize, Option<u32>)> = if units.design.narrow.is_some() {
        (0..wanted.len()).map(|place| (place, None)).collect()
    } else {
        let repeats = |place: usize| (0..units.repeats(wanted[place])).map(Some);
        (0..wanted.len())
            .flat_map(|place| repeats(place).map(move |repeat| (place, repeat)))
            .collect()
    };
    let done = AtomicUsize::new(0);
    let keeper = Keeper::new(folder);
    // What cannot be kept is computed in vain.
    let full = AtomicBool::new(false);
    // Nothing for a task that was left out.
    let found = processors::each_on(threads, tasks.len(), &|task| {
        if cancel.load(Ordering::Relaxed) || full.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let (place, repeat) = tasks[task];
        let one = |repeat| run(units, wanted[place], repeat, known, &keeper).map(Some);
        let runs = match repeat {
            Some(repeat) => one(repeat).map(|kept| kept.map(|kept| vec![kept])),
            None => until_narrow(units, wanted[place], one),
        };
        let runs = runs.inspect_err(|error| {
            if matches!(error, Error::Folder(_)) {
                full.store(true, Ordering::Relaxed);
            }
        })?;
        observe(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
        Ok(runs)
    });
    keeper.flush()?;
    if cancel.load(Ordering::Relaxed) {
        let kept = if folder.is_some() {
            done.load(Ordering::Relaxed)
        } else {
            0
        };
        return Err(Error::Interrupted {
            kept,
            all: tasks.len(),
        });
    }
    let mut all: Vec<Vec<Kept>> = wanted.iter().map(|_| Vec::new()).collect();
    // A folder that is full is why others were left out.
    let (mut failed, mut unkept) = (None, None);
    for ((place, _), runs) in tasks.iter().zip(found) {
        match runs {
            Ok(runs) => all[*place].extend(runs.into_iter().flatten()),
            Err(error @ Error::Folder(_)) => _ = unkept.get_or_insert(error),
            Err(error) => _ = failed.get_or_insert(error),
        }
    }
    unkept.or(failed).map_or(Ok(all), Err)
}

/// One run: known, or computed.
fn run(
    units: &Units,
    unit: usize,
    repeat: u32,
    known: &HashMap<String, Kept>,
    keeper: &Keeper<'_>,
) -> Result<Kept, Error> {
    let plan = units.plan(unit, repeat)?;
    if let Some(kept) = known.get(&identity(&plan)).filter(|kept| fits(kept, units)) {
        return Ok(kept.clone());
    }
    let design = &units.design;
    let computed = if design.explained || design.samples {
        crate::simulated::explained(&design.experiment, &plan, design.samples)
    } else {
        crate::simulated::bare(&design.experiment, &plan).map(|record| (record, None))
    };
    let (record, analysis) = computed.map_err(|error| Error::Run {
        place: format!(
            "{} at {}",
            crate::run::run_name(&plan),
            units.values(unit).join(", ")
        ),
        error: error.to_string(),
    })?;
    let kept = Kept::of(&plan, record, analysis.as_ref());
    keeper.keep(&kept)?;
    Ok(kept)
}

/// Whether a run that lies there has what the design asks for.
fn fits(kept: &Kept, units: &Units) -> bool {
    // Datagrams have no limit, explained or not; their flows say that they are such.
    let explained = !units.design.explained || kept.ledger.is_some() || !kept.flows.is_empty();
    explained && (!units.design.samples || !kept.series.is_empty())
}

/// The runs of a unit as `one` gives them, by repeat, until their interval is narrow enough or there are as many as there may
/// be; nothing where `one` has nothing for a repeat.
pub(super) fn until_narrow(
    units: &Units,
    unit: usize,
    mut one: impl FnMut(u32) -> Result<Option<Kept>, Error>,
) -> Result<Option<Vec<Kept>>, Error> {
    let mut runs = Vec::new();
    for repeat in 0..units.repeats(unit) {
        let Some(kept) = one(repeat)? else {
            return Ok(None);
        };
        runs.push(kept);
        if units.design.narrow.is_some_and(|narrow| is_narrow(&runs, narrow)) {
            break;
        }
    }
    Ok(Some(runs))
}

/// Whether the interval of a point's goodput is narrow enough.
fn is_narrow(runs: &[Kept], narrow: Narrow) -> bool {
    let rates: Vec<f64> = (runs.iter().filter(|kept| kept.run.complete))
        .map(|kept| kept.run.goodput_byte_per_s)
        .collect();
    if rates.len() < Narrow::LEAST as usize {
        return false;
    }
    let Some((low, high, mean)) =
        Summary::of_rates(&rates).and_then(|found| Some((found.low95?, found.high95?, found.mean)))
    else {
        return false;
    };
    (high - low) / 2.0 <= narrow.within * mean
}

/// Writes what is computed about once a second.
struct Keeper<'f> {
    folder: Option<&'f Folder>,
    waiting: Mutex<(Instant, Vec<Kept>)>,
}

impl<'f> Keeper<'f> {
    fn new(folder: Option<&'f Folder>) -> Self {
        Self {
            folder,
            waiting: Mutex::new((Instant::now(), Vec::new())),
        }
    }

    fn keep(&self, run: &Kept) -> Result<(), Error> {
        if self.folder.is_none() {
            return Ok(());
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.1.push(run.clone());
        if waiting.0.elapsed() < EVERY {
            return Ok(());
        }
        waiting.0 = Instant::now();
        let runs = std::mem::take(&mut waiting.1);
        drop(waiting);
        self.write(&runs)
    }

    fn flush(&self) -> Result<(), Error> {
        let runs = std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner).1);
        self.write(&runs)
    }

    fn write(&self, runs: &[Kept]) -> Result<(), Error> {
        self.folder.map_or(Ok(()), |folder| kept::write(folder, runs))
    }
}

/// What a kill may lose.
const EVERY: Duration = Duration::from_secs(1);

//! Results folders of runs that no experiment planned: imported captures, measurements of live paths.
//!
//! Such a folder holds records as that of an experiment does, and is reported and compared like one. Each call adds a run.

use std::path::{Path, PathBuf};

use slowpath_record::{Code, HealthState, Reason, RunRecord};
use slowpath_report::Results;
use slowpath_verdict::{Analysis, Judged};

use crate::folder::{Folder, FolderError};
use crate::report;
use crate::settings::SETTINGS;

/// Why a run could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The folder is that of an experiment.
    #[error(
        "adding a run to {0}: it holds the runs of an experiment; give another folder with --out (nothing in this one was changed)"
    )]
    Experiment(PathBuf),
}

/// Adds a run to the folder `root`, with what its packets say where they were seen, and makes its report again.
///
/// # Errors
/// [`KeepError`].
pub fn add(root: &Path, record: &RunRecord, analysis: Option<&Analysis>) -> Result<Results, KeepError> {
    put(root, record, |folder, name| match analysis {
        Some(analysis) => folder.write_analysis(name, analysis),
        None => Ok(()),
    })
}

/// Adds a run that left no packets, with what it was judged to be limited by, as [`add`] does.
///
/// # Errors
/// [`KeepError`].
pub fn add_judged(root: &Path, record: &RunRecord, judged: Option<&Judged>) -> Result<Results, KeepError> {
    put(root, record, |folder, name| match judged {
        Some(judged) => folder.write_judged(name, judged),
        None => Ok(()),
    })
}

fn put(
    root: &Path,
    record: &RunRecord,
    beside: impl FnOnce(&Folder, &str) -> Result<(), FolderError>,
) -> Result<Results, KeepError> {
    if root.join(SETTINGS).exists() {
        return Err(KeepError::Experiment(root.to_owned()));
    }
    let folder = Folder::create(root)?;
    let before = match folder.records() {
        Ok(records) => records,
        Err(FolderError::Empty { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let same = before
        .iter()
        .filter(|(_, other)| other.variant == record.variant && other.origin == record.origin);
    let mut record = record.clone();
    record.repeat = u32::try_from(same.count()).unwrap_or(u32::MAX);
    let name = free_name(&record, &before);
    beside(&folder, &name)?;
    folder.write_record(&name, &record)?;
    Ok(report::write_records(&folder)?)
}

/// Adds what was measured of `target`, as [`add`] does; `incomplete` says what is missing, if anything.
///
/// # Errors
/// [`KeepError`].
pub fn add_measurement(
    root: &Path,
    target: &str,
    mut record: RunRecord,
    incomplete: Option<String>,
) -> Result<Results, KeepError> {
    record.variant = format!("{} {target}", record.experiment);
    if let Some(text) = incomplete {
        record.health.add(Reason {
            code: Code::Incomplete,
            state: HealthState::Degraded,
            text,
        });
    }
    add(root, &record, None)
}

/// A file name for the record: what of its name any file system takes, its number and its origin.
fn free_name(record: &RunRecord, before: &[(String, RunRecord)]) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
            letter
        } else {
            '-'
        }
    };
    let stem: String = record.variant.chars().map(plain).take(LONGEST).collect();
    let stem = stem.trim_start_matches('.');
    let mut number = record.repeat;
    loop {
        let name = format!("{stem}.{number}.{}", record.origin);
        if before.iter().all(|(other, _)| *other != name) {
            return name;
        }
        // Two names that differ only in what file systems do not take.
        number += 1;
    }
}

/// Letters of a run's name in its file's name, at most.
const LONGEST: usize = 80;

//! Where an unattended watch keeps what it found: the baselines, and a folder for each run that is worth one.
//!
//! Each job has a folder, and in it a results folder for each kept run, named by the time at which it ended: `...-slow` for those
//! below what is usual, `...-usual` for the newest others, so that a bad night can be compared with a good one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use slowpath_live::why::attend::Over;
use slowpath_live::why::baseline::Baselines;

use crate::keep::{self, KeepError};
use crate::report::stamp;

/// The folder of an unattended watch.
#[derive(Debug, Clone)]
pub struct Kept {
    root: PathBuf,
}

/// Why the folder of an unattended watch cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    /// A file or folder cannot be read or written.
    #[error("keeping runs in {path}: {source}; give another folder with --out")]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A run cannot be kept.
    #[error(transparent)]
    Keep(#[from] KeepError),
}

/// What became of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its results folder.
    pub folder: PathBuf,
    /// That of the newest run of the same job that was as usual, to compare with.
    pub usual: Option<PathBuf>,
}

impl Kept {
    /// Opens `root`, or makes it.
    ///
    /// # Errors
    /// [`KeptError::File`].
    pub fn open(root: &Path) -> Result<Self, KeptError> {
        std::fs::create_dir_all(root).map_err(|source| KeptError::File {
            path: root.to_owned(),
            source,
        })?;
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// What is known of the jobs.
    ///
    /// # Errors
    /// [`KeptError::File`].
    pub fn baselines(&self) -> Result<Baselines, KeptError> {
        Baselines::read(&self.file()).map_err(|source| self.failed(source))
    }

    /// Keeps what is known of the jobs.
    ///
    /// # Errors
    /// [`KeptError::File`].
    pub fn write_baselines(&self, baselines: &Baselines) -> Result<(), KeptError> {
        baselines
            .write(&self.file())
            .map_err(|source| self.failed(source))
    }

    /// Keeps a run that ended at `at`, and lets go of the oldest ones.
    ///
    /// # Errors
    /// [`KeptError`].
    pub fn add(&self, over: &Over, at: SystemTime) -> Result<Place, KeptError> {
        let job = self.root.join(plain(&over.told.job));
        let kind = if over.slow { SLOW } else { USUAL };
        let time = stamp(at).replace(['-', ':'], "");
        let folder = job.join(format!("{time}{kind}"));
        keep::add_judged(&folder, &over.record, over.judged.as_ref())?;
        slowpath_live::why::record::write(&folder, &over.answer).map_err(|source| self.failed(source))?;
        let all = runs(&job);
        let of = |kind: &str| -> Vec<PathBuf> {
            let is = |path: &&PathBuf| path.to_string_lossy().ends_with(kind);
            all.iter().filter(is).cloned().collect()
        };
        let (slow, usual) = (of(SLOW), of(USUAL));
        for (kept, most) in [(&slow, MOST_SLOW), (&usual, MOST_USUAL)] {
            for old in &kept[..kept.len().saturating_sub(most)] {
                self.remove(old)?;
            }
        }
        self.limit()?;
        let usual = usual.last().filter(|path| over.slow && path.is_dir()).cloned();
        Ok(Place { folder, usual })
    }

    /// Lets go of the oldest runs of all jobs while there are too many.
    fn limit(&self) -> Result<(), KeptError> {
        let jobs = runs(&self.root);
        let mut all: Vec<PathBuf> = jobs.iter().flat_map(|job| runs(job)).collect();
        // By their time, whatever the job.
        all.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
        for old in &all[..all.len().saturating_sub(MOST_RUNS)] {
            self.remove(old)?;
        }
        Ok(())
    }

    fn remove(&self, run: &Path) -> Result<(), KeptError> {
        std::fs::remove_dir_all(run).map_err(|source| self.failed(source))?;
        if let Some(job) = run.parent() {
            // Only an empty one goes.
            let _ = std::fs::remove_dir(job);
        }
        Ok(())
    }

    fn file(&self) -> PathBuf {
        self.root.join("baselines.json")
    }

    fn failed(&self, source: io::Error) -> KeptError {
        KeptError::File {
            path: self.root.clone(),
            source,
        }
    }
}

/// The folders in a folder by name; those of runs are named by their time.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut runs: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()))
        .collect();
    runs.sort();
    runs
}

/// What of a job's name any file system takes.
fn plain(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
            letter
        } else {
            '-'
        }
    };
    let plain: String = name.chars().map(letter).take(80).collect();
    plain.trim_start_matches('.').to_owned()
}

/// Ends of the names of runs' folders.
const SLOW: &str = "-slow";
const USUAL: &str = "-usual";
/// Slow runs of a job that are kept,
const MOST_SLOW: usize = 10;
/// and runs that were as usual.
const MOST_USUAL: usize = 2;
/// Runs of all jobs that are kept: about a quarter of a megabyte each.
const MOST_RUNS: usize = 200;

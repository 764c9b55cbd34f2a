//! What goes wrong.

use std::path::PathBuf;

use crate::folder::FolderError;

/// Why an experiment could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A variant cannot be planned.
    #[error(transparent)]
    Plan(#[from] slowpath_scenario::plan::PlanError),
    /// The results folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The results folder holds finished runs of something else.
    #[error(
        "writing the results to {}: it holds finished runs that would be joined with other ones: {}; give another results folder with --out (nothing in this one was changed)",
        .folder.display(), .differences.join("; ")
    )]
    Mixed {
        /// The results folder.
        folder: PathBuf,
        /// What differs, one sentence each.
        differences: Vec<String>,
    },
    /// A worker process could not be started.
    #[error("starting {program} failed: {source}")]
    Worker {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The run was interrupted; what had finished is kept.
    #[error("interrupted; finished runs are in {folder}, the same command goes on with the rest")]
    Interrupted {
        /// The results folder.
        folder: PathBuf,
    },
    /// Runs failed; the others are kept.
    #[error("{}", failures(.failed))]
    Failed {
        /// Which, and why.
        failed: Vec<Failed>,
    },
}

/// A run that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its name.
    pub name: String,
    /// Why.
    pub error: String,
    /// Whether its process broke off without a word, which only a mistake in slowpath itself or a kill explains.
    pub crashed: bool,
}

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "run {} failed: {}", self.name, self.error)
    }
}

fn failures(failed: &[Failed]) -> String {
    let lines: Vec<String> = failed.iter().map(Failed::to_string).collect();
    lines.join("\n")
}

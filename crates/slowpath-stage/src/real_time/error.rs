//! Why a lab run comes to nothing.

use std::io;
use std::path::PathBuf;

use slowpath_lab::LabError;

/// Why a lab run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LabRunError {
    /// The lab cannot be built.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A capture file cannot be written.
    #[error("{}", crate::input::unwritable(.path, .source, "--out"))]
    Capture {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A real program that the experiment names is not there.
    #[error(
        "the experiment wants the program \"{program}\", which is not installed here; get it with: {install}"
    )]
    Program {
        /// The program.
        program: String,
        /// The command that installs it, Debian's where the distribution has it.
        install: &'static str,
    },
    /// The workload failed before any data could flow.
    #[error("{0}")]
    Workload(String),
    /// The lab cannot do this job.
    #[error("the lab cannot do {0} in this version; see LIMITATIONS.md")]
    Unsupported(&'static str),
    /// A folder for the programs of the run cannot be used.
    #[error("making the working folder of the run failed: {0}")]
    Scratch(#[source] io::Error),
}

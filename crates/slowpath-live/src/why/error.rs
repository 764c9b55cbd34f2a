//! Why nothing can be watched.

use std::io;

/// Why nothing could be watched.
#[derive(Debug, thiserror::Error)]
pub enum WhyError {
    /// The kernel does not answer.
    #[error(
        "asking the kernel for its TCP connections failed: {0}; `slowpath doctor` says what this machine permits"
    )]
    Diagnostics(#[source] io::Error),
    /// The program cannot be started.
    #[error("starting {program} failed: {source}")]
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The process belongs to somebody else.
    #[error(
        "process {0} ({1}) belongs to another user, so its connections are not shown to you; \
         name them by --port N or --to HOST[:PORT] instead, which needs no permission"
    )]
    NotPermitted(u32, String),
    /// The process is in a network of its own.
    #[error(
        "process {0} ({1}) is in a network namespace of its own, which this user may not enter; \
         run slowpath inside that container, or as its owner"
    )]
    OtherNamespace(u32, String),
    /// Waiting for the program failed.
    #[error("waiting for the program failed: {0}")]
    Wait(#[source] io::Error),
}

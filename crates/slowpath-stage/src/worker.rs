//! One lab run in a process of its own.
//!
//! The worker enters its namespaces while it has one thread, builds the lab, runs the jobs in its hosts, writes
//! captures and record into the results folder, and ends. It says how far it is on its standard output.

use std::io;
use std::path::{Path, PathBuf};

use slowpath_lab::Privilege;

pub use crate::assignment::{Assignment, Message};
use crate::effect;
use crate::folder::{Folder, FolderError};
use crate::real_time::{self, LabRunError, scratch};

/// Why a worker came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The assignment cannot be read.
    #[error("reading the assignment {path} failed: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The assignment does not have the expected form.
    #[error("the assignment {path} is not of this version: {source}")]
    Form {
        /// Which file.
        path: PathBuf,
        /// What the reader said.
        source: serde_json::Error,
    },
    /// The lab run failed.
    #[error(transparent)]
    Run(#[from] LabRunError),
    /// The record cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Does what the file `job` says; call it before the process has a second thread.
///
/// # Errors
/// [`WorkerError`], which is also said as a message.
pub fn run(job: &Path, tell: &mut dyn FnMut(&Message)) -> Result<(), WorkerError> {
    told(attempt(job, tell), tell)
}

/// Says an error as a message, too.
///
/// # Errors
/// The one that was given.
pub fn told(result: Result<(), WorkerError>, tell: &mut dyn FnMut(&Message)) -> Result<(), WorkerError> {
    if let Err(error) = &result {
        tell(&Message::Failed {
            error: error.to_string(),
        });
    }
    result
}

fn attempt(job: &Path, tell: &mut dyn FnMut(&Message)) -> Result<(), WorkerError> {
    let (assignment, privilege) = take(job)?;
    make_scratch(&assignment.folder);
    let folder = Folder::open(&assignment.folder);
    let mut record = real_time::run(&assignment, privilege, tell)?;
    record.kind = assignment.kind;
    if let Some(twin) = &assignment.twin {
        effect::judge(&mut record, twin);
    }
    folder.write_record(&assignment.name, &record)?;
    Ok(())
}

/// Reads an assignment and enters the namespaces for it.
///
/// # Errors
/// An assignment that cannot be read or understood, or a machine that permits no namespaces.
pub fn take(job: &Path) -> Result<(Assignment, Privilege), WorkerError> {
    let text = std::fs::read(job).map_err(|source| WorkerError::Read {
        path: job.to_owned(),
        source,
    })?;
    let assignment: Assignment = serde_json::from_slice(&text).map_err(|source| WorkerError::Form {
        path: job.to_owned(),
        source,
    })?;
    // Whoever started this process wants the result; nobody else does.
    let _ = slowpath_sys::process::set_parent_death_signal(SIGKILL);
    let privilege = slowpath_lab::enter().map_err(LabRunError::from)?;
    Ok((assignment, privilege))
}

/// Mounts a private file system over a folder that nobody else in this process needs; without one the system's own
/// folder for temporary files serves, and only a kill leaves something there.
fn make_scratch(results: &Path) {
    let results = std::fs::canonicalize(results).unwrap_or_else(|_| results.to_owned());
    let free = |at: &&&str| Path::new(at).is_dir() && !results.starts_with(at);
    let Some(at) = ["/mnt", "/media", "/srv"].iter().find(free) else {
        return;
    };
    let mounted = slowpath_sys::namespace::unshare_mounts()
        .and_then(|()| slowpath_sys::namespace::mount_tmpfs(Path::new(at)));
    if mounted.is_ok() {
        scratch::use_folder(PathBuf::from(at));
    }
}

/// Writes one message as a line.
///
/// # Errors
/// Those of `out`.
pub fn say(out: &mut dyn io::Write, message: &Message) -> io::Result<()> {
    serde_json::to_writer(&mut *out, message)?;
    out.write_all(b"\n")
}

/// The signal that cannot be refused (signal(7)).
const SIGKILL: i32 = 9;

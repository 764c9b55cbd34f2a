//! What is asked of the system where it is no Unix; it is written for Windows.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that is started: Ctrl-C reaches it, and the page ends it anyway.
pub(crate) fn apart(command: &mut Command) -> &mut Command {
    command
}

/// Ends a program with all that it started; there is no asking it to.
///
/// # Errors
/// What the system said.
pub(crate) fn interrupt(pid: u32) -> io::Result<()> {
    kill(pid)
}

/// Ends a program with all that it started.
///
/// # Errors
/// What the system said.
pub(crate) fn kill(pid: u32) -> io::Result<()> {
    let number = pid.to_string();
    let status = Command::new("taskkill")
        .args(["/T", "/F", "/PID", &number])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Room on a disk, which the standard library does not ask for.
///
/// # Errors
/// None.
#[allow(clippy::unnecessary_wraps)] // has the form that it has on a Unix
pub(crate) fn room(_folder: &Path) -> io::Result<Option<u64>> {
    Ok(None)
}

/// A new file as it is: a user's own folders are closed to others.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// The path of a folder from the root on, in the form that programs take as theirs.
///
/// # Errors
/// What the system said.
pub(crate) fn from_root(folder: &Path) -> io::Result<PathBuf> {
    std::path::absolute(folder)
}

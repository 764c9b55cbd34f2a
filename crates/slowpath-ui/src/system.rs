//! What is asked of a Unix: programs with a process group of their own, room on a disk, files for their owner alone.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process_group};

/// Keeps a terminal's Ctrl-C from the program that is started.
pub(crate) fn apart(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Asks a program that was started [`apart`] to end, with all that it started.
///
/// # Errors
/// `ESRCH` when it is gone.
pub(crate) fn interrupt(pid: u32) -> io::Result<()> {
    signal(pid, Signal::INT)
}

/// Ends a program that was started [`apart`] at once, with all that it started.
///
/// # Errors
/// `ESRCH` when it is gone.
pub(crate) fn kill(pid: u32) -> io::Result<()> {
    signal(pid, Signal::KILL)
}

fn signal(pid: u32, signal: Signal) -> io::Result<()> {
    // 0 is the caller's own group, and 1 would stand for every process.
    let group = i32::try_from(pid).ok().filter(|group| *group > 1);
    let group = group.and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidInput)?;
    kill_process_group(group, signal).map_err(io::Error::from)
}

/// Bytes that an ordinary user may still write to the disk of a folder.
///
/// # Errors
/// What the system said.
pub(crate) fn room(folder: &Path) -> io::Result<Option<u64>> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
}

/// Makes a new file readable for its owner alone.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(0o600)
}

/// The path of a folder from the root on.
///
/// # Errors
/// What the system said.
pub(crate) fn from_root(folder: &Path) -> io::Result<PathBuf> {
    folder.canonicalize()
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn only_groups_of_programs_that_were_started_are_signalled() {
        for pid in [0, 1, u32::MAX] {
            assert_eq!(
                interrupt(pid).unwrap_err().kind(),
                io::ErrorKind::InvalidInput,
                "{pid}"
            );
        }
        let mut command = Command::new("sleep");
        let mut child = apart(command.arg("60").stdout(Stdio::null())).spawn().unwrap();
        interrupt(child.id()).unwrap();
        // Where the tests were started with Ctrl-C ignored, so is it there.
        kill(child.id()).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}

//! Exit codes and the failures that lead to them.

/// Done.
pub(crate) const DONE: u8 = 0;
/// With `--check`, a figure missed its reference, or a comparison failed.
pub(crate) const MISSED: u8 = 1;
/// Wrong usage or input.
pub(crate) const USAGE: u8 = 2;
/// This machine cannot.
pub(crate) const MACHINE: u8 = 3;
/// Every run was invalid, and nothing else could answer.
pub(crate) const INVALID: u8 = 4;
/// Ctrl-C, as shells say it: 128 and the signal's number.
pub(crate) const INTERRUPTED: u8 = 130;

/// `shell` and `why -- COMMAND`: slowpath itself failed, not the program.
pub(crate) const OWN_FAILURE: u8 = 125;

/// The status of a program that ran, as shells say it: its own, or 128 and the number of the signal that ended it.
#[cfg(target_os = "linux")]
pub(crate) fn of_program(status: std::process::ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .unwrap_or(OWN_FAILURE)
}

/// Why a command did not do what it was asked for.
pub(crate) struct Failure {
    /// For the user.
    pub(crate) text: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Failure {
    pub(crate) const fn usage(text: String) -> Self {
        Self { text, code: USAGE }
    }

    /// Standard output did not take the answer: nothing to say where its reader has seen enough.
    pub(crate) fn printing(error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self {
                text: String::new(),
                code: DONE,
            };
        }
        Self::machine(format!(
            "writing the answer to standard output failed: {error}; send it to a place that takes it"
        ))
    }

    pub(crate) const fn interrupted(text: String) -> Self {
        Self {
            text,
            code: INTERRUPTED,
        }
    }

    pub(crate) const fn machine(text: String) -> Self {
        Self { text, code: MACHINE }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::of_program;

    #[test]
    fn a_program_ended_by_a_signal_has_the_status_that_shells_give_it() {
        for (raw, status) in [(0, 0), (7 << 8, 7), (2, 130), (15, 143), (0x8b, 139)] {
            assert_eq!(of_program(ExitStatus::from_raw(raw)), status);
        }
    }
}

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
    #[error("starting {program}: {}; check the spelling, or give its full path", started(.source))]
    Start {
        /// Its name.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// There is no such process.
    #[error(
        "watching process {0}: there is none of that number; `slowpath why` alone lists what transfers data now"
    )]
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
    /// Packets may not be captured.
    #[error(
        "capturing packets with --capture: {}; without --capture no privilege is needed", refused(.0)
    )]
    Capture(#[source] io::Error),
    /// The capture cannot be written.
    #[error("writing the captured packets to {0}: {1}; give another file with --capture FILE")]
    CaptureFile(String, #[source] io::Error),
    /// Waiting for the program failed.
    #[error("waiting for the program failed: {0}")]
    Wait(#[source] io::Error),
}

/// Why no packets are captured.
fn refused(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "this user may not (it takes CAP_NET_RAW); run slowpath with sudo, or give the program that \
             right once: sudo setcap cap_net_raw+ep \"$(command -v slowpath)\""
                .to_owned()
        }
        _ => format!(
            "the kernel refused the ring for them: {error}; free memory, or capture with tcpdump -s 128"
        ),
    }
}

/// Why a program does not start.
fn started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be executed".to_owned(),
        _ => error.to_string(),
    }
}

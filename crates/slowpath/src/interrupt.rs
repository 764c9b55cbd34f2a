//! Ctrl-C and termination as a flag.

#[cfg_attr(not(target_os = "linux"), path = "interrupt/watched.rs")]
mod parent;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};

pub use parent::with_parent;

/// Raises `flag` at the first SIGINT, SIGTERM or, where there is one, SIGHUP; a second one ends the process at once.
///
/// Failing to install a handler leaves the signal's default, which ends the process: nothing is left running.
pub fn on_interrupt(flag: &Arc<AtomicBool>) {
    for signal in ENDING {
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

/// A new flag, raised as [`on_interrupt`] says.
pub fn flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    on_interrupt(&flag);
    flag
}

/// Raises `flag` at SIGINT and does nothing else: for waiting on programs that get the signal themselves.
pub fn note_interrupt(flag: &Arc<AtomicBool>) {
    let _ = signal_hook::flag::register(SIGINT, Arc::clone(flag));
}

/// Signals that end a program.
#[cfg(unix)]
const ENDING: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(unix))]
const ENDING: [i32; 2] = [SIGINT, SIGTERM];

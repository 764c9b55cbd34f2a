//! Ctrl-C and termination as a flag.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Raises `flag` at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once.
///
/// Failing to install a handler leaves the signal's default, which ends the process: nothing is left running.
pub fn on_interrupt(flag: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(flag));
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

/// Raises `flag` at SIGINT and does nothing else: for waiting on programs that get the signal themselves.
pub fn note_interrupt(flag: &Arc<AtomicBool>) {
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(flag));
}

/// Interrupts this program, as Ctrl-C does, when the one that started it ends, which has the number `parent`; at once if it already has.
pub fn with_parent(parent: u32) {
    use signal_hook::consts::SIGINT;
    // Where that cannot be asked for, it goes on to its own end.
    let _ = slowpath_sys::process::set_parent_death_signal(SIGINT);
    // It may have ended before it was asked.
    if std::os::unix::process::parent_id() != parent {
        let _ = signal_hook::low_level::raise(SIGINT);
    }
}

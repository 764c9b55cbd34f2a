//! Ending with the program that started this one, by the kernel's signal.

use signal_hook::consts::SIGINT;

/// Interrupts this program, as Ctrl-C does, when the one that started it ends, which has the number `parent`; at once if it already has.
pub fn with_parent(parent: u32) {
    // Where that cannot be asked for, it goes on to its own end.
    let _ = slowpath_sys::process::set_parent_death_signal(SIGINT);
    // It may have ended before it was asked.
    if std::os::unix::process::parent_id() != parent {
        let _ = signal_hook::low_level::raise(SIGINT);
    }
}

//! Ending with the program that started this one, where the kernel has no signal for it.

/// Interrupts this program, as Ctrl-C does, soon after the one that started it ends, which has the number `parent`. On
/// Windows, where a process does not learn that, it goes on to its own end.
pub fn with_parent(parent: u32) {
    #[cfg(unix)]
    std::thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGINT);
    });
    #[cfg(not(unix))]
    let _ = parent;
}

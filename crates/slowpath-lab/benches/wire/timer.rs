//! A bare timer: a thread that sleeps until one time after the other and does nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use hdrhistogram::Histogram;
use slowpath_sys::clock;

/// Between two times, nanoseconds: seldom enough to take little of a processor from what runs beside it.
const EVERY: u64 = 200_000;

/// A bare timer that runs until it is asked how late it was.
pub(crate) struct Timer {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Histogram<u64>>,
}

impl Timer {
    /// Starts it on a thread of its own.
    pub(crate) fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let asked = stop.clone();
        let thread = std::thread::spawn(move || {
            clock::set_timer_slack(1).expect("a thread may set its own slack");
            let mut late = Histogram::new_with_bounds(1, 60_000_000_000, 2).expect("the bounds are right");
            let mut due = clock::monotonic();
            while !asked.load(Ordering::Relaxed) {
                due += EVERY;
                // Times that passed during a pause count too, each by its own lateness, as packets due then would.
                clock::sleep_until(due);
                late.saturating_record(clock::monotonic().saturating_sub(due));
            }
            late
        });
        Self { stop, thread }
    }

    /// Stops it; how late it woke, in nanoseconds.
    pub(crate) fn stop(self) -> Histogram<u64> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the timer ends")
    }
}

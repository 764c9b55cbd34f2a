//! Sleeping until the next deadline or packet, and waking in time.
//!
//! A kernel wakes a thread some tens of microseconds after the time it asked for. The sleeper learns how many, sleeps
//! that much less, and watches clock and devices for the rest; a budget keeps that from taking a processor away from
//! the programs under test: sparse packets are exact, dense ones need no waking.

use std::io;
use std::os::fd::BorrowedFd;

use slowpath_sys::clock;
use slowpath_sys::poll::PollSet;
use slowpath_sys::process::RunDelay;
use slowpath_units::Duration;

/// One wire's way to sleep. Times are nanoseconds of the monotonic clock.
pub(crate) struct Sleeper {
    set: PollSet,
    stopping: usize,
    delay: Option<RunDelay>,
    waited: u64,
    /// How late timers wake this thread, a running mean.
    overshoot: u64,
    most_spin: u64,
    /// Of so many nanoseconds one may be spent watching.
    budget: u64,
    spun: u64,
    started: u64,
}

/// How a sleep ended.
pub(crate) struct Woken {
    /// The devices were empty at that time for sure, or as nearly as can be known.
    pub(crate) empty_at: u64,
    /// How long after the planned time the sleep ended.
    pub(crate) overslept: u64,
    /// How long the thread could have run and did not.
    pub(crate) starved: u64,
}

impl Sleeper {
    /// A sleeper that wakes for `inputs`, and for good when the other end of `stop` is closed.
    pub(crate) fn new<'a>(
        inputs: impl Iterator<Item = BorrowedFd<'a>>,
        stop: BorrowedFd<'_>,
        spin: Option<Duration>,
    ) -> Self {
        let mut set = PollSet::new();
        for input in inputs {
            set.add_readable(input);
        }
        let stopping = set.add_readable(stop);
        let delay = RunDelay::open().ok();
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            set,
            stopping,
            waited: delay.as_ref().and_then(|delay| delay.read().ok()).unwrap_or(0),
            delay,
            overshoot: 30_000,
            most_spin: spin.map_or(MOST_SPIN, Duration::nanos),
            budget: if processors >= 6 { 4 } else { 32 },
            spun: 0,
            started: clock::monotonic(),
        }
    }

    /// Sleeps until `due` or until a packet is there; `None` when it is time to stop.
    pub(crate) fn sleep_until(&mut self, due: Option<u64>) -> io::Result<Option<Woken>> {
        let now = clock::monotonic();
        let planned = due.unwrap_or(u64::MAX).min(now + LONGEST_SLEEP);
        if planned <= now {
            return Ok(Some(Woken {
                empty_at: 0,
                overslept: 0,
                starved: 0,
            }));
        }
        let may_spin = due == Some(planned) && self.spun < SPIN_ADVANCE + (now - self.started) / self.budget;
        let margin = if may_spin {
            (self.overshoot * 3 / 2).min(self.most_spin)
        } else {
            0
        };
        let asleep = (planned - now).saturating_sub(margin);
        let mut ready = self.set.wait(Some(asleep))?;
        let mut woke = clock::monotonic();
        if ready == 0 && asleep > 0 {
            let late = woke.saturating_sub(now + asleep).min(MOST_SPIN);
            self.overshoot = (self.overshoot * 7 + late) / 8;
        }
        let starved = self.starved(woke - now);
        let mut empty_at = woke - (starved + WAKE_COST).min(woke - now);
        let spin_from = woke;
        while ready == 0 && woke < planned {
            empty_at = woke;
            ready = self.set.wait(Some(0))?;
            woke = clock::monotonic();
        }
        self.spun += woke - spin_from;
        if ready > 0 && self.set.is_ready(self.stopping) {
            return Ok(None);
        }
        Ok(Some(Woken {
            empty_at,
            overslept: woke.saturating_sub(planned),
            starved,
        }))
    }

    /// Time that this thread has waited for a processor since the last call; where the kernel does not count it, all
    /// of the time that it may have been.
    fn starved(&mut self, at_most: u64) -> u64 {
        let Some(total) = self.delay.as_ref().and_then(|delay| delay.read().ok()) else {
            return at_most;
        };
        let since = total.saturating_sub(self.waited);
        self.waited = total;
        since
    }
}

/// So that a stopped or starved wire shows even when nothing is due.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Longest time to watch before one deadline.
const MOST_SPIN: u64 = 150_000;
/// Watching that is allowed before any of the budget has been earned.
const SPIN_ADVANCE: u64 = 5_000_000;
/// Time between the event that wakes a thread and its first instruction on an idle processor, generously.
const WAKE_COST: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn wakes_by_time_by_packet_and_for_good() {
        let (packets, sender) = UnixStream::pair().unwrap();
        let (stop, stopped) = UnixStream::pair().unwrap();
        let mut sleeper = Sleeper::new([packets.as_fd()].into_iter(), stopped.as_fd(), None);
        let start = clock::monotonic();
        sleeper.sleep_until(Some(start + 3_000_000)).unwrap().unwrap();
        assert!(clock::monotonic() >= start + 3_000_000, "never early");
        std::io::Write::write_all(&mut &sender, b"x").unwrap();
        let start = clock::monotonic();
        let woken = sleeper.sleep_until(Some(start + 15_000_000)).unwrap().unwrap();
        assert!(woken.empty_at <= clock::monotonic());
        assert!(woken.overslept < 15_000_000);
        std::io::Read::read_exact(&mut &packets, &mut [0]).unwrap();
        drop(stop);
        assert!(sleeper.sleep_until(None).unwrap().is_none());
    }

    #[test]
    fn the_budget_holds() {
        let (_stop, stopped) = UnixStream::pair().unwrap();
        let mut sleeper = Sleeper::new(std::iter::empty(), stopped.as_fd(), None);
        sleeper.budget = 32;
        let start = clock::monotonic();
        while clock::monotonic() < start + 300_000_000 {
            let due = clock::monotonic() + 100_000;
            sleeper.sleep_until(Some(due)).unwrap().unwrap();
        }
        let elapsed = clock::monotonic() - start;
        assert!(
            sleeper.spun <= SPIN_ADVANCE + elapsed / 32 + MOST_SPIN * 2,
            "{} of {elapsed}",
            sleeper.spun
        );
    }
}

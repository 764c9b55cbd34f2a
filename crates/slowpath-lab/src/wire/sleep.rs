//! Sleeping until the next deadline or packet, and waking in time.
//!
//! A kernel wakes a thread some tens of microseconds after the time it asked for. The sleeper learns how many, sleeps
//! that much less, and watches clock and devices for the rest; a budget keeps that from taking a processor away from
//! the programs under test: sparse packets are exact, dense ones need no waking.
//!
//! A packet that ends a sleep came earlier than the thread could look: by the time that the thread waited for a
//! processor, which the kernel counts, and by what waking an idle processor takes. The first is taken off the stamp
//! where the thread has waited for nothing else meanwhile; the second, learned from timers, only bounds the error, since
//! the packet may have found its processor awake.

use std::io;
use std::os::fd::BorrowedFd;

use slowpath_sys::clock;
use slowpath_sys::poll::PollSet;
use slowpath_sys::process::{RunDelay, Switches};
use slowpath_units::Duration;

/// One wire's way to sleep. Times are nanoseconds of the monotonic clock.
pub(crate) struct Sleeper {
    set: PollSet,
    stopping: usize,
    delay: Option<RunDelay>,
    waited: u64,
    /// As they were when `waited` was read.
    switches: Switches,
    /// How late timers wake this thread, a running mean.
    overshoot: u64,
    /// The same without time for which it waited for a processor.
    wake_cost: u64,
    most_spin: u64,
    /// Of so many nanoseconds one may be spent watching.
    budget: u64,
    spun: u64,
    started: u64,
    /// When the last sleep ended.
    woke: u64,
}

/// How a sleep ended.
pub(crate) struct Woken {
    /// The devices were empty at that time for sure, or as nearly as can be known.
    pub(crate) empty_at: u64,
    /// When the packet that ended the sleep probably came, and when the thread looked; `None` if none did.
    pub(crate) arrival: Option<Arrived>,
    /// How long after the planned time the sleep ended.
    pub(crate) overslept: u64,
    /// How long the thread could have run and did not.
    pub(crate) starved: u64,
    /// When the thread looked again.
    pub(crate) woke: u64,
    /// Since when it should have been looking: since the planned time, or since it could have run.
    pub(crate) stood_from: u64,
    /// Whether a packet whose time is known made it runnable then.
    pub(crate) first_in_time: bool,
}

/// The packet that ended a sleep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrived {
    /// When it probably came.
    at: u64,
    /// When the thread looked.
    woke: u64,
    /// Whether it has been read; what is read now came after it.
    read: bool,
}

impl Arrived {
    /// When what was read at `read_at` probably came, and by how much earlier that may be than it did.
    ///
    /// What follows the first is stamped closer together than it was read until the stamps have caught up with the
    /// clock. Behind a long wait for a processor it may have come at any time since, so it keeps the time at which it
    /// was read: no packet shall be faster than its path.
    pub(crate) fn stamp(&mut self, read_at: u64) -> (u64, u64) {
        let first = !std::mem::replace(&mut self.read, true);
        if !first && self.woke - self.at > MOST_CATCH_UP {
            return (read_at, 0);
        }
        let stamp = (self.at + 2 * (read_at - self.woke.min(read_at))).min(read_at);
        (stamp, if first { 0 } else { read_at - stamp })
    }
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
            switches: Switches::read().unwrap_or(Switches { given_up: 0, lost: 0 }),
            overshoot: 30_000,
            wake_cost: WAKE_COST,
            most_spin: spin.map_or(MOST_SPIN, Duration::nanos),
            budget: if processors >= 6 { 4 } else { 32 },
            spun: 0,
            started: clock::monotonic(),
            woke: clock::monotonic(),
        }
    }

    /// Sleeps until `due` or until a packet is there; `None` when it is time to stop.
    pub(crate) fn sleep_until(&mut self, due: Option<u64>) -> io::Result<Option<Woken>> {
        let now = clock::monotonic();
        let planned = due.unwrap_or(u64::MAX).min(now + LONGEST_SLEEP);
        if planned <= now {
            return Ok(Some(Woken {
                empty_at: 0,
                arrival: None,
                overslept: 0,
                starved: 0,
                woke: now,
                stood_from: now,
                first_in_time: false,
            }));
        }
        // What the last turn waited for a processor is not this sleep's. A short turn is not worth asking for; if it
        // was interrupted, that shows after the sleep.
        if now - self.woke > LONG_TURN {
            self.starved();
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
        let counted = self.starved();
        let starved = counted.map_or(woke - now, |counted| counted.waited);
        if ready == 0 && asleep > 0 {
            let late = woke.saturating_sub(now + asleep);
            self.overshoot = (self.overshoot * 7 + late.min(MOST_SPIN)) / 8;
            self.wake_cost = (self.wake_cost * 7 + late.saturating_sub(starved).min(MOST_SPIN)) / 8;
        }
        let earlier = |span: u64| woke - span.min(woke - now);
        let mut empty_at = earlier(starved + self.wake_cost.max(WAKE_COST));
        let waiting_since = earlier(counted.map_or(0, Counted::since_woken));
        let mut came = arrived_at(waiting_since, now + asleep, woke);
        let spin_from = woke;
        while ready == 0 && woke < planned {
            empty_at = woke;
            came = woke;
            ready = self.set.wait(Some(0))?;
            woke = clock::monotonic();
        }
        self.spun += woke - spin_from;
        self.woke = woke;
        if ready > 0 && self.set.is_ready(self.stopping) {
            return Ok(None);
        }
        // Watching ends with the time or the packet that it waits for.
        let runnable = if woke == spin_from { waiting_since } else { woke };
        Ok(Some(Woken {
            woke,
            stood_from: runnable.min(planned),
            first_in_time: ready > 0 && runnable < planned && came == runnable,
            empty_at,
            arrival: (ready > 0).then_some(Arrived {
                at: came,
                woke,
                read: false,
            }),
            overslept: woke.saturating_sub(planned),
            starved,
        }))
    }

    /// What the kernel has counted since the last call, where it does.
    fn starved(&mut self) -> Option<Counted> {
        let total = self.delay.as_ref()?.read().ok()?;
        let switches = Switches::read().ok()?;
        let counted = Counted {
            waited: total.saturating_sub(self.waited),
            given_up: switches.given_up.saturating_sub(self.switches.given_up),
            lost: switches.lost.saturating_sub(self.switches.lost),
        };
        (self.waited, self.switches) = (total, switches);
        Some(counted)
    }
}

/// What the kernel counted of this thread during a sleep, and a short turn before it.
#[derive(Clone, Copy)]
struct Counted {
    /// How long it could have run and did not.
    waited: u64,
    /// How often it gave its processor up.
    given_up: u64,
    /// How often it lost it.
    lost: u64,
}

impl Counted {
    /// How long the thread waited after what woke it had happened, as far as that is known.
    ///
    /// Only the wait of a thread that slept once and never lost its processor all comes after its waking. Any other
    /// may have waited before, when the packet was not there yet.
    fn since_woken(self) -> u64 {
        if self.given_up <= 1 && self.lost == 0 {
            self.waited
        } else {
            0
        }
    }
}

/// When the packet came that was there at `woke`, of a thread that could have run since `runnable` and had asked to be
/// woken at `timer`.
///
/// Before the timer only a packet can have made it runnable, so that came then. After it, it may have come at any time
/// since: taking the earliest would let acknowledgements leave before the data that they acknowledge had arrived.
fn arrived_at(runnable: u64, timer: u64, woke: u64) -> u64 {
    if runnable < timer { runnable } else { woke }
}

/// So that a stopped or starved wire shows even when nothing is due.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Longest time to watch before one deadline.
const MOST_SPIN: u64 = 150_000;
/// A turn as long as that may have been interrupted.
const LONG_TURN: u64 = 200_000;
/// Largest error of a stamp that following packets share.
const MOST_CATCH_UP: u64 = 100_000;
/// Watching that is allowed before any of the budget has been earned.
const SPIN_ADVANCE: u64 = 5_000_000;
/// Least time between the event that wakes a thread and its first instruction on an idle processor.
const WAKE_COST: u64 = 20_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_packet_during_a_wait_that_the_timer_began_came_no_earlier_than_is_known() {
        // Asked for 10 us, runnable at 4: a packet woke the thread, which then waited for a processor until 3000.
        assert_eq!(arrived_at(4_000, 10_000, 3_000_000), 4_000);
        // The timer woke it at 11 and it waited as long: the packet came some time during the wait.
        assert_eq!(arrived_at(11_000, 10_000, 3_000_000), 3_000_000);
    }

    #[test]
    fn only_a_wait_that_began_with_the_waking_is_taken_off_a_stamp() {
        let of = |given_up, lost| {
            Counted {
                waited: 5_000_000,
                given_up,
                lost,
            }
            .since_woken()
        };
        assert_eq!((of(1, 0), of(0, 0)), (5_000_000, 5_000_000));
        // It lost its processor, before it slept or behind that, or slept in the turn before, too.
        assert_eq!((of(1, 1), of(2, 0)), (0, 0));
    }

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
    fn stamps_catch_up_with_the_clock() {
        let mut arrived = Arrived {
            at: 1_000_000,
            woke: 1_040_000,
            read: false,
        };
        assert_eq!(arrived.stamp(1_040_000), (1_000_000, 0));
        assert_eq!(arrived.stamp(1_050_000), (1_020_000, 30_000));
        assert_eq!(arrived.stamp(1_090_000), (1_090_000, 0));
        // It waited 4 ms for a processor: only the first is known to have come then.
        let mut starved = Arrived {
            at: 1_000_000,
            woke: 5_000_000,
            read: false,
        };
        assert_eq!(starved.stamp(5_001_000), (1_002_000, 0));
        assert_eq!(starved.stamp(5_002_000), (5_002_000, 0));
    }

    /// A thread that loses its processor while it spins counts the time as spun: on a busy machine one of several tries is enough.
    #[test]
    fn the_budget_holds() {
        let tries: Vec<(u64, u64)> = (0..TRIES).map(|_| spun_of()).collect();
        assert!(
            tries
                .iter()
                .any(|(spun, elapsed)| *spun <= SPIN_ADVANCE + elapsed / 32 + MOST_SPIN * 2),
            "{tries:?}"
        );
    }

    /// What is spun while sleeping through short waits for so long, with a budget of one part in 32; nanoseconds.
    fn spun_of() -> (u64, u64) {
        let (_stop, stopped) = UnixStream::pair().unwrap();
        let mut sleeper = Sleeper::new(std::iter::empty(), stopped.as_fd(), None);
        sleeper.budget = 32;
        let start = clock::monotonic();
        while clock::monotonic() < start + 300_000_000 {
            let due = clock::monotonic() + 100_000;
            sleeper.sleep_until(Some(due)).unwrap().unwrap();
        }
        (sleeper.spun, clock::monotonic() - start)
    }

    const TRIES: usize = 5;
}

//! What the threads of a test share: the phase, the budget, and what each stream counts.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// How far a test is; only ever moves forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Stage {
    /// Streams exist, nothing moves.
    Waiting = 0,
    /// Data moves and counts.
    Running = 1,
    /// Senders stop; receivers go on reading, but nothing counts.
    Ended = 2,
    /// Everybody stops.
    Closed = 3,
}

/// The stage and the budget of one test.
#[derive(Debug)]
pub(crate) struct Phase {
    stage: AtomicU8,
    lock: Mutex<()>,
    changed: Condvar,
    /// Bytes that may still be sent, where the test ends with an amount.
    budget: Option<AtomicI64>,
}

impl Phase {
    pub(crate) fn new(budget: Option<u64>) -> Arc<Self> {
        Arc::new(Self {
            stage: AtomicU8::new(Stage::Waiting as u8),
            lock: Mutex::new(()),
            changed: Condvar::new(),
            budget: budget.map(|bytes| AtomicI64::new(i64::try_from(bytes).unwrap_or(i64::MAX))),
        })
    }

    pub(crate) fn advance(&self, stage: Stage) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.stage.fetch_max(stage as u8, Ordering::SeqCst);
        self.changed.notify_all();
    }

    pub(crate) fn is_running(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == Stage::Running as u8
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.stage.load(Ordering::Relaxed) == Stage::Closed as u8
    }

    /// Waits until data may move; false if the test is over before it began.
    pub(crate) fn wait_for_start(&self) -> bool {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.stage.load(Ordering::SeqCst) == Stage::Waiting as u8 {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.is_running()
    }

    /// Takes up to `wanted` bytes from the budget; fewer, or none, when it runs out.
    pub(crate) fn take(&self, wanted: usize) -> usize {
        let Some(budget) = &self.budget else {
            return wanted;
        };
        let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
        let before = budget.fetch_sub(wanted, Ordering::Relaxed);
        usize::try_from(before.clamp(0, wanted)).unwrap_or(0)
    }

    /// Gives back what was taken and not sent.
    pub(crate) fn give_back(&self, bytes: usize) {
        if let Some(budget) = &self.budget {
            budget.fetch_add(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
        }
    }

    /// Whether the budget is used up.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget
            .as_ref()
            .is_some_and(|budget| budget.load(Ordering::Relaxed) <= 0)
    }
}

macro_rules! tally {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counters of one stream, written by its thread and read by the test's.
        #[derive(Debug, Default)]
        pub(crate) struct Tally {
            $($(#[$doc])* pub(crate) $name: AtomicU64,)+
        }

        /// The counters at one moment.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub(crate) struct Counts {
            $($(#[$doc])* pub(crate) $name: u64,)+
        }

        impl Tally {
            pub(crate) fn now(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)+ }
            }
        }

        impl Counts {
            /// What came after `earlier`.
            pub(crate) fn since(&self, earlier: &Self) -> Self {
                Self { $($name: self.$name.saturating_sub(earlier.$name),)+ }
            }
        }
    };
}

tally! {
    /// Bytes that the socket accepted, or that were read.
    bytes,
    /// Datagrams sent; for a receiver the highest sequence number.
    packets,
    /// Datagrams that really arrived, without duplicates.
    arrived,
    /// Datagrams that are missing so far.
    lost,
    /// Datagrams that came after a later one.
    reordered,
    /// Datagrams that came more than once.
    duplicates,
    /// Datagrams that the own socket dropped for want of buffer.
    socket_drops,
    /// Datagrams that the own kernel refused to send.
    send_errors,
    /// Nanoseconds by which a paced sender fell behind its schedule and that it did not make up for.
    behind,
    /// Jitter in nanoseconds: a state, not a count.
    jitter,
    /// Processor time of the stream's thread in nanoseconds, once it has ended.
    cpu,
    /// Bytes counted before the test ran, or after its end.
    uncounted,
}

/// Adds to a counter.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}

/// Lengths of the bursts in which datagrams really left: datagrams less than half their interval apart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bursts {
    /// `counts[i]` bursts of 2^i to 2^(i+1) - 1 datagrams; the last one counts all longer ones.
    pub counts: Vec<u64>,
    /// The longest burst.
    pub longest: u64,
    #[serde(skip)]
    current: u64,
}

impl Bursts {
    /// Notes a datagram; `together` says whether it left together with the one before.
    pub(crate) fn note(&mut self, together: bool) {
        if !together {
            self.finish();
        }
        self.current += 1;
    }

    /// Ends the current burst.
    pub(crate) fn finish(&mut self) {
        let length = std::mem::take(&mut self.current);
        if length == 0 {
            return;
        }
        let class = (length.ilog2() as usize).min(MOST_CLASSES - 1);
        if self.counts.len() <= class {
            self.counts.resize(class + 1, 0);
        }
        self.counts[class] += 1;
        self.longest = self.longest.max(length);
    }
}

const MOST_CLASSES: usize = 17;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_handed_out_once() {
        let phase = Phase::new(Some(100));
        assert_eq!((phase.take(60), phase.take(60), phase.take(60)), (60, 40, 0));
        assert!(phase.is_spent());
        let phase = Phase::new(Some(100));
        assert_eq!(phase.take(100), 100);
        phase.give_back(30);
        assert!(!phase.is_spent());
        assert_eq!(phase.take(100), 30);
    }

    #[test]
    fn bursts_by_powers_of_two() {
        let mut bursts = Bursts::default();
        for together in [false, false, true, true, false, true] {
            bursts.note(together);
        }
        bursts.finish();
        assert_eq!((bursts.counts.as_slice(), bursts.longest), ([1, 2].as_slice(), 3));
    }

    #[test]
    fn stages_only_move_forward() {
        let phase = Phase::new(None);
        phase.advance(Stage::Ended);
        phase.advance(Stage::Running);
        assert!(!phase.is_running() && !phase.wait_for_start());
    }
}

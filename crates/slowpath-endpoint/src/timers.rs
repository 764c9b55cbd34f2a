//! The timers of a host: the earliest first, ties by the order in which they were set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use slowpath_units::Time;

use crate::host::{AppId, ConnId};

/// Who is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    Connection(ConnId),
    Program(AppId),
    Input,
}

/// Wake-ups, at most one each; a later one is not entered while an earlier one stands.
///
/// Waking too early does no harm, so a timer that moved away is simply set again when its old time comes.
/// That keeps the queue short although TCP moves its timers with every packet.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Time, u64, Timer)>>,
    connections: Vec<Option<Time>>,
    programs: Vec<Option<Time>>,
    input: Option<Time>,
    order: u64,
}

impl Timers {
    /// Wakes `timer` at `at` at the latest.
    pub(crate) fn set(&mut self, timer: Timer, at: Time) {
        let slot = self.slot(timer);
        if slot.is_some_and(|known| known <= at) {
            return;
        }
        *slot = Some(at);
        self.order += 1;
        self.heap.push(Reverse((at, self.order, timer)));
    }

    /// The earliest wake-up.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Takes the earliest wake-up if it is due at `now`; none if it was stale.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, Timer)> {
        if self.next()? > now {
            return None;
        }
        let Reverse((at, _, timer)) = self.heap.pop()?;
        let slot = self.slot(timer);
        if *slot != Some(at) {
            return None;
        }
        *slot = None;
        Some((at, timer))
    }

    fn slot(&mut self, timer: Timer) -> &mut Option<Time> {
        let (list, index) = match timer {
            Timer::Connection(conn) => (&mut self.connections, conn.0 as usize),
            Timer::Program(app) => (&mut self.programs, app.0 as usize),
            Timer::Input => return &mut self.input,
        };
        if list.len() <= index {
            list.resize(index + 1, None);
        }
        &mut list[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_later_settings_wait() {
        let mut timers = Timers::default();
        let at = Time::from_nanos;
        timers.set(Timer::Connection(ConnId(1)), at(50));
        timers.set(Timer::Connection(ConnId(1)), at(90));
        timers.set(Timer::Program(AppId(0)), at(20));
        timers.set(Timer::Connection(ConnId(1)), at(30));
        assert_eq!(timers.next(), Some(at(20)));
        assert_eq!(timers.pop(at(100)), Some((at(20), Timer::Program(AppId(0)))));
        assert_eq!(timers.pop(at(100)), Some((at(30), Timer::Connection(ConnId(1)))));
        assert_eq!(timers.pop(at(100)), None, "the entry at 50 is stale");
        assert_eq!(timers.next(), None);
    }
}

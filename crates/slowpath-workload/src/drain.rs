//! A reader that is slower than the network: storage that is written a unit at a time.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, ByteCount, Time};

use crate::context::{Context, Stop};

/// How fast the receiving application gets rid of what it reads.
///
/// Data is collected into units; a full unit is written at `rate`. While `1 + read_ahead` units are waiting or
/// being written nothing is read, so the socket buffer fills and the advertised window shrinks, as on a router
/// that writes to flash memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drain {
    /// Bytes written at once.
    pub unit: ByteCount,
    /// Rate of the storage.
    pub rate: BitRate,
    /// Units that may be read while another is being written; 0 stops reading during every write.
    #[serde(default)]
    pub read_ahead: u32,
}

/// The storage of a [`Drain`] at work.
#[derive(Debug)]
pub struct Drainer {
    drain: Drain,
    collected: u64,
    /// Ends of the writes that are still going on, oldest first.
    writes: std::collections::VecDeque<Time>,
    carry: u64,
}

impl Drainer {
    /// An idle storage with nothing collected.
    pub fn new(drain: Drain) -> Self {
        Self {
            drain,
            collected: 0,
            writes: std::collections::VecDeque::new(),
            carry: 0,
        }
    }

    /// The most that may be read now without passing the end of a unit.
    pub fn room(&self) -> usize {
        (self.drain.unit.bytes().max(1) - self.collected) as usize
    }

    /// Takes `bytes` that were read at `now`; returns until when reading must pause, if it must.
    pub fn take(&mut self, bytes: usize, now: Time) -> Option<Time> {
        self.collected += bytes as u64;
        if self.collected < self.drain.unit.bytes() {
            return None;
        }
        self.write(now);
        while self.writes.front().is_some_and(|end| *end <= now) {
            self.writes.pop_front();
        }
        let excess = self
            .writes
            .len()
            .checked_sub(self.drain.read_ahead as usize + 1)?;
        self.writes.get(excess).copied()
    }

    /// Writes what is left; returns when the last byte is written.
    pub fn finish(&mut self, now: Time) -> Time {
        if self.collected > 0 {
            self.write(now);
        }
        self.writes.back().copied().unwrap_or(now)
    }

    fn write(&mut self, now: Time) {
        let start = self.writes.back().copied().unwrap_or(now).max(now);
        let (span, carry) = self.drain.rate.time_for(self.collected, self.carry);
        self.carry = carry;
        self.collected = 0;
        self.writes.push_back(start + span);
    }
}

/// Sleeps until the run's time is `until`.
pub(crate) fn pause(context: &Context, until: Time) -> Result<(), Stop> {
    let now = context.now();
    context.sleep_until(Instant::now() + until.since(now).to_std())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_units::Duration;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    #[test]
    fn pauses_for_every_unit() {
        // 1000 bytes at 8 kbit/s take a second.
        let mut drainer = Drainer::new(Drain {
            unit: ByteCount::new(1000),
            rate: BitRate::new(8000),
            read_ahead: 0,
        });
        assert_eq!(drainer.room(), 1000);
        assert_eq!(drainer.take(600, at(0)), None);
        assert_eq!(drainer.room(), 400);
        assert_eq!(drainer.take(400, at(10)), Some(at(1010)));
        assert_eq!(drainer.take(500, at(1010)), None);
        assert_eq!(drainer.finish(at(1020)), at(1520));
    }

    #[test]
    fn reads_ahead_while_writing() {
        let mut drainer = Drainer::new(Drain {
            unit: ByteCount::new(1000),
            rate: BitRate::new(8000),
            read_ahead: 1,
        });
        assert_eq!(drainer.take(1000, at(0)), None);
        assert_eq!(drainer.take(1000, at(100)), Some(at(1000)));
        assert_eq!(drainer.take(1000, at(1000)), Some(at(2000)));
        assert_eq!(drainer.finish(at(2000)), at(3000));
    }
}

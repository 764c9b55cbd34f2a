//! Timestamps of one sender beside the clock of the tap.

use std::collections::VecDeque;

use slowpath_packet::Seq32;

/// Timestamps of one sender beside the clock of the tap (RFC 7323).
#[derive(Debug, Default)]
pub(super) struct OwnClock {
    /// First and last timestamp with their times at the tap.
    span: Option<[(u32, i64); 2]>,
    /// When each was first seen, until it is echoed.
    times: VecDeque<(u32, i64)>,
    newest: Option<u32>,
}

impl OwnClock {
    /// Takes a timestamp of this sender, which the tap saw at `at`.
    pub(super) fn see(&mut self, value: u32, at: i64) {
        let now = (value, at);
        self.span = Some(self.span.map_or([now, now], |[first, _]| [first, now]));
        if self.newest.is_some_and(|newest| Seq32(value) <= Seq32(newest)) {
            return;
        }
        self.newest = Some(value);
        if self.times.len() >= REMEMBERED {
            self.times.pop_front();
        }
        self.times.push_back((value, at));
    }

    /// By how much the tap's clock ran ahead of this sender's own since its last packet, if it jumped: `at` is the time
    /// at which the tap says that a packet with timestamp `value` passed.
    pub(super) fn ran_ahead(&self, value: u32, at: i64) -> Option<i64> {
        let (last, ticks, span) = self.known()?;
        let passed =
            (f64::from(Seq32(value).distance(Seq32(last.0))) * span as f64 / f64::from(ticks)) as i64;
        let shown = at.saturating_sub(last.1);
        let ahead = shown.saturating_sub(passed);
        (passed >= 0 && ahead > 500_000_000 && passed < shown / 2).then_some(ahead)
    }

    /// Whether the clock is known.
    pub(super) fn is_known(&self) -> bool {
        self.known().is_some()
    }

    /// The last timestamp with its time, and the ticks and nanoseconds for which the clock ran: it is known after a second.
    fn known(&self) -> Option<((u32, i64), i32, i64)> {
        let [first, last] = self.span?;
        let ticks = Seq32(last.0).distance(Seq32(first.0));
        let span = last.1.saturating_sub(first.1);
        (ticks >= 10 && span >= 1_000_000_000).then_some((last, ticks, span))
    }

    /// Time since timestamp `echo` was first seen, if it is echoed for the first time.
    pub(super) fn echoed(&mut self, echo: u32, at: i64) -> Option<i64> {
        let mut found = None;
        while let Some(&(value, seen)) = self.times.front() {
            if Seq32(value) > Seq32(echo) {
                break;
            }
            if value == echo {
                found = Some(at - seen);
            }
            self.times.pop_front();
        }
        found.filter(|span| *span >= 0)
    }
}

/// Timestamps remembered until they are echoed.
const REMEMBERED: usize = 4096;

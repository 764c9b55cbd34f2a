//! The spans in which a wire moved no packet.

use slowpath_record::HeldSpan;
use slowpath_units::{Duration, Time};

/// A list of bounded length; when it is full, the shortest spans leave it and count as small lateness.
#[derive(Debug)]
pub(crate) struct Pauses {
    spans: Vec<HeldSpan>,
    /// Room to find the median in.
    lengths: Vec<Duration>,
    /// Shorter ones are not kept.
    least: Duration,
    most: usize,
    /// What has not been seen to end, or to hold packets up, yet.
    open: Option<HeldSpan>,
}

impl Pauses {
    /// Room for `most` spans, taken at once.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            spans: Vec::with_capacity(most),
            lengths: Vec::with_capacity(most),
            least: LEAST,
            most,
            open: None,
        }
    }

    /// Nothing moved from `from` to `to`; `first_in_time` says that a packet whose time is known began it.
    pub(crate) fn add(&mut self, from: Time, to: Time, first_in_time: bool) {
        let length = to.since(from);
        if length < self.least {
            return;
        }
        self.close(false, false);
        self.open = Some(HeldSpan {
            from,
            length,
            entered: false,
            released: false,
            first_in_time,
        });
    }

    /// What the first turn after the last span found waiting.
    pub(crate) fn close(&mut self, entered: bool, released: bool) {
        let Some(span) = self.open.take() else {
            return;
        };
        // What nobody noticed is kept where it tells of the machine.
        if !entered && !released && span.length < STOPPED {
            return;
        }
        if self.spans.len() == self.most {
            self.make_room();
        }
        if span.length >= self.least {
            self.spans.push(HeldSpan {
                entered,
                released,
                ..span
            });
        }
    }

    /// Whether a packet that is late by so much belongs to a span.
    pub(crate) fn least(&self) -> Duration {
        self.least
    }

    pub(crate) fn into_spans(mut self) -> Vec<HeldSpan> {
        self.close(false, false);
        self.spans
    }

    /// Keeps the longer half.
    fn make_room(&mut self) {
        self.lengths.clear();
        self.lengths.extend(self.spans.iter().map(|span| span.length));
        let half = self.lengths.len() / 2;
        let (_, median, _) = self.lengths.select_nth_unstable(half);
        let median = *median;
        let longer = self.spans.iter().filter(|span| span.length > median).count();
        let mut equal = (self.most / 2).saturating_sub(longer);
        self.spans.retain(|span| {
            if span.length == median && equal > 0 {
                equal -= 1;
                return true;
            }
            span.length > median
        });
        self.least = median;
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self::new(MOST)
    }
}

/// Waking an idle processor and reading a large train take less.
const LEAST: Duration = Duration::from_micros(200);
/// A thread that did not run for so long was kept from it, whether or not a packet waited.
const STOPPED: Duration = Duration::from_millis(5);
/// Spans kept of each wire: more than a minute of one in every four milliseconds.
const MOST: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn what_held_something_up_is_kept() {
        let mut pauses = Pauses::new(8);
        pauses.add(at(0), at(100), false);
        pauses.close(true, true);
        pauses.add(at(1000), at(1300), true);
        pauses.close(true, false);
        pauses.add(at(2000), at(2300), false);
        pauses.close(false, false);
        pauses.add(at(3000), at(9000), false);
        let spans = pauses.into_spans();
        let told: Vec<_> = spans
            .iter()
            .map(|span| (span.from, span.length.nanos(), span.entered, span.first_in_time))
            .collect();
        assert_eq!(
            told,
            [
                (at(1000), 300_000, true, true),
                (at(3000), 6_000_000, false, false)
            ]
        );
    }

    #[test]
    fn a_full_list_keeps_the_longest() {
        let mut pauses = Pauses::new(8);
        for number in 0..1000 {
            pauses.add(at(10_000 * number), at(10_000 * number + 200 + number), false);
            pauses.close(false, true);
        }
        let least = pauses.least();
        let spans = pauses.into_spans();
        assert!(spans.len() <= 8 && !spans.is_empty());
        assert!(spans.iter().all(|span| span.length >= least), "{least}");
        assert_eq!(spans.last().unwrap().from, at(9_990_000));
        assert!(spans.is_sorted_by_key(|span| span.from));
    }
}

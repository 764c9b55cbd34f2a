//! What caused a loss, and what it is called in the ledger.

use super::capacity::Capacity;
use super::hints::Hints;
use crate::limit::{Flag, Limit};
use slowpath_facts::{Event, Happening, Timeline};

/// Says of each event of a flow what caused it.
pub(super) fn causes(
    line: &Timeline,
    hints: &Hints,
    capacity: &Capacity,
    full: &[bool],
) -> Vec<(Limit, Option<Flag>)> {
    let crowd = Crowd::of(line, hints, capacity, full);
    line.events
        .iter()
        .map(|event| match event.kind {
            Happening::Mark => (Limit::EcnCongestion, None),
            Happening::Needless => (Limit::Reordering, None),
            Happening::Loss if hints.policed.is_some() => (Limit::Policed, None),
            Happening::Loss if hints.disorder => (Limit::Reordering, None),
            Happening::Loss if crowd.overflowed(event) && hints.shared => {
                (Limit::SharedBottleneck, Some(Flag::ShortQueue))
            }
            Happening::Loss if crowd.overflowed(event) => {
                (Limit::BottleneckBandwidth, Some(Flag::ShortQueue))
            }
            Happening::Loss => (Limit::RandomLoss, None),
        })
        .collect()
}

/// All losses of a flow, to judge one by.
struct Crowd<'a> {
    line: &'a Timeline,
    hints: &'a Hints,
    capacity: &'a Capacity,
    full: &'a [bool],
    /// Longest queueing delay that more than a moment showed.
    longest: f64,
    /// Events that came well below that delay, or without a queue.
    low: usize,
    /// Share of the time with a queue nearly that long.
    high_share: f64,
}

impl<'a> Crowd<'a> {
    fn of(line: &'a Timeline, hints: &'a Hints, capacity: &'a Capacity, full: &'a [bool]) -> Self {
        let delays: Vec<f64> = line
            .steps
            .iter()
            .filter(|step| step.rtt_max_s.is_finite())
            .map(|step| step.rtt_max_s - line.least_rtt_s)
            .collect();
        let longest = delays.iter().copied().fold(0.0, f64::max);
        let high = delays.iter().filter(|delay| **delay >= TOP * longest).count();
        let mut out = Self {
            line,
            hints,
            capacity,
            full,
            longest,
            low: 0,
            high_share: high as f64 / delays.len().max(1) as f64,
        };
        let losses = line.events.iter().filter(|event| event.kind == Happening::Loss);
        out.low = losses.filter(|event| !out.at_the_top(event)).count();
        out
    }

    /// A queue before the link was full when the loss happened.
    fn overflowed(&self, event: &Event) -> bool {
        if self.burst(event) {
            return true;
        }
        if !self.at_the_top(event) {
            return false;
        }
        if self.hints.losses_follow_load {
            return true;
        }
        if self.hints.losses_ignore_load {
            return false;
        }
        // Losses that come at any delay come at the highest as well, in proportion to the time that it stands.
        let losses = self
            .line
            .events
            .iter()
            .filter(|event| event.kind == Happening::Loss)
            .count();
        let top = losses - self.low;
        let by_chance = self.high_share * losses as f64;
        top as f64 > 2.0 * by_chance + 1.0 || self.low == 0
    }

    /// The delay just before was nearly the longest ever seen, and the link was full.
    fn at_the_top(&self, event: &Event) -> bool {
        let place = self.line.step_at(event.at_s);
        let near = place.saturating_sub(1)..(place + 2).min(self.full.len());
        let full = self.full[near].iter().any(|full| *full);
        let margin = (QUEUE * self.line.least_rtt_s)
            .max(LEAST_QUEUE)
            .max(3.0 * self.hints.clock_s);
        full && self.longest > margin && event.queue_s >= TOP * self.longest
    }

    /// So many segments at once, and so many more than else, that only a queue which a growing window overran drops them.
    fn burst(&self, event: &Event) -> bool {
        let place = self.line.step_at(event.at_s);
        let flight = self.line.steps[place.saturating_sub(1)..(place + 1).min(self.line.steps.len())]
            .iter()
            .map(|step| step.flight)
            .max()
            .unwrap_or(0) as f64;
        let segment = f64::from(self.hints.segment.max(1));
        let others: u64 = self
            .line
            .events
            .iter()
            .filter(|other| other.kind == Happening::Loss && other.at_s.to_bits() != event.at_s.to_bits())
            .map(|other| other.segments)
            .sum();
        let sent: u64 = self.line.steps.iter().map(|step| step.fresh + step.resent).sum();
        let expected = others as f64 * flight / (sent as f64 - flight).max(segment);
        let held = flight >= FILLS * self.capacity.byte_per_s * self.line.least_rtt_s;
        held && event.segments as f64 >= BURST && event.segments as f64 >= BURST * (expected + 1.0)
    }
}

/// Share of the longest delay from which a queue is full.
const TOP: f64 = 0.85;
/// Delay above the least, as a share of the least round trip, from which a queue stands.
const QUEUE: f64 = 0.02;
/// The same, seconds.
const LEAST_QUEUE: f64 = 0.0005;
/// Segments lost at once, and times what chance would do, that an overrun queue drops.
const BURST: f64 = 5.0;
/// Share of what the path holds that must have been in flight for that.
const FILLS: f64 = 0.8;

//! What caused a loss, and what it is called in the ledger.

use super::capacity::Capacity;
use super::hints::Hints;
use crate::limit::{Flag, Limit};
use slowpath_facts::{Event, Happening, Timeline};

/// Says of each event of a flow what caused it.
pub(super) fn causes(line: &Timeline, hints: &Hints, capacity: &Capacity) -> Vec<(Limit, Option<Flag>)> {
    let crowd = Crowd::of(line, hints, capacity);
    // Where packets come in order, what was sent again without need was sent for a loss near it: the last one, or the first.
    let mut near = line
        .events
        .iter()
        .find(|event| event.kind == Happening::Loss && !hints.disorder)
        .map(|event| of_loss(event, hints, &crowd));
    line.events
        .iter()
        .map(|event| match event.kind {
            Happening::Mark => (Limit::EcnCongestion, None),
            Happening::Needless => near.unwrap_or((Limit::Reordering, None)),
            Happening::Loss => {
                let cause = of_loss(event, hints, &crowd);
                if !hints.disorder {
                    near = Some(cause);
                }
                cause
            }
        })
        .collect()
}

/// Says of a loss what caused it.
fn of_loss(event: &Event, hints: &Hints, crowd: &Crowd) -> (Limit, Option<Flag>) {
    let bursts = hints.bursts && hints.policed.is_none() && event.segments as f64 >= BURST;
    if hints.policed.is_some() && !crowd.at_full_queue {
        (Limit::Policed, None)
    } else if bursts && hints.shared {
        (Limit::SharedBottleneck, Some(Flag::ShortQueue))
    } else if bursts {
        (Limit::BottleneckBandwidth, Some(Flag::ShortQueue))
    } else if hints.disorder {
        (Limit::Reordering, None)
    } else if crowd.overflowed(event) && hints.shared {
        (Limit::SharedBottleneck, Some(Flag::ShortQueue))
    } else if crowd.overflowed(event) {
        (Limit::BottleneckBandwidth, Some(Flag::ShortQueue))
    } else {
        (Limit::RandomLoss, None)
    }
}

/// All losses of a flow, to judge one by.
struct Crowd<'a> {
    line: &'a Timeline,
    hints: &'a Hints,
    capacity: &'a Capacity,
    /// Share of round trips with as long a queue, up to which a loss is an overflow.
    tail: f64,
    /// Longest queueing delay of all.
    longest: f64,
    /// Losses come with the queue at its longest, which a policer knows nothing of.
    at_full_queue: bool,
}

impl<'a> Crowd<'a> {
    fn of(line: &'a Timeline, hints: &'a Hints, capacity: &'a Capacity) -> Self {
        let mut out = Self {
            line,
            hints,
            capacity,
            tail: 0.0,
            longest: line
                .steps
                .iter()
                .map(|step| step.rtt_max_s - line.least_rtt_s)
                .filter(|delay| delay.is_finite())
                .fold(0.0, f64::max),
            at_full_queue: false,
        };
        // Losses that come at any queue come at the longest as well, but no more often than chance has it: of so many that
        // random losses would give, only a part may be called overflows (Benjamini and Hochberg 1995).
        let mut longer: Vec<f64> = line
            .events
            .iter()
            .filter(|event| event.kind == Happening::Loss && event.queue_s.is_finite())
            .map(|event| if out.queued(event) { event.longer } else { 1.0 })
            .collect();
        longer.sort_by(f64::total_cmp);
        let all = longer.len() as f64;
        let part = if hints.losses_ignore_load && !hints.fills && !capacity.is_told() {
            // The whole of them comes at any queue: a long one before one of them says nothing.
            0.0
        } else if hints.losses_follow_load {
            FOLLOWING
        } else {
            FALSE
        };
        let within =
            |(place, share): (usize, &f64)| (*share <= part * (place + 1) as f64 / all).then_some(*share);
        out.tail = longer.iter().enumerate().filter_map(within).fold(-1.0, f64::max);
        let beside = line
            .events
            .iter()
            .filter(|event| event.kind == Happening::Loss && event.queue_s.is_finite());
        let full = beside
            .clone()
            .filter(|event| out.queued(event) && event.queue_s >= TOP * out.longest)
            .count();
        out.at_full_queue = full > 0 && full as f64 >= MOSTLY * beside.count() as f64;
        out
    }

    /// A queue before the link was full when the loss happened.
    fn overflowed(&self, event: &Event) -> bool {
        // Away from the sender round trips are put together from two ways, and pauses count as delay.
        if !self.hints.at_sender && self.burst(event) {
            return true;
        }
        if event.queue_s.is_finite() {
            self.queued(event)
                && (self.hints.varies
                    || event.longer <= self.tail
                        && (self.hints.losses_follow_load
                            || self.hints.fills
                            || self.reaches(FILLS_AT_ALL, event)
                            || self.several(event)))
        } else {
            self.burst(event)
        }
    }

    /// A queue stood just before.
    fn queued(&self, event: &Event) -> bool {
        let margin = (QUEUE * self.line.least_rtt_s)
            .max(LEAST_QUEUE)
            .max(3.0 * self.hints.clock_s);
        event.queue_s > margin
    }

    /// So large a share of what the path holds was in flight, where that is known: less makes no queue.
    fn reaches(&self, share: f64, event: &Event) -> bool {
        !self.capacity.is_told()
            || self.hints.shared
            || self.flight_at(event) >= share * self.capacity.byte_per_s * self.line.least_rtt_s
    }

    /// Several segments at once, in this event or the one that follows: slow start overruns a short queue before the path
    /// is full.
    fn several(&self, event: &Event) -> bool {
        let near = 2.0 * self.line.least_rtt_s;
        self.line.events.iter().any(|other| {
            other.kind == Happening::Loss
                && (0.0..=near).contains(&(other.at_s - event.at_s))
                && other.segments >= SEVERAL
        })
    }

    /// Most that was in flight just before, bytes.
    fn flight_at(&self, event: &Event) -> f64 {
        let place = self.line.step_at(event.at_s);
        let near = place.saturating_sub(1)..(place + 1).min(self.line.steps.len());
        let most = self.line.steps[near].iter().map(|step| step.flight).max();
        most.unwrap_or(0) as f64
    }

    /// So many segments at once, and so many more than else, that only a queue which a growing window overran drops them.
    fn burst(&self, event: &Event) -> bool {
        let flight = self.flight_at(event);
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
        self.reaches(FILLS, event)
            && event.segments as f64 >= BURST
            && event.segments as f64 >= BURST * (expected + 1.0)
    }
}

/// Share of the longest queue from which a queue is full.
const TOP: f64 = 0.85;
/// Share of the losses that must be so.
const MOSTLY: f64 = 0.67;
/// Share of the overflows that may be random losses by chance.
const FALSE: f64 = 0.2;
/// The same where the flow's own load explains its losses.
const FOLLOWING: f64 = 0.5;
/// Delay above the least, as a share of the least round trip, from which a queue stands.
const QUEUE: f64 = 0.02;
/// The same, seconds.
const LEAST_QUEUE: f64 = 0.0005;
/// Segments lost at once, and times what chance would do, that an overrun queue drops.
const BURST: f64 = 5.0;
/// Share of what the path holds that must have been in flight for that.
const FILLS: f64 = 0.8;
/// Segments lost at once that chance hardly takes.
const SEVERAL: u64 = 3;
/// The same for any overflow: below it a burst, not a queue, makes the delay.
const FILLS_AT_ALL: f64 = 0.4;

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
    let link = if hints.shared && !crowd.alone(event) {
        Limit::SharedBottleneck
    } else {
        Limit::BottleneckBandwidth
    };
    let overflow = (link, Some(Flag::ShortQueue));
    let bucket_empty = || event.backlog >= EMPTY || event.backlog.is_nan() && !crowd.with_full_queue(event);
    if hints.policed.is_some() && bucket_empty() {
        (Limit::Policed, None)
    } else if bursts {
        overflow
    } else if hints.disorder {
        (Limit::Reordering, None)
    } else if crowd.overflowed(event) {
        overflow
    } else {
        (Limit::RandomLoss, None)
    }
}

/// All losses of a flow, to judge one by.
struct Crowd<'a> {
    line: &'a Timeline,
    hints: &'a Hints,
    capacity: &'a Capacity,
    /// Losses that come at any queue, for all round trips: those that come where the queue was not full tell how many.
    rate: f64,
    /// The delay from which the queue may be full.
    full: f64,
    /// Delays at losses, the shortest first.
    delays: Vec<f64>,
}

impl<'a> Crowd<'a> {
    fn of(line: &'a Timeline, hints: &'a Hints, capacity: &'a Capacity) -> Self {
        let full = Timeline::FULL * line.reached_s();
        let losses = line.events.iter().filter(|event| event.kind == Happening::Loss);
        let mut delays: Vec<f64> = losses
            .map(|event| event.queue_s)
            .filter(|delay| !delay.is_nan())
            .collect();
        delays.sort_unstable_by(f64::total_cmp);
        let below = delays.partition_point(|delay| *delay < full);
        Self {
            line,
            hints,
            capacity,
            rate: (below as f64 + UNSEEN) / (1.0 - line.delayed(full) + UNSEEN),
            full,
            delays,
        }
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
                    || self.with_full_queue(event)
                        && (self.hints.losses_follow_load
                            || self.hints.fills
                            || self.reaches(FILLS_AT_ALL, event)
                            || self.several(event)))
        } else {
            self.burst(event)
        }
    }

    /// The delay just before was among the longest, and losses come so by more than chance.
    fn with_full_queue(&self, event: &Event) -> bool {
        self.queued(event) && event.queue_s >= self.full && self.stands_out(event)
    }

    /// The flow had the link for itself just before.
    fn alone(&self, event: &Event) -> bool {
        let place = self.line.step_at(event.at_s);
        let near = place.saturating_sub(1)..(place + 2).min(self.capacity.alone.len());
        self.capacity
            .alone
            .get(near)
            .is_some_and(|near| near.contains(&true))
    }

    /// More losses come at queues as long as this than losses that come at any queue would.
    fn stands_out(&self, event: &Event) -> bool {
        let shorter = self
            .delays
            .partition_point(|delay| *delay < AS_LONG * event.queue_s);
        let as_long = self.delays.len() - shorter;
        // A single segment once, at a delay that hardly any packet had: chance as likely as a queue.
        let once = as_long <= 1 && event.longer < RARE && !self.several(event);
        !once && as_long as f64 >= MORE * self.rate * event.longer
    }

    /// A queue stood just before.
    fn queued(&self, event: &Event) -> bool {
        let margin = (QUEUE * self.line.least_rtt_s)
            .max(LEAST_QUEUE)
            .max(1.5 * self.line.delay_unit_s)
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

/// Losses at any queue that are supposed beside those that were seen, and the share of round trips without a full queue.
const UNSEEN: f64 = 0.2;
/// Share of a queue from which another is as long.
const AS_LONG: f64 = 0.97;
/// Share of the round trips with as long a delay, up to which one loss with it tells nothing.
const RARE: f64 = 0.01;
/// How many times as many losses as come at any queue.
const MORE: f64 = 2.0;
/// Backlog of a virtual queue, as a share of its size, from which a bucket is empty.
const EMPTY: f64 = 0.75;
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

//! What caused a loss, and what it is called in the ledger.

use super::capacity::Capacity;
use super::hints::Hints;
use crate::limit::{Flag, Limit};
use slowpath_facts::{Event, Happening, Outage, Timeline};

/// A cause, and what is said beside it.
type Cause = (Limit, Option<Flag>);

/// The losses of a flow, in order.
fn losses(line: &Timeline) -> impl Iterator<Item = &Event> + Clone {
    let events = line.events.iter();
    events.filter(|event| event.kind == Happening::Loss)
}

/// What is said of a time in which the path let nothing through: it held what was under way, or lost it. Where a policer drops again and
/// again, others may keep its bucket empty for as long.
pub(super) const fn of_outage(polices: bool, held: bool) -> Cause {
    match (held, polices) {
        (true, _) => (Limit::BottleneckBandwidth, Some(Flag::Outage)),
        (false, false) => (Limit::RandomLoss, Some(Flag::Outage)),
        (false, true) => (Limit::Policed, None),
    }
}

/// The outage in which an event happened: what it took had been sent up to a round trip before the last got through. Beside the
/// receiver what was lost shows behind it.
fn in_outage(line: &Timeline, hints: &Hints, event: &Event) -> Option<bool> {
    let behind = if hints.at_sender {
        0.0
    } else {
        REPAIR * line.least_rtt_s
    };
    let near = |outage: &&Outage| {
        let rtt = line.steps[line.step_at(outage.from_s)].rtt_s;
        let trip = if rtt.is_finite() { rtt } else { line.least_rtt_s };
        (outage.from_s - trip..=outage.to_s + behind).contains(&event.at_s)
    };
    let outage = line.outages.iter().find(near)?;
    (event.kind != Happening::Mark).then_some(outage.held)
}

/// Says of each event of a flow what caused it: an outage whatever was lost or sent again in it. And whether a policer drops again and
/// again besides.
pub(super) fn causes(line: &Timeline, hints: &Hints, capacity: &Capacity) -> (Vec<Cause>, bool) {
    let mut causes = without_outages(line, hints, capacity);
    if line.outages.is_empty() {
        return (causes, hints.policed.is_some());
    }
    let met: Vec<Option<bool>> = (line.events.iter())
        .map(|event| in_outage(line, hints, event))
        .collect();
    let policed = causes.iter().zip(&met);
    let policed = policed.filter(|(cause, met)| cause.0 == Limit::Policed && met.is_none());
    let polices = policed.count() >= MANY_LOSSES;
    for (cause, held) in causes.iter_mut().zip(met) {
        *cause = held.map_or(*cause, |held| of_outage(polices, held));
    }
    (causes, polices)
}

/// The same as if there were none.
fn without_outages(line: &Timeline, hints: &Hints, capacity: &Capacity) -> Vec<Cause> {
    let crowd = Crowd::of(line, hints, capacity);
    let told: Vec<(&Event, Cause)> =
        (losses(line).map(|event| (event, of_loss(event, hints, &crowd)))).collect();
    // Where packets come in order, what was sent again without need was sent for a loss near it: the last one, or the first.
    let mut near = told.first().filter(|_| !hints.disorder).map(|(_, cause)| *cause);
    let gap = crowd.usual_gap();
    let emptied = crowd.emptied_by_others(&told);
    let mark = if crowd.marked_for_others() {
        (Limit::SharedBottleneck, None)
    } else {
        (Limit::EcnCongestion, None)
    };
    // The last loss, and the last loss or mark.
    let mut last: Option<(f64, Cause)> = None;
    let mut reduced = last;
    let mut told = told.iter().map(|(_, cause)| *cause);
    line.events
        .iter()
        .map(|event| match event.kind {
            Happening::Mark => {
                reduced = Some((event.at_s, mark));
                mark
            }
            Happening::Needless => near
                .or_else(|| crowd.while_repairing(event, reduced))
                .unwrap_or_else(|| crowd.of_needless(event)),
            Happening::Loss => {
                let mut cause = told.next().unwrap_or((Limit::Unknown, None));
                if cause.0 == Limit::RandomLoss && emptied.is_some_and(|since| event.at_s >= since) {
                    cause = (Limit::Policed, None);
                }
                // So soon behind another loss chance hardly strikes again: what took that one took this one, too.
                if cause.0 == Limit::RandomLoss
                    && let Some((at_s, before)) = last
                    && crowd.too_soon(at_s, event, gap)
                    && !(before.1 == Some(Flag::ShortQueue) && crowd.finds_room(event))
                {
                    cause = before;
                }
                last = Some((event.at_s, cause));
                reduced = last;
                if !hints.disorder {
                    near = Some(cause);
                }
                cause
            }
        })
        .collect()
}

/// Says of a loss what caused it.
fn of_loss(event: &Event, hints: &Hints, crowd: &Crowd) -> Cause {
    let bursts = hints.bursts && hints.policed.is_none() && event.segments as f64 >= BURST;
    let own = || crowd.alone(event) || crowd.in_first_burst(event) || crowd.ends_start_alone(event);
    let link = if hints.shared && !own() || crowd.part(event) {
        Limit::SharedBottleneck
    } else {
        Limit::BottleneckBandwidth
    };
    let overflow = (link, Some(Flag::ShortQueue));
    // What this flow alone had put into a bucket that others empty as well says nothing of one loss.
    let of_all = hints.others_seen && hints.policer_took_all;
    let bucket_empty = || {
        of_all
            || event.backlog >= EMPTY
            || (event.backlog.is_nan() || crowd.at_once(event)) && !crowd.with_full_queue(event)
    };
    // Where a bucket explains every loss no queue is needed, however long the delay before one happens to be.
    let in_queue = || {
        crowd.at_its_longest(event)
            && (!hints.policer_took_all && crowd.overflowed(event)
                || crowd.stays_full(event) && !hints.policer_took_each)
    };
    if hints.policed.is_some() && bucket_empty() && !in_queue() {
        (Limit::Policed, None)
    } else if bursts {
        overflow
    } else if hints.disorder && !crowd.told_apart && !(crowd.at_once(event) && crowd.queued(event)) {
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
    /// For each loss the share of the round trips with as long a delay, the smallest first.
    ranks: Vec<f64>,
    /// In disorder as well what was sent again had been lost: the receiver says what had not, or most of it had.
    told_apart: bool,
    /// Losses in a row by segments sent, those at once counted as one.
    chance: f64,
    /// Acknowledgements: round trips that were measured, about.
    acks: f64,
}

impl<'a> Crowd<'a> {
    fn of(line: &'a Timeline, hints: &'a Hints, capacity: &'a Capacity) -> Self {
        let full = Timeline::FULL * line.reached_s();
        let mut delays: Vec<f64> = losses(line)
            .map(|event| event.queue_s)
            .filter(|delay| !delay.is_nan())
            .collect();
        delays.sort_unstable_by(f64::total_cmp);
        let below = delays.partition_point(|delay| *delay < full);
        let mut ranks: Vec<f64> = losses(line)
            .filter(|event| event.queue_s.is_finite())
            .map(|event| event.longer)
            .collect();
        ranks.sort_unstable_by(f64::total_cmp);
        let sent: u64 = line.steps.iter().map(|step| step.fresh + step.resent).sum();
        let segments = sent as f64 / f64::from(hints.segment.max(1));
        let of = |kind: Happening| -> u64 {
            let of = line.events.iter().filter(|event| event.kind == kind);
            of.map(|event| event.segments).sum()
        };
        let (lost, needless) = (of(Happening::Loss), of(Happening::Needless));
        let told_apart = hints.tells_repeats || lost as f64 >= MOSTLY * needless as f64;
        Self {
            ranks,
            told_apart: hints.at_sender && needless > 0 && told_apart,
            chance: losses(line).count() as f64 / segments.max(1.0),
            acks: line.steps.iter().map(|step| f64::from(step.acks)).sum(),
            line,
            hints,
            capacity,
            rate: (below as f64 + UNSEEN) / (1.0 - line.delayed(full) + UNSEEN),
            full,
            delays,
        }
    }

    /// The cause of the last loss or mark, where the sender still reacted to it when this was sent: what is sent again without
    /// need then makes the window no smaller.
    fn while_repairing(&self, event: &Event, reduced: Option<(f64, Cause)>) -> Option<Cause> {
        let rtt = self.line.least_rtt_s + event.queue_s.max(0.0);
        reduced
            .filter(|(at_s, _)| event.at_s - at_s <= REPAIR * rtt)
            .map(|(_, cause)| cause)
    }

    /// What made the sender send again what had arrived, where no loss or mark did: overtaking, or the link's queue, whose delay
    /// jumped beyond the retransmission timer.
    fn of_needless(&self, event: &Event) -> Cause {
        let cause = if self.hints.disorder || !self.line.follows_timeout(event.at_s) {
            Limit::Reordering
        } else if self.hints.shared {
            Limit::SharedBottleneck
        } else {
            Limit::BottleneckBandwidth
        };
        (cause, None)
    }

    /// A queue before the link was full when the loss happened.
    fn overflowed(&self, event: &Event) -> bool {
        // Where one size of a queue explains the losses, it explains those it was full at.
        let explained = self.hints.losses_follow_load && self.hints.policed.is_none();
        let filled = explained && event.backlog >= FILLED && self.queued(event);
        if filled && (self.ranks.len() >= MANY_LOSSES || self.fill_it_again()) {
            return true;
        }
        if self.too_few(event) || self.too_thin(event) || self.too_early(event) {
            return false;
        }
        // The first burst meets an empty queue.
        let short = SHORT * self.segment() as f64 / self.capacity.byte_per_s.max(1.0);
        if filled || self.in_first_burst(event) && self.nears_its_longest(event, short) {
            return true;
        }
        // Away from the sender round trips are put together from two ways, and pauses count as delay.
        if !self.hints.at_sender && self.burst(event) {
            return true;
        }
        if event.queue_s.is_finite() {
            self.queued(event)
                && (self.hints.varies && event.longer < HALF
                    || self.close(event) && self.by_chance(event) * event.longer <= HARDLY
                    || self.at_its_longest(event) && self.by_chance(event) <= HARDLY
                    || (self.with_full_queue(event) || self.crowds(event))
                        && (self.hints.losses_follow_load
                            || self.hints.fills
                            || self.reaches(FILLS_AT_ALL, event)
                            || self.several(event)))
        } else {
            self.burst(event)
        }
    }

    /// All losses come where one size of a queue is full, several segments at once again and again.
    fn fill_it_again(&self) -> bool {
        let full = losses(self.line).all(|event| event.backlog >= FILLED);
        full && losses(self.line).filter(|event| self.dense(event)).count() >= TWICE
    }

    /// The delay just before was among the longest, and losses come so by more than chance.
    fn with_full_queue(&self, event: &Event) -> bool {
        self.queued(event) && event.queue_s >= self.full && self.stands_out(event)
    }

    /// The longest delay of any packet, seconds.
    fn longest(&self) -> f64 {
        self.line.delays_s.last().copied().unwrap_or(0.0)
    }

    /// The delay just before was about the longest that there was.
    fn at_its_longest(&self, event: &Event) -> bool {
        self.nears_its_longest(event, 0.0)
    }

    /// It was at most `short_s` below that, seconds.
    fn nears_its_longest(&self, event: &Event, short_s: f64) -> bool {
        let longest = self.longest();
        longest > 0.0 && self.queued(event) && event.queue_s + short_s >= LONGEST * longest
    }

    /// As the link's queue drops, what it takes meanwhile finds it full: the delay stays at its longest for about as many
    /// segments as are lost. A bucket behind it lets the delay grow on.
    fn stays_full(&self, event: &Event) -> bool {
        let full = event.longer * self.acks;
        self.capacity.is_told()
            && event.segments >= OVERRUN
            && event.queue_s >= Timeline::FULL * self.longest()
            && full >= STAYS * event.segments as f64
    }

    /// The flow had the link for itself just before: what the queue held then is acknowledged up to some round trips later.
    fn alone(&self, event: &Event) -> bool {
        let place = self.line.step_at(event.at_s);
        let near = place.saturating_sub(1)..(place + ACKNOWLEDGED).min(self.capacity.alone.len());
        self.capacity
            .alone
            .get(near)
            .is_some_and(|near| near.contains(&true))
    }

    /// The window that doubled until then had all of the link for a round trip: it fills it for hardly longer than that before
    /// it overruns the queue.
    fn ends_start_alone(&self, event: &Event) -> bool {
        let first = losses(self.line).next();
        if !self.capacity.is_told() || first.is_none_or(|first| first.at_s.to_bits() != event.at_s.to_bits())
        {
            return false;
        }
        let place = self.line.step_at(event.at_s);
        let near = place..(place + ACKNOWLEDGED).min(self.line.steps.len());
        let full = near.filter(|&place| {
            let carries = self.capacity.byte_per_s * self.line.length_of(place);
            self.line.steps[place].delivered as f64 >= WHOLE * carries
        });
        full.count() > 0
    }

    /// It was sent before anything was acknowledged: that burst overruns a short queue by itself.
    fn in_first_burst(&self, event: &Event) -> bool {
        event.at_s < self.line.from_s + self.line.least_rtt_s
    }

    /// A queue is marked after it has stood for a while; what the flow itself had of the link meanwhile left room for others, at
    /// most marks. Over a long round trip the window grows back from each for longer than others keep the link full.
    fn marked_for_others(&self) -> bool {
        let sure = self.hints.at_sender && self.capacity.is_told() && !self.capacity.varies;
        if !sure || self.line.least_rtt_s >= GROWS_S {
            return false;
        }
        let marks = self
            .line
            .events
            .iter()
            .filter(|event| event.kind == Happening::Mark);
        let (mut beside, mut all) = (0, 0);
        for mark in marks.skip(1) {
            let from = (mark.at_s - STOOD_S).max(self.line.from_s);
            let full = self.capacity.byte_per_s / self.segment() as f64 * (mark.at_s - from);
            if full >= SOME {
                all += 1;
                beside += usize::from(self.arrived(from, mark.at_s) < PART * full);
            }
        }
        all >= AGAIN && beside as f64 >= MOSTLY_SO * all as f64
    }

    /// The flow had only part of a full link just before.
    fn part(&self, event: &Event) -> bool {
        let place = self.line.step_at(event.at_s);
        let near = place.saturating_sub(1)..(place + 2).min(self.capacity.part.len());
        self.capacity
            .part
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

    /// So many segments at once as losses by chance, as often as there are any, would hardly ever take.
    fn at_once(&self, event: &Event) -> bool {
        self.close(event) && self.by_chance(event) <= HARDLY
    }

    /// Several segments next to each other, or a good part of those sent meanwhile.
    fn close(&self, event: &Event) -> bool {
        self.dense(event) || event.segments > 1 && event.span <= event.segments * self.segment()
    }

    /// How likely losses by chance are to take so many segments so close together in any event.
    fn by_chance(&self, event: &Event) -> f64 {
        let flight = self.flight_at(event) / f64::from(self.hints.segment.max(1));
        // Those of two windows may be told as one.
        let more = 2.0 * self.chance * flight;
        poisson(more, event.segments - 1) * self.delays.len().max(1) as f64
    }

    fn segment(&self) -> u64 {
        u64::from(self.hints.segment.max(1))
    }

    /// Several segments, and close together: an overrun queue drops a good part of what comes until the sender reacts.
    fn dense(&self, event: &Event) -> bool {
        let span = event.span as f64 / f64::from(self.hints.segment.max(1));
        event.segments >= SEVERAL && event.segments as f64 >= DENSE * span
    }

    /// A window that doubles overruns a queue by many segments, not by one.
    fn too_few(&self, event: &Event) -> bool {
        let first = losses(self.line).next();
        let place = self.line.step_at(event.at_s);
        let flight = |place: usize| self.line.steps[place].flight as f64;
        first.is_some_and(|first| first.at_s.to_bits() == event.at_s.to_bits())
            && place >= 2
            && flight(place).max(flight(place - 1)) >= DOUBLES * flight(place - 2)
            && !self.several(event)
            && (event.segments as f64) < BURST.min(MANY * self.flight_at(event) / self.segment() as f64)
    }

    /// Packets passed a queue that was longer by more than a few segments: it was not full.
    fn too_early(&self, event: &Event) -> bool {
        let few = FEW * self.segment() as f64 / self.capacity.byte_per_s.max(1.0);
        // One segment of a doubling window is lost before many are only where the queue is full already.
        let share = if self.several(event) && !self.dense(event) {
            LONGEST
        } else {
            Timeline::FULL
        };
        let sure = self.hints.at_sender
            && self.capacity.is_told()
            && !self.capacity.varies
            && !self.hints.varies
            && !self.hints.shared
            && !self.hints.disorder;
        sure && event.segments < SEVERAL && event.queue_s + few < share * self.longest()
    }

    /// Many segments were lost, but few of those that were sent meanwhile: no queue of one's own overran.
    fn too_thin(&self, event: &Event) -> bool {
        let span = event.span as f64 / f64::from(self.hints.segment.max(1));
        event.segments as f64 >= BURST && (event.segments as f64) < THIN * span && !self.hints.shared
    }

    /// Since when others empty the bucket of a policer that had explained every loss until then: far more is lost from then on
    /// than chance, which took nothing before, would take.
    fn emptied_by_others(&self, told: &[(&Event, Cause)]) -> Option<f64> {
        self.hints.policed?;
        let by_chance = |(_, cause): &&(&Event, Cause)| cause.0 == Limit::RandomLoss;
        let first = told.iter().position(|loss| by_chance(&loss))?;
        let (explained, rest) = told.split_at(first);
        let before = explained
            .iter()
            .filter(|(_, cause)| cause.0 == Limit::Policed)
            .count();
        let since = rest[0].0.at_s;
        let unexplained = rest.iter().filter(by_chance);
        let lost: f64 = unexplained.map(|(event, _)| event.segments as f64).sum();
        let (calm, among) = (
            self.arrived(self.line.from_s, since),
            self.arrived(since, self.line.to_s) + lost,
        );
        let often = lost / among.max(1.0);
        (before >= AGAIN && often >= STARVES && -(calm * often) <= NEVER.ln()).then_some(since)
    }

    /// Segments that are known to have arrived between two moments.
    fn arrived(&self, from_s: f64, to_s: f64) -> f64 {
        let line = self.line;
        let (first, last) = (line.step_at(from_s), line.step_at(to_s));
        let bytes: f64 = (first..=last)
            .map(|place| {
                let (low, length) = (line.start_of(place), line.length_of(place));
                let inside = (low + length).min(to_s) - low.max(from_s);
                line.steps[place].delivered as f64 * (inside / length.max(1e-9)).clamp(0.0, 1.0)
            })
            .sum();
        bytes / f64::from(self.hints.segment.max(1))
    }

    /// A loss at `before_s` is so near that chance, which lets `gap` segments arrive between two, hardly strikes as often as this
    /// event says.
    fn too_soon(&self, before_s: f64, event: &Event, gap: f64) -> bool {
        let arrived = self.arrived(before_s, event.at_s);
        let together = event.span <= event.segments * self.segment();
        let (among, losses) = if together {
            (arrived, 1)
        } else {
            (
                arrived + event.span as f64 / self.segment() as f64,
                event.segments,
            )
        };
        arrived < NONE || gap > 0.0 && poisson(among / gap, losses) < SOON
    }

    /// No queue stood before it, nor by what was sent, and those that were lost were far apart: nothing overran.
    fn finds_room(&self, event: &Event) -> bool {
        let empty = event.queue_s.is_finite() && !self.queued(event) && event.backlog < FILLED;
        self.hints.at_sender && empty && !self.close(event)
    }

    /// Segments that arrive between two losses as a rule.
    fn usual_gap(&self) -> f64 {
        let times: Vec<f64> = losses(self.line).map(|event| event.at_s).collect();
        let mut gaps: Vec<f64> = times
            .windows(2)
            .map(|pair| self.arrived(pair[0], pair[1]))
            .collect();
        gaps.sort_unstable_by(f64::total_cmp);
        gaps.get(gaps.len() / 2).copied().unwrap_or(0.0)
    }

    /// Far more losses come with as long a delay as this than those that come with the shorter half of the delays let expect.
    fn crowds(&self, event: &Event) -> bool {
        let within = |share: f64| self.ranks.partition_point(|rank| *rank <= share);
        let any = (self.ranks.len() - within(HALF)) as f64 + 1.0;
        let inside = within(event.longer) as u64;
        event.longer < HALF && poisson(any / (1.0 - HALF) * event.longer, inside) <= NEVER
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
                && self.dense(other)
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
        let others: u64 = losses(self.line)
            .filter(|other| other.at_s.to_bits() != event.at_s.to_bits())
            .map(|other| other.segments)
            .sum();
        let sent: u64 = self.line.steps.iter().map(|step| step.fresh + step.resent).sum();
        let expected = others as f64 * flight / (sent as f64 - flight).max(segment);
        self.reaches(FILLS, event)
            && self.dense(event)
            && event.segments as f64 >= BURST
            && event.segments as f64 >= BURST * (expected + 1.0)
    }
}

/// The chance of `least` and more where `mean` are expected.
fn poisson(mean: f64, least: u64) -> f64 {
    let (mut term, mut below) = ((-mean).exp(), 0.0);
    for count in 0..least {
        below += term;
        term *= mean / (count + 1) as f64;
    }
    (1.0 - below).max(0.0)
}

/// For how long a queue stands before it is marked (CoDel's interval, RFC 8289), seconds.
const STOOD_S: f64 = 0.1;
/// Round trip from which a mark itself costs more than those for whom it came, seconds; fitted.
const GROWS_S: f64 = 0.08;
/// Segments that the link carries in a time whose share can be told.
const SOME: f64 = 10.0;
/// Share of the marks that are most of them.
const MOSTLY_SO: f64 = 0.75;
/// Share of the link over a round trip from which it is the flow itself that overran the queue, not others.
const WHOLE: f64 = 0.75;
/// Share of the link below which others have the rest.
const PART: f64 = 0.8;
/// Losses that come so by more than chance.
const AGAIN: usize = 3;
/// Share of the segments that are lost where others leave a flow next to nothing.
const STARVES: f64 = 0.03;
/// Events of loss that no size of a queue explains by chance.
const MANY_LOSSES: usize = 10;
/// Segments lost at once by which a full queue can be told from a bucket behind it.
const OVERRUN: u64 = 15;
/// How many segments must find the queue full, for each that is lost.
const STAYS: f64 = 0.4;
/// Overflows by many segments that leave no doubt of one by a single segment.
const TWICE: usize = 2;
/// Segments by which the delay of the packet before the lost one may be shorter than the queue.
const SHORT: f64 = 2.0;
/// Backlog of a virtual queue, as a share of its size, with which it is full.
const FILLED: f64 = 0.9;
/// Segments that may lie between a packet whose delay is known and the one that was lost.
const FEW: f64 = 4.0;
/// Chance that hardly ever happens.
const HARDLY: f64 = 0.01;
/// The same where one of many shares is picked.
const NEVER: f64 = 1e-4;
/// Share of the segments from the first loss to the last that an overrun queue drops at least.
const DENSE: f64 = 0.1;
/// The same below which it drops nothing.
const THIN: f64 = 0.02;
/// Growth of the flight over two steps that slow start makes and nothing else does.
const DOUBLES: f64 = 1.5;
/// Share of a small flight that are many.
const MANY: f64 = 0.1;
/// Share of the longest delay from which a queue is about as long as it gets.
const LONGEST: f64 = 0.85;
/// How many times as many segments were lost as were sent again without need.
const MOSTLY: f64 = 3.0;
/// Round trips from the sending of what was lost until it is made good: one until the sender knows, and two of sending again.
const REPAIR: f64 = 3.0;
/// Steps from a loss on in which what was in the queue before it is acknowledged.
const ACKNOWLEDGED: usize = 4;
/// Half of the round trips: what most have is no full queue's delay, however the rate of the link varies.
const HALF: f64 = 0.5;
/// Segments that arrive where a loss is repeated.
const NONE: f64 = 2.0;
/// Chance of as many losses so soon behind another, below which they have its cause.
const SOON: f64 = 0.05;
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

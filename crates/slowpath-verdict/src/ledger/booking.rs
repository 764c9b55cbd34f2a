//! From a timeline to a ledger, step by step.

use std::collections::BTreeMap;
use std::ops::Range;

use super::account::{Account, Heading};
use super::capacity::{self, Capacity};
use super::deficits::{Debtor, Deficits};
use super::{Hints, Ledger, State, course, events, words};
use crate::limit::{Flag, Limit};
use crate::schedule::dry;
use crate::verdict::Interval;
use slowpath_facts::{Event, Happening, Step, Timeline};

/// Books every instant of a flow. `known` is the path's capacity where somebody knows it, payload bytes per second.
pub fn book(line: &Timeline, hints: &Hints, known: Option<f64>) -> Ledger {
    if line.steps.is_empty() || line.to_s <= line.from_s {
        return Ledger::default();
    }
    let mut capacity = capacity::capacity(line, hints, known);
    let (mut worked, excess) = capacity::worked(line, &capacity);
    if excess > 0.0 {
        // More than the link can carry has arrived: it carries more.
        let span = line.to_s - line.from_s;
        let factor = (span + excess) / span;
        capacity.byte_per_s *= factor;
        capacity.steps.iter_mut().for_each(|rate| *rate *= factor);
        if factor > WRONG {
            capacity.is = capacity::CapacityIs::AtLeast;
        }
        worked = capacity::worked(line, &capacity).0;
    }
    let full = full(line, hints, &capacity, &worked);
    let (causes, polices) = events::causes(line, hints, &capacity);
    let mut booking = Booking {
        line,
        hints,
        causes,
        polices,
        holds: holds(line, &capacity),
        reach: 0.0,
        deficits: Deficits::default(),
        current: None,
        next: 0,
        pending: Vec::new(),
        level: 0.0,
        early: None,
        plateau: plateau(line, hints, &capacity, &full),
        in_blocks: hints.scheduled.is_some() || in_blocks(line, hints),
        ended_start: None,
        account: Account::default(),
        spans: Vec::new(),
        capacity,
        worked,
        full,
    };
    booking.deficits = Deficits::at_the_start((booking.holds - line.initial_window as f64).max(0.0));
    booking.opening();
    for place in 0..line.steps.len() {
        booking.step(place);
        booking.span(place);
    }
    booking.finish()
}

/// What the path holds, bytes: capacity times the least round trip, or the most that ever was in flight where the capacity is
/// not known: what the window lacked of that, something took from it.
fn holds(line: &Timeline, capacity: &Capacity) -> f64 {
    if capacity.is_told() {
        return capacity.byte_per_s * line.least_rtt_s;
    }
    line.steps.iter().map(|step| step.flight).max().unwrap_or(0) as f64
}

/// Steps in which the link was full: a queue stood before it, or it carried what it can.
fn full(line: &Timeline, hints: &Hints, capacity: &Capacity, worked: &[f64]) -> Vec<bool> {
    let busy = |place: usize, near: usize| {
        let near = around(place, near, worked.len());
        let span: f64 = near.clone().map(|place| line.length_of(place)).sum();
        worked[near].iter().sum::<f64>() / span.max(1e-9)
    };
    // What stands for longer than a round trip without it keeps any link busy, however slow that is just now.
    let lost = || line.events.iter().any(|event| event.kind == Happening::Loss);
    let alone = capacity.varies || hints.at_sender && !hints.others_seen && !lost();
    let stands = if alone && !hints.overtakes {
        long_queues(line)
    } else {
        vec![false; line.steps.len()]
    };
    let mut out: Vec<bool> = (0..line.steps.len())
        .map(|place| {
            let share = busy(place, 1);
            let queued = || capacity.queued[place] && !capacity::doubles(line, place);
            if !capacity.is_told() {
                // What a policer lets through fills no link before it.
                return (stands[place] || queued()) && hints.policed.is_none();
            }
            // Others may have any part of a full link.
            let least = if hints.shared {
                0.0
            } else if capacity.varies {
                HALF
            } else {
                QUEUED
            };
            let part = capacity.part.get(place).copied().unwrap_or(false);
            // A segment more or less in three steps may be a good part of them.
            let enough = || share.max(busy(place, capacity.grain / 2)) >= least;
            share >= FULL || stands[place] || queued() && (part || enough())
        })
        .collect();
    // What the link did shows in what is acknowledged up to a round trip later.
    for place in 1..out.len() {
        out[place - 1] |= out[place] && !capacity::doubles(line, place - 1);
    }
    let known = out.clone();
    for (place, full) in out.iter_mut().enumerate() {
        let apart = !known[around(place, 1, known.len())].contains(&true);
        *full |= apart && carries_all(line, hints, capacity, place);
        *full |= hints.at_sender && !hints.overtakes && never_pauses(line, place);
        *full |= queue_of_others(line, hints, capacity, place);
    }
    out
}

/// Steps in which a queue of a round trip and more stood before the link, also where it let nothing through.
fn long_queues(line: &Timeline) -> Vec<bool> {
    let mut last = f64::NAN;
    let stands = |(place, step): (usize, &Step)| {
        if step.rtt_s.is_finite() {
            last = step.rtt_s;
        }
        step.flight > 0
            && last - line.least_rtt_s >= line.least_rtt_s.max(LONG_QUEUE)
            && !capacity::doubles(line, place)
    };
    line.steps.iter().enumerate().map(stands).collect()
}

/// A queue stands though less is in flight than the path holds without one: it is that of others, who fill the link. Where many
/// segments are acknowledged at once, all that is in flight may have come at once, and delayed itself.
fn queue_of_others(line: &Timeline, hints: &Hints, capacity: &Capacity, place: usize) -> bool {
    let sure = hints.at_sender && capacity.is_told() && !capacity.varies;
    let plain = hints.policed.is_none() && !hints.overtakes && !hints.answered;
    if !sure || !plain {
        return false;
    }
    let (rate, segment) = (capacity.steps[place], f64::from(hints.segment));
    let of_others = |step: &Step| {
        let flight = step.flight as f64;
        let one_by_one = step.delivered as f64 <= AT_ONCE * segment * f64::from(step.acks);
        let at_once = if one_by_one { 0.0 } else { flight } + AT_ONCE * segment;
        let own = at_once / rate + capacity::LEAST_QUEUE;
        flight < LITTLE * rate * line.least_rtt_s
            && step.rtt_s - line.least_rtt_s >= own.max(STANDING * line.least_rtt_s)
    };
    let near = &line.steps[place.saturating_sub(1)..=place];
    near.iter().all(of_others) && line.steps[place].delivered > 0 && !capacity::doubles(line, place)
}

/// A burst fills the link for a round trip, which is idle before and behind it: the step carries all that the link can, and so many
/// segments that one more or less hardly changes that. A window that is full makes steps of one size, whatever the link carries, and
/// a program that asks waits for its answer while what it sent is acknowledged.
fn carries_all(line: &Timeline, hints: &Hints, capacity: &Capacity, place: usize) -> bool {
    let carries = capacity.steps[place] * line.length_of(place);
    let step = &line.steps[place];
    !hints.answered
        && capacity.is_told()
        && step.full_s <= SOME * line.step_s
        && carries >= capacity::SEGMENTS * f64::from(hints.segment)
        && step.delivered as f64 >= FULL * carries
        && !capacity::doubles(line, place)
}

/// Acknowledgements of a full window come without a gap, with a queue: a round trip in which the link is idle for a part of it has a
/// distance between two of them that is longer than the one before. Data that the sender's own clock spreads have no such gap,
/// either, but no queue.
fn never_pauses(line: &Timeline, place: usize) -> bool {
    let step = &line.steps[place];
    let waits = step.full_s > SOME * line.step_s && step.rtt_s >= LONGER * line.least_rtt_s;
    let near = &line.steps[around(place, GAPS, line.steps.len())];
    let sum = |of: fn(&Step) -> u32| near.iter().map(|step| f64::from(of(step))).sum::<f64>();
    let (spaced, even, steps) = (sum(|step| step.spaced), sum(|step| step.even), near.len() as f64);
    let follows = 2.0 * sum(|step| step.followed) >= sum(|step| step.acks);
    waits && follows && spaced >= 2.0 * steps && spaced - even <= UNEVEN * steps
}

/// The flight that hardly ever was exceeded, where it stayed the same for so long and so often as no congestion window does;
/// and what held it there.
fn plateau(line: &Timeline, hints: &Hints, capacity: &Capacity, full: &[bool]) -> Option<(f64, Limit)> {
    if !hints.at_sender && !hints.at_receiver {
        return None;
    }
    let free: Vec<&Step> = line
        .steps
        .iter()
        .filter(|step| step.full_s + step.closed_s + step.repair_s + step.silent_s <= SOME * line.step_s)
        .collect();
    let mut sorted: Vec<u64> = free.iter().map(|step| step.flight).collect();
    sorted.sort_unstable();
    let segment = u64::from(hints.segment);
    let seldom = *sorted.get(((free.len() as f64 - 1.0) * SELDOM).max(0.0) as usize)?;
    // A sender with a clock of its own probes for more, and is most of the time at what that told it.
    let (most, usual) = usual(&sorted, segment);
    let others = hints.policed.is_some() || hints.answered || hints.disorder;
    let told = hints.released == Some(true) && !others;
    let level = if told && usual >= LARGE * segment && most as f64 >= USUAL * free.len() as f64 {
        usual
    } else {
        seldom
    };
    // That is about what the window allows, or what the path holds.
    let window = free.iter().map(|step| step.window).max().unwrap_or(0);
    if hints.window_known && level as f64 >= CONSTANT * window as f64 {
        return None;
    }
    let at_level = |step: &&Step| step.flight + segment >= level && step.flight <= level + segment;
    let longest = free
        .split(|step| !at_level(step))
        .map(<[&Step]>::len)
        .max()
        .unwrap_or(0);
    let held = || free.iter().filter(|step| at_level(step));
    let sum = |of: fn(&Step) -> u32| -> f64 { held().map(|step| f64::from(of(step))).sum() };
    // A sender that fills the path follows acknowledgements; one that lets them pass is held by something else.
    let mostly = held().count() * 2 >= free.len() && line.bursts as usize * 2 >= free.len();
    let lets_pass = hints.at_sender && (mostly || sum(|step| step.unused) >= UNUSED * sum(|step| step.acks));
    let filled = || {
        // A congestion window that stays there for a while ends in a loss.
        let lost = line
            .events
            .iter()
            .any(|event| event.kind == Happening::Loss && at_level(&&line.steps[line.step_at(event.at_s)]));
        if lost || hints.policed.is_some() {
            return true;
        }
        let at_level = line.steps.iter().zip(full).filter(|(step, _)| at_level(step));
        let (count, full) = at_level.fold((0, 0), |(count, full), (_, is_full)| {
            (count + 1, full + usize::from(*is_full))
        });
        full * 2 >= count
    };
    let fills = capacity.is_told() && level as f64 >= NEARLY * holds(line, capacity) && filled();
    if fills && !lets_pass || longest < STAYS || (held().count() as f64) < OFTEN * free.len() as f64 {
        return None;
    }
    // What a buffer holds follows an acknowledgement at once; the program is woken only when a third of the buffer is free.
    let follows = || sum(|step| step.followed) >= FOLLOWS * sum(|step| step.acks);
    // From afar only pauses tell that.
    let clocked = if hints.at_sender {
        Some(level < seldom || let_go(line).unwrap_or_else(follows))
    } else {
        hints.released
    };
    let limit = match clocked {
        Some(true) => Limit::SendBuffer,
        Some(false) => Limit::SenderApplication,
        None => Limit::Unknown,
    };
    Some((level as f64, limit))
}

/// The flight within a segment of which most others are, of flights in order, and how many.
fn usual(sorted: &[u64], segment: u64) -> (usize, u64) {
    let mut best = (0, 0);
    let mut low = 0;
    for (place, flight) in sorted.iter().enumerate() {
        while sorted[low] + 2 * segment < *flight {
            low += 1;
        }
        let count = place + 1 - low;
        if count > best.0 {
            best = (count, sorted[low + count / 2]);
        }
    }
    best
}

/// The steps up to `reach` before and behind one, of so many.
fn around(place: usize, reach: usize, steps: usize) -> Range<usize> {
    place.saturating_sub(reach)..(place + reach + 1).min(steps)
}

/// Whether acknowledgements let go the bursts that came after several of them; `None` for too few to tell.
fn let_go(line: &Timeline) -> Option<bool> {
    (line.bursts >= BURSTS).then(|| f64::from(line.let_go) >= LET_GO * f64::from(line.bursts))
}

struct Booking<'a> {
    line: &'a Timeline,
    hints: &'a Hints,
    capacity: Capacity,
    /// Seconds that the link worked in each step.
    worked: Vec<f64>,
    full: Vec<bool>,
    causes: Vec<(Limit, Option<Flag>)>,
    /// A policer drops again and again.
    polices: bool,
    /// What the path holds, bytes.
    holds: f64,
    /// Largest flight since the last event.
    reach: f64,
    deficits: Deficits,
    /// The event that the sender still reacts to, and the step up to which a smaller flight is its doing.
    current: Option<(usize, usize)>,
    /// The next event.
    next: usize,
    /// Events since the flight was last followed, and the flight then: during repair it says nothing of the window.
    pending: Vec<usize>,
    level: f64,
    /// When slow start ended early, and the flight then.
    early: Option<(f64, f64)>,
    /// The flight that hardly ever was exceeded and stayed for long: a buffer or a program held it.
    plateau: Option<(f64, Limit)>,
    in_blocks: bool,
    /// What ended slow start.
    ended_start: Option<Debtor>,
    account: Account,
    spans: Vec<Interval>,
}

/// How a step was spent, seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Parts {
    held: f64,
    outage: f64,
    closed: f64,
    full: f64,
    shrunk: f64,
    asked: f64,
    idle: f64,
    silent: f64,
    repair: f64,
    busy: f64,
}

impl Parts {
    fn of(step: &Step, span: f64) -> Self {
        let mut left = span;
        let mut take = |wanted: f64| {
            let taken = wanted.clamp(0.0, left);
            left -= taken;
            taken
        };
        let held = take(step.held_s);
        let outage = take(step.outage_s);
        let silent = take(step.silent_s);
        let closed = take(step.closed_s);
        let asked = take(step.asked_s);
        let idle = take(step.idle_s - step.asked_s);
        let full = take(step.full_s);
        let repair = take(step.repair_s - step.silent_s);
        Self {
            held,
            outage,
            closed,
            full,
            shrunk: step.shrunk_s.min(full),
            asked,
            idle,
            silent,
            repair,
            busy: left,
        }
    }

    /// Takes off what is left of the last so many seconds, in which nothing more is to be sent and nothing is repaired: how much
    /// that is.
    fn ends(&mut self, seconds: f64) -> f64 {
        let mut parts = [
            &mut self.full,
            &mut self.closed,
            &mut self.asked,
            &mut self.idle,
            &mut self.busy,
        ];
        let all: f64 = parts.iter().map(|part| **part).sum();
        let ends = seconds.clamp(0.0, all);
        if ends > 0.0 {
            for part in &mut parts {
                **part *= 1.0 - ends / all;
            }
        }
        self.shrunk = self.shrunk.min(self.full);
        ends
    }
}

impl Booking<'_> {
    /// When all was sent, and the link no longer busy with it: what is left is the way to the other end and back.
    fn all_sent_s(&self) -> f64 {
        let line = self.line;
        if self.hints.at_sender {
            line.sent_to_s.max(line.to_s - LAST * line.least_rtt_s)
        } else {
            line.to_s - LAST_WAY * line.least_rtt_s
        }
    }

    /// What comes before the first data: the handshake, and the request.
    fn opening(&mut self) {
        let before = self.line.from_s - self.line.opened_s;
        if before <= 0.0 {
            return;
        }
        let lost = (before - self.line.least_rtt_s).max(0.0);
        let heading = Heading::new(Limit::ProtocolWindow, State::Handshake);
        self.account.book(heading, before, lost);
        self.account.most_since();
        self.spans.push(Interval {
            from_s: self.line.opened_s,
            to_s: self.line.from_s,
            limit: heading.cause,
        });
    }

    fn step(&mut self, place: usize) {
        let step = self.line.steps[place];
        let mut span = self.line.length_of(place);
        let mut parts = Parts::of(&step, span);
        self.follow(place, &step, &parts);
        let mut lost = (span - self.worked[place]).max(0.0);
        let idle = if self.hints.answered {
            Heading::new(Limit::ProtocolWindow, State::Answer)
        } else {
            Heading::new(Limit::SenderApplication, State::Idle)
        };
        let ends = parts.ends(self.line.start_of(place) + span - self.all_sent_s());
        if ends > 0.0 {
            let part = lost * ends / span;
            lost -= part;
            span -= ends;
            self.account.book(self.whole(idle), ends, part);
        }
        if parts.held > 0.0 {
            let part = parts.held.min(lost);
            lost -= part;
            let heading = Heading::new(Limit::Unknown, State::Measurement);
            self.account.book(self.whole(heading), parts.held, part);
        }
        if parts.outage > 0.0 {
            let part = parts.outage.min(lost);
            lost -= part;
            self.account
                .book(self.whole(self.outage(place)), parts.outage, part);
        }
        if self.full[place] {
            // Nothing nearer to the data would have changed that.
            let rest = span - parts.held - parts.outage - parts.silent;
            let silent = parts.silent.min(lost);
            if parts.silent > 0.0 {
                let heading = self.whole(self.after_loss(State::Timeout));
                self.account.book(heading, parts.silent, silent);
            }
            if rest > 0.0 {
                self.on_full_link(place, &parts, rest, lost - silent);
            }
            return;
        }
        // While nothing can be sent, nothing is delivered: that time is lost first.
        let still = [
            (parts.silent, self.after_loss(State::Timeout)),
            (
                parts.closed,
                Heading::new(Limit::ReceiverApplication, State::Window),
            ),
            (parts.asked, Heading::new(Limit::ProtocolWindow, State::Answer)),
            (parts.idle, idle),
        ];
        for (time, heading) in still {
            if time > 0.0 {
                let part = time.min(lost);
                lost -= part;
                self.account.book(self.whole(heading), time, part);
            }
        }
        let rest = parts.full + parts.repair + parts.busy;
        if rest <= 0.0 {
            return;
        }
        let share = lost / rest;
        if parts.full > 0.0 {
            let slow = parts.shrunk / parts.full;
            for (cause, part) in [
                (Limit::ReceiverApplication, slow),
                (Limit::ReceiverWindow, 1.0 - slow),
            ] {
                if part > 0.0 {
                    let time = parts.full * part;
                    self.account
                        .book(self.whole(Heading::new(cause, State::Window)), time, time * share);
                }
            }
        }
        if parts.repair > 0.0 {
            let heading = self.whole(self.after_loss(State::Repair));
            self.account.book(heading, parts.repair, parts.repair * share);
        }
        if parts.busy > 0.0 {
            self.busy(place, &step, parts.busy, parts.busy * share);
        }
    }

    /// The heading of a step in which the path let nothing through.
    fn outage(&self, place: usize) -> Heading {
        let end = self.line.start_of(place) + self.line.step_s;
        let outages = &self.line.outages;
        let first = outages.partition_point(|outage| outage.from_s < end);
        let held = first.checked_sub(1).is_none_or(|last| outages[last].held);
        let (cause, flag) = events::of_outage(self.polices, held);
        Heading {
            flag,
            ..Heading::new(cause, if held { State::Link } else { State::Timeout })
        }
    }

    /// Adds a step to what held most when.
    fn span(&mut self, place: usize) {
        let (from_s, length) = (self.line.start_of(place), self.line.length_of(place));
        let Some(limit) = self.account.most_since() else {
            return;
        };
        match self.spans.last_mut() {
            Some(last) if last.limit == limit => last.to_s = from_s + length,
            _ => self.spans.push(Interval {
                from_s,
                to_s: from_s + length,
                limit,
            }),
        }
    }

    /// Books the time of a step in which the link was full: nothing nearer to the data would have changed that.
    fn on_full_link(&mut self, place: usize, parts: &Parts, rest: f64, lost: f64) {
        let alone = self.capacity.alone.get(place).copied().unwrap_or(false);
        let part = self.capacity.part.get(place).copied().unwrap_or(false);
        let others = self.hints.shared && !alone
            || part
            || queue_of_others(self.line, self.hints, &self.capacity, place)
            || self.capacity.is == capacity::CapacityIs::Known && lost > OTHERS * rest;
        let others = others && !capacity::is_slower_than_told(self.hints, &self.capacity);
        let mut heading = if others {
            Heading::new(Limit::SharedBottleneck, State::Link)
        } else {
            Heading::new(Limit::BottleneckBandwidth, State::Link)
        };
        if self.capacity.varies && !others {
            heading.flag = Some(Flag::VariableRate);
        }
        let window = parts.full + parts.closed;
        for (time, state) in [(window, State::Window), (rest - window, State::Link)] {
            if time > 0.0 {
                self.account
                    .book(self.whole(Heading { state, ..heading }), time, lost * time / rest);
            }
        }
    }

    /// Books time in which data were in flight, the window had room, nothing was repaired, and the link was not full.
    fn busy(&mut self, place: usize, step: &Step, time: f64, lost: f64) {
        let flight = step.flight as f64;
        if self.own_pace(place) {
            let heading = Heading::new(Limit::SenderApplication, State::Pace);
            self.account.book(self.whole(heading), time, lost);
            return;
        }
        let reacts = self.current.is_some_and(|(_, until)| place <= until);
        let fixed = self.fixed_amount(place, flight);
        let window = || {
            self.paced_below_window(place)
                || self.up_to_window(place)
                || fixed.is_some() && self.mostly_window(place)
        };
        if !reacts && window() {
            let cause = if self.hints.slow_reader {
                Limit::ReceiverApplication
            } else {
                Limit::ReceiverWindow
            };
            self.account
                .book(self.whole(Heading::new(cause, State::Window)), time, lost);
            return;
        }
        if let Some(heading) = fixed {
            self.fixed(place, heading, time, lost);
            return;
        }
        // Less than half a segment is no deficit: the last event is what the window has just recovered from.
        let paid = self.current.is_some() && self.deficits.total() < 0.5 * f64::from(self.hints.segment);
        // Where a loss made the congestion window small, that leaves the same room.
        let owes = self.current.is_some() && !paid;
        if !reacts && (!owes || self.no_longer_grows(place)) && self.emptied(place) {
            let near = &self.line.steps[around(place, NEAR, self.line.steps.len())];
            let most = near.iter().map(|step| step.flight).max().unwrap_or(0);
            let heading = if self.in_pieces(most as f64) || self.in_blocks {
                Heading::new(Limit::SenderApplication, State::Pace)
            } else {
                Heading::new(Limit::SendBuffer, State::Buffer)
            };
            self.fixed(place, heading, time, lost);
            return;
        }
        // A sender that its window holds follows an acknowledgement at once.
        let lets_pass = !self.hints.at_sender || step.followed * 2 < step.acks.max(1);
        if !reacts && lets_pass && !self.deficits.starting() && flight < HELD * self.reach.min(self.holds) {
            // More has been in flight since the last event: the program does not send.
            self.account.book(
                self.whole(Heading::new(Limit::SenderApplication, State::Pace)),
                time,
                lost,
            );
            return;
        }
        let shares: Vec<(Debtor, f64)> = self.deficits.shares().filter(|_| !paid).collect();
        if shares.is_empty() {
            let heading = if self.current.is_some() {
                self.after_loss(State::Growth)
            } else if self.capacity.is_told() {
                // The window has grown to all that the path holds.
                Heading::new(Limit::BottleneckBandwidth, State::Link)
            } else {
                Heading::new(Limit::Unknown, State::Unknown)
            };
            self.account.book(self.whole(heading), time, lost);
            return;
        }
        for (debtor, share) in shares {
            let heading = self.whole(self.growth(debtor));
            self.account.book(heading, time * share, lost * share);
        }
    }

    /// The flight is what it was some round trips ago, all of them behind the reaction to the last event: no window that grows back.
    fn no_longer_grows(&self, place: usize) -> bool {
        let steps = (place + 1)
            .checked_sub(2 * GROWS)
            .map(|from| &self.line.steps[from..=place]);
        let Some((steps, (_, until))) = steps.zip(self.current) else {
            return false;
        };
        let most = |steps: &[Step]| steps.iter().map(|step| step.flight).max().unwrap_or(0);
        let (before, now) = steps.split_at(GROWS);
        place >= until + 2 * GROWS && most(now) <= most(before) + u64::from(self.hints.segment)
    }

    /// A program that asks pauses once for each answer. Where it stops sending far more often, and acknowledgements let it go on,
    /// something else stops it.
    fn pauses_between_answers(&self) -> bool {
        let dry = self.line.dry.len() as f64;
        dry >= BETWEEN * self.hints.answers as f64 && 2.0 * dry >= f64::from(self.line.bursts)
    }

    /// More than a buffer of this size holds has been in flight, and no burst followed the room that it makes: it is none.
    fn exceeds(&self, amount: f64) -> bool {
        let most = ABOVE * amount + 2.0 * f64::from(self.hints.segment);
        let above = self.line.steps.iter().filter(|step| step.flight as f64 > most);
        self.hints.at_sender && self.line.bursts < BURSTS && above.count() >= 2
    }

    /// Most acknowledgements around this step made room that nothing was sent into: the program gives data when it likes.
    fn own_pace(&self, place: usize) -> bool {
        let line = self.line;
        let least = match (let_go(line), self.hints.released) {
            (Some(false), _) => UNUSED,
            (_, Some(false)) => UNUSED_PLAINLY,
            _ => return false,
        };
        self.hints.at_sender && !self.hints.answered && self.leaves_unused(place, least)
    }

    /// So large a share of the acknowledgements around this step made room that nothing was sent into.
    fn leaves_unused(&self, place: usize, least: f64) -> bool {
        let near = around(place, NEAR, self.line.steps.len());
        let (mut acks, mut unused) = (0, 0);
        for step in &self.line.steps[near] {
            acks += step.acks;
            unused += step.unused;
        }
        acks >= SOME_ACKS && f64::from(unused) >= least * f64::from(acks)
    }

    /// What holds a flight of so many bytes, where it is one that stays the same.
    fn fixed_amount(&self, place: usize, flight: f64) -> Option<Heading> {
        let amount = self.hints.constant_bytes as f64;
        let reached = |limit: &Limit| {
            flight >= CONSTANT * amount && !(*limit == Limit::SendBuffer && self.exceeds(amount))
        };
        let stays = || {
            let (plateau, limit) = self.plateau?;
            let reaches = flight + f64::from(self.hints.segment) >= plateau;
            // What was acknowledged out of order is in the buffer for longer.
            let below = || {
                !self.hints.answered
                    && flight >= CONSTANT * plateau
                    && self.leaves_unused(place, UNUSED_BELOW)
            };
            (reaches || limit == Limit::SendBuffer && self.hints.at_sender && below()).then_some(limit)
        };
        let limit = self.hints.constant.filter(reached).or_else(stays)?;
        let limit = if limit == Limit::SendBuffer && (self.in_pieces(flight) || self.in_blocks) {
            Limit::SenderApplication
        } else {
            limit
        };
        let state = match limit {
            Limit::SenderApplication => State::Pace,
            Limit::ProtocolWindow if amount <= 0.0 => State::Answer,
            Limit::Unknown => State::Unknown,
            _ => State::Buffer,
        };
        Some(Heading::new(limit, state))
    }

    /// Books time in which something held a fixed amount in flight. What a buffer holds, a sender with a clock of its own (BBR)
    /// sends at the rate that it learnt from that: it waits for the buffer only when all is sent.
    fn fixed(&mut self, place: usize, heading: Heading, time: f64, lost: f64) {
        let heading = self.whole(heading);
        let near = &self.line.steps[around(place, NEAR, self.line.steps.len())];
        let paces = heading.state == State::Buffer && let_go(self.line) == Some(true);
        let waited = if paces && !self.hints.follows_acks {
            let unused: f64 = near.iter().map(|step| step.unused_s).sum();
            (unused / (near.len() as f64 * self.line.step_s)).min(1.0)
        } else {
            1.0
        };
        let paced = Heading {
            state: State::Pace,
            ..heading
        };
        for (heading, part) in [(heading, waited), (paced, 1.0 - waited)] {
            if part > 0.0 {
                self.account.book(heading, time * part, lost * part);
            }
        }
    }

    /// Bursts are larger than the third of a buffer of this size that is free when the kernel wakes the program: they are the
    /// program's own pieces (`sk_stream_is_writeable` in `include/net/sock.h`).
    fn in_pieces(&self, buffer: f64) -> bool {
        let line = self.line;
        let large = buffer >= 4.0 * LARGE as f64 * f64::from(self.hints.segment);
        let told = large && self.hints.at_sender && !self.hints.overtakes;
        told && line.bursts >= BURSTS && line.burst_bytes as f64 >= PIECE * buffer * f64::from(line.bursts)
    }

    /// Acknowledgements around this step made room that nothing was sent into for longer than a kernel gathers data, until one of
    /// them let a burst go, as all over the transfer: the program is woken when a third of the buffer is free. Where the window
    /// is full for a good part of the time, its steps look the same.
    fn emptied(&self, place: usize) -> bool {
        let hints = self.hints;
        let pauses = !hints.answered || self.pauses_between_answers();
        let lets_go = hints.at_sender && pauses && hints.released == Some(true);
        let near = &self.line.steps[around(place, NEAR, self.line.steps.len())];
        let sum =
            |of: fn(&Step) -> f64| near.iter().map(of).sum::<f64>() / (near.len() as f64 * self.line.step_s);
        lets_go
            && let_go(self.line) == Some(true)
            && self.leaves_unused(place, UNUSED_BELOW)
            && sum(|step| step.unused_s) >= UNUSED_BELOW
            && sum(|step| step.full_s + step.closed_s) <= SOME
    }

    /// A sender with a clock of its own (BBR) fills the window only while it probes for more, again and again, and learns its
    /// rate from that: the window holds it in between, too.
    fn paced_below_window(&self, place: usize) -> bool {
        let steps = &self.line.steps;
        let known = self.window_is_seen();
        let half = |step: &Step| 2 * step.flight >= step.window && step.window > 0;
        if !known || !half(&steps[place]) {
            return false;
        }
        let filled = |step: &Step| step.full_s >= SOME * self.line.step_s;
        let near = around(place, PROBES, steps.len());
        let (before, behind) = (&steps[near.start..place], &steps[place + 1..near.end]);
        let (acks, followed) = (steps[near.clone()].iter()).fold((0, 0), |(acks, followed), step| {
            (acks + step.acks, followed + step.followed)
        });
        let paced = acks >= SOME_ACKS && followed * 4 < acks;
        paced && before.iter().any(filled) && behind.iter().any(filled) && !self.lost_within(&near)
    }

    /// In most round trips near, the flight comes up to the window but for less than the two segments that Linux likes to
    /// send at once: no congestion window stays just there.
    fn up_to_window(&self, place: usize) -> bool {
        let steps = &self.line.steps;
        if !self.window_is_seen() {
            return false;
        }
        let near = &steps[around(place, EDGE, steps.len())];
        let room = 2 * u64::from(self.hints.segment);
        let most = near.iter().map(|step| step.flight).max().unwrap_or(0);
        let reaches =
            |step: &&Step| step.window > 0 && step.flight + room > step.window && step.flight + room > most;
        near.iter().filter(reaches).count() * 5 >= near.len() * 4
    }

    /// The window is full for a part of most round trips near, and all the room that it gives is used: what lies below it in
    /// between is no fixed amount of the sender's.
    fn mostly_window(&self, place: usize) -> bool {
        let steps = &self.line.steps;
        if !self.window_is_seen() {
            return false;
        }
        let near = &steps[around(place, PROBES, steps.len())];
        let sum = |of: fn(&Step) -> u32| -> u32 { near.iter().map(of).sum() };
        let filled = near
            .iter()
            .filter(|step| step.full_s >= FILLED * self.line.step_s);
        filled.count() * 2 >= near.len() && sum(|step| step.acks) > 8 * sum(|step| step.unused)
    }

    /// Whether what room the window leaves is seen, and used as soon as it is there.
    fn window_is_seen(&self) -> bool {
        let hints = self.hints;
        (hints.at_sender || hints.at_receiver) && hints.window_known && !hints.answered
    }

    /// Whether losses fall into these steps.
    fn lost_within(&self, steps: &Range<usize>) -> bool {
        let (from, to) = (self.line.start_of(steps.start), self.line.start_of(steps.end));
        let events = &self.line.events;
        let first = events.partition_point(|event| event.at_s < from);
        let mut inside = events[first..].iter().take_while(|event| event.at_s < to);
        inside.any(|event| event.kind == Happening::Loss)
    }

    /// When the sender reacts to an event: of a loss it hears a round trip after what was lost had been sent.
    fn reacts_at(&self, event: &Event) -> f64 {
        if event.kind != Happening::Loss {
            return event.at_s;
        }
        let step = &self.line.steps[self.line.step_at(event.at_s)];
        let trip = if step.rtt_s.is_finite() {
            step.rtt_s
        } else {
            self.line.least_rtt_s
        };
        event.at_s + trip
    }

    /// Follows events and the flight: opens deficits and pays them back.
    fn follow(&mut self, place: usize, step: &Step, parts: &Parts) {
        let end = self.line.start_of(place) + self.line.step_s;
        let repairs = parts.repair + parts.silent + parts.outage > 0.0;
        while self.line.events.get(self.next).is_some_and(|event| {
            let begins = repairs
                && (event.at_s < end || self.current.is_none() && event.at_s < end + self.line.step_s);
            begins || self.reacts_at(event) < end
        }) {
            let number = self.next;
            self.next += 1;
            self.pending.push(number);
            self.current = Some((number, place + REACTS));
            if self.deficits.starting() {
                self.deficits.end_start(Debtor::Event(number));
                self.ended_start = Some(Debtor::Event(number));
            }
            self.reach = 0.0;
        }
        if repairs && let Some((_, until)) = &mut self.current {
            *until = place + REACTS;
        }
        let still = parts.closed + parts.idle + parts.asked + parts.silent + parts.outage;
        let held = parts.full + still + parts.repair;
        if held > SOME * (held + parts.busy) {
            return;
        }
        let flight = step.flight as f64;
        self.early_exit(place, flight);
        let owed = (self.holds - flight).max(0.0);
        let before = self.deficits.total();
        if owed < before {
            self.deficits.pay(before - owed);
        } else if let Some((event, until)) = self.current
            && place <= until
        {
            // Those that came meanwhile made the window smaller by the same factor each.
            let events = std::mem::take(&mut self.pending);
            let (from, to) = (self.holds - before, self.holds - owed);
            let highest = self.level.max(from).max(1.0);
            let each = (to / highest).max(0.0).powf(1.0 / events.len().max(1) as f64);
            let mut level = highest;
            for event in &events {
                let next = (level * each).max(to);
                let left = (next / level).max(LEFT);
                self.deficits
                    .cut(Debtor::Event(*event), left, self.holds - next.min(from));
                level = next;
            }
            if events.is_empty() {
                let left = (to / from.max(1.0)).clamp(LEFT, 1.0);
                self.deficits.cut(Debtor::Event(event), left, owed);
            }
        }
        self.pending.clear();
        self.level = flight;
        self.reach = self.reach.max(flight);
    }

    /// Slow start that no longer doubles, without an event and before the path is full, has ended early.
    fn early_exit(&mut self, place: usize, flight: f64) {
        if !self.deficits.starting() || self.current.is_some() || place < 4 || self.hints.constant.is_some() {
            return;
        }
        let grown = |place: usize| {
            let (now, before) = (&self.line.steps[place], &self.line.steps[place - 2]);
            now.flight as f64 >= capacity::DOUBLES * before.flight as f64
        };
        // A buffer or a program stops it there as well; it goes on when they let it.
        let stopped = self
            .plateau
            .is_some_and(|(level, _)| flight + f64::from(self.hints.segment) >= level);
        if flight < NEARLY * self.holds && !stopped && !grown(place) && !grown(place - 1) {
            self.deficits.end_start(Debtor::EarlyExit);
            self.ended_start = Some(Debtor::EarlyExit);
            let at = self.line.start_of(place - 2);
            self.early = Some((at, self.line.steps[place - 2].flight as f64));
        }
    }

    fn growth(&self, debtor: Debtor) -> Heading {
        match debtor {
            Debtor::Start => Heading::new(Limit::SlowStart, State::Start),
            Debtor::EarlyExit => Heading {
                flag: Some(Flag::EarlyExit),
                ..Heading::new(Limit::SlowStart, State::Growth)
            },
            Debtor::Event(number) => self.of_event(number, State::Growth),
        }
    }

    /// The heading of the event that the sender last reacted to.
    fn after_loss(&self, state: State) -> Heading {
        match self.current {
            Some((number, _)) => self.of_event(number, state),
            None => Heading::new(Limit::Unknown, state),
        }
    }

    fn of_event(&self, number: usize, state: State) -> Heading {
        let (cause, flag) = self.causes.get(number).copied().unwrap_or((Limit::Unknown, None));
        Heading {
            cause,
            flag,
            state,
            event: Some(number),
        }
    }

    /// The heading, unless something holds the whole transfer.
    fn whole(&self, heading: Heading) -> Heading {
        match self.hints.whole {
            Some(cause) => Heading {
                cause,
                flag: None,
                event: None,
                ..heading
            },
            None => heading,
        }
    }

    fn finish(mut self) -> Ledger {
        let line = self.line;
        let total: u64 = line.steps.iter().map(|step| step.delivered).sum();
        let told = self.capacity.is_told();
        let start_s = told.then(|| {
            let ideal = ideal_start(
                total as f64,
                self.capacity.byte_per_s,
                line.least_rtt_s,
                line.initial_window as f64,
            );
            let mut forgiven = self
                .account
                .forgive(ideal, |heading| heading.state == State::Start);
            if let Some(ended) = self.ended_start {
                let of = self.growth(ended);
                forgiven += self.account.forgive(ideal - forgiven, |heading| {
                    heading.cause == of.cause && heading.flag == of.flag && heading.event == of.event
                });
            }
            let before = line.from_s - line.opened_s;
            before.min(line.least_rtt_s) + forgiven
        });
        let floor_s = start_s.map(|start_s| self.worked.iter().sum::<f64>() + start_s);
        let about = |event: usize| {
            let event = &line.events[event];
            (event.at_s, event.segments)
        };
        let mut entries = self.account.entries(told, about);
        if let Some((at_s, flight)) = self.early {
            let exits = entries
                .iter_mut()
                .filter(|entry| entry.flags.contains(&Flag::EarlyExit));
            for entry in exits {
                entry.event_at_s = Some(at_s);
                entry.events = 1;
                entry.segments = (flight / f64::from(self.hints.segment.max(1))).round() as u64;
            }
        }
        // An outage is an event whatever was lost in it.
        for entry in entries.iter_mut().filter(|entry| entry.is_outage()) {
            let held = entry.cause == Limit::BottleneckBandwidth;
            let outages = || line.outages.iter().filter(|outage| outage.held == held);
            let longest = outages().max_by(|a, b| a.length_s().total_cmp(&b.length_s()));
            entry.event_at_s = longest.map(|outage| outage.from_s);
            entry.events = outages().count() as u64;
        }
        // One stop of the reader is an event.
        let closed: f64 = line.steps.iter().map(|step| step.closed_s + step.shrunk_s).sum();
        if let Some((at_s, length)) = line.longest_stop()
            && length >= ONE_STOP * closed
        {
            let stops = entries
                .iter_mut()
                .filter(|entry| entry.cause == Limit::ReceiverApplication && entry.state == State::Window);
            for entry in stops {
                entry.event_at_s = Some(at_s);
                entry.events = 1;
            }
        }
        let held = entries
            .iter()
            .filter(|entry| entry.is_held())
            .map(|entry| entry.time_s);
        let held = held.sum::<f64>() / line.duration_s();
        let course = course::seen(line, self.hints, &self.capacity, &self.causes, held);
        let mut ledger = Ledger {
            course,
            duration_s: line.duration_s(),
            capacity_bit_per_s: (self.capacity.byte_per_s > 0.0).then_some(self.capacity.byte_per_s * 8.0),
            capacity_is: self.capacity.is,
            capacity_series: series(line, &self.capacity),
            floor_s,
            start_s,
            entries,
            sentence: String::new(),
            ceilings: ceilings(line, self.hints, &self.spans),
            others_seen: self.hints.others_seen,
            bytes: total as f64,
            spans: self.spans,
            without: Vec::new(),
        };
        ledger.without = ledger.all_without();
        ledger.sentence = words::sentence(&ledger);
        ledger
    }
}

/// What each ceiling other than the link let through while it held most of the time, payload bytes per second.
fn ceilings(line: &Timeline, hints: &Hints, spans: &[Interval]) -> Vec<(Limit, f64)> {
    let mut sums: BTreeMap<Limit, (f64, f64)> = BTreeMap::new();
    for span in spans.iter().filter(|span| is_ceiling(span.limit)) {
        // What is under way when it begins to hold is not let through by it.
        let (first, last) = (line.step_at(span.from_s) + 1, line.step_at(span.to_s));
        for place in first..last {
            let sum = sums.entry(span.limit).or_default();
            sum.0 += line.steps[place].delivered as f64;
            sum.1 += line.length_of(place);
        }
    }
    // A buffer lets through the same from its first round trip on.
    let least = |limit: Limit| {
        if limit == Limit::SendBuffer {
            (line.step_s * SHOWN).max(MOMENT * line.duration_s())
        } else {
            line.step_s * LASTS
        }
    };
    let held = sums
        .into_iter()
        .filter(|(limit, (bytes, time))| *bytes > 0.0 && *time >= least(*limit));
    let mut out: Vec<(Limit, f64)> = held.map(|(limit, (bytes, time))| (limit, bytes / time)).collect();
    if let Some(rate) = given(line, hints, spans) {
        match out
            .iter_mut()
            .find(|(limit, _)| *limit == Limit::SenderApplication)
        {
            Some((_, held)) => *held = held.max(rate),
            None => out.push((Limit::SenderApplication, rate)),
        }
    }
    out.extend(hints.policer().map(|(rate, _)| (Limit::Policed, rate)));
    if !out.iter().any(|(limit, _)| *limit == Limit::ReceiverWindow) {
        out.extend(fixed_window(line, hints).map(|rate| (Limit::ReceiverWindow, rate)));
    }
    out
}

/// What the program gave until it last had nothing to send, over the time since it began, payload bytes per second: one with a
/// pace of its own gives no more than that, whatever the path carries.
pub(super) fn given(line: &Timeline, hints: &Hints, spans: &[Interval]) -> Option<f64> {
    let all: u64 = line.steps.iter().map(|step| step.fresh).sum();
    let mean = all as f64 / (line.to_s - line.from_s);
    if let Some(rate) = hints.scheduled {
        return Some(rate.max(mean));
    }
    let paused = spans.iter().filter(|span| span.limit == Limit::SenderApplication);
    let (mut time, mut last) = (0.0, 0.0_f64);
    for span in paused {
        time += span.to_s - span.from_s;
        last = last.max(span.to_s);
    }
    let rate = if time >= LASTS * line.step_s && last > line.from_s {
        let end = line.step_at(last);
        let sent: u64 = line.steps[..=end].iter().map(|step| step.fresh).sum();
        sent as f64 / (last - line.from_s)
    } else {
        written(line)?
    };
    (rate >= STEADY * mean).then(|| rate.max(mean))
}

/// The pace at which a program wrote that ran dry now and then, payload bytes per second: it had sent all that it had written,
/// and programs write whole blocks; what a buffer lets go ends anywhere.
fn written(line: &Timeline) -> Option<f64> {
    if (whole(line).count() as f64) < OFTEN_WHOLE * dry(line).count() as f64 {
        return None;
    }
    whole(line)
        .map(|(at, sent)| *sent as f64 / (at - line.from_s))
        .max_by(f64::total_cmp)
}

/// Again and again when nothing was left to send, whole blocks had been sent: the program ran dry, however well its pauses fit
/// those of a buffer. What a buffer lets go ends anywhere.
fn in_blocks(line: &Timeline, hints: &Hints) -> bool {
    let told = dry(line).count().max(line.bursts as usize);
    let whole = whole(line).count();
    let often = whole >= BLOCKS && whole as f64 >= IN_BLOCKS * told as f64;
    hints.at_sender && (often || writes_alike(line, hints) || writes_little(line, hints))
}

/// Less than a segment is in flight: the program writes little at a time, and each piece waits for the one before to be acknowledged
/// (RFC 896). Who has more to send fills a segment, whatever its buffer holds.
fn writes_little(line: &Timeline, hints: &Hints) -> bool {
    let sending = || line.steps.iter().filter(|step| step.fresh > 0);
    let little = sending().filter(|step| step.flight < u64::from(hints.segment));
    let count = sending().count();
    count >= SOME_STEPS && little.count() as f64 >= MOSTLY_LITTLE * count as f64
}

/// Whenever nothing was left to send, the same bytes or a few times these had been sent since the time before: the program writes
/// so many at a time. Whole segments are what a buffer lets go as well.
fn writes_alike(line: &Timeline, hints: &Hints) -> bool {
    let sent: Vec<u64> = dry(line).map(|(_, sent)| *sent).collect();
    let between = || sent.windows(2).map(|pair| pair[1].abs_diff(pair[0]));
    let write = between().fold(0, gcd);
    let [least, most] = [between().min(), between().max()].map(Option::unwrap_or_default);
    let segment = u64::from(hints.segment.max(1));
    // A buffer may let the same go each time, but hardly less than two segments.
    let few = most <= FEW_WRITES * write && (least < most || write < 2 * segment);
    sent.len() > WRITES && few && write >= LEAST_WRITE && write % segment != 0 && segment % write != 0
}

/// The greatest common divisor.
const fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Those of these at which whole blocks had been sent.
fn whole(line: &Timeline) -> impl Iterator<Item = &(f64, u64)> {
    dry(line).filter(|(_, sent)| sent % PAGE == 0)
}

/// What a window that stayed the same lets through at most, though it never held, payload bytes per second.
///
/// One that grows on demand would have grown: it is to hold twice of what arrives in a round trip and sixteen segments (Linux,
/// `tcp_rcv_space_adjust`).
fn fixed_window(line: &Timeline, hints: &Hints) -> Option<f64> {
    let windows = || {
        line.steps
            .iter()
            .map(|step| step.window)
            .filter(|window| *window > 0)
    };
    let most = windows().max().filter(|_| hints.window_known)?;
    let segment = u64::from(hints.segment);
    let near = most - most.min(2 * segment);
    let same = windows().filter(|window| *window >= near).count() as f64;
    let flight = line.steps.iter().map(|step| step.flight).max()?;
    let rtt = line.least_data_rtt_s.max(line.least_rtt_s);
    let fixed = same >= ALWAYS * windows().count() as f64 && most < 2 * flight + 16 * segment && rtt > 0.0;
    fixed.then(|| most as f64 / rtt)
}

/// Limits that let a rate through whatever else happens.
const fn is_ceiling(limit: Limit) -> bool {
    matches!(
        limit,
        Limit::ReceiverWindow | Limit::ReceiverApplication | Limit::SendBuffer | Limit::SenderApplication
    )
}

/// The capacity over time, where it varies: a point for each change of a tenth, and no more than [`POINTS`].
fn series(line: &Timeline, capacity: &Capacity) -> Vec<(f64, f64)> {
    if !capacity.varies {
        return Vec::new();
    }
    let mut out: Vec<(f64, f64)> = Vec::new();
    let every = capacity.steps.len().div_ceil(POINTS).max(1);
    for (place, rate) in capacity.steps.iter().enumerate().step_by(every) {
        let rate = rate * 8.0;
        if out
            .last()
            .is_none_or(|(_, last)| (rate - last).abs() > 0.1 * last)
        {
            out.push((line.start_of(place), rate));
        }
    }
    out
}

/// Seconds that the first round trip and a window which doubles from `initial` bytes cost at least, beyond what `bytes`
/// take at `rate`.
pub(super) fn ideal_start(bytes: f64, rate: f64, rtt: f64, initial: f64) -> f64 {
    let (mut left, mut window, mut time) = (bytes, initial.max(1.0), rtt);
    while window < rate * rtt && left > window {
        left -= window;
        window *= 2.0;
        time += rtt;
    }
    time + left / rate - bytes / rate
}

/// Round trips before the last acknowledgement for which the link no longer is full: the way from there and back, which is a half
/// to a whole one (the link may be anywhere), and half of the round trip over which that is told.
const LAST: f64 = 1.25;
/// The same before the last data arrive.
const LAST_WAY: f64 = 0.5;
/// Factor from which a capacity is too small to be one.
const WRONG: f64 = 1.1;
/// Share of the link's rate from which it is full where a queue stands before it.
const QUEUED: f64 = 0.9;
/// The same where others have part of it.
const HALF: f64 = 0.5;
/// Delay above the least, seconds, that no jitter makes all of the time.
const LONG_QUEUE: f64 = 0.05;
/// Share of the link's rate from which it is full.
const FULL: f64 = 0.95;
/// Share of what the path holds without a queue up to which that is less.
const LITTLE: f64 = 0.8;
/// Segments that one acknowledgement covers where each tells of its own delay: two, and one more now and then.
const AT_ONCE: f64 = 3.0;
/// Share of the least round trip from which a queue is no matter of a segment or of the clock.
const STANDING: f64 = 0.1;
/// Share of a full link from which others have it.
const OTHERS: f64 = 0.1;
/// A buffer's size times this is more than it holds.
const ABOVE: f64 = 1.1;
/// Share of a constant flight from which it is that.
const CONSTANT: f64 = 0.75;
/// Bursts of data from which it can be told whether acknowledgements let them go.
const BURSTS: u32 = 6;
/// Share of them that acknowledgements must let go, so that a buffer held them.
const LET_GO: f64 = 0.65;
/// Share of a flight that a burst must have on average to be a program's piece; a kernel's third and some more.
const PIECE: f64 = 0.42;
/// Segments from which a flight that stays within one is no small one that changes.
const LARGE: u64 = 8;
/// Share of the steps at one flight from which that is what the sender usually has in flight.
const USUAL: f64 = 0.6;
/// Steps before and after one that are looked at with it.
const NEAR: usize = 2;
/// Steps before and after one whose acknowledgements tell whether the link is idle now and then.
const GAPS: usize = 10;
/// Uneven distances between them in a round trip, on average, up to which it is not: in drawn transfers 0.15 at most where a full window
/// filled the link, and 1 and more where it did not.
const UNEVEN: f64 = 0.1;
/// Share of the least round trip from which one is longer than that by more than a segment's own length.
const LONGER: f64 = 1.2;
/// Steps within which a window that grows back has grown by more than a segment.
const GROWS: usize = 4;
/// Pauses for each answer from which not all of them wait for one: in drawn transfers 1.3 at most without a buffer, and 2 to 18 with one
/// that held them.
const BETWEEN: f64 = 1.5;
/// Steps before and after one in which the flight comes up to the window, where that holds it.
const EDGE: usize = 3;
/// Share of a round trip for which the window is full, in one in which it holds the sender.
const FILLED: f64 = 0.15;
/// Steps within which BBR probes for more: eight round trips, and some for what they are longer.
const PROBES: usize = 10;
/// Acknowledgements from which a share of them is one.
const SOME_ACKS: u32 = 12;
/// Share of them without use from which the program has a pace of its own.
const UNUSED: f64 = 0.5;
/// The same where bursts follow acknowledgements by chance.
const UNUSED_PLAINLY: f64 = 0.9;
/// The same from which a buffer holds a flight that does not come up to the most that it held.
const UNUSED_BELOW: f64 = 0.2;
/// Steps without growth that no congestion window makes.
const STAYS: usize = 12;
/// Share of the steps without another cause that must be so.
const OFTEN: f64 = 0.2;
/// Share of the acknowledgements that data must follow at once.
const FOLLOWS: f64 = 0.33;
/// Share of the steps up to the flight that is hardly ever exceeded.
const SELDOM: f64 = 0.98;
/// Share of what has been in flight before, below which the program does not send.
const HELD: f64 = 0.7;
/// Steps after the end of repair in which the window still gets smaller.
const REACTS: usize = 3;
/// Least share of a window that one event leaves in the end: a timeout begins with a segment and doubles up to half.
const LEFT: f64 = 0.5;
/// Share of a step with another cause that says nothing of the congestion window.
const SOME: f64 = 0.3;
/// Share of the time with a closed or shrunken window from which one stop of the reader makes all of it.
const ONE_STOP: f64 = 0.8;
/// Share of what the path holds from which slow start has filled it.
const NEARLY: f64 = 0.9;
/// Steps that a ceiling must have held to show what it lets through.
const LASTS: f64 = 6.0;
/// The same for a send buffer.
const SHOWN: f64 = 2.0;
/// Share of the duration in which what looks like one may be a start that slowed down.
const MOMENT: f64 = 0.03;
/// Share of the times at which a program with a pace ran dry that it had sent whole blocks.
const OFTEN_WHOLE: f64 = 0.25;
/// Bytes of which programs write whole multiples.
const PAGE: u64 = 4_096;
/// Share of the time for which a window that is fixed has its size.
const ALWAYS: f64 = 0.9;
/// Steps in which something was sent, from which a program shows, and the share of them with little in flight.
const SOME_STEPS: usize = 20;
const MOSTLY_LITTLE: f64 = 0.7;
/// Times at which a program had sent whole blocks when nothing was left, from which that is no accident.
const BLOCKS: usize = 3;
/// Share of the bursts that these are at least: of what buffers let go 0.015 at most ended so in drawn transfers, of programs with a
/// pace that look like a buffer 0.044 to 0.98.
const IN_BLOCKS: f64 = 0.025;
/// Times at which nothing was left to send that cannot all be multiples of something by accident.
const WRITES: usize = 10;
/// Bytes of which numbers that lie anywhere are not all multiples.
const LEAST_WRITE: u64 = 64;
/// Writes between two such times at most. What a buffer lets go has two or three sizes, which are hundreds of times what they have in
/// common.
const FEW_WRITES: u64 = 50;
/// Share of the mean rate that a pace is at least.
const STEADY: f64 = 0.95;
/// Most points of a capacity over time.
const POINTS: usize = 400;

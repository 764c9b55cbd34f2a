//! What the path carries, and how that is known.

use serde::{Deserialize, Serialize};

use super::Hints;
use slowpath_facts::{Happening, Timeline};

/// How a capacity is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapacityIs {
    /// Told by whoever knows the line.
    Known,
    /// The link was full for three round trips and more.
    Measured,
    /// The path carried that much; how much more it could is not known.
    #[default]
    AtLeast,
}

/// What the path carries, in payload bytes per second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Capacity {
    /// The capacity, or the median of one that varies; 0 if nothing was delivered.
    pub byte_per_s: f64,
    /// How it is known.
    pub is: CapacityIs,
    /// Whether it varies.
    pub varies: bool,
    /// The capacity in each step of the timeline.
    pub steps: Vec<f64>,
    /// Steps that tell a rate: three, or as many as enough segments take.
    pub grain: usize,
    /// Steps in which a queue stood before the link.
    pub queued: Vec<bool>,
    /// Steps in which the flow had all that the link carries, though others share it at other times; empty where nobody does.
    pub alone: Vec<bool>,
    /// Steps in which a queue stood before a link of this rate and the flow had only part of it; empty where the rate varies.
    pub part: Vec<bool>,
}

impl Capacity {
    /// Whether the time that the link needs can be told.
    pub fn is_told(&self) -> bool {
        self.is != CapacityIs::AtLeast && self.byte_per_s > 0.0
    }
}

/// Says what the path of a flow carries. `known` is what somebody knows, payload bytes per second.
pub(super) fn capacity(line: &Timeline, hints: &Hints, known: Option<f64>) -> Capacity {
    let grain = grain(line, hints);
    let queued = queued(line, hints, grain);
    let constant = |byte_per_s: f64, is: CapacityIs| Capacity {
        byte_per_s,
        is,
        varies: false,
        steps: vec![byte_per_s; line.steps.len()],
        grain,
        queued: queued.clone(),
        alone: if hints.shared {
            alone(line, hints, byte_per_s, is)
        } else {
            Vec::new()
        },
        part: if is == CapacityIs::AtLeast || hints.varies {
            Vec::new()
        } else {
            part(line, hints, &queued, byte_per_s)
        },
    };
    let total: u64 = line.steps.iter().map(|step| step.delivered).sum();
    let span = line.to_s - line.from_s;
    if let Some(rate) = known
        && total as f64 <= rate * span
    {
        let mut known = constant(rate, CapacityIs::Known);
        if is_slower_than_told(hints, &known) {
            known.part.clear();
        }
        return known;
    }
    let highest = highest(line, grain);
    // The rate of a policer is no capacity of the path.
    if hints.policed.is_some() {
        // What stands before a link in front of it shows that link's rate all the same.
        let by_delay = hints.delay_rate.filter(|rate| *rate >= highest);
        return match line.train_rate.or(by_delay) {
            Some(rate) => constant(rate.max(highest), CapacityIs::Measured),
            None => constant(highest, CapacityIs::AtLeast),
        };
    }
    // What the flows of these hosts put into a queue together tells the link's rate, however little one of them has of it.
    if let Some(rate) = hints.link_of_all.filter(|rate| highest <= rate * BEYOND) {
        return constant(rate, CapacityIs::Measured);
    }
    let samples = full_link_rates(line, &queued, grain);
    let mut sorted: Vec<f64> = samples.iter().map(|(_, rate)| *rate).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| {
        sorted
            .get(((sorted.len().max(1) - 1) as f64 * share) as usize)
            .copied()
    };
    let by_trains = line.train_rate;
    // What is asked for piece by piece fills the link for hardly a round trip; its queue tells the rate all the same. So does
    // that of a window of a few segments, as short as a delayed acknowledgement takes, where the flow is as fast as it drains.
    let by_delay = hints.delay_rate.filter(|rate| {
        hints.answered && *rate >= highest || (highest / rate - 1.0).abs() <= AGREE && window_is_full(line)
    });
    // What leaves at a pace of the sender's own is as steady as what a link lets through, and so are its trains.
    if hints.paces_itself {
        return match by_trains.filter(|rate| *rate > highest * BEYOND) {
            Some(rate) => constant(rate, CapacityIs::Measured),
            None => constant(highest, CapacityIs::AtLeast),
        };
    }
    let by_trains_alone = || by_trains.or_else(|| in_moments(line, &queued, highest));
    // What is acknowledged at once behind a hole is no rate: the queue's is a safer bound.
    let holes = line.events.iter().any(|event| event.kind == Happening::Loss);
    let bound = hints
        .delay_rate
        .filter(|_| holes)
        .map_or(highest, |rate| rate.min(highest));
    let unseen = || match by_delay.or_else(by_trains_alone) {
        Some(rate) if highest <= rate * BEYOND => constant(rate, CapacityIs::Measured),
        _ => constant(bound, CapacityIs::AtLeast),
    };
    let (Some(low), Some(middle), Some(high)) = (at(0.1), at(0.5), at(0.9)) else {
        return unseen();
    };
    if sorted.len() < STEPS {
        return unseen();
    }
    // Trains that leave the link faster than it seems to carry: something else made the delays.
    if let Some(rate) = by_trains
        && (rate > BEYOND * middle && !hints.shared && !hints.varies)
    {
        return unseen();
    }
    // A queue whose rate explains the delays says it best, where the link's rate agrees.
    let rate = hints
        .delay_rate
        .filter(|rate| (rate / middle - 1.0).abs() <= AGREE)
        .unwrap_or(middle);
    let steady = !hints.varies && (high - low <= STEADY * middle || sorted.len() < MANY);
    if steady || hints.shared {
        // What others take of a full link is not the link's doing.
        let rate = if hints.shared {
            rate.max(high).max(by_trains.unwrap_or(0.0))
        } else {
            rate
        };
        return if bound <= rate * BEYOND {
            constant(rate, CapacityIs::Measured)
        } else {
            constant(bound, CapacityIs::AtLeast)
        };
    }
    Capacity {
        byte_per_s: middle,
        is: CapacityIs::Measured,
        varies: true,
        steps: over_time(line, &samples, middle),
        grain,
        alone: Vec::new(),
        part: Vec::new(),
        queued,
    }
}

/// The flow's own queue shows a link that is slower than somebody says, and nobody else is seen: it is no part of that line which others
/// leave.
pub(super) fn is_slower_than_told(hints: &Hints, capacity: &Capacity) -> bool {
    let slower = |rate: f64| rate < SLOWER * capacity.byte_per_s;
    capacity.is == CapacityIs::Known && !hints.others_seen && hints.delay_rate.is_some_and(slower)
}

/// Steps that lie in a stretch in which a queue stood all the time before a link of this rate, of which the flow had only
/// part: the rest of what left the queue was not its own.
fn part(line: &Timeline, hints: &Hints, queued: &[bool], byte_per_s: f64) -> Vec<bool> {
    let mut out = vec![false; line.steps.len()];
    let near = ((PART_S / line.step_s.max(1e-9)).ceil() as usize).max(PART_STEPS);
    let mut stood = 0;
    for to in 1..=line.steps.len() {
        let step = &line.steps[to - 1];
        // What a program gives at once makes a queue that is gone before more comes.
        let sends = step.closed_s + step.idle_s.max(step.asked_s) + step.silent_s < 0.05 * line.step_s;
        let stands = queued[to - 1] && step.rtt_s.is_finite() && sends;
        stood = if stands { stood + 1 } else { 0 };
        if stood >= near && rate(line, to - near..to) < PART * byte_per_s {
            let acks: u32 = line.steps[to - near..to].iter().map(|step| step.acks).sum();
            let followed: u32 = line.steps[to - near..to].iter().map(|step| step.followed).sum();
            if !hints.at_sender || followed * 2 >= acks {
                out[to - near..to].fill(true);
            }
        }
    }
    out
}

/// Steps that lie in a stretch in which the flow had all of a link of this rate: nobody else had a part worth telling.
fn alone(line: &Timeline, hints: &Hints, byte_per_s: f64, is: CapacityIs) -> Vec<bool> {
    let mut out = vec![false; line.steps.len()];
    // A fair share of a link is as steady as all of it; trains leave at the whole link's rate. As they arrive, segments of
    // other flows that go the same way may lie between theirs.
    let mixed = hints.at_receiver && hints.others_seen;
    let whole = |trains: f64| !mixed && (trains / byte_per_s.max(1e-9) - 1.0).abs() <= AGREE;
    // A sender that paces makes no trains: there only a rate that stays for long is all of the link, if no other flow is seen.
    let (least_s, least) = match line.train_rate {
        _ if is == CapacityIs::Known => (ALONE_S, ALONE_STEPS),
        Some(trains) if whole(trains) => (ALONE_S, ALONE_STEPS),
        None if is == CapacityIs::Measured && !hints.others_seen => (STAYS_S, STAYS_STEPS),
        _ => return out,
    };
    let near = ((least_s / line.step_s.max(1e-9)).ceil() as usize).max(least);
    for from in 0..line.steps.len().saturating_sub(near) {
        if rate(line, from..from + near) >= ALONE * byte_per_s {
            out[from..from + near].fill(true);
        }
    }
    out
}

/// Steps whose shortest round trip is longer than the path's, by more than the other segment of a delayed acknowledgement
/// takes: a queue stood all the time.
fn queued(line: &Timeline, hints: &Hints, grain: usize) -> Vec<bool> {
    let rate = line.train_rate.unwrap_or_else(|| highest(line, grain));
    let other = if rate > 0.0 {
        f64::from(hints.segment) / rate
    } else {
        0.0
    };
    let margin = other
        + (QUEUE * line.least_rtt_s)
            .max(LEAST_QUEUE)
            .max(1.5 * line.delay_unit_s)
            .max(3.0 * hints.clock_s);
    let empty = empty(line, hints, grain);
    // Where packets overtake each other, and that or something else holds the flight, delays say nothing of a queue.
    let jitter = hints.disorder || hints.overtakes && hints.constant.is_some();
    let explained = hints.delay_rate.is_some() || hints.link_of_all.is_some() || hints.shared;
    let swings = !explained && !hints.varies && swings(line, hints.segment, rate, hints.constant.is_some());
    let told = (hints.at_receiver || !jitter) && !swings;
    let by_chance = if told && hints.overtakes && hints.at_sender {
        RARELY * jitter_s(line)
    } else {
        0.0
    };
    let mut last = f64::NAN;
    line.steps
        .iter()
        .map(|step| {
            if step.rtt_s.is_finite() {
                // The shortest of so few is hardly that of the path where each takes as long as it happens to.
                last = step.rtt_s - by_chance / f64::from(step.acks + 1);
            }
            let moving = step.delivered > 0 || step.fresh + step.resent > 0;
            moving && told && last - empty > margin
        })
        .collect()
}

/// Whether round trips swing within a step by far more than the segments beside one take, at `rate` payload bytes per second,
/// though the flight is held. Where no queue explains that, the path takes as long as it happens to, and a long round trip shows
/// none.
pub(crate) fn swings(line: &Timeline, segment: u32, rate: f64, held: bool) -> bool {
    let beside = BESIDE * f64::from(segment) / rate.max(1e-9);
    let held = held || full_share(line) >= HELD;
    held && line.train_rate.is_none() && rate > 0.0 && jitter_s(line) > beside
}

/// How many of these are known, and the middle one.
pub(super) fn median(mut values: Vec<f64>) -> Option<(usize, f64)> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    Some((values.len(), *values.get(values.len() / 2)?))
}

/// How far round trips lie apart within a step, seconds, in the median of those steps that have several.
fn jitter_s(line: &Timeline) -> f64 {
    let several = line.steps.iter().filter(|step| step.acks >= SPREADS);
    let spreads = several
        .map(|step| (step.rtt_max_s - step.rtt_s) * f64::from(step.acks + 1) / f64::from(step.acks - 1))
        .collect();
    median(spreads).map_or(0.0, |(_, spread)| spread)
}

/// The least round trip of a full segment: where all data took longer than the handshake, by no more than a few segments
/// take at the highest rate, their length makes it so, and not a queue.
fn empty(line: &Timeline, hints: &Hints, grain: usize) -> f64 {
    let rate = highest(line, grain);
    if rate <= 0.0 || line.least_data_rtt_s <= line.least_rtt_s {
        return line.least_rtt_s;
    }
    let few = FEW * f64::from(hints.segment.max(1)) / rate;
    line.least_data_rtt_s.min(line.least_rtt_s + few)
}

/// What arrives in the next step is far more than in any step before this one, and nothing was lost yet: slow start grows so,
/// and a full link would not let it.
pub(super) fn doubles(line: &Timeline, place: usize) -> bool {
    let first = line.events.iter().find(|event| event.kind != Happening::Needless);
    let early = first.is_none_or(|first| line.start_of(place) <= first.at_s);
    let Some(next) = line.steps.get(place + 1).filter(|_| early) else {
        return false;
    };
    let before = &line.steps[..place];
    (before.iter()).all(|step| next.delivered as f64 >= DOUBLES * step.delivered as f64)
}

/// The window is full for a good part of the time.
fn window_is_full(line: &Timeline) -> bool {
    full_share(line) >= GOOD_PART
}

/// Share of the time in which the window is full.
fn full_share(line: &Timeline) -> f64 {
    let full: f64 = line.steps.iter().map(|step| step.full_s).sum();
    full / (line.to_s - line.from_s).max(1e-9)
}

/// The rate over so many steps as tell one, for all in a row in which a queue stood before, within and nothing kept the
/// sender from sending.
fn full_link_rates(line: &Timeline, queued: &[bool], grain: usize) -> Vec<(usize, f64)> {
    let usable = |place: usize| {
        queued[place] && line.steps[place].kept_s() < 0.05 * line.step_s && !doubles(line, place)
    };
    (1..line.steps.len().saturating_sub(grain))
        .filter(|&place| queued[place - 1] && (place..place + grain).all(usable))
        .map(|place| (place + grain / 2, rate(line, place..place + grain)))
        .filter(|(_, rate)| *rate > 0.0)
        .collect()
}

/// The rate of single steps before, in and behind which a queue stood, where several agree and the flow was never faster:
/// a sender that empties the queue again and again, as BBR does, shows a full link in moments only.
fn in_moments(line: &Timeline, queued: &[bool], highest: f64) -> Option<f64> {
    let usable = |place: usize| line.steps[place].kept_s() < 0.05 * line.step_s;
    let mut rates: Vec<f64> = (1..line.steps.len().saturating_sub(1))
        .filter(|&place| (place - 1..place + 2).all(|near| queued[near] && usable(near)))
        .map(|place| rate(line, place - 1..place + 2))
        .collect();
    rates.sort_by(f64::total_cmp);
    let (low, middle, high) = (
        rates.get(rates.len() / 4)?,
        rates.get(rates.len() / 2)?,
        rates.get(rates.len() * 3 / 4)?,
    );
    let agree = rates.len() >= MOMENTS && high - low <= AGREE * middle && highest <= middle * (1.0 + AGREE);
    agree.then_some(*middle)
}

/// Payload bytes per second over some steps.
fn rate(line: &Timeline, steps: std::ops::Range<usize>) -> f64 {
    let bytes: u64 = line.steps[steps.clone()].iter().map(|step| step.delivered).sum();
    bytes as f64 / span(line, steps)
}

/// Seconds that some steps take, never 0.
fn span(line: &Timeline, steps: std::ops::Range<usize>) -> f64 {
    steps.map(|place| line.length_of(place)).sum::<f64>().max(1e-9)
}

/// The highest rate over so many steps, or over all if there are fewer: no more than what was sent in these and a round trip
/// before, as what is acknowledged behind a hole may have arrived long ago.
fn highest(line: &Timeline, grain: usize) -> f64 {
    let count = line.steps.len();
    if count <= grain {
        return rate(line, 0..count);
    }
    let behind = behind_outages(line);
    (0..count - grain)
        .filter(|place| !behind[*place..place + grain].contains(&true))
        .map(|place| {
            let steps = &line.steps[place..place + grain];
            let longest = steps
                .iter()
                .map(|step| step.rtt_max_s)
                .fold(line.least_rtt_s, f64::max);
            let before = (longest / line.step_s.max(1e-9)).ceil() as usize;
            let delivered: u64 = steps.iter().map(|step| step.delivered).sum();
            let sent: u64 = (line.steps[place.saturating_sub(before)..place + grain].iter())
                .map(|step| step.fresh + step.resent)
                .sum();
            delivered.min(sent) as f64 / span(line, place..place + grain)
        })
        .fold(0.0, f64::max)
}

/// Steps of an outage and the two behind it: what gets through at its end may have stood at its other side, and come at once.
fn behind_outages(line: &Timeline) -> Vec<bool> {
    let mut out = vec![false; line.steps.len()];
    for outage in &line.outages {
        let last = (line.step_at(outage.to_s) + 2).min(out.len() - 1);
        out[line.step_at(outage.from_s)..=last].fill(true);
    }
    out
}

/// Steps that tell a rate: three, or as many as [`SEGMENTS`] take, one more or less of which hardly changes it.
fn grain(line: &Timeline, hints: &Hints) -> usize {
    let mut steps = LEAST_STEPS;
    // Over few segments the highest rate is too high, and the span in which it carries enough of them too short.
    for _ in 0..2 {
        let span = SEGMENTS * f64::from(hints.segment) / highest(line, steps).max(1e-9);
        let long = (span / line.step_s.max(1e-9)).ceil() as usize;
        steps = long.clamp(LEAST_STEPS, line.steps.len().max(LEAST_STEPS));
    }
    steps
}

/// A capacity that varies: in each step that of the nearest full link before or, at first, after.
fn over_time(line: &Timeline, samples: &[(usize, f64)], middle: f64) -> Vec<f64> {
    let mut out = vec![0.0; line.steps.len()];
    for &(place, rate) in samples {
        out[place] = rate;
    }
    let mut last = samples.first().map_or(middle, |(_, rate)| *rate);
    for rate in &mut out {
        if *rate > 0.0 {
            last = *rate;
        } else {
            *rate = last;
        }
    }
    out
}

/// Seconds that the link worked for this flow in each step, with bursts spread to where there was room; and how much found
/// no room.
pub(super) fn worked(line: &Timeline, capacity: &Capacity) -> (Vec<f64>, f64) {
    let mut out: Vec<f64> = line
        .steps
        .iter()
        .zip(&capacity.steps)
        .map(|(step, rate)| step.delivered as f64 / rate.max(1e-9))
        .collect();
    // What arrives at once after a hole was filled had arrived before.
    let mut excess = 0.0;
    for (place, time) in out.iter_mut().enumerate().rev() {
        excess = carry(time, line.length_of(place), excess);
    }
    for (place, time) in out.iter_mut().enumerate() {
        excess = carry(time, line.length_of(place), excess);
    }
    (out, excess)
}

/// Takes on `excess` where there is room; returns what is over.
fn carry(time: &mut f64, room: f64, excess: f64) -> f64 {
    let all = *time + excess;
    *time = all.min(room);
    all - *time
}

/// How many times as long as it is in the mean the shortest of several round trips is once in twenty (the logarithm of that).
const RARELY: f64 = 3.0;
/// Segments beside one whose sending explains a longer round trip: in jitter of 4 ms and more 7 to 13, in queues up to 4.6.
const BESIDE: f64 = 5.0;
/// Round trips of a step that tell how far they lie apart.
const SPREADS: u32 = 4;
/// Delay above the least, as a share of the least round trip, from which a queue stands.
const QUEUE: f64 = 0.03;
/// The same, seconds.
pub(super) const LEAST_QUEUE: f64 = 0.001;
/// Share of the time with a full window from which that may be what holds the flight; as a receiver sees it, less than it is.
const HELD: f64 = 0.2;
/// A share of the time that is no accident.
const GOOD_PART: f64 = 0.3;
/// Growth over two steps that slow start makes and nothing else does.
pub(super) const DOUBLES: f64 = 1.5;
/// Segments whose number tells a rate.
pub(super) const SEGMENTS: f64 = 20.0;
/// Fewest steps over which a rate is told.
const LEAST_STEPS: usize = 3;
/// Samples of a full link for a capacity: those of three steps, each beginning one later.
const STEPS: usize = 3;
/// Samples from which a rate that varies is told from noise.
const MANY: usize = 20;
/// Spread of the rate of a full link, as a share of it, up to which it is constant.
const STEADY: f64 = 0.3;
/// Moments of a full link that must agree.
const MOMENTS: usize = 3;
/// Segments that a delayed acknowledgement covers, and one before them.
const FEW: f64 = 3.0;
/// How well two measures of one rate agree.
const AGREE: f64 = 0.1;
/// Share of a rate that somebody knows below which a link has another.
const SLOWER: f64 = 0.9;
/// Share of the link's rate below which others have part of it.
const PART: f64 = 0.85;
/// For how long a queue must stand, seconds.
const PART_S: f64 = 0.1;
/// For how many steps at least.
const PART_STEPS: usize = 4;
/// Share of the link's rate from which nobody else has a part of it.
const ALONE: f64 = 0.92;
/// For how long, seconds.
const ALONE_S: f64 = 0.1;
/// For how many steps at least: two round trips at the rate at which trains leave are no share.
const ALONE_STEPS: usize = 2;
/// The same where no trains tell the link's rate, seconds.
const STAYS_S: f64 = 1.0;
/// The same, steps.
const STAYS_STEPS: usize = 8;
/// How much faster than a link three round trips may seem.
const BEYOND: f64 = 1.25;

#[cfg(test)]
mod tests {
    use slowpath_facts::Step;

    use super::*;

    #[test]
    fn what_all_flows_of_these_hosts_show_is_what_the_path_carries() {
        // A tenth of a second each, in which 25 kB arrive behind a queue that others fill as well.
        let step = Step {
            delivered: 25_000,
            fresh: 25_000,
            flight: 30_000,
            rtt_s: 0.14,
            rtt_max_s: 0.15,
            ..Step::default()
        };
        let line = Timeline {
            to_s: 3.0,
            step_s: 0.1,
            least_rtt_s: 0.1,
            steps: vec![step; 30],
            ..Timeline::default()
        };
        let told = |link_of_all| {
            let hints = Hints {
                segment: 1_448,
                shared: true,
                others_seen: true,
                link_of_all,
                ..Hints::default()
            };
            capacity(&line, &hints, None)
        };
        let alone = told(None);
        assert!(alone.byte_per_s < 300e3, "{alone:?}");
        let together = told(Some(1e6));
        assert_eq!((together.byte_per_s, together.is), (1e6, CapacityIs::Measured));
        // One that had more than that shows another link.
        assert!(told(Some(100e3)).byte_per_s > 200e3);
    }
}

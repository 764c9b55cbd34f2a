//! A link whose rate varies, told from one that others share by the delay at losses.
//!
//! A full queue of one's own delays by its size over the link's rate: the lower the rate, the longer. A queue that others
//! share drops when all of them fill it, and delays by the same then, whatever part of the rate a flow has. Where too few losses tell,
//! what leaves the queue does: others' packets lie between those of the flow, and make their distances uneven.

use slowpath_facts::{Event, Happening, Step, Tap, Timeline};

use super::own_backlog::{self, LEAST, Shows, is_dense};
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::observed;
use crate::message::{Count, Size, Span};
use crate::verdict::Evidence;

cuts! {
    /// Share of the time that the window may hold the sender, and that nothing may be in flight.
    HELD: 0.3 between 0.285, 0.312;
    /// Losses behind a queue from which delay and rate can be compared.
    LOSSES: 3.0 between 2.00, 3.00;
    /// Their share of all losses.
    MOSTLY: 0.7 between 0.375, 0.929;
    /// How far the rates at these are apart, standard deviation of their logarithm.
    APART: 0.2 between 0.199, 0.281;
    /// By which power of the rate the delay falls, from which it follows the rate: one behind a link of one's own, none
    /// behind one that others share.
    POWER: 0.5 between -0.001_20, 0.847;
    /// Correlation of the two logarithms from which that is no accident.
    AGREE: 0.7 between NONE, 0.911;
}

/// Lowest and highest rate of payload at losses, bytes per second, where the link's rate varies and nobody shares it.
pub(crate) fn rates(case: &Case) -> Option<[f64; 2]> {
    let line = &case.facts.timeline;
    let segment = case.facts.segment_size.into();
    let otherwise = || {
        own_backlog::look(line, segment, case.facts.tap == Tap::Sender)
            .map(|own| own.rates)
            .or_else(|| beyond_overflow(line, segment))
            .or_else(|| by_spacing(line, segment))
    };
    at_losses(case).or_else(|| is_free(case).then(otherwise).flatten())
}

/// What shows a queue of the flow's own before a link whose rate varies.
pub(super) fn own_queue(case: &Case) -> Option<Evidence> {
    let segment = case.facts.segment_size.into();
    let own = own_backlog::look(&case.facts.timeline, segment, case.facts.tap == Tap::Sender)?;
    Some(match own.shows {
        Shows::SameFlight {
            losses,
            flight,
            round_trips: [least, most],
        } => observed(
            "queue.own",
            &Message::SameInFlight {
                losses: Count(losses),
                flight: Size(flight),
                least: Span(least),
                most: Span(most),
            },
            flight,
            "B",
            &[],
        ),
        Shows::Longer { at_overflow, longest } => observed(
            "queue.own",
            &Message::LongerThanOverflow {
                full: Span(at_overflow),
                longest: Span(longest),
            },
            longest,
            "s",
            &[],
        ),
    })
}

/// Whether neither the window nor the program holds the sender for long.
fn is_free(case: &Case) -> bool {
    case.below(HELD, case.held()) && case.below(HELD, case.share(case.facts.time.idle_s))
}

/// The same by the delays at losses alone: what a policer drops comes with any delay, and looks like an overflow there.
pub(crate) fn at_losses(case: &Case) -> Option<[f64; 2]> {
    if !is_free(case) {
        return None;
    }
    let line = &case.facts.timeline;
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let points: Vec<(f64, f64)> = losses()
        .filter(|event| event.queue_s > LEAST * line.least_rtt_s)
        .filter_map(|event| Some((rate_behind(line, event)?.ln(), event.queue_s.ln())))
        .collect();
    if !case.reaches(LOSSES, points.len() as u64)
        || !case.reaches_times(MOSTLY, points.len() as u64, losses().count() as u64)
    {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (rate, delay) = (mean(&|point| point.0), mean(&|point| point.1));
    let rates = mean(&|point| (point.0 - rate).powi(2));
    let delays = mean(&|point| (point.1 - delay).powi(2));
    let both = mean(&|point| (point.0 - rate) * (point.1 - delay));
    let follows = case.reaches(APART, rates.sqrt())
        && case.reaches(POWER, -both / rates)
        && case.reaches(AGREE, -both / (rates * delays).sqrt());
    let least = points.iter().map(|point| point.0).fold(f64::INFINITY, f64::min);
    let most = points
        .iter()
        .map(|point| point.0)
        .fold(f64::NEG_INFINITY, f64::max);
    follows.then(|| [least.exp(), most.exp()])
}

/// The same by one overflow: a queue that overran at one delay drains no more slowly later, unless the link does. What others
/// put into it would have overrun it at the same delay.
fn beyond_overflow(line: &Timeline, segment: u64) -> Option<[f64; 2]> {
    let overran = |event: &&Event| {
        event.kind == Happening::Loss && is_dense(event, segment) && event.queue_s > LEAST * line.least_rtt_s
    };
    let mut events = line.events.iter().filter(overran).take(OVERFLOWS);
    events.find_map(|event| beyond(line, event))
}

/// The same by this overflow.
fn beyond(line: &Timeline, event: &Event) -> Option<[f64; 2]> {
    let most = rate_behind(line, event)?;
    let backlog = most * event.queue_s;
    let (mut time, mut within, mut least) = (0.0, 0.0, f64::INFINITY);
    for place in 1..line.steps.len().saturating_sub(1) {
        let step = &line.steps[place];
        let delay = step.rtt_s - line.least_rtt_s;
        if !delay.is_finite() || delay < LONGER * event.queue_s {
            continue;
        }
        let near = place - 1..place + 2;
        let span: f64 = near.clone().map(|place| line.length_of(place)).sum();
        let bytes: u64 = line.steps[near].iter().map(|step| step.delivered).sum();
        let rate = bytes as f64 / span.max(1e-9);
        let length = line.length_of(place);
        time += length;
        if rate > 0.0 && rate * LONGER <= most && rate * delay <= BACKLOG * backlog {
            within += length;
            least = least.min(rate);
        }
    }
    let enough = within >= (STEPS * line.step_s).max(SECONDS) && within >= MOST_OF_IT * time;
    enough.then_some([least, most])
}

/// The same by what leaves a queue that stands: at a rate below the link's highest, packets are evenly apart where only the link
/// is slower, and not where others' lie between them.
fn by_spacing(line: &Timeline, segment: u64) -> Option<[f64; 2]> {
    let least = line.least_rtt_s.max(line.least_data_rtt_s);
    let margin = (QUEUE * least).max(QUEUE_S).max(UNITS * line.delay_unit_s);
    // What fills a hole lets much arrive at once that had arrived before.
    let stands = |step: &Step| step.rtt_s - least > margin && step.kept_s() < BRIEF * line.step_s;
    let total: u64 = line.steps.iter().map(|step| step.delivered).sum();
    let mean = total as f64 / line.steps.len().max(1) as f64;
    let near = ((SEGMENTS * segment as f64 / mean.max(1.0)).ceil() as usize).max(GRAIN);
    let queued: Vec<(f64, &[Step])> = (line.steps.windows(near))
        .filter(|steps| steps.iter().all(stands))
        .map(|steps| {
            let bytes: u64 = steps.iter().map(|step| step.delivered).sum();
            (bytes as f64 / (near as f64 * line.step_s).max(1e-9), steps)
        })
        .collect();
    let most = queued.iter().map(|(rate, _)| *rate).fold(0.0, f64::max);
    let slow = || queued.iter().filter(|(rate, _)| *rate <= SLOWER * most);
    let middle = |of: fn(&Step) -> u32| slow().map(|(_, steps)| of(&steps[near / 2])).sum::<u32>();
    let (spaced, even) = (middle(|step| step.spaced), middle(|step| step.even));
    let low = slow().map(|(rate, _)| *rate).fold(f64::INFINITY, f64::min);
    (spaced >= SPACED && f64::from(even) >= EVENLY * f64::from(spaced)).then_some([low, most])
}

/// The rate at which the queue drained that a lost segment met: over the round trip that began with it.
fn rate_behind(line: &Timeline, event: &Event) -> Option<f64> {
    let (from, to) = (
        line.step_at(event.at_s),
        line.step_at(event.at_s + line.least_rtt_s + event.queue_s) + 1,
    );
    let steps = from..to.min(line.steps.len());
    let span: f64 = steps.clone().map(|place| line.length_of(place)).sum();
    let bytes: u64 = line.steps[steps].iter().map(|step| step.delivered).sum();
    (bytes > 0 && span > 0.0).then(|| bytes as f64 / span)
}

/// Overflows that are looked at.
const OVERFLOWS: usize = 8;
/// How many times as long a delay as at the overflow, and as low a rate, no clock and no other segment makes.
const LONGER: f64 = 1.3;
/// Share of the backlog at the overflow up to which a backlog is one that did not overrun.
const BACKLOG: f64 = 1.15;
/// For how long, steps and seconds.
const STEPS: f64 = 4.0;
/// The same.
const SECONDS: f64 = 0.1;
/// Delay above the least, as a share of the least round trip, from which a queue stands.
const QUEUE: f64 = 0.03;
/// The same, seconds.
const QUEUE_S: f64 = 0.001;
/// The same, units in which delays are known.
const UNITS: f64 = 1.5;
/// Share of a step for which something else than a full link may hold the sender in it.
const BRIEF: f64 = 0.05;
/// Segments whose number tells a rate, and the fewest steps that do.
const SEGMENTS: f64 = 20.0;
/// The same.
const GRAIN: usize = 3;
/// Share of the highest rate below which the link is slower, or others have part of it.
const SLOWER: f64 = 0.7;
/// Distances that must be known there.
const SPACED: u32 = 50;
/// Share of these from which nothing lies between: of 88 drawn transfers that others slow half had 0.35 and more and the most
/// 0.95; of 235 on a link whose rate varies half had 0.98 and more, a tenth 0.93 and less.
const EVENLY: f64 = 0.95;
/// Share of the time with such delays for which the backlog fits.
const MOST_OF_IT: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::loss;

    /// Ten seconds behind a queue of 100 kB: a link of 1 MB/s, and from half of the time on as much of it as `rate` says, with
    /// the delay that `delay_s` says.
    fn line(rate: f64, delay_s: f64) -> Timeline {
        let step = |place: usize| {
            let (rate, delay) = if place < 50 { (1e6, 0.08) } else { (rate, delay_s) };
            Step {
                delivered: (rate * 0.1) as u64,
                rtt_s: 0.1 + delay,
                rtt_max_s: 0.1 + delay,
                ..Step::default()
            }
        };
        Timeline {
            to_s: 10.0,
            step_s: 0.1,
            least_rtt_s: 0.1,
            steps: (0..100).map(step).collect(),
            events: vec![Event {
                segments: 20,
                span: 100_000,
                longer: 0.01,
                ..loss(2.0, 0.1)
            }],
            ..Timeline::default()
        }
    }

    #[test]
    fn a_queue_that_overran_at_one_delay_is_longer_later_only_where_the_link_is_slower() {
        let [low, high] = beyond_overflow(&line(4e5, 0.24), 1_000).unwrap();
        assert!(
            (low - 4e5).abs() < 1e3 && (high - 1e6).abs() < 1e3,
            "{low} {high}"
        );
        // Others fill it up to the same delay at most.
        assert_eq!(beyond_overflow(&line(4e5, 0.1), 1_000), None);
        // More than it held when it overran never stood in it.
        assert_eq!(beyond_overflow(&line(4e5, 0.5), 1_000), None);
        // A segment alone says nothing of a queue.
        let mut chance = line(4e5, 0.24);
        (chance.events[0].segments, chance.events[0].span) = (1, 1_000);
        assert_eq!(beyond_overflow(&chance, 1_000), None);
    }

    #[test]
    fn a_queue_whose_packets_leave_evenly_at_a_lower_rate_is_nobody_elses() {
        let spaced = |even: u32| {
            let mut line = line(4e5, 0.24);
            line.least_data_rtt_s = line.least_rtt_s;
            for step in &mut line.steps {
                (step.spaced, step.even) = (20, even);
            }
            by_spacing(&line, 1_000)
        };
        let [low, high] = spaced(20).unwrap();
        assert!(
            (low - 4e5).abs() < 1e3 && (high - 1e6).abs() < 1e3,
            "{low} {high}"
        );
        // Others' packets lie between every third and the next.
        assert_eq!(spaced(14), None);
        // At one rate nothing varies, and an empty queue tells nothing.
        let steady = |rate: f64, delay: f64| {
            let mut line = line(rate, delay);
            for step in &mut line.steps {
                (step.spaced, step.even) = (20, 20);
            }
            by_spacing(&line, 1_000)
        };
        assert_eq!(steady(9e5, 0.09), None);
        assert_eq!(steady(4e5, 0.0), None);
    }
}

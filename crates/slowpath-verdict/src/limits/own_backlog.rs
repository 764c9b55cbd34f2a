//! A queue of one's own, told by what was in flight when it overran and by how long it delayed then.
//!
//! A queue that nobody else uses overruns when so many bytes of its one sender stand in it, however long these take: where the link's rate
//! varies, as much is in flight at each overflow, and round trips differ. One that others share overruns when all of them fill it:
//! round trips are the same then, none is longer, and what each of them has in flight differs.

use slowpath_facts::{Event, Happening, Timeline};

/// What a lost segment met.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Full {
    /// When it was sent, seconds after the start of the capture.
    at_s: f64,
    /// Bytes in flight; beside the receiver those that stood before it.
    flight: f64,
    /// The round trip, seconds.
    round_trip: f64,
    /// How long what was in flight takes to arrive, seconds.
    passes: f64,
    /// Whether so many were lost close together as an overrun queue drops.
    dense: bool,
}

/// What tells a queue of one's own before a link whose rate varies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Own {
    /// Lowest and highest rate of payload, bytes per second.
    pub(super) rates: [f64; 2],
    /// How it shows.
    pub(super) shows: Shows,
}

/// How a queue of one's own shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shows {
    /// As much was under way at each of so many losses, bytes, and round trips were from so long to so long, seconds.
    SameFlight {
        losses: u64,
        flight: f64,
        round_trips: [f64; 2],
    },
    /// A round trip was longer than at an overflow, seconds.
    Longer { at_overflow: f64, longest: f64 },
}

/// Looks for a queue of one's own. Segments are so many bytes.
pub(super) fn look(line: &Timeline, segment: u64, at_sender: bool) -> Option<Own> {
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let queued = losses().filter(|event| event.queue_s > LEAST * line.least_rtt_s);
    let full: Vec<Full> = queued
        .map(|event| Full::at(line, event, segment, at_sender))
        .filter(|full| full.flight > (LARGE * segment) as f64)
        .collect();
    let overflows: Vec<Full> = full.iter().filter(|full| full.dense).copied().collect();
    // What is in flight when a single segment is lost by chance differs more, and so has to tell more.
    let at_one_flight = || {
        let count = losses().count();
        at_one_flight(&full, count, (SAME, LONGER))
            .or_else(|| at_one_flight(&overflows, count, (NEARLY_SAME, LITTLE_LONGER)))
    };
    let longest = || {
        let longest = full.iter().max_by(|a, b| a.round_trip.total_cmp(&b.round_trip));
        longest.filter(|_| !overflows.is_empty())
    };
    if !at_sender {
        return at_one_flight().or_else(|| later(line, segment, longest()?, (BEYOND, false)));
    }
    at_one_flight()
        .or_else(|| {
            let mut first = overflows.iter().take(OVERFLOWS);
            first.find_map(|full| later(line, segment, full, (LONGER, true)))
        })
        .or_else(|| later(line, segment, longest()?, (BEYOND, true)))
}

impl Full {
    fn at(line: &Timeline, event: &Event, segment: u64, at_sender: bool) -> Self {
        let round_trip = line.least_rtt_s + event.queue_s;
        let (flight, passes) = if at_sender {
            (line.steps[line.step_at(event.at_s)].flight as f64, round_trip)
        } else {
            // What stood before it arrived while it waited.
            let before = arrived(line, event.at_s - event.queue_s, event.at_s);
            (before, event.queue_s)
        };
        Self {
            at_s: event.at_s,
            flight,
            round_trip,
            passes,
            dense: is_dense(event, segment),
        }
    }

    /// Bytes per second that let so much through.
    fn rate(&self) -> f64 {
        self.flight / self.passes.max(1e-9)
    }
}

/// Whether so many were lost close together as an overrun queue drops.
pub(super) fn is_dense(event: &Event, segment: u64) -> bool {
    event.segments >= SEVERAL && event.segments * DENSE * segment >= event.span
}

/// By most of so many losses: as much was in flight at each, up to the first share of it, though one round trip is so many times as
/// long as another.
fn at_one_flight(full: &[Full], losses: usize, (spread, longer): (f64, f64)) -> Option<Own> {
    let mut sorted = full.to_vec();
    sorted.sort_by(|a, b| a.flight.total_cmp(&b.flight));
    let from = |place: usize| {
        let least = sorted[place].flight;
        let count = sorted[place..].partition_point(|full| full.flight <= least * (1.0 + 2.0 * spread));
        &sorted[place..place + count]
    };
    let same = (0..sorted.len()).map(from).max_by_key(|same| same.len())?;
    // Two single losses may have met the same by chance.
    let enough = same.len() > 2 || same.len() == 2 && same.iter().all(|full| full.dense);
    // More than an overrun queue holds is in flight only while slow start overruns it.
    let top = same.last()?.flight;
    let above = sorted.iter().filter(|full| full.flight > top).count();
    if !enough || 2 * same.len() < losses || above > 1.max(same.len() / FEW) {
        return None;
    }
    let trips = || same.iter().map(|full| full.round_trip);
    let [least, most] = [trips().fold(f64::INFINITY, f64::min), trips().fold(0.0, f64::max)];
    let rates = || same.iter().map(Full::rate);
    (most >= longer * least).then(|| Own {
        rates: [rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max)],
        shows: Shows::SameFlight {
            losses: same.len() as u64,
            flight: top,
            round_trips: [least, most],
        },
    })
}

/// By one overflow: round trips that were so many times as long at other times, since others' share of a queue makes none longer
/// than a full one; beside the sender only where no more was in flight when they began.
fn later(line: &Timeline, segment: u64, full: &Full, (longer, at_sender): (f64, bool)) -> Option<Own> {
    let most = drained(line, full.at_s, full.round_trip);
    let longest = longer * full.round_trip + SEGMENTS * segment as f64 / most.max(1.0);
    let (mut time, mut within, mut least, mut trip) = (0.0, 0.0, f64::INFINITY, 0.0_f64);
    for (place, step) in line.steps.iter().enumerate() {
        let begun = line.start_of(place) - step.rtt_s;
        if step.rtt_s.is_nan() || step.rtt_s < longest || begun < line.from_s {
            continue;
        }
        let length = line.length_of(place);
        let flight = line.steps[line.step_at(begun)].flight as f64;
        time += length;
        if !at_sender || flight <= full.flight * (1.0 + SAME) {
            within += length;
            trip = trip.max(step.rtt_s);
            least = least.min(drained(line, begun, step.rtt_s));
        }
    }
    let enough = within >= (STEPS * line.step_s).max(SECONDS) && within >= MOST_OF_IT * time;
    (enough && least < most).then_some(Own {
        rates: [least, most],
        shows: Shows::Longer {
            at_overflow: full.round_trip,
            longest: trip,
        },
    })
}

/// Payload that was delivered between two times, bytes; evenly within each step.
fn arrived(line: &Timeline, from_s: f64, to_s: f64) -> f64 {
    let within = |place: usize| {
        let (start, length) = (line.start_of(place), line.length_of(place));
        let span = (start + length).min(to_s) - start.max(from_s);
        line.steps[place].delivered as f64 * (span / length.max(1e-9)).clamp(0.0, 1.0)
    };
    (line.step_at(from_s)..=line.step_at(to_s)).map(within).sum()
}

/// Payload that was delivered in a round trip, bytes per second: what stood before the segment that it begins with.
fn drained(line: &Timeline, from_s: f64, round_trip: f64) -> f64 {
    let steps = line.step_at(from_s)..=line.step_at(from_s + round_trip);
    let bytes: u64 = line.steps[steps].iter().map(|step| step.delivered).sum();
    bytes as f64 / round_trip.max(1e-9)
}

/// Delay above the least, in least round trips, from which a queue stands.
pub(super) const LEAST: f64 = 0.1;
/// Segments lost close together that an overrun queue drops.
const SEVERAL: u64 = 3;
/// One in so many of those sent meanwhile, at least.
const DENSE: u64 = 50;
/// Segments in flight from which one more or less is none.
const LARGE: u64 = 8;
/// Overflows that are looked at.
const OVERFLOWS: usize = 8;
/// One of so many overflows may come with more in flight.
const FEW: usize = 4;
/// How far what is in flight at overflows of one queue lies apart, as a share of it.
const SAME: f64 = 0.07;
/// The same for overflows of several segments.
const NEARLY_SAME: f64 = 0.03;
/// How many times as long a round trip no other segment in the queue makes.
const LONGER: f64 = 1.3;
/// The same for overflows of several segments.
const LITTLE_LONGER: f64 = 1.15;
/// The same beyond the longest of all losses, and so many segments at its rate.
const BEYOND: f64 = 1.1;
/// See [`BEYOND`].
const SEGMENTS: f64 = 3.0;
/// For how long, steps and seconds.
const STEPS: f64 = 4.0;
/// The same.
const SECONDS: f64 = 0.1;
/// Share of the time with such round trips for which no more was in flight.
const MOST_OF_IT: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::loss;
    use slowpath_facts::Step;

    const SEGMENT: u64 = 1_000;

    fn rates(line: &Timeline, segment: u64, at_sender: bool) -> Option<[f64; 2]> {
        look(line, segment, at_sender).map(|own| own.rates)
    }

    /// An overflow of several segments at a time, with a delay above the least.
    fn overflow(at_s: f64, queue_s: f64) -> Event {
        Event {
            segments: 5,
            span: 20_000,
            longer: 0.01,
            ..loss(at_s, queue_s)
        }
    }

    /// Twenty seconds on a path of 0.1 s: what is in flight and how long a round trip takes, by time, and overflows.
    fn line(flight: impl Fn(f64) -> u64, rtt_s: impl Fn(f64) -> f64, events: Vec<Event>) -> Timeline {
        let step = |place: usize| {
            let at_s = place as f64 * 0.1;
            let (flight, rtt_s) = (flight(at_s), rtt_s(at_s));
            Step {
                flight,
                delivered: (flight as f64 / rtt_s * 0.1) as u64,
                rtt_s,
                rtt_max_s: rtt_s,
                ..Step::default()
            }
        };
        Timeline {
            to_s: 20.0,
            step_s: 0.1,
            least_rtt_s: 0.1,
            steps: (0..200).map(step).collect(),
            events,
            ..Timeline::default()
        }
    }

    #[test]
    fn as_much_in_flight_at_each_overflow_is_a_queue_of_ones_own_whose_link_varies() {
        let at = |delays: [f64; 3]| {
            let events = [2.0, 8.0, 14.0].into_iter().zip(delays);
            events.map(|(at_s, queue_s)| overflow(at_s, queue_s)).collect()
        };
        let [low, high] = rates(&line(|_| 100_000, |_| 0.5, at([0.3, 0.6, 0.9])), SEGMENT, true).unwrap();
        assert!(
            (low - 1e5).abs() < 1.0 && (high - 2.5e5).abs() < 1.0,
            "{low} {high}"
        );
        // A link of one rate delays by as much each time.
        let steady = line(|_| 100_000, |_| 0.5, at([0.4, 0.41, 0.4]));
        assert_eq!(rates(&steady, SEGMENT, true), None);
        // Others' part of the queue is another one each time.
        let shared = |at_s: f64| 60_000 + (at_s * 6_000.0) as u64;
        assert_eq!(
            rates(&line(shared, |_| 0.5, at([0.4, 0.41, 0.4])), SEGMENT, true),
            None
        );
        // More was in flight at most losses: these are no overflows of one queue.
        let fewer = |at_s: f64| {
            if at_s < 10.0 {
                200_000 - (at_s * 10_000.0) as u64
            } else {
                50_000
            }
        };
        let chance = [1.0, 3.0, 5.0, 7.0, 12.0, 13.0, 15.0, 16.0].map(|at_s| {
            let queue_s = if at_s < 13.5 { 0.2 } else { 0.4 };
            Event {
                segments: 1,
                ..overflow(at_s, queue_s)
            }
        });
        assert_eq!(rates(&line(fewer, |_| 0.3, chance.to_vec()), SEGMENT, true), None);
        // Few segments are no measure.
        let few = line(|_| 8_000, |_| 0.5, at([0.3, 0.6, 0.9]));
        assert_eq!(rates(&few, SEGMENT, true), None);
    }

    #[test]
    fn no_round_trip_is_longer_than_at_an_overflow_unless_the_link_is_slower() {
        let once = || vec![overflow(2.0, 0.4)];
        let later = |rtt_s: f64| move |at_s: f64| if at_s > 10.0 { rtt_s } else { 0.5 };
        let [low, high] = rates(&line(|_| 100_000, later(1.0), once()), SEGMENT, true).unwrap();
        assert!(low < 0.7 * high, "{low} {high}");
        // The same beside the receiver, where nobody sees what is in flight.
        assert!(rates(&line(|_| 0, later(1.0), once()), SEGMENT, false).is_none());
        let seen = |at_s: f64| if at_s > 10.0 { 40_000 } else { 100_000 };
        assert!(rates(&line(seen, later(1.0), once()), SEGMENT, false).is_some());
        // Nearly as long is as long; and with more in flight a longer queue may have been.
        for at_sender in [true, false] {
            assert_eq!(
                rates(&line(|_| 100_000, later(0.52), once()), SEGMENT, at_sender),
                None
            );
        }
        let more = |at_s: f64| if at_s > 4.0 { 150_000 } else { 100_000 };
        assert_eq!(rates(&line(more, later(1.0), once()), SEGMENT, true), None);
        // A segment alone overran nothing.
        let chance = vec![Event {
            segments: 1,
            ..overflow(2.0, 0.4)
        }];
        assert_eq!(rates(&line(|_| 100_000, later(1.0), chance), SEGMENT, true), None);
    }
}

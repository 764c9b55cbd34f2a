//! How well what a simulation shows agrees with what a capture shows: whole curves, not a figure.

use crate::seen::Seen;

/// How far two transfers differ, part by part. Each part is 1 where it differs by as much as a good model of a kernel does.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Difference {
    /// Of the duration.
    pub duration: f64,
    /// Of the time/sequence curve.
    pub sequence: f64,
    /// Of what was delivered from one stretch of time to the next.
    pub rate: f64,
    /// Of the round trips over time.
    pub round_trip: f64,
    /// Of the number of segments sent again and of loss episodes.
    pub losses: f64,
    /// Of the model's numbers from what the ledger measures of them.
    pub measured: f64,
}

impl Difference {
    /// Of a run that failed or never ended.
    pub const HOPELESS: Self = Self {
        duration: 1e6,
        sequence: 0.0,
        rate: 0.0,
        round_trip: 0.0,
        losses: 0.0,
        measured: 0.0,
    };

    /// The same without the weights of the search.
    pub fn apart(&self) -> Apart {
        Apart {
            sequence: self.sequence.sqrt() * SEQUENCE,
            rate: self.rate.sqrt() * RATE,
            round_trip: self.round_trip.sqrt() * ROUND_TRIP,
        }
    }

    /// All of it.
    pub fn total(&self) -> f64 {
        self.duration + self.sequence + self.rate + self.round_trip + self.losses + self.measured
    }
}

/// How far the curves of two transfers are apart, each as a root mean square.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Apart {
    /// When each share of the payload was acknowledged, as a share of the duration.
    pub sequence: f64,
    /// What each stretch of time delivered, as a share of the mean.
    pub rate: f64,
    /// Round trips of each stretch of time, as a share of them or of what the queue adds, whichever is more.
    pub round_trip: f64,
}

/// The curves of a capture, ready to be compared with many simulations.
#[derive(Debug, Clone)]
pub struct Target {
    seen: Seen,
    times: Vec<f64>,
    rates: Vec<f64>,
    round_trips: Vec<Option<f64>>,
    least: f64,
}

impl Target {
    /// Of what a capture shows.
    pub fn new(seen: Seen) -> Self {
        let span = seen.duration_s;
        let rtts = seen.round_trips.iter().map(|sample| sample.1);
        Self {
            times: times(&seen, seen.bytes),
            rates: rates(&seen, span),
            round_trips: round_trips(&seen),
            least: rtts.fold(f64::INFINITY, f64::min),
            seen,
        }
    }

    /// What the capture shows.
    pub const fn seen(&self) -> &Seen {
        &self.seen
    }

    /// How far `other` differs from the capture.
    pub fn difference(&self, other: &Seen) -> Difference {
        if !other.complete || other.duration_s <= 0.0 {
            let done = other.bytes as f64 / self.seen.bytes.max(1) as f64;
            return Difference {
                sequence: 1e4 * (1.0 - done).max(0.0),
                ..Difference::HOPELESS
            };
        }
        let span = self.seen.duration_s.max(1e-6);
        let square = |value: f64| value * value;
        let sequence = mean(
            self.times
                .iter()
                .zip(times(other, self.seen.bytes))
                .map(|(a, b)| square((a - b) / (span * SEQUENCE))),
        );
        let level = self.seen.bytes as f64 / self.rates.len() as f64;
        let rate = mean(
            self.rates
                .iter()
                .zip(rates(other, span))
                .map(|(a, b)| square((a - b) / (level * RATE))),
        );
        let pairs = self.round_trips.iter().zip(round_trips(other));
        let both = pairs.filter_map(|(a, b)| Some(((*a)?, b?)));
        let round_trip = mean(both.map(|(a, b)| {
            // What counts is the queue as well as the whole: a tenth of the one or the other.
            let scale = (a * ROUND_TRIP).max((a - self.least) * ROUND_TRIP).max(FINEST);
            square((a - b) / scale).min(MOST)
        }));
        let counts = |a: u64, b: u64| square((((a + FEW) as f64) / ((b + FEW) as f64)).ln() / LOSSES);
        Difference {
            duration: square((other.duration_s - self.seen.duration_s) / (span * DURATION)),
            sequence,
            rate,
            round_trip,
            losses: f64::midpoint(
                counts(self.seen.resent, other.resent),
                counts(self.seen.episodes, other.episodes),
            ),
            measured: 0.0,
        }
    }
}

/// When each share of `bytes` was acknowledged.
fn times(seen: &Seen, bytes: u64) -> Vec<f64> {
    let mut points = seen.delivered.iter().peekable();
    let mut last = (0.0, 0.0);
    (1..=LEVELS)
        .map(|level| {
            let wanted = bytes as f64 * level as f64 / LEVELS as f64;
            while let Some(point) = points.next_if(|point| point.1 < wanted) {
                last = *point;
            }
            match points.peek() {
                Some(next) if next.1 > last.1 => {
                    last.0 + (next.0 - last.0) * (wanted - last.1) / (next.1 - last.1)
                }
                _ => seen.duration_s,
            }
        })
        .collect()
}

/// Payload acknowledged in each of equal stretches of `span` seconds.
fn rates(seen: &Seen, span: f64) -> Vec<f64> {
    let mut out = vec![0.0; STRETCHES];
    let mut before = 0.0;
    for &(at, value) in &seen.delivered {
        let place = (at / span * STRETCHES as f64) as usize;
        if let Some(sum) = out.get_mut(place.min(STRETCHES)) {
            *sum += value - before;
        } else if place == STRETCHES && at <= span {
            out[STRETCHES - 1] += value - before;
        }
        before = value;
    }
    out
}

/// The median round trip of each of equal stretches of the transfer's own duration.
fn round_trips(seen: &Seen) -> Vec<Option<f64>> {
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); STRETCHES];
    for &(at, round_trip) in &seen.round_trips {
        let place = (at / seen.duration_s.max(1e-9) * STRETCHES as f64) as usize;
        samples[place.min(STRETCHES - 1)].push(round_trip);
    }
    samples
        .into_iter()
        .map(|mut samples| {
            samples.sort_unstable_by(f64::total_cmp);
            samples.get(samples.len() / 2).copied()
        })
        .collect()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for value in values {
        sum += value;
        count += 1;
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// Points of the time/sequence curve.
const LEVELS: usize = 64;
/// Stretches of time of the other curves.
const STRETCHES: usize = 32;
/// A share of the duration by which a good model is off.
const DURATION: f64 = 0.03;
/// The same of a point of the time/sequence curve.
const SEQUENCE: f64 = 0.03;
/// The same of what a stretch delivers, of the mean.
const RATE: f64 = 0.25;
/// The same of a round trip.
const ROUND_TRIP: f64 = 0.1;
/// Seconds below which round trips are equal.
const FINEST: f64 = 0.000_2;
/// What a stretch counts at most: in one a queue may be full or empty by chance.
const MOST: f64 = 16.0;
/// The same of the logarithm of a number of losses.
const LOSSES: f64 = 0.5;
/// Losses that are hardly more than none.
const FEW: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn steady(duration_s: f64, round_trip: f64, resent: u64) -> Seen {
        let bytes = 1_000_000_u64;
        let points = 1..=200_u32;
        Seen {
            bytes,
            duration_s,
            delivered: points
                .clone()
                .map(|n| {
                    (
                        duration_s * f64::from(n) / 200.0,
                        bytes as f64 * f64::from(n) / 200.0,
                    )
                })
                .collect(),
            round_trips: points
                .map(|n| (duration_s * f64::from(n) / 201.0, round_trip))
                .collect(),
            resent,
            episodes: resent.min(3),
            complete: true,
        }
    }

    #[test]
    fn a_transfer_does_not_differ_from_itself() {
        let target = Target::new(steady(4.0, 0.05, 10));
        assert!(target.difference(&steady(4.0, 0.05, 10)).total() < 1e-9);
    }

    #[test]
    fn each_part_sees_what_it_is_for() {
        let target = Target::new(steady(4.0, 0.05, 10));
        let slower = target.difference(&steady(4.4, 0.05, 10));
        assert!(slower.duration > 5.0 && slower.sequence > 1.0 && slower.losses < 1e-9);
        let later = target.difference(&steady(4.0, 0.06, 10));
        assert!(later.round_trip > 1.0 && later.duration < 1e-9);
        let worse = target.difference(&steady(4.0, 0.05, 60));
        assert!(worse.losses > 1.0 && worse.round_trip < 1e-9);
    }

    #[test]
    fn an_unfinished_run_is_hopeless() {
        let mut other = steady(4.0, 0.05, 10);
        other.complete = false;
        assert!(Target::new(steady(4.0, 0.05, 10)).difference(&other).total() >= 1e6);
    }
}

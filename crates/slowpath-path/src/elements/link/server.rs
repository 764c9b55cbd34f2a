//! Serialisation at a rate: when has a packet of so many bytes been sent.

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, ByteCount, Duration, Time};

use super::markov::{Chain, Markov};
use super::trace::{Opportunities, Trace};
use crate::dice::Dice;
use crate::elements::police::Bucket;
use crate::setting::{SettingError, rising};

/// How fast a link sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rate {
    /// Always at the same rate.
    Fixed(BitRate),
    /// From each step's time on at that step's rate; a packet under way goes on at the new rate. A rate of zero
    /// is an outage.
    Steps(Vec<RateStep>),
    /// Only at the moments that a recorded trace lists.
    Trace(Trace),
    /// Between levels, by chance; a packet under way goes on at the new rate.
    Markov(Markov),
    /// A token-bucket shaper: at once while tokens last, at the rate on average. A packet larger than the bucket
    /// waits until the tokens would have sufficed (Linux's TBF drops it).
    Bucket {
        /// The rate at which tokens come.
        rate: BitRate,
        /// The most tokens, in bytes; the bucket starts full.
        burst: ByteCount,
    },
}

/// One step of a rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// From when on, since the start of the run.
    pub from: Duration,
    /// The rate.
    pub rate: BitRate,
}

impl Rate {
    /// One number for it: the rate itself, the mean of a trace or of random levels, the highest of steps.
    pub fn nominal(&self) -> BitRate {
        match self {
            Self::Fixed(rate) | Self::Bucket { rate, .. } => *rate,
            Self::Steps(steps) => steps
                .iter()
                .map(|step| step.rate)
                .max()
                .unwrap_or(BitRate::new(0)),
            Self::Trace(trace) => trace.mean(),
            Self::Markov(markov) => markov.mean(),
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        match self {
            Self::Fixed(rate) | Self::Bucket { rate, .. } if rate.bits_per_s() == 0 => {
                Err(SettingError::Zero { setting: "rate" })
            }
            Self::Fixed(_) | Self::Bucket { .. } => Ok(()),
            Self::Steps(steps) => rising("rate", steps.iter().map(|step| step.from)),
            Self::Trace(trace) => trace.check(),
            Self::Markov(markov) => markov.check(),
        }
    }
}

/// A server that sends one packet after the other, exact to a fraction of a nanosecond that it carries on.
#[derive(Debug)]
pub(crate) struct Server {
    pace: Pace,
    /// When the last packet has been sent.
    idle_from: Time,
    /// Work left undone at `idle_from`, in bits times nanoseconds per second (less than one nanosecond's worth).
    carry: u64,
}

#[derive(Debug)]
enum Pace {
    Fixed { rate: u64, recent: [Recent; 2] },
    Steps { steps: Vec<RateStep>, current: usize },
    Trace(Opportunities),
    Markov(Box<Chain>),
    Bucket(Bucket),
}

/// A division done before: most packets have one of two sizes.
#[derive(Debug, Clone, Copy, Default)]
struct Recent {
    bytes: u32,
    nanos: u64,
    rest: u64,
}

impl Server {
    /// `dice` decide what the rate leaves to chance.
    pub(crate) fn new(rate: &Rate, dice: &Dice) -> Self {
        let pace = match rate {
            Rate::Fixed(rate) => Pace::Fixed {
                rate: rate.bits_per_s(),
                recent: [Recent::default(); 2],
            },
            Rate::Steps(steps) => Pace::Steps {
                steps: steps.clone(),
                current: 0,
            },
            Rate::Trace(trace) => Pace::Trace(Opportunities::new(trace)),
            Rate::Markov(markov) => Pace::Markov(Box::new(Chain::new(markov, dice.clone()))),
            Rate::Bucket { rate, burst } => Pace::Bucket(Bucket::new(*rate, *burst)),
        };
        Self {
            pace,
            idle_from: Time::ZERO,
            carry: 0,
        }
    }

    /// When everything given to it so far has been sent.
    #[inline]
    pub(crate) fn idle_from(&self) -> Time {
        self.idle_from
    }

    /// Sends `bytes` as soon as it is idle but not before `at`; returns when they have been sent.
    #[inline]
    pub(crate) fn send(&mut self, at: Time, bytes: u32) -> Time {
        if at > self.idle_from {
            self.idle_from = at;
            self.carry = 0;
        }
        match &mut self.pace {
            Pace::Fixed { rate, recent } => {
                let index = if recent[0].bytes == bytes {
                    0
                } else {
                    if recent[1].bytes != bytes {
                        recent[1] = Recent::new(bytes, *rate);
                    }
                    recent.swap(0, 1);
                    0
                };
                let Recent { nanos, rest, .. } = recent[index];
                self.carry += rest;
                let more = u64::from(self.carry >= *rate);
                self.carry -= more * *rate;
                self.idle_from += Duration::from_nanos(nanos + more);
            }
            Pace::Steps { steps, current } => {
                (self.idle_from, self.carry) =
                    by_steps(steps, current, self.idle_from, work(bytes) + self.carry);
            }
            Pace::Markov(chain) => {
                (self.idle_from, self.carry) = chain.send(self.idle_from, work(bytes) + self.carry);
            }
            Pace::Trace(opportunities) => self.idle_from = opportunities.send(self.idle_from, bytes),
            Pace::Bucket(bucket) => self.idle_from = bucket.take_by(self.idle_from, bytes),
        }
        self.idle_from
    }
}

impl Recent {
    fn new(bytes: u32, rate: u64) -> Self {
        Self {
            bytes,
            nanos: work(bytes) / rate,
            rest: work(bytes) % rate,
        }
    }
}

/// Bits of `bytes` times nanoseconds per second: what a rate of one bit per second does in that many nanoseconds.
const fn work(bytes: u32) -> u64 {
    bytes as u64 * 8_000_000_000
}

/// Does `work` from `at` on through the steps; returns when it is done and what a whole nanosecond left over.
fn by_steps(steps: &[RateStep], current: &mut usize, mut at: Time, mut work: u64) -> (Time, u64) {
    loop {
        let now = at.since(Time::ZERO);
        while steps.get(*current + 1).is_some_and(|step| step.from <= now) {
            *current += 1;
        }
        let rate = steps[*current].rate.bits_per_s();
        let Some(next) = steps.get(*current + 1) else {
            if rate == 0 {
                return (Time::MAX, 0);
            }
            return (at + Duration::from_nanos(work / rate), work % rate);
        };
        let capacity = u128::from(rate) * u128::from((next.from - now).nanos());
        if u128::from(work) < capacity {
            return (at + Duration::from_nanos(work / rate), work % rate);
        }
        work -= capacity as u64;
        at = Time::ZERO + next.from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serving(rate: &Rate) -> Server {
        Server::new(rate, &Dice::new(1, "link"))
    }

    fn fixed(rate: u64) -> Server {
        serving(&Rate::Fixed(BitRate::new(rate)))
    }

    #[test]
    fn agrees_with_the_unit_s_own_arithmetic() {
        for rate in [7, 1_000_003, 50_000_000, 9_999_999_999, 400_000_000_000] {
            let (mut server, mut at, mut carry) = (fixed(rate), Time::ZERO, 0);
            for bytes in [1500_u32, 1500, 52, 1500, 576, 64, 52, 1] {
                let (span, rest) = BitRate::new(rate).time_for(u64::from(bytes), carry);
                (at, carry) = (at + span, rest);
                assert_eq!(server.send(Time::ZERO, bytes), at, "{bytes} bytes at {rate}");
            }
        }
    }

    #[test]
    fn idle_time_ends_the_carry() {
        let mut server = fixed(3_000_000_000);
        assert_eq!(server.send(Time::ZERO, 1), Time::from_nanos(2));
        assert_eq!(server.send(Time::from_nanos(100), 1), Time::from_nanos(102));
        assert_eq!(server.send(Time::from_nanos(102), 2), Time::from_nanos(108));
    }

    #[test]
    fn a_change_of_rate_takes_hold_in_mid_packet() {
        let step = |from, rate| RateStep {
            from: Duration::from_millis(from),
            rate: BitRate::new(rate),
        };
        // 1000 bytes: half at 4 Mbit/s in 1 ms, nothing for 2 ms, the rest at 8 Mbit/s in 0.5 ms.
        let rate = Rate::Steps(vec![step(0, 4_000_000), step(1, 0), step(3, 8_000_000)]);
        let mut server = serving(&rate);
        assert_eq!(server.send(Time::ZERO, 1000).nanos(), 3_500_000);
        assert_eq!(server.send(Time::ZERO, 1000).nanos(), 4_500_000);
        let dead = Rate::Steps(vec![step(0, 8_000_000), step(1, 0)]);
        assert_eq!(serving(&dead).send(Time::ZERO, 1001), Time::MAX);
    }

    #[test]
    fn a_token_bucket_sends_its_burst_and_then_its_rate() {
        // 1000 bytes a millisecond, 2500 in the bucket.
        let rate = Rate::Bucket {
            rate: BitRate::new(8_000_000),
            burst: ByteCount::new(2500),
        };
        let mut server = serving(&rate);
        let sent =
            |server: &mut Server, at: u64| server.send(Time::from_nanos(at * 1000), 1000).nanos() / 1000;
        let times: Vec<u64> = (0..4).map(|_| sent(&mut server, 0)).collect();
        assert_eq!(times, [0, 0, 500, 1500]);
        // After 10 ms of silence the bucket is full again, and no fuller.
        assert_eq!(
            [sent(&mut server, 11_500), sent(&mut server, 11_500)],
            [11_500, 11_500]
        );
        assert_eq!(sent(&mut server, 11_500), 12_000);
        let mut small = serving(&Rate::Bucket {
            rate: BitRate::new(8_000_000),
            burst: ByteCount::new(400),
        });
        assert_eq!([sent(&mut small, 0), sent(&mut small, 0)], [600, 1600]);
    }

    #[test]
    fn equal_steps_change_nothing() {
        let step = |from, rate| RateStep {
            from: Duration::from_nanos(from),
            rate: BitRate::new(rate),
        };
        let rate = 123_456_789;
        let steps = Rate::Steps((0..50).map(|at| step(at * 1_000_007, rate)).collect());
        let (mut plain, mut stepped) = (fixed(rate), serving(&steps));
        for number in 0..1000_u32 {
            let (at, bytes) = (
                Time::from_nanos(u64::from(number) * 60_000),
                40 + number * 7919 % 1460,
            );
            assert_eq!(plain.send(at, bytes), stepped.send(at, bytes));
        }
    }
}

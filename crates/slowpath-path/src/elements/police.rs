//! Policers: drop or remark what exceeds a rate, holding nothing back.
//!
//! | | RFC 2697 / 2698 | here | why |
//! |---|---|---|---|
//! | colour-aware mode | defined | colour-blind only | no source device uses it |
//! | tokens | bytes per update interval | exact to the bit and nanosecond | no drift |
//! | after idle | buckets fill in order C, then E | the same | |

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Time};

use super::remark::write;
use crate::context::{Context, Step};
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::setting::SettingError;

/// Meters packets against one or two rates and acts on the colour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Police {
    /// The rates and buckets.
    pub meter: Meter,
    /// Which bytes of a packet they count.
    pub layer: Layer,
    /// What happens to yellow packets.
    #[serde(default)]
    pub exceed: Action,
    /// What happens to red packets.
    #[serde(default)]
    pub violate: Action,
}

/// How a policer measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "meter", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Meter {
    /// Single rate, three colours (RFC 2697). With an excess burst of zero nothing is yellow.
    SingleRate {
        /// Committed information rate.
        cir: BitRate,
        /// Committed burst size.
        cbs: ByteCount,
        /// Excess burst size.
        #[serde(default)]
        ebs: ByteCount,
    },
    /// Two rates, three colours (RFC 2698).
    TwoRate {
        /// Committed information rate.
        cir: BitRate,
        /// Committed burst size.
        cbs: ByteCount,
        /// Peak information rate, at least `cir`.
        pir: BitRate,
        /// Peak burst size.
        pbs: ByteCount,
    },
}

/// What a policer does with a packet out of profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Drops it.
    #[default]
    Drop,
    /// Lets it pass.
    Pass,
    /// Lets it pass with this code point.
    Mark(Dscp),
}

impl Police {
    /// A policer that drops all beyond one rate and burst.
    pub const fn new(rate: BitRate, burst: ByteCount, layer: Layer) -> Self {
        let meter = Meter::SingleRate {
            cir: rate,
            cbs: burst,
            ebs: ByteCount::ZERO,
        };
        Self {
            meter,
            layer,
            exceed: Action::Drop,
            violate: Action::Drop,
        }
    }

    pub(crate) fn check(&self) -> Result<(), SettingError> {
        let (cir, cbs) = match self.meter {
            Meter::SingleRate { cir, cbs, .. } => (cir, cbs),
            Meter::TwoRate { cir, cbs, pir, pbs } => {
                if pir < cir {
                    return Err(SettingError::Contradiction {
                        setting: "pir",
                        found: format!("is {pir}"),
                        limit: format!("it must be at least the committed rate of {cir} (RFC 2698)"),
                    });
                }
                (cir, ByteCount::new(cbs.bytes().min(pbs.bytes())))
            }
        };
        if cir.bits_per_s() == 0 {
            return Err(SettingError::Zero { setting: "cir" });
        }
        if cbs.bytes() == 0 {
            return Err(SettingError::Zero {
                setting: "burst size",
            });
        }
        Ok(())
    }
}

/// A bucket of tokens that fills at a rate, exact to the bit and nanosecond.
#[derive(Debug, Clone)]
pub(crate) struct Bucket {
    rate: u64,
    /// What it can hold and holds, in bits times nanoseconds per second.
    room: u128,
    tokens: u128,
    filled: Time,
}

impl Bucket {
    /// A full bucket.
    pub(crate) fn new(rate: BitRate, size: ByteCount) -> Self {
        let room = work(size.bytes());
        Self {
            rate: rate.bits_per_s(),
            room,
            tokens: room,
            filled: Time::ZERO,
        }
    }

    /// Fills up to `at`; returns what did not fit.
    pub(crate) fn fill(&mut self, at: Time) -> u128 {
        let gained = u128::from(self.rate) * u128::from(at.since(self.filled).nanos());
        self.filled = self.filled.max(at);
        let excess = (self.tokens + gained).saturating_sub(self.room);
        self.tokens = (self.tokens + gained).min(self.room);
        excess
    }

    pub(crate) fn add(&mut self, tokens: u128) {
        self.tokens = (self.tokens + tokens).min(self.room);
    }

    pub(crate) fn holds(&self, bytes: u32) -> bool {
        self.tokens >= work(u64::from(bytes))
    }

    pub(crate) fn take(&mut self, bytes: u32) {
        self.tokens = self.tokens.saturating_sub(work(u64::from(bytes)));
    }
}

impl Bucket {
    /// Takes `bytes` as soon as the bucket holds them but not before `at`; returns when that is.
    ///
    /// Calls must come in order of time; packets larger than the bucket are let through when it would suffice.
    pub(crate) fn take_by(&mut self, at: Time, bytes: u32) -> Time {
        self.fill(at);
        let need = work(u64::from(bytes));
        let missing = need.saturating_sub(self.tokens);
        if missing == 0 {
            self.tokens -= need;
            return at;
        }
        let wait = missing.div_ceil(u128::from(self.rate));
        self.tokens = (self.tokens + wait * u128::from(self.rate)) - need;
        self.filled = at + Duration::from_nanos(wait as u64);
        self.filled
    }
}

/// Bits of `bytes` times nanoseconds per second.
const fn work(bytes: u64) -> u128 {
    bytes as u128 * 8_000_000_000
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Green,
    Yellow,
    Red,
}

#[derive(Debug)]
pub(crate) struct State {
    committed: Bucket,
    /// The excess bucket (single rate, fed by what the committed one cannot hold) or the peak bucket.
    second: Bucket,
    two_rate: bool,
    layer: Layer,
    actions: [Action; 2],
}

impl State {
    pub(crate) fn new(config: &Police) -> Self {
        let (committed, second, two_rate) = match config.meter {
            Meter::SingleRate { cir, cbs, ebs } => {
                (Bucket::new(cir, cbs), Bucket::new(BitRate::new(0), ebs), false)
            }
            Meter::TwoRate { cir, cbs, pir, pbs } => (Bucket::new(cir, cbs), Bucket::new(pir, pbs), true),
        };
        Self {
            committed,
            second,
            two_rate,
            layer: config.layer,
            actions: [config.exceed, config.violate],
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, at: Time, packet: &mut Packet, context: &mut Context<'_>) -> Step {
        let action = match self.colour(at, packet.bytes(self.layer)) {
            Colour::Green => return Step::Pass(0),
            Colour::Yellow => self.actions[0],
            Colour::Red => self.actions[1],
        };
        match action {
            Action::Drop => return Step::Drop(DropCause::Policed),
            Action::Pass => {}
            Action::Mark(dscp) => write(at, packet, (dscp, packet.ecn), context),
        }
        Step::Pass(0)
    }

    fn colour(&mut self, at: Time, bytes: u32) -> Colour {
        let excess = self.committed.fill(at);
        if self.two_rate {
            // RFC 2698, section 3: red does not use committed tokens, green uses both.
            self.second.fill(at);
            if !self.second.holds(bytes) {
                return Colour::Red;
            }
            self.second.take(bytes);
            if !self.committed.holds(bytes) {
                return Colour::Yellow;
            }
            self.committed.take(bytes);
            return Colour::Green;
        }
        // RFC 2697, section 3: the committed bucket overflows into the excess bucket.
        self.second.add(excess);
        if self.committed.holds(bytes) {
            self.committed.take(bytes);
            Colour::Green
        } else if self.second.holds(bytes) {
            self.second.take(bytes);
            Colour::Yellow
        } else {
            Colour::Red
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colours(meter: Meter, arrivals: &[(u64, u32)]) -> Vec<Colour> {
        let config = Police {
            meter,
            layer: Layer::Ip,
            exceed: Action::Drop,
            violate: Action::Drop,
        };
        config.check().unwrap();
        let mut state = State::new(&config);
        arrivals
            .iter()
            .map(|(ms, bytes)| state.colour(Time::ZERO + Duration::from_millis(*ms), *bytes))
            .collect()
    }

    use Colour::{Green, Red, Yellow};

    #[test]
    fn single_rate_by_rfc_2697() {
        // 8 Mbit/s is 1000 bytes a millisecond.
        let meter = Meter::SingleRate {
            cir: BitRate::new(8_000_000),
            cbs: ByteCount::new(2000),
            ebs: ByteCount::new(1000),
        };
        let arrivals = [
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (1, 1000),
            (1, 1),
            (4, 1000),
            (4, 1000),
            (4, 1),
        ];
        // At 4 ms 3000 bytes have come in: 2000 into C, then 1000 into E.
        assert_eq!(
            colours(meter, &arrivals),
            [Green, Green, Yellow, Red, Green, Red, Green, Green, Yellow]
        );
    }

    #[test]
    fn two_rate_by_rfc_2698() {
        let meter = Meter::TwoRate {
            cir: BitRate::new(8_000_000),
            cbs: ByteCount::new(1000),
            pir: BitRate::new(16_000_000),
            pbs: ByteCount::new(2000),
        };
        let arrivals = [(0, 1000), (0, 1000), (0, 1), (1, 1000), (1, 1000), (1, 1)];
        assert_eq!(
            colours(meter, &arrivals),
            [Green, Yellow, Red, Green, Yellow, Red]
        );
    }

    #[test]
    fn the_long_run_rate_is_exact() {
        let meter = Meter::SingleRate {
            cir: BitRate::new(9_999_999),
            cbs: ByteCount::new(3000),
            ebs: ByteCount::ZERO,
        };
        let arrivals: Vec<(u64, u32)> = (0..100_000).map(|number| (number / 10, 1000)).collect();
        let green = colours(meter, &arrivals)
            .iter()
            .filter(|colour| **colour == Green)
            .count() as u64;
        // Ten seconds (to 9.999 s) at the rate, and the first bucket.
        let expected = (9_999_999 * 9_999 / 8_000 + 3000) / 1000;
        assert!(green.abs_diff(expected) <= 1, "{green} of {expected}");
    }

    #[test]
    fn refuses_a_peak_below_the_committed_rate() {
        let meter = Meter::TwoRate {
            cir: BitRate::new(2),
            cbs: ByteCount::new(1),
            pir: BitRate::new(1),
            pbs: ByteCount::new(1),
        };
        let config = Police {
            meter,
            layer: Layer::Ip,
            exceed: Action::Drop,
            violate: Action::Drop,
        };
        assert!(config.check().unwrap_err().to_string().contains("RFC 2698"));
    }
}

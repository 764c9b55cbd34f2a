//! Random early detection.
//!
//! | | Floyd and Jacobson 1993 | here | why |
//! |---|---|---|---|
//! | arithmetic | real numbers | integers, average in 1/65536 byte, chances in 2^-32 | equal on every machine |
//! | average while idle | as if m small packets had passed | the same, by powers in 2^-32 | |
//! | chance | p_b / (1 - count p_b) | the same | |
//! | above the maximum | drop all; "gentle" later | both, a setting | |
//! | ECN | mark in the random region | mark there, drop above the maximum (RFC 3168, section 7) | |

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, ByteCount, Ratio, Time};

use super::waiting::{AQM, Next, Waiting, mark};
use crate::context::Context;
use crate::dice::Dice;
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::setting::SettingError;

/// Settings of RED; bytes are counted at the link's layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Below this average nothing is dropped.
    pub min: ByteCount,
    /// At this average the chance reaches `chance`.
    pub max: ByteCount,
    /// Beyond this queue everything is dropped.
    pub limit: ByteCount,
    /// The chance at `max`.
    pub chance: Ratio,
    /// The average moves by 2^-weight of the difference with each packet.
    pub weight: u8,
    /// Rate by which idle time is turned into small packets of `idle_packet` bytes.
    pub idle_rate: BitRate,
    /// Size of those packets.
    pub idle_packet: ByteCount,
    /// Whether the chance rises on from `chance` to 1 between `max` and twice `max`.
    #[serde(default)]
    pub gentle: bool,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
}

impl Red {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.max <= self.min {
            return Err(SettingError::Contradiction {
                setting: "max",
                found: format!("is {}", self.max),
                limit: format!("it must be above min, which is {}", self.min),
            });
        }
        if self.weight == 0 || self.weight > 30 {
            return Err(SettingError::Contradiction {
                setting: "weight",
                found: format!("is {}", self.weight),
                limit: "it must be from 1 to 30".to_owned(),
            });
        }
        if self.idle_rate.bits_per_s() == 0 || self.idle_packet.bytes() == 0 {
            return Err(SettingError::Zero {
                setting: "idle_rate or idle_packet",
            });
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct RedQueue {
    config: Red,
    dice: Dice,
    queue: Ring<Waiting>,
    bytes: u64,
    /// The average queue in 1/65536 byte.
    average: u64,
    /// Packets since the last drop.
    count: u64,
    idle_since: Option<Time>,
}

impl RedQueue {
    pub(super) fn new(config: &Red, dice: Dice) -> Self {
        let idle_since = Some(Time::ZERO);
        Self {
            config: *config,
            dice,
            queue: Ring::new(),
            bytes: 0,
            average: 0,
            count: 0,
            idle_since,
        }
    }

    pub(super) fn push(
        &mut self,
        at: Time,
        packet: &mut Packet,
        bytes: u32,
        context: &mut Context<'_>,
    ) -> Result<(), DropCause> {
        self.update_average(at);
        if self.bytes + u64::from(bytes) > self.config.limit.bytes() {
            self.count = 0;
            return Err(DropCause::QueueFull);
        }
        match self.verdict() {
            Verdict::Pass => {}
            Verdict::Early if self.config.ecn && mark(at, packet, context) => {}
            Verdict::Early | Verdict::Forced => return Err(AQM),
        }
        self.queue.push(Waiting {
            packet: *packet,
            since: at,
            bytes,
        });
        self.bytes += u64::from(bytes);
        Ok(())
    }

    pub(super) fn pop(&mut self, at: Time) -> Next {
        let Some(first) = self.queue.front() else {
            self.idle_since.get_or_insert(at);
            return Next::Empty;
        };
        let (packet, bytes) = (first.packet, first.bytes);
        self.queue.pop();
        self.bytes -= u64::from(bytes);
        Next::Packet(packet)
    }

    fn update_average(&mut self, at: Time) {
        if let Some(since) = self.idle_since.take() {
            let passed = self.config.idle_rate.bytes_in(at.since(since)) / self.config.idle_packet.bytes();
            let keep = ONE - (ONE >> self.config.weight);
            self.average = ((u128::from(self.average) * u128::from(power(keep, passed))) >> 32) as u64;
        }
        let (now, average) = (self.bytes << 16, self.average);
        // The step is signed: a shift of the magnitude keeps it the same in both directions.
        if now >= average {
            self.average = average + ((now - average) >> self.config.weight);
        } else {
            self.average = average - ((average - now) >> self.config.weight);
        }
    }

    fn verdict(&mut self) -> Verdict {
        let [min, max] = [self.config.min, self.config.max].map(|bytes| bytes.bytes() << 16);
        let most = share(self.config.chance);
        let chance = if self.average < min {
            self.count = 0;
            return Verdict::Pass;
        } else if self.average < max {
            scale(most, self.average - min, max - min)
        } else if self.config.gentle && self.average < 2 * max {
            most + scale(ONE - most, self.average - max, max)
        } else {
            self.count = 0;
            return Verdict::Forced;
        };
        self.count += 1;
        let used = chance.saturating_mul(self.count);
        let hit = used >= ONE || {
            // p_a = p_b / (1 - count p_b)
            let spread = (u128::from(chance) << 32) / u128::from(ONE - used);
            u128::from(self.dice.roll() >> 32) < spread
        };
        if !hit {
            return Verdict::Pass;
        }
        self.count = 0;
        Verdict::Early
    }

    pub(super) fn each(&self, count: &mut impl FnMut(&Packet)) {
        self.queue.iter().for_each(|waiting| count(&waiting.packet));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Pass,
    Early,
    Forced,
}

/// A chance of one, in 2^-32.
const ONE: u64 = 1 << 32;

fn share(ratio: Ratio) -> u64 {
    (u64::from(ratio.ppb()) << 32) / 1_000_000_000
}

/// `whole * part / all` without overflow.
fn scale(whole: u64, part: u64, all: u64) -> u64 {
    (u128::from(whole) * u128::from(part) / u128::from(all)) as u64
}

/// `base` (below one, in 2^-32) to the `exponent`.
fn power(mut base: u64, mut exponent: u64) -> u64 {
    let mut result = ONE;
    while exponent > 0 && result > 0 {
        if exponent & 1 == 1 {
            result = (result * base) >> 32;
        }
        base = (base * base) >> 32;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_in_fixed_point() {
        assert_eq!(power(ONE / 2, 0), ONE);
        assert_eq!(power(ONE / 2, 3), ONE / 8);
        let decayed = power(ONE - (ONE >> 9), 512) as f64 / ONE as f64;
        assert!((decayed - 0.3675).abs() < 0.001, "{decayed}");
        assert_eq!(power(ONE - (ONE >> 9), u64::MAX), 0);
    }
}

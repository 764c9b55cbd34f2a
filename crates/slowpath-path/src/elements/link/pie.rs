//! Proportional integral controller enhanced (RFC 8033).
//!
//! | | RFC 8033 | here | why |
//! |---|---|---|---|
//! | queue delay | by departure rate, or by time stamps (section 5.2) | by time stamps | allowed, and exact in model time |
//! | arithmetic | real numbers | chance in 2^-40, integers | equal on every machine |
//! | de-randomisation (section 5.5) | optional | not done | optional |
//! | cap of drops (section 5.6, optional) | optional | not done | optional |
//! | ECN | mark while the chance is at most 10 % (section 5.1) | the same | |

use serde::{Deserialize, Serialize};
use slowpath_units::{ByteCount, Duration, Time};

use super::codel::Line;
use super::waiting::{AQM, Next, mark};
use crate::context::Context;
use crate::dice::Dice;
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::setting::SettingError;

/// Settings of PIE.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// The delay aimed at.
    pub target: Duration,
    /// Time between two updates of the chance.
    pub update: Duration,
    /// Time after idle in which nothing is dropped.
    pub burst: Duration,
    /// Packets that may wait.
    pub limit: u32,
    /// A queue of less than two packets of this size is never dropped from.
    pub packet: ByteCount,
    /// Whether ECN-capable packets are marked instead of dropped, while the chance is small.
    #[serde(default)]
    pub ecn: bool,
}

impl Default for Pie {
    /// 15 ms, 15 ms, 150 ms (RFC 8033, section 4), 1000 packets.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            burst: Duration::from_millis(150),
            limit: 1000,
            packet: ByteCount::new(1514),
            ecn: false,
        }
    }
}

impl Pie {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.update == Duration::ZERO {
            return Err(SettingError::Zero { setting: "update" });
        }
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct PieQueue {
    config: Pie,
    dice: Dice,
    line: Line,
    /// The chance of a drop in 2^-40.
    chance: i64,
    delay: Duration,
    old_delay: Duration,
    allowance: Duration,
    next_update: Time,
}

impl PieQueue {
    pub(super) fn new(config: &Pie, dice: Dice) -> Self {
        Self {
            config: *config,
            dice,
            line: Line::new(),
            chance: 0,
            delay: Duration::ZERO,
            old_delay: Duration::ZERO,
            allowance: config.burst,
            next_update: Time::ZERO + config.update,
        }
    }

    pub(super) fn push(
        &mut self,
        at: Time,
        packet: &mut Packet,
        bytes: u32,
        context: &mut Context<'_>,
    ) -> Result<(), DropCause> {
        self.catch_up(at);
        if self.line.packets.len() >= self.config.limit as usize {
            return Err(DropCause::QueueFull);
        }
        if self.allowance == Duration::ZERO && self.hits() {
            let marks = self.config.ecn && self.chance <= ONE / 10;
            if !(marks && mark(at, packet, context)) {
                return Err(AQM);
            }
        }
        self.line.push(at, packet, bytes);
        Ok(())
    }

    pub(super) fn pop(&mut self, at: Time) -> Next {
        self.catch_up(at);
        let Some(first) = self.line.pop() else {
            self.delay = Duration::ZERO;
            return Next::Empty;
        };
        self.delay = at.since(first.since);
        Next::Packet(first.packet)
    }

    /// Section 4.1, with the safeguards of section 5.
    fn hits(&mut self) -> bool {
        let small = self.old_delay < self.config.target / 2 && self.chance < ONE / 5;
        if small || self.line.bytes <= 2 * self.config.packet.bytes() {
            return false;
        }
        (self.dice.roll() >> 24).cast_signed() < self.chance
    }

    /// Does all updates that were due up to `at`; nothing else happened in between.
    fn catch_up(&mut self, at: Time) {
        while self.next_update <= at {
            let settled = self.chance == 0
                && self.delay == Duration::ZERO
                && self.old_delay == Duration::ZERO
                && self.allowance == self.config.burst;
            if settled {
                let periods = at.since(self.next_update).nanos() / self.config.update.nanos() + 1;
                self.next_update += self.config.update * periods;
                return;
            }
            self.update();
            self.next_update += self.config.update;
        }
    }

    /// Section 4.2.
    fn update(&mut self) {
        let target = i128::from(self.config.target.nanos());
        let (delay, old) = (i128::from(self.delay.nanos()), i128::from(self.old_delay.nanos()));
        // alpha = 0.125, beta = 1.25, per second of delay.
        let eighths = (delay - target) + 10 * (delay - old);
        let step = eighths * i128::from(ONE) / (8 * 1_000_000_000);
        let divisor = match self.chance {
            chance if chance < ONE / 1_000_000 => 2048,
            chance if chance < ONE / 100_000 => 512,
            chance if chance < ONE / 10_000 => 128,
            chance if chance < ONE / 1_000 => 32,
            chance if chance < ONE / 100 => 8,
            chance if chance < ONE / 10 => 2,
            _ => 1,
        };
        let mut step = (step / divisor) as i64;
        if self.chance >= ONE / 10 {
            step = step.min(ONE / 50);
        }
        self.chance += step;
        if self.delay == Duration::ZERO && self.old_delay == Duration::ZERO {
            self.chance -= self.chance / 50;
            if self.chance < 50 {
                self.chance = 0;
            }
        }
        self.chance = self.chance.clamp(0, ONE);
        self.allowance = self.allowance.saturating_sub(self.config.update);
        let half = self.config.target / 2;
        if self.chance == 0 && self.delay < half && self.old_delay < half {
            self.allowance = self.config.burst;
        }
        self.old_delay = self.delay;
    }

    pub(super) fn each(&self, count: &mut impl FnMut(&Packet)) {
        self.line
            .packets
            .iter()
            .for_each(|waiting| count(&waiting.packet));
    }
}

/// A chance of one, in 2^-40.
const ONE: i64 = 1 << 40;

//! Controlled delay (RFC 8289).
//!
//! | | RFC 8289 | here | why |
//! |---|---|---|---|
//! | interval / sqrt(count) | real numbers | integer square root of count in 2^-32 | equal on every machine |
//! | sojourn below one packet's bytes | "maxpacket" seen so far | a setting, 1514 | the MTU is known |
//! | ECN | left open | mark instead of drop, and send (as Linux) | |
//! | re-entry within 16 intervals | count restarts at the difference | the same | |

use serde::{Deserialize, Serialize};
use slowpath_units::{ByteCount, Duration, Time};

use super::waiting::{AQM, Next, Waiting, mark};
use crate::context::Context;
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::ring::Ring;
use crate::setting::SettingError;

/// Settings of CoDel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codel {
    /// The standing delay that is allowed.
    pub target: Duration,
    /// The time over which a standing queue must persist.
    pub interval: Duration,
    /// Packets that may wait.
    pub limit: u32,
    /// A queue of at most this many bytes is never too long.
    #[serde(default = "packet_bytes")]
    pub quantum: ByteCount,
    /// Whether ECN-capable packets are marked instead of dropped.
    #[serde(default)]
    pub ecn: bool,
}

impl Default for Codel {
    /// 5 ms, 100 ms (RFC 8289, section 4) and 1000 packets (Linux).
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            limit: 1000,
            quantum: packet_bytes(),
            ecn: false,
        }
    }
}

impl Codel {
    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.interval == Duration::ZERO {
            return Err(SettingError::Zero { setting: "interval" });
        }
        if self.target >= self.interval {
            return Err(SettingError::Contradiction {
                setting: "target",
                found: format!("is {}", self.target),
                limit: format!("it must be below the interval of {}", self.interval),
            });
        }
        Ok(())
    }
}

/// The control law's memory; one per queue.
#[derive(Debug, Clone, Default)]
pub(super) struct Control {
    above_until: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

/// A plain queue of waiting packets with its bytes.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) packets: Ring<Waiting>,
    pub(super) bytes: u64,
}

impl Line {
    pub(super) const fn new() -> Self {
        Self {
            packets: Ring::new(),
            bytes: 0,
        }
    }

    pub(super) fn push(&mut self, at: Time, packet: &Packet, bytes: u32) {
        self.packets.push(Waiting {
            packet: *packet,
            since: at,
            bytes,
        });
        self.bytes += u64::from(bytes);
    }

    pub(super) fn pop(&mut self) -> Option<Waiting> {
        let first = *self.packets.front()?;
        self.packets.pop();
        self.bytes -= u64::from(first.bytes);
        Some(first)
    }
}

impl Control {
    /// Takes the next packet to send from `line`, dropping or marking on the way (RFC 8289, section 5.6).
    ///
    /// Adds the number of packets dropped to `dropped`.
    pub(super) fn pop(
        &mut self,
        at: Time,
        line: &mut Line,
        config: &Codel,
        context: &mut Context<'_>,
        dropped: &mut u32,
    ) -> Option<Waiting> {
        let (mut next, mut may_drop) = self.look(at, line, config);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && at >= self.drop_next {
                let mut packet = next.take()?;
                self.count += 1;
                if config.ecn && mark(at, &mut packet.packet, context) {
                    self.drop_next = later(self.drop_next, config.interval, self.count);
                    return Some(packet);
                }
                context.drop(at, &mut packet.packet, AQM);
                *dropped += 1;
                (next, may_drop) = self.look(at, line, config);
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = later(self.drop_next, config.interval, self.count);
                }
            }
            return next;
        }
        if !may_drop {
            return next;
        }
        let mut packet = next.take()?;
        let marked = config.ecn && mark(at, &mut packet.packet, context);
        if marked {
            next = Some(packet);
        } else {
            context.drop(at, &mut packet.packet, AQM);
            *dropped += 1;
            (next, _) = self.look(at, line, config);
        }
        self.dropping = true;
        let delta = self.count - self.last_count;
        let recently = at.since(self.drop_next) < config.interval * 16;
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.drop_next = later(at, config.interval, self.count);
        self.last_count = self.count;
        next
    }

    /// Takes the first packet and says whether the delay has been above target for an interval.
    fn look(&mut self, at: Time, line: &mut Line, config: &Codel) -> (Option<Waiting>, bool) {
        let Some(first) = line.pop() else {
            self.above_until = None;
            return (None, false);
        };
        if at.since(first.since) < config.target || line.bytes <= config.quantum.bytes() {
            self.above_until = None;
            return (Some(first), false);
        }
        let until = *self.above_until.get_or_insert(at + config.interval);
        (Some(first), at >= until)
    }
}

/// The control law: `from + interval / sqrt(count)`.
fn later(from: Time, interval: Duration, count: u64) -> Time {
    let root = (u128::from(count) << 64).isqrt();
    from + Duration::from_nanos(((u128::from(interval.nanos()) << 32) / root) as u64)
}

#[derive(Debug)]
pub(super) struct CodelQueue {
    config: Codel,
    line: Line,
    control: Control,
}

impl CodelQueue {
    pub(super) fn new(config: &Codel) -> Self {
        Self {
            config: *config,
            line: Line::new(),
            control: Control::default(),
        }
    }

    pub(super) fn push(&mut self, at: Time, packet: &Packet, bytes: u32) -> Result<(), DropCause> {
        if self.line.packets.len() >= self.config.limit as usize {
            return Err(DropCause::QueueFull);
        }
        self.line.push(at, packet, bytes);
        Ok(())
    }

    pub(super) fn pop(&mut self, at: Time, context: &mut Context<'_>) -> Next {
        let next = self
            .control
            .pop(at, &mut self.line, &self.config, context, &mut 0);
        next.map_or(Next::Empty, |waiting| Next::Packet(waiting.packet))
    }

    pub(super) fn each(&self, count: &mut impl FnMut(&Packet)) {
        self.line
            .packets
            .iter()
            .for_each(|waiting| count(&waiting.packet));
    }
}

const fn packet_bytes() -> ByteCount {
    ByteCount::new(1514)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_law_is_the_inverse_root() {
        let interval = Duration::from_millis(100);
        for (count, micros) in [
            (1, 100_000),
            (2, 70_710),
            (4, 50_000),
            (100, 10_000),
            (10_000, 1_000),
        ] {
            assert_eq!(
                later(Time::ZERO, interval, count).nanos() / 1000,
                micros,
                "count {count}"
            );
        }
    }
}

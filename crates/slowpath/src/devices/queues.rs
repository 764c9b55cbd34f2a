//! Queues that are too short or too long for their rate, each with a length that was tried in the model.

use serde::Serialize;
use slowpath_report::quantity::{bit_rate, seconds};
use slowpath_units::BitRate;
use slowpath_vendor::remedy::QueueAt;

/// A queue that takes packets until it is full, as a configuration has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OwnQueue {
    /// Which one.
    pub(super) at: QueueAt,
    /// The rate at which it empties.
    pub(super) rate: BitRate,
    /// Packets that it holds.
    pub(super) packets: u32,
}

impl OwnQueue {
    /// How long the last of its packets waits, in seconds, where all are full-sized.
    pub(super) fn holds_s(&self) -> f64 {
        held_s(self.packets, self.rate)
    }

    /// The length to try instead, where this one is far from what its rate asks for.
    pub(super) fn better(&self) -> Option<Length> {
        let holds = self.holds_s();
        let packets = |wanted_s: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a queue of a tenth of a second, in packets"
            )]
            let packets = (wanted_s / held_s(1, self.rate)).ceil() as u32;
            packets.max(FEWEST)
        };
        let found = if holds < SHORT_S {
            Length {
                packets: packets(WANTED_S),
                short: true,
            }
        } else if holds > LONG_S {
            Length {
                packets: packets(WANTED_S),
                short: false,
            }
        } else {
            return None;
        };
        // One of few packets is as short as any that is advised, however long its rate takes for them.
        let changes = if found.short {
            found.packets > self.packets
        } else {
            found.packets < self.packets
        };
        changes.then_some(found)
    }
}

/// A length to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Length {
    /// Packets.
    pub(super) packets: u32,
    /// Whether the queue is too short now; else it is too long.
    pub(super) short: bool,
}

/// A queue of the wrong length, with the lines that change it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueNote {
    /// The use of the configuration that waits in it.
    pub what: String,
    /// Whether it is too short; else it is too long.
    pub short: bool,
    /// Packets that it holds.
    pub packets: u32,
    /// How long the last of them waits, in seconds.
    pub holds_s: f64,
    /// The lines to write; none where another note's line has this length as well.
    pub lines: Vec<String>,
    /// The numbers of the lines that they replace.
    pub replaces: Vec<usize>,
    /// What it is and what the change does, as a sentence.
    pub sentence: String,
}

/// What is said of a queue whose other length was tried: `gain` is the best of what a transfer got before and gets then,
/// bits per second, and the round trip in seconds.
pub(super) fn sentence(own: &OwnQueue, what: &str, to: Length, gain: Option<(f64, f64, f64)>) -> String {
    let now = format!(
        "{what}: the queue of {} packets holds {} at {}",
        own.packets,
        seconds(own.holds_s()),
        bit_rate(own.rate.bits_per_s() as f64)
    );
    let then = seconds(held_s(to.packets, own.rate));
    match (to.short, gain) {
        (true, Some((before, after, round_trip_s))) => format!(
            "{now}, too short: with {} packets ({then}) {} over {:.0} ms becomes {}.",
            to.packets,
            bit_rate(before),
            round_trip_s * 1e3,
            bit_rate(after)
        ),
        _ => format!(
            "{now}, too long: so long waits what comes behind a transfer. {} packets ({then}) make no transfer slower.",
            to.packets
        ),
    }
}

fn held_s(packets: u32, rate: BitRate) -> f64 {
    f64::from(packets) * PACKET_BITS / (rate.bits_per_s().max(1) as f64)
}

/// Bits of a full packet on Ethernet, with its frame check sequence.
const PACKET_BITS: f64 = 1_518.0 * 8.0;
/// A queue that holds less, seconds, cannot take what a transfer over a long path sends at once.
const SHORT_S: f64 = 0.05;
/// A queue that holds more, seconds, makes waiting noticeable for whatever shares it.
const LONG_S: f64 = 0.4;
/// What a queue is tried with, seconds: the longest round trip of the table.
const WANTED_S: f64 = 0.1;
/// Packets of the shortest queue that is advised.
const FEWEST: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(packets: u32, megabits: u64) -> OwnQueue {
        OwnQueue {
            at: QueueAt::Discipline {
                device: "eth0".to_owned(),
                parent: None,
            },
            rate: BitRate::new(megabits * 1_000_000),
            packets,
        }
    }

    /// Four packets before 100 kbit/s were called too long, and ten were advised.
    #[test]
    fn what_is_too_long_is_never_made_longer() {
        for packets in 1..=FEWEST {
            let slow = OwnQueue {
                rate: BitRate::new(100_000),
                ..queue(packets, 1)
            };
            assert_eq!(slow.better(), None, "{packets}");
        }
        let slow = OwnQueue {
            rate: BitRate::new(100_000),
            ..queue(50, 1)
        };
        let to = slow.better().unwrap();
        assert_eq!((to.packets, to.short), (FEWEST, false));
    }

    #[test]
    fn lengths_follow_the_rate() {
        for (packets, megabits, better) in [
            (200, 10, None),
            (200, 4, Some((33, false))),
            (20, 16, Some((132, true))),
            (1000, 100, None),
            (64, 1000, Some((8235, true))),
        ] {
            let found = queue(packets, megabits).better();
            assert_eq!(
                found.map(|to| (to.packets, to.short)),
                better,
                "{packets} at {megabits} Mbit/s"
            );
        }
    }
}

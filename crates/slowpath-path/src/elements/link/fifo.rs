//! First in, first out, with tail drop.
//!
//! Since order and service never change once a packet is in, each packet's end of transmission is computed when it
//! arrives; the queue then is a list of times, and the only event is "the first has been sent".

use serde::{Deserialize, Serialize};
use slowpath_record::Traffic;
use slowpath_units::{Layer, Time};

use super::limit::Limit;
use super::server::{Rate, Server};
use crate::context::Step;
use crate::dice::Dice;
use crate::elements::loss::{DropUnit, TrainVerdict};
use crate::outcome::DropCause;
use crate::packet::Packet;
use crate::ring::Ring;

/// First in, first out; the newest is dropped when full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fifo {
    /// How much may wait.
    pub limit: Limit,
    /// What one drop is about.
    #[serde(default)]
    pub unit: DropUnit,
}

impl Fifo {
    /// A queue with this limit that drops single packets.
    pub const fn new(limit: Limit) -> Self {
        Self {
            limit,
            unit: DropUnit::Packet,
        }
    }
}

#[derive(Debug)]
pub(crate) struct State {
    server: Server,
    layer: Layer,
    limit: Limit,
    trains: bool,
    verdicts: TrainVerdict,
    /// The first is being sent now.
    queue: Ring<Sending>,
    /// Bytes of all of `queue`, at `layer`.
    bytes: u64,
}

impl State {
    pub(super) fn new(rate: &Rate, layer: Layer, fifo: &Fifo, rate_dice: &Dice) -> Self {
        Self {
            server: Server::new(rate, rate_dice),
            layer,
            limit: fifo.limit,
            trains: fifo.unit == DropUnit::Train,
            verdicts: TrainVerdict::default(),
            queue: Ring::new(),
            bytes: 0,
        }
    }

    #[inline]
    pub(super) fn accept(&mut self, at: Time, packet: &Packet) -> Step {
        let bytes = packet.bytes(self.layer);
        if self.trains {
            let full = self
                .verdicts
                .known(true, packet)
                .unwrap_or_else(|| self.is_full(at, bytes));
            self.verdicts.remember(packet, full);
            if full {
                return Step::Drop(DropCause::QueueFull);
            }
        } else if self.is_full(at, bytes) {
            return Step::Drop(DropCause::QueueFull);
        }
        let sent = self.server.send(at, bytes);
        self.bytes += u64::from(bytes);
        let last = self.queue.place(|| Sending {
            sent,
            bytes,
            packet: *packet,
        });
        last.sent = sent;
        last.bytes = bytes;
        last.packet = *packet;
        Step::Hold(self.next_event())
    }

    /// Whether a packet of `bytes` that has to wait finds no room.
    #[inline]
    fn is_full(&self, at: Time, bytes: u32) -> bool {
        // What is queued and not being sent is less than what is queued: most often that settles it.
        match self.limit {
            Limit::None => false,
            Limit::Packets(most) => self.queue.len() > most as usize && self.is_full_exactly(at, bytes),
            Limit::Bytes(most) => self.bytes + u64::from(bytes) > most && self.is_full_exactly(at, bytes),
            Limit::Time(longest) => self.server.idle_from().since(at) > longest,
        }
    }

    fn is_full_exactly(&self, at: Time, bytes: u32) -> bool {
        if self.server.idle_from() <= at {
            return false;
        }
        let (packets, gone) = self.not_waiting(at);
        match self.limit {
            Limit::Packets(most) => self.queue.len() - packets >= most as usize,
            Limit::Bytes(most) => self.bytes - gone + u64::from(bytes) > most,
            Limit::Time(_) | Limit::None => false,
        }
    }

    /// Packets and bytes in `queue` that at `at` are sent or being sent; events of the same instant may be due still.
    fn not_waiting(&self, at: Time) -> (usize, u64) {
        let (mut packets, mut bytes) = (0, 0);
        for sending in self.queue.iter() {
            packets += 1;
            bytes += u64::from(sending.bytes);
            if sending.sent > at {
                break;
            }
        }
        (packets, bytes)
    }

    #[inline]
    pub(super) fn next_event(&self) -> Time {
        self.queue.front().map_or(Time::MAX, |first| first.sent)
    }

    #[inline]
    pub(super) fn release(&mut self, packet: &mut Packet) {
        let first = self
            .queue
            .front()
            .expect("an event is due only while packets are inside");
        *packet = first.packet;
        self.bytes -= u64::from(first.bytes);
        self.queue.pop();
    }

    pub(super) fn inside(&self) -> Traffic {
        let mut inside = Traffic::default();
        self.queue
            .iter()
            .for_each(|sending| inside.count(sending.packet.ip_len));
        inside
    }
}

/// A packet in the queue, with the time at which it has been sent and its bytes at the link's layer.
#[derive(Debug, Clone, Copy)]
struct Sending {
    sent: Time,
    bytes: u32,
    packet: Packet,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::link::Link;
    use crate::packet::{Cargo, FlowId};
    use slowpath_units::{BitRate, Duration};

    /// 1000 bytes each at 8 Mbit/s take 1 ms; returns which of `arrivals` (in us) are accepted.
    fn accepted(limit: Limit, arrivals: &[u64]) -> Vec<bool> {
        let link = Link::fifo(BitRate::new(8_000_000), Layer::Ip, limit);
        let mut state = State::new(&link.rate, link.layer, &Fifo::new(limit), &Dice::new(1, "link"));
        let mut verdicts = Vec::new();
        for at in arrivals.iter().map(|us| Time::ZERO + Duration::from_micros(*us)) {
            while state.next_event() < at {
                state.release(&mut Packet::new(Cargo::new(0), FlowId(0), 0));
            }
            let packet = Packet::new(Cargo::new(0), FlowId(0), 1000);
            verdicts.push(matches!(state.accept(at, &packet), Step::Hold(_)));
        }
        verdicts
    }

    #[test]
    fn limits_count_what_waits_and_not_what_is_being_sent() {
        assert_eq!(
            accepted(Limit::Packets(2), &[0, 0, 0, 0]),
            [true, true, true, false]
        );
        assert_eq!(accepted(Limit::Packets(0), &[0, 500, 1000]), [true, false, true]);
        assert_eq!(
            accepted(Limit::Bytes(2999), &[0, 0, 0, 0]),
            [true, true, true, false]
        );
        assert_eq!(
            accepted(Limit::Time(Duration::from_millis(2)), &[0, 0, 0, 0]),
            [true, true, true, false]
        );
        assert_eq!(accepted(Limit::None, &[0; 5]), [true; 5]);
    }

    #[test]
    fn a_train_is_taken_or_dropped_as_a_whole() {
        let fifo = Fifo {
            limit: Limit::Packets(1),
            unit: DropUnit::Train,
        };
        let link = Link::fifo(BitRate::new(8_000_000), Layer::Ip, fifo.limit);
        let mut state = State::new(&link.rate, link.layer, &fifo, &Dice::new(1, "link"));
        let mut taken = |at: u64, train| {
            let at = Time::ZERO + Duration::from_micros(at);
            while state.next_event() < at {
                state.release(&mut Packet::new(Cargo::new(0), FlowId(0), 0));
            }
            let packet = Packet {
                train,
                ..Packet::new(Cargo::new(0), FlowId(0), 1000)
            };
            matches!(state.accept(at, &packet), Step::Hold(_))
        };
        // The first train finds room for its first packet, so all four are in; the second finds none, even for the
        // packet that comes when there would be room again; the third does.
        assert_eq!([taken(0, 1), taken(0, 1), taken(0, 1), taken(0, 1)], [true; 4]);
        assert_eq!([taken(10, 2), taken(10, 2), taken(5000, 2)], [false; 3]);
        assert_eq!(
            [taken(5000, 3), taken(5000, 0), taken(5000, 0)],
            [true, true, false]
        );
    }

    #[test]
    fn a_packet_that_ends_at_this_instant_makes_room() {
        // At 1000 us the first is just sent and the second goes on the wire, whether or not the event was handled.
        assert_eq!(
            accepted(Limit::Packets(1), &[0, 0, 999, 1000]),
            [true, true, false, true]
        );
        assert_eq!(
            accepted(Limit::Bytes(1000), &[0, 0, 999, 1000]),
            [true, true, false, true]
        );
    }
}

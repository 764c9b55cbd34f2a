//! Acknowledgements that a capture holds before the data that they acknowledge.
//!
//! Beside a receiver both directions may be recorded by different queues or processors, each with its own delay, and an
//! acknowledgement overtakes what it acknowledges by some microseconds, sometimes milliseconds. Taken as it stands, it
//! says that the capture missed data, and the data behind it that it was sent again. It waits for its data here, unless
//! that shows to be missing.

use slowpath_record::packets::{TcpFlags, TcpPacket};

use super::conn::Conn;

/// How long an acknowledgement waits for its data, nanoseconds.
const PATIENCE_NS: i64 = 10_000_000;
/// Acknowledgements that wait at a time.
const WAITING: usize = 256;

impl Conn {
    /// Whether a packet is nothing but an acknowledgement of data that was not seen yet.
    pub(super) fn comes_before_its_data(&self, packet: &TcpPacket) -> bool {
        let sender = &self.halves[packet.direction.reversed().index()];
        // A FIN counts for one.
        let stands = sender.counters.data_packets > 0 || sender.syn.is_some();
        is_bare(packet) && stands && sender.extend(packet.ack) > sender.next + 1
    }

    /// Takes a packet while acknowledgements wait, or that has to wait itself.
    pub(super) fn take_in_disorder(&mut self, packet: &TcpPacket) {
        if self
            .held
            .first()
            .is_some_and(|first| self.tells_of_a_gap(first, packet))
        {
            self.release_held();
        }
        let follows = self
            .held
            .first()
            .is_some_and(|first| first.direction == packet.direction);
        if self.held.len() < WAITING && is_bare(packet) && (follows || self.comes_before_its_data(packet)) {
            self.held.push(*packet);
            return;
        }
        if follows {
            self.release_held();
        }
        self.follow(packet);
        let sender = packet.direction.index();
        let seen = self.halves[sender].next;
        let arrived = self
            .held
            .iter()
            .take_while(|ack| {
                ack.direction != packet.direction && self.halves[sender].extend(ack.ack) <= seen
            })
            .count();
        for mut ack in self.held.drain(..arrived).collect::<Vec<_>>() {
            ack.at = ack.at.max(packet.at);
            self.follow(&ack);
        }
    }

    /// Follows what still waits: its data never came.
    pub(crate) fn release_held(&mut self) {
        for ack in std::mem::take(&mut self.held) {
            self.follow(&ack);
        }
    }

    /// Whether `packet` shows that the data of `first`, which waits, will not come any more.
    fn tells_of_a_gap(&self, first: &TcpPacket, packet: &TcpPacket) -> bool {
        let sender = &self.halves[first.direction.reversed().index()];
        let skips = packet.direction != first.direction
            && packet.payload_len > 0
            && sender.extend(packet.seq) > sender.next;
        skips || packet.at - first.at > PATIENCE_NS || self.held.len() >= WAITING
    }
}

fn is_bare(packet: &TcpPacket) -> bool {
    let other = [TcpFlags::SYN, TcpFlags::FIN, TcpFlags::RST];
    packet.payload_len == 0
        && packet.flags.has(TcpFlags::ACK)
        && !other.iter().any(|&flag| packet.flags.has(flag))
}

//! Following connections as a state machine: packets in, [`CaptureFacts`] out.

use slowpath_packet::Protocol;
use slowpath_record::packets::{
    CaptureSummary, ConversationId, Conversations, Marks, OtherPacket, Record, TcpPacket,
};

use crate::capture::CaptureFacts;
use crate::observe::{Seen, observe};
use crate::spread::{self, Spread};
use crate::track::{Clock, Conn, Half};

/// No connection for a conversation yet.
const NONE: u32 = u32::MAX;
/// Most connections followed at a time; beyond it, small ones that ended or rest are only counted.
const FOLLOWED: usize = 50_000;
/// A connection without a packet for this long may be given up, nanoseconds.
const RESTING_NS: i64 = 60_000_000_000;
/// Connections with fewer payload bytes are given up first.
const SMALL: u64 = 200_000;

/// Packets behind a gap that wait for one of the other end, at most.
const MOST_BEHIND: usize = 64;

/// No packet's payload is longer, whatever a header says (BIG TCP ends at 512 KiB).
const LONGEST: u32 = 1 << 24;

/// Takes decoded packets in capture order and says at the end what they show.
///
/// * Input: [`push`](Self::push) for every packet.
/// * Output: [`look`](Self::look) in between, [`finish`](Self::finish) at the end.
///
/// Memory per connection is bounded: a few kilobytes for a short one, some 15 MB for the longest. Of very many
/// connections the small ones are given up once they have ended.
#[derive(Debug, Default)]
pub struct Analyzer {
    connections: Vec<Option<Box<Conn>>>,
    free: Vec<u32>,
    /// Newest connection of each conversation.
    newest: Vec<u32>,
    clock: Clock,
    packets: u64,
    /// Sum of frame lengths.
    bytes: u64,
    /// Of these, those of UDP.
    datagrams: u64,
    opened: u32,
    given_up: u64,
    /// When the capturing machine held packets up: beginnings and ends in order, nanoseconds.
    disturbed: Vec<(i64, i64)>,
    without_graphs: bool,
    /// Packets behind a gap that their sender's timestamps do not show, until the other end has said whether its clock does.
    behind_gap: Vec<TcpPacket>,
}

impl Analyzer {
    /// An analysis that has seen no packet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next packet. `conversations` must already hold the packet's conversation.
    pub fn push(&mut self, record: &Record, conversations: &Conversations) {
        match record {
            Record::Tcp(packet) => self.tcp(packet, conversations),
            Record::Other(packet) => self.other(packet),
        }
    }

    /// Leaves out of the analysis what the capture's times say in these spans, in which the capturing machine, and not the
    /// path, held packets up: beginnings and ends in order, in the capture's nanoseconds. Call it before
    /// [`prepare`](Self::prepare) and [`finish`](Self::finish).
    pub fn leave_out(&mut self, spans: &[(i64, i64)]) {
        if spans.is_empty() {
            return;
        }
        for connection in self.connections.iter_mut().flatten() {
            for half in &mut connection.halves {
                half.tx.leave_out(spans);
            }
        }
        self.disturbed = spans.to_vec();
    }

    /// Tells the scales of the windows that both ends of a conversation advertise, that of the forward direction's sender first:
    /// the kernel of either end knows them when the handshake was before the first packet. Call it before
    /// [`finish`](Self::finish).
    pub fn tell_window_scales(&mut self, conversation: ConversationId, scales: [u8; 2]) {
        for connection in self.connections.iter_mut().flatten() {
            if connection.conversation != conversation {
                continue;
            }
            for (half, scale) in connection.halves.iter_mut().zip(scales) {
                half.told_scale = Some(scale);
            }
        }
    }

    /// Leaves out the data of graphs, where nobody draws them; all else is the same.
    pub const fn leave_out_graphs(&mut self) {
        self.without_graphs = true;
    }

    /// What the packets show.
    pub fn finish(self, conversations: &Conversations, summary: &CaptureSummary) -> CaptureFacts {
        self.finish_spread(conversations, summary, &spread::here)
    }

    /// As [`finish`](Self::finish), with most of the work on several threads if the caller has them; results are the same.
    pub fn finish_spread(
        mut self,
        conversations: &Conversations,
        summary: &CaptureSummary,
        spread: Spread<'_>,
    ) -> CaptureFacts {
        self.take_behind_gap(conversations);
        for connection in self.connections.iter_mut().flatten() {
            connection.release_held();
        }
        self.seen(conversations, summary, spread)
    }

    /// What the packets show so far, for a capture that still grows.
    pub fn look(&self, conversations: &Conversations, summary: &CaptureSummary) -> CaptureFacts {
        self.seen(conversations, summary, &spread::here)
    }

    fn seen(
        &self,
        conversations: &Conversations,
        summary: &CaptureSummary,
        spread: Spread<'_>,
    ) -> CaptureFacts {
        let mut connections: Vec<&Conn> = self.connections().collect();
        connections.sort_by_key(|connection| connection.id);
        let seen = Seen {
            clock: &self.clock,
            packets: self.packets,
            bytes: self.bytes,
            datagrams: self.datagrams,
            connections: u64::from(self.opened),
            disturbed: &self.disturbed,
            graphs: !self.without_graphs,
        };
        observe(&connections, &seen, conversations, summary, spread)
    }

    /// The connections followed, in no particular order.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &Conn> {
        self.connections.iter().flatten().map(AsRef::as_ref)
    }

    fn tcp(&mut self, packet: &TcpPacket, conversations: &Conversations) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_len);
        if packet.marks.has(Marks::NO_TIME) {
            self.clock.untimed += 1;
        }
        if let Some(first) = self.behind_gap.first() {
            let told = tells_of(first, packet);
            self.behind_gap.push(*packet);
            if told || self.behind_gap.len() >= MOST_BEHIND {
                self.take_behind_gap(conversations);
            }
        } else if self.clock.pauses(packet.at) && self.ran_ahead(packet).is_some() {
            self.behind_gap.push(*packet);
        } else {
            self.take(packet, conversations);
        }
    }

    /// By how much the capture's clock ran ahead of that of a packet's sender since its last one.
    fn ran_ahead(&self, packet: &TcpPacket) -> Option<i64> {
        self.half_of(packet)?
            .clock_ran_ahead(packet.timestamps?.value, self.clock.corrected(packet.at))
    }

    /// What is known of a packet's sender.
    fn half_of(&self, packet: &TcpPacket) -> Option<&Half> {
        let newest = *self.newest.get(packet.conversation.0 as usize)? as usize;
        let connection = self.connections.get(newest)?.as_ref()?;
        Some(&connection.halves[packet.direction.index()])
    }

    /// Takes the packets behind a gap. It is a jump of the capture's clock unless the other end's own clock shows it: then what
    /// came first had waited on the path.
    fn take_behind_gap(&mut self, conversations: &Conversations) {
        let packets = std::mem::take(&mut self.behind_gap);
        let Some((first, others)) = packets.split_first() else {
            return;
        };
        let other = others.iter().find(|packet| tells_of(first, packet));
        let waited = other.is_some_and(|other| {
            self.half_of(other).is_some_and(Half::is_timed) && self.ran_ahead(other).is_none()
        });
        if let Some(excess) = self.ran_ahead(first).filter(|_| !waited) {
            self.clock.leap(first.number, excess);
        }
        for packet in &packets {
            self.take(packet, conversations);
        }
    }

    fn take(&mut self, packet: &TcpPacket, conversations: &Conversations) {
        let index = packet.conversation.0 as usize;
        if self.newest.len() <= index {
            self.newest.resize(index + 1, NONE);
        }
        let newest = self.newest[index] as usize;
        let at = self.clock.correct(packet.at, packet.number);
        // Hardly any packet has to be changed; copying each costs a thirtieth of following it.
        let changed;
        let packet = if at == packet.at && packet.payload_len <= LONGEST && packet.ip_len <= LONGEST {
            packet
        } else {
            changed = TcpPacket {
                at,
                payload_len: packet.payload_len.min(LONGEST),
                ip_len: packet.ip_len.min(2 * LONGEST),
                ..*packet
            };
            &changed
        };
        if let Some(Some(connection)) = self.connections.get_mut(newest)
            && !connection.is_reopened_by(packet)
        {
            connection.take(packet);
            return;
        }
        self.open(packet, conversations);
    }

    /// Begins a connection with `packet`.
    fn open(&mut self, packet: &TcpPacket, conversations: &Conversations) {
        if self.free.is_empty() && self.connections.len() >= FOLLOWED {
            self.give_up(packet.at);
        }
        let key = conversations.key(packet.conversation);
        let mut connection = Box::new(Conn::new(self.opened, packet, key));
        connection.take(packet);
        self.opened = self.opened.saturating_add(1);
        let place = if let Some(place) = self.free.pop() {
            self.connections[place as usize] = Some(connection);
            place
        } else {
            self.connections.push(Some(connection));
            u32::try_from(self.connections.len() - 1).unwrap_or(NONE)
        };
        self.newest[packet.conversation.0 as usize] = place;
    }

    /// Frees small connections that ended or rest; if these are few, small ones in general.
    fn give_up(&mut self, now: i64) {
        self.release(|connection| {
            connection.payload() < SMALL && (connection.has_ended() || now - connection.span.1 > RESTING_NS)
        });
        if self.free.len() < FOLLOWED / 10 {
            self.release(|connection| {
                connection.payload() < SMALL / 10 && now - connection.span.1 > 1_000_000_000
            });
        }
    }

    fn release(&mut self, may_go: impl Fn(&Conn) -> bool) {
        for (place, slot) in self.connections.iter_mut().enumerate() {
            let Some(connection) = slot.as_deref().filter(|connection| may_go(connection)) else {
                continue;
            };
            let place = u32::try_from(place).unwrap_or(NONE);
            if let Some(newest) = self.newest.get_mut(connection.conversation.0 as usize)
                && *newest == place
            {
                *newest = NONE;
            }
            self.free.push(place);
            self.given_up += 1;
            *slot = None;
        }
    }

    fn other(&mut self, packet: &OtherPacket) {
        self.packets += 1;
        self.bytes += u64::from(packet.ip_len);
        if packet.protocol == Protocol::UDP {
            self.datagrams += u64::from(packet.ip_len);
        }
        self.clock.correct(packet.at, packet.number);
        let Some(error) = packet.icmp else { return };
        let too_big = matches!((error.kind, error.code), (3, 4) | (2, 0));
        if let (true, Some((conversation, _))) = (too_big, error.quoted)
            && let Some(&newest) = self.newest.get(conversation.0 as usize)
            && let Some(Some(connection)) = self.connections.get_mut(newest as usize)
            && connection.too_big.len() < 16
        {
            connection.too_big.push((packet.number, error.mtu));
        }
    }
}

/// Whether `packet` is one of the other end's with its own clock's time, which tells of the gap before `first`.
fn tells_of(first: &TcpPacket, packet: &TcpPacket) -> bool {
    packet.conversation == first.conversation
        && packet.direction != first.direction
        && packet.timestamps.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_packet::{FlowKey, Protocol};
    use slowpath_record::packets::TcpFlags;
    use std::net::{Ipv4Addr, SocketAddr};

    #[test]
    fn a_million_connections_stay_within_bounds() {
        let mut conversations = Conversations::new();
        let mut analyzer = Analyzer::new();
        let mut number = 0;
        for client in 0..200_000_u32 {
            let src = SocketAddr::from((Ipv4Addr::from(0x0a00_0000 + client), 4000));
            let key = FlowKey::new(Protocol::TCP, src, SocketAddr::from(([192, 0, 2, 1], 80)));
            let (conversation, direction) = conversations.intern(&key);
            for flags in [TcpFlags::SYN, TcpFlags::ACK.with(TcpFlags::FIN)] {
                number += 1;
                let mut packet = TcpPacket::new(conversation, direction, i64::from(client) * 1000, number);
                packet.flags = flags;
                packet.seq = client;
                analyzer.push(&Record::Tcp(packet), &conversations);
            }
        }
        assert!(
            analyzer.connections.len() <= FOLLOWED + 1,
            "{} followed",
            analyzer.connections.len()
        );
        let analysis = analyzer.finish(&conversations, &CaptureSummary::default());
        assert_eq!(analysis.capture.connections, 200_000);
        assert_eq!(analysis.capture.packets, 400_000);
    }
}

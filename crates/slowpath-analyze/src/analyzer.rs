//! The analysis as a state machine: packets in, an [`Analysis`] out.

use slowpath_record::packets::{CaptureSummary, Conversations, Marks, OtherPacket, Record, TcpPacket};

use crate::analysis::Analysis;
use crate::track::{Clock, Conn};

/// No connection for a conversation yet.
const NONE: u32 = u32::MAX;

/// Takes decoded packets in capture order and says at the end what they show.
///
/// * Input: [`push`](Self::push) for every packet.
/// * Output: [`finish`](Self::finish), once.
///
/// Memory per connection is bounded: a few hundred bytes for a short one, some 40 MB for the longest.
#[derive(Debug, Default)]
pub struct Analyzer {
    connections: Vec<Conn>,
    /// Newest connection of each conversation.
    newest: Vec<u32>,
    clock: Clock,
    packets: u64,
    /// Sum of frame lengths.
    bytes: u64,
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

    /// What the packets show.
    pub fn finish(self, conversations: &Conversations, summary: &CaptureSummary) -> Analysis {
        crate::judge::analysis(
            &self.connections,
            &self.clock,
            self.packets,
            self.bytes,
            conversations,
            summary,
        )
    }

    fn tcp(&mut self, packet: &TcpPacket, conversations: &Conversations) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_len);
        if packet.marks.has(Marks::NO_TIME) {
            self.clock.untimed += 1;
        }
        let mut packet = *packet;
        packet.at = self.clock.correct(packet.at, packet.number);
        let index = packet.conversation.0 as usize;
        if self.newest.len() <= index {
            self.newest.resize(index + 1, NONE);
        }
        let newest = self.newest[index];
        let reopened = self
            .connections
            .get(newest as usize)
            .is_none_or(|connection| connection.is_reopened_by(&packet));
        if reopened {
            self.newest[index] = u32::try_from(self.connections.len()).unwrap_or(NONE);
            let key = conversations.key(packet.conversation);
            self.connections.push(Conn::new(&packet, key));
        }
        if let Some(connection) = self.connections.get_mut(self.newest[index] as usize) {
            connection.take(&packet);
        }
    }

    fn other(&mut self, packet: &OtherPacket) {
        self.packets += 1;
        self.bytes += u64::from(packet.ip_len);
        self.clock.correct(packet.at, packet.number);
        let Some(error) = packet.icmp else { return };
        let too_big = matches!((error.kind, error.code), (3, 4) | (2, 0));
        if let (true, Some((conversation, _))) = (too_big, error.quoted)
            && let Some(&newest) = self.newest.get(conversation.0 as usize)
            && let Some(connection) = self.connections.get_mut(newest as usize)
            && connection.too_big.len() < 16
        {
            connection.too_big.push((packet.number, error.mtu));
        }
    }
}

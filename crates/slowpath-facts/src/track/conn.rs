//! One connection: two halves, who opened it, and when it ends.

use slowpath_packet::FlowKey;
use slowpath_record::packets::{ConversationId, Direction, TcpFlags, TcpPacket};

use super::half::Half;
use crate::ends::{EcnMode, Side};

/// One connection as it is followed.
#[derive(Debug)]
pub(crate) struct Conn {
    /// Number in the order of first packets.
    pub(crate) id: u32,
    /// Addresses and ports.
    pub(crate) conversation: ConversationId,
    /// The direction in which the client sends.
    pub(crate) client: Direction,
    /// Indexed by [`Direction::index`]: the data of that direction and the acknowledgements of it.
    pub(crate) halves: [Half; 2],
    /// First and last packet, nanoseconds.
    pub(crate) span: (i64, i64),
    /// ECN as negotiated.
    pub(crate) ecn: EcnMode,
    /// Whether ECN mode is known from the handshake.
    pub(crate) handshake_seen: bool,
    /// From the last SYN to the SYN of the peer, and from there to the first acknowledgement, nanoseconds.
    pub(crate) handshake_ns: (Option<i64>, Option<i64>),
    /// Packets of the capture recorded twice.
    pub(crate) duplicates: u64,
    /// ICMP messages "too big" about this connection: frame number and MTU.
    pub(crate) too_big: Vec<(u64, u16)>,
    /// Smallest sum of both halves' round-trip parts so far, nanoseconds.
    base_rtt_ns: Option<i64>,
    /// Acknowledgements recorded before the data that they acknowledge.
    pub(super) held: Vec<TcpPacket>,
    syn_ack_at: Option<i64>,
    ended: bool,
    reset: bool,
}

impl Conn {
    /// A connection that begins with `packet`.
    pub(crate) fn new(id: u32, packet: &TcpPacket, key: Option<&FlowKey>) -> Self {
        let syn = packet.flags.has(TcpFlags::SYN);
        let by_server = if syn {
            packet.flags.has(TcpFlags::ACK)
        } else {
            sent_by_server(packet, key)
        };
        let client = if by_server {
            packet.direction.reversed()
        } else {
            packet.direction
        };
        Self {
            id,
            conversation: packet.conversation,
            client,
            halves: [Half::default(), Half::default()],
            span: (packet.at, packet.at),
            ecn: EcnMode::None,
            handshake_seen: false,
            handshake_ns: (None, None),
            duplicates: 0,
            too_big: Vec::new(),
            base_rtt_ns: None,
            held: Vec::new(),
            syn_ack_at: None,
            ended: false,
            reset: false,
        }
    }

    /// Whether `packet` opens another connection between the same ports.
    pub(crate) fn is_reopened_by(&self, packet: &TcpPacket) -> bool {
        if !packet.flags.has(TcpFlags::SYN) {
            return false;
        }
        let half = &self.halves[packet.direction.index()];
        if let Some(syn) = half.syn {
            return syn.seq != packet.seq;
        }
        // A SYN after data: a new connection unless it is the handshake's second half.
        let acknowledges = packet.flags.has(TcpFlags::ACK);
        (self.ended || self.reset || half.counters.data_packets > 0) && !acknowledges
    }

    /// Takes a packet; `at` inside it is the corrected time.
    pub(crate) fn take(&mut self, packet: &TcpPacket) {
        if self.held.is_empty() && !self.comes_before_its_data(packet) {
            self.follow(packet);
        } else {
            self.take_in_disorder(packet);
        }
    }

    /// Follows a packet that stands in order.
    pub(super) fn follow(&mut self, packet: &TcpPacket) {
        let own = packet.direction.index();
        let peer = packet.direction.reversed().index();
        if self.halves[own].is_duplicate(packet) {
            self.duplicates += 1;
            self.halves[own].counters.hardware_duplicates += 1;
            return;
        }
        self.span.1 = self.span.1.max(packet.at);
        self.handshake(packet);
        if let Some(times) = packet.timestamps
            && packet.flags.has(TcpFlags::ACK)
            && let Some(span) = self.halves[peer].echo_of(times.echo, packet.at)
            && packet.payload_len > 0
            && self.halves[own].was_released(span, packet.at)
        {
            self.released(own, packet, span);
        }
        let base = self.base_rtt_ns;
        // Also before any data: acknowledgements alone show what a capture missed.
        if !packet.flags.has(TcpFlags::SYN) && self.halves[own].segment_limit == 0 {
            self.set_segment_limits(packet);
        }
        let answers = packet.payload_len > 0 && self.halves[peer].is_news(packet.ack);
        self.halves[own].sent(packet, base);
        if answers {
            self.halves[own].answers(packet.number);
        }
        self.pending_release(own);
        let accurate = self.ecn == EcnMode::Accurate;
        self.halves[peer].acknowledged(packet, accurate);
        if packet.flags.has(TcpFlags::FIN) || packet.flags.has(TcpFlags::RST) {
            self.ended = true;
            self.reset |= packet.flags.has(TcpFlags::RST);
        }
    }

    /// The half in which the client sends, or the server.
    pub(crate) fn half(&self, side: Side) -> &Half {
        let direction = match side {
            Side::Client => self.client,
            Side::Server => self.client.reversed(),
        };
        &self.halves[direction.index()]
    }

    /// The side that sent more payload, and how much.
    pub(crate) fn larger_side(&self) -> (Side, u64) {
        let size = |side: Side| {
            let half = self.half(side);
            half.counters.unique_bytes.max(half.delivered())
        };
        let (client, server) = (size(Side::Client), size(Side::Server));
        if client > server {
            (Side::Client, client)
        } else {
            (Side::Server, server)
        }
    }

    /// Whether a FIN or RST was seen.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Payload seen in both directions.
    pub(crate) const fn payload(&self) -> u64 {
        self.halves[0].counters.data_bytes + self.halves[1].counters.data_bytes
    }

    fn released(&mut self, own: usize, packet: &TcpPacket, span: i64) {
        self.halves[own].pending_release = Some((packet.number, span));
    }

    fn pending_release(&mut self, own: usize) {
        let half = &mut self.halves[own];
        if let Some((number, span)) = half.pending_release.take()
            && let Some(tx) = half.tx.last_mut()
            && tx.number == number
            && !tx.flags.has(super::log::TxFlags::GAP)
        {
            tx.release = (span as f64 / 1e9) as f32;
        }
    }

    fn handshake(&mut self, packet: &TcpPacket) {
        let (syn, ack) = (packet.flags.has(TcpFlags::SYN), packet.flags.has(TcpFlags::ACK));
        if syn && ack {
            let client = &self.halves[packet.direction.reversed().index()];
            if let Some(offer) = client.syn {
                self.handshake_ns.0 = Some(packet.at - offer.last_at);
                if offer.at == offer.last_at && self.syn_ack_at.is_none() {
                    let client = packet.direction.reversed().index();
                    self.halves[client].counters.rtt_sample(packet.at - offer.at);
                }
                self.ecn = negotiated(offer.ace, packet.flags.ace());
                self.handshake_seen = true;
            }
            self.syn_ack_at = Some(packet.at);
            self.client = packet.direction.reversed();
        } else if !syn
            && ack
            && self.handshake_ns.1.is_none()
            && packet.direction == self.client
            && let Some(at) = self.syn_ack_at
        {
            self.handshake_ns.1 = Some(packet.at - at);
            self.halves[packet.direction.reversed().index()]
                .counters
                .rtt_sample(packet.at - at);
            if let (Some(there), Some(back)) = self.handshake_ns {
                self.base_rtt_ns = Some((there + back).max(1));
            }
        }
    }

    /// Sets the size of a full segment in both directions from the SYNs, or else from what is seen.
    fn set_segment_limits(&mut self, packet: &TcpPacket) {
        let offers = [0, 1].map(|index: usize| self.halves[index].syn.and_then(|syn| syn.mss));
        let options: u16 = if packet.timestamps.is_some() { 12 } else { 0 };
        let smallest = match offers {
            [Some(a), Some(b)] => Some(a.min(b)),
            [a, b] => a.or(b),
        };
        let limit = smallest
            .filter(|mss| *mss >= 88)
            .map_or_else(|| 1460 - u32::from(options), |mss| u32::from(mss - options));
        for half in &mut self.halves {
            half.segment_limit = limit;
        }
    }
}

/// Without a SYN: whether the sender of `packet` looks like the server, by a well-known port.
fn sent_by_server(packet: &TcpPacket, key: Option<&FlowKey>) -> bool {
    let Some(key) = key else { return false };
    let (src, dst) = match packet.direction {
        Direction::Forward => (key.src_port, key.dst_port),
        Direction::Backward => (key.dst_port, key.src_port),
    };
    src < 1024 && dst >= 1024
}

/// How marks are fed back after this handshake (RFC 3168, section 6.1.1; RFC 9768, section 3.1.1).
const fn negotiated(syn: u8, syn_ack: u8) -> EcnMode {
    match (syn, syn_ack) {
        (0b111, 0b010 | 0b011 | 0b100 | 0b110) => EcnMode::Accurate,
        (0b111 | 0b011, 0b001) => EcnMode::Classic,
        _ => EcnMode::None,
    }
}

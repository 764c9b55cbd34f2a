//! Packets as an analysis wants them.
//!
//! The capture reader and the simulator both produce a stream of [`Record`]s in capture order;
//! everything behind it sees only these and cannot tell where they came from. A [`TcpPacket`] is plain,
//! `Copy` and holds no reference into the frame, so producing one allocates nothing.
//!
//! * [`TcpPacket`]: one TCP segment. Start here.
//! * [`OtherPacket`]: what is kept of UDP, ICMP and the rest.
//! * [`Conversations`]: addresses and ports, interned so that a packet carries four bytes of them.
//! * [`CaptureSummary`]: what the reader knows about the file as a whole.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};
use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};

/// One decoded packet, in capture order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Record {
    /// A TCP segment.
    Tcp(TcpPacket),
    /// Anything else with an IP header.
    Other(OtherPacket),
}

/// One TCP segment as it was seen at one tap.
///
/// Lengths come from headers, never from the number of captured bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpPacket {
    /// Capture time in nanoseconds since 1970-01-01 (or since the start of a simulated run); may be negative.
    pub at: i64,
    /// Number of the frame in its capture, from 1, as Wireshark counts it.
    pub number: u64,
    /// The conversation (unordered pair of endpoints) it belongs to.
    pub conversation: ConversationId,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgement number; meaningless without [`TcpFlags::ACK`].
    pub ack: u32,
    /// Bytes of TCP payload.
    pub payload_len: u32,
    /// Bytes of the IP packet (the innermost, if tunnelled).
    pub ip_len: u32,
    /// Bytes of the frame on the wire at the tap, as the capture states them.
    pub wire_len: u32,
    /// Timestamp option: value and echo (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// SACK blocks in the order in which they stand in the option (RFC 2018); the first may be a D-SACK (RFC 2883).
    pub sack: SackBlocks,
    /// Accurate ECN option (RFC 9768).
    pub accecn: Option<AccEcn>,
    /// Interface (tap) within the capture.
    pub interface: u16,
    /// The window field as it stands in the header, not scaled.
    pub window: u16,
    /// Control bits.
    pub flags: TcpFlags,
    /// IPv4 identification; `None` for IPv6.
    pub ip_id: Option<u16>,
    /// Options of a SYN; [`SynOptions::NONE`] on any other segment.
    pub syn: SynOptions,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Which way it travels in its conversation.
    pub direction: Direction,
    /// What the reader could not see or had to infer.
    pub marks: Marks,
}

impl TcpPacket {
    /// A bare segment with the given place and time; every other field is zero or absent.
    pub const fn new(conversation: ConversationId, direction: Direction, at: i64, number: u64) -> Self {
        Self {
            at,
            number,
            conversation,
            seq: 0,
            ack: 0,
            payload_len: 0,
            ip_len: 0,
            wire_len: 0,
            timestamps: None,
            sack: SackBlocks::NONE,
            accecn: None,
            interface: 0,
            window: 0,
            flags: TcpFlags::NONE,
            ip_id: None,
            syn: SynOptions::NONE,
            ttl: 64,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            direction,
            marks: Marks::NONE,
        }
    }

    /// Sequence space the segment occupies: payload, and one each for SYN and FIN.
    pub const fn seq_len(&self) -> u32 {
        self.payload_len + self.flags.has(TcpFlags::SYN) as u32 + self.flags.has(TcpFlags::FIN) as u32
    }
}

/// What is kept of a packet that is not TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherPacket {
    /// Capture time in nanoseconds, as in [`TcpPacket::at`].
    pub at: i64,
    /// Number of the frame in its capture, from 1.
    pub number: u64,
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// IP protocol.
    pub protocol: Protocol,
    /// Bytes of the IP packet.
    pub ip_len: u32,
    /// Interface (tap) within the capture.
    pub interface: u16,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Which way it travels in its conversation.
    pub direction: Direction,
    /// ICMP type and code, next-hop MTU and the quoted conversation, for ICMP errors.
    pub icmp: Option<IcmpError>,
}

/// What an ICMP or ICMPv6 error says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpError {
    /// ICMP type.
    pub kind: u8,
    /// ICMP code.
    pub code: u8,
    /// Next-hop MTU of "fragmentation needed" (RFC 1191) or "packet too big" (RFC 8201); 0 if not stated.
    pub mtu: u16,
    /// The conversation of the quoted packet and the direction in which that packet travelled.
    pub quoted: Option<(ConversationId, Direction)>,
}

/// TCP timestamps (RFC 7323).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timestamps {
    /// TSval, the sender's clock.
    pub value: u32,
    /// TSecr, the echo; meaningful with ACK only.
    pub echo: u32,
}

/// Up to four SACK blocks, each `[left, right)` in sequence space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(u32, u32); 4],
    len: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const NONE: Self = Self {
        blocks: [(0, 0); 4],
        len: 0,
    };

    /// Adds a block; a fifth one, which no valid header has room for, is dropped.
    pub const fn push(&mut self, left: u32, right: u32) {
        if (self.len as usize) < self.blocks.len() {
            self.blocks[self.len as usize] = (left, right);
            self.len += 1;
        }
    }

    /// The blocks in header order.
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len).min(self.blocks.len())]
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Counters of the accurate ECN option, 24 bits each; `None` for a counter the option left out (RFC 9768, 3.2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccEcn {
    /// Bytes received with ECT(0).
    pub ect0: Option<u32>,
    /// Bytes received with CE.
    pub ce: Option<u32>,
    /// Bytes received with ECT(1).
    pub ect1: Option<u32>,
}

/// Options that have a meaning on a SYN only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SynOptions {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale shift as it stands in the option (RFC 7323 caps its effect at 14).
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack_permitted: bool,
}

impl SynOptions {
    /// None of them.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
    };
}

/// TCP control bits, the low nine bits of header bytes 12 and 13.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// No more data.
    pub const FIN: Self = Self(0x01);
    /// Synchronise.
    pub const SYN: Self = Self(0x02);
    /// Reset.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x20);
    /// ECN echo (RFC 3168), or part of the ACE counter (RFC 9768).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168), or part of the ACE counter (RFC 9768).
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN (RFC 9768).
    pub const AE: Self = Self(0x100);

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both sets of bits.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The three-bit ACE counter: AE, CWR, ECE (RFC 9768, section 3.2.2).
    pub const fn ace(self) -> u8 {
        ((self.0 >> 6) & 7) as u8
    }
}

/// What the reader could not see or had to infer about a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Marks(pub u8);

impl Marks {
    /// Everything was there.
    pub const NONE: Self = Self(0);
    /// The frame was cut before the end of the TCP options: absent options may have been there.
    pub const OPTIONS_CUT: Self = Self(0x01);
    /// Fewer bytes captured than were on the wire (harmless by itself).
    pub const CUT: Self = Self(0x02);
    /// The IP length was 0 and the length was taken from the frame (segmentation offload, BIG TCP).
    pub const LENGTH_INFERRED: Self = Self(0x04);
    /// A fragment of a larger packet.
    pub const FRAGMENT: Self = Self(0x08);
    /// The capture gave this packet no time stamp.
    pub const NO_TIME: Self = Self(0x10);
    /// The inner packet of a tunnel.
    pub const TUNNELLED: Self = Self(0x20);

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    pub const fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Which way a packet travels in its conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Direction {
    /// From the endpoint that sent the first packet seen to the other.
    Forward = 0,
    /// The way back.
    Backward = 1,
}

impl Direction {
    /// The other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Forward => Self::Backward,
            Self::Backward => Self::Forward,
        }
    }

    /// 0 for forward, 1 for backward.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// An unordered pair of endpoints; an index into [`Conversations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(pub u32);

/// Addresses and ports of every conversation, in order of first appearance.
///
/// A producer calls [`intern`](Self::intern) once per packet. A conversation outlives connections: a port pair
/// that is used again is the same conversation.
#[derive(Debug, Clone)]
pub struct Conversations {
    keys: Vec<FlowKey>,
    index: HashMap<FlowKey, u32, BuildHasherDefault<FoldHasher>>,
    /// The conversations seen last, by their ports: packets of a few of them take turns.
    recent: [Option<(FlowKey, ConversationId, Direction)>; RECENT],
    /// The same of IPv4 alone, packed: nearly all packets are found here.
    near: [Option<Near>; RECENT],
}

/// A conversation seen of late, with its key in numbers that are compared at once.
#[derive(Debug, Clone, Copy)]
struct Near {
    addresses: u64,
    ports: u32,
    protocol: Protocol,
    id: ConversationId,
    direction: Direction,
}

/// Conversations that are found without the table: a power of two.
const RECENT: usize = 64;

impl Default for Conversations {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            index: HashMap::default(),
            recent: [None; RECENT],
            near: [None; RECENT],
        }
    }
}

impl Conversations {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The conversation of a packet that travels along `key`, and its direction. The first packet seen goes forward.
    #[inline]
    pub fn intern(&mut self, key: &FlowKey) -> (ConversationId, Direction) {
        // The same place for both directions.
        let ports = usize::from(key.src_port ^ key.dst_port);
        let place = (ports ^ ports >> 6) % RECENT;
        if let Some((addresses, ports)) = packed(key)
            && let Some(near) = &self.near[place]
            && near.protocol == key.protocol
        {
            if (near.addresses, near.ports) == (addresses, ports) {
                return (near.id, near.direction);
            }
            if (near.addresses, near.ports) == (addresses.rotate_left(32), ports.rotate_left(16)) {
                return (near.id, near.direction.reversed());
            }
        }
        self.find(key, place)
    }

    /// The conversation of `key` wherever it is known, or a new one; `place` is where it is looked for first.
    #[inline(never)]
    fn find(&mut self, key: &FlowKey, place: usize) -> (ConversationId, Direction) {
        if let Some((last, id, direction)) = self.recent[place] {
            if last == *key {
                return (id, direction);
            }
            if last.reversed() == *key {
                return (id, direction.reversed());
            }
        }
        let next = u32::try_from(self.keys.len()).unwrap_or(u32::MAX);
        let id = *self.index.entry(canonical(key)).or_insert(next);
        if id == next {
            self.keys.push(*key);
        }
        let forward = self.keys.get(id as usize).is_none_or(|first| first == key);
        let direction = if forward {
            Direction::Forward
        } else {
            Direction::Backward
        };
        self.recent[place] = Some((*key, ConversationId(id), direction));
        if let Some((addresses, ports)) = packed(key) {
            self.near[place] = Some(Near {
                addresses,
                ports,
                protocol: key.protocol,
                id: ConversationId(id),
                direction,
            });
        }
        (ConversationId(id), direction)
    }

    /// Endpoints of a conversation, in the forward direction.
    pub fn key(&self, id: ConversationId) -> Option<&FlowKey> {
        self.keys.get(id.0 as usize)
    }

    /// Number of conversations.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no packet has been seen.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// What the reader knows about a capture as a whole, at its end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaptureSummary {
    /// `pcap`, `pcapng` or `simulated`.
    pub format: String,
    /// Link types by their libpcap names, in order of appearance: `ethernet`, `linux-sll2`, `raw` ...
    pub link_types: Vec<String>,
    /// Frames read.
    pub packets: u64,
    /// Bytes of these frames on the wire.
    pub bytes: u64,
    /// Frames that could not be decoded as IP.
    pub undecoded_packets: u64,
    /// Packets that the capturing machine itself says it dropped (pcapng interface statistics); `None` if it does not say.
    pub reported_drops: Option<u64>,
    /// Unit of the time stamps as the file states it, in nanoseconds; 0 if unknown.
    pub stated_resolution_ns: u64,
    /// Where and how the file broke off, if it did.
    pub damage: Option<String>,
    /// Largest number of bytes kept of a frame, if frames were cut.
    pub snap_len: Option<u32>,
}

/// Addresses and ports of IPv4, each in one number; half a turn of both is the way back.
#[inline]
fn packed(key: &FlowKey) -> Option<(u64, u32)> {
    let (IpAddr::V4(src), IpAddr::V4(dst)) = (key.src, key.dst) else {
        return None;
    };
    let addresses = u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits());
    let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
    Some((addresses, ports))
}

/// The same key for both directions.
fn canonical(key: &FlowKey) -> FlowKey {
    let (src, dst) = (endpoint(key.src, key.src_port), endpoint(key.dst, key.dst_port));
    if src <= dst { *key } else { key.reversed() }
}

const fn endpoint(address: IpAddr, port: u16) -> SocketAddr {
    SocketAddr::new(address, port)
}

/// A multiplicative hash; tables keyed with it are never iterated, so its order cannot reach a result.
#[derive(Debug, Clone, Copy, Default)]
struct FoldHasher(u64);

impl FoldHasher {
    const fn mix(&mut self, word: u64) {
        let product = (self.0.rotate_left(23) ^ word ^ 0xf39c_c060_5ced_c835) as u128 * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.mix(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(src: &str, dst: &str) -> FlowKey {
        FlowKey::new(Protocol::TCP, src.parse().unwrap(), dst.parse().unwrap())
    }

    #[test]
    fn both_directions_are_one_conversation_and_the_first_packet_goes_forward() {
        let mut table = Conversations::new();
        let (a, b) = (key("10.0.0.9:5000", "10.0.0.1:80"), key("10.0.0.2:1", "[::1]:2"));
        assert_eq!(table.intern(&a), (ConversationId(0), Direction::Forward));
        assert_eq!(table.intern(&b), (ConversationId(1), Direction::Forward));
        assert_eq!(
            table.intern(&a.reversed()),
            (ConversationId(0), Direction::Backward)
        );
        assert_eq!(table.intern(&a), (ConversationId(0), Direction::Forward));
        assert_eq!(
            table.intern(&b.reversed()),
            (ConversationId(1), Direction::Backward)
        );
        assert_eq!(table.key(ConversationId(0)), Some(&a));
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn packet_stays_small() {
        assert!(size_of::<TcpPacket>() <= 160, "{}", size_of::<TcpPacket>());
    }

    #[test]
    fn ace_is_read_from_three_flags() {
        let flags = TcpFlags::ACK.with(TcpFlags::AE).with(TcpFlags::ECE);
        assert_eq!(flags.ace(), 0b101);
        assert!(flags.has(TcpFlags::ACK) && !flags.has(TcpFlags::CWR));
    }
}

//! Packets as endpoints exchange them: decoded headers, and payload as real bytes or as a bare length.

use std::net::{IpAddr, SocketAddr};

use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol, Seq32};
use slowpath_units::Time;

/// The headers of one IP packet, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// Explicit congestion notification codepoint.
    pub ecn: Ecn,
    /// Time to live or hop limit.
    pub ttl: u8,
    /// Don't-fragment flag (always true for IPv6).
    pub df: bool,
    /// What the packet carries.
    pub transport: Transport,
}

impl Header {
    /// The flow the packet belongs to, in its own direction.
    pub fn flow(&self) -> FlowKey {
        let (protocol, src_port, dst_port) = match &self.transport {
            Transport::Tcp(tcp) => (Protocol::TCP, tcp.src_port, tcp.dst_port),
            Transport::Udp(udp) => (Protocol::UDP, udp.src_port, udp.dst_port),
            Transport::Echo(echo) => (self.icmp(), echo.identifier, 0),
            Transport::TooBig(_) => (self.icmp(), 0, 0),
        };
        FlowKey {
            src: self.src,
            dst: self.dst,
            src_port,
            dst_port,
            protocol,
        }
    }

    /// Bytes of the IP header: there are no options.
    pub const fn ip_header(&self) -> u32 {
        if self.src.is_ipv4() { 20 } else { 40 }
    }

    /// Length of the IP packet in bytes when it carries `payload` bytes.
    pub fn ip_len(&self, payload: u32) -> u32 {
        let ip = self.ip_header();
        let transport = match &self.transport {
            Transport::Tcp(tcp) => 20 + tcp.options.len(),
            Transport::Udp(_) | Transport::Echo(_) => 8,
            Transport::TooBig(_) => 8 + ip + 8,
        };
        ip + transport + payload
    }

    const fn icmp(&self) -> Protocol {
        if self.src.is_ipv4() {
            Protocol::ICMP
        } else {
            Protocol::ICMPV6
        }
    }
}

/// What an IP packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A TCP segment.
    Tcp(TcpHeader),
    /// A UDP datagram.
    Udp(UdpHeader),
    /// An ICMP echo request or reply.
    Echo(Echo),
    /// "Fragmentation needed" (RFC 1191) or "packet too big" (RFC 8201).
    TooBig(TooBig),
}

/// A TCP header (RFC 9293, section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpHeader {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number of the first byte (or of the SYN).
    pub seq: Seq32,
    /// Acknowledgement number; has a meaning only with the ACK flag.
    pub ack: Seq32,
    /// Control bits.
    pub flags: Flags,
    /// The window field as it stands on the wire, not scaled.
    pub window: u16,
    /// Options.
    pub options: Options,
}

/// The control bits of a TCP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(pub u8);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x80);

    /// Whether all bits of `other` are set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// TCP options that the models read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Maximum segment size (RFC 9293, section 3.7.1); on SYN only.
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323, section 2); on SYN only.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018); on SYN only.
    pub sack_permitted: bool,
    /// Timestamp value and echo reply (RFC 7323, section 3).
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks, most recent first.
    pub sack: SackBlocks,
}

impl Options {
    /// No options at all.
    pub const NONE: Self = Self {
        mss: None,
        window_scale: None,
        sack_permitted: false,
        timestamps: None,
        sack: SackBlocks::new(),
    };

    /// Length in bytes as laid out on the wire, padded to a multiple of four.
    ///
    /// Timestamps take 12 bytes and SACK 4 + 8 per block, each with its two alignment bytes, as
    /// Linux and most other stacks write them.
    pub fn len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4;
        }
        match (self.timestamps.is_some(), self.sack_permitted) {
            // On a SYN the two share one 12-byte group.
            (true, _) => len += 12,
            (false, true) => len += 4,
            (false, false) => {}
        }
        let blocks = u32::try_from(self.sack.as_slice().len()).unwrap_or(0);
        if blocks > 0 {
            len += 4 + 8 * blocks;
        }
        len
    }

    /// Whether there are no options at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Up to four SACK blocks, left and right edge each (RFC 2018, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlocks {
    blocks: [(Seq32, Seq32); 4],
    len: u8,
}

impl SackBlocks {
    /// No blocks.
    pub const fn new() -> Self {
        Self {
            blocks: [(Seq32(0), Seq32(0)); 4],
            len: 0,
        }
    }

    /// Appends a block; a fifth one is ignored.
    pub fn push(&mut self, left: Seq32, right: Seq32) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks in wire order.
    pub fn as_slice(&self) -> &[(Seq32, Seq32)] {
        &self.blocks[..usize::from(self.len)]
    }
}

/// A UDP header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Number of the datagram within its stream, from 0; real bytes carry it as iperf3 does.
    pub sequence: u64,
    /// When the source sent it, for one-way delay and jitter at the sink.
    pub sent: Time,
}

/// An ICMP echo message (RFC 792, RFC 4443).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Echo {
    /// Whether this is the reply.
    pub reply: bool,
    /// Identifier.
    pub identifier: u16,
    /// Sequence number.
    pub sequence: u16,
}

/// A report that a packet did not fit the next link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooBig {
    /// Largest IP packet that fits, in bytes.
    pub mtu: u32,
    /// The flow of the packet that did not fit, as it was sent.
    pub flow: FlowKey,
    /// TCP sequence number of that packet.
    pub seq: Seq32,
}

/// The payload of a received packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload<'a> {
    /// That many bytes whose values nobody cares for.
    Synthetic(u32),
    /// Real bytes.
    Bytes(&'a [u8]),
}

impl Payload<'_> {
    /// Nothing.
    pub const EMPTY: Self = Self::Synthetic(0);

    /// Length in bytes.
    pub fn len(&self) -> u32 {
        match self {
            Self::Synthetic(len) => *len,
            Self::Bytes(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The payload of a packet to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedPayload {
    /// That many filler bytes; a driver that needs real ones makes them up.
    Synthetic(u32),
    /// Real bytes (control connections).
    Bytes(Box<[u8]>),
}

impl OwnedPayload {
    /// The same payload, borrowed.
    pub fn borrow(&self) -> Payload<'_> {
        match self {
            Self::Synthetic(len) => Payload::Synthetic(*len),
            Self::Bytes(bytes) => Payload::Bytes(bytes),
        }
    }

    /// Length in bytes.
    pub fn len(&self) -> u32 {
        self.borrow().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A packet that a host wants to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// When the host hands it to its network interface, in model time.
    pub at: Time,
    /// Its headers.
    pub header: Header,
    /// Its payload.
    pub payload: OwnedPayload,
}

impl Transmit {
    /// Length of the IP packet in bytes.
    pub fn ip_len(&self) -> u32 {
        self.header.ip_len(self.payload.len())
    }
}

/// The two socket addresses of a TCP connection, seen from one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
}

impl Ends {
    /// The ends of the connection that a received segment belongs to.
    pub const fn receiving(header: &Header, tcp: &TcpHeader) -> Self {
        Self {
            local: SocketAddr::new(header.dst, tcp.dst_port),
            remote: SocketAddr::new(header.src, tcp.src_port),
        }
    }

    /// Whether these are the ends of the connection that a received segment belongs to; nothing is put together for that.
    #[inline]
    pub fn receive(&self, header: &Header, tcp: &TcpHeader) -> bool {
        self.local.port() == tcp.dst_port
            && self.remote.port() == tcp.src_port
            && self.local.ip() == header.dst
            && self.remote.ip() == header.src
    }

    /// The flow of the packets that this end sends.
    pub const fn outgoing(&self) -> FlowKey {
        FlowKey::new(Protocol::TCP, self.local, self.remote)
    }
}

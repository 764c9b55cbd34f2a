//! From an IP packet to a record: TCP with its options, ports, ICMP errors.

use std::net::Ipv4Addr;

use slowpath_packet::tcp::options::{OptionIter, TcpOption, kind};
use slowpath_packet::{Dscp, Ecn, FlowKey, IcmpKind, IcmpVersion, IcmpView, IpView, Protocol, TcpView};
use slowpath_record::packets::{
    AccEcn, Conversations, IcmpError, Marks, OtherPacket, Record, SackBlocks, SynOptions, TcpFlags,
    TcpPacket, Timestamps,
};

use super::slice::Slice;

/// When and where a frame was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) at: i64,
    pub(super) number: u64,
    pub(super) wire_len: u32,
    pub(super) interface: u16,
    pub(super) marks: Marks,
}

/// An IPv4 header without options, a TCP header and the room of a timestamp option.
pub(super) type Headers = [u8; 52];

/// Whether these are the headers of a whole TCP segment without options, or with timestamps alone.
#[inline]
pub(super) fn are_usual(headers: &Headers) -> bool {
    // No options; neither "more fragments" nor an offset behind the reserved bit and "don't fragment".
    let whole = headers[0] == 0x45 && headers[9] == Protocol::TCP.0 && u16_at(headers, 6) << 2 == 0;
    let options = match headers[TCP + 12] >> 4 {
        5 => true,
        8 => u32_at(headers, TCP + 20) == TIMESTAMPS_ALONE,
        _ => false,
    };
    whole && options && usize::from(u16_at(headers, 2)) >= TCP + usize::from(headers[TCP + 12] >> 4) * 4
}

/// The segment with these headers, which are usual; each field is written once, where it is wanted.
#[inline]
pub(super) fn usual(headers: &Headers, place: &Place, conversations: &mut Conversations) -> TcpPacket {
    let key = FlowKey {
        src: Ipv4Addr::from_bits(u32_at(headers, 12)).into(),
        dst: Ipv4Addr::from_bits(u32_at(headers, 16)).into(),
        src_port: u16_at(headers, TCP),
        dst_port: u16_at(headers, TCP + 2),
        protocol: Protocol::TCP,
    };
    let (conversation, direction) = conversations.intern(&key);
    let ip_len = u32::from(u16_at(headers, 2));
    let words = headers[TCP + 12] >> 4;
    TcpPacket {
        at: place.at,
        number: place.number,
        conversation,
        seq: u32_at(headers, TCP + 4),
        ack: u32_at(headers, TCP + 8),
        payload_len: ip_len - TCP as u32 - u32::from(words) * 4,
        ip_len,
        wire_len: place.wire_len,
        timestamps: (words == 8).then(|| Timestamps {
            value: u32_at(headers, TCP + 24),
            echo: u32_at(headers, TCP + 28),
        }),
        sack: SackBlocks::NONE,
        accecn: None,
        interface: place.interface,
        window: u16_at(headers, TCP + 14),
        flags: TcpFlags(u16_at(headers, TCP + 12) & 0x1ff),
        ip_id: Some(u16_at(headers, 4)),
        syn: SynOptions::NONE,
        ttl: headers[8],
        dscp: Dscp::from_tos(headers[1]),
        ecn: Ecn::from_tos(headers[1]),
        direction,
        marks: place.marks,
    }
}

/// Where the TCP header stands in [`Headers`].
const TCP: usize = 20;

/// Two NOPs and the beginning of a timestamp option: the most frequent list by far (RFC 7323 appendix A).
const TIMESTAMPS_ALONE: u32 = u32::from_be_bytes([kind::NOP, kind::NOP, kind::TIMESTAMPS, 10]);

#[inline]
fn u16_at(headers: &Headers, at: usize) -> u16 {
    u16::from_be_bytes([headers[at], headers[at + 1]])
}

#[inline]
fn u32_at(headers: &Headers, at: usize) -> u32 {
    u32::from_be_bytes([headers[at], headers[at + 1], headers[at + 2], headers[at + 3]])
}

/// An IP packet with its true length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) ip: IpView<'a>,
    /// Header and payload in bytes; from the frame's length where the header does not say.
    pub(super) ip_len: u32,
    pub(super) payload: Slice<'a>,
    /// The length was taken from the frame.
    pub(super) inferred: bool,
    /// The packet was carried by another IP packet.
    pub(super) tunnelled: bool,
}

impl Found<'_> {
    /// Bytes of the payload.
    pub(super) fn payload_len(&self) -> u32 {
        self.ip_len.saturating_sub(self.ip.header_len() as u32)
    }

    /// The flow, with ports where the protocol has them and they were captured.
    #[inline]
    pub(super) fn key(&self) -> FlowKey {
        let protocol = Protocol(self.ip.protocol());
        let later = self.ip.fragment().is_some_and(|fragment| fragment.offset != 0);
        let port = |at: usize| {
            if later {
                0
            } else {
                self.payload.u16(at).unwrap_or(0)
            }
        };
        let (src_port, dst_port) = match protocol {
            // DCCP, SCTP and UDP-Lite have their ports in the same place.
            Protocol::TCP | Protocol::UDP | Protocol(33 | 132 | 136) => (port(0), port(2)),
            Protocol::ICMP | Protocol::ICMPV6 => match self.icmp().map(|message| message.kind()) {
                Some(IcmpKind::EchoRequest { identifier, .. }) => (identifier, 0),
                Some(IcmpKind::EchoReply { identifier, .. }) => (0, identifier),
                _ => (0, 0),
            },
            _ => (0, 0),
        };
        FlowKey {
            src: self.ip.source(),
            dst: self.ip.destination(),
            src_port,
            dst_port,
            protocol,
        }
    }

    fn icmp(&self) -> Option<IcmpView<'_>> {
        let version = match Protocol(self.ip.protocol()) {
            Protocol::ICMP => IcmpVersion::V4,
            Protocol::ICMPV6 => IcmpVersion::V6,
            _ => return None,
        };
        IcmpView::parse(version, self.payload.bytes).ok()
    }

    /// The packet as anything but a TCP segment.
    pub(super) fn other(&self, place: &Place, conversations: &mut Conversations) -> OtherPacket {
        let icmp = self.icmp_error(conversations);
        let (conversation, direction) = conversations.intern(&self.key());
        OtherPacket {
            at: place.at,
            number: place.number,
            conversation,
            protocol: Protocol(self.ip.protocol()),
            ip_len: self.ip_len,
            interface: place.interface,
            dscp: self.ip.dscp(),
            ecn: self.ip.ecn(),
            ttl: self.ip.hop_limit(),
            direction,
            icmp,
        }
    }

    /// What an ICMP error says, and about which packet.
    fn icmp_error(&self, conversations: &mut Conversations) -> Option<IcmpError> {
        let message = self.icmp()?;
        let is_error = match Protocol(self.ip.protocol()) {
            Protocol::ICMP => matches!(self.payload.bytes[0], 3 | 4 | 5 | 11 | 12),
            _ => self.payload.bytes[0] < 128,
        };
        if !is_error {
            return None;
        }
        let mtu = match message.kind() {
            IcmpKind::PacketTooBig { mtu } => u16::try_from(mtu).unwrap_or(u16::MAX),
            _ => 0,
        };
        let quoted = IpView::parse(message.payload()).ok().map(|ip| {
            let payload = Slice {
                bytes: ip.payload(),
                wire: ip.payload().len(),
                limited: false,
            };
            let found = Found {
                ip,
                ip_len: ip.length().unwrap_or(0),
                payload,
                inferred: false,
                tunnelled: false,
            };
            conversations.intern(&found.key())
        });
        Some(IcmpError {
            kind: self.payload.bytes[0],
            code: self.payload.bytes[1],
            mtu,
            quoted,
        })
    }

    /// Writes the packet as a TCP segment with the header `tcp` to where it is wanted.
    ///
    /// A record that is put together elsewhere and moved costs as much as all the rest of decoding: what was just written
    /// in small pieces is read again in large ones, for which the processor waits.
    #[inline]
    pub(super) fn segment(
        &self,
        tcp: &TcpView<'_>,
        place: &Place,
        conversations: &mut Conversations,
        record: &mut Record,
    ) {
        *record = Record::Tcp(self.plain(tcp, place, conversations));
        if let Record::Tcp(packet) = record {
            more_options(tcp, packet);
        }
    }

    /// The packet as a TCP segment by itself.
    pub(super) fn whole_segment(
        &self,
        tcp: &TcpView<'_>,
        place: &Place,
        conversations: &mut Conversations,
    ) -> TcpPacket {
        let mut packet = self.plain(tcp, place, conversations);
        more_options(tcp, &mut packet);
        packet
    }

    /// The packet with all that nearly every segment has: no options beside timestamps.
    #[inline]
    fn plain(&self, tcp: &TcpView<'_>, place: &Place, conversations: &mut Conversations) -> TcpPacket {
        let key = FlowKey {
            src: self.ip.source(),
            dst: self.ip.destination(),
            src_port: tcp.source_port(),
            dst_port: tcp.destination_port(),
            protocol: Protocol::TCP,
        };
        let (conversation, direction) = conversations.intern(&key);
        let flags = TcpFlags(tcp.flags().0);
        let mut marks = place.marks;
        if self.inferred {
            marks.set(Marks::LENGTH_INFERRED);
        }
        if self.tunnelled {
            marks.set(Marks::TUNNELLED);
        }
        if tcp.options_cut() {
            marks.set(Marks::OPTIONS_CUT);
        }
        TcpPacket {
            at: place.at,
            number: place.number,
            conversation,
            seq: tcp.sequence().0,
            ack: tcp.acknowledgement().0,
            payload_len: self.payload_len().saturating_sub(tcp.header_len() as u32),
            ip_len: self.ip_len,
            wire_len: place.wire_len,
            timestamps: timestamps_alone(tcp.option_bytes()),
            sack: SackBlocks::NONE,
            accecn: None,
            interface: place.interface,
            window: tcp.window(),
            flags,
            ip_id: self.ip.v4_id(),
            syn: SynOptions::NONE,
            ttl: self.ip.hop_limit(),
            dscp: self.ip.dscp(),
            ecn: self.ip.ecn(),
            direction,
            marks,
        }
    }
}

/// Notes what options there are beside timestamps alone.
#[inline]
fn more_options(tcp: &TcpView<'_>, packet: &mut TcpPacket) {
    let options = tcp.option_bytes();
    if packet.timestamps.is_none() && !options.is_empty() {
        read_options(options, packet);
    }
}

/// Timestamps where there is nothing else but two NOPs.
#[inline]
fn timestamps_alone(options: &[u8]) -> Option<Timestamps> {
    let list: &[u8; 12] = options.try_into().ok()?;
    let word = |at: usize| u32::from_be_bytes([list[at], list[at + 1], list[at + 2], list[at + 3]]);
    (word(0) == TIMESTAMPS_ALONE).then(|| Timestamps {
        value: word(4),
        echo: word(8),
    })
}

/// Notes the options of a segment in its record.
#[inline(never)]
fn read_options(options: &[u8], packet: &mut TcpPacket) {
    let syn = packet.flags.has(TcpFlags::SYN);
    for option in OptionIter::new(options) {
        match option {
            TcpOption::Mss(mss) if syn => packet.syn.mss = Some(mss),
            TcpOption::WindowScale(shift) if syn => packet.syn.window_scale = Some(shift),
            TcpOption::SackPermitted if syn => packet.syn.sack_permitted = true,
            TcpOption::Timestamps { value, echo } => packet.timestamps = Some(Timestamps { value, echo }),
            TcpOption::Sack(blocks) => {
                for (left, right) in blocks.as_slice() {
                    packet.sack.push(left.0, right.0);
                }
            }
            TcpOption::AccEcn(counters) => {
                packet.accecn = Some(AccEcn {
                    ect0: counters.ect0_bytes,
                    ce: counters.ce_bytes,
                    ect1: counters.ect1_bytes,
                });
            }
            // The others of a handshake mean nothing later.
            TcpOption::Mss(_)
            | TcpOption::WindowScale(_)
            | TcpOption::SackPermitted
            | TcpOption::Unknown { .. }
            | TcpOption::Broken { .. } => {}
        }
    }
}

//! From an IP packet to a record: TCP with its options, ports, ICMP errors.

use slowpath_packet::tcp::options::{OptionIter, TcpOption, kind};
use slowpath_packet::{FlowKey, IcmpKind, IcmpVersion, IcmpView, IpView, Protocol, TcpView};
use slowpath_record::packets::{
    AccEcn, Conversations, IcmpError, Marks, OtherPacket, SackBlocks, SynOptions, TcpFlags, TcpPacket,
    Timestamps,
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

    /// The packet as a TCP segment with the header `tcp`.
    #[inline]
    pub(super) fn segment(
        &self,
        tcp: &TcpView<'_>,
        place: &Place,
        conversations: &mut Conversations,
    ) -> TcpPacket {
        let key = FlowKey {
            src: self.ip.source(),
            dst: self.ip.destination(),
            src_port: tcp.source_port(),
            dst_port: tcp.destination_port(),
            protocol: Protocol::TCP,
        };
        let (conversation, direction) = conversations.intern(&key);
        let flags = TcpFlags(tcp.flags().0);
        let options = Options::read(tcp.option_bytes());
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
            timestamps: options.timestamps,
            sack: options.sack,
            accecn: options.accecn,
            interface: place.interface,
            window: tcp.window(),
            flags,
            ip_id: self.ip.v4_id(),
            syn: if flags.has(TcpFlags::SYN) {
                options.syn
            } else {
                SynOptions::NONE
            },
            ttl: self.ip.hop_limit(),
            dscp: self.ip.dscp(),
            ecn: self.ip.ecn(),
            direction,
            marks,
        }
    }
}

/// The options of a segment as its record wants them.
struct Options {
    timestamps: Option<Timestamps>,
    sack: SackBlocks,
    accecn: Option<AccEcn>,
    syn: SynOptions,
}

impl Options {
    const NONE: Self = Self {
        timestamps: None,
        sack: SackBlocks::NONE,
        accecn: None,
        syn: SynOptions::NONE,
    };

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        // The most frequent list by far: two NOPs and timestamps (RFC 7323 appendix A).
        if let [kind::NOP, kind::NOP, kind::TIMESTAMPS, 10, a, b, c, d, e, f, g, h] = *bytes {
            let value = u32::from_be_bytes([a, b, c, d]);
            let echo = u32::from_be_bytes([e, f, g, h]);
            return Self {
                timestamps: Some(Timestamps { value, echo }),
                ..Self::NONE
            };
        }
        if bytes.is_empty() {
            Self::NONE
        } else {
            Self::read_any(bytes)
        }
    }

    #[inline(never)]
    fn read_any(bytes: &[u8]) -> Self {
        let mut all = Self::NONE;
        for option in OptionIter::new(bytes) {
            match option {
                TcpOption::Mss(mss) => all.syn.mss = Some(mss),
                TcpOption::WindowScale(shift) => all.syn.window_scale = Some(shift),
                TcpOption::SackPermitted => all.syn.sack_permitted = true,
                TcpOption::Timestamps { value, echo } => all.timestamps = Some(Timestamps { value, echo }),
                TcpOption::Sack(blocks) => {
                    for (left, right) in blocks.as_slice() {
                        all.sack.push(left.0, right.0);
                    }
                }
                TcpOption::AccEcn(counters) => {
                    all.accecn = Some(AccEcn {
                        ect0: counters.ect0_bytes,
                        ce: counters.ce_bytes,
                        ect1: counters.ect1_bytes,
                    });
                }
                TcpOption::Unknown { .. } | TcpOption::Broken { .. } => {}
            }
        }
        all
    }
}

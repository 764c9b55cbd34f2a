//! Trains: what the kernel hands over, and how parts of them are put together again.
//!
//! A train is one header and the payload of up to dozens of wire packets. [`Train::parse`] reads its headers once;
//! [`Train::segment`] says what each wire packet is; [`Writer`] turns a run of neighbouring survivors back into one
//! train without touching payload: the transport checksum is left to the kernel (`NEEDS_CSUM`), which it takes as
//! good locally. Source: `Documentation/networking/segmentation-offloads.rst`.

use slowpath_packet::{Dscp, Ecn, Protocol, TcpFlags};
use slowpath_path::{Flags, Packet, PortId};
use slowpath_sys::vnet::{Gso, VnetHeader};
use slowpath_units::Time;

/// One train as it was read; offsets count from the start of the IP header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Train {
    /// Bytes stored before the IP header: the header of trains and, on Ethernet, the frame's.
    pub(crate) prefix: u16,
    /// Bytes of IP packet.
    pub(crate) length: u32,
    /// The header of trains, with offsets from the start of the IP header.
    pub(crate) vnet: VnetHeader,
    /// Where the transport header starts.
    pub(crate) transport: u16,
    /// Bytes of all headers.
    pub(crate) headers: u16,
    /// Payload bytes of each wire packet but the last; all of it when there is one packet.
    pub(crate) segment: u32,
    /// Wire packets.
    pub(crate) count: u16,
    pub(crate) v6: bool,
    pub(crate) protocol: Protocol,
    pub(crate) traffic_class: u8,
    pub(crate) hop_limit: u8,
    pub(crate) dont_fragment: bool,
    pub(crate) syn: bool,
    pub(crate) icmp_error: bool,
    /// Where and when it entered the network.
    pub(crate) entered: (PortId, Time),
}

/// Why something read from a host was not let into the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// Neither IPv4 nor IPv6, or cut off.
    Malformed,
    /// Multicast or link-local: neighbour discovery and the like.
    Local,
}

impl Train {
    /// A train of which nothing is known but its length, for tests of the memory.
    #[cfg(test)]
    pub(crate) fn opaque(length: usize) -> Self {
        Self {
            prefix: 0,
            length: u32::try_from(length).unwrap(),
            vnet: VnetHeader::default(),
            transport: 0,
            headers: 0,
            segment: 0,
            count: 1,
            v6: false,
            protocol: Protocol(0),
            traffic_class: 0,
            hop_limit: 0,
            dont_fragment: false,
            syn: false,
            icmp_error: false,
            entered: NOWHERE,
        }
    }

    /// Bytes stored for it.
    pub(crate) fn stored(&self) -> usize {
        usize::from(self.prefix) + self.length as usize
    }

    /// Reads the headers of a train; `ip` starts at the IP header, `vnet` counts from there.
    pub(crate) fn parse(ip: &[u8], vnet: VnetHeader, prefix: u16) -> Result<Self, Ignored> {
        let first = *ip.first().ok_or(Ignored::Malformed)?;
        let (v6, ip_header, protocol, fragment) = match first >> 4 {
            4 if ip.len() >= 20 => {
                let fragment = u16_at(ip, 6) & 0x3fff != 0;
                (false, usize::from(first & 0xf) * 4, ip[9], fragment)
            }
            6 if ip.len() >= 40 => (true, 40, ip[6], false),
            _ => return Err(Ignored::Malformed),
        };
        if ip_header < 20 || ip.len() < ip_header {
            return Err(Ignored::Malformed);
        }
        let multicast = if v6 {
            ip[24] == 0xff || u16_at(ip, 24) & 0xffc0 == 0xfe80
        } else {
            ip[16] >= 224
        };
        if multicast {
            return Err(Ignored::Local);
        }
        let protocol = Protocol(protocol);
        let transport = &ip[ip_header..];
        let (transport_header, syn, icmp_error) = match protocol {
            _ if fragment => (0, false, false),
            Protocol::TCP if transport.len() >= 20 && transport[12] >> 4 >= 5 => {
                (usize::from(transport[12] >> 4) * 4, transport[13] & 2 != 0, false)
            }
            Protocol::UDP if transport.len() >= 8 => (8, false, false),
            Protocol(1) if !v6 && !transport.is_empty() => {
                (0, false, matches!(transport[0], 3 | 4 | 5 | 11 | 12))
            }
            Protocol(58) if v6 && !transport.is_empty() => (0, false, transport[0] < 128),
            _ => (0, false, false),
        };
        let headers = ip_header + transport_header;
        if headers > ip.len() {
            return Err(Ignored::Malformed);
        }
        let payload = ip.len() - headers;
        let size = usize::from(vnet.segment_size);
        if vnet.gso != Gso::None && transport_header == 0 {
            return Err(Ignored::Malformed);
        }
        let (segment, count) = match vnet.gso {
            Gso::Tcp4 | Gso::Tcp6 | Gso::Udp if size > 0 && payload > size => (size, payload.div_ceil(size)),
            _ => (payload, 1),
        };
        let narrow = |value: usize| u16::try_from(value).map_err(|_| Ignored::Malformed);
        Ok(Self {
            prefix,
            length: u32::try_from(ip.len()).map_err(|_| Ignored::Malformed)?,
            vnet,
            transport: narrow(ip_header)?,
            headers: narrow(headers)?,
            segment: u32::try_from(segment).map_err(|_| Ignored::Malformed)?,
            count: narrow(count)?,
            v6,
            protocol,
            traffic_class: if v6 { first << 4 | ip[1] >> 4 } else { ip[1] },
            hop_limit: if v6 { ip[7] } else { ip[8] },
            dont_fragment: v6 || ip[6] & 0x40 != 0,
            syn,
            icmp_error,
            entered: NOWHERE,
        })
    }

    /// Bytes of IP packet of wire packet `number`.
    pub(crate) fn segment_length(&self, number: u16) -> u32 {
        let headers = u32::from(self.headers);
        if number + 1 < self.count {
            headers + self.segment
        } else {
            self.length - self.segment * u32::from(number)
        }
    }

    /// Flags of wire packet `number` as the model wants them.
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags::NONE;
        for (set, flag) in [
            (self.dont_fragment, Flags::DONT_FRAGMENT),
            (self.v6, Flags::IPV6),
            (self.syn, Flags::SYN),
            (self.icmp_error, Flags::ICMP_ERROR),
        ] {
            if set {
                flags = flags.with(flag);
            }
        }
        flags
    }

    /// Whether `packet` left the network with the header that it had.
    pub(crate) fn unchanged_by(&self, packet: &Packet) -> bool {
        packet.dscp.tos(packet.ecn) == self.traffic_class
            && packet.ttl == self.hop_limit
            && packet.mss_limit == 0
            && !packet.flags.has(Flags::STRIP_WINDOW_SCALE)
            && !packet.flags.has(Flags::FRAGMENT)
    }

    pub(crate) fn dscp(&self) -> Dscp {
        Dscp::from_tos(self.traffic_class)
    }

    pub(crate) fn ecn(&self) -> Ecn {
        Ecn::from_tos(self.traffic_class)
    }

    /// Where the payload of wire packets `first..first + count` lies.
    pub(crate) fn payload_range(&self, first: u16, count: u16) -> std::ops::Range<usize> {
        let start = usize::from(self.headers) + self.segment as usize * usize::from(first);
        let end = if first + count >= self.count {
            self.length as usize
        } else {
            start + self.segment as usize * usize::from(count)
        };
        start..end
    }

    /// Writes the headers of a train made of wire packets `first..first + count`, with the marks of `packet`.
    ///
    /// `ip` is the whole original train. Returns the header of trains and how many bytes of `out` are used.
    pub(crate) fn write_headers(
        &self,
        ip: &[u8],
        first: u16,
        count: u16,
        packet: &Packet,
        out: &mut [u8; HEADER_ROOM],
    ) -> (VnetHeader, usize) {
        let headers = usize::from(self.headers).min(HEADER_ROOM);
        let out = &mut out[..headers];
        out.copy_from_slice(&ip[..headers]);
        let length = headers + self.payload_range(first, count).len();
        self.write_transport(out, first, count, length);
        if packet.flags.has(Flags::SYN) {
            self.edit_syn(out, packet);
        }
        self.write_network(out, first, packet, length);
        let mut vnet = self.vnet;
        if count == 1 {
            vnet.gso = Gso::None;
            vnet.segment_size = 0;
            vnet.ecn = false;
        } else {
            vnet.ecn = vnet.ecn && first == 0;
        }
        vnet.header_length = self.headers;
        (vnet, headers)
    }

    fn write_transport(&self, out: &mut [u8], first: u16, count: u16, length: usize) {
        let start = usize::from(self.transport);
        let transport_length = length - start;
        if self.count > 1 && self.protocol == Protocol::TCP {
            let sequence = u32_at(out, start + 4).wrapping_add(self.segment * u32::from(first));
            out[start + 4..start + 8].copy_from_slice(&sequence.to_be_bytes());
            let mut flags = out[start + 13];
            if first + count < self.count {
                flags &= !(TcpFlags::FIN.0 | TcpFlags::PSH.0).to_be_bytes()[1];
            }
            if first > 0 {
                flags &= !TcpFlags::CWR.0.to_be_bytes()[1];
            }
            out[start + 13] = flags;
        }
        if self.count > 1 && self.protocol == Protocol::UDP {
            // In a train of datagrams the field holds the length of all, as after the kernel's own joining.
            let field = u16::try_from(transport_length).unwrap_or(u16::MAX);
            out[start + 4..start + 6].copy_from_slice(&field.to_be_bytes());
        }
        if self.vnet.needs_checksum {
            let at = usize::from(self.vnet.checksum_start) + usize::from(self.vnet.checksum_offset);
            if at + 2 <= out.len() && usize::from(self.vnet.checksum_start) == start {
                let sum = pseudo_sum(out, self.v6, self.protocol, transport_length);
                out[at..at + 2].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }

    fn write_network(&self, out: &mut [u8], first: u16, packet: &Packet, length: usize) {
        let class = packet.dscp.tos(packet.ecn);
        if self.v6 {
            out[0] = 0x60 | class >> 4;
            out[1] = class << 4 | out[1] & 0x0f;
            let payload = u16::try_from(length - 40).unwrap_or(0);
            out[4..6].copy_from_slice(&payload.to_be_bytes());
            out[7] = packet.ttl;
        } else {
            out[1] = class;
            out[2..4].copy_from_slice(&u16::try_from(length).unwrap_or(0).to_be_bytes());
            let identification = u16_at(out, 4).wrapping_add(first);
            out[4..6].copy_from_slice(&identification.to_be_bytes());
            out[8] = packet.ttl;
            out[10..12].fill(0);
            let sum = slowpath_packet::checksum::of(&out[..usize::from(self.transport)]);
            out[10..12].copy_from_slice(&sum.to_be_bytes());
        }
    }

    /// Applies what the network decided about a SYN's options.
    fn edit_syn(&self, out: &mut [u8], packet: &Packet) {
        let at = usize::from(self.transport) + 16;
        let unfinished = self.vnet.needs_checksum.then(|| [out[at], out[at + 1]]);
        if packet.mss_limit != 0 {
            slowpath_packet::edit::clamp_mss(out, packet.mss_limit);
        }
        if packet.flags.has(Flags::STRIP_WINDOW_SCALE) {
            slowpath_packet::edit::strip_option(out, WINDOW_SCALE);
        }
        // Where the kernel is to finish the checksum, the field covers no options.
        if let Some(bytes) = unfinished {
            out[at..at + 2].copy_from_slice(&bytes);
        }
    }

    /// Writes one wire packet with all checksums right: for captures, fragments and quotations.
    pub(crate) fn materialise(&self, ip: &[u8], number: u16, packet: &Packet, out: &mut Vec<u8>) {
        let mut header = [0; HEADER_ROOM];
        let (vnet, used) = self.write_headers(ip, number, 1, packet, &mut header);
        out.clear();
        out.extend_from_slice(&header[..used]);
        out.extend_from_slice(&ip[self.payload_range(number, 1)]);
        if vnet.needs_checksum {
            let start = usize::from(vnet.checksum_start);
            let at = start + usize::from(vnet.checksum_offset);
            if at + 2 <= out.len() {
                let mut sum = slowpath_packet::checksum::of(&out[start..]);
                if sum == 0 && self.protocol == Protocol::UDP {
                    sum = 0xffff;
                }
                out[at..at + 2].copy_from_slice(&sum.to_be_bytes());
            }
        }
    }
}

/// The sum over the pseudo-header, not inverted: what stands in the checksum field until it is finished.
pub(crate) fn pseudo_sum(ip: &[u8], v6: bool, protocol: Protocol, length: usize) -> u16 {
    let addresses = if v6 { &ip[8..40] } else { &ip[12..20] };
    let mut sum: u64 = addresses
        .chunks_exact(2)
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    sum += u64::from(protocol.0) + length as u64;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    u16::try_from(sum).unwrap_or(0)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Not in a network yet.
const NOWHERE: (PortId, Time) = (PortId(0), Time::ZERO);
/// IPv4 or IPv6 with TCP and all its options.
pub(crate) const HEADER_ROOM: usize = 128;
/// TCP option kind 3 (RFC 7323, section 2.2).
const WINDOW_SCALE: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_packet::checksum::Sum;
    use slowpath_packet::{IpView, Ipv4Header, Ipv6Header, Seq32, TcpHeader, TcpOptions, TcpView};
    use slowpath_path::{Cargo, FlowId};

    const SIZE: usize = 100;
    const PAYLOAD: usize = 350;

    /// A TCP train of three full segments and half a one, as the kernel hands it over.
    fn train(v6: bool, flags: TcpFlags) -> (Train, Vec<u8>) {
        let tcp = TcpHeader {
            source_port: 1,
            destination_port: 2,
            sequence: Seq32(u32::MAX - 150),
            acknowledgement: Seq32(9),
            flags,
            window: 500,
            urgent: 0,
            options: TcpOptions {
                timestamps: Some((1, 2)),
                ..TcpOptions::default()
            },
        };
        let start = if v6 { 40 } else { 20 };
        let headers = start + tcp.len();
        let length = u32::try_from(tcp.len() + PAYLOAD).unwrap();
        let mut bytes = vec![0; headers + PAYLOAD];
        if v6 {
            let ip = Ipv6Header::new(1.into(), 2.into(), 6, length);
            Ipv6Header {
                traffic_class: 2,
                ..ip
            }
            .write(&mut bytes);
        } else {
            let ip = Ipv4Header::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 6, length);
            Ipv4Header {
                traffic_class: 2,
                identification: 65_535,
                ..ip
            }
            .write(&mut bytes);
        }
        tcp.write_without_checksum(&mut bytes[start..]);
        for (number, byte) in bytes[headers..].iter_mut().enumerate() {
            *byte = u8::try_from(number % 251).unwrap();
        }
        let vnet = VnetHeader {
            needs_checksum: true,
            gso: if v6 { Gso::Tcp6 } else { Gso::Tcp4 },
            segment_size: u16::try_from(SIZE).unwrap(),
            checksum_start: u16::try_from(start).unwrap(),
            checksum_offset: 16,
            ..VnetHeader::default()
        };
        (Train::parse(&bytes, vnet, 10).unwrap(), bytes)
    }

    fn record(train: &Train, number: u16) -> Packet {
        Packet {
            dscp: train.dscp(),
            ecn: train.ecn(),
            ttl: train.hop_limit,
            flags: train.flags(),
            ..Packet::new(Cargo::new(0), FlowId(0), train.segment_length(number))
        }
    }

    #[test]
    fn each_wire_packet_is_what_a_card_would_have_sent() {
        let flags = TcpFlags(TcpFlags::ACK.0 | TcpFlags::PSH.0 | TcpFlags::CWR.0);
        for v6 in [false, true] {
            let (train, bytes) = train(v6, flags);
            assert_eq!((train.count, train.unchanged_by(&record(&train, 0))), (4, true));
            let mut out = Vec::new();
            let mut payload = Vec::new();
            for number in 0..4 {
                train.materialise(&bytes, number, &record(&train, number), &mut out);
                assert_eq!(u32::try_from(out.len()).unwrap(), train.segment_length(number));
                let ip = IpView::parse(&out).unwrap();
                assert_eq!(ip.length(), Some(train.segment_length(number)));
                let inner = ip.payload();
                let pseudo = ip.pseudo_sum(6, u32::try_from(inner.len()).unwrap());
                assert_eq!(pseudo.add_bytes(inner).finish(), 0, "checksum of {number}");
                let tcp = TcpView::parse(inner).unwrap();
                let expected = (u32::MAX - 150).wrapping_add(100 * u32::from(number));
                assert_eq!(tcp.sequence(), Seq32(expected));
                assert_eq!(
                    tcp.flags().contains(TcpFlags::PSH),
                    number == 3,
                    "PSH on the last"
                );
                assert_eq!(
                    tcp.flags().contains(TcpFlags::CWR),
                    number == 0,
                    "CWR on the first"
                );
                if let Some(id) = ip.v4_id() {
                    assert_eq!(id, 65_535_u16.wrapping_add(number));
                    assert_eq!(Sum::new().add_bytes(&out[..20]).finish(), 0);
                }
                payload.extend_from_slice(tcp.payload());
            }
            assert_eq!(payload, bytes[bytes.len() - PAYLOAD..]);
        }
    }

    #[test]
    fn neighbours_become_a_shorter_train_with_the_networks_marks() {
        let (train, bytes) = train(false, TcpFlags::ACK);
        let marked = Packet {
            ecn: Ecn::Ce,
            ttl: 60,
            ..record(&train, 1)
        };
        assert!(!train.unchanged_by(&marked));
        let mut out = [0; HEADER_ROOM];
        let (vnet, used) = train.write_headers(&bytes, 1, 2, &marked, &mut out);
        assert_eq!(
            (vnet.gso, vnet.segment_size, train.payload_range(1, 2).len()),
            (Gso::Tcp4, 100, 200)
        );
        let ip = IpView::parse(&out[..used]).unwrap();
        assert_eq!((ip.ecn(), ip.hop_limit(), ip.length()), (Ecn::Ce, 60, Some(252)));
        assert_eq!(u16_at(&out, 36), pseudo_sum(&out, false, Protocol::TCP, 232));
        let (vnet, _) = train.write_headers(&bytes, 3, 1, &marked, &mut out);
        assert_eq!((vnet.gso, train.payload_range(3, 1).len()), (Gso::None, 50));
    }

    #[test]
    fn broken_headers_harm_nobody() {
        let mut seed = 1_u32;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            seed >> 8
        };
        for round in 0..20_000 {
            let (good, mut bytes) = train(round % 2 == 0, TcpFlags(TcpFlags::SYN.0));
            for _ in 0..next() % 4 {
                let at = next() as usize % 80;
                bytes[at] = next().to_le_bytes()[0];
            }
            bytes.truncate(next() as usize % (bytes.len() + 1));
            let vnet = VnetHeader {
                segment_size: u16::try_from(next() % 300).unwrap(),
                checksum_start: u16::try_from(next() % 80).unwrap(),
                ..good.vnet
            };
            let Ok(train) = Train::parse(&bytes, vnet, 10) else {
                continue;
            };
            let mut out = Vec::new();
            let mut total = 0;
            for number in 0..train.count {
                let packet = Packet {
                    mss_limit: 500,
                    ..record(&train, number)
                };
                let packet = Packet {
                    flags: packet.flags.with(Flags::STRIP_WINDOW_SCALE),
                    ..packet
                };
                train.materialise(&bytes, number, &packet, &mut out);
                assert_eq!(out.len(), train.segment_length(number) as usize);
                total += out.len() - usize::from(train.headers);
            }
            assert_eq!(total + usize::from(train.headers), bytes.len());
        }
    }
}

//! Packets as bytes and back, for a model host on a real wire.

use slowpath_packet::checksum::Sum;
use slowpath_packet::icmp::{IcmpHeader, IcmpKind, IcmpVersion, IcmpView};
use slowpath_packet::ip::{IpView, pseudo_sum};
use slowpath_packet::ipv4::Ipv4Header;
use slowpath_packet::ipv6::Ipv6Header;
use slowpath_packet::tcp::{self, TcpFlags, TcpOptions, TcpView};
use slowpath_packet::udp::{self, UdpView};
use slowpath_packet::{FlowKey, Malformed, Protocol, Seq32};
use slowpath_units::Time;
use std::net::IpAddr;

use crate::wire::{
    Echo, Flags, Header, Options, OwnedPayload, SackBlocks, TcpHeader, TooBig, Transmit, Transport, UdpHeader,
};

/// Writes `transmit` as an IP packet with valid checksums to `out`, which is emptied first.
///
/// Synthetic payload becomes zeros; a UDP datagram of 16 bytes or more begins with its number and the time it
/// was sent in nanoseconds. `identification` goes into the IPv4 header.
pub fn encode(transmit: &Transmit, identification: u16, out: &mut Vec<u8>) {
    let header = &transmit.header;
    let ip_header = header.ip_header() as usize;
    let total = transmit.ip_len() as usize;
    let payload_len = transmit.payload.len() as usize;
    out.clear();
    out.resize(total, 0);
    let (front, payload) = out.split_at_mut(total - payload_len);
    if let OwnedPayload::Bytes(bytes) = &transmit.payload {
        payload.copy_from_slice(bytes);
    } else if let Transport::Udp(udp) = &header.transport
        && payload.len() >= 16
    {
        payload[..8].copy_from_slice(&udp.sequence.to_be_bytes());
        payload[8..16].copy_from_slice(&udp.sent.nanos().to_be_bytes());
    }
    let (ip, upper) = front.split_at_mut(ip_header);
    let length = (total - ip_header) as u32;
    let protocol = header.flow().protocol.0;
    let pseudo = pseudo_sum(header.src, header.dst, protocol, length);
    write_upper(header, upper, pseudo, payload);
    write_ip(header, ip, protocol, length, identification);
}

/// Reads an IP packet; the result is its headers and its payload.
///
/// Fragments, and transports that models do not speak, give nothing.
///
/// # Errors
/// [`Malformed`] if a header is cut off or contradicts itself.
pub fn decode(bytes: &[u8]) -> Result<Option<(Header, &[u8])>, Malformed> {
    let ip = IpView::parse(bytes)?;
    if ip.fragment().is_some() {
        return Ok(None);
    }
    let upper = ip.payload();
    let version = if ip.source().is_ipv4() {
        IcmpVersion::V4
    } else {
        IcmpVersion::V6
    };
    let (transport, payload) = match Protocol(ip.protocol()) {
        Protocol::TCP => {
            let view = TcpView::parse(upper)?;
            (Transport::Tcp(read_tcp(&view)), view.payload())
        }
        Protocol::UDP => {
            let view = UdpView::parse(upper)?;
            (Transport::Udp(read_udp(&view)), view.payload())
        }
        Protocol::ICMP | Protocol::ICMPV6 => {
            let view = IcmpView::parse(version, upper)?;
            match read_icmp(&view) {
                Some(transport) => (transport, view.payload()),
                None => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    let header = Header {
        src: ip.source(),
        dst: ip.destination(),
        dscp: ip.dscp(),
        ecn: ip.ecn(),
        ttl: ip.hop_limit(),
        df: ip.dont_fragment(),
        transport,
    };
    Ok(Some((header, payload)))
}

fn write_ip(header: &Header, out: &mut [u8], protocol: u8, length: u32, identification: u16) {
    let traffic_class = header.dscp.tos(header.ecn);
    match (header.src, header.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut ip = Ipv4Header::new(src, dst, protocol, length);
            ip.traffic_class = traffic_class;
            ip.ttl = header.ttl;
            ip.identification = identification;
            ip.dont_fragment = header.df;
            ip.write(out);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let mut ip = Ipv6Header::new(src, dst, protocol, length);
            ip.traffic_class = traffic_class;
            ip.hop_limit = header.ttl;
            ip.write(out);
        }
        // A host never mixes families: `System` picks the source by the destination.
        _ => {}
    }
}

fn write_upper(header: &Header, out: &mut [u8], pseudo: Sum, payload: &[u8]) {
    let version = if header.src.is_ipv4() {
        IcmpVersion::V4
    } else {
        IcmpVersion::V6
    };
    let icmp_pseudo = if header.src.is_ipv4() { Sum::new() } else { pseudo };
    match &header.transport {
        Transport::Tcp(tcp) => {
            write_tcp(tcp).write(out, pseudo, payload);
        }
        Transport::Udp(udp) => {
            let udp = udp::UdpHeader {
                source_port: udp.src_port,
                destination_port: udp.dst_port,
                payload_len: payload.len() as u32,
            };
            udp.write(out, pseudo, payload);
        }
        Transport::Echo(Echo {
            reply,
            identifier,
            sequence,
        }) => {
            let (identifier, sequence) = (*identifier, *sequence);
            let kind = if *reply {
                IcmpKind::EchoReply { identifier, sequence }
            } else {
                IcmpKind::EchoRequest { identifier, sequence }
            };
            IcmpHeader { version, kind }.write(out, icmp_pseudo, payload);
        }
        Transport::TooBig(report) => {
            let kind = IcmpKind::PacketTooBig { mtu: report.mtu };
            IcmpHeader { version, kind }.write(out, icmp_pseudo, payload);
        }
    }
}

fn write_tcp(tcp: &TcpHeader) -> tcp::TcpHeader {
    tcp::TcpHeader {
        source_port: tcp.src_port,
        destination_port: tcp.dst_port,
        sequence: tcp.seq,
        acknowledgement: tcp.ack,
        flags: TcpFlags(u16::from(tcp.flags.0)),
        window: tcp.window,
        urgent: 0,
        options: TcpOptions {
            mss: tcp.options.mss,
            window_scale: tcp.options.window_scale,
            sack_permitted: tcp.options.sack_permitted,
            timestamps: tcp.options.timestamps,
            sack: tcp::SackBlocks::from_slice(tcp.options.sack.as_slice()),
            acc_ecn: None,
            broken: false,
        },
    }
}

fn read_tcp(view: &TcpView<'_>) -> TcpHeader {
    let options = TcpOptions::parse(view.option_bytes());
    let mut sack = SackBlocks::new();
    for (left, right) in options.sack.as_slice() {
        sack.push(*left, *right);
    }
    TcpHeader {
        src_port: view.source_port(),
        dst_port: view.destination_port(),
        seq: view.sequence(),
        ack: view.acknowledgement(),
        flags: Flags((view.flags().0 & 0xff) as u8),
        window: view.window(),
        options: Options {
            mss: options.mss,
            window_scale: options.window_scale,
            sack_permitted: options.sack_permitted,
            timestamps: options.timestamps,
            sack,
        },
    }
}

fn read_udp(view: &UdpView<'_>) -> UdpHeader {
    let payload = view.payload();
    let number = |at: usize| {
        payload
            .get(at..at + 8)
            .and_then(|bytes| bytes.try_into().ok())
            .map_or(0, u64::from_be_bytes)
    };
    UdpHeader {
        src_port: view.source_port(),
        dst_port: view.destination_port(),
        sequence: number(0),
        sent: Time::from_nanos(number(8)),
    }
}

fn read_icmp(view: &IcmpView<'_>) -> Option<Transport> {
    match view.kind() {
        IcmpKind::EchoRequest { identifier, sequence } => Some(Transport::Echo(Echo {
            reply: false,
            identifier,
            sequence,
        })),
        IcmpKind::EchoReply { identifier, sequence } => Some(Transport::Echo(Echo {
            reply: true,
            identifier,
            sequence,
        })),
        IcmpKind::PacketTooBig { mtu } => {
            let quoted = IpView::parse(view.payload()).ok()?;
            // At least eight bytes of the transport header are quoted: ports and sequence number.
            let upper = quoted.payload();
            let ports: [u8; 8] = upper.get(..8)?.try_into().ok()?;
            let flow = FlowKey {
                src: quoted.source(),
                dst: quoted.destination(),
                src_port: u16::from_be_bytes([ports[0], ports[1]]),
                dst_port: u16::from_be_bytes([ports[2], ports[3]]),
                protocol: Protocol(quoted.protocol()),
            };
            let seq = Seq32(u32::from_be_bytes([ports[4], ports[5], ports[6], ports[7]]));
            Some(Transport::TooBig(TooBig { mtu, flow, seq }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slowpath_packet::{Dscp, Ecn};

    fn packet(options: Options, payload: OwnedPayload, v6: bool) -> Transmit {
        let tcp = TcpHeader {
            src_port: 40_000,
            dst_port: 21,
            seq: Seq32(0xffff_fff0),
            ack: Seq32(77),
            flags: Flags::ACK.with(Flags::PSH),
            window: 14_924,
            options,
        };
        let (src, dst) = if v6 {
            ("fd00::1", "fd00::2")
        } else {
            ("10.0.0.1", "10.0.0.2")
        };
        let header = Header {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            dscp: Dscp::CS1,
            ecn: Ecn::Ect0,
            ttl: 64,
            df: true,
            transport: Transport::Tcp(tcp),
        };
        Transmit {
            at: Time::ZERO,
            header,
            payload,
        }
    }

    #[test]
    fn what_is_written_is_read_and_has_the_length_that_was_said() {
        let mut sack = SackBlocks::new();
        sack.push(Seq32(10), Seq32(20));
        sack.push(Seq32(30), Seq32(40));
        let lists = [
            Options::default(),
            Options {
                timestamps: Some((5, 6)),
                sack,
                ..Options::default()
            },
            Options {
                sack,
                ..Options::default()
            },
            Options {
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
                timestamps: Some((1, 0)),
                ..Options::default()
            },
            Options {
                mss: Some(1460),
                sack_permitted: true,
                ..Options::default()
            },
            Options {
                mss: Some(536),
                ..Options::default()
            },
        ];
        let mut bytes = Vec::new();
        for options in lists {
            for v6 in [false, true] {
                let sent = packet(options, OwnedPayload::Bytes((*b"USER x\r\n").into()), v6);
                encode(&sent, 1, &mut bytes);
                assert_eq!(bytes.len(), sent.ip_len() as usize, "{options:?}");
                let (header, payload) = decode(&bytes).unwrap().unwrap();
                assert_eq!(header, sent.header);
                assert_eq!(payload, b"USER x\r\n");
            }
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut flips in proptest::collection::vec((0_usize..60, any::<u8>()), 0..6), cut in 0_usize..70) {
            let sent = packet(Options { timestamps: Some((5, 6)), ..Options::default() }, OwnedPayload::Synthetic(8), false);
            let mut bytes = Vec::new();
            encode(&sent, 1, &mut bytes);
            for (at, value) in flips.drain(..) {
                bytes[at] = value;
            }
            bytes.truncate(cut);
            let _ = decode(&bytes);
        }
    }
}

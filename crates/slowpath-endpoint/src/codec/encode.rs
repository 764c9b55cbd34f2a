//! From a model's packet to bytes, with finished checksums.

use std::net::IpAddr;

use slowpath_packet::checksum::Sum;
use slowpath_packet::{
    IcmpHeader, IcmpKind, IcmpVersion, Ipv4Header, Ipv6Header, TcpFlags, TcpHeader, TcpOptions, UdpHeader,
};

use super::stamp;
use crate::wire::{Header, Options, OwnedPayload, TcpHeader as ModelTcp, Transmit, Transport};

/// Writes the IP packet to the start of `out` and returns its length; `None` if it does not fit, or its addresses are of
/// two families.
///
/// Payload without content becomes dots, a datagram's begins with its number and time. `identification` goes into the
/// IPv4 header.
pub fn encode(transmit: &Transmit, identification: u16, out: &mut [u8]) -> Option<usize> {
    let header = &transmit.header;
    let total = transmit.ip_len() as usize;
    let out = out.get_mut(..total)?;
    let payload_at = total - transmit.payload.len() as usize;
    match &transmit.payload {
        OwnedPayload::Bytes(bytes) => out[payload_at..].copy_from_slice(bytes),
        OwnedPayload::Synthetic(_) => out[payload_at..].fill(FILLER),
    }
    let start = header.ip_header() as usize;
    let length = u32::try_from(total - start).ok()?;
    let protocol = protocol(header);
    let pseudo = match (header.src, header.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let ip = Ipv4Header {
                traffic_class: header.dscp.tos(header.ecn),
                ttl: header.ttl,
                identification,
                dont_fragment: header.df,
                ..Ipv4Header::new(src, dst, protocol, length)
            };
            ip.write(out);
            Sum::pseudo_v4(src, dst, protocol, length)
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let ip = Ipv6Header {
                traffic_class: header.dscp.tos(header.ecn),
                hop_limit: header.ttl,
                ..Ipv6Header::new(src, dst, protocol, length)
            };
            ip.write(out);
            Sum::pseudo_v6(src, dst, protocol, length)
        }
        _ => return None,
    };
    let (headers, payload) = out.split_at_mut(payload_at);
    match &header.transport {
        Transport::Tcp(tcp) => {
            let written = segment(tcp).write(&mut headers[start..], pseudo, payload);
            (start + written == payload_at).then_some(total)
        }
        Transport::Udp(udp) => {
            stamp::write(udp.sequence, udp.sent, payload);
            let datagram = UdpHeader {
                source_port: udp.src_port,
                destination_port: udp.dst_port,
                payload_len: u32::try_from(payload.len()).ok()?,
            };
            datagram.write(&mut headers[start..], pseudo, payload);
            Some(total)
        }
        Transport::Echo(echo) => {
            let (identifier, sequence) = (echo.identifier, echo.sequence);
            let kind = if echo.reply {
                IcmpKind::EchoReply { identifier, sequence }
            } else {
                IcmpKind::EchoRequest { identifier, sequence }
            };
            let (version, pseudo) = icmp(start, pseudo);
            IcmpHeader { version, kind }.write(&mut headers[start..], pseudo, payload);
            Some(total)
        }
        Transport::TooBig(report) => {
            let kind = IcmpKind::PacketTooBig { mtu: report.mtu };
            let (version, pseudo) = icmp(start, pseudo);
            IcmpHeader { version, kind }.write(&mut headers[start..], pseudo, payload);
            Some(total)
        }
    }
}

/// The version of ICMP behind an IP header of that many bytes, and where its checksum begins: only IPv6 counts addresses.
const fn icmp(ip_header: usize, pseudo: Sum) -> (IcmpVersion, Sum) {
    if ip_header == 20 {
        (IcmpVersion::V4, Sum::new())
    } else {
        (IcmpVersion::V6, pseudo)
    }
}

fn protocol(header: &Header) -> u8 {
    header.flow().protocol.0
}

fn segment(tcp: &ModelTcp) -> TcpHeader {
    TcpHeader {
        source_port: tcp.src_port,
        destination_port: tcp.dst_port,
        sequence: tcp.seq,
        acknowledgement: tcp.ack,
        flags: TcpFlags(u16::from(tcp.flags.0)),
        window: tcp.window,
        urgent: 0,
        options: options(&tcp.options),
    }
}

fn options(options: &Options) -> TcpOptions {
    TcpOptions {
        mss: options.mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        timestamps: options.timestamps,
        sack: slowpath_packet::tcp::options::SackBlocks::from_slice(options.sack.as_slice()),
        ..TcpOptions::default()
    }
}

/// What bulk data without meaning is made of.
const FILLER: u8 = b'.';

//! From bytes to a packet as models understand it.

use slowpath_packet::{
    FlowKey, IcmpKind, IcmpVersion, IcmpView, IpView, Protocol, Seq32, TcpOptions, TcpView, UdpView,
};

use super::stamp;
use crate::wire::{
    Echo, Flags, Header, Options, Payload, SackBlocks, TcpHeader, TooBig, Transport, UdpHeader,
};

/// The packet in `bytes`; `None` for fragments and for protocols that models do not speak.
pub fn decode(bytes: &[u8]) -> Option<(Header, Payload<'_>)> {
    let ip = IpView::parse(bytes).ok()?;
    if ip
        .fragment()
        .is_some_and(|fragment| fragment.more || fragment.offset > 0)
    {
        return None;
    }
    let (transport, payload) = match Protocol(ip.protocol()) {
        Protocol::TCP => tcp(ip.payload())?,
        Protocol::UDP => udp(ip.payload())?,
        Protocol::ICMP => icmp(IcmpVersion::V4, ip.payload())?,
        Protocol::ICMPV6 => icmp(IcmpVersion::V6, ip.payload())?,
        _ => return None,
    };
    let header = Header {
        src: ip.source(),
        dst: ip.destination(),
        dscp: ip.dscp(),
        ecn: ip.ecn(),
        ttl: ip.hop_limit(),
        df: ip.source().is_ipv6() || ip.dont_fragment(),
        transport,
    };
    Some((header, payload))
}

fn tcp(bytes: &[u8]) -> Option<(Transport, Payload<'_>)> {
    let view = TcpView::parse(bytes).ok()?;
    if view.options_cut() {
        return None;
    }
    let parsed = TcpOptions::parse(view.option_bytes());
    let mut sack = SackBlocks::new();
    for (left, right) in parsed.sack.as_slice() {
        sack.push(*left, *right);
    }
    let header = TcpHeader {
        src_port: view.source_port(),
        dst_port: view.destination_port(),
        seq: view.sequence(),
        ack: view.acknowledgement(),
        flags: Flags(u8::try_from(view.flags().0 & 0xff).unwrap_or(0)),
        window: view.window(),
        options: Options {
            mss: parsed.mss,
            window_scale: parsed.window_scale,
            sack_permitted: parsed.sack_permitted,
            timestamps: parsed.timestamps,
            sack,
        },
    };
    Some((Transport::Tcp(header), Payload::Bytes(view.payload())))
}

fn udp(bytes: &[u8]) -> Option<(Transport, Payload<'_>)> {
    let view = UdpView::parse(bytes).ok()?;
    let payload = view.payload();
    let (sequence, sent) = stamp::read(payload);
    let header = UdpHeader {
        src_port: view.source_port(),
        dst_port: view.destination_port(),
        sequence,
        sent,
    };
    Some((Transport::Udp(header), Payload::Bytes(payload)))
}

fn icmp(version: IcmpVersion, bytes: &[u8]) -> Option<(Transport, Payload<'_>)> {
    let view = IcmpView::parse(version, bytes).ok()?;
    let transport = match view.kind() {
        IcmpKind::EchoRequest { identifier, sequence } => Transport::Echo(Echo {
            reply: false,
            identifier,
            sequence,
        }),
        IcmpKind::EchoReply { identifier, sequence } => Transport::Echo(Echo {
            reply: true,
            identifier,
            sequence,
        }),
        IcmpKind::PacketTooBig { mtu } => too_big(mtu, view.payload())?,
        _ => return None,
    };
    Some((transport, Payload::Bytes(view.payload())))
}

/// Reads the quoted packet of a router's message: addresses, ports, and for TCP the sequence number.
fn too_big(mtu: u32, quoted: &[u8]) -> Option<Transport> {
    let ip = IpView::parse(quoted).ok()?;
    let inner = quoted.get(ip.header_len()..)?;
    let port = |at: usize| Some(u16::from_be_bytes(inner.get(at..at + 2)?.try_into().ok()?));
    let flow = FlowKey {
        src: ip.source(),
        dst: ip.destination(),
        src_port: port(0)?,
        dst_port: port(2)?,
        protocol: Protocol(ip.protocol()),
    };
    let seq = inner
        .get(4..8)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_be_bytes);
    Some(Transport::TooBig(TooBig {
        mtu,
        flow,
        seq: Seq32(seq),
    }))
}

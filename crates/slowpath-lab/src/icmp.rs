//! Bytes that the network itself makes: ICMP messages of its routers, and fragments.

use std::net::IpAddr;

use slowpath_packet::checksum::Sum;
use slowpath_packet::{IcmpHeader, IcmpKind, IcmpVersion, IpView, Ipv4Header, Ipv6Header};
use slowpath_path::{Flags, Notice, Packet};

/// The bytes of a router's message about `offender`; `packet` is the model's idea of the message.
///
/// Quotes as much of the offender as the model's length allows (RFC 1812, section 4.3.2.3; RFC 4443, section 2.4).
pub(crate) fn message(notice: &Notice, packet: &Packet, offender: &[u8]) -> Box<[u8]> {
    let (from, to_v4, kind) = match notice {
        Notice::TimeExceeded { from } => (*from, from.is_ipv4(), IcmpKind::TimeExceeded { code: 0 }),
        Notice::FragmentationNeeded { from, mtu } => {
            (*from, from.is_ipv4(), IcmpKind::PacketTooBig { mtu: *mtu })
        }
    };
    let header = if to_v4 { 20 } else { 40 };
    let wanted = (packet.ip_len as usize).saturating_sub(header + 8).max(48);
    let quoted = &offender[..offender.len().min(wanted)];
    let mut out = vec![0; header + 8 + quoted.len()];
    out[header + 8..].copy_from_slice(quoted);
    let length = u32::try_from(8 + quoted.len()).unwrap_or(0);
    let destination = IpView::parse(offender).map(|view| view.source()).ok();
    match (from, destination) {
        (IpAddr::V4(source), Some(IpAddr::V4(destination))) => {
            let ip = Ipv4Header {
                ttl: packet.ttl,
                traffic_class: packet.dscp.tos(packet.ecn),
                dont_fragment: false,
                ..Ipv4Header::new(source, destination, 1, length)
            };
            ip.write(&mut out);
            IcmpHeader {
                version: IcmpVersion::V4,
                kind,
            }
            .write(&mut out[20..], Sum::new(), quoted);
        }
        (IpAddr::V6(source), Some(IpAddr::V6(destination))) => {
            let ip = Ipv6Header {
                hop_limit: packet.ttl,
                traffic_class: packet.dscp.tos(packet.ecn),
                ..Ipv6Header::new(source, destination, 58, length)
            };
            ip.write(&mut out);
            let pseudo = Sum::pseudo_v6(source, destination, 58, length);
            IcmpHeader {
                version: IcmpVersion::V6,
                kind,
            }
            .write(&mut out[40..], pseudo, quoted);
        }
        // A router of the other family: nothing that a host could read.
        _ => out.clear(),
    }
    out.into_boxed_slice()
}

/// Turns the bytes of a whole packet into those of one of its fragments (RFC 791, section 3.2).
///
/// `fragment` says which: its offset, its length, and whether more follow. IPv6 packets are left whole: routers do
/// not cut them.
pub(crate) fn cut_fragment(bytes: &mut Vec<u8>, fragment: &Packet) {
    if bytes.first().is_none_or(|first| first >> 4 != 4) {
        return;
    }
    let header = usize::from(bytes[0] & 0xf) * 4;
    let start = header + usize::from(fragment.fragment_offset) * 8;
    let length = (fragment.ip_len as usize).saturating_sub(header);
    let end = (start + length).min(bytes.len());
    if start >= end {
        return;
    }
    bytes.copy_within(start..end, header);
    bytes.truncate(header + end - start);
    let total = u16::try_from(bytes.len()).unwrap_or(0);
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    let more = if fragment.flags.has(Flags::MORE_FRAGMENTS) {
        0x2000
    } else {
        0
    };
    bytes[6..8].copy_from_slice(&(fragment.fragment_offset & 0x1fff | more).to_be_bytes());
    bytes[10..12].fill(0);
    let sum = slowpath_packet::checksum::of(&bytes[..header]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_packet::{Ipv4View, checksum};
    use slowpath_path::{Cargo, FlowId};

    fn datagram(payload: u32) -> Vec<u8> {
        let header = Ipv4Header::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), 17, payload);
        let mut bytes = vec![0; 20];
        header.write(&mut bytes);
        bytes.extend((0..payload).map(|byte| u8::try_from(byte % 251).unwrap()));
        bytes
    }

    #[test]
    fn a_message_quotes_its_offender() {
        let offender = datagram(1000);
        let packet = Packet {
            ttl: 63,
            ..Packet::new(Cargo::new(0), FlowId(0), 56)
        };
        let notice = Notice::FragmentationNeeded {
            from: "10.9.9.9".parse().unwrap(),
            mtu: 1400,
        };
        let bytes = message(&notice, &packet, &offender);
        let view = Ipv4View::parse(&bytes).unwrap();
        assert_eq!(
            (view.checksum_ok(), view.ttl(), view.protocol()),
            (Some(true), 63, 1)
        );
        assert_eq!(view.destination(), std::net::Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(&bytes[20..22], &[3, 4]);
        assert_eq!(&bytes[26..28], &1400_u16.to_be_bytes());
        assert_eq!(checksum::of(&bytes[20..]), 0);
        assert_eq!(&bytes[28..76], &offender[..48]);
    }

    #[test]
    fn fragments_add_up_to_the_packet() {
        let whole = datagram(1000);
        let mut payload = Vec::new();
        for (offset, length, more) in [(0, 596_u32, true), (72, 444, false)] {
            let flags = if more {
                Flags::FRAGMENT.with(Flags::MORE_FRAGMENTS)
            } else {
                Flags::FRAGMENT
            };
            let packet = Packet {
                fragment_offset: offset,
                flags,
                ..Packet::new(Cargo::new(0), FlowId(0), length)
            };
            let mut bytes = whole.clone();
            cut_fragment(&mut bytes, &packet);
            let view = Ipv4View::parse(&bytes).unwrap();
            assert_eq!(view.checksum_ok(), Some(true));
            let fragment = view.fragment().unwrap();
            assert_eq!(fragment.more, more);
            payload.extend_from_slice(&bytes[20..]);
        }
        assert_eq!(payload, whole[20..]);
    }
}

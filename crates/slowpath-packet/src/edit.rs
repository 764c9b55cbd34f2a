//! Changes to a packet in place, with checksums kept right (RFC 1624).
//!
//! For routers and middleboxes: each function takes a whole IP packet, changes the bytes and updates the
//! checksums over them. A checksum that was wrong stays wrong by the same amount. Packets that the function
//! cannot apply to (not IP, not TCP, a later fragment, cut off) are left as they are, and `false` is returned.
//!
//! A packet whose TCP checksum is still to be completed by offloading holds the sum of the pseudo-header in its
//! place, which does not cover the header: complete it before anything in the TCP header is changed.

use crate::checksum;
use crate::ip::IpView;
use crate::malformed::{u16_at, u32_at};
use crate::tcp::options::kind;
use crate::{Dscp, Ecn, Protocol};

/// Sets the octet that holds DSCP and ECN.
pub fn set_traffic_class(packet: &mut [u8], traffic_class: u8) -> bool {
    match version(packet) {
        Some(4) => {
            let new = [packet[0], traffic_class];
            set_v4_word(packet, 0, new);
            true
        }
        Some(6) => {
            packet[0] = 0x60 | traffic_class >> 4;
            packet[1] = traffic_class << 4 | packet[1] & 0x0f;
            true
        }
        _ => false,
    }
}

/// Sets the DSCP and leaves ECN as it is.
pub fn set_dscp(packet: &mut [u8], dscp: Dscp) -> bool {
    traffic_class(packet).is_some_and(|now| set_traffic_class(packet, dscp.tos(Ecn::from_tos(now))))
}

/// Sets the ECN field and leaves the DSCP as it is.
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) -> bool {
    traffic_class(packet).is_some_and(|now| set_traffic_class(packet, Dscp::from_tos(now).tos(ecn)))
}

/// Sets TTL or hop limit.
pub fn set_hop_limit(packet: &mut [u8], hops: u8) -> bool {
    match version(packet) {
        Some(4) => {
            let new = [hops, packet[9]];
            set_v4_word(packet, 8, new);
            true
        }
        Some(6) => {
            packet[7] = hops;
            true
        }
        _ => false,
    }
}

/// Lowers the MSS option of a TCP SYN to `mss` bytes if it is above; returns whether it did.
pub fn clamp_mss(packet: &mut [u8], mss: u16) -> bool {
    let Some(found) = find_option(packet, kind::MSS, 4) else {
        return false;
    };
    if u16_at(packet, found.value_at) <= mss {
        return false;
    }
    found.replace(packet, &mss.to_be_bytes());
    true
}

/// Sets the window scale option of a TCP SYN to `shift`; returns whether there was one.
pub fn set_window_scale(packet: &mut [u8], shift: u8) -> bool {
    let Some(found) = find_option(packet, kind::WINDOW_SCALE, 3) else {
        return false;
    };
    found.replace(packet, &[shift]);
    true
}

/// Overwrites the option `kind` of a TCP segment with padding, as middleboxes that strip options do;
/// returns whether there was one.
pub fn strip_option(packet: &mut [u8], kind: u8) -> bool {
    let Some(tcp_at) = tcp_start(packet) else {
        return false;
    };
    let Some((at, len)) = locate(packet, tcp_at, kind) else {
        return false;
    };
    let padding = [kind::NOP; 40];
    Found { tcp_at, value_at: at }.replace(packet, &padding[..len]);
    true
}

/// Sets the window field of a TCP segment.
pub fn set_window(packet: &mut [u8], window: u16) -> bool {
    let Some(tcp_at) = tcp_start(packet) else {
        return false;
    };
    Found {
        tcp_at,
        value_at: tcp_at + 14,
    }
    .replace(packet, &window.to_be_bytes());
    true
}

fn version(packet: &[u8]) -> Option<u8> {
    let version = packet.first()? >> 4;
    let needed = if version == 4 { 20 } else { 40 };
    (packet.len() >= needed).then_some(version)
}

fn traffic_class(packet: &[u8]) -> Option<u8> {
    match version(packet)? {
        4 => Some(packet[1]),
        6 => Some(packet[0] << 4 | packet[1] >> 4),
        _ => None,
    }
}

/// Replaces the 16-bit word at `at` of an IPv4 header and updates the header checksum.
fn set_v4_word(packet: &mut [u8], at: usize, new: [u8; 2]) {
    let sum = checksum::update(u16_at(packet, 10), u16_at(packet, at), u16::from_be_bytes(new));
    packet[at..at + 2].copy_from_slice(&new);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// Something inside a TCP header.
struct Found {
    tcp_at: usize,
    value_at: usize,
}

impl Found {
    /// Replaces the bytes and updates the TCP checksum; `new` may stand at an odd offset.
    fn replace(&self, packet: &mut [u8], new: &[u8]) {
        let sum_at = self.tcp_at + 16;
        let mut sum = u16_at(packet, sum_at);
        for (offset, &byte) in new.iter().enumerate() {
            let at = self.value_at + offset;
            // The word that holds the byte, counted from the start of the TCP header.
            let word_at = self.tcp_at + ((at - self.tcp_at) & !1);
            let old = u16_at(packet, word_at);
            packet[at] = byte;
            sum = checksum::update(sum, old, u16_at(packet, word_at));
        }
        packet[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Where the TCP header starts in `packet`, if its fixed part and options are all there.
fn tcp_start(packet: &[u8]) -> Option<usize> {
    let ip = IpView::parse(packet).ok()?;
    if ip.protocol() != Protocol::TCP.0 || !ip.is_complete() {
        return None;
    }
    if ip.fragment().is_some_and(|fragment| fragment.offset != 0) {
        return None;
    }
    let at = ip.header_len();
    let header_len = usize::from(packet.get(at + 12)? >> 4) * 4;
    (header_len >= 20 && packet.len() >= at + header_len).then_some(at)
}

/// Where the option `kind` stands in `packet` and how long it is with kind and length.
fn locate(packet: &[u8], tcp_at: usize, kind: u8) -> Option<(usize, usize)> {
    let end = tcp_at + usize::from(packet[tcp_at + 12] >> 4) * 4;
    let mut at = tcp_at + 20;
    while at < end {
        match packet[at] {
            kind::END => return None,
            kind::NOP => at += 1,
            found => {
                let len = usize::from(*packet.get(at + 1)?);
                if len < 2 || at + len > end {
                    return None;
                }
                if found == kind {
                    return Some((at, len));
                }
                at += len;
            }
        }
    }
    None
}

/// The value of the option `kind` of exactly `len` bytes in a SYN.
fn find_option(packet: &[u8], kind: u8, len: usize) -> Option<Found> {
    let tcp_at = tcp_start(packet)?;
    if u32_at(packet, tcp_at + 12) & 0x0002_0000 == 0 {
        return None;
    }
    let (at, found) = locate(packet, tcp_at, kind)?;
    (found == len).then_some(Found {
        tcp_at,
        value_at: at + 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipv4::{Ipv4Header, Ipv4View};
    use crate::ipv6::Ipv6Header;
    use crate::tcp::{TcpFlags, TcpHeader, TcpOptions, TcpView};
    use crate::{Seq32, ip};
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    const PAYLOAD: &[u8] = b"odd";

    fn syn(v6: bool, options: TcpOptions) -> Vec<u8> {
        let tcp = TcpHeader {
            source_port: 1,
            destination_port: 2,
            sequence: Seq32(3),
            acknowledgement: Seq32(4),
            flags: TcpFlags::SYN,
            window: 4128,
            urgent: 0,
            options,
        };
        let len = (tcp.len() + PAYLOAD.len()) as u32;
        let mut packet = vec![0; 40 + len as usize];
        let (source, destination): (IpAddr, IpAddr) = if v6 {
            (Ipv6Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into())
        } else {
            (Ipv4Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into())
        };
        let at = if v6 {
            Ipv6Header::new(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, 6, len).write(&mut packet)
        } else {
            Ipv4Header::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, 6, len).write(&mut packet)
        };
        let header = tcp.write(
            &mut packet[at..],
            ip::pseudo_sum(source, destination, 6, len),
            PAYLOAD,
        );
        packet[at + header..at + header + PAYLOAD.len()].copy_from_slice(PAYLOAD);
        packet.truncate(at + len as usize);
        packet
    }

    /// Checks both checksums and returns the TCP options.
    fn checked(packet: &[u8]) -> TcpOptions {
        if packet[0] >> 4 == 4 {
            assert_eq!(Ipv4View::parse(packet).unwrap().checksum_ok(), Some(true));
        }
        let ip = IpView::parse(packet).unwrap();
        let sum = ip
            .pseudo_sum(6, ip.payload().len() as u32)
            .add_bytes(ip.payload());
        assert_eq!(sum.finish(), 0, "TCP checksum");
        TcpOptions::parse(TcpView::parse(ip.payload()).unwrap().option_bytes())
    }

    #[test]
    fn every_edit_keeps_the_checksums_right() {
        let options = TcpOptions {
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 2)),
            ..TcpOptions::default()
        };
        for v6 in [false, true] {
            let mut packet = syn(v6, options);
            assert_eq!(checked(&packet), options);
            assert!(set_dscp(&mut packet, Dscp::EF));
            assert!(set_ecn(&mut packet, Ecn::Ce));
            assert!(set_hop_limit(&mut packet, 9));
            assert!(clamp_mss(&mut packet, 1400));
            assert!(!clamp_mss(&mut packet, 1400));
            assert!(set_window_scale(&mut packet, 2));
            assert!(set_window(&mut packet, 99));
            assert!(strip_option(&mut packet, kind::SACK_PERMITTED));
            let view = IpView::parse(&packet).unwrap();
            assert_eq!(
                (view.dscp(), view.ecn(), view.hop_limit()),
                (Dscp::EF, Ecn::Ce, 9)
            );
            let found = checked(&packet);
            let expected = TcpOptions {
                mss: Some(1400),
                window_scale: Some(2),
                sack_permitted: false,
                ..options
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_does_not_apply_is_left_alone() {
        let good = syn(false, TcpOptions::default());
        for (name, mut packet) in [
            ("empty", vec![]),
            ("cut", good[..30].to_vec()),
            ("not IP", vec![0x50; 60]),
            ("no options", good.clone()),
        ] {
            let before = packet.clone();
            assert!(!clamp_mss(&mut packet, 100), "{name}");
            assert!(!set_window_scale(&mut packet, 1), "{name}");
            assert!(!strip_option(&mut packet, kind::TIMESTAMPS), "{name}");
            assert_eq!(packet, before, "{name}");
        }
    }
}

//! Everything below an IP packet: link types, tags, labels, PPP.
//!
//! Each function reads one header and says what comes next; [`super::Decoder`] goes on until it meets IP.

use slowpath_packet::ethernet::ether_type;

use super::slice::Slice;
use super::undecoded::Undecoded;
use crate::link::LinkType;

/// What the bytes that follow are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// An IP packet; its version stands in it.
    Ip,
    /// What this Ethernet type says.
    EtherType(u16),
    /// An Ethernet frame.
    Ethernet,
    /// A PPP frame, with or without address and control bytes.
    Ppp,
    /// A PPPoE session header.
    Pppoe,
    /// A label stack.
    Mpls,
    /// A GRE header.
    Gre,
}

/// Reads the outermost header of a frame; also gives the kernel's number of the device, where the link type has one.
#[inline]
pub(super) fn link(link: LinkType, slice: Slice<'_>) -> Result<(Next, Slice<'_>, u32), Undecoded> {
    let (next, rest) = match link {
        LinkType::ETHERNET => (Next::EtherType(slice.u16(12)?), slice.behind(14)?),
        LinkType::RAW | LinkType::RAW_12 | LinkType::RAW_14 | LinkType::IPV4 | LinkType::IPV6 => {
            (Next::Ip, slice)
        }
        LinkType::NULL | LinkType::LOOP => family(slice)?,
        LinkType::LINUX_SLL => cooked(slice.u16(2)?, slice.u16(14)?, slice.behind(16)?)?,
        LinkType::LINUX_SLL2 => {
            let (next, rest) = cooked(slice.u16(8)?, slice.u16(0)?, slice.behind(20)?)?;
            return Ok((next, rest, slice.u32(4)?));
        }
        LinkType::PPP | LinkType::PPP_HDLC => (Next::Ppp, slice),
        LinkType::PPP_WITH_DIRECTION => (Next::Ppp, slice.behind(1)?),
        LinkType::PPP_ETHER => (Next::Pppoe, slice),
        LinkType::FDDI => llc(slice.behind(13)?)?,
        LinkType::NFLOG => netfilter_log(slice)?,
        other => return Err(Undecoded::LinkType(other)),
    };
    Ok((next, rest, 0))
}

/// Reads one layer below IP.
pub(super) fn step(next: Next, slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    match next {
        Next::Ip => Ok((Next::Ip, slice)),
        Next::Ethernet => Ok((Next::EtherType(slice.u16(12)?), slice.behind(14)?)),
        Next::EtherType(kind) => match kind {
            ether_type::IPV4 | ether_type::IPV6 => Ok((Next::Ip, slice)),
            kind if ether_type::is_tag(kind) => Ok((Next::EtherType(slice.u16(2)?), slice.behind(4)?)),
            ether_type::MPLS | ether_type::MPLS_MULTICAST => Ok((Next::Mpls, slice)),
            ether_type::PPPOE_SESSION => Ok((Next::Pppoe, slice)),
            ether_type::TRANSPARENT_ETHERNET => Ok((Next::Ethernet, slice)),
            // A length instead of a type (IEEE 802.3): a logical link control header follows.
            0..=1500 => llc(slice),
            other => Err(Undecoded::NotIp { ether_type: other }),
        },
        Next::Ppp => ppp(slice),
        Next::Pppoe => pppoe(slice),
        Next::Mpls => mpls(slice),
        Next::Gre => gre(slice),
    }
}

/// BSD loopback: an address family, in the byte order of the capturing machine or the network's.
fn family(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    let family = slice.u32(0)?;
    let family = if family > 0xffff {
        family.swap_bytes()
    } else {
        family
    };
    // IPv4 is 2 everywhere; IPv6 is 10 on Linux, 23 on Windows, 24, 28 or 30 on BSD systems and macOS.
    match family {
        2 | 10 | 23 | 24 | 28 | 30 => Ok((Next::Ip, slice.behind(4)?)),
        other => Err(Undecoded::NotIp {
            ether_type: other as u16,
        }),
    }
}

/// Linux cooked headers: device type and protocol, whatever their places.
fn cooked(device: u16, protocol: u16, rest: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    /// ARPHRD_NETLINK: the bytes are messages of the kernel.
    const NETLINK: u16 = 824;
    /// ARPHRD_PPP: the kernel leaves PPP's protocol out and gives an Ethernet type.
    const PPP: u16 = 512;
    match (device, protocol) {
        (NETLINK, _) => Err(Undecoded::LinkType(LinkType::NETLINK)),
        // Devices without a link layer give no type: the packet itself tells.
        (PPP, 0) => Ok((Next::Ip, rest)),
        // 1 is "no type", 4 is "a logical link control header follows" (linux/if_ether.h).
        (_, 1) => Err(Undecoded::NotIp { ether_type: 1 }),
        (_, 4) => llc(rest),
        (_, protocol) => Ok((Next::EtherType(protocol), rest)),
    }
}

/// A logical link control header with a subnetwork header that holds an Ethernet type.
fn llc(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    match slice.bytes {
        [0xaa, 0xaa, 3, 0, 0, 0, ..] => Ok((Next::EtherType(slice.u16(6)?), slice.behind(8)?)),
        _ => Err(Undecoded::NotIp { ether_type: 0 }),
    }
}

/// Netfilter log messages: attributes, one of which is the packet.
fn netfilter_log(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    /// NFULA_PAYLOAD.
    const PAYLOAD: u16 = 9;
    let mut rest = slice.behind(4)?;
    // Every attribute is at least four bytes long, so this ends.
    loop {
        // Attributes are in the byte order of the capturing machine; a length tells which, as it is small.
        let header = rest.bytes.get(..4).ok_or(Undecoded::Cut)?;
        let little = [
            u16::from_le_bytes([header[0], header[1]]),
            u16::from_le_bytes([header[2], header[3]]),
        ];
        let big = [
            u16::from_be_bytes([header[0], header[1]]),
            u16::from_be_bytes([header[2], header[3]]),
        ];
        let [len, kind] = if little[1] <= 0xff { little } else { big };
        let len = usize::from(len);
        if len < 4 {
            return Err(Undecoded::NotIp { ether_type: 0 });
        }
        if kind & 0x7fff == PAYLOAD {
            return Ok((Next::Ip, rest.behind(4)?.first(len - 4)));
        }
        rest = rest.behind(len.next_multiple_of(4))?;
    }
}

/// A PPPoE session header (RFC 2516). Its length is kept: some concentrators count Ethernet's padding into the
/// IP length of short packets, and only this one is right then.
fn pppoe(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    let len = usize::from(slice.u16(4)?);
    Ok((
        Next::Ppp,
        Slice {
            limited: true,
            ..slice.behind(6)?.first(len)
        },
    ))
}

/// PPP: address and control may be left out, and the protocol may be one byte (RFC 1661 section 6.5).
fn ppp(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    let slice = match slice.bytes {
        [0xff, 3, ..] => slice.behind(2)?,
        _ => slice,
    };
    let first = slice.u8(0)?;
    let (protocol, len) = if first & 1 == 1 {
        (u16::from(first), 1)
    } else {
        (slice.u16(0)?, 2)
    };
    let rest = slice.behind(len)?;
    match protocol {
        0x0021 | 0x0057 => Ok((Next::Ip, rest)),
        0x0281 | 0x0283 => Ok((Next::Mpls, rest)),
        other => Err(Undecoded::NotIp { ether_type: other }),
    }
}

/// An MPLS label stack (RFC 3032). It does not say what it carries: IP shows its version in the first nibble,
/// a zero nibble is a control word with an Ethernet frame behind it (RFC 4385).
fn mpls(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    let rest = slice.behind(4)?;
    if slice.u8(2)? & 1 == 0 {
        return Ok((Next::Mpls, rest));
    }
    match rest.u8(0)? >> 4 {
        4 | 6 => Ok((Next::Ip, rest)),
        0 => Ok((Next::Ethernet, rest.behind(4)?)),
        _ => Ok((Next::Ethernet, rest)),
    }
}

/// GRE (RFC 2784, RFC 2890) and its older form for PPTP (RFC 2637), with ERSPAN frames inside.
fn gre(slice: Slice<'_>) -> Result<(Next, Slice<'_>), Undecoded> {
    let (flags, protocol) = (slice.u16(0)?, slice.u16(2)?);
    let has = |bit: u16| usize::from(flags & bit != 0);
    if flags & 0x4000 != 0 {
        // Source routing is of variable length and nobody uses it.
        return Err(Undecoded::NotIp { ether_type: protocol });
    }
    let mut len = 4 + 4 * (has(0x8000) + has(0x2000) + has(0x1000));
    if flags & 7 == 1 {
        len += 4 * has(0x0080);
    }
    let rest = slice.behind(len)?;
    match protocol {
        0x880b => Ok((Next::Ppp, rest)),
        // ERSPAN type I has no header of its own, type II has one if sequence numbers are there.
        0x88be => Ok((Next::Ethernet, rest.behind(8 * has(0x1000))?)),
        0x22eb => {
            let optional = 8 * usize::from(rest.u16(10)? & 1);
            Ok((Next::Ethernet, rest.behind(12 + optional)?))
        }
        other => Ok((Next::EtherType(other), rest)),
    }
}

/// What a UDP datagram carries, if its ports and first bytes say that it is a tunnel; `slice` is its payload.
pub(super) fn udp_tunnel(
    source_port: u16,
    destination_port: u16,
    slice: Slice<'_>,
) -> Option<(Next, Slice<'_>)> {
    match (source_port, destination_port) {
        (_, 4789 | 8472) => vxlan(slice),
        (_, 6081) => geneve(slice),
        (2152, _) | (_, 2152) => gtp_u(slice),
        _ => None,
    }
}

/// VXLAN (RFC 7348): a flag, a network identifier, an Ethernet frame.
fn vxlan(slice: Slice<'_>) -> Option<(Next, Slice<'_>)> {
    (slice.u8(0).ok()? & 0x08 != 0).then(|| Some((Next::Ethernet, slice.behind(8).ok()?)))?
}

/// Geneve (RFC 8926): options of variable length, then what an Ethernet type says.
fn geneve(slice: Slice<'_>) -> Option<(Next, Slice<'_>)> {
    let first = slice.u8(0).ok()?;
    if first >> 6 != 0 {
        return None;
    }
    let rest = slice.behind(8 + 4 * usize::from(first & 0x3f)).ok()?;
    Some((Next::EtherType(slice.u16(2).ok()?), rest))
}

/// GTP-U version 1 (3GPP TS 29.281 section 5.1): a user's packet, behind extension headers.
fn gtp_u(slice: Slice<'_>) -> Option<(Next, Slice<'_>)> {
    let (flags, kind) = (slice.u8(0).ok()?, slice.u8(1).ok()?);
    if flags >> 4 != 3 || kind != 255 {
        return None;
    }
    let optional = flags & 0x07 != 0;
    if !optional {
        return Some((Next::Ip, slice.behind(8).ok()?));
    }
    let mut next_extension = if flags & 4 != 0 { slice.u8(11).ok()? } else { 0 };
    let mut rest = slice.behind(12).ok()?;
    // Every extension header is at least four bytes long, so this ends.
    while next_extension != 0 {
        let len = 4 * usize::from(rest.u8(0).ok()?);
        next_extension = rest.u8(len.checked_sub(1)?).ok()?;
        rest = rest.behind(len).ok()?;
    }
    Some((Next::Ip, rest))
}

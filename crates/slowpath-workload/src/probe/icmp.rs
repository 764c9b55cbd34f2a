//! ICMP messages (RFC 792, RFC 4443), as far as probes need them.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// An ICMP error, and the part of the packet that it quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcmpError {
    /// Who sent it; unknown for an error of the own kernel.
    pub from: Option<IpAddr>,
    /// ICMP type of the address family: 3 or 1 is unreachable, 11 or 3 is time exceeded, 2 is too big (IPv6).
    pub kind: u8,
    /// ICMP code.
    pub code: u8,
    /// MTU of the next hop, if it was told.
    pub mtu: Option<u32>,
    /// What the router saw of the packet, if the message could be read.
    pub quoted: Option<Quoted>,
}

/// The header of a packet as a router or host on the path quoted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quoted {
    /// Type-of-service byte or traffic class when the packet arrived there.
    pub tos: u8,
    /// TTL or hop limit when it arrived there.
    pub ttl: u8,
    /// Length of the IP packet.
    pub length: u32,
    /// Destination.
    pub destination: IpAddr,
    /// Protocol number.
    pub protocol: u8,
    /// The first eight bytes of its payload: ports, or ICMP type, code, checksum, identifier and sequence.
    pub head: [u8; 8],
}

/// What an ICMP socket brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    EchoReply {
        id: u16,
        sequence: u16,
    },
    Error {
        kind: u8,
        code: u8,
        mtu: Option<u32>,
        quoted: Option<Quoted>,
    },
}

/// An echo request; over IPv6 the kernel fills in the checksum, which covers addresses.
pub(super) fn echo_request(v6: bool, id: u16, sequence: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + payload.len());
    bytes.extend([if v6 { 128 } else { 8 }, 0, 0, 0]);
    bytes.extend(id.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(payload);
    if !v6 {
        let sum = checksum(&[&bytes]);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    bytes
}

/// The Internet checksum (RFC 1071).
///
/// All parts but the last have an even length.
pub(crate) fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum: u64 = 0;
    for part in parts {
        let mut words = part.chunks_exact(2);
        for word in &mut words {
            sum += u64::from(u16::from_be_bytes([word[0], word[1]]));
        }
        if let [last] = words.remainder() {
            sum += u64::from(*last) << 8;
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// Reads an ICMP message; nothing for those that no probe asked for.
pub(super) fn parse(v6: bool, bytes: &[u8]) -> Option<Message> {
    let (&kind, &code) = (bytes.first()?, bytes.get(1)?);
    let half = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    match (v6, kind) {
        (false, 0) | (true, 129) => Some(Message::EchoReply {
            id: half(4)?,
            sequence: half(6)?,
        }),
        (false, 3 | 11) | (true, 1..=3) => {
            let mtu = match (v6, kind, code) {
                (false, 3, 4) => half(6).map(u32::from),
                (true, 2, _) => Some(u32::from(half(4)?) << 16 | u32::from(half(6)?)),
                _ => None,
            };
            let quoted = bytes.get(8..).and_then(|quoted| parse_quoted(v6, quoted));
            Some(Message::Error {
                kind,
                code,
                mtu: mtu.filter(|mtu| *mtu != 0),
                quoted,
            })
        }
        _ => None,
    }
}

/// The IPv4 packet without its header, as raw sockets deliver it with header.
pub(super) fn strip_ipv4(bytes: &[u8]) -> Option<&[u8]> {
    let first = *bytes.first()?;
    if first >> 4 != 4 {
        return None;
    }
    bytes.get(usize::from(first & 15) * 4..)
}

fn parse_quoted(v6: bool, bytes: &[u8]) -> Option<Quoted> {
    let head = |at: usize| bytes.get(at..at + 8)?.try_into().ok();
    if v6 {
        if bytes.first()? >> 4 != 6 {
            return None;
        }
        let address: [u8; 16] = bytes.get(24..40)?.try_into().ok()?;
        return Some(Quoted {
            tos: (bytes[0] << 4) | (bytes[1] >> 4),
            ttl: bytes[7],
            length: u32::from(u16::from_be_bytes([bytes[4], bytes[5]])) + 40,
            destination: IpAddr::from(address),
            protocol: bytes[6],
            head: head(40)?,
        });
    }
    let first = *bytes.first()?;
    let address: [u8; 4] = bytes.get(16..20)?.try_into().ok()?;
    (first >> 4 == 4).then_some(())?;
    Some(Quoted {
        tos: bytes[1],
        ttl: bytes[8],
        length: u32::from(u16::from_be_bytes([bytes[2], bytes[3]])),
        destination: IpAddr::from(address),
        protocol: bytes[9],
        head: head(usize::from(first & 15) * 4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_has_a_valid_checksum() {
        for payload in [&b""[..], b"abc", b"abcd"] {
            let bytes = echo_request(false, 0x1234, 7, payload);
            assert_eq!(checksum(&[&bytes]), 0, "{bytes:?}");
        }
        assert_eq!(echo_request(true, 1, 2, b"")[..8], [128, 0, 0, 0, 0, 1, 0, 2]);
    }

    #[test]
    fn reads_what_a_router_quotes() {
        // Fragmentation needed with MTU 1400 for an echo request marked cs1, seen with TTL 63.
        let mut bytes = vec![3, 4, 0, 0, 0, 0, 0x05, 0x78];
        bytes.extend([
            0x45, 0x20, 0x05, 0xdc, 0, 1, 0x40, 0, 63, 1, 0, 0, 192, 0, 2, 1, 198, 51, 100, 7,
        ]);
        bytes.extend([8, 0, 0, 0, 0x12, 0x34, 0, 9]);
        let Some(Message::Error {
            kind: 3,
            code: 4,
            mtu: Some(1400),
            quoted: Some(quoted),
        }) = parse(false, &bytes)
        else {
            panic!("{:?}", parse(false, &bytes));
        };
        assert_eq!((quoted.tos, quoted.ttl, quoted.length), (0x20, 63, 1500));
        assert_eq!(quoted.destination, "198.51.100.7".parse::<IpAddr>().unwrap());
        assert_eq!(quoted.head[4..], [0x12, 0x34, 0, 9]);
        // A router that quotes too little is still an error message.
        assert!(matches!(
            parse(false, &bytes[..20]),
            Some(Message::Error { quoted: None, .. })
        ));
    }

    proptest! {
        #[test]
        fn nothing_panics(v6: bool, bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(v6, &bytes);
            let _ = strip_ipv4(&bytes).map(|inner| parse(v6, inner));
        }
    }
}

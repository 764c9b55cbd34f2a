//! IPv6 headers and extension headers (RFC 8200), read and written in place.

use std::net::Ipv6Addr;

use crate::fragment::Fragment;
use crate::malformed::{Malformed, at_least, u16_at, u32_at};

/// Length of the fixed IPv6 header in bytes.
pub const HEADER_LEN: usize = 40;

/// Numbers of the extension headers (IANA "IPv6 Extension Header Types").
pub mod extension {
    /// Hop-by-hop options; the jumbo payload length stands in it (RFC 2675).
    pub const HOP_BY_HOP: u8 = 0;
    /// Routing.
    pub const ROUTING: u8 = 43;
    /// Fragment.
    pub const FRAGMENT: u8 = 44;
    /// Authentication (RFC 4302).
    pub const AUTHENTICATION: u8 = 51;
    /// No next header.
    pub const NONE: u8 = 59;
    /// Destination options.
    pub const DESTINATION: u8 = 60;
    /// Mobility (RFC 6275).
    pub const MOBILITY: u8 = 135;
}

/// What the chain of extension headers ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upper {
    /// The protocol of the payload.
    pub protocol: u8,
    /// Where the payload starts, in bytes from the start of the packet.
    pub offset: usize,
    /// Where this fragment belongs, or nothing if the packet is whole. An atomic fragment (RFC 6946) is whole.
    pub fragment: Option<Fragment>,
    /// Where the fragment header stands, in bytes from the start of the packet; 0 if there is none.
    pub fragment_at: usize,
    /// The jumbo payload length in bytes (RFC 2675): everything behind the fixed header.
    pub jumbo: Option<u32>,
    /// The chain was cut off or is longer than [`Ipv6View::MAX_EXTENSIONS`]; `protocol` is then the first
    /// header that was not read.
    pub complete: bool,
}

/// An IPv6 packet, read in place; bytes may be missing at its end.
#[derive(Debug, Clone, Copy)]
pub struct Ipv6View<'a> {
    bytes: &'a [u8],
}

impl<'a> Ipv6View<'a> {
    /// Extension headers that are followed before the reader gives up.
    pub const MAX_EXTENSIONS: usize = 12;

    /// Reads a packet whose first 40 bytes at least are there.
    ///
    /// A payload length of zero (jumbogram, segmentation offload) is accepted, and so are cut packets.
    ///
    /// # Errors
    /// [`Malformed`] if the header is cut or of another version.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("IPv6", bytes, HEADER_LEN)?;
        if bytes[0] >> 4 != 6 {
            return Err(Malformed::Version {
                header: "IPv6",
                found: bytes[0] >> 4,
            });
        }
        Ok(Self { bytes })
    }

    /// The view of bytes that [`Self::parse`] accepted before.
    pub(crate) const fn trusted(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The octet that holds DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        self.bytes[0] << 4 | self.bytes[1] >> 4
    }

    /// The flow label.
    pub fn flow_label(&self) -> u32 {
        u32_at(self.bytes, 0) & 0x000f_ffff
    }

    /// The payload length field: bytes behind the fixed header; zero in a jumbogram.
    #[inline]
    pub fn payload_len(&self) -> u16 {
        u16_at(self.bytes, 4)
    }

    /// The header that follows the fixed header: an extension or the payload.
    #[inline]
    pub fn next_header(&self) -> u8 {
        self.bytes[6]
    }

    /// Hops that the packet may still make.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        self.bytes[7]
    }

    /// The source address.
    #[inline]
    pub fn source(&self) -> Ipv6Addr {
        let octets: [u8; 16] = self.bytes[8..24].try_into().unwrap_or_default();
        Ipv6Addr::from(octets)
    }

    /// The destination address.
    #[inline]
    pub fn destination(&self) -> Ipv6Addr {
        let octets: [u8; 16] = self.bytes[24..40].try_into().unwrap_or_default();
        Ipv6Addr::from(octets)
    }

    /// Follows the extension headers to the payload.
    pub fn upper(&self) -> Upper {
        let mut upper = Upper {
            protocol: self.next_header(),
            offset: HEADER_LEN,
            fragment: None,
            fragment_at: 0,
            jumbo: None,
            complete: true,
        };
        for _ in 0..Self::MAX_EXTENSIONS {
            let Some(unit) = unit_of(upper.protocol) else {
                return upper;
            };
            let Some(header) = self.bytes.get(upper.offset..).filter(|rest| rest.len() >= 8) else {
                upper.complete = false;
                return upper;
            };
            let len = unit.len(header[1]);
            match upper.protocol {
                extension::FRAGMENT => {
                    upper.fragment = fragment_at(self.bytes, upper.offset);
                    upper.fragment_at = upper.offset;
                }
                extension::HOP_BY_HOP => {
                    upper.jumbo = jumbo_length(&header[2..len.min(header.len())]).or(upper.jumbo);
                }
                _ => {}
            }
            upper.protocol = header[0];
            upper.offset += len;
            if upper.fragment.is_some_and(|fragment| fragment.offset != 0) {
                return upper;
            }
        }
        upper.complete = unit_of(upper.protocol).is_none();
        upper
    }
}

/// What the fragment header at `at` says; nothing for an atomic fragment, or if the header is cut.
pub(crate) fn fragment_at(packet: &[u8], at: usize) -> Option<Fragment> {
    let header = packet.get(at..at + 8)?;
    let field = u16_at(header, 2);
    let (offset, more) = (u32::from(field & 0xfff8), field & 1 != 0);
    (offset != 0 || more).then(|| Fragment {
        id: u32_at(header, 4),
        offset,
        more,
    })
}

/// Says whether `next_header` is an extension header that can be followed.
#[inline]
pub(crate) const fn is_extension(next_header: u8) -> bool {
    unit_of(next_header).is_some()
}

/// How an extension header counts its length.
enum Unit {
    /// In units of 8 bytes, the first not counted.
    Eight,
    /// In units of 4 bytes, the first two not counted.
    Four,
    /// Always 8 bytes.
    Fixed,
}

impl Unit {
    fn len(&self, field: u8) -> usize {
        match self {
            Self::Eight => (usize::from(field) + 1) * 8,
            Self::Four => (usize::from(field) + 2) * 4,
            Self::Fixed => 8,
        }
    }
}

/// How the extension header `protocol` counts its length, or nothing if it is no extension.
#[inline]
const fn unit_of(protocol: u8) -> Option<Unit> {
    match protocol {
        extension::HOP_BY_HOP | extension::ROUTING | extension::DESTINATION | extension::MOBILITY => {
            Some(Unit::Eight)
        }
        extension::AUTHENTICATION => Some(Unit::Four),
        extension::FRAGMENT => Some(Unit::Fixed),
        _ => None,
    }
}

/// Finds the jumbo payload option (type 0xc2, RFC 2675 section 2) among hop-by-hop options.
fn jumbo_length(mut options: &[u8]) -> Option<u32> {
    loop {
        match *options {
            [0, ref rest @ ..] => options = rest,
            [0xc2, 4, a, b, c, d, ..] => return Some(u32::from_be_bytes([a, b, c, d])),
            [_, len, ref rest @ ..] => options = rest.get(usize::from(len)..)?,
            _ => return None,
        }
    }
}

/// An IPv6 header without extensions, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6Header {
    /// The source address.
    pub source: Ipv6Addr,
    /// The destination address.
    pub destination: Ipv6Addr,
    /// The protocol of the payload, or an extension header that the caller writes.
    pub next_header: u8,
    /// The octet that holds DSCP and ECN.
    pub traffic_class: u8,
    /// Hops that the packet may make.
    pub hop_limit: u8,
    /// The flow label, 20 bits.
    pub flow_label: u32,
    /// Bytes behind this header; above 65,535 the field is written as 0.
    pub payload_len: u32,
}

impl Ipv6Header {
    /// A header with hop limit 64, everything else zero.
    pub const fn new(source: Ipv6Addr, destination: Ipv6Addr, next_header: u8, payload_len: u32) -> Self {
        Self {
            source,
            destination,
            next_header,
            traffic_class: 0,
            hop_limit: 64,
            flow_label: 0,
            payload_len,
        }
    }

    /// Writes the header to the start of `out` and returns its length, 40.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0x000f_ffff;
        let len = u16::try_from(self.payload_len).unwrap_or(0);
        let out = &mut out[..HEADER_LEN];
        out[..4].copy_from_slice(&first.to_be_bytes());
        out[4..6].copy_from_slice(&len.to_be_bytes());
        out[6] = self.next_header;
        out[7] = self.hop_limit;
        out[8..24].copy_from_slice(&self.source.octets());
        out[24..40].copy_from_slice(&self.destination.octets());
        HEADER_LEN
    }
}

/// A fragment extension header, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FragmentHeader {
    /// The header behind this one.
    pub next_header: u8,
    /// Which packet the fragment belongs to and where.
    pub fragment: Fragment,
}

impl FragmentHeader {
    /// Length of a fragment header in bytes.
    pub const LEN: usize = 8;

    /// Writes the header to the start of `out` and returns its length, 8.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let field = (self.fragment.offset & 0xfff8) as u16 | u16::from(self.fragment.more);
        out[0] = self.next_header;
        out[1] = 0;
        out[2..4].copy_from_slice(&field.to_be_bytes());
        out[4..8].copy_from_slice(&self.fragment.id.to_be_bytes());
        Self::LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(next_header: u8, payload_len: u32) -> Ipv6Header {
        let mut header = Ipv6Header::new(
            Ipv6Addr::LOCALHOST,
            Ipv6Addr::UNSPECIFIED,
            next_header,
            payload_len,
        );
        header.traffic_class = 0xb9;
        header.flow_label = 0xabcde;
        header
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = [0; 60];
        assert_eq!(header(6, 20).write(&mut bytes), 40);
        let view = Ipv6View::parse(&bytes).unwrap();
        assert_eq!(
            (view.source(), view.destination()),
            (Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED)
        );
        assert_eq!((view.traffic_class(), view.flow_label()), (0xb9, 0xabcde));
        assert_eq!((view.payload_len(), view.hop_limit()), (20, 64));
        let plain = Upper {
            protocol: 6,
            offset: 40,
            fragment: None,
            fragment_at: 0,
            jumbo: None,
            complete: true,
        };
        assert_eq!(view.upper(), plain);
    }

    #[test]
    fn extension_headers_are_followed() {
        let mut bytes = [0; 100];
        header(extension::HOP_BY_HOP, 60).write(&mut bytes);
        bytes[40..48].copy_from_slice(&[extension::AUTHENTICATION, 0, 0xc2, 4, 0, 1, 0x86, 0xa0]);
        bytes[48..50].copy_from_slice(&[extension::FRAGMENT, 4]);
        FragmentHeader {
            next_header: 6,
            fragment: Fragment {
                id: 7,
                offset: 0,
                more: true,
            },
        }
        .write(&mut bytes[72..]);
        let upper = Ipv6View::parse(&bytes).unwrap().upper();
        assert_eq!((upper.protocol, upper.offset, upper.complete), (6, 80, true));
        assert_eq!(
            upper.fragment,
            Some(Fragment {
                id: 7,
                offset: 0,
                more: true
            })
        );
        assert_eq!(upper.jumbo, Some(100_000));
    }

    #[test]
    fn an_atomic_fragment_is_whole() {
        let mut bytes = [0; 60];
        header(extension::FRAGMENT, 20).write(&mut bytes);
        FragmentHeader {
            next_header: 17,
            fragment: Fragment {
                id: 7,
                offset: 0,
                more: false,
            },
        }
        .write(&mut bytes[40..]);
        let upper = Ipv6View::parse(&bytes).unwrap().upper();
        assert_eq!((upper.protocol, upper.offset, upper.fragment), (17, 48, None));
    }

    #[test]
    fn a_cut_or_endless_chain_is_incomplete() {
        let mut bytes = [0; 45];
        header(extension::DESTINATION, 20).write(&mut bytes);
        assert!(!Ipv6View::parse(&bytes).unwrap().upper().complete);
        // 8-byte destination options that point to one another.
        let mut bytes = [0; 400];
        header(extension::DESTINATION, 360).write(&mut bytes);
        for start in (40..400).step_by(8) {
            bytes[start] = extension::DESTINATION;
        }
        let upper = Ipv6View::parse(&bytes).unwrap().upper();
        assert_eq!((upper.complete, upper.offset), (false, 40 + 12 * 8));
    }
}

//! IPv4 headers (RFC 791), read and written in place.

use std::net::Ipv4Addr;

use crate::checksum;
use crate::fragment::Fragment;
use crate::malformed::{Malformed, at_least, u16_at};

/// Length of an IPv4 header without options in bytes.
pub const HEADER_LEN: usize = 20;

/// An IPv4 packet, read in place; bytes may be missing at its end.
#[derive(Debug, Clone, Copy)]
pub struct Ipv4View<'a> {
    bytes: &'a [u8],
}

impl<'a> Ipv4View<'a> {
    /// Reads a packet whose first 20 bytes at least are there.
    ///
    /// A total length of zero (segmentation offload) is accepted, and so are cut packets.
    ///
    /// # Errors
    /// [`Malformed`] if the header is cut, is of another version, or if its lengths contradict each other.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("IPv4", bytes, HEADER_LEN)?;
        let view = Self { bytes };
        if bytes[0] >> 4 != 4 {
            return Err(Malformed::Version {
                header: "IPv4",
                found: bytes[0] >> 4,
            });
        }
        let header_len = view.header_len();
        if header_len < HEADER_LEN {
            return Err(Malformed::HeaderLength {
                header: "IPv4",
                minimum: HEADER_LEN,
                found: header_len,
            });
        }
        let total = usize::from(view.total_len());
        if total != 0 && total < header_len {
            return Err(Malformed::TotalLength {
                header: "IPv4",
                header_len,
                found: total,
            });
        }
        Ok(view)
    }

    /// The view of bytes that [`Self::parse`] accepted before.
    pub(crate) const fn trusted(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Length of the header with options in bytes, as it says.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes[0] & 0x0f) * 4
    }

    /// The octet that holds DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        self.bytes[1]
    }

    /// The total length field: header and payload in bytes; zero for a super-packet of the kernel.
    #[inline]
    pub fn total_len(&self) -> u16 {
        u16_at(self.bytes, 2)
    }

    /// The identification field.
    #[inline]
    pub fn identification(&self) -> u16 {
        u16_at(self.bytes, 4)
    }

    /// Says whether routers may not fragment the packet.
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        self.bytes[6] & 0x40 != 0
    }

    /// Where this fragment belongs, or nothing if the packet is whole.
    #[inline]
    pub fn fragment(&self) -> Option<Fragment> {
        let field = u16_at(self.bytes, 6);
        let (offset, more) = (u32::from(field & 0x1fff) * 8, field & 0x2000 != 0);
        (offset != 0 || more).then(|| Fragment {
            id: u32::from(self.identification()),
            offset,
            more,
        })
    }

    /// Hops that the packet may still make.
    #[inline]
    pub fn ttl(&self) -> u8 {
        self.bytes[8]
    }

    /// The protocol of the payload.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.bytes[9]
    }

    /// The header checksum field.
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 10)
    }

    /// Says whether the header checksum is right, or nothing if part of the header is missing.
    pub fn checksum_ok(&self) -> Option<bool> {
        Some(checksum::of(self.bytes.get(..self.header_len())?) == 0)
    }

    /// The source address.
    #[inline]
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from(crate::malformed::u32_at(self.bytes, 12))
    }

    /// The destination address.
    #[inline]
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from(crate::malformed::u32_at(self.bytes, 16))
    }

    /// The bytes of the payload that are there, without padding behind the packet.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let end = match usize::from(self.total_len()) {
            0 => self.bytes.len(),
            total => total.min(self.bytes.len()),
        };
        self.bytes.get(self.header_len()..end).unwrap_or_default()
    }
}

/// An IPv4 header without options, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv4Header {
    /// The source address.
    pub source: Ipv4Addr,
    /// The destination address.
    pub destination: Ipv4Addr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The octet that holds DSCP and ECN.
    pub traffic_class: u8,
    /// Hops that the packet may make.
    pub ttl: u8,
    /// The identification field.
    pub identification: u16,
    /// Routers may not fragment the packet.
    pub dont_fragment: bool,
    /// Set for a fragment: more follow.
    pub more_fragments: bool,
    /// Set for a fragment: where its payload belongs, in bytes, a multiple of 8.
    pub fragment_offset: u16,
    /// Length of the payload in bytes; a packet above 65,535 bytes gets total length 0.
    pub payload_len: u32,
}

impl Ipv4Header {
    /// A header with TTL 64 and don't-fragment set, everything else zero.
    pub const fn new(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, payload_len: u32) -> Self {
        Self {
            source,
            destination,
            protocol,
            traffic_class: 0,
            ttl: 64,
            identification: 0,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            payload_len,
        }
    }

    /// Writes the header with its checksum to the start of `out` and returns its length, 20.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let total = self.payload_len.saturating_add(20);
        let total = u16::try_from(total).unwrap_or(0);
        let fragment = u16::from(self.dont_fragment) << 14
            | u16::from(self.more_fragments) << 13
            | (self.fragment_offset / 8) & 0x1fff;
        let out = &mut out[..HEADER_LEN];
        out[0] = 0x45;
        out[1] = self.traffic_class;
        out[2..4].copy_from_slice(&total.to_be_bytes());
        out[4..6].copy_from_slice(&self.identification.to_be_bytes());
        out[6..8].copy_from_slice(&fragment.to_be_bytes());
        out[8] = self.ttl;
        out[9] = self.protocol;
        out[10..12].fill(0);
        out[12..16].copy_from_slice(&self.source.octets());
        out[16..20].copy_from_slice(&self.destination.octets());
        let sum = checksum::of(out);
        out[10..12].copy_from_slice(&sum.to_be_bytes());
        HEADER_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Ipv4Header {
        let mut header = Ipv4Header::new(Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 1, 2), 6, 100);
        header.traffic_class = 0xb8;
        header.identification = 0x1234;
        header
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = [0; 120];
        assert_eq!(header().write(&mut bytes), 20);
        let view = Ipv4View::parse(&bytes).unwrap();
        assert_eq!(view.source(), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(view.destination(), Ipv4Addr::new(10, 0, 1, 2));
        assert_eq!(
            (view.total_len(), view.header_len(), view.ttl(), view.protocol()),
            (120, 20, 64, 6)
        );
        assert_eq!((view.traffic_class(), view.identification()), (0xb8, 0x1234));
        assert!(view.dont_fragment());
        assert_eq!(view.fragment(), None);
        assert_eq!(view.checksum_ok(), Some(true));
        assert_eq!(view.payload().len(), 100);
    }

    #[test]
    fn a_fragment_says_where_it_belongs() {
        let mut bytes = [0; 28];
        let fragment = Ipv4Header {
            dont_fragment: false,
            more_fragments: true,
            fragment_offset: 1480,
            payload_len: 8,
            ..header()
        };
        fragment.write(&mut bytes);
        let found = Ipv4View::parse(&bytes).unwrap().fragment();
        assert_eq!(
            found,
            Some(Fragment {
                id: 0x1234,
                offset: 1480,
                more: true
            })
        );
    }

    #[test]
    fn a_super_packet_has_total_length_zero_and_all_its_payload() {
        let mut bytes = vec![0; 70_020];
        Ipv4Header {
            payload_len: 70_000,
            ..header()
        }
        .write(&mut bytes);
        let view = Ipv4View::parse(&bytes).unwrap();
        assert_eq!((view.total_len(), view.payload().len()), (0, 70_000));
    }

    #[test]
    fn padding_is_not_payload_and_a_cut_packet_is_read() {
        let mut bytes = [0; 60];
        Ipv4Header {
            payload_len: 20,
            ..header()
        }
        .write(&mut bytes);
        assert_eq!(Ipv4View::parse(&bytes).unwrap().payload().len(), 20);
        assert_eq!(Ipv4View::parse(&bytes[..30]).unwrap().payload().len(), 10);
    }

    #[test]
    fn contradictions_are_errors() {
        let mut good = [0; 20];
        header().write(&mut good);
        let cases: [(usize, u8, Malformed); 3] = [
            (
                0,
                0x65,
                Malformed::Version {
                    header: "IPv4",
                    found: 6,
                },
            ),
            (
                0,
                0x44,
                Malformed::HeaderLength {
                    header: "IPv4",
                    minimum: 20,
                    found: 16,
                },
            ),
            (
                3,
                0x13,
                Malformed::TotalLength {
                    header: "IPv4",
                    header_len: 20,
                    found: 19,
                },
            ),
        ];
        for (at, value, expected) in cases {
            let mut bytes = good;
            bytes[2] = 0;
            bytes[at] = value;
            assert_eq!(Ipv4View::parse(&bytes).unwrap_err(), expected);
        }
    }
}

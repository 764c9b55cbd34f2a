//! Either version of IP behind one view, as most readers want it.

use std::net::IpAddr;

use crate::checksum::Sum;
use crate::fragment::Fragment;
use crate::ipv4::Ipv4View;
use crate::ipv6::{HEADER_LEN, Ipv6View};
use crate::malformed::Malformed;
use crate::{Dscp, Ecn};

/// An IP packet of either version with its extension headers followed.
///
/// It holds little besides the bytes: what a caller does not ask for is not read.
#[derive(Debug, Clone, Copy)]
pub struct IpView<'a> {
    bytes: &'a [u8],
    payload_at: u32,
    /// Header and payload; 0 where the header does not say.
    length: u32,
    /// Where an IPv6 fragment header stands; 0 if there is none.
    fragment_at: u32,
    protocol: u8,
    v6: bool,
    complete: bool,
}

impl<'a> IpView<'a> {
    /// Reads a packet; the version decides how.
    ///
    /// # Errors
    /// [`Malformed`] if the header is cut, of another version than 4 or 6, or contradicts itself.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Self::parse_v4(bytes),
            Some(6) => Self::parse_v6(bytes),
            Some(found) => Err(Malformed::Version { header: "IP", found }),
            None => Err(Malformed::Short {
                header: "IP",
                needed: 20,
                found: 0,
            }),
        }
    }

    /// Reads an IPv4 packet.
    ///
    /// # Errors
    /// [`Malformed`], as [`Ipv4View::parse`].
    #[inline]
    pub fn parse_v4(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let view = Ipv4View::parse(bytes)?;
        Ok(Self {
            bytes,
            payload_at: view.header_len() as u32,
            length: u32::from(view.total_len()),
            fragment_at: 0,
            protocol: view.protocol(),
            v6: false,
            complete: true,
        })
    }

    /// Reads an IPv6 packet without extension headers; gives nothing for any other.
    #[inline]
    pub fn parse_v6_plain(bytes: &'a [u8]) -> Option<Self> {
        let view = Ipv6View::parse(bytes).ok()?;
        let behind = u32::from(view.payload_len());
        (!crate::ipv6::is_extension(view.next_header())).then(|| Self {
            bytes,
            payload_at: HEADER_LEN as u32,
            length: if behind == 0 {
                0
            } else {
                behind + HEADER_LEN as u32
            },
            fragment_at: 0,
            protocol: view.next_header(),
            v6: true,
            complete: true,
        })
    }

    fn parse_v6(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let view = Ipv6View::parse(bytes)?;
        let upper = view.upper();
        let behind = upper.jumbo.unwrap_or_else(|| u32::from(view.payload_len()));
        Ok(Self {
            bytes,
            payload_at: upper.offset as u32,
            length: if behind == 0 {
                0
            } else {
                behind.saturating_add(HEADER_LEN as u32)
            },
            fragment_at: upper.fragment_at as u32,
            protocol: upper.protocol,
            v6: true,
            complete: upper.complete,
        })
    }

    fn v4(&self) -> Ipv4View<'a> {
        Ipv4View::trusted(self.bytes)
    }

    /// The source address.
    #[inline]
    pub fn source(&self) -> IpAddr {
        if self.v6 {
            Ipv6View::trusted(self.bytes).source().into()
        } else {
            self.v4().source().into()
        }
    }

    /// The destination address.
    #[inline]
    pub fn destination(&self) -> IpAddr {
        if self.v6 {
            Ipv6View::trusted(self.bytes).destination().into()
        } else {
            self.v4().destination().into()
        }
    }

    /// The octet that holds DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        if self.v6 {
            Ipv6View::trusted(self.bytes).traffic_class()
        } else {
            self.v4().traffic_class()
        }
    }

    /// The differentiated services code point.
    #[inline]
    pub fn dscp(&self) -> Dscp {
        Dscp::from_tos(self.traffic_class())
    }

    /// The ECN field.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        Ecn::from_tos(self.traffic_class())
    }

    /// TTL or hop limit.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        if self.v6 { self.bytes[7] } else { self.bytes[8] }
    }

    /// The protocol of the payload, behind any extension headers.
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Length of the header with options or extension headers, in bytes.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.payload_at as usize
    }

    /// Length of header and payload in bytes as the header says; nothing where the length field is zero
    /// (a super-packet of the kernel): then only the length on the link tells.
    #[inline]
    pub fn length(&self) -> Option<u32> {
        (self.length != 0).then_some(self.length)
    }

    /// Where this fragment belongs, or nothing if the packet is whole.
    #[inline]
    pub fn fragment(&self) -> Option<Fragment> {
        if !self.v6 {
            return self.v4().fragment();
        }
        let at = self.fragment_at as usize;
        if at == 0 {
            None
        } else {
            crate::ipv6::fragment_at(self.bytes, at)
        }
    }

    /// The IPv4 identification field.
    #[inline]
    pub fn v4_id(&self) -> Option<u16> {
        (!self.v6).then(|| self.v4().identification())
    }

    /// Says whether routers may not fragment the packet; always so in IPv6.
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        self.v6 || self.v4().dont_fragment()
    }

    /// Says whether every extension header was there to be read.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The bytes of the payload that are there, without padding behind the packet.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        let end = self
            .length()
            .map_or(self.bytes.len(), |length| self.bytes.len().min(length as usize));
        self.bytes.get(self.header_len()..end).unwrap_or_default()
    }

    /// The pseudo-header sum for a payload of `protocol` and `len` bytes.
    pub fn pseudo_sum(&self, protocol: u8, len: u32) -> Sum {
        pseudo_sum(self.source(), self.destination(), protocol, len)
    }
}

/// The pseudo-header sum for a payload of `protocol` and `len` bytes.
///
/// Addresses of different versions give the sum of nothing: no such packet can exist.
pub fn pseudo_sum(source: IpAddr, destination: IpAddr, protocol: u8, len: u32) -> Sum {
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => Sum::pseudo_v4(source, destination, protocol, len),
        (IpAddr::V6(source), IpAddr::V6(destination)) => Sum::pseudo_v6(source, destination, protocol, len),
        _ => Sum::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ipv4::Ipv4Header;
    use crate::ipv6::Ipv6Header;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    fn both_versions_read_alike() {
        let mut bytes = [0; 80];
        Ipv4Header {
            traffic_class: 0x22,
            ..Ipv4Header::new(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, 6, 30)
        }
        .write(&mut bytes);
        let view = IpView::parse(&bytes).unwrap();
        assert_eq!(
            (view.protocol(), view.length(), view.payload().len()),
            (6, Some(50), 30)
        );
        assert_eq!((view.dscp().value(), view.ecn()), (8, Ecn::Ect0));

        Ipv6Header {
            traffic_class: 0x22,
            ..Ipv6Header::new(Ipv6Addr::LOCALHOST, Ipv6Addr::LOCALHOST, 6, 30)
        }
        .write(&mut bytes);
        let view = IpView::parse(&bytes).unwrap();
        assert_eq!(
            (view.protocol(), view.length(), view.payload().len()),
            (6, Some(70), 30)
        );
        assert_eq!((view.dscp().value(), view.ecn()), (8, Ecn::Ect0));
    }

    #[test]
    fn neither_version_is_an_error() {
        assert_eq!(
            IpView::parse(&[0x50; 40]).unwrap_err(),
            Malformed::Version {
                header: "IP",
                found: 5
            }
        );
        assert!(IpView::parse(&[]).is_err());
    }
}

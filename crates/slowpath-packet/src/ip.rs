//! Either version of IP behind one view, as most readers want it.

use std::net::IpAddr;

use crate::checksum::Sum;
use crate::ipv4::Ipv4View;
use crate::ipv6::Ipv6View;
use crate::malformed::Malformed;
use crate::{Dscp, Ecn};

/// Where a fragment belongs in the packet it was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fragment {
    /// The identification that the fragments of one packet share.
    pub id: u32,
    /// Where its payload starts in the payload of the whole packet, in bytes.
    pub offset: u32,
    /// More fragments follow behind it.
    pub more: bool,
}

/// An IP packet of either version with its extension headers followed.
#[derive(Debug, Clone, Copy)]
pub struct IpView<'a> {
    bytes: &'a [u8],
    source: IpAddr,
    destination: IpAddr,
    traffic_class: u8,
    hop_limit: u8,
    protocol: u8,
    payload_at: usize,
    length: Option<u32>,
    fragment: Option<Fragment>,
    v4_id: Option<u16>,
    dont_fragment: bool,
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
            Some(4) => Ipv4View::parse(bytes).map(|view| Self::from_v4(bytes, &view)),
            Some(6) => Ipv6View::parse(bytes).map(|view| Self::from_v6(bytes, &view)),
            Some(found) => Err(Malformed::Version { header: "IP", found }),
            None => Err(Malformed::Short {
                header: "IP",
                needed: 20,
                found: 0,
            }),
        }
    }

    fn from_v4(bytes: &'a [u8], view: &Ipv4View<'a>) -> Self {
        Self {
            bytes,
            source: view.source().into(),
            destination: view.destination().into(),
            traffic_class: view.traffic_class(),
            hop_limit: view.ttl(),
            protocol: view.protocol(),
            payload_at: view.header_len(),
            length: Some(u32::from(view.total_len())).filter(|&length| length != 0),
            fragment: view.fragment(),
            v4_id: Some(view.identification()),
            dont_fragment: view.dont_fragment(),
            complete: true,
        }
    }

    fn from_v6(bytes: &'a [u8], view: &Ipv6View<'a>) -> Self {
        let upper = view.upper();
        let field = Some(u32::from(view.payload_len())).filter(|&length| length != 0);
        let behind = upper.jumbo.or(field);
        Self {
            bytes,
            source: view.source().into(),
            destination: view.destination().into(),
            traffic_class: view.traffic_class(),
            hop_limit: view.hop_limit(),
            protocol: upper.protocol,
            payload_at: upper.offset,
            length: behind.map(|length| length.saturating_add(crate::ipv6::HEADER_LEN as u32)),
            fragment: upper.fragment,
            v4_id: None,
            dont_fragment: true,
            complete: upper.complete,
        }
    }

    /// The source address.
    pub fn source(&self) -> IpAddr {
        self.source
    }

    /// The destination address.
    pub fn destination(&self) -> IpAddr {
        self.destination
    }

    /// The octet that holds DSCP and ECN.
    pub fn traffic_class(&self) -> u8 {
        self.traffic_class
    }

    /// The differentiated services code point.
    pub fn dscp(&self) -> Dscp {
        Dscp::from_tos(self.traffic_class)
    }

    /// The ECN field.
    pub fn ecn(&self) -> Ecn {
        Ecn::from_tos(self.traffic_class)
    }

    /// TTL or hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.hop_limit
    }

    /// The protocol of the payload, behind any extension headers.
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Length of the header with options or extension headers, in bytes.
    pub fn header_len(&self) -> usize {
        self.payload_at
    }

    /// Length of header and payload in bytes as the header says; nothing where the length field is zero
    /// (a super-packet of the kernel): then only the length on the link tells.
    pub fn length(&self) -> Option<u32> {
        self.length
    }

    /// Where this fragment belongs, or nothing if the packet is whole.
    pub fn fragment(&self) -> Option<Fragment> {
        self.fragment
    }

    /// The IPv4 identification field.
    pub fn v4_id(&self) -> Option<u16> {
        self.v4_id
    }

    /// Says whether routers may not fragment the packet; always so in IPv6.
    pub fn dont_fragment(&self) -> bool {
        self.dont_fragment
    }

    /// Says whether every extension header was there to be read.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// The bytes of the payload that are there, without padding behind the packet.
    pub fn payload(&self) -> &'a [u8] {
        let end = self
            .length
            .map_or(self.bytes.len(), |length| self.bytes.len().min(length as usize));
        self.bytes.get(self.payload_at..end).unwrap_or_default()
    }

    /// The pseudo-header sum for a payload of `protocol` and `len` bytes.
    pub fn pseudo_sum(&self, protocol: u8, len: u32) -> Sum {
        pseudo_sum(self.source, self.destination, protocol, len)
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

//! Ethernet II headers and IEEE 802.1Q tags.

use crate::malformed::{Malformed, at_least, u16_at};

/// Ethernet types that slowpath reads or writes (IEEE 802 numbers registry).
pub mod ether_type {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// Transparent Ethernet bridging (GRE, Geneve).
    pub const TRANSPARENT_ETHERNET: u16 = 0x6558;
    /// IEEE 802.1Q tag.
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// MPLS, unicast.
    pub const MPLS: u16 = 0x8847;
    /// MPLS, multicast or upstream-assigned label.
    pub const MPLS_MULTICAST: u16 = 0x8848;
    /// PPPoE discovery stage.
    pub const PPPOE_DISCOVERY: u16 = 0x8863;
    /// PPPoE session stage.
    pub const PPPOE_SESSION: u16 = 0x8864;
    /// IEEE 802.1ad service tag.
    pub const QINQ: u16 = 0x88a8;
    /// Older service tags that are still in use.
    pub const QINQ_9100: u16 = 0x9100;
    /// Older service tags that are still in use.
    pub const QINQ_9200: u16 = 0x9200;

    /// Says whether `value` introduces a VLAN tag.
    pub const fn is_tag(value: u16) -> bool {
        matches!(value, VLAN | QINQ | QINQ_9100 | QINQ_9200)
    }
}

/// Length of an Ethernet header without tags in bytes.
pub const HEADER_LEN: usize = 14;

/// An Ethernet frame (without preamble), read in place.
#[derive(Debug, Clone, Copy)]
pub struct EthernetView<'a> {
    bytes: &'a [u8],
}

impl<'a> EthernetView<'a> {
    /// Reads a frame whose first 14 bytes at least are there.
    ///
    /// # Errors
    /// [`Malformed::Short`] if they are not.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("Ethernet", bytes, HEADER_LEN)?;
        Ok(Self { bytes })
    }

    /// The destination address.
    pub fn destination(&self) -> [u8; 6] {
        self.bytes[..6].try_into().unwrap_or_default()
    }

    /// The source address.
    pub fn source(&self) -> [u8; 6] {
        self.bytes[6..12].try_into().unwrap_or_default()
    }

    /// The type field as it stands (a tag's type if the frame is tagged, a length if below 1536).
    pub fn ether_type(&self) -> u16 {
        u16_at(self.bytes, 12)
    }

    /// The bytes behind the type field.
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..]
    }
}

/// An Ethernet header to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EthernetHeader {
    /// The destination address.
    pub destination: [u8; 6],
    /// The source address.
    pub source: [u8; 6],
    /// The type field.
    pub ether_type: u16,
}

impl EthernetHeader {
    /// Writes the header to the start of `out` and returns its length, 14.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8]) -> usize {
        out[..6].copy_from_slice(&self.destination);
        out[6..12].copy_from_slice(&self.source);
        out[12..14].copy_from_slice(&self.ether_type.to_be_bytes());
        HEADER_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let header = EthernetHeader {
            destination: [1; 6],
            source: [2; 6],
            ether_type: ether_type::IPV6,
        };
        let mut bytes = [0; 16];
        assert_eq!(header.write(&mut bytes), 14);
        let view = EthernetView::parse(&bytes).unwrap();
        assert_eq!((view.destination(), view.source()), ([1; 6], [2; 6]));
        assert_eq!((view.ether_type(), view.payload().len()), (ether_type::IPV6, 2));
    }

    #[test]
    fn a_cut_header_is_an_error() {
        assert_eq!(
            EthernetView::parse(&[0; 13]).unwrap_err(),
            Malformed::Short {
                header: "Ethernet",
                needed: 14,
                found: 13
            }
        );
    }
}

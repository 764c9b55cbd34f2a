//! Link types: what the first bytes of a frame are.

use std::fmt;

/// A link type as capture files number it (tcpdump.org "LINKTYPE" registry).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: four bytes of address family in the byte order of the capturing machine.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP, with or without address and control bytes.
    pub const PPP: Self = Self(9);
    /// FDDI.
    pub const FDDI: Self = Self(10);
    /// Raw IP as some BSD systems number it in files.
    pub const RAW_12: Self = Self(12);
    /// Raw IP as OpenBSD numbers it in files.
    pub const RAW_14: Self = Self(14);
    /// PPP in HDLC-like framing.
    pub const PPP_HDLC: Self = Self(50);
    /// PPPoE session header, then PPP.
    pub const PPP_ETHER: Self = Self(51);
    /// Raw IP: the packet starts with its IPv4 or IPv6 header.
    pub const RAW: Self = Self(101);
    /// OpenBSD loopback: four bytes of address family in network order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture, version 1.
    pub const LINUX_SLL: Self = Self(113);
    /// PPP with a direction byte in front.
    pub const PPP_WITH_DIRECTION: Self = Self(204);
    /// Raw IPv4.
    pub const IPV4: Self = Self(228);
    /// Raw IPv6.
    pub const IPV6: Self = Self(229);
    /// Linux netfilter log messages.
    pub const NFLOG: Self = Self(239);
    /// Linux netlink messages: not packets.
    pub const NETLINK: Self = Self(253);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);

    /// The registry's name in lower case, as `explain --format json` prints it.
    pub const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::NULL => "null",
            Self::ETHERNET => "ethernet",
            Self::PPP => "ppp",
            Self::FDDI => "fddi",
            Self::RAW_12 | Self::RAW_14 | Self::RAW => "raw",
            Self::PPP_HDLC => "ppp-hdlc",
            Self::PPP_ETHER => "ppp-ether",
            Self::LOOP => "loop",
            Self::LINUX_SLL => "linux-sll",
            Self::PPP_WITH_DIRECTION => "ppp-with-direction",
            Self::IPV4 => "ipv4",
            Self::IPV6 => "ipv6",
            Self::NFLOG => "nflog",
            Self::NETLINK => "netlink",
            Self::LINUX_SLL2 => "linux-sll2",
            _ => return None,
        })
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "linktype-{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_types_print_their_number() {
        assert_eq!(LinkType::LINUX_SLL2.to_string(), "linux-sll2");
        assert_eq!(LinkType(4711).to_string(), "linktype-4711");
    }
}

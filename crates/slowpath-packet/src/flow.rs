//! What names a flow.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// An IP protocol number (IANA "Assigned Internet Protocol Numbers").
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Protocol(pub u8);

impl Protocol {
    /// ICMP for IPv4.
    pub const ICMP: Self = Self(1);
    /// TCP.
    pub const TCP: Self = Self(6);
    /// UDP.
    pub const UDP: Self = Self(17);
    /// ICMP for IPv6.
    pub const ICMPV6: Self = Self(58);
    /// Encapsulating Security Payload.
    pub const ESP: Self = Self(50);
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::ICMP => f.pad("icmp"),
            Self::TCP => f.pad("tcp"),
            Self::UDP => f.pad("udp"),
            Self::ICMPV6 => f.pad("icmp6"),
            Self::ESP => f.pad("esp"),
            Self(number) => write!(f, "{number}"),
        }
    }
}

/// The five values that name a flow, in the direction in which its packets travel.
///
/// For protocols without ports both ports are 0; an ICMP echo carries its identifier in `src_port`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct FlowKey {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// IP protocol.
    pub protocol: Protocol,
}

impl FlowKey {
    /// A flow of `protocol` from `src` to `dst`.
    pub const fn new(protocol: Protocol, src: SocketAddr, dst: SocketAddr) -> Self {
        Self {
            src: src.ip(),
            dst: dst.ip(),
            src_port: src.port(),
            dst_port: dst.port(),
            protocol,
        }
    }

    /// The same conversation seen from the other side.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            src_port: self.dst_port,
            dst_port: self.src_port,
            ..self
        }
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (src, dst) = (
            SocketAddr::new(self.src, self.src_port),
            SocketAddr::new(self.dst, self.dst_port),
        );
        write!(f, "{} {src} > {dst}", self.protocol)
    }
}

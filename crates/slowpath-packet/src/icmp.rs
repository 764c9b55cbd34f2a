//! ICMP (RFC 792) and ICMPv6 (RFC 4443) messages, read and written in place.
//!
//! The first eight bytes have the same shape in both; only the type numbers differ.

use crate::checksum::Sum;
use crate::malformed::{Malformed, at_least, u16_at, u32_at};

/// Length of the part that all messages share in bytes.
pub const HEADER_LEN: usize = 8;

/// Which set of type numbers a message uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IcmpVersion {
    /// ICMP for IPv4 (protocol 1).
    V4,
    /// ICMPv6 (protocol 58).
    V6,
}

/// What a message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IcmpKind {
    /// Echo request.
    EchoRequest {
        /// Tells one ping from another.
        identifier: u16,
        /// Counts the requests.
        sequence: u16,
    },
    /// Echo reply.
    EchoReply {
        /// As in the request.
        identifier: u16,
        /// As in the request.
        sequence: u16,
    },
    /// The packet is larger than the next link carries (RFC 1191, RFC 4443 section 3.2).
    PacketTooBig {
        /// The next link's MTU in bytes; 0 from routers that do not say.
        mtu: u32,
    },
    /// The destination cannot be reached.
    Unreachable {
        /// Why (the code field).
        code: u8,
    },
    /// The packet made too many hops (code 0) or was not reassembled in time (code 1).
    TimeExceeded {
        /// Which of the two.
        code: u8,
    },
    /// Anything else.
    Other {
        /// The type field.
        kind: u8,
        /// The code field.
        code: u8,
        /// The four bytes behind the checksum.
        rest: u32,
    },
}

impl IcmpKind {
    /// The type, code and the four bytes behind the checksum.
    fn fields(self, version: IcmpVersion) -> (u8, u8, u32) {
        let pair = |identifier: u16, sequence: u16| u32::from(identifier) << 16 | u32::from(sequence);
        let by_version = |v4: u8, v6: u8| match version {
            IcmpVersion::V4 => v4,
            IcmpVersion::V6 => v6,
        };
        match self {
            Self::EchoRequest { identifier, sequence } => (by_version(8, 128), 0, pair(identifier, sequence)),
            Self::EchoReply { identifier, sequence } => (by_version(0, 129), 0, pair(identifier, sequence)),
            Self::PacketTooBig { mtu } => match version {
                IcmpVersion::V4 => (3, 4, mtu & 0xffff),
                IcmpVersion::V6 => (2, 0, mtu),
            },
            Self::Unreachable { code } => (by_version(3, 1), code, 0),
            Self::TimeExceeded { code } => (by_version(11, 3), code, 0),
            Self::Other { kind, code, rest } => (kind, code, rest),
        }
    }
}

/// An ICMP message, read in place.
#[derive(Debug, Clone, Copy)]
pub struct IcmpView<'a> {
    version: IcmpVersion,
    bytes: &'a [u8],
}

impl<'a> IcmpView<'a> {
    /// Reads a message whose first 8 bytes at least are there.
    ///
    /// # Errors
    /// [`Malformed::Short`] if they are not.
    pub fn parse(version: IcmpVersion, bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("ICMP", bytes, HEADER_LEN)?;
        Ok(Self { version, bytes })
    }

    /// What the message says.
    pub fn kind(&self) -> IcmpKind {
        let (kind, code, rest) = (self.bytes[0], self.bytes[1], u32_at(self.bytes, 4));
        let (identifier, sequence) = (u16_at(self.bytes, 4), u16_at(self.bytes, 6));
        match (self.version, kind, code) {
            (IcmpVersion::V4, 8, _) | (IcmpVersion::V6, 128, _) => {
                IcmpKind::EchoRequest { identifier, sequence }
            }
            (IcmpVersion::V4, 0, _) | (IcmpVersion::V6, 129, _) => {
                IcmpKind::EchoReply { identifier, sequence }
            }
            (IcmpVersion::V4, 3, 4) => IcmpKind::PacketTooBig { mtu: rest & 0xffff },
            (IcmpVersion::V6, 2, _) => IcmpKind::PacketTooBig { mtu: rest },
            (IcmpVersion::V4, 3, code) | (IcmpVersion::V6, 1, code) => IcmpKind::Unreachable { code },
            (IcmpVersion::V4, 11, code) | (IcmpVersion::V6, 3, code) => IcmpKind::TimeExceeded { code },
            _ => IcmpKind::Other { kind, code, rest },
        }
    }

    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 2)
    }

    /// What follows the first 8 bytes: echo data, or the start of the packet that an error is about.
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..]
    }
}

/// The first eight bytes of an ICMP message, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpHeader {
    /// Which type numbers to use.
    pub version: IcmpVersion,
    /// What to say.
    pub kind: IcmpKind,
}

impl IcmpHeader {
    /// Writes the header to the start of `out` and returns its length, 8.
    ///
    /// `pseudo` is the sum over the pseudo-header for ICMPv6, [`Sum::new`] for ICMP; `payload` is what follows.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8], pseudo: Sum, payload: &[u8]) -> usize {
        let (kind, code, rest) = self.kind.fields(self.version);
        out[0] = kind;
        out[1] = code;
        out[2..4].fill(0);
        out[4..8].copy_from_slice(&rest.to_be_bytes());
        let sum = pseudo.add_bytes(&out[..HEADER_LEN]).add_bytes(payload).finish();
        out[2..4].copy_from_slice(&sum.to_be_bytes());
        HEADER_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let kinds = [
            IcmpKind::EchoRequest {
                identifier: 7,
                sequence: 9,
            },
            IcmpKind::EchoReply {
                identifier: 7,
                sequence: 9,
            },
            IcmpKind::PacketTooBig { mtu: 1400 },
            IcmpKind::Unreachable { code: 3 },
            IcmpKind::TimeExceeded { code: 0 },
            IcmpKind::Other {
                kind: 200,
                code: 1,
                rest: 5,
            },
        ];
        for version in [IcmpVersion::V4, IcmpVersion::V6] {
            for kind in kinds {
                let mut bytes = [0; 12];
                IcmpHeader { version, kind }.write(&mut bytes, Sum::new(), &[1, 2, 3, 4]);
                bytes[8..].copy_from_slice(&[1, 2, 3, 4]);
                let view = IcmpView::parse(version, &bytes).unwrap();
                assert_eq!((view.kind(), view.payload()), (kind, &[1, 2, 3, 4][..]));
                assert_eq!(crate::checksum::of(&bytes), 0);
            }
        }
    }
}

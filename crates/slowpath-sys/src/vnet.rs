//! The header that the kernel puts before a super-packet ("train") on TUN and packet sockets.
//!
//! Source: `include/uapi/linux/virtio_net.h`, `struct virtio_net_hdr` (10 bytes, native byte order here).

/// What kind of train it is, if any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Gso {
    /// One packet.
    #[default]
    None,
    /// TCP segments in IPv4.
    Tcp4,
    /// TCP segments in IPv6.
    Tcp6,
    /// UDP datagrams (USO), IPv4 or IPv6.
    Udp,
    /// A kind that we did not ask for.
    Other(u8),
}

/// `struct virtio_net_hdr`, decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VnetHeader {
    /// Whether the transport checksum holds only the pseudo-header's sum and is to be finished.
    pub needs_checksum: bool,
    /// Whether the sender vouches for the checksum.
    pub data_valid: bool,
    /// Kind of train.
    pub gso: Gso,
    /// Whether the train carries CWR (TCP with ECN).
    pub ecn: bool,
    /// Bytes of all headers, a hint.
    pub header_length: u16,
    /// Payload bytes of each segment but the last.
    pub segment_size: u16,
    /// Where checksumming starts, from the start of the packet.
    pub checksum_start: u16,
    /// Where the checksum is stored, from `checksum_start`.
    pub checksum_offset: u16,
}

impl VnetHeader {
    /// Bytes of the header.
    pub const LENGTH: usize = 10;

    /// Decodes the header at the start of `bytes`; `None` when there are fewer than ten.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::LENGTH] = bytes.get(..Self::LENGTH)?.try_into().ok()?;
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let gso = match bytes[1] & !ECN {
            0 => Gso::None,
            TCP4 => Gso::Tcp4,
            TCP6 => Gso::Tcp6,
            UDP => Gso::Udp,
            other => Gso::Other(other),
        };
        Some(Self {
            needs_checksum: bytes[0] & NEEDS_CHECKSUM != 0,
            data_valid: bytes[0] & DATA_VALID != 0,
            gso,
            ecn: bytes[1] & ECN != 0,
            header_length: word(2),
            segment_size: word(4),
            checksum_start: word(6),
            checksum_offset: word(8),
        })
    }

    /// The header's ten bytes.
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[0] = if self.needs_checksum { NEEDS_CHECKSUM } else { 0 }
            | if self.data_valid { DATA_VALID } else { 0 };
        let kind = match self.gso {
            Gso::None => 0,
            Gso::Tcp4 => TCP4,
            Gso::Tcp6 => TCP6,
            Gso::Udp => UDP,
            Gso::Other(other) => other,
        };
        bytes[1] = kind | if self.ecn { ECN } else { 0 };
        bytes[2..4].copy_from_slice(&self.header_length.to_ne_bytes());
        bytes[4..6].copy_from_slice(&self.segment_size.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.checksum_start.to_ne_bytes());
        bytes[8..10].copy_from_slice(&self.checksum_offset.to_ne_bytes());
        bytes
    }
}

const NEEDS_CHECKSUM: u8 = 1;
const DATA_VALID: u8 = 2;
const TCP4: u8 = 1;
const TCP6: u8 = 4;
const UDP: u8 = 5;
const ECN: u8 = 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips() {
        for gso in [Gso::None, Gso::Tcp4, Gso::Tcp6, Gso::Udp, Gso::Other(3)] {
            let header = VnetHeader {
                needs_checksum: true,
                data_valid: false,
                gso,
                ecn: gso == Gso::Tcp4,
                header_length: 52,
                segment_size: 1448,
                checksum_start: 20,
                checksum_offset: 16,
            };
            assert_eq!(VnetHeader::decode(&header.encode()), Some(header));
        }
        assert_eq!(VnetHeader::decode(&[0; 9]), None);
    }
}

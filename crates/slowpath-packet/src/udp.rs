//! UDP headers (RFC 768), read and written in place.

use crate::checksum::Sum;
use crate::malformed::{Malformed, at_least, u16_at};

/// Length of a UDP header in bytes.
pub const HEADER_LEN: usize = 8;

/// A UDP datagram, read in place; bytes may be missing at its end.
#[derive(Debug, Clone, Copy)]
pub struct UdpView<'a> {
    bytes: &'a [u8],
}

impl<'a> UdpView<'a> {
    /// Reads a datagram whose first 8 bytes at least are there.
    ///
    /// # Errors
    /// [`Malformed::Short`] if they are not.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("UDP", bytes, HEADER_LEN)?;
        Ok(Self { bytes })
    }

    /// The source port.
    pub fn source_port(&self) -> u16 {
        u16_at(self.bytes, 0)
    }

    /// The destination port.
    pub fn destination_port(&self) -> u16 {
        u16_at(self.bytes, 2)
    }

    /// The length field: header and payload in bytes; zero for a super-packet of the kernel.
    pub fn length(&self) -> u16 {
        u16_at(self.bytes, 4)
    }

    /// The checksum field; zero means that there is none (IPv4 only).
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 6)
    }

    /// The bytes of the payload that are there.
    pub fn payload(&self) -> &'a [u8] {
        let end = match usize::from(self.length()) {
            length if length >= HEADER_LEN => length.min(self.bytes.len()),
            _ => self.bytes.len(),
        };
        &self.bytes[HEADER_LEN..end]
    }
}

/// A UDP header, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UdpHeader {
    /// The source port.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
    /// Length of the payload in bytes.
    pub payload_len: u32,
}

impl UdpHeader {
    /// Writes the header to the start of `out` and returns its length, 8.
    ///
    /// `pseudo` is the sum over the pseudo-header (length 8 + payload) and `payload` what follows.
    ///
    /// # Panics
    /// If `out` is shorter.
    pub fn write(&self, out: &mut [u8], pseudo: Sum, payload: &[u8]) -> usize {
        let length = u16::try_from(self.payload_len.saturating_add(8)).unwrap_or(0);
        out[..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..6].copy_from_slice(&length.to_be_bytes());
        out[6..8].fill(0);
        let sum = pseudo.add_bytes(&out[..HEADER_LEN]).add_bytes(payload).finish();
        // A checksum of zero is sent as its complement: zero means "none".
        let sum = if sum == 0 { 0xffff } else { sum };
        out[6..8].copy_from_slice(&sum.to_be_bytes());
        HEADER_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn what_is_written_is_read_and_sums_to_zero() {
        let payload = [1, 2, 3];
        let mut bytes = [0; 20];
        let pseudo = Sum::pseudo_v4(Ipv4Addr::LOCALHOST, Ipv4Addr::LOCALHOST, 17, 11);
        let header = UdpHeader {
            source_port: 5201,
            destination_port: 53,
            payload_len: 3,
        };
        assert_eq!(header.write(&mut bytes, pseudo, &payload), 8);
        bytes[8..11].copy_from_slice(&payload);
        let view = UdpView::parse(&bytes).unwrap();
        assert_eq!(
            (view.source_port(), view.destination_port(), view.length()),
            (5201, 53, 11)
        );
        assert_eq!(view.payload(), payload);
        assert_eq!(pseudo.add_bytes(&bytes[..11]).finish(), 0);
        assert_eq!(UdpView::parse(&bytes[..9]).unwrap().payload(), [1]);
    }
}

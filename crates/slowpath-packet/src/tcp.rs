//! TCP headers (RFC 9293), read and written in place.

pub mod options;

use std::fmt;
use std::ops::BitOr;

use crate::Seq32;
use crate::checksum::Sum;
use crate::malformed::{Malformed, at_least, u16_at, u32_at};

pub use options::{AccEcn, OptionIter, SackBlocks, TcpOption, TcpOptions};

/// Length of a TCP header without options in bytes.
pub const HEADER_LEN: usize = 20;

/// The control bits of a TCP header.
///
/// Nine bits: AE (accurate ECN, RFC 9768; formerly NS) to FIN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TcpFlags(pub u16);

impl TcpFlags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x001);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x002);
    /// Reset the connection.
    pub const RST: Self = Self(0x004);
    /// Push.
    pub const PSH: Self = Self(0x008);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x010);
    /// The urgent pointer is valid.
    pub const URG: Self = Self(0x020);
    /// ECN echo (RFC 3168).
    pub const ECE: Self = Self(0x040);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: Self = Self(0x080);
    /// Accurate ECN (RFC 9768).
    pub const AE: Self = Self(0x100);

    /// Says whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Says whether any bit of `other` is set.
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The accurate ECN counter: AE, CWR and ECE read as one number, 0 to 7.
    pub const fn ace(self) -> u8 {
        ((self.0 >> 6) & 7) as u8
    }
}

impl BitOr for TcpFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "AE"];
        let mut separator = "";
        for (bit, name) in names.iter().enumerate() {
            if self.0 & (1 << bit) != 0 {
                write!(f, "{separator}{name}")?;
                separator = "|";
            }
        }
        if separator.is_empty() {
            f.write_str("none")
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for TcpFlags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A TCP segment, read in place; bytes may be missing at its end.
#[derive(Debug, Clone, Copy)]
pub struct TcpView<'a> {
    bytes: &'a [u8],
}

impl<'a> TcpView<'a> {
    /// Reads a segment whose first 20 bytes at least are there; options may be cut.
    ///
    /// # Errors
    /// [`Malformed`] if the fixed part is cut or the data offset points into it.
    #[inline]
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Malformed> {
        at_least("TCP", bytes, HEADER_LEN)?;
        let view = Self { bytes };
        let header_len = view.header_len();
        if header_len < HEADER_LEN {
            return Err(Malformed::HeaderLength {
                header: "TCP",
                minimum: HEADER_LEN,
                found: header_len,
            });
        }
        Ok(view)
    }

    /// The source port.
    #[inline]
    pub fn source_port(&self) -> u16 {
        u16_at(self.bytes, 0)
    }

    /// The destination port.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        u16_at(self.bytes, 2)
    }

    /// The sequence number.
    #[inline]
    pub fn sequence(&self) -> Seq32 {
        Seq32(u32_at(self.bytes, 4))
    }

    /// The acknowledgement number field; meaningful only with [`TcpFlags::ACK`].
    #[inline]
    pub fn acknowledgement(&self) -> Seq32 {
        Seq32(u32_at(self.bytes, 8))
    }

    /// Length of the header with options in bytes, as it says.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes[12] >> 4) * 4
    }

    /// The control bits.
    #[inline]
    pub fn flags(&self) -> TcpFlags {
        TcpFlags(u16_at(self.bytes, 12) & 0x1ff)
    }

    /// The window field as it stands: not scaled.
    #[inline]
    pub fn window(&self) -> u16 {
        u16_at(self.bytes, 14)
    }

    /// The checksum field.
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 16)
    }

    /// The urgent pointer.
    pub fn urgent(&self) -> u16 {
        u16_at(self.bytes, 18)
    }

    /// The bytes of the options that are there.
    #[inline]
    pub fn option_bytes(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.header_len().min(self.bytes.len())]
    }

    /// Says whether part of the options is missing.
    #[inline]
    pub fn options_cut(&self) -> bool {
        self.header_len() > self.bytes.len()
    }

    /// The options one by one.
    #[inline]
    pub fn options(&self) -> OptionIter<'a> {
        OptionIter::new(self.option_bytes())
    }

    /// The bytes of the payload that are there.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.bytes.get(self.header_len()..).unwrap_or_default()
    }
}

/// A TCP header, to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpHeader {
    /// The source port.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
    /// The sequence number.
    pub sequence: Seq32,
    /// The acknowledgement number.
    pub acknowledgement: Seq32,
    /// The control bits.
    pub flags: TcpFlags,
    /// The window field: already scaled down.
    pub window: u16,
    /// The urgent pointer.
    pub urgent: u16,
    /// The options.
    pub options: TcpOptions,
}

impl TcpHeader {
    /// Length of the header with its options in bytes, a multiple of 4, at most 60.
    pub fn len(&self) -> usize {
        HEADER_LEN + self.options.encoded_len()
    }

    /// Always false: a header is never empty.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Writes the header to the start of `out` and returns its length.
    ///
    /// `pseudo` is the sum over the pseudo-header (length: header and payload) and `payload` what follows.
    ///
    /// # Panics
    /// If `out` is shorter than [`Self::len`].
    pub fn write(&self, out: &mut [u8], pseudo: Sum, payload: &[u8]) -> usize {
        let len = self.write_without_checksum(out);
        let sum = pseudo.add_bytes(&out[..len]).add_bytes(payload).finish();
        out[16..18].copy_from_slice(&sum.to_be_bytes());
        len
    }

    /// Writes the header with a zero checksum field and returns its length.
    ///
    /// # Panics
    /// If `out` is shorter than [`Self::len`].
    pub fn write_without_checksum(&self, out: &mut [u8]) -> usize {
        let options = self.options.write(&mut out[HEADER_LEN..]);
        let len = HEADER_LEN + options;
        let offset_and_flags = (len as u16 / 4) << 12 | self.flags.0 & 0x1ff;
        out[..2].copy_from_slice(&self.source_port.to_be_bytes());
        out[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        out[4..8].copy_from_slice(&self.sequence.0.to_be_bytes());
        out[8..12].copy_from_slice(&self.acknowledgement.0.to_be_bytes());
        out[12..14].copy_from_slice(&offset_and_flags.to_be_bytes());
        out[14..16].copy_from_slice(&self.window.to_be_bytes());
        out[16..18].fill(0);
        out[18..20].copy_from_slice(&self.urgent.to_be_bytes());
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn header() -> TcpHeader {
        TcpHeader {
            source_port: 20,
            destination_port: 50_000,
            sequence: Seq32(0xffff_fff0),
            acknowledgement: Seq32(77),
            flags: TcpFlags::SYN | TcpFlags::ACK | TcpFlags::AE,
            window: 4128,
            urgent: 3,
            options: TcpOptions {
                mss: Some(1460),
                window_scale: Some(7),
                ..TcpOptions::default()
            },
        }
    }

    #[test]
    fn what_is_written_is_read_and_sums_to_zero() {
        let payload = *b"hello";
        let mut bytes = [0; 80];
        let len = header().len();
        let pseudo = Sum::pseudo_v4(
            Ipv4Addr::LOCALHOST,
            Ipv4Addr::LOCALHOST,
            6,
            (len + payload.len()) as u32,
        );
        assert_eq!(header().write(&mut bytes, pseudo, &payload), len);
        bytes[len..len + 5].copy_from_slice(&payload);
        let bytes = &bytes[..len + 5];
        let view = TcpView::parse(bytes).unwrap();
        assert_eq!((view.source_port(), view.destination_port()), (20, 50_000));
        assert_eq!(
            (view.sequence(), view.acknowledgement()),
            (Seq32(0xffff_fff0), Seq32(77))
        );
        assert_eq!(
            (view.flags(), view.window(), view.urgent()),
            (header().flags, 4128, 3)
        );
        assert_eq!(TcpOptions::parse(view.option_bytes()), header().options);
        assert_eq!((view.payload(), view.options_cut()), (&payload[..], false));
        assert_eq!(pseudo.add_bytes(bytes).finish(), 0);
        assert_eq!(view.flags().to_string(), "SYN|ACK|AE");
        assert_eq!(view.flags().ace(), 4);
    }

    #[test]
    fn cut_options_are_noticed() {
        let mut bytes = [0; 80];
        let len = header().write_without_checksum(&mut bytes);
        let view = TcpView::parse(&bytes[..len - 2]).unwrap();
        assert!(view.options_cut());
        assert_eq!(view.payload(), []);
        assert_eq!(TcpOptions::parse(view.option_bytes()).mss, Some(1460));
    }

    #[test]
    fn an_offset_into_the_fixed_part_is_an_error() {
        let mut bytes = [0; 20];
        bytes[12] = 0x40;
        assert_eq!(
            TcpView::parse(&bytes).unwrap_err(),
            Malformed::HeaderLength {
                header: "TCP",
                minimum: 20,
                found: 16
            }
        );
    }
}

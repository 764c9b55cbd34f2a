//! The Internet checksum: full, over a pseudo-header, and updated in place.
//!
//! RFC 1071 (the sum and its properties), RFC 1624 (incremental update, equation 3), RFC 9293
//! section 3.1 and RFC 8200 section 8.1 (pseudo-headers).

use std::net::{Ipv4Addr, Ipv6Addr};

/// A running ones' complement sum over bytes that may come in several pieces.
///
/// Pieces of odd length are joined as if they were one run of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum {
    /// Folded sum of 16-bit words in network order.
    folded: u16,
    /// The bytes so far are odd in number: the next byte is the low half of a word.
    odd: bool,
}

impl Sum {
    /// The sum of nothing.
    pub const fn new() -> Self {
        Self {
            folded: 0,
            odd: false,
        }
    }

    /// The sum over the IPv4 pseudo-header; `len` is the length of header and payload in bytes.
    #[must_use]
    pub fn pseudo_v4(source: Ipv4Addr, destination: Ipv4Addr, protocol: u8, len: u32) -> Self {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&source.octets());
        bytes[4..8].copy_from_slice(&destination.octets());
        bytes[9] = protocol;
        // A super-packet's length is above 65535; the kernel then sums the low and high words alike.
        let sum = Self::new().add_bytes(&bytes);
        sum.add_word((len >> 16) as u16).add_word((len & 0xffff) as u16)
    }

    /// The sum over the IPv6 pseudo-header; `len` is the length of header and payload in bytes.
    #[must_use]
    pub fn pseudo_v6(source: Ipv6Addr, destination: Ipv6Addr, protocol: u8, len: u32) -> Self {
        let sum = Self::new()
            .add_bytes(&source.octets())
            .add_bytes(&destination.octets());
        sum.add_word((len >> 16) as u16)
            .add_word((len & 0xffff) as u16)
            .add_word(u16::from(protocol))
    }

    /// Adds `bytes`.
    #[must_use]
    pub fn add_bytes(self, bytes: &[u8]) -> Self {
        let part = fold(sum_native(bytes)).to_be();
        let part = if self.odd { part.swap_bytes() } else { part };
        Self {
            folded: add(self.folded, part),
            odd: self.odd != (bytes.len() % 2 == 1),
        }
    }

    /// Adds one 16-bit word in network order; the bytes so far must be even in number.
    #[must_use]
    pub fn add_word(self, word: u16) -> Self {
        debug_assert!(!self.odd, "a word can only follow whole words");
        Self {
            folded: add(self.folded, word),
            odd: self.odd,
        }
    }

    /// The sum itself, not complemented: what a pseudo-header field for offloading holds.
    pub const fn partial(self) -> u16 {
        self.folded
    }

    /// The checksum: the complement of the sum.
    pub const fn finish(self) -> u16 {
        !self.folded
    }
}

/// The checksum of `bytes`.
pub fn of(bytes: &[u8]) -> u16 {
    Sum::new().add_bytes(bytes).finish()
}

/// `checksum` after the 16-bit word `old` under it became `new` (RFC 1624, equation 3).
#[must_use]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !add(add(!checksum, !old), new)
}

/// `checksum` after the 32-bit number `old` under it, at an even offset, became `new`.
#[must_use]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let checksum = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(checksum, (old & 0xffff) as u16, (new & 0xffff) as u16)
}

/// Ones' complement addition of two 16-bit words.
const fn add(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    // Cannot overflow: after a carry the sum is at most 0xfffe.
    sum + carry as u16
}

/// Sum of the 16-bit words of `bytes` in this machine's byte order, a last odd byte padded with zero.
fn sum_native(bytes: &[u8]) -> u64 {
    let mut chunks = bytes.chunks_exact(4);
    let mut sum: u64 = 0;
    for chunk in &mut chunks {
        sum += u64::from(u32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    let rest = chunks.remainder();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    sum + u64::from(u32::from_ne_bytes(last))
}

/// Folds a sum of words into 16 bits.
const fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition of RFC 1071, word by word.
    fn plain(bytes: &[u8]) -> u16 {
        let mut sum: u32 = 0;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn rfc_1071_example() {
        assert_eq!(of(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn rfc_1624_example_does_not_give_minus_zero() {
        assert_eq!(update(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

    proptest! {
        #[test]
        fn equals_the_definition(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(of(&bytes), plain(&bytes));
        }

        #[test]
        fn pieces_equal_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 0..200), a in 0_usize..200, b in 0_usize..200,
        ) {
            let (a, b) = (a.min(bytes.len()), b.min(bytes.len()));
            let (a, b) = (a.min(b), a.max(b));
            let sum = Sum::new().add_bytes(&bytes[..a]).add_bytes(&bytes[a..b]).add_bytes(&bytes[b..]);
            prop_assert_eq!(sum.finish(), of(&bytes));
        }

        #[test]
        fn update_equals_recomputation(
            mut bytes in proptest::collection::vec(any::<u8>(), 4..100), at in 0_usize..98, new: u16,
        ) {
            // A non-zero word stays, as in every real header: RFC 1624 tells 0 and -0 apart only then.
            bytes.extend([0x45, 0]);
            if bytes.len() % 2 == 1 { bytes.push(0); }
            let at = (at % (bytes.len() - 4)) & !1;
            let before = of(&bytes);
            let old = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
            bytes[at..at + 2].copy_from_slice(&new.to_be_bytes());
            prop_assert_eq!(update(before, old, new), of(&bytes));
        }
    }
}

//! Arithmetic on TCP sequence numbers (RFC 9293, section 3.4).

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

/// A 32-bit TCP sequence number; comparisons are modulo 2^32.
///
/// Comparing two numbers 2^31 apart has no meaning; it does not panic. There is deliberately no `Ord`:
/// the relation is not transitive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Seq32(pub u32);

impl Seq32 {
    /// Signed distance from `other` to `self`: positive if `self` is later.
    pub const fn distance(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }

    /// Extends to the 64-bit number nearest to `reference` that has these low 32 bits.
    ///
    /// `reference` is any recent 64-bit sequence number of the same stream. A number that would come out
    /// negative (before the start of the stream) is returned as the wrapped value.
    pub const fn extend(self, reference: u64) -> u64 {
        let distance = self.distance(Self(reference as u32));
        reference.wrapping_add_signed(distance as i64)
    }
}

impl Add<u32> for Seq32 {
    type Output = Self;
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl Sub<u32> for Seq32 {
    type Output = Self;
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

impl PartialOrd for Seq32 {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.distance(*other).cmp(&0))
    }
}

impl fmt::Display for Seq32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_across_the_wrap() {
        let (before, after) = (Seq32(u32::MAX - 10), Seq32(5));
        assert!(before < after);
        assert_eq!(after.distance(before), 16);
        assert_eq!(before + 16, after);
    }

    #[test]
    fn extends_to_the_nearest() {
        assert_eq!(Seq32(5).extend(0xffff_fff0), 0x1_0000_0005);
        assert_eq!(Seq32(0xffff_fff0).extend(0x1_0000_0005), 0xffff_fff0);
    }
}

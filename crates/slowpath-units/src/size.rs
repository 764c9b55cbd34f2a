//! Amounts of data, in whole bytes.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;

use crate::parse::{self, ParseError, serde_as_text};

/// An amount of data in bytes.
///
/// Text form: `"16384 B"`, `"50 MiB"`, `"2.5 MB"`: `kB`, `MB`, `GB` are powers of ten, `KiB`, `MiB`, `GiB` powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteCount(u64);

impl ByteCount {
    /// No data.
    pub const ZERO: Self = Self(0);

    /// An amount of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Bits, saturating.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
}

impl fmt::Display for ByteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, scale) = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)]
            .into_iter()
            .find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
            .unwrap_or(("B", 1));
        f.pad(&format!("{} {name}", self.0 / scale))
    }
}

impl FromStr for ByteCount {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::quantity(text, UNITS, HINTS, EXPECTED).map(Self)
    }
}

serde_as_text!(ByteCount);

impl Add for ByteCount {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for ByteCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for ByteCount {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

const EXPECTED: &str = "an amount of data such as \"50 MiB\", \"2.5 MB\" or \"16384 B\"";
const UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("byte", 1),
    ("bytes", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];
const HINTS: &[(&str, &str)] = &[
    ("KB", "write \"kB\" for 1000 bytes or \"KiB\" for 1024"),
    ("K", "write \"kB\" for 1000 bytes or \"KiB\" for 1024"),
    ("k", "write \"kB\" for 1000 bytes or \"KiB\" for 1024"),
    ("M", "write \"MB\" for 1000000 bytes or \"MiB\" for 1048576"),
    ("G", "write \"GB\" or \"GiB\""),
    ("Mbit", "this is an amount in bytes; divide by 8 and write \"MB\""),
    ("b", "write \"B\" for bytes"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_decimal_and_binary_multiples_apart() {
        assert_eq!("50 MiB".parse::<ByteCount>().unwrap().bytes(), 52_428_800);
        assert_eq!("50 MB".parse::<ByteCount>().unwrap().bytes(), 50_000_000);
        assert_eq!("2.5 MB".parse::<ByteCount>().unwrap().bytes(), 2_500_000);
        assert!(
            "50 KB"
                .parse::<ByteCount>()
                .unwrap_err()
                .to_string()
                .contains("KiB")
        );
    }

    #[test]
    fn prints_what_it_parses() {
        for text in ["50 MiB", "2500000 B", "16 KiB", "0 B"] {
            assert_eq!(text.parse::<ByteCount>().unwrap().to_string(), text);
        }
    }
}

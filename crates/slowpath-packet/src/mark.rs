//! The two halves of the IPv4 type-of-service byte and the IPv6 traffic class.

use std::fmt;
use std::str::FromStr;

/// A differentiated services code point, 0 to 63 (RFC 2474).
///
/// Text form: a standard name (`"cs1"`, `"af21"`, `"ef"`, `"le"`, `"va"`) or the number.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(into = "u8", try_from = "u8")]
pub struct Dscp(u8);

impl Dscp {
    /// Best effort (RFC 2474).
    pub const DEFAULT: Self = Self(0);
    /// Class selector 1 (RFC 2474); OpenSSH's mark for bulk sessions from 7.8 to 10.0.
    pub const CS1: Self = Self(8);
    /// Assured forwarding 21 (RFC 2597); OpenSSH's mark for interactive sessions from 7.8 to 10.0.
    pub const AF21: Self = Self(18);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Self = Self(46);

    /// The code point `value`, if it fits six bits.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 64 { Some(Self(value)) } else { None }
    }

    /// The code point in a type-of-service or traffic class byte.
    pub const fn from_tos(tos: u8) -> Self {
        Self(tos >> 2)
    }

    /// The number, 0 to 63.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// The type-of-service byte with this code point and `ecn`.
    pub const fn tos(self, ecn: Ecn) -> u8 {
        (self.0 << 2) | ecn as u8
    }

    /// The IP precedence, the upper three bits (RFC 791).
    pub const fn precedence(self) -> u8 {
        self.0 >> 3
    }
}

impl From<Dscp> for u8 {
    fn from(dscp: Dscp) -> Self {
        dscp.0
    }
}

impl TryFrom<u8> for Dscp {
    type Error = InvalidDscp;
    fn try_from(value: u8) -> Result<Self, InvalidDscp> {
        Self::new(value).ok_or_else(|| InvalidDscp {
            text: value.to_string(),
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, value)| *value == self.0) {
            Some((name, _)) => f.pad(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Dscp {
    type Err = InvalidDscp;
    fn from_str(text: &str) -> Result<Self, InvalidDscp> {
        let lower = text.trim().to_ascii_lowercase();
        let named = NAMES
            .iter()
            .find(|(name, _)| *name == lower)
            .map(|(_, value)| *value);
        named
            .or_else(|| lower.parse().ok())
            .and_then(Self::new)
            .ok_or_else(|| InvalidDscp {
                text: text.to_owned(),
            })
    }
}

/// A code point that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDscp {
    /// What was found.
    pub text: String,
}

impl fmt::Display for InvalidDscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" is no DSCP", self.text)?;
        write!(f, "; expected {EXPECTED}")
    }
}

/// What may be written.
const EXPECTED: &str = "a name such as \"cs1\", \"af21\", \"ef\" or a number from 0 to 63";

impl std::error::Error for InvalidDscp {}

/// Explicit congestion notification, the lower two bits of the traffic class (RFC 3168).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct = 0,
    /// ECN-capable, ECT(1) (L4S: RFC 9331).
    Ect1 = 1,
    /// ECN-capable, ECT(0).
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The codepoint in a type-of-service or traffic class byte.
    pub const fn from_tos(tos: u8) -> Self {
        match tos & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a queue may mark instead of dropping.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

const NAMES: &[(&str, u8)] = &[
    ("cs0", 0),
    ("default", 0),
    ("df", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("va", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        assert_eq!("cs1".parse::<Dscp>().unwrap().value(), 8);
        assert_eq!("AF21".parse::<Dscp>().unwrap().tos(Ecn::NotEct), 0x48);
        assert_eq!("ef".parse::<Dscp>().unwrap().tos(Ecn::Ce), 0xbb);
        assert_eq!(Dscp::from_tos(0x20).to_string(), "cs1");
        assert_eq!("63".parse::<Dscp>().unwrap().to_string(), "63");
        assert!("64".parse::<Dscp>().is_err());
    }
}

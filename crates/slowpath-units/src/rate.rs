//! Bit rates, and which bytes of a packet a rate counts.

use std::fmt;
use std::str::FromStr;

use crate::parse::{self, ParseError, serde_as_text};
use crate::time::Duration;

/// A rate in bits per second.
///
/// Text form: `"50 Mbit/s"`, `"1.5 Gbit/s"`, `"64 kbit/s"`; multiples are powers of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// A rate of `bits` bits per second.
    pub const fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// Bits per second.
    pub const fn bits_per_s(self) -> u64 {
        self.0
    }

    /// Time to send `bytes` at this rate, rounded down to nanoseconds, and the remainder in
    /// units of one nanosecond divided by the rate; `carry` is the remainder of the previous call.
    ///
    /// Carrying the remainder keeps the long-run rate exact: no drift.
    ///
    /// # Panics
    /// If the rate is zero; a plan with a zero rate is refused before it gets here.
    pub const fn time_for(self, bytes: u64, carry: u64) -> (Duration, u64) {
        let bit_nanos = bytes as u128 * 8_000_000_000 + carry as u128;
        let rate = self.0 as u128;
        (
            Duration::from_nanos((bit_nanos / rate) as u64),
            (bit_nanos % rate) as u64,
        )
    }

    /// Bytes that fit into `span` at this rate, rounded down.
    pub const fn bytes_in(self, span: Duration) -> u64 {
        (self.0 as u128 * span.nanos() as u128 / 8_000_000_000) as u64
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        parse::print(f, self.0, &UNITS[..4])
    }
}

impl FromStr for BitRate {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse::quantity(text, READ, HINTS, EXPECTED).map(Self)
    }
}

serde_as_text!(BitRate);

/// Which bytes of a packet a rate, a queue or a shaper counts.
///
/// The names follow common use; the sizes are Ethernet's. Text form: `"L1"`, `"L2+FCS"`, `"L2"`, `"L3"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Layer {
    /// The wire: frame with FCS, 8 bytes of preamble and 12 of inter-frame gap ("L1").
    Wire,
    /// The Ethernet frame with its 4-byte FCS, as most switches and routers count ("L2+FCS").
    FrameFcs,
    /// The Ethernet frame without FCS, as Linux (netem, HTB, TBF) and Wireshark count ("L2").
    #[default]
    Frame,
    /// The IP packet ("L3").
    Ip,
}

impl Layer {
    /// Bytes that this layer adds to an IP packet of `ip_len` bytes on plain Ethernet.
    ///
    /// Frames shorter than 64 bytes with FCS are padded (IEEE 802.3, minimum frame size).
    pub const fn overhead(self, ip_len: u32) -> u32 {
        let header = 14;
        let frame = if ip_len + header < 60 { 60 } else { ip_len + header };
        match self {
            Self::Ip => 0,
            Self::Frame => header,
            Self::FrameFcs => frame + 4 - ip_len,
            Self::Wire => frame + 24 - ip_len,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Wire => "L1",
            Self::FrameFcs => "L2+FCS",
            Self::Frame => "L2",
            Self::Ip => "L3",
        })
    }
}

impl FromStr for Layer {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "L1" => Ok(Self::Wire),
            "L2+FCS" => Ok(Self::FrameFcs),
            "L2" => Ok(Self::Frame),
            "L3" => Ok(Self::Ip),
            other => Err(ParseError {
                text: text.to_owned(),
                kind: parse::ParseErrorKind::UnknownUnit {
                    unit: other.to_owned(),
                    hint: None,
                },
                expected: "a layer: \"L1\", \"L2+FCS\", \"L2\" or \"L3\"",
            }),
        }
    }
}

serde_as_text!(Layer);

const EXPECTED: &str = "a rate such as \"50 Mbit/s\", \"1.5 Gbit/s\" or \"64 kbit/s\"";
const UNITS: &[(&str, u64)] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
];
/// What is read: [`UNITS`], and what people type for them. Printed are [`UNITS`] alone.
const READ: &[(&str, u64)] = &[
    UNITS[0],
    UNITS[1],
    UNITS[2],
    UNITS[3],
    ("bps", 1),
    ("kbps", 1_000),
    ("Kbps", 1_000),
    ("mbps", 1_000_000),
    ("Mbps", 1_000_000),
    ("gbps", 1_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Kbit/s", 1_000),
    ("mbit/s", 1_000_000),
    ("gbit/s", 1_000_000_000),
    // As tc(8) has them.
    ("bit", 1),
    ("kbit", 1_000),
    ("Kbit", 1_000),
    ("mbit", 1_000_000),
    ("Mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("Gbit", 1_000_000_000),
];
const HINTS: &[(&str, &str)] = &[
    ("kB/s", "rates are in bits: multiply by 8 and write \"kbit/s\""),
    ("MB/s", "rates are in bits: multiply by 8 and write \"Mbit/s\""),
    (
        "MiB/s",
        "rates are in bits: multiply by 8.388608 and write \"Mbit/s\"",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serialisation_carries_its_remainder() {
        // 1514 bytes at 50 Mbit/s are 242.24 us; at 7 bit/s nothing divides evenly.
        let rate: BitRate = "50 Mbit/s".parse().unwrap();
        assert_eq!(rate.time_for(1514, 0), (Duration::from_nanos(242_240), 0));
        let odd = BitRate::new(7);
        let (mut total, mut carry) = (Duration::ZERO, 0);
        for _ in 0..7 {
            let (span, rest) = odd.time_for(1, carry);
            total += span;
            carry = rest;
        }
        assert_eq!((total, carry), (Duration::from_secs(8), 0));
    }

    #[test]
    fn layers_follow_ethernet() {
        assert_eq!(Layer::Frame.overhead(1500), 14);
        assert_eq!(Layer::FrameFcs.overhead(1500), 18);
        assert_eq!(Layer::Wire.overhead(1500), 38);
        assert_eq!(Layer::FrameFcs.overhead(28) + 28, 64);
        assert_eq!(Layer::Wire.overhead(28) + 28, 84);
    }

    /// They are what people type; what is printed is Mbit/s.
    #[test]
    fn common_spellings_are_read() {
        for (text, printed) in [
            ("50 Mbps", "50 Mbit/s"),
            ("50Mbps", "50 Mbit/s"),
            ("64 kbps", "64 kbit/s"),
            ("1.5Gbps", "1.5 Gbit/s"),
            ("20mbit", "20 Mbit/s"),
            ("20Mbit", "20 Mbit/s"),
            ("512 kbit", "512 kbit/s"),
            ("1Gbit", "1 Gbit/s"),
            ("9600bit", "9.6 kbit/s"),
            ("10 mbit/s", "10 Mbit/s"),
            ("５０ Mbit/s", "50 Mbit/s"),
            ("１．５Gbps", "1.5 Gbit/s"),
        ] {
            assert_eq!(text.parse::<BitRate>().unwrap().to_string(), printed, "{text}");
        }
    }

    #[test]
    fn names_the_unit_that_was_meant() {
        assert!(
            "50 MB/s"
                .parse::<BitRate>()
                .unwrap_err()
                .to_string()
                .contains("Mbit/s")
        );
        assert_eq!("1.5 Gbit/s".parse::<BitRate>().unwrap().to_string(), "1.5 Gbit/s");
    }
}

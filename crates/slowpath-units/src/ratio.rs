//! Shares and probabilities, in parts per billion.

use std::fmt;
use std::str::FromStr;

use crate::parse::{self, ParseError, serde_as_text};

/// A share between nothing and all, in parts per billion.
///
/// Text form: `"0.01 %"`, `"100 ppm"`, `"1 in 10000"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ratio(u32);

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// All.
    pub const ONE: Self = Self(BILLION);

    /// A share of `ppb` parts per billion, at most one.
    pub const fn from_ppb(ppb: u32) -> Option<Self> {
        if ppb <= BILLION { Some(Self(ppb)) } else { None }
    }

    /// Parts per billion.
    pub const fn ppb(self) -> u32 {
        self.0
    }

    /// As a fraction of one, for printing and statistics only.
    pub fn fraction(self) -> f64 {
        f64::from(self.0) / f64::from(BILLION)
    }

    /// The threshold below which a uniform 64-bit number falls with this probability; `None` means always.
    ///
    /// Deciding with integers keeps every platform's drops the same.
    pub const fn threshold(self) -> Option<u64> {
        if self.0 == BILLION {
            return None;
        }
        Some(((self.0 as u128) << 64).div_euclid(BILLION as u128) as u64)
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 10_000_000, self.0 % 10_000_000);
        if rest == 0 {
            return f.pad(&format!("{whole} %"));
        }
        f.pad(&format!(
            "{whole}.{} %",
            format!("{rest:07}").trim_end_matches('0')
        ))
    }
}

impl FromStr for Ratio {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let out_of_range = || ParseError {
            text: text.to_owned(),
            kind: parse::ParseErrorKind::OutOfRange,
            expected: EXPECTED,
        };
        let ppb = if let Some((one, many)) = text.split_once(" in ") {
            let part = |s: &str| s.trim().parse::<u64>().map_err(|_| out_of_range());
            let (one, many) = (part(one)?, part(many)?);
            if many == 0 {
                return Err(out_of_range());
            }
            one.checked_mul(u64::from(BILLION)).ok_or_else(out_of_range)? / many
        } else {
            parse::quantity(text, UNITS, HINTS, EXPECTED)?
        };
        u32::try_from(ppb)
            .ok()
            .and_then(Self::from_ppb)
            .ok_or_else(|| ParseError {
                kind: parse::ParseErrorKind::AboveWhole,
                ..out_of_range()
            })
    }
}

serde_as_text!(Ratio);

const BILLION: u32 = 1_000_000_000;
const EXPECTED: &str = "a share between 0 % and 100 %, such as \"0.01 %\", \"100 ppm\" or \"1 in 10000\"";
const UNITS: &[(&str, u64)] = &[("ppb", 1), ("ppm", 1_000), ("%", 10_000_000), ("％", 10_000_000)];
const HINTS: &[(&str, &str)] = &[("percent", "write \"%\"")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_percent_ppm_and_one_in() {
        for text in ["0.01 %", "100 ppm", "1 in 10000"] {
            assert_eq!(text.parse::<Ratio>().unwrap().ppb(), 100_000, "{text}");
        }
        assert_eq!("0.01 %".parse::<Ratio>().unwrap().to_string(), "0.01 %");
        let error = "101 %".parse::<Ratio>().unwrap_err().to_string();
        assert!(error.starts_with("\"101 %\" is above 100 %; expected"), "{error}");
        let error = "-1 %".parse::<Ratio>().unwrap_err().to_string();
        assert!(
            error.starts_with("\"-1 %\" must not be negative; expected"),
            "{error}"
        );
        assert!("0.01".parse::<Ratio>().is_err());
        assert!("1 in 0".parse::<Ratio>().is_err());
    }

    #[test]
    fn all_means_always() {
        assert_eq!(Ratio::ONE.threshold(), None);
        assert_eq!(Ratio::ZERO.threshold(), Some(0));
    }
}

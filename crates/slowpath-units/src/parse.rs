//! The one grammar all quantities share: a decimal number, optional space, a unit.

use std::fmt;

/// Why a quantity could not be read; says what was found and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// The text as given.
    pub text: String,
    /// What is wrong with it.
    pub kind: ParseErrorKind,
    /// The kind of quantity wanted, with examples, for the message.
    pub expected: &'static str,
}

/// The ways in which a quantity can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseErrorKind {
    /// There is no number at the start.
    NotANumber,
    /// There is a minus before the number.
    Negative,
    /// More than the whole, of a share.
    AboveWhole,
    /// A bare number: units are mandatory.
    MissingUnit,
    /// The unit is not one of this quantity's; a likely correction may be known.
    UnknownUnit {
        /// What stood where the unit belongs.
        unit: String,
        /// What was probably meant.
        hint: Option<&'static str>,
    },
    /// The value cannot be held without loss (too large, or finer than the type's unit).
    OutOfRange,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ParseErrorKind::NotANumber => write!(f, "\"{}\" does not start with a number", self.text)?,
            ParseErrorKind::Negative => write!(f, "\"{}\" must not be negative", self.text)?,
            ParseErrorKind::AboveWhole => write!(f, "\"{}\" is above 100 %", self.text)?,
            ParseErrorKind::MissingUnit => write!(f, "\"{}\" has no unit", self.text)?,
            ParseErrorKind::UnknownUnit { unit, hint } => {
                write!(f, "\"{unit}\" in \"{}\" is not a unit known here", self.text)?;
                if let Some(hint) = hint {
                    write!(f, " ({hint})")?;
                }
            }
            ParseErrorKind::OutOfRange => {
                write!(f, "\"{}\" is too large or too fine to hold exactly", self.text)?;
            }
        }
        f.write_str("; ")?;
        write!(f, "expected {}", self.expected)
    }
}

impl std::error::Error for ParseError {}

/// A decimal number as written: `mantissa` times ten to the minus `decimals`, and the unit behind it.
pub(crate) struct Number<'a> {
    mantissa: u128,
    decimals: u32,
    pub(crate) unit: &'a str,
}

impl<'a> Number<'a> {
    pub(crate) fn split(text: &'a str, expected: &'static str) -> Result<Self, ParseError> {
        let error = |kind| ParseError {
            text: text.to_owned(),
            kind,
            expected,
        };
        let trimmed = text.trim();
        let positive = trimmed.trim_start_matches(['-', '−', '－']);
        if positive != trimmed && positive.trim_start().starts_with(|c| digit(c).is_some()) {
            return Err(error(ParseErrorKind::Negative));
        }
        let end = trimmed
            .find(|c: char| digit(c).is_none() && !matches!(c, '.' | '．' | '_'))
            .unwrap_or(trimmed.len());
        let (number, rest) = trimmed.split_at(end);
        let (mut mantissa, mut decimals, mut dot, mut digits) = (0_u128, 0_u32, false, false);
        for c in number.chars() {
            match c {
                '.' | '．' if dot => return Err(error(ParseErrorKind::NotANumber)),
                '.' | '．' => dot = true,
                '_' => {}
                c => {
                    digits = true;
                    mantissa = mantissa
                        .checked_mul(10)
                        .and_then(|m| m.checked_add(u128::from(digit(c).unwrap_or(0))))
                        .ok_or_else(|| error(ParseErrorKind::OutOfRange))?;
                    decimals += u32::from(dot);
                }
            }
        }
        if !digits {
            return Err(error(ParseErrorKind::NotANumber));
        }
        Ok(Self {
            mantissa,
            decimals,
            unit: rest.trim(),
        })
    }

    /// The value times `scale`, if that is a whole number within `u64`.
    pub(crate) fn scaled(&self, scale: u64) -> Option<u64> {
        let divisor = 10_u128.checked_pow(self.decimals)?;
        let value = self.mantissa.checked_mul(u128::from(scale))?;
        if !value.is_multiple_of(divisor) {
            return None;
        }
        u64::try_from(value / divisor).ok()
    }
}

/// The value of a digit, also of a full-width one, as East Asian keyboards type it.
fn digit(c: char) -> Option<u32> {
    let folded = match c {
        '０'..='９' => char::from_u32(u32::from(c) - u32::from('０') + u32::from('0'))?,
        c => c,
    };
    folded.to_digit(10)
}

/// Reads `text` with the table of `units` (name, scale to the base unit).
pub(crate) fn quantity(
    text: &str,
    units: &[(&str, u64)],
    hints: &[(&str, &'static str)],
    expected: &'static str,
) -> Result<u64, ParseError> {
    let number = Number::split(text, expected)?;
    let error = |kind| ParseError {
        text: text.to_owned(),
        kind,
        expected,
    };
    if number.unit.is_empty() {
        return Err(error(ParseErrorKind::MissingUnit));
    }
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == number.unit) else {
        let hint = hints
            .iter()
            .find(|(name, _)| *name == number.unit)
            .map(|(_, hint)| *hint);
        return Err(error(ParseErrorKind::UnknownUnit {
            unit: number.unit.to_owned(),
            hint,
        }));
    };
    number
        .scaled(*scale)
        .ok_or_else(|| error(ParseErrorKind::OutOfRange))
}

/// Writes `value` with the largest unit that leaves at most `places` decimals without loss.
pub(crate) fn print(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, scale) = units
        .iter()
        .rev()
        .find(|(_, scale)| {
            value >= *scale && (value.is_multiple_of(*scale) || value.is_multiple_of((scale / 1000).max(1)))
        })
        .unwrap_or(&units[0]);
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return f.pad(&format!("{whole} {name}"));
    }
    let fraction = format!("{:0width$}", rest, width = scale.ilog10() as usize);
    f.pad(&format!("{whole}.{} {name}", fraction.trim_end_matches('0')))
}

/// Implements `Serialize` as the printed text and `Deserialize` from text, for one quantity.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;

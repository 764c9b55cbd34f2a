//! Ranges of a setting, as the command line takes them: every value of a grid, or a Latin hypercube's sample.

mod latin;

pub use latin::{Span, hypercube};

/// One setting with the values it is to take, one after the other.
///
/// Each combination of values is one list of overrides for [`Experiment::read`](crate::Experiment::read).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sweep {
    /// The dotted key.
    pub key: String,
    /// The values as written in a document.
    pub values: Vec<String>,
}

/// A sweep that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "--sweep '{text}': {what}; write KEY=A,B,C or KEY=A..B step S or KEY=A..B by FACTOR or KEY=A..B:logFACTOR, such as rate=10 Mbit/s..50 Mbit/s step 10 Mbit/s or loss=0.001 %..1 %:log10"
)]
pub struct SweepError {
    /// The text as given.
    pub text: String,
    /// What is wrong.
    pub what: &'static str,
}

impl Sweep {
    /// Reads `KEY=A,B,C`, `KEY=A..B step S`, `KEY=A..B by FACTOR` or, short for it, `KEY=A..B:logFACTOR`; both ends
    /// belong to a range.
    ///
    /// # Errors
    /// What is wrong with the text, and how to write it.
    pub fn parse(text: &str) -> Result<Self, SweepError> {
        let error = |what| SweepError {
            text: text.to_owned(),
            what,
        };
        let (key, range) = key_and_range(text).map_err(error)?;
        let values = match range.split_once("..") {
            None => range.split(',').map(|value| value.trim().to_owned()).collect(),
            Some((first, rest)) => steps(first.trim(), rest.trim()).map_err(error)?,
        };
        if values.iter().any(String::is_empty) {
            return Err(error("a value is empty"));
        }
        Ok(Self {
            key: key.to_owned(),
            values,
        })
    }

    /// Every combination of the sweeps' values as overrides, the last sweep varying fastest; one empty list for no sweeps.
    ///
    /// # Errors
    /// More than [`MOST_COMBINATIONS`] of them: the number there would be.
    pub fn combinations(sweeps: &[Self]) -> Result<Vec<Vec<(String, String)>>, usize> {
        let count = sweeps
            .iter()
            .fold(1_usize, |count, sweep| count.saturating_mul(sweep.values.len()));
        if count > MOST_COMBINATIONS {
            return Err(count);
        }
        let mut all = vec![Vec::new()];
        for sweep in sweeps {
            all = all
                .iter()
                .flat_map(|before: &Vec<(String, String)>| {
                    sweep.values.iter().map(|value| {
                        let mut list = before.clone();
                        list.push((sweep.key.clone(), value.clone()));
                        list
                    })
                })
                .collect();
        }
        Ok(all)
    }
}

/// The two sides of `KEY=RANGE`.
fn key_and_range(text: &str) -> Result<(&str, &str), &'static str> {
    let (key, range) = text.split_once('=').ok_or("there is no \"=\"")?;
    let (key, range) = (key.trim(), range.trim());
    if key.is_empty() || range.is_empty() {
        return Err("the key or the values are missing");
    }
    Ok((key, range))
}

/// Whether a value is a number, with a unit or without: such a value names no file.
pub fn is_number(value: &str) -> bool {
    Number::parse(value).is_ok()
}

/// The values of `FIRST..LAST step STEP` or `FIRST..LAST by FACTOR`.
fn steps(first: &str, rest: &str) -> Result<Vec<String>, &'static str> {
    let (last, step, factor) = if let Some((last, step)) = rest.split_once(" step ") {
        (last.trim(), Some(step.trim()), None)
    } else if let Some((last, factor)) = rest.split_once(" by ") {
        (last.trim(), None, Some(factor.trim()))
    } else if let Some((last, factor)) = rest.rsplit_once(":log") {
        (last.trim(), None, Some(factor.trim()))
    } else {
        return Err("a range needs a step or a factor");
    };
    let (first, last) = (Number::parse(first)?, Number::parse(last)?);
    if first.unit != last.unit {
        return Err("both ends of a range must have the same unit");
    }
    let places = first.places.max(last.places);
    let (mut at, end) = (first.scaled(places)?, last.scaled(places)?);
    if at > end {
        return Err("a range must rise");
    }
    let mut values = Vec::new();
    if let Some(step) = step {
        let step = Number::parse(step)?;
        if step.unit != first.unit {
            return Err("the step must have the unit of the range");
        }
        let places = places.max(step.places);
        let (mut at, end, step) = (first.scaled(places)?, last.scaled(places)?, step.scaled(places)?);
        if step == 0 {
            return Err("the step is zero");
        }
        while at <= end && values.len() < MOST_VALUES {
            values.push(print(at, places, first.unit));
            at += step;
        }
        close(&mut values, print(end, places, first.unit));
    } else if let Some(factor) = factor {
        let factor: u128 = factor.parse().map_err(|_| "the factor must be a whole number")?;
        if factor < 2 || at == 0 {
            return Err("a factor must be at least 2, and the range must not begin at zero");
        }
        while at <= end && values.len() < MOST_VALUES {
            values.push(print(at, places, first.unit));
            at = at.saturating_mul(factor);
        }
        close(&mut values, print(end, places, first.unit));
    }
    if values.len() >= MOST_VALUES {
        return Err("the range has too many values");
    }
    Ok(values)
}

/// Adds the end of a range where the steps did not meet it: both ends belong.
fn close(values: &mut Vec<String>, end: String) {
    if values.last() != Some(&end) {
        values.push(end);
    }
}

/// A decimal number with its unit.
struct Number<'t> {
    digits: u128,
    places: u32,
    unit: &'t str,
}

impl<'t> Number<'t> {
    fn parse(text: &'t str) -> Result<Self, &'static str> {
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let places = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        if whole.is_empty() || fraction.contains('.') || places > 9 || whole.len() > 18 {
            return Err("an end of the range is not a number");
        }
        let digits = format!("{whole}{fraction}")
            .parse()
            .map_err(|_| "an end of the range is not a number")?;
        Ok(Self {
            digits,
            places,
            unit: unit.trim(),
        })
    }

    fn value(&self) -> f64 {
        self.digits as f64 / 10_f64.powi(self.places.cast_signed())
    }

    fn scaled(&self, places: u32) -> Result<u128, &'static str> {
        10_u128
            .checked_pow(places - self.places)
            .and_then(|scale| self.digits.checked_mul(scale))
            .ok_or("a number is too large")
    }
}

fn print(value: u128, places: u32, unit: &str) -> String {
    let scale = 10_u128.pow(places);
    let (whole, rest) = (value / scale, value % scale);
    let number = if rest == 0 {
        whole.to_string()
    } else {
        let fraction = format!("{rest:0width$}", width = places as usize);
        format!("{whole}.{}", fraction.trim_end_matches('0'))
    };
    if unit.is_empty() {
        number
    } else {
        format!("{number} {unit}")
    }
}

/// More runs than anybody waits for.
pub const MOST_COMBINATIONS: usize = 1_000_000;

const MOST_VALUES: usize = 10_001;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_steps_and_factors() {
        let cases: &[(&str, &[&str])] = &[
            ("a.b=1,2, 3", &["1", "2", "3"]),
            ("d=10 ms..30 ms step 10 ms", &["10 ms", "20 ms", "30 ms"]),
            ("l=0 %..0.02 % step 0.01 %", &["0 %", "0.01 %", "0.02 %"]),
            (
                "w=64 KiB..300 KiB by 2",
                &["64 KiB", "128 KiB", "256 KiB", "300 KiB"],
            ),
            ("d=10 ms..25 ms step 10 ms", &["10 ms", "20 ms", "25 ms"]),
            ("loss=0.001%..1%:log10", &["0.001 %", "0.01 %", "0.1 %", "1 %"]),
            ("n=1..8:log2", &["1", "2", "4", "8"]),
            ("n=1..3 step 1", &["1", "2", "3"]),
            ("c=cubic,bbr", &["cubic", "bbr"]),
        ];
        for (text, values) in cases {
            let sweep = Sweep::parse(text).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(sweep.values, *values, "{text}");
        }
        assert_eq!(
            Sweep::parse("network.both[1].delay=5 ms").unwrap().key,
            "network.both[1].delay"
        );
    }

    #[test]
    fn mistakes_say_how_to_write_it() {
        for text in [
            "a",
            "=1",
            "a=",
            "a=1,,2",
            "a=1..3",
            "a=3..1 step 1",
            "a=1 ms..3 s step 1 ms",
            "a=1..3 step 0",
            "a=0..8 by 2",
            "a=1..8 by 1",
            "a=1..8:log",
            "a=1..8:log1",
            "a=x..y step z",
            "a=1..99999999 step 1",
            "a=1.2.3..4 step 1",
            "a=1 ms..9 ms step 1 s",
        ] {
            let error = Sweep::parse(text).expect_err(text).to_string();
            assert!(error.contains("write KEY=A,B,C"), "{error}");
        }
    }

    #[test]
    fn combinations_vary_the_last_fastest() {
        let sweeps = [Sweep::parse("a=1,2").unwrap(), Sweep::parse("b=x,y").unwrap()];
        let all = Sweep::combinations(&sweeps).unwrap();
        let shown: Vec<String> = all
            .iter()
            .map(|list| list.iter().map(|(_, value)| value.as_str()).collect())
            .collect();
        assert_eq!(shown, ["1x", "1y", "2x", "2y"]);
        assert_eq!(Sweep::combinations(&[]).unwrap(), [Vec::new()]);
        let many = Sweep::parse("a=1..2000 step 1").unwrap();
        assert_eq!(Sweep::combinations(&[many.clone(), many]), Err(4_000_000));
    }
}

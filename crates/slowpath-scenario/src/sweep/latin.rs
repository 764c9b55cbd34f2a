//! Samples of many settings at once (McKay, Beckman and Conover, 1979): each setting's range is cut into as many parts
//! as there are points, and each part is met exactly once.

use slowpath_path::Dice;

use super::{Number, SweepError, key_and_range};

/// One setting with the range out of which values are drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The dotted key.
    pub key: String,
    values: Values,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    /// One of a list, each equally often.
    Choices(Vec<String>),
    /// Anything between two ends.
    Between {
        first: f64,
        last: f64,
        unit: String,
        logarithmic: bool,
    },
}

impl Span {
    /// Reads `KEY=A..B`, every value equally likely, `KEY=A..B:log`, every factor equally likely, or `KEY=A,B,C`.
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
            None => Values::Choices(range.split(',').map(|value| value.trim().to_owned()).collect()),
            Some((first, rest)) => between(first.trim(), rest.trim()).map_err(error)?,
        };
        if matches!(&values, Values::Choices(list) if list.iter().any(String::is_empty)) {
            return Err(error("a value is empty"));
        }
        Ok(Self {
            key: key.to_owned(),
            values,
        })
    }

    /// The value of one of `parts` equal parts of the range, at `within` of it, from 0 to below 1; numbers have six digits.
    fn of_part(&self, part: usize, parts: usize, within: f64) -> String {
        let share = (part as f64 + within) / parts as f64;
        match &self.values {
            Values::Choices(list) => list[part * list.len() / parts].clone(),
            Values::Between {
                first,
                last,
                unit,
                logarithmic,
            } => {
                let value = if *logarithmic {
                    first * (last / first).powf(share)
                } else {
                    first + (last - first) * share
                };
                written(value, unit)
            }
        }
    }
}

/// A drawn number with six significant digits, but no finer than values of its unit are held: whole packets and bytes,
/// nanoseconds, billionths.
fn written(value: f64, unit: &str) -> String {
    let finest = match unit {
        "" | "packets" | "packet" | "B" | "byte" | "bytes" | "ns" => 0,
        "us" | "µs" | "ppm" => 3,
        "ms" => 6,
        "%" => 7,
        _ => 9,
    };
    let mut places = 5_usize;
    let mut scale = 1.0;
    while value > 0.0 && value < scale && places < 9 {
        places += 1;
        scale /= 10.0;
    }
    while places > 0 && value >= scale * 10.0 {
        places -= 1;
        scale *= 10.0;
    }
    let places = places.min(finest);
    let digits = format!("{value:.places$}");
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        &digits
    };
    format!("{digits} {unit}").trim_end().to_owned()
}

fn between(first: &str, rest: &str) -> Result<Values, &'static str> {
    let (last, logarithmic) = match rest.rsplit_once(":log") {
        Some((last, "")) => (last.trim(), true),
        Some(_) => return Err("a sample knows no factor; write KEY=A..B:log"),
        None if rest.contains(" step ") || rest.contains(" by ") => {
            return Err("a sample knows no step; write KEY=A..B or KEY=A..B:log");
        }
        None => (rest, false),
    };
    let (first, last) = (Number::parse(first)?, Number::parse(last)?);
    if first.unit != last.unit {
        return Err("both ends of a range must have the same unit");
    }
    let (from, to) = (first.value(), last.value());
    if from > to {
        return Err("a range must rise");
    }
    if logarithmic && from <= 0.0 {
        return Err("a logarithmic range must not begin at zero");
    }
    Ok(Values::Between {
        first: from,
        last: to,
        unit: first.unit.to_owned(),
        logarithmic,
    })
}

/// A sample of `points` points, each with one value for every span; equal seeds give equal samples.
pub fn hypercube(spans: &[Span], points: usize, seed: u64) -> Vec<Vec<(String, String)>> {
    let columns: Vec<Vec<String>> = spans
        .iter()
        .map(|span| {
            let mut dice = Dice::new(seed, &format!("latin hypercube {}", span.key));
            // Fisher and Yates.
            let mut order: Vec<usize> = (0..points).collect();
            for place in (1..points).rev() {
                let other = dice.below(place as u64 + 1) as usize;
                order.swap(place, other);
            }
            order
                .into_iter()
                .map(|part| {
                    let within = dice.below(1 << 32) as f64 / 2_f64.powi(32);
                    span.of_part(part, points, within)
                })
                .collect()
        })
        .collect();
    (0..points)
        .map(|point| {
            let one = |(span, column): (&Span, &Vec<String>)| (span.key.clone(), column[point].clone());
            spans.iter().zip(&columns).map(one).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_every_range_is_met_once() {
        let spans = [
            "rate=10 Mbit/s..110 Mbit/s",
            "delay=1 ms..100 ms:log",
            "c=cubic,bbr",
        ]
        .map(|text| Span::parse(text).unwrap());
        let sample = hypercube(&spans, 100, 7);
        assert_eq!(sample, hypercube(&spans, 100, 7));
        assert_ne!(sample, hypercube(&spans, 100, 8));
        let number = |point: &[(String, String)], key: usize| -> f64 {
            let text = point[key].1.split(' ').next().unwrap();
            text.parse().unwrap()
        };
        let mut rates: Vec<f64> = sample.iter().map(|point| number(point, 0)).collect();
        let mut delays: Vec<f64> = sample
            .iter()
            .map(|point| number(point, 1).log10() / 2.0)
            .collect();
        rates.sort_by(f64::total_cmp);
        delays.sort_by(f64::total_cmp);
        for (part, (rate, delay)) in rates.iter().zip(&delays).enumerate() {
            let part = part as f64;
            assert!((part..=part + 1.0).contains(&(rate - 10.0)), "{part}: {rate}");
            assert!(
                (part - 1e-3..=part + 1.001).contains(&(delay * 100.0)),
                "{part}: {delay}"
            );
        }
        assert_eq!(sample.iter().filter(|point| point[2].1 == "bbr").count(), 50);
        assert!(sample[0][0].1.ends_with(" Mbit/s"));
    }

    #[test]
    fn mistakes_are_named() {
        for text in [
            "a",
            "a=",
            "a=1,,2",
            "a=3..1",
            "a=1 ms..2 s",
            "a=0..1:log",
            "a=1..9 by 2",
            "a=1..9:log10",
        ] {
            assert!(Span::parse(text).is_err(), "{text}");
        }
        assert_eq!(written(0.0, "%"), "0 %");
        assert_eq!(written(0.001_234_567_8, "%"), "0.0012346 %");
        assert_eq!(written(12.345_678_9, "ms"), "12.3457 ms");
        assert_eq!(written(12.345_678_9, "us"), "12.346 us");
        assert_eq!(written(3.7, ""), "4");
        assert_eq!(written(99.5001, "packets"), "100 packets");
        assert_eq!(written(1e12, ""), "1000000000000");
    }
}

//! Two of a kind side by side: groups of runs, results folders, captures.

mod captures;
mod folders;

use slowpath_diagnose::stats::{Comparison, Outcome};

pub use captures::{CaptureComparison, Difference};
pub use folders::{FolderComparison, VariantChange};

use crate::quantity::RateUnit;

/// What a comparison of goodput says, `b` against `a`, with rates in `unit`.
pub fn sentence(a: &str, b: &str, c: &Comparison, unit: RateUnit) -> String {
    let means = format!("{} against {}", unit.show(c.b.mean), unit.show(c.a.mean));
    match c.outcome {
        Outcome::Higher | Outcome::Lower => {
            let word = if c.outcome == Outcome::Higher {
                "faster"
            } else {
                "slower"
            };
            let size = if c.ratio >= 2.0 {
                format!("{:.1} times as fast as", c.ratio)
            } else if c.ratio <= 0.5 {
                format!("at {:.0} % of the goodput of", c.ratio * 100.0)
            } else {
                format!("{:.1} % {word} than", c.percent().abs())
            };
            format!("{b} is {size} {a}: {means} ({}).", p_text(c))
        }
        Outcome::NotShown => format!(
            "No difference shown between {b} and {a}: {means}; the difference of the means lies between {} and {} ({}).",
            signed(c.low95.unwrap_or(f64::NAN), unit),
            signed(c.high95.unwrap_or(f64::NAN), unit),
            p_text(c)
        ),
        Outcome::TooFew => {
            format!(
                "{b} against {a}: {means}; one run each side cannot show whether that is chance; --repeats 5 can."
            )
        }
    }
}

fn p_text(c: &Comparison) -> String {
    match c.p_value {
        Some(p) if p < 0.001 => "p < 0.001".to_owned(),
        Some(p) => format!("p = {p:.3}"),
        None => "no test".to_owned(),
    }
}

fn signed(value: f64, unit: RateUnit) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", unit.show(value.abs()))
}

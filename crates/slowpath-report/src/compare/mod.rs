//! Two of a kind side by side: groups of runs, results folders, captures.

mod captures;
mod folders;

use slowpath_diagnose::stats::{Comparison, Outcome};

pub use captures::{CaptureComparison, Difference};
pub use folders::{FolderComparison, VariantChange};

use crate::quantity::RateUnit;
use slowpath_words::{english, english_word};

/// What a comparison of goodput says, `b` against `a`, with rates in `unit`.
pub fn sentence(a: &str, b: &str, c: &Comparison, unit: RateUnit) -> String {
    let means = english!(
        "compare-mod-against",
        mean = unit.show(c.b.mean),
        mean2 = unit.show(c.a.mean)
    );
    match c.outcome {
        Outcome::Higher | Outcome::Lower => {
            let test = p_text(c);
            if c.ratio >= 2.0 {
                let ratio = format!("{:.1}", c.ratio);
                return english!(
                    "compare-mod-times-as-fast-as",
                    b = b,
                    ratio = ratio,
                    a = a,
                    means = means,
                    c = test
                );
            }
            if c.ratio <= 0.5 {
                let ratio = format!("{:.0}", c.ratio * 100.0);
                return english!(
                    "compare-mod-goodput",
                    b = b,
                    ratio = ratio,
                    a = a,
                    means = means,
                    c = test
                );
            }
            let abs = format!("{:.1}", c.percent().abs());
            if c.outcome == Outcome::Higher {
                english!(
                    "compare-mod-faster",
                    b = b,
                    abs = abs,
                    a = a,
                    means = means,
                    c = test
                )
            } else {
                english!(
                    "compare-mod-slower",
                    b = b,
                    abs = abs,
                    a = a,
                    means = means,
                    c = test
                )
            }
        }
        Outcome::NotShown => english!(
            "compare-mod-no-difference-shown-between-difference",
            b = b,
            a = a,
            means = means,
            unit = signed(c.low95.unwrap_or(f64::NAN), unit),
            unit2 = signed(c.high95.unwrap_or(f64::NAN), unit),
            c = p_text(c)
        ),
        Outcome::TooFew => {
            english!(
                "compare-mod-against-one-run-each-side",
                b = b,
                a = a,
                means = means
            )
        }
    }
}

fn p_text(c: &Comparison) -> String {
    match c.p_value {
        Some(p) if p < 0.001 => "p < 0.001".to_owned(),
        Some(p) => format!("p = {p:.3}"),
        None => english_word!("compare-mod-no-test").to_owned(),
    }
}

fn signed(value: f64, unit: RateUnit) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", unit.show(value.abs()))
}

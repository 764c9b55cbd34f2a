//! Where a reference figure comes from, and what the model owes to it.

use serde::{Deserialize, Serialize};

use crate::quantity::{grouped, significant};
use slowpath_words::english;

/// The label of a reference figure: what stands beside it wherever it is shown.
///
/// A figure is *published* (printed in the source, in the source's own unit) or *derived* (arithmetic on published
/// figures); its relation to the model is in [`crate::results::Basis`]; and it may be declared as *missed*, with the
/// reason.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Label {
    /// The figure as the source prints it, with the source's unit, such as `72.2 MiB/s`.
    #[serde(default)]
    pub printed: Option<String>,
    /// The arithmetic on published figures that gives it; absent where the source prints it.
    #[serde(default)]
    pub formula: Option<String>,
    /// The parameters that were fitted to it, each with its value; none for a predicted figure.
    #[serde(default)]
    pub fitted: Vec<String>,
    /// How many parameters and how many figures were fitted together with this one.
    #[serde(default)]
    pub together: Option<(usize, usize)>,
    /// Why the figure is not met, where that is known and declared.
    #[serde(default)]
    pub missed: Option<String>,
}

impl Label {
    /// `published` or `derived`.
    pub const fn origin(&self) -> &'static str {
        if self.formula.is_some() {
            "derived"
        } else {
            "published"
        }
    }

    /// Whether as many parameters were fitted as there are figures: that explains nothing.
    pub fn is_curve_fitting(&self) -> bool {
        self.together
            .is_some_and(|(parameters, figures)| parameters >= figures)
    }

    /// What the label adds to a figure, as sentences: the formula, the fitted parameters, the declared miss.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(formula) = &self.formula {
            all.push(english!("label-derived", formula = formula));
        }
        if !self.fitted.is_empty() {
            all.push(english!("label-fitted", fitted = self.fitted.join("; ")));
        }
        if let Some((parameters, figures)) = self.together.filter(|_| self.is_curve_fitting()) {
            let plural = |count: usize| if count == 1 { "" } else { "s" };
            all.push(english!(
                "label-curve-fitting-explains-nothing-parameter",
                parameters = parameters,
                plural = plural(parameters),
                figures = figures,
                plural2 = plural(figures)
            ));
        }
        if let Some(reason) = &self.missed {
            all.push(english!("label-missed", reason = reason));
        }
        all
    }

    /// `value`, in base units (bytes or bits per second, seconds, bytes, one), in the unit in which the source prints
    /// the figure; `None` where that unit is not known.
    pub fn in_its_unit(&self, value: f64) -> Option<String> {
        let unit = self.unit()?;
        Some(format!("{} {}", unit.show(value), unit.name))
    }

    /// The unit in which the source prints the figure; `None` where that is not known.
    pub fn unit(&self) -> Option<PrintedUnit> {
        let unit = unit_of(self.printed.as_deref()?)?;
        let known = UNITS.iter().find(|(name, _)| *name == unit)?;
        Some(PrintedUnit {
            name: known.0,
            size: known.1,
        })
    }
}

/// A unit in which a source prints figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedUnit {
    /// As it is printed, such as `MiB/s`.
    pub name: &'static str,
    /// What it is in base units.
    pub size: f64,
}

impl PrintedUnit {
    /// A value in base units as a number of this unit: `35.02`.
    pub fn show(self, value: f64) -> String {
        let scaled = value / self.size;
        if self.name == "packets" {
            grouped(scaled, 0)
        } else {
            significant(scaled)
        }
    }

    /// Whether it is one of rates of bytes or bits.
    pub fn is_rate(self) -> bool {
        self.name.ends_with("/s")
    }

    /// A rate in bytes per second as a number of this unit.
    pub fn show_byte_rate(self, byte_per_s: f64) -> String {
        let bits = self.name.ends_with("bit/s");
        self.show(if bits { byte_per_s * 8.0 } else { byte_per_s })
    }
}

/// The unit of a printed figure: what follows its number.
fn unit_of(printed: &str) -> Option<&str> {
    let unit = printed
        .trim()
        .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-'))
        .trim();
    (!unit.is_empty()).then_some(unit)
}

const UNITS: &[(&str, f64)] = &[
    ("B/s", 1.0),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("%", 0.01),
    ("ppm", 1e-6),
    ("packets", 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_figures_are_shown_in_the_source_s_unit() {
        let show = |printed: &str, value: f64| {
            let label = Label {
                printed: Some(printed.to_owned()),
                ..Label::default()
            };
            label.in_its_unit(value)
        };
        assert_eq!(show("72.2 MiB/s", 109_000_000.0).as_deref(), Some("104 MiB/s"));
        assert_eq!(show("151542 B/s", 149_600.4).as_deref(), Some("149,600 B/s"));
        assert_eq!(show("15 Mbit/s", 14_980_000.0).as_deref(), Some("14.98 Mbit/s"));
        assert_eq!(show("36.4 %", 0.361).as_deref(), Some("36.1 %"));
        assert_eq!(show("17182 packets", 17_139.0).as_deref(), Some("17,139 packets"));
        assert_eq!(show("some", 1.0), None);
    }

    #[test]
    fn a_label_says_where_the_figure_comes_from() {
        let published = Label::default();
        assert_eq!(
            (published.origin(), published.sentences().len()),
            ("published", 0)
        );
        let derived = Label {
            formula: Some("9.97 Mbit/s x (1 - 46 %)".to_owned()),
            fitted: vec!["queue 64 packets".to_owned()],
            missed: Some("the source contradicts itself.".to_owned()),
            ..Label::default()
        };
        assert_eq!(derived.origin(), "derived");
        let fitted = |together| Label {
            together,
            ..Label::default()
        };
        assert!(fitted(Some((5, 4))).sentences()[0].contains("5 parameters for 4 figures"));
        assert!(!fitted(Some((1, 4))).is_curve_fitting() && !fitted(None).is_curve_fitting());
        let said = derived.sentences().join(" ");
        assert!(said.contains("x (1 - 46 %)") && said.contains("queue 64") && said.contains("Missed"));
    }
}

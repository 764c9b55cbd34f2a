//! The units of a table's figures.

use crate::label::PrintedUnit;
use crate::quantity::{RateUnit, grouped};
use crate::results::{Results, Variant};

/// One unit for all rates of a table, so that they can be compared by eye.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    pub(super) name: &'static str,
    size: f64,
}

impl Unit {
    /// The largest unit in which the smallest figure still has a digit before the point.
    pub(super) fn of(results: &Results) -> Self {
        let measured = results
            .variants
            .iter()
            .filter_map(|v| Some(v.goodput_byte_per_s.as_ref()?.mean));
        let published = results
            .variants
            .iter()
            .filter_map(|v| Some(v.reference.as_ref()?.goodput_byte_per_s));
        let smallest = measured
            .chain(published)
            .filter(|v| *v > 0.0)
            .fold(f64::INFINITY, f64::min);
        if results.rate_unit == RateUnit::Bits {
            return if smallest.is_finite() && smallest < 12_500.0 {
                Self {
                    name: "kbit/s",
                    size: 125.0,
                }
            } else {
                Self {
                    name: "Mbit/s",
                    size: 125e3,
                }
            };
        }
        if smallest.is_finite() && smallest >= 1e6 {
            Self {
                name: "MB/s",
                size: 1e6,
            }
        } else {
            Self {
                name: "kB/s",
                size: 1e3,
            }
        }
    }

    /// The rate, in bytes per second, in this unit.
    pub(super) fn show(self, value: f64) -> String {
        let scaled = value / self.size;
        grouped(
            scaled,
            if scaled.abs() >= 1000.0 {
                0
            } else {
                1 + usize::from(self.size > 1e3 && scaled.abs() < 100.0)
            },
        )
    }
}

/// The units of a table's rows: each row in the one in which its source prints the figure.
#[derive(Clone, Copy)]
pub(super) struct Units {
    /// The unit of rows whose source prints no rate: that of most others, or else one that suits all.
    others: Other,
    /// Whether all rows have one unit, which then stands in the heading.
    pub(super) one: bool,
}

#[derive(Clone, Copy)]
enum Other {
    Printed(PrintedUnit),
    Suits(Unit),
}

impl Units {
    /// The units of all rows of `results`.
    pub(super) fn of(results: &Results) -> Self {
        let own = |variant: &Variant| variant.main_figure().and_then(|figure| figure.label.unit());
        let rates: Vec<PrintedUnit> = results
            .variants
            .iter()
            .filter_map(own)
            .filter(|unit| unit.is_rate())
            .collect();
        let count = |unit: &PrintedUnit| rates.iter().filter(|other| *other == unit).count();
        // The first of those that most have.
        let most = rates.iter().rev().max_by_key(|unit| count(unit));
        let others = most.map_or(Other::Suits(Unit::of(results)), |unit| Other::Printed(*unit));
        let same = |variant: &Variant| match (own(variant), others) {
            (Some(unit), Other::Printed(other)) => unit == other,
            (None, _) => {
                let figure = variant.main_figure();
                let rate = figure.is_none_or(|figure| matches!(figure.unit.as_str(), "byte/s" | "bit/s"));
                rate && variant.instead.is_none()
            }
            (Some(_), Other::Suits(_)) => false,
        };
        Self {
            others,
            one: results.variants.iter().all(same),
        }
    }

    /// The name of the one unit of all rows; empty where each row says its own.
    pub(super) fn heading(self) -> &'static str {
        if self.one { self.name() } else { "" }
    }

    fn name(self) -> &'static str {
        match self.others {
            Other::Printed(unit) => unit.name,
            Other::Suits(unit) => unit.name,
        }
    }

    /// A row's rate in bytes per second: the unit is `printed`, where the source prints one.
    pub(super) fn show_rate(self, printed: Option<PrintedUnit>, byte_per_s: f64) -> String {
        match (printed.filter(|unit| unit.is_rate()), self.others) {
            (Some(unit), _) | (None, Other::Printed(unit)) => unit.show_byte_rate(byte_per_s),
            (None, Other::Suits(unit)) => unit.show(byte_per_s),
        }
    }

    /// What stands behind a row's rate: its unit, where the heading has none.
    pub(super) fn behind(self, printed: Option<PrintedUnit>) -> String {
        if self.one {
            return String::new();
        }
        let name = printed.map_or(self.name(), |unit| unit.name);
        format!(" {name}")
    }
}

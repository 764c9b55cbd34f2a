//! The unit of a table's rates.

use crate::quantity::{RateUnit, grouped};
use crate::results::Results;

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

//! A logarithmic axis in per cent of its width.

use crate::quantity::RateUnit;

/// An axis over positive values; positions are per cent of the width, with some room at both ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    /// An axis that holds all positive values, at least `decades` decades long.
    pub(super) fn over(values: impl Iterator<Item = f64>, decades: f64) -> Self {
        let logs = values.filter(|v| *v > 0.0 && v.is_finite()).map(f64::log10);
        let (mut low, mut high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        if low > high {
            (low, high) = (3.0, 6.0);
        }
        let missing = (decades - (high - low)).max(0.0) / 2.0;
        let room = (high - low).max(decades) * 0.06 + missing;
        Self {
            low: low - room,
            high: high + room,
        }
    }

    /// Where a value stands, kept inside the axis.
    pub(super) fn place(self, value: f64) -> f64 {
        let log = if value > 0.0 { value.log10() } else { self.low };
        let share = (log - self.low) / (self.high - self.low);
        (share.clamp(0.0, 1.0) * 10_000.0).round() / 100.0
    }

    /// Ticks at 1, 2 and 5 of each decade, or fewer where they would crowd.
    pub(super) fn ticks(self, unit: RateUnit) -> Vec<(f64, String)> {
        // Round numbers of the unit shown.
        let size = match unit {
            RateUnit::Bytes => 1.0,
            RateUnit::Bits => 0.125,
        };
        let steps: &[f64] = if self.high - self.low > 2.4 {
            &[1.0]
        } else {
            &[1.0, 2.0, 5.0]
        };
        #[expect(clippy::cast_possible_truncation, reason = "decades of a rate")]
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32 + 1);
        (first..=last)
            .flat_map(|decade| steps.iter().map(move |s| s * size * 10f64.powi(decade)))
            .filter(|v| v.log10() >= self.low && v.log10() <= self.high)
            .map(|v| (self.place(v), unit.show(v)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_order_and_stay_inside() {
        let axis = LogAxis::over([82e3, 3.06e6, 151e3].into_iter(), 1.0);
        let places: Vec<f64> = [1.0, 82e3, 151e3, 3.06e6, 1e12].map(|v| axis.place(v)).into();
        assert!(
            places.is_sorted() && places[0] >= 0.0 && places[4] <= 100.0,
            "{places:?}"
        );
        assert!(places[1] > 3.0 && places[3] < 97.0, "{places:?}");
        let ticks = axis.ticks(RateUnit::Bytes);
        assert!(
            ticks.iter().any(|t| t.1 == "1 MB/s") && ticks.len() >= 4,
            "{ticks:?}"
        );
        let ticks = axis.ticks(RateUnit::Bits);
        assert!(ticks.iter().any(|t| t.1 == "10 Mbit/s"), "{ticks:?}");
    }

    #[test]
    fn equal_values_and_none_still_have_an_axis() {
        assert!((LogAxis::over([5e4, 5e4].into_iter(), 1.0).place(5e4) - 50.0).abs() < 0.1);
        assert!(
            !LogAxis::over(std::iter::empty(), 1.0)
                .ticks(RateUnit::Bytes)
                .is_empty()
        );
    }
}

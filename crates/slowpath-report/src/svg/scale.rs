//! Scales, ticks and their labels.

/// A linear map from values to pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Linear {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Linear {
    pub(crate) fn new(low: f64, high: f64, from: f64, to: f64) -> Self {
        Self {
            low,
            high: if high > low { high } else { low + 1.0 },
            from,
            to,
        }
    }

    /// The pixel at which the lowest value stands.
    pub(crate) const fn start(self) -> f64 {
        self.from
    }

    /// The pixel at which the highest value stands.
    pub(crate) const fn end(self) -> f64 {
        self.to
    }

    pub(crate) fn place(self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// As [`place`](Self::place), but never outside.
    pub(crate) fn clamped(self, value: f64) -> f64 {
        self.place(value.clamp(self.low, self.high))
    }

    /// At most `most` round values (1, 2 or 5 of a decade apart).
    pub(crate) fn ticks(self, most: u32) -> Vec<f64> {
        let rough = (self.high - self.low) / f64::from(most.max(1));
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|s| s * decade)
            .find(|s| *s >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil();
        (0..=most)
            .map(|i| (first + f64::from(i)) * step)
            .take_while(|v| *v <= self.high + step * 1e-9)
            .collect()
    }
}

/// What an axis counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    BitRate,
    Second,
}

impl Unit {
    /// A tick's label; all ticks of an axis take the prefix of the largest, `top`.
    pub(super) fn tick(self, value: f64, top: f64) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        if self == Self::Second {
            return if top < 1.0 {
                format!("{} ms", plain(value * 1e3))
            } else {
                format!("{} s", plain(value))
            };
        }
        let (size, prefix) = match top {
            t if t >= 1e9 => (1e9, "G"),
            t if t >= 1e6 => (1e6, "M"),
            t if t >= 1e3 => (1e3, "k"),
            _ => (1.0, ""),
        };
        let unit = if self == Self::Byte { "B" } else { "bit/s" };
        format!("{} {prefix}{unit}", plain(value / size))
    }
}

/// Up to six digits without trailing zeros.
pub(super) fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        for (low, high) in [(0.0, 345.6), (0.1, 0.104), (2.9e6, 3.07e6), (0.0, 1e-5)] {
            let ticks = Linear::new(low, high, 0.0, 100.0).ticks(8);
            assert!(ticks.len() >= 3 && ticks.len() <= 9, "{ticks:?}");
            assert!(
                ticks.iter().all(|t| *t >= low && *t <= high * 1.000_001),
                "{ticks:?}"
            );
        }
    }

    #[test]
    fn labels_share_the_largest_prefix() {
        assert_eq!(Unit::BitRate.tick(5e5, 2e6), "0.5 Mbit/s");
        assert_eq!(Unit::Second.tick(0.1, 0.2), "100 ms");
        assert_eq!(Unit::Byte.tick(0.0, 2e6), "0");
    }
}

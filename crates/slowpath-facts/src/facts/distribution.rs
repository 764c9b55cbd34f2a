//! Summaries of many numbers.

use serde::{Deserialize, Serialize};

/// Quantiles of a set of numbers; all zero for an empty set.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// How many numbers.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// 5th percentile.
    pub p05: f64,
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub median: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Largest.
    pub max: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation.
    pub deviation: f64,
}

impl Distribution {
    /// Summarises `values`, which it sorts.
    pub fn of(values: &mut [f64]) -> Self {
        if values.is_empty() {
            return Self::default();
        }
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
        Self {
            count: values.len() as u64,
            min: values[0],
            p05: quantile(values, 0.05),
            p10: quantile(values, 0.10),
            median: quantile(values, 0.50),
            p90: quantile(values, 0.90),
            p95: quantile(values, 0.95),
            max: values[values.len() - 1],
            mean,
            deviation: variance.sqrt(),
        }
    }
}

/// The value below which a share `q` of the sorted values lies; 0 for none.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    sorted[((last as f64) * q).round().clamp(0.0, last as f64) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarises() {
        let mut values: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        let summary = Distribution::of(&mut values);
        assert_eq!((summary.min, summary.median, summary.max), (0.0, 50.0, 100.0));
        assert_eq!((summary.p05, summary.p95), (5.0, 95.0));
        assert_eq!(Distribution::of(&mut []), Distribution::default());
    }
}

//! What repeated runs say, and what they do not.
//!
//! Small numbers of runs are the rule here (3 is common, 20 is many), so intervals come from Student's
//! t distribution and two groups are compared by Welch's test, which needs no equal variances. A
//! comparison never says "equal": the most it says is [`Outcome::NotShown`].

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Modified z-score above which a run counts as an outlier (Iglewicz and Hoaglin, 1993).
const OUTLIER_SCORE: f64 = 3.5;
/// Makes the median absolute deviation comparable with a standard deviation for normal data.
const MAD_SCALE: f64 = 0.6745;
/// The same for the mean absolute deviation, used when more than half of the runs are equal.
const MEAN_AD_SCALE: f64 = 0.797_885;
/// Upper over lower end of an interval of rates above which it is not shown.
const WIDEST: f64 = 10.0;

/// A mean with its 95 % confidence interval and the spread behind it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// Number of runs.
    pub n: usize,
    /// Arithmetic mean.
    pub mean: f64,
    /// Lower end of the mean's 95 % confidence interval; absent for a single run.
    pub low95: Option<f64>,
    /// Upper end of the mean's 95 % confidence interval; absent for a single run.
    pub high95: Option<f64>,
    /// Sample standard deviation (n - 1); absent for a single run.
    pub deviation: Option<f64>,
    /// Median.
    pub median: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Positions of runs that lie far from the others; they are reported, never removed.
    #[serde(default)]
    pub outliers: Vec<usize>,
}

impl Summary {
    /// Summarises the finite values; `None` when there is none.
    ///
    /// The interval is `mean ± t(0.975, n - 1) * s / sqrt(n)`.
    pub fn of(values: &[f64]) -> Option<Self> {
        let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        if finite.is_empty() {
            return None;
        }
        let n = finite.len();
        let mean = mean(&finite);
        let deviation = (n > 1).then(|| variance(&finite, mean).sqrt());
        let half = deviation.map(|s| t_quantile(0.975, (n - 1) as f64) * s / (n as f64).sqrt());
        Some(Self {
            n,
            mean,
            low95: half.map(|h| mean - h),
            high95: half.map(|h| mean + h),
            deviation,
            median: median(&finite),
            min: finite.iter().copied().fold(f64::INFINITY, f64::min),
            max: finite.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            outliers: outliers(values),
        })
    }

    /// Summarises rates, which are positive: the interval is that of their logarithms, so that it cannot reach zero.
    ///
    /// It is `mean * exp(± t(0.975, n - 1) * s / sqrt(n))` with the standard deviation `s` of the logarithms; where a
    /// value is not positive, that of [`Summary::of`].
    pub fn of_rates(values: &[f64]) -> Option<Self> {
        let mut summary = Self::of(values)?;
        let Some(logarithms) = logarithms(values) else {
            return Some(summary);
        };
        if let Some(half) = Self::of(&logarithms)?.half_width() {
            summary.low95 = Some(summary.mean * (-half).exp());
            summary.high95 = Some(summary.mean * half.exp());
        }
        Some(summary)
    }

    /// Half the width of the confidence interval.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high95? - self.low95?) / 2.0)
    }

    /// What to show beside the mean of rates; `None` for a single run.
    ///
    /// With one degree of freedom Student's factor is 12.7, with two 4.3: two runs of which one is half as fast as the other come to an
    /// interval of a factor of 6,700. That is right and of no use, so the runs themselves stand in its place.
    pub fn beside(&self) -> Option<Beside> {
        let (low, high) = (self.low95?, self.high95?);
        let (below, above) = (self.mean - low, high - self.mean);
        // A transfer that moved nothing each time has an interval of no width.
        Some(if high > low && (low <= 0.0 || high > WIDEST * low) {
            Beside::Runs(self.min, self.max)
        } else if above - below <= 0.25 * below.max(self.mean * 1e-9) {
            Beside::Half(f64::midpoint(below, above))
        } else {
            Beside::Interval(low, high)
        })
    }

    /// Whether the interval contains `value`; unknown for a single run.
    pub fn contains(&self, value: f64) -> Option<bool> {
        Some(self.low95? <= value && value <= self.high95?)
    }
}

/// What stands beside a mean of rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Beside {
    /// Half the width of the 95 % interval, whose ends lie about as far from the mean, so that `mean ± half` tells the truth.
    Half(f64),
    /// The ends of the 95 % interval.
    Interval(f64, f64),
    /// The least and the greatest run, where the interval tells nothing: it reaches zero, or spans more than a factor of ten.
    Runs(f64, f64),
}

/// What a comparison of two groups shows at the 5 % level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The second group is larger.
    Higher,
    /// The second group is smaller.
    Lower,
    /// No difference shown. This does not say that there is none.
    NotShown,
    /// Too few runs for any statement: each group needs two.
    TooFew,
}

/// Two groups of runs compared: `b` against `a`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The group compared with.
    pub a: Summary,
    /// The group that is compared.
    pub b: Summary,
    /// Mean of `b` over mean of `a`.
    pub ratio: f64,
    /// Mean of `b` minus mean of `a`.
    pub difference: f64,
    /// Lower end of the difference's 95 % confidence interval.
    pub low95: Option<f64>,
    /// Upper end of the difference's 95 % confidence interval.
    pub high95: Option<f64>,
    /// Two-sided p-value of Welch's test.
    pub p_value: Option<f64>,
    /// What follows at the 5 % level.
    pub outcome: Outcome,
}

impl Comparison {
    /// Compares by Welch's t-test (unequal variances, Welch-Satterthwaite degrees of freedom).
    ///
    /// `None` when one of the groups is empty.
    pub fn welch(a: &[f64], b: &[f64]) -> Option<Self> {
        let (sa, sb) = (Summary::of(a)?, Summary::of(b)?);
        let difference = sb.mean - sa.mean;
        let ratio = sb.mean / sa.mean;
        let mut comparison = Self {
            ratio,
            difference,
            low95: None,
            high95: None,
            p_value: None,
            outcome: Outcome::TooFew,
            a: sa,
            b: sb,
        };
        let (Some(da), Some(db)) = (comparison.a.deviation, comparison.b.deviation) else {
            return Some(comparison);
        };
        let (na, nb) = (comparison.a.n as f64, comparison.b.n as f64);
        let (va, vb) = (da * da / na, db * db / nb);
        let error = (va + vb).sqrt();
        let (low, high, p) = if error > 0.0 {
            let freedom = (va + vb).powi(2) / (va * va / (na - 1.0) + vb * vb / (nb - 1.0));
            let half = t_quantile(0.975, freedom) * error;
            (
                difference - half,
                difference + half,
                two_sided_p(difference / error, freedom),
            )
        } else {
            // Runs without any spread (simulated, equal seeds): the difference is what it is.
            (difference, difference, if difference == 0.0 { 1.0 } else { 0.0 })
        };
        comparison.low95 = Some(low);
        comparison.high95 = Some(high);
        comparison.p_value = Some(p);
        comparison.outcome = if p >= 0.05 {
            Outcome::NotShown
        } else if difference > 0.0 {
            Outcome::Higher
        } else {
            Outcome::Lower
        };
        Some(comparison)
    }

    /// Compares rates, which are positive, by Welch's test of their logarithms: what is tested, and what the interval
    /// of the difference rests on, is the ratio. Where a value is not positive, as [`Comparison::welch`].
    ///
    /// `None` when one of the groups is empty.
    pub fn of_rates(a: &[f64], b: &[f64]) -> Option<Self> {
        let mut comparison = Self::welch(a, b)?;
        let (Some(logs_a), Some(logs_b)) = (logarithms(a), logarithms(b)) else {
            return Some(comparison);
        };
        let ratio = Self::welch(&logs_a, &logs_b)?;
        let spread = |end: f64| comparison.a.mean * (comparison.ratio * (end - ratio.difference).exp() - 1.0);
        let (low95, high95) = (ratio.low95.map(spread), ratio.high95.map(spread));
        (comparison.low95, comparison.high95) = (low95, high95);
        comparison.p_value = ratio.p_value;
        comparison.outcome = ratio.outcome;
        comparison.a = Summary::of_rates(a)?;
        comparison.b = Summary::of_rates(b)?;
        Some(comparison)
    }

    /// The change in per cent of `a`.
    pub fn percent(&self) -> f64 {
        (self.ratio - 1.0) * 100.0
    }
}

/// The arithmetic mean; `NaN` for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median; `NaN` for no values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The quantile at `p` (0 to 1) by linear interpolation between order statistics; `NaN` for no values.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = p.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 <= place <= len - 1"
    )]
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// Positions of values whose modified z-score exceeds 3.5; needs five values to say anything.
pub fn outliers(values: &[f64]) -> Vec<usize> {
    if values.len() < 5 {
        return Vec::new();
    }
    let center = median(values);
    let distances: Vec<f64> = values.iter().map(|v| (v - center).abs()).collect();
    let mad = median(&distances);
    let scale = if mad > 0.0 {
        mad / MAD_SCALE
    } else {
        mean(&distances) / MEAN_AD_SCALE
    };
    if scale <= 0.0 {
        return Vec::new();
    }
    (0..values.len())
        .filter(|&i| distances[i] / scale > OUTLIER_SCORE)
        .collect()
}

/// The natural logarithms of finite values; `None` where one is not positive.
fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let mut finite = values.iter().copied().filter(|value| value.is_finite());
    finite
        .clone()
        .all(|value| value > 0.0)
        .then(|| finite.by_ref().map(f64::ln).collect())
}

fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Quantile `p` of Student's t distribution.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom)
        .expect("degrees of freedom are positive")
        .inverse_cdf(p)
}

fn two_sided_p(t: f64, freedom: f64) -> f64 {
    2.0 * StudentsT::new(0.0, 1.0, freedom)
        .expect("degrees of freedom are positive")
        .cdf(-t.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    #[test]
    fn interval_of_the_published_ios_xe_runs() {
        // t(0.975, 2) = 4.302653; s = 292.35; the mean of the published table is 151542.
        let s = Summary::of(&[151_703.0, 151_718.0, 151_204.0]).unwrap();
        close(s.mean, 151_541.67, 0.01);
        close(s.deviation.unwrap(), 292.517, 0.01);
        close(s.half_width().unwrap(), 4.302_653 * 292.517 / 3f64.sqrt(), 0.05);
        close(s.median, 151_703.0, 0.0);
        assert_eq!(s.contains(151_542.0), Some(true));
    }

    #[test]
    fn a_single_run_has_no_interval() {
        let s = Summary::of(&[5.0]).unwrap();
        assert_eq!((s.n, s.low95, s.high95, s.deviation), (1, None, None, None));
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[f64::NAN]), None);
    }

    #[test]
    fn welch_agrees_with_the_closed_form_for_two_degrees_of_freedom() {
        // Equal variances and n = 2 give two degrees of freedom, where p = 1 - t / sqrt(2 + t^2).
        let c = Comparison::welch(&[0.0, 2.0], &[4.0, 6.0]).unwrap();
        let t = 4.0 / 2f64.sqrt();
        close(c.p_value.unwrap(), 1.0 - t / (2.0 + t * t).sqrt(), 1e-9);
        assert_eq!(c.outcome, Outcome::NotShown);
        let c = Comparison::welch(&[0.0, 2.0], &[40.0, 42.0]).unwrap();
        assert_eq!(c.outcome, Outcome::Higher);
        close(c.difference, 40.0, 1e-12);
        close(c.high95.unwrap() - c.difference, 4.302_653 * 2f64.sqrt(), 1e-4);
    }

    #[test]
    fn overlap_is_no_difference_shown_and_one_run_is_too_few() {
        let c = Comparison::welch(&[10.0, 12.0, 11.0], &[11.0, 12.5, 10.0]).unwrap();
        assert_eq!(c.outcome, Outcome::NotShown);
        let c = Comparison::welch(&[10.0, 12.0], &[20.0]).unwrap();
        assert_eq!((c.outcome, c.p_value), (Outcome::TooFew, None));
        let c = Comparison::welch(&[10.0, 10.0], &[9.0, 9.0]).unwrap();
        assert_eq!((c.outcome, c.p_value), (Outcome::Lower, Some(0.0)));
    }

    #[test]
    fn the_interval_of_two_rates_does_not_reach_zero() {
        // 2.49 MB/s with 5.26 either way was what two runs came to.
        let rates = [2.076, 2.904];
        assert!(Summary::of(&rates).unwrap().low95.unwrap() < 0.0);
        let s = Summary::of_rates(&rates).unwrap();
        close(s.mean, 2.49, 1e-9);
        let half = 12.706_2 * (2.904f64.ln() - 2.076f64.ln()) / 2.0;
        close(s.low95.unwrap(), 2.49 * (-half).exp(), 1e-3);
        close(s.high95.unwrap(), 2.49 * half.exp(), 0.05);
        assert!(s.low95.unwrap() > 0.0 && s.contains(2.49) == Some(true));
        // A transfer that moved nothing has no logarithm.
        assert_eq!(Summary::of_rates(&[0.0, 1.0]), Summary::of(&[0.0, 1.0]));
    }

    #[test]
    fn runs_that_tell_nothing_of_their_mean_stand_for_themselves() {
        let beside = |rates: &[f64]| Summary::of_rates(rates).unwrap().beside();
        assert_eq!(beside(&[5.0]), None);
        assert_eq!(beside(&[2.076, 2.904]), Some(Beside::Runs(2.076, 2.904)));
        assert_eq!(beside(&[0.5, 8.0, 3.0]), Some(Beside::Runs(0.5, 8.0)));
        assert_eq!(beside(&[0.0, 8.0]), Some(Beside::Runs(0.0, 8.0)));
        assert_eq!(beside(&[0.0, 0.0]), Some(Beside::Half(0.0)));
        assert!(matches!(beside(&[100.0, 101.0, 102.0]), Some(Beside::Half(_))));
        // Three runs a fifth apart, and ten that differ by a factor of four, tell something.
        assert!(matches!(beside(&[2.0, 2.4, 2.9]), Some(Beside::Interval(..))));
        let ten = [1.0, 4.0, 1.5, 2.0, 3.0, 1.2, 3.5, 2.5, 1.0, 4.0];
        let Some(Beside::Interval(low, high)) = beside(&ten) else {
            panic!("{:?}", beside(&ten));
        };
        assert!(low > 0.0 && high < 10.0 * low);
    }

    #[test]
    fn rates_are_compared_by_their_ratio() {
        let c = Comparison::of_rates(&[1.0, 1.1, 0.9], &[10.0, 14.0, 12.0]).unwrap();
        assert_eq!(c.outcome, Outcome::Higher);
        assert!(
            c.low95.unwrap() > 0.0 && c.low95.unwrap() < c.difference && c.difference < c.high95.unwrap()
        );
        let same = Comparison::of_rates(&[5.0, 6.0], &[5.5, 5.4]).unwrap();
        assert_eq!(same.outcome, Outcome::NotShown);
        assert!(same.low95.unwrap() < 0.0 && same.high95.unwrap() > 0.0);
        assert!(
            same.low95.unwrap() > -same.a.mean,
            "a rate cannot fall by more than itself"
        );
    }

    #[test]
    fn one_stray_run_is_named() {
        assert_eq!(outliers(&[10.0, 10.2, 9.9, 10.1, 4.0, 10.0]), vec![4]);
        assert_eq!(outliers(&[10.0, 10.0, 10.0, 10.0, 10.0, 7.0]), vec![5]);
        assert!(outliers(&[1.0, 2.0, 3.0, 4.0, 5.0]).is_empty());
        assert!(outliers(&[1.0, 1.0, 90.0]).is_empty());
    }

    #[test]
    fn quantiles_interpolate() {
        close(quantile(&[4.0, 1.0, 3.0, 2.0], 0.5), 2.5, 0.0);
        close(quantile(&[4.0, 1.0, 3.0, 2.0], 1.0), 4.0, 0.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}

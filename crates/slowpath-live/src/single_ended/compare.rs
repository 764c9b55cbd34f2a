//! When a difference is shown, and when more rounds would tell no more.

use slowpath_diagnose::stats::{Comparison, Outcome};

/// Whether more rounds would tell no more: a difference is shown, or there is none worth speaking of.
pub(super) fn is_decided(base: &[f64], with: &[f64], worth: f64) -> bool {
    compare(base, with).is_some_and(|c| {
        let too_little = ratios(&c).is_some_and(|(low, high)| high < worth && low > 1.0 / worth);
        matches!(c.outcome, Outcome::Higher | Outcome::Lower) || too_little
    })
}

/// The ends of the interval of the rate with, over the rate without.
pub(super) fn ratios(comparison: &Comparison) -> Option<(f64, f64)> {
    let ratio = |end: f64| 1.0 + end / comparison.a.mean;
    let (low, high) = comparison.low95.zip(comparison.high95)?;
    Some((ratio(low), ratio(high)))
}

/// Compares rates after each of several looks: a difference is shown where it would be at a level that leaves the chance of
/// being wrong, over all looks together, at 5 %.
pub(super) fn compare(base: &[f64], with: &[f64]) -> Option<Comparison> {
    let mut comparison = Comparison::of_rates(base, with)?;
    let is_shown = matches!(comparison.outcome, Outcome::Higher | Outcome::Lower);
    if is_shown && comparison.p_value.is_none_or(|p| p >= EACH_LOOK) {
        comparison.outcome = Outcome::NotShown;
    }
    Some(comparison)
}

/// Below this ratio a person notices no gain.
pub(super) const NO_GAIN: f64 = 1.15;
/// A layer that carries less than what is below it by this factor loses something worth speaking of.
pub(super) const WORTH_LOSS: f64 = 1.15;
/// What the removal of a limit gives at least, and the sharing of a start by more connections does not.
pub(super) const CLEAR_GAIN: f64 = 1.5;
/// Level of each of the looks after the second, third and fourth round, for 5 % over all of them (Pocock's bound for three).
const EACH_LOOK: f64 = 0.022;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_clear_needs_no_more_rounds() {
        assert!(is_decided(&[1e6, 1.01e6], &[3.9e6, 4e6], CLEAR_GAIN));
        assert!(is_decided(&[1e6, 1.001e6], &[1e6, 1.002e6], CLEAR_GAIN));
        assert!(!is_decided(&[1e6, 2e6], &[1.5e6, 3e6], CLEAR_GAIN));
        assert!(!is_decided(&[1e6], &[4e6], CLEAR_GAIN));
    }

    /// Looking three times and stopping at the first difference is wrong in about 5 % of cases without one.
    #[test]
    fn looking_often_does_not_make_differences() {
        // Sums of twelve numbers of a linear congruential generator: near enough to a normal distribution.
        let mut state = 7_u64;
        let mut next = || {
            let mut sum = 0.0;
            for _ in 0..12 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                sum += (state >> 40) as f64 / f64::from(1 << 24);
            }
            (0.1 * (sum - 6.0)).exp() * 1e6
        };
        let mut wrong = 0;
        for _ in 0..2000 {
            let (mut a, mut b) = (vec![next()], vec![next()]);
            for _ in 1..4 {
                a.push(next());
                b.push(next());
                if compare(&a, &b).unwrap().outcome != Outcome::NotShown {
                    wrong += 1;
                    break;
                }
            }
        }
        assert!(wrong < 120, "{wrong} of 2000");
        assert!(wrong > 20, "{wrong} of 2000: the level is needlessly strict");
    }
}

//! What turning something on and off in turns shows of one transfer.
//!
//! The blocks follow each other on one connection, so they share what the path does slowly (other traffic, a window that
//! still grows). The logarithms of their rates are therefore taken for a straight line over time plus a step where the
//! change is on, fitted by least squares; the step's interval is Student's t with as many degrees of freedom as blocks
//! are left over. Blocks in turns are far apart from slow noise, which so widens the interval and does not shift it.
//!
//! How long a transfer takes goes with the mean of its rates and not with the mean of their logarithms, which is the lower the more they
//! differ: the step is that of the means (N. Duan, "Smearing estimate", J. Am. Stat. Assoc. 78, 1983).

use serde::{Deserialize, Serialize};

use crate::stats::{Comparison, Outcome, mean, t_quantile};

/// The rate with a change over the rate without it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// The ratio, 1 for no effect.
    pub ratio: f64,
    /// Lower end of its 95 % confidence interval.
    pub low95: f64,
    /// Upper end.
    pub high95: f64,
}

impl Effect {
    /// The effect over blocks in their order, each with whether the change was on and its rate.
    ///
    /// `None` below [`LEAST_BLOCKS`], where one kind of block is there less than twice, or where a rate is not positive.
    pub fn of_blocks(blocks: &[(bool, f64)]) -> Option<Self> {
        let on = blocks.iter().filter(|(on, _)| *on).count();
        let all_move = blocks.iter().all(|(_, rate)| rate.is_finite() && *rate > 0.0);
        if blocks.len() < LEAST_BLOCKS || on < 2 || blocks.len() - on < 2 || !all_move {
            return None;
        }
        let count = blocks.len() as f64;
        let middle = (count - 1.0) / 2.0;
        let share = on as f64 / count;
        // Columns without their means, so that the constant need not be fitted.
        let rows: Vec<(f64, f64, f64)> = blocks
            .iter()
            .enumerate()
            .map(|(place, &(on, rate))| (place as f64 - middle, f64::from(on) - share, rate.ln()))
            .collect();
        let level = rows.iter().map(|row| row.2).sum::<f64>() / count;
        let sum = |value: &dyn Fn(&(f64, f64, f64)) -> f64| rows.iter().map(value).sum::<f64>();
        let (tt, ts, ss) = (
            sum(&|row| row.0 * row.0),
            sum(&|row| row.0 * row.1),
            sum(&|row| row.1 * row.1),
        );
        let (ty, sy) = (
            sum(&|row| row.0 * (row.2 - level)),
            sum(&|row| row.1 * (row.2 - level)),
        );
        let determinant = tt * ss - ts * ts;
        let step = (sy * tt - ty * ts) / determinant;
        let slope = (ty * ss - sy * ts) / determinant;
        let off_line = |row: &(f64, f64, f64)| row.2 - level - slope * row.0 - step * row.1;
        let rest = sum(&|row| off_line(row).powi(2));
        let smeared = |wanted: bool| {
            let kind = rows.iter().zip(blocks).filter(|(_, (on, _))| *on == wanted);
            mean(&kind.map(|(row, _)| off_line(row).exp()).collect::<Vec<_>>())
        };
        let step = step + (smeared(true) / smeared(false)).ln();
        let freedom = count - 3.0;
        let error = (rest / freedom * tt / determinant).sqrt();
        let half = t_quantile(0.975, freedom) * error;
        Some(Self {
            ratio: step.exp(),
            low95: (step - half).exp(),
            high95: (step + half).exp(),
        })
    }

    /// The effect of what was turned on once and stayed: the ratio of the means, and around it Welch's interval of the
    /// logarithms, without a line over time, since a line and one step cannot be told apart. `None` as in
    /// [`Effect::of_blocks`].
    pub fn before_and_after(blocks: &[(bool, f64)]) -> Option<Self> {
        let all_move = blocks.iter().all(|(_, rate)| rate.is_finite() && *rate > 0.0);
        if blocks.len() < LEAST_BLOCKS || !all_move {
            return None;
        }
        let of = |wanted: bool| -> Vec<f64> {
            let kind = blocks.iter().filter(|(on, _)| *on == wanted);
            kind.map(|(_, rate)| *rate).collect()
        };
        let logarithms = |rates: &[f64]| -> Vec<f64> { rates.iter().map(|rate| rate.ln()).collect() };
        let (off, on) = (of(false), of(true));
        let step = Comparison::welch(&logarithms(&off), &logarithms(&on))?;
        let ratio = mean(&on) / mean(&off);
        let moved = ratio.ln() - step.difference;
        Some(Self {
            ratio,
            low95: (step.low95? + moved).exp(),
            high95: (step.high95? + moved).exp(),
        })
    }

    /// What follows at the 5 % level.
    pub fn outcome(&self) -> Outcome {
        if self.low95 > 1.0 {
            Outcome::Higher
        } else if self.high95 < 1.0 {
            Outcome::Lower
        } else {
            Outcome::NotShown
        }
    }
}

/// Blocks below which nothing is said: off, on, off, on, off.
pub const LEAST_BLOCKS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(rates: &[f64]) -> Vec<(bool, f64)> {
        rates
            .iter()
            .enumerate()
            .map(|(place, &rate)| (place % 2 == 1, rate))
            .collect()
    }

    #[test]
    fn a_step_is_found_whatever_the_line_does() {
        // Twice as fast when on, and all of it 10 % faster from block to block.
        let rates: Vec<f64> = (0..7)
            .map(|place| 1.1_f64.powi(place) * if place % 2 == 1 { 2.0 } else { 1.0 })
            .collect();
        let effect = Effect::of_blocks(&turns(&rates)).unwrap();
        assert!((effect.ratio - 2.0).abs() < 1e-9, "{effect:?}");
        assert!(effect.high95 - effect.low95 < 1e-6);
        assert_eq!(effect.outcome(), Outcome::Higher);
    }

    #[test]
    fn the_interval_is_that_of_the_step_in_a_regression() {
        // By hand for off 1, on e, off 1, on e, off e^0.6: columns are orthogonal, the step is 1 - 0.2, its error is
        // sqrt(rest / 2 / (5 * 0.24)) with the rest 0.24 - 0.12^2 * 10 left by the line.
        let e = std::f64::consts::E;
        let effect = Effect::of_blocks(&turns(&[1.0, e, 1.0, e, e.powf(0.6)])).unwrap();
        // What the line leaves is 0.12 and -0.12 when on, 0.04, -0.2 and 0.16 when off: the step of the means is this much less.
        let (on, off) = (
            [0.12_f64, -0.12].map(f64::exp),
            [0.04_f64, -0.2, 0.16].map(f64::exp),
        );
        let moved = (on.iter().sum::<f64>() / 2.0 / (off.iter().sum::<f64>() / 3.0)).ln();
        assert!(
            moved < 0.0 && (effect.ratio.ln() - 0.8 - moved).abs() < 1e-9,
            "{effect:?}"
        );
        let error = ((0.24 - 0.144) / 2.0 / 1.2_f64).sqrt();
        assert!(
            (effect.high95.ln() - 0.8 - moved - 4.302_653 * error).abs() < 1e-4,
            "{effect:?}"
        );
    }

    #[test]
    fn a_rate_that_swings_counts_as_much_as_it_carries() {
        // Without the change 1 and 3 in turns, 2 on average; with it always 2.
        let rate = |place: usize| match place % 4 {
            0 => 1.0,
            2 => 3.0,
            _ => 2.0,
        };
        let rates: Vec<f64> = (0..41).map(rate).collect();
        let effect = Effect::of_blocks(&turns(&rates)).unwrap();
        assert!((effect.ratio - 1.0).abs() < 0.03, "{effect:?}");
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(Effect::of_blocks(&turns(&[1.0, 2.0, 1.0, 2.0])), None);
        assert_eq!(Effect::of_blocks(&turns(&[1.0, 2.0, 0.0, 2.0, 1.0])), None);
        assert_eq!(Effect::of_blocks(&[(false, 1.0); 9]), None);
        let noise = Effect::of_blocks(&turns(&[1.0, 1.2, 1.1, 0.9, 1.05, 1.0, 0.95])).unwrap();
        assert_eq!(noise.outcome(), Outcome::NotShown);
        let slower = Effect::of_blocks(&turns(&[4.0, 1.0, 4.1, 1.1, 3.9, 0.9, 4.0])).unwrap();
        assert_eq!(slower.outcome(), Outcome::Lower);
    }

    #[test]
    fn what_stays_on_is_compared_with_what_was_before() {
        let blocks = |rates: &[f64]| -> Vec<(bool, f64)> {
            let half = rates.len() / 2;
            rates
                .iter()
                .enumerate()
                .map(|(place, &rate)| (place >= half, rate))
                .collect()
        };
        let effect = Effect::before_and_after(&blocks(&[1.0, 1.1, 0.9, 3.0, 3.3, 2.7])).unwrap();
        assert!((effect.ratio - 3.0).abs() < 1e-9, "{effect:?}");
        assert_eq!(effect.outcome(), Outcome::Higher);
        let same = Effect::before_and_after(&blocks(&[1.0, 1.1, 0.9, 1.05, 1.0, 0.95])).unwrap();
        assert_eq!(same.outcome(), Outcome::NotShown);
        assert_eq!(Effect::before_and_after(&blocks(&[1.0, 1.0, 2.0, 2.0])), None);
        assert_eq!(
            Effect::before_and_after(&[
                (false, 1.0),
                (false, 1.1),
                (false, 1.0),
                (false, 0.9),
                (true, 2.0)
            ]),
            None
        );
    }

    #[test]
    fn one_in_twenty_trials_of_nothing_claims_an_effect() {
        // Uniform noise from a plain generator, and slow noise of the path below it.
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / f64::from(1_u32 << 31)
        };
        let mut claims = 0;
        for _ in 0..2_000 {
            let mut slow = 0.0;
            let rates: Vec<f64> = (0..9)
                .map(|_| {
                    slow = 0.9 * slow + 0.1 * (random() - 0.5);
                    (slow + 0.4 * (random() - 0.5)).exp()
                })
                .collect();
            let effect = Effect::of_blocks(&turns(&rates)).unwrap();
            claims += usize::from(effect.outcome() != Outcome::NotShown);
        }
        assert!((60..140).contains(&claims), "{claims} of 2000");
    }
}

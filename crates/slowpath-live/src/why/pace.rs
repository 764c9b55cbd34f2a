//! How fast the newest round trips were, and how differently fast many of them.

use std::collections::VecDeque;

/// The newest few round trips of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent(VecDeque<(u64, u64)>);

impl Recent {
    /// Takes the bytes acknowledged so far at `at`, and forgets what is older than `span`; nanoseconds.
    pub(super) fn add(&mut self, at: u64, acknowledged: u64, span: u64) {
        self.0.push_back((at, acknowledged));
        while self.0.len() > 2 && self.0.get(1).is_some_and(|&(early, _)| at - early >= span) {
            self.0.pop_front();
        }
    }

    /// Seconds that they cover.
    pub(super) fn seconds(&self) -> f64 {
        match (self.0.front(), self.0.back()) {
            (Some(&(from, _)), Some(&(to, _))) => (to - from) as f64 / 1e9,
            _ => 0.0,
        }
    }

    /// Bytes per second over them.
    pub(super) fn rate(&self) -> f64 {
        match (self.0.front(), self.0.back()) {
            (Some(&(from, before)), Some(&(to, after))) if to > from => {
                (after - before) as f64 / (to - from) as f64 * 1e9
            }
            _ => 0.0,
        }
    }
}

/// Many rates in bounded memory: once there are too many, every second one is left out from then on.
#[derive(Debug, Clone, Default)]
pub struct Rates {
    kept: Vec<f64>,
    every: usize,
    skipped: usize,
}

impl Rates {
    /// Takes a rate.
    pub(super) fn add(&mut self, rate: f64) {
        if self.skipped < self.every {
            self.skipped += 1;
            return;
        }
        self.skipped = 0;
        self.kept.push(rate);
        if self.kept.len() == MOST {
            let mut number = 0;
            self.kept.retain(|_| {
                number += 1;
                number % 2 == 1
            });
            self.every = 2 * self.every + 1;
        }
    }

    /// The rate that a tenth of the round trips exceed, over the mean of all; `None` below twenty rates.
    pub fn fast(&self) -> Option<f64> {
        if self.kept.len() < FEW {
            return None;
        }
        let mean = self.kept.iter().sum::<f64>() / self.kept.len() as f64;
        let mut sorted = self.kept.clone();
        sorted.sort_by(f64::total_cmp);
        (mean > 0.0).then(|| sorted[sorted.len() * 9 / 10] / mean)
    }
}

/// Most rates that are kept.
const MOST: usize = 4096;
/// Fewer say nothing.
const FEW: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_round_trips_of_many() {
        let mut rates = Rates::default();
        assert_eq!(rates.fast(), None);
        for number in 0..20_000 {
            rates.add(if number % 5 == 0 { 200.0 } else { 100.0 });
        }
        assert!(rates.kept.len() < MOST);
        assert!((rates.fast().unwrap() - 200.0 / 120.0).abs() < 0.01);
        let mut steady = Rates::default();
        for _ in 0..30 {
            steady.add(100.0);
        }
        assert_eq!(steady.fast(), Some(1.0));
    }
}

//! The best of a sliding window in constant space: three candidates, as Kathleen Nichols' algorithm keeps them.

/// Tracks the best value seen within a sliding window of time (or of any other growing number).
///
/// "Better or equal" is a function given at each update, so one type serves minima and maxima. Follows
/// `lib/win_minmax.c` of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Best {
    samples: [(u64, u64); 3],
}

impl Best {
    /// A window that has seen `value` at `now` only.
    pub(crate) const fn new(now: u64, value: u64) -> Self {
        Self {
            samples: [(now, value); 3],
        }
    }

    /// The best value.
    pub(crate) const fn value(&self) -> u64 {
        self.samples[0].1
    }

    /// Adds `value` at `now`, forgets what is older than `window`, and returns the smallest value left.
    pub(crate) fn update_min(&mut self, now: u64, window: u64, value: u64) -> u64 {
        self.update(now, window, value, |a, b| a <= b)
    }

    /// Adds `value` at `now`, forgets what is older than `window`, and returns the largest value left.
    pub(crate) fn update_max(&mut self, now: u64, window: u64, value: u64) -> u64 {
        self.update(now, window, value, |a, b| a >= b)
    }

    fn update(&mut self, now: u64, window: u64, value: u64, better: fn(u64, u64) -> bool) -> u64 {
        let sample = (now, value);
        if better(value, self.samples[0].1) || now - self.samples[2].0 > window {
            self.samples = [sample; 3];
            return value;
        }
        if better(value, self.samples[1].1) {
            self.samples[1] = sample;
            self.samples[2] = sample;
        } else if better(value, self.samples[2].1) {
            self.samples[2] = sample;
        }
        self.age(now, window, sample)
    }

    fn age(&mut self, now: u64, window: u64, sample: (u64, u64)) -> u64 {
        let elapsed = now - self.samples[0].0;
        if elapsed > window {
            // The best is too old: the others move up.
            self.samples = [self.samples[1], self.samples[2], sample];
            if now - self.samples[0].0 > window {
                self.samples = [self.samples[1], self.samples[2], sample];
            }
        } else if self.samples[1].0 == self.samples[0].0 && elapsed > window / 4 {
            // A quarter of the window passed without a second best: take one from the second quarter.
            self.samples[1] = sample;
            self.samples[2] = sample;
        } else if self.samples[2].0 == self.samples[1].0 && elapsed > window / 2 {
            self.samples[2] = sample;
        }
        self.samples[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_forgotten_when_it_is_too_old() {
        let mut best = Best::new(0, 10);
        for now in 1..=10 {
            assert_eq!(best.update_max(now, 10, 5), 10, "at {now}");
        }
        assert_eq!(best.update_max(11, 10, 4), 5);
        assert_eq!(best.update_max(12, 10, 20), 20);
    }

    #[test]
    fn a_minimum_is_kept_for_the_window() {
        let mut best = Best::new(0, 100);
        assert_eq!(best.update_min(5, 300, 40), 40);
        assert_eq!(best.update_min(305, 300, 90), 40);
        assert_eq!(best.update_min(306, 300, 90), 90);
    }
}

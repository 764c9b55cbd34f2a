//! A rate that jumps between levels by itself, as a radio link's does: a Markov chain in discrete time.
//!
//! | | in the literature | here | why |
//! |---|---|---|---|
//! | time in a state | exponential | geometric, in whole slots | integers only; the same as the slot goes to zero |
//! | next state | a matrix | any other, equally likely | two or three levels are what a capture can tell |

use serde::{Deserialize, Serialize};
use slowpath_units::{BitRate, Duration, Time};

use crate::dice::{Chance, Dice};
use crate::setting::SettingError;

/// A Markov-modulated rate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Markov {
    /// The levels; the link starts at the first.
    pub levels: Vec<Level>,
    /// How often the link may change its level.
    #[serde(default = "slot")]
    pub slot: Duration,
}

/// One level of a Markov-modulated rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The rate; zero is an outage.
    pub rate: BitRate,
    /// How long the link stays at it on average.
    pub stay: Duration,
}

impl Markov {
    /// Levels that may change at each millisecond.
    pub fn new(levels: Vec<Level>) -> Self {
        Self { levels, slot: slot() }
    }

    /// The rate in the long run.
    pub fn mean(&self) -> BitRate {
        let total: u128 = self
            .levels
            .iter()
            .map(|level| u128::from(level.stay.nanos()))
            .sum();
        let weighted = (self.levels.iter())
            .map(|level| u128::from(level.rate.bits_per_s()) * u128::from(level.stay.nanos()))
            .sum::<u128>();
        BitRate::new(u64::try_from(weighted / total.max(1)).unwrap_or(u64::MAX))
    }

    pub(super) fn check(&self) -> Result<(), SettingError> {
        if self.slot == Duration::ZERO {
            return Err(SettingError::Zero { setting: "slot" });
        }
        if self.levels.len() < 2 {
            return Err(SettingError::Empty {
                setting: "levels beside the first",
            });
        }
        if self.levels.iter().all(|level| level.rate.bits_per_s() == 0) {
            return Err(SettingError::Zero {
                setting: "rate of every level",
            });
        }
        match self.levels.iter().find(|level| level.stay < self.slot) {
            None => Ok(()),
            Some(short) => Err(SettingError::Contradiction {
                setting: "stay",
                found: format!("is {}", short.stay),
                limit: format!("levels change every {} at most", self.slot),
            }),
        }
    }
}

/// The working chain. Its dice are rolled once a slot, whatever the traffic does.
#[derive(Debug)]
pub(super) struct Chain {
    /// The rate of each level, and the chance of leaving it at the end of a slot.
    levels: Vec<(u64, Chance)>,
    slot: u64,
    level: usize,
    /// Slots that are over.
    slots: u64,
    dice: Dice,
}

impl Chain {
    pub(super) fn new(markov: &Markov, dice: Dice) -> Self {
        let slot = markov.slot.nanos();
        Self {
            levels: (markov.levels.iter())
                .map(|level| (level.rate.bits_per_s(), Chance::of(slot, level.stay.nanos())))
                .collect(),
            slot,
            level: 0,
            slots: 0,
            dice,
        }
    }

    /// Does `work`, in bits times nanoseconds per second, from `at` on; returns when it is done and what a whole
    /// nanosecond left over.
    pub(super) fn send(&mut self, at: Time, mut work: u64) -> (Time, u64) {
        let mut now = at.nanos();
        while self.slots < now / self.slot {
            self.step();
        }
        loop {
            let (rate, _) = self.levels[self.level];
            let end = (self.slots + 1) * self.slot;
            let capacity = u128::from(rate) * u128::from(end - now);
            if u128::from(work) < capacity {
                return (Time::from_nanos(now + work / rate), work % rate);
            }
            work -= capacity as u64;
            now = end;
            self.step();
        }
    }

    /// One slot is over.
    fn step(&mut self) {
        self.slots += 1;
        if self.dice.hits(self.levels[self.level].1) {
            let others = self.levels.len() as u64 - 1;
            let next = self.dice.below(others) as usize;
            self.level = if next < self.level { next } else { next + 1 };
        }
    }
}

const fn slot() -> Duration {
    Duration::from_millis(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(seed: u64) -> Chain {
        let level = |rate, stay| Level {
            rate: BitRate::new(rate),
            stay: Duration::from_millis(stay),
        };
        let markov = Markov::new(vec![level(12_000_000, 30), level(0, 10)]);
        assert_eq!(markov.mean(), BitRate::new(9_000_000));
        markov.check().unwrap();
        Chain::new(&markov, Dice::new(seed, "link"))
    }

    /// Bits of a packet of 1500 bytes times nanoseconds per second: 1 ms at 12 Mbit/s.
    const PACKET: u64 = 12_000_000_000_000;

    #[test]
    fn the_long_run_has_the_mean_rate() {
        let mut chain = two(7);
        let mut at = Time::ZERO;
        for _ in 0..90_000 {
            (at, _) = chain.send(at, PACKET);
        }
        // 90,000 packets of 1 ms at three quarters of the time: 120 s; 3000 sojourns of each level, so 3 % is 3 sigma.
        let millis = at.nanos() / 1_000_000;
        assert!((116_400..123_600).contains(&millis), "{millis} ms");
    }

    #[test]
    fn traffic_does_not_shift_the_dice() {
        // The last packet finds the same link whether or not others came before it.
        let late = Time::from_nanos(5_000_000_000);
        let (mut quiet, mut busy) = (two(3), two(3));
        let mut at = Time::ZERO;
        while at < late - Duration::from_secs(1) {
            (at, _) = busy.send(at, PACKET / 3);
        }
        assert_eq!(quiet.send(late, PACKET), busy.send(late, PACKET));
        let ends = |seed| two(seed).send(late, 40 * PACKET);
        assert_eq!(ends(3), ends(3));
        assert!((0..20).any(|seed| ends(seed) != ends(3)), "seeds differ");
    }

    #[test]
    fn one_level_or_only_outages_are_refused() {
        let level = |rate, stay| Level {
            rate: BitRate::new(rate),
            stay: Duration::from_millis(stay),
        };
        for levels in [
            vec![level(1, 5)],
            vec![level(0, 5), level(0, 5)],
            vec![level(1, 5), level(2, 0)],
        ] {
            assert!(Markov::new(levels.clone()).check().is_err(), "{levels:?}");
        }
    }
}

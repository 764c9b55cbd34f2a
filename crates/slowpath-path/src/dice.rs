//! Seeded randomness: one stream per name, so that adding an element does not shift another's dice.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use slowpath_units::Ratio;

/// One element's stream of random numbers (ChaCha8; the run's seed is the key, the element's name the stream).
///
/// Drivers take theirs from here too, under names that no element has; the values never change.
#[derive(Debug, Clone)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream called `element` of a run.
    pub fn new(seed: u64, element: &str) -> Self {
        let mut key = *b"........slowpath-path dice, v1..";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(fnv1a(element.as_bytes()));
        Self(rng)
    }

    /// A stream of its own for one more purpose of the same element.
    pub(crate) fn beside(&self, purpose: &str) -> Self {
        let mut rng = self.0.clone();
        rng.set_stream(self.0.get_stream() ^ fnv1a(purpose.as_bytes()));
        rng.set_word_pos(0);
        Self(rng)
    }

    #[inline(never)]
    pub(crate) fn roll(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// True with the given chance; always takes exactly one number.
    pub(crate) fn hits(&mut self, chance: Chance) -> bool {
        let roll = self.roll();
        chance.0.is_none_or(|threshold| roll < threshold)
    }

    /// A number from 0 to `n - 1`, each equally likely up to 2^-64.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.roll()) * u128::from(n)) >> 64) as u64
    }
}

/// A probability made ready for comparing with a 64-bit number; `None` means always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chance(Option<u64>);

impl From<Ratio> for Chance {
    fn from(ratio: Ratio) -> Self {
        Self(ratio.threshold())
    }
}

impl Chance {
    /// `part` in `whole`; always, from the whole on.
    pub(crate) const fn of(part: u64, whole: u64) -> Self {
        if part >= whole {
            return Self(None);
        }
        Self(Some((((part as u128) << 64) / whole as u128) as u64))
    }
}

/// FNV-1a, 64 bits (draft-eastlake-fnv): fixed for all time, since it chooses the stream.
pub(crate) const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_values_never_change() {
        let rolls = |seed, name| {
            let mut dice = Dice::new(seed, name);
            [dice.roll(), dice.roll()]
        };
        assert_eq!(fnv1a(b"loss"), 0xce4b_edad_7126_21ba);
        assert_eq!(
            rolls(1, "loss"),
            [10_137_298_325_181_748_652, 3_615_452_891_040_288_194]
        );
        assert_eq!(
            rolls(2, "loss"),
            [5_815_973_662_645_297_561, 6_398_396_786_984_243_673]
        );
        assert_ne!(rolls(1, "loss"), rolls(1, "down.loss"));
    }

    #[test]
    fn below_stays_below() {
        let mut dice = Dice::new(7, "x");
        let mut seen = [0_u32; 5];
        for _ in 0..5000 {
            seen[dice.below(5) as usize] += 1;
        }
        assert!(seen.iter().all(|n| (900..1100).contains(n)), "{seen:?}");
        assert_eq!(dice.below(1), 0);
    }
}

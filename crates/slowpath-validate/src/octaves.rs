//! Numbers drawn so that each octave is as likely as any other.

use slowpath_path::Dice;

/// A number from `low` to `high`.
pub(crate) fn draw(dice: &mut Dice, low: f64, high: f64) -> f64 {
    const STEPS: u64 = 1 << 20;
    let share = dice.below(STEPS) as f64 / STEPS as f64;
    low * (high / low).powf(share)
}

//! Which runs an experiment consists of, in which order, side by side or alone.
//!
//! Variants are interleaved: every variant's repeat 0 comes before any variant's repeat 1, and within one round the
//! order is shuffled by the seed. A drift of the machine then falls on all variants alike instead of on the last.

/// One run to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Index of the variant in the experiment.
    pub variant: usize,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Rate of the fastest link in bits per second, as far as the plan states one.
    pub rate: Option<u64>,
    /// How many places it takes: more than one if it gives the machine more to do than most.
    pub places: usize,
}

/// Paths at or above this rate get the machine for themselves (bits per second).
pub const ALONE_FROM: u64 = 100_000_000;

/// The order of all `(variant, repeats)` runs: rounds of repeats, each shuffled by `seed`.
pub fn interleave(repeats: &[u32], seed: u64) -> Vec<(usize, u32)> {
    let rounds = repeats.iter().copied().max().unwrap_or(0);
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut order = Vec::new();
    for round in 0..rounds {
        let mut these: Vec<usize> = (0..repeats.len())
            .filter(|&variant| repeats[variant] > round)
            .collect();
        for index in (1..these.len()).rev() {
            these.swap(index, (split_mix(&mut state) % (index as u64 + 1)) as usize);
        }
        order.extend(these.into_iter().map(|variant| (variant, round)));
    }
    order
}

/// Whether `job` may run beside those already running: all of them are below [`ALONE_FROM`] and its places are free.
pub fn may_start(job: &Job, running: &[Job], places: usize) -> bool {
    let slow = |job: &Job| job.rate.is_some_and(|rate| rate < ALONE_FROM);
    let taken: usize = running.iter().map(|job| job.places).sum();
    running.is_empty() || (taken + job.places <= places && slow(job) && running.iter().all(slow))
}

/// One step of SplitMix64 (Steele, Lea and Flood 2014): enough to shuffle a handful of runs.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_come_before_repeats_and_the_seed_decides() {
        let order = interleave(&[3, 1, 3], 7);
        assert_eq!(order.len(), 7);
        assert!(order[..3].iter().all(|(_, repeat)| *repeat == 0));
        assert!(
            order[3..5]
                .iter()
                .all(|(variant, repeat)| *repeat == 1 && *variant != 1)
        );
        assert_eq!(order, interleave(&[3, 1, 3], 7));
        assert!((0..50).any(|seed| interleave(&[3, 1, 3], seed) != order));
    }

    #[test]
    fn fast_paths_run_alone() {
        let job = |rate| Job {
            variant: 0,
            repeat: 0,
            rate,
            places: 1,
        };
        let slow = job(Some(50_000_000));
        assert!(may_start(&slow, std::slice::from_ref(&slow), 4));
        assert!(!may_start(&slow, &vec![slow.clone(); 4], 4));
        assert!(!may_start(
            &job(Some(1_000_000_000)),
            std::slice::from_ref(&slow),
            4
        ));
        assert!(!may_start(&slow, &[job(None)], 4));
        assert!(may_start(&job(None), &[], 1));
    }

    #[test]
    fn a_run_may_take_several_places() {
        let job = |places| Job {
            variant: 0,
            repeat: 0,
            rate: Some(50_000_000),
            places,
        };
        assert!(may_start(&job(3), &[job(1)], 4));
        assert!(!may_start(&job(3), &[job(1), job(1)], 4));
        assert!(!may_start(&job(1), &[job(4)], 4));
        assert!(may_start(&job(9), &[], 4), "alone it may always run");
    }
}

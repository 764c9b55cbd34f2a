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
    /// Thousandths of a processor that it keeps busy.
    pub need: u64,
    /// Whether nothing may run beside it.
    pub alone: bool,
}

/// What there is for runs side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Most places.
    pub places: usize,
    /// Thousandths of a processor that all runs together may keep busy.
    pub budget: u64,
    /// Thousandths of a processor that nobody used lately; `None` before that is known.
    pub spare: Option<u64>,
}

impl Room {
    /// So many places on a machine with so many processors.
    pub fn of(places: usize, processors: usize) -> Self {
        Self {
            places,
            budget: processors as u64 * SHARE_OF_PROCESSOR,
            spare: None,
        }
    }
}

/// Thousandths of a processor that a run keeps busy whose path carries so many packets a second, both ways together.
///
/// Measured on two processors: two runs that fill 50 Mbit/s, seven that fill 10 Mbit/s, or fourteen that loss holds at a
/// trickle go side by side without making each other late.
pub fn need(packets_per_s: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to what both types hold"
    )]
    let of_packets = (packets_per_s / 16.0).clamp(0.0, 1e6) as u64;
    NEED_AT_REST + of_packets
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

/// Whether `job` may run beside those already running: all of them are below [`ALONE_FROM`], its places are free, and
/// the processors have room for what all need and for what others use.
pub fn may_start(job: &Job, running: &[Job], room: &Room) -> bool {
    if running.is_empty() {
        return true;
    }
    let beside = |job: &Job| !job.alone && job.rate.is_some_and(|rate| rate < ALONE_FROM);
    let taken: usize = running.iter().map(|job| job.places).sum();
    let busy: u64 = running.iter().map(|job| job.need).sum();
    taken + job.places <= room.places
        && busy + job.need <= room.budget
        && room.spare.is_none_or(|spare| job.need * 3 / 2 <= spare)
        && beside(job)
        && running.iter().all(beside)
}

/// Of each processor so much, in thousandths, may be kept busy by runs side by side: the rest is for being in time.
const SHARE_OF_PROCESSOR: u64 = 500;
/// Thousandths of a processor for programs and wires that have next to nothing to do.
const NEED_AT_REST: u64 = 60;

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

    fn job(rate: Option<u64>, places: usize, need: u64) -> Job {
        Job {
            variant: 0,
            repeat: 0,
            rate,
            places,
            need,
            alone: false,
        }
    }

    #[test]
    fn fast_paths_run_alone() {
        let slow = job(Some(50_000_000), 1, 100);
        let room = Room::of(4, 2);
        assert!(may_start(&slow, std::slice::from_ref(&slow), &room));
        assert!(!may_start(&slow, &vec![slow.clone(); 4], &room));
        assert!(!may_start(
            &job(Some(1_000_000_000), 1, 100),
            std::slice::from_ref(&slow),
            &room
        ));
        assert!(!may_start(&slow, &[job(None, 1, 100)], &room));
        assert!(may_start(&job(None, 1, 100), &[], &Room::of(1, 1)));
    }

    #[test]
    fn a_run_may_take_several_places() {
        let job = |places| job(Some(50_000_000), places, 10);
        let room = Room::of(4, 2);
        assert!(may_start(&job(3), &[job(1)], &room));
        assert!(!may_start(&job(3), &[job(1), job(1)], &room));
        assert!(!may_start(&job(1), &[job(4)], &room));
        assert!(may_start(&job(9), &[], &room), "alone it may always run");
    }

    #[test]
    fn processors_that_are_left_decide() {
        // Full frames one way and an acknowledgement for every other.
        let filling = |mbit_per_s: f64| job(Some(50_000_000), 1, need(mbit_per_s * 1e6 / 8.0 / 1514.0 * 1.5));
        let room = Room::of(20, 2);
        let beside = |one: &Job, room: &Room| {
            (1..30)
                .find(|&count| !may_start(one, &vec![one.clone(); count], room))
                .unwrap()
        };
        assert_eq!(beside(&filling(50.0), &room), 2);
        assert_eq!(beside(&filling(10.0), &room), 7);
        assert_eq!(beside(&filling(0.5), &room), 15);
        assert_eq!(beside(&filling(10.0), &Room::of(20, 8)), 20, "places");
        let spare = |spare| Room {
            spare: Some(spare),
            ..room
        };
        assert_eq!(beside(&filling(10.0), &spare(100)), 1, "others have it all");
        assert_eq!(beside(&filling(10.0), &spare(900)), 7);
        let alone = Job {
            alone: true,
            ..filling(0.5)
        };
        assert!(!may_start(&alone, &[filling(0.5)], &room));
        assert!(!may_start(&filling(0.5), &[alone], &room));
    }
}

//! The published policing detector (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016,
//! section 3): a second witness beside the virtual queue of [`queue`](super::queue).
//!
//! It takes the goodput between the first and the last loss for the policer's rate, fills a bucket at that rate, and asks
//! whether the bucket is empty at losses and not empty at what passes. It neither fits a bucket nor looks at how the delay
//! grows, so it errs elsewhere than the fit does: both together are worth more than either. It was made for one response
//! of a server seen at the server; what it says of a flow is reported, and why it said no.

use super::distribution::quantile;
use super::measure::Measured;
use super::queue::Item;

/// What the published detector says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Policing {
    /// Its answer.
    pub answer: Answer,
    /// Rate between the first and the last loss, bits of Ethernet frames per second; 0 without two losses.
    pub rate_bit_per_s: f64,
    /// What passed before the first loss, bytes of frames: the bucket, if it was full at the beginning.
    pub burst_bytes: f64,
}

/// Yes, or the first of its conditions that does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answer {
    /// All of them hold: there is one.
    Found,
    /// Too few losses or deliveries, or all losses within three round trips.
    #[default]
    TooFewLosses,
    /// The first loss comes after more than 2 MB.
    LateLoss,
    /// Less passed before the first loss than the rate alone would let through.
    NegativeFill,
    /// The bucket is not fuller at what passes than at what is lost.
    LossesWithTokens,
    /// The bucket's level differs too much from loss to loss.
    LossesAtManyLevels,
    /// Packets pass although the bucket is empty.
    PassesWithoutTokens,
    /// The round trip is long before losses: a queue.
    DelayBeforeLosses,
}

/// Bytes before the first loss from which the detector does not look.
const LATE: f64 = 2e6;
/// Fewest losses, and fewest deliveries.
const SAMPLES: usize = 15;
/// Round trips with losses.
const SLICES: usize = 3;
/// Distance from the median level at losses, in what the rate lets through in a round trip.
const LOSS_ZONE: f64 = 2.0;
/// Share of losses outside.
const OUTSIDE: f64 = 0.1;
/// Depth below the level at losses, in what the rate lets through in a round trip.
const PASS_ZONE: f64 = 0.75;
/// Share of deliveries below that.
const BELOW: f64 = 0.03;
/// Share of losses behind a long round trip.
const LONG: f64 = 0.2;
/// A round trip is long above so many times the tenth percentile, seconds and the median.
const INFLATED: f64 = 1.3;
const LONG_S: f64 = 0.02;
/// Losses at either end that a second attempt ignores.
const ENDS: usize = 2;

/// Asks the detector about one flow.
pub(crate) fn of_flow(flow: &Measured) -> Policing {
    detect(&flow.items, flow.facts.rtt.min, flow.facts.rtt.median)
}

/// Asks the detector about flows together, whose `items` are in order of time.
pub(crate) fn of_flows<'a>(items: &[Item], flows: impl Iterator<Item = &'a Measured>) -> Policing {
    let slowest = flows
        .map(|flow| (flow.facts.rtt.min, flow.facts.rtt.median))
        .fold((0.0, 0.0), |most, next| if next.1 > most.1 { next } else { most });
    detect(items, slowest.0, slowest.1)
}

/// Asks the detector. `base` and `median` are round-trip times in seconds.
fn detect(items: &[Item], base: f64, median: f64) -> Policing {
    let first = attempt(items, base, median, 0);
    if first.answer == Answer::Found {
        return first;
    }
    let second = attempt(items, base, median, ENDS);
    if second.answer == Answer::Found {
        second
    } else {
        first
    }
}

fn attempt(items: &[Item], base: f64, median: f64, ignored: usize) -> Policing {
    let mut out = Policing::default();
    let losses: Vec<usize> = (0..items.len()).filter(|&index| items[index].lost > 0).collect();
    if losses.len() < 2 + 2 * ignored {
        return out;
    }
    let (start, first, last) = (&items[0], losses[ignored], losses[losses.len() - 1 - ignored]);
    let passed = |range: &[Item]| range.iter().map(|item| f64::from(item.passed)).sum::<f64>();
    let seconds = |from: &Item, to: &Item| (to.at - from.at) as f64 / 1e9;
    let span = seconds(&items[first], &items[last]);
    if span <= 0.0 {
        return out;
    }
    let rate = passed(&items[first..last]) / span;
    let round = median * rate;
    out.rate_bit_per_s = rate * 8.0;
    out.burst_bytes = passed(&items[..first]);
    if out.burst_bytes > LATE {
        out.answer = Answer::LateLoss;
        return out;
    }
    if out.burst_bytes - rate * seconds(start, &items[first]) < -PASS_ZONE * round {
        out.answer = Answer::NegativeFill;
        return out;
    }
    out.answer = levels(&items[first..=last], rate, base, median);
    out
}

/// Fills the bucket at `rate` bytes per second from the first loss on and compares its levels.
fn levels(items: &[Item], rate: f64, base: f64, median: f64) -> Answer {
    let round = median * rate;
    let mut delays: Vec<f64> = items
        .iter()
        .filter(|item| item.delay.is_finite())
        .map(|item| f64::from(item.delay))
        .collect();
    delays.sort_unstable_by(f64::total_cmp);
    let rtt = |share: f64| base + quantile(&delays, share);
    let long = rtt(0.5).max(INFLATED * rtt(0.1)).max(LONG_S);
    let (mut used, mut last_rtt) = (0.0, 0.0);
    let (mut lost, mut let_through) = (Vec::new(), Vec::new());
    let mut behind_long = 0_usize;
    let (mut slices, mut slice) = (0, i64::MIN);
    for item in items {
        let tokens = rate * (item.at - items[0].at) as f64 / 1e9 - used;
        if item.lost > 0 {
            lost.push(tokens);
            behind_long += usize::from(last_rtt >= long);
            let index = ((item.at - items[0].at) as f64 / 1e9 / median.max(1e-3)) as i64;
            slices += usize::from(index != slice);
            slice = index;
        }
        if item.passed > 0 {
            let_through.push(tokens);
            used += f64::from(item.passed);
        }
        if item.delay.is_finite() {
            last_rtt = base + f64::from(item.delay);
        }
    }
    if lost.len() < SAMPLES || let_through.len() < SAMPLES || slices < SLICES {
        return Answer::TooFewLosses;
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    lost.sort_unstable_by(f64::total_cmp);
    let_through.sort_unstable_by(f64::total_cmp);
    let (at_loss, at_pass) = (quantile(&lost, 0.5), quantile(&let_through, 0.5));
    if at_pass < at_loss || mean(&let_through) < mean(&lost) {
        return Answer::LossesWithTokens;
    }
    let outside = lost
        .iter()
        .filter(|level| (**level - at_loss).abs() > LOSS_ZONE * round)
        .count();
    if outside as f64 > OUTSIDE * lost.len() as f64 {
        return Answer::LossesAtManyLevels;
    }
    let below = let_through.partition_point(|level| *level < at_loss - PASS_ZONE * round);
    if below as f64 > BELOW * let_through.len() as f64 {
        return Answer::PassesWithoutTokens;
    }
    if behind_long as f64 > LONG * lost.len() as f64 {
        return Answer::DelayBeforeLosses;
    }
    Answer::Found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a sender at `ratio` of `rate` bytes per second loses to a bucket, or to chance.
    fn items(rate: f64, bucket: f64, ratio: f64, chance: Option<u64>, delay: f32) -> Vec<Item> {
        const FRAME: u32 = 1_518;
        let (mut tokens, mut at, mut state) = (bucket, 0_i64, 1_u64);
        let mut out = Vec::new();
        for number in 0..6_000_u64 {
            // A sender that halves and grows, over two seconds.
            let speed = rate * ratio * (0.6 + 0.4 * (number % 500) as f64 / 250.0);
            let step = f64::from(FRAME) / speed;
            at += (step * 1e9) as i64;
            tokens = (tokens + rate * step).min(bucket);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let lost = match chance {
                Some(one_in) => (state >> 33).is_multiple_of(one_in),
                None => tokens < f64::from(FRAME),
            };
            if !lost {
                tokens -= f64::from(FRAME);
            }
            out.push(Item {
                at,
                passed: if lost { 0 } else { FRAME },
                lost: if lost { FRAME } else { 0 },
                gap: false,
                delay: if number % 2 == 0 { delay } else { f32::NAN },
            });
        }
        out
    }

    #[test]
    fn it_finds_a_policer_and_its_rate() {
        let found = detect(&items(250_000.0, 60_000.0, 1.1, None, 0.0), 0.04, 0.04);
        assert_eq!(found.answer, Answer::Found, "{found:?}");
        assert!((found.rate_bit_per_s / 2e6 - 1.0).abs() < 0.05, "{found:?}");
        assert!(found.burst_bytes > 60_000.0, "{found:?}");
    }

    #[test]
    fn random_loss_is_no_policer() {
        for one_in in [30, 100, 300] {
            let found = detect(&items(250_000.0, 0.0, 1.0, Some(one_in), 0.0), 0.04, 0.04);
            assert_ne!(found.answer, Answer::Found, "{one_in}: {found:?}");
        }
    }

    #[test]
    fn nothing_and_little_is_too_little() {
        assert_eq!(detect(&[], 0.04, 0.04).answer, Answer::TooFewLosses);
        let few = items(250_000.0, 60_000.0, 1.1, None, 0.0);
        assert_eq!(detect(&few[..200], 0.04, 0.04).answer, Answer::TooFewLosses);
    }
}

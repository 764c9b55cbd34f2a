//! A token bucket drops what exceeds its rate, without queueing.

use slowpath_facts::{Happening, QueueFit, Tap, Timeline};

use super::{seen, varying};
use crate::case::{BUCKET, Case, EXPLAINED, FIT_LOSSES, IDLE_SHARE_ALONE, NO_QUEUE};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{About, Count, Rate, Ratio, Share, Size};
use crate::verdict::Evidence;

cuts! {
    /// Mean rate over the bucket's below which the bucket alone drops: its rate could as well be higher.
    NEAR_RATE: 0.5 between 0.456, 0.709;
    /// Round trips beside the losses that a delay step rests on.
    SAMPLES: 10.0 between NONE, 831.0;
    /// Highest delay, over the time in which the bucket empties, up to which there is no queue of its size.
    DRAIN: 0.6 between 0.121, NONE;
    /// The fastest arrivals at the receiver over the bucket's rate from which no link of that rate is before them.
    ARRIVES: 1.1 between 1.00, 1.15;
    /// Share of the losses with the delay at its longest from which a queue drops them.
    AT_FULL_QUEUE: 0.67 between 0.188, NONE;
    /// Deliveries that found the bucket empty over losses that did, up to which clocks and others' packets make them.
    LET_THROUGH: 12.0 between NONE, NONE;
    /// Episodes of losses that leave no doubt.
    EPISODES: 3.0 between 1.00, 4.00;
}

/// A token bucket drops.
pub(crate) const LOOK: Look = Look {
    limit: Limit::Policed,
    plainest: true,
    certainty: Certainty::Measured,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Looks for a policer, of all flows between the hosts or of this one.
fn look(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let own = case.facts.queue;
    let shared = (case.around.flows > 1).then_some(case.around.shared).flatten();
    let of_all = shared.filter(|fit| is_bucket(case, fit).is_ok());
    let (fit, together) = match (of_all, own) {
        (Some(fit), _) => (fit, true),
        (None, own) => {
            let fit = own.unwrap_or_default();
            is_bucket(case, &fit)?;
            (fit, false)
        }
    };
    let lower_bound = case.below_times(NEAR_RATE, fit.mean_bit_per_s, fit.rate_bit_per_s);
    let (rate, bucket) = (Rate(fit.rate_bit_per_s), Size(fit.size_bytes));
    let empty = About(((1.0 - fit.error) * fit.losses as f64).round());
    let losses = Count(fit.losses);
    let sentence = if lower_bound {
        Message::PolicerOfAtLeast {
            mean: Rate(fit.mean_bit_per_s),
            rate,
            bucket,
            empty,
            losses,
        }
    } else {
        Message::PolicerDrops {
            rate,
            bucket,
            empty,
            losses,
        }
    };
    let sure = if case.reaches(EPISODES, fit.episodes) {
        CLEAR
    } else {
        LIKELY
    };
    let idle = case.share(case.facts.time.idle_s);
    let mut out = Finding::new(
        Limit::Policed,
        (1.0 - idle).max(LEAST_SHARE),
        (1.0 - fit.error) * sure,
        sentence,
    );
    if together {
        out.flags.push(Flag::SharedWithOtherFlows);
        out.also.push(Message::FlowsShareIt {
            flows: Count(case.around.flows.into()),
        });
    }
    if case.reaches(IDLE_SHARE_ALONE, idle) {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
    out.parameters.rate_is_lower_bound = Some(lower_bound);
    out.parameters.bucket_bytes = Some(fit.size_bytes.round() as u64);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Whether a fit is that of a bucket: losses at one backlog, and a delay that does not know of it.
fn is_bucket(case: &Case, fit: &QueueFit) -> Result<(), No> {
    require(
        case.facts.loss.lost_segments > 0 || fit.losses > 0,
        Reason::NoLoss,
        || Message::NothingLost {},
    )?;
    require(case.reaches(FIT_LOSSES, fit.losses), Reason::TooFewLosses, || {
        Message::TooFewForPattern {
            losses: Count(fit.losses),
        }
    })?;
    require(case.losses_follow_load(fit), Reason::LossesIgnoreLoad, || {
        Message::NoBucketExplains {
            error: Ratio(fit.error),
            spread: Ratio(fit.spread),
        }
    })?;
    no_queue(case, fit)
}

/// The rate of a bucket that drops some of the losses, among others that something else drops: far more of the losses than
/// of the deliveries come at one backlog, again and again.
pub(crate) fn among_others(case: &Case, fit: &QueueFit) -> Option<f64> {
    case.whole().ok()?;
    let [losses, near, above] = fit.at_full.map(|count| count as f64);
    let deliveries = fit.deliveries.max(1) as f64;
    let bare = (losses / fit.losses.max(1) as f64) / (near.max(1.0) / deliveries);
    let drain = fit.size_bytes * 8.0 / fit.rate_bit_per_s.max(1.0);
    let again = fit.full_episodes >= AGAIN as u64 && fit.full_episodes as f64 >= OFTEN * fit.episodes as f64;
    let shows = losses >= FIT_LOSSES.value
        && (again && (fit.losses >= SOME || fit.error <= PLAINLY)
            || fit.losses >= MANY && fit.error <= CLEARLY
            || fit.losses >= VERY_MANY && fit.error <= PLAINLY_OF_MANY)
        && bare >= MORE
        && fit.error <= MIXED
        && above <= BEYOND * deliveries
        && (fit.delay_slope.abs() <= FLAT || delayed_elsewhere(fit))
        && drain <= LONGEST_DRAIN;
    (shows && no_queue(case, fit).is_ok()).then_some(fit.rate_bit_per_s)
}

/// A queue that drains faster than the fitted one explains the delays: that of a link before a bucket, which makes none itself.
fn delayed_elsewhere(fit: &QueueFit) -> bool {
    fit.delay.explained >= WELL && fit.delay.rate_bit_per_s >= FASTER * fit.rate_bit_per_s
}

/// The rate and the size of a bucket that was empty at a good part of the losses and hardly ever else. It explains too few of them to
/// blame it, but no rate does so by chance.
pub(crate) fn of_some(fit: &QueueFit) -> Option<(f64, f64)> {
    let [losses, _, above] = fit.at_full.map(|count| count as f64);
    let shows = losses >= LOSSES_OF_SOME
        && losses >= PART * fit.losses as f64
        && above <= HARDLY * fit.deliveries as f64
        && fit.size_bytes * 8.0 <= LONGEST_DRAIN * fit.rate_bit_per_s
        && fit.delay_slope.abs() <= FLAT_BEHIND;
    shows.then_some((fit.rate_bit_per_s, fit.size_bytes))
}

/// Whether the delay does not know of the backlog of a fit.
fn no_queue(case: &Case, fit: &QueueFit) -> Result<(), No> {
    require(varying::at_losses(case).is_none(), Reason::QueueNotBucket, || {
        Message::DelayFollowsRate {}
    })?;
    let met = in_long_queue(&case.facts.timeline);
    require(met < MOSTLY_QUEUED, Reason::QueueNotBucket, || {
        Message::LossesAtFullQueue { share: Share(met) }
    })?;
    let faster = || case.reaches_times(ARRIVES, case.facts.arrival_peak_bit_per_s, fit.rate_bit_per_s);
    require(
        case.facts.tap != Tap::Receiver || faster(),
        Reason::QueueNotBucket,
        || Message::ArrivesAtItsRate {
            rate: Rate(fit.rate_bit_per_s),
        },
    )?;
    // An empty bucket lets nothing through. Beside the receiver only what it let through is seen, at the backlog at which it drops.
    let [lost, _, above] = fit.at_full;
    let each = lost >= fit.losses && fit.full_episodes >= fit.episodes && fit.losses >= MANY;
    let clear = case.facts.tap == Tap::Receiver && each;
    // Of very many packets some pass that find it empty by a rate that is hardly wrong.
    let some = fit.error <= CLEARLY
        && fit.full_episodes >= AGAIN as u64
        && above as f64 <= PASSES * fit.deliveries as f64;
    require(
        clear || some || case.within_times(LET_THROUGH, above, lost),
        Reason::LossesIgnoreLoad,
        || Message::NoBucketExplains {
            error: Ratio(fit.error),
            spread: Ratio(fit.spread),
        },
    )?;
    let drain = fit.size_bytes * 8.0 / fit.rate_bit_per_s.max(1.0);
    require(
        case.reaches(BUCKET, fit.size_bytes)
            && drain > 2.0 * case.around.clock_s
            && case.reaches(SAMPLES, fit.delay_samples),
        Reason::TooFewLosses,
        || Message::BucketTooSmall {
            bucket: Size(fit.size_bytes),
            samples: Count(fit.delay_samples),
        },
    )?;
    require(!delays_as_a_queue(fit), Reason::QueueNotBucket, || {
        Message::DelayGrows {
            step: Share(fit.delay_step),
        }
    })?;
    let before = lost_before_it_fills(&case.facts.timeline, drain);
    // Whatever else makes delays as long as that queue would: they do not come with its losses.
    let longest = before && fit.error <= EXPLAINS;
    require(
        (case.below(NO_QUEUE, fit.delay_step.abs()) || before)
            && (longest || case.below_times(DRAIN, fit.delay.delay_p95_s, drain.max(LEAST_DRAIN))),
        Reason::QueueNotBucket,
        || Message::DelayGrows {
            step: Share(fit.delay_step),
        },
    )?;
    let full = at_full_queue(&case.facts.timeline);
    require(case.below(AT_FULL_QUEUE, full), Reason::QueueNotBucket, || {
        Message::LossesAtFullQueue { share: Share(full) }
    })?;
    require(
        !(case.exceeds(EXPLAINED, fit.delay.explained) && case.fills(fit)),
        Reason::QueueNotBucket,
        || Message::QueueExplains {
            rate: Rate(fit.delay.rate_bit_per_s),
            explained: Share(fit.delay.explained),
        },
    )
}

/// Share of the losses that met a queue of several round trips: a bucket lets no such queue stand for long.
fn in_long_queue(line: &Timeline) -> f64 {
    let losses = || line.events.iter().filter(|event| event.kind == Happening::Loss);
    let met = losses().filter(|event| event.queue_s >= LONG_QUEUE * line.least_rtt_s);
    met.count() as f64 / losses().count().max(1) as f64
}

/// What drops at one backlog delays by that backlog, too, as a queue does and no bucket.
fn delays_as_a_queue(fit: &QueueFit) -> bool {
    fit.error <= CLEARLY && fit.delay_slope >= STEEP && fit.delay.explained >= WELL
}

/// Most losses come at far less delay than a queue would have that takes so long to empty, seconds: it would not be full.
fn lost_before_it_fills(line: &Timeline, drain_s: f64) -> bool {
    let losses = line.events.iter().filter(|event| event.kind == Happening::Loss);
    let mut delays: Vec<f64> = losses
        .map(|event| event.queue_s)
        .filter(|delay| delay.is_finite())
        .collect();
    delays.sort_unstable_by(f64::total_cmp);
    let most = delays.get((delays.len() as f64 * MOST) as usize);
    delays.len() >= ENOUGH && most.is_some_and(|delay| *delay <= HALF * drain_s)
}

/// Share of the losses that come with the delay at its longest, if they do so again and again.
fn at_full_queue(line: &Timeline) -> f64 {
    let reached = line.reached_s();
    let losses = || {
        line.events
            .iter()
            .filter(|event| event.kind == Happening::Loss && event.queue_s.is_finite())
    };
    let full = losses().filter(|event| event.queue_s >= LEAST_DELAY + Timeline::FULL * reached);
    let (full, all) = (full.count(), losses().count());
    // Once or twice is chance: a burst delays itself.
    if full < AGAIN {
        0.0
    } else {
        full as f64 / all as f64
    }
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let mut out = seen::queue(case);
    out.extend(seen::round_trips(case));
    out
}

/// How many times as often as a delivery a loss finds the bucket empty.
const MORE: f64 = 3.0;
/// Error of the fit of a bucket up to which half of the losses and more are its doing.
const MIXED: f64 = 0.55;
/// Losses that need not come again and again where the fit errs by no more than [`CLEARLY`]: a queue of that size would show.
const MANY: u64 = 30;
/// The same where it errs by no more than [`PLAINLY_OF_MANY`]: so many at one backlog are no chance.
const VERY_MANY: u64 = 100;
/// Error of a fit to very many losses, some of which something else drops.
const PLAINLY_OF_MANY: f64 = 0.35;
/// Error of a fit up to which it explains the losses.
const EXPLAINS: f64 = 0.2;
/// Share of the deliveries that a bucket lets through though it is empty, up to which its rate is hardly wrong.
const PASSES: f64 = 0.1;
/// Error of a fit that leaves no doubt of its losses.
const CLEARLY: f64 = 0.1;
/// Losses of which some rate explains half by chance, unless their fit errs by no more than [`PLAINLY`].
const SOME: u64 = 20;
/// Error of a fit to few losses that is no chance.
const PLAINLY: f64 = 0.25;
/// Share of the episodes of losses in which the bucket must have been empty.
const OFTEN: f64 = 0.15;
/// Share of the deliveries above the bucket's size, up to which the clock of the capture makes them.
const BEYOND: f64 = 0.25;
/// Slope of the delay over the backlog up to which it is no queue's: that has one.
const FLAT: f64 = 0.4;
/// Slope of the delay over the backlog from which it is a queue's: that has one, and 0.42 was the most with a bucket that explained
/// as much (drawn transfers).
const STEEP: f64 = 0.7;
/// Share of the delays' variance that one queue explains, from which the delays are its own.
const WELL: f64 = 0.7;
/// Factor by which a link is faster than a bucket behind it, from which its queue is no other measure of the same rate.
const FASTER: f64 = 1.25;
/// Losses that a bucket explains from which it is there.
const LOSSES_OF_SOME: f64 = 12.0;
/// The share of all losses that these are at least.
const PART: f64 = 0.3;
/// Share of what arrived that may have found it empty.
const HARDLY: f64 = 0.06;
/// The same as [`FLAT`] for one that explains only some of the losses.
const FLAT_BEHIND: f64 = 0.2;
/// No bucket takes longer to fill, seconds.
const LONGEST_DRAIN: f64 = 3.0;
/// Losses by which their delays can be judged.
const ENOUGH: usize = 5;
/// Share of the losses that are most of them.
const MOST: f64 = 0.75;
/// Share of the time that a queue takes to empty, below which it is not full.
const HALF: f64 = 0.5;
/// Losses that come so by more than chance.
const AGAIN: usize = 3;
/// Delay that is no queue, seconds.
const LEAST_DELAY: f64 = 0.0005;
/// Below this a bucket's time to empty is no measure of a delay, seconds.
const LEAST_DRAIN: f64 = 0.01;
/// Round trips of the empty path that a queue is long from: half of the losses of each of 54 policed transfers met one of 1.3 at most.
const LONG_QUEUE: f64 = 3.0;
/// Share of the losses that met a long queue, from which no bucket dropped them.
const MOSTLY_QUEUED: f64 = 0.5;
/// The share of the time that a policer has at least, however long the program pauses; chosen.
const LEAST_SHARE: f64 = 0.5;
/// Confidence with several episodes, before the fit's error is taken off; chosen.
const CLEAR: f64 = 0.97;
/// Confidence with fewer; chosen.
const LIKELY: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::loss;
    use slowpath_facts::{FlowFacts, Surroundings};

    #[test]
    fn delays_of_a_faster_link_before_a_bucket_are_not_the_buckets() {
        let of = |slope, rate_bit_per_s| {
            let facts = FlowFacts {
                tap: Tap::Sender,
                ..FlowFacts::default()
            };
            let mut fit = QueueFit {
                rate_bit_per_s: 11e6,
                size_bytes: 44_000.0,
                error: 0.04,
                delay_slope: slope,
                delay_samples: 4_000,
                losses: 91,
                episodes: 7,
                full_episodes: 7,
                deliveries: 7_600,
                at_full: [91, 400, 270],
                ..QueueFit::default()
            };
            (fit.delay.rate_bit_per_s, fit.delay.explained) = (rate_bit_per_s, 0.96);
            among_others(&Case::of(&facts, &Surroundings::default()), &fit).is_some()
        };
        // A slope as a queue of the fitted rate has tells a queue only where no other one explains the delays better.
        assert!(of(0.1, 11e6) && of(0.45, 18e6) && !of(0.45, 11.5e6));
    }

    #[test]
    fn what_delays_by_the_backlog_at_which_it_drops_is_a_queue() {
        let of = |delay_slope, error| {
            let mut fit = QueueFit {
                delay_slope,
                error,
                ..QueueFit::default()
            };
            fit.delay.explained = 0.97;
            delays_as_a_queue(&fit)
        };
        assert!(of(1.01, 0.003) && of(0.82, 0.008));
        // A faster link before a bucket delays, too; and a backlog that does not tell the losses is none.
        assert!(!of(0.42, 0.04) && !of(0.84, 0.24));
    }

    #[test]
    fn no_bucket_lets_a_queue_of_several_round_trips_stand() {
        let met = |delays: &[f64]| {
            let events = delays.iter().map(|queue_s| loss(1.0, *queue_s));
            in_long_queue(&Timeline {
                least_rtt_s: 0.1,
                events: events.collect(),
                ..Timeline::default()
            })
        };
        assert!((met(&[0.5, 2.0, 0.05, f64::NAN]) - 0.5).abs() < 1e-12);
        assert!(met(&[0.13, 0.29]) < 1e-12 && met(&[]) < 1e-12);
    }

    #[test]
    fn a_bucket_is_there_if_it_was_empty_at_many_of_the_losses_and_hardly_ever_else() {
        let of = |at_full: [u64; 3], losses, slope, rate_bit_per_s| {
            let fit = QueueFit {
                rate_bit_per_s,
                size_bytes: 20_000.0,
                at_full,
                losses,
                deliveries: 1_000,
                delay_slope: slope,
                ..QueueFit::default()
            };
            of_some(&fit).map(|(_, bucket)| bucket)
        };
        assert_eq!(of([20, 90, 20], 50, 0.0, 1e7), Some(20_000.0));
        // Too few of them, too many that were let through, a delay that grows as a queue's, or one that takes five seconds to fill.
        assert_eq!(of([10, 90, 20], 30, 0.0, 1e7), None);
        assert_eq!(of([20, 90, 20], 90, 0.0, 1e7), None);
        assert_eq!(of([20, 200, 100], 50, 0.0, 1e7), None);
        assert_eq!(of([20, 90, 20], 50, 0.9, 1e7), None);
        assert_eq!(of([20, 90, 20], 50, 0.0, 3.2e4), None);
        assert_eq!(of_some(&QueueFit::default()), None);
    }
}

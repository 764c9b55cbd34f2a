//! Losses as several limits ask for them: whether there are enough, and whether they hold the sender.

use crate::case::{Case, IDLE_SHARE_ALONE, RTT_SAMPLES};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{No, require};
use crate::limit::Reason;
use crate::message::{Count, Rate, Share};

cuts! {
    /// Episodes of losses that count beside a program's pauses, and whatever rate they would allow.
    EPISODES: 3.0 between NONE, 8.00;
    /// Episodes that count without round trips beside them.
    UNTIMED_EPISODES: 5.0 between NONE, NONE;
    /// The rate of a few losses, relative to what congestion control makes of them: at least.
    LOW: 0.3 between NONE, NONE;
    /// The same: less than.
    HIGH: 3.0 between NONE, NONE;
    /// Episodes below which losses may be a few bursts.
    FEW: 5.0 between NONE, 8.00;
    /// Lost segments per episode from which those are bursts.
    BURST: 3.0 between NONE, NONE;
    /// The rate of a sender that losses do not slow stays within this share of its highest.
    UNSLOWED: 0.8 between 0.355, NONE;
    /// Episodes of losses from which that can be said.
    UNSLOWED_EPISODES: 5.0 between NONE, 8.00;
    /// Round trips with a rate from which that can be said.
    UNSLOWED_SAMPLES: 20.0 between NONE, 85.0;
    /// Segments in flight from which the steps of the rate are fine enough for that.
    FINE: 20.0 between 18.0, 20.0;
    /// Share of packets smaller than a segment below which the program is not the pace.
    WHOLE: 0.02 between NONE, NONE;
}

/// Whether anything was lost that the program's pauses do not outweigh.
pub(super) fn lost(case: &Case) -> Result<(), No> {
    let loss = &case.facts.loss;
    require(
        loss.lost_segments > 0 && loss.episodes > 0,
        Reason::NoLoss,
        || Message::NothingLost {},
    )?;
    let idle = case.share(case.facts.time.idle_s);
    require(
        case.below(IDLE_SHARE_ALONE, idle) || case.reaches(EPISODES, loss.episodes),
        Reason::SmallerShare,
        || Message::IdleOutweighs {
            episodes: Count(loss.episodes),
            idle: Share(idle),
        },
    )
}

/// Without round trips a queue before the losses cannot be excluded.
pub(super) fn measurable(case: &Case) -> Result<(), No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    lost(case)?;
    require(
        case.reaches(RTT_SAMPLES, facts.rtt.count) || case.reaches(UNTIMED_EPISODES, loss.episodes),
        Reason::TooFewLosses,
        || Message::TooFewRoundTrips {
            episodes: Count(loss.episodes),
            samples: Count(facts.rtt.count),
        },
    )
}

/// Whether the losses could hold the rate that was seen.
pub(super) fn may_hold(case: &Case) -> Result<(), No> {
    let loss = &case.facts.loss;
    measurable(case)?;
    // Compare with what congestion control makes of them.
    let allowed = case.rate_with_losses(loss.episodes);
    let ratio = case.busy_rate() / allowed;
    require(
        case.reaches(EPISODES, loss.episodes) || (case.reaches(LOW, ratio) && case.below(HIGH, ratio)),
        Reason::SmallerShare,
        || Message::LossesWouldAllow {
            lost: Count(loss.lost_segments),
            rate: Rate(allowed * 8.0),
        },
    )
}

/// Whether losses come in so few bursts that a queue, a policer and an outage look alike.
pub(super) fn in_few_bursts(case: &Case) -> bool {
    let loss = &case.facts.loss;
    case.below(FEW, loss.episodes) && case.exceeds_times(BURST, loss.lost_segments, loss.episodes)
}

/// Whoever heeds losses slows down for each; a rate that stays the same through many of them is not theirs. Less than
/// that many segments per round trip come in steps too coarse to tell.
pub(super) fn unslowed(case: &Case) -> bool {
    let (facts, rate) = (case.facts, &case.facts.rate);
    let many =
        case.reaches(UNSLOWED_EPISODES, facts.loss.episodes) && case.reaches(UNSLOWED_SAMPLES, rate.count);
    let fine = case.reaches_times(FINE, facts.flight.median_peak, facts.segment_size.max(1));
    many && fine
        && case.reaches_times(UNSLOWED, rate.p10, rate.p90)
        && case.below(WHOLE, facts.clocking.short_share)
}

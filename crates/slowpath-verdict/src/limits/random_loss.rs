//! Losses that the flow's own load does not explain keep the congestion window small.

use slowpath_facts::words::{bits, bytes, percent};

use super::bottleneck_bandwidth::unslowed;
use crate::case::{Case, IDLE_SHARE_ALONE};
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};

/// Looks for losses at any backlog that could hold the rate.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let loss = &facts.loss;
    may_hold(case)?;
    let fit = case.queue().unwrap_or_default();
    require(!Case::losses_follow_load(&fit), Reason::LossesFollowLoad, || {
        format!("losses come at one backlog ({})", bytes(fit.size_bytes))
    })?;
    require(!in_few_bursts(case), Reason::TooFewLosses, || {
        format!(
            "{} segments were lost in only {} bursts",
            loss.lost_segments, loss.episodes
        )
    })?;
    require(!unslowed(case), Reason::SmallerShare, || {
        format!("{} lost segments do not slow the sender", loss.lost_segments)
    })?;
    let idle = case.share(facts.time.idle_s);
    let mut out = Finding::new(
        Limit::RandomLoss,
        1.0 - idle,
        (0.55 + 0.05 * loss.episodes.min(7) as f64).min(0.9),
        format!(
            "Losses that the load does not explain hold the congestion window down: {} of {} segments lost in {} episodes, no queue before them, window and program not in the way.",
            loss.lost_segments, facts.segments, loss.episodes
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    if idle >= IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    Ok(out)
}

/// Whether anything was lost that the program's pauses do not outweigh.
pub(super) fn lost(case: &Case) -> Result<(), No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    require(
        loss.lost_segments > 0 && loss.episodes > 0,
        Reason::NoLoss,
        || "nothing was lost".to_owned(),
    )?;
    let idle = case.share(facts.time.idle_s);
    require(
        idle < IDLE_SHARE_ALONE || loss.episodes >= 3,
        Reason::SmallerShare,
        || {
            format!(
                "{} episodes of losses, and nothing in flight {} of the time",
                loss.episodes,
                percent(idle)
            )
        },
    )
}

/// Whether the losses could hold the rate that was seen.
pub(super) fn may_hold(case: &Case) -> Result<(), No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    measurable(case)?;
    // Compare with what congestion control makes of them.
    let ratio = case.busy_rate() / case.rate_with_losses(loss.episodes);
    require(
        loss.episodes >= 3 || (LOW..HIGH).contains(&ratio),
        Reason::SmallerShare,
        || {
            format!(
                "{} lost segments would allow {}",
                loss.lost_segments,
                bits(case.rate_with_losses(loss.episodes) * 8.0)
            )
        },
    )?;
    debug_assert!(facts.loss.lost_segments > 0);
    Ok(())
}

/// Whether losses come in so few bursts that a queue, a policer and an outage look alike.
pub(super) fn in_few_bursts(case: &Case) -> bool {
    let loss = &case.facts.loss;
    loss.episodes < 5 && loss.lost_segments > 3 * loss.episodes
}

/// Without round trips a queue before the losses cannot be excluded.
pub(super) fn measurable(case: &Case) -> Result<(), No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    lost(case)?;
    require(
        facts.rtt.count >= 10 || loss.episodes >= 5,
        Reason::TooFewLosses,
        || {
            format!(
                "{} episodes of losses with {} round trips beside them are too few",
                loss.episodes, facts.rtt.count
            )
        },
    )
}

/// What the rate of a few losses may be, relative to what congestion control makes of them.
const LOW: f64 = 0.3;
const HIGH: f64 = 3.0;

//! Losses that the flow's own load does not explain keep the congestion window small.

use super::{losses, seen};
use crate::case::{Case, IDLE_SHARE_ALONE};
use crate::catalogue::Message;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Size};
use crate::verdict::Evidence;

/// Losses come at any backlog. Its cut-offs stand with those of losses.
pub(crate) const LOOK: Look = Look {
    limit: Limit::RandomLoss,
    plainest: true,
    certainty: Certainty::Inferred,
    at: look,
    evidence,
    cuts: losses::CUTS,
};

/// Looks for losses at any backlog that could hold the rate.
fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let loss = &facts.loss;
    losses::may_hold(case)?;
    let fit = case.queue().unwrap_or_default();
    require(!case.losses_follow_load(&fit), Reason::LossesFollowLoad, || {
        Message::OneBacklog {
            size: Size(fit.size_bytes),
        }
    })?;
    require(!losses::in_few_bursts(case), Reason::TooFewLosses, || {
        Message::OnlyBursts {
            lost: Count(loss.lost_segments),
            episodes: Count(loss.episodes),
        }
    })?;
    require(!losses::unslowed(case), Reason::SmallerShare, || {
        Message::LossesSlowNobody {
            lost: Count(loss.lost_segments),
        }
    })?;
    let idle = case.share(facts.time.idle_s);
    let mut out = Finding::new(
        Limit::RandomLoss,
        1.0 - idle,
        (DOUBTFUL + PER_EPISODE * loss.episodes.min(ENOUGH) as f64).min(CLEAR),
        Message::LossesHold {
            lost: Count(loss.lost_segments),
            segments: Count(facts.segments),
            episodes: Count(loss.episodes),
        },
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    if case.reaches(IDLE_SHARE_ALONE, idle) {
        out.flags.push(Flag::Mixed);
    }
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let mut out = seen::queue(case);
    out.extend(seen::usual(case));
    out
}

/// Confidence without any episode; chosen.
const DOUBTFUL: f64 = 0.55;
/// What each episode adds; chosen.
const PER_EPISODE: f64 = 0.05;
/// Episodes beyond which more add nothing; chosen.
const ENOUGH: u64 = 7;
/// Highest confidence; chosen.
const CLEAR: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::{lossy, said, spread};

    #[test]
    fn losses_that_slow_nobody_are_not_the_limit() {
        let mut facts = lossy(2e9, 5e6);
        facts.queue.as_mut().unwrap().delay.explained = 0.0;
        assert_eq!(said(&facts).0, Limit::RandomLoss, "{}", said(&facts).1);
        facts.rate = spread(240, 480_000.0, 500_000.0, 510_000.0);
        assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
    }
}

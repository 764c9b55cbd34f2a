//! The flow fills a link or shaper.

use slowpath_facts::words::bits;

use super::{full_link, random_loss};
use crate::case::Case;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// The rate of a sender that losses do not slow stays within this share of its highest.
const UNSLOWED: f64 = 0.8;

/// Looks for a full link of the flow's own.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let out = full_link::look(case)?;
    require(!full_link::is_shared(case), Reason::SmallerShare, || {
        format!(
            "{} flows between these hosts were active at the same time",
            case.around.flows
        )
    })?;
    Ok(out)
}

/// Looks for a sender that losses do not slow: its rate is the path's.
pub(super) fn despite_losses(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let loss = &facts.loss;
    random_loss::may_hold(case)?;
    require(unslowed(case), Reason::SmallerShare, || {
        format!("the rate falls to {} after losses", bits(facts.rate.p10 * 8.0))
    })?;
    let idle = case.share(facts.time.idle_s);
    let mut out = Finding::new(
        Limit::BottleneckBandwidth,
        1.0 - idle,
        0.75,
        format!(
            "The transfer runs at {}, hardly less at any time, in spite of {} episodes of losses: they do not slow this sender, so the rate is the path's.",
            bits(case.ethernet_rate()),
            loss.episodes
        ),
    );
    out.parameters.rate_bit_per_s = Some(case.ethernet_rate());
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Whoever heeds losses slows down for each; a rate that stays the same through many of them is not theirs. Less than
/// that many segments per round trip come in steps too coarse to tell.
pub(super) fn unslowed(case: &Case) -> bool {
    let (facts, rate) = (case.facts, &case.facts.rate);
    let many = facts.loss.episodes >= 5 && rate.count >= 20;
    let fine = facts.flight.median_peak >= 20 * u64::from(facts.segment_size.max(1));
    many && fine && rate.p10 >= UNSLOWED * rate.p90 && facts.clocking.short_share < 0.02
}

//! The flow fills a link or shaper.

use super::{full_link, losses, policed, seen, varying};
use crate::case::Case;
use crate::catalogue::Message;
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Rate, Span};
use crate::verdict::Evidence;

/// A full link of the flow's own. Its cut-offs stand with those of a full link, which flows may share, and of losses.
pub(crate) const LOOK: Look = Look {
    limit: Limit::BottleneckBandwidth,
    plainest: true,
    certainty: Certainty::Measured,
    at: look,
    evidence,
    cuts: full_link::CUTS,
};

/// A full link whose rate varies.
pub(crate) const VARYING: Look = Look {
    evidence: evidence_of_varying,
    ..LOOK.other(Certainty::Measured, varying)
};

/// The rate stays in spite of losses.
pub(crate) const DESPITE_LOSSES: Look = LOOK.other(Certainty::Inferred, despite_losses);

/// Looks for a full link of the flow's own.
fn look(case: &Case) -> Result<Finding, No> {
    let out = full_link::look(case)?;
    require(!full_link::is_shared(case), Reason::SmallerShare, || {
        Message::FlowsAtOnce {
            flows: Count(case.around.flows.into()),
        }
    })?;
    Ok(out)
}

/// Looks for a link whose rate varies: the delay follows the rate, at losses or beyond an overflow that no policer made.
fn varying(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let rates = varying::at_losses(case).or_else(|| {
        let policer = (policed::LOOK.at)(case).is_ok();
        varying::rates(case).filter(|_| !policer)
    });
    let Some([low, high]) = rates else {
        return Err(No::new(Reason::DelayIgnoresLoad, Message::DelayIgnoresRate {}));
    };
    let idle = case.share(case.facts.time.idle_s);
    let queued = (case.facts.rtt.p95 - case.base_rtt).max(0.0);
    // Over a few round trips rates may seem higher than any train that left the link; the mean is one of its rates in any case.
    let mean = case.ethernet_rate();
    let [low, high] = [low, high].map(|rate| full_link::at_most_trains(case, case.frames(rate * 8.0)));
    let (low, high) = (low.min(mean), high.max(mean));
    let mut out = Finding::new(
        Limit::BottleneckBandwidth,
        1.0 - idle,
        LIKELY,
        Message::FillsVaryingLink {
            low: Rate(low),
            high: Rate(high),
            queued: Span(queued),
            base: Span(case.base_rtt),
        },
    );
    out.flags.push(Flag::VariableRate);
    if full_link::bloats(case, queued) {
        out.flags.push(Flag::Bufferbloat);
    }
    out.parameters.rate_bit_per_s = Some(case.ethernet_rate());
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    Ok(out)
}

/// Looks for a sender that losses do not slow: its rate is the path's.
fn despite_losses(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let facts = case.facts;
    let loss = &facts.loss;
    losses::may_hold(case)?;
    require(losses::unslowed(case), Reason::SmallerShare, || {
        Message::RateFalls {
            rate: Rate(facts.rate.p10 * 8.0),
        }
    })?;
    let mut out = Finding::new(
        Limit::BottleneckBandwidth,
        1.0 - case.share(facts.time.idle_s),
        CONFIDENCE,
        Message::Unslowed {
            rate: Rate(case.ethernet_rate()),
            episodes: Count(loss.episodes),
        },
    );
    out.parameters.rate_bit_per_s = Some(case.ethernet_rate());
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let mut out = seen::queue(case);
    out.extend(seen::usual(case));
    out
}

/// What shows a rate that varies.
fn evidence_of_varying(case: &Case) -> Vec<Evidence> {
    varying::own_queue(case)
        .into_iter()
        .chain(evidence(case))
        .collect()
}

/// Confidence in a rate that varies; chosen.
const LIKELY: f64 = 0.85;
/// Confidence in a rate that losses do not change; chosen.
const CONFIDENCE: f64 = 0.75;

#[cfg(test)]
mod tests {
    use slowpath_facts::Tap;

    use super::*;
    use crate::limits::sample::{lossy, said, spread};

    #[test]
    fn a_link_that_stands_idle_after_losses_it_did_not_make_is_not_the_limit() {
        for explained in [0.65, 0.7, 0.75, 0.85] {
            let mut facts = lossy(10e6, 5.6e6);
            facts.queue.as_mut().unwrap().delay.explained = explained;
            assert_eq!(
                said(&facts).0,
                Limit::RandomLoss,
                "{explained}: {}",
                said(&facts).1
            );
        }
        let full = lossy(10e6, 9.2e6);
        assert_eq!(said(&full).0, Limit::BottleneckBandwidth, "{}", said(&full).1);
    }

    #[test]
    fn a_short_queue_is_the_limit_however_idle_its_overflows_leave_the_link() {
        let mut facts = lossy(50e6, 24e6);
        let fit = facts.queue.as_mut().unwrap();
        (fit.size_bytes, fit.error, fit.spread, fit.full_episodes) = (13_700.0, 0.01, 0.04, 40);
        assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
        // What is let through at a tenth of the rate found fills no link of that rate.
        facts.queue.as_mut().unwrap().mean_bit_per_s = 5e6;
        assert_ne!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
    }

    #[test]
    fn a_shaper_behind_its_bucket_is_a_link_of_its_own() {
        let mut facts = lossy(5.73e6, 5.9e6);
        facts.tap = Tap::Middle;
        facts.rtt = spread(2_500, 0.019, 0.120, 0.145);
        facts.loss.delay_rank = 0.98;
        facts.loss.ranked_episodes = 5;
        facts.arrival_busy = 0.63;
        let fit = facts.queue.as_mut().unwrap();
        (fit.size_bytes, fit.error, fit.spread) = (234_700.0, 0.001, 0.008);
        (fit.full_episodes, fit.delay_step, fit.delay_correlation) = (40, 0.31, 0.9);
        fit.delay.explained = 0.3;
        assert_eq!(said(&facts).0, Limit::BottleneckBandwidth, "{}", said(&facts).1);
    }
}

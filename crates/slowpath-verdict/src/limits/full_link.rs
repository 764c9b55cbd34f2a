//! A link or shaper that is full, of this flow alone or together with others: what both limits begin with.

use slowpath_facts::QueueFit;
use slowpath_facts::words::{bits, bytes, percent, span};

use crate::case::{Case, EXPLAINED, IDLE_SHARE_ALONE, NO_QUEUE, UTILISATION};
use crate::finding::{Finding, No, require};
use crate::limit::{Flag, Limit, Reason};

/// Delay step from which there is one.
const QUEUE: f64 = 0.4;
/// Use of a link from which the overflows of its own short queue make it the limit.
const SHORT_QUEUE: f64 = 0.25;
/// Use of a link below which losses that come at any backlog, not the link, are the limit.
const LOSSY_LINK: f64 = 0.75;
/// Segments that are no queue.
const HANDFUL: f64 = 5.0;
/// Share of round trips on the plateau that leaves no doubt that the flight is constant.
const CONSTANT: f64 = 0.9;
/// Share of the time during which another flow of the same hosts was active, from which they share the link.
const OVERLAP: f64 = 0.3;

/// Whether other flows between the same hosts share whatever this one fills.
pub(super) fn is_shared(case: &Case) -> bool {
    case.around.flows > 1 && case.around.overlap > OVERLAP
}

/// Looks for a link that is full.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let shared = is_shared(case);
    // A shaper lets a bucket pass before it queues: its delay follows the backlog, but not from the first byte on.
    let behind_bucket = fit.delay_step >= NO_QUEUE && fit.delay_correlation >= EXPLAINED;
    let by_loss = Case::losses_follow_load(&fit) && (fit.delay_step >= QUEUE || behind_bucket);
    let by_delay = case.fills(&fit) || (!shared && case.fills(&own));
    let by_arrival = case.arrives_at_link_rate();
    let by_rate =
        by_arrival || case.steady_behind_queue() || case.standing_queue() || case.alone_in_disorder();
    if !(by_loss || by_delay || by_rate) {
        return Err(no_queue(case, &fit));
    }
    let rate = if by_delay && case.fills(&fit) {
        fit.delay.rate_bit_per_s
    } else if by_delay {
        own.delay.rate_bit_per_s
    } else if by_loss {
        fit.rate_bit_per_s
    } else if by_arrival {
        facts.arrival_peak_bit_per_s
    } else {
        case.ethernet_rate()
    };
    // A link must be used for most of the time to be the limit; one that stands idle after losses which its queue did
    // not make is not.
    let used = fit.mean_bit_per_s / rate.max(1.0);
    let lossy = Case::losses_ignore_load(&fit) && !shared;
    // A queue that is too short makes the losses itself after which its link stands idle.
    let least = match (by_loss, lossy) {
        (true, _) => SHORT_QUEUE,
        (false, true) => LOSSY_LINK,
        (false, false) => UTILISATION,
    };
    require(by_rate || used >= least, Reason::SmallerShare, || {
        format!("the link of {} is used only {}", bits(rate), percent(used))
    })?;
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let size = if by_loss {
        fit.size_bytes
    } else {
        queued * rate / 8.0
    };
    // Without losses a link lets the flight grow. One that stays constant, with a delay that a handful of segments
    // makes, is held by its program, and the delay is that of its rhythm.
    let handful = HANDFUL * f64::from(facts.segment_size.max(1));
    let constant = facts.loss.episodes == 0 && facts.flight.plateau_share >= CONSTANT;
    require(!(constant && size < handful), Reason::FlightConstant, || {
        format!(
            "a flight that stays at {} is no full link's",
            bytes(facts.flight.plateau as f64)
        )
    })?;
    let limit = if shared {
        Limit::SharedBottleneck
    } else {
        Limit::BottleneckBandwidth
    };
    let mut out = Finding::new(
        limit,
        1.0 - case.share(facts.time.idle_s),
        if by_delay || by_loss { 0.95 } else { 0.85 },
        format!(
            "The transfer fills a link or shaper of {}{}: delay grows with the backlog, up to {} ({}) above the empty path's {}.",
            bits(rate),
            if shared {
                format!(", which {} flows between the same hosts share", case.around.flows)
            } else {
                String::new()
            },
            span(queued),
            bytes(size),
            span(case.base_rtt)
        ),
    );
    if queued > case.base_rtt.max(0.02) {
        out.flags.push(Flag::Bufferbloat);
    }
    if shared {
        out.flags.push(Flag::SharedWithOtherFlows);
    }
    if case.share(facts.time.idle_s) >= IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(rate);
    out.parameters.queue_bytes = Some(size.round() as u64);
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if facts.loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(facts.loss.fraction);
    }
    Ok(out)
}

/// Nothing of a full link shows.
fn no_queue(case: &Case, fit: &QueueFit) -> No {
    if case.inflated() {
        No::new(
            Reason::DelayIgnoresLoad,
            format!(
                "the backlog explains {} of the delay",
                percent(fit.delay.explained.max(0.0))
            ),
        )
    } else {
        No::new(
            Reason::DelayAtBase,
            format!(
                "the median round trip of {} is near the empty path's {}",
                span(case.rtt),
                span(case.base_rtt)
            ),
        )
    }
}

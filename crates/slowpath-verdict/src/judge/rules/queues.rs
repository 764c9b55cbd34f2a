//! Rates on the path: links, shapers and policers, alone or with others.

use std::fmt::Write as _;

use super::{Case, Finding, cutoff, finding};
use crate::limit::{Flag, Limit};
use slowpath_facts::Tap;
use slowpath_facts::words::{bits, bytes, percent, span};

pub(super) fn policed(case: &Case) -> Option<Finding> {
    let own = case.facts.queue;
    let shared = (case.around.flows > 1).then_some(case.around.shared).flatten();
    let (fit, together) = match (shared, own) {
        (Some(fit), _) if case.bucket(&fit) => (fit, true),
        (_, Some(fit)) if case.bucket(&fit) => (fit, false),
        _ => return None,
    };
    // Far below the rate, the bucket alone drops: its rate could as well be higher.
    let lower_bound = fit.mean_bit_per_s < 0.5 * fit.rate_bit_per_s;
    let mut out = finding(
        Limit::Policed,
        (1.0 - case.share(case.facts.time.idle_s)).max(0.5),
        (1.0 - fit.error) * if fit.episodes >= 3 { 0.97 } else { 0.75 },
        format!(
            "A policer at {}{} with a bucket of {} drops what exceeds it: {} of {} losses come when the bucket is empty, and the delay does not grow with the load (no queue).",
            if lower_bound { "no less than " } else { "" },
            bits(fit.rate_bit_per_s),
            bytes(fit.size_bytes),
            ((1.0 - fit.error) * fit.losses as f64).round(),
            fit.losses
        ),
    );
    if together {
        out.flags.push(Flag::SharedWithOtherFlows);
        let _ = write!(
            out.sentence,
            " {} flows between the same hosts share it.",
            case.around.flows
        );
    }
    if case.share(case.facts.time.idle_s) >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
    out.parameters.rate_is_lower_bound = Some(lower_bound);
    out.parameters.bucket_bytes = Some(fit.size_bytes.round() as u64);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

pub(super) fn marked(case: &Case) -> Option<Finding> {
    let (ecn, loss) = (&case.facts.ecn, &case.facts.loss);
    let often = ecn.rounds_with_marks >= 2 && ecn.rounds_with_marks * 200 >= case.facts.flight.rounds;
    if !often || ecn.rounds_with_marks < loss.episodes || ecn.reported == 0 {
        return None;
    }
    let fraction = match ecn.mode {
        slowpath_facts::EcnMode::Accurate => ecn.reported as f64 / case.facts.segments.max(1) as f64,
        _ if ecn.ce_packets > 0 => ecn.ce_packets as f64 / case.facts.segments.max(1) as f64,
        _ => ecn.rounds_with_marks as f64 / case.facts.flight.rounds.max(1) as f64,
    };
    let mut out = finding(
        Limit::EcnCongestion,
        1.0 - case.share(case.facts.time.idle_s),
        0.92,
        format!(
            "Congestion marks hold the sender back: marks were reported in {} of {} round trips, losses came in {}.",
            ecn.rounds_with_marks, case.facts.flight.rounds, loss.episodes
        ),
    );
    out.parameters.marked_fraction = Some(fraction);
    out.parameters.rtt_s = Some(case.rtt);
    if let Some(fit) = case.queue().filter(|fit| case.fills(fit)) {
        out.parameters.rate_bit_per_s = Some(fit.delay.rate_bit_per_s);
        out.parameters.queue_delay_s = Some(fit.delay.delay_p95_s);
    }
    Some(out)
}

pub(super) fn bottleneck(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let shared = case.around.flows > 1 && case.around.overlap > 0.3;
    // A shaper lets a bucket pass before it queues: its delay follows the backlog, but not from the first byte on.
    let behind_bucket = fit.delay_step >= cutoff::NO_QUEUE && fit.delay_correlation >= cutoff::EXPLAINED;
    let by_loss = Case::losses_follow_load(&fit) && (fit.delay_step >= cutoff::QUEUE || behind_bucket);
    let by_delay = case.fills(&fit) || (!shared && case.fills(&own));
    let by_arrival = case.arrives_at_link_rate();
    let by_rate =
        by_arrival || case.steady_behind_queue() || case.standing_queue() || case.alone_in_disorder();
    if !(by_loss || by_delay || by_rate) {
        return None;
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
        (true, _) => cutoff::SHORT_QUEUE,
        (false, true) => cutoff::LOSSY_LINK,
        (false, false) => cutoff::UTILISATION,
    };
    if !by_rate && used < least {
        return None;
    }
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let size = if by_loss {
        fit.size_bytes
    } else {
        queued * rate / 8.0
    };
    // Without losses a link lets the flight grow. One that stays constant, with a delay that a handful of segments
    // makes, is held by its program, and the delay is that of its rhythm.
    let handful = cutoff::HANDFUL * f64::from(facts.segment_size.max(1));
    let constant = facts.loss.episodes == 0 && facts.flight.plateau_share >= cutoff::CONSTANT;
    if constant && size < handful {
        return None;
    }
    let limit = if shared {
        Limit::SharedBottleneck
    } else {
        Limit::BottleneckBandwidth
    };
    let mut out = finding(
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
    if case.share(facts.time.idle_s) >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    out.parameters.rate_bit_per_s = Some(rate);
    out.parameters.queue_bytes = Some(size.round() as u64);
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if facts.loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(facts.loss.fraction);
    }
    Some(out)
}

/// Others fill the queue: the delay is high and does not follow the flow's own load, and losses come when it is highest
/// or it never falls back to the empty path's.
pub(super) fn crowded(case: &Case) -> Option<Finding> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    let fit = case.queue().unwrap_or_default();
    let own = facts.queue.unwrap_or_default();
    let margin = (0.05 * case.base_rtt).max(0.002).max(3.0 * case.around.clock_s);
    let delayed =
        facts.rtt.count >= 50 && facts.flight.rounds >= 20 && facts.rtt.p90 - case.base_rtt > 1.5 * margin;
    // A link that these packets keep busy is full of them, whatever the fits say.
    let part_of_it = facts.arrival_busy > 0.0 && facts.arrival_busy < cutoff::WHOLE_LINK;
    let not_own = [&fit, &own]
        .iter()
        .all(|fit| !case.fills(fit) && fit.delay.explained < cutoff::OWN_QUEUE);
    let free = case.held() < 0.3 && case.share(facts.time.idle_s) < cutoff::IDLE_SHARE_ALONE;
    // Losses at one backlog of its own are the flow's own doing.
    let own_losses = Case::losses_follow_load(&fit) && fit.delay_correlation >= cutoff::EXPLAINED;
    // Where packets overtake each other their spacing tells nothing; a flow at one rate has the link for itself.
    if !(delayed && part_of_it && not_own && free) || own_losses || case.alone_in_disorder() {
        return None;
    }
    let mostly = facts.rtt.median - case.base_rtt > margin;
    let ranked = loss.ranked_episodes >= if mostly { 1 } else { 3 };
    let at_full_queue = ranked && loss.delay_rank >= cutoff::FULL_RANK;
    // Before the link a program or pacing may leave pauses; there only a rate that others change tells.
    let afar = matches!(facts.tap, Tap::Receiver | Tap::Middle);
    let part = afar || (!case.steady_behind_queue() && facts.rate.p10 < 0.6 * facts.rate.p90);
    let stands = facts.rtt.p10 - facts.rtt.min > 0.4 * (facts.rtt.p90 - facts.rtt.min)
        && mostly
        && facts.rtt.p10 - case.base_rtt > margin
        && facts.flight.plateau_share < cutoff::PLATEAU
        && part;
    if !(at_full_queue || stands) {
        return None;
    }
    let queued = (facts.rtt.p95 - case.base_rtt).max(0.0);
    let why = if at_full_queue {
        format!(
            "losses come when the delay is at its highest (before the median one {} of all delays were no longer)",
            percent(loss.delay_rank)
        )
    } else {
        format!(
            "the queue never empties (round trip at least {} against {} of the empty path)",
            span(facts.rtt.p10),
            span(case.base_rtt)
        )
    };
    let mut out = finding(
        Limit::SharedBottleneck,
        1.0 - case.share(facts.time.idle_s),
        0.75,
        format!(
            "The transfer shares a full link with other traffic: {why}, and its own load explains only {} of a delay of up to {} above the empty path's {}.",
            percent(own.delay.explained.max(fit.delay.explained).max(0.0)),
            span(queued),
            span(case.base_rtt)
        ),
    );
    if queued > case.base_rtt.max(0.02) {
        out.flags.push(Flag::Bufferbloat);
    }
    out.parameters.queue_delay_s = Some(queued);
    out.parameters.rtt_s = Some(case.rtt);
    if loss.lost_segments > 0 {
        out.parameters.loss_fraction = Some(loss.fraction);
    }
    Some(out)
}

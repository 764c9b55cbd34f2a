//! What the path does to packets whatever the load.

use super::{Case, Finding, cutoff, finding};
use crate::limit::{Flag, Limit};
use slowpath_facts::Tap;
use slowpath_facts::words::{bits, bytes, percent, span};

pub(super) fn black_hole(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let loss = &facts.loss;
    let segment = u64::from(facts.segment_size);
    let stuck = loss.stuck_bytes > 0
        && u64::from(loss.largest_delivered) + 100 < segment
        && loss.max_retransmissions >= 3;
    let told = !facts.too_big.is_empty() && loss.max_retransmissions >= 3 && stuck;
    if !(stuck || told) {
        return None;
    }
    let mut out = finding(
        Limit::MtuBlackHole,
        1.0,
        0.85,
        format!(
            "Full-size segments ({segment} bytes of payload) were sent {} times and never acknowledged, while segments up to {} bytes got through: a smaller MTU on the path, and nobody heeds or sends the message about it.",
            loss.max_retransmissions + 1,
            loss.largest_delivered
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    Some(out)
}

pub(super) fn reordered(case: &Case) -> Option<Finding> {
    let loss = &case.facts.loss;
    // Before the disorder, and without selective acknowledgements, nothing shows what came late but that the sender's
    // retransmissions were answered before they could arrive. Timeouts have other reasons to be needless.
    // Beside the receiver what came late shows, and a capture may have an acknowledgement before its data.
    let misled = if case.facts.tap == Tap::Receiver {
        0
    } else {
        loss.spurious.saturating_sub(loss.timeouts)
    };
    let late = loss.reordered.max(misled);
    let enough =
        late >= 5 && late * 500 >= case.facts.segments && loss.spurious + late > 2 * loss.lost_segments;
    // What was sent again without need cost the sender no more than as many losses would have.
    let needless = loss
        .spurious
        .max(loss.retransmitted_segments.saturating_sub(loss.lost_segments));
    let rounds = case.facts.rounds.iter().filter(|round| round.resent > 0).count() as u64;
    let events = needless.min(rounds.max(1));
    let harmful = events > 0 && case.busy_rate() <= cutoff::HOLDS * case.rate_with_losses(events);
    let held_back = case.held() < 0.3 && case.share(case.facts.time.idle_s) < 0.3;
    if !(enough && harmful && held_back) {
        return None;
    }
    // A queue that never empties stands before a link that is always full: the sender did not slow down for it.
    let link_full = case.queue().is_some_and(|fit| case.fills(&fit))
        || case.standing_queue()
        || case.steady_behind_queue()
        || case.alone_in_disorder();
    if link_full {
        return None;
    }
    let mut out = finding(
        Limit::Reordering,
        1.0 - case.share(case.facts.time.idle_s),
        0.88,
        format!(
            "Packets overtake each other: {late} segments came late, the sender took that for loss and sent {} again, of which only {} had been lost.",
            loss.retransmitted_segments, loss.lost_segments
        ),
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

pub(super) fn lossy(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let loss = &facts.loss;
    let idle = case.share(facts.time.idle_s);
    if idle >= cutoff::IDLE_SHARE_ALONE && loss.episodes < 3 {
        return None;
    }
    if loss.lost_segments == 0 || loss.episodes == 0 {
        return None;
    }
    let blind =
        facts.capture_loss_fraction > 0.005 && facts.loss.fraction < 5.0 * facts.capture_loss_fraction;
    if blind {
        let mut out = finding(
            Limit::CaptureLoss,
            1.0,
            0.8,
            format!(
                "The capture missed {} of the data against {} lost on the way; whether and how losses limited the transfer cannot be told.",
                percent(facts.capture_loss_fraction),
                percent(loss.fraction)
            ),
        );
        out.next_step = Some("capture again with a larger buffer, or only the headers".to_owned());
        return Some(out);
    }
    let fit = case.queue().unwrap_or_default();
    // Losses at one backlog, without the delay that would tell a queue from a bucket.
    if Case::losses_follow_load(&fit) {
        let mut out = finding(
            Limit::Unknown,
            1.0,
            0.5,
            format!(
                "Losses come at a backlog of {} over {}, so a queue or a policer drops, but the delays do not tell which.",
                bytes(fit.size_bytes),
                bits(fit.rate_bit_per_s)
            ),
        );
        out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
        out.parameters.loss_fraction = Some(loss.fraction);
        out.next_step =
            Some("capture at the sender, or send at a rate a little above and below this one".to_owned());
        return Some(out);
    }
    if let Some(others) = crowded_afar(case) {
        return Some(others);
    }
    if facts.rtt.count < 10 && loss.episodes < 5 {
        // Without round trips a queue before the losses cannot be excluded.
        return None;
    }
    if loss.episodes < 5 && loss.lost_segments > 3 * loss.episodes {
        let mut out = finding(
            Limit::Unknown,
            1.0,
            0.5,
            format!(
                "{} segments were lost in only {} bursts: an overflowing queue, a policer or an outage, which so few bursts do not tell apart.",
                loss.lost_segments, loss.episodes
            ),
        );
        out.parameters.loss_fraction = Some(loss.fraction);
        out.next_step = Some("capture a longer transfer, best at the sender".to_owned());
        return Some(out);
    }
    // The loss must be able to hold the rate that was seen: compare with what congestion control makes of it.
    let ratio = case.busy_rate() / case.rate_with_losses(loss.episodes);
    if loss.episodes < 3 && !(0.3..3.0).contains(&ratio) {
        return None;
    }
    if unslowed(case) {
        let mut out = finding(
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
        return Some(out);
    }
    let mut out = finding(
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
    if idle >= cutoff::IDLE_SHARE_ALONE {
        out.flags.push(Flag::Mixed);
    }
    Some(out)
}

/// Whoever heeds losses slows down for each; a rate that stays the same through many of them is not theirs. Less than
/// that many segments per round trip come in steps too coarse to tell.
fn unslowed(case: &Case) -> bool {
    let (facts, rate) = (case.facts, &case.facts.rate);
    let many = facts.loss.episodes >= 5 && rate.count >= 20;
    let fine = facts.flight.median_peak >= 20 * u64::from(facts.segment_size.max(1));
    many && fine && rate.p10 >= cutoff::UNSLOWED * rate.p90 && facts.clocking.short_share < 0.02
}

/// Behind the queue its delay shows as the time from an acknowledgement to what it released. Where that varies and the
/// flow's own load does not explain it, others' packets stand in that queue, or the path itself wavers: such losses
/// may be its overflow.
fn crowded_afar(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let spread = facts.rtt.p90 - facts.rtt.p10;
    let own = case.queue().unwrap_or_default().delay.explained;
    let wavers = facts.rtt.count >= 50
        && facts.loss.fraction > cutoff::HEAVY_LOSS
        && spread > cutoff::WAVERS.max(3.0 * case.around.clock_s);
    if facts.tap != Tap::Receiver || !wavers || own >= cutoff::OWN_QUEUE {
        return None;
    }
    let mut out = finding(
        Limit::Unknown,
        1.0,
        0.5,
        format!(
            "{} of the segments were lost and the delay varies by {}, of which the transfer's own load explains next to nothing: a queue that others fill, or a path that loses and delays by itself; from here these look alike.",
            percent(facts.loss.fraction),
            span(spread)
        ),
    );
    out.parameters.loss_fraction = Some(facts.loss.fraction);
    out.next_step = Some(
        "capture at the sender, beginning before the transfer: what it sees of the empty path tells"
            .to_owned(),
    );
    Some(out)
}

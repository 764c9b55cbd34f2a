//! Cannot be told from here, and what to capture instead.

use slowpath_facts::Tap;
use slowpath_facts::words::{bits, bytes, percent, span};

use super::constant::Constant;
use super::random_loss;
use crate::case::{Case, OWN_QUEUE};
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// Fewest payload bytes, in segments, for a verdict about a limit.
const SEGMENTS: u64 = 30;
/// Share of lost segments with which congestion control that heeds losses keeps no more than a handful in flight.
const HEAVY_LOSS: f64 = 0.05;
/// Variation of the delay, seconds, that no empty path makes.
const WAVERS: f64 = 0.003;

/// Looks for a capture that shows nothing to judge by.
pub(super) fn unusable(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let (why, next) = if case.around.untimed {
        ("the packets have no time stamps", "a capture with time stamps")
    } else if !facts.acknowledged {
        (
            "only one direction of the connection was recorded",
            "both directions at one point",
        )
    } else if facts.segments == 0 && facts.bytes > 0 {
        (
            "only acknowledgements were recorded",
            "both directions at one point",
        )
    } else if facts.capture_loss_fraction > 0.9 {
        (
            "the capture missed nearly all data",
            "both directions at one point",
        )
    } else {
        return Err(No::new(Reason::SmallerShare, "the capture holds what is needed"));
    };
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        0.9,
        format!("Cannot be told from here: {why}."),
    );
    out.next_step = Some(format!("take {next}"));
    Ok(out)
}

/// Looks for a transfer of next to nothing.
pub(super) fn too_short(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let segment = u64::from(facts.segment_size.max(500));
    if facts.bytes >= SEGMENTS * segment {
        return Err(No::new(
            Reason::LongEnough,
            format!("{} are enough", bytes(facts.bytes as f64)),
        ));
    }
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        0.9,
        format!(
            "Too little was transferred ({}) to tell a limit{}.",
            bytes(facts.bytes as f64),
            if facts.tap == Tap::Sender {
                ""
            } else {
                ", as far as this place shows: what was lost before it does not come by"
            }
        ),
    );
    let next = match facts.tap {
        Tap::Sender => "capture a longer transfer",
        Tap::Receiver | Tap::Middle | Tap::Unknown => {
            "capture at the sender, or a longer transfer if this one came to its end"
        }
    };
    out.next_step = Some(next.to_owned());
    Ok(out)
}

/// Looks for losses at one backlog, without the delay that would tell a queue from a bucket.
pub(super) fn queue_or_bucket(case: &Case) -> Result<Finding, No> {
    let loss = &case.facts.loss;
    random_loss::lost(case)?;
    let fit = case.queue().unwrap_or_default();
    require(Case::losses_follow_load(&fit), Reason::LossesIgnoreLoad, || {
        "losses come at no one backlog".to_owned()
    })?;
    let mut out = Finding::new(
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
    Ok(out)
}

/// Looks for losses in so few bursts that what made them cannot be told.
pub(super) fn few_bursts(case: &Case) -> Result<Finding, No> {
    let loss = &case.facts.loss;
    random_loss::measurable(case)?;
    require(random_loss::in_few_bursts(case), Reason::SmallerShare, || {
        format!("{} episodes of losses have a pattern", loss.episodes)
    })?;
    let mut out = Finding::new(
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
    Ok(out)
}

/// Looks for a queue that others may fill, seen from behind it.
///
/// There its delay shows as the time from an acknowledgement to what it released. Where that varies and the flow's own
/// load does not explain it, others' packets stand in that queue, or the path itself wavers: such losses may be its
/// overflow.
pub(super) fn crowded_afar(case: &Case) -> Result<Finding, No> {
    random_loss::lost(case)?;
    let facts = case.facts;
    let spread = facts.rtt.p90 - facts.rtt.p10;
    let own = case.queue().unwrap_or_default().delay.explained;
    let wavers = facts.rtt.count >= 50
        && facts.loss.fraction > HEAVY_LOSS
        && spread > WAVERS.max(3.0 * case.around.clock_s);
    require(
        facts.tap == Tap::Receiver && wavers && own < OWN_QUEUE,
        Reason::SmallerShare,
        || "the delay does not waver".to_owned(),
    )?;
    let mut out = Finding::new(
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
    Ok(out)
}

/// Looks for something fixed at the sender of which no more can be said.
pub(super) fn held_by_sender(case: &Case) -> Result<Finding, No> {
    let flight = &case.facts.flight;
    Constant::of(case)?;
    Constant::stays(case)?;
    let words = Constant::words(case);
    let mut out = Finding::new(
        Limit::Unknown,
        flight.plateau_share,
        0.6,
        format!(
            "Something at the sender holds the transfer: {words}; from here a full send buffer and a program that provides data at a constant rate look alike."
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.next_step =
        Some("capture at the sender, or sample its socket (ss -ti: rwnd_limited, sndbuf_limited)".to_owned());
    Ok(out)
}

/// What is left when nothing else was found.
pub(crate) fn undecided(case: &Case) -> Finding {
    let facts = case.facts;
    let next = match facts.tap {
        Tap::Sender => {
            "sample the sender's socket during the transfer (ss -ti: rwnd_limited, sndbuf_limited, cwnd), or capture at both ends"
        }
        Tap::Receiver | Tap::Middle | Tap::Unknown => "capture at the sender, best at both ends",
    };
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        0.5,
        format!(
            "Cannot be told from here: the window has room, {} segments were lost in {} episodes, the round trip is {} (empty path {}), and the flight is not constant.",
            facts.loss.lost_segments,
            facts.loss.episodes,
            span(case.rtt),
            span(case.base_rtt)
        ),
    );
    out.next_step = Some(next.to_owned());
    out
}

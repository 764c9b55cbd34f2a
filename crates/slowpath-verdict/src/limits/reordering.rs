//! Packets overtake each other and the sender takes that for loss.

use slowpath_facts::Tap;

use crate::case::Case;
use crate::evidence::observed;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

/// How many times the rate that congestion control makes of losses a sender may reach that they hold.
const HOLDS: f64 = 3.0;

/// Looks for needless retransmissions that could hold the rate.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
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
    let harmful = events > 0 && case.busy_rate() <= HOLDS * case.rate_with_losses(events);
    let held_back = case.held() < 0.3 && case.share(case.facts.time.idle_s) < 0.3;
    require(enough, Reason::NoReordering, || {
        format!("{late} of {} segments came late", case.facts.segments)
    })?;
    require(harmful, Reason::SmallerShare, || {
        format!("{late} segments came late, and the sender was misled only {events} times")
    })?;
    require(held_back, Reason::SmallerShare, || {
        format!("the window or the program held the sender while {late} segments came late")
    })?;
    // A queue that never empties stands before a link that is always full: the sender did not slow down for it.
    let link_full = case.queue().is_some_and(|fit| case.fills(&fit))
        || case.standing_queue()
        || case.steady_behind_queue()
        || case.alone_in_disorder();
    require(!link_full, Reason::SmallerShare, || {
        format!("{late} segments came late, but the link stayed full")
    })?;
    let mut out = Finding::new(
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
    Ok(out)
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let loss = &case.facts.loss;
    vec![
        observed(
            "loss.reordered",
            format!("{} segments came late", loss.reordered),
            loss.reordered as f64,
            "",
            &loss.frames,
        ),
        observed(
            "loss.spurious",
            format!("{} retransmissions were not needed", loss.spurious),
            loss.spurious as f64,
            "",
            &[],
        ),
    ]
}

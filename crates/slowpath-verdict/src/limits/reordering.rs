//! Packets overtake each other and the sender takes that for loss.

use slowpath_facts::{Happening, Tap, Timeline};

use super::seen;
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::Count;
use crate::verdict::Evidence;

cuts! {
    /// How many times the rate that congestion control makes of losses a sender may reach that they hold.
    HOLDS: 3.0 between 1.82, NONE;
    /// Late segments that are no accident.
    LATE: 5.0 between 1.00, 5.00;
    /// Their share of all segments.
    OFTEN: 0.002 between 0.001_59, 0.002_17;
    /// Needless retransmissions and late segments over lost ones from which order, not loss, is the matter.
    NOT_LOST: 2.0 between NONE, 23.2;
    /// Share of the time that the window may hold the sender, and that nothing may be in flight.
    HELD: 0.3 between 0.065_8, NONE;
}

/// Packets overtake each other.
pub(crate) const LOOK: Look = Look {
    limit: Limit::Reordering,
    plainest: true,
    certainty: Certainty::Measured,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Packets overtake each other, whether that holds the sender or not: the path makes their delays as much as its queues do.
pub(crate) fn overtakes(case: &Case) -> bool {
    let late = case.facts.loss.reordered;
    case.reaches(LATE, late) && case.reaches_times(OFTEN, late, case.facts.segments)
}

/// Looks for needless retransmissions that could hold the rate.
fn look(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let (loss, segments) = (&case.facts.loss, case.facts.segments);
    // Before the disorder, and without selective acknowledgements, nothing shows what came late but that the sender's
    // retransmissions were answered before they could arrive. Timeouts have other reasons to be needless.
    // Beside the receiver what came late shows, and a capture may have an acknowledgement before its data.
    let misled = if case.facts.tap == Tap::Receiver {
        0
    } else {
        loss.spurious
            .saturating_sub(loss.timeouts.max(behind_timeouts(&case.facts.timeline)))
    };
    let late = loss.reordered.max(misled);
    let enough = case.reaches(LATE, late)
        && case.reaches_times(OFTEN, late, segments)
        && case.exceeds_times(NOT_LOST, loss.spurious + late, loss.lost_segments);
    // What was sent again without need cost the sender no more than as many losses would have.
    let needless = loss
        .spurious
        .max(loss.retransmitted_segments.saturating_sub(loss.lost_segments));
    let rounds = case.facts.rounds.iter().filter(|round| round.resent > 0).count() as u64;
    let events = needless.min(rounds.max(1));
    require(enough, Reason::NoReordering, || Message::FewLate {
        late: Count(late),
        segments: Count(segments),
    })?;
    let harmful = events > 0 && case.within_times(HOLDS, case.busy_rate(), case.rate_with_losses(events));
    require(harmful, Reason::SmallerShare, || Message::HardlyMisled {
        late: Count(late),
        times: Count(events),
    })?;
    let free = case.below(HELD, case.held()) && case.below(HELD, case.share(case.facts.time.idle_s));
    require(free, Reason::SmallerShare, || Message::HeldWhileLate {
        late: Count(late),
    })?;
    // A queue that never empties stands before a link that is always full: the sender did not slow down for it.
    let link_full = case.queue().is_some_and(|fit| case.fills(&fit))
        || case.standing_queue()
        || case.steady_behind_queue()
        || case.alone_in_disorder();
    require(!link_full, Reason::SmallerShare, || Message::LateButFull {
        late: Count(late),
    })?;
    let mut out = Finding::new(
        Limit::Reordering,
        1.0 - case.share(case.facts.time.idle_s),
        CONFIDENCE,
        Message::Overtaken {
            late: Count(late),
            again: Count(loss.retransmitted_segments),
            lost: Count(loss.lost_segments),
        },
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Segments sent again without need behind timeouts: all that was in flight, where the delay had jumped and nothing was lost.
fn behind_timeouts(line: &Timeline) -> u64 {
    let needless = line
        .events
        .iter()
        .filter(|event| event.kind == Happening::Needless);
    let behind = needless.filter(|event| line.follows_timeout(event.at_s));
    behind.map(|event| event.segments).sum()
}

/// What shows it.
fn evidence(case: &Case) -> Vec<Evidence> {
    let loss = &case.facts.loss;
    let late = Message::Late {
        late: Count(loss.reordered),
    };
    let needless = Message::Needless {
        again: Count(loss.spurious),
    };
    let mut out = vec![
        observed("loss.reordered", &late, loss.reordered as f64, "", &loss.frames),
        observed("loss.spurious", &needless, loss.spurious as f64, "", &[]),
    ];
    out.extend(seen::usual(case));
    out
}

/// Chosen.
const CONFIDENCE: f64 = 0.88;

#[cfg(test)]
mod tests {
    use slowpath_facts::{Event, Step};

    use super::*;
    use crate::limits::sample::{loss, quiet, said, spread};

    #[test]
    fn needless_retransmissions_limit_only_what_they_could_hold() {
        let mut facts = quiet();
        facts.rtt = spread(1_000, 0.030, 0.040, 0.050);
        facts.loss.reordered = 900;
        facts.loss.retransmitted_segments = 60;
        facts.loss.spurious = 60;
        for round in facts.rounds.iter_mut().step_by(4) {
            round.resent = 1_448;
        }
        // One in 58 segments: some 10 segments per round trip, 360 kB/s by Reno's rule.
        assert_eq!(said(&facts).0, Limit::Reordering, "{}", said(&facts).1);
        // All of them behind a timeout: the delay had jumped, nothing was overtaken.
        let mut jumped = facts.clone();
        (jumped.loss.reordered, jumped.loss.timeouts) = (0, 1);
        jumped.timeline.step_s = 0.03;
        jumped.timeline.steps.resize(40, Step::default());
        assert_eq!(said(&jumped).0, Limit::Reordering, "{}", said(&jumped).1);
        jumped.timeline.steps[10].silent_s = 0.3;
        jumped.timeline.events.push(Event {
            kind: Happening::Needless,
            segments: 60,
            ..loss(jumped.timeline.start_of(11), f64::NAN)
        });
        assert_ne!(said(&jumped).0, Limit::Reordering, "{}", said(&jumped).1);
        // As many late packets, but the sender was misled only twenty times: that holds no transfer at 8 MB/s.
        facts.bytes = 80_000_000;
        facts.segments = 55_249;
        facts.loss.reordered = 25_000;
        for (index, round) in facts.rounds.iter_mut().enumerate() {
            round.resent = if index < 20 { 1_448 } else { 0 };
        }
        assert_ne!(said(&facts).0, Limit::Reordering, "{}", said(&facts).1);
    }
}

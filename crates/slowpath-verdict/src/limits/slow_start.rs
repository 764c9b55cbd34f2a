//! The transfer ended before its congestion window had grown to what the path carries.

use super::seen;
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Span};

cuts! {
    /// Round trips after which a transfer is no longer a start.
    ROUNDS: 14.0 between 6.00, NONE;
    /// Share of the round trips in which the flight grew from which it still grew.
    GROWING: 0.333_333_333_333_333_3 between NONE, 0.333_333_333_333_333_3;
    /// Round trips in which no initial window grows to what a path carries, whether the steps show or not.
    OPENING: 4.0 between NONE, NONE;
}

/// The transfer ended while it still grew.
pub(crate) const LOOK: Look = Look {
    limit: Limit::SlowStart,
    plainest: true,
    certainty: Certainty::Left,
    at: look,
    evidence: seen::usual,
    cuts: CUTS,
};

/// Looks for a transfer that ended while it still grew.
fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let rounds = facts.flight.rounds;
    let opening =
        case.reaches_times(GROWING, facts.flight.growing_rounds, rounds) || case.within(OPENING, rounds);
    require(case.within(ROUNDS, rounds) && opening, Reason::LongEnough, || {
        Message::LongEnough {
            rounds: Count(rounds),
        }
    })?;
    let quiet = facts.loss.episodes == 0;
    require(quiet && !case.inflated(), Reason::SmallerShare, || {
        Message::PathInUse {
            episodes: Count(facts.loss.episodes),
            rtt: Span(case.rtt),
        }
    })?;
    let mut out = Finding::new(
        Limit::SlowStart,
        1.0,
        CONFIDENCE,
        Message::StillGrowing {
            rounds: Count(rounds),
            rtt: Span(case.rtt),
        },
    );
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Chosen.
const CONFIDENCE: f64 = 0.75;

//! The transfer ended before its congestion window had grown to what the path carries.

use super::seen;
use crate::case::{Case, IDLE_SHARE_ALONE};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Share, Size, Span};

cuts! {
    /// Round trips after which a transfer is no longer a start.
    ROUNDS: 14.0 between 6.00, NONE;
    /// Share of the round trips in which the flight grew from which it still grew.
    GROWING: 0.333_333_333_333_333_3 between NONE, 0.333_333_333_333_333_3;
    /// Round trips in which no initial window grows to what a path carries, whether the steps show or not.
    OPENING: 4.0 between NONE, NONE;
    /// Mean flight of a third of the round trips over that of the third before, above which it grew.
    GREW: 1.1 between NONE, NONE;
    /// Round trips from which thirds of them show growth.
    THIRDS: 9.0 between NONE, NONE;
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

/// The congestion window grew to the end, though not in slow start.
pub(crate) const GREW_ALL_THE_TIME: Look = LOOK.other(Certainty::Left, grew);

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
    unused(case)?;
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

/// Refuses where losses or a queue show that the path was in use.
fn unused(case: &Case) -> Result<(), No> {
    let episodes = case.facts.loss.episodes;
    require(episodes == 0 && !case.inflated(), Reason::SmallerShare, || {
        Message::PathInUse {
            episodes: Count(episodes),
            rtt: Span(case.rtt),
        }
    })
}

/// Looks for a flight that grew from third to third of a transfer, slower than in slow start, on a path that was never full.
fn grew(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let facts = case.facts;
    let rounds = facts.rounds.len() as u64;
    let long = || Message::LongEnough {
        rounds: Count(rounds),
    };
    require(case.reaches(THIRDS, rounds), Reason::LongEnough, long)?;
    let means: Vec<f64> = facts
        .rounds
        .chunks_exact(facts.rounds.len() / PARTS)
        .take(PARTS)
        .map(|part| part.iter().map(|round| round.flight as f64).sum::<f64>() / part.len() as f64)
        .collect();
    let grown = means.is_sorted_by(|before, after| case.exceeds_times(GREW, *after, *before));
    require(grown, Reason::LongEnough, long)?;
    let idle = case.share(facts.time.idle_s);
    require(case.below(IDLE_SHARE_ALONE, idle), Reason::SmallerShare, || {
        Message::HardlyIdle { idle: Share(idle) }
    })?;
    unused(case)?;
    let [first, .., last] = means.as_slice() else {
        return Err(No::new(Reason::LongEnough, long()));
    };
    let mut out = Finding::new(
        Limit::SlowStart,
        1.0,
        CONFIDENCE,
        Message::GrewToTheEnd {
            from: Size(*first),
            to: Size(*last),
            rounds: Count(rounds),
            rtt: Span(case.rtt),
        },
    );
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// Chosen.
const CONFIDENCE: f64 = 0.75;
/// Parts of a transfer that are compared.
const PARTS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::{quiet, said};

    #[test]
    fn a_window_that_grew_all_the_time_is_told_from_one_that_stays_small() {
        let mut facts = quiet();
        facts.flight.rounds = 25;
        facts.rounds.truncate(25);
        for (number, round) in facts.rounds.iter_mut().enumerate() {
            // One segment more in each round trip, as Reno grows.
            round.flight = 1_448 * (20 + number as u64);
        }
        let (limit, text) = said(&facts);
        assert_eq!(limit, Limit::SlowStart, "{text}");
        assert!(text.contains("still growing when the transfer ended"), "{text}");
        for round in &mut facts.rounds {
            round.flight = 60_000;
        }
        assert_ne!(said(&facts).0, Limit::SlowStart, "{}", said(&facts).1);
        facts.rounds.truncate(2);
        assert_ne!(said(&facts).0, Limit::SlowStart, "{}", said(&facts).1);
    }
}

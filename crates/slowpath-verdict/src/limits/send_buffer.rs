//! The sender's socket buffer, or another fixed amount of its program, holds less than the path could carry.

use slowpath_facts::Tap;

use super::constant::Constant;
use super::seen;
use crate::case::{Case, PLATEAU};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, observed, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Share, Size};
use crate::verdict::Evidence;

cuts! {
    /// Share of round trips at the largest flight that makes it a ceiling.
    CEILING: 0.4 between NONE, 0.545;
    /// The flight that is come to, over the largest, from which that is a ceiling.
    NEVER_ABOVE: 0.94 between NONE, 0.958;
    /// Round trips from which a flight that never exceeds one amount has a ceiling.
    CEILING_ROUNDS: 40.0 between NONE, NONE;
    /// Share of packets smaller than a segment below which segments are whole: under a ceiling.
    WHOLE: 0.03 between 0.019_7, NONE;
    /// Share of bursts that end with one, likewise.
    WHOLE_BURSTS: 0.05 between NONE, 0.329;
    /// The same shares seen from afar.
    WHOLE_AFAR: 0.01 between 0.0, 0.010_7;
    /// Share of bursts that follow an acknowledgement at once from which acknowledgements are the clock.
    CLOCKED: 0.7 between 0.292, 0.868;
    /// The same where short segments leave doubt.
    STRICTLY: 0.9 between 0.887, 0.987;
    /// Share that would do so by chance, up to which a strict clock tells.
    CHANCE: 0.6 between 0.565, 1.00;
    /// The same from afar.
    CHANCE_AFAR: 0.5 between NONE, 0.565;
}

/// A fixed amount at the sender.
pub(crate) const LOOK: Look = Look {
    limit: Limit::SendBuffer,
    plainest: true,
    certainty: Certainty::Left,
    at: look,
    evidence,
    cuts: CUTS,
};

/// Looks for a fixed amount at the sender.
fn look(case: &Case) -> Result<Finding, No> {
    let out = fixed_amount(case, Limit::SendBuffer)?;
    require(!case.around.ssh, Reason::SmallerShare, || {
        Message::ProtocolsAmount {}
    })?;
    Ok(out)
}

/// Looks for a fixed amount that is called `limit`.
pub(super) fn fixed_amount(case: &Case, limit: Limit) -> Result<Finding, No> {
    let constant = Constant::of(case)?;
    if case.below(PLATEAU, case.facts.flight.plateau_share) {
        return ceiling(case, limit, constant);
    }
    let (facts, flight, clocking) = (case.facts, &case.facts.flight, &case.facts.clocking);
    // A send buffer whose size is no multiple of the segment also makes short segments; then only a strict clock tells.
    let strictly = case.reaches(STRICTLY, clocking.ack_share) && case.below(CHANCE, clocking.chance_share);
    let clocked = case.reaches(CLOCKED, clocking.ack_share);
    let at_sender = facts.tap == Tap::Sender;
    // Seen from afar a program's rhythm may look like a clock by chance.
    let whole =
        case.below(WHOLE_AFAR, clocking.short_share) && case.below(WHOLE_AFAR, clocking.short_burst_share);
    let clocked_afar = clocked && whole && case.below(CHANCE_AFAR, clocking.chance_share);
    require(
        (at_sender && clocked && !Constant::ragged(case))
            || strictly
            || clocked_afar
            || constant.let_go(case),
        Reason::SmallerShare,
        || Message::HardlyClocked {
            clocked: Share(clocking.ack_share),
            chance: Share(clocking.chance_share),
        },
    )?;
    let (amount, window) = (Size(flight.plateau as f64), Size(facts.window.max as f64));
    let (run, rounds) = (Count(flight.plateau_run), Count(flight.rounds));
    let sentence = if limit == Limit::ProtocolWindow {
        Message::ChannelHolds {
            flight: amount,
            run,
            rounds,
            window,
        }
    } else {
        Message::BufferHolds {
            flight: amount,
            run,
            rounds,
            window,
        }
    };
    let mut out = Finding::new(limit, flight.plateau_share, CLEAR, sentence);
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// The flight comes to one amount again and again and never exceeds it, as with pacing below a full send buffer.
fn ceiling(case: &Case, limit: Limit, constant: Constant) -> Result<Finding, No> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let whole =
        case.below(WHOLE, clocking.short_share) && case.below(WHOLE_BURSTS, clocking.short_burst_share);
    let often = case.reaches(CEILING, flight.plateau_share);
    let reached = often && case.reaches_times(NEVER_ABOVE, flight.plateau, flight.max);
    let quiet = !case.inflated() && facts.loss.episodes == 0;
    // A sender that waits for acknowledgements again and again, without loss, queue or a full window, and whose flight
    // does not grow all the same, waits for room in its buffer.
    let waits = constant.let_go(case) && often;
    require(
        quiet && (waits || (reached && whole && case.reaches(CEILING_ROUNDS, flight.rounds))),
        Reason::FlightNotConstant,
        || Message::FlightChanges {
            share: Share(flight.plateau_share),
        },
    )?;
    let mut out = Finding::new(
        limit,
        flight.plateau_share,
        LIKELY,
        Message::FlightNeverExceeds {
            flight: Size(flight.plateau as f64),
            share: Share(flight.plateau_share),
            rounds: Count(flight.rounds),
            most: Size(flight.max as f64),
            window: Size(facts.window.max as f64),
        },
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let flight = &case.facts.flight;
    let amount = flight.plateau as f64;
    let plateau = Message::FlightConstant { flight: Size(amount) };
    let share = Message::InRounds {
        share: Share(flight.plateau_share),
    };
    let mut out = vec![
        observed("flight.plateau", &plateau, amount, "byte", &[]),
        observed("flight.plateau_share", &share, flight.plateau_share, "", &[]),
    ];
    out.extend(seen::clocking(case));
    out.extend(seen::usual(case));
    out
}

/// Confidence where the flight is constant and acknowledgements release it; chosen.
const CLEAR: f64 = 0.85;
/// Confidence where the flight only comes to one amount again and again; chosen.
const LIKELY: f64 = 0.7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::sample::{quiet, said};

    #[test]
    fn pauses_tell_a_full_buffer_from_a_programs_own_rhythm() {
        let mut facts = quiet();
        facts.flight.plateau = 60_000;
        facts.flight.max = 70_000;
        facts.flight.plateau_share = 0.95;
        facts.clocking.ack_share = 0.5;
        facts.clocking.chance_share = 0.4;
        facts.clocking.short_share = 0.035;
        facts.clocking.short_burst_share = 0.2;
        facts.clocking.pauses = 120;
        facts.clocking.pause_chance_share = 0.2;
        for tap in [Tap::Sender, Tap::Middle, Tap::Receiver] {
            facts.tap = tap;
            facts.clocking.pause_ack_share = 1.0;
            assert_eq!(said(&facts).0, Limit::SendBuffer, "{tap:?}: {}", said(&facts).1);
            facts.clocking.pause_ack_share = 0.15;
            assert_eq!(
                said(&facts).0,
                Limit::SenderApplication,
                "{tap:?}: {}",
                said(&facts).1
            );
        }
        // A paced sender's flight comes and goes; its pauses end with acknowledgements all the same.
        facts.flight.plateau_share = 0.6;
        facts.clocking.pause_ack_share = 0.95;
        assert_eq!(said(&facts).0, Limit::SendBuffer, "{}", said(&facts).1);
        facts.clocking.pauses = 5;
        assert_eq!(said(&facts).0, Limit::Unknown, "{}", said(&facts).1);
    }
}

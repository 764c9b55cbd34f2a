//! The sender's socket buffer, or another fixed amount of its program, holds less than the path could carry.

use slowpath_facts::Tap;
use slowpath_facts::words::{bytes, percent};

use super::constant::Constant;
use crate::case::{Case, PLATEAU};
use crate::evidence::{clocking, observed};
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

/// Share of round trips at the largest flight that makes it a ceiling.
const CEILING: f64 = 0.4;

/// Looks for a fixed amount at the sender.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let out = fixed_amount(case, Limit::SendBuffer)?;
    require(!case.around.ssh, Reason::SmallerShare, || {
        "on a port of SSH a fixed amount is the protocol's".to_owned()
    })?;
    Ok(out)
}

/// Looks for a fixed amount that is called `limit`.
pub(super) fn fixed_amount(case: &Case, limit: Limit) -> Result<Finding, No> {
    let constant = Constant::of(case)?;
    if case.facts.flight.plateau_share < PLATEAU {
        return ceiling(case, limit, constant);
    }
    let (flight, clocking) = (&case.facts.flight, &case.facts.clocking);
    // A send buffer whose size is no multiple of the segment also makes short segments; then only a strict clock tells.
    let strictly = clocking.ack_share >= 0.9 && clocking.chance_share < 0.6;
    let clocked = clocking.ack_share >= 0.7;
    let at_sender = case.facts.tap == Tap::Sender;
    // Seen from afar a program's rhythm may look like a clock by chance.
    let whole = clocking.short_share < 0.01 && clocking.short_burst_share < 0.01;
    let clocked_afar = clocked && whole && clocking.chance_share < 0.5;
    require(
        (at_sender && clocked && !Constant::ragged(case)) || strictly || clocked_afar || constant.let_go(),
        Reason::SmallerShare,
        || {
            format!(
                "only {} of bursts follow an acknowledgement at once, {} would by chance",
                percent(clocking.ack_share),
                percent(clocking.chance_share)
            )
        },
    )?;
    let words = Constant::words(case);
    let name = if limit == Limit::ProtocolWindow {
        "A fixed amount of the protocol (SSH channel window or the sender's buffer)"
    } else {
        "The sender's buffer (or another fixed amount of its program)"
    };
    let mut out = Finding::new(
        limit,
        flight.plateau_share,
        0.85,
        format!(
            "{name} holds the transfer: {words}, without loss or queue, and each acknowledgement releases the next data at once."
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// The flight comes to one amount again and again and never exceeds it, as with pacing below a full send buffer.
fn ceiling(case: &Case, limit: Limit, constant: Constant) -> Result<Finding, No> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let whole = clocking.short_share < 0.03 && clocking.short_burst_share < 0.05;
    let reached = flight.plateau_share >= CEILING && flight.plateau * 100 >= flight.max * 94;
    let quiet = !case.inflated() && facts.loss.episodes == 0;
    // A sender that waits for acknowledgements again and again, without loss, queue or a full window, and whose flight
    // does not grow all the same, waits for room in its buffer.
    let waits = constant.let_go() && flight.plateau_share >= CEILING;
    require(
        quiet && (waits || (reached && whole && flight.rounds >= 40)),
        Reason::FlightNotConstant,
        || {
            format!(
                "the flight was constant only in {} of the round trips",
                percent(flight.plateau_share)
            )
        },
    )?;
    let mut out = Finding::new(
        limit,
        flight.plateau_share,
        0.7,
        format!(
            "A fixed amount at the sender (its buffer, most likely) holds the transfer: the flight comes to {} in {} of {} round trips and never exceeds {}, below the window of {}, without loss or queue.",
            bytes(flight.plateau as f64),
            percent(flight.plateau_share),
            flight.rounds,
            bytes(flight.max as f64),
            bytes(facts.window.max as f64)
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let flight = &case.facts.flight;
    let mut out = vec![
        observed(
            "flight.plateau",
            format!("flight constant at {}", bytes(flight.plateau as f64)),
            flight.plateau as f64,
            "byte",
            &[],
        ),
        observed(
            "flight.plateau_share",
            format!("in {} of round trips", percent(flight.plateau_share)),
            flight.plateau_share,
            "",
            &[],
        ),
    ];
    out.extend(clocking(&case.facts.clocking));
    out
}

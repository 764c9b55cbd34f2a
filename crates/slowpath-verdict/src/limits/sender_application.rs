//! The sending program does not provide data: nothing is in flight, or data leaves at the program's own rhythm.

use slowpath_facts::Tap;
use slowpath_facts::words::{bytes, percent, span};

use super::constant::{CLOCKED, Constant};
use crate::case::{Case, IDLE_SHARE_ALONE};
use crate::evidence::{clocking, observed};
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

/// Share of the time with nothing in flight that makes the program the limit.
const IDLE_SHARE: f64 = 0.6;

/// Looks for a program that pauses for most of the time.
pub(super) fn idle(case: &Case) -> Result<Finding, No> {
    pausing(case, IDLE_SHARE)
}

/// Looks for a program that pauses, where nothing else explains the rest.
pub(super) fn idle_alone(case: &Case) -> Result<Finding, No> {
    pausing(case, IDLE_SHARE_ALONE)
}

/// Looks for data that leaves at the program's own rhythm and not when acknowledgements arrive.
pub(super) fn own_rhythm(case: &Case) -> Result<Finding, No> {
    let (facts, flight, clocking) = (case.facts, &case.facts.flight, &case.facts.clocking);
    let constant = Constant::of(case)?;
    Constant::stays(case)?;
    let unclocked = clocking.ack_share < 0.5 + 0.5 * clocking.chance_share.min(0.5);
    let at_sender = facts.tap == Tap::Sender;
    let by_chance = clocking.ack_share < clocking.chance_share + 0.12;
    let own_rhythm = constant.told && constant.beyond < 0.5 * CLOCKED && clocking.short_share > 0.03;
    let ragged = Constant::ragged(case);
    require(
        ragged && (own_rhythm || (unclocked && (at_sender || (by_chance && clocking.short_share > 0.03)))),
        Reason::SenderNeverIdle,
        || {
            format!(
                "{} of bursts follow an acknowledgement at once, {} of packets are smaller than a segment",
                percent(clocking.ack_share),
                percent(clocking.short_share)
            )
        },
    )?;
    let mut out = Finding::new(
        Limit::SenderApplication,
        flight.plateau_share,
        0.85,
        format!(
            "The sending program provides {}/s and no more: data leaves at its own rhythm, not when acknowledgements arrive ({} of bursts), in pieces smaller than a segment, with the window open.",
            bytes(facts.bytes as f64 / case.total),
            percent(clocking.ack_share)
        ),
    );
    out.parameters.source_byte_per_s = Some(facts.bytes as f64 / case.total);
    Ok(out)
}

fn pausing(case: &Case, least: f64) -> Result<Finding, No> {
    let idle = case.share(case.facts.time.idle_s);
    // What follows the last data is no pause of the program.
    require(
        idle >= least && case.facts.time.idle_pauses > 0,
        Reason::SenderNeverIdle,
        || format!("nothing was in flight only {} of the time", percent(idle)),
    )?;
    let time = &case.facts.time;
    let rate = case.facts.bytes as f64 / case.total;
    let mut out = Finding::new(
        Limit::SenderApplication,
        idle,
        0.6 + 0.38 * idle,
        format!(
            "The sending program pauses: {} of the time nothing is in flight although the window is open ({} pauses, the longest {}).",
            percent(idle),
            time.idle_pauses,
            span(time.longest_idle_s)
        ),
    );
    out.parameters.source_byte_per_s = Some(rate);
    Ok(out)
}

/// What shows it.
pub(super) fn evidence(case: &Case) -> Vec<Evidence> {
    let time = &case.facts.time;
    let mut out = vec![observed(
        "time.idle",
        format!("nothing in flight for {}", span(time.idle_s)),
        time.idle_s,
        "s",
        &[],
    )];
    out.extend(clocking(&case.facts.clocking));
    out
}

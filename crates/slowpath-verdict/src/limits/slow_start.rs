//! The transfer ended before its congestion window had grown to what the path carries.

use slowpath_facts::words::span;

use crate::case::Case;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// Round trips after which a transfer is no longer a start.
const ROUNDS: u64 = 14;

/// Looks for a transfer that ended while it still grew.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let busy = facts.flight.rounds;
    let growing = facts.flight.growing_rounds;
    let quiet = facts.loss.episodes == 0;
    // In four round trips no initial window grows to what a path carries, whether the steps show or not.
    let opening = growing * 3 >= busy || busy <= 4;
    require(busy <= ROUNDS && opening, Reason::LongEnough, || {
        format!("the transfer took {busy} round trips")
    })?;
    require(quiet && !case.inflated(), Reason::SmallerShare, || {
        format!(
            "losses in {} episodes and a round trip of {} show a path in use",
            facts.loss.episodes,
            span(case.rtt)
        )
    })?;
    let mut out = Finding::new(
        Limit::SlowStart,
        1.0,
        0.75,
        format!(
            "The transfer ended after {busy} round trips of {}, while the congestion window was still growing: the path was never used.",
            span(case.rtt)
        ),
    );
    out.parameters.rtt_s = Some(case.rtt);
    Ok(out)
}

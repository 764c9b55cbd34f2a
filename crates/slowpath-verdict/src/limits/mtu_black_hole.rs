//! Large packets vanish and no message says so.

use crate::case::Case;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// Looks for full segments that never arrive while smaller ones do.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let loss = &facts.loss;
    let segment = u64::from(facts.segment_size);
    let stuck = loss.stuck_bytes > 0
        && u64::from(loss.largest_delivered) + 100 < segment
        && loss.max_retransmissions >= 3;
    let told = !facts.too_big.is_empty() && loss.max_retransmissions >= 3 && stuck;
    require(stuck || told, Reason::LargePacketsPass, || {
        format!("segments of {} bytes were acknowledged", loss.largest_delivered)
    })?;
    let mut out = Finding::new(
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
    Ok(out)
}

//! Large packets vanish and no message says so.

use super::seen;
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::Count;

cuts! {
    /// Bytes by which what was acknowledged stays below a full segment.
    SMALLER: 100.0 between NONE, 1_448.0;
    /// Transmissions of one segment beyond the first.
    REPEATED: 3.0 between NONE, 15.0;
}

/// Full segments never arrive.
pub(crate) const LOOK: Look = Look {
    limit: Limit::MtuBlackHole,
    plainest: true,
    certainty: Certainty::Plain,
    at: look,
    evidence: seen::usual,
    cuts: CUTS,
};

/// Looks for full segments that never arrive while smaller ones do.
fn look(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    let facts = case.facts;
    let loss = &facts.loss;
    let smaller = f64::from(facts.segment_size) - f64::from(loss.largest_delivered);
    // What is stuck is larger than all that got through.
    let larger = loss.stuck_bytes as f64 - f64::from(loss.largest_delivered);
    let stuck = larger > SMALLER.value
        && case.exceeds(SMALLER, smaller)
        && case.reaches(REPEATED, loss.max_retransmissions);
    require(stuck, Reason::LargePacketsPass, || Message::LargePass {
        passed: Count(loss.largest_delivered.into()),
    })?;
    let (segment, times) = (
        Count(facts.segment_size.into()),
        Count(loss.max_retransmissions + 1),
    );
    let (confidence, sentence) = if loss.largest_delivered > 0 {
        let passed = Count(loss.largest_delivered.into());
        (
            CONFIDENCE,
            Message::LargeVanish {
                segment,
                times,
                passed,
            },
        )
    } else {
        (NOTHING_PASSED, Message::LargeVanishAlone { segment, times })
    };
    let mut out = Finding::new(Limit::MtuBlackHole, 1.0, confidence, sentence);
    out.parameters.loss_fraction = Some(loss.fraction);
    Ok(out)
}

/// Chosen.
const CONFIDENCE: f64 = 0.85;
/// The same where no smaller segment was sent, so that the path may be dead as well; chosen.
const NOTHING_PASSED: f64 = 0.5;

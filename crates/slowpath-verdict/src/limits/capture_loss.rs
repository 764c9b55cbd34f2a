//! The capture misses too much.

use super::{losses, seen};
use crate::case::Case;
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::Share;

cuts! {
    /// Share of the data that the capture missed from which that matters.
    MISSED: 0.005 between 0.0, NONE;
    /// Losses over what the capture missed below which the losses may be the capture's own.
    LOST: 5.0 between NONE, NONE;
}

/// The capture may have lost what the path is said to have lost.
pub(crate) const LOOK: Look = Look {
    limit: Limit::CaptureLoss,
    plainest: false,
    certainty: Certainty::Inferred,
    at: look,
    evidence: seen::usual,
    cuts: CUTS,
};

/// Looks for losses that may be the capture's own.
fn look(case: &Case) -> Result<Finding, No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    losses::lost(case)?;
    let missed = facts.capture_loss_fraction;
    let blind = case.exceeds(MISSED, missed) && case.below_times(LOST, loss.fraction, missed);
    require(blind, Reason::SmallerShare, || Message::CaptureMissedLittle {
        missed: Share(missed),
    })?;
    let mut out = Finding::new(
        Limit::CaptureLoss,
        1.0,
        CONFIDENCE,
        Message::CaptureMissed {
            missed: Share(missed),
            lost: Share(loss.fraction),
        },
    );
    out.next_step = Some(Message::CaptureAgain {});
    Ok(out)
}

/// Chosen.
const CONFIDENCE: f64 = 0.8;

//! The capture misses too much.

use slowpath_facts::words::percent;

use super::random_loss;
use crate::case::Case;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};

/// Looks for losses that may be the capture's own.
pub(super) fn look(case: &Case) -> Result<Finding, No> {
    let (facts, loss) = (case.facts, &case.facts.loss);
    random_loss::lost(case)?;
    let blind =
        facts.capture_loss_fraction > 0.005 && facts.loss.fraction < 5.0 * facts.capture_loss_fraction;
    require(blind, Reason::SmallerShare, || {
        format!(
            "the capture missed {} of the data",
            percent(facts.capture_loss_fraction)
        )
    })?;
    let mut out = Finding::new(
        Limit::CaptureLoss,
        1.0,
        0.8,
        format!(
            "The capture missed {} of the data against {} lost on the way; whether and how losses limited the transfer cannot be told.",
            percent(facts.capture_loss_fraction),
            percent(loss.fraction)
        ),
    );
    out.next_step = Some("capture again with a larger buffer, or only the headers".to_owned());
    Ok(out)
}

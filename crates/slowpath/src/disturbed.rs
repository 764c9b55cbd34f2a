//! Verdicts on runs that the machine disturbed.
//!
//! The analysis of a capture leaves out the spans in which the machine held packets up, but what followed from them
//! stays in the packets: a window that a late acknowledgement kept small, an overflow of what gathered. So a disturbed run
//! keeps its verdict only where the same run, simulated without disturbances, is limited by the same thing; otherwise
//! it cannot tell. This only ever takes a verdict away.

use slowpath_record::Health;
use slowpath_verdict::{Analysis, Limit, Verdict};

/// Takes the verdict of the main connection, and that of the job that it is part of, away where the machine may have made
/// it.
pub(crate) fn withhold(analysis: &mut Analysis, health: &Health) {
    if !health.is_disturbed() || health.undisturbed_limits.is_empty() {
        return;
    }
    if let Some(job) = &mut analysis.job {
        doubt(&mut job.verdict, health);
    }
    let Some(main) = analysis.connections.first_mut() else {
        return;
    };
    if doubt(&mut main.verdict, health) {
        for interval in &mut main.intervals {
            interval.limit = Limit::Unknown;
        }
    }
}

/// Takes a verdict away that the undisturbed run does not share, and says whether it did.
fn doubt(verdict: &mut Verdict, health: &Health) -> bool {
    let undisturbed = &health.undisturbed_limits;
    let agrees = undisturbed.iter().any(|limit| limit == verdict.limit.name());
    if agrees || verdict.limit == Limit::Unknown {
        return false;
    }
    verdict.sentence = format!(
        "Cannot be told from this run: its packets look like {}, but the machine held packets up, and without that the same \
         run does not look so.",
        verdict.limit.name()
    );
    verdict.limit = Limit::Unknown;
    verdict.flags.clear();
    verdict.share = 0.0;
    verdict.confidence = 0.0;
    verdict.next_step = Some("Run it again when the machine has less to do.".to_owned());
    true
}

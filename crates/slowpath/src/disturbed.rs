//! Verdicts on runs that the machine disturbed.
//!
//! The analysis of a capture leaves out the spans in which the machine held packets up, but what followed from them
//! stays in the packets: a window that a late acknowledgement kept small, an overflow of what gathered. So a disturbed run
//! keeps its verdict only where the same run, simulated without disturbances, is limited by the same thing; otherwise
//! it cannot tell. This only ever takes a verdict away.

use slowpath_record::Health;
use slowpath_verdict::{Analysis, Limit};

/// Takes the main connection's verdict away where the machine may have made it.
pub(crate) fn withhold(analysis: &mut Analysis, health: &Health) {
    let Some(main) = analysis.connections.first_mut() else {
        return;
    };
    let verdict = &mut main.verdict;
    let undisturbed = &health.undisturbed_limits;
    let agrees = undisturbed.iter().any(|limit| limit == verdict.limit.name());
    if !health.is_disturbed() || undisturbed.is_empty() || agrees || verdict.limit == Limit::Unknown {
        return;
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
    for interval in &mut main.intervals {
        interval.limit = Limit::Unknown;
    }
}

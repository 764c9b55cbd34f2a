//! From facts to a verdict: the first finding in the order, and from each other limit's rule why not.

use slowpath_facts::{FlowFacts, Surroundings};

use crate::case::{Case, trust};
use crate::evidence;
use crate::finding::No;
use crate::intervals;
use crate::limit::{Limit, Reason};
use crate::limits::{self, undecided};
use crate::order::ORDER;
use crate::verdict::{Interval, Rejected, Verdict};

/// Judges one flow.
pub(crate) fn judge(facts: &FlowFacts, around: &Surroundings) -> (Verdict, Vec<Interval>) {
    let case = Case::of(facts, around);
    let found = ORDER
        .iter()
        .find_map(|look| look.at(&case).ok())
        .unwrap_or_else(|| undecided(&case));
    let intervals = intervals::intervals(&case, found.limit);
    let verdict = Verdict {
        limit: found.limit,
        flags: found.flags.clone(),
        share: found.share.clamp(0.0, 1.0),
        confidence: (found.confidence * trust(&case)).clamp(0.0, 1.0),
        sentence: found.sentence.clone(),
        parameters: found.parameters,
        evidence: evidence::evidence(&case, found.limit),
        rejected: rejected(&case, found.limit),
        next_step: found.next_step,
    };
    (verdict, intervals)
}

/// Why each limit other than `chosen` was not.
fn rejected(case: &Case, chosen: Limit) -> Vec<Rejected> {
    let unseen = !case.facts.acknowledged || case.around.untimed;
    Limit::ALL
        .into_iter()
        .filter(|limit| *limit != chosen && !limit.is_undecided())
        .map(|limit| {
            let No { reason, text } = if unseen {
                No::new(
                    Reason::CaptureIncomplete,
                    "the capture does not hold what is needed",
                )
            } else {
                limits::not(case, limit, chosen)
            };
            Rejected { limit, reason, text }
        })
        .collect()
}

//! The numbers that decide, and how near to them a transfer came.

use slowpath_facts::{FlowFacts, Surroundings};

pub use crate::cut::{Compared, Cut};

use crate::case::Case;
use crate::cut::Watch;
use crate::judge::by_looks;
use crate::limit::Limit;
use crate::limits::{ORDER, SHARED};

/// All cut-offs, those that several limits share first, each once.
pub fn all() -> Vec<Cut> {
    let mut out: Vec<Cut> = Vec::new();
    for cut in SHARED
        .iter()
        .chain(ORDER.iter().map(|look| &look.cuts))
        .copied()
        .flatten()
    {
        if out.iter().all(|known| known.name != cut.name) {
            out.push(*cut);
        }
    }
    out
}

/// Every comparison that judging a flow by the looks comes to, and the limit that they find.
pub fn compared(facts: &FlowFacts, around: &Surroundings) -> (Limit, Vec<Compared>) {
    let watch = Watch::default();
    let limit = by_looks(&Case::of(facts, around).watched(&watch));
    (limit, watch.into_inner())
}

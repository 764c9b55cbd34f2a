//! From facts to a verdict: [`rules`] decides from [`FlowFacts`](slowpath_facts::FlowFacts) alone.

mod evidence;
mod intervals;
mod rules;

pub(crate) use rules::hints::hints;
pub(crate) use rules::judge;

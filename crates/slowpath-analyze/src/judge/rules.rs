//! The rules: facts in, verdict out.

use crate::facts::{FlowFacts, QueueFit};
use crate::limit::Limit;
use crate::verdict::{Interval, Parameters, Verdict};

/// What is known beside the flow itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Surroundings {
    /// Flows of some size between the same hosts in the same direction, this one included; 0 if alone.
    pub(crate) flows: u32,
    /// The virtual queue fitted to all of them together.
    pub(crate) shared: Option<QueueFit>,
    /// Share of this flow's time during which another was active.
    pub(crate) overlap: f64,
    /// Most packets have no time stamp.
    pub(crate) untimed: bool,
    /// Unit of the capture clock.
    pub(crate) clock_s: f64,
}

/// Judges one flow.
pub(crate) fn judge(_facts: &FlowFacts, _around: &Surroundings) -> (Verdict, Vec<Interval>) {
    (
        Verdict {
            limit: Limit::Unknown,
            flags: Vec::new(),
            share: 0.0,
            confidence: 0.0,
            sentence: String::new(),
            parameters: Parameters::default(),
            evidence: Vec::new(),
            rejected: Vec::new(),
            next_step: None,
        },
        Vec::new(),
    )
}

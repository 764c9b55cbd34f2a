//! A way in which a limit shows: what a limit's file gives to the order of all.

use crate::case::Case;
use crate::cut::Cut;
use crate::finding::{Finding, No};
use crate::limit::Limit;
use crate::verdict::Evidence;

/// One way in which a limit shows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// The limit that it finds.
    pub(crate) limit: Limit,
    /// Whether its refusal stands under "not"; one look of each limit that a capture shows.
    pub(crate) plainest: bool,
    /// What its findings rest on.
    pub(crate) certainty: Certainty,
    /// Looks.
    pub(crate) at: fn(&Case) -> Result<Finding, No>,
    /// What shows the limit once it was found.
    pub(crate) evidence: fn(&Case) -> Vec<Evidence>,
    /// The cut-offs of its file.
    pub(crate) cuts: &'static [Cut],
}

impl Look {
    /// The same for another way in which the limit of this file shows.
    pub(crate) const fn other(mut self, certainty: Certainty, at: fn(&Case) -> Result<Finding, No>) -> Self {
        self.plainest = false;
        self.certainty = certainty;
        self.at = at;
        self
    }
}

/// What a finding rests on. Of several findings the one of the firmest ground counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// There is nothing to judge by, or nothing gets through.
    Plain,
    /// The window field or an empty flight says it outright.
    Stated,
    /// Marks, order, spacing or delays of packets show it.
    Measured,
    /// Losses suggest it.
    Inferred,
    /// It is left because nothing else shows.
    Left,
}

impl Certainty {
    /// All of them, the firmest ground first.
    pub(crate) const ALL: [Self; 5] = [
        Self::Plain,
        Self::Stated,
        Self::Measured,
        Self::Inferred,
        Self::Left,
    ];
}

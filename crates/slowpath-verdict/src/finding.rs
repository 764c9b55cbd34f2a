//! What a limit's rule comes to: a finding, or why not.

use crate::limit::{Flag, Limit, Reason};
use crate::verdict::Parameters;

/// What a rule found.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) limit: Limit,
    pub(crate) share: f64,
    pub(crate) confidence: f64,
    pub(crate) sentence: String,
    pub(crate) parameters: Parameters,
    pub(crate) flags: Vec<Flag>,
    pub(crate) next_step: Option<String>,
}

impl Finding {
    /// A finding without figures and flags.
    pub(crate) fn new(limit: Limit, share: f64, confidence: f64, sentence: String) -> Self {
        Self {
            limit,
            share,
            confidence,
            sentence,
            parameters: Parameters::default(),
            flags: Vec::new(),
            next_step: None,
        }
    }
}

/// Why a limit is not the one: what its rule decided on, with the values it saw.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct No {
    pub(crate) reason: Reason,
    pub(crate) text: String,
}

impl No {
    /// A reason with its values in words.
    pub(crate) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Self {
            reason,
            text: text.into(),
        }
    }
}

/// Refuses unless `holds`, with the reason and the words that `values` gives.
pub(crate) fn require(holds: bool, reason: Reason, values: impl FnOnce() -> String) -> Result<(), No> {
    if holds {
        Ok(())
    } else {
        Err(No::new(reason, values()))
    }
}

//! What a limit's rule comes to: a finding, or why not.

use crate::catalogue::Message;
use crate::limit::{Flag, Limit, Reason};
use crate::verdict::{Evidence, Parameters};

/// What a rule found.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    pub(crate) limit: Limit,
    pub(crate) share: f64,
    pub(crate) confidence: f64,
    pub(crate) sentence: Message,
    /// Sentences that follow it.
    pub(crate) also: Vec<Message>,
    pub(crate) parameters: Parameters,
    pub(crate) flags: Vec<Flag>,
    pub(crate) next_step: Option<Message>,
}

impl Finding {
    /// A finding without figures and flags.
    pub(crate) fn new(limit: Limit, share: f64, confidence: f64, sentence: Message) -> Self {
        Self {
            limit,
            share,
            confidence,
            sentence,
            also: Vec::new(),
            parameters: Parameters::default(),
            flags: Vec::new(),
            next_step: None,
        }
    }

    /// All its sentences.
    pub(crate) fn text(&self) -> String {
        let mut text = self.sentence.to_string();
        for more in &self.also {
            text.push(' ');
            text.push_str(&more.to_string());
        }
        text
    }
}

/// Why a limit is not the one: what its rule decided on, with the values it saw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct No {
    pub(crate) reason: Reason,
    pub(crate) message: Message,
}

impl No {
    /// A reason with its values.
    pub(crate) const fn new(reason: Reason, message: Message) -> Self {
        Self { reason, message }
    }
}

/// Refuses unless `holds`, with the reason and what `values` says.
pub(crate) fn require(holds: bool, reason: Reason, values: impl FnOnce() -> Message) -> Result<(), No> {
    if holds {
        Ok(())
    } else {
        Err(No::new(reason, values()))
    }
}

/// One observation, with the numbers of packets that show it; 0 is none.
pub(crate) fn observed(fact: &str, message: &Message, value: f64, unit: &str, packets: &[u64]) -> Evidence {
    Evidence {
        fact: fact.to_owned(),
        text: message.to_string(),
        value,
        unit: unit.to_owned(),
        packets: packets.iter().copied().filter(|number| *number > 0).collect(),
    }
}

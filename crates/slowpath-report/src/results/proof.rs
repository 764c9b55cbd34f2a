//! Predictions and what became of them.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::investigation::{Conclusion, Outcome, Test};
use slowpath_scenario::Intervention;
use slowpath_verdict::Limit;

use crate::explain::ConfigurationText;

/// What became of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProofOutcome {
    /// The re-run came out inside the predicted range.
    Held,
    /// It did not.
    Refuted,
    /// The re-run could not decide.
    Undecided,
}

impl ProofOutcome {
    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
    }
}

/// A change that was predicted, applied and measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// The variant that was changed.
    pub variant: String,
    /// The hypothesis that the change tests.
    pub hypothesis: String,
    /// The change.
    pub change: String,
    /// The same in its stable form; absent in documents of older versions.
    #[serde(default)]
    pub intervention: Option<Intervention>,
    /// The limit before the change.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// Goodput before, byte/s.
    pub before_byte_per_s: f64,
    /// Predicted goodput.
    pub predicted_byte_per_s: PredictedRange,
    /// The other variants whose transfers the prediction rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The limit predicted to take over.
    pub next_limit: Option<Limit>,
    /// Measured goodput after the change, byte/s.
    pub measured_byte_per_s: Option<f64>,
    /// The limit found after the change.
    #[serde(default)]
    pub measured_limit: Option<Limit>,
    /// What became of the prediction.
    pub outcome: ProofOutcome,
    /// All of it in a sentence or two.
    pub sentence: String,
    /// The change in the language of the host that it is made on; absent where that has no words for it.
    #[serde(default)]
    pub configuration: Option<ConfigurationText>,
}

impl Proof {
    /// Whether the change made the transfer faster by a tenth and more.
    pub fn helped(&self) -> bool {
        self.measured_byte_per_s
            .is_some_and(|rate| rate >= self.before_byte_per_s * HELPED)
    }

    /// Whether the predicted range is so wide that a measurement inside it decides nothing.
    pub fn is_vague(&self) -> bool {
        let range = self.predicted_byte_per_s;
        slowpath_diagnose::gain::is_vague(range.low, range.expected, range.high)
    }

    /// Whether a faster link gave nothing, so that what looks like a full link is none.
    pub fn shows_no_link(&self) -> bool {
        matches!(self.intervention, Some(Intervention::ScaleRate { .. }))
            && self
                .measured_byte_per_s
                .is_some_and(|rate| rate < self.before_byte_per_s * LITTLE)
    }

    /// The limit of a variant as the tests of its changes show it, where they show another one than its captures: a rate
    /// that a faster link leaves as it is, and that rises with the devices' own limits lifted, is a device's.
    pub fn shown_limit(proofs: &[&Self]) -> Option<Limit> {
        let freed = |proof: &&Self| {
            proof.helped() && matches!(proof.intervention, Some(Intervention::LiftDeviceLimit { .. }))
        };
        let device = proofs.iter().any(|proof| proof.shows_no_link()) && proofs.iter().any(freed);
        device.then_some(Limit::DeviceLimit)
    }

    /// The proofs of an investigation's conclusion, one for each change tested.
    pub fn of(conclusion: &Conclusion) -> Vec<Self> {
        let proof = |test: &Test| Self {
            variant: conclusion.variant.clone(),
            hypothesis: test.hypothesis.clone(),
            change: slowpath_diagnose::change::words(&test.prediction.change),
            intervention: Some(test.prediction.change.clone()),
            limit: conclusion.situation.as_ref().map(|situation| situation.limit),
            before_byte_per_s: test.prediction.before,
            predicted_byte_per_s: PredictedRange {
                low: test.prediction.low,
                expected: test.prediction.expected,
                high: test.prediction.high,
            },
            others: test.others.clone(),
            next_limit: test.prediction.next_limit,
            measured_byte_per_s: test.measured.as_ref().map(|m| m.mean),
            measured_limit: majority(&test.limits),
            outcome: match test.outcome {
                Outcome::Held => ProofOutcome::Held,
                Outcome::Refuted => ProofOutcome::Refuted,
                Outcome::Undecided => ProofOutcome::Undecided,
            },
            sentence: test.sentence.clone(),
            configuration: None,
        };
        conclusion.tests.iter().map(proof).collect()
    }
}

/// The gain from which a change is said to help.
const HELPED: f64 = 1.1;

/// A gain that is more than nothing.
const LITTLE: f64 = 1.02;

/// A predicted rate with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct PredictedRange {
    /// At least.
    pub low: f64,
    /// Most likely.
    pub expected: f64,
    /// At most; absent where nothing that was seen bounds it.
    pub high: Option<f64>,
}

/// The limit found in most runs, the first found among equals.
fn majority(limits: &[Limit]) -> Option<Limit> {
    let count = |limit: &Limit| limits.iter().filter(|l| *l == limit).count();
    let most = limits.iter().map(count).max()?;
    limits.iter().find(|l| count(l) == most).copied()
}

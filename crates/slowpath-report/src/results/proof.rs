//! Predictions and what became of them.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::investigation::{Conclusion, Outcome, Test};
use slowpath_verdict::Limit;

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
    /// Goodput before, byte/s.
    pub before_byte_per_s: f64,
    /// Predicted goodput.
    pub predicted_byte_per_s: PredictedRange,
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
}

impl Proof {
    /// The proofs of an investigation's conclusion, one for each change tested.
    pub fn of(conclusion: &Conclusion) -> Vec<Self> {
        let proof = |test: &Test| Self {
            variant: conclusion.variant.clone(),
            hypothesis: test.hypothesis.clone(),
            change: slowpath_diagnose::change::words(&test.prediction.change),
            before_byte_per_s: test.prediction.before,
            predicted_byte_per_s: PredictedRange {
                low: test.prediction.low,
                expected: test.prediction.expected,
                high: test.prediction.high,
            },
            next_limit: test.prediction.next_limit,
            measured_byte_per_s: test.measured.as_ref().map(|m| m.mean),
            measured_limit: majority(&test.limits),
            outcome: match test.outcome {
                Outcome::Held => ProofOutcome::Held,
                Outcome::Refuted => ProofOutcome::Refuted,
                Outcome::Undecided => ProofOutcome::Undecided,
            },
            sentence: test.sentence.clone(),
        };
        conclusion.tests.iter().map(proof).collect()
    }
}

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

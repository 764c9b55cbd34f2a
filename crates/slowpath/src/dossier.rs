//! What a reader of an experiment's results needs beside the figures: question, source, corrections, assumptions.

use serde::Deserialize;
use slowpath_report::results::{Note, Source};

/// The file `dossier.toml` beside an experiment file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dossier {
    /// The question that the experiment answers.
    #[serde(default)]
    pub question: Option<String>,
    /// The answer in a sentence or two.
    #[serde(default)]
    pub answer: Option<String>,
    /// The published document with which the figures are compared.
    #[serde(default)]
    pub source: Option<Source>,
    /// Notes for the reader.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Answers for single variants, by their names.
    #[serde(default)]
    pub answers: std::collections::BTreeMap<String, String>,
    /// Pairs of variants to be compared beside the comparisons with the first variant.
    #[serde(default)]
    pub comparisons: Vec<ComparisonWish>,
    /// Changes to single variants whose outcome is predicted and tested.
    #[serde(default)]
    pub proofs: Vec<ProofWish>,
}

/// Two variants to be compared with each other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparisonWish {
    /// The variant compared with.
    pub a: String,
    /// The variant that is compared.
    pub b: String,
}

/// A change whose outcome is to be predicted and tested by a re-run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofWish {
    /// The variant to change.
    pub variant: String,
    /// The new receive window.
    pub window: slowpath_units::ByteCount,
}

impl Dossier {
    /// Reads a dossier.
    ///
    /// # Errors
    /// What is wrong with the text, with its place.
    pub fn read(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

//! What a reader of an experiment's results needs beside the figures: question, source, corrections, assumptions.

use serde::Deserialize;
use slowpath_diagnose::change::Change;
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
pub struct ProofWish {
    /// The variant to change.
    pub variant: String,
    /// The change.
    #[serde(flatten)]
    pub change: WishedChange,
}

/// The change of a [`ProofWish`], under a key of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WishedChange {
    /// The new receive window.
    Window(slowpath_units::ByteCount),
    /// Who takes the marks off.
    Marks(MarksOff),
}

/// Who takes the marks off packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MarksOff {
    /// OpenSSH at the sending end, with `IPQoS none`.
    IpqosNone,
    /// The first router on the way.
    Rewritten,
}

impl From<WishedChange> for Change {
    fn from(wish: WishedChange) -> Self {
        match wish {
            WishedChange::Window(bytes) => Self::ReceiverWindow { bytes: bytes.bytes() },
            WishedChange::Marks(MarksOff::IpqosNone) => Self::SshWithoutMark,
            WishedChange::Marks(MarksOff::Rewritten) => Self::MarksRewritten,
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proofs_name_their_change() {
        for (line, change) in [
            (
                "window = \"65535 B\"",
                Some(Change::ReceiverWindow { bytes: 65_535 }),
            ),
            ("marks = \"ipqos-none\"", Some(Change::SshWithoutMark)),
            ("marks = \"rewritten\"", Some(Change::MarksRewritten)),
            ("marks = \"none\"", None),
            ("", None),
        ] {
            let read = Dossier::read(&format!("[[proofs]]\nvariant = \"v\"\n{line}\n"));
            let found = read.ok().map(|dossier| Change::from(dossier.proofs[0].change));
            assert_eq!(found, change, "{line}");
        }
    }
}

//! What an experiment came to: the document behind `result.json`, the terminal table and the page.
//!
//! [`Results`] serialises to `slowpath/run/1`. Names are stable: fields are added, never renamed, and a
//! field that an older document lacks takes its default, so a report can be made again from the record.

mod asked;
mod compared;
mod figure;
mod proof;
mod run;
mod variant;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use slowpath_record::{HealthState, Origin};

use crate::quantity::RateUnit;

pub use asked::{Answer, RangePoint, RangeResult, RangeWish};
pub use compared::{Twin, VariantComparison};
pub use figure::{Basis, Figure, Reference};
pub use proof::{PredictedRange, Proof, ProofOutcome};
pub use run::{CaptureRow, FlowRow, RunResult};
pub(crate) use variant::{Held, SENDER};
pub use variant::{NEVER, Variant};

/// The version of the document's form.
pub const SCHEMA: &str = "slowpath/run/1";

/// Everything a report says about one experiment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name of the experiment, such as `cisco-ftp`.
    pub experiment: String,
    /// Seed from which every variant's seeds are derived.
    #[serde(with = "slowpath_record::text_number")]
    pub seed: u64,
    /// Title for the reader.
    #[serde(default)]
    pub title: String,
    /// The question that the experiment answers, as a sentence.
    #[serde(default)]
    pub question: Option<String>,
    /// The answer in a sentence or two; without it the page leads with the variants' answers.
    #[serde(default)]
    pub answer: Option<String>,
    /// Set when the run was shortened (`--quick`): what was scaled down, as a sentence.
    #[serde(default)]
    pub scaled: Option<String>,
    /// When the results were written, as an RFC 3339 stamp given by the caller.
    #[serde(default)]
    pub written: Option<String>,
    /// The published document with which the figures are compared.
    #[serde(default)]
    pub source: Option<Source>,
    /// The unit in which rates are shown: that of the published figures.
    #[serde(default)]
    pub rate_unit: RateUnit,
    /// Path, workload and whatever else all variants share: label and value.
    #[serde(default)]
    pub setup: Vec<(String, String)>,
    /// The variants in the order of the experiment file.
    pub variants: Vec<Variant>,
    /// Statements about pairs of variants.
    pub comparisons: Vec<VariantComparison>,
    /// Variants that were run in both clocks.
    #[serde(default)]
    pub twins: Vec<Twin>,
    /// Predictions that were tested by a re-run.
    #[serde(default)]
    pub proofs: Vec<Proof>,
    /// What the results say to the questions of the source.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// Settings over a range, computed in simulated time for the answers.
    #[serde(default)]
    pub ranges: Vec<RangeResult>,
    /// Assumptions, exclusions, corrections and limitations.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The machine: label and value.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// Commands that make these results again.
    #[serde(default)]
    pub reproduce: Vec<String>,
}

impl Results {
    /// The same with the variants of these names alone and what was tested of them; whole if there are none.
    pub fn of_variants(&self, names: &[String]) -> Cow<'_, Self> {
        if names.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        own.variants.retain(|variant| names.contains(&variant.name));
        own.proofs.retain(|proof| names.contains(&proof.variant));
        Cow::Owned(own)
    }

    /// An empty document of the current form.
    pub fn new(experiment: &str, seed: u64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            experiment: experiment.to_owned(),
            seed,
            title: experiment.to_owned(),
            ..Self::default()
        }
    }

    /// The variant of that name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|v| v.name == name)
    }

    /// A variant's name, with its clock where the results hold it in both clocks.
    pub fn label(&self, variant: &Variant) -> String {
        let both = self
            .variants
            .iter()
            .any(|v| v.name == variant.name && v.clock != variant.clock);
        if both {
            format!("{} ({})", variant.name, variant.clock)
        } else {
            variant.name.clone()
        }
    }

    /// The worst health of any run; valid when there is none.
    pub fn health(&self) -> HealthState {
        self.variants
            .iter()
            .map(Variant::health)
            .max()
            .unwrap_or_default()
    }

    /// Whether every run took place in simulated time.
    pub fn is_simulated(&self) -> bool {
        self.is_all(Origin::Simulated)
    }

    /// Whether every run was a transfer over a real network.
    pub fn is_live(&self) -> bool {
        self.is_all(Origin::Live)
    }

    fn is_all(&self, origin: Origin) -> bool {
        !self.variants.is_empty() && self.variants.iter().all(|v| v.clock == origin)
    }

    /// Whether every run was invalid, on whatever clock: there is no figure to go by.
    pub fn is_unanswered(&self) -> bool {
        let mut runs = self.variants.iter().flat_map(|v| &v.runs).peekable();
        runs.peek().is_some() && runs.all(|run| run.health.state == HealthState::Invalid)
    }

    /// What `--check` finds wrong: a figure with a tolerance that is not met and not declared as missed, one that is
    /// declared as missed and is met, a comparison or a prediction that failed.
    ///
    /// Figures that the model was fitted to count as well: they must come out, though they prove nothing.
    pub fn check(&self) -> Vec<String> {
        let mut missed = Vec::new();
        for variant in &self.variants {
            for figure in variant.headline().iter().chain(&variant.figures) {
                missed.extend(figure.fault().map(|fault| format!("{}: {fault}", variant.name)));
            }
        }
        for comparison in &self.comparisons {
            if comparison
                .expected
                .is_some_and(|e| e != comparison.result.outcome)
            {
                missed.push(format!(
                    "{} against {}: {}",
                    comparison.b, comparison.a, comparison.sentence
                ));
            }
        }
        for proof in &self.proofs {
            if proof.outcome == ProofOutcome::Refuted {
                missed.push(format!(
                    "{}: prediction refuted: {}",
                    proof.variant, proof.sentence
                ));
            }
        }
        missed
    }
}

/// A published document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Source {
    /// Title of the document.
    pub title: String,
    /// Where it was published.
    #[serde(default)]
    pub place: Option<String>,
    /// Date of publication.
    #[serde(default)]
    pub published: Option<String>,
    /// What the source says, in a sentence.
    #[serde(default)]
    pub claim: Option<String>,
}

/// What a note is about; notes of one kind stand together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// Something the source leaves open and that was chosen here.
    Assumption,
    /// A setting or explanation that the runs exclude.
    Excluded,
    /// A statement of the source that does not hold.
    Correction,
    /// What these results cannot say.
    Limitation,
    /// Anything else worth reading.
    Remark,
}

impl NoteKind {
    /// The heading under which notes of this kind stand.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Assumption => "Assumed",
            Self::Excluded => "Excluded",
            Self::Correction => "Where the source errs",
            Self::Limitation => "What this cannot say",
            Self::Remark => "Remarks",
        }
    }
}

/// A remark for the reader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// The statement in a few words.
    pub title: String,
    /// The explanation.
    pub text: String,
}

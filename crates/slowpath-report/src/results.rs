//! What an experiment came to: the document behind `result.json`, the terminal table and the page.
//!
//! [`Results`] serialises to `slowpath/run/1`. Names are stable: fields are added, never renamed, and a
//! field that an older document lacks takes its default, so a report can be made again from the record.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_analyze::{Limit, Verdict};
use slowpath_diagnose::investigation::{Conclusion, Outcome, Test};
use slowpath_diagnose::stats::{Comparison, Summary};
use slowpath_record::{Curve, Health, HealthState, MarkCount, ProgramLoad, RunRecord};

use crate::label::Label;
use crate::quantity::RateUnit;

/// Stands in the place of the rate of a transfer that was still under way when its run ended.
pub const NEVER: &str = "never finished";

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

/// How a figure relates to the model that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Measured with the real thing (kernel, program): nothing in it was set to match.
    #[default]
    Measured,
    /// A parameter of the model was fitted to this figure: it is no evidence for the model.
    Fitted,
    /// Computed by a model whose parameters were fitted elsewhere: evidence, if it comes out.
    Predicted,
}

impl Basis {
    /// The mark that stands beside a figure in a table; empty for a measured one.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Measured => "",
            Self::Fitted => "f",
            Self::Predicted => "p",
        }
    }

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Fitted => "fitted",
            Self::Predicted => "predicted",
        }
    }
}

/// One way of doing the transfer, with its repeats.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Variant {
    /// Name from the experiment file.
    pub name: String,
    /// `lab` or `simulated`.
    pub clock: String,
    /// What is special about it, as a short phrase.
    #[serde(default)]
    pub title: Option<String>,
    /// Configuration lines in force, label (host or file) and text.
    #[serde(default)]
    pub configuration: Vec<(String, String)>,
    /// The repeats, in the order they were run.
    pub runs: Vec<RunResult>,
    /// Goodput over the runs that count (all but invalid ones).
    pub goodput_byte_per_s: Option<Summary>,
    /// The published goodput and what was reached of it.
    pub reference: Option<Reference>,
    /// The verdict on the variant: that of its runs where they agree.
    pub verdict: Option<Verdict>,
    /// How the variant's goodput relates to the model.
    #[serde(default)]
    pub basis: Basis,
    /// What was fitted to what, or what the prediction rests on.
    #[serde(default)]
    pub basis_note: Option<String>,
    /// Further published figures compared: windows, plateaus, rhythms.
    #[serde(default)]
    pub figures: Vec<Figure>,
    /// Set when this variant was shortened: how.
    #[serde(default)]
    pub scaled: Option<String>,
    /// The answer for this variant in one sentence; without it the verdict's sentence serves.
    #[serde(default)]
    pub answer: Option<String>,
}

impl Variant {
    /// The worst health of its runs; valid when there is none.
    pub fn health(&self) -> HealthState {
        self.runs.iter().map(|r| r.health.state).max().unwrap_or_default()
    }

    /// Goodput of the runs that count, in bytes per second: complete ones that are not invalid.
    pub fn rates(&self) -> Vec<f64> {
        self.runs
            .iter()
            .filter(|r| r.health.state != HealthState::Invalid && r.complete)
            .map(|r| r.goodput_byte_per_s)
            .collect()
    }

    /// What stands in the place of a rate where there is none: whether no transfer came to its end, or no run counts.
    pub fn without_rate(&self) -> &'static str {
        if self.runs.iter().any(RunResult::never_finished) {
            NEVER
        } else {
            "no valid run"
        }
    }

    /// Recomputes [`Variant::goodput_byte_per_s`] and the reference's ratio from the runs.
    pub fn summarize(&mut self) {
        self.goodput_byte_per_s = Summary::of_rates(&self.rates());
        if let Some(reference) = &mut self.reference {
            reference.ratio = self
                .goodput_byte_per_s
                .as_ref()
                .map(|g| g.mean / reference.goodput_byte_per_s);
        }
    }

    /// The answer for the reader: the given sentence or the verdict's.
    pub fn sentence(&self) -> Option<&str> {
        self.answer
            .as_deref()
            .or_else(|| self.verdict.as_ref().map(|v| v.sentence.as_str()))
    }

    /// The goodput against the reference as a figure; `None` without a reference.
    pub fn headline(&self) -> Option<Figure> {
        let reference = self.reference.as_ref()?;
        // Sources print goodput in bytes or in bits.
        let printed = reference.label.printed.as_deref();
        let bits = printed.is_some_and(|printed| printed.ends_with("bit/s"));
        let scale = if bits { 8.0 } else { 1.0 };
        Some(Figure {
            name: "goodput".to_owned(),
            unit: if bits { "bit/s" } else { "byte/s" }.to_owned(),
            published: Some(reference.goodput_byte_per_s * scale),
            measured: self.goodput_byte_per_s.as_ref().map(|g| g.mean * scale),
            tolerance: reference.tolerance,
            basis: self.basis,
            note: None,
            label: reference.label.clone(),
        })
    }
}

/// One run of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Bytes that reached the receiving application.
    pub bytes: u64,
    /// From asking to the last byte read or written by the receiver.
    pub duration_s: f64,
    /// Bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Segments sent again, if known.
    pub retransmitted_segments: Option<u64>,
    /// Whether every transfer came to its end.
    #[serde(default = "yes")]
    pub complete: bool,
    /// What stopped a transfer.
    #[serde(default)]
    pub errors: Vec<String>,
    /// Seed of the run.
    #[serde(default)]
    pub seed: u64,
    /// Number of the repeat, from 0.
    #[serde(default)]
    pub repeat: u32,
    /// Traffic per flow.
    pub flows: Vec<FlowRow>,
    /// Measurements over a range of one setting.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Whether the run may be believed.
    pub health: Health,
    /// What limited the run; absent for an invalid one.
    pub verdict: Option<Verdict>,
    /// Capture files, relative to the results folder.
    pub captures: Vec<CaptureRow>,
    /// Marks of packets, where they were counted.
    #[serde(default)]
    pub marks: Vec<MarkCount>,
    /// How busy programs kept a processor during the transfer.
    #[serde(default)]
    pub loads: Vec<ProgramLoad>,
    /// Remarks of the run.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl RunResult {
    /// Takes from a record what the report needs; the verdict comes from analysis.
    pub fn of(record: &RunRecord, verdict: Option<Verdict>) -> Self {
        if record.transfers.is_empty() && !record.flows.is_empty() {
            return Self::of_flows(record, verdict);
        }
        let bytes = record.transfers.iter().map(|t| t.bytes).sum();
        let start = record.transfers.iter().map(|t| t.start).min().unwrap_or_default();
        let end = record.transfers.iter().map(|t| t.end).max().unwrap_or_default();
        let duration_s = end.since(start).seconds();
        let invalid = record.health.state == HealthState::Invalid;
        Self {
            bytes,
            duration_s,
            goodput_byte_per_s: if duration_s > 0.0 {
                bytes as f64 / duration_s
            } else {
                0.0
            },
            retransmitted_segments: sum_known(record.transfers.iter().map(|t| t.retransmitted_segments)),
            complete: !record.transfers.is_empty() && record.transfers.iter().all(|t| t.complete),
            errors: record.transfers.iter().filter_map(|t| t.error.clone()).collect(),
            seed: record.seed,
            repeat: record.repeat,
            flows: record.flows.iter().map(FlowRow::of).collect(),
            curves: record.curves.clone(),
            health: record.health.clone(),
            verdict: if invalid { None } else { verdict },
            captures: record.captures.iter().map(CaptureRow::of).collect(),
            marks: record.marks.clone(),
            loads: record.loads.clone(),
            notes: record.notes.clone(),
        }
    }
}

impl RunResult {
    /// Whether the transfer was still under way when the run ended, in a run that may be believed.
    pub fn never_finished(&self) -> bool {
        !self.complete && self.health.state != HealthState::Invalid
    }

    /// A run without transfers: its goodput is what all flows delivered together.
    fn of_flows(record: &RunRecord, verdict: Option<Verdict>) -> Self {
        let invalid = record.health.state == HealthState::Invalid;
        let goodput: f64 = record.flows.iter().map(|f| f.goodput_byte_per_s).sum();
        // The slowest flow lasts longest; bytes over rate is its time.
        let duration = record
            .flows
            .iter()
            .filter(|f| f.goodput_byte_per_s > 0.0)
            .map(|f| f.received_bytes as f64 / f.goodput_byte_per_s)
            .fold(0.0, f64::max);
        Self {
            bytes: record.flows.iter().map(|f| f.received_bytes).sum(),
            duration_s: duration,
            goodput_byte_per_s: goodput,
            retransmitted_segments: None,
            complete: !invalid,
            errors: Vec::new(),
            seed: record.seed,
            repeat: record.repeat,
            flows: record.flows.iter().map(FlowRow::of).collect(),
            curves: record.curves.clone(),
            health: record.health.clone(),
            verdict: if invalid { None } else { verdict },
            captures: record.captures.iter().map(CaptureRow::of).collect(),
            marks: record.marks.clone(),
            loads: record.loads.clone(),
            notes: record.notes.clone(),
        }
    }
}

/// One flow's traffic, as counted at its two ends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowRow {
    /// Name from the experiment.
    pub name: String,
    /// Packets given to the network.
    pub sent_packets: u64,
    /// Packets that arrived.
    pub received_packets: u64,
    /// Share that did not arrive.
    pub loss_fraction: f64,
    /// Mean deviation of transit time.
    pub jitter_s: Option<f64>,
    /// Application bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Published figures by the name of the field they compare with.
    #[serde(default)]
    pub reference: BTreeMap<String, f64>,
}

impl FlowRow {
    fn of(flow: &slowpath_record::FlowResult) -> Self {
        Self {
            name: flow.name.clone(),
            sent_packets: flow.sent_packets,
            received_packets: flow.received_packets,
            loss_fraction: flow.loss_fraction(),
            jitter_s: flow.jitter.map(slowpath_units::Duration::seconds),
            goodput_byte_per_s: flow.goodput_byte_per_s,
            reference: BTreeMap::new(),
        }
    }
}

/// A capture file of a run and what it is worth.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaptureRow {
    /// File name relative to the results folder.
    pub file: String,
    /// Host or tap.
    pub point: String,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that passed the point but are not in the file.
    #[serde(default)]
    pub missed: u64,
    /// What analysis found wrong with it.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl CaptureRow {
    fn of(capture: &slowpath_record::CaptureRef) -> Self {
        Self {
            file: capture.file.clone(),
            point: capture.point.clone(),
            packets: capture.packets,
            missed: capture.missed,
            warnings: Vec::new(),
        }
    }
}

/// A published goodput.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Reference {
    /// Published mean.
    pub goodput_byte_per_s: f64,
    /// Measured mean over published mean; absent while nothing was measured.
    pub ratio: Option<f64>,
    /// Published single runs, if given.
    #[serde(default)]
    pub runs_byte_per_s: Vec<f64>,
    /// Relative deviation that `--check` accepts, such as 0.03.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Where it comes from, and what was fitted to it.
    #[serde(default)]
    pub label: Label,
}

/// A published figure beside a measured one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Figure {
    /// What it is, such as `window in steady state`.
    pub name: String,
    /// Unit, spelled out: `byte`, `byte/s`, `bit/s`, `s`, or empty for a plain number.
    pub unit: String,
    /// What the source says; absent for a figure that it lacks.
    pub published: Option<f64>,
    /// What was measured; absent when it could not be.
    pub measured: Option<f64>,
    /// Relative deviation that `--check` accepts.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Measured, fitted or predicted.
    #[serde(default)]
    pub basis: Basis,
    /// A remark, such as where the source errs.
    #[serde(default)]
    pub note: Option<String>,
    /// Where it comes from, and what was fitted to it.
    #[serde(default)]
    pub label: Label,
}

impl Figure {
    /// Measured over published; `None` where the published figure is 0.
    pub fn ratio(&self) -> Option<f64> {
        let published = self.published.filter(|published| *published != 0.0)?;
        Some(self.measured? / published)
    }

    /// Whether the tolerance was met; unknown without a tolerance or a published figure.
    ///
    /// A figure that could not be measured has not met it. Of a published 0 the tolerance is an absolute one.
    pub fn met(&self) -> Option<bool> {
        let tolerance = self.tolerance?;
        if self.published? == 0.0 {
            return Some(self.measured.is_some_and(|measured| measured.abs() <= tolerance));
        }
        Some(self.ratio().is_some_and(|r| (r - 1.0).abs() <= tolerance))
    }

    /// What `--check` says against it, if anything.
    fn fault(&self) -> Option<String> {
        match (self.met()?, &self.label.missed) {
            (false, None) => Some(self.miss()),
            (true, Some(reason)) => Some(format!(
                "{} is declared as missed and holds again; remove the declaration ({reason})",
                self.name
            )),
            _ => None,
        }
    }

    /// The published and the measured figure, each in the unit in which the source prints it.
    pub fn shown(&self) -> (Option<String>, Option<String>) {
        let show = |value: f64| {
            self.label
                .in_its_unit(value)
                .unwrap_or_else(|| crate::quantity::with_unit(value, &self.unit))
        };
        let published = self
            .published
            .map(|value| self.label.printed.clone().unwrap_or_else(|| show(value)));
        (published, self.measured.map(show))
    }

    fn miss(&self) -> String {
        let percent = self.tolerance.unwrap_or_default() * 100.0;
        match self.ratio() {
            Some(ratio) => {
                format!(
                    "{} is {ratio:.3} of the published figure, accepted are {percent} %",
                    self.name
                )
            }
            None => format!("{} was not measured", self.name),
        }
    }
}

/// A comparison of two variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantComparison {
    /// The variant compared with.
    pub a: String,
    /// The variant that is compared.
    pub b: String,
    /// What is compared, such as `goodput_byte_per_s`.
    pub quantity: String,
    /// Means, interval of the difference, p-value, outcome.
    pub result: Comparison,
    /// The outcome that the experiment expects, for `--check`.
    #[serde(default)]
    pub expected: Option<slowpath_diagnose::stats::Outcome>,
    /// What it says, in a sentence.
    pub sentence: String,
}

impl VariantComparison {
    /// Compares the goodput of two variants' valid runs; `None` when one has none.
    pub fn goodput(a: &Variant, b: &Variant, unit: RateUnit) -> Option<Self> {
        let result = Comparison::of_rates(&a.rates(), &b.rates())?;
        let sentence = crate::compare::sentence(&a.name, &b.name, &result, unit);
        Some(Self {
            a: a.name.clone(),
            b: b.name.clone(),
            quantity: "goodput_byte_per_s".to_owned(),
            result,
            expected: None,
            sentence,
        })
    }
}

/// One variant in both clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// The variant.
    pub variant: String,
    /// Published goodput, byte/s.
    pub published_byte_per_s: Option<f64>,
    /// Goodput in real time.
    pub lab: Summary,
    /// Goodput in simulated time.
    pub simulated: Summary,
    /// Simulated over lab, of the geometric means.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval (Welch on logarithms); absent with a single run on either side.
    pub low95: Option<f64>,
    /// Upper end of it.
    pub high95: Option<f64>,
    /// The limit found in the lab.
    pub lab_limit: Option<Limit>,
    /// The limit found in simulated time.
    pub simulated_limit: Option<Limit>,
}

impl Twin {
    /// Compares the same variant in both clocks; `None` when one has no valid run.
    pub fn of(lab: &Variant, simulated: &Variant) -> Option<Self> {
        let logarithms = |variant: &Variant| -> Vec<f64> {
            let rates = variant.rates().into_iter();
            rates.filter(|rate| *rate > 0.0).map(f64::ln).collect()
        };
        let difference = Comparison::welch(&logarithms(lab), &logarithms(simulated))?;
        Some(Self {
            variant: lab.name.clone(),
            published_byte_per_s: lab.reference.as_ref().map(|r| r.goodput_byte_per_s),
            lab: lab.goodput_byte_per_s.clone()?,
            simulated: simulated.goodput_byte_per_s.clone()?,
            ratio: (difference.b.mean - difference.a.mean).exp(),
            low95: difference.low95.map(f64::exp),
            high95: difference.high95.map(f64::exp),
            lab_limit: lab.verdict.as_ref().map(|verdict| verdict.limit),
            simulated_limit: simulated.verdict.as_ref().map(|verdict| verdict.limit),
        })
    }
}

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
            change: test.prediction.change.to_string(),
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

/// The limit found in most runs, the first found among equals.
fn majority(limits: &[Limit]) -> Option<Limit> {
    let count = |limit: &Limit| limits.iter().filter(|l| *l == limit).count();
    let most = limits.iter().map(count).max()?;
    limits.iter().find(|l| count(l) == most).copied()
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
    /// Something found out that the source could not explain.
    Finding,
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
            Self::Finding => "Found out",
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

fn sum_known(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.fold(None, |sum, value| match (sum, value) {
        (None, v) => v,
        (s, None) => s,
        (Some(s), Some(v)) => Some(s + v),
    })
}

const fn yes() -> bool {
    true
}

//! A variant with its runs.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::Summary;
use slowpath_record::{HealthState, Origin};
use slowpath_verdict::{Flag, Ledger, Limit, Verdict};

use super::figure::{Basis, Figure, Reference};
use super::run::RunResult;

/// Stands in the place of the rate of a transfer that was still under way when its run ended.
pub const NEVER: &str = "never finished";

/// What holds a variant, with what is remarkable about most of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// The verdict's limit.
    By(Limit),
    /// A path that let nothing through.
    Outage,
    /// A queue before the link that is so short that its overflows leave the link idle.
    ShortQueue,
}

/// One way of doing the transfer, with its repeats.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Name from the experiment file.
    pub name: String,
    /// How its runs came about: on which clock, in a real network, or read from captures.
    pub clock: Origin,
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
    /// What stands in the place of a rate where the variant measures something else: round trips, hops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// Set when this variant was shortened: how.
    #[serde(default)]
    pub scaled: Option<String>,
    /// The answer for this variant in one sentence; without it the verdict's sentence serves.
    #[serde(default)]
    pub answer: Option<String>,
}

impl Variant {
    /// A variant without runs.
    pub fn new(name: &str, clock: Origin) -> Self {
        Self {
            name: name.to_owned(),
            clock,
            title: None,
            configuration: Vec::new(),
            runs: Vec::new(),
            goodput_byte_per_s: None,
            reference: None,
            verdict: None,
            basis: Basis::default(),
            basis_note: None,
            figures: Vec::new(),
            instead: None,
            scaled: None,
            answer: None,
        }
    }

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

    /// Whether its runs say anything of the transfer: a rate, or that it never finishes.
    pub fn is_answered(&self) -> bool {
        self.goodput_byte_per_s.is_some() || self.runs.iter().any(RunResult::never_finished)
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

    /// What holds it, by its verdict and the ledger of the first run that agrees with it.
    pub(crate) fn held(&self) -> Option<Held> {
        let verdict = self.verdict.as_ref()?;
        let own = |run: &&RunResult| run.verdict.as_ref().is_some_and(|own| own.limit == verdict.limit);
        let ledger = self.runs.iter().find(own).and_then(|run| run.ledger.as_ref());
        let mostly = |flag: Flag| {
            let is_mostly = |ledger: &Ledger| {
                let of = ledger.entries.iter().filter(|entry| entry.cause == verdict.limit);
                let flagged = of.filter(|entry| entry.flags.contains(&flag));
                flagged.map(|entry| entry.time_s).sum::<f64>() > ledger.time_of(verdict.limit) / 2.0
            };
            verdict.flags.contains(&flag) && ledger.is_some_and(is_mostly)
        };
        let link = matches!(
            verdict.limit,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck
        );
        Some(if mostly(Flag::Outage) {
            Held::Outage
        } else if link && mostly(Flag::ShortQueue) {
            Held::ShortQueue
        } else {
            Held::By(verdict.limit)
        })
    }

    /// The answer for the reader: the given sentence or the verdict's.
    pub fn sentence(&self) -> Option<&str> {
        self.answer
            .as_deref()
            .or_else(|| self.verdict.as_ref().map(|v| v.sentence.as_str()))
    }

    /// The figure that stands for the variant in a table: its goodput, or where the source gives none, what flows delivered,
    /// the packets of all of them together, those of one, what one lost, or the time to finish.
    pub fn main_figure(&self) -> Option<Figure> {
        let of = |ending: &str| {
            let mut own = self.figures.iter().filter(|figure| figure.published.is_some());
            own.find(|figure| figure.name.ends_with(ending)).cloned()
        };
        self.headline()
            .or_else(|| MAIN_FIGURES.iter().find_map(|ending| of(ending)))
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

/// The name of a figure that the sender counted ends in this.
pub(crate) const SENDER: &str = ": counted by the sender";

/// Ends of the names of figures that may stand for a variant, the first that there is.
const MAIN_FIGURES: [&str; 6] = [
    ": delivered",
    SENDER,
    "total: packets received",
    ": packets received",
    ": share lost",
    "time to finish",
];

//! Figures: what was published, what came out, and what that proves.

use serde::{Deserialize, Serialize};

use crate::label::Label;
use slowpath_words::english;

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
    pub(super) fn fault(&self) -> Option<String> {
        match (self.met()?, &self.label.missed) {
            (false, None) => Some(self.miss()),
            (true, Some(reason)) => Some(english!(
                "results-figure-declared-as-missed-holds-again",
                name = self.name,
                reason = reason
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
                english!(
                    "results-figure-published-figure-accepted",
                    name = self.name,
                    ratio = format_args!("{:.3}", ratio),
                    percent = percent
                )
            }
            None => english!("results-figure-not-measured", name = self.name),
        }
    }
}

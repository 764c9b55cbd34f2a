//! What changes would make of a transfer, for the page: answers with their intervals, and sliders by which the page's reader
//! simulates the fitted transfer again.

use serde::{Deserialize, Serialize};

/// What the page says and offers beside a transfer that a path was fitted to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct WhatIf {
    /// Number of the connection that was fitted.
    pub connection: u32,
    /// The changes asked for and what they would give.
    pub answers: Vec<AnswerRow>,
    /// The fitted transfer; `None` where no change of it may be answered.
    pub sliders: Option<Sliders>,
}

/// A change and what it would give.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AnswerRow {
    /// The change, in words.
    pub change: String,
    /// How long the transfer would take, and the interval that holds nine of ten, in seconds; `None` where it cannot be told.
    pub duration_s: Option<(f64, f64, f64)>,
    /// Code of what would limit it then.
    pub next_limit: Option<String>,
    /// Why it cannot be told.
    pub reason: Option<String>,
    /// Which kind of reason that is, as in JSON.
    #[serde(default)]
    pub untold: Option<String>,
}

/// A fitted transfer as the page's own simulator takes it, and what can be changed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sliders {
    /// The capture's file, for commands.
    pub capture: String,
    /// The fitted path as an experiment file.
    pub experiment: String,
    /// Which of its variants; empty for the only one.
    pub variant: String,
    /// The seed of the fit's own run.
    pub seed: u64,
    /// Whether it is watched beside the sender; else beside the receiver.
    pub at_sender: bool,
    /// Payload after which it is complete.
    pub bytes: u64,
    /// The transfer as captured.
    pub captured: CapturedTransfer,
    /// Share of the transfer that was fitted: its beginning.
    pub share: f64,
    /// What has a range.
    pub levers: Vec<Lever>,
    /// What is one of several.
    pub choices: Vec<Choice>,
}

/// A transfer in figures, and as a curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CapturedTransfer {
    /// From the first data to the last new acknowledgement.
    pub duration_s: f64,
    /// Payload.
    pub bytes: u64,
    /// Segments sent again.
    pub resent: u64,
    /// Times of the curve, seconds after the first data.
    pub curve_s: Vec<f64>,
    /// Payload acknowledged until then.
    pub curve_bytes: Vec<f64>,
}

/// A number that a slider changes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Lever {
    /// Its key as for `--what-if`.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its values, rising, each as for `--what-if`.
    pub stops: Vec<String>,
    /// Which of them is the fitted one.
    pub fitted: usize,
    /// The fitted value in words.
    pub shown: String,
    /// Which values fit about as well, in words.
    pub fits: String,
    /// Whether the capture tells it.
    pub told: bool,
}

/// One of several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Choice {
    /// Its key as for `--what-if`.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What there is to choose, the fitted one first.
    pub options: Vec<String>,
    /// Which of them fit about as well.
    pub fits: String,
    /// Whether the capture tells it.
    pub told: bool,
}

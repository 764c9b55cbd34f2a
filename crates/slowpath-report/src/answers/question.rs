//! What a source asks, as names of variants and what is to be said of them.

use serde::{Deserialize, Serialize};

use crate::results::RangeWish;

/// A question about an experiment. Each field that is given adds sentences to the answer, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Question {
    /// The question, as a sentence.
    pub ask: String,
    /// Variants of which it is told where their time went, over all their runs.
    pub time: Vec<String>,
    /// Variants of which it is told what limits them.
    pub limit: Vec<String>,
    /// Pairs of variants: how much faster the second is, what limits either, and what a proof made of it.
    pub gain: Vec<[String; 2]>,
    /// Pairs of variants whose flows are compared: what each loses and gets.
    pub flows: Vec<[String; 2]>,
    /// Variants that add a layer each: what each costs against the first.
    pub layers: Vec<String>,
    /// Ways to measure, each over the same networks in the same order: what each of them measures.
    pub modes: Vec<Mode>,
    /// Variants of which it is told how far the sender's own figure is from the receiver's.
    pub sender: Vec<String>,
    /// Variants that send datagrams: what of them is lost and where, and their jitter beside the published one.
    pub datagrams: Vec<String>,
    /// Ranges of one setting, computed in simulated time.
    pub range: Vec<RangeWish>,
}

/// A way to measure a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// Its name, such as `TCP, -w 60K`.
    pub name: String,
    /// The variant on each network; an empty name where it was not tried.
    pub rows: Vec<String>,
}

//! What a source asks, and what the results say to it.

use serde::{Deserialize, Serialize};

/// A question with what the results say to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The question.
    pub ask: String,
    /// What the results say, a sentence or more, each statement in a line of its own; empty where no variant that it is about
    /// was run.
    pub text: String,
}

/// A setting over a range, computed for one variant, or for two of which it is asked from where on the second is faster.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RangeWish {
    /// The variants: one or two.
    pub of: Vec<String>,
    /// The setting and its values as `--sweep` takes them, such as `delay=1 ms..100 ms:log8`.
    pub sweep: String,
    /// What is swept, for the reader, such as `round trip`; the key if absent.
    #[serde(default)]
    pub called: Option<String>,
    /// Values laid over the experiment, so that a point takes little time, each `KEY=VALUE`.
    #[serde(default)]
    pub set: Vec<String>,
}

/// What a range came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RangeResult {
    /// What was asked for.
    pub wish: RangeWish,
    /// Each value in order.
    pub points: Vec<RangePoint>,
}

/// One value of the setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RangePoint {
    /// The value, as typed.
    pub value: String,
    /// Mean goodput of each variant, byte/s; absent where no run came to its end.
    pub byte_per_s: Vec<Option<f64>>,
}

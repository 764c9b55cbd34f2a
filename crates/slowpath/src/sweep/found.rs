//! What a sweep found.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::Summary;
use slowpath_report::quantity::RateUnit;

/// The version of the form of `sweep.json`.
pub const SCHEMA: &str = "slowpath/sweep/1";

/// Everything that a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swept {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the model.
    pub model: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Its seed.
    #[serde(serialize_with = "slowpath_record::text_number::serialize")]
    pub seed: u64,
    /// The swept keys, in the order given.
    pub keys: Vec<String>,
    /// The unit in which the source publishes rates.
    pub rate_unit: RateUnit,
    /// One entry for each combination of values and variant, the last key varying fastest.
    pub points: Vec<Point>,
}

/// One combination of values and one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The values of the keys.
    pub values: Vec<String>,
    /// The variant.
    pub variant: String,
    /// Goodput over the complete runs, byte/s; absent without one.
    pub goodput_byte_per_s: Option<Summary>,
    /// What limited most of the runs; absent where it was not asked for or cannot be told.
    pub limit: Option<String>,
    /// The repeats.
    pub runs: Vec<Run>,
}

/// One simulated run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What names it: [`identity`].
    pub id: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Its seed.
    #[serde(with = "slowpath_record::text_number")]
    pub seed: u64,
    /// Bytes that reached the receiving application.
    pub bytes: u64,
    /// From asking to the last byte.
    pub duration_s: f64,
    /// Bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Segments sent again, if known.
    pub retransmitted_segments: Option<u64>,
    /// Share of the packets that did not arrive; absent where they were not counted.
    pub loss_fraction: Option<f64>,
    /// Whether it came to its end.
    pub complete: bool,
    /// What limited it, by its code.
    pub limit: Option<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: Option<f64>,
}

//! Time series sampled during a run.

use serde::{Deserialize, Serialize};
use slowpath_units::Time;

/// Samples of one quantity over time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Series {
    /// What was sampled and where, such as `server/tcp/cwnd`.
    pub name: String,
    /// Unit of the values, spelled out: `byte`, `byte/s`, `s`, `packet`.
    pub unit: String,
    /// Samples in time order.
    pub points: Vec<(Time, f64)>,
}

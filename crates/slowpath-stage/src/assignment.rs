//! What a worker is told, and what it says.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use slowpath_record::RunKind;
use slowpath_scenario::Plan;

/// What a worker has to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Assignment {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the run, for its files.
    pub name: String,
    /// The plan.
    pub plan: Plan,
    /// The same run as planned for simulated time, by which the machine's part in the result is told; without one, only
    /// the table of thresholds judges.
    #[serde(default)]
    pub twin: Option<Plan>,
    /// What the run is for.
    #[serde(default)]
    pub kind: RunKind,
    /// The results folder.
    pub folder: PathBuf,
    /// Whether packets are captured.
    pub capture: bool,
}

/// What a worker says on its standard output, one JSON object a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "say", rename_all = "kebab-case")]
pub enum Message {
    /// The transfer got on.
    Progress {
        /// Bytes so far.
        bytes: u64,
        /// Bytes in all.
        of: u64,
    },
    /// The run failed.
    Failed {
        /// Why, for people.
        error: String,
    },
}

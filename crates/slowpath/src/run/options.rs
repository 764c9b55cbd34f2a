//! What to run.

use std::path::PathBuf;

use slowpath_scenario::Clock;

/// What to run, and where to leave the results.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// Which clocks, in the order of the report; empty means for each variant the one that suits it.
    pub clocks: Vec<Clock>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// Whether simulated runs are repeated, within a cap, until the comparisons that the experiment wishes for are decided;
    /// not where `repeats` says how often.
    pub decide: bool,
    /// The experiment's seed.
    pub seed: u64,
    /// Smaller transfers for slow variants.
    pub quick: bool,
    /// Whether packets are captured.
    pub capture: bool,
    /// Results folder.
    pub out: PathBuf,
    /// How many slow paths may run side by side.
    pub places: usize,
    /// The program that runs one [`Assignment`]: its path and the arguments before the assignment's file.
    pub worker: (PathBuf, Vec<String>),
}

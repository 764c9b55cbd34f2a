//! What to sweep.

use serde::{Deserialize, Serialize};

/// What to sweep.
#[derive(Debug, Clone, Default)]
pub struct SweepOptions {
    /// The experiment: a built-in's name or a path.
    pub experiment: String,
    /// The sweeps as the user wrote them.
    pub sweeps: Vec<String>,
    /// A Latin hypercube's sample of so many points, instead of every combination.
    pub sample: Option<usize>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every point and variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// Repeats until a point's interval is narrow enough.
    pub narrow: Option<Narrow>,
    /// The experiment's seed.
    pub seed: u64,
    /// Smaller transfers where the experiment offers them.
    pub quick: bool,
    /// Whether it is found out what limits each run.
    pub explained: bool,
    /// Whether samples over time are kept.
    pub samples: bool,
}

/// One part of a sweep: every unit whose number leaves the rest `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: usize,
    /// How many parts there are.
    pub of: usize,
}

impl Shard {
    /// The units of this shard among `all`.
    pub fn units(self, all: usize) -> Vec<usize> {
        (self.index..all).step_by(self.of).collect()
    }
}

/// Is told how many of how many runs (or points, where intervals decide about repeats) are done.
pub type Progress<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Repeats of a point until its interval is narrow enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Narrow {
    /// Half the 95 % interval of a point's goodput, as a share of its mean.
    pub within: f64,
    /// Repeats at most.
    pub most: u32,
}

impl Narrow {
    /// Repeats that a point has at least; with fewer there is no interval worth its name.
    pub const LEAST: u32 = 3;
}

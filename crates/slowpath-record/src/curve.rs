//! One quantity against another, measured point by point.

use serde::{Deserialize, Serialize};

/// Loss against offered load, throughput against frame size: each point is a measurement of its own.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curve {
    /// What was measured and of what, such as `loss/tcp`.
    pub name: String,
    /// What was varied, in words, such as `offered load per port`.
    pub x: String,
    /// Unit of what was varied, spelled out: `byte`, `%`.
    pub x_unit: String,
    /// What was measured, in words.
    pub y: String,
    /// Unit of what was measured.
    pub y_unit: String,
    /// What was varied and what was measured, in rising order of the first.
    pub points: Vec<(f64, f64)>,
}

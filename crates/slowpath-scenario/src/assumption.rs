//! What a plan takes for granted.

use serde::{Deserialize, Serialize};

use crate::host::Standing;

/// A parameter that no document of the user's sets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assumption {
    /// The host or element that has it.
    pub place: String,
    /// What it is.
    pub name: String,
    /// Its value with unit.
    pub value: String,
    /// How it was come by.
    pub standing: Standing,
    /// From what.
    pub source: String,
}

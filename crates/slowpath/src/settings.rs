//! How a results folder was run.

use crate::load::Loaded;

/// Settings of a run that a report needs, kept in the results folder.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Name of the experiment.
    pub experiment: String,
    /// The experiment's seed.
    pub seed: u64,
    /// Whether transfers were shortened.
    pub quick: bool,
    /// Dotted keys with values that were laid over the experiment file.
    #[serde(default)]
    pub set: Vec<(String, String)>,
}

impl Settings {
    /// The settings of a run of `loaded`.
    pub fn of(loaded: &Loaded, seed: u64, quick: bool) -> Self {
        Self {
            experiment: loaded.name.clone(),
            seed,
            quick,
            set: loaded.set.clone(),
        }
    }
}

/// The file of [`Settings`].
pub const SETTINGS: &str = "settings.json";

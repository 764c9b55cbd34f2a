//! Interventions in the device's own language: the minimal change, and where it goes.

mod hosts;
mod linux;
mod routers;
mod traps;

use serde::{Deserialize, Serialize};
use slowpath_scenario::Intervention;

use crate::reading::{Language, Reading};

pub use linux::linux;
pub use traps::{remedies_of, remedy_of};

/// The minimal change of a configuration that carries an intervention out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remedy {
    /// The language of the lines.
    pub language: Language,
    /// The lines to enter or to put into the file, in order.
    pub lines: Vec<String>,
    /// Numbers of the lines of the read configuration that these replace.
    pub replaces: Vec<usize>,
    /// What should be known before it is done.
    pub note: Option<String>,
}

impl Remedy {
    fn new(language: Language, lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            language,
            lines: lines.into_iter().map(Into::into).collect(),
            replaces: Vec::new(),
            note: None,
        }
    }

    fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }

    fn replacing(self, replaces: Vec<usize>) -> Self {
        Self { replaces, ..self }
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// Where a remedy is to be written: names that an intervention does not carry.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// The interface of the device, such as `lan2`, `GigabitEthernet1` or `eth0`.
    pub interface: Option<&'a str>,
    /// The configuration as it is now.
    pub reading: Option<&'a Reading>,
}

/// The change in one language; `None` if the language has no words for it.
pub fn remedy(language: Language, intervention: &Intervention, place: Place<'_>) -> Option<Remedy> {
    match language {
        Language::Ios => routers::ios(intervention, place),
        Language::Rtx => routers::rtx(intervention, place),
        Language::Ssh => hosts::ssh(intervention, place),
        Language::Sysctl => hosts::sysctl(intervention),
        Language::Tc => hosts::tc(intervention, place),
    }
}

/// The change in every language that has words for it, without knowing the present configuration.
pub fn remedies(intervention: &Intervention) -> Vec<Remedy> {
    Language::ALL
        .iter()
        .filter_map(|(_, language)| remedy(*language, intervention, Place::default()))
        .collect()
}

/// Numbers of the lines that begin with `start`, in any case.
fn lines_with(place: Place<'_>, language: Language, start: &str) -> Vec<usize> {
    let Some(reading) = place.reading.filter(|reading| reading.language == language) else {
        return Vec::new();
    };
    reading
        .lines
        .iter()
        .filter(|line| {
            line.text
                .get(..start.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(start))
        })
        .map(|line| line.number)
        .collect()
}

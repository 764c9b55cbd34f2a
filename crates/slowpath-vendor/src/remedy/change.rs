//! A change in a device's own language, and where it goes.

use serde::{Deserialize, Serialize};

use crate::reading::{Language, Reading};

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
    pub(super) fn new(language: Language, lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            language,
            lines: lines.into_iter().map(Into::into).collect(),
            replaces: Vec::new(),
            note: None,
        }
    }

    pub(super) fn note(self, note: impl Into<String>) -> Self {
        Self {
            note: Some(note.into()),
            ..self
        }
    }

    pub(super) fn replacing(self, replaces: Vec<usize>) -> Self {
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

/// Numbers of the lines that begin with `start`, in any case.
pub(super) fn lines_with(place: Place<'_>, language: Language, start: &str) -> Vec<usize> {
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

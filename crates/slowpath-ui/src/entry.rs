//! One line of the history: a capture or an experiment, and what became of it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Names an entry and its folder: small letters, digits and hyphens, so that it leads nowhere else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Id(String);

/// What is no [`Id`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an entry's name has small letters, digits and hyphens, {LONGEST} at most")]
pub struct NoId;

impl Id {
    /// A name from a title, and from two numbers that no other entry has together.
    pub fn new(title: &str, created_s: u64, number: u32) -> Self {
        let mut name = String::new();
        for letter in title.chars().flat_map(char::to_lowercase) {
            if letter.is_ascii_alphanumeric() {
                name.push(letter);
            } else if !name.is_empty() && !name.ends_with('-') {
                name.push('-');
            }
            if name.len() >= TITLE {
                break;
            }
        }
        let name = match name.trim_end_matches('-') {
            "" => "entry",
            name => name,
        };
        Self(format!("{name}-{created_s}-{number}"))
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Id {
    type Err = NoId;

    fn from_str(text: &str) -> Result<Self, NoId> {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        let sound = (1..=LONGEST).contains(&text.len())
            && text.bytes().all(fits)
            && text.as_bytes()[0].is_ascii_alphanumeric();
        if sound {
            Ok(Self(text.to_owned()))
        } else {
            Err(NoId)
        }
    }
}

impl TryFrom<String> for Id {
    type Error = NoId;

    fn try_from(text: String) -> Result<Self, NoId> {
        text.parse()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Letters of a title in a name.
const TITLE: usize = 40;
/// Longest name.
const LONGEST: usize = 80;

/// What an entry is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A capture that somebody dropped in.
    Capture,
    /// What `iperf3 -J` wrote.
    Iperf3,
    /// An experiment.
    Experiment,
}

/// How far an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Others are before it.
    Waiting,
    /// It runs.
    Running,
    /// It has its answer.
    Done,
    /// It ended without one; the entry says why.
    Failed,
    /// It was stopped before its end: by somebody, or because the page ended. It may go on.
    Stopped,
}

/// An entry, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// Its form: `slowpath/ui-entry/1`.
    pub schema: String,
    /// Its name.
    pub id: Id,
    /// What it is of.
    pub kind: Kind,
    /// For the reader: the capture's name, or the experiment's.
    pub title: String,
    /// When it was made, in seconds since 1970.
    pub created_s: u64,
    /// How far it is.
    pub state: State,
    /// The answer in a sentence or two, or what went wrong.
    pub said: String,
    /// What is called, behind the program's own name.
    pub call: Vec<String>,
    /// The file that it began with, in its folder.
    pub file: String,
}

/// The form of an entry.
pub const SCHEMA: &str = "slowpath/ui-entry/1";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        for wrong in [
            "",
            ".",
            "..",
            "../x",
            "a/b",
            "a\\b",
            "a.b",
            "%2e%2e",
            "-x",
            "A",
            "a b",
            "ä",
            "a\0b",
            &"a".repeat(81),
        ] {
            assert_eq!(wrong.parse::<Id>(), Err(NoId), "{wrong:?}");
        }
        assert_eq!("cisco-ftp-12-1".parse::<Id>().unwrap().as_str(), "cisco-ftp-12-1");
        assert!(serde_json::from_str::<Id>("\"../../etc\"").is_err());
    }

    #[test]
    fn every_title_makes_a_name() {
        for (title, name) in [
            ("Backup: slow!.pcapng", "backup-slow-pcapng-7-1"),
            ("../../etc/passwd", "etc-passwd-7-1"),
            ("夜間バックアップ", "entry-7-1"),
            ("", "entry-7-1"),
        ] {
            let id = Id::new(title, 7, 1);
            assert_eq!(id.as_str(), name);
            assert_eq!(id.as_str().parse(), Ok(id));
        }
        let long = Id::new(&"x".repeat(500), u64::MAX, u32::MAX);
        assert_eq!(long.as_str().parse(), Ok(long));
    }
}

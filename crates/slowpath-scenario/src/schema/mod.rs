//! Which keys an experiment file may have: as a JSON schema for editors, and as a page to read.
//!
//! Both are made by having the reader read samples and keeping what it asks for, so they cannot promise a key that it does not
//! read. What a key means is written in one table (`meaning.rs`), which a test holds against the reader.

mod json;
mod key;
mod meaning;
mod page;
mod samples;

use crate::asked::Form;
use key::{ITEM, Key, NAME};

/// The version of the schema, as documents name theirs.
pub const ID: &str = "slowpath/experiment/1";

/// The JSON schema (draft 2020-12) of an experiment file.
#[must_use]
pub fn json() -> serde_json::Value {
    json::schema(&Everything::asked())
}

/// The reference of an experiment file, in Markdown.
#[must_use]
pub fn page() -> String {
    page::page(&Everything::asked())
}

/// All that the reader knows.
struct Everything {
    /// Keys at the top of a file.
    top: Key,
    /// Each element by the key that says what it does.
    elements: Vec<(String, Key)>,
    /// Each kind of the measured job, kinds that have the same keys together.
    jobs: Vec<(Vec<String>, Key)>,
    /// The same of a job in the background.
    background: Vec<(Vec<String>, Key)>,
}

impl Everything {
    fn asked() -> Self {
        let top = samples::asked(samples::REST);
        let kinds: Vec<String> = (top.at(&["workload", "kind"]))
            .and_then(|kind| {
                kind.forms.iter().find_map(|form| match form {
                    Form::Choice(words) => Some(words.clone()),
                    _ => None,
                })
            })
            .unwrap_or_default();
        let job = |heading: &str, place: &[&str], kind: &str| {
            let asked = samples::asked(&format!("{heading}\n{}", samples::job(kind)));
            asked.at(place).cloned().unwrap_or_default()
        };
        Self {
            elements: (crate::network::KINDS.iter())
                .map(|kind| ((*kind).to_owned(), element(kind)))
                .collect(),
            jobs: together(&kinds, |kind| job("[workload]", &["workload"], kind)),
            background: together(&kinds, |kind| job("[[background]]", &["background", ITEM], kind)),
            top,
        }
    }

    /// The keys of a host.
    fn host(&self) -> Option<&Key> {
        self.top.at(&["hosts", NAME])
    }
}

fn element(kind: &str) -> Key {
    let mut whole = Key::default();
    for sample in samples::elements(kind) {
        let asked = samples::asked(&format!("[network]\nboth = [{sample}]"));
        whole.merge(asked.at(&["network", "both", ITEM]).cloned().unwrap_or_default());
    }
    whole.keys.entry(kind.to_owned()).or_default().needed = true;
    whole
}

/// Kinds with the same keys stand together.
fn together(kinds: &[String], key: impl Fn(&str) -> Key) -> Vec<(Vec<String>, Key)> {
    let mut all: Vec<(Vec<String>, Key)> = Vec::new();
    for kind in kinds {
        let mut key = key(kind);
        key.keys.entry("kind".to_owned()).or_default().needed = true;
        match all.iter_mut().find(|(_, same)| *same == key) {
            Some((names, _)) => names.push(kind.clone()),
            None => all.push((vec![kind.clone()], key)),
        }
    }
    all
}

#[cfg(test)]
mod tests;

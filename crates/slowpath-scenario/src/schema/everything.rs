//! Everything that the reader knows, place by place.

use crate::asked::Form;
use crate::schema::key::{ITEM, Key, NAME};
use crate::schema::samples;

/// The version of the schema, as documents name theirs.
pub const ID: &str = "slowpath/experiment/1";

/// All that the reader knows.
pub(super) struct Everything {
    /// Keys at the top of a file.
    pub(super) top: Key,
    /// Each element by the key that says what it does.
    pub(super) elements: Vec<(String, Key)>,
    /// Each kind of the measured job, kinds that have the same keys together.
    pub(super) jobs: Vec<(Vec<String>, Key)>,
    /// The same of a job in the background.
    pub(super) background: Vec<(Vec<String>, Key)>,
}

impl Everything {
    pub(super) fn asked() -> Self {
        let mut top = samples::asked(samples::REST);
        // Which of them depends on the others, and on what variants bring.
        for way in ["up", "down", "both"] {
            if let Some(way) = top
                .keys
                .get_mut("network")
                .and_then(|network| network.keys.get_mut(way))
            {
                way.needed = false;
            }
        }
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
    pub(super) fn host(&self) -> Option<&Key> {
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

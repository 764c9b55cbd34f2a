//! A key of a document with all that may stand there.

use std::collections::BTreeMap;

use crate::asked::Form;

/// One key: the forms in which it may be written, and the keys of the table, or of each item of the list, that stands there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Key {
    /// In the order in which the reader tries them, each once.
    pub(super) forms: Vec<Form>,
    /// Whether the reader wants it where nothing is written.
    pub(super) needed: bool,
    /// The keys inside; [`ITEM`] stands for each item of a list, [`NAME`] for a name that the user chooses.
    pub(super) keys: BTreeMap<String, Key>,
}

/// Stands for each item of a list.
pub(super) const ITEM: &str = "[]";
/// Stands for a name that the user chooses.
pub(super) const NAME: &str = "*";

impl Key {
    /// Adds a question of the reader, whose path is like `network.both[0].rate.steps[1].from`.
    pub(super) fn ask(&mut self, path: &str, form: Form) {
        let mut key = self;
        let mut above = "";
        for part in path.split('.') {
            let (name, items) = part
                .split_once('[')
                .map_or((part, 0), |(name, rest)| (name, 1 + rest.matches('[').count()));
            let name = if above == "hosts" { NAME } else { name };
            key = key.keys.entry(name.to_owned()).or_default();
            for _ in 0..items {
                key = key.keys.entry(ITEM.to_owned()).or_default();
            }
            above = part;
        }
        key.add(form);
    }

    fn add(&mut self, form: Form) {
        match form {
            Form::Needed => self.needed = true,
            form if self.forms.contains(&form) => {}
            form => self.forms.push(form),
        }
    }

    /// Takes in what another reading of the same place has shown.
    pub(super) fn merge(&mut self, other: Self) {
        self.needed |= other.needed;
        other.forms.into_iter().for_each(|form| self.add(form));
        for (name, key) in other.keys {
            self.keys.entry(name).or_default().merge(key);
        }
    }

    /// The key at a path of names, which the samples have shown.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |key, name| key.keys.get(*name))
    }

    /// The forms that say something: what is one of several words or a number with a unit is not just any string.
    pub(super) fn telling(&self) -> Vec<&Form> {
        let closer = |form: &&Form| matches!(form, Form::Choice(_) | Form::Quantity(_));
        let plain = self.forms.iter().any(|form| closer(&form));
        (self.forms.iter())
            .filter(|form| !(matches!(form, Form::Any) || plain && matches!(form, Form::Text)))
            .collect()
    }
}

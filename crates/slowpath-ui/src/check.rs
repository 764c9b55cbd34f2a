//! What is wrong with an experiment while it is typed, in the words of the command line.

use serde::Serialize;
use slowpath::load::{LoadError, Loaded};

/// What a look at an experiment's text found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Whether it may be run.
    pub sound: bool,
    /// Its title.
    pub title: String,
    /// Its variants.
    pub variants: Vec<VariantRow>,
    /// What is wrong, or should be read before its result is trusted; empty if nothing.
    pub messages: String,
    /// The lines of the text that the messages are about, from 1.
    pub lines: Vec<usize>,
}

/// A variant in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariantRow {
    /// Its name.
    pub name: String,
    /// What it is.
    pub note: String,
}

/// Reads an experiment's text. `base` is the built-in one that it was made from, whose files it may name.
pub fn check(text: &str, base: Option<&str>) -> Checked {
    match Loaded::typed(NAME, text, base) {
        Ok(loaded) => {
            let warnings = &loaded.experiment.warnings;
            Checked {
                sound: true,
                title: loaded.experiment.title.clone(),
                variants: variants(&loaded),
                messages: warnings.to_string(),
                lines: lines(warnings),
            }
        }
        Err(error) => {
            let lines = match &error {
                LoadError::Mistakes(mistakes) => lines(mistakes),
                _ => Vec::new(),
            };
            Checked {
                sound: false,
                title: String::new(),
                variants: Vec::new(),
                messages: error.to_string(),
                lines,
            }
        }
    }
}

/// The variants of an experiment.
pub fn variants(loaded: &Loaded) -> Vec<VariantRow> {
    let row = |variant: &slowpath::Variant| VariantRow {
        name: variant.name.clone(),
        note: variant.note.clone().unwrap_or_default(),
    };
    loaded.experiment.variants.iter().map(row).collect()
}

/// The lines that messages are about.
fn lines(messages: &slowpath::Diagnostics) -> Vec<usize> {
    let mut lines: Vec<usize> = messages
        .list
        .iter()
        .filter_map(|message| message.span)
        .map(|span| messages.sources.source(span.source).position(span.start).line)
        .collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

/// What messages call the text.
const NAME: &str = "experiment.toml";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let text = "title = \"x\"\n[network]\nboth = [{ rate = \"50 Mbt/s\" }]\n[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n";
        let checked = check(text, None);
        assert!(!checked.sound);
        assert_eq!(checked.lines, [3]);
        assert!(
            checked.messages.contains("experiment.toml:3:"),
            "{}",
            checked.messages
        );
        let mended = check(&text.replace("Mbt", "Mbit"), None);
        assert!(mended.sound, "{}", mended.messages);
        assert_eq!(mended.variants.len(), 1);
    }

    #[test]
    fn every_built_in_experiment_is_sound_as_text() {
        for builtin in slowpath::catalog::BUILTINS {
            let checked = check(builtin.experiment, Some(builtin.name));
            assert!(checked.sound, "{}: {}", builtin.name, checked.messages);
            assert!(!checked.variants.is_empty());
        }
    }

    #[test]
    fn a_text_cannot_name_files_of_this_machine() {
        let text = "title = \"x\"\n[network]\nboth = [{ rate = { trace = \"/etc/passwd\" } }]\n[workload]\nkind = \"ftp-get\"\nsize = \"1 MiB\"\n";
        let checked = check(text, None);
        assert!(!checked.sound);
        assert!(!checked.messages.contains("root:"), "{}", checked.messages);
    }
}

//! Catalogues of messages: every message is said somewhere, in the crate that has it.

use std::fs;
use std::path::Path;

/// Messages that no rule says, as sentences.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    CATALOGUES
        .iter()
        .flat_map(|crate_| unsaid(&root.join(crate_)))
        .collect()
}

/// The messages of `src/catalogue.rs` that no other file of `src` names.
fn unsaid(crate_: &Path) -> Vec<String> {
    let catalogue = crate_.join("src/catalogue.rs");
    let Ok(text) = fs::read_to_string(&catalogue) else {
        return vec![format!("{} cannot be read", catalogue.display())];
    };
    let mut others = String::new();
    read(&crate_.join("src"), &catalogue, &mut others);
    text.lines()
        .filter_map(entry)
        .filter(|(_, name)| !names(&others, name))
        .map(|(key, name)| {
            format!(
                "{}: nothing says `{key}` ({name}): take it out of the catalogue",
                catalogue.display()
            )
        })
        .collect()
}

/// The key and the name that a line of a catalogue declares.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.trim_start().strip_prefix('"')?.split_once('"')?;
    let name = rest.split_whitespace().next()?;
    rest.contains('{').then_some((key, name))
}

/// Whether the message `name` is named in a source.
fn names(source: &str, name: &str) -> bool {
    let whole = format!("Message::{name}");
    source
        .match_indices(&whole)
        .any(|(at, _)| !source[at + whole.len()..].starts_with(|next: char| next.is_alphanumeric()))
}

fn read(folder: &Path, except: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, except, into);
        } else if path != except && path.extension().is_some_and(|end| end == "rs") {
            into.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// Crates with a catalogue.
const CATALOGUES: &[&str] = &["crates/slowpath-verdict", "crates/slowpath-diagnose"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_message_that_nobody_says_is_refused() {
        let crate_ = Fixture::new(&[
            (
                "src/catalogue.rs",
                "messages! {\n    \"full\" Full {} = \"full\";\n    \"fuller\" Fuller { by: Share }\n        = \"{by} fuller\";\n}",
            ),
            (
                "src/limits/window.rs",
                "fn f() { Message::Fuller { by: Share(0.5) }; }",
            ),
        ]);
        let faults = unsaid(crate_.folder());
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains("`full` (Full)"), "{faults:?}");
    }

    #[test]
    fn the_catalogues_are_read() {
        for crate_ in CATALOGUES {
            let text = fs::read_to_string(crate::root().join(crate_).join("src/catalogue.rs")).unwrap();
            assert!(text.lines().filter_map(entry).count() > 10, "{crate_}");
        }
    }
}

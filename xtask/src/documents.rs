//! Paths that the documents name: each must be there.

use std::fs;
use std::path::Path;

/// Documents whose paths are checked.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md"];

/// Paths that are named and not there, as sentences.
pub(crate) fn faults(root: &Path) -> Vec<String> {
    DOCUMENTS
        .iter()
        .flat_map(|document| match fs::read_to_string(root.join(document)) {
            Ok(text) => missing(root, document, &text),
            Err(error) => vec![format!("{document} cannot be read: {error}")],
        })
        .collect()
}

fn missing(root: &Path, document: &str, text: &str) -> Vec<String> {
    let lines = text.lines().zip(1..);
    lines
        .flat_map(|(line, number)| paths(line).map(move |path| (number, path)))
        .filter(|(_, path)| !root.join(path).exists() && !root.join("crates").join(path).exists())
        .map(|(number, path)| {
            format!(
                "{document} line {number} names `{path}`, which is neither in the repository nor in crates/"
            )
        })
        .collect()
}

/// What stands between backticks and is a path: it has a slash, or ends as a source file does.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    let quoted = line.split('`').skip(1).step_by(2);
    quoted.filter(|word| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
        let source = Path::new(word).extension().is_some_and(|ending| ending == "rs");
        word.chars().all(plain) && (word.contains('/') || source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn a_path_that_is_not_there_is_refused() {
        let there = Fixture::new(&[("docs/guide/a.md", ""), ("crates/one/src/lib.rs", "")]);
        let found = |text: &str| missing(there.folder(), "ARCHITECTURE.md", text);
        assert_eq!(
            found("`docs/guide/`, `one/src/lib.rs`, `io::Write`, `--sweep a/b`"),
            [""; 0]
        );
        assert_eq!(found("first\n`one/src/gone.rs`").len(), 1);
        assert!(found("first\n`one/src/gone.rs`")[0].contains("line 2"));
        assert_eq!(found("`lib.rs`").len(), 1, "a file is named with its crate");
    }
}

//! Messages about a document: what is wrong, where, and what to write instead.

use std::cell::RefCell;
use std::fmt;

use crate::asked::{Asked, Form, Questions};
use crate::span::{Sources, Span};

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Read before trusting the result.
    Warning,
    /// The document cannot be used.
    Error,
}

/// One message about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What is wrong, with the value that was found.
    pub message: String,
    /// Where; `None` for something that is missing from the whole document.
    pub span: Option<Span>,
    /// What to write instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span: Some(span),
            help: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(span, message)
        }
    }

    /// The same message with what to write instead.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self {
            help: Some(help.into()),
            ..self
        }
    }
}

/// Messages under collection: readers go on after an error, so that one pass reports all of them.
#[derive(Debug, Default)]
pub struct Issues {
    list: RefCell<Vec<Diagnostic>>,
    questions: Questions,
}

impl Issues {
    /// Also keeps what the reader asks for.
    pub(crate) fn with_questions() -> Self {
        Self {
            questions: Questions::kept(),
            ..Self::default()
        }
    }

    /// The reader asks for a key.
    pub(crate) fn ask(&self, what: impl FnOnce() -> (String, Form)) {
        self.questions.ask(what);
    }

    pub(crate) fn into_asked(self) -> Vec<Asked> {
        self.questions.into_asked()
    }

    /// Adds one message.
    pub fn push(&self, diagnostic: Diagnostic) {
        self.list.borrow_mut().push(diagnostic);
    }

    /// Adds all messages of another collection.
    pub fn extend(&self, others: Self) {
        self.list.borrow_mut().extend(others.list.into_inner());
    }

    /// Whether there is an error among the messages.
    pub fn any_error(&self) -> bool {
        self.list.borrow().iter().any(|d| d.severity == Severity::Error)
    }

    /// Number of errors so far.
    pub fn error_count(&self) -> usize {
        self.list
            .borrow()
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .count()
    }

    /// The messages in the order of the text, with the texts that they point into; duplicates are dropped.
    pub fn into_diagnostics(self, sources: Sources) -> Diagnostics {
        let mut list = self.list.into_inner();
        list.sort_by(|a, b| (a.span, &a.message).cmp(&(b.span, &b.message)));
        list.dedup();
        Diagnostics { list, sources }
    }
}

/// The messages about one document, with the texts they point into.
///
/// Displays as blocks of `file:line:column: error: message`, the line with a marker, and the correction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostics {
    /// The messages, in the order of the text.
    pub list: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Diagnostics {
    /// Whether there is an error among the messages.
    pub fn any_error(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            self.render(f, diagnostic)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}

impl Diagnostics {
    fn render(&self, f: &mut fmt::Formatter<'_>, diagnostic: &Diagnostic) -> fmt::Result {
        let severity = match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        match diagnostic.span {
            None => writeln!(f, "{severity}: {}", diagnostic.message)?,
            Some(span) => {
                writeln!(
                    f,
                    "{}: {severity}: {}",
                    self.sources.place(span),
                    diagnostic.message
                )?;
                let source = self.sources.source(span.source);
                let position = source.position(span.start);
                let line = source.line_at(span.start).replace('\t', " ");
                let room = line.chars().count().saturating_sub(position.column - 1).max(1);
                let written = source.text.get(span.start..span.end).unwrap_or("");
                let first_line = written.lines().next().unwrap_or("");
                let width = first_line.chars().count().clamp(1, room);
                let number = position.line.to_string();
                writeln!(f, "{number} | {line}")?;
                writeln!(
                    f,
                    "{:indent$} | {:before$}{}",
                    "",
                    "",
                    "^".repeat(width),
                    indent = number.len(),
                    before = position.column - 1
                )?;
            }
        }
        if let Some(help) = &diagnostic.help {
            writeln!(f, "  help: {help}")?;
        }
        Ok(())
    }
}

/// The candidate nearest to `word`, if it is near enough to have been meant.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| {
            (
                edit_distance(&word.to_lowercase(), &candidate.to_lowercase()),
                candidate,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_line_and_the_correction() {
        let mut sources = Sources::default();
        let id = sources.add("x.toml", "a = 1\nrate = \"50\"\n");
        let issues = Issues::default();
        issues.push(
            Diagnostic::error(Span::new(id, &(13..17)), "\"50\" has no unit").help("write \"50 Mbit/s\""),
        );
        let shown = issues.into_diagnostics(sources).to_string();
        assert_eq!(
            shown,
            "x.toml:2:8: error: \"50\" has no unit\n2 | rate = \"50\"\n  |        ^^^^\n  help: write \"50 Mbit/s\"\n"
        );
    }

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        let words = ["delay", "rate", "congestion_control"];
        assert_eq!(suggestion("dealy", words), Some("delay"));
        assert_eq!(
            suggestion("congestion-control", words),
            Some("congestion_control")
        );
        assert_eq!(suggestion("loss", words), None);
        assert_eq!(suggestion("Rate", words), Some("rate"));
    }
}

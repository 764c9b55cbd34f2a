//! Where in which text something was written.

use std::fmt;
use std::ops::Range;

/// A range of bytes in one of the texts of [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// Which text.
    pub source: SourceId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The bytes `range` of `source`.
    pub const fn new(source: SourceId, range: &Range<usize>) -> Self {
        Self {
            source,
            start: range.start,
            end: range.end,
        }
    }
}

/// Names one text of [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(usize);

/// A value together with the place where it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Located<T> {
    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Located<U> {
        Located {
            value: f(self.value),
            span: self.span,
        }
    }
}

/// One text: a file, or an argument of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The name shown in messages, such as the file's path as the user gave it.
    pub name: String,
    /// The text itself.
    pub text: String,
}

impl Source {
    /// Line and column of byte `at`, both counted from 1; columns count characters.
    pub fn position(&self, at: usize) -> Position {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The whole line around byte `at`, without its end.
    pub fn line_at(&self, at: usize) -> &str {
        let line = self.position(at).line;
        self.text.lines().nth(line - 1).unwrap_or("")
    }
}

/// A place in a text as people count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// All texts that took part in one document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text and returns its name for spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.0.push(Source {
            name: name.into(),
            text: text.into(),
        });
        SourceId(self.0.len() - 1)
    }

    /// The text that `id` names.
    pub fn source(&self, id: SourceId) -> &Source {
        &self.0[id.0]
    }

    /// `file:line:column` of the beginning of `span`.
    pub fn place(&self, span: Span) -> String {
        let source = self.source(span.source);
        format!("{}:{}", source.name, source.position(span.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let mut sources = Sources::default();
        let id = sources.add("a.toml", "é = 1\nab = 2\n");
        assert_eq!(sources.source(id).position(0), Position { line: 1, column: 1 });
        assert_eq!(sources.source(id).position(3), Position { line: 1, column: 3 });
        assert_eq!(sources.place(Span::new(id, &(12..13))), "a.toml:2:6");
        assert_eq!(sources.source(id).line_at(12), "ab = 2");
        assert_eq!(sources.source(id).position(1).column, 1, "inside a character");
        assert_eq!(sources.source(id).position(999).line, 3);
    }
}

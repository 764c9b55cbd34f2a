//! Typed reading of a table that reports everything wrong in one pass.

use std::cell::RefCell;
use std::str::FromStr;

use slowpath_units::{BitRate, ByteCount, Duration, ParseError, ParseErrorKind, Ratio};

use crate::asked::Form;
use crate::diagnostic::{Diagnostic, Issues, suggestion};
use crate::span::{Located, Span};
use crate::tree::{Entry, Node, Table, Value};

/// A table under reading: every key asked for is a known key, and [`Fields::finish`] reports the others.
///
/// A getter returns `None` both for a key that is absent and for one whose value is wrong; the latter
/// has then been reported.
pub(crate) struct Fields<'a> {
    table: &'a Table,
    /// Dotted path of this table, for messages; empty for the whole document.
    path: String,
    /// Where to point when a key is missing.
    span: Span,
    issues: &'a Issues,
    known: RefCell<Vec<&'static str>>,
    /// Keys that have been reported already.
    reported: RefCell<Vec<String>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(table: &'a Table, path: impl Into<String>, span: Span, issues: &'a Issues) -> Self {
        Self {
            table,
            path: path.into(),
            span,
            issues,
            known: RefCell::default(),
            reported: RefCell::default(),
        }
    }

    /// Reads `node` as a table, or reports that it is none.
    pub(crate) fn of(node: &'a Node, path: impl Into<String>, issues: &'a Issues) -> Option<Self> {
        let path = path.into();
        match &node.value {
            Value::Table(table) => Some(Self::new(table, path, node.span, issues)),
            other => {
                issues.push(Diagnostic::error(
                    node.span,
                    format!("`{path}` must be a table, not {}", other.kind()),
                ));
                None
            }
        }
    }

    pub(crate) const fn span(&self) -> Span {
        self.span
    }

    pub(crate) const fn issues(&self) -> &'a Issues {
        self.issues
    }

    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// The entry with `key`, whatever its value; the key counts as known.
    pub(crate) fn entry(&self, key: &'static str) -> Option<&'a Entry> {
        self.wanted(key, || Form::Any)
    }

    /// The entry with `key`, which is written in this form; the key counts as known.
    fn wanted(&self, key: &'static str, form: impl FnOnce() -> Form) -> Option<&'a Entry> {
        self.issues.ask(|| (self.path_of(key), form()));
        self.known.borrow_mut().push(key);
        self.table.entry(key)
    }

    /// Whether `key` was written, without making it known.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.table.entry(key).is_some()
    }

    pub(crate) fn text(&self, key: &'static str) -> Option<Located<&'a str>> {
        let node = &self.wanted(key, || Form::Text)?.node;
        match &node.value {
            Value::Text(text) => Some(Located {
                value: text,
                span: node.span,
            }),
            other => self.wrong_kind(key, node, other, "a string"),
        }
    }

    pub(crate) fn flag(&self, key: &'static str) -> Option<Located<bool>> {
        let node = &self.wanted(key, || Form::Flag)?.node;
        match &node.value {
            Value::Flag(flag) => Some(Located {
                value: *flag,
                span: node.span,
            }),
            other => self.wrong_kind(key, node, other, "true or false"),
        }
    }

    /// A whole number within `low..=high`.
    pub(crate) fn integer(&self, key: &'static str, low: u64, high: u64) -> Option<Located<u64>> {
        let node = &self.wanted(key, || Form::Integer(low, high))?.node;
        let Value::Integer(number) = &node.value else {
            return self.wrong_kind(key, node, &node.value, "a whole number");
        };
        match u64::try_from(*number) {
            Ok(value) if (low..=high).contains(&value) => Some(Located {
                value,
                span: node.span,
            }),
            _ => {
                self.issues.push(Diagnostic::error(
                    node.span,
                    format!("`{}` is {number}, but must be {low} to {high}", self.path_of(key)),
                ));
                None
            }
        }
    }

    /// A quantity with its unit.
    pub(crate) fn quantity<T: Quantity>(&self, key: &'static str) -> Option<Located<T>> {
        let node = &self.wanted(key, || Form::Quantity(T::EXAMPLE))?.node;
        parse_quantity(&self.path_of(key), node, self.issues)
    }

    /// A quantity with unit that must be above zero to have any effect.
    pub(crate) fn positive<T: Quantity>(&self, key: &'static str) -> Option<Located<T>> {
        let found = self.quantity::<T>(key)?;
        if found.value.is_zero() {
            self.issues.push(
                Diagnostic::error(found.span, format!("`{}` is zero", self.path_of(key)))
                    .help(format!("leave `{key}` out, or write {}", T::EXAMPLE)),
            );
            return None;
        }
        Some(found)
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&'static str, T)],
    ) -> Option<Located<T>> {
        let all = || Form::Choice(choices.iter().map(|(word, _)| (*word).to_owned()).collect());
        self.issues.ask(|| (self.path_of(key), all()));
        let text = self.text(key)?;
        let found = choices.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            self.wrong_word(key, text, choices.iter().map(|(word, _)| *word));
        }
        found.map(|(_, value)| Located {
            value: *value,
            span: text.span,
        })
    }

    /// Anything that reads itself from text and says itself what is wrong.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, key: &'static str) -> Option<Located<T>> {
        let text = self.text(key)?;
        match text.value.parse() {
            Ok(value) => Some(Located {
                value,
                span: text.span,
            }),
            Err(error) => {
                self.issues.push(Diagnostic::error(
                    text.span,
                    format!("`{}`: {error}", self.path_of(key)),
                ));
                None
            }
        }
    }

    pub(crate) fn table(&self, key: &'static str) -> Option<Self> {
        let entry = self.wanted(key, || Form::Table)?;
        Fields::of(&entry.node, self.path_of(key), self.issues)
    }

    /// A list; each item with the path that names it in messages.
    pub(crate) fn list(&self, key: &'static str) -> Option<Located<Vec<(String, &'a Node)>>> {
        let node = &self.wanted(key, || Form::List)?.node;
        match &node.value {
            Value::List(items) => {
                let path = self.path_of(key);
                let items = items
                    .iter()
                    .enumerate()
                    .map(|(i, item)| (format!("{path}[{i}]"), item))
                    .collect();
                Some(Located {
                    value: items,
                    span: node.span,
                })
            }
            other => self.wrong_kind(key, node, other, "a list"),
        }
    }

    /// Leaves the keys that nobody has asked for yet without remark: what they mean depends on a value that was wrong.
    pub(crate) fn excuse_rest(&self) {
        let rest = self.table.entries().map(|entry| entry.key.clone());
        self.reported.borrow_mut().extend(rest);
    }

    /// Reports `key` as missing; where a misspelt one stands, that is the only mistake.
    pub(crate) fn missing(&self, key: &str, help: impl Into<String>) {
        self.issues.ask(|| (self.path_of(key), Form::Needed));
        let misspelt = self.table.entries().find(|entry| {
            !self.known.borrow().contains(&entry.key.as_str()) && suggestion(&entry.key, [key]).is_some()
        });
        if let Some(entry) = misspelt {
            self.issues.push(
                Diagnostic::error(
                    entry.key_span,
                    format!("unknown key `{}`", self.path_of(&entry.key)),
                )
                .help(format!("did you mean `{key}`?")),
            );
            self.reported.borrow_mut().push(entry.key.clone());
            return;
        }
        self.issues
            .push(Diagnostic::error(self.span, format!("`{}` is missing", self.path_of(key))).help(help));
    }

    /// Reports every key that nobody asked for.
    pub(crate) fn finish(self) {
        let (known, reported) = (self.known.borrow(), self.reported.borrow());
        for entry in self
            .table
            .entries()
            .filter(|entry| !known.contains(&entry.key.as_str()) && !reported.contains(&entry.key))
        {
            let message = format!("unknown key `{}`", self.path_of(&entry.key));
            let help = match suggestion(&entry.key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", words(known.iter().copied())),
            };
            self.issues
                .push(Diagnostic::error(entry.key_span, message).help(help));
        }
    }

    /// Reports a word that is not among `choices`.
    pub(crate) fn wrong_word(
        &self,
        key: &str,
        text: Located<&str>,
        choices: impl Iterator<Item = &'static str> + Clone,
    ) {
        let all = || Form::Choice(choices.clone().map(str::to_owned).collect());
        self.issues.ask(|| (self.path_of(key), all()));
        let help = match suggestion(text.value, choices.clone()) {
            Some(meant) => format!("did you mean \"{meant}\"?"),
            None => format!("choices: {}", words(choices)),
        };
        self.issues.push(
            Diagnostic::error(
                text.span,
                format!("`{}` is \"{}\"", self.path_of(key), text.value),
            )
            .help(help),
        );
    }

    fn wrong_kind<T>(&self, key: &str, node: &Node, found: &Value, wanted: &str) -> Option<T> {
        self.issues.push(Diagnostic::error(
            node.span,
            format!("`{}` must be {wanted}, not {}", self.path_of(key), found.kind()),
        ));
        None
    }
}

/// A quantity of slowpath-units as documents write it.
pub(crate) trait Quantity: FromStr<Err = ParseError> + Copy {
    /// What to write, quoted.
    const EXAMPLE: &'static str;
    fn is_zero(self) -> bool;
}

macro_rules! quantity {
    ($($type:ty, $example:literal, $value:ident;)*) => {$(
        impl Quantity for $type {
            const EXAMPLE: &'static str = $example;
            fn is_zero(self) -> bool {
                self.$value() == 0
            }
        }
    )*};
}

quantity! {
    BitRate, "\"50 Mbit/s\"", bits_per_s;
    ByteCount, "\"64 KiB\"", bytes;
    Duration, "\"50 ms\"", nanos;
    Ratio, "\"0.01 %\"", ppb;
}

/// Reads `node` as a quantity; a bare number gets the hint that units are mandatory.
pub(crate) fn parse_quantity<T: Quantity>(path: &str, node: &Node, issues: &Issues) -> Option<Located<T>> {
    issues.ask(|| (path.to_owned(), Form::Quantity(T::EXAMPLE)));
    let text = match &node.value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Other(number) => number.clone(),
        other => {
            issues.push(
                Diagnostic::error(
                    node.span,
                    format!("`{path}` must be a quantity, not {}", other.kind()),
                )
                .help(format!("write {}", T::EXAMPLE)),
            );
            return None;
        }
    };
    match text.parse() {
        Ok(value) => Some(Located {
            value,
            span: node.span,
        }),
        Err(error) => {
            issues.push(quantity_error::<T>(path, node.span, &error));
            None
        }
    }
}

/// The message for a quantity that could not be read.
pub(crate) fn quantity_error<T: Quantity>(path: &str, span: Span, error: &ParseError) -> Diagnostic {
    let help = match &error.kind {
        ParseErrorKind::UnknownUnit { hint: Some(hint), .. } => (*hint).to_owned(),
        ParseErrorKind::MissingUnit => format!("units are mandatory: write for example {}", T::EXAMPLE),
        _ => format!("write {}", error.expected),
    };
    let what = match &error.kind {
        ParseErrorKind::NotANumber => format!("\"{}\" does not start with a number", error.text),
        ParseErrorKind::MissingUnit => format!("\"{}\" has no unit", error.text),
        ParseErrorKind::UnknownUnit { unit, .. } => format!("\"{unit}\" is not a unit of this quantity"),
        ParseErrorKind::Negative => format!("\"{}\" must not be negative", error.text),
        ParseErrorKind::OutOfRange | ParseErrorKind::AboveWhole => {
            format!("\"{}\" is out of range", error.text)
        }
    };
    Diagnostic::error(span, format!("`{path}`: {what}")).help(help)
}

/// Words in quotes of code, separated by commas.
pub(crate) fn words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let list: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    list.join(", ")
}

//! The catalogues: every key with its words, in each language.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use fluent_syntax::ast;
use fluent_syntax::unicode::unescape_unicode_to_string;
use unic_langid::LanguageIdentifier;

use crate::language::{Language, spoken};

/// A message without arguments in the language that is spoken.
pub fn word(key: &'static str) -> &'static str {
    of(spoken()).words.get(&id(key)).map_or(key, String::as_str)
}

/// A message without arguments in English.
pub fn english_word(key: &'static str) -> &'static str {
    ENGLISH.words.get(&id(key)).map_or(key, String::as_str)
}

/// A message without arguments in the language that is spoken, by a key that is put together; `None` where no catalogue of
/// it has one.
pub fn lookup(key: &str) -> Option<&'static str> {
    of(spoken()).words.get(&id(key)).map(String::as_str)
}

/// Whether the catalogue of a language has a key.
pub fn has(language: Language, key: &str) -> bool {
    of(language).bundle.has_message(&id(key))
}

/// The keys of a language, in the order of its files.
pub fn keys(language: Language) -> Vec<String> {
    entries(language).into_iter().map(|(key, _)| key).collect()
}

/// The catalogue of a language.
pub(crate) fn of(language: Language) -> &'static Catalogue {
    match language {
        Language::English => &ENGLISH,
        Language::Japanese => &JAPANESE,
    }
}

/// All messages of a language.
pub(crate) struct Catalogue {
    bundle: FluentBundle<FluentResource>,
    /// The messages without arguments.
    words: BTreeMap<String, String>,
}

impl Catalogue {
    fn new(code: &str, sources: &[&str]) -> Self {
        let language: LanguageIdentifier = code.parse().expect("a code of ISO 639");
        let mut bundle = FluentBundle::new_concurrent(vec![language]);
        // Marks of direction around arguments are for scripts that are written from the right.
        bundle.set_use_isolating(false);
        let mut words = BTreeMap::new();
        for source in sources {
            let resource = FluentResource::try_new((*source).to_owned())
                .unwrap_or_else(|(_, faults)| panic!("the catalogue of {code} cannot be read: {faults:?}"));
            for (id, pieces) in messages(&resource) {
                if let Some(text) = constant(&pieces) {
                    words.insert(id, text);
                }
            }
            bundle
                .add_resource(resource)
                .unwrap_or_else(|faults| panic!("the catalogue of {code}: {faults:?}"));
        }
        Self { bundle, words }
    }

    /// A message with its arguments, which are texts of this language already.
    pub(crate) fn format(&self, key: &str, arguments: &[(&str, String)]) -> String {
        let key = &id(key);
        if arguments.is_empty()
            && let Some(text) = self.words.get(key)
        {
            return text.clone();
        }
        let Some(pattern) = self.bundle.get_message(key).and_then(|message| message.value()) else {
            return key.clone();
        };
        let mut of = FluentArgs::with_capacity(arguments.len());
        for (name, value) in arguments {
            of.set(*name, value.as_str());
        }
        let mut faults = Vec::new();
        let said = self.bundle.format_pattern(pattern, Some(&of), &mut faults);
        debug_assert!(faults.is_empty(), "{key}: {faults:?}");
        said.into_owned()
    }
}

/// The name in a catalogue's file of a key: Fluent's names hold no points.
pub fn id(key: &str) -> String {
    key.replace('.', "_")
}

/// A piece of a message's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// An argument, by name.
    Argument(String),
}

/// The messages of every file of a language, in order: their names and their words.
pub fn entries(language: Language) -> Vec<(String, Vec<Piece>)> {
    sources(language)
        .iter()
        .flat_map(|source| {
            let resource = FluentResource::try_new((*source).to_owned())
                .unwrap_or_else(|(_, faults)| panic!("a catalogue cannot be read: {faults:?}"));
            messages(&resource)
        })
        .collect()
}

fn messages(resource: &FluentResource) -> Vec<(String, Vec<Piece>)> {
    resource
        .entries()
        .filter_map(|entry| match entry {
            ast::Entry::Message(message) => {
                let pattern = message.value.as_ref()?;
                Some((message.id.name.to_owned(), pieces(pattern)))
            }
            _ => None,
        })
        .collect()
}

fn pieces(pattern: &ast::Pattern<&str>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for element in &pattern.elements {
        let piece = match element {
            ast::PatternElement::TextElement { value } => Piece::Text((*value).to_owned()),
            ast::PatternElement::Placeable {
                expression: ast::Expression::Inline(ast::InlineExpression::StringLiteral { value }),
            } => Piece::Text(unescape_unicode_to_string(value).into_owned()),
            ast::PatternElement::Placeable {
                expression: ast::Expression::Inline(ast::InlineExpression::VariableReference { id }),
            } => Piece::Argument(id.name.to_owned()),
            other @ ast::PatternElement::Placeable { .. } => {
                panic!("a message may hold words and arguments alone: {other:?}")
            }
        };
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(more)) => before.push_str(&more),
            (_, piece) => pieces.push(piece),
        }
    }
    pieces
}

fn constant(pieces: &[Piece]) -> Option<String> {
    match pieces {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

const fn sources(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => ENGLISH_FILES,
        Language::Japanese => JAPANESE_FILES,
    }
}

static ENGLISH: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new("en", sources(Language::English)));
static JAPANESE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::new("ja", sources(Language::Japanese)));

/// The files of both languages.
macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        const ENGLISH_FILES: &[&str] = &[$(include_str!(concat!("../en/", $name, ".ftl"))),+];
        // The English of help stands beside the arguments, that of arguments that are refused in the library that reads them.
        const JAPANESE_FILES: &[&str] = &[
            $(include_str!(concat!("../ja/", $name, ".ftl"))),+,
            include_str!("../ja/help.ftl"),
            include_str!("../ja/parse.ftl"),
        ];
    };
}

files![
    "verdict",
    "diagnose",
    "answers",
    "report",
    "live",
    "config",
    "errors",
    "stage",
    "labels",
    "experiments",
    "page",
    "fit",
    "system",
];

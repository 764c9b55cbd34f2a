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
            for (id, pattern) in patterns(&resource) {
                if let Some(text) = constant(pattern) {
                    words.insert(id.to_owned(), text);
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
            // Of numbers only this one has another form; the others stay as they were written, with their commas and digits.
            if value == "1" {
                of.set(*name, 1);
            } else {
                of.set(*name, value.as_str());
            }
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

/// The messages of every file of a language, in order: their names and their words, for numbers in the plural.
pub fn entries(language: Language) -> Vec<(String, Vec<Piece>)> {
    let first = |(key, forms): (String, Vec<Vec<Piece>>)| Some((key, forms.into_iter().next()?));
    all(language).into_iter().filter_map(first).collect()
}

/// The same with each form that numbers may give a message: first the one of [`entries`].
pub fn forms(language: Language) -> Vec<(String, Vec<Piece>)> {
    all(language)
        .into_iter()
        .flat_map(|(key, forms)| forms.into_iter().map(move |form| (key.clone(), form)))
        .collect()
}

fn all(language: Language) -> Vec<(String, Vec<Vec<Piece>>)> {
    sources(language)
        .iter()
        .flat_map(|source| {
            let resource = FluentResource::try_new((*source).to_owned())
                .unwrap_or_else(|(_, faults)| panic!("a catalogue cannot be read: {faults:?}"));
            messages(&resource)
        })
        .collect()
}

fn messages(resource: &FluentResource) -> Vec<(String, Vec<Vec<Piece>>)> {
    patterns(resource)
        .map(|(id, pattern)| (id.to_owned(), pieces(pattern)))
        .collect()
}

/// The messages of a file: their names and their patterns.
fn patterns(resource: &FluentResource) -> impl Iterator<Item = (&str, &ast::Pattern<&str>)> {
    resource.entries().filter_map(|entry| match entry {
        ast::Entry::Message(message) => Some((message.id.name, message.value.as_ref()?)),
        _ => None,
    })
}

/// What a pattern may read, by the forms of its numbers; the default of all of them first.
fn pieces(pattern: &ast::Pattern<&str>) -> Vec<Vec<Piece>> {
    let mut forms: Vec<Vec<Piece>> = vec![Vec::new()];
    for element in &pattern.elements {
        let ways: Vec<Vec<Piece>> = match element {
            ast::PatternElement::TextElement { value } => vec![vec![Piece::Text((*value).to_owned())]],
            ast::PatternElement::Placeable {
                expression: ast::Expression::Inline(ast::InlineExpression::StringLiteral { value }),
            } => vec![vec![Piece::Text(unescape_unicode_to_string(value).into_owned())]],
            ast::PatternElement::Placeable {
                expression: ast::Expression::Inline(ast::InlineExpression::VariableReference { id }),
            } => vec![vec![Piece::Argument(id.name.to_owned())]],
            ast::PatternElement::Placeable {
                expression: ast::Expression::Select { variants, .. },
            } => {
                let (default, others): (Vec<_>, Vec<_>) =
                    variants.iter().partition(|variant| variant.default);
                let variants = default.into_iter().chain(others);
                variants.flat_map(|variant| pieces(&variant.value)).collect()
            }
            other @ ast::PatternElement::Placeable { .. } => {
                panic!("a message may hold words, arguments and forms of numbers alone: {other:?}")
            }
        };
        forms = forms
            .iter()
            .flat_map(|form| ways.iter().map(|way| joined(form, way)))
            .collect();
    }
    forms
}

/// One row of pieces behind another.
fn joined(form: &[Piece], way: &[Piece]) -> Vec<Piece> {
    let mut out = form.to_vec();
    for piece in way {
        match (out.last_mut(), piece) {
            (Some(Piece::Text(before)), Piece::Text(more)) => before.push_str(more),
            _ => out.push(piece.clone()),
        }
    }
    out
}

/// The words of a pattern that has nothing else.
fn constant(pattern: &ast::Pattern<&str>) -> Option<String> {
    let words = |element: &ast::PatternElement<&str>| match element {
        ast::PatternElement::TextElement { value } => Some((*value).to_owned()),
        ast::PatternElement::Placeable {
            expression: ast::Expression::Inline(ast::InlineExpression::StringLiteral { value }),
        } => Some(unescape_unicode_to_string(value).into_owned()),
        ast::PatternElement::Placeable { .. } => None,
    };
    pattern.elements.iter().map(words).collect()
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

//! The languages that slowpath speaks, and the catalogue of its messages.
//!
//! A message is a key with named arguments; its words stand in `en/` and `ja/`, in the syntax of Fluent. Nothing here reads
//! the environment, a clock or a file: the catalogues are compiled in, and the command line says once which language is
//! spoken ([`speak`]).
//!
//! Two kinds of text are told apart:
//!
//! * **What documents hold** (verdicts, evidence, answers, notes, reasons; everything that JSON and records keep) is always
//!   English, made by [`english!`] or by the crates' own `Display`, so that programs and colleagues read the same
//!   whoever made the document, and in whichever language.
//! * **What a person reads** is made by [`say!`] in the language that is spoken. Texts of documents that stand in it are
//!   recognised by their English and told in that language ([`told`]); so a results folder can be read in a language
//!   in which it was not made.
//!
//! Start with [`say!`].

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod catalogue;
mod language;
mod recognise;
mod speech;
mod spelling;

pub use catalogue::{english_word, lookup, word};
pub use language::{Language, speak, spoken};
pub use recognise::{told, told_on_page, told_whole};
pub use speech::{Argument, english, in_language, say, with_typed};
pub use spelling::tight;

/// A message in the language that is spoken, as a `String`: `say!("explain-more", count = 3)`.
///
/// Arguments are anything with `Display`; where another language than English is spoken, those that are texts of a document
/// are told in it ([`told`]).
#[macro_export]
macro_rules! say {
    ($key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::say($key, &[$((stringify!($name), &$value as &dyn ::std::fmt::Display)),*])
    };
}

/// A message in English, for what is kept in a document, as a `String`.
#[macro_export]
macro_rules! english {
    ($key:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::english($key, &[$((stringify!($name), &$value as &dyn ::std::fmt::Display)),*])
    };
}

/// A message without arguments in the language that is spoken, as a `&'static str`.
#[macro_export]
macro_rules! word {
    ($key:literal) => {
        $crate::word($key)
    };
}

/// A message without arguments in English, for what is kept in a document, as a `&'static str`.
#[macro_export]
macro_rules! english_word {
    ($key:literal) => {
        $crate::english_word($key)
    };
}

//! Messages with their arguments, in the language that is spoken.

use std::fmt::Display;

use crate::catalogue::of;
use crate::language::{Language, spoken};
use crate::recognise::told;

/// A named argument of a message.
pub type Argument<'a> = (&'a str, &'a dyn Display);

/// The message `key` in the language that is spoken; see [`say!`](crate::say!).
///
/// A key that no catalogue has is shown as itself: a test refuses such keys.
pub fn say(key: &str, arguments: &[Argument<'_>]) -> String {
    let language = spoken();
    in_language(language, key, arguments)
}

/// The message `key` in English; see [`english!`](crate::english!).
pub fn english(key: &str, arguments: &[Argument<'_>]) -> String {
    in_language(Language::English, key, arguments)
}

/// The message `key` in the language that is spoken, its arguments as they are: words that people type are never translated.
pub fn with_typed(key: &str, arguments: &[Argument<'_>]) -> String {
    let arguments: Vec<(&str, String)> = arguments
        .iter()
        .map(|(name, value)| (*name, value.to_string()))
        .collect();
    of(spoken()).format(key, &arguments)
}

/// The message `key` in a language, its arguments told in it.
pub fn in_language(language: Language, key: &str, arguments: &[Argument<'_>]) -> String {
    let arguments: Vec<(&str, String)> = arguments
        .iter()
        .map(|(name, value)| (*name, value.to_string()))
        .collect();
    match language {
        Language::English => of(language).format(key, &arguments),
        Language::Japanese => {
            let told: Vec<(&str, String)> = arguments
                .into_iter()
                .map(|(name, value)| (name, told(&value).into_owned()))
                .collect();
            of(language).format(key, &told)
        }
    }
}

//! Which language is spoken.

use std::sync::atomic::{AtomicU8, Ordering};

/// A language of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Japanese.
    Japanese,
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::English, Self::Japanese];

    /// Its code of ISO 639: `en`, `ja`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Japanese => "ja",
        }
    }

    /// The language of a locale such as `ja_JP.UTF-8`; `None` for one that is not spoken here.
    pub fn of_locale(locale: &str) -> Option<Self> {
        let end = locale.find(['_', '.', '@', '-']).unwrap_or(locale.len());
        let code = &locale[..end];
        Self::ALL
            .into_iter()
            .find(|language| language.code().eq_ignore_ascii_case(code))
    }

    /// The language that the environment asks for: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is set and not empty
    /// decides (POSIX, "Environment Variables", 8.2); English where that one is not spoken here.
    pub fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Self {
        ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .filter_map(variable)
            .find(|value| !value.is_empty())
            .and_then(|locale| Self::of_locale(&locale))
            .unwrap_or_default()
    }
}

/// Says which language is spoken from now on, by the whole process.
pub fn speak(language: Language) {
    SPOKEN.store(language as u8, Ordering::Relaxed);
}

/// The language that is spoken; English unless [`speak`] said otherwise.
pub fn spoken() -> Language {
    if SPOKEN.load(Ordering::Relaxed) == Language::Japanese as u8 {
        Language::Japanese
    } else {
        Language::English
    }
}

static SPOKEN: AtomicU8 = AtomicU8::new(Language::English as u8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_read_in_the_order_of_posix() {
        let of = |set: &[(&str, &str)]| {
            Language::of_environment(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("LANG", "ja_JP.UTF-8")]), Language::Japanese);
        assert_eq!(
            of(&[("LANG", "ja_JP.UTF-8"), ("LC_MESSAGES", "C")]),
            Language::English
        );
        assert_eq!(of(&[("LC_ALL", "ja"), ("LC_MESSAGES", "C")]), Language::Japanese);
        assert_eq!(of(&[("LC_ALL", ""), ("LANG", "ja_JP")]), Language::Japanese);
        assert_eq!(of(&[("LANG", "de_DE.UTF-8")]), Language::English);
        assert_eq!(of(&[("LANG", "jam_JM")]), Language::English);
        assert_eq!(of(&[]), Language::English);
    }
}

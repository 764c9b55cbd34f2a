//! What needs Linux, said where slowpath runs on another system.

use slowpath_record::finding::{Finding, Standing};
use slowpath_words::{english, english_word};

/// This system as its users call it.
pub fn name() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

/// Why `doing` is not done here, with what can be done.
pub fn needs_linux(doing: &str) -> String {
    english!(
        "errors-needs-linux",
        doing = doing,
        system = name(),
        works = english_word!("errors-works-everywhere")
    )
}

/// That no lab can be built on this system.
pub fn no_lab() -> Finding {
    Finding {
        subject: english_word!("errors-operating-system").to_owned(),
        standing: Standing::Blocking,
        found: english!("errors-lab-is-linux", system = name()),
        fix: english_word!("errors-run-it-on-linux").to_owned(),
    }
}

/// What slowpath does on any system.
pub fn what_works() -> Finding {
    Finding {
        subject: english_word!("errors-analysis").to_owned(),
        standing: Standing::Good,
        found: english!(
            "errors-work-here",
            works = english_word!("errors-works-everywhere")
        ),
        fix: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_linux_says_what_was_asked_where_this_is_and_what_works() {
        let text = needs_linux("measuring a live path");
        assert!(
            text.starts_with("measuring a live path: it needs Linux, and this is "),
            "{text}"
        );
        for part in [name(), "virtual machine", "explain", "run --clock simulated"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(no_lab().standing, Standing::Blocking);
        assert!(what_works().found.contains("compare"));
    }
}

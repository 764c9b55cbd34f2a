//! What needs Linux, said where slowpath runs on another system.

use slowpath_record::finding::{Finding, Standing};

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
    let system = name();
    format!(
        "{doing}: that needs Linux, and this is {system}; do it there, in a virtual machine or over ssh; on {system} there are {EVERYWHERE}"
    )
}

/// That no lab can be built on this system.
pub fn no_lab() -> Finding {
    let system = name();
    Finding {
        subject: "operating system".to_owned(),
        standing: Standing::Blocking,
        found: format!("this is {system}, and a lab is made of Linux's network namespaces"),
        fix: "run slowpath on Linux, in a virtual machine or over ssh".to_owned(),
    }
}

/// What slowpath does on any system.
pub fn what_works() -> Finding {
    Finding {
        subject: "captures and simulated time".to_owned(),
        standing: Standing::Good,
        found: format!("there are {EVERYWHERE}"),
        fix: String::new(),
    }
}

/// Commands that no system keeps from working.
const EVERYWHERE: &str =
    "explain, fit, config, run --clock simulated, diagnose, report, compare, ui and list";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_linux_says_what_was_asked_where_this_is_and_what_works() {
        let text = needs_linux("measuring a live path");
        assert!(
            text.starts_with("measuring a live path: that needs Linux, and this is "),
            "{text}"
        );
        for part in [name(), "virtual machine", "explain", "run --clock simulated"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(no_lab().standing, Standing::Blocking);
        assert!(what_works().found.contains("compare"));
    }
}

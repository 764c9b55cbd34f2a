//! Lines of a configuration, shown.

/// Text from a file without what would steer a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect()
}

/// Where the lines of a change go.
pub(super) fn place(lines: &[String], replaces: &[usize]) -> String {
    let replaced: Vec<String> = replaces.iter().map(usize::to_string).collect();
    match (replaced.is_empty(), lines.is_empty()) {
        (true, _) => "add".to_owned(),
        (false, false) => format!("instead of line {}", replaced.join(", ")),
        (false, true) => format!("remove line {}", replaced.join(", ")),
    }
}

//! Words for what limits a transfer.

use slowpath_verdict::{Flag, Limit, Reason};

/// The limit in words, as a noun: `receiver's window`.
pub const fn limit_words(limit: Limit) -> &'static str {
    limit.noun()
}

/// The stable name of a flag, as in JSON.
pub fn flag_name(flag: Flag) -> String {
    name_of(&flag)
}

/// The stable name of a reason, as in JSON.
pub fn reason_name(reason: Reason) -> String {
    name_of(&reason)
}

/// The name under which a unit variant is serialised.
fn name_of<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// The colour of a limit on white, as `#rrggbb`; the page's style has the same.
pub const fn limit_colour(limit: Limit) -> &'static str {
    limit.colours()[0]
}

/// The colours of all limits as a style's variables, `--l-receiver-window: #0a6cb0;`, on light or on dark ground.
pub(crate) fn colour_variables(dark: bool) -> String {
    Limit::ALL
        .iter()
        .map(|limit| format!("--l-{limit}: {};", limit.colours()[usize::from(dark)]))
        .collect::<Vec<_>>()
        .join(" ")
}

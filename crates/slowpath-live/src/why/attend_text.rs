//! What an unattended watch says, a sentence for each event.

use std::path::Path;

use slowpath_report::quantity;

use super::attend::Told;

/// That a job is slower than it usually is, and why; `over` once it has ended.
pub fn slow(told: &Told, over: bool) -> String {
    let usual = told.expected.map_or_else(String::new, |expected| {
        format!(
            ", where {} are usual (the middle of {} runs)",
            quantity::byte_rate(expected.usual),
            expected.runs
        )
    });
    format!(
        "{} {} slow: {} over {}{usual}. {}",
        told.job,
        if over { "was" } else { "is" },
        quantity::byte_rate(told.byte_per_s),
        quantity::seconds(told.seconds),
        told.limit
    )
}

/// That a job has ended as usual.
pub fn usual(told: &Told) -> String {
    let known = match told.expected {
        Some(expected) => format!("{} are usual", quantity::byte_rate(expected.usual)),
        None => "what is usual is not known yet".to_owned(),
    };
    format!(
        "{} ended: {} in {}, {} ({known}).",
        told.job,
        quantity::bytes(told.bytes as f64),
        quantity::seconds(told.seconds),
        quantity::byte_rate(told.byte_per_s)
    )
}

/// An event in a line for programs (`slowpath/watch/1`): `slow`, `was-slow` or `over`, when, and where the run is kept.
pub fn json(
    event: &str,
    at: &str,
    told: &Told,
    folder: Option<&Path>,
    compare_with: Option<&Path>,
) -> String {
    serde_json::json!({
        "schema": "slowpath/watch/1",
        "at": at,
        "event": event,
        "run": told,
        "folder": folder,
        "compare_with": compare_with,
    })
    .to_string()
}

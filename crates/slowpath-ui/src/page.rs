//! The page: what `assets/` holds.

/// The page; it shows what the script asks for.
pub(crate) const PAGE: &str = include_str!("../assets/ui.html");
/// Its script.
pub(crate) const SCRIPT: &str = include_str!("../assets/ui.js");

/// Its style: that of the reports, and what only this page has.
pub(crate) fn style() -> String {
    let mut style = slowpath::report::style();
    style.push_str(include_str!("../assets/ui.css"));
    style
}

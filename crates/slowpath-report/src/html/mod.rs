//! The page: one self-contained HTML file, drawn from templates.
//!
//! Nothing in it is fetched from elsewhere, and a content security policy inside the page says so to the
//! browser. Templates, style and script stand in `assets/`; `run` and `explain` turn documents into the
//! plain strings and numbers that the templates show.

mod axis;
mod curves;
mod explain;
mod run;
mod shared;
mod times;
mod told;
mod what_if;
mod wire;

use std::io::{self, Write};

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, context};
use serde::Serialize;

pub use self::what_if::WhatIfPart;
use crate::explain::Explanation;
use crate::graphs::GraphSet;
use crate::results::Results;
use crate::verdict::colour_variables;
use slowpath_words::{Language, spoken, told_on_page};

const UPLOT_JS: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
const UPLOT_CSS: &str = include_str!("../../assets/uplot/uPlot.min.css");
const JS: &str = include_str!("../../assets/report.js");
const SLIDERS_JS: &str = include_str!("../../assets/sliders.js");
const CSS: &str = include_str!("../../assets/report.css");

/// Writes the report of an experiment.
///
/// `graphs` holds the graphs of any number of runs; each variant shows its own, in the order given. `what_if` is what a path
/// that was fitted offers.
///
/// # Errors
///
/// Those of `out`.
pub fn write_report(
    results: &Results,
    graphs: &[GraphSet],
    what_if: Option<WhatIfPart<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = run::view(results, graphs);
    render("report.html", results.written.as_deref(), &view, what_if, out)
}

/// Writes the page of `slowpath explain --format html`. Graphs come from the connections themselves; `written`
/// is the time to be shown, if any, and `what_if` what was asked of the path fitted to one of them.
///
/// # Errors
///
/// Those of `out`.
pub fn write_explanation(
    explanation: &Explanation,
    written: Option<&str>,
    what_if: Option<WhatIfPart<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = explain::view(explanation);
    render("explain.html", written, &view, what_if, out)
}

fn render(
    template: &str,
    written: Option<&str>,
    view: &impl Serialize,
    what_if: Option<WhatIfPart<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("prose", |text: String| {
        Value::from_safe_string(prose(&slowpath_words::told(&text)))
    });
    for (name, text) in [
        ("base.html", include_str!("../../assets/base.html")),
        ("parts.html", include_str!("../../assets/parts.html")),
        ("report.html", include_str!("../../assets/report.html")),
        ("explain.html", include_str!("../../assets/explain.html")),
    ] {
        environment.add_template(name, text).map_err(io::Error::other)?;
    }
    let page = environment.get_template(template).map_err(io::Error::other)?;
    let version = env!("CARGO_PKG_VERSION");
    let context = context! {
        version, written, css => style(), js => JS, sliders_js => SLIDERS_JS, words => words(), uplot_css => UPLOT_CSS, uplot_js => UPLOT_JS, r => Value::from(Serde(view)),
        w => Value::from(Serde(what_if.and_then(what_if::view)))
    };
    // Whole before it is written, so that a failure to write is told as what it is.
    let whole = page.render(context).map_err(io::Error::other)?;
    out.write_all(told::page(whole).as_bytes())
}

/// The words of the page's script in the language that is spoken, as JSON from English; empty in English.
fn words() -> Value {
    let told: std::collections::BTreeMap<&str, String> = if spoken() == Language::English {
        std::collections::BTreeMap::new()
    } else {
        SCRIPTED
            .iter()
            .map(|text| (*text, told_on_page(text).into_owned()))
            .collect()
    };
    Value::from_safe_string(serde_json::to_string(&told).unwrap_or_default())
}

/// What the page's script shows.
const SCRIPTED: &[&str] = &[
    "the other way",
    "retransmissions",
    "window edge",
    "acknowledged",
    "sent",
    "sent again",
    "selectively acknowledged",
    "delivered",
    "round trip",
    "advertised window",
    "in flight",
    "data",
    "Time and sequence",
    "Throughput",
    "Round-trip time",
    "Window scaling",
    "Show or hide",
    "Nothing to draw: the capture does not show this.",
    "Click to show these ten round trips in all graphs",
    "This browser cannot unpack the data; it needs DecompressionStream (2023 or newer).",
    "10 round trips at",
    "at",
    "all of",
    "to",
    "copied",
    "select and copy",
    "Captured",
    "As fitted",
    "Now",
    "Duration",
    "Goodput",
    "This browser cannot run the simulator; it needs WebAssembly and DecompressionStream (2023 or newer).",
    "It does not come to its end within the time that the simulation has.",
];

/// The style of all pages, with the colours of the limits.
pub fn style() -> String {
    CSS.replace("/* limits, light */", &colour_variables(false))
        .replace("/* limits, dark */", &colour_variables(true))
}

/// Escapes text and sets what stands between backticks as code.
fn prose(text: &str) -> String {
    let escaped = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    let parts: Vec<&str> = escaped.split('`').collect();
    // A backtick without its partner stays what it is.
    if parts.len().is_multiple_of(2) {
        return escaped;
    }
    let pieces = parts.iter().enumerate().map(|(i, part)| {
        if i % 2 == 1 {
            format!("<code>{part}</code>")
        } else {
            (*part).to_owned()
        }
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::prose;

    #[test]
    fn backticks_become_code_and_nothing_else_becomes_an_element() {
        assert_eq!(
            prose("see `ip tcp <x>` & co"),
            "see <code>ip tcp &lt;x&gt;</code> &amp; co"
        );
        assert_eq!(prose("one ` alone <b>"), "one ` alone &lt;b&gt;");
    }
}

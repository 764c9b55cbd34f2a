//! What a capture says, with what would help.

use std::io::{self, Write};
use std::path::Path;

use slowpath_analyze::taps::{TwoTaps, two_taps};
use slowpath_report::compare::CaptureComparison;
use slowpath_report::explain::Explanation;
use slowpath_report::explain_text::{self, Depth};
use slowpath_report::{Style, json};

use crate::import::{self, ImportError, ReadCapture};

/// Reads a capture and explains it.
///
/// # Errors
/// [`ImportError`].
pub fn file(path: &Path) -> Result<Explanation, ImportError> {
    import::analyze_file(path).map(Explanation::diagnosed)
}

/// Writes the explanation as JSON (`slowpath/explain/1`).
///
/// # Errors
/// Those of `out`.
pub fn write_json(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    json::write_explanation(explanation, out)
}

/// Writes the explanation for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_text(explanation: &Explanation, style: Style, out: &mut dyn Write) -> io::Result<()> {
    explain_text::write_explanation(explanation, style, Depth::default(), out)
}

/// Writes the explanation as one self-contained page.
///
/// # Errors
/// Those of `out`.
pub fn write_html(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    slowpath_report::html::write_explanation(explanation, None, out)
}

/// What two captures say together.
#[derive(Debug)]
pub enum Pair {
    /// Both hold the same connections: two taps of one path.
    Taps(Vec<TwoTaps>),
    /// They hold different ones: a good and a bad transfer of a kind.
    Transfers(Box<CaptureComparison>),
    /// One of them holds no TCP connection.
    Nothing,
}

/// Reads two captures and says what happens between them, or what differs.
///
/// # Errors
/// [`ImportError`].
pub fn pair(first: &Path, second: &Path) -> Result<Pair, ImportError> {
    let (first, second) = (ReadCapture::open(first)?, ReadCapture::open(second)?);
    let taps = two_taps(
        (&first.analyzer, first.conversations()),
        (&second.analyzer, second.conversations()),
    );
    if taps.iter().any(|taps| taps.matched_segments > 0) {
        return Ok(Pair::Taps(taps));
    }
    let [good, bad] = [first, second].map(|capture| Explanation::diagnosed(capture.analysis()));
    Ok(CaptureComparison::of(&good, &bad)
        .map_or(Pair::Nothing, |comparison| Pair::Transfers(Box::new(comparison))))
}

/// Writes what two captures say, for the terminal.
///
/// # Errors
/// Those of `out`.
pub fn write_pair(pair: &Pair, style: Style, out: &mut dyn Write) -> io::Result<()> {
    match pair {
        Pair::Transfers(comparison) => comparison.write(style, out),
        Pair::Nothing => writeln!(out, "{NOTHING}"),
        Pair::Taps(taps) => {
            for one in taps {
                writeln!(
                    out,
                    "{} - {}: {} segments matched",
                    one.client, one.server, one.matched_segments
                )?;
                for finding in &one.findings {
                    for line in slowpath_report::text::wrap(finding, style.width, "  ", "    ") {
                        writeln!(out, "{line}")?;
                    }
                }
            }
            Ok(())
        }
    }
}

/// Writes what two captures say, as JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_pair_json(pair: &Pair, out: &mut dyn Write) -> io::Result<()> {
    match pair {
        Pair::Transfers(comparison) => serde_json::to_writer_pretty(&mut *out, comparison)?,
        Pair::Taps(taps) => serde_json::to_writer_pretty(&mut *out, taps)?,
        Pair::Nothing => serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "error": NOTHING }))?,
    }
    writeln!(out)
}

const NOTHING: &str = "one of the two captures holds no TCP connection, so there is nothing to compare";

//! What a capture says, with what would help.

use std::io::{self, Write};
use std::path::Path;

use slowpath_report::explain::Explanation;
use slowpath_report::explain_text::{self, Depth};
use slowpath_report::{Style, json};

use crate::import::{self, ImportError};

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

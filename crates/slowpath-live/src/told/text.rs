//! What a result tells, for a terminal.

use std::io::{self, Write};

use slowpath_report::quantity;
use slowpath_report::text::{Style, Tone};

use super::Told;

/// The answer first.
///
/// # Errors
/// Those of `out`.
pub fn write(told: &Told, style: Style, out: &mut dyn Write) -> io::Result<()> {
    style.paragraph(&style.bold(&told.sentence), "", "", Tone::Plain, out)?;
    let plural = if told.streams == 1 { "" } else { "s" };
    let about = format!(
        "{}, {} stream{plural} of {} for {}, sent by {}",
        told.tool,
        told.streams,
        told.transport.to_uppercase(),
        quantity::seconds(told.seconds),
        if told.sent_here {
            "this side"
        } else {
            "the other side"
        }
    );
    style.paragraph(&about, "", "", Tone::Plain, out)?;
    for evidence in &told.evidence {
        style.paragraph(evidence, "  - ", "    ", Tone::Plain, out)?;
    }
    match &told.next_step {
        Some(next) => style.paragraph(next, "", "", Tone::Plain, out),
        None => Ok(()),
    }
}

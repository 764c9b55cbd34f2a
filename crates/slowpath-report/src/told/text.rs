//! What a result tells, for a terminal.

use std::io::{self, Write};

use slowpath_words::{say, word};

use super::Told;
use crate::quantity;
use crate::text::{Style, Tone};

/// The answer first.
///
/// # Errors
/// Those of `out`.
pub fn write(told: &Told, style: Style, out: &mut dyn Write) -> io::Result<()> {
    style.paragraph(
        &style.bold(&slowpath_words::told(&told.sentence)),
        "",
        "",
        Tone::Plain,
        out,
    )?;
    let plural = if told.streams == 1 { "" } else { "s" };
    let about = say!(
        "told-text-stream-sent-by",
        tool = told.tool,
        streams = told.streams,
        plural = plural,
        to_uppercase = told.transport.to_uppercase(),
        told = quantity::seconds(told.seconds),
        sent_here = if told.sent_here {
            word!("told-text-side")
        } else {
            word!("told-text-other-side")
        }
    );
    style.paragraph(&about, "", "", Tone::Plain, out)?;
    for evidence in &told.evidence {
        style.paragraph(evidence, "  - ", "    ", Tone::Plain, out)?;
    }
    if let Some(next) = &told.next_step {
        style.paragraph(next, "", "", Tone::Plain, out)?;
    }
    for other in &told.also {
        writeln!(out)?;
        write(other, style, out)?;
    }
    Ok(())
}

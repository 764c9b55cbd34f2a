//! Experiments as a list for the terminal.

use std::io::{self, Write};

use slowpath_report::Style;
use slowpath_report::text::{Tone, columns, left};

use crate::load::Loaded;

/// Writes experiments with their variants, a line each.
///
/// # Errors
/// Those of `out`.
pub fn write_text(experiments: &[Loaded], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let names = experiments
        .iter()
        .flat_map(|loaded| &loaded.experiment.variants)
        .map(|variant| columns(&variant.name));
    let width = names.max().unwrap_or(0).min(style.width / 3);
    for loaded in experiments {
        let heading = format!("{}  {}", loaded.name, loaded.experiment.title);
        style.paragraph(&heading, "", "    ", Tone::Plain, out)?;
        for variant in &loaded.experiment.variants {
            let note = variant.note.as_deref().unwrap_or("");
            let name = format!("    {} ", left(&variant.name, width));
            style.paragraph(note, &name, &" ".repeat(width + 5), Tone::Plain, out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "run one with: slowpath run NAME --quick")
}

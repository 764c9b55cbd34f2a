//! Experiments as a list for the terminal.

use std::io::{self, Write};

use slowpath_report::Style;
use slowpath_report::text::{columns, kept, left};
use slowpath_words::{told, told_whole};

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
        // An author's words are told as a whole, or stay as they are.
        let title = told_whole(&loaded.experiment.title);
        let heading = format!("{}  {title}", loaded.name);
        lines(&heading, "", "    ", style, out)?;
        for variant in &loaded.experiment.variants {
            let note = variant.note.as_deref().unwrap_or("");
            let name = format!("    {} ", left(&variant.name, width));
            lines(&told_whole(note), &name, &" ".repeat(width + 5), style, out)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{}", told("run one with: slowpath run NAME --quick"))
}

fn lines(text: &str, first: &str, rest: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for line in kept(text, style.width, first, rest) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

//! Trials for a terminal.

use std::io::{self, Write};

use slowpath_report::quantity;
use slowpath_report::text::{Style, Tone};

use super::change::Change;
use super::result::{BlockAnswer, Trial};

/// Each trial in a sentence, with the rates behind it.
///
/// # Errors
/// Those of `out`.
pub fn write(trials: &[Trial], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if trials.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{}", style.bold("Tried on the living connection:"))?;
    for trial in trials {
        style.paragraph(&trial.sentence, "  ", "  ", Tone::Plain, out)?;
        if trial.effect.is_some() {
            let text = format!(
                "{} without, {} with it; {} blocks of {:.1} s, of which the first {:.1} s do not count.",
                median(&trial.blocks, false),
                median(&trial.blocks, true),
                trial.blocks.len(),
                trial.settle_s + trial.measure_s,
                trial.settle_s
            );
            style.paragraph(&text, "    ", "    ", Tone::Plain, out)?;
        }
        for note in &trial.notes {
            style.paragraph(note, "    ", "    ", Tone::Plain, out)?;
        }
    }
    Ok(())
}

/// What to know before it begins: what is done, and what is not given back.
pub fn before(changes: &[Change]) -> Vec<String> {
    let what = if changes.is_empty() {
        "what the limit suggests".to_owned()
    } else {
        changes
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let mut said = vec![format!(
        "trying {what} on the program's own connections, in turns; each is given back what it had"
    )];
    said.extend(changes.iter().filter_map(not_given_back).map(str::to_owned));
    said
}

/// What the kernel does not give back of a change.
pub fn not_given_back(change: &Change) -> Option<&'static str> {
    match change {
        Change::CongestionControl(name) if name == "bbr" => Some(
            "not given back: the kernel goes on pacing this connection, and its congestion window begins where the change left it",
        ),
        Change::CongestionControl(_) => {
            Some("not given back: the congestion window begins where the change left it")
        }
        Change::PacingRate(Some(_)) => {
            Some("not given back: the kernel goes on pacing this connection, without the bound")
        }
        Change::SendBuffer(_) | Change::ReceiveBuffer(_) => Some(
            "not given back whole: after it the same buffer allows a larger window, and before Linux 5.14 it does not grow by itself \
             again; so it is made once, last, and compared with what was before",
        ),
        Change::WindowClamp(_) => {
            Some("a window that is offered is never taken back, so a smaller one takes hold as data come in")
        }
        Change::PacingRate(None) | Change::Mark(_) | Change::UnsentLowWater(_) => None,
    }
}

/// The middle rate of the blocks of one kind.
fn median(blocks: &[BlockAnswer], on: bool) -> String {
    let rates: Vec<f64> = blocks
        .iter()
        .filter(|block| block.on == on)
        .map(|block| block.byte_per_s)
        .collect();
    quantity::byte_rate(slowpath_diagnose::stats::median(&rates))
}

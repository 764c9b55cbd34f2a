//! Trials for a terminal.

use std::io::{self, Write};

use slowpath_report::quantity;
use slowpath_report::text::{Style, Tone};
use slowpath_words::{english_word, say, told, word};

use super::change::Change;
use super::result::{BlockAnswer, Method, Trial};
use super::turns::Plan;

/// Each trial in a sentence, with the rates behind it.
///
/// # Errors
/// Those of `out`.
pub fn write(trials: &[Trial], style: Style, out: &mut dyn Write) -> io::Result<()> {
    for (method, title) in [
        (Method::Living, word!("why-trial-living")),
        (Method::Again, word!("why-trial-again")),
    ] {
        let mut of = trials.iter().filter(|trial| trial.method == method).peekable();
        if of.peek().is_some() {
            writeln!(out, "\n{}", style.bold(title))?;
        }
        for trial in of {
            write_one(trial, style, out)?;
        }
    }
    Ok(())
}

fn write_one(trial: &Trial, style: Style, out: &mut dyn Write) -> io::Result<()> {
    style.paragraph(&told(&trial.sentence), "  ", "  ", Tone::Plain, out)?;
    if trial.effect.is_some() {
        let without = median(&trial.blocks, false);
        let with = median(&trial.blocks, true);
        let text = match trial.method {
            Method::Living => say!(
                "why-trial-blocks",
                without = without,
                with = with,
                blocks = trial.blocks.len(),
                length = format!("{:.1}", trial.settle_s + trial.measure_s),
                settle = format!("{:.1}", trial.settle_s)
            ),
            Method::Again => say!(
                "why-trial-runs",
                without = without,
                with = with,
                runs = trial.blocks.len(),
                length = format!("{:.1}", trial.measure_s)
            ),
        };
        style.paragraph(&text, "    ", "    ", Tone::Plain, out)?;
    }
    for note in &trial.notes {
        style.paragraph(&told(note), "    ", "    ", Tone::Plain, out)?;
    }
    Ok(())
}

/// What to know before it begins: what is done, and what is not given back.
pub fn before(changes: &[Change]) -> Vec<String> {
    let names: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let mut said = vec![if names.is_empty() {
        say!("why-trial-before-suggested")
    } else {
        say!("why-trial-before", changes = names.join(", "))
    }];
    // Each change waits for the start of the transfer to be over, and for the ones before it.
    let seconds: f64 = if changes.is_empty() {
        Plan::least_s(false)
    } else {
        changes
            .iter()
            .map(|change| Plan::least_s(change.is_buffer()))
            .sum()
    };
    said.push(say!(
        "why-trial-needs",
        seconds = format!("{:.0}", seconds.ceil())
    ));
    said.extend(
        changes
            .iter()
            .filter_map(not_given_back)
            .map(|note| told(note).into_owned()),
    );
    said
}

/// What the kernel does not give back of a change.
pub fn not_given_back(change: &Change) -> Option<&'static str> {
    match change {
        Change::CongestionControl(name) if name == "bbr" => Some(english_word!("why-trial-kept-bbr")),
        Change::CongestionControl(_) => Some(english_word!("why-trial-kept-control")),
        Change::PacingRate(Some(_)) => Some(english_word!("why-trial-kept-pacing")),
        Change::SendBuffer(_) | Change::ReceiveBuffer(_) => Some(english_word!("why-trial-kept-buffer")),
        Change::WindowClamp(_) => Some(english_word!("why-trial-kept-clamp")),
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

//! What stands for an experiment and its variants: title, name, health, the mark behind a ratio.

use std::io::{self, Write};

use slowpath_record::{HealthState, Origin};

use crate::results::{Basis, Figure, Results, Variant};
use crate::text::{Style, Tone, wrap};
use slowpath_words::{say, told, told_whole, word};

/// A name for the table: where both clocks stand in it, those of simulated time are marked.
pub(super) fn short_label(results: &Results, variant: &Variant) -> String {
    let mixed = results.variants.iter().any(|v| v.clock != variant.clock);
    if mixed && variant.clock == Origin::Simulated {
        format!("{} ~", variant.name)
    } else {
        variant.name.clone()
    }
}

/// The mark behind a ratio: how the figure relates to the model.
pub(super) fn figure_mark(figure: &Figure) -> &'static str {
    if figure.basis == Basis::Fitted && figure.label.is_curve_fitting() {
        CURVE_FITTING
    } else {
        figure.basis.mark()
    }
}

/// The mark behind the ratio of a variant's main figure; empty without one.
pub(super) fn mark(variant: &Variant) -> &'static str {
    variant.main_figure().as_ref().map_or("", figure_mark)
}

/// The mark of a figure to which as many parameters were fitted as there are figures.
pub(super) const CURVE_FITTING: &str = "f!";

/// The tone of a state of health.
pub(super) const fn health_tone(state: HealthState) -> Tone {
    match state {
        HealthState::Valid => Tone::Good,
        HealthState::Degraded => Tone::Care,
        HealthState::Invalid => Tone::Bad,
    }
}

/// A variant's health in the table: of its runs the worst, or how many count where some do not.
pub(super) fn health_cell(variant: &Variant) -> String {
    let all = variant.runs.len();
    let invalid = variant
        .runs
        .iter()
        .filter(|run| run.health.state == HealthState::Invalid)
        .count();
    if all == 0 {
        word!("label-not-run").to_owned()
    } else if (1..all).contains(&invalid) {
        say!("label-valid", invalid = all - invalid, all = all)
    } else {
        told(variant.health().name()).into_owned()
    }
}

/// Writes what was run, and in which clock.
pub(super) fn write_title(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let clock = if results.is_simulated() {
        word!("label-simulated-time")
    } else {
        ""
    };
    let title = format!("{}: {}{clock}", results.experiment, told_whole(&results.title));
    for line in wrap(&title, style.width, "", "") {
        writeln!(out, "{}", style.bold(&line))?;
    }
    Ok(())
}

//! The diagnosis for a terminal.

use std::io::{self, Write};

use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_report::text::{Style, Tone, fit, left, right};
use slowpath_report::{quantity, verdict};

use super::answer::{Diagnosis, Support, Trial, Way};
use super::change::Change;
use super::run::Stage;

/// What is being done, in a few words.
pub fn stage(stage: &Stage) -> String {
    let way = if stage.reverse { "from" } else { "to" };
    let what = stage
        .change
        .as_ref()
        .map_or_else(|| "as it is".to_owned(), Change::words);
    format!("test {}: data {way} the server, {what}", stage.test)
}

/// The answer first, then what was tried.
///
/// # Errors
/// Those of `out`.
pub fn write(diagnosis: &Diagnosis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let base = &diagnosis.base.connection;
    let sentence = style.bold(&base.verdict.sentence);
    style.paragraph(&sentence, "", "", Tone::Plain, out)?;
    style.paragraph(&what_follows(diagnosis), "", "", tone(diagnosis), out)?;
    writeln!(out)?;
    let (to, back) = if diagnosis.direction == "out" {
        ("To", "From")
    } else {
        ("From", "To")
    };
    let head = format!(
        "{to} {}, {:.0} s a test, one connection with {}:",
        diagnosis.server, diagnosis.test_s, base.congestion_control
    );
    style.paragraph(&head, "", "", Tone::Plain, out)?;
    row(
        "as it is",
        &diagnosis.base.goodput,
        &as_it_is(&diagnosis.base),
        style,
        out,
    )?;
    for trial in &diagnosis.trials {
        row(
            &trial.change.words(),
            &trial.comparison.b,
            &said(trial),
            style,
            out,
        )?;
    }
    if let Some(other) = &diagnosis.other {
        style.paragraph(&format!("{back} it:"), "", "", Tone::Plain, out)?;
        row("as it is", &other.goodput, &as_it_is(other), style, out)?;
    }
    if style.verbose {
        for evidence in &base.verdict.evidence {
            style.paragraph(&evidence.text, "  - ", "    ", Tone::Plain, out)?;
        }
    }
    if let Some(next) = &base.verdict.next_step {
        style.paragraph(next, "", "", Tone::Plain, out)?;
    }
    for note in &diagnosis.notes {
        style.paragraph(note, "", "", Tone::Care, out)?;
    }
    let cost = format!(
        "{} moved in {}.",
        quantity::bytes(diagnosis.cost.bytes as f64),
        quantity::seconds(diagnosis.cost.seconds)
    );
    style.paragraph(&cost, "", "", Tone::Plain, out)
}

/// What the changes say of the verdict, and the best of them.
pub fn what_follows(diagnosis: &Diagnosis) -> String {
    let limit = diagnosis.base.connection.verdict.limit;
    let words = verdict::limit_words(limit);
    let telling = |agrees: bool| {
        let told: Vec<String> = diagnosis
            .trials
            .iter()
            .filter(|trial| trial.agrees(limit) == Some(agrees))
            .map(|trial| format!("{} {}", trial.change.words(), gave(&trial.comparison)))
            .collect();
        told.join(", ")
    };
    let support = match diagnosis.support {
        Support::Supported => format!("What was tried agrees: {}.", telling(true)),
        Support::Contradicted => format!(
            "Against this speaks what was tried: {}. Take packets of such a test and explain them.",
            telling(false)
        ),
        Support::Untested => format!("Nothing that was tried tells {words} from another cause."),
    };
    let marks: Vec<String> = diagnosis
        .trials
        .iter()
        .filter(|trial| matches!(trial.change, Change::Mark(_)) && trial.is_slower())
        .map(|trial| format!("{} {}", trial.change.words(), gave(&trial.comparison)))
        .collect();
    let marks = if marks.is_empty() {
        String::new()
    } else {
        format!(" The network treats marks differently: {}.", marks.join(", "))
    };
    let best = diagnosis.best().map_or_else(
        || " Nothing that was tried at this end made it faster.".to_owned(),
        |best| {
            format!(
                " Fastest: {}, {}.",
                best.change.words(),
                quantity::byte_rate(best.comparison.b.mean)
            )
        },
    );
    let best = if diagnosis.trials.is_empty() {
        String::new()
    } else {
        best
    };
    format!("{support}{marks}{best}")
}

const fn tone(diagnosis: &Diagnosis) -> Tone {
    match diagnosis.support {
        Support::Contradicted => Tone::Care,
        Support::Supported | Support::Untested => Tone::Plain,
    }
}

fn row(name: &str, rates: &Summary, said: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let line = format!(
        "  {} {}  {said}",
        left(&fit(name, 26), 26),
        right(&quantity::byte_rate(rates.mean), 12)
    );
    writeln!(out, "{}", fit(&line, style.rows.max(60)))
}

fn as_it_is(way: &Way) -> String {
    let facts = &way.connection.facts;
    format!(
        "round trip {} to {}, {}",
        quantity::seconds(facts.least_rtt_s),
        quantity::seconds(facts.mean_rtt_s),
        verdict::limit_words(way.connection.verdict.limit)
    )
}

fn said(trial: &Trial) -> String {
    let again = trial
        .sent_again
        .filter(|share| *share > 0.0)
        .map_or(String::new(), |share| {
            format!(", {} sent again", quantity::percent(share))
        });
    format!("{}{again}", gave(&trial.comparison))
}

/// What a change gave, with its interval where there is one: `3.9 times as fast (3.7 to 4.2)`.
fn gave(comparison: &Comparison) -> String {
    let range = comparison
        .low95
        .zip(comparison.high95)
        .map(|(low, high)| [low, high].map(|end| 1.0 + end / comparison.a.mean));
    match (comparison.outcome, range) {
        (Outcome::Higher | Outcome::Lower, _) if (comparison.ratio - 1.0).abs() < SAME => {
            "as fast as before".to_owned()
        }
        (Outcome::TooFew, _) => format!("{:.2} times as fast, once", comparison.ratio),
        (Outcome::NotShown, Some([low, high])) => {
            format!("no difference shown ({low:.2} to {high:.2} times)")
        }
        (Outcome::NotShown, None) => "no difference shown".to_owned(),
        (_, Some([low, high])) => format!("{:.2} times as fast ({low:.2} to {high:.2})", comparison.ratio),
        (_, None) => format!("{:.2} times as fast", comparison.ratio),
    }
}

/// A difference that nobody notices, however sure it is.
const SAME: f64 = 0.02;

//! The diagnosis for a terminal.

use std::io::{self, Write};

use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_report::text::{Style, Tone, fit, left, right};
use slowpath_report::{quantity, verdict};

use super::answer::{Diagnosis, Support, Trial, Way};
use super::change::Change;
use super::run::Stage;
use slowpath_words::{say, told, word};

/// What is being done, in a few words.
pub fn stage(stage: &Stage) -> String {
    let way = if stage.reverse { "from" } else { "to" };
    let what = stage
        .change
        .as_ref()
        .map_or_else(|| word!("single-ended-text-as").to_owned(), Change::words);
    say!(
        "single-ended-text-test-data-server",
        test = stage.test,
        way = way,
        what = what
    )
}

/// The answer first, then what was tried.
///
/// # Errors
/// Those of `out`.
pub fn write(diagnosis: &Diagnosis, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let base = &diagnosis.base.connection;
    let sentence = style.bold(&told(&base.verdict.sentence));
    style.paragraph(&sentence, "", "", Tone::Plain, out)?;
    style.paragraph(&what_follows(diagnosis), "", "", tone(diagnosis), out)?;
    writeln!(out)?;
    let (to, back) = if diagnosis.direction == "out" {
        (word!("single-ended-text-to"), word!("single-ended-text-from"))
    } else {
        (word!("single-ended-text-from"), word!("single-ended-text-to"))
    };
    let head = say!(
        "single-ended-text-s-test-one-connection-with",
        to = to,
        server = diagnosis.server,
        test_s = format_args!("{:.0}", diagnosis.test_s),
        congestion_control = base.congestion_control
    );
    style.paragraph(&head, "", "", Tone::Plain, out)?;
    row(
        word!("single-ended-text-as"),
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
        style.paragraph(
            &say!("single-ended-text-it", back = back),
            "",
            "",
            Tone::Plain,
            out,
        )?;
        row(
            word!("single-ended-text-as"),
            &other.goodput,
            &as_it_is(other),
            style,
            out,
        )?;
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
    let cost = say!(
        "single-ended-text-moved",
        cost = quantity::bytes(diagnosis.cost.bytes as f64),
        cost2 = quantity::seconds(diagnosis.cost.seconds)
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
        Support::Supported => say!("single-ended-text-what-tried-agrees", tried = telling(true)),
        Support::Contradicted => say!(
            "single-ended-text-against-speaks-what-tried-take",
            tried = telling(false)
        ),
        Support::Untested => say!(
            "single-ended-text-nothing-tried-tells-from-another",
            words = words
        ),
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
        say!(
            "single-ended-text-network-treats-marks-differently",
            marks = marks.join(", ")
        )
    };
    let best = diagnosis.best().map_or_else(
        || word!("single-ended-text-nothing-tried-end-made-faster").to_owned(),
        |best| {
            say!(
                "single-ended-text-fastest",
                change = best.change.words(),
                mean = quantity::byte_rate(best.comparison.b.mean)
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
        left(&fit(&told(name), 26), 26),
        right(&quantity::byte_rate(rates.mean), 12)
    );
    writeln!(out, "{}", fit(&line, style.rows.max(60)))
}

fn as_it_is(way: &Way) -> String {
    let facts = &way.connection.facts;
    say!(
        "single-ended-text-round-trip",
        least_rtt_s = quantity::seconds(facts.least_rtt_s),
        mean_rtt_s = quantity::seconds(facts.mean_rtt_s),
        limit = verdict::limit_words(way.connection.verdict.limit)
    )
}

fn said(trial: &Trial) -> String {
    let again = trial
        .sent_again
        .filter(|share| *share > 0.0)
        .map_or(String::new(), |share| {
            say!("single-ended-text-sent-again", share = quantity::percent(share))
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
            word!("single-ended-text-as-fast-as-before").to_owned()
        }
        (Outcome::TooFew, _) => say!(
            "single-ended-text-times-as-fast-once",
            ratio = format_args!("{:.2}", comparison.ratio)
        ),
        (Outcome::NotShown, Some([low, high])) => {
            say!(
                "single-ended-text-no-difference-shown-times",
                low = format_args!("{:.2}", low),
                high = format_args!("{:.2}", high)
            )
        }
        (Outcome::NotShown, None) => word!("single-ended-text-no-difference-shown").to_owned(),
        (_, Some([low, high])) => say!(
            "single-ended-text-times-as-fast",
            ratio = format_args!("{:.2}", comparison.ratio),
            low = format_args!("{:.2}", low),
            high = format_args!("{:.2}", high)
        ),
        (_, None) => say!(
            "single-ended-text-times-as-fast-2",
            ratio = format_args!("{:.2}", comparison.ratio)
        ),
    }
}

/// A difference that nobody notices, however sure it is.
const SAME: f64 = 0.02;

//! The diagnosis for a terminal.

use std::io::{self, Write};

use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_report::text::{Style, Tone, fit, left, right};
use slowpath_report::{quantity, verdict};

use super::answer::{Diagnosis, LayerAnswer, Support, Trial, Waterfall, Way};
use super::change::Change;
use super::compare::{NO_GAIN, ratios};
use super::spec::Stage;
use slowpath_words::{say, told, word};

/// What is being done, in a few words.
pub fn stage(stage: &Stage) -> String {
    let way = if stage.reverse { "from" } else { "to" };
    let what = stage
        .change
        .as_ref()
        .map_or_else(|| stage.layer.words().to_owned(), Change::words);
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
    if let Some(waterfall) = &diagnosis.waterfall {
        style.paragraph(&style.bold(&lost(waterfall)), "", "", Tone::Plain, out)?;
    }
    let sentence = told(&base.verdict.sentence);
    if diagnosis.support == Support::Contradicted {
        let open = word!("single-ended-text-not-settled");
        style.paragraph(&style.bold(open), "", "", Tone::Care, out)?;
        style.paragraph(&sentence, "", "", Tone::Plain, out)?;
    } else {
        style.paragraph(&style.bold(&sentence), "", "", Tone::Plain, out)?;
    }
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
    if diagnosis.layers.len() > 1 {
        for layer in &diagnosis.layers {
            row(layer.layer.words(), &layer.goodput, &costs(layer), style, out)?;
        }
    } else {
        let name = diagnosis.layer.words();
        row(
            name,
            &diagnosis.base.goodput,
            &as_it_is(&diagnosis.base),
            style,
            out,
        )?;
    }
    if !diagnosis.trials.is_empty() {
        let head = say!(
            "single-ended-text-one-thing-changed",
            layer = diagnosis.layer.words()
        );
        style.paragraph(&head, "", "", Tone::Plain, out)?;
    }
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
        let head = say!("single-ended-text-it", back = back);
        style.paragraph(&head, "", "", Tone::Plain, out)?;
        row(
            diagnosis.layer.words(),
            &other.goodput,
            &as_it_is(other),
            style,
            out,
        )?;
    }
    style.paragraph(&round_trips(&diagnosis.base), "", "", Tone::Plain, out)?;
    if let Some((mtu, tone)) = path_mtu(diagnosis) {
        style.paragraph(&mtu, "", "", tone, out)?;
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
        style.paragraph(&told(note), "", "", Tone::Care, out)?;
    }
    style.paragraph(&cost(diagnosis), "", "", Tone::Plain, out)
}

fn cost(diagnosis: &Diagnosis) -> String {
    let cost = say!(
        "single-ended-text-moved",
        cost = amount(diagnosis.cost.bytes),
        cost2 = quantity::seconds(diagnosis.cost.seconds),
        tests = diagnosis.cost.tests
    );
    if diagnosis.saved.tests == 0 {
        return cost;
    }
    let saved = say!(
        "single-ended-text-saved",
        tests = diagnosis.saved.tests,
        bytes = amount(diagnosis.saved.bytes)
    );
    format!("{cost}{saved}")
}

/// Which layer loses the rate, in a sentence.
pub fn lost(waterfall: &Waterfall) -> String {
    match waterfall {
        Waterfall::Loses {
            layer,
            below,
            share,
            low,
            high,
            culprit,
        } => {
            let range = low.zip(*high).map_or(String::new(), |(low, high)| {
                say!(
                    "single-ended-text-range",
                    low = quantity::percent(low),
                    high = quantity::percent(high)
                )
            });
            say!(
                "single-ended-text-loses",
                layer = layer.words(),
                share = quantity::percent(*share),
                range = range,
                below = below.words(),
                culprit = told(culprit)
            )
        }
        Waterfall::None { at_most } => {
            say!(
                "single-ended-text-none-loses",
                at_most = quantity::percent(*at_most)
            )
        }
        Waterfall::Unclear => word!("single-ended-text-unclear").to_owned(),
    }
}

/// What a layer carries of what reaches it, and what limits it.
fn costs(layer: &LayerAnswer) -> String {
    let limit = layer.connection.as_ref().map_or(String::new(), |one| {
        told(verdict::limit_words(one.verdict.limit)).into_owned()
    });
    match (&layer.comparison, layer.below) {
        (Some(comparison), Some(below)) => say!(
            "single-ended-text-against-layer",
            share = quantity::percent(comparison.ratio),
            below = below.words(),
            limit = limit
        ),
        _ => limit,
    }
}

/// An amount of data, roughly.
fn amount(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        1e9.. => format!("{} GB", quantity::significant(bytes / 1e9)),
        1e6.. => format!("{} MB", quantity::significant(bytes / 1e6)),
        _ => quantity::bytes(bytes),
    }
}

fn round_trips(way: &Way) -> String {
    let (idle, loaded) = way.round_trips();
    let words = if way.is_bloated() {
        word!("single-ended-text-bloated")
    } else if loaded > 1.25 * idle && loaded - idle > 0.002 {
        word!("single-ended-text-some-queue")
    } else {
        word!("single-ended-text-no-queue")
    };
    say!(
        "single-ended-text-idle-and-loaded",
        idle = quantity::seconds(idle),
        loaded = quantity::seconds(loaded),
        words = words
    )
}

fn path_mtu(diagnosis: &Diagnosis) -> Option<(String, Tone)> {
    let mtu = &diagnosis.path_mtu;
    match (mtu.probed, mtu.tcp) {
        (Some(probed), _) if mtu.black_hole => {
            Some((say!("single-ended-text-mtu-black-hole", mtu = probed), Tone::Care))
        }
        (Some(probed), _) if probed < ETHERNET => {
            Some((say!("single-ended-text-mtu", mtu = probed), Tone::Plain))
        }
        (Some(probed), _) => Some((say!("single-ended-text-mtu-or-more", mtu = probed), Tone::Plain)),
        (None, Some(tcp)) => Some((say!("single-ended-text-mtu-of-tcp", mtu = tcp), Tone::Plain)),
        (None, None) => None,
    }
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
    format!("{support}{marks}{}", fastest(diagnosis))
}

/// What made it faster: the best of what was tried, one of which the tests do not tell whether it did, or nothing.
fn fastest(diagnosis: &Diagnosis) -> String {
    if diagnosis.trials.is_empty() {
        return String::new();
    }
    if let Some(best) = diagnosis.best() {
        return say!(
            "single-ended-text-fastest",
            change = best.change.words(),
            mean = quantity::byte_rate(best.comparison.b.mean)
        );
    }
    match diagnosis.most_promising() {
        Some(open) => say!(
            "single-ended-text-faster-open",
            change = open.change.words(),
            ratio = format_args!("{:.2}", open.comparison.ratio)
        ),
        None => word!("single-ended-text-nothing-tried-end-made-faster").to_owned(),
    }
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
        left(&fit(&told(name), NAMES), NAMES),
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
    match (comparison.outcome, ratios(comparison)) {
        (Outcome::Higher | Outcome::Lower, _) if (comparison.ratio - 1.0).abs() < SAME => {
            word!("single-ended-text-as-fast-as-before").to_owned()
        }
        (Outcome::TooFew, _) => say!(
            "single-ended-text-times-as-fast-once",
            ratio = format_args!("{:.2}", comparison.ratio)
        ),
        // Not at the level that stays right for all looks at it together, which is stricter than the interval's.
        (Outcome::NotShown, Some((low, high))) if low > 1.0 || high < 1.0 => say!(
            "single-ended-text-perhaps-times-as-fast",
            ratio = format_args!("{:.2}", comparison.ratio),
            low = format_args!("{:.2}", low),
            high = format_args!("{:.2}", high)
        ),
        (Outcome::NotShown, Some((low, high))) if high > NO_GAIN && high > WIDEST * low => say!(
            "single-ended-text-not-told-uneven",
            ratio = format_args!("{:.2}", comparison.ratio)
        ),
        (Outcome::NotShown, Some((low, high))) if high > NO_GAIN => say!(
            "single-ended-text-not-told",
            ratio = format_args!("{:.2}", comparison.ratio),
            low = format_args!("{:.2}", low),
            high = format_args!("{:.2}", high)
        ),
        (Outcome::NotShown, Some((low, high))) => {
            say!(
                "single-ended-text-no-difference-shown-times",
                low = format_args!("{:.2}", low),
                high = format_args!("{:.2}", high)
            )
        }
        (Outcome::NotShown, None) => word!("single-ended-text-no-difference-shown").to_owned(),
        (_, Some((low, high))) => say!(
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

/// Columns of a row's name.
const NAMES: usize = 23;
/// Ethernet's largest packet, bytes, and the largest that is probed.
const ETHERNET: u32 = 1500;
/// A difference that nobody notices, however sure it is.
const SAME: f64 = 0.02;
/// Upper over lower end of an interval that is of no use to anybody: two tests of each, one of them half as fast as the other.
const WIDEST: f64 = 10.0;

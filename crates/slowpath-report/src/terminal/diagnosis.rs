//! What was found out about each variant of an experiment: what limits it, what was tried, what came of it, what to do.

use std::io::{self, Write};

use slowpath_scenario::Intervention;
use slowpath_verdict::Limit;

use super::label::{short_label, write_title};
use super::unit::Unit;
use crate::results::{Proof, ProofOutcome, Results, Variant};
use crate::text::{Style, Tone, columns, left, wrap};
use slowpath_words::{say, told, word};

/// Writes a block for each variant: its rate and limit, a line for each change that was tested, and the lines of the
/// device's configuration that make a change which helped. Then how many predictions held.
///
/// # Errors
///
/// Those of `out`.
pub fn write_diagnosis(
    results: &Results,
    style: Style,
    report: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_title(results, style, out)?;
    writeln!(out)?;
    let unit = Unit::of(results);
    let labels: Vec<(String, &Variant)> = results
        .variants
        .iter()
        .filter(|variant| is_told(results, variant))
        .map(|variant| (short_label(results, variant), variant))
        .collect();
    let widest = labels.iter().map(|(label, _)| columns(label)).max().unwrap_or(0);
    for (label, variant) in &labels {
        let rate = variant.goodput_byte_per_s.as_ref();
        let rate = rate.map_or_else(
            || variant.without_rate().to_owned(),
            |rate| format!("{} {}", unit.show(rate.mean), unit.name),
        );
        let own: Vec<&Proof> = results
            .proofs
            .iter()
            .filter(|proof| proof.variant == variant.name)
            .collect();
        let limit = variant
            .verdict
            .as_ref()
            .map_or(word!("diagnosis-not-told"), |verdict| verdict.limit.name());
        let first_line = match Proof::shown_limit(&own) {
            Some(shown) if shown.name() != limit => say!(
                "diagnosis-limited-by-shown",
                rate = rate,
                shown = shown.name(),
                limit = limit
            ),
            _ => say!("diagnosis-limited-by", rate = rate, limit = limit),
        };
        let first = format!("{}  ", left(label, widest));
        let rest = " ".repeat(columns(&first).min(style.width / 3));
        for line in wrap(&first_line, style.width, &first, &rest) {
            writeln!(out, "{}", style.bold(&line))?;
        }
        for proof in &own {
            write_proof(proof, unit, style, out)?;
        }
        if own.is_empty() {
            style.paragraph(nothing_to_test(variant), "  ", "  ", Tone::Plain, out)?;
        }
    }
    writeln!(out)?;
    write_count(results, style, out)?;
    if let Some(report) = report {
        writeln!(out, "{}", say!("diagnosis-report", report = report))?;
    }
    Ok(())
}

/// Whether this is the clock on which the variant is told: the one of its tests.
fn is_told(results: &Results, variant: &Variant) -> bool {
    let lab = |other: &Variant| {
        other.name == variant.name && other.clock == slowpath_record::Origin::Lab && other.is_answered()
    };
    variant.clock == slowpath_record::Origin::Lab || !results.variants.iter().any(lab)
}

/// One change: what became of it, in a line or two, and how it is made.
fn write_proof(proof: &Proof, unit: Unit, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let tone = match proof.outcome {
        ProofOutcome::Held => Tone::Good,
        ProofOutcome::Refuted => Tone::Bad,
        ProofOutcome::Undecided => Tone::Care,
    };
    let range = proof.predicted_byte_per_s;
    let predicted = range.high.map_or_else(
        || say!("diagnosis-least", low = unit.show(range.low)),
        |high| say!("diagnosis-to", low = unit.show(range.low), high = unit.show(high)),
    );
    let measured = proof.measured_byte_per_s.map_or_else(
        || word!("diagnosis-no-valid-run").to_owned(),
        |rate| format!("{} {}", unit.show(rate), unit.name),
    );
    let limit = |limit: Option<Limit>| limit.map_or(word!("diagnosis-not-told"), Limit::name);
    let then = match proof.measured_limit {
        found if found == proof.limit => say!("diagnosis-still", found = limit(found)),
        found => say!("diagnosis-then", found = limit(found)),
    };
    let why = match (proof.outcome, proof.measured_byte_per_s) {
        (ProofOutcome::Undecided, Some(_)) => undecided(proof),
        (ProofOutcome::Refuted, Some(rate)) => refuted(proof, rate),
        _ => "",
    };
    let text = say!(
        "diagnosis-predicted-measured",
        change = proof.change,
        predicted = predicted,
        measured = measured,
        then = then,
        why = why
    ) + &resting_on(&proof.others);
    style.paragraph(
        &text,
        &format!("  {}", left(&told(proof.outcome.word()), 10)),
        "            ",
        tone,
        out,
    )?;
    if let Some(lines) = proof.configuration.as_ref().filter(|_| proof.helped()) {
        for line in lines.text.lines() {
            writeln!(out, "            {}> {line}", lines.system)?;
        }
    }
    Ok(())
}

/// Of which other variants a prediction knows what it does; nothing where the variant's own transfers tell it.
fn resting_on(others: &[String]) -> String {
    match others {
        [] => String::new(),
        [one] => say!("diagnosis-by-what-one-shows", variant = one),
        several => say!("diagnosis-by-what-several-show", number = several.len()),
    }
}

/// What a refuted prediction did not know.
fn refuted(proof: &Proof, rate: f64) -> &'static str {
    let faster = matches!(proof.intervention, Some(Intervention::ScaleRate { .. }));
    if rate > proof.predicted_byte_per_s.low {
        return word!("diagnosis-cost-more-than-captures-showed");
    }
    if proof.shows_no_link() {
        return word!("diagnosis-no-link-full");
    }
    if proof.measured_limit.is_some() && proof.measured_limit != proof.next_limit {
        return if proof.measured_limit == proof.limit {
            word!("diagnosis-change-left-limit")
        } else {
            word!("diagnosis-limit-did-not-show-before")
        };
    }
    if faster {
        word!("diagnosis-behind-link-another-one-hardly")
    } else {
        word!("diagnosis-cost-less-than-captures-showed")
    }
}

/// Why a test decided nothing.
fn undecided(proof: &Proof) -> &'static str {
    let range = proof.predicted_byte_per_s;
    let inside = |rate: f64| range.low <= rate && range.high.is_none_or(|high| rate <= high);
    match proof.measured_byte_per_s {
        Some(rate) if !inside(rate) => word!("diagnosis-chance-may-have-done-repeats"),
        Some(_) if proof.is_vague() => word!("diagnosis-prediction-too-wide-refuted"),
        _ => word!("diagnosis-another-limit-than-predicted"),
    }
}

/// What is said of a variant for which nothing was tested.
fn nothing_to_test(variant: &Variant) -> &'static str {
    if variant.goodput_byte_per_s.is_none() {
        return word!("diagnosis-no-run-came-its-end");
    }
    match variant.verdict.as_ref().map(|verdict| verdict.limit) {
        Some(Limit::SenderApplication) => {
            word!("diagnosis-everything-sent-arrived-there-nothing")
        }
        Some(Limit::SlowStart) => word!("diagnosis-transfer-too-short-change-path"),
        Some(limit) if limit.is_undecided() => {
            word!("diagnosis-what-limits-cannot-told-so")
        }
        Some(_) => word!("diagnosis-no-change-can-made-here"),
        None => word!("diagnosis-no-transfer-so-nothing-test"),
    }
}

/// How many predictions held, of how many decided ones.
fn write_count(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let count = |outcome| {
        results
            .proofs
            .iter()
            .filter(|proof| proof.outcome == outcome)
            .count()
    };
    let (held, refuted) = (count(ProofOutcome::Held), count(ProofOutcome::Refuted));
    let open = count(ProofOutcome::Undecided);
    let text = say!(
        "diagnosis-changes-tested-predictions-held-refuted",
        proofs = results.proofs.len(),
        held = held,
        refuted = refuted,
        open = open
    );
    style.paragraph(&text, "", "  ", Tone::Plain, out)
}

//! What was found out about each variant of an experiment: what limits it, what was tried, what came of it, what to do.

use std::io::{self, Write};

use slowpath_scenario::Intervention;
use slowpath_verdict::Limit;

use super::label::{short_label, write_title};
use super::unit::Unit;
use crate::results::{Proof, ProofOutcome, Results, Variant};
use crate::text::{Style, Tone, columns, left, wrap};

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
        let limit = variant
            .verdict
            .as_ref()
            .map_or("not told", |verdict| verdict.limit.name());
        let first = format!("{}  ", left(label, widest));
        let rest = " ".repeat(columns(&first).min(style.width / 3));
        for line in wrap(&format!("{rate}, limited by {limit}"), style.width, &first, &rest) {
            writeln!(out, "{}", style.bold(&line))?;
        }
        let own: Vec<&Proof> = results
            .proofs
            .iter()
            .filter(|proof| proof.variant == variant.name)
            .collect();
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
        writeln!(out, "Report: {report}")?;
    }
    Ok(())
}

/// A gain that is more than nothing.
const LITTLE: f64 = 1.02;

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
        || format!("at least {}", unit.show(range.low)),
        |high| format!("{} to {}", unit.show(range.low), unit.show(high)),
    );
    let measured = proof.measured_byte_per_s.map_or_else(
        || "no valid run".to_owned(),
        |rate| format!("{} {}", unit.show(rate), unit.name),
    );
    let limit = |limit: Option<Limit>| limit.map_or("not told", Limit::name);
    let then = match proof.measured_limit {
        found if found == proof.limit => format!("still {}", limit(found)),
        found => format!("then {}", limit(found)),
    };
    let why = match (proof.outcome, proof.measured_byte_per_s) {
        (ProofOutcome::Undecided, Some(_)) => undecided(proof),
        (ProofOutcome::Refuted, Some(rate)) => refuted(proof, rate),
        _ => "",
    };
    let text = format!(
        "{}: predicted {predicted}, measured {measured}; {then}{why}",
        proof.change
    );
    style.paragraph(
        &text,
        &format!("  {}", left(proof.outcome.word(), 10)),
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

/// What a refuted prediction did not know.
fn refuted(proof: &Proof, rate: f64) -> &'static str {
    let faster = matches!(proof.intervention, Some(Intervention::ScaleRate { .. }));
    let gained = rate >= proof.before_byte_per_s * LITTLE;
    if rate > proof.predicted_byte_per_s.low {
        return " (it cost more than the captures showed)";
    }
    if proof.measured_limit.is_some() && proof.measured_limit != proof.next_limit {
        return " (a limit that did not show before)";
    }
    match (faster, gained) {
        (true, true) => " (behind the link is another one, hardly faster)",
        (true, false) => " (it is no link that is full)",
        _ => " (it cost less than the captures showed)",
    }
}

/// Why a test decided nothing.
fn undecided(proof: &Proof) -> &'static str {
    let range = proof.predicted_byte_per_s;
    let inside = |rate: f64| range.low <= rate && range.high.is_none_or(|high| rate <= high);
    match proof.measured_byte_per_s {
        Some(rate) if !inside(rate) => " (chance may have done that; --repeats tells)",
        Some(_) if proof.is_vague() => " (the prediction was too wide to be refuted)",
        _ => " (another limit than predicted)",
    }
}

/// What is said of a variant for which nothing was tested.
fn nothing_to_test(variant: &Variant) -> &'static str {
    if variant.goodput_byte_per_s.is_none() {
        return "No run came to its end, so nothing can be predicted from it.";
    }
    match variant.verdict.as_ref().map(|verdict| verdict.limit) {
        Some(Limit::SenderApplication) => {
            "Everything that was sent arrived: there is nothing to change on the path."
        }
        Some(Limit::SlowStart) => "The transfer is too short for a change of the path to show.",
        Some(limit) if limit.is_undecided() => {
            "What limits it cannot be told, so no change can be predicted."
        }
        Some(_) => "No change that can be made here tests this limit.",
        None => "No transfer, so nothing to test.",
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
    let text = format!(
        "{} changes tested: {held} predictions held, {refuted} refuted, {open} not decided.",
        results.proofs.len()
    );
    style.paragraph(&text, "", "  ", Tone::Plain, out)
}

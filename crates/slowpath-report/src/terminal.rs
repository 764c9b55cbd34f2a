//! The terminal's summary of an experiment: one table in 80 columns, then the answers.

mod beside;
mod diagnosis;
mod label;
mod table;
mod unit;

use std::io::{self, Write};

use slowpath_record::{Code, HealthState, Origin, Reason};

pub(crate) use beside::shows_flows;
use beside::{write_flows, write_twins};
pub use diagnosis::write_diagnosis;
use label::{CURVE_FITTING, health_tone, mark, short_label, write_title};
pub use table::write_table;

use crate::quantity::byte_rate;
use crate::results::{Basis, NEVER, Note, NoteKind, ProofOutcome, Results, Variant};
use crate::text::{Style, Tone, Warning, wrap};
use slowpath_words::{say, word};

/// Writes everything the terminal gets after a run: title, table, answers, proofs, notes, the place of the
/// report.
///
/// # Errors
///
/// Those of `out`.
pub fn write_summary(
    results: &Results,
    style: Style,
    report: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut whole = Vec::new();
    compose(results, style, report, &mut whole)?;
    let mut text = String::from_utf8_lossy(&whole).into_owned();
    // Parts that have nothing to say leave no gap.
    while text.contains("\n\n\n") {
        text = text.replace("\n\n\n", "\n\n");
    }
    writeln!(out, "{}", text.trim_end())
}

/// Writes the parts of the summary, with an empty line between each two.
fn compose(results: &Results, style: Style, report: Option<&str>, out: &mut dyn Write) -> io::Result<()> {
    write_title(results, style, out)?;
    write_question(results, style, out)?;
    writeln!(out)?;
    write_table(results, style, out)?;
    legend(results, style, out)?;
    if let Some(scaled) = &results.scaled {
        style.paragraph(&format!("* {scaled}"), "", "", Tone::Plain, out)?;
    }
    write_health(results, style, out)?;
    if results
        .variants
        .iter()
        .any(|v| v.runs.first().is_some_and(shows_flows))
    {
        writeln!(out)?;
        write_flows(results, style, out)?;
    }
    if !results.twins.is_empty() {
        writeln!(out)?;
        write_twins(results, style, out)?;
    }
    writeln!(out)?;
    if let Some(answer) = &results.answer {
        style.paragraph(answer, "", "", Tone::Plain, out)?;
        writeln!(out)?;
    }
    for variant in &results.variants {
        let said = |other: &Variant| other.clock != variant.clock && other.sentence() == variant.sentence();
        let twice = variant.clock == Origin::Simulated
            && results.variants.iter().any(|v| v.name == variant.name && said(v));
        let noted = variant
            .runs
            .iter()
            .any(|run| !run.health.reasons.is_empty() || !run.errors.is_empty());
        let without = match variant.goodput_byte_per_s {
            None if variant.without_rate() == NEVER => word!("terminal-transfer-never-finished"),
            None => word!("terminal-no-valid-run"),
            Some(_) => word!("terminal-what-limited-cannot-told-here"),
        };
        // Where the results answer questions, each variant's own sentence is for who wants everything.
        let sentence = variant.sentence().filter(|_| !twice && says_all(results, style));
        let unexplained = noted && variant.sentence().is_none();
        let said = sentence.or(unexplained.then_some(without));
        if let Some(sentence) = said {
            style.paragraph(
                sentence,
                &format!("{}: ", short_label(results, variant)),
                "  ",
                Tone::Plain,
                out,
            )?;
        }
        let open = variant
            .verdict
            .as_ref()
            .filter(|verdict| verdict.limit.is_undecided());
        if let Some(next) = open
            .and_then(|verdict| verdict.next_step.as_ref())
            .filter(|_| !twice)
        {
            let next = next.trim_end_matches('.');
            // Below its variant's sentence it needs no name.
            let (text, indent) = match said {
                Some(_) => (say!("terminal-what-would-tell", next = next), "  "),
                None => (
                    say!(
                        "terminal-what-would-tell-2",
                        variant = short_label(results, variant),
                        next = next
                    ),
                    "",
                ),
            };
            style.paragraph(&text, indent, "  ", Tone::Plain, out)?;
        }
        if style.verbose && !style.hidden.holds(Warning::Health) {
            write_reasons(variant, style, out)?;
        }
        for run in &variant.runs {
            for error in &run.errors {
                style.paragraph(
                    &say!("terminal-run", repeat = run.repeat + 1, error = error),
                    "  ! ",
                    "    ",
                    Tone::Plain,
                    out,
                )?;
            }
        }
        for figure in variant.figures.iter().filter(|f| f.met() == Some(false)) {
            let (published, measured) = figure.shown();
            let found = measured.unwrap_or_else(|| word!("terminal-not-measured").to_owned());
            let wanted = published.unwrap_or_default();
            let whose = if says_all(results, style) {
                String::new()
            } else {
                format!("{}, ", short_label(results, variant))
            };
            style.paragraph(
                &say!(
                    "terminal-figure",
                    whose = whose,
                    name = figure.name,
                    found = found,
                    origin = figure.label.origin(),
                    wanted = wanted
                ),
                "  ! ",
                "    ",
                Tone::Plain,
                out,
            )?;
        }
    }
    let silent = !says_all(results, style);
    if silent && !results.proofs.is_empty() && !style.quiet {
        style.paragraph(&proven(results), "", "  ", Tone::Plain, out)?;
    }
    for proof in results.proofs.iter().filter(|_| !silent) {
        writeln!(out)?;
        let tone = match proof.outcome {
            ProofOutcome::Held => Tone::Good,
            ProofOutcome::Refuted => Tone::Bad,
            ProofOutcome::Undecided => Tone::Care,
        };
        let head = say!(
            "terminal-prediction",
            outcome = proof.outcome.word(),
            variant = proof.variant
        );
        let lines = wrap(&proof.sentence, style.width, &head, "  ");
        for (i, line) in lines.iter().enumerate() {
            let line = if i == 0 {
                style.tone(tone, line)
            } else {
                line.clone()
            };
            writeln!(out, "{line}")?;
        }
    }
    if !results.comparisons.is_empty() && !silent {
        writeln!(out)?;
        for comparison in &results.comparisons {
            style.paragraph(&comparison.sentence, "", "  ", Tone::Plain, out)?;
        }
    }
    let counted = [
        NoteKind::Assumption,
        NoteKind::Excluded,
        NoteKind::Correction,
        NoteKind::Limitation,
    ];
    let notes: Vec<_> = results
        .notes
        .iter()
        .filter(|n| counted.contains(&n.kind))
        .collect();
    if !notes.is_empty() && !style.quiet {
        writeln!(out)?;
        write_notes(&notes, style, out)?;
    }
    if let Some(report) = report.filter(|_| !style.quiet) {
        writeln!(out, "{}", say!("terminal-report", report = report))?;
    }
    Ok(())
}

/// Writes what a reader of the figures should know of the source and of what was assumed: each in a line if everything is
/// wanted, else how many there are.
fn write_notes(notes: &[&Note], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if style.verbose {
        for note in notes {
            let kind = format!("{}: ", note.kind.heading());
            style.paragraph(&note.title, &kind, "  ", Tone::Plain, out)?;
        }
        return Ok(());
    }
    let mut kinds: Vec<(NoteKind, usize)> = Vec::new();
    for note in notes {
        match kinds.iter_mut().find(|(kind, _)| *kind == note.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((note.kind, 1)),
        }
    }
    let told: Vec<String> = kinds
        .into_iter()
        .map(|(kind, count)| format!("{} ({count})", kind.heading().to_lowercase()))
        .collect();
    let text = say!("terminal-notes-with-v-report", told = told.join(", "));
    style.paragraph(&text, "", "  ", Tone::Plain, out)
}

/// Whether every variant, proof and comparison gets its sentence: where questions were answered, only if everything is wanted.
fn says_all(results: &Results, style: Style) -> bool {
    style.verbose || results.answers.is_empty()
}

/// How many predictions held, in a line.
fn proven(results: &Results) -> String {
    let count = |outcome| {
        results
            .proofs
            .iter()
            .filter(|proof| proof.outcome == outcome)
            .count()
    };
    let words = |outcome: ProofOutcome| {
        say!(
            "terminal-outcome",
            number = count(outcome),
            outcome = outcome.word()
        )
    };
    let outcomes = [ProofOutcome::Held, ProofOutcome::Refuted, ProofOutcome::Undecided];
    let told: Vec<String> = outcomes
        .into_iter()
        .filter(|outcome| count(*outcome) > 0)
        .map(words)
        .collect();
    say!(
        "terminal-predictions-tested-v-says-which",
        proofs = results.proofs.len(),
        told = told.join(", ")
    )
}

/// Writes what was asked and what the results say: the answers alone, unless there are none or everything is wanted.
fn write_question(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if let Some(question) = results
        .question
        .as_ref()
        .filter(|_| style.verbose || results.answers.is_empty())
    {
        style.paragraph(question, "", "", Tone::Plain, out)?;
    }
    for answer in &results.answers {
        if style.verbose {
            style.paragraph(&answer.ask, "", "  ", Tone::Plain, out)?;
        }
        for (place, statement) in answer.text.lines().enumerate() {
            let mark = if place == 0 { "* " } else { "  " };
            style.paragraph(statement, mark, "  ", Tone::Plain, out)?;
        }
    }
    Ok(())
}

/// Writes what simulated time says while the lab is still to run: the question, the table, the sentence of each variant.
///
/// # Errors
///
/// Those of `out`.
pub fn write_first(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let heading = say!(
        "terminal-simulated-time-lab-follows",
        experiment = results.experiment
    );
    style.paragraph(&heading, "", "", Tone::Plain, out)?;
    writeln!(out)?;
    write_table(results, style, out)?;
    legend(results, style, out)?;
    writeln!(out)
}

/// Writes one sentence about all runs that cannot be believed as they are, with the worst one's reason.
fn write_health(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let runs = || {
        let lab = |variant: &&Variant| variant.clock != Origin::Simulated;
        results
            .variants
            .iter()
            .filter(lab)
            .flat_map(|variant| &variant.runs)
    };
    let count = |state| runs().filter(|run| run.health.state == state).count();
    let (degraded, invalid) = (count(HealthState::Degraded), count(HealthState::Invalid));
    let parts: Vec<String> = [(degraded, "degraded"), (invalid, "invalid")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    // The first among the worst.
    let reasons: Vec<&Reason> = runs().flat_map(|run| &run.health.reasons).collect();
    let worst = reasons.into_iter().rev().max_by_key(|reason| reason.state);
    let Some(worst) = worst.filter(|_| !parts.is_empty()) else {
        return Ok(());
    };
    let all = runs().count();
    let counted = say!(
        "terminal-runs",
        parts = parts.join(word!("terminal-and")),
        all = all
    );
    let reason = worst
        .text
        .split(';')
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let more = if style.verbose {
        ""
    } else {
        word!("terminal-v-gives-all-reasons")
    };
    style.warn(
        Warning::Health,
        &format!("{counted}: {reason}{more}."),
        "! ",
        health_tone(worst.state),
        out,
    )
}

/// Writes why runs may not be believed: one line for each reason, with the worst run's words and how many share it.
fn write_reasons(variant: &Variant, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut codes: Vec<&Code> = Vec::new();
    for reason in variant.runs.iter().flat_map(|run| &run.health.reasons) {
        if !codes.contains(&&reason.code) {
            codes.push(&reason.code);
        }
    }
    for code in codes {
        let own: Vec<(u32, &Reason)> = variant
            .runs
            .iter()
            .filter_map(|run| {
                let reason = run.health.reasons.iter().find(|reason| reason.code == *code)?;
                Some((run.repeat + 1, reason))
            })
            .collect();
        // The first among the worst.
        let Some((number, worst)) = own.iter().rev().max_by_key(|(_, reason)| reason.state) else {
            continue;
        };
        let text = if own.len() == 1 {
            say!("terminal-run-2", number = number, text = worst.text)
        } else {
            let (some, all) = (own.len(), variant.runs.len());
            say!(
                "terminal-runs-such-as-run",
                some = some,
                all = all,
                number = number,
                text = worst.text
            )
        };
        let (mark, tone) = if worst.state == HealthState::Valid {
            ("  - ", Tone::Plain)
        } else {
            ("  ! ", health_tone(worst.state))
        };
        for line in wrap(&text, style.width, mark, "    ") {
            writeln!(out, "{}", style.tone(tone, &line))?;
        }
    }
    Ok(())
}

fn legend(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let has = |b: Basis| results.variants.iter().any(|v| mark(v) == b.mark());
    let mut parts = Vec::new();
    if has(Basis::Fitted) {
        parts.push(word!("terminal-f-model-parameter-fitted-figure"));
    }
    if results.variants.iter().any(|v| mark(v) == CURVE_FITTING) {
        parts.push(word!("terminal-f-as-many-parameters-fitted"));
    }
    if has(Basis::Predicted) {
        parts.push(word!("terminal-p-predicted-by-model-fitted"));
    }
    if results.variants.iter().any(|v| short_label(results, v) != v.name) {
        parts.push(word!("terminal-simulated-time"));
    }
    // Where the sentence below says which were shortened, it says what the mark means.
    if results.variants.iter().any(|v| v.scaled.is_some()) && results.scaled.is_none() {
        parts.push(word!("terminal-shortened-transfer"));
    }
    if parts.is_empty() {
        return Ok(());
    }
    style.paragraph(&parts.join("; "), "", "", Tone::Plain, out)
}

/// One line about a variant for progress output: name, goodput, limit.
pub fn one_line(variant: &Variant) -> String {
    let goodput = variant
        .goodput_byte_per_s
        .as_ref()
        .map_or("-".to_owned(), |g| byte_rate(g.mean));
    let limit = variant.verdict.as_ref().map_or("-", |v| v.limit.name());
    format!("{}: {goodput}, {limit}", variant.name)
}

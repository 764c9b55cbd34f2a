//! The terminal's summary of an experiment: one table in 80 columns, then the answers.

use std::io::{self, Write};

use slowpath_record::{Code, HealthState, Reason};

use crate::quantity::{RateUnit, byte_rate, grouped, loss};
use crate::results::{Basis, NEVER, NoteKind, ProofOutcome, Results, RunResult, Variant};
use crate::text::{Style, Tone, columns, left, right, wrap};

/// Writes the table alone: published, measured with its 95 % interval, ratio, limit, health.
///
/// All rates stand in one unit, so that they can be compared by eye. A mark behind the ratio says that
/// the figure was fitted (`f`) or predicted (`p`) by a model; what has no mark was measured.
///
/// # Errors
///
/// Those of `out`.
pub fn write_table(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let unit = Unit::of(results);
    let rows: Vec<Row> = answers(results)
        .map(|(variant, instead)| {
            let mut row = Row::of(variant, &short_label(results, variant), unit);
            if let Some(lab) = instead {
                row.cells[5] = format!("lab {}", health_cell(lab));
                row.tones[5] = health_tone(lab.health());
            }
            row
        })
        .collect();
    let head = Row {
        cells: [
            "variant".into(),
            format!("published {}", unit.name),
            format!(
                "{}, 95 % CI",
                if results.is_simulated() {
                    "simulated"
                } else {
                    "measured"
                }
            ),
            "ratio".into(),
            "limited by".into(),
            "health".into(),
        ],
        tones: [Tone::Plain; 6],
    };
    let published = results.variants.iter().any(|v| v.reference.is_some());
    let shown: &[usize] = if published {
        &[0, 1, 2, 3, 4, 5]
    } else {
        &[0, 2, 4, 5]
    };
    let Some(layout) = Layout::new(shown, &head, &rows, style.rows, unit) else {
        return write_stacked(shown, &rows, unit, style, out);
    };
    layout.write(&head, style, true, out)?;
    let rule: usize = layout.widths.iter().sum::<usize>() + layout.gap * (shown.len() - 1);
    writeln!(out, "{}", "-".repeat(rule.min(style.rows)))?;
    for row in &rows {
        layout.write(row, style, false, out)?;
    }
    Ok(())
}

/// The lines of the table: one a variant. Where it was run in both clocks that is the lab's, unless no run in the lab
/// came to a figure: then the simulated one stands in, with the variant in the lab behind it.
fn answers(results: &Results) -> impl Iterator<Item = (&Variant, Option<&Variant>)> {
    let twin = |variant: &Variant| {
        let name = variant.name.clone();
        let clock = variant.clock.clone();
        results
            .variants
            .iter()
            .find(move |other| other.name == name && other.clock != clock)
    };
    results.variants.iter().filter_map(move |variant| {
        let Some(other) = twin(variant) else {
            return Some((variant, None));
        };
        let (lab, simulated) = if variant.clock == "simulated" {
            (other, variant)
        } else {
            (variant, other)
        };
        let stands_in = !lab.is_answered() && simulated.is_answered();
        match (variant.clock == "simulated", stands_in) {
            (true, true) => Some((variant, Some(lab))),
            (false, false) => Some((variant, None)),
            _ => None,
        }
    })
}

/// The table where the terminal is too narrow for one: a block of lines a variant.
fn write_stacked(
    shown: &[usize],
    rows: &[Row],
    unit: Unit,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in rows {
        writeln!(out, "{}", style.bold(&row.cells[0]))?;
        let [_, published, measured, ratio, limit, health] = &row.cells;
        let mut parts = vec![match measured.as_str() {
            "-" | NEVER => measured.clone(),
            figure => format!("{figure} {}", unit.name),
        }];
        if shown.contains(&1) && published != "-" {
            parts.push(format!("published {published}"));
            parts.push(format!("ratio {ratio}"));
        }
        parts.push(limit.clone());
        parts.push(health.clone());
        style.paragraph(&parts.join(", "), "  ", "    ", row.tones[5], out)?;
    }
    Ok(())
}

/// A name for the table: where both clocks stand in it, those of simulated time are marked.
fn short_label(results: &Results, variant: &Variant) -> String {
    let mixed = results.variants.iter().any(|v| v.clock != variant.clock);
    if mixed && variant.clock == "simulated" {
        format!("{} ~", variant.name)
    } else {
        variant.name.clone()
    }
}

/// Writes published, lab and simulated figures side by side, one line a variant.
fn write_twins(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let unit = Unit::of(results);
    let longest = results.twins.iter().map(|twin| columns(&twin.variant)).max();
    let name = longest
        .unwrap_or(0)
        .clamp(7, style.rows.saturating_sub(56).max(8));
    let line = |cells: [&str; 5]| {
        // A name is never cut; one that does not fit gets a line of its own.
        let label = if columns(cells[0]) > name {
            format!("{}\n{}", cells[0], " ".repeat(name))
        } else {
            left(cells[0], name)
        };
        format!(
            "{label}  {}  {}  {}  {}",
            right(cells[1], 9),
            right(cells[2], 9),
            right(cells[3], 9),
            cells[4]
        )
    };
    let head = line([unit.name, "published", "lab", "simulated", "sim/lab, 95 % CI"]);
    writeln!(out, "{}", style.bold(&head))?;
    for twin in &results.twins {
        let interval = match (twin.low95, twin.high95) {
            (Some(low), Some(high)) => format!("{:.3} ({low:.2} to {high:.2})", twin.ratio),
            _ => format!("{:.3} (one run a side)", twin.ratio),
        };
        let published = twin
            .published_byte_per_s
            .map_or("-".to_owned(), |rate| unit.show(rate));
        let (lab, simulated) = (unit.show(twin.lab.mean), unit.show(twin.simulated.mean));
        writeln!(
            out,
            "{}",
            line([&twin.variant, &published, &lab, &simulated, &interval])
        )?;
        if twin.lab_limit != twin.simulated_limit {
            let limit =
                |limit: Option<slowpath_verdict::Limit>| limit.map_or("-", slowpath_verdict::Limit::name);
            let text = format!(
                "limited by {} in the lab, {} in simulated time",
                limit(twin.lab_limit),
                limit(twin.simulated_limit)
            );
            style.paragraph(&text, "  ! ", "    ", Tone::Care, out)?;
        }
    }
    Ok(())
}

/// Whether a run's flows say more than its goodput: datagrams, or several flows at once.
pub(crate) fn shows_flows(run: &RunResult) -> bool {
    run.flows.len() > 1 || run.flows.iter().any(|flow| flow.jitter_s.is_some())
}

/// Writes each flow's traffic, one line a flow and variant, of the first run.
fn write_flows(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; 6]> = results
        .variants
        .iter()
        .filter_map(|variant| Some((variant, variant.runs.first().filter(|run| shows_flows(run))?)))
        .flat_map(|(variant, run)| {
            let name = short_label(results, variant);
            run.flows.iter().enumerate().map(move |(index, flow)| {
                [
                    if index == 0 { name.clone() } else { String::new() },
                    flow.name.clone(),
                    grouped(flow.sent_packets as f64, 0),
                    grouped(flow.received_packets as f64, 0),
                    loss(flow.loss_fraction),
                    results.rate_unit.show(flow.goodput_byte_per_s),
                ]
            })
        })
        .collect();
    let head = ["variant", "flow", "sent", "received", "lost", "delivered"].map(str::to_owned);
    let widths: Vec<usize> = (0..6)
        .map(|i| {
            rows.iter()
                .chain([&head])
                .map(|row| columns(&row[i]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let rest: usize = widths[1..].iter().sum::<usize>() + 10;
    let first = widths[0].min(style.rows.saturating_sub(rest).max(8));
    for (number, row) in [&head].into_iter().chain(&rows).enumerate() {
        let mut line = if columns(&row[0]) > first {
            writeln!(out, "{}", row[0])?;
            " ".repeat(first)
        } else {
            left(&row[0], first)
        };
        for i in 1..6 {
            line.push_str("  ");
            line.push_str(&if i == 1 {
                left(&row[i], widths[i])
            } else {
                right(&row[i], widths[i])
            });
        }
        let line = line.trim_end();
        if number == 0 {
            writeln!(out, "{}", style.bold(line))?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

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
    let clock = if results.is_simulated() {
        " (simulated time)"
    } else {
        ""
    };
    for line in wrap(
        &format!("{}: {}{clock}", results.experiment, results.title),
        style.width,
        "",
        "",
    ) {
        writeln!(out, "{}", style.bold(&line))?;
    }
    if let Some(question) = &results.question {
        style.paragraph(question, "", "", Tone::Plain, out)?;
    }
    if let Some(scaled) = &results.scaled {
        style.paragraph(scaled, "", "", Tone::Plain, out)?;
    }
    writeln!(out)?;
    write_table(results, style, out)?;
    legend(results, style, out)?;
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
        let twice = variant.clock == "simulated"
            && results.variants.iter().any(|v| v.name == variant.name && said(v));
        let noted = variant
            .runs
            .iter()
            .any(|run| !run.health.reasons.is_empty() || !run.errors.is_empty());
        let without = match variant.goodput_byte_per_s {
            None if variant.without_rate() == NEVER => "the transfer never finished.",
            None => "no valid run.",
            Some(_) => "what limited it cannot be told here.",
        };
        let sentence = variant.sentence().filter(|_| !twice);
        if let Some(sentence) = sentence.or(noted.then_some(without)) {
            style.paragraph(
                sentence,
                &format!("{}: ", short_label(results, variant)),
                "  ",
                Tone::Plain,
                out,
            )?;
        }
        if style.verbose {
            write_reasons(variant, style, out)?;
        }
        for run in &variant.runs {
            for error in &run.errors {
                style.paragraph(
                    &format!("run {}: {error}", run.repeat + 1),
                    "  ! ",
                    "    ",
                    Tone::Plain,
                    out,
                )?;
            }
        }
        for figure in variant.figures.iter().filter(|f| f.met() == Some(false)) {
            let (published, measured) = figure.shown();
            let found = measured.unwrap_or_else(|| "not measured".to_owned());
            let wanted = published.unwrap_or_default();
            style.paragraph(
                &format!("{}: {found}, {} {wanted}", figure.name, figure.label.origin()),
                "  ! ",
                "    ",
                Tone::Plain,
                out,
            )?;
        }
    }
    for proof in &results.proofs {
        writeln!(out)?;
        let tone = match proof.outcome {
            ProofOutcome::Held => Tone::Good,
            ProofOutcome::Refuted => Tone::Bad,
            ProofOutcome::Undecided => Tone::Care,
        };
        let head = format!("Prediction {} ({}): ", proof.outcome.word(), proof.variant);
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
    if !results.comparisons.is_empty() {
        writeln!(out)?;
        for comparison in &results.comparisons {
            style.paragraph(&comparison.sentence, "", "  ", Tone::Plain, out)?;
        }
    }
    let counted = [
        NoteKind::Finding,
        NoteKind::Assumption,
        NoteKind::Excluded,
        NoteKind::Correction,
    ];
    let notes: Vec<_> = results
        .notes
        .iter()
        .filter(|n| counted.contains(&n.kind))
        .collect();
    if !notes.is_empty() {
        writeln!(out)?;
        for note in notes {
            style.paragraph(
                &note.title,
                &format!("{}: ", note.kind.heading()),
                "  ",
                Tone::Plain,
                out,
            )?;
        }
    }
    if let Some(report) = report {
        writeln!(out, "\nReport: {report}")?;
    }
    Ok(())
}

/// Writes what simulated time says while the lab is still to run: the question, the table, the sentence of each variant.
///
/// # Errors
///
/// Those of `out`.
pub fn write_first(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let heading = format!("{} in simulated time; the lab follows:", results.experiment);
    style.paragraph(&heading, "", "", Tone::Plain, out)?;
    writeln!(out)?;
    write_table(results, style, out)?;
    legend(results, style, out)?;
    writeln!(out)
}

/// Writes one sentence about all runs that cannot be believed as they are, with the worst one's reason.
fn write_health(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let runs = || {
        let lab = |variant: &&Variant| variant.clock != "simulated";
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
    let counted = format!("{} of {all} runs", parts.join(" and "));
    let reason = worst
        .text
        .split(';')
        .next()
        .unwrap_or_default()
        .trim_end_matches('.');
    let more = if style.verbose {
        ""
    } else {
        " (-v gives all reasons)"
    };
    style.paragraph(
        &format!("{counted}: {reason}{more}."),
        "! ",
        "  ",
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
            format!("run {number}: {}", worst.text)
        } else {
            let (some, all) = (own.len(), variant.runs.len());
            format!("{some} of {all} runs, such as run {number}: {}", worst.text)
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
    let has = |b: Basis| {
        results
            .variants
            .iter()
            .any(|v| v.basis == b && v.reference.is_some() && mark(v) == b.mark())
    };
    let mut parts = Vec::new();
    if has(Basis::Fitted) {
        parts.push("f = a model parameter was fitted to this figure, it proves nothing");
    }
    if results.variants.iter().any(|v| mark(v) == CURVE_FITTING) {
        parts.push(
            "f! = as many parameters were fitted as there are figures: curve fitting, explains nothing",
        );
    }
    if has(Basis::Predicted) {
        parts.push("p = predicted by a model fitted elsewhere");
    }
    if results.variants.iter().any(|v| short_label(results, v) != v.name) {
        parts.push("~ = simulated time");
    }
    if results.variants.iter().any(|v| v.scaled.is_some()) {
        parts.push("* = shortened transfer");
    }
    if parts.is_empty() {
        return Ok(());
    }
    style.paragraph(&parts.join("; "), "", "", Tone::Plain, out)
}

/// The mark behind a ratio: how the figure relates to the model.
fn mark(variant: &Variant) -> &'static str {
    let curve_fitting = |variant: &Variant| {
        let reference = variant.reference.as_ref();
        reference.is_some_and(|reference| reference.label.is_curve_fitting())
    };
    if variant.basis == Basis::Fitted && curve_fitting(variant) {
        CURVE_FITTING
    } else {
        variant.basis.mark()
    }
}

/// The mark of a figure to which as many parameters were fitted as there are figures.
const CURVE_FITTING: &str = "f!";

const fn health_tone(state: HealthState) -> Tone {
    match state {
        HealthState::Valid => Tone::Good,
        HealthState::Degraded => Tone::Care,
        HealthState::Invalid => Tone::Bad,
    }
}

/// The word for a state of health.
pub const fn health_word(state: HealthState) -> &'static str {
    match state {
        HealthState::Valid => "valid",
        HealthState::Degraded => "degraded",
        HealthState::Invalid => "invalid",
    }
}

/// A variant's health in the table: of its runs the worst, or how many count where some do not.
fn health_cell(variant: &Variant) -> String {
    let all = variant.runs.len();
    let invalid = variant
        .runs
        .iter()
        .filter(|run| run.health.state == HealthState::Invalid)
        .count();
    if all == 0 {
        "not run".to_owned()
    } else if (1..all).contains(&invalid) {
        format!("{} of {all} valid", all - invalid)
    } else {
        health_word(variant.health()).to_owned()
    }
}

#[derive(Clone, Copy)]
struct Unit {
    name: &'static str,
    size: f64,
}

impl Unit {
    /// The largest unit in which the smallest figure still has a digit before the point.
    fn of(results: &Results) -> Self {
        let measured = results
            .variants
            .iter()
            .filter_map(|v| Some(v.goodput_byte_per_s.as_ref()?.mean));
        let published = results
            .variants
            .iter()
            .filter_map(|v| Some(v.reference.as_ref()?.goodput_byte_per_s));
        let smallest = measured
            .chain(published)
            .filter(|v| *v > 0.0)
            .fold(f64::INFINITY, f64::min);
        if results.rate_unit == RateUnit::Bits {
            return if smallest.is_finite() && smallest < 12_500.0 {
                Self {
                    name: "kbit/s",
                    size: 125.0,
                }
            } else {
                Self {
                    name: "Mbit/s",
                    size: 125e3,
                }
            };
        }
        if smallest.is_finite() && smallest >= 1e6 {
            Self {
                name: "MB/s",
                size: 1e6,
            }
        } else {
            Self {
                name: "kB/s",
                size: 1e3,
            }
        }
    }

    fn show(self, value: f64) -> String {
        let scaled = value / self.size;
        grouped(
            scaled,
            if scaled.abs() >= 1000.0 {
                0
            } else {
                1 + usize::from(self.size > 1e3 && scaled.abs() < 100.0)
            },
        )
    }
}

struct Row {
    cells: [String; 6],
    tones: [Tone; 6],
}

impl Row {
    fn of(variant: &Variant, name: &str, unit: Unit) -> Self {
        let goodput = variant.goodput_byte_per_s.as_ref();
        let measured = match goodput.map(|g| (g, g.even_half_width(), g.low95.zip(g.high95))) {
            Some((g, Some(half), _)) => format!("{} ± {}", unit.show(g.mean), unit.show(half)),
            Some((g, None, Some((low, high)))) => {
                format!(
                    "{} ({} to {})",
                    unit.show(g.mean),
                    unit.show(low),
                    unit.show(high)
                )
            }
            Some((g, None, None)) => unit.show(g.mean),
            None if variant.without_rate() == NEVER => NEVER.to_owned(),
            None => "-".to_owned(),
        };
        let reference = variant.reference.as_ref();
        let ratio = reference.and_then(|r| r.ratio).map_or("-".to_owned(), |r| {
            let decimals = if r >= 10.0 { 1 } else { 3 };
            let mark = mark(variant);
            format!("{r:.decimals$}{}{mark}", if mark.is_empty() { "" } else { " " })
        });
        let health = health_cell(variant);
        let met = variant.headline().and_then(|f| f.met());
        let mut tones = [Tone::Plain; 6];
        tones[3] = match met {
            Some(true) => Tone::Good,
            Some(false) => Tone::Bad,
            None => Tone::Plain,
        };
        tones[5] = if variant.runs.is_empty() {
            Tone::Care
        } else {
            health_tone(variant.health())
        };
        Self {
            cells: [
                format!("{}{}", name, if variant.scaled.is_some() { " *" } else { "" }),
                reference.map_or("-".to_owned(), |r| unit.show(r.goodput_byte_per_s)),
                measured,
                ratio,
                variant
                    .verdict
                    .as_ref()
                    .map_or("-".to_owned(), |v| v.limit.to_string()),
                health,
            ],
            tones,
        }
    }
}

struct Layout<'a> {
    shown: &'a [usize],
    widths: Vec<usize>,
    gap: usize,
    unit: Unit,
}

impl<'a> Layout<'a> {
    /// Columns as wide as their longest cell; `None` where a row has no room beside its name, however short.
    ///
    /// A name is never cut, since two may begin alike: one that does not fit gets a line of its own.
    fn new(shown: &'a [usize], head: &Row, rows: &[Row], width: usize, unit: Unit) -> Option<Self> {
        // The heading with the unit may stand over two words; only the longer one needs the room.
        let head_width = |i: usize| {
            if i == 1 {
                9.max(unit.name.len())
            } else if i == 2 && !shown.contains(&1) {
                // The unit stands below it.
                columns(&head.cells[i]).max(unit.name.len())
            } else {
                columns(&head.cells[i])
            }
        };
        let mut widths: Vec<usize> = shown
            .iter()
            .map(|&i| {
                rows.iter()
                    .map(|r| columns(&r.cells[i]))
                    .max()
                    .unwrap_or(0)
                    .max(head_width(i))
            })
            .collect();
        let total = |w: &[usize], gap: usize| w.iter().sum::<usize>() + gap * (w.len() - 1);
        let gap = if total(&widths, 2) <= width { 2 } else { 1 };
        let excess = total(&widths, gap).saturating_sub(width);
        if excess + SHORTEST_NAME > widths[0] {
            return None;
        }
        widths[0] -= excess;
        Some(Self {
            shown,
            widths,
            gap,
            unit,
        })
    }

    fn write(&self, row: &Row, style: Style, head: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut line = String::new();
        let mut second = String::new();
        for (place, &i) in self.shown.iter().enumerate() {
            let width = self.widths[place];
            let (top, below) = match row.cells[i].split_once(' ') {
                Some((a, b)) if head && i == 1 => (a, b),
                // Without published figures the unit stands below the measured ones.
                _ if head && i == 2 && !self.shown.contains(&1) => (row.cells[i].as_str(), self.unit.name),
                _ if place == 0 && columns(&row.cells[0]) > width => {
                    writeln!(out, "{}", style.tone(row.tones[0], &row.cells[0]))?;
                    ("", "")
                }
                _ => (row.cells[i].as_str(), ""),
            };
            let pad: fn(&str, usize) -> String = if (1..=3).contains(&i) { right } else { left };
            let cell = pad(top, width);
            line.push_str(&if head {
                style.bold(&cell)
            } else {
                style.tone(row.tones[i], &cell)
            });
            second.push_str(&pad(below, width));
            if place + 1 < self.shown.len() {
                line.push_str(&" ".repeat(self.gap));
                second.push_str(&" ".repeat(self.gap));
            }
        }
        writeln!(out, "{}", line.trim_end())?;
        if !second.trim().is_empty() {
            writeln!(out, "{}", second.trim_end())?;
        }
        Ok(())
    }
}

/// Columns for names in a table, at least; longer ones get a line of their own.
const SHORTEST_NAME: usize = 2;

/// One line about a variant for progress output: name, goodput, limit.
pub fn one_line(variant: &Variant) -> String {
    let goodput = variant
        .goodput_byte_per_s
        .as_ref()
        .map_or("-".to_owned(), |g| byte_rate(g.mean));
    let limit = variant.verdict.as_ref().map_or("-", |v| v.limit.name());
    format!("{}: {goodput}, {limit}", variant.name)
}

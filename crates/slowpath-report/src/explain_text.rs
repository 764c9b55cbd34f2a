//! `slowpath explain` for a terminal: the answer first, then the evidence.

use std::io::{self, Write};

use slowpath_verdict::{Reason, Rejected};

use crate::explain::{ExplainedConnection, Explanation};
use crate::facts::{facts, parameters, tap_words};
use crate::quantity::{bit_rate, bytes, grouped, percent, seconds};
use crate::text::{Style, Tone, left, wrap};
use crate::verdict::{flag_name, limit_words};

/// How much the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Connections in full; the others get one line.
    pub connections: usize,
    /// Evidence, rejected limits and facts; without them only answers and remedies.
    pub evidence: bool,
}

impl Default for Depth {
    fn default() -> Self {
        Self {
            connections: 3,
            evidence: true,
        }
    }
}

/// Writes what a capture says, in lines no longer than the style's width.
///
/// # Errors
///
/// Those of `out`.
pub fn write_explanation(
    explanation: &Explanation,
    style: Style,
    depth: Depth,
    out: &mut dyn Write,
) -> io::Result<()> {
    let capture = &explanation.capture;
    if explanation.connections.is_empty() {
        writeln!(
            out,
            "{}",
            style.bold("No TCP connection with data is in this capture.")
        )?;
    }
    let largest = explanation
        .connections
        .iter()
        .map(|e| e.connection.bytes_delivered)
        .max()
        .unwrap_or(0);
    let (said, aside): (Vec<_>, Vec<_>) = explanation
        .connections
        .iter()
        .partition(|e| !is_aside(e, largest));
    for (place, explained) in said.iter().take(depth.connections).enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        connection(explained, style, depth, out)?;
    }
    let rest = said.into_iter().skip(depth.connections).chain(aside);
    let mut heading = false;
    for explained in rest.clone().take(20) {
        if !heading {
            writeln!(out, "\n{}", style.bold("Other connections"))?;
            heading = true;
        }
        let c = &explained.connection;
        let line = format!(
            "{} {} {} > {}",
            left(c.verdict.limit.name(), 20),
            left(&bit_rate(c.goodput_bit_per_s), 13),
            c.client,
            c.server
        );
        writeln!(
            out,
            "  {}",
            crate::text::fit(&line, style.width.saturating_sub(2))
        )?;
    }
    let more = rest.count().saturating_sub(20);
    if more > 0 {
        writeln!(out, "  and {more} more")?;
    }
    writeln!(out, "\n{}", style.bold("Capture"))?;
    let quality = &capture.quality;
    let name = if capture.file.is_empty() {
        "capture"
    } else {
        capture.file.as_str()
    };
    let summary = format!(
        "{name}: {} ({}), {} packets, {}, {}; taken {}.",
        capture.format,
        capture.link_types.join(", "),
        grouped(capture.packets as f64, 0),
        bytes(capture.bytes as f64),
        seconds(capture.duration_s),
        tap_words(quality.tap)
    );
    style.paragraph(&summary, "  ", "  ", Tone::Plain, out)?;
    if quality.capture_loss_fraction > 0.0 {
        let text = format!(
            "{} of the acknowledged bytes are missing.",
            percent(quality.capture_loss_fraction)
        );
        style.paragraph(&text, "  ! ", "    ", Tone::Care, out)?;
    }
    for warning in &quality.warnings {
        style.paragraph(warning, "  ! ", "    ", Tone::Care, out)?;
    }
    Ok(())
}

/// Whether a connection carried next to nothing beside the largest of the capture, such as FTP's commands beside its
/// data, and nothing is known of it: one line is enough.
fn is_aside(explained: &ExplainedConnection, largest: u64) -> bool {
    let c = &explained.connection;
    c.verdict.limit.is_undecided() && c.bytes_delivered < largest / 100
}

fn connection(
    explained: &ExplainedConnection,
    style: Style,
    depth: Depth,
    out: &mut dyn Write,
) -> io::Result<()> {
    let c = &explained.connection;
    let v = &c.verdict;
    let tone = if v.limit.is_undecided() {
        Tone::Care
    } else {
        Tone::Plain
    };
    for line in wrap(&v.sentence, style.width, "", "") {
        writeln!(out, "{}", style.tone(tone, &style.bold(&line)))?;
    }
    let words = std::iter::once(limit_words(v.limit).to_owned()).chain(v.flags.iter().map(|f| flag_name(*f)));
    let summary = format!(
        "{} ({}), {} of the time, confidence {}",
        v.limit,
        words.collect::<Vec<_>>().join(", "),
        percent(v.share),
        percent(v.confidence)
    );
    style.paragraph(&summary, "  limit      ", "             ", Tone::Plain, out)?;
    let figures: Vec<String> = parameters(&v.parameters)
        .into_iter()
        .map(|(n, t)| format!("{n} {t}"))
        .collect();
    if !figures.is_empty() {
        style.paragraph(
            &figures.join(", "),
            "  figures    ",
            "             ",
            Tone::Plain,
            out,
        )?;
    }
    let transfer = format!(
        "{} in {}, {}",
        bytes(c.bytes_delivered as f64),
        seconds(c.duration_s),
        bit_rate(c.goodput_bit_per_s)
    );
    style.paragraph(&transfer, "  transfer   ", "             ", Tone::Plain, out)?;
    if !c.ledger.sentence.is_empty() {
        style.paragraph(
            &c.ledger.sentence,
            "  ledger     ",
            "             ",
            Tone::Plain,
            out,
        )?;
        crate::ledger::write(&c.ledger, style, out)?;
    }
    if let Some(next) = &v.next_step {
        style.paragraph(next, "  to learn more: ", "    ", Tone::Care, out)?;
    }
    for remedy in &explained.remedies {
        let then = remedy.next_limit.map_or(String::new(), |l| format!(", then {l}"));
        let because = if remedy.because.is_empty() {
            String::new()
        } else {
            format!(": {}", remedy.because)
        };
        let (text, label, tone) = if remedy.in_vain() {
            (
                format!("{}{because}", remedy.change),
                "  in vain    ",
                Tone::Plain,
            )
        } else {
            (
                format!("{} gives {}{then}{because}", remedy.change, remedy.outcome()),
                "  would help ",
                Tone::Good,
            )
        };
        style.paragraph(&text, label, "             ", tone, out)?;
        for lines in &remedy.configuration {
            for line in lines.text.lines() {
                writeln!(out, "               {}: {line}", lines.system)?;
            }
        }
    }
    if !depth.evidence {
        return Ok(());
    }
    for evidence in &v.evidence {
        let packets: Vec<String> = evidence.packets.iter().take(4).map(u64::to_string).collect();
        let shown = if packets.is_empty() {
            evidence.text.clone()
        } else {
            format!("{} (packets {})", evidence.text, packets.join(", "))
        };
        style.paragraph(&shown, "  because    ", "             ", Tone::Plain, out)?;
    }
    let beyond = |r: &&Rejected| matches!(r.reason, Reason::NotInPackets | Reason::NeedsComparison);
    for rejected in v.rejected.iter().filter(|r| !beyond(r)) {
        let text = format!("{}: {}", rejected.limit, rejected.text);
        style.paragraph(&text, "  not        ", "             ", Tone::Plain, out)?;
    }
    let untold: Vec<&str> = v.rejected.iter().filter(beyond).map(|r| r.limit.name()).collect();
    if !untold.is_empty() {
        let text = format!("{}: one capture cannot show them", untold.join(", "));
        style.paragraph(&text, "  untold     ", "             ", Tone::Plain, out)?;
    }
    if c.intervals.len() > 1 {
        for i in c.intervals.iter().take(12) {
            let text = format!("{} to {}: {}", seconds(i.from_s), seconds(i.to_s), i.limit);
            style.paragraph(&text, "  when       ", "             ", Tone::Plain, out)?;
        }
        if c.intervals.len() > 12 {
            let text = format!("and {} more intervals", c.intervals.len() - 12);
            style.paragraph(&text, "  when       ", "             ", Tone::Plain, out)?;
        }
    }
    for (name, value) in facts(explained) {
        writeln!(out, "  {} {value}", left(name, 20))?;
    }
    Ok(())
}

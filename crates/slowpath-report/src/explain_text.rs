//! `slowpath explain` for a terminal: the answer first, then the evidence.

use std::io::{self, Write};

use slowpath_verdict::{Evidence, Flag, Limit, Reason, Rejected};

use crate::explain::{ExplainedConnection, Explanation, is_aside};
use crate::facts::{facts, label, parameters, tap_words, transfer, value};
use crate::ledger::with_outage;
use crate::quantity::{bit_rate, bytes, grouped, percent, seconds};
use crate::text::{Style, Tone, Warning, columns, kept, left, wrap};
use crate::verdict::{flag_name, limit_words};
use slowpath_words::{say, told, word};

/// How much the text says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Connections in full; the others get one line.
    pub connections: usize,
    /// Evidence, rejected limits and facts; without them an answer has [`MOST_LINES`] at most.
    pub evidence: bool,
    /// The lines of every remedy for a device's configuration, however many they are.
    pub configuration: bool,
}

impl Depth {
    /// Answers alone.
    pub const fn answers(configuration: bool) -> Self {
        Self {
            connections: 3,
            evidence: false,
            configuration,
        }
    }
}

/// Lines of the answer on one transfer, unless everything is asked for.
pub const MOST_LINES: usize = 8;

impl Default for Depth {
    fn default() -> Self {
        Self {
            connections: 3,
            evidence: true,
            configuration: true,
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
    if explanation.connections.is_empty() {
        writeln!(
            out,
            "{}",
            style.bold(word!("explain-no-tcp-connection-with-data"))
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
        .partition(|e| !is_aside(&e.connection, largest));
    if said.len() > 1 {
        style.paragraph(&overview(&said), "", "", Tone::Plain, out)?;
        writeln!(out)?;
    }
    for (place, explained) in said.iter().take(depth.connections).enumerate() {
        if place > 0 {
            writeln!(out)?;
        }
        if said.len() > 1 {
            let c = &explained.connection;
            writeln!(out, "{}: {} > {}", c.id, c.client, c.server)?;
        }
        if depth.evidence {
            connection(explained, style, depth, out)?;
        } else {
            answer(explained, style, depth, out)?;
        }
    }
    let rest = said.into_iter().skip(depth.connections).chain(aside);
    let mut heading = false;
    for explained in rest.clone().take(20) {
        if !heading {
            writeln!(out, "\n{}", style.bold(word!("explain-other-connections")))?;
            heading = true;
        }
        let c = &explained.connection;
        let name = c.verdict.limit.name();
        let line = format!(
            "{} {} {} > {}",
            left(name, 20),
            left(&told(&bit_rate(c.goodput_bit_per_s)), 13),
            c.client,
            c.server
        );
        // Ends that are cut could look alike.
        if columns(&line) + 2 > style.rows {
            style.paragraph(&line, "  ", "    ", Tone::Plain, out)?;
        } else {
            writeln!(out, "  {line}")?;
        }
    }
    let more = rest.count().saturating_sub(20);
    if more > 0 {
        writeln!(out, "{}", say!("explain-more", more = more))?;
    }
    if style.quiet {
        return Ok(());
    }
    about(explanation, style, out)?;
    if !depth.evidence && !explanation.connections.is_empty() {
        style.paragraph(
            word!("explain-v-gives-evidence-what-rejected"),
            "\n",
            "",
            Tone::Plain,
            out,
        )?;
    }
    Ok(())
}

/// Writes what was read: which capture, what is in it, and what it lacks.
fn about(explanation: &Explanation, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let capture = &explanation.capture;
    writeln!(out, "\n{}", style.bold(word!("explain-capture")))?;
    let quality = &capture.quality;
    let name = if capture.file.is_empty() {
        "capture"
    } else {
        capture.file.as_str()
    };
    let summary = say!(
        "explain-packets-taken",
        name = name,
        format = capture.format,
        link_types = capture.link_types.join(", "),
        packets = grouped(capture.packets as f64, 0),
        capture = bytes(capture.bytes as f64),
        duration_s = seconds(capture.duration_s),
        tap = tap_words(quality.tap)
    );
    style.paragraph(&summary, "  ", "  ", Tone::Plain, out)?;
    if !capture.parts.is_empty() {
        for line in kept(&crate::many::joined(capture, ""), style.width, "  ", "  ") {
            writeln!(out, "{line}")?;
        }
    }
    // What it comes to is among the warnings where it matters.
    let told = |warning: &String| warning.contains("acknowledged bytes");
    if quality.capture_loss_fraction > 0.0 && !quality.warnings.iter().any(told) {
        let text = say!(
            "explain-acknowledged-bytes-missing",
            capture_loss_fraction = percent(quality.capture_loss_fraction)
        );
        style.warn(Warning::Capture, &text, "  ! ", Tone::Care, out)?;
    }
    for warning in &quality.warnings {
        style.warn(Warning::Capture, warning, "  ! ", Tone::Care, out)?;
    }
    Ok(())
}

/// All transfers in a sentence: how many, how much, and what limited how many of them.
fn overview(said: &[&ExplainedConnection]) -> String {
    let mut limits: Vec<(&str, usize)> = Vec::new();
    for explained in said {
        let name = explained.connection.verdict.limit.name();
        match limits.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => limits.push((name, 1)),
        }
    }
    limits.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let limits: Vec<String> = limits
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let delivered: u64 = said.iter().map(|e| e.connection.bytes_delivered).sum();
    say!(
        "explain-transfers-all",
        said = said.len(),
        delivered = bytes(delivered as f64),
        limits = limits.join(", ")
    )
}

/// Writes one transfer in [`MOST_LINES`]: what limited it, how sure that is, what would help and by how much.
fn answer(
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
    let sentence = wrap(c.headline(), style.width, "", "");
    let mut left = MOST_LINES.saturating_sub(sentence.len());
    for line in sentence {
        writeln!(out, "{}", style.tone(tone, &style.bold(&line)))?;
    }
    let limit = if v.flags.contains(&Flag::Outage) {
        with_outage(v.limit)
    } else {
        v.limit.to_string()
    };
    let limit = say!(
        "explain-time-confidence",
        limit = limit,
        share = percent(v.share),
        confidence = percent(v.confidence)
    );
    let transfer = transfer(c);
    let mut parts: Vec<(String, &str, Tone)> = vec![
        (limit, word!("explain-limit"), Tone::Plain),
        (transfer, word!("explain-transfer"), Tone::Plain),
    ];
    if let Some(next) = &v.next_step {
        parts.push((next.clone(), word!("explain-learn"), Tone::Care));
    }
    for remedy in explained.remedies.iter().filter(|remedy| !remedy.in_vain()) {
        let then = remedy
            .next_limit
            .map_or(String::new(), |l| say!("explain-then", l = l));
        let text = say!(
            "explain-gives",
            change = remedy.change,
            outcome = remedy.outcome(),
            then = then
        );
        parts.push((text, word!("explain-would-help"), Tone::Good));
    }
    for remedy in explained.remedies.iter().filter(|remedy| remedy.in_vain()) {
        parts.push((remedy.change.clone(), word!("explain-vain"), Tone::Plain));
    }
    let figures: Vec<String> = parameters(&v.parameters)
        .into_iter()
        .map(|(n, t)| format!("{} {}", label(n), value(&t)))
        .collect();
    if !figures.is_empty() {
        parts.push((
            figures.join(word!("config-comma")),
            word!("explain-figures"),
            Tone::Plain,
        ));
    }
    // Where the seconds went stands below the transfer, unless that leaves no line for what helps.
    let next = parts.get(TRANSFER + 1).map_or(0, |(text, label, _)| {
        wrap(text, style.width, label, "             ").len()
    });
    for (number, (text, label, tone)) in parts.into_iter().enumerate() {
        let lines = wrap(&text, style.width, label, "             ");
        // The limit and the transfer are never left out.
        if number > 1 && lines.len() > left {
            continue;
        }
        left = left.saturating_sub(lines.len());
        for line in lines {
            writeln!(out, "{}", style.tone(tone, &line))?;
        }
        if number == TRANSFER {
            let room = left.saturating_sub(next);
            let brief = crate::ledger::brief(&c.ledger, style, room);
            if brief.len() <= room {
                left -= brief.len();
                for line in &brief {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    if depth.configuration {
        for lines in explained.remedies.iter().flat_map(|remedy| &remedy.configuration) {
            for line in lines.text.lines() {
                writeln!(out, "               {}: {}", lines.system, told(line))?;
            }
        }
    }
    Ok(())
}

/// Writes why each other limit is not the one, and which of them cannot be ruled out.
fn ruled_out(rejected: &[Rejected], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let beyond = |r: &&Rejected| matches!(r.reason, Reason::NotInPackets | Reason::NeedsComparison);
    // Of what shows nothing the same is said of every limit.
    let unseen = |r: &&Rejected| {
        let short = matches!(r.reason, Reason::TooShort | Reason::CaptureIncomplete);
        short && rejected.iter().filter(|other| other.text == r.text).count() > 1
    };
    for one in rejected.iter().filter(|r| !beyond(r) && !unseen(r)) {
        let text = format!("{}: {}", one.limit, one.text);
        style.paragraph(&text, word!("explain-not"), "             ", Tone::Plain, out)?;
    }
    let names = |wanted: &dyn Fn(&&Rejected) -> bool| {
        let of = rejected.iter().filter(wanted).map(|r| r.limit.name());
        of.collect::<Vec<_>>().join(", ")
    };
    if let Some(first) = rejected.iter().find(unseen) {
        let text = format!("{}: {}", names(&unseen), first.text);
        style.paragraph(&text, word!("explain-untold"), "             ", Tone::Plain, out)?;
    }
    let untold = names(&beyond);
    if !untold.is_empty() {
        let text = say!("explain-one-capture-cannot-show-them", untold = untold);
        style.paragraph(&text, word!("explain-untold"), "             ", Tone::Plain, out)?;
    }
    Ok(())
}

/// Place of the line about the transfer among those of an answer.
const TRANSFER: usize = 1;

/// Whether an observation that stands beside a verdict speaks against it: the published detector of policers, which is asked
/// wherever a queue is looked for, sees none.
fn speaks_against(limit: Limit, evidence: &Evidence) -> bool {
    let found = !evidence.text.contains("finds no policer");
    evidence.fact == "policing.published" && found != (limit == Limit::Policed)
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
    let words =
        std::iter::once(limit_words(v.limit).to_owned()).chain(v.flags.iter().map(|f| label(&flag_name(*f))));
    let words = words.collect::<Vec<_>>().join(", ");
    let summary = if v.limit.is_undecided() {
        say!("explain-undecided", limit = v.limit, value = words)
    } else {
        say!(
            "explain-time-confidence-2",
            limit = v.limit,
            value = words,
            share = percent(v.share),
            confidence = percent(v.confidence)
        )
    };
    style.paragraph(
        &summary,
        word!("explain-limit"),
        "             ",
        Tone::Plain,
        out,
    )?;
    let figures: Vec<String> = parameters(&v.parameters)
        .into_iter()
        .map(|(n, t)| format!("{} {}", label(n), value(&t)))
        .collect();
    if !figures.is_empty() {
        style.paragraph(
            &figures.join(word!("config-comma")),
            word!("explain-figures"),
            "             ",
            Tone::Plain,
            out,
        )?;
    }
    let transfer = transfer(c);
    style.paragraph(
        &transfer,
        word!("explain-transfer"),
        "             ",
        Tone::Plain,
        out,
    )?;
    if !c.ledger.sentence.is_empty() {
        style.paragraph(
            &c.ledger.sentence,
            word!("explain-ledger"),
            "             ",
            Tone::Plain,
            out,
        )?;
        crate::ledger::write(&c.ledger, style, out)?;
    }
    if let Some(next) = &v.next_step {
        style.paragraph(next, word!("explain-learn-more"), "    ", Tone::Care, out)?;
    }
    for remedy in &explained.remedies {
        let then = remedy
            .next_limit
            .map_or(String::new(), |l| say!("explain-then", l = l));
        let because = if remedy.because.is_empty() {
            String::new()
        } else {
            format!(": {}", remedy.because)
        };
        let (text, label, tone) = if remedy.in_vain() {
            (
                format!("{}{because}", remedy.change),
                word!("explain-vain"),
                Tone::Plain,
            )
        } else {
            (
                say!(
                    "explain-gives-2",
                    change = remedy.change,
                    outcome = remedy.outcome(),
                    then = then,
                    because = because
                ),
                word!("explain-would-help"),
                Tone::Good,
            )
        };
        style.paragraph(&text, label, "             ", tone, out)?;
        for lines in &remedy.configuration {
            for line in lines.text.lines() {
                writeln!(out, "               {}: {}", lines.system, told(line))?;
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
            say!(
                "explain-packets",
                text = evidence.text,
                packets = packets.join(", ")
            )
        };
        let label = if speaks_against(v.limit, evidence) {
            word!("explain-against")
        } else {
            word!("explain-because")
        };
        style.paragraph(&shown, label, "             ", Tone::Plain, out)?;
    }
    ruled_out(&v.rejected, style, out)?;
    if c.intervals.len() > 1 {
        for i in c.intervals.iter().take(12) {
            let text = say!(
                "explain-to",
                from_s = seconds(i.from_s),
                to_s = seconds(i.to_s),
                limit = i.limit
            );
            style.paragraph(&text, word!("explain-when"), "             ", Tone::Plain, out)?;
        }
        if c.intervals.len() > 12 {
            let text = say!("explain-more-intervals", intervals = c.intervals.len() - 12);
            style.paragraph(&text, word!("explain-when"), "             ", Tone::Plain, out)?;
        }
    }
    for (name, text) in facts(&explained.connection) {
        let first = format!("  {} ", left(&label(name), 20));
        style.paragraph(
            &value(&text),
            &first,
            &" ".repeat(columns(&first)),
            Tone::Plain,
            out,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_a_verdict_is_not_its_reason() {
        let evidence = |text: &str| Evidence {
            fact: "policing.published".to_owned(),
            text: format!("the published detector (SIGCOMM 2016) {text}"),
            value: 0.0,
            unit: "bit/s".to_owned(),
            packets: Vec::new(),
        };
        let (none, some) = (
            evidence("finds no policer: too few losses"),
            evidence("finds a policer of 10 Mbit/s"),
        );
        assert!(speaks_against(Limit::Policed, &none) && !speaks_against(Limit::Policed, &some));
        let link = Limit::BottleneckBandwidth;
        assert!(!speaks_against(link, &none) && speaks_against(link, &some));
        let other = Evidence {
            fact: "rtt".to_owned(),
            ..none
        };
        assert!(!speaks_against(Limit::Policed, &other));
    }
}

//! The answer for a terminal.

use std::io::{self, Write};

use slowpath_report::text::{Style, Tone, columns, fit, left, right};
use slowpath_report::{quantity, verdict};

use super::answer::{Answer, ConnectionAnswer, JobAnswer, NEGLIGIBLE};
use super::busiest::Transfer;
use super::watch::Tick;
use super::words;
use slowpath_words::{say, told, word};

/// The whole answer: the verdict first, then where the time went.
///
/// # Errors
/// Those of `out`.
pub fn write_answer(answer: &Answer, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let least = answer.main_connection().map_or(0, |main| main.bytes / NEGLIGIBLE);
    let shown = answer
        .connections
        .iter()
        .take(SHOWN)
        .filter(|connection| connection.bytes >= least);
    let mut count = 0;
    for connection in shown {
        if count > 0 {
            writeln!(out)?;
        }
        write_connection(connection, style, out)?;
        count += 1;
    }
    if answer.connections.len() > count {
        writeln!(
            out,
            "{}",
            say!(
                "why-text-other-connections-left-out-format",
                connections = answer.connections.len() - count
            )
        )?;
    }
    if let Some(job) = &answer.job
        && !answer.connections.is_empty()
    {
        writeln!(out)?;
        write_job(job, style, out)?;
    }
    super::trial::text::write(&answer.trials, style, out)?;
    if let Some(capture) = &answer.capture {
        let mut text = say!("why-text-packets-captured", packets = capture.packets);
        if capture.lost > 0 {
            text.push(' ');
            text.push_str(&say!("why-text-packets-lost", lost = capture.lost));
        }
        if let Some(file) = &capture.file {
            text.push(' ');
            text.push_str(&say!("why-text-packets-file", file = file));
        }
        style.paragraph(&text, "", "", Tone::Plain, out)?;
    }
    for note in &answer.notes {
        style.paragraph(note, "", "", Tone::Plain, out)?;
    }
    Ok(())
}

/// The line that updates while the transfer runs.
pub fn live_line(tick: &Tick, width: usize) -> String {
    let Some(state) = tick.state else {
        return fit(
            &say!(
                "why-text-s-no-connection-yet",
                at_s = format_args!("{:>5.0}", tick.at_s)
            ),
            width,
        );
    };
    let more = if tick.connections > 1 {
        say!("why-text-connections", connections = tick.connections)
    } else {
        String::new()
    };
    let line = say!(
        "why-text-s-round-trip",
        at_s = format_args!("{:>5.0}", tick.at_s),
        rate = format_args!("{:>12}", quantity::byte_rate(tick.rate)),
        rtt = format_args!("{:>8}", quantity::seconds(tick.rtt)),
        receiving = told(words::now(state, tick.receiving)),
        more = more
    );
    fit(&line, width)
}

/// The same for programs, in one line.
pub fn tick_json(tick: &Tick) -> String {
    serde_json::json!({
        "at_s": tick.at_s,
        "byte_per_s": tick.rate,
        "rtt_s": tick.rtt,
        "state": tick.state.map(super::track::State::name),
        "receiving": tick.receiving,
        "connections": tick.connections,
    })
    .to_string()
}

/// The busiest transfers, to choose from.
///
/// # Errors
/// Those of `out`.
pub fn write_busiest(transfers: &[Transfer], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if transfers.is_empty() {
        return writeln!(out, "{}", say!("why-text-no-tcp-connection-moves-data"));
    }
    writeln!(
        out,
        "{}",
        style.bold(word!("why-text-busiest-tcp-transfers-machine-now"))
    )?;
    writeln!(out)?;
    for transfer in transfers.iter().take(LISTED) {
        // The kernel's own limit for a program's name is 15 characters.
        let program = transfer.program.as_deref().unwrap_or("-");
        let arrow = if transfer.receiving { "<-" } else { "->" };
        let rate = if transfer.waiting_bytes > 0 {
            word!("why-text-stands-still").to_owned()
        } else {
            quantity::byte_rate(transfer.rate)
        };
        let line = format!(
            "{}  {} {} {arrow} {}",
            right(&rate, 12),
            left(program, 15),
            transfer.local,
            transfer.remote
        );
        // Addresses that are cut could look alike.
        if columns(&line) > style.rows {
            style.paragraph(&line, "", "    ", Tone::Plain, out)?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    writeln!(out)?;
    let first = &transfers[0];
    match first.process {
        Some(pid) => writeln!(out, "{}", say!("why-text-why-first-slow-slowpath-why", pid = pid)),
        None => writeln!(
            out,
            "{}",
            say!("why-text-why-first-slow-slowpath-why-2", remote = first.remote)
        ),
    }
}

fn write_connection(connection: &ConnectionAnswer, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let sentence = style.bold(&told(&connection.verdict.sentence));
    style.paragraph(&sentence, "", "", Tone::Plain, out)?;
    let arrow = if connection.direction == "in" {
        word!("why-text-from")
    } else {
        word!("why-text-to")
    };
    let program = connection
        .program
        .as_deref()
        .map_or(String::new(), |name| format!("{name}: "));
    let bytes = quantity::bytes(connection.bytes as f64);
    let about = say!(
        "why-text-in",
        program = program,
        connection = if connection.bytes_at_least {
            say!("why-text-at-least", bytes = bytes)
        } else {
            bytes
        },
        arrow = arrow,
        remote = connection.remote,
        facts = quantity::seconds(connection.facts.seconds),
        goodput_bit_per_s = quantity::byte_rate(connection.goodput_bit_per_s / 8.0),
        congestion_control = connection.congestion_control
    );
    style.paragraph(&about, "", "", Tone::Plain, out)?;
    writeln!(out)?;
    for (cause, seconds) in connection.ledger.by_cause() {
        let share = seconds / connection.ledger.duration_s.max(1e-9);
        if share >= 0.005 {
            writeln!(out, "{}", bar(verdict::limit_words(cause), seconds, share))?;
        }
    }
    for evidence in &connection.verdict.evidence {
        style.paragraph(&evidence.text, "  - ", "    ", Tone::Plain, out)?;
    }
    if let Some(samples) = &connection.samples {
        let text = say!(
            "why-text-by-packets-samples-say",
            sentence = told(&samples.verdict.sentence)
        );
        style.paragraph(&text, "", "", Tone::Plain, out)?;
    }
    if let Some(next) = &connection.verdict.next_step {
        style.paragraph(next, "", "", Tone::Plain, out)?;
    }
    Ok(())
}

fn write_job(job: &JobAnswer, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", style.bold(word!("why-text-where-time-job-went")))?;
    for entry in &job.parts {
        let share = entry.time_s / job.duration_s.max(1e-9);
        if share < 0.005 {
            continue;
        }
        let name = match &entry.program {
            Some(program) => format!("{} ({program})", told(entry.part.words())),
            None => told(entry.part.words()).into_owned(),
        };
        writeln!(out, "{}", bar(&name, entry.time_s, share))?;
    }
    if let Some(busiest) = &job.busiest
        && busiest.share >= 0.5
    {
        let text = say!(
            "why-text-busiest-thread-one-processor",
            program = busiest.program,
            share = quantity::percent(busiest.share)
        );
        style.paragraph(&text, "", "", Tone::Plain, out)?;
    }
    Ok(())
}

fn bar(name: &str, seconds: f64, share: f64) -> String {
    let filled = (share * BAR).round() as usize;
    format!(
        "  {} {}{} {} {}",
        left(&fit(&told(name), 34), 34),
        "█".repeat(filled.min(BAR as usize)),
        "·".repeat((BAR as usize).saturating_sub(filled)),
        right(&quantity::percent(share), 6),
        right(&quantity::seconds(seconds), 9)
    )
}

/// Connections shown in full.
const SHOWN: usize = 3;
/// Transfers listed.
const LISTED: usize = 15;
/// Width of a bar.
const BAR: f64 = 20.0;

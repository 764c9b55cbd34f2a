//! What the answers have in common: columns, notes, and the state of connections.

use std::io::{self, Write};

use slowpath_report::quantity;
use slowpath_units::Duration;
use slowpath_workload::ConnectionLog;

/// Widest line.
pub(super) const WIDTH: usize = 80;

/// A rate in bit/s.
pub(super) fn rate(bit_per_s: f64) -> String {
    quantity::bit_rate(bit_per_s)
}

/// An amount of bytes in decimal units.
pub(super) fn amount(bytes: u64) -> String {
    let value = bytes as f64;
    let (scale, unit) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1e3, "kB"),
        1_000_000..1_000_000_000 => (1e6, "MB"),
        1_000_000_000..1_000_000_000_000 => (1e9, "GB"),
        _ => (1e12, "TB"),
    };
    format!("{} {unit}", quantity::significant(value / scale))
}

/// A span of time in the unit that suits it.
pub(super) fn span(span: Duration) -> String {
    quantity::seconds(span.seconds())
}

/// A whole number with thousands separated.
pub(super) fn count(value: u64) -> String {
    quantity::grouped(value as f64, 0)
}

/// A share of 1.
pub(super) fn share(value: f64) -> String {
    quantity::percent(value)
}

/// Writes a sentence as a paragraph, later lines indented under the first word after `label`.
pub(super) fn paragraph(out: &mut dyn Write, label: &str, sentence: &str) -> io::Result<()> {
    let indent = label.chars().count();
    let mut line = label.to_owned();
    let mut is_fresh = true;
    for word in sentence.split_whitespace() {
        if !is_fresh && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line = " ".repeat(indent);
            is_fresh = true;
        }
        if !is_fresh {
            line.push(' ');
        }
        line.push_str(word);
        is_fresh = false;
    }
    writeln!(out, "{line}")
}

/// A note: what a reader must know beside the figures.
pub(super) fn note(out: &mut dyn Write, sentence: &str) -> io::Result<()> {
    paragraph(out, "note: ", sentence)
}

/// Said where UDP stands in for echo requests.
pub(super) const BY_UDP: &str = "by UDP to ports where nobody listens, because this user may not send ICMP: hosts answer about one a second; \
`slowpath doctor` says what permits ICMP";

/// Writes rows in columns as wide as their widest cell; the first column is flush left, the others flush right.
pub(super) fn table(out: &mut dyn Write, rows: &[Vec<String>]) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            })
            .collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}

/// Where sending connections spent their time, in one sentence, as their own kernel accounts for it.
pub(super) fn where_time_went(
    out: &mut dyn Write,
    label: &str,
    connections: &[ConnectionLog],
) -> io::Result<()> {
    let (mut busy, mut window, mut buffer) = (0, 0, 0);
    for last in connections.iter().filter_map(ConnectionLog::last) {
        busy += last.busy;
        window += last.receive_window_limited;
        buffer += last.send_buffer_limited;
    }
    if busy == 0 {
        return Ok(());
    }
    let part = |micros: u64| share(micros as f64 / busy as f64);
    paragraph(
        out,
        label,
        &format!(
            "of the time with data to send, {} waited for the peer's window, {} for this host's send buffer, {} was \
             up to congestion control or the link",
            part(window),
            part(buffer),
            part(busy.saturating_sub(window + buffer)),
        ),
    )
}

/// One row per connection, for [`table`]: what its kernel knew at the end; at most [`MOST_ROWS`] of them.
pub(super) fn connection_rows(connections: &[ConnectionLog]) -> Vec<Vec<String>> {
    let mut rows = vec![
        [
            "connection",
            "round trip",
            "least",
            "cwnd",
            "peer window",
            "resent",
            "control",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    for log in connections.iter().take(MOST_ROWS) {
        let Some(last) = log.last() else { continue };
        rows.push(vec![
            log.name.clone(),
            span(Duration::from_micros(u64::from(last.rtt))),
            // All ones until there was a sample.
            if last.min_rtt == u32::MAX {
                "–".to_owned()
            } else {
                span(Duration::from_micros(u64::from(last.min_rtt)))
            },
            amount(u64::from(last.cwnd) * u64::from(last.mss)),
            amount(u64::from(last.peer_window)),
            count(u64::from(last.retransmitted_segments)),
            log.facts.congestion_control.clone(),
        ]);
    }
    rows
}

/// Connections as JSON, without their samples: the last state of each.
pub(super) fn connections_json(connections: &[ConnectionLog]) -> serde_json::Value {
    connections
        .iter()
        .map(|log| serde_json::json!({"name": log.name, "key": log.key, "facts": log.facts, "last": log.last()}))
        .collect()
}

const MOST_ROWS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_to_the_width() {
        let mut out = Vec::new();
        note(&mut out, &"word ".repeat(40)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().count() > 2);
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert!(
            text.lines().skip(1).all(|line| line.starts_with("      word")),
            "{text}"
        );
    }

    #[test]
    fn amounts_carry_units() {
        for (bytes, expected) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_500, "1.5 kB"),
            (1_250_000_000, "1.25 GB"),
        ] {
            assert_eq!(amount(bytes), expected);
        }
    }
}

//! What stands below the table: both clocks side by side, and the traffic of each flow.

use std::io::{self, Write};

use super::label::short_label;
use super::unit::Unit;
use crate::quantity::{grouped, loss};
use crate::results::{Results, RunResult, Variant};
use crate::text::{Style, Tone, Warning, columns, left, right};
use slowpath_words::{say, told, word};

/// Writes published, lab and simulated figures side by side, one line a variant.
pub(super) fn write_twins(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
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
    let head = line([
        unit.name,
        word!("head-published"),
        word!("head-lab"),
        word!("head-simulated"),
        word!("beside-sim-lab-ci"),
    ]);
    writeln!(out, "{}", style.bold(&head))?;
    for twin in &results.twins {
        let interval = match (twin.low95, twin.high95) {
            (Some(low), Some(high)) => say!(
                "beside-to",
                ratio = format_args!("{:.3}", twin.ratio),
                low = format_args!("{:.2}", low),
                high = format_args!("{:.2}", high)
            ),
            _ => say!("beside-one-run-side", ratio = format_args!("{:.3}", twin.ratio)),
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
            let text = say!(
                "beside-limited-by-lab-simulated-time",
                lab_limit = limit(twin.lab_limit),
                simulated_limit = limit(twin.simulated_limit)
            );
            style.warn(Warning::Clocks, &text, "  ! ", Tone::Care, out)?;
        }
    }
    Ok(())
}

/// Whether a run's flows say more than its goodput: datagrams, or several flows at once.
pub(crate) fn shows_flows(run: &RunResult) -> bool {
    run.flows.len() > 1 || run.flows.iter().any(|flow| flow.jitter_s.is_some())
}

/// Writes each flow's traffic, one line a flow and variant, of the first run; what the source says of it stands before it.
pub(super) fn write_flows(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let rows: Vec<[String; COLUMNS]> = results
        .variants
        .iter()
        .filter_map(|variant| Some((variant, variant.runs.first().filter(|run| shows_flows(run))?)))
        .flat_map(|(variant, run)| {
            let name = short_label(results, variant);
            run.flows.iter().enumerate().map(move |(index, flow)| {
                [
                    if index == 0 { name.clone() } else { String::new() },
                    flow.name.clone(),
                    published(variant, &flow.name),
                    grouped(flow.sent_packets as f64, 0),
                    grouped(flow.received_packets as f64, 0),
                    told(&loss(flow.loss_fraction)).into_owned(),
                    told(&results.rate_unit.show(flow.goodput_byte_per_s)).into_owned(),
                ]
            })
        })
        .collect();
    let head = [
        word!("head-variant"),
        word!("head-flow"),
        word!("head-published"),
        word!("head-sent"),
        word!("head-received"),
        word!("head-lost"),
        word!("head-delivered"),
    ]
    .map(str::to_owned);
    let told = rows.iter().any(|row| row[2] != NOTHING);
    let shown: Vec<usize> = (0..COLUMNS).filter(|column| *column != 2 || told).collect();
    let widths: Vec<usize> = (0..COLUMNS)
        .map(|i| {
            rows.iter()
                .chain([&head])
                .map(|row| columns(&row[i]))
                .max()
                .unwrap_or(0)
        })
        .collect();
    let rest: usize = shown[1..].iter().map(|column| widths[*column] + 2).sum();
    let first = widths[0].min(style.rows.saturating_sub(rest).max(8));
    for (number, row) in [&head].into_iter().chain(&rows).enumerate() {
        let mut line = if columns(&row[0]) > first {
            writeln!(out, "{}", row[0])?;
            " ".repeat(first)
        } else {
            left(&row[0], first)
        };
        for &i in &shown[1..] {
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

/// What the source says of the packets of a flow: how many arrived, or which share did not.
fn published(variant: &Variant, flow: &str) -> String {
    let own = |unit: &str| {
        variant.figures.iter().find_map(|figure| {
            let of_flow = figure.unit == unit && figure.name.strip_prefix(flow)?.starts_with(": ");
            let value = figure.published.filter(|_| of_flow)?;
            Some(match unit {
                "packet" => grouped(value, 0),
                _ => say!(
                    "beside-lost",
                    value = figure.label.printed.clone().unwrap_or_else(|| loss(value))
                ),
            })
        })
    };
    let said: Vec<String> = ["packet", "fraction"].into_iter().filter_map(own).collect();
    if said.is_empty() {
        NOTHING.to_owned()
    } else {
        said.join(", ")
    }
}

const COLUMNS: usize = 7;

/// Stands where the source says nothing.
const NOTHING: &str = "-";

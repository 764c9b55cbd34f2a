//! A sweep's tables for programs: runs, flows, ledgers and samples, as CSV and as Parquet.

use std::path::Path;

use serde::Serialize;
use slowpath_report::csv::mark;
use slowpath_report::table::{Column, Table, Values, write_csv, write_parquet};
use slowpath_units::{BitRate, ByteCount, Duration, Ratio};

use super::design::Units;
use super::error::Error;
use super::found::Swept;
use super::kept::Kept;
use super::text::write_json;
use crate::folder::Folder;

/// The document that [`write`] leaves in a folder.
pub const DOCUMENT: &str = "sweep.json";

/// The table of the runs that [`write`] leaves in a folder, as CSV.
pub const RUNS: &str = "sweep.csv";

/// Writes `sweep.json`, `sweep.csv` (the runs), and for runs, flows, ledgers and samples a Parquet file each, the last
/// three as CSV too.
///
/// # Errors
/// [`Error::Folder`].
pub(super) fn write(units: &Units, swept: &Swept, runs: &[Vec<Kept>], out: &Path) -> Result<(), Error> {
    let folder = Folder::open(out);
    let written = "writing to memory does not fail";
    let mut document = Vec::new();
    write_json(swept, &mut document).expect(written);
    folder.write(DOCUMENT, &document)?;
    for table in tables(units, runs) {
        let mut text = mark().to_vec();
        write_csv(&table, &mut text).expect(written);
        let csv = match table.name {
            "runs" => RUNS.to_owned(),
            other => format!("{other}.csv"),
        };
        folder.write(&csv, &text)?;
        let mut binary = Vec::new();
        write_parquet(&table, &mut binary).expect(written);
        folder.write(&format!("{}.parquet", table.name), &binary)?;
    }
    folder.write("CITATION.cff", super::cite::citation(units, swept).as_bytes())?;
    Ok(())
}

/// The tables of a sweep: runs first, then those of flows, ledgers and samples that have rows.
fn tables(units: &Units, runs: &[Vec<Kept>]) -> Vec<Table> {
    let rows: Vec<Row<'_>> = (runs.iter().enumerate())
        .flat_map(|(unit, runs)| runs.iter().map(move |kept| Row { unit, kept }))
        .collect();
    let others = [flows(&rows), ledgers(&rows), samples(&rows)];
    let with_rows = others.into_iter().filter(|table| table.rows() > 0);
    std::iter::once(of_runs(units, &rows)).chain(with_rows).collect()
}

struct Row<'a> {
    unit: usize,
    kept: &'a Kept,
}

fn of_runs(units: &Units, rows: &[Row<'_>]) -> Table {
    let values: Vec<Vec<String>> = rows.iter().map(|row| units.values(row.unit)).collect();
    let mut columns: Vec<Column> = (units.keys.iter().enumerate())
        .map(|(index, key)| setting(key, values.iter().map(|values| values[index].as_str()).collect()))
        .collect();
    let run = |row: &Row<'_>| row.kept.run.clone();
    let ledger = |of: fn(&slowpath_verdict::Ledger) -> Option<f64>| {
        Values::Real(rows.iter().map(|row| of(row.kept.ledger.as_ref()?)).collect())
    };
    columns.extend([
        Column::new(
            "variant",
            "Variant of the experiment.",
            text(rows, |row| Some(units.variant(row.unit).to_owned())),
        ),
        Column::new(
            "repeat",
            "Number of the repeat, from 0.",
            whole(rows, |row| Some(row.kept.run.repeat.into())),
        ),
        Column::new(
            "seed",
            "Seed of the run's random streams.",
            whole(rows, |row| Some(row.kept.run.seed)),
        ),
        Column::new(
            "bytes",
            "Bytes that reached the receiving application.",
            whole(rows, |row| Some(row.kept.run.bytes)),
        ),
        Column::new(
            "duration_s",
            "From asking to the last byte, in seconds.",
            real(rows, |row| Some(row.kept.run.duration_s)),
        ),
        Column::new(
            "goodput_byte_per_s",
            "Application bytes per second at the receiver.",
            real(rows, |row| Some(row.kept.run.goodput_byte_per_s)),
        ),
        Column::new(
            "retransmitted_segments",
            "Segments sent again; missing where nobody counted them.",
            whole(rows, |row| row.kept.run.retransmitted_segments),
        ),
        Column::new(
            "loss_fraction",
            "Share of the packets that did not arrive; missing where they were not counted.",
            real(rows, |row| row.kept.run.loss_fraction),
        ),
        Column::new(
            "complete",
            "Whether the transfer came to its end.",
            Values::Truth(rows.iter().map(|row| Some(row.kept.run.complete)).collect()),
        ),
        Column::new(
            "limit",
            "Code of what limited the run; missing where it cannot be told.",
            text(rows, |row| run(row).limit),
        ),
        Column::new(
            "confidence",
            "How sure the limit is, from 0 to 1.",
            real(rows, |row| row.kept.run.confidence),
        ),
        Column::new(
            "capacity_bit_per_s",
            "Rate of the link as the packets show it, in bits per second.",
            ledger(|ledger| ledger.capacity_bit_per_s),
        ),
        Column::new(
            "capacity_is",
            "Whether that rate was measured, or is only the least that it can be (at-least).",
            text(rows, |row| code(&row.kept.ledger.as_ref()?.capacity_is)),
        ),
        Column::new(
            "floor_s",
            "Time that the same bytes would have taken with nothing but the link, in seconds.",
            ledger(|ledger| ledger.floor_s),
        ),
        Column::new(
            "run",
            "Name of the run: digest of its plan and version of the model. Equal names are equal runs.",
            text(rows, |row| Some(run(row).id)),
        ),
    ]);
    Table {
        name: "runs",
        columns,
    }
}

fn flows(rows: &[Row<'_>]) -> Table {
    let flat: Vec<_> = (rows.iter())
        .flat_map(|row| row.kept.flows.iter().map(|flow| (row.kept.run.id.as_str(), flow)))
        .collect();
    let columns = vec![
        of_run(flat.iter().map(|(run, _)| *run)),
        Column::new(
            "flow",
            "Name of the flow.",
            text(&flat, |(_, flow)| Some(flow.name.clone())),
        ),
        Column::new(
            "sent_packets",
            "Packets given to the network.",
            whole(&flat, |(_, flow)| Some(flow.sent_packets)),
        ),
        Column::new(
            "received_packets",
            "Packets that arrived.",
            whole(&flat, |(_, flow)| Some(flow.received_packets)),
        ),
        Column::new(
            "sent_bytes",
            "Bytes given to the network.",
            whole(&flat, |(_, flow)| Some(flow.sent_bytes)),
        ),
        Column::new(
            "received_bytes",
            "Bytes that arrived.",
            whole(&flat, |(_, flow)| Some(flow.received_bytes)),
        ),
        Column::new(
            "jitter_s",
            "Mean deviation of the transit time (RFC 3550), in seconds.",
            real(&flat, |(_, flow)| flow.jitter.map(Duration::seconds)),
        ),
        Column::new(
            "goodput_byte_per_s",
            "Application bytes per second at the receiver.",
            real(&flat, |(_, flow)| Some(flow.goodput_byte_per_s)),
        ),
    ];
    Table {
        name: "flows",
        columns,
    }
}

fn ledgers(rows: &[Row<'_>]) -> Table {
    let flat: Vec<_> = (rows.iter())
        .filter_map(|row| Some((row.kept.run.id.as_str(), row.kept.ledger.as_ref()?)))
        .flat_map(|(run, ledger)| ledger.entries.iter().map(move |entry| (run, entry)))
        .collect();
    let columns = vec![
        of_run(flat.iter().map(|(run, _)| *run)),
        Column::new(
            "cause",
            "Code of what held the transfer.",
            text(&flat, |(_, entry)| Some(entry.cause.name().to_owned())),
        ),
        Column::new(
            "flags",
            "What is remarkable about it, separated by spaces.",
            text(&flat, |(_, entry)| {
                let names: Vec<String> = entry.flags.iter().filter_map(code).collect();
                (!names.is_empty()).then(|| names.join(" "))
            }),
        ),
        Column::new(
            "state",
            "What the sender did meanwhile.",
            text(&flat, |(_, entry)| code(&entry.state)),
        ),
        Column::new(
            "event_at_s",
            "When the event happened that cost most, in seconds from the start; missing for what is no event.",
            real(&flat, |(_, entry)| entry.event_at_s),
        ),
        Column::new(
            "events",
            "How many events.",
            whole(&flat, |(_, entry)| Some(entry.events)),
        ),
        Column::new(
            "time_s",
            "How long it held, in seconds.",
            real(&flat, |(_, entry)| Some(entry.time_s)),
        ),
        Column::new(
            "lost_s",
            "What would be saved without it, in seconds.",
            real(&flat, |(_, entry)| entry.lost_s),
        ),
    ];
    Table {
        name: "ledgers",
        columns,
    }
}

fn samples(rows: &[Row<'_>]) -> Table {
    let flat: Vec<_> = (rows.iter())
        .flat_map(|row| {
            row.kept
                .series
                .iter()
                .map(|series| (row.kept.run.id.as_str(), series))
        })
        .flat_map(|(run, series)| series.points.iter().map(move |point| (run, series, *point)))
        .collect();
    let columns = vec![
        of_run(flat.iter().map(|(run, ..)| *run)),
        Column::new(
            "series",
            "What was sampled, and where: HOST/CONNECTION/WHAT.",
            text(&flat, |(_, series, _)| Some(series.name.clone())),
        ),
        Column::new(
            "unit",
            "Unit of the value.",
            text(&flat, |(_, series, _)| Some(series.unit.clone())),
        ),
        Column::new(
            "at_s",
            "When, in seconds from the start of the run.",
            real(&flat, |(.., (at, _))| Some(at.seconds())),
        ),
        Column::new(
            "value",
            "The value.",
            real(&flat, |(.., (_, value))| Some(*value)),
        ),
    ];
    Table {
        name: "samples",
        columns,
    }
}

/// The code by which JSON names a value.
fn code(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok()?.as_str().map(str::to_owned)
}

/// The column by which the other tables go with that of the runs.
fn of_run<'a>(names: impl Iterator<Item = &'a str>) -> Column {
    let names = names.map(|name| Some(name.to_owned())).collect();
    Column::new(
        "run",
        "Name of the run, as in the table of runs.",
        Values::Text(names),
    )
}

fn text<T>(rows: &[T], of: impl Fn(&T) -> Option<String>) -> Values {
    Values::Text(rows.iter().map(of).collect())
}

fn real<T>(rows: &[T], of: impl Fn(&T) -> Option<f64>) -> Values {
    Values::Real(rows.iter().map(of).collect())
}

fn whole<T>(rows: &[T], of: impl Fn(&T) -> Option<u64>) -> Values {
    Values::Whole(rows.iter().map(of).collect())
}

/// The values of one swept setting: numbers in a base unit that the name of the column says, or as they were written where
/// they are no quantities.
fn setting(key: &str, values: Vec<&str>) -> Column {
    type Quantity = (&'static str, fn(&str) -> Option<f64>);
    const ABOUT: &str = "Value of the swept setting.";
    let quantities: [Quantity; 4] = [
        ("bit/s", |text| {
            Some(text.parse::<BitRate>().ok()?.bits_per_s() as f64)
        }),
        ("s", |text| Some(text.parse::<Duration>().ok()?.seconds())),
        ("fraction", |text| Some(text.parse::<Ratio>().ok()?.fraction())),
        (
            "byte",
            |text| Some(text.parse::<ByteCount>().ok()?.bytes() as f64),
        ),
    ];
    for (unit, number) in quantities {
        let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
        if let Some(numbers) = numbers {
            let numbers = numbers.into_iter().map(Some).collect();
            return Column::new(format!("{key} [{unit}]"), ABOUT, Values::Real(numbers));
        }
    }
    let values = values.into_iter().map(|value| Some(value.to_owned())).collect();
    Column::new(key, ABOUT, Values::Text(values))
}

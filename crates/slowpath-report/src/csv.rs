//! Results as comma-separated values: one table for runs, one for figures, one for each graph's points.
//!
//! Fields are quoted where RFC 4180 asks for it; the first line names the columns; numbers have a point and no
//! thousands separators, units stand in the column's name. Where Japanese is spoken a mark of order stands before them
//! ([`mark`]).

use std::io::{self, Write};

use slowpath_facts::Point;

use crate::graphs::GraphSet;
use crate::results::Results;
use crate::table::quoted;
use slowpath_words::{Language, spoken};

/// What stands before a table: where Japanese is spoken the mark of the byte order, without which Excel reads Japanese text in
/// an encoding of its own; else nothing.
pub fn mark() -> &'static [u8] {
    match spoken() {
        Language::English => b"",
        Language::Japanese => b"\xef\xbb\xbf",
    }
}

/// Writes one line for each run.
///
/// # Errors
///
/// Those of `out`.
pub fn write_runs(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let names = [
        "experiment",
        "variant",
        "clock",
        "run",
        "seed",
        "bytes",
        "duration_s",
        "goodput_byte_per_s",
        "retransmitted_segments",
        "complete",
        "health",
        "limit",
        "confidence",
    ];
    line(out, names.map(str::to_owned))?;
    for variant in &results.variants {
        for run in &variant.runs {
            let verdict = run.verdict.as_ref();
            line(
                out,
                [
                    results.experiment.clone(),
                    variant.name.clone(),
                    variant.clock.to_string(),
                    (run.repeat + 1).to_string(),
                    run.seed.to_string(),
                    run.bytes.to_string(),
                    run.duration_s.to_string(),
                    run.goodput_byte_per_s.to_string(),
                    run.retransmitted_segments
                        .map_or(String::new(), |n| n.to_string()),
                    run.complete.to_string(),
                    run.health.state.name().to_owned(),
                    verdict.map_or(String::new(), |v| v.limit.to_string()),
                    verdict.map_or(String::new(), |v| v.confidence.to_string()),
                ],
            )?;
        }
    }
    Ok(())
}

/// Writes one line for each figure that the source published, the goodput first.
///
/// # Errors
///
/// Those of `out`.
pub fn write_figures(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let names = [
        "variant",
        "figure",
        "unit",
        "published",
        "measured",
        "low95",
        "high95",
        "ratio",
        "basis",
        "met",
    ];
    line(out, names.map(str::to_owned))?;
    let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    for variant in &results.variants {
        let goodput = variant.goodput_byte_per_s.as_ref();
        let interval = [goodput.and_then(|g| g.low95), goodput.and_then(|g| g.high95)];
        let headline = variant.headline().into_iter().map(|f| (f, interval));
        let others = variant.figures.iter().cloned().map(|f| (f, [None, None]));
        for (figure, [low, high]) in headline.chain(others) {
            line(
                out,
                [
                    variant.name.clone(),
                    figure.name.clone(),
                    figure.unit.clone(),
                    number(figure.published),
                    number(figure.measured),
                    number(low),
                    number(high),
                    number(figure.ratio()),
                    figure.basis.word().to_owned(),
                    figure.met().map_or(String::new(), |m| m.to_string()),
                ],
            )?;
        }
    }
    Ok(())
}

/// Writes every point of a run's graphs in the long form `series,time_s,value,value2`.
///
/// Segments have their first byte and the byte after their last; all other series have one value, in the unit
/// that the series' name gives.
///
/// # Errors
///
/// Those of `out`.
pub fn write_graphs(set: &GraphSet, out: &mut dyn Write) -> io::Result<()> {
    line(out, ["series", "time_s", "value", "value2"].map(str::to_owned))?;
    let g = &set.graphs;
    for s in &g.segments {
        let name = if s.retransmission {
            "retransmission_byte"
        } else {
            "segment_byte"
        };
        line(
            out,
            [
                name.to_owned(),
                s.at_s.to_string(),
                s.from.to_string(),
                s.to.to_string(),
            ],
        )?;
    }
    let series: [(&str, &[Point]); 7] = [
        ("acknowledged_byte", &g.acks),
        ("window_edge_byte", &g.window_edge),
        ("throughput_byte_per_s", &g.throughput),
        ("goodput_byte_per_s", &g.goodput),
        ("rtt_s", &g.rtt),
        ("window_byte", &g.window),
        ("flight_byte", &g.flight),
    ];
    for (name, points) in series {
        for p in points {
            line(
                out,
                [
                    name.to_owned(),
                    p.at_s.to_string(),
                    p.value.to_string(),
                    String::new(),
                ],
            )?;
        }
    }
    for p in &g.io {
        line(
            out,
            [
                "frames_byte".to_owned(),
                p.at_s.to_string(),
                p.bytes.to_string(),
                p.bytes_back.to_string(),
            ],
        )?;
    }
    Ok(())
}

fn line<const N: usize>(out: &mut dyn Write, fields: [String; N]) -> io::Result<()> {
    let quoted = fields.map(|field| quoted(&field));
    writeln!(out, "{}", quoted.join(","))
}

//! A sweep for people, and as one document.

use std::io::{self, Write};

use slowpath_diagnose::stats::{Beside, Summary};
use slowpath_report::quantity::RateUnit;
use slowpath_report::text::{Style, columns, left, right};
use slowpath_words::{say, told, word};

use super::found::Swept;

/// Writes everything as JSON.
///
/// # Errors
/// Those of `out`.
pub(super) fn write_json(swept: &Swept, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, swept)?;
    writeln!(out)
}

/// Writes one line for each point: values, variant, goodput with its 95 % interval, runs.
///
/// # Errors
/// Those of `out`.
pub fn write_text(swept: &Swept, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut head: Vec<String> = swept.keys.clone();
    head.extend(
        [
            word!("head-variant"),
            word!("head-goodput"),
            word!("head-interval"),
            word!("head-runs"),
            word!("head-limit"),
        ]
        .map(str::to_owned),
    );
    let mut rows = vec![head];
    for point in &swept.points {
        let mut row = point.values.clone();
        row.push(point.variant.clone());
        let goodput = point.goodput_byte_per_s.as_ref();
        row.push(goodput.map_or(told("none complete").into_owned(), |g| {
            swept.rate_unit.show(g.mean)
        }));
        row.push(goodput.map_or("-".to_owned(), |goodput| interval(goodput, swept.rate_unit)));
        let complete = point.runs.iter().filter(|run| run.complete).count();
        row.push(if complete == point.runs.len() {
            complete.to_string()
        } else {
            told(&format!("{complete} of {}", point.runs.len())).into_owned()
        });
        row.push(point.limit.clone().unwrap_or_else(|| "-".to_owned()));
        rows.push(row);
    }
    for row in rows.iter_mut().skip(1) {
        for cell in row.iter_mut().skip(swept.keys.len() + 1) {
            *cell = told(cell).into_owned();
        }
    }
    let name = swept.keys.len();
    let widths: Vec<usize> = (0..name + 5)
        .map(|i| rows.iter().map(|row| columns(&row[i])).max().unwrap_or(0))
        .collect();
    let wide = |columns: usize, gap: usize| widths[..columns].iter().sum::<usize>() + gap * (columns - 1);
    let gap = if wide(name + 5, 2) <= style.rows { 2 } else { 1 };
    // Where a terminal has no room for them, limits stand below.
    let beside = wide(name + 5, gap) <= style.rows;
    for (number, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row[..name + 4 + usize::from(beside)]
            .iter()
            .enumerate()
            .map(|(i, cell)| {
                if i == name || i == name + 4 {
                    left(cell, widths[i])
                } else {
                    right(cell, widths[i])
                }
            })
            .collect();
        let mut lines = vec![cells.join(&" ".repeat(gap)).trim_end().to_owned()];
        if !beside {
            lines.push(format!("    {}", row[name + 4]));
        }
        for line in lines {
            if number == 0 {
                writeln!(out, "{}", style.bold(&line))?;
            } else {
                writeln!(out, "{line}")?;
            }
        }
    }
    Ok(())
}

/// The 95 % interval of a rate: `± half` where its ends lie about as far from the mean, else both ends; the range of the runs where
/// it tells nothing.
fn interval(goodput: &Summary, unit: RateUnit) -> String {
    match goodput.beside() {
        Some(Beside::Half(half)) => format!("± {}", unit.show(half)),
        Some(Beside::Interval(low, high)) => range(unit.show(low), &unit.show(high)),
        Some(Beside::Runs(low, high)) => {
            say!("sweep-runs", range = range(unit.show(low), &unit.show(high)))
        }
        None => "-".to_owned(),
    }
}

/// Two ends of a range, their unit once where both have the same.
fn range(low: String, high: &str) -> String {
    let unit = |text: &str| text.rsplit_once(' ').map(|(_, unit)| unit.to_owned());
    let low = match low.rsplit_once(' ') {
        Some((number, own)) if Some(own) == unit(high).as_deref() => number.to_owned(),
        _ => low,
    };
    format!("{low} to {high}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::found::Point;

    #[test]
    fn a_table_is_no_wider_than_the_terminal() {
        let goodput = Summary::of_rates(&[1_500_000.0, 3_480_000.0]);
        let swept = Swept {
            schema: String::new(),
            model: 1,
            experiment: String::new(),
            seed: 1,
            keys: vec!["delay".to_owned(), "rate".to_owned()],
            rate_unit: RateUnit::Bytes,
            points: vec![Point {
                values: vec!["100 ms".to_owned(), "20 Mbit/s".to_owned()],
                variant: "narrow".to_owned(),
                goodput_byte_per_s: goodput,
                limit: Some("bottleneck-bandwidth".to_owned()),
                runs: Vec::new(),
            }],
        };
        let written = |rows: usize| {
            let style = Style {
                rows,
                ..Style::default()
            };
            let mut out = Vec::new();
            write_text(&swept, style, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        for rows in [usize::MAX, 83, 79, 64] {
            let text = written(rows);
            let widest = text.lines().map(columns).max().unwrap();
            assert!(widest <= rows, "{widest} of {rows} columns:\n{text}");
            assert!(text.contains("bottleneck-bandwidth"), "{text}");
        }
        assert_eq!(written(83).lines().count(), 2);
        assert_eq!(written(64).lines().count(), 4);
    }

    #[test]
    fn no_interval_of_a_rate_reaches_below_zero() {
        let goodput = Summary::of_rates(&[1_500_000.0, 3_480_000.0]).unwrap();
        let text = interval(&goodput, RateUnit::Bytes);
        assert!(text.contains(" to ") && !text.contains('-'), "{text}");
        assert_eq!(text, "runs 1.5 to 3.48 MB/s");
        let even = Summary::of_rates(&[1_000_000.0, 1_001_000.0]).unwrap();
        assert!(interval(&even, RateUnit::Bytes).starts_with("± "));
    }
}

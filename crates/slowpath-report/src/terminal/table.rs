//! The table of an experiment: one line a variant, in the columns that the terminal has.

use std::io::{self, Write};

use slowpath_record::Origin;

use super::label::{health_cell, health_tone, mark, short_label};
use super::unit::Unit;
use crate::results::{NEVER, Results, Variant};
use crate::text::{Style, Tone, columns, left, right};

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
        let clock = variant.clock;
        results
            .variants
            .iter()
            .find(move |other| other.name == name && other.clock != clock)
    };
    results.variants.iter().filter_map(move |variant| {
        let Some(other) = twin(variant) else {
            return Some((variant, None));
        };
        let (lab, simulated) = if variant.clock == Origin::Simulated {
            (other, variant)
        } else {
            (variant, other)
        };
        let stands_in = !lab.is_answered() && simulated.is_answered();
        match (variant.clock == Origin::Simulated, stands_in) {
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

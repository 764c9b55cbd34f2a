//! The table of an experiment: one line a variant, in the columns that the terminal has.

use std::io::{self, Write};

use slowpath_diagnose::stats::Beside;
use slowpath_record::Origin;
use slowpath_verdict::Limit;

use super::label::{figure_mark, health_cell, health_tone, short_label};
use super::unit::Units;
use crate::results::{Figure, Held, NEVER, Results, SENDER, Variant};
use crate::text::{Style, Tone, columns, left, right};
use slowpath_words::{say, told, word};

/// Writes the table alone: published, measured with its 95 % interval, ratio, limit, health.
///
/// Each figure stands in the unit in which the source prints it: in the heading where all rows have the same, else behind
/// what was measured, which is in the unit of the published figure beside it. A mark behind the ratio says that
/// the figure was fitted (`f`) or predicted (`p`) by a model; what has no mark was measured. Health has no column where
/// every run is a valid one in simulated time.
///
/// # Errors
///
/// Those of `out`.
pub fn write_table(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let units = Units::of(results);
    let (rows, folded) = fold(results, style);
    let rows: Vec<Row> = rows
        .into_iter()
        .map(|(variant, instead)| {
            let mut row = Row::of(variant, &short_label(results, variant), units);
            if let Some(lab) = instead {
                row.cells[5] = say!("table-lab", lab = health_cell(lab));
                row.tones[5] = health_tone(lab.health());
            }
            row
        })
        .collect();
    let head = Row {
        cells: [
            word!("head-variant").into(),
            say!("table-published", heading = units.heading())
                .trim_end()
                .to_owned(),
            say!(
                "table-ci",
                is_simulated = if results.is_simulated() {
                    word!("head-simulated")
                } else {
                    word!("head-measured")
                }
            ),
            word!("head-ratio").into(),
            word!("table-limited-by").into(),
            word!("head-health").into(),
        ],
        tones: [Tone::Plain; 6],
    };
    let published = results.variants.iter().any(|v| v.main_figure().is_some());
    let doubtful = !results.is_simulated() || rows.iter().any(|row| row.tones[5] != Tone::Good);
    let mut shown = vec![0, 2, 4];
    if published {
        shown = vec![0, 1, 2, 3, 4];
    }
    shown.extend(doubtful.then_some(5));
    let Some(layout) = Layout::new(&shown, &head, &rows, style.rows, units.heading()) else {
        return write_stacked(&shown, &rows, units.heading(), style, out);
    };
    layout.write(&head, style, true, out)?;
    let rule: usize = layout.widths.iter().sum::<usize>() + layout.gap * (shown.len() - 1);
    writeln!(out, "{}", "-".repeat(rule.min(style.rows)))?;
    for row in &rows {
        layout.write(row, style, false, out)?;
    }
    write_folded(&folded, style, out)
}

/// The lines of the table, and the variants without one: in a table that is longer than a screen, those without a published
/// figure, and those that send less than the path carries and got what they sent.
fn fold(results: &Results, style: Style) -> (Vec<Line<'_>>, Vec<Line<'_>>) {
    let lines: Vec<Line> = answers(results).collect();
    if style.verbose || lines.len() <= SCREEN {
        return (lines, Vec::new());
    }
    lines.into_iter().partition(|(variant, _)| {
        let Some(figure) = variant.main_figure() else {
            return false;
        };
        let own = variant
            .verdict
            .as_ref()
            .is_some_and(|verdict| verdict.limit == Limit::SenderApplication);
        !own || figure.ratio().is_some_and(|ratio| (ratio - 1.0).abs() > AS_SENT)
    })
}

/// Says which variants have no line.
fn write_folded(folded: &[Line<'_>], style: Style, out: &mut dyn Write) -> io::Result<()> {
    if folded.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = folded.iter().map(|(variant, _)| variant.name.as_str()).collect();
    let text = say!(
        "table-more-v-send-less-than",
        folded = folded.len(),
        names = names.join(", ")
    );
    style.paragraph(&text, "", "  ", Tone::Plain, out)
}

/// A line of the table: the variant, and its twin in the lab for which it stands in.
type Line<'a> = (&'a Variant, Option<&'a Variant>);

/// The lines of the table: one a variant. Where it was run in both clocks that is the lab's, unless no run in the lab
/// came to a figure: then the simulated one stands in, with the variant in the lab behind it.
fn answers(results: &Results) -> impl Iterator<Item = Line<'_>> {
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
    unit: &str,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    for row in rows {
        writeln!(out, "{}", style.bold(&row.cells[0]))?;
        let [_, published, measured, ratio, limit, health] = &row.cells;
        let mut parts = vec![match measured.as_str() {
            "-" | NEVER => measured.clone(),
            figure => format!("{figure} {unit}").trim_end().to_owned(),
        }];
        if shown.contains(&1) && published != "-" {
            parts.push(say!("table-published-2", published = published));
            parts.push(say!("table-ratio", ratio = ratio));
        }
        parts.push(limit.clone());
        parts.extend(shown.contains(&5).then(|| health.clone()));
        style.paragraph(&parts.join(", "), "  ", "    ", row.tones[5], out)?;
    }
    Ok(())
}

struct Row {
    cells: [String; 6],
    tones: [Tone; 6],
}

impl Row {
    fn of(variant: &Variant, name: &str, units: Units) -> Self {
        let figure = variant.main_figure();
        let printed = figure.as_ref().and_then(|figure| figure.label.unit());
        let measured = match &figure {
            Some(figure) if variant.reference.is_none() => shown(figure),
            _ => rate(variant, units),
        };
        let published = match (&variant.reference, &figure) {
            (Some(reference), _) => Some(units.show_rate(printed, reference.goodput_byte_per_s)),
            (None, Some(figure)) => figure.published.map(|value| {
                printed.map_or_else(|| figure.shown().0.unwrap_or_default(), |unit| unit.show(value))
            }),
            (None, None) => None,
        };
        let ratio = figure.as_ref().and_then(|figure| Some((figure.ratio()?, figure)));
        let ratio = ratio.map_or("-".to_owned(), |(r, figure)| {
            let decimals = if r >= 10.0 { 1 } else { 3 };
            let mark = figure_mark(figure);
            format!("{r:.decimals$}{}{mark}", if mark.is_empty() { "" } else { " " })
        });
        let health = health_cell(variant);
        let met = figure.as_ref().and_then(Figure::met);
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
        let limit = match (variant.held(), &variant.instead) {
            (_, Some(_)) => told(NO_TRANSFER).into_owned(),
            (Some(Held::Outage), None) => OUTAGE.to_owned(),
            (Some(Held::ShortQueue), None) => SHORT_QUEUE.to_owned(),
            (Some(Held::By(limit)), None) => limit.to_string(),
            (None, None) if is_without_packets(variant) => told(NOT_CAPTURED).into_owned(),
            (None, None) => "-".to_owned(),
        };
        Self {
            cells: [
                format!("{}{}", name, if variant.scaled.is_some() { " *" } else { "" }),
                published.unwrap_or_else(|| "-".to_owned()),
                variant
                    .instead
                    .as_deref()
                    .map_or(measured, |instead| told(instead).into_owned()),
                ratio,
                limit,
                health,
            ],
            tones,
        }
    }
}

/// Whether the variant came to a figure in runs that recorded no packets, so that nothing can say what limited them.
fn is_without_packets(variant: &Variant) -> bool {
    variant.is_answered() && variant.runs.iter().all(|run| run.captures.is_empty())
}

/// What was measured of a figure that is no goodput, with the unit of the published one beside it.
fn shown(figure: &Figure) -> String {
    let (_, measured) = figure.shown();
    let measured = measured.unwrap_or_else(|| "-".to_owned());
    if figure.unit == "fraction" {
        say!("table-lost", measured = measured)
    } else if figure.name.ends_with(SENDER) {
        say!("table-sent", measured = measured)
    } else {
        told(&measured).into_owned()
    }
}

/// A variant's goodput with its 95 % interval, or with the range of its runs where that tells nothing.
fn rate(variant: &Variant, units: Units) -> String {
    let printed = variant.headline().and_then(|figure| figure.label.unit());
    let show = |value: f64| units.show_rate(printed, value);
    let goodput = variant.goodput_byte_per_s.as_ref();
    let figure = match goodput.map(|g| (g, g.beside())) {
        Some((g, Some(Beside::Half(half)))) => format!("{} ± {}", show(g.mean), show(half)),
        Some((g, Some(Beside::Interval(low, high)))) => {
            say!(
                "table-to",
                mean = show(g.mean),
                low = show(low),
                high = show(high)
            )
        }
        Some((g, Some(Beside::Runs(low, high)))) => {
            say!(
                "table-runs",
                mean = show(g.mean),
                low = show(low),
                high = show(high)
            )
        }
        Some((g, None)) => show(g.mean),
        None if variant.without_rate() == NEVER => return told(NEVER).into_owned(),
        None => return "-".to_owned(),
    };
    told(&format!("{figure}{}", units.behind(printed))).into_owned()
}

struct Layout<'a> {
    shown: &'a [usize],
    widths: Vec<usize>,
    gap: usize,
    unit: &'a str,
}

impl<'a> Layout<'a> {
    /// Columns as wide as their longest cell; `None` where a row has no room beside its name, however short.
    ///
    /// A name is never cut, since two may begin alike: one that does not fit gets a line of its own.
    fn new(shown: &'a [usize], head: &Row, rows: &[Row], width: usize, unit: &'a str) -> Option<Self> {
        // The heading with the unit may stand over two words; only the longer one needs the room.
        let head_width = |i: usize| {
            if i == 1 {
                9.max(unit.len())
            } else if i == 2 && !shown.contains(&1) {
                // The unit stands below it.
                columns(&head.cells[i]).max(unit.len())
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
                _ if head && i == 2 && !self.shown.contains(&1) => (row.cells[i].as_str(), self.unit),
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

/// Lines of a table that leave room for the answers on a screen.
const SCREEN: usize = 24;
/// A ratio nearer to 1 than this is that of a program which got what it sent.
const AS_SENT: f64 = 0.15;
/// Columns for names in a table, at least; longer ones get a line of their own.
const SHORTEST_NAME: usize = 2;

/// Stands under "limited by" where the queue before the link is so short that its overflows leave the link idle.
const SHORT_QUEUE: &str = "short-queue";
/// The same where the path let nothing through for most of it.
const OUTAGE: &str = "outage";
/// Stands under "limited by" where no packets were recorded.
const NOT_CAPTURED: &str = "not captured";
/// Stands under "limited by" of a variant that measures round trips or hops.
const NO_TRANSFER: &str = "no transfer";

//! Where the time of a transfer went, for people: one bar and its parts.

use std::io::{self, Write};

use slowpath_verdict::ledger::{CapacityIs, Entry, Ledger};
use slowpath_verdict::{Flag, Limit};

use crate::facts::label;
use crate::quantity::{bit_rate, seconds};
use crate::text::{Style, Tone, columns, kept, left};
use slowpath_words::{english, say, told, word};

/// One part of a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What took the time.
    pub took: Took,
    /// Seconds.
    pub seconds: f64,
}

/// What took time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Took {
    /// The link: the least that the path allows.
    Link,
    /// The handshake and the slow start that no transfer can do without, where they are a part of their own.
    Start,
    /// A cause that can be taken away.
    Cause(Limit),
}

impl Took {
    /// Its code: the cause's, `link` or `start`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Start => "start",
            Self::Cause(limit) => limit.name(),
        }
    }

    /// The cause, if it is one.
    pub const fn cause(self) -> Option<Limit> {
        match self {
            Self::Cause(limit) => Some(limit),
            Self::Link | Self::Start => None,
        }
    }
}

/// The parts of a ledger, the link and the start first and then by size: what each cause costs where the capacity is told, and how
/// long it held where not. They sum to the duration.
pub fn parts(ledger: &Ledger) -> Vec<Part> {
    let mut out = Vec::new();
    if let Some(floor) = ledger.floor_s {
        let start = ledger.start();
        out.push(Part {
            took: Took::Link,
            seconds: floor - start.unwrap_or(0.0),
        });
        out.extend(start.map(|seconds| Part {
            took: Took::Start,
            seconds,
        }));
    }
    out.extend(causes(ledger));
    out
}

/// The parts of a ledger that are causes, by size.
pub(crate) fn causes(ledger: &Ledger) -> Vec<Part> {
    let told = ledger.floor_s.is_some();
    let mut out: Vec<Part> = Vec::new();
    for entry in &ledger.entries {
        let seconds = if told {
            entry.lost_s.unwrap_or(0.0)
        } else {
            entry.time_s
        };
        let took = Took::Cause(entry.cause);
        match out.iter_mut().find(|part| part.took == took) {
            Some(part) => part.seconds += seconds,
            None => out.push(Part { took, seconds }),
        }
    }
    out.retain(|part| part.seconds > 0.0);
    out.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    out
}

/// Which part, the link itself included, grew most from one transfer to another, or shrank most (`shrank`), in a sentence; `None` if none did by a
/// tenth of the duration of the one that has more of it. `bytes` were delivered; the one with less is taken as if it had
/// delivered as many as the other.
pub fn grown(mut ledgers: [&Ledger; 2], mut bytes: [u64; 2], shrank: bool) -> Option<String> {
    if shrank {
        ledgers.reverse();
        bytes.reverse();
    }
    let [good, bad] = ledgers;
    if bytes[0] == 0 || good.entries.is_empty() || bad.entries.is_empty() {
        return None;
    }
    let scale = bytes[1] as f64 / bytes[0] as f64;
    let told = good.floor_s.is_some() && bad.floor_s.is_some();
    let of = |ledger: &Ledger, took: Took| {
        let start = ledger.start().unwrap_or(0.0);
        match took {
            Took::Link => ledger.floor_s.unwrap_or(0.0) - start,
            Took::Start => start,
            Took::Cause(cause) if told => ledger.lost_to(cause).unwrap_or(0.0),
            Took::Cause(cause) => ledger.time_of(cause),
        }
    };
    let causes = bad.entries.iter().map(|entry| Took::Cause(entry.cause));
    let least = [Took::Link, Took::Start].into_iter().filter(|_| told);
    let (growth, took) = causes
        .chain(least)
        .map(|took| (of(bad, took) - scale * of(good, took), took))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (growth >= GROWN * bad.duration_s).then(|| {
        let mut of_each = [of(bad, took), scale * of(good, took)];
        if shrank {
            of_each.reverse();
        }
        let [now, before] = of_each.map(seconds);
        match took {
            Took::Link => english!("ledger-link-instead", takes = now, instead = before),
            Took::Start => english!("ledger-start-instead", takes = now, instead = before),
            Took::Cause(cause) if told => {
                english!(
                    "ledger-costs-instead",
                    cause = cause.name(),
                    costs = now,
                    instead = before
                )
            }
            Took::Cause(cause) => {
                english!(
                    "ledger-holds-instead",
                    cause = cause.name(),
                    holds = now,
                    instead = before
                )
            }
        }
    })
}

/// Writes a ledger as a bar of the style's width and a line for each entry that matters.
///
/// # Errors
///
/// Those of `out`.
pub fn write(ledger: &Ledger, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if ledger.entries.is_empty() || ledger.duration_s <= 0.0 {
        return Ok(());
    }
    let width = style.width.saturating_sub(INDENT.len() + 2).clamp(20, 100);
    let marks = marked(ledger, MARKS.len());
    let bar = bar(ledger, &marks, width);
    writeln!(out, "{}[{bar}]", word!("ledger-time-went"))?;
    let capacity = ledger.capacity_bit_per_s.map(|rate| {
        let how = match ledger.capacity_is {
            CapacityIs::Known => word!("ledger-as-told"),
            CapacityIs::Measured => word!("ledger-as-measured"),
            CapacityIs::AtLeast => word!("ledger-more"),
        };
        say!("ledger-payload", rate = bit_rate(rate), how = how)
    });
    if let (Some(floor), Some(capacity)) = (ledger.floor_s, &capacity) {
        let floor = left(&seconds(floor), 7);
        let line = if ledger.start().is_some() {
            say!("ledger-link-and-start", floor = floor, capacity = capacity)
        } else {
            say!("ledger-link-itself", floor = floor, capacity = capacity)
        };
        style.paragraph(&line, INDENT, "                       ", Tone::Plain, out)?;
    }
    for (mark, entries) in &marks {
        let (time, lost) = sums(entries);
        let line = match lost {
            Some(lost) => say!(
                "ledger-held",
                mark = mark,
                lost = left(&seconds(lost), 7),
                cause = cause(entries),
                time = seconds(time),
                states = states(entries)
            ),
            None => format!(
                "{mark} {} {}: {}",
                left(&told(&seconds(time)), 7),
                cause(entries),
                states(entries)
            ),
        };
        style.paragraph(&line, INDENT, "                       ", Tone::Plain, out)?;
    }
    if let Some(line) = others(ledger, &marks, &bar) {
        // Its mark is a full stop, and the line is told already.
        for line in kept(&line, style.width, INDENT, "                       ") {
            writeln!(out, "{line}")?;
        }
    }
    for without in ledger.without.iter().take(LINES) {
        let line = say!(
            "ledger-without",
            cause = without.cause.name(),
            duration = seconds(without.duration_s),
            low = seconds(without.low90_s),
            high = seconds(without.high90_s)
        );
        style.paragraph(&line, INDENT, "                       ", Tone::Plain, out)?;
    }
    Ok(())
}

/// A ledger in few lines of the style's width, for an answer that has room for no more: the bar, and what everything drawn in
/// it is, with its seconds. Causes that find no room in `room` lines, three at most, are told together. Nothing where one cause
/// has all of the time.
pub fn brief(ledger: &Ledger, style: Style, room: usize) -> Vec<String> {
    let counted = |part: &Part| part.seconds >= LEAST * ledger.duration_s;
    if ledger.duration_s <= 0.0 || parts(ledger).iter().filter(|part| counted(part)).count() < 2 {
        return Vec::new();
    }
    let width = style.width.saturating_sub(INDENT.len() + 2).clamp(20, 60);
    let drawn = |most: usize| {
        let marks = marked(ledger, most);
        let bar = bar(ledger, &marks, width);
        let lines = legend(ledger, &marks, &bar, style.width);
        (bar, lines, marks.len())
    };
    let mut most = MARKS.len();
    let (bar, lines) = loop {
        let (bar, lines, marks) = drawn(most);
        if lines.len() < room.min(BRIEF) || marks <= 1 {
            break (bar, lines);
        }
        most = marks - 1;
    };
    let bar = format!("{}[{bar}]", word!("ledger-time-went"));
    std::iter::once(bar).chain(lines).collect()
}

/// What everything drawn in a bar is, in lines of `width`.
fn legend(ledger: &Ledger, marks: &[(char, Vec<&Entry>)], bar: &str, width: usize) -> Vec<String> {
    let link = ledger.floor_s.map(|floor| {
        if ledger.start().is_some() {
            say!("ledger-link-and-start-2", floor = seconds(floor))
        } else {
            say!("ledger-link-itself-2", floor = seconds(floor))
        }
    });
    let causes = marks.iter().map(|(mark, entries)| {
        let (time, lost) = sums(entries);
        let outage: f64 = (entries.iter().filter(|entry| entry.is_outage()))
            .map(|entry| entry.lost_s.unwrap_or(entry.time_s))
            .sum();
        let cause = match entries.first() {
            Some(entry) if outage > lost.unwrap_or(time) / 2.0 => with_outage(entry.cause),
            Some(entry) => entry.cause.to_string(),
            None => String::new(),
        };
        format!("{mark} {} {cause}", told(&seconds(lost.unwrap_or(time))))
    });
    let mut lines: Vec<String> = Vec::new();
    for name in link.into_iter().chain(causes).chain(others(ledger, marks, bar)) {
        match lines.last_mut() {
            Some(line) if columns(line) + 2 + columns(&name) <= width => {
                line.push_str("  ");
                line.push_str(&name);
            }
            _ => lines.push(format!("{INDENT}{name}")),
        }
    }
    lines
}

/// What the causes without a letter come to together; `None` where the bar shows none.
fn others(ledger: &Ledger, marks: &[(char, Vec<&Entry>)], bar: &str) -> Option<String> {
    let has_letter = |part: &Part| {
        let of = |entry: &&Entry| Some(entry.cause) == part.took.cause();
        marks.iter().any(|(_, entries)| entries.first().is_some_and(of))
    };
    bar.contains(OTHERS).then(|| {
        let without: Vec<Part> = causes(ledger)
            .into_iter()
            .filter(|part| !has_letter(part))
            .collect();
        let sum = without.iter().map(|part| part.seconds).sum::<f64>();
        say!("ledger-others", mark = OTHERS, sum = seconds(sum))
    })
}

/// The entries of each cause, the costliest cause first, with the letter that stands for it in the bar; `most` have one.
fn marked(ledger: &Ledger, most: usize) -> Vec<(char, Vec<&Entry>)> {
    let counted = |part: &Part| part.seconds >= LEAST * ledger.duration_s;
    let causes = causes(ledger).into_iter().filter(counted);
    let causes = causes.filter_map(|part| part.took.cause());
    let entries = |cause| ledger.entries.iter().filter(move |entry| entry.cause == cause);
    MARKS
        .into_iter()
        .take(most)
        .zip(causes)
        .map(|(mark, cause)| (mark, entries(cause).collect()))
        .collect()
}

fn sums(entries: &[&Entry]) -> (f64, Option<f64>) {
    let time = entries.iter().map(|entry| entry.time_s).sum();
    let lost = entries.iter().map(|entry| entry.lost_s).sum::<Option<f64>>();
    (time, lost)
}

/// How long a cause held in each state: `growth 1.2 s, repair 0.4 s; 3 events, the costliest at 7.8 s`.
fn states(entries: &[&Entry]) -> String {
    let states: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {}", label(entry.state.name()), told(&seconds(entry.time_s))))
        .collect();
    let events = entries.iter().map(|entry| entry.events).max().unwrap_or(0);
    let when = entries.iter().find_map(|entry| entry.event_at_s);
    let events = match (events, when) {
        (1, Some(at)) => say!("ledger-at", at = seconds(at)),
        (2.., Some(at)) => say!("ledger-events-costliest", events = events, at = seconds(at)),
        _ => String::new(),
    };
    format!("{}{events}", states.join(word!("config-comma")))
}

/// A limit whose time is an outage's: `random-loss (outage)`.
pub(crate) fn with_outage(limit: Limit) -> String {
    format!("{limit} ({})", label(&crate::verdict::flag_name(Flag::Outage)))
}

/// A cause with what is remarkable about it: `bottleneck-bandwidth (short-queue)`.
fn cause(entries: &[&Entry]) -> String {
    let cause = entries.first().map_or("", |entry| entry.cause.name());
    let mut flags: Vec<String> = Vec::new();
    for flag in entries.iter().flat_map(|entry| &entry.flags) {
        let name = label(&crate::verdict::flag_name(*flag));
        if !flags.contains(&name) {
            flags.push(name);
        }
    }
    let flags = if flags.is_empty() {
        String::new()
    } else {
        format!(" ({})", flags.join(word!("config-comma")))
    };
    format!("{cause}{flags}")
}

/// One character for each hundredth or so of the duration.
fn bar(ledger: &Ledger, marks: &[(char, Vec<&Entry>)], width: usize) -> String {
    let mark_of = |took: Took| match took {
        Took::Link | Took::Start => '=',
        Took::Cause(cause) => marks
            .iter()
            .find(|(_, entries)| entries.first().is_some_and(|entry| entry.cause == cause))
            .map_or(OTHERS, |(mark, _)| *mark),
    };
    let mut out = String::new();
    let (mut sum, mut drawn) = (0.0, 0);
    for part in parts(ledger) {
        sum += part.seconds;
        let until = cells(sum / ledger.duration_s, width);
        out.extend(std::iter::repeat_n(
            mark_of(part.took),
            until.saturating_sub(drawn),
        ));
        drawn = drawn.max(until);
    }
    out
}

/// A share of a bar in whole characters.
#[allow(clippy::cast_sign_loss)] // a share of a bar is positive
fn cells(share: f64, width: usize) -> usize {
    ((share * width as f64).round().max(0.0) as usize).min(width)
}

/// Share of the bad transfer's duration from which growth is told.
const GROWN: f64 = 0.1;
const INDENT: &str = "             ";
/// Most lines of what would be without a cause.
const LINES: usize = 6;
/// Most lines of a brief ledger, where its first cause fits into them.
const BRIEF: usize = 3;
/// Share of the duration from which a cause has a letter.
const LEAST: f64 = 0.01;
/// Letters of the causes, the costliest first.
const MARKS: [char; 6] = ['a', 'b', 'c', 'd', 'e', 'f'];
/// What stands for all causes without a letter.
const OTHERS: char = '.';

/// A ledger for tests: random loss costs `lost_s` of the duration, and the link takes the rest.
#[cfg(test)]
pub(crate) fn lossy(duration_s: f64, lost_s: f64) -> Ledger {
    use slowpath_verdict::ledger::State;
    Ledger {
        duration_s,
        floor_s: Some(duration_s - lost_s),
        entries: vec![Entry {
            cause: Limit::RandomLoss,
            flags: Vec::new(),
            state: State::Growth,
            event_at_s: None,
            events: 1,
            segments: 1,
            time_s: duration_s,
            lost_s: Some(lost_s),
        }],
        ..Ledger::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_verdict::ledger::State;

    fn entry(cause: Limit, state: State, time_s: f64, lost_s: f64) -> Entry {
        Entry {
            cause,
            flags: Vec::new(),
            state,
            event_at_s: None,
            events: 0,
            segments: 0,
            time_s,
            lost_s: Some(lost_s),
        }
    }

    fn ledger(lost_s: f64) -> Ledger {
        Ledger {
            duration_s: 8.0 + lost_s,
            capacity_bit_per_s: Some(1e7),
            capacity_is: CapacityIs::Measured,
            floor_s: Some(8.0),
            entries: vec![
                entry(Limit::BottleneckBandwidth, State::Link, 8.0, 0.0),
                entry(Limit::RandomLoss, State::Growth, lost_s, lost_s),
            ],
            ..Ledger::default()
        }
    }

    #[test]
    fn says_which_part_grew() {
        let words = grown([&ledger(0.5), &ledger(4.0)], [10, 10], false).unwrap();
        assert_eq!(
            words,
            "ledger: random-loss costs 4 s instead of 500 ms for as many bytes"
        );
        assert_eq!(grown([&ledger(4.0), &ledger(4.0)], [10, 10], false), None);
        assert_eq!(
            grown([&ledger(4.0), &ledger(0.0)], [10, 10], true).unwrap(),
            "ledger: random-loss costs 0 s instead of 4 s for as many bytes"
        );
        // The link itself may be what grew.
        let mut half = ledger(0.0);
        (half.floor_s, half.duration_s) = (Some(16.0), 16.0);
        assert_eq!(
            grown([&ledger(0.0), &half], [10, 10], false).unwrap(),
            "ledger: the link itself takes 16 s instead of 8 s for as many bytes"
        );
        // Twice the bytes may cost twice as much.
        assert_eq!(grown([&ledger(2.0), &ledger(4.0)], [10, 20], false), None);
    }

    #[test]
    fn a_brief_ledger_fits_and_is_none_where_there_is_one_cause() {
        for width in [40, 80, 100] {
            let style = Style {
                width,
                ..Style::default()
            };
            let lines = brief(&ledger(4.0), style, 9);
            assert_eq!(lines.len(), if width < 80 { 3 } else { 2 }, "{lines:?}");
            assert!(lines.iter().all(|line| columns(line) <= width), "{lines:?}");
            assert!(lines[1].contains("= 8 s the link itself"), "{lines:?}");
            assert!(lines.last().unwrap().contains("a 4 s random-loss"), "{lines:?}");
        }
        assert!(brief(&ledger(0.0), Style::default(), 9).is_empty());
        assert!(brief(&Ledger::default(), Style::default(), 9).is_empty());
    }

    #[test]
    fn everything_drawn_in_a_bar_is_explained() {
        let causes: Vec<Limit> = Limit::ALL
            .into_iter()
            .filter(|limit| !limit.is_undecided())
            .collect();
        for count in 1..causes.len() {
            let mut ledger = ledger(0.0);
            ledger.entries.truncate(1);
            for (place, cause) in causes.iter().take(count).enumerate() {
                let lost_s = 2.0 + place as f64 / 10.0;
                ledger.entries.push(entry(*cause, State::Growth, lost_s, lost_s));
                ledger.duration_s += lost_s;
            }
            for width in [40, 60, 80, 100] {
                let style = Style {
                    width,
                    ..Style::default()
                };
                let mut out = Vec::new();
                write(&ledger, style, &mut out).unwrap();
                let whole = String::from_utf8(out).unwrap();
                let whole: Vec<String> = whole.lines().map(str::to_owned).collect();
                for lines in [brief(&ledger, style, 2), brief(&ledger, style, 3), whole] {
                    let (bar, legend) = lines.split_first().unwrap();
                    let bar = &bar[bar.find('[').unwrap() + 1..bar.len() - 1];
                    let legend: String = legend.join("\n").replace(INDENT, "  ");
                    for mark in bar.chars() {
                        assert!(
                            legend.contains(&format!("  {mark} ")),
                            "{mark} of {bar}:\n{legend}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_bar_has_a_letter_for_each_part_and_its_width() {
        let ledger = ledger(2.0);
        let bar = bar(&ledger, &marked(&ledger, MARKS.len()), 20);
        assert_eq!(bar, "================aaaa");
    }
}

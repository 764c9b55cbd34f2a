//! Plain text for terminals: wrapping and columns.

use std::io::{self, Write};

use slowpath_words::told;
use unicode_linebreak::linebreaks;
use unicode_width::UnicodeWidthChar;

/// How text for a terminal is to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns available for sentences; lines are never longer, except for single words that are.
    pub width: usize,
    /// Columns available for the rows of a table: the terminal's, or any number where nothing wraps them.
    pub rows: usize,
    /// Whether escape sequences for bold and colour are welcome.
    pub color: bool,
    /// Whether reasons, evidence and rejected alternatives are welcome beside the answer.
    pub verbose: bool,
    /// Whether only answers are welcome, without notes.
    pub quiet: bool,
    /// Warnings that are not wanted.
    pub hidden: Hidden,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 80,
            rows: 80,
            color: false,
            verbose: false,
            quiet: false,
            hidden: Hidden::default(),
        }
    }
}

impl Style {
    /// The text in bold where that is welcome.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The text in a colour that says "good", "care" or "bad".
    pub fn tone(self, tone: Tone, text: &str) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Good => self.paint("32", text),
            Tone::Care => self.paint("33", text),
            Tone::Bad => self.paint("31", text),
        }
    }

    /// Writes a wrapped paragraph; the first line starts with `first`, the others with `rest`.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn paragraph(
        self,
        text: &str,
        first: &str,
        rest: &str,
        tone: Tone,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for line in wrap(text, self.width, first, rest) {
            writeln!(out, "{}", self.tone(tone, &line))?;
        }
        Ok(())
    }

    /// Writes a warning as a paragraph that begins with `mark` and its name, unless it is not wanted.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn warn(
        self,
        warning: Warning,
        text: &str,
        mark: &str,
        tone: Tone,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.hidden.holds(warning) {
            return Ok(());
        }
        let rest = " ".repeat(mark.len());
        let text = format!("{}: {}", warning.name(), told(text));
        self.paragraph(&text, mark, &rest, tone, out)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// What should be read before an answer is trusted, by kind: each has a name that stands before it and switches it off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// The machine disturbed runs.
    Health,
    /// What is wrong with a capture.
    Capture,
    /// Lab and simulated time do not agree on a limit.
    Clocks,
    /// What is compared belongs to different experiments.
    Unlike,
    /// What is doubtful in an experiment file.
    Experiment,
    /// Simulated time answers where the lab was to.
    NoLab,
}

impl Warning {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Health,
        Self::Capture,
        Self::Clocks,
        Self::Unlike,
        Self::Experiment,
        Self::NoLab,
    ];

    /// The name that stands before the warning.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Health => "health",
            Self::Capture => "capture",
            Self::Clocks => "clocks",
            Self::Unlike => "unlike",
            Self::Experiment => "experiment",
            Self::NoLab => "no-lab",
        }
    }

    /// What it is about, for whoever chooses.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Health => "the machine disturbed runs",
            Self::Capture => "what is wrong with a capture",
            Self::Clocks => "lab and simulated time do not agree on a limit",
            Self::Unlike => "what is compared belongs to different experiments",
            Self::Experiment => "what is doubtful in an experiment file",
            Self::NoLab => "simulated time answers where the lab was to",
        }
    }
}

/// Warnings that are not wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hidden(u8);

impl Hidden {
    /// All are wanted.
    pub const NONE: Self = Self(0);

    /// These and no others.
    pub fn of(warnings: impl IntoIterator<Item = Warning>) -> Self {
        Self(warnings.into_iter().fold(0, |all, one| all | 1 << one as u8))
    }

    /// Whether `warning` is one of them.
    pub const fn holds(self, warning: Warning) -> bool {
        self.0 & 1 << warning as u8 != 0
    }
}

/// What a colour is to say; the text says the same in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Plain,
    /// As hoped.
    Good,
    /// Read with care.
    Care,
    /// Wrong.
    Bad,
}

/// Breaks text into lines of at most `width` columns; the first line starts with `first`, the others with `rest`.
///
/// The text is told in the language that is spoken. English breaks at spaces; a text with wide characters also between those,
/// as UAX #14 has it, but neither inside a word, behind a hyphen nor between a number and its unit.
pub fn wrap(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    kept(&told(text), width, &told(first), rest)
}

/// As [`wrap`], for what is never translated: a line of a configuration, a name.
pub fn kept(text: &str, width: usize, first: &str, rest: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut empty = true;
    let pieces = pieces(text);
    for (number, &(piece, spaced)) in pieces.iter().enumerate() {
        let gap = usize::from(spaced && !empty);
        let unit = pieces
            .get(number + 1)
            .filter(|(next, _)| is_number(piece) && is_unit(next));
        let with_unit = columns(piece) + unit.map_or(0, |(unit, _)| 1 + columns(unit));
        let fits = |wide: usize| columns(&line) + gap + wide <= width;
        // A unit that no line has room for beside its number stands on its own.
        let room = columns(rest) + with_unit <= width;
        if !empty && !fits(if room { with_unit } else { columns(piece) }) {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            empty = true;
        }
        if !empty && spaced {
            line.push(' ');
        }
        line.push_str(piece);
        empty = false;
    }
    if !empty || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// Whether a word is a number that a unit may follow: `12.5`, `(3`, `1,448`.
fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '+', '-', '−', '±', '<', '~']);
    word.ends_with(|c: char| c.is_ascii_digit()) && word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a word is a unit, with the punctuation behind it.
fn is_unit(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', ')', '。', '、']);
    let (scaled, rate) = word
        .strip_suffix("/s")
        .map_or((word, false), |scaled| (scaled, true));
    let of = |units: &[&str], prefixes: &[&str]| {
        let own = |unit: &&str| {
            scaled
                .strip_suffix(*unit)
                .is_some_and(|left| prefixes.contains(&left))
        };
        units.iter().any(own)
    };
    matches!(word, "%" | "h" | "min" | "ppm")
        || of(&["B", "bit"], &["", "k", "M", "G", "T", "Ki", "Mi", "Gi"])
        || (!rate && of(&["s"], &["", "m", "µ", "u", "n"]))
}

/// What a text may be broken into: each piece, and whether a space stands before it.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        let mut spaced = true;
        let mut begin = 0;
        let ends: Vec<usize> = if word.is_ascii() {
            Vec::new()
        } else {
            linebreaks(word).map(|(at, _)| at).collect()
        };
        for (at, c) in word.char_indices().skip(1) {
            let before = word[..at].chars().next_back().unwrap_or(' ');
            let unit = before.is_ascii_digit() && columns_of(c) == 2;
            let east_asian = columns_of(before) == 2 || columns_of(c) == 2;
            if east_asian && !unit && ends.contains(&at) {
                out.push((&word[begin..at], spaced));
                (begin, spaced) = (at, false);
            }
        }
        out.push((&word[begin..], spaced));
    }
    out
}

/// Breaks a cell of a table into lines of at most `width` columns, at spaces where there are some near, and inside words
/// where not: nothing is lost, so that two that begin alike stay different.
pub fn fold(text: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut out = Vec::new();
    for line in wrap(text, width, "", "") {
        let mut piece = String::new();
        for c in line.chars() {
            let step = columns_of(c);
            if columns(&piece) + step > width {
                out.push(std::mem::take(&mut piece));
            }
            piece.push(c);
        }
        out.push(piece);
    }
    out
}

/// Columns that a text takes: one per character, two for the wide East Asian ones.
pub fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text cut to `width` columns, the cut marked.
pub fn fit(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let step = columns_of(c);
        if used + step + 1 > width {
            break;
        }
        out.push(c);
        used += step;
    }
    out.push('…');
    out
}

/// The text padded on the right to `width` columns.
pub fn left(text: &str, width: usize) -> String {
    let pad = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(pad))
}

/// The text padded on the left to `width` columns.
pub fn right(text: &str, width: usize) -> String {
    let pad = width.saturating_sub(columns(text));
    format!("{}{text}", " ".repeat(pad))
}

/// Columns that a character takes (UAX #11); one that is not printed counts as one.
fn columns_of(c: char) -> usize {
    c.width().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit() {
        let lines = wrap("lost are 12.5 % of 3 MB, at (40 ms)", 13, "", "");
        assert_eq!(lines, ["lost are", "12.5 % of", "3 MB, at", "(40 ms)"]);
        // Of what has no room together the number comes first all the same.
        assert_eq!(wrap("1,234,567 Mbit/s", 9, "", ""), ["1,234,567", "Mbit/s"]);
    }

    #[test]
    fn wrapping_keeps_the_width_and_the_indent() {
        let lines = wrap("one two three four", 9, "a: ", "   ");
        assert_eq!(lines, ["a: one", "   two", "   three", "   four"]);
        assert_eq!(wrap("", 9, "a:", ""), ["a:"]);
        assert_eq!(wrap("averyverylongword b", 5, "", ""), ["averyverylongword", "b"]);
    }

    #[test]
    fn japanese_breaks_between_characters_and_not_before_marks() {
        let text = "受信ウィンドウ42.0kBが96.1%の時間で満杯です。RTT 80.6msでは`receiver-window`(4.17Mbit/s)が上限です。";
        for width in 34..60 {
            let lines = wrap(text, width, "", "");
            for line in &lines {
                assert!(columns(line) <= width, "{width}: {line}");
                assert!(!line.starts_with(['。', '、', ')', 'ー', 'ィ', 'ッ']), "{line}");
                assert!(!line.ends_with('('), "{line}");
            }
            let whole = |text: &str| text.replace(' ', "");
            assert_eq!(whole(&lines.concat()), whole(text));
            for kept in ["42.0kB", "96.1%", "receiver-window", "4.17Mbit/s"] {
                assert!(lines.iter().any(|line| line.contains(kept)), "{kept}: {lines:?}");
            }
        }
        let counted: Vec<String> = wrap("12往復で3秒", 5, "", "");
        assert_eq!(counted, ["12往", "復で", "3秒"]);
    }

    #[test]
    fn a_cell_is_folded_and_loses_nothing() {
        assert_eq!(fold("bottleneck-bandwidth", 8), ["bottlene", "ck-bandw", "idth"]);
        assert_eq!(fold("one two", 4), ["one", "two"]);
        assert_eq!(fold("転送転送", 5), ["転送", "転送"]);
        assert_eq!(fold("", 5), [""]);
        for width in 0..30 {
            let name = "capture-of-the-first-transfer.pcapng";
            assert_eq!(fold(name, width).concat(), name);
        }
    }

    #[test]
    fn a_hidden_warning_is_not_written_and_the_others_bear_their_names() {
        let style = Style {
            hidden: Hidden::of([Warning::Capture]),
            ..Style::default()
        };
        for warning in Warning::ALL {
            let mut out = Vec::new();
            style
                .warn(warning, "read this", "! ", Tone::Care, &mut out)
                .unwrap();
            let expected = if warning == Warning::Capture {
                String::new()
            } else {
                format!("! {}: read this\n", warning.name())
            };
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let names: std::collections::BTreeSet<&str> = Warning::ALL.into_iter().map(Warning::name).collect();
        assert_eq!(names.len(), Warning::ALL.len());
    }

    #[test]
    fn wide_characters_take_two_columns() {
        assert_eq!(columns("転送 ok"), 7);
        assert_eq!(fit("転送転送", 5), "転送…");
        assert_eq!(right("é", 3), "  é");
    }
}

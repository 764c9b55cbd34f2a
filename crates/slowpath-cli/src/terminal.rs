//! What several commands print.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use slowpath::load::Loaded;
use slowpath::report::Form;
use slowpath::{Hidden, Results, RunRecord, Style, Warning};

use crate::exit::Failure;
use crate::form::ResultsFormat;
use slowpath_words::{say, told};

/// Takes over how much the user wants to read.
pub(crate) fn set(verbose: bool, quiet: bool, hide: &[Warning]) {
    VERBOSE.store(verbose, Ordering::Relaxed);
    QUIET.store(quiet, Ordering::Relaxed);
    // Arguments are read once.
    let _ = HIDDEN.set(Hidden::of(hide.iter().copied()));
}

/// Warnings that are not wanted.
fn hidden() -> Hidden {
    HIDDEN.get().copied().unwrap_or_default()
}

/// Whether nothing but answers and errors is wanted.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Whether reasons are wanted beside answers.
pub(crate) fn is_verbose() -> bool {
    VERBOSE.load(Ordering::Relaxed)
}

/// Writes an answer to standard output.
///
/// A reader that has seen enough (`| head -1`) ends the command quietly, with [`Failure::is_quiet`].
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    write(&mut out)
        .and_then(|()| out.flush())
        .map_err(|error| Failure::printing(&error))
}

/// Says something beside the answer, on standard error. That it cannot be said there is no reason to stop.
pub(crate) fn note(line: &str) {
    let line = without_numbers(line.trim_end());
    let line = slowpath::words::told(&line);
    let mut err = io::stderr().lock();
    let _ = if err.is_terminal() {
        let width = errors_width();
        line.lines()
            .try_for_each(|line| folded(line, width).try_for_each(|part| writeln!(err, "{part}")))
    } else {
        writeln!(err, "{line}")
    };
}

/// A line in parts of at most `width` columns; one that is indented is a drawing, which stays as it is.
fn folded(line: &str, width: usize) -> impl Iterator<Item = String> {
    let drawn = line.starts_with(' ') || slowpath::columns(line) <= width;
    let parts = if drawn {
        vec![line.to_owned()]
    } else {
        slowpath::wrap(line, width, "", "  ")
    };
    parts.into_iter()
}

/// Without the numbers that the system has for its errors, and the words of the library that asks it: the sentence says it.
fn without_numbers(text: &str) -> String {
    let text = text.replace("failed to lookup address information: ", "");
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => plain.push_str(rest),
            _ => {
                plain.push_str(" (os error ");
                plain.push_str(part);
            }
        }
    }
    plain
}

/// As [`note`], for what a user who wants it quiet does not want.
pub(crate) fn remark(line: &str) {
    if !is_quiet() {
        note(line);
    }
}

/// Says what should be read before an answer is trusted, on standard error, unless it is not wanted.
pub(crate) fn warn(warning: Warning, text: &str) {
    if !hidden().holds(warning) {
        remark(&format!("slowpath: {}: {}", warning.name(), told(text)));
    }
}

/// Prints what should be read before the results of an experiment are trusted.
pub(crate) fn warnings(loaded: &Loaded) {
    let warnings = &loaded.experiment.warnings;
    if !warnings.list.is_empty() && !hidden().holds(Warning::Experiment) {
        remark(warnings.to_string().trim_end());
    }
}

/// One finished run in one line.
pub(crate) fn run_line(name: &str, record: &RunRecord) -> String {
    let bytes: u64 = record.transfers.iter().map(|transfer| transfer.bytes).sum();
    // Transfers may run side by side.
    let begin = record.transfers.iter().map(|transfer| transfer.start).min();
    let end = record.transfers.iter().map(|transfer| transfer.end).max();
    let seconds = begin
        .zip(end)
        .map_or(0.0, |(begin, end)| end.since(begin).seconds());
    let state = match record.health.state {
        slowpath::HealthState::Valid => String::new(),
        state => format!(
            "  {state:?}: {}",
            record
                .health
                .reasons
                .iter()
                .map(|reason| reason.code.name())
                .collect::<Vec<_>>()
                .join(", ")
        )
        .to_lowercase(),
    };
    let failed = record
        .transfers
        .iter()
        .find_map(|transfer| transfer.error.as_deref())
        .unwrap_or("");
    if record.transfers.is_empty() && !record.flows.is_empty() {
        let sent: u64 = record.flows.iter().map(|flow| flow.sent_packets).sum();
        let received: u64 = record.flows.iter().map(|flow| flow.received_packets).sum();
        let counted = say!("run-line-packets", received = received, sent = sent);
        return format!("{}  {name}{state}", slowpath::right(&counted, 30));
    }
    // Figures first: names are of any length, and the figures stand below each other.
    let failed = if failed.is_empty() {
        String::new()
    } else {
        format!(" {failed}")
    };
    say!(
        "run-line",
        bytes = format_args!("{bytes:>12}"),
        seconds = format_args!("{seconds:>8.2}"),
        name = name,
        state = state,
        failed = failed
    )
}

/// The results of an experiment in the form that was asked for.
pub(crate) fn results(results: &Results, folder: &Path, format: ResultsFormat) -> Result<(), Failure> {
    let form = match format {
        ResultsFormat::Text => return summary(results, folder),
        ResultsFormat::Json => Form::Json,
        ResultsFormat::Jsonl => Form::JsonLines,
        ResultsFormat::Csv => Form::Csv,
        ResultsFormat::Html => Form::Html,
    };
    print(|out| slowpath::report::write_as(results, folder, form, out))
}

/// The table of an experiment and where its report lies.
fn summary(results: &Results, folder: &Path) -> Result<(), Failure> {
    print(|out| slowpath::report::print(results, folder, style(), out))
}

/// What was found out about each variant, and what the tests of changes said.
pub(crate) fn diagnosis(results: &Results, folder: &Path) -> Result<(), Failure> {
    print(|out| slowpath::report::print_diagnosis(results, folder, style(), out))
}

/// What simulated time says, while the lab takes its time.
pub(crate) fn first_answer(results: &Results) -> Result<(), Failure> {
    print(|out| slowpath::report::print_first(results, style(), out))
}

/// The table of a sweep and where its files lie.
pub(crate) fn swept(swept: &slowpath::sweep::Swept, folder: &Path) -> Result<(), Failure> {
    print(|out| {
        slowpath::sweep::write_text(swept, style(), out)?;
        writeln!(out, "\n{}", say!("sweep-tables", folder = folder.display()))
    })
}

/// Colours on a terminal that wants them; lines as wide as the terminal, rows of a table as wide as they are elsewhere.
pub(crate) fn style() -> Style {
    let (width, rows) = if io::stdout().is_terminal() {
        let columns = columns();
        (columns.min(WIDEST_SENTENCE), columns)
    } else {
        (Style::default().width, usize::MAX)
    };
    Style {
        width,
        rows,
        color: io::stdout().is_terminal() && !no_color(),
        verbose: is_verbose(),
        quiet: is_quiet(),
        hidden: hidden(),
    }
}

/// Columns of the terminal.
pub(crate) fn columns() -> usize {
    terminal_size::terminal_size().map_or(Style::default().width, |(width, _)| {
        usize::from(width.0).max(NARROWEST)
    })
}

/// Columns for sentences on standard error, where that is a terminal.
fn errors_width() -> usize {
    terminal_size::terminal_size_of(io::stderr())
        .map_or(Style::default().width, |(width, _)| {
            usize::from(width.0).max(NARROWEST)
        })
        .min(WIDEST_SENTENCE)
}

/// Whether colours are unwelcome (no-color.org: a value that is not empty).
fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
        || std::env::var_os("TERM").is_some_and(|value| value == "dumb")
}

static VERBOSE: AtomicBool = AtomicBool::new(false);
static QUIET: AtomicBool = AtomicBool::new(false);
static HIDDEN: OnceLock<Hidden> = OnceLock::new();

/// Longer lines are hard to read, however wide the terminal.
const WIDEST_SENTENCE: usize = 100;

/// A terminal that says it is narrower is not believed.
const NARROWEST: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_numbers_are_left_out() {
        for (said, plain) in [
            (
                "connecting: refused (os error 111); start it",
                "connecting: refused; start it",
            ),
            ("(a: b (os error 2)) and c (os error 13)", "(a: b) and c"),
            (
                "nothing of the kind (os error or so)",
                "nothing of the kind (os error or so)",
            ),
        ] {
            assert_eq!(without_numbers(said), plain);
        }
    }

    #[test]
    fn sentences_are_folded_and_drawings_are_not() {
        let folded = |line| folded(line, 20).collect::<Vec<_>>();
        assert_eq!(
            folded("one two three four five six"),
            ["one two three four", "  five six"]
        );
        assert_eq!(
            folded("   ^^^^^^^^^^^^^^^^^^^^^^^^^^^"),
            ["   ^^^^^^^^^^^^^^^^^^^^^^^^^^^"]
        );
    }
}

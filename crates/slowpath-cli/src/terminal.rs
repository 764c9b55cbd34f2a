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
    let _ = writeln!(io::stderr(), "{line}");
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
        remark(&format!("slowpath: {}: {text}", warning.name()));
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
        return format!("{name:<28} {received:>10} of {sent} packets{state}");
    }
    format!("{name:<28} {bytes:>10} bytes in {seconds:>8.2} s{state} {failed}")
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
        writeln!(out, "\nTables: {0}/sweep.csv, {0}/sweep.json", folder.display())
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
fn columns() -> usize {
    terminal_size::terminal_size().map_or(Style::default().width, |(width, _)| {
        usize::from(width.0).max(NARROWEST)
    })
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

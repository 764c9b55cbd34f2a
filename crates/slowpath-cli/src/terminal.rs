//! What several commands print.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use slowpath::load::Loaded;
use slowpath::{Results, RunRecord, Style};

/// Prints what should be read before the results of an experiment are trusted.
pub(crate) fn warnings(loaded: &Loaded) {
    if !loaded.experiment.warnings.list.is_empty() {
        eprint!("{}", loaded.experiment.warnings);
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

/// The table of an experiment and where its report lies.
pub(crate) fn summary(results: &Results, folder: &Path) -> io::Result<()> {
    let mut out = io::stdout().lock();
    slowpath::report::print(results, folder, style(), &mut out)?;
    out.flush()
}

/// The table of a sweep and where its files lie.
pub(crate) fn swept(swept: &slowpath::sweep::Swept, folder: &Path) -> io::Result<()> {
    let mut out = io::stdout().lock();
    slowpath::sweep::write_text(swept, style(), &mut out)?;
    writeln!(out, "\nTables: {0}/sweep.csv, {0}/sweep.json", folder.display())?;
    out.flush()
}

/// Colours on a terminal that wants them.
pub(crate) fn style() -> Style {
    let wanted = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    Style {
        color: wanted,
        ..Style::default()
    }
}

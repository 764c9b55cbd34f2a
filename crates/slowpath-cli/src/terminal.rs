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
    let seconds: f64 = record
        .transfers
        .iter()
        .map(|transfer| transfer.duration().seconds())
        .sum();
    let state = match record.health.state {
        slowpath::HealthState::Valid => String::new(),
        state => format!(
            "  {state:?}: {}",
            record
                .health
                .reasons
                .iter()
                .map(|reason| reason.code.as_str())
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
    format!("{name:<28} {bytes:>10} bytes in {seconds:>8.2} s{state} {failed}")
}

/// The table of an experiment and where its report lies.
pub(crate) fn summary(results: &Results, folder: &Path) -> io::Result<()> {
    let mut out = io::stdout().lock();
    slowpath::report::print(results, folder, style(), &mut out)?;
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

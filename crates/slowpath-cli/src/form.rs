//! Forms in which results can be asked for.

use clap::ValueEnum;

/// Form of an experiment's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultsFormat {
    /// For the terminal
    Text,
    /// The whole document, as in result.json
    Json,
    /// One run a line, as JSON
    Jsonl,
    /// One run a line, comma-separated
    Csv,
    /// The page, as in report.html
    Html,
}

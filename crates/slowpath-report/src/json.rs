//! The machine-readable forms.

use std::io::{self, Write};

use slowpath_record::Origin;

use crate::explain::Explanation;
use crate::results::{self, Results};

/// Writes any document, in lines for people or in one line, with a final line feed.
///
/// # Errors
///
/// Those of `out`.
pub fn write<T: serde::Serialize + ?Sized>(value: &T, pretty: bool, out: &mut dyn Write) -> io::Result<()> {
    let text = if pretty {
        serde_json::to_string_pretty(value)
    } else {
        serde_json::to_string(value)
    };
    writeln!(out, "{}", text.map_err(io::Error::other)?)
}

/// Writes `result.json` (`slowpath/run/1`), indented, with a final line feed.
///
/// # Errors
///
/// Those of `out`.
pub fn write_results(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, results)?;
    out.write_all(b"\n")
}

/// Writes one JSON object a run and line: the run as in `result.json`, with `experiment`, `variant` and `clock` before it.
///
/// # Errors
///
/// Those of `out`.
pub fn write_run_lines(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a> {
        schema: &'static str,
        experiment: &'a str,
        variant: &'a str,
        clock: Origin,
        #[serde(flatten)]
        run: &'a results::RunResult,
    }
    for variant in &results.variants {
        for run in &variant.runs {
            let line = Line {
                schema: "slowpath/run-line/1",
                experiment: &results.experiment,
                variant: &variant.name,
                clock: variant.clock,
                run,
            };
            serde_json::to_writer(&mut *out, &line)?;
            out.write_all(b"\n")?;
        }
    }
    Ok(())
}

/// Writes one JSON object a connection and line, with the capture's name and quality in each.
///
/// # Errors
///
/// Those of `out`.
pub fn write_connection_lines(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    #[derive(serde::Serialize)]
    struct Line<'a, C: serde::Serialize, E: serde::Serialize> {
        schema: &'static str,
        capture: &'a C,
        #[serde(flatten)]
        connection: &'a E,
    }
    for connection in &explanation.connections {
        let line = Line {
            schema: "slowpath/explain-line/1",
            capture: &explanation.capture,
            connection,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes `slowpath/explain/1`, indented, with a final line feed.
///
/// # Errors
///
/// Those of `out`.
pub fn write_explanation(explanation: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, explanation)?;
    out.write_all(b"\n")
}

/// Reads what [`write_results`] wrote, also by an older version.
///
/// # Errors
///
/// Text that is not such a document, and forms newer than this version knows.
pub fn read_results(text: &str) -> Result<Results, ReadError> {
    let read: Results = serde_json::from_str(text).map_err(ReadError::Form)?;
    if read.schema == results::SCHEMA {
        Ok(read)
    } else {
        Err(ReadError::Schema { found: read.schema })
    }
}

/// Why a results document could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the expected shape.
    #[error("this is not a results document ({0}); give the result.json of a results folder")]
    Form(#[source] serde_json::Error),
    /// Another version's document.
    #[error(
        "the results document has the form {found:?}, this version reads {:?}; use the version that wrote it",
        results::SCHEMA
    )]
    Schema {
        /// What it says of itself.
        found: String,
    },
}

//! Existing captures: from a file to an analysis.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use slowpath_analyze::{Analysis, Analyzer};
use slowpath_capture::{OpenError, PacketReader};

/// Why a capture could not be analysed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read, or is no capture.
    #[error("opening the capture {path} failed: {source}")]
    Open {
        /// Which file.
        path: PathBuf,
        /// What was found.
        source: OpenError,
    },
    /// Reading broke off.
    #[error("reading the capture {path} failed: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Reads and analyses the capture in a file; `-` is standard input.
///
/// A damaged or truncated file gives what was readable; the analysis says where it broke.
///
/// # Errors
/// [`ImportError`].
pub fn analyze_file(path: &Path) -> Result<Analysis, ImportError> {
    let opened = if path == Path::new("-") {
        PacketReader::new(io::stdin())
    } else {
        PacketReader::open(path)
    };
    let reader = opened.map_err(|source| ImportError::Open {
        path: path.to_owned(),
        source,
    })?;
    let mut analysis = analyze(reader).map_err(|source| ImportError::Read {
        path: path.to_owned(),
        source,
    })?;
    analysis.capture.file = path.display().to_string();
    Ok(analysis)
}

/// Reads and analyses a capture from any reader.
///
/// # Errors
/// [`ImportError`], with an empty path.
pub fn analyze_stream(input: impl Read + Send + 'static) -> Result<Analysis, ImportError> {
    let reader = PacketReader::new(input).map_err(|source| ImportError::Open {
        path: PathBuf::new(),
        source,
    })?;
    analyze(reader).map_err(|source| ImportError::Read {
        path: PathBuf::new(),
        source,
    })
}

fn analyze(mut reader: PacketReader) -> io::Result<Analysis> {
    let mut analyzer = Analyzer::new();
    while let Some(record) = reader.next_record()? {
        analyzer.push(&record, reader.conversations());
    }
    Ok(analyzer.finish(reader.conversations(), &reader.summary()))
}

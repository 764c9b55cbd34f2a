//! Existing captures: from a file to an analysis.

use std::io;
use std::path::{Path, PathBuf};

use slowpath_analyze::{Analysis, Analyzer};
use slowpath_capture::{OpenError, PacketReader, ReadAhead};
use slowpath_record::packets::Conversations;

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
    ReadCapture::open(path).map(ReadCapture::analysis)
}

/// A capture read whole, ready to be analysed or matched with another.
#[derive(Debug)]
pub struct ReadCapture {
    /// Name as given.
    pub file: String,
    /// The packets, followed.
    pub analyzer: Analyzer,
    reader: PacketReader,
}

impl ReadCapture {
    /// Reads the capture in a file; `-` is standard input.
    ///
    /// # Errors
    /// [`ImportError`].
    pub fn open(path: &Path) -> Result<Self, ImportError> {
        let opened = if path == Path::new("-") {
            PacketReader::new(io::stdin())
        } else {
            PacketReader::open(path)
        };
        let reader = opened.map_err(|source| ImportError::Open {
            path: path.to_owned(),
            source,
        })?;
        let (analyzer, reader) = follow(reader).map_err(|source| ImportError::Read {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            file: path.display().to_string(),
            analyzer,
            reader,
        })
    }

    /// Addresses and ports of its conversations.
    pub fn conversations(&self) -> &Conversations {
        self.reader.conversations()
    }

    /// What it says.
    pub fn analysis(self) -> Analysis {
        let mut analysis = self
            .analyzer
            .finish(self.reader.conversations(), &self.reader.summary());
        analysis.capture.file = self.file;
        analysis
    }
}

/// Reads and decodes on one thread and analyses on this one.
fn follow(reader: PacketReader) -> io::Result<(Analyzer, PacketReader)> {
    let mut ahead = ReadAhead::start(reader)?;
    let mut analyzer = Analyzer::new();
    while let Some(batch) = ahead.next_batch()? {
        for record in batch.records {
            analyzer.push(record, batch.conversations);
        }
    }
    Ok((analyzer, ahead.finish()))
}

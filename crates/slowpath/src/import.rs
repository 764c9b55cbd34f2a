//! Existing captures: from a file to an analysis.

#[cfg_attr(not(target_os = "linux"), path = "import/unheld.rs")]
mod held;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use slowpath_capture::{OpenError, PacketReader, ReadAhead};
use slowpath_facts::{Analyzer, Side, Tap};
use slowpath_record::packets::Conversations;
use slowpath_record::{CaptureRef, Code, HealthState, Origin, Reason, RunRecord, TransferResult};
use slowpath_units::Time;
use slowpath_verdict::Analysis;

use crate::analyzed::Analyzed;
use crate::processors;
use crate::reading::Reading;

/// Why a capture could not be analysed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read, or is no capture.
    #[error(
        "opening the capture {path}: {source}; give a pcap or pcapng file as tcpdump and Wireshark write it, compressed or not"
    )]
    Open {
        /// Which file.
        path: PathBuf,
        /// What was found.
        source: OpenError,
    },
    /// There is no such file, it is a folder, or it may not be read.
    #[error("{}", crate::input::problem(.path, .source))]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder where a file belongs.
    #[error("opening the capture {path}: it is a folder; {captures}")]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Captures in it, as a sentence.
        captures: String,
    },
    /// Reading broke off.
    #[error("reading the capture {path} failed: {source}; copy the file anew, or read it from another disk")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Imports the capture in a file, `-` is standard input: a run that somebody else made, with what its packets say.
///
/// # Errors
/// [`ImportError`].
pub fn run(path: &Path) -> Result<Analyzed, ImportError> {
    run_watched(path, &Reading::default())
}

/// As [`run`]; `reading` says meanwhile how far the file is read.
///
/// # Errors
/// [`ImportError`].
pub fn run_watched(path: &Path, reading: &Reading) -> Result<Analyzed, ImportError> {
    ReadCapture::open_watched(path, reading).map(|read| {
        let analysis = read.analysis();
        let record = record(&analysis);
        Analyzed {
            name: record.variant.clone(),
            record,
            analysis: Some(analysis),
            judged: None,
            problem: None,
        }
    })
}

/// The record of a run of which nothing is left but a capture: each connection is a transfer, as far as it was captured.
pub fn record(analysis: &Analysis) -> RunRecord {
    let capture = &analysis.capture;
    let path = Path::new(&capture.file);
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let at = |seconds: f64| {
        let span = std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default();
        Time::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    };
    let transfers = analysis
        .connections
        .iter()
        .filter(|connection| connection.bytes_delivered > 0);
    let mut record = RunRecord {
        variant: name.into_owned(),
        captures: vec![CaptureRef {
            file: std::path::absolute(path)
                .unwrap_or_else(|_| path.to_owned())
                .display()
                .to_string(),
            point: match capture.quality.tap {
                Tap::Sender => "sender",
                Tap::Receiver => "receiver",
                Tap::Middle => "middle",
                Tap::Unknown => "capture",
            }
            .to_owned(),
            packets: capture.packets,
            missed: 0,
        }],
        transfers: transfers
            .map(|connection| TransferResult {
                name: match connection.data_from {
                    Side::Client => format!("{} -> {}", connection.client, connection.server),
                    Side::Server => format!("{} -> {}", connection.server, connection.client),
                },
                bytes: connection.bytes_delivered,
                start: at(connection.start_s),
                end: at(connection.start_s + connection.duration_s),
                complete: true,
                error: None,
                retransmitted_segments: Some(connection.retransmitted_segments),
                sender: None,
            })
            .collect(),
        notes: capture.quality.warnings.clone(),
        ..RunRecord::new(Origin::Imported, "import")
    };
    let lost = capture.quality.capture_loss_fraction;
    if lost > 0.0 {
        record.health.add(Reason {
            code: Code::CaptureLost,
            state: HealthState::Degraded,
            text: format!(
                "{:.2} % of the bytes that passed are not in the capture",
                lost * 100.0
            ),
        });
    }
    record
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

/// As [`analyze_file`], without what the capture's times say in `spans`, in which the capturing machine held packets up.
///
/// # Errors
/// [`ImportError`].
pub fn analyze_file_without(path: &Path, spans: &[(i64, i64)]) -> Result<Analysis, ImportError> {
    let mut read = ReadCapture::open(path)?;
    read.analyzer.leave_out(spans);
    Ok(read.analysis())
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
        Self::open_watched(path, &Reading::default())
    }

    /// As [`Self::open`]; `reading` says meanwhile how far the file is read.
    ///
    /// # Errors
    /// [`ImportError`].
    pub fn open_watched(path: &Path, reading: &Reading) -> Result<Self, ImportError> {
        if path.is_dir() {
            return Err(ImportError::Folder {
                path: path.to_owned(),
                captures: captures_in(path),
            });
        }
        let reader = open(path, reading).map_err(|source| match source {
            OpenError::Io(source) => ImportError::File {
                path: path.to_owned(),
                source,
            },
            source => ImportError::Open {
                path: path.to_owned(),
                source,
            },
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
        let (conversations, summary) = (self.reader.conversations(), self.reader.summary());
        let observed = self
            .analyzer
            .finish_spread(conversations, &summary, processors::each);
        let mut analysis = Analysis::of(observed);
        analysis.capture.file = self.file;
        analysis
    }
}

/// Opens a capture, in place where that can be done; `-` is standard input.
fn open(path: &Path, reading: &Reading) -> Result<PacketReader, OpenError> {
    if path == Path::new("-") {
        return PacketReader::new(io::stdin());
    }
    let file = File::open(path)?;
    reading.begin(&file);
    held::open(file, reading)
}

/// Which captures lie in a folder, or in the one of a results folder, in a sentence.
fn captures_in(folder: &Path) -> String {
    let mut found: Vec<String> = [folder.to_owned(), folder.join("captures")]
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(Iterator::flatten)
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            path.is_file() && (name.contains(".pcap") || name.contains(".cap"))
        })
        .map(|path| path.display().to_string())
        .collect();
    found.sort();
    match found.len() {
        0 => "give a capture; none lies in it".to_owned(),
        count => {
            let more = if count > NAMED {
                format!(" and {} more", count - NAMED)
            } else {
                String::new()
            };
            found.truncate(NAMED);
            format!("give one of its captures: {}{more}", found.join(", "))
        }
    }
}

/// Captures of a folder that a message names, at most.
const NAMED: usize = 10;

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

//! Existing captures: from a file to an analysis.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use slowpath_capture::{Damage, OpenError, PacketReader, ReadAhead, Reader};
use slowpath_facts::{Analyzer, Side, Tap};
use slowpath_record::packets::Conversations;
use slowpath_record::{CaptureRef, Code, HealthState, Origin, Reason, RunRecord, TransferResult};
use slowpath_units::Time;
use slowpath_verdict::Analysis;

use crate::analyzed::Analyzed;
use crate::captures::NETWORK_TAP;
use crate::interrupt;
use crate::many::rotation::{self, Recording};
use crate::piped::{self, Piped};
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
    /// It cannot be followed while it grows.
    #[error("following the capture {path}: {found}")]
    Follow {
        /// Which file.
        path: PathBuf,
        /// Why, and what to do.
        found: String,
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

impl ImportError {
    /// Whether the file could be read, and is something else than a capture.
    pub const fn is_no_capture(&self) -> bool {
        matches!(
            self,
            Self::Open {
                source: OpenError::Unknown { .. } | OpenError::Short { .. },
                ..
            }
        )
    }
}

/// How a capture is read; what it says does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// Reads and decodes on a thread of its own, ahead of the analysis.
    pub ahead: bool,
    /// Measures large connections on all processors.
    pub spread: bool,
    /// With the data of graphs, for whoever draws them or fits a path.
    pub graphs: bool,
}

impl Default for How {
    /// As for one capture that somebody waits for.
    fn default() -> Self {
        Self {
            ahead: true,
            spread: true,
            graphs: true,
        }
    }
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
    ReadCapture::open_watched(path, reading).map(ReadCapture::into_run)
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
    /// The files of a recording that goes on in several.
    parts: Vec<PathBuf>,
    how: How,
    /// Somebody still wrote it: a packet that is not whole at its end is no damage.
    growing: bool,
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
        let recording = Recording::of(path.to_owned());
        Self::open_recording(&recording, How::default(), reading).map(|(read, _)| read)
    }

    /// Reads a recording, as far as its files follow each other in time, and gives back what is left of it.
    ///
    /// # Errors
    /// [`ImportError`] of the first file; where another cannot be read, the recording ends before it.
    pub fn open_recording(
        recording: &Recording,
        how: How,
        reading: &Reading,
    ) -> Result<(Self, Option<Recording>), ImportError> {
        let path = recording.first();
        if path.is_dir() {
            return Err(ImportError::Folder {
                path: path.to_owned(),
                captures: captures_in(path),
            });
        }
        let mut reader = open(path, reading).map_err(|source| match source {
            OpenError::Io(source) => ImportError::File {
                path: path.to_owned(),
                source,
            },
            source => ImportError::Open {
                path: path.to_owned(),
                source,
            },
        })?;
        let begun = Arc::new(AtomicUsize::new(1));
        if recording.files.len() > 1 {
            let (recording, begun, reading) = (recording.clone(), Arc::clone(&begun), reading.clone());
            reader = reader.followed_by(Box::new(move |last| {
                let next = next_part(&recording, begun.load(Ordering::Relaxed), last, &reading);
                if next.is_some() {
                    begun.fetch_add(1, Ordering::Relaxed);
                }
                Ok(next)
            }));
        }
        let (analyzer, reader) = track(reader, how).map_err(|source| ImportError::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut analyzer = analyzer;
        if !how.graphs {
            analyzer.leave_out_graphs();
        }
        let count = begun.load(Ordering::Relaxed);
        let parts = recording.files.get(..count).filter(|_| count > 1);
        let read = Self {
            file: path.display().to_string(),
            analyzer,
            reader,
            parts: parts.unwrap_or_default().to_vec(),
            how,
            growing: path == Path::new("-") && interrupted(),
        };
        Ok((read, recording.from(count)))
    }

    /// A capture that was read while somebody wrote it.
    pub(crate) fn followed(path: &Path, analyzer: Analyzer, reader: PacketReader) -> Self {
        Self {
            file: path.display().to_string(),
            analyzer,
            reader,
            parts: Vec::new(),
            how: How::default(),
            growing: true,
        }
    }

    /// Whether it is a run's file of what became of packets inside the network.
    pub fn is_network(&self) -> bool {
        let mut interfaces = self.reader.reader().interfaces().iter();
        interfaces.any(|interface| interface.description == NETWORK_TAP)
    }

    /// A run that somebody else made, with what its packets say.
    pub fn into_run(self) -> Analyzed {
        let analysis = self.analysis();
        let record = record(&analysis);
        Analyzed {
            name: record.variant.clone(),
            record,
            analysis: Some(analysis),
            judged: None,
            problem: None,
        }
    }

    /// Addresses and ports of its conversations.
    pub fn conversations(&self) -> &Conversations {
        self.reader.conversations()
    }

    /// What it says.
    pub fn analysis(self) -> Analysis {
        let (conversations, mut summary) = (self.reader.conversations(), self.reader.summary());
        if self.growing && matches!(self.reader.reader().damage(), Some(Damage::Cut { .. })) {
            summary.damage = None;
        }
        let observed = if self.how.spread {
            self.analyzer
                .finish_spread(conversations, &summary, &|count, work| {
                    processors::each(count, work);
                })
        } else {
            self.analyzer.finish(conversations, &summary)
        };
        let mut analysis = Analysis::of(observed);
        analysis.capture.file = self.file;
        let parts = self.parts.iter().map(|part| part.display().to_string());
        analysis.capture.parts = parts.collect();
        analysis
    }
}

/// The frames of a capture file.
pub(crate) fn frames(path: &Path) -> Result<Reader, OpenError> {
    Reader::open(path)
}

/// Opens a capture; `-` is standard input.
fn open(path: &Path, reading: &Reading) -> Result<PacketReader, OpenError> {
    if path == Path::new("-") {
        if !piped::input_is_live() {
            return PacketReader::new(io::stdin());
        }
        let stop = INTERRUPTED.get_or_init(interrupt::flag);
        return PacketReader::new(Piped::standard_input(stop, false));
    }
    let file = File::open(path)?;
    reading.begin(&file);
    PacketReader::new(reading.counting(file))
}

/// Whether Ctrl-C ended the reading of standard input.
fn interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Ctrl-C while standard input is read: a capturing program in the same pipe ends by it, and then there is an answer.
static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

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

/// The file of a recording with this number, where it follows a packet that was taken at `last`.
fn next_part(recording: &Recording, part: usize, last: i64, reading: &Reading) -> Option<Reader> {
    let path = recording.files.get(part)?;
    let begin = rotation::begins_at(&mut Reader::new(File::open(path).ok()?).ok()?)?;
    if !recording.follows(last, begin) {
        return None;
    }
    let file = File::open(path).ok()?;
    reading.begin(&file);
    Reader::new(reading.counting(file)).ok()
}

/// Reads and decodes, on one thread where that is wanted, and analyses on this one.
fn track(mut reader: PacketReader, how: How) -> io::Result<(Analyzer, PacketReader)> {
    let mut analyzer = Analyzer::new();
    if !how.ahead {
        while let Some(record) = reader.next_record()? {
            analyzer.push(&record, reader.conversations());
        }
        return Ok((analyzer, reader));
    }
    let mut ahead = ReadAhead::start(reader)?;
    while let Some(batch) = ahead.next_batch()? {
        for record in batch.records {
            analyzer.push(record, batch.conversations);
        }
    }
    Ok((analyzer, ahead.finish()))
}

//! Many captures at once: which files those are, and what each says, on all processors.
//!
//! * [`find`]: from what the user named, files and folders, to recordings. Start here.
//! * [`each`]: reads them, several at a time, and hands over what came of each in their order.
//! * [`rotation`]: files that are one recording.

pub mod rotation;

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex};
use std::thread;

use slowpath_capture::FileFormat;
pub use slowpath_report::many::{Came, Many, Summary, joined, write};

use crate::anonymize::Hide;
use crate::explain::{self, Explanation};
use crate::import::{How, ImportError, ReadCapture};
use crate::processors;
use crate::reading::Reading;
use rotation::Recording;

/// What was named: the captures in it, and how they belong together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// Captures in the order in which they were named, those of a folder sorted by name; each file once.
    pub recordings: Vec<Recording>,
    /// Folders in which no capture lies.
    pub without: Vec<PathBuf>,
}

/// The captures that `named` are, and with `join` which of them are one recording. Folders are searched with all below
/// them; links to folders are not followed.
pub fn find(named: &[PathBuf], join: bool) -> Found {
    let mut found = Found::default();
    let mut files = Vec::new();
    let mut known = HashSet::new();
    for path in named {
        if !path.is_dir() {
            add(path.clone(), &mut files, &mut known);
            continue;
        }
        let mut inside = Vec::new();
        search(path, 0, &mut inside);
        if inside.is_empty() {
            found.without.push(path.clone());
        }
        for file in inside {
            add(file, &mut files, &mut known);
        }
    }
    found.recordings = if join {
        rotation::recordings(&files)
    } else {
        files.into_iter().map(Recording::of).collect()
    };
    found
}

/// Adds a file that was not named before, by whatever path.
fn add(path: PathBuf, files: &mut Vec<PathBuf>, known: &mut HashSet<PathBuf>) {
    let own = path.canonicalize().unwrap_or_else(|_| path.clone());
    if known.insert(own) {
        files.push(path);
    }
}

/// Adds the captures below a folder, by name.
fn search(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < DEEPEST {
            search(&path, depth + 1, found);
        } else if path.is_file() && is_capture(&path) {
            found.push(path);
        }
    }
}

/// Whether a file in a folder is meant as a capture: by its name, or by how it begins.
fn is_capture(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    // What a run of ours says of packets inside the network holds no transfer.
    if name.ends_with(".network.pcapng") {
        return false;
    }
    if rotation::is_named_capture(&name) {
        return true;
    }
    let mut first = [0; 4];
    let begun = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    begun.is_ok() && FileFormat::of(first).is_some()
}

/// What is asked of every capture alike.
#[derive(Debug, Default)]
pub struct Asked {
    /// The connections wanted, as [`explain::select`] has them.
    pub only: Option<String>,
    /// The line's rate where it is known, as people write it.
    pub capacity: Option<String>,
    /// Whether what would help is wanted as well.
    pub remedies: bool,
    /// Who is to be left out of the answer.
    pub hide: Option<Hide>,
}

/// A recording that was read, or why it was not.
pub type Outcome = Result<Explanation, Came>;

/// Reads every recording, several at a time, makes of each what `keep` says, on the same thread, and hands that to `take`
/// in the order of the recordings. A recording that turns out to be several is handed over as several.
///
/// Memory is bounded: of what waits for its turn there are a few for each processor. What a file gives does not depend on
/// which others are read, or on how many threads.
///
/// # Errors
/// Those of `take`, after which nothing more is read.
pub fn each<T: Send>(
    recordings: &[Recording],
    asked: &Asked,
    reading: &Reading,
    keep: &(dyn Fn(&str, Outcome) -> T + Sync),
    mut take: impl FnMut(String, T) -> io::Result<()>,
) -> io::Result<()> {
    let threads = processors::count().min(recordings.len());
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let taken = (Mutex::new(0_usize), Condvar::new());
    let (done, results) = channel();
    let work = |done: Sender<(usize, Vec<(String, T)>)>| {
        let _release = Release(&stopped, &taken.1);
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(recording) = recordings.get(index) else {
                return;
            };
            let mut turn = taken.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            while index > *turn + AHEAD * threads && !stopped.load(Ordering::Relaxed) {
                turn = taken
                    .1
                    .wait(turn)
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
            }
            drop(turn);
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            // The last ones have the processors that find no more work.
            let last = index + threads >= recordings.len();
            let how = How {
                ahead: last,
                spread: last,
                graphs: false,
            };
            let parts = one(recording, index, asked, how, reading);
            let kept = parts
                .into_iter()
                .map(|(file, read)| {
                    let kept = keep(&file, read);
                    (file, kept)
                })
                .collect();
            if done.send((index, kept)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        let started = (0..threads).filter_map(|_| {
            let done = done.clone();
            thread::Builder::new().spawn_scoped(scope, || work(done)).ok()
        });
        if started.count() == 0 {
            return Err(io::Error::other("the system gives no thread"));
        }
        drop(done);
        let mut waiting = BTreeMap::new();
        let mut turn = 0;
        for (index, kept) in results {
            waiting.insert(index, kept);
            while let Some(kept) = waiting.remove(&turn) {
                turn += 1;
                *taken.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = turn;
                taken.1.notify_all();
                for (file, kept) in kept {
                    if let Err(error) = take(file, kept) {
                        stopped.store(true, Ordering::Relaxed);
                        // Under the lock, so that nobody is about to wait.
                        drop(taken.0.lock());
                        taken.1.notify_all();
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    })
}

/// Lets nobody wait for a turn that never comes, should a thread panic.
struct Release<'a>(&'a AtomicBool, &'a Condvar);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
            self.1.notify_all();
        }
    }
}

/// Reads one recording: what each capture in it is called, and what came of it.
fn one(
    recording: &Recording,
    place: usize,
    asked: &Asked,
    how: How,
    reading: &Reading,
) -> Vec<(String, Outcome)> {
    let mut out = Vec::new();
    let mut rest = Some(recording.clone());
    while let Some(now) = rest.take() {
        let own = now.first().display().to_string();
        let name = |hide: &Hide| match hide.name(&own, place) {
            name if out.is_empty() || name == own => name,
            name => format!("{name}.{}", out.len() + 1),
        };
        let file = asked.hide.as_ref().map_or_else(|| own.clone(), name);
        let read = ReadCapture::open_recording(&now, how, &Reading::default());
        for path in &now.files {
            reading.passed(fs::metadata(path).map_or(0, |about| about.len()));
        }
        let came = match read {
            Ok((read, further)) => {
                rest = further;
                explained(read, &file, asked)
            }
            Err(error) => Err(Came::Error(reason(now.first(), &error).replace(&own, &file))),
        };
        out.push((file, came));
    }
    out
}

fn explained(read: ReadCapture, file: &str, asked: &Asked) -> Outcome {
    if read.is_network() {
        return Err(Came::Note(
            "slowpath's own file of what the network dropped, not a transfer; explain it alone".to_owned(),
        ));
    }
    let mut analysis = read.analysis();
    if let Some(hide) = &asked.hide {
        hide.analysis(&mut analysis, file);
    }
    let mut explanation = if asked.remedies {
        explain::of(analysis)
    } else {
        Explanation::of(analysis)
    };
    if let Some(wanted) = &asked.only {
        explain::select(&mut explanation, wanted);
    }
    if let Some(rate) = &asked.capacity {
        // It was read before any file was.
        let _ = explain::know_capacity(&mut explanation, rate);
    }
    Ok(explanation)
}

/// Why a capture could not be read, beside its name.
fn reason(path: &Path, error: &ImportError) -> String {
    let text = error.to_string();
    let shown = path.display().to_string();
    for begin in ["opening the capture ", "reading the capture ", "reading "] {
        let rest = text
            .strip_prefix(begin)
            .and_then(|rest| rest.strip_prefix(&shown));
        if let Some(rest) = rest {
            let rest = rest.trim_start_matches(':').trim_start();
            return rest.split("; give a pcap").next().unwrap_or(rest).to_owned();
        }
    }
    text
}

/// All captures in one table.
///
/// # Errors
/// If the system gives no thread.
pub fn table(recordings: &[Recording], asked: &Asked, reading: &Reading) -> io::Result<Many> {
    let mut many = Many::new();
    each(
        recordings,
        asked,
        reading,
        &|_, read| match read {
            Ok(explanation) => Came::Read(Box::new(Summary::of(explanation))),
            Err(came) => came,
        },
        |file, came| {
            many.add(&file, came);
            Ok(())
        },
    )?;
    many.sort();
    Ok(many)
}

/// Writes one JSON object a connection and line, capture by capture, as [`explain::write_json_lines`] does for each; a
/// capture that could not be read is a line with `error`. Says of each capture whether it was read.
///
/// # Errors
/// Those of `out`.
pub fn write_json_lines(
    recordings: &[Recording],
    asked: &Asked,
    reading: &Reading,
    out: &mut dyn io::Write,
) -> io::Result<Vec<(String, Option<String>)>> {
    let mut told = Vec::new();
    let lines = |file: &str, read: Outcome| -> (Vec<u8>, Option<String>) {
        let mut bytes = Vec::new();
        match read {
            Ok(explanation) => {
                // Memory takes everything.
                let _ = explain::write_json_lines(&explanation, &mut bytes);
                (bytes, None)
            }
            Err(Came::Error(error)) => {
                let line = serde_json::json!({
                    "schema": "slowpath/explain-line/1", "capture": { "file": file }, "error": error
                });
                (format!("{line}\n").into_bytes(), Some(error))
            }
            Err(_) => (bytes, None),
        }
    };
    each(recordings, asked, reading, &lines, |file, (bytes, error)| {
        told.push((file, error));
        out.write_all(&bytes)
    })?;
    Ok(told)
}

/// Folders below the one that was named, at most.
const DEEPEST: u32 = 32;

/// Captures for each thread that may be finished before their turn comes.
const AHEAD: usize = 8;

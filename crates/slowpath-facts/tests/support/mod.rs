//! Reading captures, for the tests of this crate and of the verdict's.
#![allow(dead_code)] // not every test file uses everything
#![allow(clippy::cast_sign_loss)] // figures of a model
#![allow(clippy::disallowed_methods)] // captures are read from files

use std::path::{Path, PathBuf};
use std::process::Command;

use slowpath_capture::PacketReader;
use slowpath_facts::{Analyzer, CaptureFacts};
use slowpath_record::packets::{CaptureSummary, Conversations, Record};

/// The folder with labelled captures, from `SLOWPATH_CORPUS`.
pub(crate) fn corpus(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("skipped: {test}: SLOWPATH_CORPUS names no folder with labelled captures");
    }
    folder
}

/// The corpus's captures from the lab, to be compared with what an installed `program` says of them.
pub(crate) fn lab_files(test: &str, program: &str) -> Option<Vec<PathBuf>> {
    let folder = corpus(test)?;
    if Command::new(program).arg("-v").output().is_err() {
        eprintln!("skipped: {test}: {program} is not installed");
        return None;
    }
    let mut files: Vec<_> = std::fs::read_dir(folder.join("lab"))
        .expect("the corpus has a folder lab")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    Some(files)
}

/// Everything a capture holds, or `None` if it does not open.
pub(crate) fn read(path: &Path) -> Option<(Vec<Record>, Conversations, CaptureSummary)> {
    let mut reader = PacketReader::open(path).ok()?;
    let mut records = Vec::new();
    while let Ok(Some(record)) = reader.next_record() {
        records.push(record);
    }
    Some((records, reader.conversations().clone(), reader.summary()))
}

/// What a capture file shows.
pub(crate) fn observe(path: &Path) -> Option<CaptureFacts> {
    let (records, conversations, summary) = read(path)?;
    Some(observe_records(&records, &conversations, &summary))
}

/// What records show.
pub(crate) fn observe_records(
    records: &[Record],
    conversations: &Conversations,
    summary: &CaptureSummary,
) -> CaptureFacts {
    let mut analyzer = Analyzer::new();
    for record in records {
        analyzer.push(record, conversations);
    }
    analyzer.finish(conversations, summary)
}

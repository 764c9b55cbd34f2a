//! Answers, records and captures that may leave the house: who was involved is not in them.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use slowpath_capture::anonymize::Copy;
use slowpath_capture::{Anonymizer, OpenError};
use slowpath_verdict::Analysis;

use crate::analyzed::Analyzed;
use crate::import::{self, ImportError};
use crate::many::rotation::Recording;

/// What is left of who was involved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// Ports stay, by which services are known.
    pub ports: bool,
    /// Names of files stay.
    pub names: bool,
}

/// Takes addresses, ports and names out of what is told; with one value the same end is called the same everywhere.
#[derive(Debug)]
pub struct Hide {
    anonymizer: Anonymizer,
    keep: Keep,
}

impl Hide {
    /// With a key that nobody knows.
    pub fn new(keep: Keep) -> Self {
        Self {
            anonymizer: Anonymizer::random(keep.ports),
            keep,
        }
    }

    /// What a capture is called.
    pub fn name(&self, file: &str, place: usize) -> String {
        if self.keep.names {
            file.to_owned()
        } else {
            format!("capture {}", place + 1)
        }
    }

    /// Takes them out of an analysis, whose capture is called `name` from then on.
    pub fn analysis(&self, analysis: &mut Analysis, name: &str) {
        let end = |end: &mut String| *end = self.anonymizer.end(end);
        for connection in &mut analysis.connections {
            end(&mut connection.client);
            end(&mut connection.server);
        }
        if let Some(job) = &mut analysis.job {
            end(&mut job.server);
        }
        let capture = &mut analysis.capture;
        name.clone_into(&mut capture.file);
        if !self.keep.names {
            for (place, part) in capture.parts.iter_mut().enumerate() {
                *part = format!("{name}, file {}", place + 1);
            }
        }
    }

    /// Takes them out of a run and its record.
    pub fn run(&self, run: &mut Analyzed, name: &str) {
        let Some(analysis) = &mut run.analysis else { return };
        self.analysis(analysis, name);
        run.record = import::record(analysis);
        for capture in &mut run.record.captures {
            name.clone_into(&mut capture.file);
        }
        run.name.clone_from(&run.record.variant);
    }

    /// Writes a copy of a recording without addresses, names and payload to `to`, which is there as a whole or not at all;
    /// says how many packets it has.
    ///
    /// # Errors
    /// [`CopyError`].
    pub fn copy(&self, recording: &Recording, to: &Path) -> Result<u64, CopyError> {
        let own = |path: &Path| path.canonicalize().ok();
        if let Some(file) = recording
            .files
            .iter()
            .find(|file| own(file).is_some() && own(file) == own(to))
        {
            return Err(CopyError::Same(file.clone()));
        }
        let partial = partial(to);
        let written = self.write(recording, &partial, to);
        let renamed = written.and_then(|packets| {
            fs::rename(&partial, to)
                .map(|()| packets)
                .map_err(|source| CopyError::Write(to.to_owned(), source))
        });
        if renamed.is_err() {
            let _ = fs::remove_file(&partial);
        }
        renamed
    }

    fn write(&self, recording: &Recording, partial: &Path, to: &Path) -> Result<u64, CopyError> {
        let unwritten = |source| CopyError::Write(to.to_owned(), source);
        let out = File::create(partial).map_err(unwritten)?;
        let mut copy = Copy::new(&self.anonymizer, BufWriter::new(out)).map_err(unwritten)?;
        for path in &recording.files {
            let mut reader = import::frames(path).map_err(|source| {
                let path = path.clone();
                CopyError::Read(match source {
                    OpenError::Io(source) => ImportError::File { path, source },
                    source => ImportError::Open { path, source },
                })
            })?;
            copy.add(&mut reader).map_err(unwritten)?;
        }
        copy.finish().map_err(unwritten)
    }
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The original cannot be read.
    #[error(transparent)]
    Read(ImportError),
    /// The copy cannot be written.
    #[error("{}", crate::input::unwritable(.0, .1, "--copy"))]
    Write(PathBuf, #[source] io::Error),
    /// The copy would replace the original.
    #[error("writing the copy {0}: it is the capture itself; give another name with --copy")]
    Same(PathBuf),
}

/// Where a file is written before it is whole.
fn partial(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    to.with_file_name(name)
}

//! The results folder of an experiment.
//!
//! ```text
//! DIR/experiment.toml        what was run, as written
//! DIR/runs/NAME.json         one RunRecord for each finished run, written when it finished
//! DIR/captures/NAME.POINT.pcapng
//! DIR/analyses/NAME.json     what the packets of a run said of which no capture was kept
//! DIR/result.json            the contract slowpath/run/1, made again after every run
//! DIR/report.html            made again at the end
//! DIR/runs.csv, figures.csv  its tables
//! DIR/graphs/NAME.N.csv      the points of its graphs
//! ```
//!
//! Every file is written beside its place and renamed into it, so that an interruption or a full disk never
//! leaves half a file under a final name.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use slowpath_record::{RunKind, RunRecord};
use slowpath_verdict::{Analysis, Judged};

/// A results folder that can be written.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// What can go wrong with a results folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A file or folder could not be made or written.
    #[error("{}", crate::input::unwritable(.path, .source, "--out"))]
    Write {
        /// What was being written.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file could not be read.
    #[error("{}", crate::input::problem(.path, .source))]
    Read {
        /// What was being read.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A record does not have the expected form.
    #[error("{path} is not a run record of this version ({source}); move it away to run again")]
    Form {
        /// Which file.
        path: PathBuf,
        /// What the reader said.
        source: serde_json::Error,
    },
    /// A folder of another kind, or no folder at all.
    #[error("reading the results in {path}: {}", other(.path, .lacks, .hint))]
    Other {
        /// Which folder.
        path: PathBuf,
        /// The file that every results folder has.
        lacks: &'static str,
        /// What it is instead, or nothing.
        hint: &'static str,
    },
    /// The folder holds no finished run.
    #[error(
        "{path} holds no finished run (expected files in {path}/runs); give the folder of a `slowpath run`"
    )]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
}

/// What a folder is that is no results folder, and what to do.
fn other(path: &Path, lacks: &str, hint: &str) -> String {
    if path.is_file() {
        return "that is a file; give the folder of a `slowpath run`, or use `slowpath explain` for a capture"
            .to_owned();
    }
    if !path.exists() {
        let meant = crate::input::near(path).map_or(String::new(), |name| format!(" (did you mean {name}?)"));
        return format!("there is no such folder{meant}; `slowpath run NAME --out DIR` makes one");
    }
    format!("it is not a results folder of `slowpath run`: it has no {lacks}{hint}")
}

impl Folder {
    /// Opens `root` for writing, making it and its parts where they are missing.
    ///
    /// # Errors
    /// [`FolderError::Write`] if it cannot be made or written.
    pub fn create(root: &Path) -> Result<Self, FolderError> {
        let folder = Self {
            root: root.to_owned(),
        };
        for part in [folder.runs(), folder.captures(), folder.analyses()] {
            fs::create_dir_all(&part).map_err(|source| FolderError::Write {
                path: part.clone(),
                source,
            })?;
        }
        // Finding out now, before an hour of measuring, whether the folder can be written.
        folder.write("runs/.probe", b"")?;
        let _ = fs::remove_file(folder.root.join("runs/.probe"));
        Ok(folder)
    }

    /// Opens an existing folder for reading.
    pub fn open(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Reads a file that every results folder has.
    ///
    /// # Errors
    /// [`FolderError::Other`] where it is missing, else [`FolderError::Read`].
    pub fn read(&self, name: &'static str) -> Result<Vec<u8>, FolderError> {
        let path = self.root.join(name);
        fs::read(&path).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FolderError::Other {
                path: self.root.clone(),
                lacks: name,
                hint: if self.root.join("sweep.csv").exists() {
                    "; it holds a sweep, whose tables are sweep.csv and sweep.json"
                } else if self.runs().is_dir() {
                    "; `slowpath report` makes it from the finished runs"
                } else if self.root.is_dir() {
                    "; `slowpath run NAME --out DIR` makes one"
                } else {
                    ""
                },
            },
            _ => FolderError::Read { path, source },
        })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the run records lie.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Where the captures lie.
    pub fn captures(&self) -> PathBuf {
        self.root.join("captures")
    }

    /// Where the analyses of runs without captures lie.
    fn analyses(&self) -> PathBuf {
        self.root.join("analyses")
    }

    /// Writes what the packets of a run said, as `analyses/NAME.json`.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write_analysis(&self, name: &str, analysis: &Analysis) -> Result<(), FolderError> {
        let mut text = serde_json::to_vec(analysis).expect("an analysis can always be written as JSON");
        text.push(b'\n');
        self.write(&format!("analyses/{name}.json"), &text).map(drop)
    }

    /// What the packets of a run said, if that was kept.
    ///
    /// # Errors
    /// [`FolderError::Read`] or [`FolderError::Form`].
    pub fn analysis(&self, name: &str) -> Result<Option<Analysis>, FolderError> {
        Self::read_json(self.analyses().join(format!("{name}.json")))
    }

    /// Writes what a run without packets was judged to be limited by, as `analyses/NAME.judged.json`.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write_judged(&self, name: &str, judged: &Judged) -> Result<(), FolderError> {
        let mut text = serde_json::to_vec(judged).expect("a verdict can always be written as JSON");
        text.push(b'\n');
        self.write(&format!("analyses/{name}.judged.json"), &text)
            .map(drop)
    }

    /// What a run without packets was judged to be limited by, if that was kept.
    ///
    /// # Errors
    /// [`FolderError::Read`] or [`FolderError::Form`].
    pub fn judged(&self, name: &str) -> Result<Option<Judged>, FolderError> {
        Self::read_json(self.analyses().join(format!("{name}.judged.json")))
    }

    /// Writes a file under its relative `name`, whole or not at all.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, FolderError> {
        let path = self.root.join(name);
        let partial = self.root.join(format!("{name}.partial"));
        let written = fs::File::create(&partial).and_then(|mut file| {
            file.write_all(content)?;
            file.sync_data()
        });
        written
            .and_then(|()| fs::rename(&partial, &path))
            .map_err(|source| {
                let _ = fs::remove_file(&partial);
                FolderError::Write {
                    path: path.clone(),
                    source,
                }
            })?;
        Ok(path)
    }

    /// Writes a finished run's record as `runs/NAME.json`.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write_record(&self, name: &str, record: &RunRecord) -> Result<(), FolderError> {
        let mut text = serde_json::to_vec(record).expect("a record can always be written as JSON");
        text.push(b'\n');
        self.write(&format!("runs/{name}.json"), &text).map(drop)
    }

    /// Writes the points of one run's graphs.
    ///
    /// # Errors
    /// [`FolderError::Write`].
    pub fn write_graphs(&self, name: &str, text: &[u8]) -> Result<(), FolderError> {
        let path = self.root.join("graphs");
        fs::create_dir_all(&path).map_err(|source| FolderError::Write { path, source })?;
        self.write(&format!("graphs/{name}.csv"), text).map(drop)
    }

    /// The record of a finished run, or `None` if there is none of that name.
    ///
    /// # Errors
    /// [`FolderError::Read`] or [`FolderError::Form`].
    pub fn record(&self, name: &str) -> Result<Option<RunRecord>, FolderError> {
        let mut record: Option<RunRecord> = Self::read_json(self.runs().join(format!("{name}.json")))?;
        if let Some(record) = &mut record
            && name.starts_with(OLD_PROOF)
        {
            record.kind = RunKind::Proof;
        }
        Ok(record)
    }

    /// The document at `path`, or `None` if there is none.
    fn read_json<T: DeserializeOwned>(path: PathBuf) -> Result<Option<T>, FolderError> {
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|source| FolderError::Form { path, source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(FolderError::Read { path, source }),
        }
    }

    /// All finished runs, by file name.
    ///
    /// # Errors
    /// [`FolderError::Empty`], [`FolderError::Read`] or [`FolderError::Form`].
    pub fn records(&self) -> Result<Vec<(String, RunRecord)>, FolderError> {
        let entries = match fs::read_dir(self.runs()) {
            Ok(entries) => entries,
            Err(_) if self.root.join(OLD_RECORD).is_file() => {
                let record = Self::read_json(self.root.join(OLD_RECORD))?;
                return Ok(record
                    .map(|record| ("record".to_owned(), record))
                    .into_iter()
                    .collect());
            }
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                return Err(FolderError::Empty {
                    path: self.root.clone(),
                });
            }
            Err(source) => {
                return Err(FolderError::Read {
                    path: self.runs(),
                    source,
                });
            }
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_suffix(".json")
                    .map(str::to_owned)
            })
            .collect();
        names.sort();
        let mut records = Vec::with_capacity(names.len());
        for name in names {
            if let Some(record) = self.record(&name)? {
                records.push((name, record));
            }
        }
        if records.is_empty() {
            return Err(FolderError::Empty {
                path: self.root.clone(),
            });
        }
        Ok(records)
    }
}

/// The one record of a watch before it was kept as any other run.
const OLD_RECORD: &str = "record.json";

/// Begins the names of runs that test a prediction; records of before [`RunKind`] say so by this alone.
const OLD_PROOF: &str = "proof-";

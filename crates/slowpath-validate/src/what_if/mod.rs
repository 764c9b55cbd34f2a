//! How well fitted paths explain captures, and how well they predict changes.
//!
//! * [`factual`]: the labelled captures of a corpus are fitted; labels are read for the score alone.
//! * [`pairs`]: a path A and a change are drawn by a fixed seed, a transfer over A is captured and fitted, the change is predicted, and
//!   compared with the transfer over A with the change made. Both in simulated time.
//! * [`lab`]: the same with both transfers made by real programs over the kernel's TCP.
//! * [`drawn`]: what is drawn.
//! * [`page`](mod@page): what came of it, for people.
//!
//! Every result is a line of a file as soon as it is there, so a run that was ended goes on where it was.

pub mod drawn;
pub mod factual;
pub mod lab;
pub mod page;
pub mod pairs;

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The corpus: `SLOWPATH_CORPUS`.
pub fn corpus() -> Option<PathBuf> {
    std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from)
}

/// Results of one kind, one a line.
#[derive(Debug)]
pub struct Kept<T> {
    path: PathBuf,
    /// Those that are there.
    pub rows: Vec<T>,
}

impl<T: Serialize + DeserializeOwned> Kept<T> {
    /// What lies in `folder` under that name.
    ///
    /// # Errors
    /// The file cannot be read; a last line that was cut off is left out.
    pub fn open(folder: &Path, name: &str) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let path = folder.join(name);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read?,
        };
        let rows = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        Ok(Self { path, rows })
    }

    /// Keeps one more.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn push(&mut self, row: T) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        writeln!(file, "{}", serde_json::to_string(&row)?)?;
        self.rows.push(row);
        Ok(())
    }
}

//! What a job usually does: the rates of its earlier runs, kept in a small file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::median;

/// Version of the file's form.
pub const SCHEMA: &str = "slowpath/baselines/1";

/// What is known of every job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baselines {
    /// [`SCHEMA`] of the writer.
    pub schema: String,
    /// Jobs by their names.
    pub jobs: BTreeMap<String, Baseline>,
}

impl Default for Baselines {
    fn default() -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            jobs: BTreeMap::new(),
        }
    }
}

/// What is known of one job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Baseline {
    /// Payload bytes per second of its runs, the newest last.
    pub byte_per_s: Vec<f64>,
    /// When the newest ended, seconds since 1970.
    pub last: u64,
}

/// What is to be expected of the next run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Expected {
    /// The middle of the earlier runs, bytes per second.
    pub usual: f64,
    /// A run below this is slow, bytes per second.
    pub slow_below: f64,
    /// How many earlier runs there are.
    pub runs: usize,
}

impl Baseline {
    /// What is to be expected; `None` below three runs.
    ///
    /// Slow is what is slower than usual by a quarter at least, and by three times what the earlier runs differ: the median
    /// of their distances from the middle, on a scale of ratios, times 1.48 for a normal spread.
    pub fn expected(&self) -> Option<Expected> {
        let known: Vec<f64> = self
            .byte_per_s
            .iter()
            .copied()
            .filter(|rate| *rate > 0.0)
            .collect();
        if known.len() < LEAST_RUNS {
            return None;
        }
        let usual = median(&known);
        let distances: Vec<f64> = known.iter().map(|rate| (rate / usual).ln().abs()).collect();
        let spread = median(&distances) * NORMAL;
        Some(Expected {
            usual,
            slow_below: usual * (-(DEVIATIONS * spread).max(LEAST_SLOWER)).exp(),
            runs: known.len(),
        })
    }

    /// Adds a run that ended at `at`, seconds since 1970.
    pub fn add(&mut self, byte_per_s: f64, at: u64) {
        self.byte_per_s.push(byte_per_s);
        let surplus = self.byte_per_s.len().saturating_sub(MOST_RUNS);
        self.byte_per_s.drain(..surplus);
        self.last = at;
    }
}

impl Baselines {
    /// Reads the file; there is none before the first run.
    ///
    /// # Errors
    /// Those of reading, and `InvalidData` for a file of another form.
    pub fn read(path: &Path) -> io::Result<Self> {
        match std::fs::read(path) {
            Ok(bytes) => {
                let read: Self = serde_json::from_slice(&bytes)
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
                if read.schema == SCHEMA {
                    Ok(read)
                } else {
                    let text = format!("it has the form {}, not {SCHEMA}", read.schema);
                    Err(io::Error::new(io::ErrorKind::InvalidData, text))
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// Those of writing.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let partial = path.with_extension("partial");
        let mut file = std::fs::File::create(&partial)?;
        serde_json::to_writer(&mut file, self).map_err(io::Error::other)?;
        file.write_all(b"\n")?;
        file.sync_data()?;
        std::fs::rename(&partial, path)
    }

    /// Adds a run of a job, and forgets the jobs that were not seen for longest when there are too many.
    pub fn add(&mut self, job: &str, byte_per_s: f64, at: u64) {
        self.jobs.entry(job.to_owned()).or_default().add(byte_per_s, at);
        while self.jobs.len() > MOST_JOBS {
            let oldest = self.jobs.iter().min_by_key(|(_, known)| known.last);
            let Some(name) = oldest.map(|(name, _)| name.clone()) else {
                return;
            };
            self.jobs.remove(&name);
        }
    }
}

/// Runs below which nothing is expected.
const LEAST_RUNS: usize = 3;
/// Runs of a job that are remembered.
const MOST_RUNS: usize = 30;
/// Jobs that are remembered.
const MOST_JOBS: usize = 500;
/// From a median distance to a standard deviation of normal data.
const NORMAL: f64 = 1.4826;
/// A run that far from the middle is no chance.
const DEVIATIONS: f64 = 3.0;
/// What nobody minds: a quarter slower, as a logarithm.
const LEAST_SLOWER: f64 = 0.2877;

#[cfg(test)]
mod tests {
    use super::*;

    fn known(rates: &[f64]) -> Baseline {
        Baseline {
            byte_per_s: rates.to_vec(),
            last: 0,
        }
    }

    #[test]
    fn slow_is_below_what_the_job_itself_does() {
        assert_eq!(known(&[10e6, 11e6]).expected(), None);
        // Steady: a quarter below is slow.
        let steady = known(&[10e6, 10.1e6, 9.9e6, 10e6]).expected().unwrap();
        assert_eq!((steady.usual, steady.runs), (10e6, 4));
        assert!((steady.slow_below / 7.5e6 - 1.0).abs() < 0.01, "{steady:?}");
        // One that differs by a factor from night to night is slow only far below.
        let wild = known(&[4e6, 10e6, 20e6, 6e6, 15e6]).expected().unwrap();
        assert!(wild.slow_below < 2.5e6, "{wild:?}");
        // One bad night does not move what is expected.
        let after = known(&[10e6, 10.1e6, 1e6, 9.9e6, 10e6]).expected().unwrap();
        assert!(after.slow_below > 7e6, "{after:?}");
    }

    #[test]
    fn the_file_is_bounded_and_read_again() {
        let mut all = Baselines::default();
        for run in 0..100_u32 {
            all.add("scp to a:22", f64::from(run), run.into());
        }
        assert_eq!(all.jobs["scp to a:22"].byte_per_s.len(), MOST_RUNS);
        assert_eq!(all.jobs["scp to a:22"].byte_per_s.last(), Some(&99.0));
        for job in 0..=MOST_JOBS {
            all.add(&format!("job {job}"), 1.0, 200 + job as u64);
        }
        assert_eq!(all.jobs.len(), MOST_JOBS);
        assert!(!all.jobs.contains_key("scp to a:22"));
        let folder = std::env::temp_dir().join(format!("slowpath-test-baselines-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("baselines.json");
        assert_eq!(Baselines::read(&path).unwrap(), Baselines::default());
        all.write(&path).unwrap();
        assert_eq!(Baselines::read(&path).unwrap(), all);
        std::fs::write(&path, r#"{"schema":"x","jobs":{}}"#).unwrap();
        assert!(Baselines::read(&path).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

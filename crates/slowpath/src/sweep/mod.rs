//! One experiment over ranges of settings, in simulated time: on all cores, in parts on many machines, and put together.
//!
//! A [`Design`] says all that is computed, with the texts of the experiment's files. Its points with their variants are
//! numbered [`Units`]. Each run is named by what it is ([`identity`]), and what is computed lies in `parts/` of the results
//! folder at once: a killed sweep goes on where it was, and parts from anywhere are put together by their runs' names
//! ([`merge`]). Equal designs give equal tables, on however many cores, shards or machines they were computed.

mod cite;
mod compute;
mod design;
mod kept;
mod merge;
mod tables;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::Summary;
pub use slowpath_report::csv::mark;
use slowpath_report::quantity::RateUnit;
use slowpath_scenario::intervention::{ApplyError, KEYS, SpellingError};
use slowpath_scenario::sweep::{MOST_COMBINATIONS, SweepError};

pub use self::design::{Design, Narrow, Units};
pub use self::kept::{Kept, identity};
pub use self::merge::merge;
pub use self::tables::{FILES, tables, write};
pub use self::text::{write_json, write_text};
use crate::folder::{Folder, FolderError};
use crate::load::LoadError;

/// The version of the form of `sweep.json`.
pub const SCHEMA: &str = "slowpath/sweep/1";

/// What to sweep.
#[derive(Debug, Clone, Default)]
pub struct SweepOptions {
    /// The experiment: a built-in's name or a path.
    pub experiment: String,
    /// The sweeps as the user wrote them.
    pub sweeps: Vec<String>,
    /// A Latin hypercube's sample of so many points, instead of every combination.
    pub sample: Option<usize>,
    /// Only these variants; empty means all.
    pub variants: Vec<String>,
    /// Repeats of every point and variant, instead of the experiment's own number.
    pub repeats: Option<u32>,
    /// Repeats until a point's interval is narrow enough.
    pub narrow: Option<Narrow>,
    /// The experiment's seed.
    pub seed: u64,
    /// Smaller transfers where the experiment offers them.
    pub quick: bool,
    /// Whether it is found out what limits each run.
    pub explained: bool,
    /// Whether samples over time are kept.
    pub samples: bool,
}

/// One part of a sweep: every unit whose number leaves the rest `index` when divided by `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 0.
    pub index: usize,
    /// How many parts there are.
    pub of: usize,
}

impl Shard {
    /// The units of this shard among `all`.
    pub fn units(self, all: usize) -> Vec<usize> {
        (self.index..all).step_by(self.of).collect()
    }
}

/// Is told how many of how many runs (or points, where intervals decide about repeats) are done.
pub type Progress<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Why a sweep could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A sweep cannot be read.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// More combinations than anybody waits for.
    #[error(
        "the sweeps have {count} combinations; at most {MOST_COMBINATIONS} are computed, take larger steps"
    )]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// The experiment cannot be loaded with a value of the sweep.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A variant cannot be planned.
    #[error(transparent)]
    Plan(#[from] slowpath_scenario::plan::PlanError),
    /// A key that is neither short nor dotted.
    #[error(
        "--sweep {key}=...: there is no such setting{hint}; known are {}, and dotted keys of the experiment file such as network.both[0].rate",
        KEYS.join(", ")
    )]
    Key {
        /// The key.
        key: String,
        /// What was probably meant, or nothing.
        hint: String,
    },
    /// A short key's value has another form.
    #[error("--sweep {0}")]
    Value(#[from] SpellingError),
    /// A change does not fit the experiment.
    #[error(transparent)]
    Change(#[from] ApplyError),
    /// A run failed.
    #[error("{place} failed: {error}")]
    Run {
        /// Which point, variant and repeat.
        place: String,
        /// Why.
        error: String,
    },
    /// The user stopped it.
    #[error("interrupted; {kept} of {all} runs are kept, and the same command goes on with the others")]
    Interrupted {
        /// What lies in the folder.
        kept: usize,
        /// What was to be computed.
        all: usize,
    },
    /// The results folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A part of a sweep is broken.
    #[error("reading a part of a sweep, {path}: {what}; delete it, and the same command computes it again")]
    Part {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A folder that holds no sweep.
    #[error(
        "opening the sweep in {path}: {what}; `slowpath sweep EXPERIMENT KEY=RANGE --out {path}` makes one"
    )]
    NoSweep {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The folder holds another experiment's sweep.
    #[error("the folder {path} holds a sweep of {there}, not of {here}; give another --out")]
    Mixed {
        /// The folder.
        path: PathBuf,
        /// The experiment there.
        there: String,
        /// The experiment that was asked for.
        here: String,
    },
    /// Parts of different sweeps.
    #[error(
        "putting sweeps together: {path} has {what} than {first}; only parts of one sweep can be put together"
    )]
    Different {
        /// The first folder.
        first: PathBuf,
        /// The one that differs.
        path: PathBuf,
        /// In what it differs: `another seed`.
        what: String,
    },
    /// Points without runs.
    #[error(
        "putting the sweep together: {missing} of its {all} points with their variants are not computed, the first of them {first}; run the missing shards, or `slowpath sweep` with the same words and --out"
    )]
    Missing {
        /// How many.
        missing: usize,
        /// Of how many.
        all: usize,
        /// The first.
        first: String,
    },
    /// Another version of the model.
    #[error(
        "the sweep was made with version {there} of the model, this program has {here}: their results do not go together; use the same slowpath everywhere"
    )]
    OtherModel {
        /// In the design.
        there: u32,
        /// Here.
        here: u32,
    },
    /// A number of a unit that the design does not have.
    #[error("the sweep has no unit {unit}; its units are 0 to {last}")]
    NoUnit {
        /// The number.
        unit: usize,
        /// The largest.
        last: usize,
    },
}

/// Everything that a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swept {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the model.
    pub model: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Its seed.
    #[serde(serialize_with = "slowpath_record::text_number::serialize")]
    pub seed: u64,
    /// The swept keys, in the order given.
    pub keys: Vec<String>,
    /// The unit in which the source publishes rates.
    pub rate_unit: RateUnit,
    /// One entry for each combination of values and variant, the last key varying fastest.
    pub points: Vec<Point>,
}

/// One combination of values and one variant.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// The values of the keys.
    pub values: Vec<String>,
    /// The variant.
    pub variant: String,
    /// Goodput over the complete runs, byte/s; absent without one.
    pub goodput_byte_per_s: Option<Summary>,
    /// What limited most of the runs; absent where it was not asked for or cannot be told.
    pub limit: Option<String>,
    /// The repeats.
    pub runs: Vec<Run>,
}

/// One simulated run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What names it: [`identity`].
    pub id: String,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Its seed.
    #[serde(with = "slowpath_record::text_number")]
    pub seed: u64,
    /// Bytes that reached the receiving application.
    pub bytes: u64,
    /// From asking to the last byte.
    pub duration_s: f64,
    /// Bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Segments sent again, if known.
    pub retransmitted_segments: Option<u64>,
    /// Share of the packets that did not arrive; absent where they were not counted.
    pub loss_fraction: Option<f64>,
    /// Whether it came to its end.
    pub complete: bool,
    /// What limited it, by its code.
    pub limit: Option<String>,
    /// How sure that is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// Computes a whole sweep and keeps nothing on disk.
///
/// # Errors
/// [`Error`]; a plan that cannot be made is found before anything is computed.
pub fn run(options: &SweepOptions, cancel: &AtomicBool, observe: &Progress<'_>) -> Result<Swept, Error> {
    let units = Units::of(Design::of(options)?)?;
    check(&units)?;
    let all: Vec<usize> = (0..units.len()).collect();
    let runs = compute::compute(&units, &all, &HashMap::new(), None, &on_all(cancel, observe))?;
    Ok(swept(&units, &runs))
}

/// Computes the first run of the first point of a sweep: one run with settings laid over its experiment.
///
/// # Errors
/// [`Error`].
pub fn one(options: &SweepOptions, cancel: &AtomicBool) -> Result<Kept, Error> {
    let units = Units::of(Design::of(options)?)?;
    if units.is_empty() {
        return Err(Error::NoUnit { unit: 0, last: 0 });
    }
    let work = on_all(cancel, &|_, _| {});
    let runs = compute::compute(&units, &[0], &HashMap::new(), None, &work)?;
    let first = runs.into_iter().flatten().next();
    first.ok_or(Error::NoUnit { unit: 0, last: 0 })
}

/// Computes a sweep, or one shard of it, into the folder `out`: what lies there is taken from there. Writes the tables
/// once all points have their runs.
///
/// Says what was found, or for a shard nothing.
///
/// # Errors
/// [`Error`]; what was computed before an error is kept.
pub fn run_in(
    options: &SweepOptions,
    shard: Option<Shard>,
    out: &Path,
    cancel: &AtomicBool,
    observe: &Progress<'_>,
) -> Result<Option<Swept>, Error> {
    compute_in(Design::of(options)?, shard, out, cancel, observe)
}

/// As [`run_in`], for a design that was made before, perhaps elsewhere.
///
/// # Errors
/// [`Error`]; what was computed before an error is kept.
pub fn compute_in(
    design: Design,
    shard: Option<Shard>,
    out: &Path,
    cancel: &AtomicBool,
    observe: &Progress<'_>,
) -> Result<Option<Swept>, Error> {
    let units = Units::of(design)?;
    check(&units)?;
    let wanted = shard.unwrap_or(Shard { index: 0, of: 1 }).units(units.len());
    let folder = open(&units, out)?;
    let known = kept::read(out)?;
    let runs = compute::compute(&units, &wanted, &known, Some(&folder), &on_all(cancel, observe))?;
    if shard.is_some() {
        return Ok(None);
    }
    let found = swept(&units, &runs);
    write(&units, &found, &runs, out)?;
    Ok(Some(found))
}

/// Computes some units of a design into a folder on one thread, as one of many workers does, whatever lies there; says how
/// many runs they have.
///
/// # Errors
/// [`Error`]; what was computed before an error is kept.
pub fn batch(design: Design, wanted: &[usize], out: &Path, cancel: &AtomicBool) -> Result<usize, Error> {
    let units = Units::of(design)?;
    if let Some(&unit) = wanted.iter().find(|unit| **unit >= units.len()) {
        return Err(Error::NoUnit {
            unit,
            last: units.len().saturating_sub(1),
        });
    }
    let work = compute::Work {
        threads: 1,
        ..on_all(cancel, &|_, _| {})
    };
    let runs = compute::compute(&units, wanted, &HashMap::new(), Some(&open(&units, out)?), &work)?;
    Ok(runs.iter().map(Vec::len).sum())
}

/// The units of a design of which a folder lacks runs; the folder is made where it is missing.
///
/// # Errors
/// [`Error`]; a plan that cannot be made is found.
pub fn missing(design: Design, out: &Path) -> Result<Vec<usize>, Error> {
    let units = Units::of(design)?;
    check(&units)?;
    open(&units, out)?;
    merge::missing(&units, &kept::read(out)?)
}

/// The folder of a sweep, made where it is missing.
fn open(units: &Units, out: &Path) -> Result<Folder, Error> {
    if let Ok(there) = merge::design(out)
        && there.experiment != units.design.experiment
    {
        return Err(Error::Mixed {
            path: out.to_owned(),
            there: there.experiment,
            here: units.design.experiment.clone(),
        });
    }
    let folder = kept::prepare(out)?;
    merge::write_design(&folder, &units.design)?;
    Ok(folder)
}

fn on_all<'a>(cancel: &'a AtomicBool, observe: &'a Progress<'a>) -> compute::Work<'a> {
    compute::Work {
        threads: crate::processors::all(),
        cancel,
        observe,
    }
}

/// Plans every unit once, so that a mistake is found before anything is computed.
fn check(units: &Units) -> Result<(), Error> {
    let plans = crate::processors::each(units.len(), &|unit| units.plan(unit, 0).map(drop));
    plans.into_iter().collect()
}

/// The runs of all units as points.
fn swept(units: &Units, runs: &[Vec<Kept>]) -> Swept {
    let points = (runs.iter().enumerate())
        .map(|(unit, kept)| {
            let runs: Vec<Run> = kept.iter().map(|kept| kept.run.clone()).collect();
            let complete = runs.iter().filter(|run| run.complete);
            let rates: Vec<f64> = complete.map(|run| run.goodput_byte_per_s).collect();
            Point {
                values: units.values(unit),
                variant: units.variant(unit).to_owned(),
                goodput_byte_per_s: Summary::of_rates(&rates),
                limit: most(&runs),
                runs,
            }
        })
        .collect();
    Swept {
        schema: SCHEMA.to_owned(),
        model: units.design.model,
        experiment: units.design.experiment.clone(),
        seed: units.design.seed,
        keys: units.keys.clone(),
        rate_unit: units.rate_unit,
        points,
    }
}

/// The limit of most runs; of several as frequent ones the first.
fn most(runs: &[Run]) -> Option<String> {
    let count = |limit: &str| {
        runs.iter()
            .filter(|run| run.limit.as_deref() == Some(limit))
            .count()
    };
    let mut best: Option<(&str, usize)> = None;
    for limit in runs.iter().filter_map(|run| run.limit.as_deref()) {
        let found = count(limit);
        if best.is_none_or(|(_, most)| found > most) {
            best = Some((limit, found));
        }
    }
    best.map(|(limit, _)| limit.to_owned())
}

#[cfg(test)]
mod tests {
    use slowpath_report::Style;
    use slowpath_report::text::columns;

    use super::*;

    /// A key that only some variants have sweeps those, and an override need not fit the others.
    #[test]
    fn only_the_chosen_variants_are_swept() {
        let options = SweepOptions {
            experiment: "iperf3-modes".to_owned(),
            variants: vec!["wired-1g-udp-1m".to_owned()],
            repeats: Some(1),
            ..options(&["network.up[3].per_packet=11 us,12 us"])
        };
        let swept =
            run(&options, &AtomicBool::new(false), &|_, _| {}).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(swept.points.len(), 2);
        assert!(
            swept
                .points
                .iter()
                .all(|point| point.variant == "wired-1g-udp-1m")
        );
    }

    fn options(sweeps: &[&str]) -> SweepOptions {
        SweepOptions {
            experiment: "cisco-ftp".to_owned(),
            sweeps: sweeps.iter().map(|&sweep| sweep.to_owned()).collect(),
            variants: vec!["iosxe-default".to_owned()],
            repeats: Some(2),
            seed: 1,
            quick: true,
            explained: true,
            ..SweepOptions::default()
        }
    }

    fn sweep(sweeps: &[&str]) -> Result<Swept, Error> {
        run(&options(sweeps), &AtomicBool::new(false), &|_, _| {})
    }

    #[test]
    fn a_window_limited_transfer_follows_the_delay() {
        let swept = sweep(&["delay=20 ms..80 ms by 2", "loss=0 %"]).unwrap();
        assert_eq!(swept.keys, ["delay", "loss"]);
        let rates: Vec<f64> = swept
            .points
            .iter()
            .map(|point| point.goodput_byte_per_s.as_ref().unwrap().mean)
            .collect();
        assert_eq!(rates.len(), 3);
        // Window over round-trip time: half the rate at twice the delay.
        for pair in rates.windows(2) {
            assert!((1.8..2.2).contains(&(pair[0] / pair[1])), "{rates:?}");
        }
        assert!(swept.points.iter().all(|point| point.runs.len() == 2));
        let limits: Vec<_> = swept.points.iter().map(|point| point.limit.as_deref()).collect();
        assert_eq!(limits, [Some("receiver-window"); 3]);
        let mut text = Vec::new();
        write_text(&swept, Style::default(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.lines().all(|line| columns(line) <= 80), "{text}");
    }

    #[test]
    fn the_same_sweep_gives_the_same_bytes_on_any_number_of_threads() {
        let [a, b] = [(); 2].map(|()| sweep(&["loss=0.01 %,0.1 %"]).unwrap());
        assert_eq!(a, b);
    }

    #[test]
    fn frames_are_swept_too() {
        let file = std::env::temp_dir().join(format!("slowpath-sweep-{}.toml", std::process::id()));
        let text = "title = \"t\"\n[network]\nup = [{ rate = \"1 Gbit/s\" }]\ndown = []\n[workload]\nkind = \"frames\"\n\
                    frame = \"1024 B\"\nline = \"100 Mbit/s\"\nload = \"80 %\"\nduration = \"1 s\"\n";
        std::fs::write(&file, text).unwrap();
        let options = SweepOptions {
            experiment: file.display().to_string(),
            variants: Vec::new(),
            repeats: Some(1),
            ..options(&["rate=40 Mbit/s,1 Gbit/s"])
        };
        let swept = run(&options, &AtomicBool::new(false), &|_, _| {});
        std::fs::remove_file(&file).unwrap();
        let lost: Vec<f64> = swept
            .unwrap()
            .points
            .iter()
            .map(|point| point.runs[0].loss_fraction.unwrap())
            .collect();
        // About half of 80 Mbit/s passes through 40, and all of it through 1 Gbit/s.
        assert!((0.3..0.6).contains(&lost[0]) && lost[1] < 1e-9, "{lost:?}");
    }

    #[test]
    fn mistakes_are_named() {
        for (text, says) in [
            ("loss=red", "loss=red"),
            ("los=1 %", "los"),
            ("loss=0.1 %..9 %", "needs a step"),
            ("part-size=8 MiB", "part"),
        ] {
            let error = sweep(&[text]).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}

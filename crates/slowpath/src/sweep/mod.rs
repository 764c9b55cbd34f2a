//! One experiment over ranges of settings, in simulated time: on all cores, in parts on many machines, and put together.
//!
//! A [`Design`] says all that is computed, with the texts of the experiment's files. Its points with their variants are
//! numbered [`Units`]. Each run is named by what it is ([`identity`]), and what is computed lies in `parts/` of the results
//! folder at once: a killed sweep goes on where it was, and parts from anywhere are put together by their runs' names
//! ([`merge`]). Equal designs give equal tables, on however many cores, shards or machines they were computed.

mod cite;
mod compute;
mod design;
mod error;
mod found;
mod kept;
mod merge;
mod options;
mod points;
mod tables;
mod text;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use self::design::{Design, Units};
pub use self::error::Error;
pub use self::found::{Point, Run, SCHEMA, Swept};
pub use self::kept::{Kept, identity};
pub use self::merge::merge;
pub use self::options::{Narrow, Progress, Shard, SweepOptions};
use self::points::swept;
use self::tables::write;
pub use self::tables::{DOCUMENT, RUNS};
pub use self::text::write_text;
use crate::folder::Folder;

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
pub fn batch(units: &Units, wanted: &[usize], out: &Path, cancel: &AtomicBool) -> Result<usize, Error> {
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
    let runs = compute::compute(units, wanted, &HashMap::new(), Some(&open(units, out)?), &work)?;
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

/// Whether a folder holds a sweep over other settings or of other variants, whose tables this one would take the place of; one
/// with other values of the same settings goes on there.
pub fn holds_another(options: &SweepOptions, folder: &Path) -> bool {
    let setting = |range: &String| {
        let name = range.split_once('=').map_or(range.as_str(), |(name, _)| name);
        name.trim().to_owned()
    };
    let settings = |sweeps: &[String]| sweeps.iter().map(setting).collect::<Vec<_>>();
    merge::design(folder).is_ok_and(|there| {
        settings(&there.sweeps) != settings(&options.sweeps)
            || there.variants != options.variants
            || there.quick != options.quick
    })
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
        threads: crate::processors::count(),
        cancel,
        observe,
    }
}

/// Plans every unit once, so that a mistake is found before anything is computed.
fn check(units: &Units) -> Result<(), Error> {
    let plans = crate::processors::each(units.len(), &|unit| units.plan(unit, 0).map(drop));
    plans.into_iter().collect()
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

//! Settings over a range that a dossier's questions ask for, computed in simulated time and kept in the results folder.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use slowpath_packet::Dscp;
use slowpath_report::results::{RangePoint, RangeResult, RangeWish};

use crate::folder::{Folder, FolderError};
use crate::load::Loaded;
use crate::sweep::{self, SweepOptions, Swept};

/// The file in which ranges are kept beside the records.
pub const RANGES: &str = "ranges.json";

/// Computes the ranges that the questions ask for and the folder does not hold yet, of variants that were asked for
/// (every one, if none was named), and says how many it computed. `experiment` is the experiment as the user typed it.
///
/// # Errors
/// [`RangeError`]; ranges that were computed before an error stay in the folder.
pub fn compute(
    experiment: &str,
    loaded: &Loaded,
    variants: &[String],
    seed: u64,
    folder: &Folder,
    cancel: &AtomicBool,
) -> Result<usize, RangeError> {
    let mut all = kept(folder);
    let before = all.len();
    let known: HashSet<RangeWish> = all.iter().map(|range| range.wish.clone()).collect();
    let wishes = loaded
        .dossier
        .questions
        .iter()
        .flat_map(|question| &question.range);
    let chosen =
        |wish: &&RangeWish| variants.is_empty() || wish.of.iter().all(|name| variants.contains(name));
    for wish in wishes.filter(chosen).filter(|wish| !known.contains(wish)) {
        let overlaid = loaded.set.iter().map(|(key, value)| format!("{key}={value}"));
        let options = SweepOptions {
            experiment: experiment.to_owned(),
            sweeps: overlaid
                .chain(wish.set.iter().cloned())
                .chain([wish.sweep.clone()])
                .collect(),
            variants: wish.of.clone(),
            seed,
            ..SweepOptions::default()
        };
        let swept = sweep::run(&options, cancel, &|_, _| {})?;
        all.push(RangeResult {
            wish: wish.clone(),
            points: points(wish, &swept),
        });
        let text = serde_json::to_vec_pretty(&all).expect("ranges can always be written as JSON");
        folder.write(RANGES, &text)?;
    }
    Ok(all.len() - before)
}

/// The points of the last key, each with the goodput of every variant.
fn points(wish: &RangeWish, swept: &Swept) -> Vec<RangePoint> {
    let mut out: Vec<(String, RangePoint)> = Vec::new();
    for point in &swept.points {
        let Some(value) = point.values.last() else {
            continue;
        };
        let place = out
            .iter()
            .position(|(typed, _)| typed == value)
            .unwrap_or_else(|| {
                let byte_per_s = vec![None; wish.of.len()];
                out.push((
                    value.clone(),
                    RangePoint {
                        value: named(wish, value),
                        byte_per_s,
                    },
                ));
                out.len() - 1
            });
        if let Some(variant) = wish.of.iter().position(|name| *name == point.variant) {
            out[place].1.byte_per_s[variant] = point.goodput_byte_per_s.as_ref().map(|goodput| goodput.mean);
        }
    }
    out.into_iter().map(|(_, point)| point).collect()
}

/// A value as people call it: marks by their names.
fn named(wish: &RangeWish, value: &str) -> String {
    let mark = wish
        .sweep
        .starts_with("dscp=")
        .then(|| value.parse::<Dscp>().ok())
        .flatten();
    mark.map_or_else(|| value.to_owned(), |mark| mark.to_string())
}

/// The ranges kept in a folder; none if there are none.
pub fn kept(folder: &Folder) -> Vec<RangeResult> {
    let text = std::fs::read(folder.root().join(RANGES)).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Why a range could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum RangeError {
    /// A point could not be planned or run.
    #[error("computing a range for an answer: {0}")]
    Sweep(#[from] sweep::Error),
    /// The folder cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

//! Why a sweep could not be made.

use std::path::PathBuf;

use slowpath_scenario::intervention::{ApplyError, KEYS, SpellingError};
use slowpath_scenario::sweep::{MOST_COMBINATIONS, SweepError};

use crate::folder::FolderError;
use crate::load::LoadError;

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
    /// A key that two sweeps have.
    #[error("--sweep {key}=...: it is given twice; give all its values in one, as in {key}=A,B")]
    Twice {
        /// The key.
        key: String,
    },
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
    #[error("{0}{added}", added = how_to_add(.0))]
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

/// How to add what a path lacks, where that is one element.
fn how_to_add(error: &ApplyError) -> String {
    let ApplyError::NothingToChange { what, .. } = error else {
        return String::new();
    };
    let example = match *what {
        "link" => "{ rate = \"50 Mbit/s\", queue = \"100 packets\" }",
        "delay" => "{ delay = \"10 ms\" }",
        "loss" => "{ loss = \"0 %\" }",
        _ => return String::new(),
    };
    let added = format!("add one to its path in the experiment file, such as {example}, and sweep again");
    format!("; {added}")
}

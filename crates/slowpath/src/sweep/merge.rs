//! Parts of one sweep from several folders, put together.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::compute::until_narrow;
use super::design::{Design, Units};
use super::error::Error;
use super::found::Swept;
use super::kept::{self, Kept, identity};
use super::points::swept;
use super::tables::write;
use crate::folder::{Folder, FolderError};

/// Puts the parts in `folders` together into `out`, which may be one of them, and writes the tables.
///
/// # Errors
/// [`Error`]: folders that hold no sweep or parts of different ones, parts that cannot be read, points that nobody
/// computed.
pub fn merge(folders: &[PathBuf], out: &Path) -> Result<Swept, Error> {
    let mut known = HashMap::new();
    let mut of: Option<(&PathBuf, Design)> = None;
    for path in folders {
        let found = design(path)?;
        match &of {
            None => of = Some((path, found)),
            Some((first, expected)) => {
                if let Some(what) = difference(expected, &found) {
                    return Err(Error::Different {
                        first: (*first).clone(),
                        path: path.clone(),
                        what,
                    });
                }
            }
        }
        known.extend(kept::read(path)?);
    }
    let Some((_, design)) = of else {
        return Err(Error::NoSweep {
            path: out.to_owned(),
            what: "no folder was given".to_owned(),
        });
    };
    let units = Units::of(design)?;
    let runs = gather(&units, &known)?;
    let folder = kept::prepare(out)?;
    write_design(&folder, &units.design)?;
    if !folders.iter().any(|path| path == out) {
        let all: Vec<Kept> = runs.iter().flatten().cloned().collect();
        kept::write(&folder, &all)?;
    }
    let found = swept(&units, &runs);
    write(&units, &found, &runs, out)?;
    Ok(found)
}

/// The units of which runs are not known.
///
/// # Errors
/// [`Error`] if the experiment cannot be set so.
pub(super) fn missing(units: &Units, known: &HashMap<String, Kept>) -> Result<Vec<usize>, Error> {
    let found = lookup(units, known)?;
    Ok((found.iter().enumerate())
        .filter(|(_, runs)| runs.is_none())
        .map(|(unit, _)| unit)
        .collect())
}

/// The runs of every unit, all of them known.
fn gather(units: &Units, known: &HashMap<String, Kept>) -> Result<Vec<Vec<Kept>>, Error> {
    let found = lookup(units, known)?;
    if let Some(first) = found.iter().position(Option::is_none) {
        return Err(Error::Missing {
            missing: found.iter().filter(|runs| runs.is_none()).count(),
            all: units.len(),
            first: format!("{} of {}", units.values(first).join(", "), units.variant(first)),
        });
    }
    Ok(found.into_iter().flatten().collect())
}

/// The runs of every unit; nothing for one of which some are not known.
fn lookup(units: &Units, known: &HashMap<String, Kept>) -> Result<Vec<Option<Vec<Kept>>>, Error> {
    let of = |unit: usize| {
        let one = |repeat| Ok(known.get(&identity(&units.plan(unit, repeat)?)).cloned());
        until_narrow(units, unit, one)
    };
    crate::processors::each(units.len(), &of).into_iter().collect()
}

/// The design that lies in a folder.
///
/// # Errors
/// [`Error::NoSweep`].
pub(super) fn design(path: &Path) -> Result<Design, Error> {
    let file = path.join(DESIGN);
    let none = |what: String| Error::NoSweep {
        path: path.to_owned(),
        what,
    };
    let text = fs::read(&file).map_err(|error| {
        none(match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                format!("it holds no {DESIGN}")
            }
            _ => format!("{DESIGN}: {error}"),
        })
    })?;
    serde_json::from_slice(&text).map_err(|error| none(format!("{DESIGN}: {error}")))
}

/// Writes the design into a folder that does not hold it yet; several processes may do so at the same moment.
///
/// # Errors
/// [`FolderError`].
pub(super) fn write_design(folder: &Folder, design: &Design) -> Result<(), FolderError> {
    let mut text = serde_json::to_vec_pretty(design).expect("a design can always be written as JSON");
    text.push(b'\n');
    if fs::read(folder.root().join(DESIGN)).is_ok_and(|there| there == text) {
        return Ok(());
    }
    // Under a name of this process first, so that nobody reads what another is writing.
    let path = folder.root().join(DESIGN);
    let own = folder.write(&format!("{DESIGN}.{}", std::process::id()), &text)?;
    fs::rename(own, &path).map_err(|source| FolderError::Write { path, source })
}

/// In what two designs differ, if they do.
fn difference(one: &Design, other: &Design) -> Option<String> {
    let differs = [
        (one.model != other.model, "another version of the model"),
        (one.experiment != other.experiment, "another experiment"),
        (one.text != other.text, "another text of the experiment"),
        (
            one.files != other.files,
            "another text of a file beside the experiment",
        ),
        (one.sweeps != other.sweeps, "other ranges"),
        (one.sample != other.sample, "another sample"),
        (one.variants != other.variants, "other variants"),
        (
            one.repeats != other.repeats || one.narrow != other.narrow,
            "other repeats",
        ),
        (one.seed != other.seed, "another seed"),
        (one.quick != other.quick, "another size of transfers"),
        (one != other, "another choice of what is kept"),
    ];
    (differs.into_iter().find(|(differs, _)| *differs)).map(|(_, what)| what.to_owned())
}

const DESIGN: &str = "design.json";

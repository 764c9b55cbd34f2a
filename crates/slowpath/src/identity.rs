//! Whether a results folder holds the experiment that is about to run, so that two are never joined into one table.
//!
//! What a run is, its plan says: every value, file content and seed that can reach it is in there. A finished run
//! belongs to an experiment as it is set now if that gives the very plan which the run was made from. So another clock,
//! more repeats, another variant or a comment leave a folder as it is; another setting, published figure, seed or
//! content of a file does not, and neither does a version of slowpath that plans the same text otherwise.

use slowpath_record::{Origin, RunKind, RunRecord};
use slowpath_scenario::{Clock, PlanOptions};

use crate::folder::{Folder, FolderError};
use crate::load::Loaded;
use crate::settings::{SETTINGS, Settings};

/// Says what keeps `loaded`, set as `settings`, from joining the finished runs of `folder`; nothing if they are its own.
///
/// # Errors
/// [`FolderError`] if a record cannot be read.
pub fn differences(
    loaded: &Loaded,
    settings: &Settings,
    folder: &Folder,
) -> Result<Vec<String>, FolderError> {
    let records = match folder.records() {
        Ok(records) => records,
        Err(FolderError::Empty { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let strangers: Vec<&(String, RunRecord)> = records
        .iter()
        .filter(|(_, record)| record.kind == RunKind::Plain && !is_own(loaded, settings, record))
        .collect();
    let Some((_, stranger)) = strangers.first() else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    match kept(folder) {
        Some(there) => compare_settings(&there, settings, &mut found),
        None if stranger.experiment != loaded.name => {
            found.push(format!(
                "experiment {} there, {} here",
                stranger.experiment, loaded.name
            ));
        }
        None => {}
    }
    compare_files(loaded, folder, &mut found);
    if found.is_empty() {
        let names: Vec<&str> = strangers
            .iter()
            .take(NAMED)
            .map(|(name, _)| name.as_str())
            .collect();
        found.push(format!(
            "the same text gives other plans than those of {} of its runs ({}): another version of slowpath made them",
            strangers.len(),
            names.join(", ")
        ));
    }
    Ok(found)
}

/// Whether the experiment as set gives the plan from which this record was made.
fn is_own(loaded: &Loaded, settings: &Settings, record: &RunRecord) -> bool {
    let clock = match record.origin {
        Origin::Simulated => Clock::Simulated,
        Origin::Lab => Clock::Lab,
        Origin::Live | Origin::Imported => return false,
    };
    let wanted = PlanOptions {
        variant: record.variant.clone(),
        repeat: record.repeat,
        seed: settings.seed,
        clock,
        quick: settings.quick,
        size: None,
    };
    let plan = loaded.experiment.plan(&wanted, &loaded.fragments);
    plan.is_ok_and(|plan| plan.digest() == record.plan_digest)
}

/// The settings that the folder keeps, if they can be read.
fn kept(folder: &Folder) -> Option<Settings> {
    serde_json::from_slice(&std::fs::read(folder.root().join(SETTINGS)).ok()?).ok()
}

fn compare_settings(there: &Settings, here: &Settings, found: &mut Vec<String>) {
    if there.experiment != here.experiment {
        found.push(format!(
            "experiment {} there, {} here",
            there.experiment, here.experiment
        ));
    }
    if there.seed != here.seed {
        found.push(format!("--seed {} there, {} here", there.seed, here.seed));
    }
    if there.quick != here.quick {
        let size = |quick| if quick { "--quick" } else { "full size" };
        found.push(format!("{} there, {} here", size(there.quick), size(here.quick)));
    }
    if there.set != here.set {
        found.push(format!("{} there, {} here", set(&there.set), set(&here.set)));
    }
}

/// What was set, as it is typed.
fn set(values: &[(String, String)]) -> String {
    let typed: Vec<String> = values
        .iter()
        .map(|(key, value)| format!("--set '{key}={value}'"))
        .collect();
    if typed.is_empty() {
        "no --set".to_owned()
    } else {
        typed.join(" ")
    }
}

/// The experiment file and the device configurations; the dossier beside them reaches no run.
fn compare_files(loaded: &Loaded, folder: &Folder, found: &mut Vec<String>) {
    let experiment = ("experiment.toml", loaded.text.as_str());
    let others = loaded
        .files
        .iter()
        .map(|(name, text)| (name.rsplit('/').next().unwrap_or(name), text.as_str()))
        .filter(|(name, _)| *name != "dossier.toml");
    for (name, here) in std::iter::once(experiment).chain(others) {
        match std::fs::read_to_string(folder.root().join(name)) {
            Ok(there) if there != here => {
                let changed = changed_line(name, &there, here);
                // Several hosts and devices may name one file.
                if !found.contains(&changed) {
                    found.push(changed);
                }
            }
            Ok(_) => {}
            Err(_) => found.push(format!("{name} is used here only")),
        }
    }
}

/// The first line in which a file's two contents differ.
fn changed_line(name: &str, there: &str, here: &str) -> String {
    let (mut old, mut new) = (there.lines(), here.lines());
    let mut number = 0;
    loop {
        number += 1;
        let (old, new) = (old.next(), new.next());
        if old == new && old.is_some() {
            continue;
        }
        let [old, new] = [old, new].map(|line| line.map(str::trim));
        let same = old.zip(new).map_or(0, |(old, new)| {
            old.chars().zip(new.chars()).take_while(|(a, b)| a == b).count()
        });
        let shown = |line: Option<&str>| match line {
            Some(line) => format!("\"{}\"", around(line, same)),
            None => "no such line".to_owned(),
        };
        return format!("{name} line {number}: {} there, {} here", shown(old), shown(new));
    }
}

/// A line, shortened to what lies around character `at` where it is long.
fn around(line: &str, at: usize) -> String {
    let from = at.saturating_sub(LONGEST_LINE / 3);
    let all = line.chars().count();
    if all <= LONGEST_LINE {
        return line.to_owned();
    }
    let before = if from > 0 { "…" } else { "" };
    let after = if from + LONGEST_LINE < all { "…" } else { "" };
    let part: String = line.chars().skip(from).take(LONGEST_LINE).collect();
    format!("{before}{part}{after}")
}

/// Runs named in a message, at most.
const NAMED: usize = 3;

/// Characters of a changed line that are shown, at most.
const LONGEST_LINE: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_changed_line_is_shown() {
        let line = |there, here| changed_line("experiment.toml", there, here);
        assert_eq!(
            line("a\nb = 1\nc", "a\nb = 2\nc"),
            "experiment.toml line 2: \"b = 1\" there, \"b = 2\" here"
        );
        assert_eq!(
            line("a\n", "a\nb\n"),
            "experiment.toml line 2: no such line there, \"b\" here"
        );
        // Equal but for the last line's end.
        assert!(line("a", "a\n").contains("no such line there, no such line here"));
        let (long, other) = ("x".repeat(100), "x".repeat(90) + "y");
        let said = line(&long, &other);
        assert!(said.contains("y\" here") && said.chars().count() < 120, "{said}");
    }
}

//! Results and report of a folder, made from its records.

use std::io::{self, Write};
use std::path::Path;

use slowpath_record::RunKind;
use slowpath_report::compare::FolderComparison;
use slowpath_report::graphs::GraphSet;
pub use slowpath_report::html::style;
use slowpath_report::results::Variant;
use slowpath_report::{Results, Style, csv, json, terminal};
use slowpath_scenario::{Clock, PlanOptions};

use crate::analyzed::Analyzed;
use crate::folder::{Folder, FolderError};
use crate::load::{LoadError, Loaded};
use crate::outcome;
use crate::ranges;
use crate::settings::{self, Call, SETTINGS, Settings};
use crate::sliders;

/// Makes `result.json`, `report.html` and the tables of a folder whose runs no experiment planned, from its records alone.
///
/// # Errors
/// [`FolderError`] if the records cannot be read or the files not be written.
pub(crate) fn write_records(folder: &Folder) -> Result<Results, FolderError> {
    let runs = outcome::analyze(folder)?;
    finish(folder, outcome::of_records(&runs), &runs)
}

/// Makes `result.json`, `report.html` and the tables from the records of the folder `root`.
///
/// # Errors
/// [`FolderError`] if the records cannot be read or the files not be written.
pub fn write(loaded: &Loaded, settings: &Settings, root: &Path) -> Result<Results, FolderError> {
    let folder = Folder::open(root);
    let runs = outcome::analyze(&folder)?;
    let mut results = outcome::results(loaded, settings.seed, &runs, |variant, clock| {
        plan(loaded, settings, variant, clock)
    });
    results.proofs = crate::prove::kept(&folder);
    results.ranges = ranges::kept(&folder);
    results.answers = slowpath_report::answers::answers(&results, &loaded.dossier.questions);
    results.reproduce = commands(settings, &folder);
    finish(&folder, results, &runs)
}

/// Stamps and writes what the runs of a folder come to.
fn finish(folder: &Folder, mut results: Results, runs: &[Analyzed]) -> Result<Results, FolderError> {
    results.written = Some(stamp(std::time::SystemTime::now()));
    let mut text = Vec::new();
    json::write_results(&results, &mut text).expect("writing to memory does not fail");
    folder.write("result.json", &text)?;
    let mut page = Vec::new();
    let graphs = graphs(&results, runs);
    let what_if = sliders::kept(folder);
    let part = what_if.as_ref().map(sliders::part);
    slowpath_report::html::write_report(&results, &graphs, part, &mut page)
        .expect("writing to memory does not fail");
    folder.write("report.html", &page)?;
    tables(folder, &results, &graphs)?;
    Ok(results)
}

/// Writes `runs.csv`, `figures.csv` and the points of each run's graphs in `graphs/`.
fn tables(folder: &Folder, results: &Results, graphs: &[GraphSet]) -> Result<(), FolderError> {
    let written = "writing to memory does not fail";
    let mut text = csv::mark().to_vec();
    csv::write_runs(results, &mut text).expect(written);
    folder.write("runs.csv", &text)?;
    text = csv::mark().to_vec();
    csv::write_figures(results, &mut text).expect(written);
    folder.write("figures.csv", &text)?;
    for set in graphs {
        text = csv::mark().to_vec();
        csv::write_graphs(set, &mut text).expect(written);
        let plain = |letter: char| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        };
        let variant: String = set.variant.chars().map(plain).collect();
        folder.write_graphs(&format!("{variant}.{}", set.run + 1), &text)?;
    }
    Ok(())
}

/// Makes result and report of a folder again, from what it keeps.
///
/// # Errors
/// What is missing or broken in the folder.
pub fn again(root: &Path) -> Result<Results, AgainError> {
    let path = root.join(SETTINGS);
    let folder = Folder::open(root);
    if !path.exists()
        && folder
            .records()
            .is_ok_and(|records| outcome::are_unplanned(&records))
    {
        return Ok(write_records(&folder)?);
    }
    let text = folder.read(SETTINGS)?;
    let settings: Settings =
        serde_json::from_slice(&text).map_err(|source| FolderError::Form { path, source })?;
    let names: Vec<String> = (folder.records()?.into_iter())
        .map(|(_, record)| record.variant)
        .collect();
    let file = root.join("experiment.toml").display().to_string();
    let mut loaded = Loaded::open_for(&file, &settings.set, &names)?;
    loaded.name.clone_from(&settings.experiment);
    Ok(write(&loaded, &settings, root)?)
}

/// Why a report could not be made again.
#[derive(Debug, thiserror::Error)]
pub enum AgainError {
    /// Something in the folder cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The experiment kept in the folder cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Compares the results of two folders.
///
/// # Errors
/// A folder without readable results.
pub fn compare(before: &Path, after: &Path) -> Result<FolderComparison, CompareError> {
    Ok(FolderComparison::of(&read(before)?, &read(after)?))
}

/// Why two folders could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The results cannot be read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The results do not have the expected form.
    #[error("reading {path} failed: {source}; `slowpath report` makes it again")]
    Form {
        /// Which file.
        path: std::path::PathBuf,
        /// What the reader said.
        source: json::ReadError,
    },
}

fn read(root: &Path) -> Result<Results, CompareError> {
    let path = root.join("result.json");
    let text = Folder::open(root).read("result.json")?;
    let text = String::from_utf8_lossy(&text);
    json::read_results(&text).map_err(|source| CompareError::Form { path, source })
}

/// The graphs of each variant's first two runs; more would make the page heavy and say little new.
fn graphs(results: &Results, runs: &[Analyzed]) -> Vec<GraphSet> {
    runs.iter()
        .filter(|run| run.record.repeat < GRAPHED_RUNS && run.record.kind == RunKind::Plain)
        .filter_map(|run| {
            let connection = run.analysis.as_ref()?.main_connection()?;
            let point = run
                .record
                .captures
                .first()
                .map_or("capture", |capture| capture.point.as_str());
            let own = |v: &&Variant| v.name == run.record.variant && v.clock == run.record.origin;
            let variant = results.variants.iter().find(own)?;
            let label = format!("run {}, at the {point}", run.record.repeat + 1);
            Some(GraphSet::of(
                &results.label(variant),
                run.record.repeat,
                label,
                connection,
            ))
        })
        .collect()
}

/// The commands that make the results again: the calls that the folder keeps, or what its settings say.
fn commands(settings: &Settings, folder: &Folder) -> Vec<String> {
    let mut calls = settings::calls(folder);
    if calls.is_empty() {
        calls.push(Call {
            experiment: settings.experiment.clone(),
            quick: settings.quick,
            set: settings.set.clone(),
            seed: settings.seed,
            ..Call::default()
        });
    }
    calls.iter().map(Call::command).collect()
}

/// A point in time as RFC 3339 writes it, in UTC, to the second.
pub fn stamp(at: std::time::SystemTime) -> String {
    let since = at.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // ISO 8601's basic form, `20261121T115959Z`, with the extended form's separators put in.
    let mut text = slowpath_units::calendar::basic(since.as_secs());
    for (place, separator) in [(13, ':'), (11, ':'), (6, '-'), (4, '-')] {
        text.insert(place, separator);
    }
    text
}

/// Prints the table, the answers and where the report lies.
///
/// # Errors
/// Those of `out`.
pub fn print(results: &Results, folder: &Path, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let report = folder.join("report.html");
    let place = report.exists().then(|| report.display().to_string());
    terminal::write_summary(results, style, place.as_deref(), out)
}

/// Prints what was found out about each variant and what the tests of changes said.
///
/// # Errors
/// Those of `out`.
pub fn print_diagnosis(
    results: &Results,
    folder: &Path,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let report = folder.join("report.html");
    let place = report.exists().then(|| report.display().to_string());
    terminal::write_diagnosis(results, style, place.as_deref(), out)
}

/// Forms of results beside the text for a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The document `slowpath/run/1`, as in `result.json`.
    Json,
    /// One JSON object a run and line, with the names of its variant and clock.
    JsonLines,
    /// One line a run, comma-separated.
    Csv,
    /// The page, as in `report.html`.
    Html,
}

/// Writes results in another form.
///
/// # Errors
/// Those of `out`, and of reading the page from the folder.
pub fn write_as(results: &Results, folder: &Path, form: Form, out: &mut dyn Write) -> io::Result<()> {
    match form {
        Form::Json => json::write_results(results, out),
        Form::JsonLines => json::write_run_lines(results, out),
        Form::Csv => {
            out.write_all(csv::mark())?;
            csv::write_runs(results, out)
        }
        Form::Html => out.write_all(&std::fs::read(folder.join("report.html"))?),
    }
}

/// Prints the table of what simulated time says, before the lab has run.
///
/// # Errors
/// Those of `out`.
pub fn print_first(results: &Results, style: Style, out: &mut dyn Write) -> io::Result<()> {
    terminal::write_first(results, style, out)
}

fn plan(
    loaded: &Loaded,
    settings: &Settings,
    variant: &str,
    clock: Clock,
) -> Option<slowpath_scenario::Plan> {
    let wanted = PlanOptions {
        variant: variant.to_owned(),
        repeat: 0,
        seed: settings.seed,
        clock,
        quick: settings.quick,
        size: None,
    };
    loaded.experiment.plan(&wanted, &loaded.fragments).ok()
}

/// Runs of each variant whose graphs are in the page.
const GRAPHED_RUNS: u32 = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_part_of_the_command() {
        let old = r#"{"experiment": "mine", "seed": 3, "quick": true}"#;
        let mut settings: Settings = serde_json::from_str(old).unwrap();
        let nothing = Folder::open(Path::new("/nowhere"));
        assert_eq!(
            commands(&settings, &nothing),
            ["slowpath run mine --quick --seed 3"]
        );
        let set = ("network.up[0].rate".to_owned(), "1 Gbit/s".to_owned());
        settings.set.push(set);
        assert_eq!(
            commands(&settings, &nothing),
            ["slowpath run mine --quick --set 'network.up[0].rate=1 Gbit/s' --seed 3"]
        );
    }

    #[test]
    fn stamps_are_utc() {
        let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        assert_eq!(stamp(at(0)), "1970-01-01T00:00:00Z");
        assert_eq!(stamp(at(951_782_400)), "2000-02-29T00:00:00Z");
        assert_eq!(stamp(at(1_795_262_399)), "2026-11-21T11:59:59Z");
    }
}

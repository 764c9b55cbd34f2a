//! Results and report of a folder, made from its records.

use std::io::{self, Write};
use std::path::Path;

use slowpath_report::{Results, Style, json, terminal};
use slowpath_scenario::{Clock, PlanOptions};

use crate::folder::{Folder, FolderError};
use crate::load::Loaded;
use crate::outcome;
use crate::run::RunOptions;

/// Makes `result.json` and `report.html` from the records of the options' folder.
///
/// # Errors
/// [`FolderError`] if the records cannot be read or the files not be written.
pub fn write(loaded: &Loaded, options: &RunOptions) -> Result<Results, FolderError> {
    let folder = Folder::open(&options.out);
    let runs = outcome::analyze(&folder)?;
    let results = outcome::results(loaded, options.seed, &runs, |variant, clock| {
        plan(loaded, options, variant, clock)
    });
    let mut text = Vec::new();
    json::write_results(&results, &mut text).expect("writing to memory does not fail");
    folder.write("result.json", &text)?;
    Ok(results)
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

fn plan(
    loaded: &Loaded,
    options: &RunOptions,
    variant: &str,
    clock: Clock,
) -> Option<slowpath_scenario::Plan> {
    let wanted = PlanOptions {
        variant: variant.to_owned(),
        repeat: 0,
        seed: options.seed,
        clock,
        quick: options.quick,
        size: None,
    };
    loaded.experiment.plan(&wanted, &loaded.fragments).ok()
}

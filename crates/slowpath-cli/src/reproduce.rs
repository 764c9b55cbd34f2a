//! `slowpath reproduce`.

use std::path::{Path, PathBuf};

use slowpath::fit::{self, Effort};
use slowpath::folder::Folder;
use slowpath::{explain, reproduce, sliders};

use crate::args::{ExperimentArgs, FitFormat, OneClock, ReproduceArgs};
use crate::exit::{self, Failure};
use crate::form::ResultsFormat;
use crate::{run, terminal};

/// Fits a path to a capture, runs the transfer on it, and lays the two beside each other.
pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<u8, Failure> {
    // Said before the minute that a fit takes.
    if args.clock == OneClock::Lab {
        run::lab_or_fail()?;
    }
    let opened = explain::open(&args.capture).map_err(|error| Failure::usage(error.to_string()))?;
    let empty = || {
        Failure::usage(format!(
            "fitting a path: {} holds no packets; give a capture of a transfer",
            args.capture.display()
        ))
    };
    let analysis = opened.analysis.as_ref().ok_or_else(empty)?;
    let connection = fit::connection(analysis, args.flow).map_err(|error| crate::fit::failed(&error))?;
    let fitted = crate::fit::shown(|simulator| fit::fit(connection, Effort::default(), simulator))?;
    let root = args.out.clone().unwrap_or_else(|| default_folder(&args.capture));
    let folder = Folder::create(&root).map_err(|error| Failure::usage(error.to_string()))?;
    let file = folder
        .write(FITTED, fit::experiment(&fitted, &args.capture).as_bytes())
        .map_err(|error| Failure::machine(error.to_string()))?;
    let offered = sliders::what_if(&fitted, connection, &args.capture, &[]);
    sliders::keep(&folder, &offered).map_err(|error| Failure::machine(error.to_string()))?;
    let of = ExperimentArgs {
        experiment: file.display().to_string(),
        variants: Vec::new(),
        repeats: Some(args.repeats),
        seed: 1,
        set: Vec::new(),
        quick: false,
        out: Some(root.clone()),
        format: ResultsFormat::Text,
    };
    let session = run::carried_out(of, args.clock, &fit::as_captured(&fitted))?;
    let made = reproduce::beside(&fitted, connection, &folder)
        .map_err(|error| Failure::machine(error.to_string()))?;
    // Once more, with the curves of both.
    session.report()?;
    terminal::print(|out| match args.format {
        FitFormat::Text => reproduce::write_text(&made, terminal::style(), out),
        FitFormat::Json => reproduce::write_json(&made, out),
    })?;
    if args.format == FitFormat::Text {
        terminal::remark(&slowpath_words::say!(
            "terminal-report",
            report = root.join("report.html").display()
        ));
    }
    Ok(if made.runs.is_empty() {
        exit::INVALID
    } else {
        exit::DONE
    })
}

/// Where the results go if nothing was said.
fn default_folder(capture: &Path) -> PathBuf {
    let name = capture
        .file_name()
        .unwrap_or(capture.as_os_str())
        .to_string_lossy();
    let name = name.split('.').next().unwrap_or("capture");
    Path::new("results").join(format!("{name}-reproduced"))
}

/// The experiment file of the fitted path, in the results folder.
const FITTED: &str = "fitted.toml";

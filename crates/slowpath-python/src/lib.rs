//! slowpath for Python: thin functions over the facade, which answer in the documents that the command prints.
//!
//! Every function gives the interpreter free while it works, and Ctrl-C ends it: the work is told to stop, and what was
//! finished is kept as the command keeps it.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod watched;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use slowpath::fit::{Document, OnAll};
use slowpath::load::Loaded;
use slowpath::run::{RunError, RunOptions};
use slowpath::settings::Settings;
use slowpath::sweep::{self, Design, Narrow, SweepOptions, Units};
use slowpath::{Clock, MODEL, explain, fit, json, report};

use self::watched::{Error, Stop, watched};

/// An error of any kind as its sentence.
fn stop(error: impl std::fmt::Display) -> Stop {
    Stop(error.to_string())
}

#[pyfunction]
#[pyo3(signature = (capture, capacity=None))]
fn explained(py: Python<'_>, capture: PathBuf, capacity: Option<String>) -> PyResult<String> {
    watched(py, move |_| {
        let run = explain::open(&capture).map_err(stop)?;
        let mut explanation = explain::run(&run)
            .ok_or_else(|| Stop(format!("explaining {}: it holds no packets", capture.display())))?;
        if let Some(rate) = &capacity {
            explain::know_capacity(&mut explanation, rate).map_err(stop)?;
        }
        text(|out| explain::write_json(&explanation, out))
    })
}

#[pyfunction]
#[pyo3(signature = (capture, flow=None, simulations=360))]
fn fitted(
    py: Python<'_>,
    capture: PathBuf,
    flow: Option<u32>,
    simulations: u32,
) -> PyResult<(String, String)> {
    watched(py, move |cancel| {
        let run = explain::open(&capture).map_err(stop)?;
        let analysis = run
            .analysis
            .ok_or_else(|| Stop(format!("fitting {}: it holds no packets", capture.display())))?;
        let connection = fit::connection(&analysis, flow).map_err(stop)?;
        let effort = fit::Effort {
            simulations: simulations as usize,
            ..fit::Effort::default()
        };
        let found = fit::fit(connection, effort, &OnAll::new(cancel, &|_| {})).map_err(stop)?;
        let document = Document {
            schema: fit::SCHEMA,
            capture: &capture.display().to_string(),
            connection: connection.id,
            fit: &found,
        };
        let document = serde_json::to_string(&document).map_err(stop)?;
        Ok((document, fit::experiment(&found, &capture)))
    })
}

/// Runs an experiment in simulated time into a folder.
#[pyfunction]
#[pyo3(signature = (experiment, out, variants=vec![], repeats=None, seed=1, quick=false, set=vec![], captures=false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
fn ran(
    py: Python<'_>,
    experiment: String,
    out: PathBuf,
    variants: Vec<String>,
    repeats: Option<u32>,
    seed: u64,
    quick: bool,
    set: Vec<(String, String)>,
    captures: bool,
) -> PyResult<String> {
    watched(py, move |cancel| {
        let loaded = Loaded::open_for(&experiment, &set, &variants).map_err(stop)?;
        let options = RunOptions {
            clocks: vec![Clock::Simulated],
            variants,
            repeats,
            decide: repeats.is_none(),
            seed,
            quick,
            capture: captures,
            out: out.clone(),
            places: 1,
            // Simulated time has no workers.
            worker: (PathBuf::new(), Vec::new()),
        };
        match slowpath::run::run(&loaded, &options, cancel, &mut |_| {}) {
            Ok(_) | Err(RunError::Failed { .. }) => {}
            Err(error) => return Err(stop(error)),
        }
        let settings = Settings::of(&loaded, seed, quick);
        let results = report::write(&loaded, &settings, &out).map_err(stop)?;
        text(|out| json::write_results(&results, out))
    })
}

/// One simulated run with settings laid over the experiment: what a line of a sweep keeps, as JSON.
#[pyfunction]
#[pyo3(signature = (experiment, settings=vec![], variant=None, seed=1, quick=false, samples=false))]
fn simulated(
    py: Python<'_>,
    experiment: String,
    settings: Vec<String>,
    variant: Option<String>,
    seed: u64,
    quick: bool,
    samples: bool,
) -> PyResult<String> {
    watched(py, move |cancel| {
        let options = SweepOptions {
            experiment,
            sweeps: settings,
            variants: variant.into_iter().collect(),
            repeats: Some(1),
            seed,
            quick,
            explained: true,
            samples,
            ..SweepOptions::default()
        };
        let kept = sweep::one(&options, cancel).map_err(stop)?;
        serde_json::to_string(&kept).map_err(stop)
    })
}

/// What a sweep computes, as the text of its `design.json`, and the number of its units.
#[pyfunction]
#[pyo3(signature = (experiment, sweeps, sample=None, variants=vec![], repeats=None, within=None, most=100, seed=1, quick=false, samples=false))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
fn sweep_design(
    py: Python<'_>,
    experiment: String,
    sweeps: Vec<String>,
    sample: Option<usize>,
    variants: Vec<String>,
    repeats: Option<u32>,
    within: Option<f64>,
    most: u32,
    seed: u64,
    quick: bool,
    samples: bool,
) -> PyResult<(String, usize)> {
    watched(py, move |_| {
        let options = SweepOptions {
            experiment,
            sweeps,
            sample,
            variants,
            repeats,
            narrow: within.map(|within| Narrow { within, most }),
            seed,
            quick,
            explained: true,
            samples,
        };
        let units = Units::of(Design::of(&options).map_err(stop)?).map_err(stop)?;
        let text = serde_json::to_string(&units.design).map_err(stop)?;
        Ok((text, units.len()))
    })
}

/// The units of which the folder lacks runs; makes the folder.
#[pyfunction]
fn sweep_missing(py: Python<'_>, design: String, out: PathBuf) -> PyResult<Vec<usize>> {
    watched(py, move |_| sweep::missing(read(&design)?, &out).map_err(stop))
}

/// Computes some units on one thread into the folder; how many runs that were.
#[pyfunction]
fn sweep_batch(py: Python<'_>, design: String, units: Vec<usize>, out: PathBuf) -> PyResult<usize> {
    watched(py, move |cancel| {
        sweep::batch(&*read_once(design)?, &units, &out, cancel).map_err(stop)
    })
}

/// Computes everything that the folder lacks on all processors and writes the tables.
#[pyfunction]
fn sweep_here(py: Python<'_>, design: String, out: PathBuf) -> PyResult<()> {
    watched(py, move |cancel| {
        sweep::compute_in(read(&design)?, None, &out, cancel, &|_, _| {})
            .map(drop)
            .map_err(stop)
    })
}

/// Puts parts together and writes the tables.
#[pyfunction]
fn sweep_merge(py: Python<'_>, folders: Vec<PathBuf>, out: PathBuf) -> PyResult<()> {
    watched(py, move |_| sweep::merge(&folders, &out).map(drop).map_err(stop))
}

/// The units of a design, those of the last one without reading it again: a worker gets many batches of one design.
fn read_once(design: String) -> Result<Arc<Units>, Stop> {
    static LAST: Mutex<Option<(String, Arc<Units>)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((text, units)) = &*last
        && *text == design
    {
        return Ok(Arc::clone(units));
    }
    let units = Arc::new(Units::of(read(&design)?).map_err(stop)?);
    *last = Some((design, Arc::clone(&units)));
    Ok(units)
}

fn read(design: &str) -> Result<Design, Stop> {
    serde_json::from_str(design).map_err(|error| Stop(format!("reading the design of a sweep: {error}")))
}

fn text(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> Result<String, Stop> {
    let mut out = Vec::new();
    write(&mut out).map_err(stop)?;
    String::from_utf8(out).map_err(stop)
}

/// The part of the package that is made of slowpath itself.
#[pymodule]
fn _slowpath(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("MODEL", MODEL)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(explained, module)?)?;
    module.add_function(wrap_pyfunction!(fitted, module)?)?;
    module.add_function(wrap_pyfunction!(ran, module)?)?;
    module.add_function(wrap_pyfunction!(simulated, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_design, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_missing, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_batch, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_here, module)?)?;
    module.add_function(wrap_pyfunction!(sweep_merge, module)?)
}

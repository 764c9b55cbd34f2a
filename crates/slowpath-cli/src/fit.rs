//! `slowpath fit`, and the changes of `slowpath explain --what-if`.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use slowpath::Warning;
use slowpath::explain::{self, ExplainedConnection};
use slowpath::fit::{self, Answer, Document, Effort, Fit, FitError, OnAll, Refused};
use slowpath::interrupt::on_interrupt;

use crate::args::{FitArgs, FitFormat};
use crate::exit::{self, Failure};
use crate::{progress, terminal};

/// Finds the path behind a capture, prints it, and writes it as an experiment file.
pub(crate) fn fit(args: &FitArgs) -> Result<u8, Failure> {
    let run = explain::open(&args.capture).map_err(|error| Failure::usage(error.to_string()))?;
    let empty = || {
        Failure::usage(format!(
            "fitting a path: {} holds no packets; give a capture of a transfer",
            args.capture.display()
        ))
    };
    let analysis = run.analysis.as_ref().ok_or_else(empty)?;
    let connection = fit::connection(analysis, args.flow).map_err(|error| failed(&error))?;
    let effort = Effort {
        simulations: args.simulations as usize,
        ..Effort::default()
    };
    if let Some(file) = &args.out {
        writable(file)?;
    }
    let fitted = shown(|simulator| fit::fit(connection, effort, simulator))?;
    if let Some(file) = &args.out {
        std::fs::write(file, fit::experiment(&fitted, &args.capture))
            .map_err(|error| Failure::machine(slowpath::input::unwritable(file, &error, "--out")))?;
        terminal::remark(&format!(
            "{}: written; try slowpath run {} --clock simulated",
            file.display(),
            file.display()
        ));
    }
    let capture = args.capture.display().to_string();
    let document = Document {
        schema: fit::SCHEMA,
        capture: &capture,
        connection: connection.id,
        fit: &fitted,
    };
    let style = terminal::style();
    if let Some(text) = analysis.capture.quality.of_datagrams() {
        terminal::warn(Warning::Capture, &text);
    }
    terminal::print(|out| match args.format {
        FitFormat::Text => fit::write_text(&fitted, style, out),
        FitFormat::Json => fit::write_json(&document, out),
    })?;
    Ok(exit::DONE)
}

/// Finds out before the work of a minute whether a file can be written; leaves it as it is.
fn writable(file: &Path) -> Result<(), Failure> {
    let existed = file.exists();
    let opened = OpenOptions::new().append(true).create(true).open(file);
    opened.map_err(|error| Failure::machine(slowpath::input::unwritable(file, &error, "--out")))?;
    if !existed {
        let _ = std::fs::remove_file(file);
    }
    Ok(())
}

/// Changes that are asked for.
pub(crate) struct Wanted {
    changes: Vec<fit::Changes>,
    usual: bool,
}

/// Reads the changes as they were typed: `usual` stands for those that make sense.
pub(crate) fn wanted(typed: &[String]) -> Result<Wanted, Failure> {
    let mut wanted = Wanted {
        changes: Vec::new(),
        usual: false,
    };
    for one in typed {
        if one == USUAL {
            wanted.usual = true;
        } else {
            let changes = fit::changes(one).map_err(|error| failed(&error))?;
            wanted.changes.push(changes);
        }
    }
    Ok(wanted)
}

/// Fits a connection and asks what changes would give. The connection's remedies are predicted by the same path.
pub(crate) fn what_if(
    explained: &mut ExplainedConnection,
    wanted: Wanted,
) -> Result<(Fit, Vec<Answer>), Failure> {
    let Wanted {
        changes: mut wanted,
        usual,
    } = wanted;
    shown(|simulator| {
        let fitted = fit::fit(&explained.connection, Effort::default(), simulator)?;
        if usual {
            wanted.extend(fit::sensible(&fitted));
        }
        let answers = fit::answers(&fitted, &wanted, simulator)?;
        fit::predict_remedies(&fitted, &mut explained.remedies, simulator)?;
        Ok((fitted, answers))
    })
}

/// Does `work` with a count of its simulations on the terminal; Ctrl-C stops it.
pub(crate) fn shown<T>(work: impl FnOnce(&OnAll<'_>) -> Result<T, FitError>) -> Result<T, Failure> {
    let cancel = Arc::new(AtomicBool::new(false));
    on_interrupt(&cancel);
    let bar = if progress::is_shown() {
        ProgressBar::new_spinner()
    } else {
        ProgressBar::hidden()
    };
    bar.set_style(
        ProgressStyle::with_template("{spinner} fitting a path to the capture: {pos} simulations, {elapsed}")
            .expect("the template is right"),
    );
    bar.enable_steady_tick(Duration::from_millis(200));
    let count = |done: usize| bar.set_position(done as u64);
    let result = work(&OnAll::new(&cancel, &count));
    bar.finish_and_clear();
    result.map_err(|error| failed(&error))
}

pub(crate) fn failed(error: &FitError) -> Failure {
    match error {
        FitError::Refused(Refused::Stopped) => {
            Failure::interrupted("stopped before the end of the fit".to_owned())
        }
        other => Failure::usage(other.to_string()),
    }
}

/// Stands for the changes that make sense for what limits the transfer.
const USUAL: &str = "usual";

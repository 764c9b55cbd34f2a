//! `slowpath shell`.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use slowpath::Warning;
use slowpath::quantity::{grouped, seconds};
use slowpath::shell::{ShellError, ShellSpec};
use slowpath_words::say;

use crate::exit::{self, Failure};
use crate::numbers::any;
use crate::terminal;

/// `slowpath shell`.
#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// The path, each way: comma-separated elements
    path: String,
    /// A shell command for the far host, started first
    #[arg(long, value_name = "COMMAND")]
    far: Option<String>,
    /// Congestion control of both hosts' kernels
    #[arg(long, default_value = "cubic", value_name = "NAME")]
    congestion_control: String,
    /// Seed of the path's random streams
    #[arg(long, default_value_t = 1, value_parser = any())]
    seed: u64,
    /// Write a capture at both hosts into this folder
    #[arg(long, value_name = "DIR")]
    capture: Option<PathBuf>,
    /// The program for the near host; it finds the addresses in SLOWPATH_NEAR and SLOWPATH_FAR
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

/// Runs a program over an emulated path; the exit status is the program's.
pub(crate) fn shell(args: &ShellArgs) -> Result<u8, Failure> {
    let spec = ShellSpec {
        path: args.path.clone(),
        far: args.far.clone(),
        near: args.command.clone(),
        congestion_control: args.congestion_control.clone(),
        seed: args.seed,
        capture: args.capture.clone(),
    };
    // Ctrl-C goes to the programs too; this process waits for them and then clears away.
    slowpath::interrupt::note_interrupt(&Arc::new(AtomicBool::new(false)));
    let own = |error: ShellError| Failure {
        text: error.to_string(),
        code: exit::OWN_FAILURE,
    };
    let mut far_failed = |status: ExitStatus| {
        let far = args.far.as_deref().unwrap_or_default();
        let text = say!(
            "errors-shell-far-ended",
            far = far,
            status = exit::of_program(status)
        );
        terminal::remark(&format!("slowpath: {text}"));
    };
    let outcome = slowpath::shell::run(&spec, &mut far_failed).map_err(own)?;
    terminal::remark(&format!("slowpath: {}", health_line(&outcome.report)));
    warn_of_health(&outcome.report);
    for capture in &outcome.captures {
        // The files' names are relative to the folder that was given.
        let folder = args.capture.as_deref().unwrap_or_else(|| Path::new(""));
        let place = folder.join(&capture.file);
        terminal::remark(&format!(
            "slowpath: capture at {}: {}",
            capture.point,
            place.display()
        ));
    }
    Ok(exit::of_program(outcome.status))
}

/// Says why the run may not be believed as it is: the worst reason, or all of them where everything is wanted.
fn warn_of_health(report: &slowpath::LabReport) {
    let mut reasons: Vec<_> = report.health.reasons.iter().collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.state));
    let shown = if terminal::is_verbose() { reasons.len() } else { 1 };
    let more = reasons.len().saturating_sub(shown);
    for reason in reasons.into_iter().take(shown) {
        let more = match more {
            0 => String::new(),
            more => format!(" (-v gives {more} more)"),
        };
        terminal::warn(
            Warning::Health,
            &format!("{}: {}{more}", reason.code, reason.text),
        );
    }
}

fn health_line(report: &slowpath::LabReport) -> String {
    let health = &report.health;
    let state = health.state.name();
    let dropped = report.totals.dropped;
    match health.release_lateness {
        None => say!("errors-shell-health-none", state = state),
        Some(late) => say!(
            "errors-shell-health",
            state = state,
            packets = grouped(late.count as f64, 0),
            late = seconds(late.p99.seconds()),
            dropped = dropped
        ),
    }
}

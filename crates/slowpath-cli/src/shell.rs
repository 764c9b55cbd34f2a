//! `slowpath shell`.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use slowpath::shell::{ShellError, ShellSpec};

use crate::args::ShellArgs;
use crate::exit::{self, Failure};
use crate::terminal;

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
    let _interrupted = crate::run::interrupt_flag_later();
    let own = |error: ShellError| Failure {
        text: error.to_string(),
        code: exit::OWN_FAILURE,
    };
    let outcome = slowpath::shell::run(&spec).map_err(own)?;
    terminal::remark(&health_line(&outcome.report));
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
    let status = outcome.status;
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(u8::try_from(code).unwrap_or(exit::OWN_FAILURE))
}

fn health_line(report: &slowpath::LabReport) -> String {
    let health = &report.health;
    let late = health.release_lateness.map_or_else(String::new, |late| {
        format!(", 99 % of {} packets at most {} late", late.count, late.p99)
    });
    let mut lines: Vec<String> = vec![String::new()];
    lines.extend(
        health
            .reasons
            .iter()
            .map(|reason| format!("slowpath: {}: {}", reason.code, reason.text)),
    );
    let reasons = lines.join("\n");
    let state = health.state.name();
    format!(
        "slowpath: {state}{late}, {} dropped by the path{reasons}",
        report.totals.dropped
    )
}

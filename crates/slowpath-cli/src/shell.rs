//! `slowpath shell`.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;

use slowpath::Warning;
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
    let status = outcome.status;
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(u8::try_from(code).unwrap_or(exit::OWN_FAILURE))
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
    let late = health.release_lateness.map_or_else(String::new, |late| {
        format!(", 99 % of {} packets at most {} late", late.count, late.p99)
    });
    let state = health.state.name();
    format!(
        "slowpath: {state}{late}, {} dropped by the path",
        report.totals.dropped
    )
}

//! Any program in the hosts.

use std::process::Command as StdCommand;

use slowpath_record::TransferResult;
use slowpath_scenario::workload::Command;

use super::error::LabRunError;
use super::processor;
use super::programs::Running;
use super::stage::{Done, Work, kernel};

/// Runs the far program, then the near one to its end; what they write is kept as notes.
pub(super) fn run(work: &Work<'_>, command: &Command) -> Result<Done, LabRunError> {
    let (client, server) = (work.client()?, work.server()?);
    kernel(client, "a program on a model host")?;
    kernel(server, "a program on a model host")?;
    let mut done = Done::default();
    let mut watched = Vec::new();
    let far = match command.far.as_deref().and_then(|words| words.split_first()) {
        Some((program, arguments)) => {
            let mut far = StdCommand::new(program);
            far.args(arguments);
            let running = Running::spawn(work, server, program, far)?;
            watched.push((server.name.clone(), running.id()));
            Some(running)
        }
        None => None,
    };
    if far.is_some() {
        // Nobody says when an unknown program is ready.
        let _ = work.context.sleep(READY);
    }
    work.wait_for_start()?;
    let Some((program, arguments)) = command.near.split_first() else {
        return Err(LabRunError::Workload("the job names no program".to_owned()));
    };
    let mut near = StdCommand::new(program);
    near.args(arguments);
    let start = work.context.now();
    let running = Running::spawn(work, client, program, near)?;
    watched.push((client.name.clone(), running.id()));
    let watch = processor::Watch::start(watched, &work.context);
    let ended = running.wait(work)?;
    let end = work.context.now();
    processor::judge(&watch.finish(), start, end, &mut done);
    let success = ended.status.success();
    // Only the program knows what it moved; the captures and the elements' counters tell the rest.
    done.transfers.push(TransferResult {
        name: work.job.name.clone(),
        bytes: 0,
        start,
        end,
        complete: success,
        error: (!success).then(|| format!("{program} ended with {}: {}", ended.status, ended.errors.trim())),
        retransmitted_segments: None,
        sender: None,
    });
    let mut keep = |who: &str, text: &str| {
        let text = text.trim();
        if !text.is_empty() {
            done.notes.push(format!("{who} wrote:\n{text}"));
        }
    };
    keep(program, &ended.output);
    keep(program, &ended.errors);
    if let Some(ended) = far.and_then(|mut far| far.kill()) {
        keep("the far program", &ended.output);
        keep("the far program", &ended.errors);
    }
    Ok(done)
}

/// Time for a server program to start.
const READY: slowpath_units::Duration = slowpath_units::Duration::from_millis(500);

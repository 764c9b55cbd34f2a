//! Runs a plan in real time: joins the lab with workloads and captures.
//!
//! * [`hosts`]: from a plan's hosts to the lab's.
//! * `prime`: what must happen before a job.
//! * [`ftp`]: FTP jobs between kernel hosts and model hosts.

pub(crate) mod ftp;
mod hosts;
mod prime;

use std::io;
use std::path::PathBuf;

use slowpath_lab::{Lab, LabError, LabSpec, PacketSink, Privilege, WireSettings};
use slowpath_record::{Environment, HealthState, Origin, Reason, RunRecord, Series, TransferResult};
use slowpath_scenario::{Captures as Wanted, Plan, Workload};
use slowpath_workload::{Context, Permission};

use crate::captures::{CaptureSpec, Captures};
use crate::network;
use crate::worker::{Assignment, Message};

/// Why a lab run came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum LabRunError {
    /// The lab cannot be built.
    #[error(transparent)]
    Lab(#[from] LabError),
    /// A capture file cannot be written.
    #[error(
        "writing the capture {path} failed: {source}; choose another results folder with --out, or free some space"
    )]
    Capture {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A real program that the experiment names is not there.
    #[error(
        "the experiment wants the program \"{program}\", which is not installed here (package {package})"
    )]
    Program {
        /// The program.
        program: String,
        /// The distribution's package.
        package: &'static str,
    },
    /// The workload failed before any data could flow.
    #[error("{0}")]
    Workload(String),
    /// The lab cannot do this job.
    #[error("the lab cannot do {0} in this version; see LIMITATIONS.md")]
    Unsupported(&'static str),
    /// A folder for the programs of the run cannot be used.
    #[error("making the working folder of the run failed: {0}")]
    Scratch(#[source] io::Error),
}

/// What a job left behind.
#[derive(Debug, Default)]
struct Done {
    transfers: Vec<TransferResult>,
    series: Vec<Series>,
    programs: Vec<String>,
    notes: Vec<String>,
}

/// Does one assignment and returns its record; captures lie in the results folder.
///
/// # Errors
/// [`LabRunError`]; everything that was started is gone when it returns.
pub fn run(
    assignment: &Assignment,
    privilege: Privilege,
    tell: &mut dyn FnMut(&Message),
) -> Result<RunRecord, LabRunError> {
    let plan = &assignment.plan;
    let spec = LabSpec {
        hosts: hosts::specs(plan),
        network: network::complete(plan),
        seed: plan.seed,
        wire: WireSettings {
            snap_length: SNAP_LENGTH,
            ..WireSettings::default()
        },
    };
    let captures = capture_files(assignment, &spec)?;
    let sink = captures
        .clone()
        .map(|captures| Box::new(captures) as Box<dyn PacketSink>);
    let lab = Lab::build(&spec, sink)?;
    let context = Context::new()
        .with_permission(Permission::OwnNamespace)
        .with_timeout(plan.deadline);
    let job = plan.main_job();
    let result = prime::prime(&lab, plan, &context).and_then(|()| match &job.workload {
        Workload::Ftp(transfer) => ftp::run(&lab, plan, job, transfer, &context, tell),
        _ => Err(LabRunError::Unsupported("this kind of workload")),
    });
    let attachment = lab.attachment();
    // What is still on the way at the end belongs into the captures.
    std::thread::sleep(LINGER);
    let report = lab.finish();
    let done = result?;
    let mut record = RunRecord {
        schema: slowpath_record::run::SCHEMA.to_owned(),
        origin: Origin::Lab,
        experiment: assignment.experiment.clone(),
        variant: plan.variant.clone(),
        repeat: plan.repeat,
        seed: plan.seed,
        plan_digest: plan.digest(),
        environment: Some(environment(attachment, privilege, done.programs)),
        health: report.health,
        captures: Vec::new(),
        series: done.series,
        curves: Vec::new(),
        transfers: done.transfers,
        flows: Vec::new(),
        elements: report.elements,
        notes: done.notes,
    };
    if let Some(captures) = captures {
        match captures.close(report.totals.capture_lost) {
            Ok(references) => record.captures = references,
            Err((path, source)) => return Err(LabRunError::Capture { path, source }),
        }
    }
    for transfer in &record.transfers {
        if let Some(error) = &transfer.error {
            record.health.add(Reason {
                code: "incomplete".to_owned(),
                state: HealthState::Invalid,
                text: format!("{} did not come to its end: {error}", transfer.name),
            });
        }
    }
    Ok(record)
}

fn capture_files(assignment: &Assignment, spec: &LabSpec) -> Result<Option<Captures>, LabRunError> {
    let plan = &assignment.plan;
    if !assignment.capture || plan.captures == Wanted::None {
        return Ok(None);
    }
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let wanted = CaptureSpec {
        folder: assignment.folder.clone(),
        run: assignment.name.clone(),
        comment: format!(
            "{}, {}, repeat {}, seed {}",
            plan.experiment, plan.variant, plan.repeat, plan.seed
        ),
        ports: spec.network.ports.iter().map(|port| port.name.clone()).collect(),
        sender: plan.sender().to_owned(),
        elements: spec
            .network
            .elements
            .iter()
            .map(|element| element.name.clone())
            .collect(),
        snap_length: SNAP_LENGTH,
        origin_ns: u64::try_from(now.as_nanos()).unwrap_or(0),
    };
    Captures::create(wanted)
        .map(Some)
        .map_err(|(path, source)| LabRunError::Capture { path, source })
}

fn environment(attachment: &str, privilege: Privilege, programs: Vec<String>) -> Environment {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Environment {
        kernel: kernel.trim().to_owned(),
        processors: std::thread::available_parallelism()
            .map_or(0, |count| u32::try_from(count.get()).unwrap_or(0)),
        slowpath: env!("CARGO_PKG_VERSION").to_owned(),
        attachment: attachment.to_owned(),
        programs,
        details: vec![match privilege {
            Privilege::Full => "namespaces made with the process's own capabilities".to_owned(),
            Privilege::UserNamespace => "namespaces made in a user namespace, without root".to_owned(),
        }],
    }
}

/// Size of the measured job, for progress.
fn size(plan: &Plan) -> u64 {
    plan.main_job()
        .workload
        .size()
        .map_or(0, slowpath_units::ByteCount::bytes)
}

/// Bytes kept of each captured packet: all headers and the FTP commands.
const SNAP_LENGTH: u32 = 160;

/// Time for the last packets to arrive.
const LINGER: std::time::Duration = std::time::Duration::from_millis(300);

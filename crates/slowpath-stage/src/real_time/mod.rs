//! Runs a plan in real time: joins the lab with workloads and captures.
//!
//! * [`hosts`]: from a plan's hosts to the lab's; `prime`: what must happen before a job.
//! * `stage`: what all jobs have in common; `scratch`: folders; `programs`: real programs in the hosts;
//!   `processor`: their processor time; `marks`: DSCP seen on the wire.
//! * One module for each kind of job: [`ftp`], `iperf3`, `ssh`, `s3`, `streams` (datagrams, frames, ping), `command`.

mod command;
mod error;
mod ftp;
pub(crate) mod hosts;
mod iperf3;
mod marks;
mod ports;
mod prime;
mod processor;
mod programs;
mod s3;
pub(crate) mod scratch;
mod ssh;
mod stage;
mod streams;

use slowpath_endpoint::Report;
use slowpath_lab::{Lab, LabSpec, PacketSink, Privilege, WireSettings};
use slowpath_record::{Code, Disturbances, Environment, FlowResult, HealthState, Origin, Reason, RunRecord};
use slowpath_scenario::plan::Job;
use slowpath_scenario::{Captures as Wanted, Plan, Workload};
use slowpath_workload::{Context, Stop};

pub use self::error::LabRunError;
use self::stage::{Done, Stage, Work};
use crate::assignment::{Assignment, Message};
use crate::captures::{CaptureSpec, Captures};
use crate::marks::{Counting, Marks};
use crate::network;

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
    let spec = lab_spec(plan, SNAP_LENGTH);
    let capture_origin = CaptureSpec::now();
    let captures = capture_files(assignment, &spec, capture_origin)?;
    let marks = Marks::default();
    let sink = (captures.is_some() || marked(plan)).then(|| {
        Box::new(Counting {
            marks: marks.clone(),
            next: captures.clone(),
        }) as Box<dyn PacketSink>
    });
    let lab = Lab::build(&spec, sink)?;
    let stage = Stage::new(&lab, plan);
    let context = stage.context();
    let mut jobs_from = lab.now();
    let result = prime::prime(&lab, plan, &context).and_then(|()| {
        jobs_from = lab.now();
        all_jobs(&stage, &context, tell)
    });
    let timed_out = context.check() == Err(Stop::Deadline);
    let unclaimed = stage.into_unclaimed();
    let attachment = lab.attachment();
    // What is still on the way at the end belongs into the captures.
    std::thread::sleep(LINGER);
    let elements = lab.element_names().to_vec();
    let report = lab.finish();
    let mut done = result?;
    add_halves(&mut done, unclaimed.iter().chain(&report.reports));
    let ports: Vec<String> = spec.network.ports.iter().map(|port| port.name.clone()).collect();
    done.loads.sort_by(|a, b| b.share.total_cmp(&a.share));
    let counts = marks.counts(&ports, &elements);
    // A copy that starved was nearly all login, which carries other marks.
    if !timed_out {
        marks::judge(&counts, &mut done);
    }
    let mut record = RunRecord {
        marks: counts,
        loads: done.loads,
        environment: Some(environment(attachment, privilege, done.programs)),
        series: done.series,
        transfers: done.transfers,
        flows: done.flows,
        elements: report.elements,
        notes: done.notes,
        disturbances: Some(Disturbances {
            jobs_from,
            capture_origin,
            ..report.disturbances
        }),
        ..plan.record(Origin::Lab, &assignment.experiment, report.health)
    };
    if let Some(captures) = captures {
        match captures.close(report.totals.capture_lost) {
            Ok(references) => record.captures = references,
            Err((path, source)) => return Err(LabRunError::Capture { path, source }),
        }
    }
    for reason in done.reasons {
        record.health.add(reason);
    }
    for transfer in &record.transfers {
        if let Some(error) = &transfer.error {
            // That the network lets a transfer starve is a result; that a program failed is not.
            let (code, state) = if timed_out {
                (Code::Unfinished, HealthState::Degraded)
            } else {
                (Code::Incomplete, HealthState::Invalid)
            };
            record.health.add(Reason {
                code,
                state,
                text: format!("{} did not come to its end: {error}", transfer.name),
            });
        }
    }
    Ok(record)
}

/// The lab that a plan asks for, of whose packets `snap_length` bytes are kept.
pub fn lab_spec(plan: &Plan, snap_length: u32) -> LabSpec {
    LabSpec {
        hosts: hosts::specs(plan),
        network: network::complete(plan),
        seed: plan.seed,
        wire: WireSettings {
            snap_length,
            ..WireSettings::default()
        },
    }
}

/// Runs every job of the plan to its end, side by side.
///
/// The first error of a job is the run's, once all have ended.
fn all_jobs(stage: &Stage<'_>, main: &Context, tell: &mut dyn FnMut(&Message)) -> Result<Done, LabRunError> {
    let of = size(stage.plan);
    let results: Vec<Result<Done, LabRunError>> = std::thread::scope(|scope| {
        let jobs: Vec<_> = stage
            .plan
            .jobs
            .iter()
            .enumerate()
            .map(|(number, job)| {
                // Only the measured job's bytes are the run's progress.
                let context = if number == 0 {
                    main.clone()
                } else {
                    stage.context()
                };
                scope.spawn(move || one_job(&Work { stage, job, context }))
            })
            .collect();
        while jobs.iter().any(|job| !job.is_finished()) {
            tell(&Message::Progress {
                bytes: main.spent().min(of),
                of,
            });
            std::thread::sleep(stage::POLL);
        }
        jobs.into_iter()
            .map(|job| {
                job.join()
                    .unwrap_or_else(|_| Err(LabRunError::Workload("a job panicked".to_owned())))
            })
            .collect()
    });
    let mut all = Done::default();
    for done in results {
        let done = done?;
        all.transfers.extend(done.transfers);
        all.flows.extend(done.flows);
        all.series.extend(done.series);
        all.programs.extend(done.programs);
        all.loads.extend(done.loads);
        all.notes.extend(done.notes);
        all.reasons.extend(done.reasons);
        all.marks.extend(done.marks);
    }
    Ok(all)
}

fn one_job(work: &Work<'_>) -> Result<Done, LabRunError> {
    let Job { name, workload, .. } = work.job;
    let mut done = match workload {
        Workload::Ftp(transfer) => ftp::run(work, transfer),
        Workload::Iperf3(test) => iperf3::run(work, test),
        Workload::Udp(stream) => streams::udp(work, stream),
        Workload::Frames(stream) => streams::frames(work, stream),
        Workload::Ping(ping) => streams::pings(work, ping),
        Workload::Command(command) => command::run(work, command),
        Workload::Ssh(transfer) => ssh::run(work, transfer),
        Workload::S3(load) => s3::run(work, load),
    }?;
    if let [transfer] = done.transfers.as_mut_slice() {
        transfer.name.clone_from(name);
    }
    Ok(done)
}

/// Adds what model hosts have counted of the jobs' flows; kernel hosts' halves are there already.
fn add_halves<'r>(done: &mut Done, reports: impl Iterator<Item = &'r (String, Report)>) {
    for (_, report) in reports {
        let Report::Flow { result, .. } = report else {
            continue;
        };
        let Some(flow) = done.flows.iter_mut().find(|flow| flow.name == result.name) else {
            continue;
        };
        let FlowResult {
            received_packets,
            received_bytes,
            jitter,
            goodput_byte_per_s,
            ..
        } = result;
        flow.received_packets = flow.received_packets.max(*received_packets);
        flow.received_bytes = flow.received_bytes.max(*received_bytes);
        flow.jitter = flow.jitter.or(*jitter);
        flow.goodput_byte_per_s = flow.goodput_byte_per_s.max(*goodput_byte_per_s);
    }
}

/// Whether marks matter to a plan, so that they are counted even where nothing is captured.
fn marked(plan: &Plan) -> bool {
    plan.jobs.iter().any(|job| match &job.workload {
        Workload::Ssh(_) => true,
        Workload::Iperf3(test) => test.dscp.is_some(),
        Workload::Udp(stream) => stream.dscp.is_some(),
        Workload::Ping(ping) => ping.dscp.is_some(),
        _ => false,
    })
}

fn capture_files(
    assignment: &Assignment,
    spec: &LabSpec,
    origin_ns: u64,
) -> Result<Option<Captures>, LabRunError> {
    let plan = &assignment.plan;
    if !assignment.capture || plan.captures == Wanted::None {
        return Ok(None);
    }
    let wanted = CaptureSpec {
        origin_ns,
        ..CaptureSpec::of(
            plan,
            &assignment.folder,
            &assignment.name,
            &spec.network,
            SNAP_LENGTH,
        )
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

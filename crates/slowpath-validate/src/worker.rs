//! One labelled transfer on kernel hosts, in a process of its own.

use std::net::SocketAddr;
use std::path::Path;

use serde::{Deserialize, Serialize};
use slowpath_lab::Lab;
use slowpath_record::{Environment, Origin, RunRecord, TransferResult};
use slowpath_scenario::plan::Job;
use slowpath_scenario::{Plan, Workload};
use slowpath_units::Duration;
use slowpath_workload::{Cancel, Context, Permission};

use crate::bulk::{self, Sent, Traffic, Transfer};
use crate::taps::{SNAP_LENGTH, Taps};
use slowpath::folder::Folder;
use slowpath::real_time::{self, LabRunError};
use slowpath::worker::{self, Assignment, Message, WorkerError};

/// What the sending kernel knows about a transfer, kept beside the captures for the scorer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelAccount {
    /// The measured connection.
    pub sent: Sent,
    /// The connections beside it, without their samples before the last.
    pub beside: Vec<Sent>,
}

/// Name of the account of the run `name` in its folder.
pub fn account_file(name: &str) -> String {
    format!("captures/{name}.account.json")
}

/// Does what the file `job` says; call it before the process has a second thread.
///
/// # Errors
/// [`WorkerError`], which is also said as a message.
pub fn run(job: &Path, tell: &mut dyn FnMut(&Message)) -> Result<(), WorkerError> {
    worker::told(attempt(job), tell)
}

fn attempt(job: &Path) -> Result<(), WorkerError> {
    let (assignment, _) = worker::take(job)?;
    let folder = Folder::open(&assignment.folder);
    let (record, account) = transfer(&assignment)?;
    let text = serde_json::to_vec(&account).expect("an account can always be written as JSON");
    folder.write(&account_file(&assignment.name), &text)?;
    folder.write_record(&assignment.name, &record)?;
    Ok(())
}

fn transfer(assignment: &Assignment) -> Result<(RunRecord, KernelAccount), LabRunError> {
    let plan = &assignment.plan;
    let spec = real_time::lab_spec(plan, SNAP_LENGTH);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default();
    let main = plan.main_job();
    let captured = |source| LabRunError::Capture {
        path: assignment.folder.join("captures"),
        source,
    };
    let taps = Taps::create(
        &assignment.folder,
        &assignment.name,
        &spec.network,
        [&main.client, &main.server],
        u64::try_from(now.as_nanos()).unwrap_or(0),
    )
    .map_err(captured)?;
    let lab = Lab::build(&spec, Some(Box::new(taps.clone())))?;
    let result = traffic(&lab, plan);
    let attachment = lab.attachment();
    let report = lab.finish();
    let mut sent = result?;
    let references = taps.close(report.totals.capture_lost).map_err(captured)?;
    let main = sent.remove(0);
    for beside in &mut sent {
        let last = beside.log.samples.pop();
        beside.log.samples = last.into_iter().collect();
    }
    let acked = main.log.last().map_or(0, |sample| sample.bytes_acked);
    let record = RunRecord {
        environment: Some(Environment {
            slowpath: env!("CARGO_PKG_VERSION").to_owned(),
            attachment: attachment.to_owned(),
            ..Environment::default()
        }),
        captures: references,
        transfers: vec![TransferResult {
            name: "main".to_owned(),
            bytes: acked,
            start: main.start,
            end: main.end,
            complete: true,
            error: None,
            retransmitted_segments: main
                .log
                .last()
                .map(|sample| u64::from(sample.retransmitted_segments)),
            sender: None,
        }],
        elements: report.elements,
        ..plan.record(Origin::Lab, &assignment.experiment, report.health)
    };
    Ok((
        record,
        KernelAccount {
            sent: main,
            beside: sent,
        },
    ))
}

/// Lets all jobs of the plan run until the first one's end; what its senders know, the measured connection first.
fn traffic(lab: &Lab, plan: &Plan) -> Result<Vec<Sent>, LabRunError> {
    let cancel = Cancel::new();
    let context = Context::new()
        .with_permission(Permission::OwnNamespace)
        .with_timeout(plan.deadline)
        .with_cancel(cancel.clone());
    let failed = |error: bulk::BulkError| LabRunError::Workload(error.to_string());
    let mut running = Vec::new();
    let mut main = Vec::new();
    for (number, job) in plan.jobs.iter().enumerate().rev() {
        let port = FIRST_PORT + u16::try_from(number).unwrap_or(0);
        let server = plan
            .host(&job.server)
            .ok_or(LabRunError::Unsupported("a job whose host is not planned"))?;
        let to = SocketAddr::new(server.address, port);
        match parse(job)? {
            Traffic::Datagrams { rate, on, off } => {
                let taking = lab
                    .run_in(&job.server, || bulk::take_datagrams(to, &context))?
                    .map_err(failed)?;
                let giving = lab.start_in(&job.client, {
                    let context = context.clone();
                    move || {
                        // Whether the cross traffic really came is seen in the counters of the path.
                        let _ = bulk::datagrams(rate, on, off, to, &context);
                        drop(taking);
                    }
                })?;
                running.push(giving);
            }
            Traffic::Transfer(transfer) => {
                let listener = lab
                    .run_in(&job.server, || bulk::listen(&transfer, to))?
                    .map_err(failed)?;
                running.push(lab.start_in(&job.server, {
                    let (transfer, context) = (transfer.clone(), context.clone());
                    move || bulk::receive(&transfer, &listener, &context)
                })?);
                let mut senders = Vec::new();
                for _ in 0..transfer.flows {
                    let (transfer, context): (Transfer, Context) = (transfer.clone(), context.clone());
                    senders.push(lab.start_in(&job.client, move || bulk::send(&transfer, to, &context))?);
                }
                if number == 0 {
                    main = senders;
                } else {
                    running.extend(
                        senders
                            .into_iter()
                            .map(|sender| std::thread::spawn(move || drop(sender.join()))),
                    );
                    // The measured transfer finds the others in full swing.
                    let _ = context.sleep(HEAD_START);
                }
            }
        }
    }
    let panicked = |_| LabRunError::Workload("a bulk sender panicked".to_owned());
    let mut sent = Vec::new();
    for sender in main {
        sent.push(sender.join().map_err(panicked)?.map_err(failed)?);
    }
    // The last acknowledgements belong into the captures.
    std::thread::sleep(LINGER);
    cancel.cancel();
    for thread in running {
        let _ = thread.join();
    }
    Ok(sent)
}

fn parse(job: &Job) -> Result<Traffic, LabRunError> {
    match &job.workload {
        Workload::Command(command) => Traffic::of(&command.near),
        _ => None,
    }
    .ok_or(LabRunError::Unsupported("a labelled capture of this workload"))
}

/// The port of the measured job.
const FIRST_PORT: u16 = 5_001;

/// How much earlier other traffic starts.
const HEAD_START: Duration = Duration::from_millis(1_500);

/// Time for the last packets to arrive.
const LINGER: std::time::Duration = std::time::Duration::from_millis(400);

//! Runs in simulated time: from a plan to a record, with captures of the same form as the lab's.

mod beside_sender;
mod echoes;
mod notes;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use slowpath_endpoint::wire::Transmit;
use slowpath_endpoint::{Report, codec};
use slowpath_path::{DropCause, ElementId, PacketId, PacketSink, PortId, Seen, SeenPacket};
use slowpath_record::{Code, FlowResult, Health, HealthState, Origin, Reason, RunRecord};
use slowpath_scenario::workload::Iperf3Protocol;
use slowpath_scenario::{Captures as Capturing, Plan, Workload};
use slowpath_sim::frames::{self, FramesError};
use slowpath_sim::{EdgeSpec, NoSink, Point, Sighting, SimError, SimReport, SimSpec, Simulation, Sink};
use slowpath_units::Time;
use slowpath_verdict::Analysis;

use self::beside_sender::BesideSender;
use crate::captures::{CaptureSpec, Captures};
use crate::folder::{Folder, FolderError};
use crate::marks::{Counting, Marks};

/// Why a simulated run failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulatedError {
    /// The simulation cannot begin.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// A frame generator's run is not possible.
    #[error(transparent)]
    Frames(#[from] FramesError),
    /// A capture file cannot be written.
    #[error("{}", crate::input::unwritable(.path, .source, "--out"))]
    Capture {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The results folder cannot be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The simulator cannot do this job.
    #[error("the simulator cannot do {0} in this version; see LIMITATIONS.md")]
    Unsupported(&'static str),
    /// Somebody wanted no more of it; nothing of it is left.
    #[error("interrupted")]
    Interrupted,
}

/// Computes one run in simulated time without captures, samples and a generator's curves, as searches and sweeps
/// need it.
///
/// # Errors
/// [`SimulatedError`].
pub fn bare(experiment: &str, plan: &Plan) -> Result<RunRecord, SimulatedError> {
    if frames::are_planned(plan) {
        return Ok(frames::bare(experiment, plan)?);
    }
    let mut spec = spec(plan)?;
    spec.sample_every = None;
    let report = Simulation::new(&spec)?.run(&mut NoSink);
    Ok(record(experiment, plan, &spec, &report))
}

/// Computes one run in simulated time without captures, with what the packets beside its data's sender say; with samples
/// where they are wanted. Datagrams and a generator's frames have no analysis.
///
/// # Errors
/// [`SimulatedError`].
pub fn explained(
    experiment: &str,
    plan: &Plan,
    samples: bool,
) -> Result<(RunRecord, Option<Analysis>), SimulatedError> {
    if frames::are_planned(plan) {
        return Ok((frames::bare(experiment, plan)?, None));
    }
    let mut spec = spec(plan)?;
    if !samples {
        spec.sample_every = None;
    }
    let Some(sender) = sender(plan, &spec) else {
        let report = Simulation::new(&spec)?.run(&mut NoSink);
        return Ok((record(experiment, plan, &spec, &report), None));
    };
    let mut sink = BesideSender::new(sender, NoSink);
    let report = Simulation::new(&spec)?.run(&mut sink);
    let analysis = sink.analysis();
    Ok((record(experiment, plan, &spec, &report), Some(analysis)))
}

/// Computes one run without samples, in which packets are held up between hosts and network as `edges` says; with the
/// number of its events, which is what it costs.
///
/// # Errors
/// [`SimulatedError`]; a generator's frames have no such edges.
pub(crate) fn replay(
    experiment: &str,
    plan: &Plan,
    edges: &EdgeSpec,
) -> Result<(RunRecord, u64), SimulatedError> {
    let spec = replayed(plan)?;
    let report = Simulation::new(&spec)?.with_edges(edges).run(&mut NoSink);
    Ok((record(experiment, plan, &spec, &report), report.events))
}

/// As [`replay`], with the code of what limits the run, as the packets beside its data's sender say.
///
/// # Errors
/// Those of [`replay`].
pub(crate) fn replay_limit(
    experiment: &str,
    plan: &Plan,
    edges: &EdgeSpec,
) -> Result<(RunRecord, u64, Option<String>), SimulatedError> {
    let spec = replayed(plan)?;
    let mut sink = BesideSender::new(sender(plan, &spec).unwrap_or(0), NoSink);
    let report = Simulation::new(&spec)?.with_edges(edges).run(&mut sink);
    let analysis = sink.analysis();
    let limit = analysis.verdict().map(|verdict| verdict.limit.name().to_owned());
    Ok((record(experiment, plan, &spec, &report), report.events, limit))
}

fn replayed(plan: &Plan) -> Result<SimSpec, SimulatedError> {
    if frames::are_planned(plan) {
        return Err(SimulatedError::Unsupported("a replay of a generator's frames"));
    }
    let mut spec = spec(plan)?;
    spec.sample_every = None;
    Ok(spec)
}

/// Computes one run in simulated time; the first repeat is captured, and its connections are sampled. A run of which
/// nothing is captured is analysed as it goes, by what its data's sender sends and receives; the analysis is left in the
/// folder.
///
/// # Errors
/// [`SimulatedError`].
pub fn run(
    experiment: &str,
    plan: &Plan,
    name: &str,
    capture: bool,
    folder: &Folder,
) -> Result<RunRecord, SimulatedError> {
    run_unless(experiment, plan, name, capture, folder, &AtomicBool::new(false))
}

/// As [`run`], until `cancel` is raised; a generator's frames are computed to their end.
///
/// # Errors
/// [`SimulatedError`].
pub fn run_unless(
    experiment: &str,
    plan: &Plan,
    name: &str,
    capture: bool,
    folder: &Folder,
    cancel: &AtomicBool,
) -> Result<RunRecord, SimulatedError> {
    if frames::are_planned(plan) {
        return Ok(frames::run(experiment, plan)?);
    }
    let spec = spec(plan)?;
    let simulation = Simulation::new(&spec)?;
    let captured = capture && plan.repeat == 0 && plan.captures != Capturing::None;
    let failed = |(path, source)| SimulatedError::Capture { path, source };
    let (report, captures, marks) = if captured {
        let mut wanted = CaptureSpec::of(plan, folder.root(), name, &spec.network, SNAP_LENGTH);
        wanted.comment.push_str(", simulated");
        // A sighting names its host by number, not its port.
        wanted.ports = spec.hosts.iter().map(|host| host.name.clone()).collect();
        let (ports, elements) = (wanted.ports.clone(), wanted.elements.clone());
        let captures = Captures::create(wanted).map_err(failed)?;
        let marks = Marks::default();
        let mut sink = PacketBytes {
            next: Counting {
                marks: marks.clone(),
                next: Some(captures.clone()),
            },
            bytes: Vec::new(),
        };
        let report = simulate_unless(simulation, &mut sink, cancel);
        let marks = marks.counts(&ports, &elements);
        let captures = captures.close(0).map_err(failed)?;
        if report.is_err() {
            for capture in &captures {
                let _ = std::fs::remove_file(folder.root().join(&capture.file));
            }
        }
        (report?, captures, marks)
    } else if let Some(sender) = sender(plan, &spec) {
        let mut sink = BesideSender::new(sender, NoSink);
        let report = simulate_unless(simulation, &mut sink, cancel)?;
        folder.write_analysis(name, &sink.analysis())?;
        (report, Vec::new(), Vec::new())
    } else {
        let report = simulate_unless(simulation, &mut NoSink, cancel)?;
        (report, Vec::new(), Vec::new())
    };
    let mut record = record(experiment, plan, &spec, &report);
    (record.captures, record.marks) = (captures, marks);
    if plan.repeat > 0 {
        // A hundred kilobytes and more a run, which nobody looks at twenty times; a sweep's `--samples` keeps all.
        record
            .series
            .retain(|series| report.series.iter().all(|sampled| sampled.name != series.name));
    }
    Ok(record)
}

fn record(experiment: &str, plan: &Plan, spec: &SimSpec, report: &SimReport) -> RunRecord {
    let mut health = Health::valid();
    let transfers: Vec<_> = report
        .reports
        .iter()
        .filter(|(host, _)| {
            let host = plan.hosts.get(usize::from(*host));
            host.is_some_and(|host| host.name == reporter(plan))
        })
        .filter_map(|(_, report)| match report {
            Report::Transfer { result, .. } => Some(result.clone()),
            _ => None,
        })
        .collect();
    let incomplete = if datagrams(plan) {
        !report.complete
    } else {
        transfers.is_empty() || transfers.iter().any(|transfer| !transfer.complete)
    };
    if incomplete {
        // A transfer that starves is a result: nothing but the path can have done it here. Datagrams know no end.
        let (code, state) = if datagrams(plan) {
            (Code::Incomplete, HealthState::Invalid)
        } else {
            (Code::Unfinished, HealthState::Degraded)
        };
        health.add(Reason {
            code,
            state,
            text: format!(
                "the transfer did not come to its end within {} of simulated time",
                plan.deadline
            ),
        });
    }
    let (mut flows, mut series) = (flows(report), report.series.clone());
    for (flow, round_trips) in echoes::echoes(plan, spec, report) {
        flows.push(flow);
        series.push(round_trips);
    }
    RunRecord {
        series,
        transfers,
        flows,
        elements: report.elements.clone(),
        notes: notes::notes(plan, report),
        ..plan.record(Origin::Simulated, experiment, health)
    }
}

/// Flows as counted at both ends: the source and the sink of a flow each know one half.
fn flows(report: &SimReport) -> Vec<FlowResult> {
    let mut flows: Vec<FlowResult> = Vec::new();
    for half in report.flows() {
        match flows.iter_mut().find(|flow| flow.name == half.name) {
            None => flows.push(half.clone()),
            Some(flow) => {
                flow.sent_packets = flow.sent_packets.max(half.sent_packets);
                flow.sent_bytes = flow.sent_bytes.max(half.sent_bytes);
                flow.received_packets = flow.received_packets.max(half.received_packets);
                flow.received_bytes = flow.received_bytes.max(half.received_bytes);
                flow.jitter = flow.jitter.or(half.jitter);
                flow.goodput_byte_per_s = flow.goodput_byte_per_s.max(half.goodput_byte_per_s);
            }
        }
    }
    flows
}

/// Whether the measured job sends datagrams, which are counted per flow instead of transferred.
fn datagrams(plan: &Plan) -> bool {
    match &plan.main_job().workload {
        Workload::Udp(_) | Workload::Ping(_) => true,
        Workload::Iperf3(test) => test.protocol == Iperf3Protocol::Udp,
        _ => false,
    }
}

/// The number of the host that sends the data, where acknowledgements tell what became of it.
fn sender(plan: &Plan, spec: &SimSpec) -> Option<u16> {
    let place = spec.hosts.iter().position(|host| host.name == plan.sender())?;
    u16::try_from(place).ok().filter(|_| !datagrams(plan))
}

/// The host whose program says what was transferred: iperf3's sender, otherwise the client.
fn reporter(plan: &Plan) -> &str {
    match &plan.main_job().workload {
        Workload::Iperf3(_) => plan.sender(),
        _ => &plan.main_job().client,
    }
}

/// What the simulator is to run for a plan.
///
/// # Errors
/// [`SimulatedError::Unsupported`] for what only the kernel does.
pub fn spec(plan: &Plan) -> Result<SimSpec, SimulatedError> {
    slowpath_sim::planned::spec(plan).map_err(|missing| SimulatedError::Unsupported(missing.0))
}

/// Writes the packets of a simulation as bytes.
struct PacketBytes {
    next: Counting<Captures>,
    bytes: Vec<u8>,
}

impl PacketBytes {
    fn write(&mut self, event: Seen, sighting: &Sighting<'_>) {
        let transmit = Transmit {
            at: sighting.at,
            header: *sighting.header,
            payload: sighting.payload.clone(),
        };
        let length = transmit.ip_len();
        self.bytes.resize(length as usize, 0);
        if codec::encode(&transmit, sighting.id.0 as u16, &mut self.bytes).is_none() {
            return;
        }
        let kept = self.bytes.len().min(SNAP_LENGTH as usize);
        self.next.packet(&SeenPacket {
            event,
            at: sighting.at,
            id: sighting.id,
            bytes: &self.bytes[..kept],
            length,
        });
    }
}

impl Sink for PacketBytes {
    const WATCHES_DROPS: bool = false;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        let event = match sighting.point {
            Point::Sent(host) => Seen::Sent(PortId(host)),
            Point::Received(host) => Seen::Delivered(PortId(host)),
            Point::Tap(element) => Seen::Passed(element),
        };
        self.write(event, sighting);
    }

    fn dropped(&mut self, _id: PacketId, _element: ElementId, _cause: DropCause, _at: Time) {}
}

/// Simulates until `cancel` is raised, which leaves no report.
fn simulate_unless<S: Sink>(
    simulation: Simulation,
    next: &mut S,
    cancel: &AtomicBool,
) -> Result<SimReport, SimulatedError> {
    let report = simulation.run(&mut Wanted { next, cancel });
    if cancel.load(Ordering::Relaxed) {
        return Err(SimulatedError::Interrupted);
    }
    Ok(report)
}

/// A sink for as long as nobody has said that the run is wanted no more.
struct Wanted<'a, S> {
    next: &'a mut S,
    cancel: &'a AtomicBool,
}

impl<S: Sink> Sink for Wanted<'_, S> {
    const WATCHES_DROPS: bool = S::WATCHES_DROPS;

    fn seen(&mut self, sighting: &Sighting<'_>) {
        self.next.seen(sighting);
    }

    fn dropped(&mut self, id: PacketId, element: ElementId, cause: DropCause, at: Time) {
        self.next.dropped(id, element, cause, at);
    }

    fn goes_on(&self) -> bool {
        !self.cancel.load(Ordering::Relaxed)
    }
}

/// Bytes kept of each captured packet.
const SNAP_LENGTH: u32 = 160;

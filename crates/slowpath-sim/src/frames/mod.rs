//! Runs of a frame generator and receiver in simulated time: loss per flow, loss against load, throughput by size.
//!
//! In the lab the same jobs are done by kernels, as far as two processors carry them; see `real_time`.
//!
//! The generator is what a hardware tester is: each job sends frames of one size on its own port at a share of the
//! line, as fast as asked whatever becomes of them, and counts what arrives. The network is the same that hosts use;
//! there are no hosts, since nobody answers.
//!
//! * [`generator`]: the ports and the receiver. Start here.
//! * [`curves`]: the whole run repeated over loads, and the search of RFC 2544 over frame sizes.
//!
//! Bandwidth counts received frames with FCS and without preamble and gap, as such testers do, and before any tunnel
//! between them. A frame that was cut into fragments on the way counts when all of them arrived.

pub mod curves;
mod error;
pub mod generator;

use std::fmt::Write as _;

use slowpath_record::{Code, FlowResult, Health, HealthState, LostPackets, Origin, Reason, RunRecord};
use slowpath_scenario::workload::FrameStream;
use slowpath_scenario::{Clock, Experiment, Plan, Workload};
use slowpath_units::Layer;

pub use error::FramesError;
pub use generator::{Counted, Stream, Tally};

/// Whether the plan's measured job is a frame generator.
pub fn are_planned(plan: &Plan) -> bool {
    matches!(plan.main_job().workload, Workload::Frames(_))
}

/// The clock that suits a variant when none is asked for: simulated time for a generator, otherwise the lab.
///
/// A generator keeps its ports to fractions of a frame's time, which processors that also carry the packets can do at
/// small loads only.
pub fn suitable_clock(experiment: &Experiment, variant: &str) -> Clock {
    let main = experiment
        .variant(variant)
        .and_then(|variant| variant.jobs.first());
    match main.map(|job| &job.workload) {
        Some(Workload::Frames(_)) => Clock::Simulated,
        _ => Clock::Lab,
    }
}

/// Computes one run of a generator in simulated time, with the curves that its job asks for.
///
/// # Errors
/// [`FramesError`].
pub fn run(experiment: &str, plan: &Plan) -> Result<RunRecord, FramesError> {
    let mut record = bare(experiment, plan)?;
    let streams = streams(plan)?;
    let curves = &mut record.curves;
    let jobs = || plan.jobs.iter().filter_map(|job| frames_of(&job.workload));
    if let Some(job) = jobs().find(|job| !job.loads.is_empty()) {
        curves.extend(curves::loss_against_load(plan, &streams, &job.loads)?);
    }
    if let Some(search) = jobs().find_map(|job| job.search.as_ref()) {
        curves.extend(curves::throughput_by_size(plan, &streams, search)?);
    }
    Ok(record)
}

/// The run alone, without curves.
///
/// # Errors
/// [`FramesError`].
pub fn bare(experiment: &str, plan: &Plan) -> Result<RunRecord, FramesError> {
    let streams = streams(plan)?;
    let tally = generator::send(&plan.network, plan.seed, &streams)?;
    let mut health = Health::valid();
    if tally.inside > 0 {
        health.add(Reason {
            code: Code::Incomplete,
            state: HealthState::Invalid,
            text: format!(
                "{} frames were still inside {} after the generator stopped; the network does not let go of them",
                tally.inside,
                generator::DRAIN
            ),
        });
    }
    Ok(RunRecord {
        flows: streams
            .iter()
            .zip(&tally.counted)
            .enumerate()
            .map(|(index, (stream, counted))| FlowResult {
                lost: lost(index, &tally),
                ..flow(stream, counted)
            })
            .collect(),
        elements: tally.elements.clone(),
        notes: (0..streams.len())
            .map(|index| note(&streams, index, &tally))
            .collect(),
        ..plan.record(Origin::Simulated, experiment, health)
    })
}

/// The streams of a plan, in the order of its jobs.
///
/// # Errors
/// A job that is no generator's, or a host without a port.
pub fn streams(plan: &Plan) -> Result<Vec<Stream>, FramesError> {
    plan.jobs
        .iter()
        .map(|job| {
            let frames = frames_of(&job.workload).ok_or_else(|| FramesError::OtherJob {
                job: job.name.clone(),
            })?;
            let host = |name: &str| {
                plan.host(name).ok_or_else(|| FramesError::NoPort {
                    job: job.name.clone(),
                    host: name.to_owned(),
                })
            };
            let (client, server) = (host(&job.client)?, host(&job.server)?);
            Ok(Stream {
                name: job.name.clone(),
                from: job.client.clone(),
                to: job.server.clone(),
                source: client.address,
                destination: server.address,
                protocol: frames.protocol,
                frame: u32::try_from(frames.frame.bytes()).unwrap_or(u32::MAX),
                line: frames.line,
                load: frames.load,
                start: job.start,
                duration: frames.duration,
            })
        })
        .collect()
}

const fn frames_of(workload: &Workload) -> Option<&FrameStream> {
    match workload {
        Workload::Frames(frames) => Some(frames),
        _ => None,
    }
}

fn flow(stream: &Stream, counted: &Counted) -> FlowResult {
    let ip = u64::from(stream.ip_len());
    let seconds = stream.duration.seconds();
    let frames = counted.received * u64::from(stream.frame);
    FlowResult {
        name: stream.name.clone(),
        sent_packets: counted.sent,
        received_packets: counted.received,
        sent_bytes: counted.sent * ip,
        received_bytes: counted.received * ip,
        jitter: Some(counted.jitter),
        // What a generator's receiver calls bandwidth: whole frames, with FCS.
        goodput_byte_per_s: if seconds > 0.0 {
            frames as f64 / seconds
        } else {
            0.0
        },
        lost: Vec::new(),
    }
}

/// Where the frames of a stream were lost, most first.
fn lost(stream: usize, tally: &Tally) -> Vec<LostPackets> {
    let own = tally.losses.iter().filter(|loss| loss.stream == stream);
    own.map(|loss| LostPackets {
        element: loss.element.clone(),
        cause: loss.cause.name().to_owned(),
        packets: loss.frames,
    })
    .collect()
}

/// What the counts do not say: bandwidth by layer, latency, and where the lost frames were lost.
fn note(streams: &[Stream], index: usize, tally: &Tally) -> String {
    let (stream, counted) = (&streams[index], &tally.counted[index]);
    let seconds = stream.duration.seconds().max(f64::MIN_POSITIVE);
    let mbit = |layer_bytes: u32| {
        let bits = counted.received as f64 * f64::from(layer_bytes) * 8.0;
        bits / seconds / 1e6
    };
    let latency = match counted.mean_latency() {
        None => "nothing arrived".to_owned(),
        Some(mean) => format!(
            "latency {:.2} to {:.2} ms, {:.2} on average",
            counted.least_latency.seconds() * 1e3,
            counted.most_latency.seconds() * 1e3,
            mean.seconds() * 1e3
        ),
    };
    let ip = stream.ip_len();
    let mut text = format!(
        "{}: {}-byte frames with FCS at {} of {} for {}; received {:.2} Mbit/s counting frames with FCS ({:.2} counting IP, {:.2} with preamble and gap), before any tunnel; {latency}",
        stream.name,
        stream.frame,
        stream.load,
        stream.line,
        stream.duration,
        mbit(stream.frame),
        mbit(ip),
        mbit(ip + Layer::Wire.overhead(ip)),
    );
    for (number, loss) in tally
        .losses
        .iter()
        .filter(|loss| loss.stream == index)
        .enumerate()
    {
        let share = 100.0 * loss.frames as f64 / counted.sent.max(1) as f64;
        let joint = if number == 0 { "; lost: " } else { ", " };
        let _ = write!(text, "{joint}{share:.2} % at {} ({})", loss.element, loss.cause);
    }
    text
}

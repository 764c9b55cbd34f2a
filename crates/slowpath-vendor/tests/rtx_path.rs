//! The RTX2000's tunnel-QoS report from its own configuration lines: frames in, published counts out.

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{Cargo, DropCause, Network, Outcome, Packet};
use slowpath_scenario::workload::StreamProtocol;
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions, Standing, Workload};
use slowpath_units::{ByteCount, Duration, Ratio, Time};
use slowpath_vendor::device;

/// A variant of the experiment as it is in the repository.
fn plan(variant: &str) -> Plan {
    let text = include_str!("../../../experiments/rtx2000-tunnel-qos/experiment.toml");
    let experiment =
        Experiment::read("rtx2000-tunnel-qos", text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut fragments = Fragments::new();
    for device in experiment.device_uses() {
        let config = configuration(&device.file);
        let (elements, reading) = device::elements(device, config.as_bytes()).unwrap();
        assert_eq!(reading.counts().unrecognised, 0);
        fragments.insert_device(device.clone(), elements);
    }
    let options = PlanOptions {
        variant: variant.to_owned(),
        repeat: 0,
        seed: 1,
        clock: Clock::Simulated,
        quick: false,
        size: None,
    };
    experiment
        .plan(&options, &fragments)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn configuration(file: &str) -> &'static str {
    macro_rules! files {
        ($($name:literal),*) => {
            match file {
                $($name => include_str!(concat!("../../../experiments/rtx2000-tunnel-qos/", $name)),)*
                other => panic!("{other}"),
            }
        };
    }
    files!(
        "throughput-curve.cfg",
        "priority-off.cfg",
        "priority-on.cfg",
        "pppoe-priority-off.cfg",
        "pppoe-priority-on.cfg",
        "bandwidth-off.cfg",
        "bandwidth-on.cfg"
    )
}

/// What the generators sent and the receiver got, by job, and drops on the device's receive side.
struct Counts {
    sent: Vec<(String, u64)>,
    received: Vec<u64>,
    overload: u64,
}

impl Counts {
    fn of(&self, name: &str) -> (u64, u64) {
        let index = self.sent.iter().position(|(job, _)| job == name).unwrap();
        (self.sent[index].1, self.received[index])
    }

    fn loss(&self, name: &str) -> f64 {
        let (sent, received) = self.of(name);
        100.0 * (1.0 - received as f64 / sent as f64)
    }

    fn total(&self) -> u64 {
        self.received.iter().sum()
    }

    /// Every published figure of the plan within its tolerance.
    fn check(&self, plan: &Plan) {
        for figure in &plan.figures {
            let (flow, what) = figure.id.split_once('.').unwrap();
            let found = match what {
                "received_packets" if flow == "total" => self.total() as f64,
                "received_packets" => self.of(flow).1 as f64,
                "loss" => self.loss(flow) / 100.0,
                other => panic!("{other}"),
            };
            let off = found / figure.value.as_f64() - 1.0;
            let most = figure.tolerance.unwrap().fraction();
            assert!(
                off.abs() <= most,
                "{} {}: {found} against {}, {:+.2} %",
                plan.variant,
                figure.id,
                figure.value,
                off * 100.0
            );
        }
    }
}

/// Sends every job's frames through the planned network and counts what arrives.
fn run(plan: &Plan) -> Counts {
    let mut network = Network::build(&plan.network, plan.seed).unwrap();
    let mut next: Vec<(Time, usize)> = Vec::new();
    let mut streams = Vec::new();
    for (index, job) in plan.jobs.iter().enumerate() {
        let Workload::Frames(frames) = &job.workload else {
            panic!()
        };
        let protocol = match frames.protocol {
            StreamProtocol::Tcp => Protocol::TCP,
            StreamProtocol::Udp => Protocol::UDP,
            StreamProtocol::Icmp => Protocol::ICMP,
        };
        let (client, server) = (plan.host(&job.client).unwrap(), plan.host(&job.server).unwrap());
        let key = FlowKey::new(
            protocol,
            (client.address, 1_000).into(),
            (server.address, 2_000).into(),
        );
        let flow = network.register_flow(&key);
        // Load counts the frame with preamble and gap.
        let (gap, _) = frames.line.time_for(frames.frame.bytes() + 20, 0);
        let gap =
            u64::try_from(u128::from(gap.nanos()) * 1_000_000_000 / u128::from(frames.load.ppb())).unwrap();
        let ip_len = u32::try_from(frames.frame.bytes() - 18).unwrap();
        streams.push((
            network.port(&job.client).unwrap(),
            flow,
            gap,
            ip_len,
            frames.duration.nanos(),
        ));
        // The generators are not in step.
        next.push((Time::from_nanos(index as u64 * gap / 3), index));
    }
    let mut counts = Counts {
        sent: plan.jobs.iter().map(|job| (job.name.clone(), 0)).collect(),
        received: vec![0; streams.len()],
        overload: 0,
    };
    while let Some(&(at, index)) = next.iter().min() {
        let (port, flow, gap, ip_len, duration) = streams[index];
        if at.nanos() >= duration {
            next.retain(|(_, stream)| *stream != index);
            continue;
        }
        network.advance(at);
        network.ingress(port, at, Packet::new(Cargo(index as u64), flow, ip_len));
        counts.sent[index].1 += 1;
        count(&mut network, &mut counts);
        next.iter_mut().find(|(_, stream)| *stream == index).unwrap().0 = at + Duration::from_nanos(gap);
    }
    while let Some(at) = network.next_event() {
        network.advance(at);
        count(&mut network, &mut counts);
    }
    counts
}

fn count(network: &mut Network, counts: &mut Counts) {
    while let Some(outcome) = network.poll_outcome() {
        match outcome {
            Outcome::Delivered { packet, .. } => {
                counts.received[usize::try_from(packet.cargo.0).unwrap()] += 1;
            }
            Outcome::Dropped {
                cause: DropCause::ReceiveOverload,
                ..
            } => counts.overload += 1,
            _ => {}
        }
    }
}

#[test]
fn the_bandwidth_table_comes_out_of_the_configuration() {
    let plan = plan("bandwidth-on");
    let counts = run(&plan);
    for (name, sent) in &counts.sent {
        assert_eq!(sent / 10, 59_865 / 10, "{name} sends as the generator did");
    }
    counts.check(&plan);
    assert!(
        counts.overload > 80_000,
        "ICMP's shortfall is loss on the receive side: {}",
        counts.overload
    );
    let fitted: Vec<_> = plan
        .assumptions
        .iter()
        .filter(|a| a.standing == Standing::Fitted)
        .collect();
    assert!(
        fitted
            .iter()
            .any(|a| a.name == "queue length" && a.value == "64 packets"),
        "{fitted:?}"
    );
}

#[test]
fn without_control_the_line_limits() {
    let plan = plan("bandwidth-off");
    let counts = run(&plan);
    assert_eq!(counts.overload, 0);
    counts.check(&plan);
}

#[test]
fn priority_protects_udp() {
    for (on, off) in [
        ("priority-on", "priority-off"),
        ("pppoe-priority-on", "pppoe-priority-off"),
    ] {
        let plan_on = plan(on);
        let counts = run(&plan_on);
        let (sent, received) = counts.of("udp");
        assert_eq!(sent, received, "{on}: UDP is in class 4");
        assert!(counts.loss("tcp") > 60.0, "{on}: TCP gets what is left");
        counts.check(&plan_on);
        // Which of the two loses more depends on the phase of the generators; that UDP loses does not.
        assert!(run(&plan(off)).loss("udp") > 10.0, "{off}: UDP shares the loss");
    }
}

#[test]
fn short_packets_reach_the_budget() {
    let plan = plan("curve-64");
    run(&plan).check(&plan);
}

/// The budget is fitted on 64 and 1518 bytes and predicts the receive limit that the table shows at 1024.
#[test]
fn the_budget_predicts_the_receive_limit() {
    for (frame, published) in [(64, 19_531.0), (1_518, 7_411.0), (1_024, 9_552.0)] {
        let mut plan = plan("curve-64");
        // The receive side alone: what the tunnel's MTU and the line would take away is not asked here.
        for output in &mut plan.network.element_mut("up.budget").unwrap().outputs {
            "receiver".clone_into(&mut output.to);
        }
        let Workload::Frames(frames) = &mut plan.jobs[0].workload else {
            panic!()
        };
        (frames.frame, frames.load) = (ByteCount::new(frame), Ratio::ONE);
        let off = run(&plan).total() as f64 / 10.0 / published - 1.0;
        assert!(off.abs() <= 0.05, "{frame} bytes: {:+.2} %", off * 100.0);
    }
}

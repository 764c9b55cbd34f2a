//! The RTX2000's tunnel-QoS report from its own configuration lines: frames in, published counts out.

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{Cargo, DropCause, Network, Outcome, Packet};
use slowpath_scenario::{Clock, Experiment, Fragments, Plan, PlanOptions, Standing};
use slowpath_units::Time;
use slowpath_vendor::device;

/// Three generators of 1024-byte frames at 50 % of 100 Mbit/s each, and the device with its budget.
///
/// The budget is fitted on "10 Mbit/s at 64 bytes" and "90 Mbit/s at 1518 bytes", counting frames with FCS: 51.2 us
/// and 134.93 us per packet are 47.5 us and 57.6 ns per byte.
fn plan(config: &str, port: &str, budget: bool) -> Plan {
    let budget = if budget {
        "{ per_packet = \"47516 ns\", per_kilobyte = \"57583 ns\", ring = 64 },"
    } else {
        "{ per_packet = \"0 ns\", ring = 1000 },"
    };
    let text = format!(
        "title = \"t\"\n[network]\ndown = []\nup = [{budget} {{ device = \"r.cfg\", system = \"rtx2000\", port = \"{port}\", line = \"100 Mbit/s\" }}]\n\
         [workload]\nkind = \"frames\"\nname = \"tcp\"\nclient = \"gen1\"\nserver = \"sink\"\nprotocol = \"tcp\"\nframe = \"1024 B\"\nline = \"100 Mbit/s\"\nload = \"50 %\"\n\
         [[background]]\nkind = \"frames\"\nname = \"udp\"\nclient = \"gen2\"\nserver = \"sink\"\nframe = \"1024 B\"\nline = \"100 Mbit/s\"\nload = \"50 %\"\n\
         [[background]]\nkind = \"frames\"\nname = \"icmp\"\nclient = \"gen3\"\nserver = \"sink\"\nprotocol = \"icmp\"\nframe = \"1024 B\"\nline = \"100 Mbit/s\"\nload = \"50 %\"\n"
    );
    let experiment = Experiment::read("x.toml", &text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let mut fragments = Fragments::new();
    for device in experiment.device_uses() {
        let (elements, reading) = device::elements(device, config.as_bytes()).unwrap();
        assert_eq!(reading.counts().unrecognised, 0);
        fragments.insert_device(device.clone(), elements);
    }
    let options = PlanOptions {
        variant: "default".to_owned(),
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

/// Received packets of TCP, UDP and ICMP after ten seconds of load, and drops by the device's receive side.
fn run(plan: &Plan, ip_len: u32, per_second: u64, protocols: &[Protocol]) -> (Vec<u64>, u64) {
    let mut network = Network::build(&plan.network, plan.seed).unwrap();
    let sink = network.port("sink").unwrap();
    let flows: Vec<_> = plan.hosts[..3]
        .iter()
        .zip(protocols)
        .map(|(host, protocol)| {
            let key = FlowKey::new(
                *protocol,
                (host.address, 1_000).into(),
                (plan.host("sink").unwrap().address, 2_000).into(),
            );
            (network.port(&host.name).unwrap(), network.register_flow(&key))
        })
        .collect();
    let mut received = vec![0; flows.len()];
    let mut overload = 0;
    let gap = 1_000_000_000 / per_second;
    for number in 0..10 * per_second {
        for (index, (port, flow)) in flows.iter().enumerate() {
            // The generators are not in step.
            let at = Time::from_nanos(number * gap + index as u64 * gap / 3);
            network.advance(at);
            network.ingress(*port, at, Packet::new(Cargo(index as u64), *flow, ip_len));
        }
        count(&mut network, sink, &mut received, &mut overload);
    }
    while let Some(at) = network.next_event() {
        network.advance(at);
        count(&mut network, sink, &mut received, &mut overload);
    }
    (received, overload)
}

fn count(network: &mut Network, sink: slowpath_path::PortId, received: &mut [u64], overload: &mut u64) {
    while let Some(outcome) = network.poll_outcome() {
        match outcome {
            Outcome::Delivered { port, packet, .. } if port == sink => {
                received[usize::try_from(packet.cargo.0).unwrap()] += 1;
            }
            Outcome::Dropped {
                cause: DropCause::ReceiveOverload,
                ..
            } => *overload += 1,
            _ => {}
        }
    }
}

const ALL: [Protocol; 3] = [Protocol::TCP, Protocol::UDP, Protocol::ICMP];

/// Frames per second of half of 100 Mbit/s, and the IP packet in a frame of 1024 bytes with FCS.
const HALF_LOAD: u64 = 5_987;
const IP_LEN: u32 = 1_006;

fn within(found: u64, published: u64, percent: f64, what: &str) {
    let off = (found as f64 / published as f64 - 1.0) * 100.0;
    assert!(
        off.abs() <= percent,
        "{what}: {found} against {published}, {off:+.2} %"
    );
}

#[test]
fn the_bandwidth_table_comes_out_of_the_configuration() {
    let plan = plan(include_str!("data/rtx2000/bandwidth-on.cfg"), "lan1.4", true);
    let (received, overload) = run(&plan, IP_LEN, HALF_LOAD, &ALL);
    within(received[0], 17_182, 2.0, "TCP");
    within(received[1], 5_774, 2.0, "UDP");
    within(received[2], 31_840, 3.0, "ICMP");
    within(received.iter().sum(), 54_796, 2.0, "total");
    assert!(
        overload > 80_000,
        "ICMP's shortfall is loss on the receive side: {overload}"
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
    let plan = plan(include_str!("data/rtx2000/bandwidth-off.cfg"), "lan1.4", false);
    let (received, overload) = run(&plan, IP_LEN, HALF_LOAD, &ALL);
    assert_eq!(overload, 0);
    for (count, what) in received.iter().zip(["TCP", "UDP", "ICMP"]) {
        let loss = 100.0 * (1.0 - *count as f64 / (10.0 * HALF_LOAD as f64));
        assert!((loss - 36.4).abs() <= 1.0, "{what} loses {loss:.2} %");
    }
}

/// UDP and TCP at 40 Mbit/s each into 50 Mbit/s: with the filter UDP loses nothing, without it both lose.
#[test]
fn priority_protects_udp() {
    let two = [Protocol::UDP, Protocol::TCP];
    let load = 4_790;
    let on = plan(include_str!("data/rtx2000/priority-on.cfg"), "lan1.3", false);
    let (received, _) = run(&on, IP_LEN, load, &two);
    assert_eq!(received[0], 10 * load, "UDP is in class 4");
    assert!(received[1] < 10 * load / 3, "TCP gets what is left: {received:?}");
    // 50 Mbit/s in packets of 1094 bytes on the wire.
    within(received.iter().sum(), 57_130, 0.5, "total");
    let off = plan(include_str!("data/rtx2000/priority-off.cfg"), "lan1.3", false);
    let (received, _) = run(&off, IP_LEN, load, &two);
    // Which of the two loses more depends on the phase of the generators; that UDP loses does not.
    assert!(received[0] < 9 * load, "UDP shares the loss: {received:?}");
}

#[test]
fn pppoe_costs_its_eight_bytes() {
    let two = [Protocol::UDP, Protocol::TCP];
    let plan = plan(
        include_str!("data/rtx2000/pppoe-priority-on.cfg"),
        "lan1.3",
        false,
    );
    let (received, _) = run(&plan, IP_LEN, 4_790, &two);
    // 50 Mbit/s in packets of 1102 bytes on the wire.
    within(received.iter().sum(), 56_715, 0.5, "total");
}

/// The budget is fitted on 64 and 1518 bytes and predicts what the table shows at 1024.
#[test]
fn the_budget_predicts_the_receive_limit() {
    let cases = [(46, 19_531, 5.0), (1_500, 7_411, 5.0), (IP_LEN, 9_552, 5.0)];
    for (ip_len, published, percent) in cases {
        let mut plan = plan(include_str!("data/rtx2000/throughput-curve.cfg"), "lan1.2", true);
        // The receive side alone: what the tunnel's MTU and the line would take away is not asked here.
        let budget = plan.network.element_mut("up.per_packet").unwrap();
        for output in &mut budget.outputs {
            "sink".clone_into(&mut output.to);
        }
        let (received, _) = run(&plan, ip_len, 10_000, &ALL);
        within(
            received.iter().sum::<u64>() / 10,
            published,
            percent,
            &format!("{ip_len} bytes"),
        );
    }
}

//! The published bandwidth table of a Yamaha RTX2000, replayed: three ports of 100 Mbit/s at half load, an IPsec
//! tunnel, and class shaping to 15, 5 and 30 Mbit/s.
//!
//! Fitted: the device's costs, on 10 Mbit/s at 64 bytes and 90 Mbit/s at 1518 bytes; the class queues' length of 50
//! packets, on the residue of the TCP and UDP rows. Predicted: everything else, ICMP's shortfall above all.

mod harness;
mod samples;

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{
    Cargo, Class, Classes, Classify, Cost, Decapsulate, Device, ElementKind, ElementSpec, Limit, Link, Match,
    Network, NetworkSpec, Outcome, Packet, PortSpec, Queue, Rate, Rule, Surplus, Target,
};
use slowpath_units::{Duration, Layer, Time};

use samples::{RTX_ESP, fifo, rate, tunnel_entry};

const PORTS: [&str; 3] = ["lan1.1", "lan1.2", "lan1.3"];
const PROTOCOLS: [Protocol; 3] = [Protocol::TCP, Protocol::UDP, Protocol::ICMP];

/// 47.5 us a packet and 58 ns a byte of frame with QoS on: the fit. Without QoS the box carries more than its line
/// does; how much more, no source says.
fn cost(qos: bool) -> Cost {
    Cost {
        per_packet: Duration::from_micros(20),
        per_byte_ps: 20_000,
        layer: Layer::FrameFcs,
        per_filter: Duration::ZERO,
        qos_per_packet: Duration::from_nanos(27_515),
        qos_per_byte_ps: 37_580,
        qos,
    }
}

/// Three ports, one processor, classification, the tunnel, one line of 100 Mbit/s, the other router.
fn rtx(qos: bool) -> NetworkSpec {
    let rule = |(class, protocol): (u8, Protocol)| Rule {
        matches: Match {
            protocols: vec![protocol],
            ..Match::default()
        },
        class: Some(class),
        output: 0,
    };
    let filters = Classify {
        rules: [(1, Protocol::TCP), (2, Protocol::UDP), (3, Protocol::ICMP)]
            .map(rule)
            .to_vec(),
        default_class: Some(2),
        default_output: 0,
    };
    let shaping = Classes {
        classes: [(1, 15), (2, 5), (3, 30)]
            .map(|(number, mbit)| Class::shaped(number, 50, rate(mbit)))
            .to_vec(),
        default: 2,
        speed: None,
        layer: Layer::Wire,
        counts_inner: false,
        surplus: Surplus::ByGuarantee,
    };
    let queue = if qos {
        Queue::Classes(shaping)
    } else {
        fifo(Limit::Packets(50))
    };
    let line = Link {
        rate: Rate::Fixed(rate(100)),
        layer: Layer::Wire,
        queue,
    };
    let device = Device {
        cost: cost(qos),
        rings: vec![64; 3],
        classify: qos.then_some(filters),
    };
    let mut spec = NetworkSpec::default();
    let out = vec![
        ("esp".to_owned(), tunnel_entry(RTX_ESP)),
        ("lan1.4".to_owned(), ElementKind::Link(line)),
        (
            "peer".to_owned(),
            ElementKind::Decapsulate(Decapsulate::default()),
        ),
    ];
    let esp = spec.add_chain(out, &Target::to("receiver"));
    let does = ElementKind::Device(device);
    spec.elements.push(ElementSpec {
        name: "rtx2000".to_owned(),
        does,
        outputs: vec![esp; 3],
    });
    for (input, port) in PORTS.into_iter().enumerate() {
        spec.ports.push(PortSpec {
            name: port.to_owned(),
            entry: Some(Target::input("rtx2000", input as u8)),
        });
    }
    spec.ports.push(PortSpec {
        name: "receiver".to_owned(),
        entry: None,
    });
    spec
}

/// The priority example: `speed` 50 Mbit/s on the line, UDP in class 4 if `sorted`, PPPoE's eight bytes if `pppoe`.
fn priority(sorted: bool, pppoe: bool) -> NetworkSpec {
    let mut spec = rtx(true);
    let ElementKind::Device(device) = &mut spec.element_mut("rtx2000").unwrap().does else {
        panic!()
    };
    let udp = Rule {
        matches: Match {
            protocols: vec![Protocol::UDP],
            ..Match::default()
        },
        class: Some(4),
        output: 0,
    };
    let rules = if sorted { vec![udp] } else { vec![] };
    device.classify = Some(Classify {
        rules,
        default_class: Some(2),
        default_output: 0,
    });
    let ElementKind::Link(line) = &mut spec.element_mut("lan1.4").unwrap().does else {
        panic!()
    };
    let queue = Classes {
        speed: Some(rate(50)),
        layer: Layer::Wire,
        ..Classes::priority(1..=4, 2, 50)
    };
    line.queue = Queue::Classes(queue);
    if pppoe {
        let framing = ElementKind::Framing(slowpath_path::Framing { bytes: 8 });
        let outputs = vec![Target::to("lan1.4")];
        spec.elements.push(ElementSpec {
            name: "pppoe".to_owned(),
            does: framing,
            outputs,
        });
        spec.element_mut("esp").unwrap().outputs = vec![Target::to("pppoe")];
    }
    spec
}

/// Frames of `size` bytes with FCS at half of 100 Mbit/s on each of the `ports` for ten seconds; returns sent and
/// received per port. The ports' clocks are independent, as a generator's are: each frame is up to one interval late.
fn run(spec: &NetworkSpec, size: u32, gap: Duration, ports: usize) -> Vec<(u64, u64)> {
    let mut network = Network::build(spec, 1).unwrap();
    let flow = |protocol| {
        let key = FlowKey::new(
            protocol,
            "192.168.0.2:1".parse().unwrap(),
            "192.168.9.2:2".parse().unwrap(),
        );
        network.register_flow(&key)
    };
    let flows: Vec<_> = PROTOCOLS.into_iter().map(flow).collect();
    let frames = Duration::from_secs(10).nanos() / gap.nanos();
    let mut state = 1_u64;
    let mut received = vec![0; ports];
    for number in 0..frames {
        let interval = Time::ZERO + gap * number;
        for port in 0..ports {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let late = Duration::from_nanos((state >> 33) % gap.nanos());
            let id = network.port(PORTS[port]).unwrap();
            network.ingress(
                id,
                interval + late,
                Packet::new(Cargo::new(port as u64), flows[port], size - 18),
            );
        }
        network.advance(interval);
        while let Some(outcome) = network.poll_outcome() {
            if let Outcome::Delivered { packet, .. } = outcome {
                received[packet.cargo.handle as usize] += 1;
            }
        }
    }
    // The queues drain after the generator has stopped.
    network.advance(Time::ZERO + Duration::from_secs(20));
    while let Some(outcome) = network.poll_outcome() {
        if let Outcome::Delivered { packet, .. } = outcome {
            received[packet.cargo.handle as usize] += 1;
        }
    }
    received.into_iter().map(|count| (frames, count)).collect()
}

fn assert_within(what: &str, found: u64, published: u64, percent: f64) {
    let error = (found as f64 - published as f64).abs() / published as f64 * 100.0;
    assert!(
        error <= percent,
        "{what}: {found} frames, published {published}, {error:.2} % apart"
    );
    eprintln!("{what}: {found} frames, published {published}, {error:.2} % apart");
}

/// Half load of 1024-byte frames: 5986.5 frames a second.
const HALF_LOAD: Duration = Duration::from_nanos(167_040);

#[test]
fn the_bandwidth_table_with_control() {
    let result = run(&rtx(true), 1024, HALF_LOAD, 3);
    assert!(
        result.iter().all(|(sent, _)| sent.abs_diff(59_865) <= 2),
        "{result:?}"
    );
    let received: Vec<u64> = result.iter().map(|(_, received)| *received).collect();
    assert_within("TCP", received[0], 17_182, 2.0);
    assert_within("UDP", received[1], 5_774, 2.0);
    assert_within("ICMP", received[2], 31_840, 3.0);
    assert_within("total", received.iter().sum(), 54_796, 2.0);
}

#[test]
fn without_control_the_line_limits_all_alike() {
    for (sent, received) in run(&rtx(false), 1024, HALF_LOAD, 3) {
        let loss = 100.0 * (sent - received) as f64 / sent as f64;
        assert!((35.4..=37.4).contains(&loss), "{loss} %");
    }
}

#[test]
fn the_budget_is_fitted_at_two_sizes_and_predicts_the_third() {
    // One port at 100 Mbit/s of each size; what the processor forwards, before any line, is its capacity.
    let capacity = |size: u32| {
        let per_packet = cost(true).picoseconds(size, 0);
        1_000_000_000_000 / per_packet
    };
    // Fitted: 10 Mbit/s at 64 bytes and 90 Mbit/s at 1518, counting frames.
    assert_within("64 bytes (fitted)", capacity(64), 19_531, 5.0);
    assert_within("1518 bytes (fitted)", capacity(1518), 7_411, 5.0);
    // Predicted: the receive limit that ICMP's shortfall implies.
    assert_within("1024 bytes (predicted)", capacity(1024), 9_552, 5.0);
}

#[test]
fn priority_protects_udp_and_pppoe_costs_its_eight_bytes() {
    // Two ports, each at 30 %: 3592 frames a second each, 62.9 Mbit/s on the wire into 50.
    let load = Duration::from_nanos(278_400);
    let totals = [(false, 1094), (true, 1102)].map(|(pppoe, bytes)| {
        let line = 500_000_000 / (8 * bytes);
        let [(tcp_sent, tcp), (udp_sent, udp)] = run(&priority(true, pppoe), 1024, load, 2)[..] else {
            panic!()
        };
        assert_eq!(udp, udp_sent, "the higher class loses nothing");
        assert!(
            tcp < tcp_sent * 6 / 10,
            "the lower class pays: {tcp} of {tcp_sent}"
        );
        let [(_, tcp), (_, other)] = run(&priority(false, pppoe), 1024, load, 2)[..] else {
            panic!()
        };
        let loss = |got: u64| 100 * (udp_sent - got) / udp_sent;
        assert!(
            (18..=23).contains(&loss(tcp)) && (18..=23).contains(&loss(other)),
            "{tcp} and {other}"
        );
        // Ten seconds at the line's packet rate, and what the queue held at the end.
        assert!(
            (line..=line + 51).contains(&(tcp + other)),
            "{} of {line}",
            tcp + other
        );
        tcp + other
    });
    assert!(totals[0] > totals[1]);
}

#[test]
fn receive_overload_defeats_priority() {
    // At 50 % on two ports the processor cannot take in what arrives; then even the highest class loses.
    let [(_, _), (udp_sent, udp)] = run(&priority(true, false), 1024, HALF_LOAD, 2)[..] else {
        panic!()
    };
    assert!(udp < udp_sent * 9 / 10, "{udp} of {udp_sent}");
}

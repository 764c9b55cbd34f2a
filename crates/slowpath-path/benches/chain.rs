//! What one packet costs in a chain as the wire uses it, and how that compares with merely queueing the packet.
//!
//! Prints nanoseconds per packet for this machine and the ratio to a bare first-in-first-out ring, which is what
//! may be compared between machines.

#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock and its arguments"
)]

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{
    Cargo, Delay, ElementKind, Limit, Link, Loss, Network, NetworkSpec, Outcome, Packet, Tap,
};
use slowpath_units::{BitRate, Duration, Layer, Ratio, Time};

const TRAIN: u64 = 44;

fn main() {
    // For counting instructions: a number sets how many packets, another word which chains.
    let only = std::env::args()
        .skip(1)
        .find(|text| !text.starts_with("--") && text.parse::<u64>().is_err());
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let packets = std::env::args()
        .find_map(|text| text.parse().ok())
        .unwrap_or(2_000_000);
    let ring = best_of(3, || bare_ring(packets));
    println!("bare ring                                    {ring:7.1} ns/packet   1.0x");
    for (name, spec, gap) in chains().into_iter().filter(|chain| wanted(chain.0)) {
        let cost = best_of(3, || network(&spec, gap, packets));
        println!("{name:44} {cost:7.1} ns/packet {:5.1}x", cost / ring);
    }
}

fn best_of(times: u32, mut run: impl FnMut() -> f64) -> f64 {
    (0..times).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn chains() -> Vec<(&'static str, NetworkSpec, Duration)> {
    let rate = |bits| {
        ElementKind::Link(Link::fifo(
            BitRate::new(bits),
            Layer::Frame,
            Limit::Packets(10_000),
        ))
    };
    let delay = || ElementKind::Delay(Delay::fixed(Duration::from_millis(1)));
    let loss = || ElementKind::Loss(Loss::random(Ratio::from_ppb(100_000).expect("below one")));
    let tap = || ElementKind::Tap(Tap { record: false });
    let chain = |list: Vec<(&str, ElementKind)>| {
        let owned = |list: &[(&str, ElementKind)], side: &str| {
            list.iter()
                .map(|(name, does)| (format!("{side}.{name}"), does.clone()))
                .collect()
        };
        NetworkSpec::chain("near", "far", owned(&list, "up"), owned(&list, "down"))
    };
    let wire = vec![
        ("nic", rate(100_000_000_000)),
        ("rate", rate(40_000_000_000)),
        ("loss", loss()),
        ("delay", delay()),
        ("tap", tap()),
    ];
    let long = (0..10).flat_map(|_| [rate(40_000_000_000), delay()]);
    let names: Vec<String> = (0..20).map(|number| format!("hop{number}")).collect();
    let long = names.iter().map(String::as_str).zip(long).collect();
    let gap = Duration::from_nanos(310);
    vec![
        ("delay alone", chain(vec![("delay", delay())]), gap),
        ("nic, rate + queue, loss, delay, counting tap", chain(wire), gap),
        ("ten hops of rate and delay", chain(long), gap),
    ]
}

/// Trains of packets go in, the network is advanced, outcomes come out: nanoseconds per packet.
fn network(spec: &NetworkSpec, gap: Duration, packets: u64) -> f64 {
    let mut network = Network::build_parts(spec, 1)
        .expect("the chain can be built")
        .remove(0);
    let near = network.port("near").expect("it has two ports");
    let (src, dst) = (
        "10.0.0.1:1".parse().expect("address"),
        "10.0.0.2:2".parse().expect("address"),
    );
    let flow = network.register_flow(&FlowKey::new(Protocol::TCP, src, dst));
    let start = Instant::now();
    let (mut at, mut delivered) = (Time::ZERO, 0_u64);
    for train in 0..packets / TRAIN {
        for number in 0..TRAIN {
            let packet = Packet::new(Cargo::new(train * TRAIN + number), flow, 1500);
            network.ingress(near, at, packet);
        }
        at += gap * TRAIN;
        network.advance(at);
        while let Some(outcome) = network.poll_outcome() {
            delivered += u64::from(matches!(black_box(outcome), Outcome::Delivered { .. }));
        }
    }
    let cost = start.elapsed().as_nanos() as f64 / packets as f64;
    assert!(
        packets < 1_000_000 || delivered > packets * 9 / 10,
        "only {delivered} were delivered"
    );
    cost
}

fn bare_ring(packets: u64) -> f64 {
    let mut ring: VecDeque<(Time, Packet)> = VecDeque::new();
    let start = Instant::now();
    for number in 0..packets {
        ring.push_back((
            Time::from_nanos(number),
            Packet::new(Cargo::new(number), slowpath_path::FlowId(0), 1500),
        ));
        if ring.len() > 1000 {
            black_box(ring.pop_front());
        }
    }
    start.elapsed().as_nanos() as f64 / packets as f64
}

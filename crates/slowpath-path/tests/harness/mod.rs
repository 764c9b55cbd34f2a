//! A driver for tests: packets in at given times, outcomes out, step by step or to the end.

#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test file uses its own part of the harness"
)]

use slowpath_packet::{FlowKey, Protocol};
use slowpath_path::{Cargo, ElementKind, FlowId, Network, NetworkSpec, Outcome, Packet, PortId};
use slowpath_units::{Duration, Time};

/// A network under test with what it has said so far.
pub struct Harness {
    /// The network; set it up or look into it in mid-test as you like.
    pub network: Network,
    /// Every outcome so far.
    pub outcomes: Vec<Outcome>,
    /// The flows registered, TCP from port 1000 + n.
    pub flows: Vec<FlowId>,
}

impl Harness {
    pub fn new(spec: &NetworkSpec, seed: u64) -> Self {
        Self::around(Network::build(spec, seed).expect("the test's network can be built"))
    }

    pub fn around(mut network: Network) -> Self {
        let flows = (0..4).map(|number| network.register_flow(&key(number))).collect();
        Self {
            network,
            outcomes: Vec::new(),
            flows,
        }
    }

    pub fn port(&self, name: &str) -> PortId {
        self.network.port(name).expect("the port exists")
    }

    /// Sends a packet of flow 0 with `cargo` as its number.
    pub fn send(&mut self, port: &str, at: Time, cargo: u64, ip_len: u32) {
        let packet = Packet::new(Cargo::new(cargo), self.flows[0], ip_len);
        self.send_packet(port, at, packet);
    }

    pub fn send_packet(&mut self, port: &str, at: Time, packet: Packet) {
        let port = self.port(port);
        self.network.ingress(port, at, packet);
    }

    /// Lets the next instant happen; false when there is none.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.network.next_event() else {
            return false;
        };
        self.advance(at);
        true
    }

    /// Advances to `at` and collects outcomes.
    pub fn advance(&mut self, at: Time) {
        self.network.advance(at);
        while let Some(outcome) = self.network.poll_outcome() {
            self.outcomes.push(outcome);
        }
    }

    /// Steps until nothing is left to happen, at most `limit` times: a livelock is a failure, not a hang.
    pub fn drive_bounded(&mut self, limit: usize) {
        for _ in 0..limit {
            if !self.step() {
                return;
            }
        }
        panic!("still busy after {limit} instants, at {}", self.network.now());
    }

    /// Steps until nothing is left to happen.
    pub fn drive(&mut self) {
        self.drive_bounded(2_000_000);
    }

    /// What was delivered to `port`: when, and which cargo.
    pub fn delivered(&self, port: &str) -> Vec<(Time, u64)> {
        let wanted = self.port(port);
        let arrival = |outcome: &Outcome| match outcome {
            Outcome::Delivered { port, at, packet } if *port == wanted => Some((*at, packet.cargo.handle)),
            _ => None,
        };
        self.outcomes.iter().filter_map(arrival).collect()
    }

    /// The cargos that were dropped, with the name of the cause.
    pub fn dropped(&self) -> Vec<(u64, &'static str)> {
        let drop = |outcome: &Outcome| match outcome {
            Outcome::Dropped { cause, packet, .. } => Some((packet.cargo.handle, cause.name())),
            _ => None,
        };
        self.outcomes.iter().filter_map(drop).collect()
    }

    /// Checks that no element has lost count, in packets and bytes.
    pub fn assert_balanced(&self) {
        for (element, name) in self.network.element_names() {
            let counters = self.network.counters(element).expect("it lives here");
            assert_eq!(counters.packets_left(), counters.inside.packets);
            assert!(
                counters.balanced(),
                "{name} at {}: {counters:?}",
                self.network.now()
            );
        }
    }
}

/// The flow number `number` of every harness.
pub fn key(number: u16) -> FlowKey {
    let protocol = [Protocol::TCP, Protocol::UDP, Protocol::ICMP, Protocol::TCP][usize::from(number) % 4];
    FlowKey::new(
        protocol,
        format!("10.0.0.1:{}", 1000 + number).parse().unwrap(),
        format!("10.1.0.{}:80", 1 + number).parse().unwrap(),
    )
}

/// A chain from `near` to `far` with nothing on the way back.
pub fn one_way(chain: Vec<(&str, ElementKind)>) -> NetworkSpec {
    let chain = chain
        .into_iter()
        .map(|(name, does)| (name.to_owned(), does))
        .collect();
    NetworkSpec::chain("near", "far", chain, vec![])
}

pub fn ms(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

pub fn us(micros: u64) -> Time {
    Time::ZERO + Duration::from_micros(micros)
}

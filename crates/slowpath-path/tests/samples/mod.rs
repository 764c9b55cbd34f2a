//! Networks with every kind of element, and traffic to put through them.

#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test file uses its own part of the samples"
)]

use proptest::prelude::*;
use slowpath_packet::{Dscp, Ecn};
use slowpath_path::{
    Cargo, Delay, DropUnit, Duplicate, ElementKind, ElementSpec, Fifo, Flags, FlowId, Jitter, JitterShape,
    Limit, Link, Loss, LossModel, NetworkSpec, Packet, PortSpec, Queue, Rate, RateStep, Span, SpanStep, Tap,
    Target, Trace,
};
use slowpath_units::{BitRate, Duration, Layer, Time};

/// One packet to send.
#[derive(Debug, Clone)]
pub struct Arrival {
    pub at: Time,
    pub port: &'static str,
    pub flow: u32,
    pub ip_len: u32,
    pub tos: u8,
    pub train: u32,
    pub flags: Flags,
}

impl Arrival {
    pub fn packet(&self, cargo: u64) -> Packet {
        Packet {
            dscp: Dscp::from_tos(self.tos),
            ecn: Ecn::from_tos(self.tos),
            train: self.train,
            flags: self.flags,
            ..Packet::new(Cargo(cargo), FlowId(self.flow), self.ip_len)
        }
    }
}

/// Up to `most` packets within 200 ms, in bursts, in both directions, in order of time.
pub fn arrivals(most: usize) -> impl Strategy<Value = Vec<Arrival>> {
    let size = prop_oneof![Just(1500_u32), Just(52), 28_u32..1500];
    let flags = prop_oneof![
        4 => Just(Flags::NONE),
        3 => Just(Flags::DONT_FRAGMENT),
        1 => Just(Flags::SYN.with(Flags::DONT_FRAGMENT))
    ];
    let one = (
        0_u64..200_000,
        any::<bool>(),
        0_u32..4,
        size,
        any::<u8>(),
        1_u32..6,
        flags,
    );
    prop::collection::vec(one, 1..most).prop_map(|mut list| {
        list.sort_by_key(|arrival| arrival.0);
        let arrival = |(us, up, flow, ip_len, tos, train, flags)| Arrival {
            // Coarse times, so that ties are common.
            at: Time::ZERO + Duration::from_micros(us / 500 * 500),
            port: if up { "near" } else { "far" },
            flow,
            ip_len,
            tos,
            train,
            flags,
        };
        list.into_iter().map(arrival).collect()
    })
}

pub fn rate(mbit: u64) -> BitRate {
    BitRate::new(mbit * 1_000_000)
}

pub fn link(name: &str, mbit: u64, limit: Limit) -> (&str, ElementKind) {
    (
        name,
        ElementKind::Link(Link::fifo(rate(mbit), Layer::Frame, limit)),
    )
}

pub fn delay(name: &str, millis: u64) -> (&str, ElementKind) {
    (
        name,
        ElementKind::Delay(Delay::fixed(Duration::from_millis(millis))),
    )
}

pub fn loss<'a>(name: &'a str, chance: &str) -> (&'a str, ElementKind) {
    (name, ElementKind::Loss(Loss::random(chance.parse().unwrap())))
}

pub fn jitter(name: &str, reorder: bool) -> (&str, ElementKind) {
    let shape = JitterShape::Normal {
        deviation: Duration::from_millis(2),
    };
    let delay = Delay {
        delay: Span::Fixed(Duration::from_millis(15)),
        jitter: Some(Jitter { shape, reorder }),
    };
    (name, ElementKind::Delay(delay))
}

fn owned(chain: Vec<(&str, ElementKind)>) -> Vec<(String, ElementKind)> {
    chain
        .into_iter()
        .map(|(name, does)| (name.to_owned(), does))
        .collect()
}

pub fn both(up: Vec<(&str, ElementKind)>, down: Vec<(&str, ElementKind)>) -> NetworkSpec {
    NetworkSpec::chain("near", "far", owned(up), owned(down))
}

pub fn tap(name: &str) -> (&str, ElementKind) {
    (name, ElementKind::Tap(Tap { record: true }))
}

/// Networks to try everything on, each with its name.
pub fn samples() -> Vec<(&'static str, NetworkSpec)> {
    vec![
        ("a plain path", plain()),
        ("jitter, duplicates and bursts of loss", disorder()),
        ("rates and delays that change", varying()),
        ("two ways into one", merged()),
    ]
}

pub fn fifo(limit: Limit) -> Queue {
    Queue::Fifo(Fifo::new(limit))
}

fn plain() -> NetworkSpec {
    both(
        vec![
            link("nic", 1000, Limit::None),
            tap("tap"),
            link("up.rate", 10, Limit::Packets(8)),
            delay("up.delay", 20),
            loss("up.loss", "3 %"),
        ],
        vec![
            link("down.rate", 5, Limit::Bytes(9000)),
            delay("down.delay", 30),
            loss("down.loss", "1 %"),
        ],
    )
}

fn disorder() -> NetworkSpec {
    let duplicate = ElementKind::Duplicate(Duplicate {
        chance: "20 %".parse().unwrap(),
    });
    let elliott = LossModel::GilbertElliott {
        to_bad: "5 %".parse().unwrap(),
        to_good: "30 %".parse().unwrap(),
        loss_good: "1 %".parse().unwrap(),
        loss_bad: "60 %".parse().unwrap(),
    };
    let third_train = Loss {
        model: LossModel::Every { n: 3 },
        unit: DropUnit::Train,
    };
    both(
        vec![
            jitter("j", true),
            ("copy", duplicate.clone()),
            (
                "elliott",
                ElementKind::Loss(Loss {
                    model: elliott,
                    unit: DropUnit::Packet,
                }),
            ),
            ("copy2", duplicate),
            tap("end"),
        ],
        vec![
            jitter("k", false),
            link("slow", 3, Limit::Time(Duration::from_millis(20))),
            ("trains", ElementKind::Loss(third_train)),
        ],
    )
}

fn varying() -> NetworkSpec {
    let step = |from, mbit| RateStep {
        from: Duration::from_millis(from),
        rate: rate(mbit),
    };
    let span = |from, delay| SpanStep {
        from: Duration::from_millis(from),
        delay: Duration::from_millis(delay),
    };
    let link = |rate| {
        ElementKind::Link(Link {
            rate,
            layer: Layer::Wire,
            queue: fifo(Limit::Packets(5)),
        })
    };
    let moving = Delay {
        delay: Span::Steps(vec![span(0, 20), span(50, 5), span(90, 40)]),
        jitter: None,
    };
    both(
        vec![
            (
                "steps",
                link(Rate::Steps(vec![step(0, 20), step(30, 0), step(60, 2)])),
            ),
            ("moving", ElementKind::Delay(moving)),
        ],
        vec![(
            "trace",
            link(Rate::Trace(Trace {
                millis: vec![1, 1, 4, 9, 20],
                bytes: 1500,
            })),
        )],
    )
}

/// Both ports feed one link that leads to a third port.
fn merged() -> NetworkSpec {
    let mut spec = NetworkSpec::default();
    for (port, entry) in [("near", Some("a")), ("far", Some("b")), ("sink", None)] {
        spec.ports.push(PortSpec {
            name: port.to_owned(),
            entry: entry.map(Target::to),
        });
    }
    for (name, does, output) in [
        ("a", delay("", 3).1, "shared"),
        ("b", delay("", 4).1, "shared"),
        ("shared", link("", 4, Limit::Packets(6)).1, "sink"),
    ] {
        spec.elements.push(ElementSpec {
            name: name.to_owned(),
            does,
            outputs: vec![Target::to(output)],
        });
    }
    spec
}

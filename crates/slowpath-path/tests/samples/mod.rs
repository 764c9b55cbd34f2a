//! Networks with every kind of element, and traffic to put through them.

#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test file uses its own part of the samples"
)]

use proptest::prelude::*;
use slowpath_packet::overhead::{Cipher, Encapsulation, EspTransform, Integrity, IpVersion};
use slowpath_packet::{Dscp, Ecn};
use slowpath_path::{
    Action, Adjust, Class, Classes, Classify, CodeAction, Codel, Cost, Decapsulate, Device, Encapsulate,
    FqCodel, Framing, Match, Meter, Mtu, OuterDf, OuterDscp, Pie, Police, Red, Remark, RemarkRule, Router,
    Rule, SetMark, Surplus, Treat, Treatment,
};
use slowpath_path::{
    Cargo, Delay, DropUnit, Duplicate, ElementKind, ElementSpec, Fifo, Flags, FlowId, Jitter, JitterShape,
    Limit, Link, Loss, LossModel, NetworkSpec, Packet, PortSpec, Queue, Rate, RateStep, Span, SpanStep, Tap,
    Target, Trace,
};
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Ratio, Time};

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
    pub fn packet(&self, cargo: u64, flows: &[FlowId]) -> Packet {
        Packet {
            dscp: Dscp::from_tos(self.tos),
            ecn: Ecn::from_tos(self.tos),
            train: self.train,
            ttl: if self.train == 5 { 2 } else { 64 },
            flags: self.flags,
            ..Packet::new(Cargo::new(cargo), flows[self.flow as usize], self.ip_len)
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
        ("routers that answer", routed()),
        ("a tunnel with fragments", tunnelled()),
        ("class queues", class_queues()),
        (
            "active queue management, RED and PIE",
            managed(Queue::Red(red()), Queue::Pie(pie())),
        ),
        ("active queue management, CoDel", managed(codel(), fair())),
        ("a shared device, marks and policers", device_and_marks()),
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

pub fn address(text: &str) -> std::net::IpAddr {
    text.parse().unwrap()
}

/// Wires a further output of the element `from`.
pub fn answer_to(spec: &mut NetworkSpec, from: &str, to: &str) {
    spec.element_mut(from).unwrap().outputs.push(Target::to(to));
}

/// A small MTU up, routers both ways, and their messages going back.
fn routed() -> NetworkSpec {
    let router = |name: &'static str, text| {
        (
            name,
            ElementKind::Router(Router {
                address: address(text),
                answer_gap: None,
            }),
        )
    };
    let mtu = Mtu {
        mtu: 800,
        answers_as: Some(address("10.9.0.1")),
        ignore_df: false,
        announced: None,
    };
    let silent = Mtu {
        mtu: 1000,
        answers_as: None,
        ignore_df: false,
        announced: None,
    };
    let mut spec = both(
        vec![
            router("up.r1", "10.9.0.1"),
            link("up.rate", 20, Limit::Packets(50)),
            ("up.mtu", ElementKind::Mtu(mtu)),
            router("up.r2", "10.9.0.2"),
            delay("up.delay", 5),
        ],
        vec![
            delay("down.delay", 5),
            ("down.mtu", ElementKind::Mtu(silent)),
            router("down.r2", "10.9.0.2"),
            link("down.rate", 20, Limit::Packets(50)),
            router("down.r1", "10.9.0.1"),
        ],
    );
    answer_to(&mut spec, "up.r1", "near");
    answer_to(&mut spec, "up.mtu", "down.rate");
    answer_to(&mut spec, "up.r2", "down.rate");
    answer_to(&mut spec, "down.r2", "up.delay");
    spec
}

pub const RTX_ESP: Encapsulation = Encapsulation::Esp {
    outer: IpVersion::V4,
    transform: EspTransform {
        cipher: Cipher::TripleDesCbc,
        integrity: Integrity::Md5,
    },
    udp: false,
};

pub fn tunnel_entry(way: Encapsulation) -> ElementKind {
    ElementKind::Encapsulate(Encapsulate {
        way,
        src: address("192.0.2.1"),
        dst: address("192.0.2.2"),
        dscp: OuterDscp::Copy,
        df: OuterDf::Clear,
    })
}

/// Fragments before and behind the entry, reordering, loss and duplicates inside, replay check and reassembly.
fn tunnelled() -> NetworkSpec {
    let mtu = |mtu| {
        ElementKind::Mtu(Mtu {
            mtu,
            answers_as: None,
            ignore_df: true,
            announced: None,
        })
    };
    let duplicate = ElementKind::Duplicate(Duplicate {
        chance: "10 %".parse().unwrap(),
    });
    both(
        vec![
            ("tunnel.mtu", mtu(1280)),
            ("entry", tunnel_entry(RTX_ESP)),
            ("pppoe", ElementKind::Framing(Framing { bytes: 8 })),
            ("outer.mtu", mtu(700)),
            ("outer.rate", link("", 30, Limit::Packets(30)).1),
            jitter("reorder", true),
            loss("outer.loss", "4 %"),
            ("twice", duplicate),
            ("inner.mtu", mtu(400)),
            (
                "exit",
                ElementKind::Decapsulate(Decapsulate {
                    replay_window: Some(8),
                }),
            ),
            tap("end"),
        ],
        vec![
            (
                "back.entry",
                tunnel_entry(Encapsulation::Vxlan { outer: IpVersion::V4 }),
            ),
            ("nested.entry", tunnel_entry(Encapsulation::IPV4_IN_IPV6)),
            loss("back.loss", "4 %"),
            ("nested.exit", ElementKind::Decapsulate(Decapsulate::default())),
        ],
    )
}

pub fn by_flow(classes: &[u8]) -> ElementKind {
    let rule = |(number, class): (usize, &u8)| Rule {
        matches: Match {
            src_ports: vec![1000 + number as u16..=1000 + number as u16],
            ..Match::default()
        },
        class: Some(*class),
        output: 0,
    };
    ElementKind::Classify(Classify {
        rules: classes.iter().enumerate().map(rule).collect(),
        default_class: Some(2),
        default_output: 0,
    })
}

fn class_queues() -> NetworkSpec {
    let shaped = Classes {
        classes: vec![
            Class {
                thresholds: Some([Ratio::ONE, half(), half()]),
                ..Class::shaped(1, 6, BitRate::new(300_000))
            },
            Class {
                guarantee: Some(rate(2)),
                ceiling: Some(rate(8)),
                ..Class::plain(2, 5)
            },
            Class {
                guarantee: Some(rate(1)),
                ..Class::plain(3, 5)
            },
            Class {
                rank: 1,
                ceiling: Some(rate(3)),
                ..Class::plain(4, 5)
            },
        ],
        default: 2,
        speed: Some(rate(9)),
        layer: Layer::FrameFcs,
        counts_inner: true,
        surplus: Surplus::ByGuarantee,
    };
    let link = |queue| {
        ElementKind::Link(Link {
            rate: Rate::Fixed(rate(10)),
            layer: Layer::Wire,
            queue,
        })
    };
    both(
        vec![
            ("sort", by_flow(&[1, 2, 3, 4])),
            ("shaped", link(Queue::Classes(shaped))),
        ],
        vec![
            ("sort2", by_flow(&[1, 4, 2, 3])),
            ("priority", link(Queue::Classes(Classes::priority(1..=4, 2, 6)))),
        ],
    )
}

pub fn half() -> Ratio {
    "50 %".parse().unwrap()
}

pub fn red() -> Red {
    Red {
        min: ByteCount::new(3000),
        max: ByteCount::new(9000),
        limit: ByteCount::new(30_000),
        chance: "10 %".parse().unwrap(),
        weight: 3,
        idle_rate: rate(10),
        idle_packet: ByteCount::new(1000),
        gentle: true,
        ecn: true,
    }
}

fn pie() -> Pie {
    Pie {
        burst: Duration::ZERO,
        ecn: true,
        ..Pie::default()
    }
}

fn codel() -> Queue {
    Queue::Codel(Codel {
        target: Duration::from_millis(2),
        interval: Duration::from_millis(10),
        limit: 40,
        ..Codel::default()
    })
}

fn fair() -> Queue {
    let codel = Codel {
        target: Duration::from_millis(2),
        interval: Duration::from_millis(10),
        ..Codel::default()
    };
    Queue::FqCodel(FqCodel {
        codel: Codel {
            limit: 20,
            ecn: true,
            ..codel
        },
        flows: 3,
        quantum: 600,
    })
}

fn managed(up: Queue, down: Queue) -> NetworkSpec {
    let link = |queue| {
        ElementKind::Link(Link {
            rate: Rate::Fixed(rate(6)),
            layer: Layer::Frame,
            queue,
        })
    };
    both(vec![("up", link(up))], vec![("down", link(down))])
}

/// One processor for both directions; marks are rewritten, policed and treated on the way.
fn device_and_marks() -> NetworkSpec {
    let device = Device {
        cost: Cost {
            per_packet: Duration::from_micros(1500),
            per_byte_ps: 58_000,
            layer: Layer::FrameFcs,
            per_filter: Duration::from_nanos(333),
            qos_per_packet: Duration::from_micros(20),
            qos_per_byte_ps: 7,
            qos: true,
        },
        rings: vec![10, 4],
        classify: Some(match by_flow(&[3, 1]) {
            ElementKind::Classify(classify) => classify,
            _ => unreachable!(),
        }),
    };
    let meter = |cir, cbs, ebs| Meter::SingleRate {
        cir,
        cbs: ByteCount::new(cbs),
        ebs: ByteCount::new(ebs),
    };
    let police = Police {
        meter: meter(rate(3), 6000, 3000),
        layer: Layer::Ip,
        exceed: Action::Mark(Dscp::CS1),
        violate: Action::Drop,
    };
    let two_rate = Police {
        meter: Meter::TwoRate {
            cir: rate(2),
            cbs: ByteCount::new(4000),
            pir: rate(4),
            pbs: ByteCount::new(6000),
        },
        layer: Layer::Frame,
        exceed: Action::Pass,
        violate: Action::Drop,
    };
    let treatment = |codes: std::ops::Range<u8>, action| Treatment {
        codes: codes.map(|code| Dscp::new(code).unwrap()).collect(),
        action,
    };
    let treat = Treat {
        treatments: vec![
            treatment(8..12, CodeAction::Drop(half())),
            treatment(
                10..30,
                CodeAction::Police(Police::new(rate(1), ByteCount::new(3000), Layer::Ip)),
            ),
            treatment(30..64, CodeAction::Drop(half())),
        ],
    };
    let tos = SetMark::Tos {
        tos: 0,
        precedence: Some(0),
        spares_ecn: false,
    };
    let remark = Remark {
        rules: vec![
            RemarkRule {
                matches: Match {
                    precedence: vec![1],
                    ..Match::default()
                },
                set: tos,
            },
            RemarkRule {
                matches: Match {
                    ecn: vec![Ecn::Ce],
                    ..Match::default()
                },
                set: SetMark::Keep,
            },
            RemarkRule {
                matches: Match {
                    tos: vec![3, 5],
                    ..Match::default()
                },
                set: SetMark::Dscp(Dscp::EF),
            },
        ],
    };
    let shaper = Rate::Bucket {
        rate: rate(8),
        burst: ByteCount::new(4000),
    };
    let shaper = ElementKind::Link(Link {
        rate: shaper,
        layer: Layer::Ip,
        queue: fifo(Limit::Packets(9)),
    });
    let mut spec = NetworkSpec::default();
    let up = spec.add_chain(
        owned(vec![
            ("remark", ElementKind::Remark(remark)),
            ("police", ElementKind::Police(police)),
            (
                "mss",
                ElementKind::Adjust(Adjust {
                    mss: Some(1360),
                    strip_window_scale: true,
                }),
            ),
            ("shaper", shaper),
        ]),
        &Target::to("far"),
    );
    let down = spec.add_chain(
        owned(vec![
            ("treat", ElementKind::Treat(treat)),
            ("police2", ElementKind::Police(two_rate)),
        ]),
        &Target::to("near"),
    );
    spec.elements.push(ElementSpec {
        name: "cpu".to_owned(),
        does: ElementKind::Device(device),
        outputs: vec![up, down],
    });
    for (port, input) in [("near", 0), ("far", 1)] {
        spec.ports.push(PortSpec {
            name: port.to_owned(),
            entry: Some(Target::input("cpu", input)),
        });
    }
    spec
}

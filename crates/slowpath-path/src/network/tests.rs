//! Acting by element against acting by time.

use super::{Network, Schedule};
use crate::calendar::Calendar;
use crate::elements::link::Rate;
use crate::elements::{Class, Classes, Delay, Duplicate, Fifo, Limit, Link, Loss, Queue, Tap};
use crate::outcome::PortId;
use crate::packet::{Cargo, Packet};
use crate::spec::ElementKind;
use crate::spec::NetworkSpec;
use slowpath_packet::{FlowKey, Protocol};
use slowpath_units::{BitRate, Duration, Layer, Ratio, Time};

fn chain() -> NetworkSpec {
    let link = |mbit: u32, queue| Link {
        rate: Rate::Fixed(BitRate::new(u64::from(mbit) * 1_000_000)),
        layer: Layer::Ip,
        queue,
    };
    let ratio = |ppb| Ratio::from_ppb(ppb).unwrap();
    let classes = Classes {
        classes: vec![Class::shaped(1, 8, BitRate::new(6_000_000))],
        ..Classes::priority([1], 1, 1)
    };
    let chain = vec![
        (
            "nic",
            ElementKind::Link(link(100, Queue::Fifo(Fifo::new(Limit::None)))),
        ),
        (
            "copy",
            ElementKind::Duplicate(Duplicate {
                chance: ratio(100_000_000),
            }),
        ),
        ("classes", ElementKind::Link(link(9, Queue::Classes(classes)))),
        ("loss", ElementKind::Loss(Loss::random(ratio(50_000_000)))),
        (
            "delay",
            ElementKind::Delay(Delay::fixed(Duration::from_micros(1234))),
        ),
        (
            "rate",
            ElementKind::Link(link(4, Queue::Fifo(Fifo::new(Limit::Packets(6))))),
        ),
        ("tap", ElementKind::Tap(Tap { record: true })),
    ];
    let chain = chain
        .into_iter()
        .map(|(name, does)| (name.to_owned(), does))
        .collect();
    NetworkSpec::chain("near", "far", chain, vec![])
}

fn outcomes(mut network: Network, step: u64) -> Vec<String> {
    let (src, dst) = ("10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap());
    let flow = network.register_flow(&FlowKey::new(Protocol::UDP, src, dst));
    let mut list = Vec::new();
    for number in 0..5000_u64 {
        let at = Time::from_nanos(number * number % 77 * 1000 + number * 1_500_000);
        network.ingress(
            PortId(0),
            at,
            Packet::new(Cargo::new(number), flow, 300 + (number % 7 * 150) as u32),
        );
        if number % step == 0 {
            network.advance(at);
        }
    }
    network.advance(Time::from_nanos(60_000_000_000));
    while let Some(outcome) = network.poll_outcome() {
        list.push(format!("{:020} {outcome:?}", outcome.at().nanos()));
    }
    assert!(
        list.iter().map(|text| &text[..20]).is_sorted(),
        "outcomes come in order of time"
    );
    list.sort();
    list
}

#[test]
fn acting_by_element_and_by_time_are_the_same() {
    let build = || Network::build(&chain(), 5).unwrap();
    assert!(matches!(build().schedule, Schedule::ByElement { .. }));
    let by_time = || {
        let mut network = build();
        network.schedule = Schedule::ByTime(Calendar::new(network.ports.len() + network.nodes.len()));
        network
    };
    let expected = outcomes(by_time(), 1);
    assert!(expected.len() > 10_000, "{}", expected.len());
    for step in [1, 10, 999] {
        assert!(
            outcomes(build(), step) == expected,
            "by element, {step} arrivals at a time"
        );
        assert!(
            outcomes(by_time(), step) == expected,
            "by time, {step} arrivals at a time"
        );
    }
}

//! Tunnels: bytes as seen between the ends, marks, fragments, and replay checks behind reordering queues.

mod harness;
mod samples;

use harness::{Harness, one_way};
use samples::{RTX_ESP, address, by_flow, delay, fifo, link, loss, rate, tap, tunnel_entry};
use slowpath_packet::overhead::{Encapsulation, IpVersion};
use slowpath_packet::{Dscp, Ecn};
use slowpath_path::{
    Cargo, Classes, Decapsulate, ElementKind, Encapsulate, Flags, Framing, Limit, Link, Mtu, Outcome,
    OuterDf, OuterDscp, Packet, Queue, Rate, Remark, RemarkRule, SetMark,
};
use slowpath_units::{Layer, Time};

fn exit(replay_window: Option<u32>) -> ElementKind {
    ElementKind::Decapsulate(Decapsulate { replay_window })
}

fn seen(harness: &Harness) -> Vec<Packet> {
    let packet = |outcome: &Outcome| match outcome {
        Outcome::Seen { packet, .. } => Some(*packet),
        _ => None,
    };
    harness.outcomes.iter().filter_map(packet).collect()
}

#[test]
fn a_tunnel_adds_its_bytes_and_takes_them_off_again() {
    for (way, inner, outer) in [
        (RTX_ESP, 1006, 1056),
        (RTX_ESP, 64, 120),
        (Encapsulation::IPV4_IN_IPV6, 1460, 1500),
        (Encapsulation::Vxlan { outer: IpVersion::V4 }, 1450, 1500),
    ] {
        let framing = ElementKind::Framing(Framing { bytes: 8 });
        let chain = vec![
            ("in", tunnel_entry(way)),
            ("pppoe", framing),
            tap("tap"),
            ("out", exit(None)),
            tap("end"),
        ];
        let mut harness = Harness::new(&one_way(chain), 1);
        harness.send("near", Time::ZERO, 7, inner);
        harness.drive();
        harness.assert_balanced();
        let seen = seen(&harness);
        assert_eq!((seen[0].ip_len, seen[0].cargo), (outer, Cargo::new(7)), "{way:?}");
        assert_eq!(seen[0].bytes(Layer::Wire), outer + 8 + 38);
        assert_ne!(seen[0].flow, harness.flows[0], "the tunnel has its own addresses");
        assert_eq!(
            (seen[1].ip_len, seen[1].link, seen[1].flow),
            (inner, 0, harness.flows[0])
        );
    }
}

#[test]
fn a_packet_lost_inside_is_reported_as_it_was_sent() {
    let chain = vec![
        ("in", tunnel_entry(RTX_ESP)),
        loss("loss", "100 %"),
        ("out", exit(None)),
    ];
    let mut harness = Harness::new(&one_way(chain), 1);
    harness.send("near", Time::ZERO, 7, 1006);
    harness.drive();
    let Some(Outcome::Dropped { packet, .. }) = harness.outcomes.last() else {
        panic!()
    };
    assert_eq!(
        (packet.ip_len, packet.flow, packet.cargo),
        (1006, harness.flows[0], Cargo::new(7))
    );
}

#[test]
fn marks_are_copied_or_set_outside_and_kept_inside() {
    let ef = Dscp::EF;
    for (dscp, outside) in [(OuterDscp::Copy, Dscp::CS1), (OuterDscp::Set(ef), ef)] {
        let ElementKind::Encapsulate(entry) = tunnel_entry(RTX_ESP) else {
            panic!()
        };
        let entry = ElementKind::Encapsulate(Encapsulate { dscp, ..entry });
        // Between the ends the outer code point is bleached and congestion is marked.
        let bleach = ElementKind::Remark(Remark::bleach());
        let congested = Remark {
            rules: vec![RemarkRule {
                matches: slowpath_path::Match::default(),
                set: SetMark::Ecn(Ecn::Ce),
            }],
        };
        let chain = vec![
            ("in", entry),
            tap("tap"),
            ("bleach", bleach),
            ("congested", ElementKind::Remark(congested)),
            ("out", exit(None)),
            tap("end"),
        ];
        let mut harness = Harness::new(&one_way(chain), 1);
        for (cargo, ecn) in [(0, Ecn::Ect0), (1, Ecn::NotEct)] {
            let packet = Packet {
                dscp: Dscp::CS1,
                ecn,
                ..Packet::new(Cargo::new(cargo), harness.flows[0], 500)
            };
            harness.send_packet("near", Time::ZERO, packet);
        }
        harness.drive();
        let mut marks: Vec<(u64, Dscp, Ecn)> = seen(&harness)
            .iter()
            .map(|packet| (packet.cargo.handle, packet.dscp, packet.ecn))
            .collect();
        marks.sort_by_key(|mark| mark.0);
        let expected = [
            (0, outside, Ecn::Ect0),
            (0, Dscp::CS1, Ecn::Ce),
            (1, outside, Ecn::NotEct),
            (1, Dscp::CS1, Ecn::NotEct),
        ];
        assert_eq!(marks, expected);
    }
}

#[test]
fn outer_fragments_come_together_or_are_lost_together() {
    let cut = Mtu {
        mtu: 700,
        answers_as: None,
        ignore_df: true,
        announced: None,
    };
    let run = |lost: Vec<u64>| {
        let list = slowpath_path::Loss {
            model: slowpath_path::LossModel::List { packets: lost },
            unit: slowpath_path::DropUnit::Packet,
        };
        let chain = vec![
            ("in", tunnel_entry(RTX_ESP)),
            ("cut", ElementKind::Mtu(cut)),
            ("list", ElementKind::Loss(list)),
            ("out", exit(None)),
        ];
        let mut harness = Harness::new(&one_way(chain), 1);
        harness.send("near", Time::ZERO, 1, 1400);
        harness.send("near", Time::ZERO, 2, 1400);
        harness.drive();
        harness.assert_balanced();
        assert_eq!(harness.network.inside(), 0);
        harness
    };
    // 1456 bytes outside: 676 + 676 + 84 of payload, three fragments.
    let whole = run(vec![]);
    let split = whole.outcomes.iter().filter_map(|outcome| match outcome {
        Outcome::Split { parts, .. } => Some(*parts),
        _ => None,
    });
    assert_eq!(split.collect::<Vec<_>>(), [3, 3]);
    assert_eq!(whole.delivered("far").len(), 2);
    let broken = run(vec![2]);
    assert_eq!(broken.delivered("far"), [(Time::ZERO, 2)]);
    assert_eq!(
        broken.dropped(),
        [(1, "loss"), (1, "incomplete"), (1, "incomplete")]
    );
    let Some(Outcome::Dropped { at, .. }) = broken.outcomes.last() else {
        panic!()
    };
    assert_eq!(at.nanos(), 30_000_000_000, "the others wait for thirty seconds");
}

#[test]
fn df_on_the_outer_header_is_copied_set_or_cleared() {
    for (df, inner_df, silent) in [
        (OuterDf::Copy, true, true),
        (OuterDf::Copy, false, false),
        (OuterDf::Set, false, true),
        (OuterDf::Clear, true, false),
    ] {
        let ElementKind::Encapsulate(entry) = tunnel_entry(RTX_ESP) else {
            panic!()
        };
        let entry = ElementKind::Encapsulate(Encapsulate { df, ..entry });
        // The answer would go to the tunnel's entry, not to the host: to the host this is a black hole.
        let cut = Mtu {
            mtu: 1400,
            answers_as: Some(address("10.9.9.9")),
            ignore_df: false,
            announced: None,
        };
        let chain = vec![("in", entry), ("cut", ElementKind::Mtu(cut)), ("out", exit(None))];
        let mut harness = Harness::new(&one_way(chain), 1);
        let flags = if inner_df {
            Flags::DONT_FRAGMENT
        } else {
            Flags::NONE
        };
        let packet = Packet {
            flags,
            ..Packet::new(Cargo::new(0), harness.flows[0], 1400)
        };
        harness.send_packet("near", Time::ZERO, packet);
        harness.drive();
        assert_eq!(harness.delivered("far").is_empty(), silent, "{df:?} {inner_df}");
        assert!(
            !harness
                .outcomes
                .iter()
                .any(|outcome| matches!(outcome, Outcome::Emit { .. }))
        );
    }
}

#[test]
fn a_priority_queue_behind_the_tunnel_makes_a_replay_check_drop() {
    let run = |window: Option<u32>| {
        let link = Link {
            rate: Rate::Fixed(rate(10)),
            layer: Layer::Wire,
            queue: Queue::Classes(Classes::priority([1, 2, 3, 4], 2, 200)),
        };
        let chain = vec![
            ("sort", by_flow(&[1, 4])),
            ("in", tunnel_entry(RTX_ESP)),
            ("queue", ElementKind::Link(link)),
            delay("wan", 5),
            ("out", exit(window)),
        ];
        let mut harness = Harness::new(&one_way(chain), 1);
        // 100 packets wait in the low class while 50 of the high class, numbered later, overtake them.
        for number in 0..150_u64 {
            let flow = harness.flows[usize::from(number >= 100)];
            harness.send_packet("near", Time::ZERO, Packet::new(Cargo::new(number), flow, 1000));
        }
        harness.drive();
        harness.assert_balanced();
        harness.dropped()
    };
    assert!(run(None).is_empty(), "without the check nothing is lost");
    let dropped = run(Some(32));
    assert!(
        dropped
            .iter()
            .all(|(cargo, cause)| *cause == "replay" && *cargo < 100)
    );
    // Number 150 is the highest; what is at 118 or below (but for the one on the wire first) comes too late.
    assert_eq!(dropped.len(), 99);
    assert_eq!(run(Some(64)).len(), 86 - 1, "a wider window loses fewer");
    assert!(run(Some(150)).is_empty());
}

#[test]
fn the_shaper_may_count_before_or_after_encryption() {
    // 50 Mbit/s of IP: 1006 bytes inside give 6212 a second, 1056 outside give 5918.
    let sent = |counts_inner| {
        let queue = Classes {
            speed: Some(rate(50)),
            layer: Layer::Ip,
            counts_inner,
            ..Classes::priority([1, 2], 2, 100)
        };
        let link = Link {
            rate: Rate::Fixed(rate(100)),
            layer: Layer::Wire,
            queue: Queue::Classes(queue),
        };
        let chain = vec![
            ("in", tunnel_entry(RTX_ESP)),
            ("link", ElementKind::Link(link)),
            ("out", exit(None)),
        ];
        let mut harness = Harness::new(&one_way(chain), 1);
        for number in 0..10_000 {
            harness.send("near", harness::us(number * 100), number, 1006);
        }
        harness.advance(harness::ms(1000));
        harness.delivered("far").len()
    };
    assert!((6212..=6213).contains(&sent(true)));
    assert!((5918..=5919).contains(&sent(false)));
}

#[test]
fn fragmenting_before_encryption_reaches_the_host_in_pieces() {
    let before = Mtu {
        mtu: 1280,
        answers_as: None,
        ignore_df: false,
        announced: None,
    };
    let chain = vec![
        ("mtu", ElementKind::Mtu(before)),
        ("in", tunnel_entry(RTX_ESP)),
        link("wire", 100, Limit::Packets(10)),
        ("out", exit(None)),
        (
            "last",
            ElementKind::Link(Link {
                rate: Rate::Fixed(rate(100)),
                layer: Layer::Ip,
                queue: fifo(Limit::None),
            }),
        ),
    ];
    let mut harness = Harness::new(&one_way(chain), 1);
    harness.send("near", Time::ZERO, 1, 1500);
    harness.drive();
    let lengths: Vec<(u32, bool)> = harness
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Delivered { packet, .. } => Some((packet.ip_len, packet.is_fragment())),
            _ => None,
        })
        .collect();
    assert_eq!(lengths, [(1276, true), (244, true)]);
}

//! Routers as hosts see them: traceroute, path MTU discovery, black holes, changed handshakes, shared budgets.

mod harness;
mod samples;

use harness::{Harness, one_way, us};
use samples::{address, answer_to, both, delay, link};
use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};
use slowpath_path::{
    Addresses, Adjust, Cargo, Classify, Cost, Device, Edit, ElementKind, ElementSpec, Flags, Limit, Match,
    Mtu, NetworkSpec, Notice, Outcome, Packet, PortSpec, Router, Rule, Target,
};
use slowpath_units::{Duration, Layer, Time};

fn router(number: u8) -> ElementKind {
    let address = address(&format!("10.9.0.{number}"));
    ElementKind::Router(Router {
        address,
        answer_gap: None,
    })
}

/// Sixteen routers each way, 1 ms apart; what expires at the n-th goes back past the n - 1 before it.
fn sixteen_hops() -> NetworkSpec {
    let name = |side: &str, number: u8| format!("{side}{number}");
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for number in 1..=16 {
        up.push((name("wire", number), delay("", 1).1));
        up.push((name("r", number), router(number)));
        down.insert(0, (name("back", number), router(number)));
        down.insert(1, (name("backwire", number), delay("", 1).1));
    }
    let mut spec = NetworkSpec::chain("near", "far", up, down);
    for number in 1..=16 {
        answer_to(&mut spec, &name("r", number), &name("backwire", number));
    }
    spec
}

#[test]
fn a_traceroute_names_sixteen_hops() {
    let mut harness = Harness::new(&sixteen_hops(), 1);
    for ttl in 1..=17_u8 {
        let packet = Packet {
            ttl,
            ..Packet::new(Cargo::new(u64::from(ttl)), harness.flows[1], 60)
        };
        harness.send_packet("near", harness::ms(u64::from(ttl) * 100), packet);
    }
    harness.drive();
    harness.assert_balanced();
    for ttl in 1..=16_u8 {
        let emitted = harness.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Emit {
                packet,
                notice,
                arrival,
                ..
            } if packet.cargo.handle == u64::from(ttl) => Some((*packet, *notice, *arrival)),
            _ => None,
        });
        let (message, notice, arrival) = emitted.expect("each hop answers");
        assert_eq!((arrival.ttl, arrival.ip_len), (1, 60), "it saw the TTL run out");
        assert_eq!(
            notice,
            Notice::TimeExceeded {
                from: address(&format!("10.9.0.{ttl}"))
            }
        );
        assert_eq!(message.ip_len, 20 + 8 + 60, "it quotes the packet");
        let arrival = harness.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Delivered { at, packet, .. } if packet.id == message.id => Some((*at, *packet)),
            _ => None,
        });
        let (at, arrived) = arrival.expect("each answer arrives");
        assert_eq!(
            at,
            harness::ms(u64::from(ttl) * 100 + 2 * u64::from(ttl)),
            "round trip to hop {ttl}"
        );
        assert!(arrived.flags.has(Flags::EMITTED));
        assert_eq!(arrived.ttl, 64 - (ttl - 1), "the answer's TTL falls too");
    }
    // The last packet has one hop to spare.
    assert_eq!(harness.delivered("far"), [(harness::ms(1716), 17)]);
    assert_eq!(harness.dropped().len(), 16);
}

#[test]
fn messages_are_not_answered_and_may_be_limited() {
    let slow = Router {
        address: address("10.9.0.1"),
        answer_gap: Some(Duration::from_secs(1)),
    };
    let mut spec = both(
        vec![("r", ElementKind::Router(slow))],
        vec![("back", delay("", 1).1)],
    );
    answer_to(&mut spec, "r", "back");
    let mut harness = Harness::new(&spec, 1);
    for number in 0..20 {
        let packet = Packet {
            ttl: 1,
            ..Packet::new(Cargo::new(number), harness.flows[1], 60)
        };
        harness.send_packet("near", harness::ms(number * 100), packet);
    }
    let error = Packet {
        ttl: 1,
        flags: Flags::ICMP_ERROR,
        ..Packet::new(Cargo::new(99), harness.flows[2], 60)
    };
    harness.send_packet("near", harness::ms(5000), error);
    harness.drive();
    let answers = harness
        .delivered("near")
        .iter()
        .map(|(_, cargo)| *cargo)
        .collect::<Vec<_>>();
    assert_eq!(answers, [0, 10]);
}

/// A path whose middle takes 1400 bytes.
fn narrow(answers: bool, ignore_df: bool) -> NetworkSpec {
    let answers_as = answers.then(|| address("10.9.0.7"));
    let mtu = ElementKind::Mtu(Mtu {
        mtu: 1400,
        answers_as,
        ignore_df,
        announced: None,
    });
    let mut spec = both(vec![("mtu", mtu)], vec![("back", delay("", 1).1)]);
    answer_to(&mut spec, "mtu", "back");
    spec
}

#[test]
fn too_large_packets_are_reported_swallowed_or_cut() {
    for (answers, ignore_df, df, expected) in [
        (true, false, true, "too-big"),
        (false, false, true, "black-hole"),
        (true, true, true, "cut"),
        (true, false, false, "cut"),
        (false, false, false, "cut"),
    ] {
        let mut harness = Harness::new(&narrow(answers, ignore_df), 1);
        let flags = if df { Flags::DONT_FRAGMENT } else { Flags::NONE };
        for (cargo, ip_len) in [(0, 1400), (1, 1500)] {
            let packet = Packet {
                flags,
                ..Packet::new(Cargo::new(cargo), harness.flows[0], ip_len)
            };
            harness.send_packet("near", Time::ZERO, packet);
        }
        harness.drive();
        harness.assert_balanced();
        let fragments: Vec<Packet> = harness
            .outcomes
            .iter()
            .filter_map(|outcome| match outcome {
                Outcome::Delivered { packet, .. }
                    if packet.cargo == Cargo::new(1) && packet.is_fragment() =>
                {
                    Some(*packet)
                }
                _ => None,
            })
            .collect();
        if expected == "cut" {
            assert!(harness.dropped().is_empty());
            // 1376 bytes of payload (a multiple of 8) and the other 104.
            let shape: Vec<_> = fragments
                .iter()
                .map(|part| {
                    (
                        part.ip_len,
                        part.fragment_offset,
                        part.flags.has(Flags::MORE_FRAGMENTS),
                    )
                })
                .collect();
            assert_eq!(shape, [(1396, 0, true), (124, 172, false)]);
            continue;
        }
        assert_eq!(harness.dropped(), [(1, expected)]);
        let told = harness.outcomes.iter().find_map(|outcome| match outcome {
            Outcome::Emit { notice, packet, .. } => Some((*notice, packet.ip_len)),
            _ => None,
        });
        let notice = Notice::FragmentationNeeded {
            from: address("10.9.0.7"),
            mtu: 1400,
        };
        assert_eq!(told, answers.then_some((notice, 576)));
    }
}

#[test]
fn only_syns_are_adjusted_and_the_smaller_mss_wins() {
    let adjust = |mss, strip| {
        ElementKind::Adjust(Adjust {
            mss,
            strip_window_scale: strip,
        })
    };
    let chain = vec![
        ("a", adjust(Some(1414), false)),
        ("b", adjust(Some(1240), true)),
        ("c", adjust(Some(1300), true)),
    ];
    let mut harness = Harness::new(&one_way(chain), 1);
    for (cargo, flags) in [(0, Flags::SYN), (1, Flags::NONE)] {
        let packet = Packet {
            flags,
            ..Packet::new(Cargo::new(cargo), harness.flows[0], 60)
        };
        harness.send_packet("near", Time::ZERO, packet);
    }
    harness.drive();
    let edits: Vec<Edit> = harness
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Edit { edit, .. } => Some(*edit),
            _ => None,
        })
        .collect();
    assert_eq!(
        edits,
        [Edit::MssLimit(1414), Edit::MssLimit(1240), Edit::StripWindowScale]
    );
    let limits: Vec<(u16, bool)> = harness
        .outcomes
        .iter()
        .filter_map(|outcome| match outcome {
            Outcome::Delivered { packet, .. } => {
                Some((packet.mss_limit, packet.flags.has(Flags::STRIP_WINDOW_SCALE)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(limits, [(1240, true), (0, false)]);
}

#[test]
fn a_classifier_routes_by_destination() {
    let to = |text: &str, length, output| Rule {
        matches: Match {
            dst: vec![Addresses::prefix(address(text), length)],
            ..Match::default()
        },
        class: None,
        output,
    };
    let routes = Classify {
        rules: vec![to("10.1.0.2", 32, 1), to("10.1.0.0", 16, 2)],
        default_class: None,
        default_output: 0,
    };
    let mut spec = NetworkSpec::default();
    spec.ports.push(PortSpec {
        name: "near".to_owned(),
        entry: Some(Target::to("routes")),
    });
    for port in ["a", "b", "c"] {
        spec.ports.push(PortSpec {
            name: port.to_owned(),
            entry: None,
        });
    }
    let outputs = ["a", "b", "c"].map(Target::to).to_vec();
    spec.elements.push(ElementSpec {
        name: "routes".to_owned(),
        does: ElementKind::Classify(routes),
        outputs,
    });
    let mut harness = Harness::new(&spec, 1);
    let elsewhere = FlowKey::new(
        Protocol::UDP,
        "10.0.0.1:1".parse().unwrap(),
        "8.8.8.8:53".parse().unwrap(),
    );
    let elsewhere = harness.network.register_flow(&elsewhere);
    for (cargo, flow) in [(0, elsewhere), (1, harness.flows[1]), (2, harness.flows[0])] {
        harness.send_packet("near", Time::ZERO, Packet::new(Cargo::new(cargo), flow, 100));
    }
    harness.drive();
    for (port, cargo) in [("a", 0), ("b", 1), ("c", 2)] {
        assert_eq!(harness.delivered(port), [(Time::ZERO, cargo)]);
    }
}

#[test]
fn a_device_s_ports_share_one_budget() {
    // 100 us a packet: 10,000 packets a second for all ports together.
    let cost = Cost {
        per_packet: Duration::from_micros(100),
        per_byte_ps: 0,
        layer: Layer::FrameFcs,
        per_filter: Duration::ZERO,
        qos_per_packet: Duration::ZERO,
        qos_per_byte_ps: 0,
        qos: false,
    };
    let mut spec = NetworkSpec::default();
    for (input, port) in ["near", "far", "third"].into_iter().enumerate() {
        spec.ports.push(PortSpec {
            name: port.to_owned(),
            entry: Some(Target::input("cpu", input as u8)),
        });
    }
    spec.ports.push(PortSpec {
        name: "out".to_owned(),
        entry: None,
    });
    let device = Device {
        cost,
        rings: vec![32; 3],
        classify: None,
    };
    let outputs = vec![Target::to("out"); 3];
    spec.elements.push(ElementSpec {
        name: "cpu".to_owned(),
        does: ElementKind::Device(device),
        outputs,
    });
    let received = |offered: [u64; 3]| {
        let mut harness = Harness::new(&spec, 1);
        for (port, gap) in ["near", "far", "third"].into_iter().zip(offered) {
            for number in 0..1_000_000 / gap {
                let cargo = gap << 32 | number;
                harness.send(port, us(number * gap), cargo, 100);
            }
        }
        harness.advance(Time::ZERO + Duration::from_secs(1));
        harness.assert_balanced();
        offered.map(|gap| {
            harness
                .delivered("out")
                .iter()
                .filter(|(_, cargo)| cargo >> 32 == gap)
                .count()
        })
    };
    // One port alone has the whole budget; three greedy ones a third each; a modest one all that it wants.
    let greedy = received([50, 51, 52]);
    assert!(greedy.iter().all(|count| count.abs_diff(3333) <= 2), "{greedy:?}");
    let modest = received([1000, 50, 51]);
    assert!(
        modest[0].abs_diff(1000) <= 1 && modest[1].abs_diff(4500) <= 3,
        "{modest:?}"
    );
}

#[test]
fn marks_show_on_the_delivered_packet() {
    let bleach = ElementKind::Remark(slowpath_path::Remark::bleach());
    let mut harness = Harness::new(&one_way(vec![("bleach", bleach), link("l", 1, Limit::None)]), 1);
    let packet = Packet {
        dscp: Dscp::CS1,
        ecn: Ecn::Ect0,
        ..Packet::new(Cargo::new(0), harness.flows[0], 100)
    };
    harness.send_packet("near", Time::ZERO, packet);
    harness.drive();
    let Some(Outcome::Delivered { packet, .. }) = harness.outcomes.last() else {
        panic!()
    };
    assert_eq!((packet.dscp, packet.ecn), (Dscp::DEFAULT, Ecn::Ect0));
    let bleached = |outcome: &Outcome| {
        matches!(
            outcome,
            Outcome::Edit {
                edit: Edit::Dscp(Dscp::DEFAULT),
                ..
            }
        )
    };
    assert!(harness.outcomes.iter().any(bleached));
}

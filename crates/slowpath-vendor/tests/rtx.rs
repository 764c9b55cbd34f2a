//! Yamaha RTX: one golden line per command, with the manual's meaning.

use slowpath_packet::overhead::{Cipher, Integrity};
use slowpath_packet::{Dscp, Protocol};
use slowpath_units::BitRate;
use slowpath_vendor::reading::{Config, read_for};
use slowpath_vendor::rtx::{ClassTarget, Mark, Scheduler, Share};
use slowpath_vendor::{Language, LineState, Reading, Trap, guess};

use LineState::{Doubtful, Ignored, Modelled, NotModelled, Unrecognised};

fn rtx(model: Option<&str>, text: &str) -> Reading {
    read_for(Language::Rtx, model, "rtx.cfg", text.as_bytes())
}

fn config(reading: &Reading) -> &slowpath_vendor::rtx::Config {
    let Config::Rtx(config) = &reading.config else {
        panic!("not RTX")
    };
    config
}

/// The line, the state it ends in, and a part of its meaning.
const TOP: &[(&str, LineState, &str)] = &[
    // Chapter 26: speed sets the rate the scheduler works to; suffixes k, m, g are decimal.
    ("speed lan1.3 50m", Modelled, "50 Mbit/s at most"),
    ("SPEED LAN2 100M", Modelled, "100 Mbit/s at most"),
    ("speed lan1 fast", Doubtful, "rate such as 50m"),
    // Default fifo; priority can starve; shaping holds each class to its bandwidth.
    ("queue lan1 type fifo", Modelled, "order of arrival"),
    (
        "queue lan1.3 type priority",
        Modelled,
        "lower classes can starve; counted as frames",
    ),
    ("queue lan1.2 type shaping", Modelled, "held to its bandwidth"),
    (
        "queue lan1 type shaping shaping-level=1",
        Modelled,
        "preamble and gap",
    ),
    (
        "queue lan1 type fifo shaping-level=1",
        Doubtful,
        "with priority or shaping",
    ),
    ("queue lan1 type cbq", Doubtful, "PPP only"),
    // A single bandwidth is an upper limit; two are guarantee and limit (DTC), in either order.
    (
        "queue lan1.4 class property 1 bandwidth=15m",
        Modelled,
        "class 1: at most 15 Mbit/s",
    ),
    (
        "queue lan1 class property 3 bandwidth=30%",
        Modelled,
        "at most 30 % of the interface",
    ),
    (
        "queue lan1 class property 3 bandwidth=10m,5m",
        Doubtful,
        "5 Mbit/s are guaranteed, up to 10 Mbit/s",
    ),
    (
        "queue lan1 class property 3 bandwidth=ngn",
        NotModelled,
        "data-connect",
    ),
    (
        "queue lan1 class property 99 bandwidth=1m",
        Doubtful,
        "classes are 1 to 16",
    ),
    (
        "queue lan1 class property 3 bandwidth=lots",
        Doubtful,
        "no bandwidth",
    ),
    (
        "queue lan1 class property 4 type=priority",
        Modelled,
        "before all shaped classes",
    ),
    (
        "queue pp class property 1 bandwidth=1m borrow=off",
        NotModelled,
        "PPP",
    ),
    (
        "queue lan1 default class 3",
        Modelled,
        "no filter matches get class 3",
    ),
    ("queue lan1 length 50 100", Modelled, "queues of 50, 100 packets"),
    ("queue lan1 length 20000", Doubtful, "1 to 10000"),
    ("queue lan1 class filter list 1 2 3", Modelled, "filters 1, 2, 3"),
    (
        "queue lan1 class control except 192.0.2.1",
        NotModelled,
        "70 % for 30 s",
    ),
    ("queue pp type fifo", Modelled, "order of arrival"),
    // Omitted trailing fields are *.
    (
        "queue class filter 1 4 ip * * udp * *",
        Modelled,
        "\"* * udp * *\" get class 4",
    ),
    (
        "queue class filter 2 3 ip 192.168.0.0/24",
        Modelled,
        "get class 3",
    ),
    (
        "queue class filter 3 precedence ip * *",
        Modelled,
        "class of their precedence",
    ),
    ("queue class filter 4 dscp ip * *", NotModelled, "not published"),
    (
        "queue class filter 5 4 ip www.example.com *",
        NotModelled,
        "not followed",
    ),
    (
        "queue class filter 6 4 udp",
        Doubtful,
        "`ip` or `ipv6` is missing",
    ),
    ("queue class filter 7 17 ip * *", Doubtful, "class 17"),
    (
        "queue class filter 8 4 ip * * tcp * nonsense",
        Doubtful,
        "list of ports",
    ),
    // Outside a select, these belong to nothing.
    ("queue tunnel class filter list 1", Doubtful, "tunnel select"),
    ("ip pp mtu 1454", Doubtful, "pp select"),
    ("ipsec tunnel 101", Doubtful, "tunnel select"),
    // Chapter 15.
    (
        "ipsec sa policy 101 1 esp 3des-cbc md5-hmac anti-replay-check=off",
        Modelled,
        "1400 bytes becomes 1456 bytes; late packets are not",
    ),
    (
        "ipsec sa policy 2 2 esp aes-cbc sha-hmac",
        Modelled,
        "1400 bytes becomes 1464 bytes; packets that come late are dropped",
    ),
    (
        "ipsec sa policy 2 2 esp aes256-cbc sha256-hmac local-id=192.168.0.0/24",
        Modelled,
        "becomes 1468 bytes",
    ),
    ("ipsec sa policy 3 3 ah md5-hmac", NotModelled, "not modelled"),
    ("ipsec sa policy 3 3 esp rot13", Doubtful, "an encryption"),
    ("ipsec ike pre-shared-key 1 text key", Ignored, ""),
    ("ipsec ike remote address 1 192.168.100.2", Ignored, ""),
    ("ipsec auto refresh on", Ignored, ""),
    ("ipsec tunnel outer df-bit copy", Modelled, "default"),
    ("ipsec tunnel outer df-bit clear", NotModelled, "fragments"),
    (
        "ipsec tunnel fastpath-fragment-function follow df-bit",
        NotModelled,
        "fast path",
    ),
    // Chapter 8: TOS byte = precedence * 32 + TOS * 2; without precedence= its bits stay.
    (
        "ip filter 999000 pass * * tcp * 22",
        NotModelled,
        "rewriting rules",
    ),
    (
        "ip tos supersede 10000 normal precedence=0 999000",
        Modelled,
        "marked cs0",
    ),
    ("ip tos supersede 10000 normal 999000", Doubtful, "precedence"),
    (
        "ip tos supersede 1 min-delay precedence=1 5",
        Modelled,
        "marked af12",
    ),
    ("ip tos supersede 1 16 5", Doubtful, "0 to 15"),
    (
        "ip dscp supersede 10000 default 999000",
        Modelled,
        "IPv4 packets of the filters are marked cs0",
    ),
    (
        "ipv6 dscp supersede 10000 default 999000",
        Modelled,
        "IPv6 packets",
    ),
    (
        "ipv6 filter 999000 pass 2001:db8:1::/48 * tcp * 22",
        NotModelled,
        "rewriting rules",
    ),
    ("ip dscp supersede 1 le 5", Doubtful, "default, cs1"),
    (
        "ip lan1 address 192.168.0.1/24",
        Modelled,
        "address 192.168.0.1/24",
    ),
    (
        "ip lan1.4 address 192.168.100.1/24",
        Modelled,
        "lan1.4 has the address",
    ),
    ("ip lan1 mtu 1400", Modelled, "above 1400 bytes"),
    ("ip lan2 tcp mss limit auto", Modelled, "fit the MTU of lan2"),
    ("ip lan2 tcp mss limit 1300", Modelled, "at most 1300 bytes"),
    ("ip lan2 tcp mss limit 20", Doubtful, "536 to 1460"),
    (
        "ip lan1 tcp window-scale remove",
        Modelled,
        "65535 bytes per round trip",
    ),
    ("ip lan2 secure filter in 1 2 3", NotModelled, "cost"),
    (
        "ip route default gateway tunnel 1",
        Modelled,
        "leave through tunnel 1",
    ),
    ("ip fragment remove df-bit filter 1", NotModelled, "fragments"),
    ("pppoe tcp mss limit auto", Modelled, "PPPoE"),
    ("ppp lcp mru on 1454", Modelled, "1454 bytes"),
    ("ppp ipcp ipaddress on", Ignored, ""),
    ("ppp ccp type none", Ignored, ""),
    ("ppp ccp type stac", NotModelled, "compression"),
    ("pp auth accept pap chap", Ignored, ""),
    ("pp enable 1", Ignored, ""),
    ("tunnel enable 1", Ignored, ""),
    ("login timer clear", Ignored, ""),
    ("description lan1 \"to the # provider\"", Ignored, ""),
    ("no queue lan1 type shaping", Modelled, "order of arrival"),
    ("no speed lan1", Modelled, "default"),
    ("frobnicate lan1", Unrecognised, "kept"),
];

const TUNNEL: &[(&str, LineState, &str)] = &[
    ("ipsec tunnel 101", Modelled, "policy 101 protects tunnel 1"),
    ("tunnel encapsulation ipip", Modelled, "20 bytes"),
    ("tunnel encapsulation map-e", Modelled, "40 bytes"),
    ("tunnel encapsulation l2tpv3", NotModelled, "not modelled"),
    ("tunnel endpoint address 192.0.2.1 192.0.2.2", Ignored, ""),
    (
        "tunnel endpoint remote address 2001:db8::2",
        Modelled,
        "over IPv6",
    ),
    (
        "queue tunnel class filter list 1 2 3",
        Modelled,
        "before encryption",
    ),
    ("ip tunnel mtu 1390", Modelled, "above 1390 bytes"),
    (
        "ip tunnel tcp mss limit auto",
        Modelled,
        "fit the MTU of tunnel 1",
    ),
];

const PP: &[(&str, LineState, &str)] = &[
    ("pppoe use lan1.3", Modelled, "8 bytes more"),
    ("ip pp mtu 1454", Modelled, "above 1454 bytes"),
    ("queue pp class filter list 1", Modelled, "peer 1"),
    ("ip pp tcp mss limit auto", Modelled, "peer 1"),
];

fn check(prefix: &str, cases: &[(&str, LineState, &str)]) {
    for (line, state, meaning) in cases {
        let reading = rtx(None, &format!("{prefix}{line}\n"));
        let read = reading.lines.last().unwrap();
        assert_eq!(
            (read.text.as_str(), read.state),
            (*line, *state),
            "{}",
            read.meaning
        );
        assert!(read.meaning.contains(meaning), "{line}: {}", read.meaning);
    }
}

#[test]
fn every_command_has_its_meaning() {
    check("", TOP);
    check("tunnel select 1\n ", TUNNEL);
    check("pp select 1\n", PP);
}

#[test]
fn models_refuse_what_they_do_not_have() {
    let cases = [
        (
            "rtx2000",
            "queue lan1 class property 1 bandwidth=1m,2m",
            "RTX2000 has no dynamic traffic control",
        ),
        (
            "rtx1000",
            "queue lan1 class property 1 bandwidth=1m,2m",
            "RTX1000 has no dynamic traffic control",
        ),
        ("rtx1210", "speed lan1 1g", "RTX1210 refuses the suffix g"),
        ("rtx830", "queue pp type cbq", "RTX830 has no cbq"),
        (
            "rtx1210",
            "queue lan1 class property 1 type=priority",
            "RTX1210 has no type=priority",
        ),
        (
            "rtx2000",
            "ip dscp supersede 1 default 5",
            "RTX2000 with this firmware has no dscp supersede",
        ),
    ];
    for (model, line, why) in cases {
        let reading = rtx(Some(model), line);
        assert_eq!(reading.lines[0].state, Doubtful, "{line}");
        assert!(
            reading.lines[0].meaning.contains(why),
            "{line}: {}",
            reading.lines[0].meaning
        );
        assert!(matches!(&reading.findings[0].trap, Trap::Refused { why: found } if found.contains(why)));
        assert!(
            !config(&reading)
                .ports
                .values()
                .any(|port| port.classes.values().any(|class| class.guarantee.is_some()))
        );
    }
    let many = rtx(Some("rtx3510"), "queue lan1 class property 250 bandwidth=1m");
    assert_eq!(many.lines[0].state, Modelled);
}

/// The seven configurations of the field report, as published.
const PUBLISHED: [(&str, &str); 7] = [
    (
        "throughput-curve",
        include_str!("../../../experiments/rtx2000-tunnel-qos/throughput-curve.cfg"),
    ),
    (
        "priority-off",
        include_str!("../../../experiments/rtx2000-tunnel-qos/priority-off.cfg"),
    ),
    (
        "priority-on",
        include_str!("../../../experiments/rtx2000-tunnel-qos/priority-on.cfg"),
    ),
    (
        "pppoe-priority-off",
        include_str!("../../../experiments/rtx2000-tunnel-qos/pppoe-priority-off.cfg"),
    ),
    (
        "pppoe-priority-on",
        include_str!("../../../experiments/rtx2000-tunnel-qos/pppoe-priority-on.cfg"),
    ),
    (
        "bandwidth-off",
        include_str!("../../../experiments/rtx2000-tunnel-qos/bandwidth-off.cfg"),
    ),
    (
        "bandwidth-on",
        include_str!("../../../experiments/rtx2000-tunnel-qos/bandwidth-on.cfg"),
    ),
];

#[test]
fn every_published_configuration_is_understood() {
    for (name, text) in PUBLISHED {
        let reading = rtx(Some("rtx2000"), text);
        let counts = reading.counts();
        assert_eq!(counts.unrecognised, 0, "{name}");
        assert_eq!(
            counts.total(),
            text.lines().filter(|line| !line.trim().is_empty()).count(),
            "{name}"
        );
        assert_eq!(
            counts.doubtful + counts.not_modelled,
            0,
            "{name}: {:#?}",
            reading.lines
        );
        assert_eq!(guess(text.as_bytes()), Some(Language::Rtx), "{name}");
        let tunnel = &config(&reading).tunnels[&1];
        assert_eq!(tunnel.policy, Some(101), "{name}");
        let esp = config(&reading).policies[&101];
        let transform = esp.transform.unwrap();
        assert_eq!(
            (transform.cipher, transform.integrity),
            (Cipher::TripleDesCbc, Integrity::Md5)
        );
        assert_eq!(esp.anti_replay, Some(false));
        // 1006 bytes of inner packet are 1056 outside (the published table's frames).
        assert_eq!(
            tunnel.encapsulation(config(&reading)).unwrap().outer_len(1_006),
            1_056
        );
    }
}

#[test]
fn the_bandwidth_configuration_has_three_classes() {
    let reading = rtx(Some("rtx2000"), PUBLISHED[6].1);
    let config = config(&reading);
    let port = &config.ports["lan1.4"];
    assert_eq!((port.scheduler, port.speed), (Scheduler::Shaping, None));
    let ceilings: Vec<_> = port
        .classes
        .iter()
        .map(|(class, c)| (*class, c.ceiling.unwrap()))
        .collect();
    assert_eq!(
        ceilings,
        [
            (1, Share::Rate(15_000_000)),
            (2, Share::Rate(5_000_000)),
            (3, Share::Rate(30_000_000))
        ]
    );
    assert_eq!(config.tunnels[&1].filter_list, [1, 2, 3]);
    for (number, class, protocol) in [
        (1, 1, Protocol::TCP),
        (2, 2, Protocol::UDP),
        (3, 3, Protocol::ICMP),
    ] {
        let filter = &config.class_filters[&number];
        assert_eq!(filter.target, ClassTarget::Class(class));
        assert_eq!(filter.matches.protocols, [protocol]);
    }
    // The default class 2 has a bandwidth here, so it does not swallow the interface.
    assert!(
        !reading
            .findings
            .iter()
            .any(|f| matches!(f.trap, Trap::DefaultClassUnlimited { .. }))
    );
    assert!(
        reading
            .findings
            .iter()
            .any(|f| f.trap == Trap::TunnelMtuDefault { tunnel: 1 })
    );
}

#[test]
fn the_priority_configuration_holds_the_port_to_its_speed() {
    let reading = rtx(Some("rtx2000"), PUBLISHED[4].1);
    let config = config(&reading);
    let port = &config.ports["lan1.3"];
    assert_eq!(
        (port.scheduler, port.speed),
        (Scheduler::Priority, Some(BitRate::new(50_000_000)))
    );
    let peer = &config.peers[&1];
    assert_eq!(
        (peer.port.as_deref(), peer.link.mtu),
        (Some("lan1.3"), Some(1_454))
    );
    assert_eq!(config.class_filters[&1].target, ClassTarget::Class(4));
    let line = reading
        .lines
        .iter()
        .find(|line| line.text.starts_with("queue tunnel"))
        .unwrap();
    assert_eq!(line.context, "tunnel 1, ipsec tunnel 101");
}

#[test]
fn traps_across_lines_are_named() {
    let cases: &[(&str, Trap)] = &[
        (
            "speed lan1 10m",
            Trap::SpeedWithoutQueue {
                interface: "lan1".into(),
            },
        ),
        (
            "queue lan1 class property 1 bandwidth=1m",
            Trap::ClassesWithoutScheduler {
                interface: "lan1".into(),
            },
        ),
        (
            "queue lan1 type shaping\nqueue lan1 class property 1 bandwidth=1m",
            Trap::DefaultClassUnlimited {
                interface: "lan1".into(),
                class: 2,
            },
        ),
        (
            "speed lan1 10m\nqueue lan1 type shaping\nqueue lan1 class property 2 bandwidth=20m",
            Trap::CeilingAboveSpeed {
                interface: "lan1".into(),
                class: 2,
            },
        ),
        (
            "speed lan1 10m\nqueue lan1 type shaping\nqueue lan1 class property 1 bandwidth=6m,10m\nqueue lan1 class property 2 bandwidth=6m,10m",
            Trap::GuaranteesExceedSpeed {
                interface: "lan1".into(),
                sum: 12_000_000,
                speed: 10_000_000,
            },
        ),
        (
            "queue lan1 type priority\nqueue lan1 class filter list 9",
            Trap::UnknownFilter { number: 9 },
        ),
        ("queue class filter 5 1 ip * *", Trap::UnusedFilter { number: 5 }),
        (
            "ip tos supersede 1 normal precedence=0 77",
            Trap::UnknownFilter { number: 77 },
        ),
        (
            "ip filter 77 pass * * * * *\nipv6 dscp supersede 1 default 77",
            Trap::UnknownFilter { number: 77 },
        ),
        ("ip tos supersede 1 normal 77", Trap::TosKeepsPrecedence),
        ("ip lan1 tcp window-scale remove", Trap::WindowScaleRemoved),
        (
            "queue lan1 type priority\ntunnel select 1\nipsec tunnel 7\nipsec sa policy 7 1 esp aes-cbc sha-hmac\nqueue tunnel class filter list 1\nqueue class filter 1 4 ip * *",
            Trap::AntiReplayBehindQueue { policy: 7 },
        ),
        (
            "pp select 1\npppoe use lan2\nip pp mtu 1454\ntunnel select 1\nipsec tunnel 7\nipsec sa policy 7 1 esp aes-cbc sha-hmac\nip tunnel mtu 1400",
            Trap::TunnelMtuTooLarge {
                tunnel: 1,
                mtu: 1_400,
                fits: 1_390,
            },
        ),
    ];
    for (text, trap) in cases {
        let reading = rtx(None, text);
        let found = reading.findings.iter().find(|finding| finding.trap == *trap);
        let found = found.unwrap_or_else(|| panic!("{text}: {:?}", reading.findings));
        assert!(found.line.is_some(), "{text}");
        assert!(trap.sentence().ends_with('.'), "{}", trap.sentence());
    }
    let safe = rtx(Some("rtx1300"), cases[11].0);
    assert!(
        !safe
            .findings
            .iter()
            .any(|finding| matches!(finding.trap, Trap::AntiReplayBehindQueue { .. }))
    );
}

#[test]
fn marks_are_computed_from_precedence_and_tos() {
    let reading = rtx(
        None,
        "ip tos supersede 3 min-delay precedence=2 5 6\nip dscp supersede 4 af21 7",
    );
    let rewrites = &config(&reading).rewrites;
    assert_eq!(
        rewrites[&3].set,
        Mark::Tos {
            tos: 8,
            precedence: Some(2)
        }
    );
    assert_eq!(rewrites[&3].filters, [5, 6]);
    assert_eq!(rewrites[&4].set, Mark::Dscp(Dscp::AF21));
}

#[test]
fn japanese_descriptions_survive_shift_jis() {
    // "description lan1 " and the word for line in Shift JIS.
    let bytes = b"description lan1 \x89\xf1\x90\xfc\r\nspeed lan1 10m\r\nqueue lan1 type priority\r\n";
    let reading = read_for(Language::Rtx, None, "rtx.cfg", bytes);
    assert_eq!(reading.lines[0].text, "description lan1 \u{56de}\u{7dda}");
    assert_eq!(reading.counts().modelled, 2);
}

/// The device refuses a bandwidth above the speed of the interface; the model sent it all the same.
#[test]
fn a_refused_bandwidth_gives_no_more_than_the_interface() {
    let text = "speed lan2 1m\nqueue lan2 type shaping\nqueue lan2 class property 1 bandwidth=8m\n";
    let reading = rtx(Some("rtx830"), text);
    assert_eq!(
        reading.line(3).unwrap().meaning,
        "the device refuses this line: more than the speed of the interface"
    );
    let place = slowpath_scenario::device::DeviceUse {
        file: "router.cfg".to_owned(),
        system: "rtx830".to_owned(),
        port: "lan2".to_owned(),
        line: slowpath_units::BitRate::new(1_000_000_000),
        far: true,
    };
    let (elements, _) = slowpath_vendor::device::elements(&place, text.as_bytes()).unwrap();
    let ceilings: Vec<_> = elements
        .elements
        .iter()
        .filter_map(|part| match &part.does {
            slowpath_path::ElementKind::Link(link) => match &link.queue {
                slowpath_path::Queue::Classes(classes) => Some(&classes.classes),
                _ => None,
            },
            _ => None,
        })
        .flatten()
        .map(|class| class.ceiling)
        .collect();
    assert_eq!(ceilings, [Some(slowpath_units::BitRate::new(1_000_000)); 2]);
}

//! Interventions as device commands, each read back by the reader of its language.

use slowpath_packet::Dscp;
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{Intervention, Place as Where, Who};
use slowpath_units::{BitRate, ByteCount};
use slowpath_vendor::reading::{Config, read, read_for};
use slowpath_vendor::remedy::{Place, remedies, remedies_of, remedy, remedy_of};
use slowpath_vendor::{Language, LineState, Trap};

fn all() -> Vec<(Intervention, &'static [(Language, &'static str)])> {
    let host = || Who::from("client");
    vec![
        (
            Intervention::SetWindow {
                host: host(),
                window: ByteCount::new(2_500_000),
            },
            &[
                (Language::Ios, "ip tcp window-size 2500000"),
                (Language::Sysctl, "net.ipv4.tcp_rmem = 4096 131072 5000000"),
            ],
        ),
        (
            Intervention::SetSendBuffer {
                host: host(),
                buffer: ByteCount::new(4 << 20),
            },
            &[(Language::Sysctl, "net.ipv4.tcp_wmem = 4096 16384 4194304")],
        ),
        (
            Intervention::SetCongestionControl {
                host: host(),
                name: "bbr".into(),
            },
            &[(Language::Sysctl, "net.ipv4.tcp_congestion_control = bbr")],
        ),
        (
            Intervention::SetSack {
                host: host(),
                on: true,
            },
            &[
                (Language::Ios, "ip tcp selective-ack"),
                (Language::Sysctl, "net.ipv4.tcp_sack = 1"),
            ],
        ),
        (
            Intervention::SetEcn {
                host: host(),
                on: false,
            },
            &[
                (Language::Ios, "no ip tcp ecn"),
                (Language::Sysctl, "net.ipv4.tcp_ecn = 0"),
            ],
        ),
        (
            Intervention::SetMss {
                host: host(),
                mss: 1_414,
            },
            &[
                (Language::Rtx, "ip lan1 tcp mss limit 1414"),
                (
                    Language::Ios,
                    "interface GigabitEthernet0/0\n ip tcp adjust-mss 1414",
                ),
            ],
        ),
        (
            Intervention::SetIpQos {
                host: host(),
                interactive: None,
                bulk: None,
            },
            &[(Language::Ssh, "IPQoS none")],
        ),
        (
            Intervention::SetIpQos {
                host: host(),
                interactive: Some(Dscp::AF21),
                bulk: Dscp::new(2),
            },
            &[(Language::Ssh, "IPQoS af21 8")],
        ),
        (
            Intervention::SetDscp {
                host: host(),
                dscp: Dscp::DEFAULT,
            },
            &[(Language::Ssh, "IPQoS none")],
        ),
        (
            Intervention::Remark {
                place: Where::Everywhere,
                dscp: Dscp::DEFAULT,
            },
            &[
                (
                    Language::Rtx,
                    "ip filter 999000 pass * * * * *\nip tos supersede 10000 normal precedence=0 999000",
                ),
                (
                    Language::Ios,
                    "policy-map REMARK\n class class-default\n  set dscp default\ninterface GigabitEthernet0/0\n service-policy input REMARK",
                ),
            ],
        ),
        (
            Intervention::SetRate {
                place: Where::Everywhere,
                rate: BitRate::new(50_000_000),
            },
            &[
                (Language::Rtx, "speed lan1 50m"),
                (
                    Language::Ios,
                    "policy-map SHAPE\n class class-default\n  shape average 50000000\ninterface GigabitEthernet0/0\n service-policy output SHAPE",
                ),
                (
                    Language::Tc,
                    "tc qdisc replace dev eth0 root tbf rate 50000000bit burst 6250 latency 50ms",
                ),
            ],
        ),
        (
            Intervention::ResizeQueue {
                place: Where::Everywhere,
                queue: QueueSize::Packets(100),
            },
            &[
                (Language::Rtx, "queue lan1 length 100"),
                (Language::Ios, "interface GigabitEthernet0/0\n hold-queue 100 out"),
                (Language::Tc, "tc qdisc replace dev eth0 root pfifo limit 100"),
            ],
        ),
        (
            Intervention::SetPacing {
                host: host(),
                rate: BitRate::new(8_000_000),
            },
            &[(
                Language::Tc,
                "tc qdisc replace dev eth0 root fq maxrate 8000000bit",
            )],
        ),
        (Intervention::SetStreams { count: 8 }, &[]),
        (
            Intervention::SetReader {
                host: host(),
                rate: None,
            },
            &[],
        ),
    ]
}

#[test]
fn every_remedy_speaks_the_devices_language() {
    for (intervention, expected) in all() {
        let found: Vec<_> = remedies(&intervention)
            .iter()
            .map(|r| (r.language, r.text()))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(language, text)| (*language, (*text).to_owned()))
            .collect();
        assert_eq!(found, expected, "{intervention}");
    }
}

#[test]
fn every_remedy_is_understood_by_its_reader() {
    for (intervention, _) in all() {
        for remedy in remedies(&intervention)
            .iter()
            .filter(|remedy| remedy.language != Language::Tc)
        {
            let reading = read(remedy.language, "remedy", remedy.text().as_bytes());
            for line in &reading.lines {
                assert!(
                    !matches!(line.state, LineState::Unrecognised | LineState::Doubtful),
                    "{intervention}: {} is {}",
                    line.text,
                    line.state
                );
            }
            assert!(
                reading.lines.iter().any(|line| line.state == LineState::Modelled),
                "{intervention}"
            );
        }
    }
}

#[test]
fn a_remedy_replaces_what_is_there() {
    let now = read(Language::Ios, "r.cfg", b"hostname r\nip tcp window-size 4128\n");
    let window = Intervention::SetWindow {
        host: "client".into(),
        window: ByteCount::new(2_500_000),
    };
    let change = remedy(
        Language::Ios,
        &window,
        Place {
            interface: None,
            reading: Some(&now),
        },
    )
    .unwrap();
    assert_eq!(change.replaces, [2]);
    let ssh = read(Language::Ssh, "ssh_config", b"Host *\n  IPQoS af21 cs1\n");
    let none = Intervention::SetIpQos {
        host: "client".into(),
        interactive: None,
        bulk: None,
    };
    let change = remedy(
        Language::Ssh,
        &none,
        Place {
            interface: None,
            reading: Some(&ssh),
        },
    )
    .unwrap();
    assert_eq!((change.text().as_str(), change.replaces), ("IPQoS none", vec![2]));
}

#[test]
fn an_rtx_gets_free_numbers_and_the_form_its_firmware_has() {
    let now = b"# RTX830 Rev.15.02.27 (x)\nip filter 999000 pass * * * * *\nip tos supersede 10000 normal precedence=0 999000\n";
    let now = read_for(Language::Rtx, None, "rtx.cfg", now);
    let clear = Intervention::Remark {
        place: Where::Everywhere,
        dscp: Dscp::DEFAULT,
    };
    let change = remedy(
        Language::Rtx,
        &clear,
        Place {
            interface: Some("lan2"),
            reading: Some(&now),
        },
    )
    .unwrap();
    assert_eq!(
        change.text(),
        "ip filter 999001 pass * * * * *\nip dscp supersede 10001 default 999001"
    );
}

#[test]
fn a_policer_is_removed_where_it_stands() {
    let now = read(
        Language::Ios,
        "r.cfg",
        b"policy-map WAN\n class BULK\n  police 8000000 64000\n",
    );
    let Config::Ios(_) = &now.config else { panic!() };
    let remove = Intervention::RemovePolicer {
        place: Where::Everywhere,
    };
    let change = remedy(
        Language::Ios,
        &remove,
        Place {
            interface: None,
            reading: Some(&now),
        },
    )
    .unwrap();
    assert_eq!(change.text(), "policy-map WAN\n class BULK\n  no police");
    assert_eq!(change.replaces, [3]);
}

/// Configurations with traps, each with the number of findings that have a way out.
const TRAPPED: &[(Language, &str, usize)] = &[
    (
        Language::Rtx,
        "queue lan2 type shaping\nspeed lan2 50m\nqueue lan2 class property 1 bandwidth=10m\n\
         queue lan2 class property 3 bandwidth=60m\n",
        2,
    ),
    (Language::Rtx, "speed lan2 50m\n", 1),
    (Language::Rtx, "queue lan2 class property 1 bandwidth=10m\n", 1),
    (
        Language::Rtx,
        "queue lan2 type priority\ntunnel select 3\n ipsec tunnel 101\n\
         ipsec sa policy 101 1 esp aes-cbc sha-hmac anti-replay-check=on\n queue tunnel class filter list 1 9\n\
         ip tunnel mtu 1500\n ip tunnel tcp window-scale remove\nqueue class filter 1 4 ip * * udp\n\
         queue class filter 2 4 ip * * tcp\n",
        5,
    ),
    (
        Language::Rtx,
        "pp select 1\n pppoe use lan2\n ip pp mtu 1454\ntunnel select 1\n ipsec tunnel 1\n\
         ipsec sa policy 1 1 esp 3des-cbc md5-hmac\n",
        1,
    ),
    (
        Language::Rtx,
        "ip filter 5 pass * * * * *\nip tos supersede 1 normal 5\n",
        1,
    ),
    (Language::Ios, "ip tcp window-size 16384\n", 1),
    (Language::Ios, "ip tcp window-size 2500000\n", 1),
    (Language::Ios, "ip tftp blocksize 512\n", 1),
    (
        Language::Ios,
        "policy-map LIMIT\n class class-default\n  police cir 30000000 bc 8000 conform-action transmit exceed-action drop\n",
        1,
    ),
    (Language::Ssh, "Host *\n  IPQoS af21 cs1\n", 1),
    (Language::Ssh, "Host a\n  IPQoS af21 cs1\n", 1),
    (Language::Ssh, "IPQoS 0x48 0x20\n", 3),
    (Language::Ssh, "IPQoS lowdelay throughput\n", 3),
    (
        Language::Sysctl,
        "net.ipv4.tcp_window_scaling = 0\nnet.ipv4.tcp_sack = 0\nnet.ipv4.tcp_rmem = 4096 16384 65536\n",
        3,
    ),
    (Language::Sysctl, "net.core.rmem_max = 33554432\n", 1),
    (Language::Sysctl, "net.ipv4.tcp_congestion_control = bbrr\n", 1),
    (
        Language::Ios,
        "interface GigabitEthernet1\n mtu 1400\n ip mtu 1500\n",
        1,
    ),
    (
        Language::Tc,
        "tc qdisc add dev eth0 root tbf rate 5mbit burst 1000 latency 50ms\n",
        1,
    ),
];

#[test]
fn a_way_out_of_a_trap_leads_out_of_it() {
    for (language, text, ways) in TRAPPED {
        let reading = read(*language, "before", text.as_bytes());
        let mut found = 0;
        for finding in &reading.findings {
            let Some(remedy) = remedy_of(&reading, finding) else {
                continue;
            };
            found += 1;
            let kept = text
                .lines()
                .enumerate()
                .filter(|(index, _)| !remedy.replaces.contains(&(index + 1)))
                .map(|(_, line)| line);
            let after: Vec<&str> = kept.chain(remedy.lines.iter().map(String::as_str)).collect();
            let after = after.join("\n");
            let again = read(*language, "after", after.as_bytes());
            // What a limit on explicit buffers does not bound stays so; the way out is beside it.
            if !matches!(finding.trap, Trap::ExplicitLimitOnly { .. }) {
                assert!(
                    again.findings.iter().all(|left| left.trap != finding.trap),
                    "{finding:?}\n{after}\n{:?}",
                    again.findings
                );
            }
            let first = again.lines.len() - remedy.lines.len();
            for line in &again.lines[first..] {
                assert!(
                    matches!(
                        line.state,
                        LineState::Modelled | LineState::Ignored | LineState::NotModelled
                    ),
                    "{finding:?}: {line:?}"
                );
            }
        }
        assert_eq!(found, *ways, "{text}\n{:?}", reading.findings);
    }
}

#[test]
fn two_findings_of_one_line_become_one_change() {
    let text = "ip tos supersede 1 normal 1\n";
    let reading = read(Language::Rtx, "router.cfg", text.as_bytes());
    assert_eq!(reading.findings.len(), 2, "{:?}", reading.findings);
    let lines: Vec<String> = remedies_of(&reading)
        .into_iter()
        .flatten()
        .flat_map(|remedy| remedy.lines)
        .collect();
    // The rule keeps its number and its filter, which is defined.
    let mut lines = lines;
    lines.sort();
    assert_eq!(
        lines,
        [
            "ip filter 1 pass * * * * *",
            "ip tos supersede 1 normal precedence=0 1"
        ]
    );

    // With another filter left, the unknown one goes, and the rule's own number stays.
    let text = "ip filter 5 pass * * * * *\nip tos supersede 7 normal 5 7\n";
    let reading = read(Language::Rtx, "router.cfg", text.as_bytes());
    let changes: Vec<_> = remedies_of(&reading).into_iter().flatten().collect();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(
        (changes[0].lines.join("\n").as_str(), &changes[0].replaces[..]),
        ("ip tos supersede 7 normal precedence=0 5", &[2][..])
    );
}

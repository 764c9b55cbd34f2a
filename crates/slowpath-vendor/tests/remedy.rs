//! Interventions as device commands, each read back by the reader of its language.

use slowpath_packet::Dscp;
use slowpath_scenario::network::QueueSize;
use slowpath_scenario::{Intervention, Place as Where};
use slowpath_units::{BitRate, ByteCount};
use slowpath_vendor::reading::{Config, read, read_for};
use slowpath_vendor::remedy::{Place, remedies, remedy};
use slowpath_vendor::{Language, LineState};

fn all() -> Vec<(Intervention, &'static [(Language, &'static str)])> {
    let host = || "client".to_owned();
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

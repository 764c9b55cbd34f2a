//! Cisco IOS and IOS-XE: one golden line per command, with the manual's meaning.

use slowpath_path::{ElementKind, Queue, Rate};
use slowpath_scenario::device::DeviceUse;
use slowpath_scenario::host::EcnMode;
use slowpath_units::{BitRate, ByteCount};
use slowpath_vendor::cisco::{Action, Bandwidth, Match};
use slowpath_vendor::reading::Config;
use slowpath_vendor::{Language, LineState, Reading, Trap, device, guess, read};

use LineState::{Doubtful, Ignored, Modelled, NotModelled, Unrecognised};

fn ios(text: &str) -> Reading {
    read(Language::Ios, "router.cfg", text.as_bytes())
}

/// The line, the state it ends in, and a part of its meaning.
const GLOBAL: &[(&str, LineState, &str)] = &[
    // "ip tcp window-size": 0 to 1073741823 bytes; above 65535 the router offers window scaling (RFC 7323).
    (
        "ip tcp window-size 2500000",
        Modelled,
        "window of 2500000 bytes with window scaling by 64",
    ),
    (
        "ip tcp window-size 4128",
        Modelled,
        "window of 4128 bytes without window scaling",
    ),
    ("ip tcp window-size 2000000000", Doubtful, "refuses"),
    ("no ip tcp window-size", Modelled, "default"),
    (
        "ip tcp selective-ack",
        Modelled,
        "selective acknowledgement is offered",
    ),
    (
        "no ip tcp selective-ack",
        Modelled,
        "not offered, which is the default",
    ),
    ("ip tcp timestamp", Modelled, "timestamps are offered"),
    ("ip tcp ecn", Modelled, "explicit congestion notification"),
    ("ip tcp mss 1400", Modelled, "at most 1400 bytes"),
    ("ip tcp mss 20", Doubtful, "68 to 10000"),
    ("ip tcp path-mtu-discovery", NotModelled, "path's MTU"),
    (
        "ip tcp path-mtu-discovery age-timer infinite",
        NotModelled,
        "path's MTU",
    ),
    ("ip tcp synwait-time 10", Ignored, ""),
    ("ip tcp queuemax 20", NotModelled, "20 segments"),
    ("ip tcp chunk-size 1000", NotModelled, ""),
    ("ip ftp passive", Modelled, "passive"),
    ("no ip ftp passive", Modelled, "active"),
    ("ip ftp source-interface Loopback0", Ignored, ""),
    ("ip ftp username anonymous", Ignored, ""),
    // TFTP waits for the acknowledgement of each block (RFC 1350).
    ("ip tftp blocksize 8192", NotModelled, "8192 bytes per round trip"),
    ("ip tftp blocksize 9000", Doubtful, "512 to 8192"),
    (
        "ip ssh window-size 65536",
        NotModelled,
        "65536 bytes per round trip",
    ),
    ("ip ssh bulk-mode", NotModelled, "131072"),
    ("ip ssh bulk-mode 1073741", NotModelled, "1073741"),
    ("no ip ssh bulk-mode", NotModelled, "slow"),
    ("ip ssh dscp 46", NotModelled, "ef"),
    ("ip ssh dscp 64", Doubtful, "0 to 63"),
    ("ip ssh precedence 1", NotModelled, "precedence 1"),
    ("ip ssh version 2", Ignored, ""),
    ("hostname csr1", Ignored, ""),
    ("ip route 0.0.0.0 0.0.0.0 192.168.1.1", Ignored, ""),
    (
        "access-list 101 permit tcp any any eq 21",
        NotModelled,
        "not followed",
    ),
    ("frobnicate the network", Unrecognised, "kept"),
    ("ip tcp frobnicate", Unrecognised, "kept"),
];

const INTERFACE: &[(&str, LineState, &str)] = &[
    ("bandwidth 50000", Modelled, "50 Mbit/s"),
    ("speed 10", Modelled, "the port runs at 10 Mbit/s"),
    ("speed auto", Ignored, ""),
    ("mtu 9000", Modelled, "9000 bytes"),
    ("ip mtu 1454", Modelled, "above 1454 bytes"),
    ("ip tcp adjust-mss 1414", Modelled, "at most 1414 bytes"),
    ("ip tcp adjust-mss 100", Doubtful, "500 to 1460"),
    ("service-policy output WAN", Modelled, "go out"),
    ("service-policy input WAN", Modelled, "come in"),
    ("hold-queue 100 out", Modelled, "100 packets"),
    ("tx-ring-limit 4", NotModelled, "hardware"),
    ("fair-queue", NotModelled, "evenly"),
    ("ip address 192.0.2.1 255.255.255.0", Ignored, ""),
    ("description uplink", Ignored, ""),
    ("no shutdown", Ignored, ""),
    ("tunnel source GigabitEthernet1", NotModelled, "encapsulated"),
];

const CLASS: &[(&str, LineState, &str)] = &[
    ("priority", Modelled, "starve"),
    ("priority 512", Modelled, "up to 512 kbit/s"),
    ("priority percent 20", Modelled, "20 %"),
    ("bandwidth 10000", Modelled, "10 Mbit/s are guaranteed"),
    ("bandwidth percent 30", Modelled, "30 %"),
    ("bandwidth remaining percent 40", Modelled, "40 % of what is left"),
    (
        "police 8000000 64000 exceed-action drop",
        Modelled,
        "above 8 Mbit/s and a bucket of 64000 bytes are dropped",
    ),
    (
        "police cir 10m bc 20000 conform-action transmit exceed-action set-dscp-transmit cs1",
        Modelled,
        "marked cs1",
    ),
    ("police rate percent 10", Modelled, "10 %"),
    ("shape average 5000000", Modelled, "above 5 Mbit/s wait"),
    ("shape average 0", Doubtful, "refuses"),
    ("police 0", Doubtful, "refuses"),
    ("bandwidth 0", Doubtful, "refuses"),
    ("shape average percent 50", Modelled, "50 %"),
    ("queue-limit 64 packets", Modelled, "64 packets wait"),
    ("queue-limit 64", Modelled, "64 packets wait"),
    ("set dscp ef", Modelled, "marked ef"),
    ("set ip dscp 8", Modelled, "marked cs1"),
    ("set precedence 5", Modelled, "precedence 5"),
    ("random-detect dscp-based", NotModelled, "random"),
    ("fair-queue", NotModelled, "evenly"),
    ("service-policy CHILD", Modelled, "divides"),
    ("police fast", Doubtful, "refuses"),
];

fn check(prefix: &str, cases: &[(&str, LineState, &str)]) {
    for (line, state, meaning) in cases {
        let reading = ios(&format!("{prefix}{line}\n"));
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
    check("", GLOBAL);
    check("interface GigabitEthernet1\n ", INTERFACE);
    check("class-map VOICE\npolicy-map WAN\n class VOICE\n  ", CLASS);
}

#[test]
fn the_two_lines_of_the_field_report() {
    let reading = ios("! the two lines\nip tcp window-size 2500000\r\nip tcp selective-ack\r\n");
    assert_eq!(reading.settings.window, Some(ByteCount::new(2_500_000)));
    assert_eq!(
        (reading.settings.sack, reading.settings.timestamps),
        (Some(true), None)
    );
    assert_eq!(reading.settings.origins[0].place, "router.cfg:2");
    assert_eq!(reading.counts().modelled, 2);
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
}

#[test]
fn small_windows_and_missing_sack_are_traps() {
    let small = ios("ip tcp window-size 65535\nip tcp ecn\n");
    assert_eq!(small.findings[0].trap, Trap::WindowScalingOff { window: 65_535 });
    assert_eq!(small.findings[0].line, Some(1));
    assert_eq!(small.settings.ecn, Some(EcnMode::On));
    let lossy = ios("ip tcp window-size 100000\n");
    assert_eq!(lossy.findings[0].trap, Trap::SackOff);
    for finding in small.findings.iter().chain(&lossy.findings) {
        assert!(
            finding.trap.sentence().ends_with('.'),
            "{}",
            finding.trap.sentence()
        );
    }
}

const WAN: &str = "\
Building configuration...
!
version 15.8
hostname iosv-1
!
class-map match-any BULK
 match ip dscp cs1 af11
 match access-group name COPIES
class-map match-all VOICE
 match dscp ef
!
policy-map WAN
 class VOICE
  priority percent 30
 class BULK
  bandwidth 40000
  police cir 10000000 bc 64000
   conform-action transmit
   exceed-action set-dscp-transmit default
 class MISSING
  set dscp default
 class class-default
  shape average 20000000
  service-policy CHILD
!
interface GigabitEthernet0/0
 description to the provider
 bandwidth 50000
 ip address 192.0.2.2 255.255.255.252
 ip tcp adjust-mss 1414
 service-policy output WAN
!
ip access-list extended COPIES
 permit tcp any any eq 22
!
ip tcp window-size 2500000
ip tcp selective-ack
line vty 0 4
 login local
 transport input ssh
end
";

#[test]
fn a_whole_configuration() {
    let reading = ios(WAN);
    let unknown: Vec<_> = reading
        .lines
        .iter()
        .filter(|line| line.state == Unrecognised)
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let Config::Ios(config) = &reading.config else {
        panic!()
    };
    let bulk = &config.class_maps["BULK"];
    assert!(bulk.any);
    assert_eq!(bulk.matches.len(), 2);
    assert!(matches!(&bulk.matches[0], Match::Dscp(marks) if marks.len() == 2));
    let wan = &config.policy_maps["WAN"].classes;
    assert_eq!(
        wan.iter().map(|c| c.class.as_str()).collect::<Vec<_>>(),
        ["VOICE", "BULK", "MISSING", "class-default"]
    );
    assert!(matches!(wan[0].priority, Some(Bandwidth::Percent(_))));
    let police = wan[1].police.unwrap();
    assert_eq!(police.burst, Some(64_000));
    assert!(matches!(police.exceed, Action::Mark(mark) if mark.value() == 0));
    assert_eq!(wan[3].child.as_deref(), Some("CHILD"));
    let port = &config.interfaces["GigabitEthernet0/0"];
    assert_eq!(
        (port.adjust_mss, port.output_policy.as_deref()),
        (Some(1414), Some("WAN"))
    );
    let line = reading
        .lines
        .iter()
        .find(|line| line.text == "priority percent 30")
        .unwrap();
    assert_eq!(
        (line.number, line.context.as_str()),
        (14, "policy-map WAN class VOICE")
    );
    let traps: Vec<_> = reading.findings.iter().map(|finding| &finding.trap).collect();
    assert!(
        traps.contains(&&Trap::UnknownClass {
            class: "MISSING".into()
        }),
        "{traps:?}"
    );
    assert!(
        traps
            .iter()
            .any(|trap| matches!(trap, Trap::GuaranteesExceedSpeed { sum: 55_000_000, .. })),
        "{traps:?}"
    );
    assert_eq!(guess(WAN.as_bytes()), Some(Language::Ios));
}

/// A bucket is too small where a transfer waits for none of its packets: not where it marks, and not in a priority class.
#[test]
fn small_buckets_are_found_where_a_transfer_meets_them() {
    let found = |class: &str| {
        let reading = ios(&format!("policy-map P\n class class-default\n{class}"));
        let mut traps = reading.findings.into_iter();
        traps
            .find(|finding| matches!(finding.trap, Trap::SmallBucket { .. }))
            .map(|finding| (finding.line, finding.trap))
    };
    let small = Trap::SmallBucket {
        burst: 8_000,
        rate: 30_000_000,
        holds_ms: 2,
    };
    let three = Some(3);
    assert_eq!(
        found("  police 30000000 8000 conform-action transmit exceed-action drop\n"),
        Some((three, small.clone()))
    );
    assert_eq!(
        found("  police cir 30m bc 8000\n   conform-action transmit\n   exceed-action drop\n"),
        Some((three, small))
    );
    for enough in [
        "  police 30000000\n",
        "  police 30000000 937500\n",
        "  police 30000000 8000\n   exceed-action set-dscp-transmit default\n",
        "  priority 512\n  police 512000 1500\n",
    ] {
        assert_eq!(found(enough), None, "{enough}");
    }
}

#[test]
fn what_a_policy_on_the_way_in_cannot_do_is_refused() {
    let text =
        "policy-map P\n class class-default\n  shape average 10m\ninterface Gi1\n service-policy input P\n";
    let reading = ios(text);
    let traps: Vec<_> = reading
        .findings
        .iter()
        .map(|finding| (finding.line, &finding.trap))
        .collect();
    assert_eq!(
        traps,
        [(
            Some(5),
            &Trap::QueueOnInput {
                policy: "P".to_owned()
            }
        )]
    );
    assert!(ios(&text.replace("input", "output")).findings.is_empty());
}

#[test]
fn a_policy_within_one_class_of_several_is_not_in_the_model() {
    let child = |inner: &str| {
        format!(
            "policy-map P\n class A\n  service-policy C\n class class-default\npolicy-map C\n{inner} class class-default\n  police 1m\nclass-map A\n\
             class-map B\n"
        )
    };
    let state = |text: &str| {
        let reading = ios(text);
        reading.line(3).map(|line| line.state)
    };
    assert_eq!(state(&child("")), Some(Modelled));
    assert_eq!(state(&child(" class B\n  police 2m\n")), Some(NotModelled));
}

/// Cisco 10000 Series Quality of Service Configuration Guide, chapter 13: percentages within a policy are of the nearest
/// shaper or policer around it, not of the interface.
#[test]
fn percentages_within_a_shaper_are_of_its_rate() {
    let text = "\
class-map BULK
 match dscp af11
policy-map INNER
 class BULK
  bandwidth percent 40
 class class-default
  bandwidth percent 70
policy-map OUTER
 class class-default
  shape average 20000000
  service-policy INNER
interface GigabitEthernet1
 bandwidth 1000000
 service-policy output OUTER
";
    let reading = ios(text);
    let meaning = &reading.line(5).unwrap().meaning;
    assert!(
        meaning.starts_with("40 % of what the class around it is held to are guaranteed"),
        "{meaning}"
    );
    // 110 % of the shaper.
    assert!(
        reading.findings.iter().any(|finding| matches!(
            finding.trap,
            Trap::GuaranteesExceedSpeed {
                sum: 22_000_000,
                speed: 20_000_000,
                ..
            }
        )),
        "{:?}",
        reading.findings
    );
    assert!(ios(&text.replace("70", "60")).findings.is_empty());
    let place = DeviceUse {
        file: "router.cfg".to_owned(),
        system: "cisco-ios".to_owned(),
        port: "GigabitEthernet1".to_owned(),
        line: BitRate::new(1_000_000_000),
        far: true,
    };
    let (elements, _) = device::elements(&place, text.as_bytes()).unwrap();
    let guarantee = elements.elements.iter().find_map(|part| match &part.does {
        ElementKind::Link(link) => match &link.queue {
            Queue::Classes(classes) => classes.classes[0].guarantee,
            _ => None,
        },
        _ => None,
    });
    assert_eq!(guarantee, Some(BitRate::new(8_000_000)));
}

/// Cisco IOS Interface and Hardware Component Command Reference, `speed`; IOS takes a port's speed as its `bandwidth` where none is
/// written.
#[test]
fn a_ports_speed_holds_what_leaves_by_it_and_a_class_that_is_nowhere_has_no_part() {
    let text = "\
class-map match-all V
 match dscp ef
interface FastEthernet0/0
 mtu 1400
 ip mtu 1500
 speed 10
 service-policy output P
policy-map P
 class NOSUCH
  bandwidth percent 90
 class V
  priority percent 30
 class class-default
  bandwidth percent 50
";
    let reading = ios(text);
    let said: Vec<String> = reading
        .findings
        .iter()
        .map(slowpath_vendor::Finding::sentence)
        .collect();
    assert_eq!(
        said,
        [
            "line 5: An `ip mtu` of 1500 is above the interface's `mtu` of 1400, and the smaller holds. Write `ip mtu 1400`, or raise \
             `mtu`.",
            "line 9: There is no class NOSUCH: its packets go to the default class. Define it, or use another.",
        ]
    );
    let told = |number: usize| {
        let line = reading.line(number).unwrap();
        (line.state, line.meaning.as_str())
    };
    assert_eq!(
        (told(5), told(10)),
        (
            (Doubtful, "no effect: the interface's `mtu` of 1400 is smaller"),
            (Doubtful, "no effect: no packet is of this class")
        )
    );
    let place = DeviceUse {
        file: "router.cfg".to_owned(),
        system: "cisco-ios".to_owned(),
        port: "FastEthernet0/0".to_owned(),
        line: BitRate::new(100_000_000),
        far: true,
    };
    let (elements, _) = device::elements(&place, text.as_bytes()).unwrap();
    let link = elements.elements.iter().find_map(|part| match &part.does {
        ElementKind::Link(link) => Some(link),
        _ => None,
    });
    let link = link.unwrap();
    assert_eq!(link.rate, Rate::Fixed(BitRate::new(10_000_000)));
    let Queue::Classes(classes) = &link.queue else {
        panic!("{link:?}")
    };
    let rates: Vec<_> = classes
        .classes
        .iter()
        .map(|class| (class.ceiling, class.guarantee))
        .collect();
    assert_eq!(
        rates,
        [
            (Some(BitRate::new(3_000_000)), None),
            (None, Some(BitRate::new(5_000_000)))
        ]
    );
    let Config::Ios(config) = &reading.config else {
        panic!()
    };
    let names: Vec<String> = device::class_names(config, &config.policy_maps["P"])
        .into_iter()
        .map(|(_, name)| name)
        .collect();
    assert_eq!(names, ["V", "class-default"]);
}

//! OpenSSH, sysctl and tc: golden lines with the manual's meaning.

use slowpath_scenario::host::EcnMode;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_vendor::reading::{Config, read_for};
use slowpath_vendor::ssh::{IpQos, Mark, Side};
use slowpath_vendor::{Language, LineState, Reading, Trap, guess, read};

use LineState::{Doubtful, Ignored, Modelled, NotModelled, Unrecognised};

fn ssh(version: Option<&str>, text: &str) -> Reading {
    read_for(Language::Ssh, version, "ssh_config", text.as_bytes())
}

fn check(language: Language, cases: &[(&str, LineState, &str)]) {
    for (line, state, meaning) in cases {
        let reading = read(language, "file", format!("{line}\n").as_bytes());
        let read = reading.lines.last().unwrap();
        assert_eq!(
            (read.text.as_str(), read.state),
            (line.trim(), *state),
            "{}",
            read.meaning
        );
        assert!(read.meaning.contains(meaning), "{line}: {}", read.meaning);
    }
}

#[test]
fn ssh_options_have_their_meaning() {
    check(
        Language::Ssh,
        &[
            // One argument serves both kinds; two are interactive then bulk.
            (
                "IPQoS none",
                Modelled,
                "marked none in sessions with a terminal and none in transfers",
            ),
            (
                "IPQoS af21 cs1",
                Modelled,
                "af21 (DSCP 18) in sessions with a terminal and cs1 (DSCP 8) in transfers",
            ),
            ("ipqos lowdelay throughput", Modelled, "lowdelay (DSCP 4)"),
            ("IPQoS = 32", Modelled, "cs1 (DSCP 8)"),
            ("IPQoS 0x20", Modelled, "cs1"),
            ("IPQoS gold", Doubtful, "refuses"),
            ("IPQoS af21 cs1 ef", Doubtful, "one or two"),
            (
                "Ciphers aes128-gcm@openssh.com,aes256-ctr",
                NotModelled,
                "AES is fast",
            ),
            ("Ciphers 3des-cbc", NotModelled, "very slow"),
            ("Compression yes", NotModelled, "slows fast paths"),
            ("Compression no", Ignored, ""),
            ("RekeyLimit 1M", NotModelled, "1048576 bytes"),
            ("RekeyLimit 1G 1h", Ignored, ""),
            ("ControlMaster auto", NotModelled, "share"),
            ("ProxyJump bastion", NotModelled, "another host"),
            ("Host *.example.com", Ignored, ""),
            ("HostName 192.0.2.1", Ignored, ""),
            ("GSSAPIAuthentication yes", Ignored, ""),
            ("Frobnicate yes", Unrecognised, "kept"),
        ],
    );
}

#[test]
fn the_first_value_wins_in_the_client_and_the_last_in_sshd_until_10_3() {
    let tos = |interactive, bulk| IpQos {
        interactive: Mark::Tos(interactive),
        bulk: Mark::Tos(bulk),
    };
    let text = "IPQoS af21 cs1\nIPQoS ef af11\n";
    let Config::Ssh(client) = ssh(None, text).config else {
        panic!()
    };
    assert_eq!((client.side, client.marks()), (Side::Client, tos(0x48, 0x20)));
    let server = format!("UsePAM yes\n{text}");
    let Config::Ssh(old) = ssh(Some("OpenSSH_9.2p1"), &server).config else {
        panic!()
    };
    assert_eq!((old.side, old.marks()), (Side::Server, tos(0xb8, 0x28)));
    let Config::Ssh(new) = ssh(Some("OpenSSH_10.3p1"), &server).config else {
        panic!()
    };
    assert_eq!(new.marks(), tos(0x48, 0x20));
}

#[test]
fn marks_of_transfers_and_old_words_are_named() {
    let default = ssh(Some("OpenSSH_8.7p1"), "HostName 192.0.2.1\n");
    assert_eq!(
        default.findings[0].trap,
        Trap::MarkedTransfer {
            mark: "cs1 (DSCP 8) (the default)".into()
        }
    );
    let none = ssh(Some("OpenSSH_8.7p1"), "Host *\n  IPQoS none\n");
    assert!(none.findings.is_empty(), "{:?}", none.findings);
    assert_eq!(none.lines[1].context, "Host *");
    let hex = ssh(Some("OpenSSH_9.8p1"), "IPQoS 0x00\n");
    assert_eq!(hex.lines[0].state, Doubtful);
    assert!(hex.findings.iter().any(|f| f.trap
        == Trap::IpQosHex {
            word: "0x00".into(),
            decimal: 0
        }));
    let word = ssh(Some("OpenSSH_10.1p1"), "IPQoS lowdelay throughput\n");
    assert!(
        word.findings
            .iter()
            .any(|f| matches!(&f.trap, Trap::IpQosLegacyWord { .. }))
    );
    assert!(word.lines[0].meaning.contains("none"));
}

#[test]
fn what_the_programs_print_is_understood() {
    for (name, text) in [
        ("ssh -G", include_str!("data/ssh-g.txt")),
        ("sshd -T", include_str!("data/sshd-t.txt")),
    ] {
        let reading = ssh(Some("OpenSSH_9.2p1 Debian-2+deb12u10"), text);
        let unknown: Vec<_> = reading
            .lines
            .iter()
            .filter(|line| line.state == Unrecognised)
            .collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
        let Config::Ssh(config) = &reading.config else {
            panic!()
        };
        assert!(config.effective, "{name}");
        assert_eq!(config.side == Side::Server, name == "sshd -T");
        // Debian's own defaults, not those of upstream's 9.2.
        assert_eq!(
            config.marks(),
            IpQos {
                interactive: Mark::Tos(0x10),
                bulk: Mark::Tos(0x08)
            }
        );
        assert_eq!(guess(text.as_bytes()), Some(Language::Ssh), "{name}");
    }
}

#[test]
fn sysctl_keys_have_their_meaning() {
    check(
        Language::Sysctl,
        &[
            ("net.ipv4.tcp_congestion_control = bbr", Modelled, "use bbr"),
            (
                "net.core.default_qdisc=fq",
                Modelled,
                "created from now on use fq",
            ),
            (
                "net.ipv4.tcp_rmem = 4096 131072 6291456",
                Modelled,
                "grow to 6291456 bytes",
            ),
            (
                "net.ipv4.tcp_wmem = 4096\t16384\t4194304",
                Modelled,
                "grow to 4194304",
            ),
            ("net.ipv4.tcp_rmem = 6291456 4096 1", Doubtful, "rising"),
            ("net/ipv4/tcp_sack = 0", Modelled, "round trip each"),
            (
                "-net.ipv4.tcp_window_scaling = 0",
                Modelled,
                "65535 bytes per round trip",
            ),
            ("net.ipv4.tcp_timestamps = 1", Modelled, "12 bytes"),
            ("net.ipv4.tcp_ecn = 1", Modelled, "asked for"),
            ("net.ipv4.tcp_ecn = 3", NotModelled, "accurate"),
            ("net.core.rmem_max = 16777216", Modelled, "at most 16777216"),
            ("net.ipv4.tcp_moderate_rcvbuf = 0", NotModelled, "second value"),
            ("net.ipv4.tcp_slow_start_after_idle = 0", NotModelled, "old rate"),
            ("net.ipv4.tcp_mtu_probing = 1", NotModelled, "black hole"),
            ("net.ipv4.tcp_dsack = 1", NotModelled, "details"),
            ("net.ipv4.tcp_syncookies = 1", Ignored, ""),
            ("net.ipv4.conf.eth0/100.rp_filter = 1", Ignored, ""),
            ("kernel.pid_max = 32768", Ignored, ""),
            ("acme.widgets = 3", Unrecognised, "kept"),
            ("net.ipv4.tcp_sack", Unrecognised, "kept"),
        ],
    );
}

#[test]
fn sysctl_settings_reach_the_host() {
    let text = "# tuning\nnet.ipv4.tcp_rmem = 4096 131072 67108864\nnet.ipv4.tcp_sack=0\nnet.ipv4.tcp_ecn=1\n\
                net.ipv4.tcp_congestion_control=bbr\nnet.core.rmem_max=67108864\n";
    let reading = read(Language::Sysctl, "99-tuning.conf", text.as_bytes());
    let settings = &reading.settings;
    assert_eq!(settings.rmem, Some([4_096, 131_072, 67_108_864]));
    assert_eq!((settings.sack, settings.ecn), (Some(false), Some(EcnMode::On)));
    assert_eq!(settings.congestion_control.as_deref(), Some("bbr"));
    assert_eq!(settings.origins[0].place, "99-tuning.conf:2");
    let traps: Vec<_> = reading
        .findings
        .iter()
        .map(slowpath_vendor::Finding::sentence)
        .collect();
    assert!(
        traps[0].starts_with("line 3: net.ipv4.tcp_sack: several losses"),
        "{traps:?}"
    );
    assert!(
        traps[1].contains("bounds only buffers that a program sets itself"),
        "{traps:?}"
    );
    assert_eq!(guess(text.as_bytes()), Some(Language::Sysctl));
}

/// As iproute2 6.1 prints them.
const TC: &str = "\
qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x20 direct_packets_stat 0 direct_qlen 1000
 Sent 672319 bytes 7139 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
qdisc fq_codel 10: dev eth0 parent 1:10 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64
qdisc tbf 8001: dev eth1 root refcnt 2 rate 10Mbit burst 15Kb lat 50ms
 Sent 100 bytes 3 pkt (dropped 7, overlimits 9 requeues 0)
qdisc tbf 8002: dev eth2 root refcnt 2 rate 1.5Mbit burst 1600b limit 3000b
qdisc cake 8003: dev eth3 root refcnt 2 bandwidth 50Mbit diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms noatm overhead 18 mpu 64
qdisc cake 8004: dev eth4 root refcnt 2 bandwidth unlimited besteffort triple-isolate rtt 100ms raw overhead 0
qdisc pfifo_fast 0: dev eth5 root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
qdisc noqueue 0: dev lo root refcnt 2
class htb 1:1 root rate 50Mbit ceil 50Mbit burst 1600b cburst 1600b
class htb 1:10 parent 1:1 leaf 10: prio 1 rate 20Mbit ceil 50Mbit burst 1600b cburst 1600b
 lended: 123 borrowed: 0 giants: 0
 tokens: 9375 ctokens: 3750
";

#[test]
fn tc_output_is_understood() {
    let reading = read(Language::Tc, "tc.txt", TC.as_bytes());
    let unknown: Vec<_> = reading
        .lines
        .iter()
        .filter(|line| line.state == Unrecognised)
        .collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let Config::Tc(config) = &reading.config else {
        panic!()
    };
    assert_eq!(config.rate("eth0"), Some(BitRate::new(50_000_000)));
    assert_eq!(config.rate("eth1"), Some(BitRate::new(10_000_000)));
    assert_eq!(config.rate("eth3"), Some(BitRate::new(50_000_000)));
    assert_eq!((config.rate("eth4"), config.rate("lo")), (None, None));
    let bucket = config.qdiscs.iter().find(|qdisc| qdisc.device == "eth1").unwrap();
    assert_eq!(
        (bucket.burst, bucket.latency),
        (Some(ByteCount::new(15 << 10)), Some(Duration::from_millis(50)))
    );
    let small = config.qdiscs.iter().find(|qdisc| qdisc.device == "eth2").unwrap();
    assert_eq!(
        (small.rate, small.limit_bytes),
        (Some(BitRate::new(1_500_000)), Some(ByteCount::new(3_000)))
    );
    let fair = config
        .qdiscs
        .iter()
        .find(|qdisc| qdisc.kind == "fq_codel")
        .unwrap();
    assert_eq!(
        (fair.limit_packets, fair.ecn, fair.parent.as_deref()),
        (Some(10_240), true, Some("1:10"))
    );
    let class = &config.classes[1];
    assert_eq!(
        (class.rate, class.ceil, class.priority),
        (
            Some(BitRate::new(20_000_000)),
            Some(BitRate::new(50_000_000)),
            Some(1)
        )
    );
    let state = |start: &str| {
        let line = reading
            .lines
            .iter()
            .find(|line| line.text.starts_with(start))
            .unwrap();
        (line.state, line.meaning.as_str())
    };
    assert_eq!(state("qdisc noqueue").0, Ignored);
    assert_eq!(state("qdisc pfifo_fast").0, Doubtful);
    assert_eq!(
        state("qdisc tbf 8001"),
        (
            Modelled,
            "packets above 10 Mbit/s and a bucket of 15 KiB wait; packets wait at most 50 ms"
        )
    );
    assert_eq!(
        state("Sent 100"),
        (
            NotModelled,
            "7 packets were dropped here since the queue was made"
        )
    );
    assert_eq!(state("qdisc cake 8003").0, Doubtful);
    assert_eq!(guess(TC.as_bytes()), Some(Language::Tc));
}

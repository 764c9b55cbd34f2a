//! OpenSSH, sysctl and tc: golden lines with the manual's meaning.

use slowpath_scenario::host::EcnMode;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_vendor::reading::{Config, read_for};
use slowpath_vendor::ssh::{IpQos, Mark, Side};
use slowpath_vendor::{Language, LineState, Reading, Trap, guess, read, remedies_of};

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
            // Accepted by the kernel all the same.
            (
                "net.ipv4.tcp_rmem = 4096 87380 65536",
                Modelled,
                "receive buffers stay at 87380 bytes",
            ),
            (
                "net.ipv4.tcp_wmem = 4096 200000 65536",
                Modelled,
                "send buffers stay at 65536 bytes",
            ),
            ("net.ipv4.tcp_rmem = 4096 131072", Modelled, "2 of three values"),
            ("net.ipv4.tcp_rmem = 4096 0 6291456", Doubtful, "above 0"),
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

#[test]
fn buffers_that_cannot_grow_are_a_finding_and_not_a_refusal() {
    let reading = read(
        Language::Sysctl,
        "sysctl.conf",
        b"net.ipv4.tcp_rmem = 4096 87380 65536\n",
    );
    assert_eq!(reading.settings.rmem, Some([4_096, 87_380, 87_380]));
    assert_eq!(
        reading.findings[0].sentence(),
        "line 1: net.ipv4.tcp_rmem: buffers cannot grow, so every connection that sets none has 87380 bytes. Restore the \
         default."
    );
    let remedy = remedies_of(&reading).remove(0).unwrap();
    assert_eq!(remedy.lines, ["net.ipv4.tcp_rmem = 4096 131072 6291456"]);
    let send = read(Language::Sysctl, "x", b"net.ipv4.tcp_wmem = 4096 200000 65536\n");
    assert_eq!(send.settings.wmem, Some([4_096, 65_536, 65_536]));
}

#[test]
fn a_misspelt_setting_is_not_passed_over() {
    let reading = read(Language::Sysctl, "sysctl.conf", b"net.ipv4.tcp_sakc = 1\n");
    assert_eq!(reading.lines[0].state, Unrecognised);
    assert_eq!(
        reading.findings[0].sentence(),
        "line 1: There is no setting `net.ipv4.tcp_sakc` known here. Did you mean `net.ipv4.tcp_sack`?"
    );
    let remedy = remedies_of(&reading).remove(0).unwrap();
    assert_eq!(
        (remedy.lines, remedy.replaces),
        (vec!["net.ipv4.tcp_sack = 1".to_owned()], vec![1])
    );
    let far = read(Language::Sysctl, "sysctl.conf", b"net.ipv4.tcp_frobnicate = 1\n");
    assert_eq!((far.lines[0].state, far.findings.len()), (Unrecognised, 0));
}

#[test]
fn an_ipqos_behind_another_has_no_effect() {
    let text = "Host *\n  IPQoS cs1\n  Compression no\n  IPQoS none\n";
    let client = ssh(Some("OpenSSH_9.2p1"), text);
    let said: Vec<_> = client
        .findings
        .iter()
        .map(slowpath_vendor::Finding::sentence)
        .collect();
    assert!(
        said[0].starts_with("line 2: Transfers are marked cs1 (DSCP 8)."),
        "{said:?}"
    );
    assert!(
        said[1]
            .starts_with("line 4: This IPQoS has no effect: the first value wins, which is that of line 2."),
        "{said:?}"
    );
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(client.line(4).unwrap().state, Doubtful);
    let remedies: Vec<_> = remedies_of(&client).into_iter().flatten().collect();
    assert_eq!(
        (&remedies[0].lines[..], &remedies[0].replaces[..]),
        (&["IPQoS none".to_owned()][..], &[2][..])
    );
    assert_eq!(
        (remedies[1].lines.len(), &remedies[1].replaces[..]),
        (0, &[4][..])
    );

    // A block of its own before `Host *` is no loser; behind it, it is.
    let blocks = "Host far\n  IPQoS af11\nHost *\n  IPQoS cs1\nHost late\n  IPQoS none\n";
    let Config::Ssh(blocks) = ssh(None, blocks).config else {
        panic!()
    };
    assert_eq!(blocks.without_effect(), [(6, 4)]);

    // sshd takes the last until 10.3.
    let server = "UsePAM yes\nIPQoS cs1\nIPQoS none\n";
    let Config::Ssh(old) = ssh(Some("OpenSSH_9.2p1"), server).config else {
        panic!()
    };
    assert_eq!(old.without_effect(), [(2, 3)]);
    let Config::Ssh(new) = ssh(Some("OpenSSH_10.3p1"), server).config else {
        panic!()
    };
    assert_eq!(new.without_effect(), [(3, 2)]);
}

#[test]
fn tc_commands_are_read_as_what_they_make() {
    let text = "#!/bin/sh\ntc qdisc del dev eth0 root\nsudo tc qdisc add dev eth0 root handle 1: htb default 20\n\
        tc class add dev eth0 parent 1: classid 1:1 htb rate 50mbit\n\
        tc class add dev eth0 parent 1:1 classid 1:20 htb \\\n    rate 20mbit ceil 50mbit\n\
        tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip dport 22 0xffff flowid 1:20\n\
        tc qdisc add dev eth0 parent 1:20 fq_codel\n\
        tc qdisc add dev eth1 root tbf rate 50mbit burst 32kbit latency 400ms\n\
        tc qdisc add dev eth2 root tbf rate 6250kbps burst 4000 limit 3000\n\
        tc qdisc replace dev eth2 root pfifo limit 100\ntc frobnicate\n";
    let reading = read(Language::Tc, "shape.sh", text.as_bytes());
    assert_eq!(guess(text.as_bytes()), Some(Language::Tc));
    let states: Vec<_> = reading
        .lines
        .iter()
        .map(|line| (line.number, line.state))
        .collect();
    assert_eq!(
        states,
        [
            (2, Ignored),
            (3, Modelled),
            (4, Modelled),
            (5, Modelled),
            (6, Ignored),
            (7, NotModelled),
            (8, Modelled),
            (9, Modelled),
            (10, Modelled),
            (11, Modelled),
            (12, Unrecognised),
        ],
        "{:?}",
        reading.lines
    );
    assert_eq!(
        reading.line(9).unwrap().meaning,
        "packets above 50 Mbit/s and a bucket of 4 KiB wait; packets wait at most 400 ms"
    );
    let Config::Tc(config) = &reading.config else {
        panic!()
    };
    assert_eq!(config.rate("eth0"), Some(BitRate::new(50_000_000)));
    assert_eq!(config.rate("eth1"), Some(BitRate::new(50_000_000)));
    // The last command of an interface holds.
    assert_eq!(config.rate("eth2"), None);
    let last = config.qdiscs.iter().find(|qdisc| qdisc.device == "eth2").unwrap();
    assert_eq!((last.kind.as_str(), last.limit_packets), ("pfifo", Some(100)));
    let class = config.classes.iter().find(|class| class.id == "1:20").unwrap();
    assert_eq!(
        (class.rate, class.ceil, class.parent.as_deref()),
        (
            Some(BitRate::new(20_000_000)),
            Some(BitRate::new(50_000_000)),
            Some("1:1")
        )
    );
    assert_eq!(
        read(Language::Tc, "x", b"tc qdisc add root fq\n").lines[0].state,
        Doubtful
    );
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

fn sentences(reading: &Reading) -> Vec<String> {
    reading
        .findings
        .iter()
        .map(slowpath_vendor::Finding::sentence)
        .collect()
}

#[test]
fn a_key_set_twice_has_one_value_and_the_first_line_no_effect() {
    let text = "net.ipv4.tcp_rmem = 4096 16384 32768\nnet/ipv4/tcp_sack = 1\nnet.ipv4.tcp_rmem = 4096 131072 33554432\n\
                net.ipv4.tcp_rmem = many\nkernel.pid_max = 1\nkernel.pid_max = 2\n";
    let reading = read(Language::Sysctl, "sysctl.conf", text.as_bytes());
    assert_eq!(reading.settings.rmem, Some([4_096, 131_072, 33_554_432]));
    let first = reading.line(1).unwrap();
    assert_eq!(
        (first.state, first.meaning.as_str()),
        (Doubtful, "no effect: line 3 holds")
    );
    assert_eq!(
        sentences(&reading),
        [
            "line 1: This net.ipv4.tcp_rmem has no effect: the last value wins, which is that of line 3. Change that line, and \
             remove this one.",
            "line 4: The device refuses this line: one to three numbers of bytes above 0: least, first, most. Correct it, or \
             remove it.",
        ]
    );
    let places: Vec<&str> = reading
        .settings
        .origins
        .iter()
        .map(|origin| origin.place.as_str())
        .collect();
    assert_eq!(places, ["sysctl.conf:2", "sysctl.conf:3"]);
}

/// One finding asked for the limit of explicit buffers, another for the kernel's default, each in a line of its own.
#[test]
fn two_findings_give_one_line_for_one_key() {
    for text in [
        "net.core.rmem_max = 16777216\nnet.ipv4.tcp_rmem = 4096 87380 65536\n",
        "net.ipv4.tcp_rmem = 4096 87380 65536\nnet.core.rmem_max = 16777216\n",
    ] {
        let reading = read(Language::Sysctl, "sysctl.conf", text.as_bytes());
        let remedies: Vec<_> = remedies_of(&reading).into_iter().flatten().collect();
        let own = reading
            .lines
            .iter()
            .find(|line| line.text.contains("tcp_rmem"))
            .unwrap();
        assert_eq!(remedies.len(), 1, "{remedies:?}");
        assert_eq!(
            (&remedies[0].lines[..], &remedies[0].replaces[..]),
            (
                &["net.ipv4.tcp_rmem = 4096 131072 16777216".to_owned()][..],
                &[own.number][..]
            )
        );
    }
}

#[test]
fn an_unknown_congestion_control_is_a_finding() {
    let reading = read(
        Language::Sysctl,
        "sysctl.conf",
        b"net.ipv4.tcp_congestion_control = bbrr\n",
    );
    assert_eq!(reading.lines[0].state, Doubtful);
    assert_eq!(
        sentences(&reading),
        [
            "line 1: No congestion control is known as `bbrr`, and the kernel refuses what none of its modules is called. Did you \
             mean `bbr`?"
        ]
    );
    let remedy = remedies_of(&reading).remove(0).unwrap();
    assert_eq!(
        (remedy.lines, remedy.replaces),
        (vec!["net.ipv4.tcp_congestion_control = bbr".to_owned()], vec![1])
    );
    let far = read(
        Language::Sysctl,
        "x",
        b"net.ipv4.tcp_congestion_control = frobnicate\n",
    );
    assert!(
        sentences(&far)[0].ends_with("tcp_available_congestion_control` names."),
        "{:?}",
        far.findings
    );
    // A later line holds, whatever is known of this one.
    let later = read(
        Language::Sysctl,
        "x",
        b"net.ipv4.tcp_congestion_control = bbrr\nnet.ipv4.tcp_congestion_control = cubic\n",
    );
    assert_eq!(later.lines[0].meaning, "no effect: line 2 holds");
    assert_eq!(later.findings.len(), 1, "{:?}", later.findings);
    // What was known before it stays, and what no model has is not simulated.
    let kept = read(
        Language::Sysctl,
        "x",
        b"net.ipv4.tcp_congestion_control = bbr\nnet.ipv4.tcp_congestion_control = bbrr\n",
    );
    assert_eq!(kept.settings.congestion_control.as_deref(), Some("bbr"));
    check(
        Language::Sysctl,
        &[("net.ipv4.tcp_congestion_control = htcp", NotModelled, "use htcp")],
    );
}

#[test]
fn what_htb_cannot_give_is_named() {
    let script = "\
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 100mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 20mbit ceil 10mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 20mbit ceil 200mbit
tc qdisc add dev eth0 parent 1:10 handle 10: htb default 1
tc qdisc add dev eth0 parent 1:20 handle 20: tbf rate 5mbit burst 32kb latency 50ms
tc qdisc add dev eth0 parent 20:1 tbf rate 1mbit burst 32kb latency 50ms
tc class add dev eth0 parent 10: classid 10:1 htb rate 5mbit
";
    let reading = read(Language::Tc, "shape.sh", script.as_bytes());
    assert_eq!(
        sentences(&reading),
        [
            "line 1: What no filter of eth0 matches is to get class 1:30, and no packet can wait in a class of that number: it \
             leaves past all classes, unshaped. Define the class, or name one that exists.",
            "line 3: Class 1:10 has a rate of 20000000 bit/s above its ceiling of 10000000 bit/s, which it never exceeds. Lower \
             the rate, or raise the ceiling.",
        ]
    );
    let states: Vec<LineState> = reading.lines.iter().map(|line| line.state).collect();
    assert_eq!(
        states,
        [
            Modelled,
            Modelled,
            Doubtful,
            Modelled,
            NotModelled,
            Modelled,
            NotModelled,
            NotModelled
        ]
    );
    let Config::Tc(config) = &reading.config else {
        panic!()
    };
    let most = |id: &str| {
        let class = config.classes.iter().find(|class| class.id == id).unwrap();
        config.most(class).map(BitRate::bits_per_s)
    };
    // No class borrows more than the one above it has.
    assert_eq!(
        (most("1:10"), most("1:20")),
        (Some(10_000_000), Some(100_000_000))
    );
    for known in ["default 20", "default 0x20", "default 0", ""] {
        let text = script.replacen("default 30", known, 1);
        let reading = read(Language::Tc, "shape.sh", text.as_bytes());
        assert!(
            sentences(&reading)[0].starts_with("line 3"),
            "{known}: {:?}",
            reading.findings
        );
    }
    // The class around others takes no packets, and a text without classes does not say which there are.
    let inner = script.replacen("default 30", "default 1", 1);
    let reading = read(Language::Tc, "shape.sh", inner.as_bytes());
    assert!(
        sentences(&reading)[0].contains("class 1:1,"),
        "{:?}",
        reading.findings
    );
    check(
        Language::Tc,
        &[
            (
                "tc qdisc add dev eth0 root cake bandwidth 50mbit besteffort",
                Modelled,
                "a rate of 50 Mbit/s",
            ),
            (
                "tc qdisc add dev eth0 parent 1:1 cake bandwidth 50mbit besteffort",
                NotModelled,
                "within another queue",
            ),
            (
                "tc qdisc add dev eth0 root cake",
                NotModelled,
                "no rate of its own",
            ),
        ],
    );
    let alone = read(
        Language::Tc,
        "x",
        b"qdisc htb 1: dev eth0 root refcnt 2 r2q 10 default 0x30\n",
    );
    assert!(alone.findings.is_empty(), "{:?}", alone.findings);
}

#[test]
fn a_shapers_bucket_below_a_packet_is_a_finding() {
    let text = "tc qdisc add dev eth0 root tbf \\\n  rate 100mbit burst 1000 latency 50ms\n";
    let reading = read(Language::Tc, "shape.sh", text.as_bytes());
    assert!(
        sentences(&reading)[0].starts_with("line 1: A bucket of 1000 bytes is smaller than a full packet"),
        "{:?}",
        reading.findings
    );
    let remedy = remedies_of(&reading).remove(0).unwrap();
    assert_eq!(
        (remedy.lines, remedy.replaces),
        (
            vec!["tc qdisc add dev eth0 root tbf rate 100mbit burst 12500 latency 50ms".to_owned()],
            vec![1, 2]
        )
    );
    let enough = text.replace("1000", "1514");
    assert!(
        read(Language::Tc, "shape.sh", enough.as_bytes())
            .findings
            .is_empty()
    );
}

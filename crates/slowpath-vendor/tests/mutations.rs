//! No mutation of a configuration makes a reader panic, lose a line, or take long.

use slowpath_path::NetworkSpec;
use slowpath_scenario::device::DeviceUse;
use slowpath_vendor::reading::Config;
use slowpath_vendor::{Language, device, guess, read, remedy_of};

const SEEDS: [(Language, &[u8]); 12] = [
    (Language::Rtx, include_bytes!("../../../experiments/rtx2000-tunnel-qos/throughput-curve.cfg")),
    (Language::Rtx, include_bytes!("../../../experiments/rtx2000-tunnel-qos/priority-on.cfg")),
    (Language::Rtx, include_bytes!("../../../experiments/rtx2000-tunnel-qos/pppoe-priority-on.cfg")),
    (Language::Rtx, include_bytes!("../../../experiments/rtx2000-tunnel-qos/bandwidth-on.cfg")),
    (Language::Rtx, b"# RTX830 Rev.15.02.27\nip filter 1 pass 192.168.0.0/255.255.0.0 10.*.*.* tcp,udp 1-80,www *\nip tos supersede 1 min-delay precedence=1 1\nqueue class filter 1 precedence mapping=1:4 ip 10.0.0.1-10.0.0.9 * icmp\nqueue lan1 class property 1 bandwidth=10%,5m\ndescription lan1 'a\\'b'\n"),
    (Language::Ios, b"class-map match-any B\n match ip dscp cs1 8\npolicy-map W\n class B\n  police cir 10m bc 64000 exceed-action set-dscp-transmit cs1\n  shape average percent 50\n  priority percent 30\ninterface Gi0/0\n bandwidth 50000\n service-policy output W\nip tcp window-size 2500000\nno ip tcp selective-ack\n"),
    (Language::Ssh, include_bytes!("data/ssh-g.txt")),
    (Language::Ssh, include_bytes!("data/sshd-t.txt")),
    (Language::Ssh, b"Host *\n  IPQoS=0x20 none\n  Ciphers aes128-gcm@openssh.com\nMatch user x\n  RekeyLimit 99G\n"),
    (Language::Sysctl, b"net.ipv4.tcp_rmem = 4096 131072 6291456\n-net/ipv4/tcp_ecn=1\nnet.ipv4.conf.eth0/100.x = 1\n"),
    (Language::Tc, b"qdisc tbf 8001: dev eth1 root refcnt 2 rate 1.5Mbit burst 15Kb lat 50ms\nclass htb 1:10 parent 1:1 leaf 10: prio 1 rate 20Mbit ceil 50Mbit\n Sent 1 bytes 2 pkt (dropped 3, overlimits 0 requeues 0)\n"),
    (Language::Tc, b"qdisc cake 1: dev e root bandwidth 99999999999999999999Gbit overhead -8\nqdisc fq_codel 2: dev\n"),
];

/// A small generator, so that a failure comes back (Marsaglia 2003, xorshift64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap_or(0)
    }
}

fn mutate(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.below(8),
            1 if !bytes.is_empty() => bytes[at] = b" \t\"'\\=,-:/%*#!\n\r\x00\xff\x83"[dice.below(19)],
            2 => bytes.truncate(at),
            3 => {
                let end = (at + dice.below(12)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + dice.below(40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = dice.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            5 => {
                let big: &[u8] = [
                    b"99999999999999999999".as_slice(),
                    b"-1",
                    b"0",
                    b"4294967296",
                    b"1e9",
                ][dice.below(5)];
                bytes.splice(at..at, big.iter().copied());
            }
            _ => {
                // A word of another line in place of a byte.
                let from = dice.below(bytes.len());
                let word: Vec<u8> = bytes[from..]
                    .iter()
                    .copied()
                    .take_while(|b| !b.is_ascii_whitespace())
                    .collect();
                bytes.splice(at..at, word);
            }
        }
    }
    bytes
}

/// What a router does can be built as a network, or is refused as one.
fn on_a_path(config: &Config, bytes: &[u8]) {
    let (system, ports): (&str, Vec<&String>) = match config {
        Config::Rtx(config) => ("rtx2000", config.ports.keys().collect()),
        Config::Ios(config) => ("cisco-ios", config.interfaces.keys().collect()),
        _ => return,
    };
    for port in ports {
        let device = DeviceUse {
            file: "mutant".to_owned(),
            system: system.to_owned(),
            port: port.clone(),
            line: "100 Mbit/s".parse().unwrap(),
            far: true,
        };
        if let Ok((found, _)) = device::elements(&device, bytes) {
            let chain = found.elements.into_iter().map(|part| (part.name, part.does));
            let _ = NetworkSpec::chain("near", "far", chain.collect(), vec![]).check();
        }
    }
}

#[test]
fn mutated_configurations_keep_every_line() {
    let mut dice = Dice(0x5107_0a74);
    for (language, seed) in SEEDS {
        for _ in 0..1_500 {
            let bytes = mutate(seed, &mut dice);
            let reading = read(language, "mutant", &bytes);
            let (text, _) = slowpath_vendor::text::decode(&bytes);
            let comment: &[char] = match language {
                Language::Ios => &['!'],
                Language::Sysctl => &['#', ';'],
                _ => &['#'],
            };
            let wanted = text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty() && !line.starts_with(comment))
                .count();
            assert_eq!(reading.counts().total(), wanted, "{language:?}: {text:?}");
            for finding in &reading.findings {
                assert!(!finding.sentence().is_empty());
                assert!(
                    finding.line.is_none_or(|line| reading.line(line).is_some()),
                    "{finding:?}"
                );
                if let Some(remedy) = remedy_of(&reading, finding) {
                    assert!(
                        !remedy.lines.is_empty() || !remedy.replaces.is_empty(),
                        "{finding:?}"
                    );
                }
            }
            on_a_path(&reading.config, &bytes);
            guess(&bytes);
        }
    }
}

#[test]
fn any_bytes_are_read_by_every_reader() {
    let mut dice = Dice(7);
    for length in 0..200 {
        let bytes: Vec<u8> = (0..length)
            .map(|_| u8::try_from(dice.below(256)).unwrap_or(0))
            .collect();
        for (_, language) in Language::ALL {
            read(*language, "noise", &bytes);
        }
        guess(&bytes);
    }
}

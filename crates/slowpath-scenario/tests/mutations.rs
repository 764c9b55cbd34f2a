//! No mutation of an experiment file or of a path makes the reader panic, and what is accepted can be planned or refused.

use slowpath_scenario::sweep::Sweep;
use slowpath_scenario::{Clock, Experiment, Fragments, PlanOptions, parse_path};

const FILES: [&str; 3] = [
    include_str!("../../../experiments/cisco-ftp/experiment.toml"),
    include_str!("../../../experiments/rtx2000-tunnel-qos/experiment.toml"),
    r#"title = "t"
[network]
up = [{ rate = "1 Mbit/s", discipline = "codel", ecn = true }, { loss = { to_bad = "1 %", to_good = "2 %" } }, { mtu = "1280 B" }, { router = "192.0.2.1" }]
down = [{ delay = "5 ms", jitter = "1 ms" }, { police = "1 Mbit/s", burst = "64 KiB", only = { dscp = "cs1" } }]
[workload]
kind = "iperf3"
streams = 4
duration = "10 s"
window = "60 KiB"
[hosts]
client = { window = "1 MiB", rmem_max = "1 MiB", storage = { rate = "1 Mbit/s", unit = "64 KiB" } }
server = { rmem = ["4 KiB", "1 MiB", "2 MiB"], system = "windows-iperf3" }
[[background]]
kind = "s3-put"
size = "1 MiB"
requests = 4
"#,
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

fn mutate(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(3) {
        let at = dice.below(chars.len());
        let words = [
            "0",
            "99999999999999999999",
            "-1",
            "\"\"",
            "0 bit/s",
            "1 ns",
            "[]",
            "{ }",
            "é",
            "true",
            "\"4294967296 B\"",
        ];
        match dice.below(5) {
            0 => {
                chars[at] = "\"'=[]{},.#\n 0x%é"[..]
                    .chars()
                    .nth(dice.below(16))
                    .unwrap_or(' ');
            }
            1 => {
                let end = (at + dice.below(20)).min(chars.len());
                chars.drain(at..end);
            }
            2 => {
                let end = (at + dice.below(60)).min(chars.len());
                let copy = chars[at..end].to_vec();
                let to = dice.below(chars.len());
                chars.splice(to..to, copy);
            }
            3 => {
                // A value in place of another.
                let start = chars[at..]
                    .iter()
                    .position(|c| *c == '=')
                    .map_or(at, |p| at + p + 1);
                let end = chars[start..]
                    .iter()
                    .position(|c| ",\n}]".contains(*c))
                    .map_or(chars.len(), |p| start + p);
                chars.splice(start..end, words[dice.below(words.len())].chars());
            }
            _ => {
                chars.splice(at..at, words[dice.below(words.len())].chars());
            }
        }
    }
    chars.into_iter().collect()
}

#[test]
fn mutated_experiments_are_read_or_refused_with_a_place() {
    let mut dice = Dice(0x5eed);
    let (mut read, mut refused) = (0, 0);
    for file in FILES {
        for _ in 0..700 {
            let text = mutate(file, &mut dice);
            match Experiment::read("x.toml", &text, &[]) {
                Ok(experiment) => {
                    read += 1;
                    for variant in experiment.variants.iter().take(2) {
                        for clock in [Clock::Lab, Clock::Simulated] {
                            let options = PlanOptions {
                                variant: variant.name.clone(),
                                repeat: 0,
                                seed: 1,
                                clock,
                                quick: true,
                                size: None,
                            };
                            if let Err(error) = experiment.plan(&options, &Fragments::new()) {
                                assert!(!error.to_string().is_empty());
                            }
                        }
                    }
                }
                Err(errors) => {
                    refused += 1;
                    assert!(errors.any_error(), "{text}");
                    let shown = errors.to_string();
                    assert!(shown.contains("x.toml:") && shown.contains("error: "), "{shown}");
                }
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn mutated_paths_and_sweeps_are_read_or_refused() {
    let mut dice = Dice(0xd1ce);
    let paths = [
        "rate 50 Mbit/s, queue 100 packets, delay 50 ms, jitter 5 ms, loss 0.01 %",
        "up: rate 10 Mbit/s; down: police 50 Mbit/s, burst 64 KiB, mtu 1280 B, black_hole on",
    ];
    for _ in 0..4_000 {
        let path = mutate(paths[dice.below(2)], &mut dice);
        if let Err(errors) = parse_path(&path) {
            assert!(errors.to_string().contains("error: "), "{path}");
        }
        let sweep = mutate("network.both[1].delay=10 ms..100 ms step 10 ms", &mut dice);
        if let Err(error) = Sweep::parse(&sweep) {
            assert!(error.to_string().contains("write KEY"), "{sweep}");
        }
    }
}

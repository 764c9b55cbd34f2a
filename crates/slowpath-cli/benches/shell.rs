//! `slowpath shell 'delay 1 ms'` with a real iperf3, against the same iperf3 over a bare relay between two TUN devices.
//!
//! `cargo bench -p slowpath-cli --bench shell [-- SECONDS [ROUNDS]]`. All in turns in the same run; ratios of medians count. Each pair is
//! measured with the machine's own send buffer and with a longest one of 16 MiB: over 2 ms the kernel's 4 MiB hold a transfer
//! to 17 Gbit/s even where nothing waits for a processor, and the kernel wakes its program once a third of them is free.
//! Both are lines of the table, so that neither stands for the other; and beside both stands a relay that holds everything for
//! 1 ms and does nothing else, because a longer round trip and more bytes on their way cost a machine whoever holds them.

#![allow(clippy::disallowed_methods)] // a bench starts programs and measures time

#[path = "../../slowpath-lab/benches/wire/relay.rs"]
#[allow(dead_code)]
mod relay;
#[path = "../../slowpath-lab/benches/wire/traffic.rs"]
#[allow(dead_code)]
mod traffic;

use std::io;
use std::process::{Command, Stdio};

use relay::{Relay, inside};

/// The command, as users run it.
const SLOWPATH: &str = env!("CARGO_BIN_EXE_slowpath");
/// What is wanted of the command, as a share of the bare relay.
const GOAL: f64 = 0.85;
/// The far host's program.
const SERVER: &str = "exec iperf3 -s -1 >/dev/null 2>&1";
/// Makes the longest send buffer of a host 16 MiB.
const LARGE: &str = "echo 4096 16384 16777216 > /proc/sys/net/ipv4/tcp_wmem; ";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    // `cargo test --benches` runs every bench: it shall not load the machine.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("skipped: the shell's bench runs by `cargo bench`");
        return;
    }
    let mut number = |default: u32| {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let (seconds, rounds) = (number(3), number(5));
    if let Err(error) = slowpath_lab::enter() {
        println!("skipped: {error}");
        return;
    }
    let mut rows = [
        Row::new("bare relay", "", Way::Relay(0)),
        Row::new("slowpath shell 'delay 0 ms'", "", Way::Shell("delay 0 ms")),
        Row::new("relay that holds for 1 ms", "", Way::Relay(1_000_000)),
        Row::new("slowpath shell 'delay 1 ms'", "", Way::Shell("delay 1 ms")),
        Row::new("bare relay, send buffer 16 MiB", LARGE, Way::Relay(0)),
        Row::new(
            "relay that holds for 1 ms, the same",
            LARGE,
            Way::Relay(1_000_000),
        ),
        Row::new(
            "slowpath shell 'delay 1 ms', the same",
            LARGE,
            Way::Shell("delay 1 ms"),
        ),
    ];
    for _ in 0..rounds {
        for row in &mut rows {
            match row.run(seconds) {
                Ok(bits_per_s) => row.found.push(bits_per_s),
                Err(error) => {
                    println!("skipped: {}: {error}", row.name);
                    return;
                }
            }
        }
    }
    let (mut bare, mut held) = (f64::NAN, f64::NAN);
    for row in &mut rows {
        row.found.sort_by(f64::total_cmp);
        let median = row.found[row.found.len() / 2];
        match row.way {
            Way::Relay(0) => bare = median,
            Way::Relay(_) => held = median,
            Way::Shell(_) => {}
        }
        println!(
            "{:40} iperf3 {:6.2} Gbit/s ({:.2} to {:.2}) {:6.2}x",
            row.name,
            median / 1e9,
            row.found[0] / 1e9,
            row.found[row.found.len() - 1] / 1e9,
            median / bare
        );
        if row.way == Way::Shell("delay 1 ms") {
            println!("{:40} {:.2} of the relay that holds as long", "", median / held);
            if median < GOAL * bare {
                println!(
                    "MISSED {}: {:.2} of the bare relay, wanted {GOAL}",
                    row.name,
                    median / bare
                );
            }
        }
    }
}

/// What lies between the two hosts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A relay that holds everything for so many nanoseconds.
    Relay(u64),
    /// The command, with this path.
    Shell(&'static str),
}

/// One way to run iperf3.
struct Row {
    name: &'static str,
    /// What the near host does first.
    before: &'static str,
    way: Way,
    /// Bits of data per second that the server received, one a round.
    found: Vec<f64>,
}

impl Row {
    const fn new(name: &'static str, before: &'static str, way: Way) -> Self {
        Self {
            name,
            before,
            way,
            found: Vec::new(),
        }
    }

    fn run(&self, seconds: u32) -> io::Result<f64> {
        // The server needs a moment before it listens.
        let client = |address: &str| {
            format!(
                "{}sleep 0.3; exec iperf3 -J -t {seconds} -c {address}",
                self.before
            )
        };
        let output = match self.way {
            Way::Shell(path) => {
                let near = client("$SLOWPATH_FAR");
                Command::new(SLOWPATH)
                    .args(["shell", path, "--far", SERVER, "--", "sh", "-c", &near])
                    .stderr(Stdio::null())
                    .output()?
            }
            Way::Relay(held) => over_relay(&client("10.77.0.2"), held)?,
        };
        received(&output.stdout).ok_or_else(|| io::Error::other("iperf3 gave no result; is it installed?"))
    }
}

fn over_relay(client: &str, held: u64) -> io::Result<std::process::Output> {
    let relay = Relay::holding("cubic", held)?;
    let [near, far] = relay.namespaces();
    let mut server = inside(far, || sh(SERVER).spawn())?;
    let output = inside(near, || sh(client).stderr(Stdio::null()).output());
    let _ = server.kill();
    let _ = server.wait();
    relay.end();
    output
}

fn sh(text: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", text]).stdin(Stdio::null());
    command
}

/// Bits of data per second that arrived, of a report in JSON.
fn received(report: &[u8]) -> Option<f64> {
    let report: serde_json::Value = serde_json::from_slice(report).ok()?;
    report["end"]["sum_received"]["bits_per_second"].as_f64()
}

//! {ours, iperf3} x {ours, iperf3} x {TCP, UDP} x {forward, reverse, both ways}, every cell with four streams, a block
//! size, a window, an omitted second, the server's output, 64-bit counters and a paced 100 Mbit/s in all.
//!
//! Errors, missing sums and missing output fail at once. Figures may be spoilt by the host: a process that does not run
//! for 50 ms of a one-second test is five per cent, and the two ends of a test do not stop at the same moment. So a cell
//! whose figures disagree is measured again, at most four times, and says so on standard error. UDP senders of ours catch
//! up after a stall, as the real one does: with their usual spacing they would, on a busy host, send less and say so.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::external::{find_program, listening};
use slowpath_workload::iperf3::{ClientConfig, Direction, Pacing, Server, ServerConfig, Transport, run};
use slowpath_workload::{Context, Permission};

const STREAMS: u32 = 4;
/// Of each stream: 100 Mbit/s in all.
const RATE: u64 = 25_000_000;
/// What a kernel with default bounds grants; iperf3 ends a test with less than it asked for.
const WINDOW: u64 = 400 * 1024;
const ATTEMPTS: u32 = 5;
/// The longest stall that a sender of ours makes up for.
const CATCH_UP: Pacing = Pacing::CatchUp(Duration::from_millis(200));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Real,
}

/// A real server that ends with the test.
struct RealServer(Child, SocketAddr);

impl RealServer {
    fn start() -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let child = Command::new("iperf3")
            .args(["-s", "-p", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self(child, address);
        for _ in 0..1000 {
            if listening(address) {
                return server;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("iperf3 -s does not listen on {address}");
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Bit/s sent and received, one pair for each way of the data.
type Figures = Vec<(f64, f64)>;

const fn block(transport: Transport) -> u32 {
    match transport {
        Transport::Tcp => 8000,
        Transport::Udp => 1400,
    }
}

fn our_client(server: SocketAddr, transport: Transport, direction: Direction, context: &Context) -> Figures {
    let mut config = ClientConfig::tcp(server, Duration::from_secs(1));
    let params = &mut config.params;
    (params.transport, params.direction, params.parallel) = (transport, direction, STREAMS);
    (params.block, params.rate) = (Some(block(transport)), Some(BitRate::new(RATE)));
    (params.window, params.omit) = (Some(ByteCount::new(WINDOW)), Duration::from_secs(1));
    (params.server_output, params.counters_64bit) = (true, transport == Transport::Udp);
    config.pacing = CATCH_UP;
    // A real server keeps waiting for the sockets of its last test for a moment.
    config.patience = Duration::from_secs(10);
    let report = run(&config, context).unwrap_or_else(|error| panic!("{transport:?} {direction:?}: {error}"));
    let output = report.server_output.as_deref().unwrap_or_default();
    assert!(!output.trim().is_empty(), "no server output");
    let json = report.to_json();
    assert!(json["end"]["sum_sent"]["bytes"].as_u64().unwrap() > 0, "{json}");
    assert!(
        json["end"]["sum_received"]["bytes"].as_u64().unwrap() > 0,
        "{json}"
    );
    let ways: &[bool] = match direction {
        Direction::Forward => &[true],
        Direction::Reverse => &[false],
        Direction::Bidirectional => &[true, false],
    };
    ways.iter()
        .map(|way| (report.accepted_bit_per_s(*way), report.delivered_bit_per_s(*way)))
        .collect()
}

fn real_client(server: SocketAddr, transport: Transport, direction: Direction) -> Figures {
    let (port, length) = (server.port().to_string(), block(transport).to_string());
    let (rate, window) = (RATE.to_string(), WINDOW.to_string());
    let mut arguments = vec![
        "-c",
        "127.0.0.1",
        "-p",
        &port,
        "-J",
        "-t",
        "1",
        "-O",
        "1",
        "-P",
        "4",
        "-l",
        &length,
        "-b",
        &rate,
        "-w",
        &window,
        "--get-server-output",
        "--connect-timeout",
        "5000",
    ];
    if transport == Transport::Udp {
        arguments.extend(["-u", "--udp-counters-64bit"]);
    }
    match direction {
        Direction::Forward => {}
        Direction::Reverse => arguments.push("-R"),
        Direction::Bidirectional => arguments.push("--bidir"),
    }
    let mut value = Value::Null;
    for _ in 0..20 {
        let output = Command::new("iperf3")
            .args(&arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"));
        let error = value["error"].as_str().unwrap_or_default();
        // A real server is deaf for a moment between two tests.
        if !error.contains("busy") && !error.contains("refused") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(value.get("error").is_none(), "{arguments:?}: {}", value["error"]);
    let output = ["server_output_text", "server_output_json"];
    assert!(
        output
            .iter()
            .any(|name| value.get(name).is_some_and(|output| !output.is_null())),
        "{arguments:?}: no server output"
    );
    let suffixes: &[&str] = if direction == Direction::Bidirectional {
        &["", "_bidir_reverse"]
    } else {
        &[""]
    };
    suffixes
        .iter()
        .map(|suffix| match transport {
            Transport::Tcp => {
                let sum = |name: &str| value["end"][format!("{name}{suffix}")]["bits_per_second"].as_f64();
                (sum("sum_sent").unwrap_or(0.0), sum("sum_received").unwrap_or(0.0))
            }
            // 3.12 writes one sum for UDP: the sender's bytes, the receiver's losses.
            Transport::Udp => {
                let sum = &value["end"][format!("sum{suffix}")];
                let number = |name: &str| sum[name].as_f64().unwrap_or(0.0);
                let sent = number("bits_per_second");
                (
                    sent,
                    sent * (1.0 - number("lost_packets") / number("packets").max(1.0)),
                )
            }
        })
        .collect()
}

/// Within 5 % of each other, and of the rate asked for.
fn agrees(figures: &[(f64, f64)]) -> Result<(), String> {
    let wanted = RATE as f64 * f64::from(STREAMS);
    for (sent, received) in figures {
        if (received / sent - 1.0).abs() >= 0.05 || (received / wanted - 1.0).abs() >= 0.05 {
            return Err(format!(
                "sent {sent:.0}, received {received:.0} of {wanted:.0} bit/s"
            ));
        }
    }
    Ok(())
}

#[test]
fn every_pair_agrees_on_the_figures() {
    let test = "every_pair_agrees_on_the_figures";
    if find_program("iperf3", &[]).is_none() {
        return eprintln!("skipped: {test}: iperf3 is not installed");
    }
    let context = Context::new()
        .with_timeout(Duration::from_secs(600))
        .with_permission(Permission::Loopback);
    let mut config = ServerConfig::new(SocketAddr::from(([127, 0, 0, 1], 0)));
    config.pacing = CATCH_UP;
    let ours = Server::start(config, &context).unwrap();
    let real = RealServer::start();
    let mut disagreements = Vec::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Bidirectional] {
            for client in [Side::Ours, Side::Real] {
                for server in [Side::Ours, Side::Real] {
                    let address = match server {
                        Side::Ours => ours.address(),
                        Side::Real => real.1,
                    };
                    let cell = format!("client {client:?}, server {server:?}, {transport:?} {direction:?}");
                    let mut attempts = 0;
                    loop {
                        attempts += 1;
                        let figures = match client {
                            Side::Ours => our_client(address, transport, direction, &context),
                            Side::Real => real_client(address, transport, direction),
                        };
                        for (sent, received) in &figures {
                            assert!(*sent > 0.0 && *received > 0.0, "{cell}: {figures:?}");
                        }
                        match agrees(&figures) {
                            Ok(()) => break,
                            Err(why) if attempts == ATTEMPTS => {
                                disagreements.push(format!("{cell}: {why}"));
                                break;
                            }
                            Err(why) => eprintln!("again: {cell}: {why}"),
                        }
                    }
                }
            }
        }
    }
    for record in ours.stop() {
        let report = record.outcome.unwrap();
        assert!(
            report.streams.len() >= 4 && report.params.server_output,
            "{:?}",
            report.params
        );
    }
    assert!(disagreements.is_empty(), "{disagreements:#?}");
}

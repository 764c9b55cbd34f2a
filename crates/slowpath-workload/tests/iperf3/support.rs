//! Our servers and clients, the real ones, and what every report must satisfy.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::Context;
use slowpath_workload::external::{find_program, listening};
use slowpath_workload::iperf3::{ClientConfig, Direction, Report, Server, ServerConfig, run};

/// cubic, or reno for a user who may not choose cubic.
pub(crate) fn pinned() -> &'static str {
    let socket = slowpath_sys::message::tcp_socket(false).unwrap();
    if slowpath_sys::sockopt::set_congestion_control(&socket, "cubic").is_ok() {
        "cubic"
    } else {
        "reno"
    }
}

/// Tests that compare figures run one after the other: two processors are not enough for all at once.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn context() -> Context {
    Context::new().with_timeout(Duration::from_secs(120))
}

pub(crate) fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

pub(crate) fn real_iperf3(test: &str) -> bool {
    let found = find_program("iperf3", &[]).is_some();
    if !found {
        eprintln!("skipped: {test}: iperf3 is not installed");
    }
    found
}

/// A real server that ends with the test.
pub(crate) struct RealServer(Child, pub(crate) SocketAddr);

impl RealServer {
    pub(crate) fn start() -> Self {
        let port = std::net::TcpListener::bind(loopback())
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let child = Command::new("iperf3")
            .args(["-s", "-p", &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let server = Self(child, address);
        for _ in 0..500 {
            if listening(address) {
                return server;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("iperf3 -s does not listen");
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn our_server(context: &Context) -> Server {
    Server::start(ServerConfig::new(loopback()), context).unwrap()
}

/// The real client with `-J`; panics unless it reports a test without error.
pub(crate) fn real_client(server: SocketAddr, arguments: &[&str]) -> Value {
    let output = Command::new("iperf3")
        .args([
            "-c",
            &server.ip().to_string(),
            "-p",
            &server.port().to_string(),
            "-J",
            "--connect-timeout",
            "5000",
        ])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let value: Value =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"));
    assert!(value.get("error").is_none(), "{arguments:?}: {}", value["error"]);
    value
}

pub(crate) fn sum(value: &Value, name: &str) -> f64 {
    value["end"][name]["bytes"].as_f64().unwrap_or(0.0)
}

pub(crate) fn tcp(server: SocketAddr, direction: Direction) -> ClientConfig {
    let mut config = ClientConfig::tcp(server, Duration::from_secs(1));
    config.params.direction = direction;
    config.params.congestion_control = Some(pinned().to_owned());
    // A rate that two busy processors carry, so that both sides' figures can be compared.
    config.params.rate = Some(BitRate::new(400_000_000));
    config
}

pub(crate) fn udp(server: SocketAddr, direction: Direction) -> ClientConfig {
    let mut config = ClientConfig::udp(server, Duration::from_secs(1), Some(BitRate::new(100_000_000)));
    config.params.direction = direction;
    config.params.block = Some(1400);
    // A receiver that does not get the processor for a while must not lose datagrams.
    config.params.window = Some(ByteCount::new(2 << 20));
    config
}

pub(crate) type Change = fn(&mut ClientConfig);

pub(crate) const DIRECTIONS: [Direction; 3] =
    [Direction::Forward, Direction::Reverse, Direction::Bidirectional];

pub(crate) fn ways(direction: Direction) -> &'static [bool] {
    match direction {
        Direction::Forward => &[true],
        Direction::Reverse => &[false],
        Direction::Bidirectional => &[true, false],
    }
}

/// Both sums above zero.
pub(crate) fn assert_sound(report: &Report, what: &str) {
    for forward in ways(report.params.direction) {
        let (accepted, delivered) = (report.accepted(*forward), report.delivered(*forward));
        assert!(
            accepted > 0 && delivered > 0,
            "{what} forward={forward}: {accepted} {delivered}"
        );
    }
    let json = report.to_json();
    assert!(
        sum(&json, "sum_sent") > 0.0 && sum(&json, "sum_received") > 0.0,
        "{what}: {json}"
    );
}

/// The receivers' rates within 5 % of the senders', and not above the rate asked for.
///
/// A host that is busy with other work may send less than asked for, never more.
pub(crate) fn agrees(report: &Report, rate: f64) -> Result<(), String> {
    for forward in ways(report.params.direction) {
        let (accepted, delivered) = (
            report.accepted_bit_per_s(*forward),
            report.delivered_bit_per_s(*forward),
        );
        let wanted = rate * f64::from(report.params.parallel);
        if (delivered / accepted - 1.0).abs() >= 0.05 || delivered >= wanted * 1.05 {
            return Err(format!(
                "forward={forward}: accepted {accepted}, delivered {delivered} of {wanted} bit/s"
            ));
        }
    }
    Ok(())
}

/// Runs a test whose figures must agree; a busy host may spoil the figures of some runs, never their soundness.
pub(crate) fn assert_agreeing_run(config: &ClientConfig, context: &Context, rate: f64, what: &str) -> Report {
    let mut spoiled = Vec::new();
    for _ in 0..5 {
        let report = run(config, context).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_sound(&report, what);
        match agrees(&report, rate) {
            Ok(()) => return report,
            Err(why) => spoiled.push(why),
        }
    }
    panic!("{what}: {spoiled:?}");
}

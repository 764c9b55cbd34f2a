//! Throughput on loopback against the real iperf3, in the same run: ratios, not rates.
//!
//! Each pair talks to its own kind. The order alternates (A B, B A, ...), so that a slow drift of the machine
//! meets both alike; the ratio is that of the medians.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use slowpath_units::Duration;
use slowpath_workload::Context;
use slowpath_workload::external::{find_program, listening};
use slowpath_workload::iperf3::{ClientConfig, Server, ServerConfig, run};

const ROUNDS: usize = 5;
const SECONDS: u64 = 2;

fn main() {
    if find_program("iperf3", &[]).is_none() {
        eprintln!("skipped: iperf3 bench: iperf3 is not installed");
        return;
    }
    let context = Context::new().with_timeout(Duration::from_secs(600));
    let ours = Server::start(ServerConfig::new(SocketAddr::from(([127, 0, 0, 1], 0))), &context)
        .unwrap_or_else(|error| panic!("{error}"));
    let real = Real::start();
    compare(
        "TCP bytes",
        || tcp_ours(ours.address(), &context),
        || tcp_real(real.1),
    );
    for size in [64, 1400] {
        let name = format!("UDP packets of {size} bytes received");
        compare(
            &name,
            || udp_ours(ours.address(), size, &context),
            || udp_real(real.1, size),
        );
    }
}

fn compare(name: &str, ours: impl Fn() -> f64, real: impl Fn() -> f64) {
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        if round % 2 == 0 {
            own.push(ours());
            other.push(real());
        } else {
            other.push(real());
            own.push(ours());
        }
    }
    let (own, other) = (median(own), median(other));
    println!(
        "{name}: {own:.4e}/s against iperf3's {other:.4e}/s, ratio {:.2}",
        own / other
    );
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn tcp_ours(server: SocketAddr, context: &Context) -> f64 {
    let mut config = ClientConfig::tcp(server, Duration::from_secs(SECONDS));
    config.params.congestion_control = Some("cubic".to_owned());
    run(&config, context).map_or(f64::NAN, |report| report.delivered_bit_per_s(true) / 8.0)
}

fn udp_ours(server: SocketAddr, size: u32, context: &Context) -> f64 {
    let mut config = ClientConfig::udp(server, Duration::from_secs(SECONDS), None);
    config.params.block = Some(size);
    run(&config, context).map_or(f64::NAN, |report| {
        let received: u64 = report.flows().iter().map(|flow| flow.received_packets).sum();
        received as f64 / report.end.since(report.start).seconds()
    })
}

fn tcp_real(server: SocketAddr) -> f64 {
    real_client(server, &["-C", "cubic"])["end"]["sum_received"]["bits_per_second"]
        .as_f64()
        .unwrap_or(f64::NAN)
        / 8.0
}

fn udp_real(server: SocketAddr, size: u32) -> f64 {
    let size = size.to_string();
    let value = real_client(server, &["-u", "-b", "0", "--udp-counters-64bit", "-l", &size]);
    let number = |name: &str| value["end"]["sum"][name].as_f64().unwrap_or(f64::NAN);
    (number("packets") - number("lost_packets")) / number("seconds")
}

fn real_client(server: SocketAddr, arguments: &[&str]) -> Value {
    // The server needs a moment between tests.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let output = Command::new("iperf3")
        .args([
            "-c",
            &server.ip().to_string(),
            "-p",
            &server.port().to_string(),
            "-J",
        ])
        .args(["-t", &SECONDS.to_string()])
        .args(arguments)
        .output();
    output.map_or(Value::Null, |output| {
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    })
}

/// A real server that ends with the bench.
struct Real(Child, SocketAddr);

impl Real {
    fn start() -> Self {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.unwrap_or_else(|error| panic!("{error}"));
        let child = Command::new("iperf3")
            .args(["-s", "-p", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{error}"));
        while !listening(address) {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Self(child, address)
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

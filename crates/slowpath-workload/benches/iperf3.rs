//! Throughput against the real iperf3, in the same run: ratios, not rates.
//!
//! Over loopback and over a pair of virtual Ethernet devices between two network namespaces. Each pair talks to its own
//! kind, in the same namespaces. The order alternates (A B, B A, ...), so that a slow drift of the machine meets both
//! alike; UDP sockets have buffers of one size; the ratio is that of the medians, with the least and the most of the
//! rounds' own ratios beside it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use slowpath_sys::namespace::NetworkNamespace;
use slowpath_units::{ByteCount, Duration};
use slowpath_workload::external::{find_program, listening};
use slowpath_workload::iperf3::{ClientConfig, Server, ServerConfig, run};
use slowpath_workload::{Context, Permission};

const ROUNDS: usize = 5;
const SECONDS: u64 = 1;
/// Bytes of every UDP socket's buffers (`-w` at all four ends): the kernel's default for `rmem_max`, so that nobody gets
/// more or less than was asked for. TCP's buffers are the kernel's own choice at all four ends.
const UDP_BUFFER: u64 = 212_992;

fn main() {
    if find_program("iperf3", &[]).is_none() {
        eprintln!("skipped: iperf3 bench: iperf3 is not installed");
        return;
    }
    match NetworkNamespace::current() {
        Ok(here) => Place::compare("loopback", &here, &here, IpAddr::V4(Ipv4Addr::LOCALHOST)),
        Err(error) => eprintln!("skipped: iperf3 bench on loopback: {error}"),
    }
    match veth() {
        Ok((near, far)) => Place::compare("veth", &near, &far, IpAddr::V4(FAR)),
        Err(why) => eprintln!("skipped: iperf3 bench over veth: {why}"),
    }
}

/// Two servers in one namespace and their clients in another.
struct Place<'a> {
    name: &'a str,
    near: &'a NetworkNamespace,
    ours: SocketAddr,
    real: SocketAddr,
    context: Context,
}

impl Place<'_> {
    fn compare(name: &str, near: &NetworkNamespace, far: &NetworkNamespace, at: IpAddr) {
        let context = Context::new()
            .with_timeout(Duration::from_secs(600))
            .with_permission(Permission::OwnNamespace);
        let (ours, real) = inside(far, || {
            let config = ServerConfig::new(SocketAddr::new(at, 0));
            let ours = Server::start(config, &context).unwrap_or_else(|error| panic!("{error}"));
            (ours, Real::start(at))
        });
        let place = Place {
            name,
            near,
            ours: ours.address(),
            real: real.1,
            context,
        };
        place.rounds("TCP, one stream", &|place| place.tcp_ours(1), &|place| {
            place.tcp_real(1)
        });
        for size in [64, 1400] {
            place.rounds(
                &format!("UDP packets of {size} bytes"),
                &|place| place.udp_ours(size),
                &|place| place.udp_real(size),
            );
        }
    }

    fn rounds(&self, what: &str, ours: &(dyn Fn(&Self) -> f64 + Sync), real: &(dyn Fn(&Self) -> f64 + Sync)) {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let measure = |which: &(dyn Fn(&Self) -> f64 + Sync)| inside(self.near, || which(self));
            if round % 2 == 0 {
                own.push(measure(ours));
                other.push(measure(real));
            } else {
                other.push(measure(real));
                own.push(measure(ours));
            }
        }
        let mut ratios: Vec<f64> = own.iter().zip(&other).map(|(own, other)| own / other).collect();
        ratios.sort_by(f64::total_cmp);
        let (own, other) = (median(own), median(other));
        println!(
            "{}, {what}: ratio {:.2} to iperf3 (rounds {:.2} to {:.2}; {own:.3e}/s against {other:.3e}/s)",
            self.name,
            own / other,
            ratios[0],
            ratios[ratios.len() - 1],
        );
    }

    fn tcp_ours(&self, parallel: u32) -> f64 {
        let mut config = ClientConfig::tcp(self.ours, Duration::from_secs(SECONDS));
        config.params.parallel = parallel;
        config.params.congestion_control = Some("cubic".to_owned());
        run(&config, &self.context).map_or(f64::NAN, |report| report.delivered_bit_per_s(true) / 8.0)
    }

    /// Packets that the receiver counted, per second.
    fn udp_ours(&self, size: u32) -> f64 {
        let mut config = ClientConfig::udp(self.ours, Duration::from_secs(SECONDS), None);
        config.params.block = Some(size);
        config.params.window = Some(ByteCount::new(UDP_BUFFER));
        run(&config, &self.context).map_or(f64::NAN, |report| {
            let received: u64 = report.flows().iter().map(|flow| flow.received_packets).sum();
            received as f64 / report.end.since(report.start).seconds()
        })
    }

    fn tcp_real(&self, parallel: u32) -> f64 {
        let parallel = parallel.to_string();
        self.real_client(&["-C", "cubic", "-P", &parallel])["end"]["sum_received"]["bits_per_second"]
            .as_f64()
            .unwrap_or(f64::NAN)
            / 8.0
    }

    fn udp_real(&self, size: u32) -> f64 {
        let (size, buffer) = (size.to_string(), UDP_BUFFER.to_string());
        let value = self.real_client(&[
            "-u",
            "-b",
            "0",
            "--udp-counters-64bit",
            "-l",
            &size,
            "-w",
            &buffer,
        ]);
        let number = |name: &str| value["end"]["sum"][name].as_f64().unwrap_or(f64::NAN);
        (number("packets") - number("lost_packets")) / number("seconds")
    }

    fn real_client(&self, arguments: &[&str]) -> Value {
        // The server needs a moment between tests.
        std::thread::sleep(std::time::Duration::from_millis(200));
        let output = Command::new("iperf3")
            .args([
                "-c",
                &self.real.ip().to_string(),
                "-p",
                &self.real.port().to_string(),
                "-J",
            ])
            .args(["-t", &SECONDS.to_string()])
            .args(arguments)
            .output();
        output.map_or(Value::Null, |output| {
            serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A real server that ends with the bench.
struct Real(Child, SocketAddr);

impl Real {
    fn start(at: IpAddr) -> Self {
        let free = std::net::TcpListener::bind((at, 0)).and_then(|listener| listener.local_addr());
        let address = free.unwrap_or_else(|error| panic!("a free port on {at}: {error}"));
        let child = Command::new("iperf3")
            .args(["-s", "-p", &address.port().to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("starting iperf3 -s: {error}"));
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

/// Does some work in a thread inside a namespace.
fn inside<T: Send>(place: &NetworkNamespace, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            place
                .enter()
                .unwrap_or_else(|error| panic!("entering a namespace: {error}"));
            work()
        });
        match thread.join() {
            Ok(value) => value,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Two namespaces with a pair of virtual Ethernet devices between them.
fn veth() -> Result<(NetworkNamespace, NetworkNamespace), String> {
    let make = || NetworkNamespace::create().map_err(|error| format!("making a namespace: {error}"));
    let (near, far) = (make()?, make()?);
    let path = format!("/proc/{}/fd/{}", std::process::id(), far.as_fd().as_raw_fd());
    ip(&near, &format!("link add n0 type veth peer name f0 netns {path}"))?;
    for (place, device, address) in [(&near, "n0", NEAR), (&far, "f0", FAR)] {
        ip(place, "link set lo up")?;
        ip(place, &format!("address add {address}/24 dev {device}"))?;
        ip(place, &format!("link set {device} up"))?;
    }
    Ok((near, far))
}

fn ip(place: &NetworkNamespace, line: &str) -> Result<(), String> {
    let output = inside(place, || Command::new("ip").args(line.split(' ')).output());
    let output = output.map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        Ok(())
    } else {
        let text = String::from_utf8_lossy(&output.stderr);
        Err(format!("ip {line}: {}", text.trim()))
    }
}

const NEAR: Ipv4Addr = Ipv4Addr::new(10, 98, 1, 1);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 98, 1, 2);

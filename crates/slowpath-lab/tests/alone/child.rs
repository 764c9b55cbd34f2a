//! What the started processes do.

use std::io::{BufRead, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use slowpath_lab::{HostSpec, KernelSettings, Lab, LabReport, LabSpec, Stack, WireSettings};
use slowpath_path::{Delay, ElementKind, Limit, Link, NetworkSpec};
use slowpath_units::{BitRate, Layer};

pub(crate) fn run(role: &str) {
    let entered = slowpath_lab::enter();
    match entered {
        Ok(privilege) => say(&format!("entered {privilege:?}")),
        Err(error) => {
            say(&format!("refused {error}"));
            return;
        }
    }
    match role {
        "hold" => hold(),
        "user" => user(),
        "traffic" => traffic(&spec("1 ms"), Duration::from_secs(1)),
        "tiny" => {
            let mut spec = spec("1 ms");
            for host in &mut spec.hosts {
                if let Stack::Kernel(settings) = &mut host.stack {
                    settings.queue_length = 1;
                }
            }
            blast(&spec);
        }
        "memory" => {
            let mut spec = spec("500 ms");
            spec.wire.memory = 1 << 20;
            blast(&spec);
        }
        other => panic!("no role {other}"),
    }
}

fn say(text: &str) {
    println!("{text}");
    std::io::stdout().flush().expect("somebody listens");
}

fn spec(delay: &str) -> LabSpec {
    let chain = |side: &str| {
        let nic = Link::fifo(BitRate::new(10_000_000_000), Layer::Wire, Limit::Packets(100_000));
        vec![
            (format!("{side}.nic"), ElementKind::Link(nic)),
            (
                format!("{side}.delay"),
                ElementKind::Delay(Delay::fixed(delay.parse().expect("a time"))),
            ),
        ]
    };
    let host = |name: &str, last: u8| HostSpec {
        name: name.to_owned(),
        addresses: vec![[10, 78, 0, last].into()],
        mtu: 1500,
        stack: Stack::Kernel(KernelSettings::default()),
    };
    LabSpec {
        hosts: vec![host("near", 1), host("far", 2)],
        network: NetworkSpec::chain("near", "far", chain("up"), chain("down")),
        seed: 1,
        wire: WireSettings::default(),
    }
}

#[expect(
    clippy::zombie_processes,
    reason = "the test is that they end without being waited for"
)]
/// Builds a lab with programs in it, says so, and ends as it is told to.
fn hold() {
    let lab = Lab::build(&spec("1 ms"), None).expect("a lab can be built");
    let marker = format!("600.{}", std::process::id());
    let mut spaces = Vec::new();
    for host in ["near", "far"] {
        let mut program = Command::new("sh");
        program.args([
            "-c",
            &format!("sleep {marker} & setsid sleep {marker} & sleep {marker}"),
        ]);
        program.stdin(Stdio::null()).stdout(Stdio::null());
        lab.spawn(host, program).expect("there is a shell");
        let space = lab.run_in(host, || {
            std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace")
        });
        spaces.push(space.expect("a kernel host").display().to_string());
    }
    exchange(&lab, 3);
    say(&format!("ready {marker} {}", spaces.join(" ")));
    let mut how = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut how)
        .expect("the test says how to end");
    match how.trim() {
        "return" => drop(lab),
        "exit" => std::process::exit(0),
        "panic" => panic!("as told"),
        _ => std::thread::sleep(Duration::from_mins(10)),
    }
}

/// Sends datagrams to and fro; how many came back before the first that did not.
fn exchange(lab: &Lab, count: u8) -> u8 {
    let socket = |host, address: &'static str| {
        lab.run_in(host, || {
            let socket = UdpSocket::bind(address).expect("a free port");
            socket
                .set_read_timeout(Some(Duration::from_secs(2)))
                .expect("a timeout");
            socket
        })
        .expect("a kernel host")
    };
    let (near, far) = (socket("near", "10.78.0.1:0"), socket("far", "10.78.0.2:0"));
    near.connect(far.local_addr().expect("it is bound"))
        .expect("a way there");
    let echo = std::thread::spawn(move || {
        for _ in 0..count {
            let Some((number, from)) = receive(&far) else {
                return;
            };
            far.send_to(&[number], from).expect("a way back");
        }
    });
    let mut back = 0;
    while back < count
        && near.send(&[back]).is_ok()
        && receive(&near).is_some_and(|(number, _)| number == back)
    {
        back += 1;
    }
    echo.join().expect("the echo ends");
    back
}

/// Receives one byte; goes on after a stop, which interrupts calls that have a timeout (`signal(7)`).
fn receive(socket: &UdpSocket) -> Option<(u8, SocketAddr)> {
    let mut buffer = [0];
    loop {
        match socket.recv_from(&mut buffer) {
            Ok((1, from)) => return Some((buffer[0], from)),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

fn user() {
    let lab = match Lab::build(&spec("1 ms"), None) {
        Ok(lab) => lab,
        Err(error) => return say(&format!("refused {error}")),
    };
    let back = exchange(&lab, 20);
    let mut whoami = Command::new("id");
    whoami.arg("-u").stdout(Stdio::piped()).stdin(Stdio::null());
    let id = lab
        .spawn("near", whoami)
        .map(std::process::Child::wait_with_output);
    let id = id.map(|output| output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()));
    say(&format!(
        "attached by {}, {back} came back, id {:?}",
        lab.attachment(),
        id
    ));
    bulk(&lab);
    report(&lab.finish());
}

/// Five megabytes by TCP; says how many arrived and how fast.
fn bulk(lab: &Lab) {
    const BYTES: usize = 5_000_000;
    let listener = lab
        .run_in("far", || TcpListener::bind("10.78.0.2:0").expect("a free port"))
        .expect("a kernel host");
    let to = listener.local_addr().expect("it listens");
    let receiver = lab
        .start_in("far", move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            std::io::copy(&mut stream, &mut std::io::sink()).expect("data")
        })
        .expect("a kernel host");
    let start = std::time::Instant::now();
    lab.run_in("near", || {
        let mut stream = TcpStream::connect(to).expect("somebody listens");
        stream.write_all(&vec![1; BYTES]).expect("a way there");
    })
    .expect("a kernel host");
    let bytes = receiver.join().expect("the receiver ends");
    let rate = bytes as f64 * 8.0 / start.elapsed().as_secs_f64() / 1e6;
    say(&format!("bulk {bytes} bytes at {rate:.0} Mbit/s"));
}

/// A steady exchange for a while, and what the lab thinks of it.
fn traffic(spec: &LabSpec, span: Duration) {
    let lab = Lab::build(spec, None).expect("a lab can be built");
    say("running");
    let start = std::time::Instant::now();
    while start.elapsed() < span {
        exchange(&lab, 50);
    }
    report(&lab.finish());
}

/// As many datagrams as the processor can make.
fn blast(spec: &LabSpec) {
    let lab = Lab::build(spec, None).expect("a lab can be built");
    say("running");
    lab.run_in("near", || {
        let socket = UdpSocket::bind("10.78.0.1:0").expect("a free port");
        for _ in 0..20_000 {
            let _ = socket.send_to(&[0; 1200], "10.78.0.2:9");
        }
    })
    .expect("a kernel host");
    std::thread::sleep(Duration::from_millis(50));
    report(&lab.finish());
}

fn report(report: &LabReport) {
    let codes: Vec<&str> = report
        .health
        .reasons
        .iter()
        .map(|reason| reason.code.name())
        .collect();
    say(&format!("{:?} {}", report.health.state, codes.join(" ")));
}

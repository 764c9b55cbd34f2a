//! Labs of two hosts, and traffic to put into them.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration as StdDuration, Instant};

use slowpath_lab::{Attach, HostSpec, KernelSettings, Lab, LabSpec, Stack, WireSettings};
use slowpath_path::{Delay, ElementKind, Limit, Link, Loss, NetworkSpec};
use slowpath_sys::message;
use slowpath_sys::namespace::{Capability, has_capability};
use slowpath_units::{BitRate, Duration, Layer, Ratio};

pub(crate) const NEAR: [u8; 4] = [10, 77, 0, 1];
pub(crate) const FAR: [u8; 4] = [10, 77, 0, 2];

/// How much shorter a round trip may seem than its path: packets that are read behind another share its stamp, which
/// may be a tenth of a millisecond early each way, and some more where the machine is busy.
pub(crate) const EARLY: Duration = Duration::from_micros(500);

/// Whether labs can be built here; says why not.
pub(crate) fn permitted(test: &str) -> bool {
    let permitted = has_capability(Capability::SysAdmin).unwrap_or(false);
    if !permitted {
        eprintln!("skipped: {test}: needs root, or a user namespace entered before the test threads start");
    }
    permitted
}

pub(crate) fn nic() -> ElementKind {
    ElementKind::Link(Link::fifo(
        BitRate::new(100_000_000_000),
        Layer::Wire,
        Limit::Packets(100_000),
    ))
}

pub(crate) fn rate(text: &str, queue: u32) -> ElementKind {
    ElementKind::Link(Link::fifo(
        text.parse().unwrap(),
        Layer::Frame,
        Limit::Packets(queue),
    ))
}

pub(crate) fn delay(text: &str) -> ElementKind {
    ElementKind::Delay(Delay::fixed(text.parse().unwrap()))
}

pub(crate) fn loss(ppb: u32) -> ElementKind {
    ElementKind::Loss(Loss::random(Ratio::from_ppb(ppb).unwrap()))
}

/// Two kernel hosts with IPv4 and IPv6, the sender's network card and `chain` each way.
pub(crate) fn two_hosts(chain: &[ElementKind]) -> LabSpec {
    let side = |side: &str| {
        let named = |(number, does): (usize, &ElementKind)| (format!("{side}.{number}"), does.clone());
        let mut all = vec![(format!("{side}.nic"), nic())];
        all.extend(chain.iter().enumerate().map(named));
        all
    };
    let host = |name: &str, v4: [u8; 4]| HostSpec {
        name: name.to_owned(),
        addresses: vec![v4.into(), v6(v4)],
        mtu: 1500,
        stack: Stack::Kernel(KernelSettings::default()),
    };
    LabSpec {
        hosts: vec![host("near", NEAR), host("far", FAR)],
        network: NetworkSpec::chain("near", "far", side("up"), side("down")),
        seed: 7,
        wire: WireSettings {
            attachment: Attach::Auto,
            ..WireSettings::default()
        },
    }
}

/// An IPv6 address that ends like the IPv4 one.
pub(crate) fn v6(v4: [u8; 4]) -> IpAddr {
    let [a, b, c, d] = v4;
    let word = |high: u8, low: u8| u16::from_be_bytes([high, low]);
    IpAddr::from([0xfd00, 0, 0, 0, 0, 0, word(a, b), word(c, d)])
}

/// Pings from the calling thread's namespace; round-trip times, lost ones missing.
pub(crate) fn ping(to: IpAddr, count: u16, gap: StdDuration) -> Vec<Duration> {
    let socket = message::ping_socket(to.is_ipv6()).unwrap();
    socket.set_read_timeout(Some(StdDuration::from_secs(1))).unwrap();
    let mut times = Vec::new();
    for sequence in 0..count {
        let mut request = [0_u8; 64];
        request[0] = if to.is_ipv6() { 128 } else { 8 };
        request[6..8].copy_from_slice(&sequence.to_be_bytes());
        let start = Instant::now();
        socket.send_to(&request, SocketAddr::new(to, 0)).unwrap();
        let mut reply = [0_u8; 128];
        while let Ok(length) = socket.recv(&mut reply) {
            if length >= 8 && reply[6..8] == sequence.to_be_bytes() {
                times.push(Duration::from(start.elapsed()));
                break;
            }
        }
        std::thread::sleep(gap);
    }
    times
}

/// Median of the times in microseconds: other guests of the machine make a few of many late.
pub(crate) fn median_us(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].nanos() as f64 / 1e3
}

/// Sends `bytes` by TCP from `near` to `far`; returns the seconds from the first to the last byte received.
pub(crate) fn tcp(lab: &Lab, far: IpAddr, bytes: usize) -> f64 {
    let listener = lab
        .run_in("far", || TcpListener::bind(SocketAddr::new(far, 0)).unwrap())
        .unwrap();
    let address = listener.local_addr().unwrap();
    let receiver = lab
        .start_in("far", move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut buffer = vec![0; 1 << 20];
            let (mut total, mut first) = (0, None);
            loop {
                match stream.read(&mut buffer).unwrap() {
                    0 => break,
                    length => {
                        first.get_or_insert_with(Instant::now);
                        // What is sent is a pattern that shows where it belongs.
                        for (offset, byte) in buffer[..length].iter().enumerate().step_by(4099) {
                            assert_eq!(usize::from(*byte), (total + offset) % 251);
                        }
                        total += length;
                    }
                }
            }
            (total, first.unwrap().elapsed().as_secs_f64())
        })
        .unwrap();
    lab.run_in("near", || {
        let mut stream = TcpStream::connect(address).unwrap();
        // A pattern of period 251 in pieces of a multiple of it.
        let piece: Vec<u8> = (0..251 * 1024)
            .map(|at| u8::try_from(at % 251).unwrap())
            .collect();
        let mut left = bytes;
        while left > 0 {
            let part = left.min(piece.len());
            stream.write_all(&piece[..part]).unwrap();
            left -= part;
        }
    })
    .unwrap();
    let (total, seconds) = receiver.join().unwrap();
    assert_eq!(total, bytes);
    seconds
}

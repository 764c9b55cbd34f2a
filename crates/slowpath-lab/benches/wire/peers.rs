//! Other emulators that are found on the PATH, with 1 ms each way and one TCP connection, as the wire has it.
//!
//! They run this program again inside themselves as the sender. rattan wants root and mahimahi refuses it.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use slowpath_sys::namespace::NetworkNamespace;
use slowpath_sys::netlink::{LinkChange, Netlink};
use slowpath_sys::process::user_and_group;

use crate::relay::inside;
use crate::traffic;

/// Tells this program to be the sender inside a peer: port and seconds.
const SEND: &str = "SLOWPATH_BENCH_SEND";

/// A peer and the bits per second of one TCP connection through it, or why it was missed.
pub(crate) type Found = (&'static str, Result<f64, String>);

/// Measures the peers; call before entering a user namespace, which some of them cannot work in.
pub(crate) fn measure(span: Duration) -> Vec<Found> {
    let root = user_and_group().0 == 0;
    let rattan = if root {
        // Its devices shall not appear among the machine's own.
        NetworkNamespace::create()
            .map_err(|error| error.to_string())
            .and_then(|namespace| {
                inside(&namespace, || {
                    loopback_up().map_err(|error| error.to_string())?;
                    through(
                        "rattan",
                        &["link", "--uplink-delay", "1ms", "--downlink-delay", "1ms", "--"],
                        span,
                    )
                })
            })
    } else {
        Err("it needs root".to_owned())
    };
    let mahimahi = if root {
        Err("it refuses to run as root".to_owned())
    } else {
        through("mm-delay", &["1"], span)
    };
    vec![("rattan", rattan), ("mahimahi", mahimahi)]
}

/// Sends if this program was started inside a peer.
pub(crate) fn act() -> bool {
    let Ok(text) = std::env::var(SEND) else {
        return false;
    };
    let base = ["RATTAN_BASE", "MAHIMAHI_BASE"]
        .iter()
        .find_map(|name| std::env::var(name).ok()?.parse::<Ipv4Addr>().ok());
    let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    if let (Some(base), [port, seconds]) = (base, numbers.as_slice()) {
        let to = SocketAddr::from((base, u16::try_from(*port).expect("a port")));
        traffic::send(to, Duration::from_secs(*seconds));
    }
    true
}

fn through(program: &str, arguments: &[&str], span: Duration) -> Result<f64, String> {
    let listener = TcpListener::bind("0.0.0.0:0").map_err(|error| error.to_string())?;
    let port = listener.local_addr().map_err(|error| error.to_string())?.port();
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args(arguments)
        .arg(this)
        .env(SEND, format!("{port} {}", span.as_secs()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("no {program} on the PATH"),
            _ => error.to_string(),
        })?;
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| traffic::receive(&listener));
        let status = child.wait().map_err(|error| error.to_string())?;
        // If it never connected, the receiver still waits.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        let rate = receiver.join().expect("the receiver counts");
        if rate > 0.0 {
            Ok(rate)
        } else {
            Err(format!("it ended with {status} before anything arrived"))
        }
    })
}

fn loopback_up() -> std::io::Result<()> {
    let mut netlink = Netlink::open()?;
    let index = netlink.link("lo")?.index;
    netlink.change_link(
        index,
        &LinkChange {
            up: Some(true),
            ..LinkChange::default()
        },
    )
}

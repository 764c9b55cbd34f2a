//! The marks that really leave, seen by a raw socket on loopback: from the SYN on, in both directions.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use slowpath_packet::mark::Dscp;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::ftp::{self, ClientConfig, Direction};
use slowpath_workload::payload::Sink;
use slowpath_workload::{Context, iperf3};

/// One TCP packet: source port, destination port, flags, type-of-service byte.
type Seen = (u16, u16, u8, u8);

/// Runs `work` and returns the TCP packets that loopback carried meanwhile; nothing without the privilege.
fn watch(test: &str, work: impl FnOnce()) -> Option<BTreeSet<Seen>> {
    let raw = socket2::Socket::new(
        socket2::Domain::IPV4,
        socket2::Type::RAW,
        Some(socket2::Protocol::TCP),
    );
    let raw = match raw {
        Ok(raw) => std::net::UdpSocket::from(std::os::fd::OwnedFd::from(raw)),
        Err(error) => {
            eprintln!("skipped: {test}: opening a raw socket: {error}");
            return None;
        }
    };
    slowpath_sys::sockopt::set_receive_buffer(&raw, 4 << 20).unwrap();
    raw.set_read_timeout(Some(std::time::Duration::from_millis(50)))
        .unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let thread = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let mut seen = BTreeSet::new();
            let mut buffer = vec![0_u8; 70_000];
            while !stop.load(Ordering::Relaxed) {
                let Ok(len) = raw.recv(&mut buffer) else { continue };
                let packet = &buffer[..len];
                let tcp = &packet[usize::from(packet[0] & 15) * 4..];
                let port = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
                seen.insert((port(0), port(2), tcp[13], packet[1]));
            }
            seen
        }
    });
    work();
    std::thread::sleep(std::time::Duration::from_millis(100));
    stop.store(true, Ordering::Relaxed);
    Some(thread.join().unwrap())
}

fn assert_marked(seen: &BTreeSet<Seen>, ports: &BTreeSet<u16>, tos: u8, what: &str) {
    let own: Vec<&Seen> = seen
        .iter()
        .filter(|(a, b, ..)| ports.contains(a) || ports.contains(b))
        .collect();
    assert!(
        own.iter().any(|(_, _, flags, _)| flags & 2 != 0),
        "{what}: no SYN among {own:?}"
    );
    // A reset comes from no socket of ours any more.
    let wrong: Vec<_> = own
        .iter()
        .filter(|(_, _, flags, mark)| flags & 4 == 0 && *mark != tos)
        .collect();
    assert!(wrong.is_empty(), "{what}: unmarked {wrong:?}");
}

#[test]
fn ftp_data_is_marked_from_the_syn_on() {
    let context = Context::new().with_timeout(Duration::from_secs(30));
    let mut ports = BTreeSet::new();
    let seen = watch("ftp_data_is_marked_from_the_syn_on", || {
        let at = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut config = ftp::ServerConfig::synthetic(at, "x", ByteCount::new(200_000), 1);
        config.data.dscp = Some(Dscp::CS1);
        let server = ftp::Server::start(config, &context).unwrap();
        let direction = Direction::Get {
            sink: Sink::Discard,
            drain: None,
        };
        let mut config = ClientConfig::new(server.address(), "x", direction);
        config.data.dscp = Some(Dscp::CS1);
        let report = ftp::transfer(&config, &context).unwrap();
        ports.insert(report.connections[1].key.src_port);
    });
    if let Some(seen) = seen {
        assert_marked(&seen, &ports, 0x20, "ftp");
    }
}

#[test]
fn iperf3_data_is_marked_from_the_syn_on_in_both_directions() {
    let context = Context::new().with_timeout(Duration::from_secs(30));
    let test = "iperf3_data_is_marked_from_the_syn_on_in_both_directions";
    for direction in [iperf3::Direction::Forward, iperf3::Direction::Reverse] {
        let mut ports = BTreeSet::new();
        let seen = watch(test, || {
            let at = SocketAddr::from(([127, 0, 0, 1], 0));
            let server = iperf3::Server::start(iperf3::ServerConfig::new(at), &context).unwrap();
            let mut config = iperf3::ClientConfig::tcp(server.address(), Duration::from_millis(300));
            config.params.direction = direction;
            config.params.tos = 0x48;
            config.params.rate = Some(BitRate::new(20_000_000));
            let report = iperf3::run(&config, &context).unwrap();
            ports.extend(report.streams.iter().map(|stream| stream.local.port()));
            assert!(!report.series("client").is_empty());
        });
        if let Some(seen) = seen {
            assert_marked(&seen, &ports, 0x48, &format!("{direction:?}"));
        }
    }
}

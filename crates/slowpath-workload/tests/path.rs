//! Probes over a router, in namespaces of the test's own: near 10.99.1.1, router 10.99.1.2 and 10.99.2.1, far 10.99.2.2.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;

use slowpath_packet::mark::Dscp;
use slowpath_sys::namespace::NetworkNamespace;
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::ftp::{self, ClientConfig, Direction};
use slowpath_workload::payload::Sink;
use slowpath_workload::probe::{Method, MtuConfig, PingConfig, TraceConfig, path_mtu, ping, trace};
use slowpath_workload::stream::{Kind, Receiver, StreamConfig, send};
use slowpath_workload::sweep::tcp::{TcpConfig, tcp_sweep};
use slowpath_workload::sweep::{Reflector, SweepConfig, sweep};
use slowpath_workload::{Context, Permission};

struct Net {
    near: NetworkNamespace,
    router: NetworkNamespace,
    far: NetworkNamespace,
}

fn inside<T: Send>(place: &NetworkNamespace, work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            place.enter().unwrap();
            work()
        });
        thread.join().unwrap()
    })
}

fn ip(place: &NetworkNamespace, line: &str) -> Result<(), String> {
    inside(place, || {
        let output = Command::new("ip")
            .args(line.split(' '))
            .output()
            .map_err(|error| format!("ip: {error}"))?;
        let text = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(())
        } else {
            Err(format!("ip {line}: {}", text.trim()))
        }
    })
}

fn path_of(place: &NetworkNamespace) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), place.as_fd().as_raw_fd())
}

fn build() -> Result<Net, String> {
    let make = || NetworkNamespace::create().map_err(|error| format!("making a namespace: {error}"));
    let net = Net {
        near: make()?,
        router: make()?,
        far: make()?,
    };
    for place in [&net.near, &net.router, &net.far] {
        ip(place, "link set lo up")?;
    }
    ip(
        &net.router,
        &format!("link add r0 type veth peer name n0 netns {}", path_of(&net.near)),
    )?;
    ip(
        &net.router,
        &format!("link add r1 type veth peer name f0 netns {}", path_of(&net.far)),
    )?;
    for (place, device, address) in [
        (&net.near, "n0", "10.99.1.1/24"),
        (&net.router, "r0", "10.99.1.2/24"),
        (&net.router, "r1", "10.99.2.1/24"),
        (&net.far, "f0", "10.99.2.2/24"),
    ] {
        ip(place, &format!("address add {address} dev {device}"))?;
        ip(place, &format!("link set {device} up"))?;
    }
    ip(&net.near, "route add default via 10.99.1.2")?;
    ip(&net.far, "route add default via 10.99.2.1")?;
    inside(&net.router, || {
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")
    })
    .map_err(|error| format!("forwarding: {error}"))?;
    // Routers answer only so many probes a second (Documentation/networking/ip-sysctl.rst).
    inside(&net.router, || {
        std::fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0")
    })
    .map_err(|error| format!("the limit of ICMP answers: {error}"))?;
    Ok(net)
}

fn net(test: &str) -> Option<Net> {
    match build() {
        Ok(net) => Some(net),
        Err(why) => {
            eprintln!("skipped: {test}: {why}");
            None
        }
    }
}

fn context() -> Context {
    Context::new()
        .with_timeout(Duration::from_secs(60))
        .with_permission(Permission::OwnNamespace)
}

fn far() -> IpAddr {
    "10.99.2.2".parse().unwrap()
}

#[test]
fn a_trace_names_the_router_and_what_it_saw() {
    let Some(net) = net("a_trace_names_the_router_and_what_it_saw") else {
        return;
    };
    for method in [Method::Icmp, Method::Udp, Method::Tcp] {
        let mut config = TraceConfig::new(far());
        (config.method, config.dscp) = (method, Dscp::CS1);
        let report = inside(&net.near, || trace(&config, &context())).unwrap();
        assert!(report.reached && report.quotes, "{method:?} {report:?}");
        assert_eq!(report.hops.len(), 2, "{method:?} {report:?}");
        let (first, last) = (&report.hops[0], &report.hops[1]);
        assert_eq!(
            (first.replies.len(), last.replies.len()),
            (3, 3),
            "{method:?} {report:?}"
        );
        for reply in &first.replies {
            assert_eq!(reply.from, "10.99.1.2".parse::<IpAddr>().unwrap(), "{method:?}");
            let quoted = reply.error.unwrap().quoted.unwrap();
            assert_eq!(
                (quoted.tos, quoted.ttl, quoted.destination),
                (0x20, 1, far()),
                "{method:?}"
            );
        }
        assert!(
            last.replies.iter().all(|reply| reply.from == far()),
            "{method:?} {report:?}"
        );
    }
}

#[test]
fn the_path_mtu_is_that_of_the_narrow_link() {
    let Some(net) = net("the_path_mtu_is_that_of_the_narrow_link") else {
        return;
    };
    ip(&net.router, "link set r1 mtu 1300").unwrap();
    ip(&net.far, "link set f0 mtu 1300").unwrap();
    let report = inside(&net.near, || path_mtu(&MtuConfig::new(far()), &context())).unwrap();
    assert_eq!(
        (report.path_mtu, report.black_hole),
        (Some(1300), false),
        "{report:?}"
    );
    assert_eq!(report.announced, [(Some("10.99.1.2".parse().unwrap()), 1300)]);
    // Larger than the own link: the own kernel says so.
    let config = MtuConfig {
        to: 9000,
        ..MtuConfig::new("10.99.1.2".parse().unwrap())
    };
    let report = inside(&net.near, || path_mtu(&config, &context())).unwrap();
    assert_eq!(
        (report.path_mtu, report.black_hole),
        (Some(1500), false),
        "{report:?}"
    );
}

#[test]
fn a_far_host_that_vanishes_is_loss_with_errors() {
    let Some(net) = net("a_far_host_that_vanishes_is_loss_with_errors") else {
        return;
    };
    let mut config = PingConfig::new(far());
    (config.count, config.interval) = (5, Duration::from_millis(20));
    let report = inside(&net.near, || ping(&config, &context())).unwrap();
    assert_eq!((report.replies.len(), report.errors.len()), (5, 0), "{report:?}");
    assert!(
        report.replies.iter().all(|reply| reply.ttl == Some(63)),
        "{report:?}"
    );
    ip(&net.router, "route del 10.99.2.0/24").unwrap();
    config.wait = Duration::from_millis(300);
    let report = inside(&net.near, || ping(&config, &context())).unwrap();
    assert!(
        report.replies.is_empty() && !report.errors.is_empty(),
        "{report:?}"
    );
    let (_, error) = report.errors[0];
    assert_eq!(
        (error.from, error.kind, error.code),
        (Some("10.99.1.2".parse().unwrap()), 3, 0)
    );
}

#[test]
fn marks_streams_and_transfers_cross_the_router() {
    let Some(net) = net("marks_streams_and_transfers_cross_the_router") else {
        return;
    };
    let context = context();
    let at = SocketAddr::new(far(), 0);
    let reflector = inside(&net.far, || Reflector::start(at, &context)).unwrap();
    let mut config = SweepConfig::new(reflector.address());
    (config.probes, config.rate) = (2, BitRate::new(20_000_000));
    let table = inside(&net.near, || sweep(&config, &context)).unwrap();
    assert!(
        table.iter().all(|row| row.survives() && row.answers == 2),
        "{table:?}"
    );

    for (kind, port) in [(Kind::Udp, 0), (Kind::Tcp, 50_001), (Kind::Icmp, 50_002)] {
        let at = SocketAddr::new(far(), port);
        let receiver = inside(&net.far, || Receiver::start(kind, at, &context)).unwrap();
        let rate = BitRate::new(5_000_000);
        let mut stream = StreamConfig::udp("s", receiver.address(), 1000, rate, Duration::from_millis(100));
        stream.kind = kind;
        let (sent, _) = inside(&net.near, || send(&stream, &context)).unwrap();
        let received = receiver.finish();
        assert!(
            sent.packets > 0 && received.packets == sent.packets,
            "{kind:?} {sent:?} {received:?}"
        );
    }

    let server = ftp::ServerConfig::synthetic(SocketAddr::new(far(), 21), "x", ByteCount::new(1_000_000), 1);
    let server = inside(&net.far, || ftp::Server::start(server, &context)).unwrap();
    let direction = Direction::Get {
        sink: Sink::Verify(1),
        drain: None,
    };
    let config = ClientConfig::new(server.address(), "x", direction);
    let report = inside(&net.near, || ftp::transfer(&config, &context)).unwrap();
    assert_eq!((report.transfer.bytes, report.transfer.error), (1_000_000, None));
}

#[test]
fn a_mark_that_a_router_drops_is_named_by_probes_and_syns() {
    let test = "a_mark_that_a_router_drops_is_named_by_probes_and_syns";
    let Some(net) = net(test) else {
        return;
    };
    // The only rule on marks that every kernel has: routing by the old type-of-service bits.
    if let Err(why) = ip(&net.router, "rule add dsfield 0x10 blackhole") {
        return eprintln!("skipped: {test}: {why}");
    }
    let context = context();
    let reflector = inside(&net.far, || Reflector::start(SocketAddr::new(far(), 0), &context)).unwrap();
    let marks: Vec<Dscp> = [0, 4, 8].into_iter().filter_map(Dscp::new).collect();
    let mut probes = SweepConfig::new(reflector.address());
    (probes.probes, probes.marks, probes.wait) = (3, marks.clone(), Duration::from_millis(300));
    let mut connections = TcpConfig::new(reflector.address());
    (connections.marks, connections.span) = (marks, Duration::from_millis(20));
    connections.patience = Duration::from_millis(1500);
    let (table, tcp) = inside(&net.near, || {
        (
            sweep(&probes, &context).unwrap(),
            tcp_sweep(&connections, &context).unwrap(),
        )
    });
    for (row, connection) in table.iter().zip(&tcp) {
        let passes = row.sent.value() != 4;
        assert_eq!(row.answers == 3, passes, "{row:?}");
        assert_eq!(connection.error.is_none(), passes, "{connection:?}");
        assert_eq!(connection.syn_survives(), passes, "{connection:?}");
    }
}

//! Measuring a live path with one tool.

use std::io::{self, Write};
use std::net::{SocketAddr, ToSocketAddrs};

use slowpath_packet::{Dscp, Ecn};
use slowpath_units::{BitRate, ByteCount, Duration};
use slowpath_workload::iperf3::{
    self, ClientConfig, Direction, IperfError, Limits, Report, ServerConfig, Transport,
};
use slowpath_workload::{Cancel, Context, Permission, SocketError};

/// What to measure, as the user gave it.
#[derive(Debug, Clone)]
pub struct MeasureSpec {
    /// `iperf3://HOST[:PORT]`.
    pub target: String,
    /// Length of the test.
    pub duration: Duration,
    /// Parallel streams.
    pub parallel: u32,
    /// The server sends.
    pub reverse: bool,
    /// UDP at this rate instead of TCP.
    pub udp: Option<BitRate>,
    /// Congestion control of the sender.
    pub congestion_control: Option<String>,
    /// DSCP from the SYN on.
    pub dscp: Option<Dscp>,
    /// Most bytes towards an address that is not local; without it such an address is refused.
    pub remote_cap: Option<ByteCount>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// The target is not understood.
    #[error("\"{0}\" is no target; write iperf3://HOST or iperf3://HOST:PORT")]
    Target(String),
    /// The host's name cannot be resolved.
    #[error("finding the address of {host} failed: {source}")]
    Resolve {
        /// The host.
        host: String,
        /// What the system said.
        source: io::Error,
    },
    /// The test failed.
    #[error(transparent)]
    Test(#[from] IperfError),
}

/// Runs an iperf3 test against a server and returns its report.
///
/// # Errors
/// [`MeasureError`]; load on an address that is not local is refused without a cap.
pub fn iperf3(spec: &MeasureSpec, cancel: &Cancel) -> Result<Report, MeasureError> {
    let server = address(&spec.target)?;
    let mut config = match spec.udp {
        Some(rate) => ClientConfig::udp(server, spec.duration, Some(rate)),
        None => ClientConfig::tcp(server, spec.duration),
    };
    config.params.parallel = spec.parallel;
    config.params.direction = if spec.reverse {
        Direction::Reverse
    } else {
        Direction::Forward
    };
    config
        .params
        .congestion_control
        .clone_from(&spec.congestion_control);
    config.params.tos = spec.dscp.unwrap_or_default().tos(Ecn::NotEct);
    let mut context = Context::new()
        .with_cancel(cancel.clone())
        .with_timeout(spec.duration + GRACE);
    if let Some(bytes) = spec.remote_cap {
        context = context.with_permission(Permission::Remote {
            bytes,
            rate: spec.udp.unwrap_or(MOST_REMOTE_RATE),
        });
    }
    Ok(iperf3::run(&config, &context)?)
}

/// An iperf3-compatible server, until `tests` have ended (or for ever) or `cancel` is raised.
///
/// # Errors
/// The address cannot be listened on.
pub fn serve(
    listen: SocketAddr,
    tests: Option<u32>,
    cancel: &Cancel,
    each: &mut dyn FnMut(&iperf3::TestRecord),
) -> Result<(), SocketError> {
    let mut config = ServerConfig::new(listen);
    config.limits = Limits::default();
    // A server sends only what a client of an allowed address asks for, within the limits above.
    let context = Context::new()
        .with_cancel(cancel.clone())
        .with_permission(Permission::OwnNamespace);
    let server = iperf3::Server::start(config, &context)?;
    let mut ended = 0;
    while !cancel.is_cancelled() && tests.is_none_or(|tests| ended < tests) {
        std::thread::sleep(std::time::Duration::from_millis(50));
        for record in server.take_records() {
            each(&record);
            ended += 1;
        }
    }
    server.stop();
    Ok(())
}

/// Writes a report for people.
///
/// # Errors
/// Those of `out`.
pub fn write_text(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let forward = report.params.direction != Direction::Reverse;
    let rate = report.delivered_bit_per_s(forward);
    writeln!(
        out,
        "delivered to the receiver: {} bytes, {:.1} Mbit/s",
        report.delivered(forward),
        rate / 1e6
    )?;
    match report.params.transport {
        Transport::Tcp => {
            let retransmits: u64 = report
                .one_way(forward)
                .filter_map(iperf3::StreamReport::retransmits)
                .sum();
            writeln!(out, "segments retransmitted: {retransmits}")?;
            for stream in report.one_way(forward) {
                if let Some(tcp) = stream.tcp.filter(|_| stream.sends) {
                    writeln!(
                        out,
                        "stream {}: round trip {} (least {}), congestion window {} bytes, peer's window {} bytes",
                        stream.id, tcp.rtt, tcp.min_rtt, tcp.cwnd, tcp.peer_window
                    )?;
                }
            }
        }
        Transport::Udp => {
            for stream in report.one_way(forward) {
                if let Some(udp) = stream.received() {
                    writeln!(
                        out,
                        "stream {}: {} datagrams sent, {} arrived; lost on the path {}, in the receiver's socket {}, \
                         refused by the sender's kernel {}; {} out of order, {} twice; jitter {}",
                        stream.id,
                        stream.sent_packets(),
                        udp.arrived,
                        udp.path_loss(),
                        udp.socket_drops,
                        udp.send_errors,
                        udp.reordered,
                        udp.duplicates,
                        udp.jitter
                    )?;
                }
            }
        }
    }
    if let Some(effect) = report.sender_effect() {
        writeln!(out, "note: {effect}")?;
    }
    for stream in &report.streams {
        for shortfall in stream.facts.iter().flat_map(|facts| &facts.shortfalls) {
            writeln!(out, "note: {shortfall}")?;
        }
    }
    if report.busiest_thread() > BUSY {
        writeln!(
            out,
            "note: a thread of this host was busy for {:.0} % of the test: the host may be the limit, not the path",
            report.busiest_thread() * 100.0
        )?;
    }
    Ok(())
}

/// Writes a report as iperf3's own JSON.
///
/// # Errors
/// Those of `out`.
pub fn write_json(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &report.to_json())?;
    writeln!(out)
}

fn address(target: &str) -> Result<SocketAddr, MeasureError> {
    let host = target
        .strip_prefix("iperf3://")
        .filter(|host| !host.is_empty() && !host.contains('/'))
        .ok_or_else(|| MeasureError::Target(target.to_owned()))?;
    let bracketed = host.starts_with('[');
    let has_port = if bracketed {
        host.contains("]:")
    } else {
        host.matches(':').count() == 1
    };
    let plain = if has_port {
        host.to_owned()
    } else {
        format!("{host}:{DEFAULT_PORT}")
    };
    let failed = |source| MeasureError::Resolve {
        host: host.to_owned(),
        source,
    };
    let mut found = plain.to_socket_addrs().map_err(failed)?;
    found
        .next()
        .ok_or_else(|| failed(io::Error::from(io::ErrorKind::NotFound)))
}

/// iperf3's port.
const DEFAULT_PORT: u16 = 5201;

/// Time for set-up and results beyond the test itself.
const GRACE: Duration = Duration::from_secs(30);

/// Highest rate of a sending socket towards an address that is not local, where the user gave none.
const MOST_REMOTE_RATE: BitRate = BitRate::new(10_000_000_000);

/// From this share of a processor on, the host and not the path may be the limit.
const BUSY: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_take_a_default_port() {
        assert_eq!(
            address("iperf3://127.0.0.1").unwrap(),
            "127.0.0.1:5201".parse().unwrap()
        );
        assert_eq!(
            address("iperf3://127.0.0.1:99").unwrap(),
            "127.0.0.1:99".parse().unwrap()
        );
        assert_eq!(address("iperf3://[::1]").unwrap(), "[::1]:5201".parse().unwrap());
        assert_eq!(address("iperf3://[::1]:99").unwrap(), "[::1]:99".parse().unwrap());
        for wrong in ["127.0.0.1", "http://x", "iperf3://", "iperf3://a/b"] {
            assert!(matches!(address(wrong), Err(MeasureError::Target(_))), "{wrong}");
        }
    }

    #[test]
    fn a_foreign_address_is_refused_without_a_cap() {
        let spec = MeasureSpec {
            target: "iperf3://192.0.2.1".to_owned(),
            duration: Duration::from_secs(1),
            parallel: 1,
            reverse: false,
            udp: None,
            congestion_control: None,
            dscp: None,
            remote_cap: None,
        };
        let error = iperf3(&spec, &Cancel::new()).unwrap_err().to_string();
        assert!(error.contains("not allowed"), "{error}");
    }
}

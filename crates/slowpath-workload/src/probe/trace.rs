//! The routers on the way, and what they saw of the packets.
//!
//! All probes of a trace belong to one flow (the same addresses, ports and protocol), so that routers that spread
//! flows over several links show one path (after the idea of Paris traceroute). One probe is on its way at a time.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::{Dscp, Ecn};
use slowpath_sys::{clock, message, poll::PollSet, sockopt};
use slowpath_units::Duration;

use super::echo::{Access, Echo, Fragments, ProbeError};
use super::icmp::{self, IcmpError, Message, Quoted};
use crate::context::Context;
use crate::socket::set_tos;

/// What the probes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// ICMP echo requests.
    #[default]
    Icmp,
    /// UDP datagrams to a port where nobody listens.
    Udp,
    /// TCP SYNs.
    Tcp,
}

/// How to trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceConfig {
    /// Where to.
    pub target: IpAddr,
    /// What the probes are.
    pub method: Method,
    /// Destination port of UDP and TCP probes.
    pub port: u16,
    /// The longest way.
    pub max_hops: u8,
    /// Probes to each hop.
    pub probes: u32,
    /// How long to wait for each answer.
    pub wait: Duration,
    /// Mark of the probes.
    pub dscp: Dscp,
}

impl TraceConfig {
    /// Three ICMP probes to each of at most 30 hops.
    pub fn new(target: IpAddr) -> Self {
        Self {
            target,
            method: Method::Icmp,
            port: 33_434,
            max_hops: 30,
            probes: 3,
            wait: Duration::from_secs(1),
            dscp: Dscp::DEFAULT,
        }
    }
}

/// The way to the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Hops from the nearest.
    pub hops: Vec<Hop>,
    /// Whether the target itself answered.
    pub reached: bool,
    /// Whether quoted headers could be read; that needs a raw socket.
    pub quotes: bool,
    /// What the probes were: UDP where ICMP was asked for and this user may not send it.
    pub method: Method,
}

/// The answers from one distance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// Its distance: the TTL of the probes.
    pub ttl: u8,
    /// Answers; fewer than probes where some stayed out.
    pub replies: Vec<HopReply>,
}

/// One answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopReply {
    /// Who answered.
    pub from: IpAddr,
    /// Round trip.
    pub rtt: Duration,
    /// The ICMP error, with the probe's mark as this router saw it; nothing if the target answered properly.
    pub error: Option<IcmpError>,
}

/// Traces the way to a target.
///
/// # Errors
/// No access to the sockets that the method needs, or the context's end.
pub fn trace(config: &TraceConfig, context: &Context) -> Result<TraceReport, ProbeError> {
    let io = |source| ProbeError::Io {
        doing: "tracing the way to",
        target: config.target,
        source,
    };
    let mut method = config.method;
    let mut prober: Box<dyn Prober> = match config.method {
        Method::Icmp => {
            let prober = IcmpProber::open(config)?;
            if prober.echo.access == Access::Udp {
                // All of its probes are of one flow.
                method = Method::Udp;
                Box::new(UdpProber::open(config).map_err(io)?)
            } else {
                Box::new(prober)
            }
        }
        Method::Udp => Box::new(UdpProber::open(config).map_err(io)?),
        Method::Tcp => Box::new(TcpProber::open(config).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => ProbeError::NoAccess(error),
            _ => io(error),
        })?),
    };
    let mut report = TraceReport {
        hops: Vec::new(),
        reached: false,
        quotes: prober.quotes(),
        method,
    };
    for ttl in 1..=config.max_hops {
        let mut hop = Hop {
            ttl,
            replies: Vec::new(),
        };
        for _ in 0..config.probes {
            context.check()?;
            if let Some(reply) = prober.probe(ttl, context)? {
                let is_target = reply.from.to_canonical() == config.target.to_canonical();
                report.reached |= is_target || reply.error.is_none();
                hop.replies.push(reply);
            }
        }
        report.hops.push(hop);
        if report.reached {
            break;
        }
    }
    Ok(report)
}

/// One way to probe a distance.
trait Prober {
    /// Sends one probe and waits for its answer.
    fn probe(&mut self, ttl: u8, context: &Context) -> Result<Option<HopReply>, ProbeError>;

    /// Whether answers carry what the router quoted.
    fn quotes(&self) -> bool;
}

struct IcmpProber {
    echo: Echo,
    wait: Duration,
    sequence: u16,
}

impl IcmpProber {
    fn open(config: &TraceConfig) -> Result<Self, ProbeError> {
        let echo = Echo::open(config.target, config.dscp, Fragments::Allowed)?;
        Ok(Self {
            echo,
            wait: config.wait,
            sequence: 0,
        })
    }
}

impl Prober for IcmpProber {
    fn probe(&mut self, ttl: u8, context: &Context) -> Result<Option<HopReply>, ProbeError> {
        self.echo.set_ttl(ttl)?;
        self.sequence = self.sequence.wrapping_add(1);
        // Load balancers that hash the checksum see the same one: what the sequence adds, the payload takes away.
        let mut payload = [0_u8; 32];
        payload[..2].copy_from_slice(&(!self.sequence).to_be_bytes());
        let Ok(sent) = self.echo.send(self.sequence, &payload) else {
            return Ok(None);
        };
        let end = context.now() + self.wait;
        while let Some(arrival) = self.echo.receive(end.since(context.now()), context)? {
            // Answers to earlier probes come late; an error without quotation cannot be told apart.
            let quoted = !matches!(arrival.what, Err(IcmpError { quoted: None, .. }));
            if quoted && arrival.sequence != self.sequence {
                continue;
            }
            let rtt = Duration::from_nanos(arrival.at_real_time.saturating_sub(sent));
            return Ok(match arrival.what {
                Ok(from) => Some(HopReply {
                    from,
                    rtt,
                    error: None,
                }),
                Err(error) => error.from.map(|from| HopReply {
                    from,
                    rtt,
                    error: Some(error),
                }),
            });
        }
        Ok(None)
    }

    fn quotes(&self) -> bool {
        self.echo.access == Access::Raw
    }
}

/// A raw socket that hears the errors of other sockets, if we may have one.
struct Listener {
    socket: UdpSocket,
    v6: bool,
    buffer: Vec<u8>,
}

impl Listener {
    fn open(v6: bool) -> io::Result<Self> {
        let socket = message::raw_icmp_socket(v6)?;
        sockopt::set_receive_timestamps(&socket, 1)?;
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket,
            v6,
            buffer: vec![0; 4096],
        })
    }

    /// The next error about a packet that `ours` recognises.
    fn take(&mut self, ours: impl Fn(&Quoted) -> bool) -> Option<(u64, IcmpError)> {
        loop {
            let received = message::receive(&self.socket, &mut self.buffer).ok()?;
            let bytes = &self.buffer[..received.len];
            let bytes = if self.v6 {
                Some(bytes)
            } else {
                icmp::strip_ipv4(bytes)
            };
            let message = bytes.and_then(|bytes| icmp::parse(self.v6, bytes));
            if let Some(Message::Error {
                kind,
                code,
                mtu,
                quoted: Some(quoted),
            }) = message
                && ours(&quoted)
            {
                let from = received.from.map(|from| from.ip());
                let at = received.timestamp.unwrap_or_else(clock::real_time);
                return Some((
                    at,
                    IcmpError {
                        from,
                        kind,
                        code,
                        mtu,
                        quoted: Some(quoted),
                    },
                ));
            }
        }
    }
}

struct UdpProber {
    socket: UdpSocket,
    listener: Option<Listener>,
    target: IpAddr,
    ports: [u8; 4],
    wait: Duration,
}

impl UdpProber {
    fn open(config: &TraceConfig) -> io::Result<Self> {
        let v6 = config.target.is_ipv6();
        let peer = SocketAddr::new(config.target, config.port);
        let any = if v6 {
            SocketAddr::from(([0_u16; 8], 0))
        } else {
            SocketAddr::from(([0, 0, 0, 0], 0))
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(peer)?;
        socket.set_nonblocking(true)?;
        sockopt::set_receive_timestamps(&socket, 1)?;
        if v6 {
            sockopt::set_receive_errors_v6(&socket, 1)?;
        } else {
            sockopt::set_receive_errors(&socket, 1)?;
        }
        set_tos(&socket, peer, config.dscp.tos(Ecn::NotEct))?;
        let ports = ports(socket.local_addr()?.port(), config.port);
        Ok(Self {
            socket,
            listener: Listener::open(v6).ok(),
            target: config.target,
            ports,
            wait: config.wait,
        })
    }
}

impl Prober for UdpProber {
    fn probe(&mut self, ttl: u8, context: &Context) -> Result<Option<HopReply>, ProbeError> {
        let target = self.target;
        let io = |source| ProbeError::Io {
            doing: "tracing the way to",
            target,
            source,
        };
        let set = if target.is_ipv6() {
            sockopt::set_hop_limit
        } else {
            sockopt::set_ttl
        };
        set(&self.socket, i32::from(ttl)).map_err(io)?;
        let mut buffer = [0_u8; 2048];
        // What is left of earlier probes.
        while message::receive_error(&self.socket, &mut buffer).is_ok() {}
        let sent = clock::real_time();
        // A pending error of an earlier probe makes the first call fail.
        if self.socket.send(&[0; 32]).is_err() && self.socket.send(&[0; 32]).is_err() {
            return Ok(None);
        }
        let end = context.now() + self.wait;
        loop {
            context.check()?;
            let heard = self.listener.as_mut().and_then(|listener| {
                listener.take(|quoted| {
                    quoted.protocol == 17 && quoted.destination == target && quoted.head[..4] == self.ports
                })
            });
            let heard = heard.or_else(|| {
                if self.listener.is_some() {
                    return None;
                }
                let received = message::receive_error(&self.socket, &mut buffer).ok()?;
                let error = received.error?;
                let at = received.timestamp.unwrap_or_else(clock::real_time);
                Some((
                    at,
                    IcmpError {
                        from: error.offender,
                        kind: error.kind,
                        code: error.code,
                        mtu: (error.info != 0).then_some(error.info),
                        quoted: None,
                    },
                ))
            });
            if let Some((at, error)) = heard {
                let rtt = Duration::from_nanos(at.saturating_sub(sent));
                return Ok(error.from.map(|from| HopReply {
                    from,
                    rtt,
                    error: Some(error),
                }));
            }
            if message::receive(&self.socket, &mut buffer).is_ok() {
                // Somebody listens there and answers.
                let rtt = Duration::from_nanos(clock::real_time().saturating_sub(sent));
                return Ok(Some(HopReply {
                    from: target,
                    rtt,
                    error: None,
                }));
            }
            let left = end.since(context.now());
            if left == Duration::ZERO {
                return Ok(None);
            }
            wait_for(
                &[Some(&self.socket), self.listener.as_ref().map(|l| &l.socket)],
                left,
                context,
            );
        }
    }

    fn quotes(&self) -> bool {
        self.listener.is_some()
    }
}

struct TcpProber {
    listener: Listener,
    local: SocketAddr,
    peer: SocketAddr,
    tos: u8,
    wait: Duration,
}

impl TcpProber {
    /// Needs a raw socket: the kernel tells a connecting socket only about errors that end the attempt.
    fn open(config: &TraceConfig) -> io::Result<Self> {
        let peer = SocketAddr::new(config.target, config.port);
        let listener = Listener::open(peer.is_ipv6())?;
        // Ask the routing table which address the probes leave from, and reserve a port.
        let any = if peer.is_ipv6() {
            SocketAddr::from(([0_u16; 8], 0))
        } else {
            SocketAddr::from(([0, 0, 0, 0], 0))
        };
        let route = UdpSocket::bind(any)?;
        route.connect(peer)?;
        let local =
            std::net::TcpListener::bind(SocketAddr::new(route.local_addr()?.ip(), 0))?.local_addr()?;
        Ok(Self {
            listener,
            local,
            peer,
            tos: config.dscp.tos(Ecn::NotEct),
            wait: config.wait,
        })
    }

    fn connect(&self, ttl: u8) -> io::Result<TcpStream> {
        let stream = TcpStream::from(message::tcp_socket(self.peer.is_ipv6())?);
        sockopt::set_reuse_address(&stream, 1)?;
        // A reset instead of FIN frees the addresses for the next probe at once.
        sockopt::set_linger(&stream, Some(0))?;
        set_tos(&stream, self.peer, self.tos)?;
        let set = if self.peer.is_ipv6() {
            sockopt::set_hop_limit
        } else {
            sockopt::set_ttl
        };
        set(&stream, i32::from(ttl))?;
        message::bind(&stream, self.local)?;
        stream.set_nonblocking(true)?;
        match message::connect(&stream, self.peer) {
            Err(error) if error.raw_os_error() != Some(EINPROGRESS) => Err(error),
            _ => Ok(stream),
        }
    }
}

impl Prober for TcpProber {
    fn probe(&mut self, ttl: u8, context: &Context) -> Result<Option<HopReply>, ProbeError> {
        let (target, ports) = (self.peer.ip(), ports(self.local.port(), self.peer.port()));
        let ours = |quoted: &Quoted| {
            quoted.protocol == 6 && quoted.destination == target && quoted.head[..4] == ports
        };
        while self.listener.take(ours).is_some() {}
        let sent = clock::real_time();
        let answered = |error: Option<&io::Error>| {
            // An open port, or a closed one that says so: the target in both cases.
            error.is_none_or(|error| error.kind() == io::ErrorKind::ConnectionRefused)
        };
        let reply = || HopReply {
            from: target,
            rtt: Duration::from_nanos(clock::real_time().saturating_sub(sent)),
            error: None,
        };
        let stream = match self.connect(ttl) {
            Ok(stream) => stream,
            Err(error) if answered(Some(&error)) => return Ok(Some(reply())),
            Err(source) => {
                return Err(ProbeError::Io {
                    doing: "sending a SYN to",
                    target,
                    source,
                });
            }
        };
        let end = context.now() + self.wait;
        loop {
            context.check()?;
            if let Some((at, error)) = self.listener.take(ours) {
                let rtt = Duration::from_nanos(at.saturating_sub(sent));
                return Ok(error.from.map(|from| HopReply {
                    from,
                    rtt,
                    error: Some(error),
                }));
            }
            let mut set = PollSet::new();
            set.add_writable(std::os::fd::AsFd::as_fd(&stream));
            if set.wait(Some(0)).is_ok_and(|ready| ready > 0) {
                let outcome = message::take_error(&stream);
                if answered(outcome.as_ref().err()) {
                    return Ok(Some(reply()));
                }
            }
            let left = end.since(context.now());
            if left == Duration::ZERO {
                return Ok(None);
            }
            // Short waits: the connection is waited for by looking at it.
            wait_for(
                &[Some(&self.listener.socket)],
                left.min(Duration::from_millis(1)),
                context,
            );
        }
    }

    fn quotes(&self) -> bool {
        true
    }
}

/// The first four bytes of a UDP or TCP header.
fn ports(source: u16, destination: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (source.to_be_bytes(), destination.to_be_bytes());
    [a, b, c, d]
}

fn wait_for(sockets: &[Option<&UdpSocket>], within: Duration, context: &Context) {
    let mut set = PollSet::new();
    for socket in sockets.iter().flatten() {
        set.add_readable(std::os::fd::AsFd::as_fd(*socket));
    }
    let nanos = u64::try_from(context.slice().as_nanos())
        .unwrap_or(u64::MAX)
        .min(within.nanos());
    // A failed wait is followed by another look at the sockets.
    let _ = set.wait(Some(nanos));
}

/// See [`crate::socket`].
const EINPROGRESS: i32 = 115;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_one_hop_away() {
        for method in [Method::Icmp, Method::Udp, Method::Tcp] {
            for target in ["127.0.0.1", "::1"] {
                let mut config = TraceConfig::new(target.parse().unwrap());
                (config.method, config.port, config.dscp) = (method, 9, Dscp::CS1);
                let report = match trace(&config, &Context::new().with_timeout(Duration::from_secs(10))) {
                    Ok(report) => report,
                    Err(error) => {
                        eprintln!("skipped: loopback_is_one_hop_away/{method:?}/{target}: {error}");
                        continue;
                    }
                };
                assert!(report.reached, "{method:?} {target} {report:?}");
                assert_eq!(report.hops.len(), 1, "{method:?} {target} {report:?}");
                let hop = &report.hops[0];
                assert_eq!(hop.replies.len(), 3, "{method:?} {target} {report:?}");
                assert!(hop.replies.iter().all(|reply| reply.from.is_loopback()));
                if let (Method::Udp, true) = (method, report.quotes) {
                    let quoted = hop.replies[0].error.and_then(|error| error.quoted).unwrap();
                    assert_eq!(quoted.tos, 0x20, "{method:?} {target}");
                }
            }
        }
    }
}

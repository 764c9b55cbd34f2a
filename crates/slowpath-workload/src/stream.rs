//! One-way packet streams with exact spacing, and their receivers.
//!
//! For links, shapers and policers: a stream offers a rate on a stated layer, whatever the path does with it.
//! Beside UDP there are packets with a TCP or ICMP header but without any connection, as traffic generators send
//! them; these need raw sockets and IPv4.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use slowpath_packet::mark::{Dscp, Ecn};
use slowpath_record::FlowResult;
use slowpath_sys::{clock, message, sockopt};
use slowpath_units::{BitRate, ByteCount, Duration, Layer, Time};

use crate::context::{Context, Stop};
use crate::guard::Refused;
use crate::iperf3::tally::{Phase, Stage, Tally};
use crate::iperf3::udp::{self, Header, Order, SendPlan, Shape};
use crate::iperf3::{Bursts, Pacing};
use crate::socket::{self, SocketError};

/// What the packets of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// UDP datagrams.
    #[default]
    Udp,
    /// TCP segments of no connection, with the RST flag so that no host answers. Raw socket, IPv4.
    Tcp,
    /// ICMP echo replies that nobody asked for. Raw socket, IPv4.
    Icmp,
}

/// A stream to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamConfig {
    /// Name in the results.
    pub name: String,
    /// Where to; ICMP uses the port as identifier.
    pub to: SocketAddr,
    /// What the packets are.
    pub kind: Kind,
    /// Length of the IP packets in bytes.
    pub ip_len: u32,
    /// Offered rate; `None` is as fast as possible.
    pub rate: Option<BitRate>,
    /// The layer on which the rate counts.
    pub layer: Layer,
    /// How long it runs.
    pub duration: Duration,
    /// Spacing of the packets.
    pub pacing: Pacing,
    /// Mark of the packets.
    pub dscp: Dscp,
    /// `SO_SNDBUF`.
    pub send_buffer: Option<ByteCount>,
}

impl StreamConfig {
    /// UDP packets of `ip_len` bytes at `rate` on the IP layer.
    pub fn udp(name: &str, to: SocketAddr, ip_len: u32, rate: BitRate, duration: Duration) -> Self {
        Self {
            name: name.to_owned(),
            to,
            kind: Kind::Udp,
            ip_len,
            rate: Some(rate),
            layer: Layer::Ip,
            duration,
            pacing: Pacing::Exact,
            dscp: Dscp::DEFAULT,
            send_buffer: None,
        }
    }

    /// Bytes of the IP and transport headers.
    fn headers(&self) -> u32 {
        let ip = if self.to.is_ipv6() { 40 } else { 20 };
        ip + match self.kind {
            Kind::Tcp => 20,
            Kind::Udp | Kind::Icmp => 8,
        }
    }
}

/// What a sender did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// Packets that the kernel took.
    pub packets: u64,
    /// Packets that it refused.
    pub errors: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
    /// When the first packet could leave.
    pub start: Time,
    /// When the stream ended.
    pub end: Time,
    /// Bursts that really left.
    pub bursts: Bursts,
    /// Time by which the sender fell behind its schedule and did not make up for.
    pub behind: Duration,
    /// Processor time of the sending thread.
    pub cpu: Duration,
}

/// What a receiver saw.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Received {
    /// Packets, each counted once.
    pub packets: u64,
    /// Packets that came again.
    pub duplicates: u64,
    /// Packets that came after a later one.
    pub reordered: u64,
    /// Packets with a number below the highest that never came.
    pub missing: u64,
    /// Part of `missing` that the own socket dropped.
    pub socket_drops: u64,
    /// Bytes of IP packets.
    pub bytes: u64,
    /// Jitter at the end (RFC 3550, section 6.4.1).
    pub jitter: Duration,
    /// Packets by type-of-service byte on arrival, where the kernel tells.
    pub marks: Vec<(u8, u64)>,
    /// When the first and the last packet came.
    pub span: Option<(Time, Time)>,
}

/// A stream that could not be sent or received.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The address may not be loaded.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The rate is above the cap for load elsewhere.
    #[error("a stream of {asked} is above the cap of {cap} for addresses that are not local")]
    Cap {
        /// Rate asked for; "unlimited" is asked for as the largest rate.
        asked: BitRate,
        /// The cap.
        cap: BitRate,
    },
    /// The packets are too small for the headers and the stamp, or too large.
    #[error("packets of {got} bytes; expected {least} to 65535 bytes")]
    Size {
        /// Length asked for.
        got: u32,
        /// Shortest possible length.
        least: u32,
    },
    /// Raw streams exist over IPv4 only.
    #[error("streams of TCP and ICMP packets need IPv4 addresses, got {0}")]
    Family(SocketAddr),
    /// A socket call failed.
    #[error(transparent)]
    Socket(#[from] SocketError),
}

/// Sends a stream to its end; blocks meanwhile.
///
/// # Errors
/// No permission, impossible settings, or a socket that cannot be opened. A stream that the context cuts short is
/// reported as far as it came.
pub fn send(config: &StreamConfig, context: &Context) -> Result<(Sent, Option<Stop>), StreamError> {
    context.admit(config.to.ip())?;
    if let Some(cap) = context.permission().rate_cap(config.to.ip()) {
        let asked = config.rate.unwrap_or(BitRate::new(u64::MAX));
        if asked > cap {
            return Err(StreamError::Cap { asked, cap });
        }
    }
    let least = config.headers() + STAMP;
    if !(least..=65_535).contains(&config.ip_len) {
        return Err(StreamError::Size {
            got: config.ip_len,
            least,
        });
    }
    let (socket, shape) = open_sender(config)?;
    let size = (config.ip_len - config.headers()) as usize + shape.header();
    let plan = SendPlan {
        size,
        paced: u64::from(config.ip_len + config.layer.overhead(config.ip_len)),
        shape,
        rate: config.rate,
        burst: 1,
        pacing: config.pacing,
        wide: true,
        seed: u64::from(config.to.port()),
    };
    let (phase, tally) = (Phase::new(None), Tally::default());
    let socket = Arc::new(socket);
    let start = context.now();
    let (bursts, stop) = std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            phase.advance(Stage::Running);
            let stop = context.sleep(config.duration).err();
            phase.advance(Stage::Ended);
            stop
        });
        let bursts = udp::send(&socket, &plan, &phase, &tally, context);
        phase.advance(Stage::Ended);
        (bursts, timer.join().unwrap_or(None))
    });
    let counts = tally.now();
    let sent = Sent {
        packets: counts.packets,
        errors: counts.send_errors,
        bytes: counts.packets * u64::from(config.ip_len),
        start,
        end: context.now(),
        bursts,
        behind: Duration::from_nanos(counts.behind),
        cpu: Duration::from_nanos(counts.cpu),
    };
    Ok((sent, stop))
}

fn open_sender(config: &StreamConfig) -> Result<(UdpSocket, Shape), StreamError> {
    let io = |source| SocketError::io("opening a stream to", config.to, source);
    let (socket, shape) = match (config.kind, config.to) {
        (Kind::Udp, to) => {
            let any = if to.is_ipv6() {
                SocketAddr::from(([0_u16; 8], 0))
            } else {
                SocketAddr::from(([0, 0, 0, 0], 0))
            };
            let socket = UdpSocket::bind(any).map_err(io)?;
            socket.connect(to).map_err(io)?;
            (socket, Shape::Udp)
        }
        (_, SocketAddr::V6(_)) => return Err(StreamError::Family(config.to)),
        (kind, SocketAddr::V4(to)) => {
            let socket = open_raw(kind).map_err(io)?;
            socket.connect(SocketAddrV4::new(*to.ip(), 0)).map_err(io)?;
            let local = match socket.local_addr().map_err(io)?.ip() {
                IpAddr::V4(ip) => ip,
                IpAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
            };
            let shape = match kind {
                Kind::Tcp => Shape::Tcp {
                    source: SocketAddrV4::new(local, to.port()),
                    destination: to,
                },
                _ => Shape::Icmp { id: to.port() },
            };
            (socket, shape)
        }
    };
    socket.set_write_timeout(Some(Context::SLICE)).map_err(io)?;
    socket::set_tos(&socket, config.to, config.dscp.tos(Ecn::NotEct)).map_err(io)?;
    if config.to.is_ipv4() {
        // Packets above the MTU are fragmented, as a generator's user asked for their length.
        sockopt::set_mtu_discover(&socket, 0).map_err(io)?;
    }
    if let Some(bytes) = config.send_buffer {
        let bytes = i32::try_from(bytes.bytes()).unwrap_or(i32::MAX);
        sockopt::set_send_buffer(&socket, bytes).map_err(io)?;
    }
    Ok((socket, shape))
}

fn open_raw(kind: Kind) -> io::Result<UdpSocket> {
    let protocol = if kind == Kind::Tcp {
        socket2::Protocol::TCP
    } else {
        socket2::Protocol::ICMPV4
    };
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::RAW, Some(protocol))?;
    Ok(std::os::fd::OwnedFd::from(socket).into())
}

/// Receives a stream in a thread of its own until it is finished.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Received>,
}

impl Receiver {
    /// Listens on `at` for packets of `kind`; for UDP port 0 takes a free one.
    ///
    /// # Errors
    /// The socket cannot be opened, or no thread can be started.
    pub fn start(kind: Kind, at: SocketAddr, context: &Context) -> Result<Self, StreamError> {
        let io = |source| SocketError::io("receiving a stream on", at, source);
        let socket = match (kind, at) {
            (Kind::Udp, _) => UdpSocket::bind(at).map_err(io)?,
            (_, SocketAddr::V6(_)) => return Err(StreamError::Family(at)),
            _ => open_raw(kind).map_err(io)?,
        };
        let address = if kind == Kind::Udp {
            socket.local_addr().map_err(io)?
        } else {
            at
        };
        socket.set_read_timeout(Some(Context::SLICE)).map_err(io)?;
        sockopt::set_receive_timestamps(&socket, 1).map_err(io)?;
        sockopt::set_report_overflow(&socket, 1).map_err(io)?;
        // A burst of several milliseconds must find room even when this thread does not run.
        sockopt::set_receive_buffer(&socket, RECEIVE_BUFFER).map_err(io)?;
        if at.is_ipv6() {
            sockopt::set_receive_traffic_class(&socket, 1).map_err(io)?;
        } else {
            sockopt::set_receive_tos(&socket, 1).map_err(io)?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let thread = std::thread::Builder::new()
            .name("stream-receiver".to_owned())
            .spawn({
                let (stop, context) = (Arc::clone(&stop), context.clone());
                move || {
                    Ear {
                        socket,
                        kind,
                        address,
                        stop,
                        context,
                    }
                    .listen()
                }
            })
            .map_err(io)?;
        Ok(Self {
            address,
            stop,
            thread,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops, at the latest after [`Context::SLICE`], and tells what came.
    pub fn finish(self) -> Received {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}

struct Ear {
    socket: UdpSocket,
    kind: Kind,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    context: Context,
}

impl Ear {
    fn listen(self) -> Received {
        let mut buffer = vec![0_u8; 65_536];
        let mut order = Order::default();
        let mut marks = vec![0_u64; 256];
        let mut result = Received::default();
        // Looks at the flag only when nothing comes or now and then, so that what is queued is still counted.
        let mut quiet = false;
        while !(self.stop.load(Ordering::Relaxed) && quiet) && self.context.check().is_ok() {
            quiet = false;
            let Ok(received) = message::receive(&self.socket, &mut buffer) else {
                quiet = true;
                continue;
            };
            if let Some(dropped) = received.dropped {
                result.socket_drops = u64::from(dropped);
            }
            let Some((payload, ip_len)) = self.payload(&buffer[..received.len]) else {
                // Somebody else's packets on a raw socket; they must not keep us here.
                quiet = true;
                continue;
            };
            let Some(header) = Header::parse(payload, true) else {
                continue;
            };
            order.note(header, received.timestamp.unwrap_or_else(clock::real_time));
            result.bytes += ip_len;
            let now = self.context.now();
            result.span = Some((result.span.map_or(now, |(first, _)| first), now));
            if let Some(tos) = received.tos {
                marks[usize::from(tos)] += 1;
            }
        }
        result.packets = order.arrived;
        result.duplicates = order.duplicates;
        result.reordered = order.reordered;
        result.missing = order.highest.saturating_sub(order.arrived);
        result.jitter = Duration::from_nanos(order.jitter_nanos());
        result.marks = (0..=255_u8).zip(marks).filter(|(_, count)| *count > 0).collect();
        result
    }

    /// The payload and the length of the IP packet, if the packet is the stream's.
    fn payload<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], u64)> {
        let port = self.address.port().to_be_bytes();
        if self.kind == Kind::Udp {
            let header = if self.address.is_ipv6() { 48 } else { 28 };
            return Some((bytes, bytes.len() as u64 + header));
        }
        let inner = bytes.get(usize::from(bytes.first()? & 15) * 4..)?;
        let payload = match self.kind {
            Kind::Tcp => (inner.get(2..4)? == port).then(|| inner.get(20..))?,
            _ => (inner.first()? == &0 && inner.get(4..6)? == port).then(|| inner.get(8..))?,
        };
        Some((payload?, bytes.len() as u64))
    }
}

/// The flow's entry in the run record, from both ends.
pub fn flow_result(config: &StreamConfig, sent: &Sent, received: &Received) -> FlowResult {
    let payload = u64::from(config.ip_len - config.headers());
    let seconds = sent.end.since(sent.start).seconds();
    FlowResult {
        name: config.name.clone(),
        sent_packets: sent.packets,
        received_packets: received.packets,
        sent_bytes: sent.bytes,
        received_bytes: received.bytes,
        jitter: Some(received.jitter),
        goodput_byte_per_s: if seconds > 0.0 {
            (received.packets * payload) as f64 / seconds
        } else {
            0.0
        },
        lost: Vec::new(),
    }
}

/// Bytes of the stamp in front of the payload: clock and 64-bit number.
const STAMP: u32 = 16;
const RECEIVE_BUFFER: i32 = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_every_kind_arrive_with_their_mark() {
        let context = Context::new().with_timeout(Duration::from_secs(20));
        for (kind, address) in [
            (Kind::Udp, "127.0.0.1:0"),
            (Kind::Udp, "[::1]:0"),
            (Kind::Tcp, "127.0.0.1:50001"),
            (Kind::Icmp, "127.0.0.1:50002"),
        ] {
            let receiver = match Receiver::start(kind, address.parse().unwrap(), &context) {
                Ok(receiver) => receiver,
                Err(error) => {
                    eprintln!("skipped: streams_of_every_kind_arrive_with_their_mark/{kind:?}: {error}");
                    continue;
                }
            };
            let rate = BitRate::new(10_000_000);
            let mut config =
                StreamConfig::udp("test", receiver.address(), 1000, rate, Duration::from_millis(200));
            (config.kind, config.dscp, config.layer) = (kind, Dscp::CS1, Layer::Wire);
            let (sent, stop) = send(&config, &context).unwrap();
            let received = receiver.finish();
            assert_eq!((stop, sent.errors), (None, 0), "{kind:?}");
            // 1038 bytes on the wire at 10 Mbit/s for 0.2 s are 240 packets, fewer on a busy host.
            assert!(sent.packets > 0 && sent.packets <= 252, "{kind:?} {sent:?}");
            assert_eq!(received.packets, sent.packets, "{kind:?} {received:?}");
            assert_eq!(
                (received.missing, received.duplicates, received.reordered),
                (0, 0, 0),
                "{kind:?}"
            );
            assert_eq!(received.bytes, sent.packets * 1000, "{kind:?}");
            if kind == Kind::Udp {
                assert_eq!(received.marks, [(0x20, sent.packets)], "{kind:?}");
            }
            let flow = flow_result(&config, &sent, &received);
            assert!(flow.loss_fraction().abs() < 1e-9);
        }
    }

    #[test]
    fn caps_and_sizes_are_checked() {
        use crate::guard::Permission;
        let to: SocketAddr = "192.0.2.1:9".parse().unwrap();
        let config = StreamConfig::udp("test", to, 1000, BitRate::new(2_000_000), Duration::from_secs(1));
        assert!(matches!(
            send(&config, &Context::new()),
            Err(StreamError::Refused(_))
        ));
        let capped = Context::new()
            .with_timeout(Duration::from_secs(1))
            .with_permission(Permission::Remote {
                bytes: ByteCount::new(1),
                rate: BitRate::new(1_000_000),
            });
        assert!(matches!(send(&config, &capped), Err(StreamError::Cap { .. })));
        let small = StreamConfig {
            ip_len: 43,
            to: "127.0.0.1:9".parse().unwrap(),
            ..config
        };
        assert!(matches!(
            send(&small, &Context::new()),
            Err(StreamError::Size { least: 44, .. })
        ));
    }
}

//! Sockets for echo requests: raw ones where the system allows them, unprivileged ones otherwise; and where it allows
//! neither, UDP datagrams to ports where nobody listens, whose refusals come by the error queue (ip(7), `IP_RECVERR`).

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use slowpath_packet::mark::{Dscp, Ecn};
use slowpath_sys::{message, sockopt};
use slowpath_units::Duration;

use super::icmp::{self, IcmpError, Message};
use crate::context::{Context, Stop};
use crate::guard::Refused;

/// How the kernel lets us send echo requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// A raw socket: errors come with what the router quoted.
    Raw,
    /// An unprivileged datagram socket: errors come without it.
    Datagram,
    /// UDP: what the target says of a closed port stands for an answer. Hosts say so about once a second.
    Udp,
}

/// A probe that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The address may not be loaded so much.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// No kind of socket is allowed.
    #[error(
        "opening an ICMP socket: {0}; as root run with CAP_NET_RAW, otherwise widen net.ipv4.ping_group_range \
         (for example \"0 2147483647\")"
    )]
    NoAccess(io::Error),
    /// A system call failed.
    #[error("{doing} {target}: {source}")]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The target.
        target: IpAddr,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The workload had to stop.
    #[error("probing: {0}")]
    Stopped(#[from] Stop),
}

/// A socket that sends echo requests to one target.
#[derive(Debug)]
pub(super) struct Echo {
    socket: UdpSocket,
    target: IpAddr,
    pub(super) access: Access,
    id: u16,
    /// Number of the last request.
    last: Cell<u16>,
    buffer: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) sequence: u16,
    pub(super) at_real_time: u64,
    pub(super) ttl: Option<u8>,
    pub(super) tos: Option<u8>,
    pub(super) bytes: usize,
    pub(super) what: Result<IpAddr, IcmpError>,
}

/// Fragmentation of probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fragments {
    /// As the kernel likes.
    Allowed,
    /// DF set, the kernel's knowledge of the path ignored.
    Forbidden,
}

impl Echo {
    pub(super) fn open(target: IpAddr, dscp: Dscp, fragments: Fragments) -> Result<Self, ProbeError> {
        let v6 = target.is_ipv6();
        let (socket, access) = socket(v6)?;
        Self::over(socket, access, target, dscp, fragments)
    }

    fn over(
        socket: UdpSocket,
        access: Access,
        target: IpAddr,
        dscp: Dscp,
        fragments: Fragments,
    ) -> Result<Self, ProbeError> {
        let v6 = target.is_ipv6();
        let setup = || -> io::Result<()> {
            // A connected raw socket would not hear what routers say.
            if access == Access::Datagram {
                socket.connect(SocketAddr::new(target, 0))?;
            }
            sockopt::set_receive_timestamps(&socket, 1)?;
            if v6 {
                sockopt::set_receive_hop_limit(&socket, 1)?;
                sockopt::set_receive_traffic_class(&socket, 1)?;
                sockopt::set_receive_errors_v6(&socket, 1)?;
                sockopt::set_traffic_class(&socket, i32::from(dscp.tos(Ecn::NotEct)))?;
                if fragments == Fragments::Forbidden {
                    sockopt::set_mtu_discover_v6(&socket, 3)?;
                }
            } else {
                sockopt::set_receive_ttl(&socket, 1)?;
                sockopt::set_receive_tos(&socket, 1)?;
                sockopt::set_receive_errors(&socket, 1)?;
                sockopt::set_tos(&socket, i32::from(dscp.tos(Ecn::NotEct)))?;
                // 0 clears DF, so that large probes are fragmented on the way too.
                sockopt::set_mtu_discover(&socket, if fragments == Fragments::Forbidden { 3 } else { 0 })?;
            }
            Ok(())
        };
        setup().map_err(|source| ProbeError::Io {
            doing: "preparing an ICMP socket for",
            target,
            source,
        })?;
        // The identifier of a datagram socket is its local port; of a raw one it is ours to choose.
        let id = match access {
            Access::Datagram => socket.local_addr().map_or(0, |address| address.port()),
            Access::Raw => (slowpath_sys::clock::monotonic() >> 10) as u16 ^ std::process::id() as u16,
            // Ports tell one request from another.
            Access::Udp => 0,
        };
        Ok(Self {
            socket,
            target,
            access,
            id,
            last: Cell::new(0),
            buffer: vec![0; 65_536],
        })
    }

    /// Whether the target answers about one request a second and no more (`icmp_ratelimit`; RFC 1812, section 4.3.2.8).
    pub(super) fn is_rationed(&self) -> bool {
        self.access == Access::Udp && !self.target.is_loopback()
    }

    pub(super) fn set_ttl(&self, ttl: u8) -> Result<(), ProbeError> {
        let set = if self.target.is_ipv6() {
            sockopt::set_hop_limit
        } else {
            sockopt::set_ttl
        };
        set(&self.socket, i32::from(ttl)).map_err(|source| ProbeError::Io {
            doing: "setting the TTL towards",
            target: self.target,
            source,
        })
    }

    /// Sends a request; returns the real-time clock just before.
    pub(super) fn send(&self, sequence: u16, payload: &[u8]) -> Result<u64, io::Error> {
        self.last.set(sequence);
        if self.access == Access::Udp {
            let port = FIRST_PORT + sequence % PORTS;
            let to = SocketAddr::new(self.target, port);
            let now = slowpath_sys::clock::real_time();
            // An earlier request's error that nobody took makes one call fail, and is gone then.
            if self.socket.send_to(payload, to).is_err() {
                self.socket.send_to(payload, to)?;
            }
            return Ok(now);
        }
        let bytes = icmp::echo_request(self.target.is_ipv6(), self.id, sequence, payload);
        let now = slowpath_sys::clock::real_time();
        // Connected or not, the address is known; a connected datagram socket refuses to be told it again
        // only on other systems.
        self.socket.send_to(&bytes, SocketAddr::new(self.target, 0))?;
        Ok(now)
    }

    /// Waits at most `within` for something that belongs to our requests.
    pub(super) fn receive(&mut self, within: Duration, context: &Context) -> Result<Option<Arrival>, Stop> {
        let end = context.now() + within;
        loop {
            context.check()?;
            if let Some(arrival) = self.take_error().or_else(|| self.take()) {
                return Ok(Some(arrival));
            }
            let left = end.since(context.now());
            if left == Duration::ZERO {
                return Ok(None);
            }
            let wait = left.to_std().min(context.slice());
            let mut set = slowpath_sys::poll::PollSet::new();
            set.add_readable(std::os::fd::AsFd::as_fd(&self.socket));
            // A failed wait is followed by another look at the sockets.
            let _ = set.wait(Some(u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX)));
        }
    }

    fn take(&mut self) -> Option<Arrival> {
        let v6 = self.target.is_ipv6();
        if self.access == Access::Udp {
            return self.take_datagram();
        }
        loop {
            self.socket.set_nonblocking(true).ok()?;
            let received = message::receive(&self.socket, &mut self.buffer).ok()?;
            let bytes = &self.buffer[..received.len];
            let bytes = if self.access == Access::Raw && !v6 {
                icmp::strip_ipv4(bytes)
            } else {
                Some(bytes)
            };
            let from = received.from.map(|from| from.ip());
            let (Some(bytes), Some(from)) = (bytes, from) else {
                continue;
            };
            let at_real_time = received.timestamp.unwrap_or_else(slowpath_sys::clock::real_time);
            let arrival = |sequence, what| Arrival {
                sequence,
                at_real_time,
                ttl: received.ttl,
                tos: received.tos,
                bytes: bytes.len(),
                what,
            };
            match icmp::parse(v6, bytes) {
                Some(Message::EchoReply { id, sequence }) if id == self.id => {
                    return Some(arrival(sequence, Ok(from)));
                }
                Some(Message::Error {
                    kind,
                    code,
                    mtu,
                    quoted: Some(quoted),
                }) if quoted.destination == self.target && quoted.head[4..6] == self.id.to_be_bytes() => {
                    let sequence = u16::from_be_bytes([quoted.head[6], quoted.head[7]]);
                    let error = IcmpError {
                        from: Some(from),
                        kind,
                        code,
                        mtu,
                        quoted: Some(quoted),
                    };
                    return Some(arrival(sequence, Err(error)));
                }
                _ => {}
            }
        }
    }

    /// An answer of a program that listens on one of the ports after all.
    fn take_datagram(&mut self) -> Option<Arrival> {
        self.socket.set_nonblocking(true).ok()?;
        let received = message::receive(&self.socket, &mut self.buffer).ok()?;
        let from = received.from.filter(|from| from.ip() == self.target)?;
        Some(Arrival {
            sequence: self.of_port(from.port())?,
            at_real_time: received.timestamp.unwrap_or_else(slowpath_sys::clock::real_time),
            ttl: received.ttl,
            tos: received.tos,
            bytes: received.len,
            what: Ok(from.ip()),
        })
    }

    /// The latest request that went to this port.
    fn of_port(&self, port: u16) -> Option<u16> {
        let offset = port.checked_sub(FIRST_PORT).filter(|offset| *offset < PORTS)?;
        let last = self.last.get();
        let back = (last % PORTS + PORTS - offset) % PORTS;
        last.checked_sub(back)
    }

    /// Errors of a datagram socket; a raw one gets the messages themselves, and only local errors here.
    fn take_error(&mut self) -> Option<Arrival> {
        let received = message::receive_error(&self.socket, &mut self.buffer).ok()?;
        let error = received.error?;
        let local = error.origin == 1;
        if self.access == Access::Raw && !local {
            return None;
        }
        let head = &self.buffer[..received.len.min(8)];
        let sequence = if self.access == Access::Udp {
            received.from.and_then(|to| self.of_port(to.port())).unwrap_or(0)
        } else {
            head.get(6..8)
                .map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        let unreachable_port = matches!(
            (error.origin, error.kind, error.code),
            (ICMP, 3, 3) | (ICMPV6, 1, 4)
        );
        let answered = error
            .offender
            .filter(|from| self.access == Access::Udp && unreachable_port && *from == self.target);
        Some(Arrival {
            sequence,
            at_real_time: received.timestamp.unwrap_or_else(slowpath_sys::clock::real_time),
            ttl: None,
            tos: None,
            bytes: received.len,
            what: answered.ok_or(IcmpError {
                from: error.offender,
                kind: error.kind,
                code: error.code,
                mtu: (error.info != 0).then_some(error.info),
                quoted: None,
            }),
        })
    }
}

/// The most that the system allows.
fn socket(v6: bool) -> Result<(UdpSocket, Access), ProbeError> {
    if let Ok(socket) = message::raw_icmp_socket(v6) {
        return Ok((socket, Access::Raw));
    }
    match message::ping_socket(v6) {
        Ok(socket) => Ok((socket, Access::Datagram)),
        Err(refused) => udp(v6)
            .map(|socket| (socket, Access::Udp))
            .map_err(|_| ProbeError::NoAccess(refused)),
    }
}

fn udp(v6: bool) -> io::Result<UdpSocket> {
    if v6 {
        UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))
    } else {
        UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))
    }
}

/// Ports where nobody listens, as traceroute uses them.
const FIRST_PORT: u16 = 33_434;
/// How many of them.
const PORTS: u16 = 100;
/// Origin of an error that came as ICMP (`SO_EE_ORIGIN_ICMP`).
const ICMP: u8 = 2;
/// Origin of an error that came as ICMPv6 (`SO_EE_ORIGIN_ICMP6`).
const ICMPV6: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    /// What an ordinary user gets where `net.ipv4.ping_group_range` is empty.
    #[test]
    fn refusals_of_udp_stand_for_answers() {
        for target in ["127.0.0.1", "::1"] {
            let target: IpAddr = target.parse().unwrap();
            let Ok(socket) = udp(target.is_ipv6()) else {
                eprintln!("skipped: refusals_of_udp_stand_for_answers/{target}: no such addresses here");
                continue;
            };
            let opened = Echo::over(socket, Access::Udp, target, Dscp::DEFAULT, Fragments::Forbidden);
            let Ok(mut echo) = opened else {
                eprintln!("skipped: refusals_of_udp_stand_for_answers/{target}: no such addresses here");
                continue;
            };
            let context = Context::new().with_timeout(Duration::from_secs(10));
            assert!(!echo.is_rationed(), "nothing rations loopback");
            for sequence in [0, 1, 99, 100, 250] {
                let sent = echo.send(sequence, &[0; 100]).unwrap();
                let arrival = echo.receive(Duration::from_secs(2), &context).unwrap();
                let arrival = arrival.expect("a closed port of this host answers");
                assert_eq!((arrival.sequence, arrival.what), (sequence, Ok(target)));
                assert!(arrival.at_real_time >= sent);
            }
        }
    }
}

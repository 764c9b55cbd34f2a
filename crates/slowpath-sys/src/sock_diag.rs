//! TCP sockets of the whole network namespace, with `TCP_INFO` of programs that are not ours.
//!
//! What `ss -ti` shows. Source: `include/uapi/linux/{sock_diag,inet_diag}.h`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::netlink::{Attributes, Message, Socket};
use crate::tcp_info::TcpInfo;

/// One TCP socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TcpSocket {
    /// Index of the device that it is bound to; 0 for none.
    pub interface: u32,
    /// The local end.
    pub local: SocketAddr,
    /// The remote end; port 0 for listeners.
    pub remote: SocketAddr,
    /// State number of `include/net/tcp_states.h`: 1 established, 10 listening.
    pub state: u8,
    /// Inode, the number in `/proc/PID/fd` links; 0 once the program closed it.
    pub inode: u32,
    /// User id of the owner.
    pub uid: u32,
    /// Kernel-wide unique number of the socket while it lives.
    pub cookie: u64,
    /// Bytes received and not read by the program (for listeners: connections to accept).
    pub receive_queue: u32,
    /// Bytes written by the program and not acknowledged (for listeners: the backlog).
    pub send_queue: u32,
    /// Connection state; `None` when the kernel gave none (listeners, TIME-WAIT).
    pub info: Option<TcpInfo>,
    /// Congestion control.
    pub congestion_control: String,
    /// Buffer use; `None` when the kernel gave none.
    pub memory: Option<SocketMemory>,
    /// What BBR holds of the path; `None` under another congestion control.
    pub bbr: Option<BbrInfo>,
}

/// BBR's model of the path (`struct tcp_bbr_info`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BbrInfo {
    /// Greatest delivery rate of the newest round trips, bytes per second.
    pub bandwidth: u64,
    /// Smallest round-trip time of the newest ten seconds, microseconds.
    pub min_rtt: u32,
    /// Pacing gain in units of 1/256.
    pub pacing_gain: u32,
    /// Congestion window gain in units of 1/256.
    pub cwnd_gain: u32,
}

/// Buffer use of a socket in bytes of memory (`INET_DIAG_SKMEMINFO`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketMemory {
    /// Memory taken by received data.
    pub receive_allocated: u32,
    /// Bound of the receive buffer (`SO_RCVBUF` as the kernel keeps it).
    pub receive_buffer: u32,
    /// Memory of packets handed to the device.
    pub write_allocated: u32,
    /// Bound of the send buffer.
    pub send_buffer: u32,
    /// Memory charged ahead.
    pub forward_allocated: u32,
    /// Memory of the send queue.
    pub write_queued: u32,
    /// Memory of options.
    pub options: u32,
    /// Packets in the backlog.
    pub backlog: u32,
    /// Packets dropped by the socket.
    pub drops: u32,
}

/// A diagnostics socket in the namespace where it was opened.
pub struct SockDiag {
    socket: Socket,
}

impl SockDiag {
    /// Opens a socket in the calling thread's network namespace.
    ///
    /// # Errors
    /// Those of `socket(2)`.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            socket: Socket::open(libc::NETLINK_SOCK_DIAG)?,
        })
    }

    /// Lists all TCP sockets of the namespace, IPv4 and IPv6, except those in TIME-WAIT.
    ///
    /// # Errors
    /// `ENOENT` when the kernel has no `tcp_diag`.
    pub fn tcp_sockets(&mut self) -> io::Result<Vec<TcpSocket>> {
        let mut all = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let message = Message::new(SOCK_DIAG_BY_FAMILY, &request(family));
            self.socket
                .request(message, 0x300, &mut |_, payload| all.extend(parse(payload)))?;
        }
        Ok(all)
    }

    /// Looks at one connection again; much cheaper than listing all.
    ///
    /// # Errors
    /// `ENOENT` when the connection is gone.
    pub fn again(&mut self, known: &TcpSocket) -> io::Result<TcpSocket> {
        let message = Message::new(SOCK_DIAG_BY_FAMILY, &request_one(known));
        let mut found = None;
        self.socket
            .request(message, 0, &mut |_, payload| found = parse(payload))?;
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))
    }

    /// Lists UDP sockets that are connected to a peer, as those of QUIC usually are.
    ///
    /// # Errors
    /// `ENOENT` when the kernel has no `udp_diag`.
    pub fn udp_sockets(&mut self) -> io::Result<Vec<TcpSocket>> {
        let mut all = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            let mut bytes = request(family);
            bytes[1] = u8::try_from(libc::IPPROTO_UDP).unwrap_or(0);
            let message = Message::new(SOCK_DIAG_BY_FAMILY, &bytes);
            self.socket
                .request(message, 0x300, &mut |_, payload| all.extend(parse(payload)))?;
        }
        Ok(all)
    }
}

/// Tells of TCP connections of the namespace as they are destroyed, each with its last state.
///
/// Source: `sock_diag_broadcast_destroy` in `net/core/sock_diag.c`. Needs no privilege.
pub struct Destroyed {
    socket: Socket,
}

impl Destroyed {
    /// Joins the groups of IPv4 and IPv6 in the calling thread's network namespace.
    ///
    /// # Errors
    /// Those of `setsockopt(NETLINK_ADD_MEMBERSHIP)`.
    pub fn open() -> io::Result<Self> {
        let socket = Socket::open(libc::NETLINK_SOCK_DIAG)?;
        socket.join(SKNLGRP_INET_TCP_DESTROY)?;
        socket.join(SKNLGRP_INET6_TCP_DESTROY)?;
        Ok(Self { socket })
    }

    /// The connections that ended since the last call; does not wait.
    ///
    /// # Errors
    /// `ENOBUFS` when more ended than the socket could hold: those are lost, the next call works again.
    pub fn drain(&mut self) -> io::Result<Vec<TcpSocket>> {
        let mut all = Vec::new();
        self.socket.drain(&mut |payload| all.extend(parse(payload)))?;
        Ok(all)
    }
}

/// `struct inet_diag_req_v2` for all states but TIME-WAIT.
fn request(family: i32) -> [u8; 56] {
    let mut bytes = [0; 56];
    bytes[0] = u8::try_from(family).unwrap_or(0);
    bytes[1] = u8::try_from(libc::IPPROTO_TCP).unwrap_or(0);
    bytes[2] = [
        INET_DIAG_INFO,
        INET_DIAG_VEGASINFO,
        INET_DIAG_CONG,
        INET_DIAG_SKMEMINFO,
    ]
    .iter()
    .fold(0, |mask, extension| mask | 1 << (extension - 1));
    bytes[4..8].copy_from_slice(&(!(1_u32 << 6)).to_ne_bytes());
    bytes
}

/// The same for one connection.
fn request_one(known: &TcpSocket) -> [u8; 56] {
    let family = if known.local.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let mut bytes = request(family);
    bytes[8..10].copy_from_slice(&known.local.port().to_be_bytes());
    bytes[10..12].copy_from_slice(&known.remote.port().to_be_bytes());
    for (at, ip) in [(12, known.local.ip()), (28, known.remote.ip())] {
        match ip {
            IpAddr::V4(ip) => bytes[at..at + 4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => bytes[at..at + 16].copy_from_slice(&ip.octets()),
        }
    }
    bytes[44..48].copy_from_slice(&known.interface.to_ne_bytes());
    bytes[48..56].copy_from_slice(&known.cookie.to_ne_bytes());
    bytes
}

/// `struct inet_diag_msg` and its attributes.
fn parse(payload: &[u8]) -> Option<TcpSocket> {
    let int = |at: usize| Some(u32::from_ne_bytes(payload.get(at..at + 4)?.try_into().ok()?));
    let port = |at: usize| Some(u16::from_be_bytes(payload.get(at..at + 2)?.try_into().ok()?));
    let ip = |at: usize| -> Option<IpAddr> {
        let bytes: [u8; 16] = payload.get(at..at + 16)?.try_into().ok()?;
        Some(if i32::from(payload[0]) == libc::AF_INET {
            Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()
        } else {
            Ipv6Addr::from(bytes).to_canonical()
        })
    };
    let mut socket = TcpSocket {
        state: *payload.get(1)?,
        local: SocketAddr::new(ip(8)?, port(4)?),
        remote: SocketAddr::new(ip(24)?, port(6)?),
        interface: int(40)?,
        cookie: u64::from(int(44)?) | u64::from(int(48)?) << 32,
        receive_queue: int(56)?,
        send_queue: int(60)?,
        uid: int(64)?,
        inode: int(68)?,
        info: None,
        congestion_control: String::new(),
        memory: None,
        bbr: None,
    };
    for (kind, value) in Attributes(payload.get(72..)?) {
        match u8::try_from(kind) {
            Ok(INET_DIAG_INFO) => socket.info = Some(TcpInfo::from_bytes(value)),
            Ok(INET_DIAG_CONG) => {
                let name = value.strip_suffix(&[0]).unwrap_or(value);
                socket.congestion_control = String::from_utf8_lossy(name).into_owned();
            }
            Ok(INET_DIAG_BBRINFO) => socket.bbr = parse_bbr(value),
            Ok(INET_DIAG_SKMEMINFO) => socket.memory = Some(parse_memory(value)),
            _ => {}
        }
    }
    Some(socket)
}

fn parse_bbr(value: &[u8]) -> Option<BbrInfo> {
    let word = |at: usize| Some(u32::from_ne_bytes(value.get(at..at + 4)?.try_into().ok()?));
    Some(BbrInfo {
        bandwidth: u64::from(word(0)?) | u64::from(word(4)?) << 32,
        min_rtt: word(8)?,
        pacing_gain: word(12)?,
        cwnd_gain: word(16)?,
    })
}

fn parse_memory(value: &[u8]) -> SocketMemory {
    let word = |position: usize| {
        let bytes = value
            .get(position * 4..position * 4 + 4)
            .and_then(|part| part.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes)
    };
    SocketMemory {
        receive_allocated: word(0),
        receive_buffer: word(1),
        write_allocated: word(2),
        send_buffer: word(3),
        forward_allocated: word(4),
        write_queued: word(5),
        options: word(6),
        backlog: word(7),
        drops: word(8),
    }
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u8 = 2;
const INET_DIAG_VEGASINFO: u8 = 3;
const INET_DIAG_CONG: u8 = 4;
const INET_DIAG_SKMEMINFO: u8 = 7;
const INET_DIAG_BBRINFO: u8 = 16;
const SKNLGRP_INET_TCP_DESTROY: u32 = 1;
const SKNLGRP_INET6_TCP_DESTROY: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn sees_an_own_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (_server, _) = listener.accept().unwrap();
        client.write_all(&[1; 300]).unwrap();
        let mut diag = SockDiag::open().unwrap();
        let all = diag.tcp_sockets().unwrap();
        let server = all
            .iter()
            .find(|socket| Some(socket.remote) == client.local_addr().ok())
            .unwrap();
        assert_eq!(
            (server.state, server.local.port()),
            (1, listener.local_addr().unwrap().port())
        );
        assert_eq!(server.receive_queue, 300);
        assert_eq!(server.info.unwrap().bytes_received, 300);
        assert!(!server.congestion_control.is_empty());
        assert!(server.memory.unwrap().receive_buffer > 0 && server.inode > 0);
        let listening = all
            .iter()
            .find(|socket| socket.state == 10 && Some(socket.local) == listener.local_addr().ok());
        assert!(listening.is_some());
    }

    #[test]
    fn looks_again_and_is_told_of_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut destroyed = Destroyed::open().unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        crate::sockopt::set_congestion_control(&client, "bbr").ok();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(&[1; 500]).unwrap();
        let mut diag = SockDiag::open().unwrap();
        let ours = client.local_addr().unwrap();
        let all = diag.tcp_sockets().unwrap();
        let known = all.iter().find(|socket| socket.local == ours).unwrap();
        let again = diag.again(known).unwrap();
        assert_eq!((again.cookie, again.receive_queue), (known.cookie, 500));
        assert_eq!(again.bbr.is_some(), again.congestion_control == "bbr");
        drop((client, server));
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        let mut seen = Vec::new();
        while !seen.iter().any(|socket: &TcpSocket| socket.local == ours) {
            assert!(std::time::Instant::now() < deadline, "no word of the end");
            seen.extend(destroyed.drain().unwrap_or_default());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let ended = seen.iter().find(|socket| socket.local == ours).unwrap();
        assert_eq!(ended.info.unwrap().bytes_received, 500);
        let gone = diag.again(known).map(|found| found.cookie);
        assert!(gone.is_err(), "{gone:?}");
    }

    #[test]
    fn cut_answers_are_ignored() {
        let whole = [2_u8; 80];
        for cut in 0..72 {
            assert_eq!(parse(&whole[..cut]), None);
        }
        assert!(parse(&whole[..72]).is_some());
    }
}

//! Datagrams with their control messages: kernel timestamps, TTL, TOS, overflow counts, ICMP errors.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};

use crate::{cvt, cvt_len};

/// What one receive call returned beside the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes written to the buffer.
    pub len: usize,
    /// Whether the datagram was longer than the buffer.
    pub truncated: bool,
    /// The sender, or for the error queue the destination of the datagram that failed.
    pub from: Option<SocketAddr>,
    /// Kernel receive time, nanoseconds since 1970 (needs [`crate::sockopt::set_receive_timestamps`]).
    pub timestamp: Option<u64>,
    /// TTL or hop limit (needs [`crate::sockopt::set_receive_ttl`]).
    pub ttl: Option<u8>,
    /// Type of service or traffic class (needs [`crate::sockopt::set_receive_tos`]).
    pub tos: Option<u8>,
    /// Datagrams dropped by this socket so far (needs [`crate::sockopt::set_report_overflow`]).
    pub dropped: Option<u32>,
    /// Datagram size when several were joined (needs [`crate::sockopt::set_udp_gro`]).
    pub gro_size: Option<u16>,
    /// The error that came back (error queue only).
    pub error: Option<QueuedError>,
}

/// One entry of a socket's error queue (`struct sock_extended_err`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedError {
    /// Error number, for example `EHOSTUNREACH` for an exceeded TTL.
    pub errno: i32,
    /// 1 local, 2 ICMP, 3 ICMPv6.
    pub origin: u8,
    /// ICMP type.
    pub kind: u8,
    /// ICMP code.
    pub code: u8,
    /// More about the error: the next hop's MTU for "fragmentation needed".
    pub info: u32,
    /// The router that sent the error.
    pub offender: Option<IpAddr>,
}

/// Receives one datagram with its control messages; blocks unless the socket does not.
///
/// # Errors
/// Those of `recvmsg(2)`.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_flags(socket, buffer, 0)
}

/// Takes one entry from the error queue; never blocks. The buffer receives the datagram that failed.
///
/// # Errors
/// `WouldBlock` when the queue is empty; otherwise those of `recvmsg(2)`.
pub fn receive_error(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<Received> {
    receive_flags(socket, buffer, libc::MSG_ERRQUEUE)
}

/// Opens an unprivileged ICMP echo socket (`SOCK_DGRAM`, `IPPROTO_ICMP` or `IPPROTO_ICMPV6`).
///
/// The kernel fills in identifier and checksum. Needs the group of the process in `net.ipv4.ping_group_range`.
///
/// # Errors
/// `EACCES` outside that range.
pub fn ping_socket(v6: bool) -> io::Result<std::net::UdpSocket> {
    let (family, protocol) = if v6 {
        (libc::AF_INET6, libc::IPPROTO_ICMPV6)
    } else {
        (libc::AF_INET, libc::IPPROTO_ICMP)
    };
    crate::socket(family, libc::SOCK_DGRAM, protocol).map(Into::into)
}

/// Opens a raw ICMP socket (needs `CAP_NET_RAW`); reads return the IPv4 header too.
///
/// # Errors
/// `EPERM` without the capability.
pub fn raw_icmp_socket(v6: bool) -> io::Result<std::net::UdpSocket> {
    let (family, protocol) = if v6 {
        (libc::AF_INET6, libc::IPPROTO_ICMPV6)
    } else {
        (libc::AF_INET, libc::IPPROTO_ICMP)
    };
    crate::socket(family, libc::SOCK_RAW, protocol).map(Into::into)
}

/// Opens an unconnected TCP socket, so that options can be set before `connect` or `listen`.
///
/// # Errors
/// Those of `socket(2)`.
pub fn tcp_socket(v6: bool) -> io::Result<std::os::fd::OwnedFd> {
    crate::socket(
        if v6 { libc::AF_INET6 } else { libc::AF_INET },
        libc::SOCK_STREAM,
        0,
    )
}

/// Binds a socket to a local address.
///
/// # Errors
/// Those of `bind(2)`.
pub fn bind(socket: impl AsFd, address: SocketAddr) -> io::Result<()> {
    let (storage, length) = encode_address(address);
    // SAFETY: `storage` holds an address of `length` bytes and outlives the call.
    cvt(unsafe { libc::bind(socket.as_fd().as_raw_fd(), (&raw const storage).cast(), length) })?;
    Ok(())
}

/// Connects a socket; blocks unless the socket does not (then `EINPROGRESS`).
///
/// # Errors
/// Those of `connect(2)`.
pub fn connect(socket: impl AsFd, address: SocketAddr) -> io::Result<()> {
    let (storage, length) = encode_address(address);
    // SAFETY: `storage` holds an address of `length` bytes and outlives the call.
    cvt(unsafe { libc::connect(socket.as_fd().as_raw_fd(), (&raw const storage).cast(), length) })?;
    Ok(())
}

/// Starts to listen; the result converts into `std::net::TcpListener`.
///
/// # Errors
/// Those of `listen(2)`.
pub fn listen(socket: impl AsFd, backlog: i32) -> io::Result<()> {
    // SAFETY: takes integers only.
    cvt(unsafe { libc::listen(socket.as_fd().as_raw_fd(), backlog) })?;
    Ok(())
}

/// Reports the error of a finished non-blocking `connect` (`SO_ERROR`).
///
/// # Errors
/// That error, or that of `getsockopt(2)`.
pub fn take_error(socket: impl AsFd) -> io::Result<()> {
    let mut bytes = [0_u8; 4];
    crate::sockopt::get_bytes(socket.as_fd(), libc::SOL_SOCKET, libc::SO_ERROR, &mut bytes)?;
    match i32::from_ne_bytes(bytes) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

/// Sends several datagrams of a connected UDP socket with one call (`sendmmsg`); returns how many went out.
///
/// `data` is cut into pieces of `size` bytes (the last may be shorter); at most 64 per call.
///
/// # Errors
/// Those of `sendmmsg(2)`.
pub fn send_many(socket: impl AsFd, data: &[u8], size: usize) -> io::Result<usize> {
    const MOST: usize = 64;
    // SAFETY: all-zero bytes are a valid mmsghdr and a valid iovec (null pointers, zero lengths).
    let (mut headers, mut vectors): ([libc::mmsghdr; MOST], [libc::iovec; MOST]) =
        unsafe { (zeroed(), zeroed()) };
    let mut count = 0;
    for piece in data.chunks(size.max(1)).take(MOST) {
        vectors[count] = libc::iovec {
            iov_base: piece.as_ptr().cast_mut().cast(),
            iov_len: piece.len(),
        };
        headers[count].msg_hdr.msg_iov = &raw mut vectors[count];
        headers[count].msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` headers point to iovecs that live on this stack frame, and those to pieces of
    // `data`; sendmmsg only reads what the iovecs point to.
    let code = unsafe {
        libc::sendmmsg(
            socket.as_fd().as_raw_fd(),
            headers.as_mut_ptr(),
            u32::try_from(count).unwrap_or(0),
            0,
        )
    };
    Ok(usize::try_from(cvt(code)?).unwrap_or(0))
}

/// Receives the datagrams that are there, at most 64, with one call (`recvmmsg`); returns how many there were.
///
/// `room` is cut into pieces of `size` bytes, one for each datagram; longer ones are cut off.
///
/// # Errors
/// `EAGAIN` when there are none, and the others of `recvmmsg(2)`.
pub fn receive_many(socket: impl AsFd, room: &mut [u8], size: usize) -> io::Result<usize> {
    const MOST: usize = 64;
    // SAFETY: all-zero bytes are a valid mmsghdr and a valid iovec (null pointers, zero lengths).
    let (mut headers, mut vectors): ([libc::mmsghdr; MOST], [libc::iovec; MOST]) =
        unsafe { (zeroed(), zeroed()) };
    let mut count = 0;
    for piece in room.chunks_exact_mut(size.max(1)).take(MOST) {
        vectors[count] = libc::iovec {
            iov_base: piece.as_mut_ptr().cast(),
            iov_len: piece.len(),
        };
        headers[count].msg_hdr.msg_iov = &raw mut vectors[count];
        headers[count].msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` headers point to iovecs that live on this stack frame, and those to pieces of `room`,
    // which nothing else refers to meanwhile; without a wish to wait, a null timeout is allowed.
    let code = unsafe {
        libc::recvmmsg(
            socket.as_fd().as_raw_fd(),
            headers.as_mut_ptr(),
            u32::try_from(count).unwrap_or(0),
            libc::MSG_DONTWAIT as _,
            std::ptr::null_mut(),
        )
    };
    Ok(usize::try_from(cvt(code)?).unwrap_or(0))
}

fn receive_flags(socket: impl AsFd, buffer: &mut [u8], flags: i32) -> io::Result<Received> {
    #[repr(align(8))]
    struct Control([u8; 512]);
    let mut control = Control([0; 512]);
    // SAFETY: all-zero bytes are valid values of these plain C structures.
    let (mut name, mut header): (libc::sockaddr_storage, libc::msghdr) = unsafe { (zeroed(), zeroed()) };
    let mut vector = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    header.msg_name = (&raw mut name).cast();
    header.msg_namelen = socklen::<libc::sockaddr_storage>();
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    // 512 fits, whatever type a C library gives it.
    #[allow(clippy::cast_possible_truncation)]
    {
        header.msg_controllen = control.0.len() as _;
    }
    // SAFETY: every pointer in `header` is to a live local or to `buffer`, with its true length.
    let len = cvt_len(unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags) })?;
    let mut received = Received {
        len,
        truncated: header.msg_flags & libc::MSG_TRUNC != 0,
        from: decode_address(&name, header.msg_namelen),
        ..Received::default()
    };
    // SAFETY: the kernel filled `control` with well-formed messages of total length `msg_controllen`;
    // CMSG_FIRSTHDR and CMSG_NXTHDR stay inside it, and each data pointer is valid for its cmsg_len.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let length = ((*message).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = std::slice::from_raw_parts(libc::CMSG_DATA(message), length);
            note(&mut received, (*message).cmsg_level, (*message).cmsg_type, data);
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    Ok(received)
}

/// Stores one control message.
fn note(received: &mut Received, level: i32, kind: i32, data: &[u8]) {
    let int = || i32_at(data, 0);
    // TTL and TOS come as one byte or as an int.
    let octet = || data.first().copied();
    match (level, kind) {
        (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) if data.len() >= 16 => {
            let word = |at: usize| u64::from_ne_bytes(data[at..at + 8].try_into().unwrap_or_default());
            received.timestamp = Some(word(0) * 1_000_000_000 + word(8));
        }
        (libc::SOL_SOCKET, libc::SO_RXQ_OVFL) => received.dropped = int().map(i32::cast_unsigned),
        (libc::IPPROTO_IP, libc::IP_TTL) | (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT) => {
            received.ttl = octet();
        }
        (libc::IPPROTO_IP, libc::IP_TOS) | (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) => received.tos = octet(),
        (libc::SOL_UDP, libc::UDP_GRO) => received.gro_size = int().and_then(|size| u16::try_from(size).ok()),
        (libc::IPPROTO_IP, libc::IP_RECVERR) | (libc::IPPROTO_IPV6, libc::IPV6_RECVERR)
            if data.len() >= 16 =>
        {
            received.error = Some(QueuedError {
                errno: i32_at(data, 0).unwrap_or(0),
                origin: data[4],
                kind: data[5],
                code: data[6],
                info: i32_at(data, 8).unwrap_or(0).cast_unsigned(),
                offender: offender(&data[16..]),
            });
        }
        _ => {}
    }
}

fn offender(address: &[u8]) -> Option<IpAddr> {
    match i32::from(u16::from_ne_bytes(address.get(..2)?.try_into().ok()?)) {
        libc::AF_INET => Some(IpAddr::from(<[u8; 4]>::try_from(address.get(4..8)?).ok()?)),
        libc::AF_INET6 => Some(IpAddr::from(<[u8; 16]>::try_from(address.get(8..24)?).ok()?)),
        _ => None,
    }
}

fn i32_at(data: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_ne_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

fn socklen<T>() -> libc::socklen_t {
    libc::socklen_t::try_from(size_of::<T>()).unwrap_or(libc::socklen_t::MAX)
}

fn decode_address(storage: &libc::sockaddr_storage, length: libc::socklen_t) -> Option<SocketAddr> {
    match i32::from(storage.ss_family) {
        libc::AF_INET if length >= socklen::<libc::sockaddr_in>() => {
            // SAFETY: the family says that the storage holds a sockaddr_in, and it is large and aligned enough.
            let address = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in>() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(address.sin_port)).into())
        }
        libc::AF_INET6 if length >= socklen::<libc::sockaddr_in6>() => {
            // SAFETY: the family says that the storage holds a sockaddr_in6, and it is large and aligned enough.
            let address = unsafe { &*std::ptr::from_ref(storage).cast::<libc::sockaddr_in6>() };
            let ip = Ipv6Addr::from(address.sin6_addr.s6_addr);
            let port = u16::from_be(address.sin6_port);
            Some(SocketAddrV6::new(ip, port, address.sin6_flowinfo, address.sin6_scope_id).into())
        }
        _ => None,
    }
}

fn encode_address(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all-zero bytes are a valid sockaddr_storage.
    let mut storage: libc::sockaddr_storage = unsafe { zeroed() };
    match address {
        SocketAddr::V4(four) => {
            let value = libc::sockaddr_in {
                sin_family: libc::sa_family_t::try_from(libc::AF_INET).unwrap_or(0),
                sin_port: four.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from(*four.ip()).to_be(),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: sockaddr_storage is larger than and aligned for every socket address.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(value) };
            (storage, socklen::<libc::sockaddr_in>())
        }
        SocketAddr::V6(six) => {
            let value = libc::sockaddr_in6 {
                sin6_family: libc::sa_family_t::try_from(libc::AF_INET6).unwrap_or(0),
                sin6_port: six.port().to_be(),
                sin6_flowinfo: six.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: six.ip().octets(),
                },
                sin6_scope_id: six.scope_id(),
            };
            // SAFETY: sockaddr_storage is larger than and aligned for every socket address.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in6>().write(value) };
            (storage, socklen::<libc::sockaddr_in6>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{clock, sockopt};
    use std::net::{TcpListener, TcpStream, UdpSocket};

    #[test]
    fn receives_with_timestamp_ttl_and_tos() {
        let target = UdpSocket::bind("127.0.0.1:0").unwrap();
        sockopt::set_receive_timestamps(&target, 1).unwrap();
        sockopt::set_receive_ttl(&target, 1).unwrap();
        sockopt::set_receive_tos(&target, 1).unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sockopt::set_tos(&sender, 0x28).unwrap();
        sockopt::set_ttl(&sender, 9).unwrap();
        let before = clock::real_time();
        sender.send_to(b"hello", target.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 3];
        let received = receive(&target, &mut buffer).unwrap();
        assert_eq!((received.len, received.truncated), (3, true));
        assert_eq!((received.ttl, received.tos), (Some(9), Some(0x28)));
        assert_eq!(received.from, Some(sender.local_addr().unwrap()));
        let stamp = received.timestamp.unwrap();
        assert!(stamp + 1_000_000 >= before && stamp <= clock::real_time());
    }

    #[test]
    fn error_queue_reports_a_closed_port() {
        let closed = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sockopt::set_receive_errors(&sender, 1).unwrap();
        let _ = sender.send_to(b"anyone?", closed);
        let mut buffer = [0; 64];
        let received = receive_error(&sender, &mut buffer).unwrap();
        let error = received.error.unwrap();
        assert_eq!(
            (error.errno, error.origin, error.kind, error.code),
            (libc::ECONNREFUSED, 2, 3, 3)
        );
        assert_eq!(error.offender, Some("127.0.0.1".parse().unwrap()));
        assert_eq!(
            (received.from, &buffer[..received.len]),
            (Some(closed), &b"anyone?"[..])
        );
        assert_eq!(
            receive_error(&sender, &mut buffer).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
    }

    #[test]
    fn sockets_with_options_before_connect() {
        for local in ["127.0.0.1:0", "[::1]:0"] {
            let local: SocketAddr = local.parse().unwrap();
            let socket = tcp_socket(local.is_ipv6()).unwrap();
            if bind(&socket, local).is_err() {
                eprintln!("skipped: sockets_with_options_before_connect: no {local} here");
                continue;
            }
            sockopt::set_receive_buffer(&socket, 8192).unwrap();
            listen(&socket, 4).unwrap();
            let listener = TcpListener::from(socket);
            let client = tcp_socket(local.is_ipv6()).unwrap();
            connect(&client, listener.local_addr().unwrap()).unwrap();
            let client = TcpStream::from(client);
            take_error(&client).unwrap();
            assert_eq!(listener.accept().unwrap().1, client.local_addr().unwrap());
        }
    }

    #[test]
    fn many_datagrams_in_one_call() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        assert_eq!(send_many(&sender, &[1; 2500], 1000).unwrap(), 3);
        let mut buffer = [0; 2000];
        let sizes: Vec<usize> = (0..3).map(|_| receiver.recv(&mut buffer).unwrap()).collect();
        assert_eq!(sizes, [1000, 1000, 500]);
        let empty = receive_many(&receiver, &mut buffer, 1000).unwrap_err().kind();
        assert_eq!(empty, io::ErrorKind::WouldBlock);
        send_many(&sender, &[2; 2500], 1000).unwrap();
        assert_eq!(
            receive_many(&receiver, &mut buffer, 1000).unwrap(),
            2,
            "room for two"
        );
        assert_eq!(buffer, [2; 2000]);
        assert_eq!(receive_many(&receiver, &mut buffer, 1000).unwrap(), 1);
    }
}

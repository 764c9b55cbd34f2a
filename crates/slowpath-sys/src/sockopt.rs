//! Socket options that the standard library does not offer.
//!
//! Every function takes anything that owns or borrows a file descriptor (`&TcpStream`, `&UdpSocket`,
//! `OwnedFd`, ...). Errors are those of `setsockopt(2)` and `getsockopt(2)`.

use std::ffi::c_int;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::cvt;

macro_rules! int_option {
    ($( $(#[$doc:meta])* $set:ident, $get:ident, $level:expr, $name:expr; )*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// Those of `setsockopt(2)`.
            pub fn $set(socket: impl AsFd, value: i32) -> io::Result<()> {
                set_bytes(socket.as_fd(), $level, $name, &value.to_ne_bytes())
            }

            #[doc = concat!("Reads what [`", stringify!($set), "`] sets.")]
            ///
            /// # Errors
            /// Those of `getsockopt(2)`.
            pub fn $get(socket: impl AsFd) -> io::Result<i32> {
                get_int(socket.as_fd(), $level, $name)
            }
        )*
    };
}

int_option! {
    /// Sets `SO_SNDBUF`; the kernel doubles the value and bounds it by `net.core.wmem_max`.
    set_send_buffer, send_buffer, libc::SOL_SOCKET, libc::SO_SNDBUF;
    /// Sets `SO_RCVBUF`; the kernel doubles the value and bounds it by `net.core.rmem_max`.
    ///
    /// Set it before connecting or listening: the window scale is chosen at the handshake.
    set_receive_buffer, receive_buffer, libc::SOL_SOCKET, libc::SO_RCVBUF;
    /// Sets `IP_TOS`: DSCP in the upper six bits, ECN in the lower two (IPv4).
    set_tos, tos, libc::IPPROTO_IP, libc::IP_TOS;
    /// Sets `IPV6_TCLASS`: DSCP in the upper six bits, ECN in the lower two (IPv6).
    set_traffic_class, traffic_class, libc::IPPROTO_IPV6, libc::IPV6_TCLASS;
    /// Sets `IP_TTL`.
    set_ttl, ttl, libc::IPPROTO_IP, libc::IP_TTL;
    /// Sets `IPV6_UNICAST_HOPS`.
    set_hop_limit, hop_limit, libc::IPPROTO_IPV6, libc::IPV6_UNICAST_HOPS;
    /// Sets `IP_MTU_DISCOVER`: 0 never set DF, 1 as the route says, 2 always DF, 3 DF without regard to the path MTU.
    set_mtu_discover, mtu_discover, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER;
    /// Sets `IPV6_MTU_DISCOVER`, with the values of [`set_mtu_discover`].
    set_mtu_discover_v6, mtu_discover_v6, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER;
    /// Sets `TCP_WINDOW_CLAMP`: bound of the advertised window in bytes. On Linux 6.18 it does not pin the window when set before the connection.
    set_window_clamp, window_clamp, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP;
    /// Sets `TCP_MAXSEG`: upper bound of the segment size, before the connection.
    set_max_segment, max_segment, libc::IPPROTO_TCP, libc::TCP_MAXSEG;
    /// Sets `TCP_NODELAY` (Nagle's algorithm off when 1).
    set_no_delay, no_delay, libc::IPPROTO_TCP, libc::TCP_NODELAY;
    /// Sets `TCP_QUICKACK` (not lasting: the kernel may fall back to delayed acknowledgements).
    set_quick_ack, quick_ack, libc::IPPROTO_TCP, libc::TCP_QUICKACK;
    /// Sets `TCP_NOTSENT_LOWAT`: bytes of unsent data above which the socket is not writable.
    set_not_sent_low_water, not_sent_low_water, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT;
    /// Sets `TCP_USER_TIMEOUT` in milliseconds.
    set_user_timeout, user_timeout, libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT;
    /// Sets `SO_REUSEADDR`.
    set_reuse_address, reuse_address, libc::SOL_SOCKET, libc::SO_REUSEADDR;
    /// Sets `SO_PRIORITY`, the queueing priority (`IP_TOS` sets it too).
    set_priority, priority, libc::SOL_SOCKET, libc::SO_PRIORITY;
    /// Sets `SO_BUSY_POLL` in microseconds.
    set_busy_poll, busy_poll, libc::SOL_SOCKET, libc::SO_BUSY_POLL;
    /// Sets `SO_TIMESTAMPNS`: [`crate::message::receive`] then reports the kernel's receive time.
    set_receive_timestamps, receive_timestamps, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS;
    /// Sets `SO_RXQ_OVFL`: [`crate::message::receive`] then reports datagrams dropped for want of buffer.
    set_report_overflow, report_overflow, libc::SOL_SOCKET, libc::SO_RXQ_OVFL;
    /// Sets `IP_RECVERR`: ICMP errors arrive in the error queue (IPv4).
    set_receive_errors, receive_errors, libc::IPPROTO_IP, libc::IP_RECVERR;
    /// Sets `IPV6_RECVERR`: ICMPv6 errors arrive in the error queue.
    set_receive_errors_v6, receive_errors_v6, libc::IPPROTO_IPV6, libc::IPV6_RECVERR;
    /// Sets `IP_RECVTOS`: [`crate::message::receive`] then reports the received type of service.
    set_receive_tos, receive_tos, libc::IPPROTO_IP, libc::IP_RECVTOS;
    /// Sets `IPV6_RECVTCLASS`: [`crate::message::receive`] then reports the received traffic class.
    set_receive_traffic_class, receive_traffic_class, libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS;
    /// Sets `IP_RECVTTL`: [`crate::message::receive`] then reports the received TTL.
    set_receive_ttl, receive_ttl, libc::IPPROTO_IP, libc::IP_RECVTTL;
    /// Sets `IPV6_RECVHOPLIMIT`: [`crate::message::receive`] then reports the received hop limit.
    set_receive_hop_limit, receive_hop_limit, libc::IPPROTO_IPV6, libc::IPV6_RECVHOPLIMIT;
    /// Sets `UDP_SEGMENT`: one write is cut into datagrams of so many bytes (Linux 4.18 and later).
    set_udp_segment, udp_segment, libc::SOL_UDP, libc::UDP_SEGMENT;
    /// Sets `UDP_GRO`: several datagrams may arrive in one read (Linux 5.0 and later).
    set_udp_gro, udp_gro, libc::SOL_UDP, libc::UDP_GRO;
}

/// Chooses the congestion control of one connection (`TCP_CONGESTION`), for example `"cubic"`.
///
/// # Errors
/// `ENOENT` when the kernel has no such algorithm (an unprivileged process cannot load the module), `EPERM` when it is restricted.
pub fn set_congestion_control(socket: impl AsFd, name: &str) -> io::Result<()> {
    set_bytes(
        socket.as_fd(),
        libc::IPPROTO_TCP,
        libc::TCP_CONGESTION,
        name.as_bytes(),
    )
}

/// The congestion control in use.
///
/// # Errors
/// Those of `getsockopt(2)`.
pub fn congestion_control(socket: impl AsFd) -> io::Result<String> {
    let mut bytes = [0_u8; 32];
    let length = get_bytes(
        socket.as_fd(),
        libc::IPPROTO_TCP,
        libc::TCP_CONGESTION,
        &mut bytes,
    )?;
    let name = bytes[..length]
        .split(|byte| *byte == 0)
        .next()
        .unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Bounds the pacing rate to `bytes_per_s` (`SO_MAX_PACING_RATE`).
///
/// # Errors
/// Those of `setsockopt(2)`.
pub fn set_max_pacing_rate(socket: impl AsFd, bytes_per_s: u64) -> io::Result<()> {
    set_bytes(
        socket.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        &bytes_per_s.to_ne_bytes(),
    )
}

/// Closes with a reset instead of a FIN when `seconds` is zero (`SO_LINGER`).
///
/// # Errors
/// Those of `setsockopt(2)`.
pub fn set_linger(socket: impl AsFd, seconds: Option<u16>) -> io::Result<()> {
    let value = [i32::from(seconds.is_some()), i32::from(seconds.unwrap_or(0))];
    let mut bytes = [0_u8; 8];
    bytes[..4].copy_from_slice(&value[0].to_ne_bytes());
    bytes[4..].copy_from_slice(&value[1].to_ne_bytes());
    set_bytes(socket.as_fd(), libc::SOL_SOCKET, libc::SO_LINGER, &bytes)
}

/// Binds the socket to one network device (`SO_BINDTODEVICE`).
///
/// # Errors
/// Those of `setsockopt(2)`.
pub fn bind_to_device(socket: impl AsFd, device: &str) -> io::Result<()> {
    set_bytes(
        socket.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_BINDTODEVICE,
        device.as_bytes(),
    )
}

/// Sets any option from raw bytes, for options that have no function here.
///
/// # Errors
/// Those of `setsockopt(2)`.
pub fn set_bytes(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &[u8]) -> io::Result<()> {
    let length = libc::socklen_t::try_from(value.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the pointer and length describe `value`, which outlives the call; the kernel only reads.
    cvt(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, value.as_ptr().cast(), length) })?;
    Ok(())
}

/// Reads any option as raw bytes; returns how many the kernel wrote.
///
/// # Errors
/// Those of `getsockopt(2)`.
pub fn get_bytes(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(value.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the pointer and length describe `value`, which the kernel fills with at most `length` bytes.
    cvt(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            value.as_mut_ptr().cast(),
            &raw mut length,
        )
    })?;
    Ok((length as usize).min(value.len()))
}

fn get_int(socket: BorrowedFd<'_>, level: c_int, name: c_int) -> io::Result<i32> {
    let mut bytes = [0_u8; size_of::<i32>()];
    get_bytes(socket, level, name, &mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn options_read_back() {
        let (client, _server) = pair();
        set_send_buffer(&client, 40_000).unwrap();
        assert_eq!(send_buffer(&client).unwrap(), 80_000);
        set_tos(&client, 0xb8).unwrap();
        assert_eq!(tos(&client).unwrap() & !3, 0xb8);
        set_no_delay(&client, 1).unwrap();
        assert_eq!(no_delay(&client).unwrap(), 1);
        set_max_pacing_rate(&client, 1_000_000).unwrap();
        set_linger(&client, Some(0)).unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        set_receive_timestamps(&udp, 1).unwrap();
        assert_eq!(receive_timestamps(&udp).unwrap(), 1);
        assert!(no_delay(&udp).is_err(), "a TCP option on a UDP socket is refused");
    }

    #[test]
    fn congestion_control_is_settable_and_unknown_ones_are_refused() {
        let (client, _server) = pair();
        set_congestion_control(&client, "reno").unwrap();
        assert_eq!(congestion_control(&client).unwrap(), "reno");
        assert!(set_congestion_control(&client, "no-such-algorithm").is_err());
    }
}

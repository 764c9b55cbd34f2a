//! Sockets of other processes: a second descriptor of one, and passing it on.
//!
//! What is set through such a descriptor is set on the other process's connection. While one is open, the other process's
//! `close` ends nothing: the connection is closed with its last descriptor. Holders look often and let go.
//! Sources: `pidfd_open(2)`, `pidfd_getfd(2)`, `unix(7)` (SCM_RIGHTS), `proc_pid_status(5)`.

use std::fs;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use crate::sockopt::{get_bytes, set_bytes};
use crate::{cvt, cvt_len};

/// A handle of a process that stays this process's, whatever its number is used for later.
///
/// `pid` is a number of `/proc`, which may be mounted for an outer PID namespace.
///
/// # Errors
/// `ESRCH` when it is gone.
pub fn open_process(pid: u32) -> io::Result<OwnedFd> {
    let number = libc::pid_t::try_from(own_view(pid)?).map_err(|_| io::ErrorKind::InvalidInput)?;
    open_number(number, 0)
}

/// The same of a number of this process's own PID namespace, with flags of `pidfd_open(2)`.
pub(crate) fn open_number(number: libc::pid_t, flags: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, number, flags) };
    owned(fd)
}

/// A second descriptor of what another process holds as `number`; closed on exec.
///
/// # Errors
/// `EPERM` where this user may not look into that process: another user's, one that forbids it, or under Yama one that is no
/// descendant of this process; `EBADF` when it has no such descriptor; `ENOSYS` before Linux 5.6.
pub fn duplicate_from(process: impl AsFd, number: u32) -> io::Result<OwnedFd> {
    // SAFETY: takes integers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_fd().as_raw_fd(), number, 0) };
    owned(fd)
}

/// The kernel-wide unique number of a socket (`SO_COOKIE`), as `sock_diag` tells it.
///
/// # Errors
/// Those of `getsockopt(2)`.
pub fn cookie(socket: impl AsFd) -> io::Result<u64> {
    let mut bytes = [0; 8];
    get_bytes(socket.as_fd(), libc::SOL_SOCKET, libc::SO_COOKIE, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Which buffers of a socket have a fixed size (`SO_BUF_LOCK`): 1 the send buffer, 2 the receive buffer.
///
/// # Errors
/// `ENOPROTOOPT` before Linux 5.14.
pub fn fixed_buffers(socket: impl AsFd) -> io::Result<i32> {
    let mut bytes = [0; 4];
    get_bytes(socket.as_fd(), libc::SOL_SOCKET, libc::SO_BUF_LOCK, &mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}

/// Says which buffers have a fixed size; those that are left out may grow by themselves again.
///
/// # Errors
/// `ENOPROTOOPT` before Linux 5.14, `EINVAL` for other bits.
pub fn fix_buffers(socket: impl AsFd, bits: i32) -> io::Result<()> {
    let bits = bits.to_ne_bytes();
    set_bytes(socket.as_fd(), libc::SOL_SOCKET, libc::SO_BUF_LOCK, &bits)
}

/// The bound of the pacing rate in bytes per second (`SO_MAX_PACING_RATE`); all ones without one.
///
/// # Errors
/// Those of `getsockopt(2)`.
pub fn max_pacing_rate(socket: impl AsFd) -> io::Result<u64> {
    let mut bytes = [0; 8];
    let length = get_bytes(
        socket.as_fd(),
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        &mut bytes,
    )?;
    if length == 8 {
        return Ok(u64::from_ne_bytes(bytes));
    }
    let short = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(if short == u32::MAX { u64::MAX } else { short.into() })
}

/// Sends one message over a Unix socket, with a descriptor of which the receiver gets its own.
///
/// # Errors
/// `EPIPE` when the receiver is gone, and the others of `sendmsg(2)`.
pub fn send_with_descriptor(
    socket: impl AsFd,
    bytes: &[u8],
    descriptor: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut control = Control([0; 64]);
    let mut vector = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: all-zero bytes are a valid msghdr (null pointers, zero lengths).
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    if let Some(descriptor) = descriptor {
        let size = u32::try_from(size_of::<libc::c_int>()).unwrap_or(4);
        header.msg_control = control.0.as_mut_ptr().cast();
        // SAFETY: CMSG_SPACE and CMSG_LEN compute from integers; `control` has room for one message of one descriptor
        // (24 bytes), is aligned for it, and outlives the call; CMSG_FIRSTHDR points into it.
        unsafe {
            header.msg_controllen = libc::CMSG_SPACE(size) as _;
            let message = libc::CMSG_FIRSTHDR(&raw const header);
            (*message).cmsg_level = libc::SOL_SOCKET;
            (*message).cmsg_type = libc::SCM_RIGHTS;
            (*message).cmsg_len = libc::CMSG_LEN(size) as _;
            let number = descriptor.as_raw_fd().to_ne_bytes();
            std::ptr::copy_nonoverlapping(number.as_ptr(), libc::CMSG_DATA(message), number.len());
        }
    }
    // SAFETY: every pointer in `header` is to a live local or to `bytes`, which the kernel only reads.
    cvt_len(unsafe { libc::sendmsg(socket.as_fd().as_raw_fd(), &raw const header, libc::MSG_NOSIGNAL) })?;
    Ok(())
}

/// Receives one message with the descriptor that came with it; a length of 0 is the end.
///
/// # Errors
/// Those of `recvmsg(2)`.
pub fn receive_with_descriptor(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut control = Control([0; 64]);
    let mut vector = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all-zero bytes are a valid msghdr.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = &raw mut vector;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    // 64 fits, whatever type a C library gives it.
    #[allow(clippy::cast_possible_truncation)]
    {
        header.msg_controllen = control.0.len() as _;
    }
    let flags = libc::MSG_CMSG_CLOEXEC;
    // SAFETY: every pointer in `header` is to a live local or to `buffer`, with its true length.
    let length = cvt_len(unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut header, flags) })?;
    let mut descriptor = None;
    // SAFETY: the kernel filled `control` with well-formed messages of total length `msg_controllen`; a descriptor of
    // SCM_RIGHTS is fresh and nobody else's.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            if (*message).cmsg_level == libc::SOL_SOCKET && (*message).cmsg_type == libc::SCM_RIGHTS {
                let length = ((*message).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                let numbers = std::slice::from_raw_parts(libc::CMSG_DATA(message), length);
                for number in numbers.chunks_exact(size_of::<libc::c_int>()) {
                    let number = libc::c_int::from_ne_bytes(number.try_into().unwrap_or_default());
                    descriptor = Some(OwnedFd::from_raw_fd(number));
                }
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    Ok((length, descriptor))
}

/// Room for control messages, aligned as their headers are.
#[repr(align(8))]
struct Control([u8; 64]);

/// What a system call gave: a fresh descriptor, or the error of this thread.
pub(crate) fn owned(fd: libc::c_long) -> io::Result<OwnedFd> {
    let fd = cvt(fd.try_into().unwrap_or(-1))?;
    // SAFETY: `fd` is a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// The number under which this process knows the one that `/proc` lists as `pid`.
fn own_view(pid: u32) -> io::Result<u32> {
    let numbers = |of: &str| -> io::Result<Vec<u32>> {
        let text = fs::read_to_string(format!("/proc/{of}/status"))?;
        let line = text.lines().find_map(|line| line.strip_prefix("NSpid:"));
        Ok(line
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect())
    };
    // One number for each namespace from that of `/proc` inwards; ours is as deep as we are.
    let depth = numbers("self")?.len();
    let theirs = numbers(&pid.to_string())?;
    Ok(theirs.get(depth.saturating_sub(1)).copied().unwrap_or(pid))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockopt;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixDatagram;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn a_socket_reached_by_its_process_is_the_same_socket() {
        let (client, _server) = pair();
        let me = open_process(std::process::id()).unwrap();
        let number = u32::try_from(client.as_raw_fd()).unwrap();
        let again = duplicate_from(&me, number).unwrap();
        assert_eq!(cookie(&again).unwrap(), cookie(&client).unwrap());
        sockopt::set_congestion_control(&again, "reno").unwrap();
        assert_eq!(sockopt::congestion_control(&client).unwrap(), "reno");
        let none = duplicate_from(&me, 99_999).unwrap_err();
        assert_eq!(none.raw_os_error(), Some(libc::EBADF));
        assert!(open_process(0x3fff_ffff).is_err());
    }

    #[test]
    fn a_descriptor_travels_with_a_message() {
        let (client, _server) = pair();
        let (here, there) = UnixDatagram::pair().unwrap();
        send_with_descriptor(&here, b"keep", Some(client.as_fd())).unwrap();
        send_with_descriptor(&here, b"alone", None).unwrap();
        let mut buffer = [0; 16];
        let (length, passed) = receive_with_descriptor(&there, &mut buffer).unwrap();
        assert_eq!(&buffer[..length], b"keep");
        assert_eq!(cookie(passed.unwrap()).unwrap(), cookie(&client).unwrap());
        let (length, none) = receive_with_descriptor(&there, &mut buffer).unwrap();
        assert_eq!((&buffer[..length], none.is_none()), (&b"alone"[..], true));
    }

    #[test]
    fn a_fixed_buffer_may_grow_again() {
        let (client, _server) = pair();
        if fixed_buffers(&client).is_err() {
            eprintln!("skipped: a_fixed_buffer_may_grow_again: this kernel has no SO_BUF_LOCK");
            return;
        }
        assert_eq!(fixed_buffers(&client).unwrap(), 0);
        sockopt::set_send_buffer(&client, 40_000).unwrap();
        assert_eq!(fixed_buffers(&client).unwrap(), 1);
        fix_buffers(&client, 0).unwrap();
        assert_eq!(fixed_buffers(&client).unwrap(), 0);
    }

    #[test]
    fn pacing_reads_back() {
        let (client, _server) = pair();
        assert_eq!(max_pacing_rate(&client).unwrap(), u64::MAX);
        sockopt::set_max_pacing_rate(&client, 10_000_000_000).unwrap();
        assert_eq!(max_pacing_rate(&client).unwrap(), 10_000_000_000);
        sockopt::set_max_pacing_rate(&client, u64::MAX).unwrap();
        assert_eq!(max_pacing_rate(&client).unwrap(), u64::MAX);
    }
}

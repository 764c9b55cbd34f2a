//! Thin safe wrappers over the Linux calls that slowpath needs and the standard library lacks.
//!
//! This is the only crate of the project with `unsafe`. It holds no policy, no threads of its own and no
//! state: each function is one kernel facility, takes borrowed descriptors and plain values, and returns
//! plain structs and `std::io::Error` with the kernel's own error number. Callers add the words about what
//! they were doing. It prints nothing.
//!
//! * [`sockopt`]: socket options (congestion control, buffers, TOS, window clamp, pacing, ...).
//! * [`tcp_info`]: `TCP_INFO` of an own socket; [`sock_diag`]: the same of anybody's sockets in the namespace.
//! * [`shared_socket`]: sockets of other processes, reached through their descriptors; [`socket_gate`]: before they connect.
//! * [`message`]: datagrams with kernel timestamps, TTL, TOS and the ICMP error queue.
//! * [`clock`]: clocks, precise sleep, timer slack; [`poll`]: waiting with nanosecond timeouts.
//! * [`netlink`]: links, addresses, routes; [`sysctl`]: settings under `/proc/sys`.
//! * [`namespace`]: user, network and mount namespaces; [`process`]: children that die with their parent.
//! * [`process_table`]: what `/proc` tells of processes: threads, scheduling, I/O, sockets, throttling.
//! * [`protocol_counters`]: what a network namespace counted of UDP.
//! * [`memory`]: buffers in large pages; [`private_folder`]: folders closed to other users.
//! * [`tun`] and [`packet_socket`]: where packets leave the kernel, with the [`vnet`] header of trains; [`packet_ring`]: headers of
//!   packets that pass.
//!
//! Start with [`sockopt`] for workloads, with [`namespace`] for a lab.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[cfg(not(target_os = "linux"))]
compile_error!("slowpath-sys wraps Linux system calls and builds on Linux only");

pub mod clock;
pub mod memory;
pub mod message;
pub mod namespace;
pub mod netlink;
pub mod packet_ring;
pub mod packet_socket;
pub mod poll;
pub mod private_folder;
pub mod process;
pub mod process_table;
pub mod protocol_counters;
pub mod shared_socket;
pub mod sock_diag;
pub mod socket_gate;
pub mod sockopt;
pub mod sysctl;
pub mod tcp_info;
pub mod tun;
pub mod vnet;

use std::io;

/// Turns the "-1 and errno" convention into a `Result`.
fn cvt(code: libc::c_int) -> io::Result<libc::c_int> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(code)
    }
}

/// Like [`cvt`] for calls that return a length.
fn cvt_len(code: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(code).map_err(|_| io::Error::last_os_error())
}

/// Opens a socket that is closed on exec.
fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> io::Result<std::os::fd::OwnedFd> {
    use std::os::fd::FromRawFd;
    // SAFETY: takes integers only.
    let fd = cvt(unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: `fd` is a fresh descriptor that nobody else owns.
    Ok(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) })
}

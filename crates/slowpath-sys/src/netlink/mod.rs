//! Netlink, as far as a lab needs it: links, their queues, addresses, routes, and the message layer below them.
//!
//! Requests are synchronous: one message out, all answers in. A [`Netlink`] belongs to the network namespace
//! in which it was opened, wherever its thread goes later.
//!
//! Sources: `netlink(7)`, `rtnetlink(7)`, `include/uapi/linux/{netlink,rtnetlink,if_link,if_addr}.h`.

mod address;
mod link;
mod message;
mod queue;
mod route;

pub use address::Address;
pub use link::{Link, LinkChange, LinkStats, index_of};
pub use queue::Queue;
pub use route::{Route, RouteMetrics};

pub(crate) use message::{Attributes, Message, Socket};

use std::io;

/// A routing netlink socket in the namespace where it was opened.
pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    /// Opens a socket in the calling thread's network namespace.
    ///
    /// # Errors
    /// Those of `socket(2)`.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            socket: Socket::open(libc::NETLINK_ROUTE)?,
        })
    }
}

/// Bytes of an IP address, 4 or 16.
fn ip_bytes(ip: std::net::IpAddr) -> Vec<u8> {
    match ip {
        std::net::IpAddr::V4(v4) => v4.octets().to_vec(),
        std::net::IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// The address family number of an IP address.
fn family(ip: std::net::IpAddr) -> u8 {
    let number = if ip.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    u8::try_from(number).unwrap_or(0)
}

//! What the accepting thread and the tests have in common.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::config::{ServerConfig, TestRecord};
use crate::context::Context;
use crate::iperf3::wire::Cookie;

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) config: ServerConfig,
    pub(super) context: Context,
    pub(super) waiting: Mutex<HashMap<Cookie, Waiting>>,
    pub(super) records: Mutex<Vec<TestRecord>>,
}

/// A test that is there, and what it takes.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) sender: Sender<Arrival>,
    pub(super) peer: IpAddr,
    /// UDP streams that it still wants; of the tests of one address only one wants any.
    pub(super) udp_wanted: u32,
}

#[derive(Debug)]
pub(super) enum Arrival {
    /// A data connection, with the number under which it was accepted.
    Tcp(u64, TcpStream),
    Udp(UdpSocket),
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A UDP socket that shares its address with others; a connected one gets its peer's datagrams.
pub(super) fn open_udp(address: SocketAddr) -> io::Result<UdpSocket> {
    let domain = socket2::Domain::for_address(address);
    let socket = socket2::Socket::new(domain, socket2::Type::DGRAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

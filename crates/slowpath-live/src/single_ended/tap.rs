//! Counts what the connections of one test move, from the kernel's own account.
//!
//! All layers are measured alike: payload bytes that reached the other end's kernel, from the first data on (a login is not a
//! rate) until a test's span is over.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use slowpath_sys::sock_diag::{SockDiag, TcpSocket};

/// Which connections belong to a test: those to here that were not there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meant {
    /// The server.
    pub(super) address: IpAddr,
    /// Its port; `None` where a protocol opens others.
    pub(super) port: Option<u16>,
}

impl Meant {
    fn is(&self, socket: &TcpSocket) -> bool {
        socket.state != LISTEN
            && socket.remote.ip().to_canonical() == self.address.to_canonical()
            && self.port.is_none_or(|port| socket.remote.port() == port)
    }
}

/// The count of one test.
pub(super) struct Tap {
    diag: SockDiag,
    meant: Meant,
    reverse: bool,
    old: HashSet<u64>,
    followed: HashMap<u64, (TcpSocket, u64)>,
    listed: Option<Instant>,
    /// Before the data began, and now.
    begin: Option<(Instant, u64)>,
    now: Option<(Instant, u64)>,
    begun: bool,
    mtu: u32,
}

impl Tap {
    /// Begins, before the test makes its connections.
    ///
    /// # Errors
    /// The kernel offers no socket diagnostics.
    pub(super) fn begin(meant: Meant, reverse: bool) -> io::Result<Self> {
        let mut diag = SockDiag::open()?;
        let old = diag.tcp_sockets()?.into_iter().map(|socket| socket.cookie);
        Ok(Self {
            old: old.collect(),
            diag,
            meant,
            reverse,
            followed: HashMap::new(),
            listed: None,
            begin: None,
            now: None,
            begun: false,
            mtu: 0,
        })
    }

    /// Looks once; gives the connections that are new.
    pub(super) fn look(&mut self) -> Vec<TcpSocket> {
        let at = Instant::now();
        for (socket, bytes) in self.followed.values_mut() {
            if let Ok(again) = self.diag.again(socket)
                && again.cookie == socket.cookie
            {
                *bytes = (*bytes).max(moved(&again, self.reverse));
                self.mtu = again.info.map_or(self.mtu, |info| info.pmtu);
            }
        }
        let pause = if self.begun { LIST_LATER } else { LIST };
        let mut new = Vec::new();
        if self
            .listed
            .is_none_or(|listed| at.duration_since(listed) >= pause)
        {
            self.listed = Some(at);
            for socket in self.diag.tcp_sockets().unwrap_or_default() {
                let is_new = socket.info.is_some()
                    && self.meant.is(&socket)
                    && !self.old.contains(&socket.cookie)
                    && !self.followed.contains_key(&socket.cookie);
                if is_new {
                    let bytes = moved(&socket, self.reverse);
                    self.followed.insert(socket.cookie, (socket.clone(), bytes));
                    new.push(socket);
                }
            }
        }
        let bytes = self.bytes();
        if bytes >= DATA && !self.begun {
            self.begun = true;
            self.begin = self.now.or(Some((at, bytes)));
        }
        self.now = Some((at, bytes));
        new
    }

    /// The connections, as they were last seen.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &TcpSocket> {
        self.followed.values().map(|(socket, _)| socket)
    }

    /// Bytes moved in the direction of the test.
    pub(super) fn bytes(&self) -> u64 {
        self.followed.values().map(|(_, bytes)| bytes).sum()
    }

    /// How long data have been moving; `None` before they do.
    pub(super) fn moving(&self) -> Option<Duration> {
        let (begin, now) = (self.begin?, self.now?);
        Some(now.0.duration_since(begin.0))
    }

    /// Bytes a second since the data began.
    pub(super) fn rate(&self) -> Option<f64> {
        let (begin, now) = (self.begin?, self.now?);
        let seconds = now.0.duration_since(begin.0).as_secs_f64();
        (seconds > 0.0).then(|| now.1.saturating_sub(begin.1) as f64 / seconds)
    }

    /// The local end of the connection that moved most, as [`why`](crate::why) writes it.
    pub(super) fn main_connection(&self) -> Option<String> {
        let most = self.followed.values().max_by_key(|(_, bytes)| *bytes);
        most.map(|(socket, _)| socket.local.to_string())
    }

    /// The path MTU that TCP goes by, bytes; 0 where the kernel does not tell.
    pub(super) const fn mtu(&self) -> u32 {
        self.mtu
    }
}

fn moved(socket: &TcpSocket, reverse: bool) -> u64 {
    socket.info.map_or(0, |info| {
        if reverse {
            info.bytes_received
        } else {
            info.bytes_acked
        }
    })
}

/// From this many bytes on it is data, and no login or greeting any more.
const DATA: u64 = 32_768;
/// Between two searches for new connections, before and after the data began.
const LIST: Duration = Duration::from_millis(30);
const LIST_LATER: Duration = Duration::from_millis(250);
/// TCP_LISTEN of `include/net/tcp_states.h`.
const LISTEN: u8 = 10;

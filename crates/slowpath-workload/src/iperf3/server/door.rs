//! The accepting thread: finds out what a connection or a greeting is, and hands it to its test.

use std::io::{self, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::Instant;

use slowpath_sys::poll::PollSet;
use slowpath_units::Duration;

use super::config::TestRecord;
use super::shared::{Arrival, Shared, Waiting, lock, open_udp};
use super::test::Test;
use crate::context::Context;
use crate::iperf3::greeting::UDP_REPLY;
use crate::iperf3::wire::{COOKIE_LEN, Control, Cookie, State};

/// A connection whose cookie has not arrived in full.
#[derive(Debug)]
struct Pending {
    stream: TcpStream,
    peer: SocketAddr,
    number: u64,
    cookie: [u8; COOKIE_LEN],
    filled: usize,
    since: Instant,
}

/// The accepting thread.
pub(super) struct Door<'a> {
    shared: &'a Arc<Shared>,
    listener: Arc<TcpListener>,
    udp: UdpSocket,
    pending: Vec<Pending>,
    tests: Vec<JoinHandle<()>>,
    accepted: u64,
}

impl<'a> Door<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, listener: TcpListener, udp: UdpSocket) -> Self {
        Self {
            shared,
            listener: Arc::new(listener),
            udp,
            pending: Vec::new(),
            tests: Vec::new(),
            accepted: 0,
        }
    }

    pub(super) fn keep(mut self, run: &Context) {
        while run.check().is_ok() && self.shared.context.check().is_ok() {
            let mut set = PollSet::new();
            set.add_readable(self.listener.as_fd());
            set.add_readable(self.udp.as_fd());
            for pending in &self.pending {
                set.add_readable(pending.stream.as_fd());
            }
            if set.wait(Some(TICK)).is_err() {
                std::thread::sleep(Context::SLICE);
                continue;
            }
            let ready: Vec<bool> = (0..self.pending.len())
                .map(|index| set.is_ready(index + 2))
                .collect();
            self.read_cookies(&ready);
            if set.is_ready(1) {
                self.take_udp();
            }
            if set.is_ready(0) {
                self.accept();
            }
            self.tests.retain(|test| !test.is_finished());
        }
        self.shared.context.cancel().cancel();
        for test in self.tests {
            let _ = test.join();
        }
    }

    fn accept(&mut self) {
        // A bounded number at a time, so that cookies and UDP are read in between.
        for _ in 0..64 {
            let Ok((stream, peer)) = self.listener.accept() else {
                return;
            };
            self.accepted += 1;
            if !self.shared.context.serves(peer.ip()) || stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.pending.len() >= self.shared.config.limits.pending.max(1) {
                self.pending.remove(0);
            }
            self.pending.push(Pending {
                stream,
                peer,
                number: self.accepted,
                cookie: [0; COOKIE_LEN],
                filled: 0,
                since: Instant::now(),
            });
        }
    }

    fn read_cookies(&mut self, ready: &[bool]) {
        let mut kept = Vec::with_capacity(self.pending.len());
        for (index, mut pending) in std::mem::take(&mut self.pending).into_iter().enumerate() {
            if ready.get(index).copied().unwrap_or(false) {
                match pending.read() {
                    Ok(true) => self.admit(pending),
                    Ok(false) => kept.push(pending),
                    Err(_) => {}
                }
            } else if pending.since.elapsed() < COOKIE_WAIT {
                kept.push(pending);
            }
        }
        self.pending = kept;
    }

    /// Hands a connection to its test, or makes a test of it.
    fn admit(&mut self, pending: Pending) {
        let cookie = Cookie(pending.cookie);
        if pending.stream.set_nonblocking(false).is_err() {
            return;
        }
        if let Some(waiting) = lock(&self.shared.waiting).get(&cookie) {
            // A test that has just ended takes no more streams.
            let _ = waiting.sender.send(Arrival::Tcp(pending.number, pending.stream));
            return;
        }
        let control = Control {
            stream: Arc::new(pending.stream),
        };
        if self.tests.len() >= self.shared.config.limits.tests {
            let brief = self
                .shared
                .context
                .clone()
                .with_timeout(Duration::from_millis(10));
            let _ = control.send_state(State::AccessDenied, &brief);
            return;
        }
        let (sender, receiver) = mpsc::channel();
        let waiting = Waiting {
            sender,
            peer: pending.peer.ip(),
            udp_wanted: 0,
        };
        lock(&self.shared.waiting).insert(cookie, waiting);
        let (shared, listener, peer) = (Arc::clone(self.shared), Arc::clone(&self.listener), pending.peer);
        let test = std::thread::Builder::new()
            .name("iperf3-test".to_owned())
            .spawn(move || {
                let test = Test {
                    shared: &shared,
                    listener: &listener,
                    control,
                    cookie,
                    peer,
                    receiver,
                };
                let outcome = test.run();
                lock(&shared.waiting).remove(&cookie);
                let mut records = lock(&shared.records);
                // Nobody may take the records of a server that runs for months.
                if records.len() >= MOST_RECORDS {
                    records.remove(0);
                }
                records.push(TestRecord {
                    client: peer,
                    outcome,
                });
            });
        match test {
            Ok(test) => self.tests.push(test),
            Err(_) => {
                lock(&self.shared.waiting).remove(&cookie);
            }
        }
    }

    /// Makes a stream of a greeting, if a test of that address waits for one.
    fn take_udp(&self) {
        let mut buffer = [0_u8; 64];
        for _ in 0..64 {
            let Ok((_, peer)) = self.udp.recv_from(&mut buffer) else {
                return;
            };
            let mut waiting = lock(&self.shared.waiting);
            let test = waiting
                .values_mut()
                .find(|test| test.udp_wanted > 0 && test.peer.to_canonical() == peer.ip().to_canonical());
            let (Some(test), Ok(own)) = (test, self.udp.local_addr()) else {
                continue;
            };
            let opened = open_udp(own).and_then(|socket| {
                socket.connect(peer)?;
                socket.send(UDP_REPLY)?;
                Ok(socket)
            });
            if let Ok(socket) = opened {
                test.udp_wanted -= 1;
                let _ = test.sender.send(Arrival::Udp(socket));
            }
        }
    }
}

impl Pending {
    /// Reads what is there; true when the cookie is complete.
    fn read(&mut self) -> io::Result<bool> {
        match (&self.stream).read(&mut self.cookie[self.filled..]) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                self.filled += len;
                Ok(self.filled == COOKIE_LEN)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

/// How often the accepting thread looks at its flags, in nanoseconds.
const TICK: u64 = 100_000_000;
/// How long a connection may take to say what it is.
const COOKIE_WAIT: std::time::Duration = std::time::Duration::from_secs(5);
const MOST_RECORDS: usize = 1000;

//! Copies through SSH: a channel with a window, and SFTP's requests on top of it.
//!
//! The side that sends the file counts what it was granted; the other side grants as it consumes. Data are bare
//! lengths, messages the other way are real bytes, because their kinds differ.
//!
//! | | OpenSSH 9 | here | why |
//! |---|---|---|---|
//! | window adjustment | when more than three packets were consumed | every four packets | consumed in whole packets |
//! | encryption | takes processor time | none | the lab has the real one |
//! | login | about eight exchanges of differing sizes | as many of one size | only round trips count |
//!
//! A copy's time begins behind the login.

use slowpath_record::TransferResult;
use slowpath_units::Time;

use super::{Program, SshClient, SshDirection, SshServer, SshTransfer};
use crate::host::ConnId;
use crate::system::System;
use crate::tcp::Events;

/// Runs an [`SshClient`].
#[derive(Debug)]
pub(crate) struct SshClientProgram {
    plan: SshClient,
    /// When the copy began: as the programs' own meters do, the login is left out.
    started: Time,
    conn: Option<ConnId>,
    /// Exchanges of the login that are still to come.
    logins: u32,
    end: End,
    ended: bool,
}

impl SshClientProgram {
    pub(crate) fn new(plan: SshClient) -> Self {
        let sends = plan.transfer.direction == SshDirection::Put;
        Self {
            started: Time::ZERO,
            conn: None,
            logins: plan.transfer.logins.max(1),
            end: End::new(&plan.transfer, sends),
            ended: false,
            plan,
        }
    }

    fn act(&mut self, system: &mut System<'_>, conn: ConnId) {
        let now = system.now;
        while self.logins > 0 {
            let Some(connection) = system.connection(conn) else {
                return;
            };
            if connection.readable() < LOGIN {
                return;
            }
            connection.read(now, LOGIN);
            self.logins -= 1;
            self.greet(system, conn);
        }
        self.end.act(system, conn);
        if self.end.done() {
            self.finish(system, conn, None);
        }
    }

    /// The next message of the login, or the first of the transfer.
    fn greet(&mut self, system: &mut System<'_>, conn: ConnId) {
        if self.logins > 0 {
            system.write(conn, &[0; LOGIN as usize]);
            return;
        }
        if let (Some(dscp), Some(connection)) = (self.plan.transfer.dscp, system.connection(conn)) {
            connection.mark(dscp);
        }
        self.started = system.now;
        self.end.begin(system, conn);
    }

    fn finish(&mut self, system: &mut System<'_>, conn: ConnId, error: Option<String>) {
        if self.ended {
            return;
        }
        self.ended = true;
        let mut retransmitted = None;
        if let Some(connection) = system.connection(conn) {
            // The sender of a download is the other end.
            let sends = self.end.sends;
            retransmitted = sends.then(|| connection.info().sender.retransmissions);
            connection.finish();
        }
        let (start, end) = (self.started, system.now);
        system.report_transfer(TransferResult {
            name: self.plan.transfer.name.clone(),
            bytes: self.end.moved(),
            start,
            end,
            complete: error.is_none(),
            error,
            retransmitted_segments: retransmitted,
            sender: None,
        });
        system.end();
    }
}

impl Program for SshClientProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.started = system.now;
        self.conn = system.connect(self.plan.to, None);
        if let Some(connection) = self.conn.and_then(|conn| system.connection(conn)) {
            // `ssh_packet_set_interactive` sets it for every use.
            connection.no_delay();
            if self.end.sends {
                connection.keep_bytes();
            }
        }
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        if self.ended {
            return;
        }
        if events.connected {
            self.greet(system, conn);
        }
        if events.readable || events.writable {
            self.act(system, conn);
        }
        if events.closed {
            self.finish(system, conn, Some("the connection was closed".to_owned()));
        }
    }
}

/// Runs an [`SshServer`] for one connection after the other.
#[derive(Debug)]
pub(crate) struct SshServerProgram {
    plan: SshServer,
    session: Option<(ConnId, u32, End)>,
}

impl SshServerProgram {
    pub(crate) const fn new(plan: SshServer) -> Self {
        Self { plan, session: None }
    }
}

impl Program for SshServerProgram {
    fn start(&mut self, system: &mut System<'_>) {
        let sends = self.plan.transfer.direction == SshDirection::Get;
        system.listen(self.plan.port, sends);
    }

    fn accepted(&mut self, system: &mut System<'_>, conn: ConnId, _port: u16) {
        if let Some(connection) = system.connection(conn) {
            connection.no_delay();
        }
        let transfer = &self.plan.transfer;
        let end = End::new(transfer, transfer.direction == SshDirection::Get);
        self.session = Some((conn, transfer.logins.max(1), end));
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        let Some((own, logins, end)) = &mut self.session else {
            return;
        };
        if *own != conn {
            return;
        }
        let now = system.now;
        while *logins > 0 {
            let Some(connection) = system.connection(conn) else {
                return;
            };
            if connection.readable() < LOGIN {
                break;
            }
            connection.read(now, LOGIN);
            *logins -= 1;
            system.write(conn, &[0; LOGIN as usize]);
            if *logins == 0 {
                if let (Some(dscp), Some(connection)) = (self.plan.transfer.dscp, system.connection(conn)) {
                    connection.mark(dscp);
                }
                end.begin(system, conn);
            }
        }
        if *logins == 0 && (events.readable || events.writable) {
            end.act(system, conn);
        }
        if let Some(connection) = system.connection(conn)
            && connection.at_end()
        {
            connection.finish();
        }
        if events.closed {
            self.session = None;
        }
    }
}

/// One end of the channel: it sends the file, or takes it.
#[derive(Debug)]
struct End {
    plan: SshTransfer,
    sends: bool,
    /// Wire bytes of the file's packets sent or received.
    wire: u64,
    /// Granted by window adjustments beyond the first window, or how many adjustments were sent.
    adjustments: u64,
    /// Requests that were answered (upload) or made (download), as the sender of the file sees it; as the taker, those
    /// it answered or made.
    requests: u64,
    /// Requests that may be under way; a download begins with one and adds one with each answer.
    allowed: u64,
    /// The taker has everything and has said so.
    confirmed: bool,
}

impl End {
    fn new(plan: &SshTransfer, sends: bool) -> Self {
        Self {
            plan: plan.clone(),
            sends,
            wire: 0,
            adjustments: 0,
            requests: 0,
            allowed: 1,
            confirmed: false,
        }
    }

    const fn packet(&self) -> u64 {
        self.plan.packet as u64
    }

    /// Wire bytes of a file's first `bytes`.
    fn on_wire(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(self.packet()) * PACKET_OVERHEAD
    }

    /// Bytes of the file among the wire bytes; each packet begins with what is not the file's.
    fn moved(&self) -> u64 {
        let frame = self.packet() + PACKET_OVERHEAD;
        let last = (self.wire % frame).saturating_sub(PACKET_OVERHEAD);
        self.wire / frame * self.packet() + last
    }

    fn request_bytes(&self) -> Option<u64> {
        self.plan.requests.map(|requests| u64::from(requests.size))
    }

    const fn done(&self) -> bool {
        self.confirmed
    }

    /// The login is over.
    fn begin(&mut self, system: &mut System<'_>, conn: ConnId) {
        if self.sends {
            self.send(system, conn);
        } else {
            self.take(system, conn);
        }
    }

    fn act(&mut self, system: &mut System<'_>, conn: ConnId) {
        if self.sends {
            self.read_messages(system, conn);
            self.send(system, conn);
        } else {
            let now = system.now;
            if let Some(connection) = system.connection(conn) {
                self.wire += connection.read(now, u64::MAX);
            }
            self.take(system, conn);
        }
    }

    /// Sends what window and requests allow.
    fn send(&mut self, system: &mut System<'_>, conn: ConnId) {
        let window = u64::from(self.plan.window) + self.adjustments * ADJUST_PACKETS * self.packet();
        let mut allowed = window.min(self.plan.bytes);
        if let (Some(size), Some(requests)) = (self.request_bytes(), self.plan.requests) {
            let begun = match self.plan.direction {
                SshDirection::Put => self.requests + u64::from(requests.outstanding),
                SshDirection::Get => self.requests,
            };
            allowed = allowed.min(begun * size);
        }
        let wire = self.on_wire(allowed);
        if wire > self.wire {
            let now = system.now;
            if let Some(connection) = system.connection(conn) {
                self.wire += connection.write_synthetic(now, wire - self.wire);
            }
        }
    }

    fn read_messages(&mut self, system: &mut System<'_>, conn: ConnId) {
        let now = system.now;
        let Some(connection) = system.connection(conn) else {
            return;
        };
        while let Some(kind) = connection.peek().first().copied() {
            let len = length(kind);
            if connection.readable() < len {
                return;
            }
            connection.read(now, len);
            match kind {
                ADJUST => self.adjustments += 1,
                REQUEST => self.requests += 1,
                _ => self.confirmed = true,
            }
        }
    }

    /// Consumes what has arrived: adjusts the window, answers or makes requests, confirms the end.
    fn take(&mut self, system: &mut System<'_>, conn: ConnId) {
        let moved = self.moved();
        let complete = moved == self.plan.bytes;
        while (self.adjustments + 1) * ADJUST_PACKETS * self.packet() <= moved && !complete {
            self.adjustments += 1;
            message(system, conn, ADJUST);
        }
        if let (Some(size), Some(requests)) = (self.request_bytes(), self.plan.requests) {
            let whole = if complete {
                moved.div_ceil(size)
            } else {
                moved / size
            };
            let all = self.plan.bytes.div_ceil(size);
            let until = match self.plan.direction {
                SshDirection::Put => whole,
                SshDirection::Get => {
                    self.allowed = (1 + whole).min(u64::from(requests.outstanding));
                    (whole + self.allowed).min(all)
                }
            };
            while self.requests < until {
                self.requests += 1;
                message(system, conn, REQUEST);
            }
        }
        if complete && !self.confirmed {
            self.confirmed = true;
            if self.plan.direction == SshDirection::Put {
                message(system, conn, CONFIRM);
            }
        }
    }
}

fn message(system: &mut System<'_>, conn: ConnId, kind: u8) {
    let bytes = [kind; 84];
    system.write(conn, &bytes[..length(kind) as usize]);
}

/// Bytes of a message in its SSH packet, padding and authentication included.
const fn length(kind: u8) -> u64 {
    match kind {
        ADJUST => 44,
        REQUEST => 84,
        _ => 60,
    }
}

const ADJUST: u8 = 1;
const REQUEST: u8 = 2;
const CONFIRM: u8 = 3;
/// Bytes of one message of the login; key exchange is larger, the rest smaller.
const LOGIN: u64 = 400;
/// What an SSH data packet adds to its data: lengths, type, channel, padding, authentication (RFC 4253, 4254).
const PACKET_OVERHEAD: u64 = 36;
/// OpenSSH adjusts when more than three packets were consumed (`channel_check_window`).
const ADJUST_PACKETS: u64 = 4;

//! The FTP server of pure simulations: what a client of one file needs, in vsftpd's words.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use slowpath_record::TransferResult;
use slowpath_units::Time;

use super::ftp_text::{host_port, parse_eprt, parse_pasv};
use super::{FtpServer, Program};
use crate::host::ConnId;
use crate::system::System;
use crate::tcp::Events;

/// Runs an [`FtpServer`].
#[derive(Debug)]
pub(crate) struct FtpServerProgram {
    plan: FtpServer,
    next_port: u16,
    sessions: BTreeMap<ConnId, Session>,
    /// Data connections, by connection: the session's control connection.
    data: BTreeMap<ConnId, ConnId>,
    /// Passive ports waiting for their connection.
    waiting: BTreeMap<u16, ConnId>,
}

#[derive(Debug, Default)]
struct Session {
    data: Option<ConnId>,
    data_connected: bool,
    active: Option<SocketAddr>,
    transfer: Option<Transfer>,
}

#[derive(Debug)]
struct Transfer {
    name: String,
    /// Bytes to send, or none for a file that is received.
    size: Option<u64>,
    done: u64,
    begun: bool,
    started: Time,
}

impl FtpServerProgram {
    pub(crate) const fn new(plan: FtpServer) -> Self {
        let next_port = plan.passive_port;
        Self {
            plan,
            next_port,
            sessions: BTreeMap::new(),
            data: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    fn say(system: &mut System<'_>, control: ConnId, text: &str) {
        system.write(control, format!("{text}\r\n").as_bytes());
    }

    fn command(&mut self, system: &mut System<'_>, control: ConnId, line: &str) {
        let (verb, argument) = line.split_once(' ').unwrap_or((line, ""));
        let reply = match verb.to_ascii_uppercase().as_str() {
            "USER" => "331 Please specify the password.".to_owned(),
            "PASS" => "230 Login successful.".to_owned(),
            "TYPE" => "200 Switching to Binary mode.".to_owned(),
            "SYST" => "215 UNIX Type: L8".to_owned(),
            "PASV" => self.passive(system, control, false),
            "EPSV" => self.passive(system, control, true),
            "PORT" => self.active(control, parse_pasv(argument)),
            "EPRT" => self.active(control, parse_eprt(argument)),
            "SIZE" => match self.size(argument) {
                Some(size) => format!("213 {size}"),
                None => "550 Could not get file size.".to_owned(),
            },
            "RETR" => match self.size(argument) {
                Some(size) => self.transfer(system, control, format!("RETR {argument}"), Some(size)),
                None => "550 Failed to open file.".to_owned(),
            },
            "STOR" => self.transfer(system, control, format!("STOR {argument}"), None),
            "QUIT" => {
                Self::say(system, control, "221 Goodbye.");
                if let Some(connection) = system.connection(control) {
                    connection.finish();
                }
                return;
            }
            _ => "500 Unknown command.".to_owned(),
        };
        Self::say(system, control, &reply);
        self.begin(system, control);
    }

    fn size(&self, path: &str) -> Option<u64> {
        self.plan
            .files
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.bytes)
    }

    fn passive(&mut self, system: &mut System<'_>, control: ConnId, extended: bool) -> String {
        let port = self.next_port;
        self.next_port = self.next_port.checked_add(1).unwrap_or(self.plan.passive_port);
        system.listen(port, false);
        self.waiting.insert(port, control);
        let session = self.sessions.entry(control).or_default();
        session.data = None;
        session.active = None;
        let own = system
            .connection(control)
            .map(|connection| connection.ends().local.ip());
        match own {
            Some(IpAddr::V4(address)) if !extended => {
                format!("227 Entering Passive Mode ({}).", host_port(address, port))
            }
            _ => format!("229 Entering Extended Passive Mode (|||{port}|)"),
        }
    }

    fn active(&mut self, control: ConnId, address: Option<SocketAddr>) -> String {
        let session = self.sessions.entry(control).or_default();
        session.data = None;
        session.active = address;
        match address {
            Some(_) => "200 PORT command successful. Consider using PASV.".to_owned(),
            None => "501 Illegal PORT command.".to_owned(),
        }
    }

    fn transfer(
        &mut self,
        system: &mut System<'_>,
        control: ConnId,
        name: String,
        size: Option<u64>,
    ) -> String {
        let started = system.now;
        let port = self.plan.port;
        let session = self.sessions.entry(control).or_default();
        if let Some(address) = session.active.take() {
            session.data = system.connect_from(port.saturating_sub(1), address);
            session.data_connected = false;
            if let Some(data) = session.data {
                self.data.insert(data, control);
            }
        } else if session.data.is_none() && !self.waiting.values().any(|waiting| *waiting == control) {
            return "425 Use PORT or PASV first.".to_owned();
        }
        let what = match size {
            Some(size) => format!(
                "150 Opening BINARY mode data connection for {} ({size} bytes).",
                &name[5..]
            ),
            None => "150 Ok to send data.".to_owned(),
        };
        session.transfer = Some(Transfer {
            name,
            size,
            done: 0,
            begun: false,
            started,
        });
        what
    }

    /// Moves data once both the command and the data connection are there.
    fn begin(&mut self, system: &mut System<'_>, control: ConnId) {
        let Some(session) = self.sessions.get_mut(&control) else {
            return;
        };
        let (Some(transfer), Some(data), true) =
            (&mut session.transfer, session.data, session.data_connected)
        else {
            return;
        };
        transfer.begun = true;
        self.fill(system, data);
        self.drain(system, data);
    }

    fn fill(&mut self, system: &mut System<'_>, data: ConnId) {
        let now = system.now;
        let Some(session) = self
            .data
            .get(&data)
            .and_then(|control| self.sessions.get_mut(control))
        else {
            return;
        };
        let Some(transfer) = &mut session.transfer else {
            return;
        };
        let Some(size) = transfer.size else { return };
        if !transfer.begun {
            return;
        }
        let Some(connection) = system.connection(data) else {
            return;
        };
        while transfer.done < size {
            let taken = connection.write_synthetic(now, size - transfer.done);
            transfer.done += taken;
            if taken == 0 {
                return;
            }
        }
        connection.finish();
    }

    fn drain(&mut self, system: &mut System<'_>, data: ConnId) {
        let now = system.now;
        let Some(&control) = self.data.get(&data) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&control) else {
            return;
        };
        let Some(transfer) = &mut session.transfer else {
            return;
        };
        let Some(connection) = system.connection(data) else {
            return;
        };
        if !transfer.begun || transfer.size.is_some() {
            return;
        }
        transfer.done += connection.read(now, u64::MAX);
        if connection.at_end() {
            connection.finish();
            let done = transfer.done;
            self.complete(system, control, done, None);
        }
    }

    fn complete(&mut self, system: &mut System<'_>, control: ConnId, bytes: u64, retransmitted: Option<u64>) {
        let Some(session) = self.sessions.get_mut(&control) else {
            return;
        };
        let Some(transfer) = session.transfer.take() else {
            return;
        };
        session.data = None;
        session.data_connected = false;
        let complete = transfer.size.is_none_or(|size| size == bytes);
        let now = system.now;
        system.report_transfer(TransferResult {
            name: transfer.name,
            bytes,
            start: transfer.started,
            end: now,
            complete,
            error: (!complete).then(|| "the data connection was lost".to_owned()),
            retransmitted_segments: retransmitted,
            sender: None,
        });
        Self::say(
            system,
            control,
            if complete {
                "226 Transfer complete."
            } else {
                "426 Failure writing network stream."
            },
        );
    }
}

impl Program for FtpServerProgram {
    fn start(&mut self, system: &mut System<'_>) {
        system.listen(self.plan.port, true);
    }

    fn accepted(&mut self, system: &mut System<'_>, conn: ConnId, port: u16) {
        if let Some(control) = self.waiting.remove(&port) {
            system.unlisten(port);
            self.data.insert(conn, control);
            if let Some(session) = self.sessions.get_mut(&control) {
                session.data = Some(conn);
                session.data_connected = true;
            }
            self.begin(system, control);
        } else {
            self.sessions.insert(conn, Session::default());
            Self::say(system, conn, "220 (vsFTPd 3.0.3)");
        }
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        if let Some(&control) = self.data.get(&conn) {
            if events.connected {
                if let Some(session) = self.sessions.get_mut(&control) {
                    session.data_connected = true;
                }
                self.begin(system, control);
            }
            if events.writable {
                self.fill(system, conn);
            }
            if events.readable {
                self.drain(system, conn);
            }
            self.check_sent(system, conn, control, events.closed);
        } else if self.sessions.contains_key(&conn) {
            while let Some(line) = system.read_line(conn) {
                self.command(system, conn, &line);
            }
            if let Some(connection) = system.connection(conn)
                && connection.at_end()
            {
                connection.finish();
            }
            if events.closed {
                self.sessions.remove(&conn);
            }
        }
    }
}

impl FtpServerProgram {
    /// A file that was sent is complete when the client closed its end too.
    fn check_sent(&mut self, system: &mut System<'_>, data: ConnId, control: ConnId, closed: bool) {
        if !closed {
            return;
        }
        self.data.remove(&data);
        let sending = self
            .sessions
            .get(&control)
            .and_then(|s| s.transfer.as_ref())
            .is_some_and(|t| t.size.is_some());
        if let (true, Some(connection)) = (sending, system.connection(data)) {
            let info = connection.info();
            self.complete(
                system,
                control,
                info.acknowledged,
                Some(info.sender.retransmissions),
            );
        }
    }
}

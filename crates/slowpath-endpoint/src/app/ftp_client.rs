//! The FTP client (RFC 959, RFC 2428): one file, then QUIT.

use std::net::{IpAddr, SocketAddr};

use slowpath_record::TransferResult;
use slowpath_units::Time;

use super::ftp_text::{Reply, host_port, parse_epsv, parse_pasv};
use super::pace::Pacer;
use super::{FtpClient, FtpData, FtpDirection, Program};
use crate::host::ConnId;
use crate::system::System;
use crate::tcp::Events;

/// What the client waits for on its control connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Greeting,
    User,
    Password,
    Type,
    /// PASV, EPSV or PORT.
    DataPort,
    /// The passive data connection; clients wait for it before they ask for the file.
    Connect,
    /// The preliminary reply to RETR or STOR.
    Command,
    /// The final reply.
    Transfer,
    Quit,
    Done,
}

/// Runs an [`FtpClient`].
#[derive(Debug)]
pub(crate) struct FtpClientProgram {
    plan: FtpClient,
    step: Step,
    control: Option<ConnId>,
    data: Option<ConnId>,
    listening: Option<u16>,
    reply: Reply,
    pacer: Pacer,
    asked: Time,
    bytes: u64,
    last: Time,
    data_finished: bool,
    confirmed: bool,
    reported: bool,
    retransmitted: Option<u64>,
}

impl FtpClientProgram {
    pub(crate) fn new(plan: FtpClient) -> Self {
        let pacer = Pacer::new(plan.pace);
        Self {
            plan,
            step: Step::Greeting,
            control: None,
            data: None,
            listening: None,
            reply: Reply::default(),
            pacer,
            asked: Time::ZERO,
            bytes: 0,
            last: Time::ZERO,
            data_finished: false,
            confirmed: false,
            reported: false,
            retransmitted: None,
        }
    }

    fn command(&mut self, system: &mut System<'_>, text: &str, step: Step) {
        self.step = step;
        if let Some(control) = self.control {
            system.write(control, format!("{text}\r\n").as_bytes());
        }
    }

    fn control_readable(&mut self, system: &mut System<'_>) {
        let Some(control) = self.control else { return };
        while let Some(line) = system.read_line(control) {
            if let Some((code, text)) = self.reply.line(&line) {
                self.replied(system, code, &text);
            }
        }
    }

    fn replied(&mut self, system: &mut System<'_>, code: u16, text: &str) {
        match (self.step, code) {
            (Step::Greeting, 120) => {}
            (Step::Greeting, 220) => {
                let user = format!("USER {}", self.plan.user);
                self.command(system, &user, Step::User);
            }
            (Step::User, 331 | 332) => {
                let password = format!("PASS {}", self.plan.password);
                self.command(system, &password, Step::Password);
            }
            (Step::User | Step::Password, 230 | 202) => self.command(system, "TYPE I", Step::Type),
            (Step::Type, 200) => self.ask_for_data(system),
            (Step::DataPort, 200) => self.ask_for_file(system),
            (Step::DataPort, 227) => match parse_pasv(text) {
                Some(address) => self.open_data(system, address),
                None => self.fail(
                    system,
                    format!("the server's answer to PASV names no port: {code} {text}"),
                ),
            },
            (Step::DataPort, 229) => match parse_epsv(text) {
                Some(port) => self.open_data(system, SocketAddr::new(self.plan.server.ip(), port)),
                None => self.fail(
                    system,
                    format!("the server's answer to EPSV names no port: {code} {text}"),
                ),
            },
            (Step::Command, 125 | 150) => {
                self.step = Step::Transfer;
                self.write_data(system);
                self.check_end(system);
            }
            (Step::Transfer, 226 | 250) => {
                self.confirmed = true;
                self.check_end(system);
            }
            (Step::Quit, 221) => {
                self.step = Step::Done;
                if let Some(connection) = self.control.and_then(|control| system.connection(control)) {
                    connection.finish();
                }
                system.end();
            }
            _ => self.fail(system, format!("the server answered {code} {text}")),
        }
    }

    fn ask_for_data(&mut self, system: &mut System<'_>) {
        match self.plan.data {
            FtpData::Passive => self.command(system, "PASV", Step::DataPort),
            FtpData::ExtendedPassive => self.command(system, "EPSV", Step::DataPort),
            FtpData::Active => {
                let port = system.listen_anywhere();
                self.listening = Some(port);
                let own = system.sockets.address_for(self.plan.server.ip());
                let text = match own {
                    Some(IpAddr::V4(address)) => format!("PORT {}", host_port(address, port)),
                    Some(IpAddr::V6(address)) => format!("EPRT |2|{address}|{port}|"),
                    None => return,
                };
                self.command(system, &text, Step::DataPort);
            }
        }
    }

    fn open_data(&mut self, system: &mut System<'_>, address: SocketAddr) {
        self.step = Step::Connect;
        self.data = system.connect(address, None);
    }

    fn ask_for_file(&mut self, system: &mut System<'_>) {
        self.asked = system.now;
        let verb = match self.plan.direction {
            FtpDirection::Get => "RETR",
            FtpDirection::Put(_) => "STOR",
        };
        let text = format!("{verb} {}", self.plan.path);
        self.command(system, &text, Step::Command);
    }

    fn read_data(&mut self, system: &mut System<'_>) {
        let now = system.now;
        let Some(data) = self.data else { return };
        let Some(connection) = system.connection(data) else {
            return;
        };
        while connection.readable() > 0 {
            let allowed = self.pacer.allowance(now);
            if allowed == 0 {
                break;
            }
            let read = connection.read(now, allowed);
            self.pacer.taken(now, read);
            self.bytes += read;
            self.last = self.pacer.settled(now);
        }
        if connection.at_end() && !self.data_finished {
            self.data_finished = true;
            connection.finish();
        }
        self.set_wake(system);
        self.check_end(system);
    }

    fn write_data(&mut self, system: &mut System<'_>) {
        let FtpDirection::Put(size) = self.plan.direction else {
            return;
        };
        if self.step != Step::Transfer || self.data_finished {
            return;
        }
        let now = system.now;
        let Some(data) = self.data else { return };
        let Some(connection) = system.connection(data) else {
            return;
        };
        loop {
            let want = (size - self.bytes).min(self.pacer.allowance(now));
            if self.bytes == size {
                self.data_finished = true;
                connection.finish();
                break;
            }
            if want == 0 {
                break;
            }
            let taken = self.pacer.write(now, connection, want);
            self.bytes += taken;
            if taken < want {
                break;
            }
        }
        self.set_wake(system);
    }

    fn set_wake(&self, system: &mut System<'_>) {
        let at = if self.data_finished {
            self.last
        } else {
            self.pacer.ready()
        };
        *system.wake = (at > system.now && !self.reported).then_some(at);
    }

    /// Reports once the data, the store and the server's confirmation are all in.
    fn check_end(&mut self, system: &mut System<'_>) {
        let stored = match self.plan.direction {
            FtpDirection::Get => self.last,
            FtpDirection::Put(_) => system.now,
        };
        if !self.data_finished || !self.confirmed || self.reported || system.now < stored {
            return;
        }
        let end = stored;
        let bytes = self.bytes;
        self.note_retransmissions(system);
        self.report(system, bytes, end, None);
        self.command(system, "QUIT", Step::Quit);
    }

    fn note_retransmissions(&mut self, system: &mut System<'_>) {
        if let (FtpDirection::Put(_), Some(data)) = (self.plan.direction, self.data)
            && let Some(connection) = system.connection(data)
        {
            self.retransmitted = Some(connection.info().sender.retransmissions);
        }
    }

    fn report(&mut self, system: &mut System<'_>, bytes: u64, end: Time, error: Option<String>) {
        self.reported = true;
        let verb = match self.plan.direction {
            FtpDirection::Get => "RETR",
            FtpDirection::Put(_) => "STOR",
        };
        system.report_transfer(TransferResult {
            name: format!("{verb} {}", self.plan.path),
            bytes,
            start: self.asked,
            end,
            complete: error.is_none(),
            error,
            retransmitted_segments: self.retransmitted,
            sender: None,
        });
    }

    fn fail(&mut self, system: &mut System<'_>, error: String) {
        if !self.reported {
            let (bytes, now) = (self.bytes, system.now);
            self.report(system, bytes, now, Some(error));
        }
        self.step = Step::Done;
        for conn in [self.control, self.data].into_iter().flatten() {
            if let Some(connection) = system.connection(conn) {
                connection.abort();
            }
        }
        system.end();
    }
}

impl Program for FtpClientProgram {
    fn start(&mut self, system: &mut System<'_>) {
        self.asked = system.now;
        self.control = system.connect(self.plan.server, None);
        match self.control.and_then(|control| system.connection(control)) {
            Some(connection) => connection.keep_bytes(),
            None => self.fail(
                system,
                "the host has no address of the server's family".to_owned(),
            ),
        }
    }

    fn accepted(&mut self, system: &mut System<'_>, conn: ConnId, port: u16) {
        if self.listening == Some(port) {
            self.data = Some(conn);
            system.unlisten(port);
            self.write_data(system);
        }
    }

    fn connection(&mut self, system: &mut System<'_>, conn: ConnId, events: Events) {
        if Some(conn) == self.control {
            if events.readable {
                self.control_readable(system);
            }
            if events.closed && self.step != Step::Done {
                self.fail(system, "the control connection was lost".to_owned());
            }
        } else if Some(conn) == self.data {
            if events.readable {
                self.read_data(system);
            }
            if events.connected && self.step == Step::Connect {
                self.ask_for_file(system);
            }
            if events.connected || events.writable {
                self.write_data(system);
            }
            if events.closed && !self.data_finished && self.step != Step::Done {
                self.fail(system, "the data connection was lost".to_owned());
            }
        }
    }

    fn timer(&mut self, system: &mut System<'_>) {
        match self.plan.direction {
            FtpDirection::Get => self.read_data(system),
            FtpDirection::Put(_) => self.write_data(system),
        }
    }
}

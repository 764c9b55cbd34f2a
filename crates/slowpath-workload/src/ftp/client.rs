//! One GET or PUT on a fresh session.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use slowpath_record::{Series, TransferResult};
use slowpath_units::{Duration, Time};

use super::wire::{self, LineError, Lines, NotAReply, Reply, ReplyParser};
use crate::context::{Context, Stop};
use crate::drain::Drain;
use crate::guard::Refused;
use crate::payload::{self, PayloadError, Sink, Source};
use crate::progress::Progress;
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::{self, ConnectionLog, Sampler};

/// One transfer to make.
#[derive(Debug, Clone)]
pub struct ClientConfig {
    /// The server's control address.
    pub server: SocketAddr,
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
    /// Name of the file on the server.
    pub path: String,
    /// GET or PUT, with the local side of it.
    pub direction: Direction,
    /// Who opens the data connection, and how the address is told.
    pub mode: Mode,
    /// Options of the control connection.
    pub control: SocketOptions,
    /// Options of the data connection, in force from its SYN on.
    pub data: SocketOptions,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
}

/// GET or PUT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Direction {
    /// `RETR`: server to client.
    Get {
        /// Where the bytes go.
        sink: Sink,
        /// How fast the reader is; absent means as fast as the network.
        drain: Option<Drain>,
    },
    /// `STOR`: client to server.
    Put {
        /// Where the bytes come from.
        source: Source,
    },
}

/// Who opens the data connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// `PASV`: the client connects; IPv4 only.
    #[default]
    Passive,
    /// `EPSV`: the client connects.
    ExtendedPassive,
    /// `PORT`: the server connects; IPv4 only.
    Active,
    /// `EPRT`: the server connects.
    ExtendedActive,
}

/// What a transfer left behind.
#[derive(Debug, Clone)]
pub struct FtpReport {
    /// The transfer from asking for it (`RETR` or `STOR` sent) to its last byte: for a GET read or written by
    /// this application, for a PUT confirmed by the server.
    pub transfer: TransferResult,
    /// When the control connection began, before the login.
    pub session_start: Time,
    /// Rate per second at this application.
    pub progress: Series,
    /// The control connection and the data connection.
    pub connections: Vec<ConnectionLog>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum FtpError {
    /// The address may not be loaded.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The control connection failed.
    #[error("FTP control connection: {0}")]
    Control(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server refused a command.
    #[error("the FTP server answered {reply} to {command}")]
    Answer {
        /// The command, without the password.
        command: String,
        /// Its answer.
        reply: Reply,
    },
    /// The server's answer does not contain the address that it should.
    #[error("the FTP server's answer {reply} to {command} names no usable address")]
    Address {
        /// The command.
        command: &'static str,
        /// Its answer.
        reply: Reply,
    },
    /// The mode does not fit the address family.
    #[error("{command} cannot carry the address {address}; use the extended mode")]
    Family {
        /// The command.
        command: &'static str,
        /// The local address.
        address: SocketAddr,
    },
    /// The data connection could not be opened.
    #[error("FTP data connection: {0}")]
    Data(#[source] SocketError),
    /// The local file could not be opened.
    #[error(transparent)]
    Local(#[from] PayloadError),
}

impl From<LineError> for FtpError {
    fn from(error: LineError) -> Self {
        Self::Control(Box::new(error))
    }
}

impl From<SocketError> for FtpError {
    fn from(error: SocketError) -> Self {
        Self::Control(Box::new(error))
    }
}

impl From<NotAReply> for FtpError {
    fn from(error: NotAReply) -> Self {
        Self::Control(Box::new(error))
    }
}

impl ClientConfig {
    /// A passive transfer as anonymous user with the kernel's own socket settings.
    pub fn new(server: SocketAddr, path: &str, direction: Direction) -> Self {
        Self {
            server,
            user: "anonymous".to_owned(),
            password: "slowpath@".to_owned(),
            path: path.to_owned(),
            direction,
            mode: Mode::default(),
            control: SocketOptions {
                no_delay: true,
                ..SocketOptions::default()
            },
            data: SocketOptions::default(),
            sample_every: Duration::from_millis(100),
        }
    }
}

/// Makes one transfer on a session of its own and reports on it.
///
/// A transfer that began but did not come to its end is reported with `complete` false and the reason; so are
/// the deadline and the cancel flag.
///
/// # Errors
/// Whatever happened before the first data byte could flow.
pub fn transfer(config: &ClientConfig, context: &Context) -> Result<FtpReport, FtpError> {
    context.admit(config.server.ip())?;
    let session_start = context.now();
    let sampler = Sampler::start(context, config.sample_every);
    let stream = Arc::new(config.control.connect(config.server, context)?);
    let watched_control = sampler.watch("control", &stream, &config.control);
    let mut session = Session::begin(stream, config, context)?;
    session.command("TYPE I", 2)?;

    // Servers may accept the passive connection before they answer RETR, so it comes first.
    let ready = session.prepare_data(config)?;
    let (verb, source) = match &config.direction {
        Direction::Get { .. } => ("RETR", None),
        Direction::Put { source } => ("STOR", Some(source.open(0)?)),
    };
    let sink = match &config.direction {
        Direction::Get { sink, drain } => Some((sink.open(0)?, *drain)),
        Direction::Put { .. } => None,
    };
    let command = format!("{verb} {}", config.path);
    let start = context.now();
    session.command(&command, 1)?;
    let data = Arc::new(ready.open(context).map_err(FtpError::Data)?);
    let watched_data = sampler.watch("data", &data, &config.data);

    let mut progress = Progress::per_second(start);
    let moved = match (source, sink) {
        (Some(mut source), _) => {
            let sent = payload::send(&data, &mut source, &mut progress, context);
            sampler.sample_now(watched_data);
            // The end of the file is the end of the connection in stream mode (RFC 959, section 3.4.1).
            let _ = data.shutdown(std::net::Shutdown::Write);
            sent.map(|()| None)
        }
        (None, Some((mut sink, drain))) => {
            let end = payload::receive(&data, &mut sink, drain, &mut progress, context);
            sampler.sample_now(watched_data);
            end.map(Some)
        }
        (None, None) => Ok(None),
    };
    let read_end = context.now();
    let answer = match &moved {
        Ok(_) => session.expect(&command, 2).map_err(|error| error.to_string()),
        // The answer may never come; do not wait for it.
        Err(error) => Err(error.to_string()),
    };
    let end = match moved {
        Ok(Some(end)) => end,
        Ok(None) => context.now(),
        Err(_) => read_end,
    };
    if verb == "STOR" {
        watch::linger(&data, Duration::from_secs(1), context);
    }
    sampler.sample_now(watched_data);
    sampler.sample_now(watched_control);
    drop(data);
    if answer.is_ok() {
        // Courtesy only: the transfer is already judged.
        let _ = session.command("QUIT", 2);
    }
    let connections = sampler.finish();
    let retransmitted = connections
        .get(1)
        .filter(|_| verb == "STOR")
        .and_then(ConnectionLog::last)
        .map(|sample| u64::from(sample.retransmitted_segments));
    Ok(FtpReport {
        transfer: TransferResult {
            name: command,
            bytes: progress.total(),
            start,
            end,
            complete: answer.is_ok(),
            error: answer.err(),
            retransmitted_segments: retransmitted,
            sender: None,
        },
        session_start,
        progress: progress.series(if verb == "RETR" {
            "client/received"
        } else {
            "client/sent"
        }),
        connections,
    })
}

/// Removes the file that `config` names, on a session of its own; a file that is not there is as good.
///
/// # Errors
/// No connection, no login, or a server that refuses.
pub fn remove(config: &ClientConfig, context: &Context) -> Result<(), FtpError> {
    context.admit(config.server.ip())?;
    let stream = Arc::new(config.control.connect(config.server, context)?);
    let mut session = Session::begin(stream, config, context)?;
    let command = format!("DELE {}", config.path);
    let reply = session.send(&command)?;
    let outcome = if reply.code == NO_FILE {
        Ok(())
    } else {
        check(&command, 2, reply).map(drop)
    };
    let _ = session.command("QUIT", 2);
    outcome
}

struct Session<'a> {
    lines: Lines,
    stream: Arc<TcpStream>,
    context: &'a Context,
}

/// A data connection as far as it gets before the transfer is asked for.
enum Ready {
    Connected(TcpStream),
    Accept {
        listener: TcpListener,
        at: SocketAddr,
        from: std::net::IpAddr,
    },
}

impl<'a> Session<'a> {
    /// Hears the server's greeting and logs in.
    fn begin(stream: Arc<TcpStream>, config: &ClientConfig, context: &'a Context) -> Result<Self, FtpError> {
        let mut session = Self {
            lines: Lines::new(Arc::clone(&stream)),
            stream,
            context,
        };
        session.expect("connecting", 2)?;
        session.login(&config.user, &config.password)?;
        Ok(session)
    }

    fn login(&mut self, user: &str, password: &str) -> Result<(), FtpError> {
        let reply = self.send(&format!("USER {user}"))?;
        match reply.code {
            230 => Ok(()),
            331 => {
                let reply = self.send(&format!("PASS {password}"))?;
                if reply.code / 100 == 2 {
                    return Ok(());
                }
                Err(FtpError::Answer {
                    command: "PASS ***".to_owned(),
                    reply,
                })
            }
            _ => Err(FtpError::Answer {
                command: format!("USER {user}"),
                reply,
            }),
        }
    }

    /// Sends a command and wants an answer of the `class` (first digit).
    fn command(&mut self, command: &str, class: u16) -> Result<Reply, FtpError> {
        let reply = self.send(command)?;
        check(command, class, reply)
    }

    fn expect(&mut self, command: &str, class: u16) -> Result<Reply, FtpError> {
        let reply = self.reply()?;
        check(command, class, reply)
    }

    fn send(&mut self, command: &str) -> Result<Reply, FtpError> {
        // A line break inside a file name would be a second command.
        let line: String = command
            .chars()
            .filter(|c| !matches!(c, '\r' | '\n' | '\0'))
            .collect();
        let doing = "sending a command to";
        socket::write_all(
            &self.stream,
            format!("{line}\r\n").as_bytes(),
            doing,
            self.context,
        )?;
        self.reply()
    }

    fn reply(&mut self) -> Result<Reply, FtpError> {
        let mut parser = ReplyParser::default();
        loop {
            if let Some(reply) = parser.line(&self.lines.next(self.context)?)? {
                return Ok(reply);
            }
        }
    }

    fn connect_data(&self, config: &ClientConfig, port: u16) -> Result<Ready, FtpError> {
        let to = SocketAddr::new(config.server.ip(), port);
        config
            .data
            .connect(to, self.context)
            .map(Ready::Connected)
            .map_err(FtpError::Data)
    }

    fn prepare_data(&mut self, config: &ClientConfig) -> Result<Ready, FtpError> {
        match config.mode {
            Mode::Passive => {
                let reply = self.command("PASV", 2)?;
                // The port counts; the address may be a private one behind a translator (RFC 2577, section 3).
                match wire::parse_six(&reply.text) {
                    Some(told) => self.connect_data(config, told.port()),
                    None => Err(FtpError::Address {
                        command: "PASV",
                        reply,
                    }),
                }
            }
            Mode::ExtendedPassive => {
                let reply = self.command("EPSV", 2)?;
                match wire::parse_extended_port(&reply.text) {
                    Some(port) => self.connect_data(config, port),
                    None => Err(FtpError::Address {
                        command: "EPSV",
                        reply,
                    }),
                }
            }
            Mode::Active | Mode::ExtendedActive => {
                let local = self.stream.local_addr().map_err(|source| {
                    SocketError::io("asking for the local address towards", config.server, source)
                })?;
                let listener = config
                    .data
                    .listen(SocketAddr::new(local.ip(), 0), 1)
                    .map_err(FtpError::Data)?;
                let at = listener.local_addr().map_err(|source| {
                    FtpError::Data(SocketError::io("asking for the address of", local, source))
                })?;
                let command = if config.mode == Mode::Active {
                    let six = wire::print_six(at).ok_or(FtpError::Family {
                        command: "PORT",
                        address: at,
                    })?;
                    format!("PORT {six}")
                } else {
                    format!("EPRT {}", wire::print_extended(at))
                };
                self.command(&command, 2)?;
                Ok(Ready::Accept {
                    listener,
                    at,
                    from: config.server.ip(),
                })
            }
        }
    }
}

impl Ready {
    fn open(self, context: &Context) -> Result<TcpStream, SocketError> {
        match self {
            Self::Connected(stream) => Ok(stream),
            Self::Accept { listener, at, from } => loop {
                let (stream, peer) = socket::accept(&listener, at, context)?;
                if peer.ip().to_canonical() == from.to_canonical() {
                    return Ok(stream);
                }
            },
        }
    }
}

fn check(command: &str, class: u16, reply: Reply) -> Result<Reply, FtpError> {
    if reply.code / 100 == class {
        Ok(reply)
    } else {
        Err(FtpError::Answer {
            command: command.to_owned(),
            reply,
        })
    }
}

impl FtpError {
    /// Why the workload had to stop, if that is the error.
    pub fn stop(&self) -> Option<Stop> {
        match self {
            Self::Data(error) => error.stop(),
            Self::Control(error) => match error.downcast_ref::<SocketError>() {
                Some(error) => error.stop(),
                None => match error.downcast_ref::<LineError>() {
                    Some(LineError::Socket(error)) => error.stop(),
                    _ => None,
                },
            },
            _ => None,
        }
    }
}

/// "File unavailable" (RFC 959, section 4.2).
const NO_FILE: u16 = 550;

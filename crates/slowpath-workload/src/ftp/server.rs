//! Sessions in threads, over synthetic files or a folder.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use slowpath_record::{Series, TransferResult};
use slowpath_units::{ByteCount, Duration};

use super::wire::{self, LineError, Lines};
use crate::context::{Cancel, Context};
use crate::drain::Drain;
use crate::payload::{self, PayloadError, Sink, Source};
use crate::progress::Progress;
use crate::service::Service;
use crate::socket::{self, SocketError, SocketOptions};
use crate::watch::{self, ConnectionLog, Sampler};

/// How a server listens and what it serves.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Control address; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What there is to GET, and where a PUT goes.
    pub files: Files,
    /// How fast the storage behind a PUT is.
    pub drain: Option<Drain>,
    /// Options of control connections.
    pub control: SocketOptions,
    /// Options of data connections.
    pub data: SocketOptions,
    /// Sessions at a time; more are turned away with 421.
    pub max_sessions: usize,
    /// A session without a command for so long is ended.
    pub idle: Duration,
    /// How often `TCP_INFO` of data connections is sampled.
    pub sample_every: Duration,
}

/// The server's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    /// Files that exist only as size and seed; a PUT is counted and forgotten.
    Synthetic(Vec<SyntheticFile>),
    /// A folder; nothing outside it is served. Symbolic links are followed.
    Folder {
        /// Its path.
        path: PathBuf,
        /// Whether a PUT is allowed.
        writable: bool,
    },
}

/// A file made of [`Content`](crate::content::Content).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticFile {
    /// Its name without any folder.
    pub name: String,
    /// Its size.
    pub size: ByteCount,
    /// Seed of its content.
    pub seed: u64,
}

/// One transfer as the server saw it.
#[derive(Debug, Clone)]
pub struct ServerTransfer {
    /// Bytes, start (command received) and end: for `STOR` the last byte read (or written by a slow storage),
    /// for `RETR` the last byte accepted by the socket, which is *before* the client has it.
    pub transfer: TransferResult,
    /// Rate per second at this application.
    pub progress: Series,
    /// The data connection.
    pub connection: Option<ConnectionLog>,
}

/// A server that runs until it is stopped or its context ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    service: Service,
}

#[derive(Debug)]
struct Shared {
    config: ServerConfig,
    context: Context,
    sessions: AtomicUsize,
    transfers: Mutex<Vec<ServerTransfer>>,
}

impl ServerConfig {
    /// A server of one synthetic file with the kernel's own socket settings.
    pub fn synthetic(listen: SocketAddr, name: &str, size: ByteCount, seed: u64) -> Self {
        Self {
            listen,
            files: Files::Synthetic(vec![SyntheticFile {
                name: name.to_owned(),
                size,
                seed,
            }]),
            drain: None,
            control: SocketOptions {
                no_delay: true,
                ..SocketOptions::default()
            },
            data: SocketOptions::default(),
            max_sessions: 64,
            idle: Duration::from_secs(300),
            sample_every: Duration::from_millis(100),
        }
    }
}

impl Server {
    /// Listens and serves from threads of its own, which live in the caller's network namespace.
    ///
    /// # Errors
    /// The address cannot be listened on, or no thread can be started.
    pub fn start(config: ServerConfig, context: &Context) -> Result<Self, SocketError> {
        let at = config.listen;
        let listener = config.control.listen(at, 64)?;
        let address = listener
            .local_addr()
            .map_err(|source| SocketError::io("asking for the address of", at, source))?;
        let cancel = Cancel::new();
        let shared = Arc::new(Shared {
            config,
            context: context.clone(),
            sessions: AtomicUsize::new(0),
            transfers: Mutex::default(),
        });
        let service = Service::spawn("ftp-server", cancel.clone(), {
            let shared = Arc::clone(&shared);
            move || shared.accept_all(&listener, &cancel)
        })
        .map_err(|source| SocketError::io("starting a thread to listen on", at, source))?;
        Ok(Self {
            address,
            shared,
            service,
        })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The transfers that have ended so far.
    pub fn transfers(&self) -> Vec<ServerTransfer> {
        self.shared
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Ends all sessions and returns every transfer.
    pub fn stop(mut self) -> Vec<ServerTransfer> {
        self.service.end();
        self.transfers()
    }
}

impl Shared {
    fn accept_all(self: &Arc<Self>, listener: &TcpListener, cancel: &Cancel) {
        // Two flags stop a server: its own and the run's.
        let own = self.context.clone().with_cancel(cancel.clone());
        let mut threads: Vec<JoinHandle<()>> = Vec::new();
        while self.context.check().is_ok() {
            let slice = own.clone().with_timeout(Duration::from_millis(200));
            match socket::accept(listener, self.config.listen, &slice) {
                Ok((stream, peer)) => {
                    threads.retain(|thread| !thread.is_finished());
                    if threads.len() >= self.config.max_sessions {
                        let _ = socket::write(&stream, b"421 too many sessions\r\n", "turning away", &slice);
                        continue;
                    }
                    let (shared, context) = (Arc::clone(self), own.clone());
                    let session = move || {
                        shared.sessions.fetch_add(1, Ordering::Relaxed);
                        // The client is gone or the server stops: nobody is left to be told.
                        let _ = Session::new(&shared, stream, peer, &context).run();
                        shared.sessions.fetch_sub(1, Ordering::Relaxed);
                    };
                    if let Ok(thread) = std::thread::Builder::new()
                        .name("ftp-session".to_owned())
                        .spawn(session)
                    {
                        threads.push(thread);
                    }
                }
                Err(_) if cancel.is_cancelled() => break,
                Err(SocketError::Stopped { .. }) => {}
                // Out of descriptors, most likely: give sessions time to end.
                Err(_) => std::thread::sleep(Context::SLICE),
            }
        }
        cancel.cancel();
        for thread in threads {
            let _ = thread.join();
        }
    }
}

/// How the next data connection is to be made.
#[derive(Debug)]
enum Data {
    None,
    Passive(TcpListener, SocketAddr),
    Active(SocketAddr),
}

struct Session<'a> {
    shared: &'a Shared,
    context: &'a Context,
    stream: Arc<TcpStream>,
    lines: Lines,
    peer: SocketAddr,
    local: SocketAddr,
    user: bool,
    logged_in: bool,
    data: Data,
    offset: u64,
    folder: String,
}

enum After {
    Continue,
    Quit,
}

impl<'a> Session<'a> {
    fn new(shared: &'a Shared, stream: TcpStream, peer: SocketAddr, context: &'a Context) -> Self {
        let local = stream.local_addr().unwrap_or(shared.config.listen);
        let stream = Arc::new(stream);
        Self {
            shared,
            context,
            lines: Lines::new(Arc::clone(&stream)),
            stream,
            peer,
            local,
            user: false,
            logged_in: false,
            data: Data::None,
            offset: 0,
            folder: "/".to_owned(),
        }
    }

    fn run(mut self) -> Result<(), LineError> {
        self.reply("220 slowpath FTP server")?;
        loop {
            let idle = self.context.clone().with_timeout(self.shared.config.idle);
            let line = match self.lines.next(&idle) {
                Ok(line) => line,
                Err(LineError::TooLong) => return self.reply("500 line too long"),
                Err(error) => {
                    if self.context.check().is_ok() {
                        let _ = self.reply("421 idle for too long");
                    }
                    return Err(error);
                }
            };
            let (verb, argument) = line.split_once(' ').unwrap_or((&line, ""));
            match self.command(&verb.to_ascii_uppercase(), argument.trim())? {
                After::Continue => {}
                After::Quit => return Ok(()),
            }
        }
    }

    fn reply(&self, text: &str) -> Result<(), LineError> {
        let doing = "answering";
        socket::write_all(
            &self.stream,
            format!("{text}\r\n").as_bytes(),
            doing,
            self.context,
        )?;
        Ok(())
    }

    fn command(&mut self, verb: &str, argument: &str) -> Result<After, LineError> {
        let before_login = [
            "USER", "PASS", "QUIT", "SYST", "FEAT", "NOOP", "OPTS", "AUTH", "HELP",
        ];
        if !self.logged_in && !before_login.contains(&verb) {
            self.reply("530 log in with USER and PASS")?;
            return Ok(After::Continue);
        }
        match verb {
            "USER" => {
                self.user = true;
                self.reply("331 any password will do")?;
            }
            "PASS" if self.user => {
                self.logged_in = true;
                self.reply("230 logged in")?;
            }
            "PASS" => self.reply("503 USER first")?,
            "QUIT" => {
                self.reply("221 goodbye")?;
                return Ok(After::Quit);
            }
            "SYST" => self.reply("215 UNIX Type: L8")?,
            "FEAT" => self.reply(
                "211-Features:\r\n EPRT\r\n EPSV\r\n PASV\r\n REST STREAM\r\n SIZE\r\n UTF8\r\n211 End",
            )?,
            "NOOP" => self.reply("200 nothing done")?,
            "OPTS" if argument.eq_ignore_ascii_case("UTF8 ON") => self.reply("200 always on")?,
            "TYPE" => match argument.to_ascii_uppercase().as_str() {
                // Type A is accepted for listings; files are never converted.
                "I" | "L 8" | "A" | "A N" => self.reply("200 type set")?,
                _ => self.reply("504 only TYPE I and A")?,
            },
            "MODE" if argument.eq_ignore_ascii_case("S") => self.reply("200 stream mode")?,
            "STRU" if argument.eq_ignore_ascii_case("F") => self.reply("200 file structure")?,
            "MODE" | "STRU" => self.reply("504 only stream mode and file structure")?,
            "ALLO" => self.reply("202 no storage to allocate")?,
            "PWD" | "XPWD" => self.reply(&format!(
                "257 \"{}\" is the current folder",
                self.folder.replace('"', "\"\"")
            ))?,
            "CWD" | "XCWD" => {
                self.folder = join(&self.folder, argument);
                self.reply("250 folder changed")?;
            }
            "CDUP" | "XCUP" => {
                self.folder = join(&self.folder, "..");
                self.reply("250 folder changed")?;
            }
            "REST" => match argument.parse() {
                Ok(offset) => {
                    self.offset = offset;
                    self.reply("350 will start there")?;
                }
                Err(_) => self.reply("501 REST needs a number of bytes")?,
            },
            "SIZE" => match self.find(argument).and_then(|source| source.size().ok()) {
                Some(size) => self.reply(&format!("213 {size}"))?,
                None => self.reply("550 no such file")?,
            },
            "PASV" | "EPSV" => self.passive(verb, argument)?,
            "PORT" | "EPRT" => self.active(verb, argument)?,
            "RETR" => self.retrieve(argument)?,
            "STOR" => self.store(argument)?,
            "LIST" | "NLST" => self.list(verb == "LIST")?,
            "DELE" if matches!(self.shared.config.files, Files::Synthetic(_)) => {
                self.reply("250 what is stored here is not kept")?;
            }
            "ABOR" => self.reply("226 no transfer is going on")?,
            _ => self.reply("502 not implemented")?,
        }
        Ok(After::Continue)
    }

    fn passive(&mut self, verb: &str, argument: &str) -> Result<(), LineError> {
        if verb == "EPSV" && argument.eq_ignore_ascii_case("ALL") {
            return self.reply("200 only EPSV from now on");
        }
        let at = SocketAddr::new(self.local.ip(), 0);
        let opened = self.shared.config.data.listen(at, 1);
        let opened = opened.map(|listener| listener.local_addr().map(|at| (listener, at)));
        let Ok(Ok((listener, at))) = opened else {
            return self.reply("425 cannot listen for a data connection");
        };
        self.data = Data::Passive(listener, at);
        match (verb, wire::print_six(at)) {
            ("EPSV", _) => self.reply(&format!("229 Entering Extended Passive Mode (|||{}|)", at.port())),
            (_, Some(six)) => self.reply(&format!("227 Entering Passive Mode ({six})")),
            (_, None) => self.reply("522 use EPSV with IPv6"),
        }
    }

    fn active(&mut self, verb: &str, argument: &str) -> Result<(), LineError> {
        let told = if verb == "PORT" {
            wire::parse_six(argument)
        } else {
            wire::parse_extended(argument)
        };
        match told {
            // Never connect to a third party (RFC 2577, section 3), nor to a privileged port of the client.
            Some(to) if to.ip() == self.peer.ip().to_canonical() && to.port() >= 1024 => {
                self.data = Data::Active(to);
                self.reply("200 will connect there")
            }
            Some(_) => self.reply("504 only to the address of the control connection, ports from 1024"),
            None => self.reply("501 no usable address"),
        }
    }

    /// Opens the agreed data connection after the first half of the answer.
    fn open_data(&mut self) -> Result<TcpStream, SocketError> {
        let context = self.context.clone().with_timeout(DATA_CONNECT);
        match std::mem::replace(&mut self.data, Data::None) {
            Data::Passive(listener, at) => loop {
                let (stream, peer) = socket::accept(&listener, at, &context)?;
                if same_host(peer.ip(), self.peer.ip()) {
                    return Ok(stream);
                }
            },
            Data::Active(to) => self.shared.config.data.connect(to, &context),
            Data::None => Err(SocketError::stopped(
                "opening the data connection",
                crate::context::Stop::Cancelled,
            )),
        }
    }

    /// Does one transfer over a data connection, records it, and answers.
    fn with_data(
        &mut self,
        name: &str,
        series: &str,
        work: impl FnOnce(
            &TcpStream,
            &mut Progress,
            &Context,
        ) -> Result<Option<slowpath_units::Time>, PayloadError>,
    ) -> Result<(), LineError> {
        let start = self.context.now();
        if matches!(self.data, Data::None) {
            return self.reply("425 use PASV, EPSV, PORT or EPRT first");
        }
        if let Err(refused) = self.context.admit(self.peer.ip()) {
            return self.reply(&format!("550 {refused}"));
        }
        self.reply("150 opening the data connection")?;
        let stream = match self.open_data() {
            Ok(stream) => Arc::new(stream),
            Err(error) => return self.reply(&format!("425 {error}")),
        };
        let sampler = Sampler::start(&self.shared.context, self.shared.config.sample_every);
        let watched = sampler.watch("data", &stream, &self.shared.config.data);
        let mut progress = Progress::per_second(start);
        let done = work(&stream, &mut progress, self.context);
        sampler.sample_now(watched);
        let end = done
            .as_ref()
            .ok()
            .copied()
            .flatten()
            .unwrap_or_else(|| self.context.now());
        let answer = match &done {
            Ok(_) => "226 transfer complete".to_owned(),
            Err(error @ PayloadError::Socket(_)) => format!("426 {error}"),
            Err(error) => format!("451 {error}"),
        };
        // The end of the data is the end of the connection; the client is told before the counters are final.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let told = self.reply(&answer.replace(['\r', '\n'], " "));
        watch::linger(&stream, DATA_CONNECT, self.context);
        sampler.sample_now(watched);
        drop(stream);
        let connection = sampler.finish().pop();
        let retransmitted = connection
            .as_ref()
            .and_then(ConnectionLog::last)
            .map(|sample| u64::from(sample.retransmitted_segments));
        let transfer = TransferResult {
            name: name.to_owned(),
            bytes: progress.total(),
            start,
            end,
            complete: done.is_ok(),
            error: done.err().map(|error| error.to_string()),
            retransmitted_segments: retransmitted.filter(|_| name.starts_with("RETR")),
            sender: None,
        };
        let record = ServerTransfer {
            transfer,
            progress: progress.series(series),
            connection,
        };
        self.shared
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(record);
        told
    }

    fn retrieve(&mut self, name: &str) -> Result<(), LineError> {
        let offset = std::mem::take(&mut self.offset);
        let Some(source) = self.find(name) else {
            return self.reply("550 no such file");
        };
        let mut open = match source.open(offset) {
            Ok(open) => open,
            Err(error) => return self.reply(&format!("550 {error}")),
        };
        self.with_data(
            &format!("RETR {name}"),
            "server/sent",
            |stream, progress, context| payload::send(stream, &mut open, progress, context).map(|()| None),
        )
    }

    fn store(&mut self, name: &str) -> Result<(), LineError> {
        let offset = std::mem::take(&mut self.offset);
        let sink = match &self.shared.config.files {
            Files::Synthetic(_) => Sink::Discard,
            Files::Folder { path, writable: true } => match inside(path, &join(&self.folder, name)) {
                Some(path) => Sink::File(path),
                None => return self.reply("553 no usable name"),
            },
            Files::Folder { writable: false, .. } => return self.reply("550 read only"),
        };
        let mut open = match sink.open(offset) {
            Ok(open) => open,
            Err(error) => return self.reply(&format!("550 {error}")),
        };
        let drain = self.shared.config.drain;
        self.with_data(
            &format!("STOR {name}"),
            "server/received",
            |stream, progress, context| {
                payload::receive(stream, &mut open, drain, progress, context).map(Some)
            },
        )
    }

    fn list(&mut self, long: bool) -> Result<(), LineError> {
        let mut text = String::new();
        for (name, size) in self.names() {
            let written = if long {
                write!(text, "-rw-r--r-- 1 ftp ftp {size:>12} Jan  1  2024 {name}\r\n")
            } else {
                write!(text, "{name}\r\n")
            };
            debug_assert!(written.is_ok(), "writing to a String cannot fail");
        }
        self.with_data("LIST", "server/listing", |stream, progress, context| {
            socket::write_all(stream, text.as_bytes(), "sending a listing to", context)?;
            progress.add(text.len() as u64, context.now());
            Ok(None)
        })
    }

    fn find(&self, name: &str) -> Option<Source> {
        let path = join(&self.folder, name);
        match &self.shared.config.files {
            Files::Synthetic(files) => files
                .iter()
                .find(|file| path.strip_prefix('/') == Some(&file.name))
                .map(|file| Source::Synthetic {
                    size: file.size,
                    seed: file.seed,
                }),
            Files::Folder { path: root, .. } => inside(root, &path)
                .filter(|path| path.is_file())
                .map(Source::File),
        }
    }

    fn names(&self) -> BTreeMap<String, u64> {
        match &self.shared.config.files {
            Files::Synthetic(files) => files
                .iter()
                .map(|file| (file.name.clone(), file.size.bytes()))
                .collect(),
            Files::Folder { path, .. } => inside(path, &self.folder)
                .and_then(|folder| folder.read_dir().ok())
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| {
                    let size = entry.metadata().ok()?.len();
                    entry.file_name().into_string().ok().map(|name| (name, size))
                })
                .collect(),
        }
    }
}

fn same_host(a: IpAddr, b: IpAddr) -> bool {
    a.to_canonical() == b.to_canonical()
}

/// The absolute path of `name` seen from `folder`; never above the root.
fn join(folder: &str, name: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let absolute = name.starts_with('/');
    let before = if absolute { "" } else { folder };
    for part in before.split('/').chain(name.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The file below `root` for an absolute path from [`join`].
fn inside(root: &Path, path: &str) -> Option<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    let plain = relative
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    (plain && !path.contains('\0')).then(|| root.join(relative))
}

/// How long a client may take to open the data connection, and to acknowledge the last byte.
const DATA_CONNECT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_root() {
        for (folder, name, expected) in [
            ("/", "a", "/a"),
            ("/x", "../../../etc/passwd", "/etc/passwd"),
            ("/x/y", "../z", "/x/z"),
            ("/x", "/a//b/./c", "/a/b/c"),
            ("/", "..", "/"),
        ] {
            assert_eq!(join(folder, name), expected);
        }
        assert_eq!(
            inside(Path::new("/srv"), "/etc/passwd"),
            Some(PathBuf::from("/srv/etc/passwd"))
        );
        assert_eq!(inside(Path::new("/srv"), "/a\0b"), None);
    }
}

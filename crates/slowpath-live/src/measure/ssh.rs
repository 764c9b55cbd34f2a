//! Copies with the real OpenSSH programs, as the user's own configuration has them.
//!
//! Each run is one program from its start to its end; a first run of an empty command shows how much of that is
//! connection and login. TCP state is read from the kernel's socket table while a program runs.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use slowpath_record::{Origin, RunRecord, TransferResult};
use slowpath_sys::private_folder;
use slowpath_units::{BitRate, ByteCount, Duration, Time};
use slowpath_workload::content::write_test_file;
use slowpath_workload::external::find_program;
use slowpath_workload::external::ssh::quoted;
use slowpath_workload::onlooker::{Filter, Onlooker};
use slowpath_workload::{ConnectionLog, Context, Permission};

use super::address::Address;
use super::answer::{Answer, MeasureError};
use super::{program, text};

/// Which copies to make.
#[derive(Debug, Clone)]
pub struct Spec {
    /// `ssh://[USER@]HOST[:PORT]/PATH`: an absolute path, or `~/PATH` below the home folder.
    pub target: String,
    /// Copy so much made-up data to the path, instead of reading it.
    pub upload: Option<ByteCount>,
    /// Programs, one after the other.
    pub methods: Vec<Method>,
    /// Values of `IPQoS`, each with every program; the configuration's own where the list is empty.
    pub ip_qos: Vec<String>,
    /// More options of ssh_config, such as `Ciphers aes128-gcm@openssh.com`.
    pub options: Vec<String>,
    /// ssh_config to use instead of the user's own.
    pub config: Option<PathBuf>,
}

/// Which program copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// scp, over SFTP from OpenSSH 9.0 on.
    Scp,
    /// `scp -O`: the old protocol.
    ScpLegacy,
    /// sftp with a batch of one command.
    Sftp,
    /// `ssh HOST 'cat ...'`.
    Pipe,
}

impl Method {
    const fn name(self) -> &'static str {
        match self {
            Self::Scp => "scp",
            Self::ScpLegacy => "scp -O",
            Self::Sftp => "sftp",
            Self::Pipe => "ssh pipe",
        }
    }
}

struct CopyRun {
    method: Method,
    ip_qos: String,
    bytes: u64,
    span: Duration,
    cpu: Duration,
    connections: Vec<ConnectionLog>,
    error: Option<String>,
}

struct Outcome {
    target: String,
    upload: bool,
    login: Duration,
    copies: Vec<CopyRun>,
}

/// Makes the copies; `rate` is the rate that load elsewhere was to keep to.
pub(super) fn run(
    spec: &Spec,
    rate: Option<BitRate>,
    context: &Context,
) -> Result<impl Answer + use<>, MeasureError> {
    let address = Address::parse(&spec.target, FORM)?;
    if address.path.is_empty() {
        return Err(super::address::AddressError::Form {
            target: spec.target.clone(),
            problem: "it names no file".to_owned(),
            form: FORM,
        }
        .into());
    }
    let failed = |what: String| MeasureError::tool("ssh", &spec.target, what);
    if address.password.is_some() {
        return Err(failed(
            "a password in the address is not used; OpenSSH must log in without asking, with a key or an agent".to_owned(),
        ));
    }
    for program in ["ssh", "scp", "sftp"] {
        if find_program(program, &[]).is_none() {
            return Err(failed(format!(
                "{program} is not installed (Debian package openssh-client)"
            )));
        }
    }
    let mut session = Session::open(spec, address, context)?;
    session.keeps_to(rate)?;
    let begun = context.now();
    session
        .succeed(&["true"])
        .map_err(|error| failed(format!("logging in: {error}")))?;
    let login = context.now().since(begun);
    let size = match spec.upload {
        Some(size) => size.bytes(),
        None => session.remote_size().map_err(failed)?,
    };
    if spec.upload.is_some() {
        session.make_source(size).map_err(failed)?;
    }
    let qos: Vec<Option<String>> = if spec.ip_qos.is_empty() {
        vec![None]
    } else {
        spec.ip_qos.iter().cloned().map(Some).collect()
    };
    let mut copies = Vec::new();
    for ip_qos in &qos {
        for method in &spec.methods {
            context
                .spend(size)
                .map_err(|stop| failed(format!("{} of {size} bytes: {stop}", method.name())))?;
            copies.push(session.copy(*method, ip_qos.as_deref(), size));
        }
    }
    Ok(Outcome {
        target: spec.target.clone(),
        upload: spec.upload.is_some(),
        login,
        copies,
    })
}

/// How to reach one server, and a folder for files of our own.
pub(crate) struct Session<'a> {
    spec: &'a Spec,
    context: &'a Context,
    /// The host as ssh is given it.
    pub(crate) host: String,
    user: Option<String>,
    port: Option<u16>,
    /// The path on the server.
    pub(crate) path: String,
    /// Where ssh connects to, unless it goes through something else.
    pub(crate) server: SocketAddr,
    /// `IPQoS` as ssh would use it without further options.
    own_qos: String,
    /// The setting that makes ssh connect through something else.
    pub(crate) proxy: Option<String>,
    folder: Scratch,
}

/// A folder that goes away with its value.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl<'a> Session<'a> {
    /// Asks ssh for its settings, and makes a folder of our own.
    pub(crate) fn open(spec: &'a Spec, address: Address, context: &'a Context) -> Result<Self, MeasureError> {
        let failed = |what: String| MeasureError::tool("ssh", &spec.target, what);
        // sftp does what its batch file says, local commands included: nobody else may write it.
        let parent = std::env::temp_dir();
        let folder = private_folder::create(&parent, "ssh")
            .map_err(|error| failed(format!("making a folder below {}: {error}", parent.display())))?;
        let path = match address.path.strip_prefix("~/") {
            Some(below_home) => below_home.to_owned(),
            None => format!("/{}", address.path),
        };
        let mut session = Self {
            spec,
            context,
            host: address.host,
            user: address.user,
            port: address.port,
            path,
            server: SocketAddr::from(([127, 0, 0, 1], 22)),
            own_qos: String::new(),
            proxy: None,
            folder: Scratch(folder),
        };
        // Names of ssh_config stand for hosts, ports and options: ssh itself knows what it would do.
        let mut command = session.command("ssh", None);
        command.args(["-G", &session.host]).stdout(Stdio::piped());
        let told = program::run(command, context)
            .map_err(|error| failed(format!("asking ssh -G for its settings: {error}")))?
            .stdout;
        let value = |key: &str| {
            told.lines()
                .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
                .map(|value| value.trim().to_owned())
        };
        let host = value("hostname").unwrap_or_else(|| session.host.clone());
        let port = value("port").and_then(|port| port.parse().ok()).unwrap_or(22);
        let (server, others) = super::address::resolve_all(&host, port)?;
        session.server = server;
        session.own_qos = value("ipqos").unwrap_or_else(|| "unknown".to_owned());
        // ssh asks for the name itself, and takes another of its addresses if the first does not answer.
        for address in [server].iter().chain(&others) {
            context
                .admit(address.ip())
                .map_err(|refused| MeasureError::tool("ssh", &spec.target, refused))?;
        }
        session.proxy = proxy(&told);
        match (&session.proxy, context.permission()) {
            (Some(proxy), Permission::Loopback) => Err(MeasureError::Settings(format!(
                "ssh would go to {} through \"{proxy}\" of its configuration, which may load any network; allow it with \
                 --allow-remote-load and a cap such as --cap '500 MB', or go without, with --option 'ProxyCommand none' \
                 or --option 'ProxyJump none'",
                session.host
            ))),
            _ => Ok(session),
        }
    }

    /// Refuses a rate that these programs would not keep to.
    pub(crate) fn keeps_to(&self, rate: Option<BitRate>) -> Result<(), MeasureError> {
        let is_remote = self.proxy.is_some() || !self.server.ip().to_canonical().is_loopback();
        match rate.filter(|_| is_remote) {
            Some(rate) => Err(MeasureError::Settings(format!(
                "--max-rate {rate}: OpenSSH's programs do not keep to a rate; leave it out, --cap and --deadline bound \
                 these copies"
            ))),
            None => Ok(()),
        }
    }

    /// A program with the options that all of them share; they must come before the host.
    pub(crate) fn command(&self, program: &str, ip_qos: Option<&str>) -> Command {
        let mut command = Command::new(program);
        if let Some(config) = &self.spec.config {
            command.arg("-F").arg(config);
        }
        let mut options = vec![
            "BatchMode=yes".to_owned(),
            // A shared connection would hide the one that is measured.
            "ControlMaster=no".to_owned(),
            "ControlPath=none".to_owned(),
        ];
        options.extend(self.user.iter().map(|user| format!("User={user}")));
        options.extend(self.port.iter().map(|port| format!("Port={port}")));
        options.extend(ip_qos.map(|value| format!("IPQoS={value}")));
        options.extend(self.spec.options.iter().cloned());
        for option in options {
            command.args(["-o", &option]);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a command on the server; its standard output.
    pub(crate) fn succeed(&self, words: &[&str]) -> Result<String, String> {
        let mut command = self.command("ssh", None);
        command.arg(&self.host).args(words).stdout(Stdio::piped());
        let output = program::run(command, self.context)?;
        Ok(output.stdout)
    }

    /// The folder for files of our own; it goes away with the session.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.0
    }

    fn remote_size(&self) -> Result<u64, String> {
        let told = self
            .succeed(&["wc", "-c", "<", &quoted(&self.path)])
            .map_err(|error| format!("asking for the size of {}: {error}", self.path))?;
        told.trim()
            .parse()
            .map_err(|_| format!("the size of {} came as \"{}\"", self.path, told.trim()))
    }

    fn source(&self) -> PathBuf {
        self.folder.0.join("data")
    }

    fn make_source(&self, size: u64) -> Result<(), String> {
        let path = self.source();
        write_test_file(&path, ByteCount::new(size), 1).map_err(|error| {
            format!(
                "writing {size} bytes of made-up data to {}: {error}",
                path.display()
            )
        })
    }

    fn copy(&mut self, method: Method, ip_qos: Option<&str>, size: u64) -> CopyRun {
        let filter = Filter {
            ports: vec![self.server.port()],
        };
        let onlooker = Onlooker::start(filter, Duration::from_millis(100), self.context).ok();
        let begun = Instant::now();
        let done = self
            .program(method, ip_qos)
            .and_then(|command| program::run(command, self.context));
        let span = begun.elapsed().into();
        let server = self.server;
        let connections = onlooker.map(Onlooker::finish).unwrap_or_default();
        let (cpu, error) = match done {
            Ok(output) => (output.cpu, None),
            Err(error) => (Duration::ZERO, Some(error)),
        };
        CopyRun {
            method,
            ip_qos: ip_qos.map_or_else(|| format!("own: {}", self.own_qos), str::to_owned),
            bytes: if error.is_none() { size } else { 0 },
            span,
            cpu,
            connections: connections
                .into_iter()
                .filter(|log| {
                    (log.key.dst, log.key.dst_port) == (server.ip(), server.port())
                        || log.key.dst.to_canonical() == server.ip() && log.key.dst_port == server.port()
                })
                .collect(),
            error,
        }
    }

    fn program(&self, method: Method, ip_qos: Option<&str>) -> Result<Command, String> {
        let upload = self.spec.upload.is_some();
        let (near, null) = (self.source(), Path::new("/dev/null"));
        let far = |path: &str| {
            let host = if self.host.contains(':') {
                format!("[{}]", self.host)
            } else {
                self.host.clone()
            };
            format!("{host}:{path}")
        };
        Ok(match method {
            Method::Scp | Method::ScpLegacy => {
                let mut command = self.command("scp", ip_qos);
                command.arg("-q");
                if method == Method::ScpLegacy {
                    // -T: the check of names does not understand the quotes that a shell needs.
                    command.args(["-O", "-T"]);
                }
                // The old protocol gives the path to a shell.
                let path = if method == Method::ScpLegacy {
                    quoted(&self.path)
                } else {
                    self.path.clone()
                };
                if upload {
                    command.arg(near).arg(far(&path));
                } else {
                    command.arg(far(&path)).arg(null);
                }
                command
            }
            Method::Sftp => {
                let batch = self.folder.0.join("batch");
                let line = if upload {
                    format!(
                        "put {} {}\n",
                        quoted(&near.display().to_string()),
                        quoted(&self.path)
                    )
                } else {
                    format!("get {} /dev/null\n", quoted(&self.path))
                };
                std::fs::write(&batch, line)
                    .map_err(|error| format!("writing {}: {error}", batch.display()))?;
                let mut command = self.command("sftp", ip_qos);
                command.arg("-q").arg("-b").arg(batch).arg(&self.host);
                command
            }
            Method::Pipe => {
                let mut command = self.command("ssh", ip_qos);
                command.arg(&self.host);
                if upload {
                    let file = std::fs::File::open(&near)
                        .map_err(|error| format!("opening {}: {error}", near.display()))?;
                    command.arg(format!("cat > {}", quoted(&self.path))).stdin(file);
                } else {
                    command.arg(format!("cat {}", quoted(&self.path)));
                }
                command
            }
        })
    }
}

/// The setting in what `ssh -G` tells that makes ssh connect through another host or a program.
fn proxy(told: &str) -> Option<String> {
    told.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(key, value)| {
            let is_proxy = ["proxyjump", "proxycommand"]
                .iter()
                .any(|own| key.eq_ignore_ascii_case(own));
            is_proxy && !["", "none"].contains(&value.trim().to_ascii_lowercase().as_str())
        })
        .map(|(key, value)| format!("{key} {}", value.trim()))
}

impl CopyRun {
    fn bit_per_s(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.span.seconds().max(1e-9)
    }
}

impl Answer for Outcome {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let way = if self.upload { "upload" } else { "download" };
        let best = self.copies.iter().filter(|copy| copy.error.is_none());
        match best.max_by(|a, b| a.bit_per_s().total_cmp(&b.bit_per_s())) {
            Some(best) => writeln!(
                out,
                "{} {way} with {}, IPQoS {}",
                text::rate(best.bit_per_s()),
                best.method.name(),
                best.ip_qos
            )?,
            None => writeln!(out, "no {way} came to its end")?,
        }
        let size = self.copies.iter().map(|copy| copy.bytes).max().unwrap_or(0);
        text::paragraph(
            out,
            "  ",
            &format!(
                "{} each way of copying, {}; connection and login alone take {}",
                text::amount(size),
                self.target,
                text::span(self.login)
            ),
        )?;
        let mut rows = vec![
            ["program", "IPQoS", "time", "rate", "CPU here", "resent"]
                .map(str::to_owned)
                .to_vec(),
        ];
        for copy in &self.copies {
            let last = copy.connections.first().and_then(ConnectionLog::last);
            rows.push(vec![
                copy.method.name().to_owned(),
                copy.ip_qos.clone(),
                text::span(copy.span),
                copy.error
                    .as_ref()
                    .map_or_else(|| text::rate(copy.bit_per_s()), |_| "failed".to_owned()),
                text::share(copy.cpu.seconds() / copy.span.seconds().max(1e-9)),
                last.map_or_else(
                    || "–".to_owned(),
                    |last| text::count(u64::from(last.retransmitted_segments)),
                ),
            ]);
        }
        text::table(out, &rows)?;
        for copy in &self.copies {
            if let Some(error) = &copy.error {
                text::note(out, &format!("{}: {error}", copy.method.name()))?;
            } else if self.upload && copy.cpu.seconds() < BUSY * copy.span.seconds() {
                text::where_time_went(out, &format!("{}: ", copy.method.name()), &copy.connections)?;
            }
            if copy.cpu.seconds() >= BUSY * copy.span.seconds() && copy.error.is_none() {
                text::note(
                    out,
                    &format!(
                        "{} was busy for {} of the time: this host may be the limit, not the path",
                        copy.method.name(),
                        text::share(copy.cpu.seconds() / copy.span.seconds())
                    ),
                )?;
            }
        }
        Ok(())
    }

    fn record(&self) -> RunRecord {
        let transfers = self.copies.iter().map(|copy| TransferResult {
            name: format!("{:?}, IPQoS {}", copy.method, copy.ip_qos).to_lowercase(),
            bytes: copy.bytes,
            start: Time::ZERO,
            end: Time::ZERO + copy.span,
            complete: copy.error.is_none(),
            error: copy.error.clone(),
            retransmitted_segments: None,
            sender: None,
        });
        RunRecord {
            transfers: transfers.collect(),
            ..RunRecord::new(Origin::Live, "ssh")
        }
    }

    fn json(&self) -> Value {
        let copies: Vec<Value> = self
            .copies
            .iter()
            .map(|copy| {
                json!({
                    "program": copy.method.name(),
                    "ip_qos": copy.ip_qos,
                    "bytes": copy.bytes,
                    "seconds": copy.span.seconds(),
                    "byte_per_s": copy.bit_per_s() / 8.0,
                    "cpu_s": copy.cpu.seconds(),
                    "error": copy.error,
                    "connections": copy.connections,
                })
            })
            .collect();
        json!({"tool": "ssh", "target": self.target, "upload": self.upload, "login_s": self.login.seconds(),
            "copies": copies})
    }

    fn incomplete(&self) -> Option<String> {
        let failed = self.copies.iter().find(|copy| copy.error.is_some())?;
        failed.error.clone()
    }
}

pub(crate) const FORM: &str = "ssh://HOST/PATH or ssh://USER@HOST:PORT/PATH";
/// From this share of a processor on, the host and not the path may be the limit.
const BUSY: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_found_in_what_ssh_tells() {
        for (told, expected) in [
            ("hostname 127.0.0.1\nport 22\n", None),
            ("hostname a\nproxycommand none\nproxyjump None\n", None),
            (
                "hostname 127.0.0.1\nproxyjump bastion.example\n",
                Some("proxyjump bastion.example"),
            ),
            (
                "proxyusefdpass no\nproxycommand nc -x proxy %h %p\n",
                Some("proxycommand nc -x proxy %h %p"),
            ),
        ] {
            assert_eq!(proxy(told).as_deref(), expected, "{told}");
        }
    }
}

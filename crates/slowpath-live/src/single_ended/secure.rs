//! What sshd offers: a pipe, sftp, scp and a tunnel, with the programs of OpenSSH.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::OnceLock;

use slowpath_sys::sock_diag::SockDiag;
use slowpath_units::Duration;
use slowpath_workload::external::find_program;
use slowpath_workload::external::ssh::quoted;
use slowpath_workload::{Cancel, Context};

use super::change::Change;
use super::held::Held;
use super::layer::Layer;
use super::load::{ENDLESS, side_by_side, streams, tcp};
use crate::measure::address::Address;
use crate::measure::ssh::Session;
use crate::measure::{Guard, MeasureError, program, ssh};

/// An sshd, and how to log in to it.
pub(super) struct Ssh<'a> {
    pub(super) session: Session<'a>,
    /// Whether the target names a file to read.
    pub(super) has_file: bool,
    /// Whether the server is OpenSSH, by its greeting.
    pub(super) is_openssh: bool,
    held: OnceLock<Held>,
}

impl<'a> Ssh<'a> {
    pub(super) fn open(
        spec: &'a ssh::Spec,
        guard: &Guard,
        context: &'a Context,
    ) -> Result<Self, MeasureError> {
        let failed = |what: String| MeasureError::tool("ssh", &spec.target, what);
        let address = Address::parse(&spec.target, ssh::FORM)?;
        if address.password.is_some() {
            return Err(failed(
                "a password in the address is not used; OpenSSH must log in without asking, with a key or an agent"
                    .to_owned(),
            ));
        }
        for program in ["ssh", "scp", "sftp"] {
            if find_program(program, &[]).is_none() {
                return Err(failed(format!(
                    "{program} is not installed (Debian package openssh-client)"
                )));
            }
        }
        let has_file = !address.path.is_empty();
        let session = Session::open(spec, address, context)?;
        session.keeps_to(guard.rate())?;
        if let Some(proxy) = &session.proxy {
            return Err(MeasureError::Settings(format!(
                "ssh goes to {} through \"{proxy}\" of its configuration: then its connection shows another path; go without, with \
                 --ssh-option 'ProxyCommand none' or --ssh-option 'ProxyJump none'",
                session.host
            )));
        }
        session
            .succeed(&["true"])
            .map_err(|error| failed(format!("logging in: {error}")))?;
        let zeros = session.folder().join(ZEROS);
        std::fs::File::create(&zeros)
            .and_then(|file| file.set_len(ENDLESS))
            .map_err(|error| failed(format!("making the file {}: {error}", zeros.display())))?;
        Ok(Self {
            is_openssh: greeting(session.server).is_some_and(|said| said.contains("OpenSSH")),
            session,
            has_file,
            held: OnceLock::new(),
        })
    }

    /// The file on the server that is read: the one that the target names, or one of our own that is there while this lives.
    fn far_file(&self, context: &Context) -> Result<String, String> {
        if self.has_file {
            return Ok(self.session.path.clone());
        }
        if let Some(held) = self.held.get() {
            return Ok(held.path.clone());
        }
        let mut command = self.session.command("ssh", None);
        command.arg(&self.session.host).arg(Held::script());
        let held = Held::start(command, context)?;
        Ok(self.held.get_or_init(|| held).path.clone())
    }

    pub(super) fn copy(
        &self,
        layer: Layer,
        change: Option<&Change>,
        reverse: bool,
        context: &Context,
    ) -> Result<(), MeasureError> {
        let file = if !reverse || (layer == Layer::Pipe && !self.has_file) {
            Ok("/dev/zero".to_owned())
        } else {
            self.far_file(context)
        };
        let failed = |what: String| MeasureError::tool("ssh", &self.session.host, what);
        let file = file.map_err(failed)?;
        side_by_side(streams(change), &|_| {
            let command = self.command(layer, change, reverse, &file).map_err(failed)?;
            program::run(command, context).map(drop).map_err(failed)
        })
    }

    fn command(
        &self,
        layer: Layer,
        change: Option<&Change>,
        reverse: bool,
        file: &str,
    ) -> Result<std::process::Command, String> {
        let session = &self.session;
        let mark = match change {
            // A number is the whole type-of-service byte there.
            Some(Change::Mark(mark)) => Some((mark.value() << 2).to_string()),
            _ => None,
        };
        let near = session.folder().join(ZEROS);
        let begin = |program: &str| {
            let mut command = session.command(program, mark.as_deref());
            // Zeros compress to nothing, and what is asked is how fast bytes come through.
            command.args(["-o", "Compression=no"]);
            command
        };
        let host = if session.host.contains(':') {
            format!("[{}]", session.host)
        } else {
            session.host.clone()
        };
        Ok(match layer {
            Layer::Sftp => {
                let batch = session
                    .folder()
                    .join(if reverse { "batch-get" } else { "batch-put" });
                let line = if reverse {
                    format!("get {} /dev/null\n", quoted(file))
                } else {
                    format!("put {} /dev/null\n", quoted(&near.display().to_string()))
                };
                std::fs::write(&batch, line)
                    .map_err(|error| format!("writing {}: {error}", batch.display()))?;
                let mut command = begin("sftp");
                command.arg("-q").arg("-b").arg(batch).arg(&session.host);
                command
            }
            Layer::Scp => {
                let mut command = begin("scp");
                command.arg("-q");
                if reverse {
                    command.arg(format!("{host}:{file}")).arg("/dev/null");
                } else {
                    command.arg(near).arg(format!("{host}:/dev/null"));
                }
                command
            }
            _ => {
                let mut command = begin("ssh");
                command.arg(&session.host);
                if reverse {
                    command.arg(format!("cat {}", quoted(file)));
                } else {
                    let zeros = std::fs::File::open("/dev/zero")
                        .map_err(|error| format!("opening /dev/zero: {error}"))?;
                    command.arg("cat >/dev/null").stdin(Stdio::from(zeros));
                }
                command
            }
        })
    }

    pub(super) fn tunnel(
        &self,
        server: SocketAddr,
        reverse: bool,
        span: Duration,
        context: &Context,
    ) -> Result<(), MeasureError> {
        let failed = |what: String| MeasureError::tool("ssh", &self.session.host, what);
        let near = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .map_err(|error| failed(format!("finding a free port: {error}")))?;
        let far = match server {
            SocketAddr::V4(_) => server.ip().to_string(),
            SocketAddr::V6(_) => format!("[{}]", server.ip()),
        };
        let mut command = self.session.command("ssh", None);
        command
            .args([
                "-o",
                "Compression=no",
                "-o",
                "ExitOnForwardFailure=yes",
                "-N",
                "-L",
            ])
            .arg(format!("{near}:{far}:{}", server.port()))
            .arg(&self.session.host);
        let end = Cancel::new();
        let own = context.clone().with_cancel(end.clone());
        std::thread::scope(|scope| {
            let ssh = scope.spawn(|| program::run(command, &own));
            let mut outcome = Err(failed("the tunnel did not open".to_owned()));
            let begun = context.now();
            while !ssh.is_finished() && context.check().is_ok() && context.now().since(begun) < OPENING {
                if listens(near) {
                    outcome = tcp(near, None, reverse, span, context);
                    break;
                }
                let _ = context.sleep(Duration::from_millis(20));
            }
            let ended_early = ssh.is_finished();
            end.cancel();
            match ssh.join() {
                Ok(Err(said)) if ended_early => Err(failed(said)),
                Ok(_) => outcome,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}

/// What an SSH server says first (RFC 4253, section 4.2).
fn greeting(server: SocketAddr) -> Option<String> {
    let patience = std::time::Duration::from_secs(2);
    let stream = TcpStream::connect_timeout(&server, patience).ok()?;
    stream.set_read_timeout(Some(patience)).ok()?;
    let mut line = String::new();
    BufReader::new(stream).take(GREETING).read_line(&mut line).ok()?;
    Some(line)
}

/// Whether a program of this host listens there; a connection would be one to the server behind the tunnel.
fn listens(at: SocketAddr) -> bool {
    let sockets = SockDiag::open().and_then(|mut diag| diag.tcp_sockets());
    let is_it = |local: SocketAddr, state: u8| state == LISTEN && local.port() == at.port();
    sockets.is_ok_and(|all| all.iter().any(|socket| is_it(socket.local, socket.state)))
}

/// The file of zeros that is sent, without taking any room.
const ZEROS: &str = "zeros";
/// Bytes that a greeting has at most.
const GREETING: u64 = 255;
/// For opening a tunnel.
const OPENING: Duration = Duration::from_secs(15);
/// TCP_LISTEN of `include/net/tcp_states.h`.
const LISTEN: u8 = 10;

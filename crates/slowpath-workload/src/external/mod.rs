//! Real programs, described so that somebody else can start them in a host.
//!
//! A [`Program`] is data: files to write, command line, how to tell that it is ready. The caller writes the
//! files with [`Program::write_files`], spawns [`Program::command`] in the host's namespace and waits with
//! [`Program::wait`] from a thread inside that namespace.
//!
//! * [`vsftpd`]: the FTP server of Debian, without root; [`curl`]: a real FTP client.
//! * [`ssh`]: sshd without root, scp, sftp, pipes and tunnels; [`object_store`]: versitygw and
//!   s3s-fs; [`mod@iperf3`]: the real one.

pub mod curl;
pub mod iperf3;
pub mod object_store;
pub mod ssh;
pub mod vsftpd;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use slowpath_units::Duration;

use crate::context::{Context, Stop};

/// A program to run: what the caller needs to start it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name for messages, such as `vsftpd`.
    pub name: String,
    /// The executable, as a path or a name to look up in `PATH`.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Additional environment variables.
    pub environment: Vec<(String, String)>,
    /// Files to write before the start: path, content, permission bits.
    pub files: Vec<ProgramFile>,
    /// How to tell that it is ready to be used.
    pub ready: Ready,
}

/// A file that a program needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFile {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub content: Vec<u8>,
    /// Permission bits, such as 0o600.
    pub mode: u32,
}

/// How to tell that a program is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// It is a client: it ends by itself.
    Immediately,
    /// It listens on this TCP port of any address in its namespace.
    Listening(SocketAddr),
}

/// A program that is not ready.
#[derive(Debug, thiserror::Error)]
pub enum NotReady {
    /// Nobody listens.
    #[error("{name} did not listen on {address} within {within}; its own messages say why")]
    Silent {
        /// The program.
        name: String,
        /// Where it should listen.
        address: SocketAddr,
        /// How long it was given.
        within: Duration,
    },
    /// The workload had to stop.
    #[error("waiting for {name}: {stop}")]
    Stopped {
        /// The program.
        name: String,
        /// Why.
        stop: Stop,
    },
}

impl Program {
    /// The command, ready to be spawned; standard streams are left to the caller.
    pub fn command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().cloned());
        command
    }

    /// Writes the files that the program needs; folders must exist.
    ///
    /// # Errors
    /// What the file system answers, with the path in front.
    pub fn write_files(&self) -> io::Result<()> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        for file in &self.files {
            std::fs::File::options()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(file.mode)
                .open(&file.path)
                .and_then(|mut open| open.write_all(&file.content))
                .map_err(|error| {
                    io::Error::new(error.kind(), format!("writing {}: {error}", file.path.display()))
                })?;
        }
        Ok(())
    }

    /// Waits until the program is ready, at most for `within`; call it from inside the program's namespace.
    ///
    /// # Errors
    /// It is not ready in time, or the context ended.
    pub fn wait(&self, within: Duration, context: &Context) -> Result<(), NotReady> {
        let Ready::Listening(address) = self.ready else {
            return Ok(());
        };
        let begun = context.now();
        while !listening(address) {
            if context.now().since(begun) > within {
                return Err(NotReady::Silent {
                    name: self.name.clone(),
                    address,
                    within,
                });
            }
            let stopped = |stop| NotReady::Stopped {
                name: self.name.clone(),
                stop,
            };
            context.sleep(Duration::from_millis(5)).map_err(stopped)?;
        }
        Ok(())
    }
}

/// Whether a TCP socket listens on the port of `address` in the calling thread's network namespace.
///
/// Looks at the kernel's socket table: a connection as a probe would use up a server that serves only once.
pub fn listening(address: SocketAddr) -> bool {
    let port = format!(":{:04X}", address.port());
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]
        .iter()
        .any(|table| {
            std::fs::read_to_string(table)
                .unwrap_or_default()
                .lines()
                .skip(1)
                .any(|line| {
                    let mut fields = line.split_whitespace().skip(1);
                    let (local, _, state) = (fields.next(), fields.next(), fields.next());
                    // 0A is TCP_LISTEN (include/net/tcp_states.h).
                    state == Some("0A") && local.is_some_and(|local| local.ends_with(&port))
                })
        })
}

/// Processor time that a process and its finished children have used so far.
///
/// In steps of 10 ms, the kernel's `USER_HZ`.
pub fn processor_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything; utime to cstime are fields 14 to 17 (proc(5)).
    let ticks: u64 = stat
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Some(Duration::from_millis(ticks * 10))
}

/// The executable `name` in `PATH` or in one of `folders`.
pub fn find_program(name: &str, folders: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(folders.iter().map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|candidate| is_executable(candidate))
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

//! The SSH family with the real OpenSSH programs: sshd, ssh, scp, sftp, and tunnels.
//!
//! sshd runs without root as long as it keeps its own user id (a namespace that maps the user to root makes it fail
//! at `setgroups`): in a mount namespace of its own it sees an account file that names this user, so nothing of the
//! system's accounts or of the user's own SSH configuration takes part. Everything lives in one folder.
//!
//! The order: [`SshSetup::prepare`] (keys and files), [`SshSetup::server`] in the far host, then
//! [`SshSetup::transfer`] or [`SshSetup::tunnel`] in the near one.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use slowpath_record::TransferResult;
use slowpath_units::Time;

use super::{Program, ProgramFile, Ready, find_program};

/// Both ends of SSH connections between two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshSetup {
    /// Where sshd listens, and where clients connect to.
    pub server: SocketAddr,
    /// Folder for keys, configurations and transferred files; an absolute path, existing, with room for the files.
    pub work: PathBuf,
    /// User id and group id under which sshd and its sessions run: those of the caller.
    pub user: (u32, u32),
    /// Lines of ssh_config, before all others: the first value of an option counts.
    pub client_options: Vec<String>,
    /// Lines of sshd_config, before all others.
    pub server_options: Vec<String>,
}

/// Which program copies the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SshMethod {
    /// scp over SFTP, the default since OpenSSH 9.0.
    Scp,
    /// `scp -O`: the old protocol.
    ScpLegacy,
    /// sftp with a batch file.
    Sftp,
    /// `ssh host 'cat > file' < file`.
    Pipe,
}

/// One file to copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshCopy {
    /// Which program.
    pub method: SshMethod,
    /// Whether the file goes to the server.
    pub upload: bool,
    /// The file on the sending side.
    pub source: PathBuf,
    /// The file on the receiving side; `/dev/null` is fine for [`SshMethod::Pipe`].
    pub destination: PathBuf,
    /// Connect here instead of to the server: the near end of a tunnel.
    pub through: Option<SocketAddr>,
}

impl SshSetup {
    /// Makes keys and writes the files that clients need.
    ///
    /// # Errors
    /// ssh-keygen is missing or fails, or the folder cannot be written.
    pub fn prepare(&self) -> io::Result<()> {
        for (name, comment) in [("host_key", "slowpath host"), ("client_key", "slowpath client")] {
            let path = self.work.join(name);
            if path.exists() {
                continue;
            }
            let output = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f"])
                .arg(&path)
                .stdin(Stdio::null())
                .output()?;
            if !output.status.success() {
                let text = String::from_utf8_lossy(&output.stderr);
                return Err(io::Error::other(format!("ssh-keygen: {}", text.trim())));
            }
        }
        std::fs::copy(
            self.work.join("client_key.pub"),
            self.work.join("authorized_keys"),
        )?;
        let host_key = std::fs::read_to_string(self.work.join("host_key.pub"))?;
        std::fs::write(self.work.join("known_hosts"), format!("{HOST} {host_key}"))?;
        std::fs::write(self.client_config_path(None), self.client_config(self.server))
    }

    /// sshd, or nothing when it is not installed (Debian package `openssh-server`).
    pub fn server(&self) -> Option<Program> {
        let sshd = find_program("sshd", SBIN)?;
        let file = |name: &str| self.work.join(name);
        let (passwd, shadow, group, config) =
            (file("passwd"), file("shadow"), file("group"), file("sshd_config"));
        let (uid, gid) = self.user;
        let home = self.work.display();
        // The separation user is needed only when sshd runs as root.
        let accounts = format!(
            "{USER}:x:{uid}:{gid}::{home}:/bin/sh\nsshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
        );
        // A star is no password but, unlike an exclamation mark, does not lock the account.
        let passwords = format!("{USER}:*:19000::::::\nsshd:*:19000::::::\n");
        // No group "tty": an ordinary user could not give a terminal to it.
        let groups = format!("{USER}:x:{gid}:\n");
        let script = format!(
            "mount --bind {} /etc/passwd && mount --bind {} /etc/shadow && mount --bind {} /etc/group && \
             mount -t tmpfs tmpfs /run && \
             mkdir -m 755 /run/sshd && exec {} -D -e -f {}",
            quoted(&passwd.display().to_string()),
            quoted(&shadow.display().to_string()),
            quoted(&group.display().to_string()),
            quoted(&sshd.display().to_string()),
            quoted(&config.display().to_string()),
        );
        Some(Program {
            name: "sshd".to_owned(),
            program: find_program("unshare", &[])?,
            arguments: vec![
                "--mount".to_owned(),
                "/bin/sh".to_owned(),
                "-c".to_owned(),
                script,
            ],
            environment: Vec::new(),
            files: vec![
                ProgramFile {
                    path: passwd,
                    content: accounts.into_bytes(),
                    mode: 0o644,
                },
                ProgramFile {
                    path: shadow,
                    content: passwords.into_bytes(),
                    mode: 0o600,
                },
                ProgramFile {
                    path: group,
                    content: groups.into_bytes(),
                    mode: 0o644,
                },
                ProgramFile {
                    path: config,
                    content: self.server_config().into_bytes(),
                    mode: 0o600,
                },
            ],
            ready: Ready::Listening(self.server),
        })
    }

    fn server_config(&self) -> String {
        let mut lines = self.server_options.clone();
        let sftp = SFTP_SERVERS
            .iter()
            .find(|path| std::path::Path::new(path).exists())
            .map_or("internal-sftp", |path| *path);
        lines.extend([
            format!("ListenAddress {}", self.server.ip()),
            format!("Port {}", self.server.port()),
            format!("HostKey {}", self.work.join("host_key").display()),
            format!(
                "AuthorizedKeysFile {}",
                self.work.join("authorized_keys").display()
            ),
            format!("Subsystem sftp {sftp}"),
        ]);
        lines.extend(
            [
                "PidFile none",
                "UsePAM no",
                "StrictModes no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin prohibit-password",
                "UseDNS no",
                "MaxStartups 200",
                "MaxSessions 200",
                "PrintMotd no",
                "PrintLastLog no",
            ]
            .map(str::to_owned),
        );
        lines.join("\n") + "\n"
    }

    fn client_config_path(&self, through: Option<SocketAddr>) -> PathBuf {
        match through {
            None => self.work.join("ssh_config"),
            Some(near) => self.work.join(format!("ssh_config-{}", near.port())),
        }
    }

    fn client_config(&self, to: SocketAddr) -> String {
        let mut lines = self.client_options.clone();
        lines.extend([
            format!("HostName {}", to.ip()),
            format!("Port {}", to.port()),
            format!("User {USER}"),
            format!("IdentityFile {}", self.work.join("client_key").display()),
            format!("UserKnownHostsFile {}", self.work.join("known_hosts").display()),
            format!("HostKeyAlias {HOST}"),
        ]);
        lines.extend(
            [
                "GlobalKnownHostsFile /dev/null",
                "IdentitiesOnly yes",
                "StrictHostKeyChecking yes",
                "BatchMode yes",
                "LogLevel ERROR",
            ]
            .map(str::to_owned),
        );
        lines.join("\n") + "\n"
    }

    /// A client that copies one file, or nothing when it is not installed (Debian package `openssh-client`).
    pub fn transfer(&self, copy: &SshCopy) -> Option<Program> {
        let config = self.client_config_path(copy.through);
        let mut files = Vec::new();
        if let Some(near) = copy.through {
            let content = self.client_config(near).into_bytes();
            files.push(ProgramFile {
                path: config.clone(),
                content,
                mode: 0o600,
            });
        }
        let (config, source, destination) = (
            config.display().to_string(),
            copy.source.display().to_string(),
            copy.destination.display().to_string(),
        );
        let (name, arguments) = match copy.method {
            SshMethod::Scp | SshMethod::ScpLegacy => {
                let mut arguments = vec!["-q".to_owned(), "-F".to_owned(), config];
                if copy.method == SshMethod::ScpLegacy {
                    arguments.push("-O".to_owned());
                }
                let far = |path: &str| format!("{HOST}:{path}");
                arguments.extend(if copy.upload {
                    [source, far(&destination)]
                } else {
                    [far(&source), destination]
                });
                ("scp", arguments)
            }
            SshMethod::Sftp => {
                let batch = self.work.join("sftp_batch");
                let verb = if copy.upload { "put" } else { "get" };
                let line = format!("{verb} {} {}\n", quoted(&source), quoted(&destination));
                files.push(ProgramFile {
                    path: batch.clone(),
                    content: line.into_bytes(),
                    mode: 0o600,
                });
                let batch = batch.display().to_string();
                (
                    "sftp",
                    vec![
                        "-q".to_owned(),
                        "-F".to_owned(),
                        config,
                        "-b".to_owned(),
                        batch,
                        HOST.to_owned(),
                    ],
                )
            }
            SshMethod::Pipe => {
                let ssh = format!("exec ssh -F {} {HOST}", quoted(&config));
                let script = if copy.upload {
                    let far = quoted(&format!("cat > {}", quoted(&destination)));
                    format!("{ssh} {far} < {}", quoted(&source))
                } else {
                    let far = quoted(&format!("cat {}", quoted(&source)));
                    format!("{ssh} {far} > {}", quoted(&destination))
                };
                find_program("ssh", &[])?;
                ("sh", vec!["-c".to_owned(), script])
            }
        };
        Some(Program {
            name: name.to_owned(),
            program: find_program(name, &[])?,
            arguments,
            environment: Vec::new(),
            files,
            ready: Ready::Immediately,
        })
    }

    /// A tunnel: what connects to `near` on this side comes out as a connection to `far` on the other.
    ///
    /// Without a terminal, so OpenSSH before 10.1 marks it as interactive; with `terminal` as a login shell opened
    /// together with `-L`, which is how people usually make tunnels.
    pub fn tunnel(&self, near: SocketAddr, far: SocketAddr, terminal: bool) -> Option<Program> {
        let config = self.client_config_path(None).display().to_string();
        let mut arguments = vec![
            "-F".to_owned(),
            config,
            "-o".to_owned(),
            "ExitOnForwardFailure=yes".to_owned(),
        ];
        arguments.extend(["-L".to_owned(), format!("{}:{}", bracketed(near), bracketed(far))]);
        if terminal {
            // A shell that only waits, on a terminal of the server.
            arguments.extend(["-tt".to_owned(), HOST.to_owned(), "sleep 2147483647".to_owned()]);
        } else {
            arguments.extend(["-N".to_owned(), HOST.to_owned()]);
        }
        Some(Program {
            name: "ssh".to_owned(),
            program: find_program("ssh", &[])?,
            arguments,
            environment: Vec::new(),
            files: Vec::new(),
            ready: Ready::Listening(near),
        })
    }
}

impl SshCopy {
    /// The result of a run from `start` to `end`, with the programs' whole time: connection, login, copy, end.
    pub fn result(&self, size: u64, start: Time, end: Time, stderr: &str, success: bool) -> TransferResult {
        let name = match self.method {
            SshMethod::Scp => "scp",
            SshMethod::ScpLegacy => "scp -O",
            SshMethod::Sftp => "sftp",
            SshMethod::Pipe => "ssh pipe",
        };
        let way = if self.upload { "upload" } else { "download" };
        TransferResult {
            name: format!("{name} {way}"),
            bytes: if success { size } else { 0 },
            start,
            end,
            complete: success,
            error: (!success).then(|| stderr.trim().to_owned()),
            retransmitted_segments: None,
            sender: None,
        }
    }
}

fn bracketed(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(_) => address.to_string(),
        SocketAddr::V6(six) => format!("[{}]:{}", six.ip(), six.port()),
    }
}

/// One word of a shell or of sftp's batch language.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The account's name inside sshd's mount namespace.
const USER: &str = "slowpath";
/// The server's name in the clients' configuration.
const HOST: &str = "far";
const SBIN: &[&str] = &["/usr/sbin", "/usr/local/sbin"];
/// Debian's place first, then those of other systems.
const SFTP_SERVERS: &[&str] = &[
    "/usr/lib/openssh/sftp-server",
    "/usr/libexec/openssh/sftp-server",
    "/usr/lib/ssh/sftp-server",
];

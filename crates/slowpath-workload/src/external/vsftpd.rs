//! vsftpd, the FTP server of Debian, run without root and without daemon.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{Program, ProgramFile, Ready, find_program};

/// How vsftpd is to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vsftpd {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Folder that anonymous users see; it must not be writable by the user who runs the server.
    pub root: PathBuf,
    /// Folder for the configuration file.
    pub work: PathBuf,
    /// Whether anonymous users may upload into a writable folder below the root.
    pub writable: bool,
}

impl Vsftpd {
    /// The program, or nothing when vsftpd is not installed (Debian package `vsftpd`).
    pub fn program(&self) -> Option<Program> {
        let program = find_program("vsftpd", SBIN)?;
        let config = self.work.join("vsftpd.conf");
        Some(Program {
            name: "vsftpd".to_owned(),
            program,
            arguments: vec![config.display().to_string()],
            environment: Vec::new(),
            files: vec![ProgramFile {
                path: config,
                content: self.config().into_bytes(),
                mode: 0o600,
            }],
            ready: Ready::Listening(self.listen),
        })
    }

    /// The configuration file; the first block is what running without root needs.
    fn config(&self) -> String {
        let yes_no = |yes: bool| if yes { "YES" } else { "NO" };
        let listen = if self.listen.is_ipv4() {
            format!(
                "listen=YES\nlisten_ipv6=NO\nlisten_address={}\n",
                self.listen.ip()
            )
        } else {
            format!(
                "listen=NO\nlisten_ipv6=YES\nlisten_address6={}\n",
                self.listen.ip()
            )
        };
        format!(
            "run_as_launching_user=YES\nisolate=NO\nisolate_network=NO\nseccomp_sandbox=NO\nbackground=NO\n\
             {listen}listen_port={port}\n\
             anonymous_enable=YES\nno_anon_password=YES\nlocal_enable=NO\nanon_root={root}\n\
             write_enable={write}\nanon_upload_enable={write}\nanon_umask=022\n\
             connect_from_port_20=NO\npasv_enable=YES\nport_enable=YES\nuse_localtime=NO\nxferlog_enable=NO\n\
             secure_chroot_dir={empty}\n",
            port = self.listen.port(),
            root = self.root.display(),
            write = yes_no(self.writable),
            empty = empty_folder(&self.work).display(),
        )
    }
}

fn empty_folder(work: &Path) -> PathBuf {
    work.to_path_buf()
}

/// Where Debian keeps server programs, outside an ordinary user's `PATH`.
const SBIN: &[&str] = &["/usr/sbin", "/usr/local/sbin"];

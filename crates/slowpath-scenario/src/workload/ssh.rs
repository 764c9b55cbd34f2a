//! Transfers by the programs of the SSH family.

use serde::{Deserialize, Serialize};
use slowpath_units::ByteCount;

use crate::asked::Form;
use crate::diagnostic::Diagnostic;
use crate::fields::Fields;

use super::direction::{Direction, direction};
use super::size::size;

/// One file by one of the programs of the SSH family.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshTransfer {
    /// By which program and in which way.
    pub method: SshMethod,
    /// Which way the file goes.
    pub direction: Direction,
    /// Size of the file.
    pub size: ByteCount,
    /// What goes into the client's configuration, as lines of `ssh_config`.
    pub client_options: Vec<String>,
    /// What goes into the server's configuration, as lines of `sshd_config`.
    pub server_options: Vec<String>,
    /// Seed of the file's random bytes.
    pub content_seed: u64,
}

/// How a file goes over SSH.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SshMethod {
    /// `scp` over SFTP.
    Scp,
    /// `scp -O`, the legacy protocol.
    ScpLegacy,
    /// `sftp`.
    Sftp,
    /// `ssh host 'cat > file' < file`.
    Pipe,
    /// iperf3 through `ssh -L`.
    TunnelIperf3,
    /// A plain copy through `ssh -L`.
    TunnelCopy,
    /// `scp` through `ssh -L`: encrypted twice.
    TunnelScp,
}

pub(super) fn read(fields: &Fields<'_>, method: SshMethod) -> Option<SshTransfer> {
    Some(SshTransfer {
        method,
        direction: direction(fields).unwrap_or(Direction::Upload),
        client_options: options(fields, "client_options"),
        server_options: options(fields, "server_options"),
        content_seed: 0,
        size: size(fields)?,
    })
}

fn options(fields: &Fields<'_>, key: &'static str) -> Vec<String> {
    let Some(list) = fields.list(key) else {
        return Vec::new();
    };
    list.value
        .iter()
        .inspect(|(path, _)| fields.issues().ask(|| (path.clone(), Form::Text)))
        .filter_map(|(path, node)| match &node.value {
            crate::tree::Value::Text(line) => Some(line.clone()),
            other => {
                fields.issues().push(
                    Diagnostic::error(
                        node.span,
                        format!("`{path}` must be a string, not {}", other.kind()),
                    )
                    .help("write a line of ssh_config, such as \"IPQoS none\""),
                );
                None
            }
        })
        .collect()
}

//! FTP (RFC 959, RFC 2428).

use serde::{Deserialize, Serialize};
use slowpath_units::ByteCount;

use crate::fields::Fields;

use super::direction::Direction;
use super::program::{Program, program};
use super::size::size;

/// One file over FTP, in binary type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FtpTransfer {
    /// Download is GET (`RETR`), upload is PUT (`STOR`).
    pub direction: Direction,
    /// Size of the file.
    pub size: ByteCount,
    /// How the data connection is opened.
    pub data: DataMode,
    /// Who serves.
    pub server: Program,
    /// Who fetches or stores.
    pub client: Program,
    /// Seed of the file's random bytes.
    pub content_seed: u64,
}

/// How an FTP data connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataMode {
    /// Passive with `PASV` (RFC 959).
    Passive,
    /// Passive with `EPSV` (RFC 2428).
    ExtendedPassive,
    /// Active with `PORT` (RFC 959).
    Active,
    /// Active with `EPRT` (RFC 2428).
    ExtendedActive,
}

pub(super) fn read(fields: &Fields<'_>, direction: Direction) -> Option<FtpTransfer> {
    Some(FtpTransfer {
        direction,
        data: fields
            .choice("data", MODES)
            .map_or(DataMode::Passive, |mode| mode.value),
        server: program(fields, "server_program", &["builtin", "vsftpd"]),
        client: program(
            fields,
            "client_program",
            &["builtin", "curl", "lftp", "ftp", "tnftp"],
        ),
        content_seed: 0,
        size: size(fields)?,
    })
}

impl DataMode {
    /// The same way with the commands that IPv6 knows, whose addresses `PASV` and `PORT` have no words for (RFC 2428).
    pub(crate) const fn extended(self) -> Self {
        match self {
            Self::Passive | Self::ExtendedPassive => Self::ExtendedPassive,
            Self::Active | Self::ExtendedActive => Self::ExtendedActive,
        }
    }
}

const MODES: &[(&str, DataMode)] = &[
    ("passive", DataMode::Passive),
    ("pasv", DataMode::Passive),
    ("extended-passive", DataMode::ExtendedPassive),
    ("epsv", DataMode::ExtendedPassive),
    ("active", DataMode::Active),
    ("port", DataMode::Active),
    ("extended-active", DataMode::ExtendedActive),
    ("eprt", DataMode::ExtendedActive),
];

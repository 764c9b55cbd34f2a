//! The two ends of a connection, where a tap stands between them, and how they feed marks back.

use serde::{Deserialize, Serialize};

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The end that opened the connection (or sent the first packet seen).
    #[default]
    Client,
    /// The other end.
    Server,
}

impl Side {
    /// 0 for the client, 1 for the server.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Where a capture was taken, seen from the sender of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tap {
    /// At or beside the sender.
    Sender,
    /// At or beside the receiver.
    Receiver,
    /// Between them, far from both.
    Middle,
    /// Cannot be told.
    #[default]
    Unknown,
}

/// How congestion marks are fed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Not at all.
    #[default]
    None,
    /// ECE and CWR (RFC 3168).
    Classic,
    /// A counter in the header (RFC 9768).
    Accurate,
}

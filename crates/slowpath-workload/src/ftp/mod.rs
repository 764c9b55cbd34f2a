//! FTP (RFC 959, RFC 2428): a client and a server with exact control of their data sockets.
//!
//! Start with [`transfer`] and [`Server`]. Binary type and stream mode only: ASCII conversion would change the
//! number of bytes. [`vsftpd`](crate::external::vsftpd) and [`curl`](crate::external::curl) describe the real
//! programs for the same job.
//!
//! * `client`: one GET or PUT on a fresh session.
//! * `server`: sessions in threads, synthetic files or a folder.
//! * `wire`: the control connection's lines, replies and addresses.

mod client;
mod server;
mod wire;

pub use client::{ClientConfig, Direction, FtpError, FtpReport, Mode, remove, transfer};
pub use server::{Files, Server, ServerConfig, ServerTransfer, SyntheticFile};
pub use wire::Reply;

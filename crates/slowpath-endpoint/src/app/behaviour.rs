//! The programs as plain data.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::{BitRate, Duration};

use crate::tcp::CongestionControl;

/// One program on a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Behaviour {
    /// Sends bulk data over one or more TCP connections.
    Bulk(Bulk),
    /// Accepts TCP connections and reads and discards what comes.
    Sink(Sink),
    /// An FTP client that gets or puts one file (RFC 959, RFC 2428), with real bytes on its control connection.
    FtpClient(FtpClient),
    /// An FTP server that answers such clients.
    FtpServer(FtpServer),
    /// A client of request and response exchanges, over one or more TCP connections at a time.
    Requests(Requests),
    /// The server of [`Behaviour::Requests`].
    Responder(Responder),
    /// Copies one file through SSH (scp, sftp, a pipe).
    SshClient(SshClient),
    /// The server of such a copy.
    SshServer(SshServer),
    /// A source of UDP datagrams.
    UdpSource(UdpSource),
    /// Counts UDP datagrams and their jitter.
    UdpSink(UdpSink),
    /// Sends ICMP echo requests and measures round trips.
    Ping(Ping),
}

/// Bulk data over TCP.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bulk {
    /// Name of the transfer in reports.
    pub name: String,
    /// Where to connect.
    pub to: SocketAddr,
    /// Bytes to send per stream; without it, until `duration` is over.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// How long to send; without it, until `bytes` are sent. The earlier of both ends the stream.
    #[serde(default)]
    pub duration: Option<Duration>,
    /// Parallel connections.
    #[serde(default = "one")]
    pub streams: u32,
    /// Congestion control of these connections instead of the host's.
    #[serde(default)]
    pub congestion: Option<CongestionControl>,
    /// DSCP of these connections instead of the host's.
    #[serde(default)]
    pub dscp: Option<Dscp>,
    /// A slow writer; without it the send buffer is always full.
    #[serde(default)]
    pub writer: Pace,
}

/// A TCP server that reads and discards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Sink {
    /// Port to listen on.
    pub port: u16,
    /// A slow reader; without it everything is read as it comes.
    #[serde(default)]
    pub reader: Pace,
}

/// How fast a program reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", tag = "kind")]
pub enum Pace {
    /// As fast as data or buffer come.
    #[default]
    Unlimited,
    /// `unit` bytes take `unit / bytes_per_s`; for the last `pause` of it nothing is read or written.
    ///
    /// A program that hands `unit` bytes to a store and waits for it; the bytes of a unit are taken in pieces
    /// of `chunk` at an even rate before the pause.
    #[serde(rename_all = "kebab-case")]
    Units {
        /// Bytes that belong together, such as a flash write.
        unit: u32,
        /// Mean rate in bytes per second, pauses included.
        bytes_per_s: u64,
        /// Pause at the end of each unit.
        pause: Duration,
        /// Bytes taken at once.
        chunk: u32,
    },
}

/// An FTP client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FtpClient {
    /// Control address of the server.
    pub server: SocketAddr,
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
    /// Path of the file on the server.
    pub path: String,
    /// Get, or put that many bytes.
    pub direction: FtpDirection,
    /// How the data connection is made.
    pub data: FtpData,
    /// How fast the client's store takes (or gives) the data.
    #[serde(default)]
    pub pace: Pace,
}

/// Direction of an FTP transfer, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FtpDirection {
    /// RETR.
    Get,
    /// STOR of this many bytes.
    Put(u64),
}

/// How an FTP data connection is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FtpData {
    /// PASV (RFC 959).
    Passive,
    /// EPSV (RFC 2428).
    ExtendedPassive,
    /// PORT, the server connects from its data port (RFC 959).
    Active,
}

/// An FTP server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FtpServer {
    /// Control port, usually 21.
    pub port: u16,
    /// Files that can be fetched.
    pub files: Vec<File>,
    /// First port for passive data connections.
    pub passive_port: u16,
}

/// A file on a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// Path as the client asks for it.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
}

/// Request and response exchanges: objects of one size, fetched or stored with some concurrency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Requests {
    /// Name of the transfer in reports.
    pub name: String,
    /// Where to connect.
    pub to: SocketAddr,
    /// Exchanges in all.
    pub count: u32,
    /// Connections at a time, each with one exchange under way.
    pub concurrency: u32,
    /// Bytes of each request; the server must be set to the same.
    pub request_bytes: u64,
    /// Bytes of each response.
    pub response_bytes: u64,
    /// Whether a connection is used again for the next exchange.
    pub keep_alive: bool,
    /// Whether every connection has the same number of exchanges from the start, a remainder being left out, instead of
    /// taking the next one when it is free.
    #[serde(default)]
    pub fixed_shares: bool,
    /// Pause of a connection between two exchanges.
    pub think: Duration,
}

/// The server of [`Requests`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Responder {
    /// Port to listen on.
    pub port: u16,
    /// Bytes of each request.
    pub request_bytes: u64,
    /// Bytes of each response.
    pub response_bytes: u64,
    /// Time from the last byte of a request to the first of its response.
    pub service: Duration,
}

/// A copy through SSH; client and server must be told the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SshTransfer {
    /// Name of the transfer in reports.
    pub name: String,
    /// Which way the file goes, seen from the client.
    pub direction: SshDirection,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// The channel's window in bytes (OpenSSH: 2 MiB, `CHAN_SES_WINDOW_DEFAULT`).
    pub window: u32,
    /// Largest packet in bytes of data (OpenSSH: 32 KiB, `CHAN_SES_PACKET_DEFAULT`).
    pub packet: u32,
    /// SFTP's requests; without them the file is one stream, as `scp -O` and pipes send it.
    #[serde(default)]
    pub requests: Option<SftpRequests>,
    /// Exchanges from the banner to the start of the copy: key exchange, login, opening the channel.
    pub logins: u32,
    /// DSCP of this end's packets from the start of the copy on; the login is not marked with it.
    #[serde(default)]
    pub dscp: Option<Dscp>,
}

/// Pipelining of SFTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SftpRequests {
    /// Requests under way at most (`sftp -R`; OpenSSH: 64). A download begins with one and adds one with each answer.
    pub outstanding: u32,
    /// Bytes of each (`sftp -B`; OpenSSH: 32 KiB, since 8.7 255 KiB with servers that allow it).
    pub size: u32,
}

/// Direction of a copy, seen from the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SshDirection {
    /// From the server.
    Get,
    /// To the server.
    Put,
}

impl SshTransfer {
    /// One stream through OpenSSH's channel: `scp -O`, or a pipe into `ssh`.
    pub const fn stream(name: String, direction: SshDirection, bytes: u64) -> Self {
        Self {
            name,
            direction,
            bytes,
            window: 2 << 20,
            packet: 32 << 10,
            requests: None,
            logins: 8,
            dscp: None,
        }
    }

    /// `sftp` (and `scp` since 9.0) with requests of `size` bytes, 64 at a time; it begins with two more exchanges.
    pub const fn sftp(name: String, direction: SshDirection, bytes: u64, size: u32) -> Self {
        let mut transfer = Self::stream(name, direction, bytes);
        transfer.requests = Some(SftpRequests {
            outstanding: 64,
            size,
        });
        transfer.logins += 2;
        transfer
    }
}

/// The client of a copy through SSH.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SshClient {
    /// The server's address.
    pub to: SocketAddr,
    /// What is copied, and how.
    pub transfer: SshTransfer,
}

/// The server of a copy through SSH.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SshServer {
    /// Port to listen on, usually 22.
    pub port: u16,
    /// What is copied, and how; only the DSCP may differ from the client's.
    pub transfer: SshTransfer,
}

/// A source of UDP datagrams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UdpSource {
    /// Name of the flow in reports.
    pub name: String,
    /// Where to send.
    pub to: SocketAddr,
    /// Payload bytes of each datagram; above the MTU it goes out in fragments and is lost with any of them.
    pub datagram: u32,
    /// Rate of payload bits.
    pub rate: BitRate,
    /// Datagrams go out in bursts this far apart (iperf3 3.1: 100 ms, later 1 ms); zero spaces them evenly.
    #[serde(default = "zero")]
    pub interval: Duration,
    /// How long to send.
    pub duration: Duration,
    /// DSCP of the datagrams.
    #[serde(default)]
    pub dscp: Dscp,
}

/// A sink of UDP datagrams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UdpSink {
    /// Name of the flow in reports.
    pub name: String,
    /// Port to listen on.
    pub port: u16,
    /// How long they are sent for: those that no longer arrive count in the rate as well.
    #[serde(default)]
    pub lasts: Duration,
}

/// A series of ICMP echo requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ping {
    /// Address to ask.
    pub to: std::net::IpAddr,
    /// Requests to send.
    pub count: u16,
    /// Time between two requests.
    pub interval: Duration,
    /// Bytes behind the ICMP header.
    pub bytes: u32,
}

const fn one() -> u32 {
    1
}

const fn zero() -> Duration {
    Duration::ZERO
}

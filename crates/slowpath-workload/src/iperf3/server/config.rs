//! How a server listens, what it allows, and what it says afterwards.

use std::net::SocketAddr;

use slowpath_units::{BitRate, Duration};

use crate::iperf3::params::Pacing;
use crate::iperf3::report::Report;
use crate::iperf3::wire::IperfError;
use crate::socket::SocketOptions;

/// How a server listens and what it allows.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Address for TCP and UDP; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What clients may ask for.
    pub limits: Limits,
    /// Options of the listening socket, which accepted ones inherit from the SYN-ACK on. What a client asks for
    /// is set on its connections after that.
    pub options: SocketOptions,
    /// How a UDP sender on this side spaces its datagrams.
    pub pacing: Pacing,
    /// Length of the intervals in reports.
    pub interval: Duration,
    /// How often `TCP_INFO` is sampled.
    pub sample_every: Duration,
}

/// What clients may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Tests at a time; more are told that the server is busy.
    pub tests: usize,
    /// Streams of one test, both directions together.
    pub streams: u32,
    /// Longest test, with the omitted time.
    pub duration: Duration,
    /// Highest rate of one test, all streams together.
    pub rate: Option<BitRate>,
    /// Connections that have not said yet what they are; the oldest is dropped for a newer one.
    pub pending: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tests: 8,
            streams: 256,
            duration: Duration::from_secs(3600),
            rate: None,
            pending: 256,
        }
    }
}

/// A test that has ended, well or not.
#[derive(Debug)]
pub struct TestRecord {
    /// The client.
    pub client: SocketAddr,
    /// What came of it.
    pub outcome: Result<Report, IperfError>,
}

impl ServerConfig {
    /// A server at `listen` with the default limits.
    pub fn new(listen: SocketAddr) -> Self {
        Self {
            listen,
            limits: Limits::default(),
            options: SocketOptions {
                no_delay: true,
                ..SocketOptions::default()
            },
            pacing: Pacing::default(),
            interval: Duration::from_secs(1),
            sample_every: Duration::from_millis(100),
        }
    }
}

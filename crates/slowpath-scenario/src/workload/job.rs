//! One job between two hosts, of any kind.

use serde::{Deserialize, Serialize};
use slowpath_units::{ByteCount, Duration};

use super::direction::Direction;
use super::ftp::FtpTransfer;
use super::iperf3::{Iperf3Direction, Iperf3Test};
use super::s3::{S3Load, S3Operation};
use super::ssh::SshTransfer;
use super::streams::{Command, FrameStream, Ping, UdpStream};

/// One job between two hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Workload {
    /// One file over FTP.
    Ftp(FtpTransfer),
    /// One iperf3 test.
    Iperf3(Iperf3Test),
    /// One transfer by a program of the SSH family.
    Ssh(SshTransfer),
    /// Many requests to an object store.
    S3(S3Load),
    /// A paced stream of datagrams.
    Udp(UdpStream),
    /// Echo requests.
    Ping(Ping),
    /// Frames as a traffic generator sends them.
    Frames(FrameStream),
    /// Any program.
    Command(Command),
}

impl Workload {
    /// Which way the bulk of the data goes.
    pub const fn direction(&self) -> Direction {
        match self {
            Self::Ftp(ftp) => ftp.direction,
            Self::Iperf3(test) => match test.direction {
                Iperf3Direction::Forward => Direction::Upload,
                Iperf3Direction::Reverse => Direction::Download,
                Iperf3Direction::Bidirectional => Direction::Both,
            },
            Self::Ssh(ssh) => ssh.direction,
            Self::S3(load) => match load.operation {
                S3Operation::Put => Direction::Upload,
                S3Operation::Get => Direction::Download,
            },
            Self::Udp(_) | Self::Frames(_) => Direction::Upload,
            Self::Ping(_) | Self::Command(_) => Direction::Both,
        }
    }

    /// Payload bytes in all, where the job has a fixed size.
    pub const fn size(&self) -> Option<ByteCount> {
        match self {
            Self::Ftp(ftp) => Some(ftp.size),
            Self::Ssh(ssh) => Some(ssh.size),
            Self::S3(load) => Some(ByteCount::new(
                load.object_size.bytes().saturating_mul(load.requests as u64),
            )),
            Self::Iperf3(test) => test.size,
            _ => None,
        }
    }

    /// The same job with another size, where it has one.
    #[must_use]
    pub fn with_size(mut self, size: ByteCount) -> Self {
        match &mut self {
            Self::Ftp(ftp) => ftp.size = size,
            Self::Ssh(ssh) => ssh.size = size,
            Self::Iperf3(test) if test.size.is_some() => test.size = Some(size),
            _ => {}
        }
        self
    }

    /// How long the job runs, where its length is fixed.
    pub const fn span(&self) -> Option<Duration> {
        match self {
            Self::Iperf3(test) => test.duration,
            Self::Udp(stream) => Some(stream.duration),
            Self::Frames(stream) => Some(stream.duration),
            _ => None,
        }
    }
}

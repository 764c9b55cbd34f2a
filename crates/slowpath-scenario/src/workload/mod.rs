//! What runs over the network: the jobs a plan names, and how a document writes them.

mod direction;
mod document;
mod ftp;
pub mod ip_qos;
mod iperf3;
mod job;
mod program;
mod s3;
mod size;
mod ssh;
mod streams;

pub use direction::Direction;
pub(crate) use document::read_workloads;
pub use document::{Repeats, WorkloadDocument};
pub use ftp::{DataMode, FtpTransfer};
pub use iperf3::{IPERF3_UDP_RATE, Iperf3Direction, Iperf3Protocol, Iperf3Test};
pub use job::Workload;
pub use program::Program;
pub use s3::{S3Load, S3Operation};
pub use ssh::{SshMethod, SshTransfer};
pub use streams::{Command, FrameStream, Ping, StreamProtocol, ThroughputSearch, UdpStream};

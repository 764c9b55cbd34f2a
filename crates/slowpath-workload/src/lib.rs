//! Transfer tools and probes with their own sockets, and descriptions of the real programs for the same jobs.
//!
//! A workload is a blocking function: it takes its settings and a [`Context`] (run clock, deadline, cancel flag,
//! permission for load) and returns record types with stamps on the run's time line. It uses the network
//! namespace of the calling thread; threads that it starts inherit it. It knows nothing of the lab, prints
//! nothing, writes no file that it was not told to write, and sends load to addresses that are not local only
//! with explicit [`Permission`], a cap and a deadline.
//!
//! Start with [`ftp::transfer`] and [`ftp::Server`]; every other workload has the same shape.
//!
//! * [`context`]: [`Context`] and [`Cancel`]; [`guard`]: [`Permission`], and whom servers serve.
//! * [`socket`]: [`SocketOptions`], and what the kernel made of them.
//! * [`watch`]: samples of `TCP_INFO` while a transfer runs; [`progress`]: bytes per second at the application.
//! * `service`: a server's thread and its end.
//! * [`content`]: test data from a seed; [`payload`]: sources and sinks; [`drain`]: a slow reader.
//! * [`ftp`]: FTP client and server.
//! * [`iperf3`]: client and server, compatible with the real one.
//! * [`copy`]: a plain copy over TCP.
//! * [`s3`]: an object store's client, load generator, and a small endpoint.
//! * [`stream`]: one-way packet streams with exact spacing; [`sweep`]: which DSCP survives, and how it fares.
//! * [`probe`]: ping, trace, path MTU.
//! * [`onlooker`]: samples of `TCP_INFO` of other programs' connections.
//! * [`external`]: real programs (vsftpd, curl, iperf3, OpenSSH, versitygw, s3s-fs) as descriptions that the caller spawns
//!   in a host.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod content;
pub mod context;
pub mod copy;
pub mod drain;
pub mod external;
pub mod ftp;
pub mod guard;
pub mod iperf3;
pub mod onlooker;
pub mod payload;
pub mod probe;
pub mod progress;
pub mod s3;
mod service;
pub mod socket;
pub mod stream;
pub mod sweep;
pub mod watch;

pub use context::{Cancel, Context, Stop};
pub use guard::{Network, Permission, Refused};
pub use socket::{SocketError, SocketFacts, SocketOptions};
pub use watch::{ConnectionLog, Sampler, TcpSample};

//! Runs model hosts over the model network in simulated time.
//!
//! This crate opens no sockets and no files, reads no clock, starts no threads and prints nothing. Equal
//! [`SimSpec`]s give equal results, byte for byte; runs for repeats and sweeps are independent, so a caller
//! spreads them over cores as it likes.
//!
//! The most important type is [`Simulation`]: built from a [`SimSpec`], run to its end, asked for its
//! [`SimReport`]. The network is `slowpath_path::Network`, unchanged; hosts are `slowpath_endpoint::Host`s.
//!
//! * [`spec`]: what a run consists of, as plain data.
//! * [`simulation`]: the event loop. Start here.
//! * [`sink`]: where packets go that are to be captured; [`Recorder`] makes records of them for an analysis.
//! * [`edges`]: packets held up between hosts and network, as a busy machine does.
//! * [`planned`]: from a plan to a run; [`cards`]: the hosts' network cards.
//! * [`programs`]: what the jobs of a plan are as programs of model hosts.
//! * [`frames`]: a frame generator's runs, which have no hosts.
//! * [`report`]: what a run leaves behind; [`watch`]: what it shows of its transfer at one end.

#![forbid(unsafe_code)]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod cards;
pub mod edges;
pub mod frames;
mod freight;
mod known;
pub mod planned;
pub mod programs;
pub mod report;
pub mod simulation;
pub mod sink;
pub mod spec;
pub mod watch;

pub use edges::EdgeSpec;
pub use report::SimReport;
pub use simulation::Simulation;
pub use sink::{NoSink, Point, Recorder, Sighting, Sink};
pub use spec::{SimError, SimHost, SimSpec};

//! iperf3, client and server, on the wire compatible with 3.12 and later.
//!
//! Start with [`run`] and [`Server`]. Compatibility is with the protocol, not with the figures: the headline is
//! what the receiver counted, what the sender's kernel merely accepted is shown beside it, and UDP loss is
//! split into own send errors, receiver socket drops and the path's part.
//!
//! * `client`: one test against a server; `server`: several clients at a time, with limits.
//! * `params`: what a client asks for, as configuration and as JSON; `report`: what came out.
//! * `wire`: state bytes, cookie and framed JSON; `results`: the exchange at the end.
//! * `conversation`: the same from bytes alone, for tests and fuzzing.
//! * `tcp`, `udp`: the threads that move data; `tally`: what they count; `clockwork`: intervals and the end.
//!
//! Deviations from iperf3 3.12 that a user can see:
//!
//! | iperf3 | here | why |
//! |---|---|---|
//! | one thread for all streams | a thread for each | one stream does not wait for another |
//! | paced UDP in bursts of 1 ms, catching up without bound | each datagram at its time, 1 ms or two intervals of catching up | its own bursts cause loss ([`Pacing`]) |
//! | a smaller window than asked for ends the test | the test runs, the shortfall is reported | the effective window is a result |
//! | UDP with the default receive buffer | 4 MiB, as far as `net.core.rmem_max` allows, unless `-w` says otherwise | a host that is busy for a moment loses nothing |
//! | one client at a time | as many as [`Limits`] say | deployed servers are shared |
//! | with a byte count, the end overtakes the data | the last acknowledgement is awaited first, and 20 ms more that do not count | the receiver then counts every byte |
//! | | a used-up cap ends the test with the figures so far ([`Report::cut_short`]) | they are a measurement too |

mod client;
mod clockwork;
#[cfg(any(test, feature = "conversation"))]
pub mod conversation;
mod greeting;
mod number;
mod params;
mod report;
mod results;
mod server;
pub(crate) mod tally;
mod tcp;
mod transfer;
pub(crate) mod udp;
mod wire;

pub use client::run;
pub use params::{ClientConfig, Direction, InvalidParams, Pacing, Params, Transport};
pub use report::{Interval, RemoteStream, Report, Side, StreamReport, TcpState, UdpCounts};
pub use server::{Limits, Server, ServerConfig, TestRecord};
pub use tally::Bursts;
pub use wire::IperfError;

//! Probes that put next to no load on a path: ping, trace, path MTU.
//!
//! * [`ping()`]: round trips with kernel receive stamps; start here.
//! * [`trace()`]: the routers on the way, and what they saw of the mark.
//! * [`path_mtu()`]: the largest packet that gets through, and whether its absence is announced.
//! * `icmp`: messages; `echo`: the sockets that carry them.

mod echo;
mod icmp;
mod mtu;
mod ping;
mod trace;

pub use echo::{Access, ProbeError};
pub(crate) use icmp::checksum;
pub use icmp::{IcmpError, Quoted};
pub use mtu::{MtuConfig, MtuReport, path_mtu};
pub use ping::{PingConfig, PingReply, PingReport, ping};
pub use trace::{Hop, HopReply, Method, TraceConfig, TraceReport, trace};

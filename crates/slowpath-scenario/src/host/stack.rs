//! The two kinds of stack a planned host can run on.

use serde::{Deserialize, Serialize};
use slowpath_packet::Dscp;
use slowpath_units::BitRate;

use crate::host::settings::{EcnMode, Storage};

/// Settings of a kernel's TCP for one host, for the lab to apply in the host's namespace and sockets.
///
/// `None` leaves the kernel's own default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KernelStack {
    /// `net.ipv4.tcp_congestion_control`, per route or per socket.
    pub congestion_control: Option<String>,
    /// `net.ipv4.tcp_window_scaling`.
    pub window_scaling: Option<bool>,
    /// `net.ipv4.tcp_sack`.
    pub sack: Option<bool>,
    /// `net.ipv4.tcp_timestamps`.
    pub timestamps: Option<bool>,
    /// `net.ipv4.tcp_ecn`.
    pub ecn: Option<EcnMode>,
    /// `net.ipv4.tcp_rmem` in bytes: minimum, default, maximum.
    pub rmem: Option<[u64; 3]>,
    /// `net.ipv4.tcp_wmem` in bytes: minimum, default, maximum.
    pub wmem: Option<[u64; 3]>,
    /// A window that must never be exceeded, in bytes: `TCP_WINDOW_CLAMP` or the route's `window`.
    pub window_clamp: Option<u64>,
    /// Explicit `SO_RCVBUF` for the workload's sockets, in bytes as the program would ask for it.
    pub receive_buffer: Option<u64>,
    /// Explicit `SO_SNDBUF` for the workload's sockets, in bytes as the program would ask for it.
    pub send_buffer: Option<u64>,
    /// `net.core.rmem_max` in bytes.
    pub rmem_max: Option<u64>,
    /// `net.core.wmem_max` in bytes.
    pub wmem_max: Option<u64>,
    /// Initial congestion window of the route, in segments.
    pub initial_window: Option<u32>,
    /// Slow start threshold of the route, in segments.
    pub slow_start_threshold: Option<u32>,
    /// Largest segment payload announced, in bytes (the route's `advmss`).
    pub mss: Option<u16>,
    /// `SO_MAX_PACING_RATE` of the workload's sockets.
    pub pacing: Option<BitRate>,
    /// Mark set on the workload's sockets.
    pub dscp: Option<Dscp>,
    /// Queueing discipline of the host's interface.
    pub qdisc: Option<String>,
    /// Slow storage that the built-in receiving application imitates.
    pub storage: Option<Storage>,
}

/// How a figure or a model parameter was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Observed in this run.
    Measured,
    /// A parameter of the model was fitted to it: no evidence for the model.
    Fitted,
    /// The model gave it without having seen it.
    Predicted,
    /// Taken from a document.
    Documented,
    /// Assumed, because no source decides it.
    Assumed,
}

//! What one look at a connection shows.

use slowpath_sys::tcp_info::TcpInfo;

/// One connection at one instant.
#[derive(Debug, Clone, Default)]
pub struct ConnectionSample {
    /// Nanoseconds since the watch began.
    pub at: u64,
    /// The kernel's state of the connection.
    pub info: TcpInfo,
    /// Bytes received and not read by the program.
    pub receive_queue: u32,
    /// Bytes written by the program and not acknowledged.
    pub send_queue: u32,
}

//! The options of a socket behind a change: read, set, and restored.
//!
//! What the kernel does not give back: pacing by the kernel, which BBR and a bound of the rate turn on, stays on for the
//! connection (at one and a fifth to twice what the congestion window asks for); a buffer's own size beyond `net.core.wmem_max`
//! or `rmem_max` is not set again, but grows again by itself; and a congestion control begins anew.

use std::io;
use std::os::fd::AsFd;

use serde::{Deserialize, Serialize};
use slowpath_packet::mark::Ecn;
use slowpath_sys::{shared_socket, sockopt};

use super::change::Change;

/// The value that an option had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Congestion control.
    CongestionControl(String),
    /// Bound of the pacing rate, bytes per second; all ones without one.
    PacingRate(u64),
    /// The type of service of IPv4, the traffic class of IPv6, where the socket has them, and the queueing priority.
    Mark {
        /// Type of service.
        v4: Option<i32>,
        /// Traffic class.
        v6: Option<i32>,
        /// Priority.
        priority: i32,
    },
    /// Bytes of the send buffer, as the kernel keeps them, and whether they are fixed.
    SendBuffer(Buffer),
    /// The same of the receive buffer, with the bound of the window.
    ReceiveBuffer(Buffer, i32),
    /// Bound of the offered window, bytes.
    WindowClamp(i32),
    /// Bytes that may wait unsent; 0 as the machine's default says.
    UnsentLowWater(i32),
}

/// A buffer of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Bytes, as the kernel keeps them: twice what was asked for.
    pub bytes: i32,
    /// Bits of `SO_BUF_LOCK`; `None` on kernels that do not tell.
    pub fixed: Option<i32>,
}

impl Setting {
    /// What a socket has where `change` would change it.
    ///
    /// # Errors
    /// Those of `getsockopt(2)`.
    pub fn of(change: &Change, socket: impl AsFd) -> io::Result<Self> {
        let socket = socket.as_fd();
        Ok(match change {
            Change::CongestionControl(_) => Self::CongestionControl(sockopt::congestion_control(socket)?),
            Change::PacingRate(_) => Self::PacingRate(shared_socket::max_pacing_rate(socket)?),
            Change::Mark(_) => Self::Mark {
                v4: sockopt::tos(socket).ok(),
                v6: sockopt::traffic_class(socket).ok(),
                priority: sockopt::priority(socket)?,
            },
            Change::SendBuffer(_) => Self::SendBuffer(Buffer {
                bytes: sockopt::send_buffer(socket)?,
                fixed: shared_socket::fixed_buffers(socket).ok(),
            }),
            Change::ReceiveBuffer(_) => Self::ReceiveBuffer(
                Buffer {
                    bytes: sockopt::receive_buffer(socket)?,
                    fixed: shared_socket::fixed_buffers(socket).ok(),
                },
                sockopt::window_clamp(socket)?,
            ),
            Change::WindowClamp(_) => Self::WindowClamp(sockopt::window_clamp(socket)?),
            Change::UnsentLowWater(_) => Self::UnsentLowWater(sockopt::not_sent_low_water(socket)?),
        })
    }

    /// Whether two are the same as far as the kernel leaves them alone: a window's bound it moves with the buffer.
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::ReceiveBuffer(one, _), Self::ReceiveBuffer(other, _)) => one.bytes == other.bytes,
            _ => self == other,
        }
    }

    /// Gives it back to the socket.
    ///
    /// # Errors
    /// Those of `setsockopt(2)`.
    pub fn restore(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = socket.as_fd();
        match self {
            Self::CongestionControl(name) => sockopt::set_congestion_control(socket, name),
            Self::PacingRate(rate) => sockopt::set_max_pacing_rate(socket, *rate),
            Self::Mark { v4, v6, priority } => {
                if let Some(v4) = v4 {
                    sockopt::set_tos(socket, *v4)?;
                }
                if let Some(v6) = v6 {
                    sockopt::set_traffic_class(socket, *v6)?;
                }
                sockopt::set_priority(socket, *priority)
            }
            Self::SendBuffer(buffer) => {
                sockopt::set_send_buffer(socket, buffer.bytes / 2)?;
                free(socket, *buffer)
            }
            Self::ReceiveBuffer(buffer, clamp) => {
                sockopt::set_receive_buffer(socket, buffer.bytes / 2)?;
                sockopt::set_window_clamp(socket, *clamp)?;
                free(socket, *buffer)
            }
            Self::WindowClamp(clamp) => sockopt::set_window_clamp(socket, *clamp),
            Self::UnsentLowWater(bytes) => sockopt::set_not_sent_low_water(socket, *bytes),
        }
    }
}

impl Change {
    /// Makes the change on a socket.
    ///
    /// # Errors
    /// Those of `setsockopt(2)`: `ENOENT` and `EPERM` for congestion controls that are not there or not for this user.
    pub fn apply(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = socket.as_fd();
        let whole = |bytes: u64| i32::try_from(bytes).unwrap_or(i32::MAX);
        match self {
            Self::CongestionControl(name) => sockopt::set_congestion_control(socket, name),
            Self::PacingRate(None) => sockopt::set_max_pacing_rate(socket, u64::MAX),
            Self::PacingRate(Some(rate)) => sockopt::set_max_pacing_rate(socket, rate.bits_per_s() / 8),
            Self::Mark(mark) => {
                let class = i32::from(mark.tos(Ecn::NotEct));
                // A socket of IPv6 with an IPv4 peer needs the first, one with an IPv6 peer the second.
                let (v4, v6) = (
                    sockopt::set_tos(socket, class),
                    sockopt::set_traffic_class(socket, class),
                );
                v4.or(v6)
            }
            Self::SendBuffer(bytes) => sockopt::set_send_buffer(socket, whole(bytes.bytes())),
            Self::ReceiveBuffer(bytes) => {
                sockopt::set_receive_buffer(socket, whole(bytes.bytes()))?;
                // A buffer that was fixed before the connection bounds the window for good.
                let room = sockopt::receive_buffer(socket)?;
                if sockopt::window_clamp(socket)? < room {
                    sockopt::set_window_clamp(socket, room)?;
                }
                Ok(())
            }
            Self::WindowClamp(bytes) => sockopt::set_window_clamp(socket, whole(bytes.bytes())),
            Self::UnsentLowWater(bytes) => sockopt::set_not_sent_low_water(socket, whole(bytes.bytes())),
        }
    }
}

/// Lets a buffer grow by itself again, if it did.
fn free(socket: std::os::fd::BorrowedFd<'_>, buffer: Buffer) -> io::Result<()> {
    match buffer.fixed {
        Some(bits) => shared_socket::fix_buffers(socket, bits),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn every_change_is_taken_back() {
        for bind in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(bind) else {
                eprintln!("skipped: every_change_is_taken_back: no {bind} here");
                continue;
            };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            sockopt::set_congestion_control(&client, "cubic").ok();
            for change in [
                "congestion-control=reno",
                "pacing-rate=8 Mbit/s",
                "mark=af21",
                "send-buffer=100000 B",
                "receive-buffer=60000 B",
                "window-clamp=20000 B",
                "unsent-lowat=4096 B",
            ] {
                let change: Change = change.parse().unwrap();
                let before = Setting::of(&change, &client).unwrap();
                change.apply(&client).unwrap();
                let changed = Setting::of(&change, &client).unwrap();
                assert_ne!(changed, before, "{change}");
                before.restore(&client).unwrap();
                assert_eq!(
                    Setting::of(&change, &client).unwrap(),
                    before,
                    "{change} on {bind}"
                );
            }
        }
    }
}

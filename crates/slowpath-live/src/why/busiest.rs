//! Which transfers are under way on this machine.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Serialize;
use slowpath_sys::process_table;
use slowpath_sys::sock_diag::{SockDiag, TcpSocket};

use super::error::WhyError;

/// One transfer under way, or one that stands still with something waiting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transfer {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// Payload bytes per second, both directions.
    #[serde(rename = "byte_per_s")]
    pub rate: f64,
    /// Bytes that wait to be acknowledged, or to be read here, while nothing moves; 0 of a transfer that moves.
    pub waiting_bytes: u32,
    /// Whether more comes in than goes out.
    pub receiving: bool,
    /// The program, if it is this user's own.
    pub program: Option<String>,
    /// Its number, as the caller knows it: not always that of `/proc`.
    pub process: Option<u32>,
}

/// Looks twice, `span` apart, and lists what moved data in between, the busiest first, then what stood still although something waited.
///
/// # Errors
/// [`WhyError::Diagnostics`].
pub fn busiest(span: Duration) -> Result<Vec<Transfer>, WhyError> {
    let mut diag = SockDiag::open().map_err(WhyError::Diagnostics)?;
    let before = list(&mut diag)?;
    std::thread::sleep(span);
    let after = list(&mut diag)?;
    let owners = owners();
    let mut transfers: Vec<Transfer> = after
        .values()
        .filter_map(|socket| {
            let (info, old) = (
                socket.info?,
                before.get(&socket.cookie).and_then(|socket| socket.info),
            );
            let grown = |now: u64, before: Option<u64>| now.saturating_sub(before.unwrap_or(0)) as f64;
            let sent = grown(info.bytes_acked, old.map(|old| old.bytes_acked));
            let received = grown(info.bytes_received, old.map(|old| old.bytes_received));
            let owner = owners.get(&socket.inode);
            let moves = sent + received > 1.0;
            let waits = |queue: fn(&TcpSocket) -> u32| {
                before
                    .get(&socket.cookie)
                    .map_or(0, |old| queue(old).min(queue(socket)))
            };
            let (unsent, unread) = (waits(|one| one.send_queue), waits(|one| one.receive_queue));
            let stands = !moves && info.state != SYN_SENT && unsent.max(unread) > 0;
            (moves || stands).then(|| Transfer {
                waiting_bytes: if stands { unsent.max(unread) } else { 0 },
                local: socket.local,
                remote: socket.remote,
                rate: (sent + received) / span.as_secs_f64(),
                receiving: if stands { unread > unsent } else { received > sent },
                program: owner.map(|(_, name)| name.clone()),
                process: owner.map(|(pid, _)| process_table::number_here(*pid)),
            })
        })
        .collect();
    transfers.sort_by(|a, b| {
        (b.rate, b.waiting_bytes)
            .partial_cmp(&(a.rate, a.waiting_bytes))
            .unwrap_or(Ordering::Equal)
    });
    Ok(transfers)
}

fn list(diag: &mut SockDiag) -> Result<HashMap<u64, TcpSocket>, WhyError> {
    let sockets = diag.tcp_sockets().map_err(WhyError::Diagnostics)?;
    Ok(sockets
        .into_iter()
        .filter(|socket| socket.remote.port() != 0 && socket.info.is_some())
        .map(|socket| (socket.cookie, socket))
        .collect())
}

/// Socket inodes of the processes whose descriptors this user may see.
pub(super) fn owners() -> HashMap<u32, (u32, String)> {
    let mut owners = HashMap::new();
    for process in process_table::processes().unwrap_or_default() {
        for inode in process_table::socket_inodes(process.id).unwrap_or_default() {
            owners.insert(inode, (process.id, process.name.clone()));
        }
    }
    owners
}

/// `TCP_SYN_SENT` of `include/net/tcp_states.h`: what waits is the request to connect.
const SYN_SENT: u8 = 2;

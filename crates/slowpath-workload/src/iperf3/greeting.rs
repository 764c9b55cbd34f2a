//! The UDP sockets of both sides, and the datagrams with which a stream begins.

use std::net::{SocketAddr, UdpSocket};

use slowpath_sys::sockopt;

use super::params::Params;
use crate::context::Context;
use crate::socket;

/// Sets the options that both sides' UDP sockets have in common.
pub(super) fn prepare_udp(socket: &UdpSocket, params: &Params, peer: SocketAddr) -> std::io::Result<()> {
    // A server makes its sockets so that nothing waits; the threads that move data do.
    socket.set_nonblocking(false)?;
    socket.set_read_timeout(Some(Context::SLICE))?;
    socket.set_write_timeout(Some(Context::SLICE))?;
    if let Some(window) = params.window {
        let bytes = i32::try_from(window.bytes()).unwrap_or(i32::MAX);
        sockopt::set_send_buffer(socket, bytes)?;
        sockopt::set_receive_buffer(socket, bytes)?;
    } else {
        // What the socket drops while its thread waits for a processor is nobody's measurement.
        sockopt::set_receive_buffer(socket, UDP_RECEIVE_BUFFER)?;
    }
    if params.tos != 0 {
        socket::set_tos(socket, peer, params.tos)?;
    }
    if params.dont_fragment && peer.is_ipv4() {
        sockopt::set_mtu_discover(socket, 2)?;
    } else if peer.is_ipv4() {
        // As iperf3 by default: let large datagrams be fragmented.
        sockopt::set_mtu_discover(socket, 0)?;
    }
    if let Some(rate) = params.fq_rate {
        sockopt::set_max_pacing_rate(socket, rate.bits_per_s() / 8)?;
    }
    Ok(())
}

/// What a client of 3.12 sends: 0x36373839 in little-endian order.
pub(super) const UDP_HELLO: &[u8; 4] = b"9876";
/// What a server of 3.12 answers.
pub(super) const UDP_REPLY: &[u8; 4] = b"6789";
/// Answers of 3.12 and of servers up to 3.11 (987654321 in little-endian order).
pub(super) const UDP_REPLIES: [&[u8]; 2] = [UDP_REPLY, &[0xb1, 0x68, 0xde, 0x3a]];
/// Asked for where the client asks for no window; `net.core.rmem_max` bounds it.
const UDP_RECEIVE_BUFFER: i32 = 4 << 20;

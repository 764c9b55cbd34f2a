//! `TCP_INFO`: what the kernel knows about one TCP connection, as plain data.
//!
//! The layout is that of `struct tcp_info` in `include/uapi/linux/tcp.h` of Linux 6.18. Older kernels
//! return a shorter structure: the fields that they do not fill stay zero, and [`TcpInfo::filled_bytes`]
//! says how far the kernel went.

use std::io;
use std::os::fd::AsFd;

use crate::sockopt;

macro_rules! tcp_info {
    ($( $(#[$doc:meta])* $name:ident : $kind:ident @ $offset:literal ),* $(,)?) => {
        /// One snapshot of a connection's state; names follow the kernel's without the `tcpi_` prefix.
        ///
        /// Times are microseconds and lengths bytes, unless a field says otherwise.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct TcpInfo {
            /// Bytes of the structure that the kernel filled; fields behind it are zero.
            pub filled_bytes: u32,
            /// The window scale that the peer announced, applied to windows that it sends.
            pub snd_wscale: u8,
            /// The window scale that we announced.
            pub rcv_wscale: u8,
            /// Whether the newest delivery-rate sample was limited by the application.
            pub delivery_rate_app_limited: bool,
            $( $(#[$doc])* pub $name: $kind, )*
        }

        impl TcpInfo {
            /// Reads the kernel's bytes; short input leaves the missing fields zero.
            pub fn from_bytes(bytes: &[u8]) -> Self {
                let octet = |at: usize| bytes.get(at).copied().unwrap_or(0);
                Self {
                    filled_bytes: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                    snd_wscale: octet(6) & 0x0f,
                    rcv_wscale: octet(6) >> 4,
                    delivery_rate_app_limited: octet(7) & 1 == 1,
                    $( $name: bytes
                        .get($offset..$offset + size_of::<$kind>())
                        .and_then(|part| part.try_into().ok())
                        .map_or(0, $kind::from_ne_bytes), )*
                }
            }
        }
    };
}

tcp_info! {
    /// State number of `include/net/tcp_states.h`: 1 is established.
    state: u8 @ 0,
    /// Congestion state: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    ca_state: u8 @ 1,
    /// Consecutive retransmission timeouts of the first unacknowledged segment.
    retransmits: u8 @ 2,
    /// Unanswered zero-window or keep-alive probes.
    probes: u8 @ 3,
    /// Exponent of the retransmission timer's back-off.
    backoff: u8 @ 4,
    /// Negotiated options: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen, 32 Fast Open data, 64 usec timestamps.
    options: u8 @ 5,
    /// Retransmission timeout.
    rto: u32 @ 8,
    /// Delayed-acknowledgement timeout.
    ato: u32 @ 12,
    /// Segment size for sending, without options' bytes.
    snd_mss: u32 @ 16,
    /// Estimated segment size of the peer.
    rcv_mss: u32 @ 20,
    /// Segments sent and not yet acknowledged.
    unacked: u32 @ 24,
    /// Segments that SACK covers (in LISTEN: the backlog).
    sacked: u32 @ 28,
    /// Segments taken for lost.
    lost: u32 @ 32,
    /// Retransmitted segments in flight.
    retrans: u32 @ 36,
    /// Unused by current kernels.
    fackets: u32 @ 40,
    /// Milliseconds since data was last sent.
    last_data_sent: u32 @ 44,
    /// Unused by current kernels.
    last_ack_sent: u32 @ 48,
    /// Milliseconds since data was last received.
    last_data_recv: u32 @ 52,
    /// Milliseconds since an acknowledgement was last received.
    last_ack_recv: u32 @ 56,
    /// Path MTU.
    pmtu: u32 @ 60,
    /// Receive slow-start threshold: the ceiling of the advertised window's growth.
    rcv_ssthresh: u32 @ 64,
    /// Smoothed round-trip time.
    rtt: u32 @ 68,
    /// Mean deviation of the round-trip time.
    rttvar: u32 @ 72,
    /// Slow-start threshold in segments.
    snd_ssthresh: u32 @ 76,
    /// Congestion window in segments.
    snd_cwnd: u32 @ 80,
    /// Segment size that we advertise.
    advmss: u32 @ 84,
    /// Reordering degree in segments.
    reordering: u32 @ 88,
    /// The receiver's estimate of the round-trip time.
    rcv_rtt: u32 @ 92,
    /// Bytes that the application read in the newest round trip (receive-buffer autotuning).
    rcv_space: u32 @ 96,
    /// Segments retransmitted since the connection began.
    total_retrans: u32 @ 100,
    /// Pacing rate in bytes per second; all ones means unlimited.
    pacing_rate: u64 @ 104,
    /// Upper bound of the pacing rate in bytes per second.
    max_pacing_rate: u64 @ 112,
    /// Bytes acknowledged by the peer (RFC 4898 tcpEStatsAppHCThruOctetsAcked).
    bytes_acked: u64 @ 120,
    /// Bytes received in order (RFC 4898 tcpEStatsAppHCThruOctetsReceived).
    bytes_received: u64 @ 128,
    /// Segments sent, with retransmissions and pure acknowledgements.
    segs_out: u32 @ 136,
    /// Segments received.
    segs_in: u32 @ 140,
    /// Bytes in the send queue not sent yet.
    notsent_bytes: u32 @ 144,
    /// Smallest round-trip time of the window that the kernel keeps (about 300 s).
    min_rtt: u32 @ 148,
    /// Data segments received.
    data_segs_in: u32 @ 152,
    /// Data segments sent.
    data_segs_out: u32 @ 156,
    /// Newest delivery rate in bytes per second.
    delivery_rate: u64 @ 160,
    /// Time with unacknowledged or unsent data.
    busy_time: u64 @ 168,
    /// Time that the peer's window limited sending.
    rwnd_limited: u64 @ 176,
    /// Time that the send buffer limited sending.
    sndbuf_limited: u64 @ 184,
    /// Segments delivered, with spurious ones.
    delivered: u32 @ 192,
    /// Delivered segments that were acknowledged with ECE.
    delivered_ce: u32 @ 196,
    /// Bytes sent, with retransmissions.
    bytes_sent: u64 @ 200,
    /// Bytes retransmitted.
    bytes_retrans: u64 @ 208,
    /// Duplicate-SACK blocks received.
    dsack_dups: u32 @ 216,
    /// Reordering events seen.
    reord_seen: u32 @ 220,
    /// Out-of-order segments received.
    rcv_ooopack: u32 @ 224,
    /// The peer's advertised window after scaling.
    snd_wnd: u32 @ 228,
    /// The window that we advertise, after scaling.
    rcv_wnd: u32 @ 232,
    /// Changes of the flow hash (path changes after timeouts).
    rehash: u32 @ 236,
    /// Retransmission timeouts, with those of SYN.
    total_rto: u16 @ 240,
    /// Recoveries by retransmission timeout.
    total_rto_recoveries: u16 @ 242,
    /// Milliseconds spent in timeout recoveries.
    total_rto_time: u32 @ 244,
    /// Packets received with CE.
    received_ce: u32 @ 248,
    /// Accurate ECN: bytes delivered with ECT(1).
    delivered_e1_bytes: u32 @ 252,
    /// Accurate ECN: bytes delivered with ECT(0).
    delivered_e0_bytes: u32 @ 256,
    /// Accurate ECN: bytes delivered with CE.
    delivered_ce_bytes: u32 @ 260,
    /// Accurate ECN: bytes received with ECT(1).
    received_e1_bytes: u32 @ 264,
    /// Accurate ECN: bytes received with ECT(0).
    received_e0_bytes: u32 @ 268,
    /// Accurate ECN: bytes received with CE.
    received_ce_bytes: u32 @ 272,
}

impl TcpInfo {
    /// Whether both sides agreed on timestamps.
    pub const fn has_timestamps(&self) -> bool {
        self.options & 1 != 0
    }

    /// Whether both sides agreed on selective acknowledgement.
    pub const fn has_sack(&self) -> bool {
        self.options & 2 != 0
    }

    /// Whether both sides agreed on window scaling.
    pub const fn has_window_scaling(&self) -> bool {
        self.options & 4 != 0
    }

    /// Whether both sides agreed on explicit congestion notification.
    pub const fn has_ecn(&self) -> bool {
        self.options & 8 != 0
    }
}

/// Asks the kernel for the state of a TCP socket (`getsockopt(TCP_INFO)`).
///
/// # Errors
/// Those of `getsockopt(2)`, for example when the socket is not TCP.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut bytes = [0_u8; 512];
    let length = sockopt::get_bytes(socket.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
    Ok(TcpInfo::from_bytes(&bytes[..length]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn counts_a_loopback_transfer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[7; 1000]).unwrap();
        server.read_exact(&mut [0; 1000]).unwrap();
        let info = tcp_info(&server).unwrap();
        assert_eq!((info.state, info.bytes_received), (1, 1000));
        assert!(info.filled_bytes >= 192);
        assert!(tcp_info(&client).unwrap().snd_mss > 500);
        assert!(info.rcv_mss > 500 && info.snd_cwnd >= 10);
    }

    #[test]
    fn short_input_leaves_zeros() {
        let info = TcpInfo::from_bytes(&[1, 0, 0, 0, 0, 7, 0x7a, 1, 9, 0, 0, 0]);
        assert_eq!((info.state, info.rto, info.ato), (1, 9, 0));
        assert_eq!((info.snd_wscale, info.rcv_wscale), (10, 7));
        assert!(info.has_timestamps() && info.has_sack() && info.has_window_scaling() && !info.has_ecn());
    }
}

//! Counters of one direction by the names and meanings of `tcptrace -l`, so that people can compare.

use serde::{Deserialize, Serialize};

/// Counters of the packets that one end sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Packets.
    pub total_packets: u64,
    /// Packets with the ACK flag.
    pub ack_packets: u64,
    /// Packets with ACK and nothing else: no payload, SYN, FIN or RST.
    pub pure_acks: u64,
    /// Packets with SACK blocks.
    pub sack_packets: u64,
    /// Packets whose first SACK block reports a duplicate (RFC 2883).
    pub dsack_packets: u64,
    /// Most SACK blocks in one packet.
    pub max_sack_blocks: u64,
    /// Payload bytes, each counted once.
    pub unique_bytes: u64,
    /// Packets with payload.
    pub data_packets: u64,
    /// Payload bytes with retransmissions.
    pub data_bytes: u64,
    /// Packets with bytes that had been seen before.
    pub retransmitted_packets: u64,
    /// Bytes that had been seen before.
    pub retransmitted_bytes: u64,
    /// Most transmissions of one segment beyond the first.
    pub max_retransmissions: u64,
    /// Probes into a closed window.
    pub zero_window_probes: u64,
    /// Bytes of these probes.
    pub zero_window_probe_bytes: u64,
    /// Packets below the highest sequence with bytes never seen before.
    pub out_of_order_packets: u64,
    /// Packets with the PSH flag.
    pub pushed_packets: u64,
    /// SYNs.
    pub syns: u64,
    /// FINs.
    pub fins: u64,
    /// RSTs.
    pub resets: u64,
    /// Largest segment.
    pub max_segment: u64,
    /// Smallest segment with payload.
    pub min_segment: u64,
    /// Largest advertised window, scaled.
    pub max_window: u64,
    /// Smallest advertised window, scaled, SYN apart.
    pub min_window: u64,
    /// Sum of advertised windows, for the mean over `window_samples`.
    pub window_sum: u64,
    /// Packets in the window statistics.
    pub window_samples: u64,
    /// Packets that advertised a closed window.
    pub zero_windows: u64,
    /// Bytes sent before the first acknowledgement of data.
    pub initial_window_bytes: u64,
    /// Packets sent before the first acknowledgement of data.
    pub initial_window_packets: u64,
    /// Bytes the sequence numbers span but the capture does not show.
    pub missed_bytes: u64,
    /// Longest pause between two packets, nanoseconds.
    pub idle_max_ns: u64,
    /// Acknowledgements received that repeat the last number, without data and window change.
    pub duplicate_acks: u64,
    /// Third duplicate acknowledgements in a row.
    pub triple_duplicate_acks: u64,
    /// Acknowledgements that end at a segment sent once: round-trip samples, handshake included.
    pub rtt_samples: u64,
    /// Smallest sample, nanoseconds.
    pub rtt_min_ns: u64,
    /// Largest sample, nanoseconds.
    pub rtt_max_ns: u64,
    /// Sum of the samples, nanoseconds.
    pub rtt_sum_ns: u64,
    /// Acknowledgements that end at a segment sent once and cover one sent again: no samples.
    pub post_loss_acks: u64,
    /// Acknowledgements that end at a segment sent more than once.
    pub ambiguous_acks: u64,
    /// Segments acknowledged together with a later one.
    pub cumulatively_acked: u64,
    /// Retransmissions of segments not acknowledged, with the time since they were last sent.
    pub retransmit_times: u64,
    /// Shortest of these times, nanoseconds.
    pub retransmit_min_ns: u64,
    /// Longest, nanoseconds.
    pub retransmit_max_ns: u64,
    /// Their sum, nanoseconds.
    pub retransmit_sum_ns: u64,
    /// Packets recorded twice by the capture.
    pub hardware_duplicates: u64,
    /// First data to last data, nanoseconds.
    pub data_transmit_ns: u64,
}

impl Counters {
    pub(crate) fn rtt_sample(&mut self, span: i64) {
        let span = u64::try_from(span).unwrap_or(0);
        self.rtt_min_ns = if self.rtt_samples == 0 {
            span
        } else {
            self.rtt_min_ns.min(span)
        };
        self.rtt_max_ns = self.rtt_max_ns.max(span);
        self.rtt_sum_ns = self.rtt_sum_ns.saturating_add(span);
        self.rtt_samples += 1;
    }

    pub(crate) fn retransmitted_after(&mut self, span: i64) {
        let span = u64::try_from(span).unwrap_or(0);
        self.retransmit_min_ns = if self.retransmit_times == 0 {
            span
        } else {
            self.retransmit_min_ns.min(span)
        };
        self.retransmit_max_ns = self.retransmit_max_ns.max(span);
        self.retransmit_sum_ns = self.retransmit_sum_ns.saturating_add(span);
        self.retransmit_times += 1;
    }
}

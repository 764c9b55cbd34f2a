//! The result of an analysis, in the form in which it is written as JSON (`slowpath/explain/1`).
//!
//! Field names are stable. Remedies and predicted gains are not here: an analysis names no change to make.

use serde::{Deserialize, Serialize};

use crate::facts::{Counters, FlowFacts, Graphs, QueueFit};
use crate::ledger::{Hints, Ledger};
use crate::verdict::{Interval, Verdict};

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/explain/1";

/// What one capture says: its quality, its connections, and what limited each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The capture as a whole.
    pub capture: Capture,
    /// Connections, those with the most data first.
    pub connections: Vec<Connection>,
}

impl Analysis {
    /// The connection that moved the most data.
    pub fn main_connection(&self) -> Option<&Connection> {
        self.connections.first()
    }
}

/// A capture as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Capture {
    /// File name; empty until the caller sets it.
    pub file: String,
    /// `pcap`, `pcapng` or `simulated`.
    pub format: String,
    /// Link types by their libpcap names.
    pub link_types: Vec<String>,
    /// Frames.
    pub packets: u64,
    /// Bytes of the frames on the wire.
    pub bytes: u64,
    /// Connections seen; the list holds the larger ones if there are very many.
    pub connections: u64,
    /// From the first to the last frame.
    pub duration_s: f64,
    /// Time of the first frame, nanoseconds since 1970.
    pub start_ns: i64,
    /// How far the capture can be trusted.
    pub quality: Quality,
}

/// How far a capture can be trusted.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Quality {
    /// Where the capture was taken, seen from the data of the largest connection.
    pub tap: Tap,
    /// Acknowledged bytes that the capture never showed, as a share of all acknowledged bytes.
    pub capture_loss_fraction: f64,
    /// Packets recorded more than once.
    pub duplicate_packets: u64,
    /// Unit in which time stamps really advance.
    pub clock_resolution_s: f64,
    /// What to know before trusting the result, for people.
    pub warnings: Vec<String>,
}

/// Where a capture was taken, seen from the sender of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tap {
    /// At or beside the sender.
    Sender,
    /// At or beside the receiver.
    Receiver,
    /// Between them, far from both.
    Middle,
    /// Cannot be told.
    #[default]
    Unknown,
}

/// One of the two ends of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The end that opened the connection (or sent the first packet seen).
    #[default]
    Client,
    /// The other end.
    Server,
}

impl Side {
    /// 0 for the client, 1 for the server.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The other end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// One connection. Pairs are client first, server second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Number in the order of first packets, from 0.
    pub id: u32,
    /// Address and port of the end that opened the connection.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// The end that sent more data.
    pub data_from: Side,
    /// What was negotiated.
    pub handshake: Handshake,
    /// Code points seen from each end, in order of first appearance.
    pub dscp: DscpSeen,
    /// Payload bytes that the receiver acknowledged, in the main direction.
    pub bytes_delivered: u64,
    /// From the first to the last packet.
    pub duration_s: f64,
    /// First packet, seconds after the start of the capture.
    pub start_s: f64,
    /// Delivered payload over the time from the first data to its last acknowledgement.
    pub goodput_bit_per_s: f64,
    /// Round-trip times.
    pub rtt_s: RttSummary,
    /// Segments whose bytes had been sent before.
    pub retransmitted_segments: u64,
    /// Transmissions that did not arrive.
    pub lost_segments: u64,
    /// Segments that arrived or passed late without having been retransmitted.
    pub reordered_segments: u64,
    /// Retransmissions of bytes that had arrived.
    pub spurious_retransmissions: u64,
    /// Time during which the receiver's window was closed.
    pub zero_window_s: f64,
    /// Where the capture was taken, seen from this connection's data.
    pub tap: Tap,
    /// What limited it.
    pub verdict: Verdict,
    /// What limited it when.
    pub intervals: Vec<Interval>,
    /// Where its time went.
    #[serde(default)]
    pub ledger: Ledger,
    /// What the ledger was made from beside the timeline of the facts.
    #[serde(skip)]
    pub basis: Hints,
    /// Counters as tcptrace prints them, client to server first.
    pub counters: [Counters; 2],
    /// What the verdict was made from.
    pub facts: FlowFacts,
    /// What Wireshark says of segments below the highest sequence number, of the main direction; for the larger
    /// connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wireshark: Vec<crate::wireshark::Row>,
    /// Flows of some size between the same hosts in the same direction, this one included; 0 if alone.
    pub parallel_flows: u32,
    /// The virtual queue fitted to all of these together.
    pub shared_queue: Option<QueueFit>,
    /// Data for the five graphs; not part of the JSON form.
    #[serde(skip)]
    pub graphs: Graphs,
}

impl Connection {
    /// Books the ledger again for a path whose capacity is known: `rate_bit_per_s` counts Ethernet frames with FCS.
    pub fn with_capacity(&mut self, rate_bit_per_s: f64) {
        let segment = f64::from(self.facts.segment_size.max(1));
        let payload = rate_bit_per_s / 8.0 * segment / (segment + FRAME_OVERHEAD);
        self.ledger = crate::ledger::book(&self.facts.timeline, &self.basis, Some(payload));
    }
}

/// Bytes of a frame that are no payload: Ethernet with FCS, IPv4, TCP with timestamps.
pub(crate) const FRAME_OVERHEAD: f64 = 70.0;

/// What the two ends offered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Handshake {
    /// Maximum segment size in each SYN; `None` if not seen or not offered.
    pub mss: [Option<u16>; 2],
    /// Window scale in each SYN.
    pub window_scale: [Option<u8>; 2],
    /// SACK permitted.
    pub sack: [Option<bool>; 2],
    /// Timestamps offered.
    pub timestamps: [Option<bool>; 2],
    /// ECN as negotiated.
    pub ecn: EcnMode,
    /// Whether the capture holds the SYNs.
    pub seen: bool,
    /// Window scale inferred from the flow because the SYNs are missing.
    pub inferred_window_scale: [Option<u8>; 2],
}

/// How congestion marks are fed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EcnMode {
    /// Not at all.
    #[default]
    None,
    /// ECE and CWR (RFC 3168).
    Classic,
    /// A counter in the header (RFC 9768).
    Accurate,
}

/// DSCP values seen from each end.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DscpSeen {
    /// In packets from the client.
    pub client: Vec<u8>,
    /// In packets from the server.
    pub server: Vec<u8>,
}

/// Round-trip times in seconds; zero if none could be measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RttSummary {
    /// Smallest.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// 95th percentile.
    pub p95: f64,
    /// Of the handshake; zero if not seen.
    pub handshake: f64,
}

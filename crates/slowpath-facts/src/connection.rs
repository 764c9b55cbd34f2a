//! One connection as it is written as JSON: who, what was negotiated, and what its data did.
//!
//! Field names are stable.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use slowpath_packet::FlowKey;
use slowpath_record::packets::Direction;

use crate::ends::{EcnMode, Side, Tap};
use crate::facts::{FlowFacts, Measured, QueueFit, window_shift};
use crate::graphs::{self, Graphs};
use crate::surroundings::Surroundings;
use crate::track::{Conn, Counters, SynSeen};
use crate::wireshark::{self, Row};

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
    /// Counters as tcptrace prints them, client to server first.
    pub counters: [Counters; 2],
    /// What its data did on the way, in the main direction.
    pub facts: FlowFacts,
    /// What Wireshark says of segments below the highest sequence number, of the main direction; for the larger
    /// connections.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wireshark: Vec<Row>,
    /// Flows of some size between the same hosts in the same direction, this one included; 0 if alone.
    pub parallel_flows: u32,
    /// The virtual queue fitted to all of these together.
    pub shared_queue: Option<QueueFit>,
    /// What is known beside the connection itself; not part of the JSON form.
    #[serde(skip)]
    pub surroundings: Surroundings,
    /// Data for the five graphs; not part of the JSON form.
    #[serde(skip)]
    pub graphs: Graphs,
}

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

/// What is drawn and listed of a connection beside its facts.
#[derive(Debug, Default)]
pub(crate) struct Drawn {
    graphs: Graphs,
    wireshark: Vec<Row>,
}

impl Drawn {
    /// Of a connection as it was measured; `start` is the time of the capture's first packet.
    pub(crate) fn of(conn: &Conn, measured: &Measured, start: i64, with_graphs: bool) -> Self {
        let first_rtt = match conn.handshake_ns {
            (Some(there), Some(back)) => Some(there.saturating_add(back)),
            _ => None,
        };
        Self {
            graphs: if with_graphs {
                graphs::graphs(conn, measured, start)
            } else {
                Graphs::default()
            },
            wireshark: wireshark::rows(conn.half(measured.facts.from), first_rtt),
        }
    }
}

/// Puts together what is known of a connection; `start` is the time of the capture's first packet.
pub(crate) fn observed(
    conn: &Conn,
    key: Option<&FlowKey>,
    measured: Measured,
    surroundings: Surroundings,
    start: i64,
    drawn: Drawn,
) -> Connection {
    let facts = &measured.facts;
    let sides = [Side::Client, Side::Server];
    let half = sides.map(|side| conn.half(side));
    let (client, server) = endpoints(conn, key);
    Connection {
        id: conn.id,
        client,
        server,
        data_from: facts.from,
        handshake: handshake(conn),
        dscp: DscpSeen {
            client: half[0].marking.dscp.clone(),
            server: half[1].marking.dscp.clone(),
        },
        bytes_delivered: facts.bytes,
        duration_s: (conn.span.1 - conn.span.0) as f64 / 1e9,
        start_s: (conn.span.0 - start) as f64 / 1e9,
        goodput_bit_per_s: goodput(facts, conn),
        rtt_s: RttSummary {
            min: facts.rtt.min,
            median: facts.rtt.median,
            p95: facts.rtt.p95,
            handshake: facts.handshake_rtt_s,
        },
        retransmitted_segments: facts.loss.retransmitted_segments,
        lost_segments: facts.loss.lost_segments + facts.loss.disturbed_segments,
        reordered_segments: facts.loss.reordered,
        spurious_retransmissions: facts.loss.spurious,
        zero_window_s: facts.time.window_closed_s,
        tap: facts.tap,
        counters: sides.map(|side| counters(conn, side)),
        wireshark: drawn.wireshark,
        facts: measured.facts,
        parallel_flows: surroundings.flows,
        shared_queue: surroundings.shared,
        surroundings,
        graphs: drawn.graphs,
    }
}

/// Bits per second of what was delivered, over the time in which data was sent; over the connection's, where a capture holds
/// acknowledgements alone.
fn goodput(facts: &FlowFacts, conn: &Conn) -> f64 {
    let span_s = if facts.active_s > 0.0 {
        facts.active_s
    } else {
        (conn.span.1 - conn.span.0) as f64 / 1e9
    };
    if span_s > 0.0 {
        facts.bytes as f64 * 8.0 / span_s
    } else {
        0.0
    }
}

pub(crate) fn endpoints(conn: &Conn, key: Option<&FlowKey>) -> (String, String) {
    let Some(key) = key else {
        return (String::new(), String::new());
    };
    let src = SocketAddr::new(key.src, key.src_port).to_string();
    let dst = SocketAddr::new(key.dst, key.dst_port).to_string();
    match conn.client {
        Direction::Forward => (src, dst),
        Direction::Backward => (dst, src),
    }
}

fn handshake(conn: &Conn) -> Handshake {
    let syn = [Side::Client, Side::Server].map(|side| conn.half(side).syn);
    // Options that were cut off are unknown, not absent.
    let known = |present: bool, syn: &SynSeen| (present || !syn.options_cut).then_some(present);
    let inferred = [Side::Server, Side::Client].map(|sender| {
        let (shift, how) = window_shift(conn, sender);
        (how == 1).then_some(shift)
    });
    Handshake {
        mss: syn.map(|syn| syn.and_then(|syn| syn.mss)),
        window_scale: syn.map(|syn| syn.and_then(|syn| syn.window_scale)),
        sack: syn.map(|syn| syn.and_then(|syn| known(syn.sack, &syn))),
        timestamps: syn.map(|syn| syn.and_then(|syn| known(syn.timestamps, &syn))),
        ecn: conn.ecn,
        seen: syn.iter().all(Option::is_some),
        inferred_window_scale: inferred,
    }
}

/// The counters of `side`, with windows scaled.
fn counters(conn: &Conn, side: Side) -> Counters {
    let mut out = conn.half(side).counters;
    // The windows that this side advertised limit the data of the other.
    let (shift, _) = window_shift(conn, side.other());
    let unscaled = conn.half(side).syn.map_or(0, |syn| u64::from(syn.window));
    out.max_window = (out.max_window << shift).max(unscaled);
    out.min_window <<= shift;
    out.window_sum <<= shift;
    out.dsack_packets = conn.half(side.other()).told_twice();
    out.missed_bytes = conn.half(side).missed + conn.half(side).open_gaps();
    out
}

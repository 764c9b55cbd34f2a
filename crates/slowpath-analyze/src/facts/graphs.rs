//! Data of the five graphs that people read in Wireshark, thinned to what a page can show.
//!
//! Times are seconds after the start of the capture.

use serde::{Deserialize, Serialize};

/// The data of the five graphs, for the main direction of one connection.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Graphs {
    /// Packets and bytes per time bin, both directions.
    pub io: Vec<IoPoint>,
    /// Width of an I/O bin in seconds.
    pub io_bin_s: f64,
    /// Data segments: time and sequence (relative to the first byte).
    pub segments: Vec<SegmentPoint>,
    /// SACK blocks as they were reported: time and sequences (relative to the first byte).
    #[serde(default)]
    pub sacks: Vec<SackPoint>,
    /// The acknowledged sequence over time.
    pub acks: Vec<Point>,
    /// The right edge of the advertised window over time, as a sequence.
    pub window_edge: Vec<Point>,
    /// Payload newly acknowledged, bytes per second, in each I/O bin.
    pub goodput: Vec<Point>,
    /// Payload sent, what was sent again included, bytes per second, in each I/O bin.
    pub throughput: Vec<Point>,
    /// Round-trip times in seconds.
    pub rtt: Vec<Point>,
    /// Advertised window in bytes.
    pub window: Vec<Point>,
    /// Bytes in flight as the sender knew them.
    pub flight: Vec<Point>,
}

/// A value at a time.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Point {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// The value.
    pub value: f64,
}

/// Packets and bytes in one time bin.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct IoPoint {
    /// Start of the bin, seconds after the start of the capture.
    pub at_s: f64,
    /// Packets of the data sender.
    pub packets: u64,
    /// Frame bytes of the data sender.
    pub bytes: u64,
    /// Packets of the receiver.
    pub packets_back: u64,
    /// Frame bytes of the receiver.
    pub bytes_back: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
}

/// A SACK block in the time/sequence graph.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SackPoint {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// First byte held by the receiver, relative to the first byte of the connection.
    pub from: u64,
    /// One past the last byte of the block.
    pub to: u64,
}

/// A data segment in the time/sequence graph.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SegmentPoint {
    /// Seconds after the start of the capture.
    pub at_s: f64,
    /// First byte, relative to the first byte of the connection.
    pub from: u64,
    /// One past the last byte.
    pub to: u64,
    /// Whether its bytes had been sent before.
    pub retransmission: bool,
}

//! A capture as a whole, and how far it can be trusted.

use serde::{Deserialize, Serialize};

use crate::connection::Connection;
use crate::ends::Tap;

/// What one capture holds: its quality and its connections, without judgement.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaptureFacts {
    /// The capture as a whole.
    pub capture: Capture,
    /// Connections, those with the most data first.
    pub connections: Vec<Connection>,
}

/// A capture as a whole.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Capture {
    /// File name; empty until the caller sets it.
    pub file: String,
    /// The files of a recording that goes on in several, read as one; empty for a single file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<String>,
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
    /// Share of the bytes that are UDP, which is not followed.
    #[serde(default)]
    pub datagram_fraction: f64,
    /// What to know before trusting the result, for people.
    pub warnings: Vec<String>,
}

impl Quality {
    /// What datagrams beside the connections mean, where there are many.
    pub fn of_datagrams(&self) -> Option<String> {
        let share = format!("{:.0} %", self.datagram_fraction * 100.0);
        (self.datagram_fraction >= MANY_DATAGRAMS).then(|| {
            format!(
                "{share} of the bytes are UDP, which is not followed; what it takes of a link is missed in the link's rate"
            )
        })
    }
}

/// Share of the bytes from which datagrams beside the connections are worth a warning.
const MANY_DATAGRAMS: f64 = 0.1;

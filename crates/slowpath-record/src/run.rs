//! The record of one run.

use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_units::{Duration, Time};

use crate::counters::ElementCounters;
use crate::curve::Curve;
use crate::disturbance::Disturbances;
use crate::health::Health;
use crate::marks::{MarkCount, ProgramLoad};
use crate::series::Series;

/// The version of this record's form; readers refuse what they do not know.
pub const SCHEMA: &str = "slowpath/record/1";

/// The experiment in records of watched transfers, which no experiment planned.
pub const WATCHED: &str = "why";

/// Everything one run left behind.
///
/// Written as JSON after every run, so that an interruption loses nothing. Fields are added, never
/// renamed; a field that an older record lacks takes its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA`] of the writer.
    pub schema: String,
    /// How the run came about.
    pub origin: Origin,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the variant.
    pub variant: String,
    /// What the run is for.
    #[serde(default)]
    pub kind: RunKind,
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Seed from which every random stream of the run was derived.
    #[serde(with = "crate::text_number")]
    pub seed: u64,
    /// Digest of the plan; equal plans have equal digests.
    pub plan_digest: String,
    /// The machine, where there was one.
    #[serde(default)]
    pub environment: Option<Environment>,
    /// Whether the run may be believed.
    pub health: Health,
    /// When the machine held packets up, where packets moved in real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disturbances: Option<Disturbances>,
    /// Packet captures, as files beside the record.
    #[serde(default)]
    pub captures: Vec<CaptureRef>,
    /// Sampled time series.
    #[serde(default)]
    pub series: Vec<Series>,
    /// Measurements repeated over a range of one setting.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// What the application transferred, one entry for each transfer.
    #[serde(default)]
    pub transfers: Vec<TransferResult>,
    /// Traffic per flow, as counted at its two ends.
    #[serde(default)]
    pub flows: Vec<FlowResult>,
    /// Traffic per network element.
    #[serde(default)]
    pub elements: Vec<ElementCounters>,
    /// Marks of packets, where they were counted.
    #[serde(default)]
    pub marks: Vec<MarkCount>,
    /// Programs that took part, and how busy they kept a processor during the transfer; the busiest first.
    #[serde(default)]
    pub loads: Vec<ProgramLoad>,
    /// Remarks for the reader: what was scaled down, assumed or not supported.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl RunRecord {
    /// A record that says how the run came about, and nothing else yet.
    pub fn new(origin: Origin, experiment: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            origin,
            experiment: experiment.to_owned(),
            variant: String::new(),
            kind: RunKind::Plain,
            repeat: 0,
            seed: 0,
            plan_digest: String::new(),
            environment: None,
            health: Health::valid(),
            disturbances: None,
            captures: Vec::new(),
            series: Vec::new(),
            curves: Vec::new(),
            transfers: Vec::new(),
            flows: Vec::new(),
            elements: Vec::new(),
            marks: Vec::new(),
            loads: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// How a run came about. The only place where a record says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Model endpoints over the model network in simulated time.
    Simulated,
    /// Real time over the emulated network.
    Lab,
    /// A real network.
    Live,
    /// Read from an existing capture.
    Imported,
}

impl Origin {
    /// The name in JSON and in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Simulated => "simulated",
            Self::Lab => "lab",
            Self::Live => "live",
            Self::Imported => "imported",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// To be looked at: a run of the experiment itself, a measurement, a capture.
    #[default]
    Plain,
    /// To test a prediction: a run with a change made, or one beside it.
    Proof,
}

/// The machine on which a run took place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Environment {
    /// Kernel release, as `uname -r` prints it.
    pub kernel: String,
    /// Number of processors available to the run.
    pub processors: u32,
    /// Version of slowpath.
    pub slowpath: String,
    /// How hosts were attached to the wire: `tun`, `veth`.
    pub attachment: String,
    /// Programs that took part, with their versions.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Other circumstances a reader may need (offloads, rejoin window, privilege), one per entry.
    #[serde(default)]
    pub details: Vec<String>,
}

/// A capture file that belongs to a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureRef {
    /// File name relative to the results folder.
    pub file: String,
    /// Where the packets were seen: a host's or tap's name.
    pub point: String,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that passed the point but are not in the file; must be 0 for a complete capture.
    #[serde(default)]
    pub missed: u64,
}

/// One transfer of the application: a file, an object, a test stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TransferResult {
    /// What was transferred, such as `RETR test_50mb.txt`.
    pub name: String,
    /// Bytes that arrived at the receiving application.
    pub bytes: u64,
    /// When the transfer was asked for.
    pub start: Time,
    /// When the receiving application had read (or written) the last byte.
    pub end: Time,
    /// Whether it came to its end; otherwise `error` says why not.
    pub complete: bool,
    /// What stopped it.
    #[serde(default)]
    pub error: Option<String>,
    /// Segments retransmitted by the sender, if known.
    #[serde(default)]
    pub retransmitted_segments: Option<u64>,
    /// What the sending program counted, where it counts for itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<SenderCount>,
}

/// What a sending program such as iperf3's client counts: bytes that its socket took, not bytes that arrived. At the end of
/// a test that is limited by time, what still waits in the send buffer is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderCount {
    /// Bytes that the socket took.
    pub bytes: u64,
    /// Over which time.
    pub over: Duration,
}

impl SenderCount {
    /// Bytes per second as the sender tells them; 0 for no time.
    pub fn byte_per_s(&self) -> f64 {
        let seconds = self.over.seconds();
        if seconds > 0.0 {
            self.bytes as f64 / seconds
        } else {
            0.0
        }
    }
}

impl TransferResult {
    /// From asking to the last byte read.
    pub const fn duration(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Bytes per second at the receiver; 0 for a transfer without duration.
    pub fn goodput_byte_per_s(&self) -> f64 {
        let seconds = self.duration().seconds();
        if seconds > 0.0 {
            self.bytes as f64 / seconds
        } else {
            0.0
        }
    }
}

/// One flow's traffic as its two ends counted it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowResult {
    /// Name from the experiment, such as `tcp` or `udp-5m`.
    pub name: String,
    /// Packets given to the network by the sender.
    pub sent_packets: u64,
    /// Packets that reached the receiving host.
    pub received_packets: u64,
    /// Bytes of IP packets sent.
    pub sent_bytes: u64,
    /// Bytes of IP packets received.
    pub received_bytes: u64,
    /// Mean deviation of transit time (RFC 3550, section 6.4.1), where the flow measures it.
    #[serde(default)]
    pub jitter: Option<Duration>,
    /// Application bytes per second at the receiver.
    #[serde(default)]
    pub goodput_byte_per_s: f64,
    /// Where its packets were lost, most first, as far as the path counts them by flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostPackets>,
}

/// Packets of one flow that one element of the path dropped for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LostPackets {
    /// The element's name in the plan.
    pub element: String,
    /// Why, as in [`crate::ElementCounters::dropped`].
    pub cause: String,
    /// How many.
    pub packets: u64,
}

impl FlowResult {
    /// Share of the sent packets that did not arrive; 0 when nothing was sent.
    pub fn loss_fraction(&self) -> f64 {
        if self.sent_packets == 0 {
            return 0.0;
        }
        self.sent_packets.saturating_sub(self.received_packets) as f64 / self.sent_packets as f64
    }
}

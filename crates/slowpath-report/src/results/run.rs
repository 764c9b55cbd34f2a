//! One run of a variant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_record::{Curve, Health, HealthState, LostPackets, MarkCount, ProgramLoad, RunRecord};
use slowpath_verdict::{Ledger, Verdict};

/// One run of a variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Bytes that reached the receiving application.
    pub bytes: u64,
    /// From asking to the last byte read or written by the receiver.
    pub duration_s: f64,
    /// Bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Bytes that the sending program counted, where it counts for itself: what its socket took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_bytes: Option<u64>,
    /// Over which time it counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_duration_s: Option<f64>,
    /// Segments sent again, if known.
    pub retransmitted_segments: Option<u64>,
    /// Whether every transfer came to its end.
    #[serde(default = "yes")]
    pub complete: bool,
    /// What stopped a transfer.
    #[serde(default)]
    pub errors: Vec<String>,
    /// Seed of the run.
    #[serde(default, with = "slowpath_record::text_number")]
    pub seed: u64,
    /// Number of the repeat, from 0.
    #[serde(default)]
    pub repeat: u32,
    /// Traffic per flow.
    pub flows: Vec<FlowRow>,
    /// Measurements over a range of one setting.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// Whether the run may be believed.
    pub health: Health,
    /// What limited the run; absent for an invalid one.
    pub verdict: Option<Verdict>,
    /// Where its time went; absent where there is no verdict.
    #[serde(default)]
    pub ledger: Option<Ledger>,
    /// Capture files, relative to the results folder.
    pub captures: Vec<CaptureRow>,
    /// Marks of packets, where they were counted.
    #[serde(default)]
    pub marks: Vec<MarkCount>,
    /// How busy programs kept a processor during the transfer.
    #[serde(default)]
    pub loads: Vec<ProgramLoad>,
    /// Remarks of the run.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl RunResult {
    /// Takes from a record what the report needs; the verdict comes from analysis.
    pub fn of(record: &RunRecord, verdict: Option<Verdict>) -> Self {
        if record.transfers.is_empty() && !record.flows.is_empty() {
            return Self::of_flows(record, verdict);
        }
        let bytes = record.transfers.iter().map(|t| t.bytes).sum();
        let start = record.transfers.iter().map(|t| t.start).min().unwrap_or_default();
        let end = record.transfers.iter().map(|t| t.end).max().unwrap_or_default();
        let duration_s = end.since(start).seconds();
        let senders = || record.transfers.iter().map(|transfer| transfer.sender);
        Self {
            bytes,
            duration_s,
            goodput_byte_per_s: if duration_s > 0.0 {
                bytes as f64 / duration_s
            } else {
                0.0
            },
            sender_bytes: senders().map(|sender| Some(sender?.bytes)).sum(),
            sender_duration_s: senders()
                .filter_map(|sender| Some(sender?.over.seconds()))
                .reduce(f64::max),
            retransmitted_segments: sum_known(record.transfers.iter().map(|t| t.retransmitted_segments)),
            complete: !record.transfers.is_empty() && record.transfers.iter().all(|t| t.complete),
            errors: record.transfers.iter().filter_map(|t| t.error.clone()).collect(),
            ..Self::blank(record, verdict)
        }
    }

    /// Whether the transfer was still under way when the run ended, in a run that may be believed.
    pub fn never_finished(&self) -> bool {
        !self.complete && self.health.state != HealthState::Invalid
    }

    /// A run without transfers: its goodput is what all flows delivered together.
    fn of_flows(record: &RunRecord, verdict: Option<Verdict>) -> Self {
        let goodput: f64 = record.flows.iter().map(|f| f.goodput_byte_per_s).sum();
        // The slowest flow lasts longest; bytes over rate is its time.
        let duration = record
            .flows
            .iter()
            .filter(|f| f.goodput_byte_per_s > 0.0)
            .map(|f| f.received_bytes as f64 / f.goodput_byte_per_s)
            .fold(0.0, f64::max);
        Self {
            bytes: record.flows.iter().map(|f| f.received_bytes).sum(),
            duration_s: duration,
            goodput_byte_per_s: goodput,
            complete: record.health.state != HealthState::Invalid,
            ..Self::blank(record, verdict)
        }
    }

    /// What a record says of itself, before anything is said of its transfers or flows. An invalid run has no verdict.
    fn blank(record: &RunRecord, verdict: Option<Verdict>) -> Self {
        Self {
            bytes: 0,
            duration_s: 0.0,
            goodput_byte_per_s: 0.0,
            sender_bytes: None,
            sender_duration_s: None,
            retransmitted_segments: None,
            complete: false,
            errors: Vec::new(),
            seed: record.seed,
            repeat: record.repeat,
            flows: record.flows.iter().map(FlowRow::of).collect(),
            curves: record.curves.clone(),
            health: record.health.clone(),
            verdict: verdict.filter(|_| record.health.state != HealthState::Invalid),
            ledger: None,
            captures: record.captures.iter().map(CaptureRow::of).collect(),
            marks: record.marks.clone(),
            loads: record.loads.clone(),
            notes: record.notes.clone(),
        }
    }
}

/// One flow's traffic, as counted at its two ends.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowRow {
    /// Name from the experiment.
    pub name: String,
    /// Packets given to the network.
    pub sent_packets: u64,
    /// Packets that arrived.
    pub received_packets: u64,
    /// Share that did not arrive.
    pub loss_fraction: f64,
    /// Mean deviation of transit time.
    pub jitter_s: Option<f64>,
    /// Application bytes per second at the receiver.
    pub goodput_byte_per_s: f64,
    /// Where its packets were lost, most first, as far as the path counts them by flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<LostPackets>,
    /// Published figures by the name of the field they compare with.
    #[serde(default)]
    pub reference: BTreeMap<String, f64>,
}

impl FlowRow {
    fn of(flow: &slowpath_record::FlowResult) -> Self {
        Self {
            name: flow.name.clone(),
            sent_packets: flow.sent_packets,
            received_packets: flow.received_packets,
            loss_fraction: flow.loss_fraction(),
            jitter_s: flow.jitter.map(slowpath_units::Duration::seconds),
            goodput_byte_per_s: flow.goodput_byte_per_s,
            lost: flow.lost.clone(),
            reference: BTreeMap::new(),
        }
    }
}

/// A capture file of a run and what it is worth.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaptureRow {
    /// File name relative to the results folder.
    pub file: String,
    /// Host or tap.
    pub point: String,
    /// Packets in the file.
    pub packets: u64,
    /// Packets that passed the point but are not in the file.
    #[serde(default)]
    pub missed: u64,
    /// What analysis found wrong with it.
    #[serde(default)]
    pub warnings: Vec<String>,
}

impl CaptureRow {
    fn of(capture: &slowpath_record::CaptureRef) -> Self {
        Self {
            file: capture.file.clone(),
            point: capture.point.clone(),
            packets: capture.packets,
            missed: capture.missed,
            warnings: Vec::new(),
        }
    }
}

fn sum_known(values: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    values.fold(None, |sum, value| match (sum, value) {
        (None, v) => v,
        (s, None) => s,
        (Some(s), Some(v)) => Some(s + v),
    })
}

const fn yes() -> bool {
    true
}

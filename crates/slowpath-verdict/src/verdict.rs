//! What limited a transfer, as told from facts alone.

use serde::{Deserialize, Serialize};

use crate::limit::{Flag, Limit, Reason};

/// What limited one connection, and why that and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The limit.
    pub limit: Limit,
    /// What else is remarkable.
    pub flags: Vec<Flag>,
    /// Share of the transfer's time to which the limit applies, 0 to 1.
    pub share: f64,
    /// How sure the verdict is, 0 to 1; lowered by everything that is wrong with the capture.
    pub confidence: f64,
    /// The verdict in a sentence for people.
    pub sentence: String,
    /// Figures that go with the limit.
    pub parameters: Parameters,
    /// What the verdict rests on.
    pub evidence: Vec<Evidence>,
    /// Every limit that was considered and not chosen.
    pub rejected: Vec<Rejected>,
    /// What to capture or do to learn more: for undecided verdicts, and where the capture missed much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

/// Figures that go with a limit; those that do not apply are absent.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Rate of the link, shaper or policer, counted on Ethernet frames with FCS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bit_per_s: Option<f64>,
    /// Whether the rate is only a lower bound of the true one; of a policer, that it was hardly reached and is about this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_is_lower_bound: Option<bool>,
    /// Size of the policer's token bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket_bytes: Option<u64>,
    /// Size of the queue, or its greatest filling if nothing was dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_bytes: Option<u64>,
    /// Greatest queueing delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_delay_s: Option<f64>,
    /// Share of segments lost on the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_fraction: Option<f64>,
    /// The advertised window that was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<u64>,
    /// The constant flight of a buffer or protocol window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flight_bytes: Option<u64>,
    /// Payload rate at which the receiving program took the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_byte_per_s: Option<f64>,
    /// Bytes the receiving program took at a time, if it does so in steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_step_bytes: Option<u64>,
    /// How long the receiving program stopped reading, if it did so once and was not slow else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped_s: Option<f64>,
    /// Payload rate of the sending program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_byte_per_s: Option<f64>,
    /// Share of packets with a congestion mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_fraction: Option<f64>,
    /// Round-trip time with which the rate was limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_s: Option<f64>,
}

impl Parameters {
    /// The same without times and rates of nothing: what was not measured.
    #[must_use]
    pub fn without_nothing(mut self) -> Self {
        for figure in [
            &mut self.rate_bit_per_s,
            &mut self.queue_delay_s,
            &mut self.drain_byte_per_s,
            &mut self.stopped_s,
            &mut self.source_byte_per_s,
            &mut self.rtt_s,
        ] {
            *figure = figure.filter(|value| *value > 0.0);
        }
        self
    }
}

/// One observation that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Name of the fact, dotted, such as `window.slack`.
    pub fact: String,
    /// The observation for people.
    pub text: String,
    /// The value, in `unit`.
    pub value: f64,
    /// Unit of the value; empty for a ratio or count.
    pub unit: String,
    /// Numbers of packets in the capture that show it.
    pub packets: Vec<u64>,
}

/// A limit that was considered and not chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rejected {
    /// The limit.
    pub limit: Limit,
    /// Why not.
    pub reason: Reason,
    /// The same for people, with values.
    pub text: String,
}

/// A span of a transfer during which one limit held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Start, seconds after the start of the capture.
    pub from_s: f64,
    /// End, seconds after the start of the capture.
    pub to_s: f64,
    /// The limit.
    pub limit: Limit,
}

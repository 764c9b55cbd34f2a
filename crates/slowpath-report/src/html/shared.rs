//! What both pages show: verdicts, graphs, states.

use serde::Serialize;
use slowpath_analyze::{Parameters, Verdict};
use slowpath_record::HealthState;

use crate::graphs::{GraphSet, Packed};
use crate::quantity::{bit_rate, byte_rate, bytes, percent, seconds};
use crate::terminal::health_word;
use crate::verdict::{flag_name, reason_name};

/// A word with the tone in which it is said.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Toned {
    pub(super) text: String,
    pub(super) tone: &'static str,
}

impl Toned {
    pub(super) fn health(state: HealthState) -> Self {
        let tone = match state {
            HealthState::Valid => "good",
            HealthState::Degraded => "care",
            HealthState::Invalid => "bad",
        };
        Self {
            text: health_word(state).to_owned(),
            tone,
        }
    }
}

/// The graphs of one run, as data for the script.
#[derive(Debug, Clone, Serialize)]
pub(super) struct SetView {
    label: String,
    bin: String,
    json: String,
}

impl SetView {
    pub(super) fn of(set: &GraphSet) -> Self {
        let packed = Packed::of(set);
        // Inside a script element only "<" could end it; JSON may spell it otherwise.
        let json = serde_json::to_string(&packed)
            .unwrap_or_default()
            .replace('<', "\\u003c");
        Self {
            label: set.label.clone(),
            bin: seconds(packed.bin),
            json,
        }
    }
}

/// A verdict with everything behind it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct VerdictPart {
    limit: &'static str,
    flags: Vec<String>,
    share: String,
    confidence_percent: String,
    parameters: Vec<(&'static str, String)>,
    evidence: Vec<EvidencePart>,
    rejected: Vec<RejectedPart>,
    next_step: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
struct EvidencePart {
    text: String,
    packets: String,
}

#[derive(Debug, Clone, Serialize)]
struct RejectedPart {
    limit: &'static str,
    text: String,
    reason: String,
}

impl VerdictPart {
    pub(super) fn of(verdict: &Verdict) -> Self {
        let evidence = verdict.evidence.iter().map(|e| EvidencePart {
            text: e.text.clone(),
            packets: e
                .packets
                .iter()
                .take(6)
                .map(u64::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        });
        let rejected = verdict.rejected.iter().map(|r| RejectedPart {
            limit: r.limit.name(),
            text: r.text.clone(),
            reason: reason_name(r.reason),
        });
        Self {
            limit: verdict.limit.name(),
            flags: verdict.flags.iter().map(|f| flag_name(*f)).collect(),
            share: percent(verdict.share),
            confidence_percent: format!("{:.0}", verdict.confidence * 100.0),
            parameters: parameters(&verdict.parameters),
            evidence: evidence.collect(),
            rejected: rejected.collect(),
            next_step: verdict.next_step.clone(),
        }
    }
}

/// The figures of a verdict that apply, with words.
pub(crate) fn parameters(p: &Parameters) -> Vec<(&'static str, String)> {
    let rate = |r: f64| {
        let bound = if p.rate_is_lower_bound == Some(true) {
            "at least "
        } else {
            ""
        };
        format!("{bound}{}", bit_rate(r))
    };
    #[expect(clippy::cast_precision_loss, reason = "byte counts for people")]
    let size = |b: u64| bytes(b as f64);
    [
        ("rate", p.rate_bit_per_s.map(rate)),
        ("bucket", p.bucket_bytes.map(size)),
        ("queue", p.queue_bytes.map(size)),
        ("queueing delay", p.queue_delay_s.map(seconds)),
        ("lost", p.loss_fraction.map(percent)),
        ("window", p.window_bytes.map(size)),
        ("in flight", p.flight_bytes.map(size)),
        ("reader takes", p.drain_byte_per_s.map(byte_rate)),
        ("at a time", p.drain_step_bytes.map(size)),
        ("sender gives", p.source_byte_per_s.map(byte_rate)),
        ("marked", p.marked_fraction.map(percent)),
        ("round trip", p.rtt_s.map(seconds)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

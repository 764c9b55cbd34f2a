//! What both pages show: verdicts, graphs, states.

use serde::Serialize;
use slowpath_record::HealthState;
use slowpath_verdict::Verdict;

use crate::facts::parameters;
use crate::graphs::{GraphSet, Packed};
use crate::quantity::{percent, seconds};
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
            text: state.name().to_owned(),
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
    decided: bool,
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
            decided: !verdict.limit.is_undecided(),
            share: percent(verdict.share),
            confidence_percent: format!("{:.0}", verdict.confidence * 100.0),
            parameters: parameters(&verdict.parameters),
            evidence: evidence.collect(),
            rejected: rejected.collect(),
            next_step: verdict.next_step.clone(),
        }
    }
}

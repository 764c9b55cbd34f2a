//! Verdicts that no capture alone can give: from runs compared, and from what a run's own health says.

use crate::limit::Limit;
use crate::verdict::{Evidence, Parameters, Rejected, Verdict};

/// Runs that differ from faster ones in their marks, and beside the marks in the amount of data at most.
#[derive(Debug, Clone, Copy)]
pub struct ByMarks<'a> {
    /// Name of the faster ones.
    pub fast: &'a str,
    /// What differs, in words.
    pub differs: &'a str,
    /// What differs beside the marks, in words; empty for nothing.
    pub beside: &'a str,
    /// How many times as fast the slowest of the fast ones is as the fastest of these; without end where nothing arrived.
    pub gain: f64,
    /// Whether the machine slowed the fast ones down.
    pub slowed: bool,
    /// Whether each side was run more than once.
    pub repeated: bool,
    /// The busiest program of these runs, and the share of a processor that it used.
    pub busiest: Option<(&'a str, f64)>,
    /// What a capture alone says.
    pub before: Option<&'a Verdict>,
}

/// That the network treats the mark of these packets differently.
pub fn by_marks(compared: &ByMarks<'_>) -> Verdict {
    let ByMarks {
        fast,
        differs,
        gain,
        before,
        ..
    } = *compared;
    let mut evidence = vec![Evidence {
        fact: "comparison.gain".to_owned(),
        text: format!(
            "{fast} differs from this in {differs}, and {}",
            if gain.is_finite() {
                let though = if compared.slowed {
                    ", although the machine slowed it down,"
                } else {
                    ""
                };
                format!("its slowest run{though} was {gain:.1} times as fast as the fastest one here")
            } else {
                "all its runs came to their end, while nothing arrived here".to_owned()
            }
        ),
        // JSON knows no infinity.
        value: if gain.is_finite() { gain } else { f64::MAX },
        unit: String::new(),
        packets: Vec::new(),
    }];
    if let Some((program, share)) = compared.busiest {
        evidence.push(Evidence {
            fact: "programs.load".to_owned(),
            text: format!(
                "no processor is the cause: the busiest program, {program}, used {:.0} % of one",
                share * 100.0
            ),
            value: share,
            unit: "share of a processor".to_owned(),
            packets: Vec::new(),
        });
    }
    if let Some(before) = before {
        evidence.push(Evidence {
            fact: "capture.verdict".to_owned(),
            text: format!("a capture alone says of it: {}", before.sentence),
            value: before.confidence,
            unit: String::new(),
            packets: Vec::new(),
        });
    }
    let but = if compared.beside.is_empty() {
        String::new()
    } else {
        format!(" but {}", compared.beside)
    };
    Verdict {
        limit: Limit::DscpTreatment,
        flags: before.map_or_else(Vec::new, |before| before.flags.clone()),
        share: 1.0,
        confidence: if compared.repeated { 0.95 } else { 0.8 },
        sentence: format!(
            "The network treats the mark of these packets differently: with nothing else changed{but}, {fast} {}.",
            if gain.is_finite() {
                format!("is {gain:.0} times as fast")
            } else {
                "comes to its end, and here nothing moves".to_owned()
            }
        ),
        parameters: before.map_or_else(Parameters::default, |before| before.parameters),
        evidence,
        rejected: before.map_or_else(Vec::new, |before| rest(&before.rejected)),
        next_step: Some(
            "take the mark off where the data come from (OpenSSH: IPQoS none), or have a router rewrite it; --prove tries \
             both where the experiment asks for it"
                .to_owned(),
        ),
    }
}

/// That a program of an end was busy all the time, in the words of the run's health.
pub fn by_processor(text: &str) -> Verdict {
    Verdict {
        limit: Limit::HostCpu,
        flags: Vec::new(),
        share: 1.0,
        confidence: 0.8,
        sentence: format!("{text}."),
        parameters: Parameters::default(),
        evidence: Vec::new(),
        rejected: Vec::new(),
        next_step: Some("run it on a machine with more processors, or in simulated time".to_owned()),
    }
}

/// The limits rejected before, without the one that now holds.
fn rest(rejected: &[Rejected]) -> Vec<Rejected> {
    rejected
        .iter()
        .filter(|one| one.limit != Limit::DscpTreatment)
        .cloned()
        .collect()
}

//! Verdicts that no capture alone can give: from runs compared, and from what a run's own health says.

use crate::catalogue::Message;
use crate::limit::Limit;
use crate::message::{About, RoundShare, Times, named};
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
    let seen = |fact: &str, message: &Message, value: f64, unit: &str| Evidence {
        fact: fact.to_owned(),
        text: message.to_string(),
        value,
        unit: unit.to_owned(),
        packets: Vec::new(),
    };
    let name = || (named(fast), named(differs));
    let faster = if !gain.is_finite() {
        let (fast, differs) = name();
        Message::NothingArrivedHere { fast, differs }
    } else if compared.slowed {
        let (fast, differs) = name();
        let gain = Times(gain);
        Message::SlowestFastSlowed { fast, differs, gain }
    } else {
        let (fast, differs) = name();
        let gain = Times(gain);
        Message::SlowestFast { fast, differs, gain }
    };
    // JSON knows no infinity.
    let value = if gain.is_finite() { gain } else { f64::MAX };
    let mut evidence = vec![seen("comparison.gain", &faster, value, "")];
    if let Some((program, share)) = compared.busiest {
        let message = Message::NoProcessor {
            program: named(program),
            share: RoundShare(share),
        };
        evidence.push(seen("programs.load", &message, share, "share of a processor"));
    }
    if let Some(before) = before {
        let message = Message::CaptureAlone {
            sentence: named(&before.sentence),
        };
        evidence.push(seen("capture.verdict", &message, before.confidence, ""));
    }
    let (fast, beside, times) = (named(fast), named(compared.beside), About(gain));
    let sentence = match (compared.beside.is_empty(), gain.is_finite()) {
        (true, true) => Message::MarkTreated { fast, gain: times },
        (false, true) => Message::MarkTreatedBut {
            beside,
            fast,
            gain: times,
        },
        (true, false) => Message::MarkLetsNothing { fast },
        (false, false) => Message::MarkLetsNothingBut { beside, fast },
    };
    Verdict {
        limit: Limit::DscpTreatment,
        flags: before.map_or_else(Vec::new, |before| before.flags.clone()),
        share: 1.0,
        confidence: if compared.repeated { 0.95 } else { 0.8 },
        sentence: sentence.to_string(),
        parameters: before.map_or_else(Parameters::default, |before| before.parameters),
        evidence,
        rejected: before.map_or_else(Vec::new, |before| rest(&before.rejected)),
        next_step: Some(Message::TakeMarkOff {}.to_string()),
    }
}

/// That a program of an end was busy all the time, in the words of the run's health.
pub fn by_processor(text: &str) -> Verdict {
    Verdict {
        limit: Limit::HostCpu,
        flags: Vec::new(),
        share: 1.0,
        confidence: 0.8,
        sentence: Message::ProgramBusy { health: named(text) }.to_string(),
        parameters: Parameters::default(),
        evidence: Vec::new(),
        rejected: Vec::new(),
        next_step: Some(Message::MoreProcessors {}.to_string()),
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

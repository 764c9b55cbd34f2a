//! The ledger in a sentence.

use super::{CapacityIs, Entry, Ledger, State};
use crate::limit::{Flag, Limit};
use slowpath_facts::words::{bits, span};
use slowpath_words::english;

impl Ledger {
    /// The start that no transfer can do without, seconds, where it is a tenth of the duration or more: a part of its own.
    pub fn start(&self) -> Option<f64> {
        self.start_s.filter(|start| *start >= TENTH * self.duration_s)
    }

    /// How many parts the sentence names: those of a tenth of the duration or more.
    pub fn parts(&self) -> usize {
        parts(self).len()
    }
}

/// The parts of a tenth or more: seconds, and what is said of them. First what the link itself takes, apart from it the start
/// that no transfer can do without where that is a part of its own, then the largest.
fn parts(ledger: &Ledger) -> Vec<(f64, String)> {
    let mut groups: Vec<Group> = Vec::new();
    for entry in &ledger.entries {
        let same = |group: &&mut Group| {
            let alike = group.cause == entry.cause || entry.is_outage();
            alike && group.flags == entry.flags && group.ours == is_ours(entry)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.add(entry),
            None => groups.push(Group::of(entry)),
        }
    }
    let told = ledger.floor_s.is_some();
    let mut parts: Vec<(f64, String)> = groups
        .iter()
        .map(|group| {
            let time = if told { group.lost } else { group.time };
            (time, group.words(ledger.others_seen))
        })
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    if let Some(floor) = ledger.floor_s {
        let start = ledger.start();
        let link = floor - start.unwrap_or(0.0);
        parts.splice(
            0..0,
            [(link, english!("ledger.link-itself"))]
                .into_iter()
                .chain(start.map(|start| (start, english!("ledger.start")))),
        );
    }
    parts.retain(|(time, _)| *time >= TENTH * ledger.duration_s);
    parts
}

/// Every part of a tenth or more in a sentence: what the link itself takes, and what each cause costs.
pub(super) fn sentence(ledger: &Ledger) -> String {
    let parts = parts(ledger);
    if parts.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|(time, words)| english!("ledger.part", time = span(*time), words = words))
        .collect();
    let (duration, parts) = (span(ledger.duration_s), parts.join(", "));
    match ledger
        .capacity_bit_per_s
        .filter(|_| ledger.capacity_is == CapacityIs::AtLeast)
    {
        Some(rate) => english!(
            "ledger.sentence-at-least",
            duration = duration,
            parts = parts,
            rate = bits(rate)
        ),
        None => english!("ledger.sentence", duration = duration, parts = parts),
    }
}

/// Entries of one cause.
struct Group {
    cause: Limit,
    /// Others whose entries are among these: an outage is one, whether it held or lost what was under way.
    also: Vec<Limit>,
    /// It is the measurement's doing.
    ours: bool,
    flags: Vec<Flag>,
    time: f64,
    lost: f64,
    events: u64,
    segments: u64,
}

impl Group {
    fn of(entry: &Entry) -> Self {
        Self {
            cause: entry.cause,
            also: Vec::new(),
            ours: is_ours(entry),
            flags: entry.flags.clone(),
            time: entry.time_s,
            lost: entry.lost_s.unwrap_or(0.0),
            events: entry.events,
            segments: entry.segments,
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.time += entry.time_s;
        self.lost += entry.lost_s.unwrap_or(0.0);
        if entry.cause != self.cause && !self.also.contains(&entry.cause) {
            self.also.push(entry.cause);
            self.events += entry.events;
        }
        // The same events, told by another state.
        self.events = self.events.max(entry.events);
        self.segments = self.segments.max(entry.segments);
    }

    fn words(&self, others_seen: bool) -> String {
        let early = self.flags.contains(&Flag::EarlyExit);
        let short = self.flags.contains(&Flag::ShortQueue);
        let (events, segments) = (self.events, self.segments);
        let once = events == 1;
        match self.cause {
            _ if self.ours => english!("ledger.measurement"),
            _ if self.flags.contains(&Flag::Outage) && once => english!("ledger.outage-once"),
            _ if self.flags.contains(&Flag::Outage) => english!("ledger.outage", events = events),
            Limit::SlowStart if early => english!("ledger.early-exit", segments = segments),
            Limit::SlowStart => english!("ledger.slow-start"),
            Limit::RandomLoss if once => english!("ledger.random-loss-once"),
            Limit::RandomLoss => english!("ledger.random-loss", events = events),
            Limit::BottleneckBandwidth if short && once => english!("ledger.overflow-once"),
            Limit::BottleneckBandwidth if short => english!("ledger.overflow", events = events),
            Limit::BottleneckBandwidth => english!("ledger.link-full"),
            Limit::SharedBottleneck if short && once => english!("ledger.shared-overflow-once"),
            Limit::SharedBottleneck if short => english!("ledger.shared-overflow", events = events),
            Limit::SharedBottleneck if others_seen => english!("ledger.others"),
            // A link whose own rate changes looks the same.
            Limit::SharedBottleneck => english!("ledger.others-unseen"),
            Limit::Policed => english!("ledger.policed"),
            Limit::ReceiverWindow => english!("ledger.receiver-window"),
            Limit::ReceiverApplication if once => english!("ledger.reader-stopped"),
            Limit::ReceiverApplication => english!("ledger.reader"),
            Limit::SenderApplication => english!("ledger.writer"),
            Limit::SendBuffer => english!("ledger.send-buffer"),
            Limit::ProtocolWindow => english!("ledger.protocol"),
            Limit::EcnCongestion if once => english!("ledger.mark-once"),
            Limit::EcnCongestion => english!("ledger.marks", events = events),
            Limit::Reordering => english!("ledger.reordering"),
            Limit::MtuBlackHole => english!("ledger.black-hole"),
            Limit::DscpTreatment => english!("ledger.dscp"),
            Limit::DeviceLimit => english!("ledger.device"),
            Limit::HostCpu => english!("ledger.host-cpu"),
            _ if self.cause == Limit::CaptureLoss => english!("ledger.capture-loss"),
            _ if self.cause == Limit::Unknown => english!("ledger.unknown"),
            other => english!("ledger.other", cause = other.noun()),
        }
    }
}

/// Whether the machine of the measurement, and not the path, took that time.
fn is_ours(entry: &Entry) -> bool {
    entry.state == State::Measurement
}

/// Share of the duration from which a part is named.
const TENTH: f64 = 0.1;

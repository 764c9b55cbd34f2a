//! The ledger in a sentence.

use std::fmt::Write as _;

use super::{CapacityIs, Entry, Ledger, State};
use crate::limit::{Flag, Limit};
use slowpath_facts::words::{bits, span};

impl Ledger {
    /// How many parts the sentence names: those of a tenth of the duration or more.
    pub fn parts(&self) -> usize {
        parts(self).len()
    }
}

/// The parts of a tenth or more, what the link itself takes first and then the largest: seconds, and what is said of them.
fn parts(ledger: &Ledger) -> Vec<(f64, String)> {
    let mut groups: Vec<Group> = Vec::new();
    for entry in &ledger.entries {
        let same = |group: &&mut Group| {
            group.cause == entry.cause && group.flags == entry.flags && group.ours == is_ours(entry)
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
            (time, group.words())
        })
        .collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    if let Some(floor) = ledger.floor_s {
        parts.insert(0, (floor, "are the link itself".to_owned()));
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
    let mut out = format!("Of {}, ", span(ledger.duration_s));
    for (place, (time, words)) in parts.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}{} {words}", span(*time));
    }
    if let Some(rate) = ledger
        .capacity_bit_per_s
        .filter(|_| ledger.capacity_is == CapacityIs::AtLeast)
    {
        let _ = write!(
            out,
            "; what the path carries was never seen, only that it is at least {} of payload",
            bits(rate)
        );
    }
    out.push('.');
    out
}

/// Entries of one cause.
struct Group {
    cause: Limit,
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
        // The same events, told by another state.
        self.events = self.events.max(entry.events);
        self.segments = self.segments.max(entry.segments);
    }

    fn words(&self) -> String {
        let early = self.flags.contains(&Flag::EarlyExit);
        let short = self.flags.contains(&Flag::ShortQueue);
        let count = |one: &str, many: &str| {
            if self.events == 1 {
                format!("1 {one}")
            } else {
                format!("{} {many}", self.events)
            }
        };
        match self.cause {
            _ if self.ours => "the machine of the measurement held packets up".to_owned(),
            Limit::SlowStart if early => format!(
                "the window grew after slow start had ended at {} segments",
                self.segments
            ),
            Limit::SlowStart => "slow start took longer than it need".to_owned(),
            Limit::RandomLoss => format!("made good {}", count("random loss", "random losses")),
            Limit::BottleneckBandwidth if short => {
                format!("made good {} of a short queue", count("overflow", "overflows"))
            }
            Limit::BottleneckBandwidth => "the link was full".to_owned(),
            Limit::SharedBottleneck if short => {
                format!(
                    "made good {} of a queue that others share",
                    count("overflow", "overflows")
                )
            }
            Limit::SharedBottleneck => "others had the link".to_owned(),
            Limit::Policed => "a policer dropped what exceeded its rate".to_owned(),
            Limit::ReceiverWindow => "the receiver's window was full".to_owned(),
            Limit::ReceiverApplication if self.events == 1 => {
                "the receiving program stopped reading once".to_owned()
            }
            Limit::ReceiverApplication => "the receiving program did not read".to_owned(),
            Limit::SenderApplication => "the sending program gave no data".to_owned(),
            Limit::SendBuffer => "the sender's buffer was full".to_owned(),
            Limit::ProtocolWindow => "the protocol waited for answers".to_owned(),
            Limit::EcnCongestion => format!(
                "the window grew after {}",
                count("congestion mark", "congestion marks")
            ),
            Limit::Reordering => "packets that overtook each other were taken for losses".to_owned(),
            Limit::MtuBlackHole => "large packets vanished".to_owned(),
            Limit::DscpTreatment => "the marking of the packets cost".to_owned(),
            Limit::DeviceLimit => "a device on the path was busy".to_owned(),
            Limit::HostCpu => "a host's processor was busy".to_owned(),
            _ if self.cause == Limit::CaptureLoss => "are not in the capture".to_owned(),
            _ if self.cause == Limit::Unknown => "cannot be told".to_owned(),
            other => format!("went to: {}", other.noun()),
        }
    }
}

/// Whether the machine of the measurement, and not the path, took that time.
fn is_ours(entry: &Entry) -> bool {
    entry.state == State::Measurement
}

/// Share of the duration from which a part is named.
const TENTH: f64 = 0.1;

//! Where the time of a transfer went: every instant belongs to one state and one cause.
//!
//! Pure functions over the flow's [`Timeline`]; no packet, no clock. Two columns: `time_s` says how long a cause held, and
//! sums to the duration; `lost_s` says what would be saved without it, and sums to the duration together with `floor_s`,
//! the time that the link itself needs, where the capacity is known or measured.
//!
//! * [`book`]: from a timeline to a [`Ledger`]. Start here.
//! * [`capacity`]: what the path carries, and how that is known.
//! * `chronographs`: the ledger in the terms of the sending kernel's own counts.
//! * `course`: how long a transfer takes whose limits are known.
//! * `deficits`: which event made the congestion window small, and what regrowth has paid back of it.
//! * `events`: what caused a loss.
//! * `job`: the ledgers of several connections taken together.
//! * `without`: how long the transfer would take without a cause.
//! * `words`: the ledger in a sentence.

mod account;
mod booking;
pub mod capacity;
mod chronographs;
mod course;
mod deficits;
mod events;
pub(crate) mod hints;
pub(crate) mod job;
#[cfg(test)]
mod tests;
mod without;
mod words;

use serde::{Deserialize, Serialize};

use crate::limit::{Flag, Limit};
use crate::verdict::Interval;

pub use booking::book;
pub use capacity::{Capacity, CapacityIs};
pub use course::{Course, Law};
pub use hints::Hints;
pub use without::Faster;

/// Where the time of one transfer went, from its first packet to the acknowledgement of its last byte.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Ledger {
    /// From the first packet to the acknowledgement of the last byte.
    pub duration_s: f64,
    /// Payload that the path carries per second, in bits; `None` if nothing was delivered.
    pub capacity_bit_per_s: Option<f64>,
    /// How that is known.
    pub capacity_is: CapacityIs,
    /// Where the capacity varies: seconds after the start of the capture, and payload bits per second from then on.
    #[serde(default)]
    pub capacity_series: Vec<(f64, f64)>,
    /// What the transfer takes at least on this path: its bytes at the capacity, one handshake, ideal slow start.
    pub floor_s: Option<f64>,
    /// What of it no link makes shorter: one handshake, the first round trip, and what a window that doubles leaves idle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// Parts of the duration, the longest first.
    pub entries: Vec<Entry>,
    /// How long the same bytes would take without each cause that cost a tenth or more, the costliest first; empty where the
    /// capacity is only bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without: Vec<Without>,
    /// The ledger in a sentence: every part of a tenth or more.
    pub sentence: String,
    /// What held most of each stretch of time, in order.
    #[serde(skip)]
    pub spans: Vec<Interval>,
    /// Whether anybody else is in the capture who may have had part of the link.
    #[serde(skip)]
    pub others_seen: bool,
    /// Payload bytes that were delivered.
    #[serde(skip)]
    pub bytes: f64,
    /// Ceilings other than the link and the payload bytes per second that each let through while it held.
    #[serde(skip)]
    pub ceilings: Vec<(Limit, f64)>,
    /// Path and sender as far as the transfer shows them; `None` where the capacity is only bounded.
    #[serde(skip)]
    pub course: Option<Course>,
}

/// What a transfer lost against what the line would have given it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// How much time.
    pub seconds: f64,
    /// Whether it may be less, because the line's own rate was not seen.
    pub at_most: bool,
}

/// One part of a transfer's time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What held the transfer.
    pub cause: Limit,
    /// What is remarkable about it.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// What the sender did meanwhile.
    pub state: State,
    /// When the event happened that cost most, seconds after the start of the capture; `None` for what is no event.
    pub event_at_s: Option<f64>,
    /// How many events.
    #[serde(default)]
    pub events: u64,
    /// Segments that they concerned.
    #[serde(default)]
    pub segments: u64,
    /// How long it held.
    pub time_s: f64,
    /// What would be saved without it.
    pub lost_s: Option<f64>,
}

/// How long the same bytes would take without a cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Without {
    /// What would be away.
    pub cause: Limit,
    /// The most likely duration, seconds.
    pub duration_s: f64,
    /// It takes at least so long; with `high90_s` in nine of ten transfers.
    pub low90_s: f64,
    /// It takes at most so long.
    pub high90_s: f64,
}

/// What a sender did while something held it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Opened the connection, or waited for a request.
    Handshake,
    /// Doubled its congestion window for the first time.
    Start,
    /// Let its congestion window grow after something had made it small.
    Growth,
    /// Sent again what was lost.
    Repair,
    /// Was silent until a retransmission timeout.
    Timeout,
    /// Kept a link full.
    Link,
    /// Waited for the receiver's window.
    Window,
    /// Waited for an answer of the other end's program.
    Answer,
    /// Had nothing to send.
    Idle,
    /// Sent at its program's pace, or below a send buffer at that of its own clock (BBR).
    Pace,
    /// Kept a fixed amount in flight.
    Buffer,
    /// The machine on which the measurement ran held packets up: nothing of that is the path's.
    Measurement,
    /// What it did cannot be told.
    Unknown,
}

impl State {
    /// The stable name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::Start => "start",
            Self::Growth => "growth",
            Self::Repair => "repair",
            Self::Timeout => "timeout",
            Self::Link => "link",
            Self::Window => "window",
            Self::Answer => "answer",
            Self::Idle => "idle",
            Self::Pace => "pace",
            Self::Buffer => "buffer",
            Self::Measurement => "measurement",
            Self::Unknown => "unknown",
        }
    }
}

impl Ledger {
    /// Time that a cause held, seconds.
    pub fn time_of(&self, cause: Limit) -> f64 {
        self.time_where(|entry| entry.cause == cause)
    }

    /// The time of those entries that `wanted` picks, seconds; 0 and not its negative without any, as people read it.
    fn time_where(&self, wanted: impl Fn(&Entry) -> bool) -> f64 {
        let of = self.entries.iter().filter(|entry| wanted(entry));
        of.map(Entry::time).fold(0.0, |sum, time| sum + time)
    }

    /// How long a cause held the transfer in one state, seconds.
    pub(crate) fn time_in(&self, cause: Limit, state: State) -> f64 {
        self.sum(cause, |entry| entry.state == state, Entry::time)
    }

    /// What the transfer lost against what the line would have given it, gaps with nothing to send left out.
    ///
    /// Where the capacity is only bounded, that is at most the time for which something else than the line held it.
    pub fn lost(&self) -> Lost {
        let at_most = self.floor_s.is_none();
        let entries = self.entries.iter().filter(|entry| entry.state != State::Idle);
        let seconds = if at_most {
            let held = entries.filter(|entry| entry.is_avoidable());
            held.map(Entry::time).sum::<f64>()
        } else {
            entries.filter_map(|entry| entry.lost_s).sum()
        };
        Lost {
            seconds: seconds.max(0.0),
            at_most,
        }
    }

    /// Time that would be saved without a cause, seconds; `None` where the capacity is only bounded.
    pub fn lost_to(&self, cause: Limit) -> Option<f64> {
        self.floor_s?;
        let of = self.entries.iter().filter(|entry| entry.cause == cause);
        Some(of.filter_map(|entry| entry.lost_s).sum())
    }

    /// What limited the transfer by this account: a ceiling that held for half of the time or more; else the avoidable
    /// cause that cost most, if that is a fifth of the duration or more; else the link, or the start where the transfer
    /// was hardly more, or what held or made it wait for longer than the link was full. Without a capacity: the cause that held for most of the time.
    ///
    /// Gaps with nothing to send are nobody's loss unless they are most of the transfer.
    pub fn limit(&self) -> Option<Limit> {
        let causes: std::collections::BTreeSet<Limit> =
            self.entries.iter().map(|entry| entry.cause).collect();
        let most = |value: &dyn Fn(Limit) -> f64| {
            causes
                .iter()
                .map(|cause| (value(*cause), *cause))
                .max_by(|a, b| a.0.total_cmp(&b.0))
        };
        let (_, longest) = most(&|cause| self.time_of(cause))?;
        if let Some((time, gaps)) = most(&|cause| self.sum(cause, Entry::is_answer, Entry::time))
            && time >= GAPS * self.duration_s
        {
            return Some(gaps);
        }
        if self.floor_s.is_none() {
            let (_, longest) = most(&|cause| self.sum(cause, |entry| !entry.is_answer(), Entry::time))?;
            return Some(longest);
        }
        let is_ceiling =
            |cause: Limit| self.sum(cause, Entry::is_ceiling, Entry::time) >= CEILING * self.duration_s;
        if let Some(ceiling) = causes.iter().copied().find(|cause| is_ceiling(*cause)) {
            return Some(ceiling);
        }
        let (lost, costliest) = most(&|cause| self.sum(cause, |entry| !entry.is_gap(), Entry::lost))?;
        if lost >= AVOIDABLE * self.duration_s {
            return Some(costliest);
        }
        if longest == Limit::SlowStart {
            return Some(longest);
        }
        // Where the link hardly was full, what is left is who waited for most of the time.
        let of_link = self.time_of(Limit::BottleneckBandwidth) + self.time_of(Limit::SharedBottleneck);
        let waits = self.sum(
            longest,
            |entry| entry.is_answer() || entry.is_ceiling(),
            Entry::time,
        );
        if waits > of_link.max(AVOIDABLE * self.duration_s) {
            return Some(longest);
        }
        let shared = self.time_of(Limit::SharedBottleneck) > self.time_of(Limit::BottleneckBandwidth);
        Some(if shared {
            Limit::SharedBottleneck
        } else {
            Limit::BottleneckBandwidth
        })
    }

    /// The sum of `value` over those entries of a cause that `wanted` picks, seconds.
    fn sum(&self, cause: Limit, wanted: impl Fn(&Entry) -> bool, value: impl Fn(&Entry) -> f64) -> f64 {
        let of = self
            .entries
            .iter()
            .filter(|entry| entry.cause == cause && wanted(entry));
        of.map(value).sum()
    }
}

#[cfg(test)]
impl Entry {
    /// An entry without events, for tests.
    pub(crate) fn plain(cause: Limit, state: State, time_s: f64, lost_s: Option<f64>) -> Self {
        Self {
            cause,
            flags: Vec::new(),
            state,
            event_at_s: None,
            events: 0,
            segments: 0,
            time_s,
            lost_s,
        }
    }
}

impl Entry {
    /// Whether it made good what a queue dropped that is too short for the path.
    pub fn follows_a_short_queue(&self) -> bool {
        self.flags.contains(&Flag::ShortQueue)
            && matches!(self.state, State::Growth | State::Repair | State::Timeout)
    }

    const fn time(&self) -> f64 {
        self.time_s
    }

    fn lost(&self) -> f64 {
        self.lost_s.unwrap_or(0.0)
    }

    /// The sender waited for the other end's program.
    const fn is_answer(&self) -> bool {
        matches!(self.state, State::Answer)
    }

    /// Whether it is what an outage took, or what made it good.
    pub fn is_outage(&self) -> bool {
        self.flags.contains(&Flag::Outage)
    }

    /// Something that is known held the sender, other than the line and what every transfer needs.
    fn is_avoidable(&self) -> bool {
        let line = matches!(
            self.cause,
            Limit::BottleneckBandwidth | Limit::SharedBottleneck | Limit::Unknown
        );
        (!line || self.is_outage()) && !matches!(self.state, State::Handshake | State::Start)
    }

    /// There was nothing to send.
    const fn is_gap(&self) -> bool {
        matches!(self.state, State::Answer | State::Idle)
    }

    /// Something else than the congestion window and the link held the sender.
    const fn is_held(&self) -> bool {
        let held = matches!(self.state, State::Window | State::Buffer | State::Pace);
        held || self.is_gap()
    }

    /// It held the sender as a ceiling other than the link.
    const fn is_ceiling(&self) -> bool {
        let holds = matches!(
            self.state,
            State::Window | State::Buffer | State::Pace | State::Idle
        );
        let link = matches!(self.cause, Limit::BottleneckBandwidth | Limit::SharedBottleneck);
        matches!(self.cause, Limit::Policed) || holds && !link
    }
}

/// Share of the duration from which a ceiling is the limit.
const CEILING: f64 = 0.5;
/// Share of the duration from which waiting for answers is the limit.
const GAPS: f64 = 0.6;
/// Share of the duration from which what could be avoided is the limit.
const AVOIDABLE: f64 = 0.2;

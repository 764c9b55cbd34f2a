//! When the machine, and not the path, held packets up.
//!
//! An emulated network moves packets when its thread runs. While that thread waits for a processor, is stopped, or works
//! through what has gathered, a packet that a host sends enters the path late, and one that the path delivers reaches its
//! host late. Inside the path model time goes on. So all that a machine does to an emulated path happens at its edges,
//! and a simulation that holds packets up there for the same spans shows what it did to the figures.

use serde::{Deserialize, Serialize};
use slowpath_units::{Duration, Time};

/// What the machine did to packets at the edges of an emulated network.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Disturbances {
    /// When the first job of the run could begin, on the time line of the spans.
    #[serde(default)]
    pub jobs_from: Time,
    /// What the captures' clock says when that line begins, in nanoseconds.
    #[serde(default)]
    pub capture_origin: u64,
    /// One entry for each thread that moved packets.
    #[serde(default)]
    pub wires: Vec<WireDisturbances>,
}

impl Disturbances {
    /// All spans of all threads that were at least so long, as pairs of beginning and end, in order of their beginning.
    pub fn spans_from(&self, least: Duration) -> Vec<(Time, Time)> {
        let spans = self.wires.iter().flat_map(|wire| &wire.spans);
        let mut found: Vec<(Time, Time)> = spans
            .filter(|span| span.length >= least)
            .map(|span| (span.from, span.end()))
            .collect();
        found.sort_unstable();
        found
    }
}

/// What one thread did to the packets that it moved.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WireDisturbances {
    /// Hosts whose packets it let enter the path.
    pub from: Vec<String>,
    /// Hosts to which it handed packets over.
    pub to: Vec<String>,
    /// Spans shorter than this are not listed, but are part of the two means.
    pub least: Duration,
    /// Mean lateness of the packets handed over outside of the spans.
    pub release: Duration,
    /// Mean of the bound of how much later than it was sent a packet entered outside of the spans.
    pub entry: Duration,
    /// Spans in which the thread let no packet enter or leave, in order of their beginning.
    pub spans: Vec<HeldSpan>,
}

/// A span in which a thread moved no packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u8)", into = "(u64, u64, u8)")]
pub struct HeldSpan {
    /// Its beginning.
    pub from: Time,
    /// How long it lasted.
    pub length: Duration,
    /// Packets of hosts were waiting at its end.
    pub entered: bool,
    /// Packets of the path were due in it.
    pub released: bool,
    /// It began with the arrival of a packet whose time is known, so that this one did not enter late.
    pub first_in_time: bool,
}

impl HeldSpan {
    /// The first instant after it.
    pub fn end(&self) -> Time {
        self.from + self.length
    }
}

impl From<(u64, u64, u8)> for HeldSpan {
    fn from((from, length, bits): (u64, u64, u8)) -> Self {
        Self {
            from: Time::from_nanos(from),
            length: Duration::from_nanos(length),
            entered: bits & ENTERED != 0,
            released: bits & RELEASED != 0,
            first_in_time: bits & FIRST_IN_TIME != 0,
        }
    }
}

impl From<HeldSpan> for (u64, u64, u8) {
    fn from(span: HeldSpan) -> Self {
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        let bits = bit(span.entered, ENTERED)
            | bit(span.released, RELEASED)
            | bit(span.first_in_time, FIRST_IN_TIME);
        (span.from.nanos(), span.length.nanos(), bits)
    }
}

const ENTERED: u8 = 1;
const RELEASED: u8 = 2;
const FIRST_IN_TIME: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_written_as_three_numbers() {
        let span = HeldSpan {
            from: Time::from_nanos(5),
            length: Duration::from_nanos(7),
            entered: true,
            released: false,
            first_in_time: true,
        };
        let numbers: (u64, u64, u8) = span.into();
        assert_eq!(numbers, (5, 7, 5));
        assert_eq!(HeldSpan::from(numbers), span);
        assert_eq!(span.end(), Time::from_nanos(12));
    }
}

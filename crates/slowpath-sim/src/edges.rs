//! Packets held up where hosts meet the network, as a busy machine holds them up in a lab.

use std::collections::VecDeque;

use slowpath_endpoint::wire::Transmit;
use slowpath_path::{FlowId, Packet, PortId};
use slowpath_record::{Disturbances, HeldSpan, WireDisturbances};
use slowpath_units::{Duration, Time};

/// What is done to packets at the edges of one simulated network.
#[derive(Debug, Clone, Default)]
pub struct EdgeSpec {
    /// Spans in which packets are held up, and for how long all others are; `None` holds none up.
    pub disturbances: Option<Disturbances>,
    /// Nanoseconds to add to a time of the disturbances to have it on the simulation's time line.
    pub shift: i64,
    /// Share of the bound of entering late by which packets do enter late, in per mille.
    pub entry_per_mille: u32,
    /// Each packet is handed over later by a random time below this; zero for none.
    pub jitter: Duration,
    /// Decides the random times.
    pub seed: u64,
}

/// Both edges of one host.
#[derive(Debug)]
pub(crate) struct HostEdges {
    pub(crate) entry: Edge,
    pub(crate) release: Edge,
    /// On their way from the host into the network, with the time at which they enter.
    pub(crate) entering: VecDeque<(Time, FlowId, Transmit)>,
    /// On their way from the network to the host: when they are handed over, and when they were due.
    pub(crate) leaving: VecDeque<(Time, Time, PortId, Packet)>,
}

impl HostEdges {
    /// The edges of the host called `name`, with the number `number`.
    pub(crate) fn new(spec: &EdgeSpec, name: &str, number: u16) -> Self {
        let wires = |takes: fn(&WireDisturbances) -> &Vec<String>| {
            let all = spec.disturbances.iter().flat_map(|all| &all.wires);
            all.filter(move |wire| takes(wire).iter().any(|host| host == name))
        };
        let seed = spec.seed ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let entry = Edge {
            spans: spans(wires(|wire| &wire.from), spec.shift, |span| span.entered),
            always: wires(|wire| &wire.from)
                .map(|wire| wire.entry * u64::from(spec.entry_per_mille) / 1000)
                .max()
                .unwrap_or_default(),
            keeps_first: true,
            ..Edge::new(Duration::ZERO, seed)
        };
        let release = Edge {
            spans: spans(wires(|wire| &wire.to), spec.shift, |span| span.released),
            always: wires(|wire| &wire.to)
                .map(|wire| wire.release)
                .max()
                .unwrap_or_default(),
            ..Edge::new(spec.jitter, seed ^ 1)
        };
        Self {
            entry,
            release,
            entering: VecDeque::new(),
            leaving: VecDeque::new(),
        }
    }

    /// When the next packet goes on.
    pub(crate) fn next_event(&self) -> Option<Time> {
        let entering = self.entering.front().map(|(at, ..)| *at);
        let leaving = self.leaving.front().map(|(at, ..)| *at);
        entering.into_iter().chain(leaving).min()
    }
}

/// One direction at one host: packets pass it in order.
#[derive(Debug)]
pub(crate) struct Edge {
    spans: Vec<Held>,
    next: usize,
    /// How late those are that no span holds up.
    always: Duration,
    /// Whether the packet that began a span passes in time.
    keeps_first: bool,
    /// The longest of the spans that have passed without holding anything up.
    owed: Duration,
    jitter: Duration,
    random: u64,
    last: Time,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    from: Time,
    to: Time,
    first_in_time: bool,
    /// Whether it held something up in the run that it comes from.
    counted: bool,
    /// When its first packet came.
    used: Option<Time>,
}

impl Edge {
    fn new(jitter: Duration, seed: u64) -> Self {
        Self {
            spans: Vec::new(),
            next: 0,
            always: Duration::ZERO,
            keeps_first: false,
            owed: Duration::ZERO,
            jitter,
            random: seed,
            last: Time::ZERO,
        }
    }

    /// When a packet passes that comes at `at`; later packets come later.
    ///
    /// A span that held packets up in the lab and finds none here, because the replay is a little ahead of the lab,
    /// holds up the next one for as long: a wire is late for the packet that wakes it.
    pub(crate) fn pass(&mut self, at: Time) -> Time {
        while let Some(span) = self.spans.get(self.next).filter(|span| span.to <= at) {
            let length = span.to.since(span.from);
            let late_for_the_first = !(self.keeps_first && span.first_in_time);
            if span.counted && span.used.is_none() && late_for_the_first && length < MOST_OWED {
                self.owed = self.owed.max(length);
            }
            self.next += 1;
        }
        let mut passes = at + self.always;
        if self.owed > Duration::ZERO {
            passes = at + std::mem::take(&mut self.owed);
        }
        // Several spans may overlap; the one that ends last counts.
        let mut held = None;
        for span in self.spans[self.next..]
            .iter_mut()
            .take_while(|span| span.from <= at)
        {
            // A kernel hands over what it sends at once in one train, which has one time of arrival.
            let first = *span.used.get_or_insert(at);
            let kept = self.keeps_first && span.first_in_time && at.since(first) < TRAIN;
            if !kept {
                held = held.max(Some(span.to));
            }
        }
        passes = held.unwrap_or(passes);
        if self.jitter > Duration::ZERO {
            passes += Duration::from_nanos(self.draw() % self.jitter.nanos());
        }
        self.last = self.last.max(passes);
        self.last
    }

    /// One step of SplitMix64 (Steele, Lea and Flood 2014).
    fn draw(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.random;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}

fn spans<'a>(
    wires: impl Iterator<Item = &'a WireDisturbances>,
    shift: i64,
    counted: impl Fn(&HeldSpan) -> bool,
) -> Vec<Held> {
    let shifted = |time: Time| Time::from_nanos(time.nanos().saturating_add_signed(shift));
    let mut spans: Vec<Held> = wires
        .flat_map(|wire| &wire.spans)
        .filter(|span| shifted(span.end()) > Time::ZERO)
        .map(|span| Held {
            from: shifted(span.from),
            to: shifted(span.end()),
            first_in_time: span.first_in_time,
            counted: counted(span),
            used: None,
        })
        .collect();
    spans.sort_by_key(|span| span.from);
    spans
}

/// What is sent within this time goes in one train.
const TRAIN: Duration = Duration::from_micros(10);
/// A thread that was kept from running for so long would have been without any packet.
const MOST_OWED: Duration = Duration::from_millis(10);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    fn edge(keeps_first: bool, spans: &[(u64, u64, bool)]) -> Edge {
        let held = |&(from, to, first_in_time): &(u64, u64, bool)| Held {
            from: at(from),
            to: at(to),
            first_in_time,
            counted: true,
            used: None,
        };
        Edge {
            spans: spans.iter().map(held).collect(),
            keeps_first,
            always: Duration::from_micros(5),
            ..Edge::new(Duration::ZERO, 1)
        }
    }

    #[test]
    fn packets_wait_for_the_end_of_a_span() {
        let mut edge = edge(false, &[(100, 400, false), (1000, 1300, false)]);
        let passed: Vec<Time> = [50, 150, 300, 400, 1000, 1299, 1300]
            .into_iter()
            .map(|micros| edge.pass(at(micros)))
            .collect();
        let wanted = [55, 400, 400, 405, 1300, 1300, 1305].map(at);
        assert_eq!(passed, wanted);
    }

    #[test]
    fn who_begins_a_span_may_be_in_time() {
        let mut edge = edge(true, &[(100, 400, true)]);
        assert_eq!(edge.pass(at(101)), at(106));
        assert_eq!(edge.pass(at(101)), at(106), "of the same train");
        assert_eq!(edge.pass(at(120)), at(400));
    }

    #[test]
    fn a_span_that_missed_its_packet_finds_the_next() {
        let mut first = edge(
            false,
            &[(100, 400, false), (500, 600, false), (20_000, 90_000, false)],
        );
        assert_eq!(first.pass(at(700)), at(1000), "the longest that was missed");
        assert_eq!(first.pass(at(800)), at(1000), "in order");
        assert_eq!(first.pass(at(1100)), at(1105), "owed once");
        assert_eq!(
            first.pass(at(100_000)),
            at(100_005),
            "a stop is not made up for: nothing was on the way"
        );
    }
}

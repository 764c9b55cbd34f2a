//! Sums by cause and state, while a ledger is made.

use std::collections::BTreeMap;

use super::{Entry, State};
use crate::limit::{Flag, Limit};

/// Under which heading time is booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Heading {
    pub(super) cause: Limit,
    pub(super) flag: Option<Flag>,
    pub(super) state: State,
    /// Number of the event in the timeline.
    pub(super) event: Option<usize>,
}

impl Heading {
    /// A heading without an event.
    pub(super) const fn new(cause: Limit, state: State) -> Self {
        Self {
            cause,
            flag: None,
            state,
            event: None,
        }
    }
}

/// Time booked so far: how long and how much of it was lost, by heading.
#[derive(Debug, Default)]
pub(super) struct Account {
    sums: BTreeMap<Heading, (f64, f64)>,
    /// Time by cause since it was last asked for.
    lately: BTreeMap<Limit, f64>,
}

impl Account {
    /// Books `time` and `lost` seconds.
    pub(super) fn book(&mut self, heading: Heading, time: f64, lost: f64) {
        let sum = self.sums.entry(heading).or_default();
        sum.0 += time;
        sum.1 += lost;
        *self.lately.entry(heading.cause).or_default() += time;
    }

    /// The cause with the most time since this was last asked.
    pub(super) fn most_since(&mut self) -> Option<Limit> {
        let lately = std::mem::take(&mut self.lately);
        let most = lately.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.map(|(limit, _)| limit)
    }

    /// Takes up to `most` lost seconds off the headings that `wanted` picks; returns how much was found.
    pub(super) fn forgive(&mut self, most: f64, wanted: impl Fn(&Heading) -> bool) -> f64 {
        let mut left = most;
        for (_, sum) in self.sums.iter_mut().filter(|(heading, _)| wanted(heading)) {
            let taken = sum.1.min(left).max(0.0);
            sum.1 -= taken;
            left -= taken;
        }
        most - left
    }

    /// The entries: events of one cause, flag and state together, the longest first. `about` tells when an event was and
    /// how many segments it concerned.
    pub(super) fn entries(self, with_lost: bool, about: impl Fn(usize) -> (f64, u64)) -> Vec<Entry> {
        let mut out: Vec<Entry> = Vec::new();
        let mut costliest: Vec<f64> = Vec::new();
        for (heading, (time_s, lost)) in self.sums {
            let flags: Vec<Flag> = heading.flag.into_iter().collect();
            let same = |entry: &Entry| {
                entry.cause == heading.cause && entry.state == heading.state && entry.flags == flags
            };
            let place = out.iter().position(same).unwrap_or_else(|| {
                costliest.push(f64::NEG_INFINITY);
                out.push(Entry {
                    cause: heading.cause,
                    flags: flags.clone(),
                    state: heading.state,
                    event_at_s: None,
                    events: 0,
                    segments: 0,
                    time_s: 0.0,
                    lost_s: with_lost.then_some(0.0),
                });
                out.len() - 1
            });
            let entry = &mut out[place];
            entry.time_s += time_s;
            if let Some(sum) = &mut entry.lost_s {
                *sum += lost;
            }
            if let Some(event) = heading.event {
                let (at_s, segments) = about(event);
                entry.events += 1;
                entry.segments += segments;
                let cost = if with_lost { lost } else { time_s };
                if cost > costliest[place] {
                    costliest[place] = cost;
                    entry.event_at_s = Some(at_s);
                }
            }
        }
        out.retain(|entry| entry.time_s > 1e-9 || entry.lost_s.is_some_and(|lost| lost.abs() > 1e-9));
        out.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
        out
    }
}

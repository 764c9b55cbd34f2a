//! Where the time of a job of several connections went: their ledgers taken together.
//!
//! A job that stores many objects has many connections, some after each other, some beside each other. None of them
//! stands for the job: what takes most of a small one's time may be nothing beside what the others wait for. So the time of
//! all of them is summed, and the sums are scaled to the time that the job took. What the connections have of a full link is
//! the job's: its own connections are no others that it shares the link with.

use std::collections::BTreeMap;

use super::{CapacityIs, Entry, Hints, Ledger, State, book, words};
use crate::limit::{Flag, Limit};
use slowpath_facts::Timeline;

/// One connection of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    /// First packet, seconds after the start of the capture.
    pub(crate) opened_s: f64,
    /// Last packet.
    pub(crate) closed_s: f64,
    /// What it did when.
    pub(crate) line: &'a Timeline,
    /// What the rules say of it alone.
    pub(crate) hints: &'a Hints,
    /// Whether flows that are no part of the job were between the same hosts.
    pub(crate) others: bool,
}

/// A part with its ledger.
struct Booked<'a> {
    part: Part<'a>,
    ledger: Ledger,
}

/// The ledger of all parts; `None` without one that lasts.
pub(crate) fn of(parts: &[Part<'_>]) -> Option<Ledger> {
    let bursts = losses_cluster(parts);
    let booked: Vec<Booked<'_>> = parts
        .iter()
        .map(|part| {
            let hints = Hints {
                bursts,
                ..part.hints.clone()
            };
            Booked {
                part: *part,
                ledger: book(part.line, &hints, None),
            }
        })
        .collect();
    let from = parts
        .iter()
        .map(|part| part.opened_s)
        .fold(f64::INFINITY, f64::min);
    let to = parts.iter().map(|part| part.closed_s).fold(0.0, f64::max);
    let duration_s = to - from;
    let open: f64 = parts.iter().map(|part| part.closed_s - part.opened_s).sum();
    if open <= 0.0 || duration_s <= 0.0 {
        return None;
    }
    let busy = union(parts);
    let mut entries = summed(&booked, busy / open);
    let gap = duration_s - busy;
    if gap > 0.0 {
        add(
            &mut entries,
            &Entry {
                cause: Limit::SenderApplication,
                flags: Vec::new(),
                state: State::Idle,
                event_at_s: None,
                events: 0,
                segments: 0,
                time_s: gap,
                lost_s: None,
            },
            1.0,
        );
    }
    let (byte_per_s, capacity_is) = capacity(&booked, from);
    let bytes: u64 = parts
        .iter()
        .flat_map(|part| &part.line.steps)
        .map(|step| step.delivered)
        .sum();
    let floor_s = (capacity_is == CapacityIs::Measured && byte_per_s > 0.0)
        .then(|| bytes as f64 / byte_per_s)
        .filter(|floor| *floor < duration_s);
    if let Some(floor) = floor_s {
        share_out(&mut entries, duration_s, floor);
    }
    entries.retain(|entry| entry.time_s > LEAST);
    entries.sort_by(|a, b| b.time_s.total_cmp(&a.time_s));
    let mut ledger = Ledger {
        others_seen: true,
        duration_s,
        capacity_bit_per_s: (byte_per_s > 0.0).then_some(byte_per_s * 8.0),
        capacity_is,
        floor_s,
        entries,
        ..Ledger::default()
    };
    ledger.sentence = words::sentence(&ledger);
    Some(ledger)
}

/// Seconds in which at least one part was open.
fn union(parts: &[Part<'_>]) -> f64 {
    let mut spans: Vec<(f64, f64)> = parts.iter().map(|part| (part.opened_s, part.closed_s)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut until) = (0.0, f64::NEG_INFINITY);
    for (from, to) in spans {
        sum += (to - from.max(until)).max(0.0);
        until = until.max(to);
    }
    sum
}

/// Whether the losses of all parts come in bursts: far more steps of a connection in which much was sent pass without a
/// loss than losses at random, with the share that was lost in all, would leave.
fn losses_cluster(parts: &[Part<'_>]) -> bool {
    let (mut sent, mut lost) = (0.0, 0.0);
    let mut steps = Vec::new();
    for part in parts {
        let segment = f64::from(part.hints.segment.max(1));
        for step in &part.line.steps {
            let packets = (step.fresh + step.resent) as f64 / segment;
            sent += packets;
            lost += step.lost as f64 / segment;
            if packets >= MANY {
                steps.push((packets, step.lost == 0));
            }
        }
    }
    if lost < MANY {
        return false;
    }
    let share = (lost / sent).min(1.0);
    let expected: f64 = steps
        .iter()
        .map(|(packets, _)| (1.0 - share).powf(*packets))
        .sum();
    let clean = steps.iter().filter(|(_, clean)| *clean).count() as f64;
    clean >= CLEANER * (expected + 1.0)
}

/// The entries of all parts together, each second of theirs worth `scale` seconds of the job.
fn summed(booked: &[Booked<'_>], scale: f64) -> Vec<Entry> {
    let mut out = Vec::new();
    for Booked { part, ledger } in booked {
        // After its last byte a connection waited for the answer to what it carried: in its timeline the sender was idle.
        let behind = (part.closed_s - part.opened_s - ledger.duration_s).max(0.0);
        let mut answer = waited_at_the_end(part.line);
        let mut waited = behind;
        for entry in &ledger.entries {
            let mut own = Entry {
                cause: match entry.cause {
                    // The others on the link are the job's own.
                    Limit::SharedBottleneck if !part.others => Limit::BottleneckBandwidth,
                    cause => cause,
                },
                flags: (entry.flags.iter().copied())
                    .filter(|flag| *flag != Flag::SharedWithOtherFlows && *flag != Flag::OwnRate)
                    .collect(),
                ..entry.clone()
            };
            if own.cause == Limit::SenderApplication && own.state == State::Idle {
                let of_answer = answer.min(own.time_s);
                own.time_s -= of_answer;
                waited += of_answer;
                answer -= of_answer;
            }
            add(&mut out, &own, scale);
        }
        add(&mut out, &waiting(waited), scale);
    }
    out
}

/// Seconds that a sender was idle after its last data.
fn waited_at_the_end(line: &Timeline) -> f64 {
    let after = line.steps.iter().rev();
    after
        .take_while(|step| step.fresh < MORE_THAN_A_FIN && step.resent < MORE_THAN_A_FIN)
        .map(|step| step.idle_s)
        .sum()
}

/// So many seconds of waiting for an answer.
const fn waiting(time_s: f64) -> Entry {
    Entry {
        cause: Limit::ProtocolWindow,
        flags: Vec::new(),
        state: State::Answer,
        event_at_s: None,
        events: 0,
        segments: 0,
        time_s,
        lost_s: None,
    }
}

fn add(out: &mut Vec<Entry>, entry: &Entry, scale: f64) {
    let same = |other: &&mut Entry| {
        other.cause == entry.cause && other.state == entry.state && other.flags == entry.flags
    };
    let time_s = entry.time_s * scale;
    match out.iter_mut().find(same) {
        Some(sum) => {
            sum.time_s += time_s;
            // An outage is one for all connections.
            sum.events = if entry.is_outage() {
                sum.events.max(entry.events)
            } else {
                sum.events + entry.events
            };
            sum.segments += entry.segments;
        }
        None => out.push(Entry {
            time_s,
            lost_s: None,
            event_at_s: None,
            ..entry.clone()
        }),
    }
}

/// Says of each entry what would be saved without it: what the link does not need is lost to all that is not the link, in
/// proportion to the time that it held.
fn share_out(entries: &mut [Entry], duration_s: f64, floor_s: f64) {
    let idle = |entry: &Entry| {
        entry.cause != Limit::BottleneckBandwidth || !matches!(entry.state, State::Link | State::Window)
    };
    let held: f64 = entries
        .iter()
        .filter(|entry| idle(entry))
        .map(|entry| entry.time_s)
        .sum();
    let lost = duration_s - floor_s;
    for entry in entries {
        entry.lost_s = Some(if idle(entry) && held > 0.0 {
            entry.time_s / held * lost
        } else if held > 0.0 {
            0.0
        } else {
            entry.time_s / duration_s * lost
        });
    }
}

/// What the path carries of all parts together, payload bytes per second, and how that is known: measured where the parts
/// that sent stood before a full link for long enough.
fn capacity(booked: &[Booked<'_>], from: f64) -> (f64, CapacityIs) {
    let step = booked
        .iter()
        .map(|booked| booked.part.line.least_rtt_s)
        .fold(SHORTEST_STEP, f64::max);
    let mut bins: BTreeMap<usize, Bin> = BTreeMap::new();
    for Booked { part, ledger } in booked {
        for (place, own) in part.line.steps.iter().enumerate() {
            let (start, length) = (part.line.start_of(place), part.line.length_of(place));
            let middle = start + length / 2.0;
            let full = (ledger.spans.iter())
                .any(|span| is_link(span.limit) && span.from_s <= middle && middle < span.to_s);
            for (bin, share) in parts_of(start - from, length, step) {
                let bin = bins.entry(bin).or_default();
                bin.bytes += own.delivered as f64 * share;
                bin.sent += (own.fresh + own.resent) as f64 * share;
                bin.sending += length * share;
                if full {
                    bin.full += length * share;
                }
            }
        }
    }
    let rate = |bin: &Bin| bin.bytes / step;
    let highest = highest(&bins, step);
    let mut full: Vec<f64> = bins
        .values()
        .filter(|bin| bin.full >= MOSTLY * bin.sending)
        .map(rate)
        .collect();
    full.sort_by(f64::total_cmp);
    match full.get(full.len() / 2) {
        Some(&middle) if full.len() >= STEPS && highest <= BEYOND * middle => (middle, CapacityIs::Measured),
        _ => (highest, CapacityIs::AtLeast),
    }
}

/// The steps of the job in which a span lies, with the share of it that each has; of one longer than [`LONG`] of them the middle.
fn parts_of(start: f64, length: f64, step: f64) -> impl Iterator<Item = (usize, f64)> {
    let middle = (start + length / 2.0).max(0.0);
    let (from, to) = if length > 0.0 && length <= LONG * step {
        (start.max(0.0), (start + length).max(0.0))
    } else {
        (middle, middle)
    };
    let (first, last) = ((from / step) as usize, (to / step) as usize);
    (first..=last).map(move |bin| {
        let begin = from.max(bin as f64 * step);
        let end = to.min((bin + 1) as f64 * step);
        let whole = first == last;
        (
            bin,
            if whole {
                1.0
            } else {
                (end - begin).max(0.0) / (to - from)
            },
        )
    })
}

/// The highest rate over [`STEPS`] steps, payload bytes per second: no more than what was sent in these and as many before, as what
/// is acknowledged behind a hole may have arrived long ago.
fn highest(bins: &BTreeMap<usize, Bin>, step: f64) -> f64 {
    let sum = |range: std::ops::Range<usize>, of: fn(&Bin) -> f64| -> f64 {
        bins.range(range).map(|(_, bin)| of(bin)).sum()
    };
    bins.keys()
        .map(|&at| {
            let (to, before) = (at.saturating_add(STEPS), at.saturating_sub(STEPS));
            let delivered = sum(at..to, |bin| bin.bytes);
            delivered.min(sum(before..to, |bin| bin.sent)) / (STEPS as f64 * step)
        })
        .fold(0.0, f64::max)
}

/// What all parts did in one step of the job.
#[derive(Default)]
struct Bin {
    /// Payload delivered.
    bytes: f64,
    /// Payload sent, first or again.
    sent: f64,
    /// Seconds of the parts that sent.
    sending: f64,
    /// Of these, before a full link.
    full: f64,
}

const fn is_link(limit: Limit) -> bool {
    matches!(limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck)
}

/// Segments of a step of a connection from which a loss among them is to be expected, and lost ones of which to speak.
const MANY: f64 = 50.0;
/// Times as many steps without a loss as chance would leave.
const CLEANER: f64 = 3.0;
/// Payload bytes of a step, at most, that are no data: the end of a connection counts as one.
const MORE_THAN_A_FIN: u64 = 2;
/// Steps of the job that a step of a connection spans, at most, to be divided among them.
const LONG: f64 = 16.0;
/// Seconds of a step of the job, at least: shorter ones hold too few packets.
const SHORTEST_STEP: f64 = 0.05;
/// Steps before a full link, fewest, for its rate.
const STEPS: usize = 3;
/// Share of those who send that stand before a full link, from which it is full.
const MOSTLY: f64 = 0.5;
/// Factor by which a step may have more than a full link carries: steps are not cut exactly.
const BEYOND: f64 = 1.15;
/// Seconds from which an entry is kept.
const LEAST: f64 = 1e-9;

//! What ends the pauses of a sender: an acknowledgement, or its program's own clock.
//!
//! A sender that paces (BBR) sends between acknowledgements, so most of its packets follow none at once. Its pauses tell
//! all the same: whoever waits for room in a buffer or window goes on the moment an acknowledgement makes room, and
//! whoever waits for a program goes on when the program does.

use super::distribution::quantile;
use super::tap::Split;
use crate::track::Half;
use crate::track::log::{Tx, TxFlags};

/// The pauses of one sender.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Pauses {
    /// How many.
    pub(crate) count: u64,
    /// Those that end with an acknowledgement.
    pub(crate) after_ack: u64,
    /// Share of the time that stands as closely behind an acknowledgement.
    pub(crate) chance: f64,
}

impl Pauses {
    /// Share of the pauses that end with an acknowledgement.
    pub(crate) fn share(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.after_ack as f64 / self.count as f64
        }
    }
}

/// Share of a round trip that is a pause.
const PAUSE: f64 = 0.05;
/// Shortest pause, seconds: no wake-up takes so long.
const SHORTEST: f64 = 0.002;
/// Share of a round trip within which an acknowledgement and what it lets go are together.
const TOGETHER: f64 = 0.02;
/// How much earlier than the shortest way allows an acknowledgement may seem to come, nanoseconds.
const EARLY_NS: i64 = 300_000;
/// Packets closer than that are one train, nanoseconds.
const TRAIN_NS: f64 = 200_000.0;
/// How much longer than the usual gap between trains a pause of a paced sender is.
const PACED: f64 = 3.0;
/// Share of the gaps that are as short as a link makes them.
const CLOSEST: f64 = 0.1;
/// How much longer than these a pause is.
const SPREAD: f64 = 2.0;
/// Pauses of that kind that suffice.
const ENOUGH: u64 = 20;

/// Trains in a round trip from which their distances tell a pace: what a link or an acknowledgement sets has fewer.
const TRAINS: f64 = 2.5;
/// Trains that suffice for it.
const MANY: usize = 50;
/// How far distances may be from the usual one: what paces at a window for each round trip leaves a sixth of it idle.
const EVEN: f64 = 0.12;
/// Share of the data behind which a sender has found its pace.
const BEGUN: f64 = 0.25;
/// Packets of a train from which, seen from afar, the path is faster than the pace: a link that sets it sends them one by one.
const PAIRS: f64 = 1.8;
/// How far apart packets of one train may be, as a share of what each takes in the mean.
const ONE_TRAIN: f64 = 0.6;

/// Share of the time in which trains of new data follow one another at one pace, byte for byte, once a quarter of all has been
/// sent; 0 where they are too few to tell. A sender that waits for anything waits now and then for longer.
pub(crate) fn even_pace(half: &Half, split: &Split, rtt: f64) -> f64 {
    let sent = || {
        let of = half.tx.entries().iter();
        of.filter(|tx| tx.seen() && !tx.flags.has(TxFlags::RETRANSMISSION))
    };
    let begun = (sent().map(|tx| f64::from(tx.len)).sum::<f64>() * BEGUN) as u64;
    let mut before = 0_u64;
    let mut late = sent().skip_while(|tx| {
        before += u64::from(tx.len);
        before <= begun
    });
    let Some(first) = late.next() else { return 0.0 };
    let rest: Vec<&Tx> = late.collect();
    let Some(last) = rest.last() else { return 0.0 };
    let count = rest.len();
    let span = (last.at - first.at) as f64;
    let one = (ONE_TRAIN * span / rest.len() as f64).max(TRAIN_NS);
    // How long each train took until the next, and its bytes.
    let mut trains: Vec<(f64, f64)> = Vec::new();
    let (mut begin, mut bytes, mut latest) = (first.at, f64::from(first.len), first.at);
    for tx in rest {
        if (tx.at - latest) as f64 > one {
            trains.push(((tx.at - begin) as f64, bytes));
            (begin, bytes) = (tx.at, 0.0);
        }
        bytes += f64::from(tx.len);
        latest = tx.at;
    }
    let packets = count as f64 / trains.len() as f64;
    if split.is_afar() && packets < PAIRS {
        return 0.0;
    }
    let few = trains.len() < MANY || trains.len() as f64 * rtt * 1e9 < TRAINS * span;
    if few || span <= 0.0 {
        return 0.0;
    }
    let mut each: Vec<f64> = trains.iter().map(|(took, bytes)| took / bytes).collect();
    each.sort_unstable_by(f64::total_cmp);
    let usual = quantile(&each, 0.5);
    let even = |(took, bytes): &&(f64, f64)| (took / bytes / usual - 1.0).abs() <= EVEN;
    trains.iter().filter(even).map(|(took, _)| took).sum::<f64>() / span
}

/// Looks at every pause between new data. Acknowledgements reach the sender the shortest time after the tap that was ever
/// seen: a time that follows what the sender does would make it look as if each were waited for.
///
/// What a pacer leaves between two packets is no pause: where there are enough much longer ones, those are looked at.
pub(crate) fn pauses(half: &Half, split: &Split, rtt: f64) -> Pauses {
    let mut shortest = (rtt * PAUSE).max(SHORTEST) * 1e9;
    let gaps = gaps(half);
    if split.is_afar() {
        // What a link has put between the segments of one train is no pause of the sender.
        shortest = shortest.max(SPREAD * quantile(&gaps, CLOSEST));
    }
    let paced = PACED * quantile(&gaps, 0.5);
    if paced > shortest {
        let long = longer_than(half, split, rtt, paced);
        if long.count >= ENOUGH {
            return long;
        }
    }
    longer_than(half, split, rtt, shortest)
}

/// The times between two trains of new data, nanoseconds, in order of length.
fn gaps(half: &Half) -> Vec<f64> {
    let mut last = None;
    let mut gaps: Vec<f64> = half
        .tx
        .entries()
        .iter()
        .filter(|tx| tx.seen() && !tx.flags.has(TxFlags::RETRANSMISSION))
        .filter_map(|tx| last.replace(tx.at).map(|last: i64| (tx.at - last) as f64))
        .filter(|gap| *gap > TRAIN_NS)
        .collect();
    gaps.sort_unstable_by(f64::total_cmp);
    gaps
}

/// Looks at the pauses longer than `pause` nanoseconds.
fn longer_than(half: &Half, split: &Split, rtt: f64, pause: f64) -> Pauses {
    let shifted = split.is_afar();
    let lag = if shifted {
        (split.to_sender.max(split.release) * 1e9) as i64
    } else {
        0
    };
    let together = ((rtt * TOGETHER).clamp(0.000_1, 0.002) * 1e9) as i64;
    // From afar the way's own jitter goes either way. More would let in a program whose rhythm divides the round trip.
    let early = if shifted { (together / 2).min(EARLY_NS) } else { 0 };
    let mut acked = half.first;
    let mut acks = half
        .acks
        .entries()
        .iter()
        .filter(|ack| {
            let advances = ack.to > acked;
            acked = acked.max(ack.to);
            advances
        })
        .map(|ack| ack.at.saturating_add(lag).saturating_sub(early))
        .peekable();
    let mut out = Pauses::default();
    let (mut covered, mut ack): (i64, Option<i64>) = (0, None);
    let (mut first, mut last): (Option<i64>, Option<i64>) = (None, None);
    let reach = together + early;
    let mut end = 0;
    for tx in half.tx.entries().iter().filter(|tx| tx.seen()) {
        end = tx.at;
        while let Some(next) = acks.next_if(|at| *at <= tx.at) {
            covered = covered.saturating_add(ack.map_or(0, |at| next.saturating_sub(at).clamp(0, reach)));
            ack = Some(next);
        }
        if tx.flags.has(TxFlags::RETRANSMISSION) {
            last = None;
            continue;
        }
        let known = !tx.flags.has(TxFlags::HELD);
        if known && last.is_some_and(|last| (tx.at - last) as f64 > pause) {
            out.count += 1;
            out.after_ack += u64::from(ack.is_some_and(|at| tx.at - at <= reach));
        }
        first = first.or(Some(tx.at));
        last = Some(tx.at);
    }
    let span = first.map_or(0, |first| end - first);
    if span > 0 {
        out.chance = (covered as f64 / span as f64).min(1.0);
    }
    out
}

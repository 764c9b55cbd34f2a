//! Delays on the way to the receiver, by the sender's own clock.
//!
//! Beside the receiver a round trip is put together from two ways, and only the first segment of a burst tells one. Each
//! segment's timestamp (RFC 7323) says when it was sent: the time at which it arrived less that is the delay of its one way,
//! up to a constant and the unit of the sender's clock.

use slowpath_packet::Seq32;

use crate::track::Half;
use crate::track::log::{Tx, TxFlags};

/// Delays of one way above the least.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OneWay {
    /// Nanoseconds on the clock of the capture, and seconds of delay.
    pub(crate) delays: Vec<(i64, f64)>,
    /// Unit of the sender's clock, seconds: a delay may seem longer by as much.
    pub(crate) unit_s: f64,
}

/// The segments of one side that arrived with a timestamp, in that order.
fn stamped(half: &Half) -> impl DoubleEndedIterator<Item = &Tx> {
    let entries = half.tx.entries().iter();
    entries.filter(|tx| tx.seen() && tx.flags.has(TxFlags::STAMPED))
}

/// The delays of the segments that one side sent, as they arrived; `None` where its timestamps tell no time.
pub(super) fn delays(half: &Half) -> Option<OneWay> {
    of_stamps(stamped(half).map(|tx| (tx.at, tx.stamp)))
}

/// The delays of the acknowledgements that answer what one side sent, as they came back; `None` where their timestamps tell no time.
pub(super) fn of_acknowledgements(half: &Half) -> Option<OneWay> {
    let acks = half.acks.entries().iter();
    of_stamps(acks.filter_map(|ack| Some((ack.at, ack.stamp?))))
}

/// The delays of packets that passed the tap then, with these timestamps.
fn of_stamps(stamps: impl Iterator<Item = (i64, u32)>) -> Option<OneWay> {
    let stamps: Vec<(i64, u32)> = stamps.collect();
    let (first, last) = (*stamps.first()?, *stamps.last()?);
    let ticks = |stamp: u32| f64::from(Seq32(stamp).distance(Seq32(first.1)));
    let span = last.0.saturating_sub(first.0) as f64 / 1e9;
    if stamps.len() < SEGMENTS || span < SPAN || ticks(last.1) < TICKS {
        return None;
    }
    let unit_s = UNITS
        .into_iter()
        .find(|unit| (span / ticks(last.1) / unit - 1.0).abs() <= NEAR)?;
    let mut delays: Vec<(i64, f64)> = stamps
        .iter()
        .map(|&(at, stamp)| {
            (
                at,
                at.saturating_sub(first.0) as f64 / 1e9 - ticks(stamp) * unit_s,
            )
        })
        .collect();
    // The two clocks drift apart a little; a queue that grows does so faster.
    let third = delays.len() / 3;
    let least = |part: &[(i64, f64)]| part.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let (early, late) = (least(&delays[..third])?, least(&delays[delays.len() - third..])?);
    let apart = late.0.saturating_sub(early.0) as f64 / 1e9;
    let drift = if apart > 0.0 {
        (late.1 - early.1) / apart
    } else {
        0.0
    };
    if drift.abs() <= DRIFT {
        for (at, delay) in &mut delays {
            *delay -= drift * at.saturating_sub(early.0) as f64 / 1e9;
        }
    }
    let base = least(&delays)?.1;
    for (_, delay) in &mut delays {
        *delay -= base;
    }
    Some(OneWay { delays, unit_s })
}

impl OneWay {
    /// The delay that this share of the packets does not exceed, seconds.
    pub(super) fn at(&self, share: f64) -> f64 {
        let mut delays: Vec<f64> = self.delays.iter().map(|(_, delay)| *delay).collect();
        let place = (delays.len().saturating_sub(1) as f64 * share) as usize;
        if place >= delays.len() {
            return 0.0;
        }
        *delays.select_nth_unstable_by(place, f64::total_cmp).1
    }

    /// Share of the variance of these delays that a queue explains which nothing but this flow fills, before a link of a rate
    /// near one of these, payload bytes per second; 0 where that cannot be told. What was lost filled no queue.
    pub(super) fn explained_by_own_load(&self, half: &Half, rates: impl Iterator<Item = f64>) -> f64 {
        let sent: Vec<(f64, f64, f64)> = stamped(half)
            .zip(&self.delays)
            .take(LOOKED_AT)
            .map(|(tx, (at, delay))| (*at as f64 / 1e9 - delay, f64::from(tx.len), *delay))
            .collect();
        let count = sent.len() as f64;
        let mean = sent.iter().map(|(_, _, delay)| delay).sum::<f64>() / count.max(1.0);
        let varies: f64 = sent.iter().map(|(_, _, delay)| (delay - mean).powi(2)).sum();
        // The unit of the clock is noise of its own.
        if sent.is_empty() || varies <= 4.0 * count * self.unit_s.powi(2) / 12.0 {
            return 0.0;
        }
        let left = |rate: f64| {
            let (mut free, mut sum, mut squares) = (f64::NEG_INFINITY, 0.0, 0.0);
            for (at, bytes, delay) in &sent {
                let begins = free.max(*at);
                free = begins + bytes / rate;
                let off = delay - (begins - at);
                sum += off;
                squares += off * off;
            }
            squares - sum * sum / count
        };
        let near =
            rates.flat_map(|rate| (-NEARBY..=NEARBY).map(move |step| rate * (1.0 + STEP * f64::from(step))));
        let least = near
            .filter(|rate| *rate > 1.0)
            .map(left)
            .fold(f64::INFINITY, f64::min);
        (1.0 - least / varies).max(0.0)
    }
}

/// Segments whose delays are laid beside a queue.
const LOOKED_AT: usize = 50_000;
/// Rates that are tried to either side of one, and how far apart they are, as a share of it.
const NEARBY: i32 = 8;
const STEP: f64 = 0.01;
/// Units in which systems count timestamps, seconds: Linux's and most others', older ones', and that of
/// `tcp_usec_ts` (Linux 6.7).
const UNITS: [f64; 4] = [0.001, 0.004, 0.01, 0.000_001];
/// How near the measured unit must come.
const NEAR: f64 = 0.03;
/// Segments that tell a unit.
const SEGMENTS: usize = 30;
/// Time that tells a unit, seconds.
const SPAN: f64 = 0.5;
/// Ticks that tell a unit.
const TICKS: f64 = 50.0;
/// Most by which two clocks drift apart, seconds per second.
const DRIFT: f64 = 1e-4;

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

/// The delays of the segments that one side sent, as they arrived; `None` where its timestamps tell no time.
pub(super) fn delays(half: &Half) -> Option<OneWay> {
    let stamped = || {
        half.tx
            .entries()
            .iter()
            .filter(|tx| tx.seen() && tx.flags.has(TxFlags::STAMPED))
    };
    let (first, last) = (stamped().next()?, stamped().next_back()?);
    let ticks = |tx: &Tx| f64::from(Seq32(tx.stamp).distance(Seq32(first.stamp)));
    let span = (last.at - first.at) as f64 / 1e9;
    if stamped().count() < SEGMENTS || span < SPAN || ticks(last) < TICKS {
        return None;
    }
    let unit_s = UNITS
        .into_iter()
        .find(|unit| (span / ticks(last) / unit - 1.0).abs() <= NEAR)?;
    let mut delays: Vec<(i64, f64)> = stamped()
        .map(|tx| (tx.at, (tx.at - first.at) as f64 / 1e9 - ticks(tx) * unit_s))
        .collect();
    // The two clocks drift apart a little; a queue that grows does so faster.
    let third = delays.len() / 3;
    let least = |part: &[(i64, f64)]| part.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
    let (early, late) = (least(&delays[..third])?, least(&delays[delays.len() - third..])?);
    let apart = (late.0 - early.0) as f64 / 1e9;
    let drift = if apart > 0.0 {
        (late.1 - early.1) / apart
    } else {
        0.0
    };
    if drift.abs() <= DRIFT {
        for (at, delay) in &mut delays {
            *delay -= drift * (*at - early.0) as f64 / 1e9;
        }
    }
    let base = least(&delays)?.1;
    for (_, delay) in &mut delays {
        *delay -= base;
    }
    Some(OneWay { delays, unit_s })
}

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

//! Where the tap is: how a round trip splits into the part behind the tap and the part before it.

use super::distribution::quantile;
use crate::ends::Tap;
use crate::track::Half;
use crate::track::log::TxFlags;

/// The two parts of the round trip as seen from the tap, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Split {
    /// Data to its acknowledgement.
    pub(crate) to_receiver: f64,
    /// Acknowledgement to the data it releases.
    pub(crate) to_sender: f64,
    /// The same by data alone, of which a full segment takes longer to send than the handshake's packets do; 0 where few tell.
    pub(crate) release: f64,
    /// Where that puts the tap.
    pub(crate) tap: Tap,
}

impl Split {
    /// Whether the tap sees what the sender did only behind a part of the path.
    pub(crate) fn is_afar(&self) -> bool {
        !matches!(self.tap, Tap::Sender | Tap::Unknown)
    }
}

/// Of so many times from an acknowledgement to data the least tells something.
const RELEASES: usize = 20;

/// Splits the round trip. `handshake` holds the two parts as the handshake shows them, in the same order.
pub(crate) fn split(half: &Half, handshake: [Option<f64>; 2]) -> Split {
    let entries = half.tx.entries();
    let mut answers: Vec<f64> = entries
        .iter()
        .filter(|tx| tx.rtt.is_finite() && !tx.flags.has(TxFlags::RETRANSMISSION))
        .map(|tx| f64::from(tx.rtt))
        .collect();
    let mut releases: Vec<f64> = entries
        .iter()
        .filter(|tx| tx.release.is_finite())
        .map(|tx| f64::from(tx.release))
        .collect();
    answers.sort_unstable_by(f64::total_cmp);
    releases.sort_unstable_by(f64::total_cmp);
    let smallest = |sorted: &[f64], shown: Option<f64>| match (sorted.is_empty(), shown) {
        (false, Some(shown)) => Some(sorted[0].min(shown)),
        (false, None) => Some(sorted[0]),
        (true, shown) => shown,
    };
    let to_receiver = smallest(&answers, handshake[0]);
    // The smallest of many may be an accident of equal time stamps; the 2nd percentile is as good.
    let release = (releases.len() >= RELEASES).then(|| quantile(&releases, 0.02));
    let shown = handshake[1];
    let to_sender = match release {
        Some(typical) => Some(shown.map_or(typical, |shown| typical.min(shown))),
        None if releases.is_empty() && shown.is_none() => reaction(half),
        None => smallest(&releases, shown),
    };
    let tap = match (to_receiver, to_sender) {
        (Some(receiver), Some(sender)) if receiver + sender > 0.0 => {
            let share = receiver / (receiver + sender);
            if share > 0.85 {
                Tap::Sender
            } else if share < 0.15 {
                Tap::Receiver
            } else {
                Tap::Middle
            }
        }
        _ => Tap::Unknown,
    };
    Split {
        to_receiver: to_receiver.unwrap_or(0.0),
        to_sender: to_sender.unwrap_or(0.0),
        release: release.unwrap_or(0.0),
        tap,
    }
}

/// Without timestamps and handshake: the 10th percentile of the time from an acknowledgement to the next new data.
fn reaction(half: &Half) -> Option<f64> {
    let mut spans = Vec::new();
    let mut sent = half.tx.entries().iter().peekable();
    for ack in half.acks.entries().iter().filter(|ack| !ack.duplicate) {
        while sent.next_if(|tx| tx.at < ack.at).is_some() {}
        if let Some(tx) = sent.peek()
            && !tx.flags.has(TxFlags::RETRANSMISSION)
        {
            spans.push((tx.at - ack.at) as f64 / 1e9);
        }
    }
    if spans.len() < 5 {
        return None;
    }
    spans.sort_unstable_by(f64::total_cmp);
    Some(quantile(&spans, 0.1))
}

/// Whether the way before the tap, rather than the way behind it, makes round trips vary: a queue there.
pub(crate) fn varies_before(half: &Half) -> bool {
    let spread = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        if values.len() < 10 {
            return 0.0;
        }
        quantile(&values, 0.9) - quantile(&values, 0.1)
    };
    let before = smooth_releases(half).into_iter().map(|(_, span)| span).collect();
    let behind = half
        .tx
        .entries()
        .iter()
        .filter(|tx| tx.rtt.is_finite())
        .map(|tx| f64::from(tx.rtt))
        .collect();
    spread(before) > 2.0 * spread(behind)
}

/// The time from an acknowledgement to what it released, for each transmission that tells, without the spikes of
/// a program that paused: each value is the smallest of itself and its neighbours.
pub(crate) fn smooth_releases(half: &Half) -> Vec<(usize, f64)> {
    let raw: Vec<(usize, f64)> = half
        .tx
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, tx)| tx.release.is_finite())
        .map(|(index, tx)| (index, f64::from(tx.release)))
        .collect();
    let value = |index: usize| raw.get(index).map_or(f64::INFINITY, |sample| sample.1);
    raw.iter()
        .enumerate()
        .map(|(place, &(index, own))| {
            let before = place.checked_sub(1).map_or(f64::INFINITY, value);
            (index, own.min(before).min(value(place + 1)))
        })
        .collect()
}

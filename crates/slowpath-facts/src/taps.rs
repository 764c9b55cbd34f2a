//! Two captures of the same connections: on which part of the way loss, delay and changes arise.
//!
//! Segments are matched by their bytes; the offset of the two clocks comes from the smallest delays of data one way and
//! of acknowledgements the other way, its drift from the same in parts of the transfer. What cannot be told apart: half of
//! the difference between the two directions' smallest delays looks like clock offset.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use slowpath_record::packets::Conversations;

use crate::Analyzer;
use crate::ends::Side;
use crate::facts::Distribution;
use crate::track::log::TxFlags;
use crate::track::{Conn, Half};
use crate::words::{percent, span};

/// Parts of a transfer in which the clock offset is measured for the drift.
const PARTS: usize = 12;

/// When something passed the first tap, and how much later the second, nanoseconds.
type Lag = (i64, i64);

/// One connection seen at two taps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TwoTaps {
    /// Address and port of the end that opened the connection.
    pub client: String,
    /// Address and port of the other end.
    pub server: String,
    /// The end that sent more data.
    pub data_from: Side,
    /// The capture that is nearer to the sender of the data.
    pub near: Which,
    /// Data segments found in both captures.
    pub matched_segments: u64,
    /// Time of the second capture's clock less that of the first, at the start.
    pub clock_offset_s: f64,
    /// The offset is known no better than this.
    pub clock_uncertainty_s: f64,
    /// By how much the second clock runs faster, parts per million.
    pub clock_drift_ppm: f64,
    /// Delay of data from the near to the far tap, with the clocks aligned.
    pub delay_s: Distribution,
    /// Delay of acknowledgements from the far to the near tap.
    pub delay_back_s: Distribution,
    /// Smallest round trip from the near tap to the sender and back.
    pub before_near_s: f64,
    /// Smallest round trip from the far tap to the receiver and back.
    pub after_far_s: f64,
    /// Segments lost before the near tap, between the taps, and behind the far tap.
    pub lost: [u64; 3],
    /// Segments overtaken between the taps.
    pub reordered_between: u64,
    /// Segments passing the near tap, retransmissions included.
    pub passed_near: u64,
    /// Routers between the taps, by the time to live; 0 if it did not change.
    pub hops: u8,
    /// Fields that differ between the taps.
    pub changes: Vec<Change>,
    /// The result for people.
    pub findings: Vec<String>,
}

impl TwoTaps {
    /// Whether one transfer could be seen so: packets of two that happen to be numbered alike come before they were sent.
    pub fn is_possible(&self) -> bool {
        let least = self.delay_s.min.min(self.delay_back_s.min);
        least >= -(BEFORE_SENT + self.clock_uncertainty_s)
    }
}

/// How much earlier than it was sent a packet may seem to come, seconds.
const BEFORE_SENT: f64 = 0.05;

/// One of two captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Which {
    /// The first capture given.
    First,
    /// The second capture given.
    Second,
}

/// A field that a device between the taps changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// `mss`, `window-scale`, `sack`, `timestamps`, `dscp`, `ecn`.
    pub field: String,
    /// Packets of which end.
    pub from: Side,
    /// Value at the tap nearer to that end.
    pub before: String,
    /// Value at the other tap.
    pub after: String,
}

/// Matches the connections of two captures and says what happens between the taps, largest first.
pub fn two_taps(first: (&Analyzer, &Conversations), second: (&Analyzer, &Conversations)) -> Vec<TwoTaps> {
    let mut others: BTreeMap<(String, String), Vec<&Conn>> = BTreeMap::new();
    for conn in second.0.connections() {
        others.entry(names(conn, second.1)).or_default().push(conn);
    }
    let mut out: Vec<(u64, TwoTaps)> = Vec::new();
    for conn in first.0.connections() {
        let Some(candidates) = others.get(&names(conn, first.1)) else {
            continue;
        };
        let Some(other) = candidates.iter().find(|other| same_connection(conn, other)) else {
            continue;
        };
        if let Some(pair) = compare(conn, other, names(conn, first.1)) {
            out.push((conn.payload(), pair));
        }
    }
    out.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    out.into_iter().map(|(_, pair)| pair).collect()
}

fn names(conn: &Conn, conversations: &Conversations) -> (String, String) {
    crate::connection::endpoints(conn, conversations.key(conn.conversation))
}

/// Port pairs are used again: the same SYN or overlapping bytes make it the same connection.
fn same_connection(a: &Conn, b: &Conn) -> bool {
    [Side::Client, Side::Server].into_iter().all(|side| {
        let (a, b) = (a.half(side), b.half(side));
        match (a.syn, b.syn) {
            (Some(a), Some(b)) => a.seq == b.seq,
            _ => a.first < b.next && b.first < a.next || a.next == a.first || b.next == b.first,
        }
    })
}

fn compare(first: &Conn, second: &Conn, (client, server): (String, String)) -> Option<TwoTaps> {
    let size = |conn: &Conn, side: Side| conn.half(side).counters.unique_bytes;
    let from = if size(first, Side::Client) > size(first, Side::Server) {
        Side::Client
    } else {
        Side::Server
    };
    let (a, b) = (first.half(from), second.half(from));
    // Differences "second less first": of data, and of acknowledgements.
    let data = match_segments(a, b);
    let acks = match_acks(a, b);
    if data.len() < 3 || acks.is_empty() {
        return None;
    }
    let least = |values: &[Lag]| {
        values
            .iter()
            .map(|(_, difference)| *difference)
            .min()
            .unwrap_or(0)
    };
    let most = |values: &[Lag]| {
        values
            .iter()
            .map(|(_, difference)| *difference)
            .max()
            .unwrap_or(0)
    };
    // If the first tap is nearer, data reaches the second later and acknowledgements the first later.
    let loop_if_first = least(&data) - most(&acks);
    let loop_if_second = least(&acks) - most(&data);
    let near = if loop_if_first >= loop_if_second {
        Which::First
    } else {
        Which::Second
    };
    let (forward, back): (Vec<Lag>, Vec<Lag>) = match near {
        Which::First => (data, acks),
        Which::Second => (negated(&data), negated(&acks)),
    };
    let aligned = align(&forward, &back);
    let sign = if near == Which::First { 1.0 } else { -1.0 };
    let offset_at = |at: i64| aligned.offset + aligned.drift * (at - forward[0].0) as f64;
    let seconds = |value: f64| value / 1e9;
    let mut delays: Vec<f64> = forward
        .iter()
        .map(|(at, difference)| seconds(*difference as f64 - offset_at(*at)))
        .collect();
    let mut delays_back: Vec<f64> = back
        .iter()
        .map(|(at, difference)| seconds(offset_at(*at) - *difference as f64))
        .collect();
    let (near_conn, far_conn) = if near == Which::First {
        (first, second)
    } else {
        (second, first)
    };
    let (near_half, far_half) = (near_conn.half(from), far_conn.half(from));
    let lost = losses(near_half, far_half);
    let hops = match (near_half.marking.ttl, far_half.marking.ttl) {
        (Some((near_ttl, _)), Some((far_ttl, _))) => near_ttl.saturating_sub(far_ttl),
        _ => 0,
    };
    let mut out = TwoTaps {
        client,
        server,
        data_from: from,
        near,
        matched_segments: forward.len() as u64,
        clock_offset_s: seconds(aligned.offset) * sign,
        clock_uncertainty_s: seconds(aligned.uncertainty),
        clock_drift_ppm: aligned.drift * 1e6 * sign,
        delay_s: Distribution::of(&mut delays),
        delay_back_s: Distribution::of(&mut delays_back),
        before_near_s: crate::facts::split_of(near_conn, from).to_sender,
        after_far_s: crate::facts::split_of(far_conn, from).to_receiver,
        lost,
        // What the acknowledgements at the near tap tell of the way behind it is the same once more.
        reordered_between: far_half.came_late().saturating_sub(near_half.came_late()),
        passed_near: near_half
            .tx
            .entries()
            .iter()
            .filter(|tx| tx.seen())
            .map(|tx| u64::from(tx.packets))
            .sum(),
        hops,
        changes: changes(near_conn, far_conn, from),
        findings: Vec::new(),
    };
    out.findings = findings(&out);
    Some(out)
}

fn negated(values: &[Lag]) -> Vec<Lag> {
    values.iter().map(|(at, difference)| (*at, -difference)).collect()
}

/// Data sent once at both taps: time at the first, and how much later at the second.
fn match_segments(a: &Half, b: &Half) -> Vec<Lag> {
    let once = |half: &Half| -> BTreeMap<u64, Option<i64>> {
        let mut seen: BTreeMap<u64, Option<i64>> = BTreeMap::new();
        for tx in half.tx.entries().iter().filter(|tx| tx.seen()) {
            let again = tx.flags.has(TxFlags::RETRANSMISSION) || tx.flags.has(TxFlags::FILLS);
            seen.entry(relative(half, tx.seq))
                .and_modify(|at| *at = None)
                .or_insert_with(|| (!again && tx.lost == 0).then_some(tx.at));
        }
        seen
    };
    let other = once(b);
    let mut out: Vec<Lag> = once(a)
        .into_iter()
        .filter_map(|(seq, at)| {
            let (first, second) = (at?, (*other.get(&seq)?)?);
            Some((first, second - first))
        })
        .collect();
    out.sort_unstable();
    out
}

/// First acknowledgements of a byte at both taps.
fn match_acks(a: &Half, b: &Half) -> Vec<Lag> {
    let firsts = |half: &Half| -> BTreeMap<u64, i64> {
        let mut seen = BTreeMap::new();
        for ack in half
            .acks
            .entries()
            .iter()
            .filter(|ack| !ack.duplicate && !ack.syn)
        {
            seen.entry(relative(half, ack.to)).or_insert(ack.at);
        }
        seen
    };
    let other = firsts(b);
    firsts(a)
        .into_iter()
        .filter_map(|(ack, at)| Some((at, other.get(&ack)? - at)))
        .collect()
}

const fn relative(half: &Half, seq: u64) -> u64 {
    seq.wrapping_sub(half.first)
}

#[derive(Debug, Clone, Copy, Default)]
struct Aligned {
    /// Far clock less near clock at the start, nanoseconds.
    offset: f64,
    uncertainty: f64,
    /// Nanoseconds per nanosecond.
    drift: f64,
}

/// `forward` are far less near times of data, `back` the same of acknowledgements.
fn align(forward: &[Lag], back: &[Lag]) -> Aligned {
    let start = forward.first().map_or(0, |(at, _)| *at);
    let end = forward.last().map_or(0, |(at, _)| *at);
    let width = ((end - start) / i64::try_from(PARTS).unwrap_or(1) + 1).max(1);
    let mut least = [None::<i64>; PARTS];
    let mut most = [None::<i64>; PARTS];
    let part = |at: i64| usize::try_from((at - start) / width).unwrap_or(0).min(PARTS - 1);
    for (at, difference) in forward {
        let slot = &mut least[part(*at)];
        *slot = Some(slot.map_or(*difference, |old| old.min(*difference)));
    }
    for (at, difference) in back {
        let slot = &mut most[part(*at)];
        *slot = Some(slot.map_or(*difference, |old| old.max(*difference)));
    }
    // The tightest parts tell the offset; a queue in one direction widens the others.
    let mut parts: Vec<(f64, f64, f64)> = (0..PARTS)
        .filter_map(|index| {
            let (low, high) = (least[index]? as f64, most[index]? as f64);
            let at = (index as f64 + 0.5) * width as f64;
            Some((at, f64::midpoint(low, high), (low - high) / 2.0))
        })
        .collect();
    let tightest = parts.iter().map(|part| part.2).fold(f64::INFINITY, f64::min);
    parts.retain(|part| part.2 <= tightest * 1.05 + 50_000.0);
    let count = parts.len() as f64;
    if parts.is_empty() {
        return Aligned::default();
    }
    let (x, y) = (
        parts.iter().map(|part| part.0).sum::<f64>() / count,
        parts.iter().map(|part| part.1).sum::<f64>() / count,
    );
    let (mut xx, mut xy) = (0.0, 0.0);
    for (at, offset, _) in &parts {
        xx += (at - x).powi(2);
        xy += (at - x) * (offset - y);
    }
    let drift = if parts.len() >= 4 && xx > 0.0 {
        xy / xx
    } else {
        0.0
    };
    Aligned {
        offset: y - drift * x,
        uncertainty: tightest.max(0.0),
        drift,
    }
}

/// Segments lost before the near tap, between the taps, and behind the far tap.
fn losses(near: &Half, far: &Half) -> [u64; 3] {
    let segment = u64::from(near.segment_limit.max(1));
    let segments = |bytes: u64| bytes.div_ceil(segment);
    let before: u64 = near
        .tx
        .entries()
        .iter()
        .filter(|tx| !tx.seen() && tx.lost > 0)
        .map(|tx| segments(u64::from(tx.lost)))
        .sum();
    let sent: u64 = near
        .tx
        .entries()
        .iter()
        .filter(|tx| tx.seen())
        .map(|tx| u64::from(tx.len))
        .sum();
    let came: u64 = far
        .tx
        .entries()
        .iter()
        .filter(|tx| tx.seen())
        .map(|tx| u64::from(tx.len))
        .sum();
    // What one capture missed is no loss; what was in flight at the end is not known.
    let unfinished = near
        .next
        .saturating_sub(near.first)
        .saturating_sub(far.next.saturating_sub(far.first));
    let between = (sent + near.missed)
        .saturating_sub(came + far.missed)
        .saturating_sub(unfinished);
    let behind: u64 = far
        .tx
        .entries()
        .iter()
        .filter(|tx| tx.seen() && tx.lost > 0)
        .map(|tx| segments(u64::from(tx.lost)))
        .sum();
    [before, segments(between), behind]
}

fn changes(near: &Conn, far: &Conn, from: Side) -> Vec<Change> {
    let mut out = Vec::new();
    for side in [Side::Client, Side::Server] {
        // The tap near the sender of the data is far from the other end.
        let (before, after) = if side == from { (near, far) } else { (far, near) };
        let (before, after) = (before.half(side), after.half(side));
        let mut note = |field: &str, before: String, after: String| {
            if before != after {
                out.push(Change {
                    field: field.to_owned(),
                    from: side,
                    before,
                    after,
                });
            }
        };
        if let (Some(sent), Some(came)) = (before.syn, after.syn) {
            let option =
                |value: Option<u64>| value.map_or_else(|| "absent".to_owned(), |value| value.to_string());
            note(
                "mss",
                option(sent.mss.map(u64::from)),
                option(came.mss.map(u64::from)),
            );
            note(
                "window-scale",
                option(sent.window_scale.map(u64::from)),
                option(came.window_scale.map(u64::from)),
            );
            note("sack", sent.sack.to_string(), came.sack.to_string());
            note(
                "timestamps",
                sent.timestamps.to_string(),
                came.timestamps.to_string(),
            );
        }
        let list = |values: &[u8]| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        note("dscp", list(&before.marking.dscp), list(&after.marking.dscp));
        let capable = |half: &Half| half.marking.ect_packets * 2 > half.counters.data_packets;
        if before.counters.data_packets > 0 && after.counters.data_packets > 0 {
            note("ecn", capable(before).to_string(), capable(after).to_string());
        }
    }
    out
}

fn findings(pair: &TwoTaps) -> Vec<String> {
    let mut out = Vec::new();
    let [before, between, behind] = pair.lost;
    let total = before + between + behind;
    if total == 0 {
        out.push("Nothing was lost on any part of the way.".to_owned());
    } else {
        let share = |part: u64| percent(part as f64 / total as f64);
        out.push(format!(
            "Of {total} lost segments {before} were lost before the first tap ({}), {between} between the taps ({}), {behind} behind the second ({}).",
            share(before), share(between), share(behind)
        ));
    }
    let queue = pair.delay_s.p95 - pair.delay_s.min;
    out.push(format!(
        "Between the taps the way there and back takes {} at best, and data need up to {} more when queues stand; what each of the two ways takes cannot be told, as the clocks are set by it.",
        span(pair.delay_s.min + pair.delay_back_s.min), span(queue)
    ));
    if pair.reordered_between > 0 {
        out.push(format!(
            "{} segments were overtaken between the taps.",
            pair.reordered_between
        ));
    }
    for change in &pair.changes {
        out.push(format!(
            "Between the taps the {} of packets from the {} changes from {} to {}.",
            change.field,
            if change.from == Side::Client {
                "client"
            } else {
                "server"
            },
            change.before,
            change.after
        ));
    }
    out
}

//! When nothing got through the path though something was under way: a roaming radio, a handover, a route that changes.
//!
//! Beside the sender nothing is acknowledged for a time that no retransmission timer explains alone. Beside the receiver nothing
//! arrives, as when the sender's program gives nothing; what arrives then tells the two apart: the sender's own clock says that it
//! had been sent long before, or a single segment comes and a round trip later its followers, as behind a retransmission timer.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::one_way::OneWay;
use super::tap::Split;
use crate::ends::Tap;
use crate::track::Half;
use crate::track::log::{Tx, TxFlags};

/// A time in which nothing got through the path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Outage {
    /// When the last got through before it, seconds after the start of the capture.
    pub from_s: f64,
    /// When the first got through behind it.
    pub to_s: f64,
    /// What was under way arrived in the end: the path had held it back, and not lost it.
    pub held: bool,
}

impl Outage {
    /// How long it lasted, seconds.
    pub fn length_s(&self) -> f64 {
        self.to_s - self.from_s
    }
}

/// The same in nanoseconds on the clock of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) held: bool,
}

impl Span {
    /// In seconds after `origin`.
    pub(super) fn outage(self, origin: i64) -> Outage {
        let seconds = |at: i64| at.saturating_sub(origin) as f64 / 1e9;
        Outage {
            from_s: seconds(self.from),
            to_s: seconds(self.to),
            held: self.held,
        }
    }
}

/// The outages of one direction.
pub(super) struct Outages {
    /// In order.
    spans: Vec<Span>,
    /// How long before one what was sent met it, nanoseconds.
    reach: i64,
    /// What meets one says nothing of the path at other times.
    apart: bool,
}

impl Outages {
    /// Looks for them. Round trips are the usual and the least one, seconds.
    pub(super) fn of(
        half: &Half,
        split: &Split,
        (typical, least): (f64, f64),
        one_way: Option<&OneWay>,
    ) -> Self {
        let (spans, trips) = match split.tap {
            Tap::Receiver => (between_arrivals(half, (typical, least), one_way), 0.0),
            Tap::Sender | Tap::Middle | Tap::Unknown => (between_acknowledgements(half, typical), 1.0),
        };
        Self {
            spans,
            reach: (trips * typical * 1e9) as i64,
            apart: true,
        }
    }

    /// They are how the path's rate varies.
    pub(super) const fn are_usual(&mut self) {
        self.apart = false;
    }

    /// In order.
    pub(super) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether one of them lies between two moments, of which it says nothing else.
    fn lie_between(&self, from: i64, to: i64) -> bool {
        let first = self.spans.partition_point(|span| span.to < from);
        self.apart && self.spans.get(first).is_some_and(|span| span.from <= to)
    }

    /// Whether what was sent then met one of them. Beside the receiver a gap shows behind it.
    pub(super) fn meet(&self, tx: &Tx) -> bool {
        self.lie_between(tx.at, tx.at.saturating_add(self.reach))
    }

    /// These samples, seconds after `origin` and seconds, without those that an outage lay in.
    pub(super) fn leave_out<'a>(&self, samples: &'a [(f64, f64)], origin: i64) -> Cow<'a, [(f64, f64)]> {
        if self.spans.is_empty() || !self.apart {
            return samples.into();
        }
        let nanos = |seconds: f64| origin.saturating_add((seconds * 1e9) as i64);
        let kept = samples.iter().copied();
        kept.filter(|(at, took)| !self.lie_between(nanos(at - took), nanos(at + took)))
            .collect()
    }
}

/// How long nothing must get through, nanoseconds: longer than a delayed acknowledgement, a few usual round trips, and far longer
/// than things are apart where so many take this span.
fn least(typical: f64, span: i64, count: usize) -> i64 {
    let apart = span as f64 / 1e9 / count.max(1) as f64;
    (SHORTEST.max(TRIPS * typical).max(APART * apart) * 1e9) as i64
}

/// Times without an acknowledgement of anything new, beside the sender.
fn between_acknowledgements(half: &Half, typical: f64) -> Vec<Span> {
    let (sent, acks) = (half.tx.entries(), half.acks.entries());
    let Some((from, until)) = half.data_span else {
        return Vec::new();
    };
    let least = least(typical, until.saturating_sub(from), acks.len()).saturating_add(half.acks.silence());
    let segments: f64 = sent.iter().map(|tx| f64::from(tx.packets)).sum();
    // Those lost in a row are one.
    let row = |pair: &&[Tx]| pair[0].lost == 0 && pair[1].lost > 0;
    let lost = sent.windows(2).filter(row).count() as f64;
    let mut out = Vec::new();
    let (mut end, mut una, mut delivered) = (half.first, half.first, 0);
    // Since when nothing new is acknowledged, with what is under way then at least; `None` with nothing or a closed window.
    let mut since: Option<i64> = None;
    // What had been sent by then, and whether anything told since of a hole.
    let (mut sent_by_then, mut hole) = (half.first, false);
    let mut place = 0;
    for ack in acks.iter().filter(|ack| !ack.syn) {
        let first = place;
        while let Some(tx) = sent.get(place).filter(|tx| tx.at <= ack.at) {
            if end <= una && ack.window > 0 {
                (since, hole) = (Some(tx.at), false);
            }
            end = end.max(tx.end());
            if since == Some(tx.at) {
                sent_by_then = end;
            }
            place += 1;
        }
        let known = ack.to.saturating_sub(half.first) + u64::from(ack.sacked);
        let fresh = known > delivered;
        if let Some(from) = since.filter(|from| fresh && ack.at.saturating_sub(*from) >= least) {
            let meanwhile = &sent[first..place];
            let segment = u64::from(half.segment_limit.max(1));
            let several = end.saturating_sub(una) >= 2 * segment;
            // All had arrived, and what told of it came late.
            let arrived = !hole && ack.to >= sent_by_then && sent_by_then >= una + WHOLE * segment;
            let machine = meanwhile.iter().any(|tx| tx.flags.has(TxFlags::HELD));
            let held = if arrived {
                Some(true)
            } else {
                kept(&sent[..place], meanwhile, una, (lost, segments))
            };
            if several
                && !machine
                && let Some(held) = held
            {
                out.push(Span {
                    from,
                    to: ack.at,
                    held,
                });
            }
        }
        hole |= ack.duplicate || ack.sacked > 0;
        delivered = delivered.max(known);
        una = una.max(ack.to);
        if ack.window == 0 || end <= una {
            since = None;
        } else if fresh || since.is_none() {
            (since, sent_by_then, hole) = (Some(ack.at), end, ack.sacked > 0);
        }
    }
    out
}

/// Whether the path held back what was under way (or lost it) while these were sent; `None` where a retransmission timer explains that
/// nothing was acknowledged. `sent` is all until then, of so many segments in all, with losses so often; `una` is
/// the oldest byte that was not acknowledged.
fn kept(sent: &[Tx], meanwhile: &[Tx], una: u64, (lost, segments): (f64, f64)) -> Option<bool> {
    let again = || {
        meanwhile
            .iter()
            .filter(|tx| tx.flags.has(TxFlags::RETRANSMISSION))
    };
    // A queue that overflows meanwhile loses what comes last: the oldest tells.
    let first = |tx: &&Tx| !tx.flags.has(TxFlags::RETRANSMISSION) && tx.seq <= una;
    let oldest = sent.iter().rfind(first).filter(|tx| tx.end() > una);
    if again().next().is_none() || oldest.is_some_and(|tx| tx.lost == 0) {
        return Some(true);
    }
    // What was sent again was lost again, with all that was sent before it: more than chance takes in a row.
    let last = again().rfind(|tx| tx.lost > 0)?.number;
    let in_a_row = sent
        .iter()
        .rev()
        .skip_while(|tx| tx.number > last)
        .filter(|tx| !tx.flags.has(TxFlags::SPURIOUS))
        .take_while(|tx| tx.lost > 0 && tx.lost >= tx.len)
        .count() as f64;
    let others = (lost + 1.0) / (segments - in_a_row).max(2.0);
    let chance = others.min(1.0).powf(in_a_row) * segments;
    (in_a_row >= IN_A_ROW && chance <= HARDLY).then_some(false)
}

/// Times in which nothing new arrived, beside the receiver.
fn between_arrivals(half: &Half, (typical, shortest): (f64, f64), one_way: Option<&OneWay>) -> Vec<Span> {
    let Some((from, until)) = half.data_span else {
        return Vec::new();
    };
    let arrived: Vec<(&Tx, Option<f64>)> = with_delays(half, one_way).collect();
    let least = least(typical, until.saturating_sub(from), arrived.len());
    let timers = ((TIMER + typical) * TWICE * 1e9) as i64;
    let [near, trip] = [typical, shortest].map(|seconds| (seconds.clamp(0.0, LONGEST) * 1e9) as i64);
    let mut out = Vec::new();
    let mut reached = half.first;
    let mut last: Option<(i64, f64)> = None;
    // When the last came that had arrived before, and how many did far from the one before.
    let mut repeated: Option<(i64, u32)> = None;
    for (place, (tx, delay)) in arrived.iter().enumerate() {
        let new = tx.end() > reached || tx.flags.has(TxFlags::FILLS);
        if !new {
            let (again, times) = repeated.unwrap_or((last.map_or(tx.at, |(at, _)| at), 0));
            repeated = Some((tx.at, times + u32::from(tx.at.saturating_sub(again) > near)));
            continue;
        }
        let (in_order, hole) = (tx.seq == reached, tx.flags.has(TxFlags::FILLS));
        reached = reached.max(tx.end());
        let before = last.replace((tx.at, delay.unwrap_or(0.0)));
        let repeated = repeated.take();
        let Some((at, queued)) = before.filter(|(at, _)| tx.at.saturating_sub(*at) >= least) else {
            continue;
        };
        if tx.flags.has(TxFlags::HELD) {
            continue;
        }
        let under_way = delay.map_or(0, |delay| (delay * 1e9) as i64);
        let grew = delay.is_some_and(|delay| delay - queued >= 0.5 * least as f64 / 1e9);
        // The sender did not hear of what had arrived, and sent it again when its timer ran out.
        let unheard = || {
            repeated.is_some_and(|(again, times)| {
                times > 1 || times == 1 && tx.at.saturating_sub(again) <= 2 * near
            })
        };
        let lost = || {
            in_order
                && !hole
                && tx.at.saturating_sub(at) >= timers
                && follows_timer(half, &arrived, place, [trip, near])
        };
        let span = if grew && under_way >= least {
            Some((at.max(tx.at.saturating_sub(under_way)), true))
        } else if unheard() {
            Some((at, true))
        } else {
            lost().then_some((at, false))
        };
        out.extend(span.map(|(from, held)| Span {
            from,
            to: tx.at,
            held,
        }));
    }
    out
}

/// What was seen to arrive, with its delay on the way where that is known.
fn with_delays<'a>(
    half: &'a Half,
    one_way: Option<&'a OneWay>,
) -> impl Iterator<Item = (&'a Tx, Option<f64>)> {
    let mut delays = one_way.map_or(&[][..], |one_way| &one_way.delays).iter();
    let seen = half.tx.entries().iter().filter(|tx| tx.seen());
    seen.map(move |tx| {
        let stamped = tx.flags.has(TxFlags::STAMPED);
        let delay = stamped.then(|| delays.next()).flatten().map(|(_, delay)| *delay);
        (tx, delay)
    })
}

/// A full segment came alone, and about a round trip later a few: a retransmission timer ran out, and the congestion window had
/// become a segment. A program that goes on after a pause sends all that its window lets. Round trips are the least and the usual one.
fn follows_timer(half: &Half, arrived: &[(&Tx, Option<f64>)], place: usize, [trip, usual]: [i64; 2]) -> bool {
    let segment = half.segment_limit.max(1);
    let at = arrived[place].0.at;
    let (first, second) = (at.saturating_add(trip * 3 / 5), at.saturating_add(usual * 5 / 2));
    let within = |from: i64, to: i64| {
        let rest = arrived[place..].iter().map(|(tx, _)| tx);
        let rest = rest.skip_while(move |tx| tx.at < from);
        rest.take_while(move |tx| tx.at < to)
    };
    let segments = |from: i64, to: i64| -> u32 { within(from, to).map(|tx| tx.len.div_ceil(segment)).sum() };
    let before = arrived[..place].iter().rev().map(|(tx, _)| tx);
    let filled: u32 = before
        .take_while(|tx| arrived[place - 1].0.at.saturating_sub(tx.at) <= trip)
        .map(|tx| tx.len.div_ceil(segment))
        .sum();
    let next = within(first, second).next().map(|tx| tx.at);
    let alone = segments(at, first) == 1 && arrived[place].0.len >= segment;
    alone
        && filled >= FILLED
        && next.is_some_and(|next| (1..=FEW).contains(&segments(next, next.saturating_add(trip * 3 / 5))))
}

/// The least time in which nothing gets through, seconds: a delayed acknowledgement of a single segment takes up to half of a second
/// (RFC 1122), one of several comes at once.
const SHORTEST: f64 = 0.3;
/// Usual round trips that it is longer than.
const TRIPS: f64 = 3.0;
/// How much longer than the usual distance between two that get through.
const APART: f64 = 10.0;
/// Segments under way from which one retransmission does not make good all of them.
const WHOLE: u64 = 4;
/// Segments lost in a row that may be more than chance.
const IN_A_ROW: f64 = 3.0;
/// Chance of so many in a row anywhere in the transfer, below which it is none.
const HARDLY: f64 = 0.01;
/// The longest round trip by which anything is told, seconds.
const LONGEST: f64 = 3_600.0;
/// The least retransmission timeout beyond a round trip, seconds (Linux).
const TIMER: f64 = 0.2;
/// Times as long that shows a timer which ran out twice: its second time is twice as long.
const TWICE: f64 = 2.0;
/// Segments in the round trip before that are more than a program sends now and then.
const FILLED: u32 = 4;
/// Segments of the round trip behind a window of one, at most.
const FEW: u32 = 3;

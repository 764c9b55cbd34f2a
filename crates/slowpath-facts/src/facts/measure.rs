//! Making facts of one flow from its logs.

use std::borrow::Cow;

use super::chronographs;
use super::distribution::{Distribution, quantile};
use super::flow::{EcnFacts, FlightFacts, FlowFacts, LossFacts, Round};
use super::one_way;
use super::outages::Outages;
use super::queue::{self, Item, QueueFit};
use super::tap::{self, Split};
use super::timeline::Timeline;
use super::walk::{self, Walked};
use crate::ends::{EcnMode, Side, Tap};
use crate::track::log::{Tx, TxFlags};
use crate::track::{Conn, Half};

/// Losses from which a second fit is tried.
const FITTED: u64 = 10;
/// Packets by whose delays a rate is refined.
const REFINED_BY: usize = 50_000;
/// How finely, as a share of it, and how many steps to either side.
const REFINED_STEP: f64 = 0.001;
const REFINED_STEPS: i32 = 5;
/// Packets by which a queue may differ from what a delay says.
const SLACK: i64 = 3;
/// Share of that below which it hardly stands.
const CALM: f64 = 0.2;
/// Error of the first fit up to which it explains the losses.
const EXPLAINED: f64 = 0.2;
/// Share of the delay's variance that a queue must explain for its rate to be the link's.
const BY_DELAY: f64 = 0.7;
/// Ethernet header and frame check sequence.
const FRAME: u32 = 18;

/// A flow's facts with what the graphs need of the walk.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) facts: FlowFacts,
    /// Its usual round trip, seconds.
    typical: f64,
    pub(crate) flight: Vec<(f64, u64)>,
    /// Transmissions for a fit together with other flows of the same hosts.
    pub(crate) items: Vec<Item>,
    /// Round-trip samples for the graph: seconds after the capture's start, seconds.
    pub(crate) rtts: Vec<(f64, f64)>,
}

/// Measures the data that `from` sent. `origin` is the time of the capture's first packet.
pub(crate) fn measure(conn: &Conn, from: Side, origin: i64, keep_graphs: bool) -> Measured {
    let half = conn.half(from);
    let handshake = handshake_parts(conn, from);
    let split = tap::split(half, handshake);
    let rtts = round_trips(half, &split, origin);
    let mut values: Vec<f64> = rtts.iter().map(|(_, rtt)| *rtt).collect();
    let mut rtt = Distribution::of(&mut values);
    let handshake_rtt = handshake[0].unwrap_or(0.0) + handshake[1].unwrap_or(0.0);
    let typical = if rtt.count > 0 { rtt.median } else { handshake_rtt };
    // Beside the receiver the sender's own clock tells the delay of each segment.
    let one_way = (split.tap == Tap::Receiver)
        .then(|| one_way::delays(half))
        .flatten();
    let mut outages = Outages::of(half, &split, (typical, rtt.min), one_way.as_ref());
    // What waited for an outage to end says nothing of a queue.
    let mut told = outages.leave_out(&rtts, origin);
    if told.len() < rtts.len() {
        values = told.iter().map(|(_, rtt)| *rtt).collect();
        let rest = Distribution::of(&mut values);
        if rest.p95 <= VARIES * rest.median {
            rtt = rest;
        } else {
            // The path's rate varies, and this is how.
            outages.are_usual();
            told = Cow::Borrowed(&rtts);
        }
    }
    let (shift, scale_known) = window_shift(conn, from);
    let least = least_round_trip(rtt.min, handshake_rtt, &split);
    let walked = walk::walk(
        half,
        (&split, outages.spans()),
        (typical, least),
        shift,
        origin,
        keep_graphs,
    );
    let items = items(half, rtt.min, &split, &outages);
    let active_s = walked.time.total_s;
    let mut facts = FlowFacts {
        from,
        bytes: half.delivered(),
        segments: half.tx.entries().iter().map(|tx| u64::from(tx.packets)).sum(),
        segment_size: half.segment_limit,
        largest_packet: half.counters.max_segment as u32,
        active_s,
        tap: split.tap,
        to_receiver_s: split.to_receiver,
        to_sender_s: split.to_sender,
        rtt,
        handshake_rtt_s: handshake_rtt,
        acknowledged: half.acked,
        handshake_seen: conn.handshake_seen,
        too_big: conn.too_big.clone(),
        ecn: marks(conn, half, &walked.rounds),
        capture_missed_bytes: half.missed,
        capture_loss_fraction: if half.delivered() > 0 {
            half.missed as f64 / half.delivered() as f64
        } else {
            0.0
        },
        ..FlowFacts::default()
    };
    facts.loss = losses(half, &split, typical, &walked);
    (facts.loss.delay_rank, facts.loss.ranked_episodes) = delay_before_losses(&items, typical);
    facts.flight = flight(&walked, u64::from(half.segment_limit.max(1)));
    facts.rate = rates(&walked.rounds);
    facts.time = walked.time;
    facts.window = walked.window;
    facts.window.scale_known = scale_known;
    facts.clocking = walked.clocking;
    let peer = &conn.half(from.other()).counters;
    facts.clocking.answers = peer.data_packets;
    facts.clocking.answer_bytes_share = peer.unique_bytes as f64 / facts.bytes.max(1) as f64;
    (facts.arrival_peak_bit_per_s, facts.arrival_busy) =
        arrival(&items, facts.time.total_s - facts.time.idle_s);
    facts.arrival_local_bit_per_s = local_rate(&items);
    facts.rounds = walked.rounds;
    // Of a sender that neither a window nor a fixed amount in flight held there is nothing to count.
    let held = facts.time.window_full_s > SOME_TIME * active_s || facts.flight.plateau_share > SOME_ROUNDS;
    facts.with_bbr = (split.tap == Tap::Sender && held)
        .then(|| chronographs::with_bbr(half, shift, handshake_rtt))
        .flatten();
    let by_clock: Option<Vec<(f64, f64)>> = one_way.as_ref().map(|one_way| {
        let seconds = |at: i64| (at - origin) as f64 / 1e9;
        let samples = one_way.delays.iter();
        let samples: Vec<(f64, f64)> = samples.map(|(at, delay)| (seconds(*at), least + delay)).collect();
        outages.leave_out(&samples, origin).into_owned()
    });
    facts.timeline = walked.drawn.complete(
        half,
        &by_clock.map_or_else(|| in_bursts(half, &split, origin, &told), Cow::Owned),
        typical.max(0.001),
        split.tap,
        (origin, conn.span.0),
        one_way.as_ref(),
    );
    if split.tap == Tap::Sender {
        facts.acks_wait_s = one_way::of_acknowledgements(half).map_or(0.0, |one_way| one_way.at(0.95));
    }
    if let Some(one_way) = &one_way {
        let arrives = facts.arrival_peak_bit_per_s / 8.0;
        let rates = facts.timeline.train_rate.into_iter().chain([arrives]);
        facts.own_load_explains = one_way.explained_by_own_load(half, rates);
    }
    Measured {
        facts,
        typical,
        flight: walked.flight,
        items,
        rtts,
    }
}

/// How much longer than the median the 95th percentile of the round trips is where the path's rate varies: 1.0 to 1.9 in transfers over
/// a constant link with an outage, 1.7 to 10 over recorded links of mobile networks.
const VARIES: f64 = 2.0;
/// Share of the time with a full window from which the kernel's count of it matters.
const SOME_TIME: f64 = 0.02;
/// Share of the round trips with one amount in flight from which a buffer may hold it.
const SOME_ROUNDS: f64 = 0.1;

/// What queues and buckets explain of a flow's losses.
#[derive(Debug)]
pub(crate) struct Queues {
    own: Option<QueueFit>,
    behind: Option<QueueFit>,
    /// The backlog at each loss, as a share of the queue's size, with the time of the item.
    backlogs: Vec<(i64, f64)>,
}

impl Measured {
    /// Fits queues to its losses and delays: two fifths of what a long flow costs, so a step of its own.
    pub(crate) fn queues(&self) -> Queues {
        let mut out = Queues {
            own: queue::fit(&self.items, self.typical),
            behind: None,
            backlogs: Vec::new(),
        };
        let Some(own) = out.own.filter(|fit| fit.losses > 0) else {
            return out;
        };
        out.backlogs = queue::at_losses(&self.items, &own);
        if let Some((fit, backlogs)) = behind_link(&self.items, &self.facts, own, self.typical) {
            out.behind = Some(fit);
            if fit.error < own.error {
                out.backlogs = backlogs;
            }
        }
        out
    }

    /// Takes what [`queues`](Self::queues) found to its facts. `origin` is the time of the capture's first packet.
    pub(crate) fn note(&mut self, queues: &Queues, origin: i64) {
        self.facts.queue = queues.own;
        self.facts.queue_behind = queues.behind;
        self.facts.timeline.note_backlogs(&queues.backlogs, origin);
    }
}

/// The fit to what left the link that spreads trains, or whose queue explains the delays: each packet leaves when the one
/// before has left and it has been sent.
fn behind_link(
    items: &[Item],
    facts: &FlowFacts,
    fit: QueueFit,
    typical: f64,
) -> Option<(QueueFit, Vec<(i64, f64)>)> {
    if facts.tap != Tap::Sender || fit.losses < FITTED || fit.error <= EXPLAINED {
        return None;
    }
    let frames: f64 = items
        .iter()
        .map(|item| f64::from(item.passed) + f64::from(item.lost))
        .sum();
    let payload = facts.bytes as f64 + facts.loss.lost_bytes as f64;
    let by_trains = facts
        .timeline
        .train_rate
        .map(|rate| rate * frames / payload.max(1.0));
    let by_delay = (fit.delay.explained >= BY_DELAY).then_some(fit.delay.rate_bit_per_s / 8.0);
    let told = by_trains.into_iter().chain(by_delay).filter(|rate| *rate > 1.0);
    // On a full link nothing behind it shows.
    let rate = refined(items, told).filter(|rate| fit.mean_bit_per_s <= 8.0 * rate)?;
    let all = fit_behind(items.iter(), rate, typical);
    if all.as_ref().is_some_and(|(fit, _)| fit.error <= EXPLAINED) {
        return all;
    }
    // What is lost with the link's queue at its longest never left the link.
    let queued = Timeline::FULL * facts.timeline.reached_s();
    let beside = delays_beside(items);
    let of = |keep: &dyn Fn(&Item, f64) -> bool| -> Vec<Item> {
        let kept = items.iter().zip(&beside);
        kept.filter(|(item, beside)| keep(item, f64::from(**beside)))
            .map(|(item, _)| *item)
            .collect()
    };
    let left = of(&|item, beside| item.lost == 0 || item.passed > 0 || beside < queued);
    let left = fit_behind(left.iter(), rate, typical);
    if left.as_ref().is_some_and(|(fit, _)| fit.error <= EXPLAINED) {
        return left;
    }
    // Both may drop while that queue stands: what came without it tells them apart.
    let calm = of(&|_, beside| beside < CALM * queued);
    let calm = fit_behind(calm.iter(), rate, typical).filter(|(fit, _)| fit.losses >= FITTED);
    let error =
        |fit: &Option<(QueueFit, Vec<(i64, f64)>)>| fit.as_ref().map_or(f64::INFINITY, |(fit, _)| fit.error);
    if error(&calm) < error(&left) { calm } else { left }
}

/// The rate near one of these, frame bytes per second, whose queue comes closest to the delays: over a queue that stands for
/// seconds a few thousandths more or less add up to what a bucket holds.
fn refined(items: &[Item], rates: impl Iterator<Item = f64>) -> Option<f64> {
    let items = &items[..items.len().min(REFINED_BY)];
    let misses = |rate: f64| {
        let (mut free, mut sum) = (i64::MIN, 0.0);
        for item in items {
            let begins = free.max(item.at);
            free = begins.saturating_add(item.takes(rate));
            if item.delay.is_finite() && item.passed > 0 {
                let queue = begins.saturating_sub(item.at) as f64 / 1e9;
                sum += (f64::from(item.delay) - queue).abs();
            }
        }
        sum
    };
    let near = |rate: f64| {
        let steps = -REFINED_STEPS..=REFINED_STEPS;
        steps.map(move |step| rate * (1.0 + REFINED_STEP * f64::from(step)))
    };
    let tried = rates.flat_map(near).map(|rate| (misses(rate), rate));
    tried.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, rate)| rate)
}

/// The fit to these items as a link of this rate, frame bytes per second, lets them go; and the backlog at each loss, with
/// the time at which it was sent.
fn fit_behind<'a>(
    items: impl Iterator<Item = &'a Item> + Clone,
    rate: f64,
    typical: f64,
) -> Option<(QueueFit, Vec<(i64, f64)>)> {
    let (left, sent) = through_link(items, rate);
    let fit = queue::fit(&left, typical)?;
    let backlogs = sent
        .into_iter()
        .zip(queue::at_losses(&left, &fit))
        .map(|(at, (_, share))| (at, share));
    Some((fit, backlogs.collect()))
}

/// Items as a link of this rate, frame bytes per second, lets them go, and when those of them with losses were sent. What
/// was lost while its queue was longer than any delay that a packet passed with never left it; and where delays
/// contradict the queue by more than a few packets, they are right.
fn through_link<'a>(items: impl Iterator<Item = &'a Item> + Clone, rate: f64) -> (Vec<Item>, Vec<i64>) {
    let nanos = |seconds: f32| (f64::from(seconds) * 1e9) as i64;
    let delays = items
        .clone()
        .filter(|item| item.passed > 0 && item.delay.is_finite());
    let longest = delays.map(|item| nanos(item.delay)).max().unwrap_or(i64::MAX);
    let slack = SLACK * items.clone().map(|item| item.takes(rate)).max().unwrap_or(0);
    let (mut free, mut out) = (i64::MIN, i64::MIN);
    let (mut left, mut sent) = (Vec::new(), Vec::new());
    for item in items {
        let mut begins = free.max(item.at);
        if item.passed == 0 && begins - item.at > longest.saturating_add(item.takes(rate) / 2) {
            continue;
        }
        if item.passed > 0 && item.delay.is_finite() {
            let told = item.at + nanos(item.delay);
            if (begins - told).abs() > slack {
                begins = told.max(item.at);
            }
        }
        free = begins.saturating_add(item.takes(rate));
        out = out.max(free);
        if item.lost > 0 {
            sent.push(item.at);
        }
        left.push(Item {
            at: out,
            delay: item.delay - begins.saturating_sub(item.at) as f32 / 1e9,
            ..*item
        });
    }
    (left, sent)
}

/// The delays beside each item, seconds: the longer one of the last before it and the first after it; 0 for none.
fn delays_beside(items: &[Item]) -> Vec<f32> {
    let mut out = vec![0.0_f32; items.len()];
    let mut last = 0.0_f32;
    for (beside, item) in out.iter_mut().zip(items) {
        if item.delay.is_finite() {
            last = item.delay;
        }
        *beside = last;
    }
    last = 0.0;
    for (beside, item) in out.iter_mut().zip(items).rev() {
        if item.delay.is_finite() {
            last = item.delay;
        }
        *beside = beside.max(last);
    }
    out
}

/// The least round trip, seconds: of data or the handshake, and no less than the shortest ways on both sides of the tap
/// where the handshake took both; 0 if nothing tells.
fn least_round_trip(data: f64, handshake: f64, split: &Split) -> f64 {
    let least = [data, handshake]
        .into_iter()
        .filter(|rtt| *rtt > 0.0)
        .fold(f64::INFINITY, f64::min);
    let least = if least.is_finite() { least } else { 0.0 };
    let ways = split.to_receiver + split.to_sender;
    if handshake >= ways { least.max(ways) } else { least }
}

/// How the round trip of the data that `from` sent splits at the tap.
pub(crate) fn split_of(conn: &Conn, from: Side) -> Split {
    tap::split(conn.half(from), handshake_parts(conn, from))
}

/// The handshake's round-trip parts: from the tap to the receiver of the data and back, and to its sender.
fn handshake_parts(conn: &Conn, from: Side) -> [Option<f64>; 2] {
    let (there, back) = conn.handshake_ns;
    let seconds = |span: Option<i64>| span.map(|ns| ns as f64 / 1e9);
    match from {
        Side::Client => [seconds(there), seconds(back)],
        Side::Server => [seconds(back), seconds(there)],
    }
}

/// The scale of the windows that the peer of `from` advertises, and how it is known: 2 by the handshake or from the kernel, 1 inferred, 0 not.
pub(crate) fn window_shift(conn: &Conn, from: Side) -> (u8, u8) {
    let (own, peer) = (conn.half(from), conn.half(from.other()));
    if let Some(scale) = peer.told_scale {
        return (scale.min(14), 2);
    }
    match (own.syn, peer.syn) {
        (Some(a), Some(b)) => match (a.window_scale, b.window_scale) {
            (Some(_), Some(scale)) => (scale.min(14), 2),
            (None, _) if a.options_cut => infer_shift(own),
            (_, None) if b.options_cut => infer_shift(own),
            _ => (0, 2),
        },
        (_, Some(b)) if !b.options_cut && b.window_scale.is_none() => (0, 2),
        _ => infer_shift(own),
    }
}

/// The smallest shift with which the flight never exceeds the window by more than a segment.
fn infer_shift(half: &Half) -> (u8, u8) {
    let mut acks = half.acks.entries().iter().peekable();
    let mut current = None;
    let (mut needed, mut end, mut seen) = (0_u8, half.first, false);
    for tx in half.tx.entries() {
        while let Some(ack) = acks.next_if(|ack| ack.at <= tx.at) {
            current = Some(ack);
        }
        end = end.max(tx.end());
        let Some(ack) = current.filter(|ack| ack.window > 0) else {
            continue;
        };
        let flight = end
            .saturating_sub(ack.to)
            .saturating_sub(u64::from(half.segment_limit));
        seen = true;
        while needed < 14 && flight > u64::from(ack.window) << needed {
            needed += 1;
        }
    }
    (needed, u8::from(seen))
}

/// Round trips over time, from whichever part of the path the tap sees changing.
fn round_trips(half: &Half, split: &Split, origin: i64) -> Vec<(f64, f64)> {
    let mut out = Vec::new();
    let mut release = split.to_sender;
    let mut releases = tap::smooth_releases(half).into_iter().peekable();
    for (index, tx) in half.tx.entries().iter().enumerate() {
        let at = (tx.at - origin) as f64 / 1e9;
        if let Some((_, span)) = releases.next_if(|&(place, _)| place <= index) {
            release = span;
            if split.tap == Tap::Receiver {
                out.push((at, release + split.to_receiver));
            }
        }
        if tx.rtt.is_finite() && split.tap != Tap::Receiver {
            let before = if split.tap == Tap::Middle {
                release
            } else {
                split.to_sender
            };
            out.push((at, f64::from(tx.rtt) + before));
        }
    }
    out
}

/// Round trips as the receiver sees them, with those of a burst: an acknowledgement lets go several segments, of which only
/// the first tells its round trip. What comes behind it without a silence was sent with it and waited for it.
fn in_bursts<'a>(half: &Half, split: &Split, origin: i64, rtts: &'a [(f64, f64)]) -> Cow<'a, [(f64, f64)]> {
    if split.tap != Tap::Receiver || rtts.is_empty() {
        return rtts.into();
    }
    let mut out = Vec::with_capacity(half.tx.entries().len());
    let mut samples = rtts.iter().copied().peekable();
    let (mut first, mut last): (Option<(f64, f64)>, f64) = (None, f64::NEG_INFINITY);
    for tx in half.tx.entries().iter().filter(|tx| tx.seen()) {
        let at = (tx.at - origin) as f64 / 1e9;
        let mut told = None;
        while let Some(sample) = samples.next_if(|sample| sample.0 <= at) {
            told = Some(sample);
        }
        if told.is_some() {
            first = told;
        } else if first.is_some_and(|(_, rtt)| at - last > SILENCE * rtt) {
            first = None;
        }
        if let Some((began, rtt)) = first {
            out.push((at, rtt + at - began));
        }
        last = at;
    }
    out.into()
}

/// Share of a round trip without data that ends a burst.
const SILENCE: f64 = 0.25;

fn items(half: &Half, rtt_min: f64, split: &Split, outages: &Outages) -> Vec<Item> {
    let mut out = Vec::with_capacity(half.tx.entries().len());
    let queue_before_tap = match split.tap {
        Tap::Receiver => true,
        Tap::Middle => tap::varies_before(half),
        Tap::Sender | Tap::Unknown => false,
    };
    for tx in half.tx.entries() {
        let missed = tx.flags.has(TxFlags::MISSED);
        if tx.flags.has(TxFlags::GAP) && split.tap == Tap::Sender && !missed {
            // At the sender a gap that was not acknowledged is a loss before the path.
            continue;
        }
        let wire = tx.wire.saturating_add(FRAME * u32::from(tx.packets));
        let lost = if tx.len == 0 {
            0
        } else {
            (u64::from(wire) * u64::from(tx.lost.min(tx.len)) / u64::from(tx.len)) as u32
        };
        // What the capture missed did pass.
        let passed = if tx.seen() || missed { wire - lost } else { 0 };
        // A loss in an outage, or in a crowd that the machine of the capture made, speaks of no queue, bucket or chance.
        let met = outages.meet(tx);
        let lost = if met || tx.flags.has(TxFlags::CROWDED) {
            0
        } else {
            lost
        };
        let delay = if met {
            f32::NAN
        } else if !queue_before_tap {
            tx.rtt - (rtt_min - split.to_sender) as f32
        } else if tx.release.is_finite() {
            (f64::from(tx.release) + split.to_receiver - rtt_min) as f32
        } else {
            f32::NAN
        };
        if passed > 0 || lost > 0 {
            // A gap shows with the packet behind it; what it stands for was dropped after the packet before it.
            let before = out.last().map_or(tx.at, |item: &Item| item.at);
            out.push(Item {
                at: if tx.seen() { tx.at } else { before },
                gap: !tx.seen(),
                passed,
                lost,
                delay,
            });
        }
    }
    out
}

/// The highest rate at which data passed the tap over several packets, and the share of the time that the data would
/// take at this rate. Bits of Ethernet frames with FCS per second.
fn arrival(items: &[Item], active_s: f64) -> (f64, f64) {
    const TRAIN: usize = 16;
    let mut passed: Vec<(i64, u32)> = items
        .iter()
        .filter(|item| item.passed > 0)
        .map(|item| (item.at, item.passed))
        .collect();
    passed.dedup_by(|next, last| {
        // Packets with one time are one train.
        let same = next.0 == last.0;
        if same {
            last.1 = last.1.saturating_add(next.1);
        }
        same
    });
    let mut rates: Vec<f64> = passed
        .windows(TRAIN)
        .map(|train| {
            let bytes: f64 = train[1..].iter().map(|(_, bytes)| f64::from(*bytes)).sum();
            bytes * 8e9 / (train[TRAIN - 1].0 - train[0].0) as f64
        })
        .collect();
    rates.sort_unstable_by(f64::total_cmp);
    let peak = quantile(&rates, 0.95);
    let total: f64 = passed.iter().map(|(_, bytes)| f64::from(*bytes) * 8.0).sum();
    if peak > 0.0 && active_s > 0.0 {
        (peak, total / peak / active_s)
    } else {
        (0.0, 0.0)
    }
}

/// The median rank of the delay just before an episode of losses among all delays, and the number of episodes.
fn delay_before_losses(items: &[Item], rtt: f64) -> (f64, u64) {
    let mut delays: Vec<f64> = items
        .iter()
        .filter(|item| item.delay.is_finite())
        .map(|item| f64::from(item.delay))
        .collect();
    if delays.len() < 20 {
        return (0.0, 0);
    }
    delays.sort_unstable_by(f64::total_cmp);
    let apart = (rtt.max(0.001) * 1e9) as i64;
    let mut ranks = Vec::new();
    let (mut before, mut last): (Option<(i64, f64)>, Option<i64>) = (None, None);
    for item in items {
        if item.lost > 0 {
            if last.is_none_or(|last| item.at - last > apart)
                && let Some((_, delay)) = before.filter(|&(at, _)| item.at - at <= apart)
            {
                ranks.push(delays.partition_point(|other| *other <= delay) as f64 / delays.len() as f64);
            }
            last = Some(item.at);
        }
        if item.delay.is_finite() {
            before = Some((item.at, f64::from(item.delay)));
        }
    }
    ranks.sort_unstable_by(f64::total_cmp);
    if ranks.is_empty() {
        (0.0, 0)
    } else {
        (quantile(&ranks, 0.5), ranks.len() as u64)
    }
}

/// The rate at which the median byte passed the tap: its train (what comes within a tenth of a millisecond) over the
/// time since the train before. Behind a link that is always busy this is the link's rate, whatever joins packets
/// to trains.
fn local_rate(items: &[Item]) -> f64 {
    const TRAIN_NS: i64 = 100_000;
    let mut rates: Vec<(f64, f64)> = Vec::new();
    let (mut last, mut train): (Option<i64>, Option<(i64, f64)>) = (None, None);
    for item in items.iter().filter(|item| item.passed > 0) {
        match &mut train {
            Some((from, bytes)) if item.at - *from <= TRAIN_NS => *bytes += f64::from(item.passed),
            _ => {
                if let (Some(before), Some((from, bytes))) = (last, train) {
                    rates.push((bytes * 8e9 / (from - before) as f64, bytes));
                }
                last = train.map(|(from, _)| from);
                train = Some((item.at, f64::from(item.passed)));
            }
        }
    }
    rates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let half = rates.iter().map(|(_, bytes)| bytes).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    rates
        .iter()
        .find(|(_, bytes)| {
            sum += bytes;
            sum >= half
        })
        .map_or(0.0, |(rate, _)| *rate)
}

fn losses(half: &Half, split: &Split, rtt: f64, walked: &Walked) -> LossFacts {
    let mut out = LossFacts {
        retransmitted_segments: half.counters.retransmitted_packets,
        spurious: half.spurious(),
        told_twice: half.told_twice(),
        reordered: half.reordered(),
        max_retransmissions: half.counters.max_retransmissions,
        largest_delivered: half.largest_acked(),
        timeouts: walked.timeouts,
        rounds_with_loss: walked.rounds.iter().filter(|round| round.lost > 0).count() as u64,
        ..LossFacts::default()
    };
    let segment = half.segment_limit.max(1);
    let apart = (rtt.max(0.001) * 1e9) as i64;
    let mut last: Option<i64> = None;
    let mut segments = 0_u64;
    let mut frames = 0;
    for tx in half.tx.entries() {
        segments += u64::from(tx.packets);
        if tx.flags.has(TxFlags::RETRANSMISSION | TxFlags::FILLS) && frames < out.frames.len() {
            out.frames[frames] = tx.number;
            frames += 1;
        }
        if tx.lost == 0 {
            continue;
        }
        let lost = lost_segments(tx, segment);
        if tx.flags.has(TxFlags::GAP) && split.tap == Tap::Sender {
            out.local_segments += lost;
            continue;
        }
        if tx.flags.has(TxFlags::CROWDED) {
            out.disturbed_segments += lost;
            continue;
        }
        out.lost_segments += lost;
        out.lost_bytes += u64::from(tx.lost);
        if tx.len >= segment {
            out.lost_full_size += u64::from(tx.lost);
        }
        if last.is_none_or(|last| tx.at - last > apart) {
            out.episodes += 1;
        }
        last = Some(tx.at);
    }
    if let Some((from, to, transmissions)) = half.unacknowledged()
        && transmissions >= 3
    {
        out.stuck_bytes = to - from;
    }
    out.fraction = if segments > 0 {
        out.lost_segments as f64 / segments as f64
    } else {
        0.0
    };
    out
}

fn lost_segments(tx: &Tx, segment: u32) -> u64 {
    u64::from(tx.lost.div_ceil(segment)).min(u64::from(tx.packets.max(1)))
}

fn marks(conn: &Conn, half: &Half, rounds: &[Round]) -> EcnFacts {
    let accurate = conn.ecn == EcnMode::Accurate;
    let mut out = EcnFacts {
        mode: conn.ecn,
        ce_packets: half.marking.ce_packets,
        capable_packets: half.marking.ect_packets,
        reported: if accurate {
            half.marking.ace_total
        } else {
            half.marking.ece_acks
        },
        reported_bytes: half.marking.ce_bytes,
        window_reductions: half.marking.cwr_packets,
        rounds_with_marks: rounds.iter().filter(|round| round.marks > 0).count() as u64,
        ..EcnFacts::default()
    };
    let marked = half
        .acks
        .entries()
        .iter()
        .filter(|ack| ack.marks > 0)
        .map(|ack| ack.number);
    for (slot, number) in out.frames.iter_mut().zip(marked) {
        *slot = number;
    }
    out
}

fn flight(walked: &Walked, segment: u64) -> FlightFacts {
    let peaks: Vec<u64> = walked
        .rounds
        .iter()
        .filter(|round| round.sent > 0)
        .map(|round| round.flight)
        .collect();
    let mut sorted: Vec<f64> = peaks.iter().map(|&peak| peak as f64).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = quantile(&sorted, 0.5) as u64;
    // The most common peak: the value with the most peaks within a segment of it.
    let near = |peak: u64, centre: u64| peak.abs_diff(centre) <= segment + centre / 50;
    let (mut plateau, mut most) = (median, 0);
    let mut low = 0;
    for high in 0..sorted.len() {
        while sorted[high] - sorted[low] > 2.0 * segment as f64 + sorted[low] / 25.0 {
            low += 1;
        }
        if high - low + 1 > most {
            most = high - low + 1;
            plateau = sorted[usize::midpoint(low, high)] as u64;
        }
    }
    let (mut run, mut longest) = (0_u64, 0_u64);
    let mut inside = 0_u64;
    for &peak in &peaks {
        if near(peak, plateau) {
            inside += 1;
            run += 1;
            longest = longest.max(run);
        } else {
            run = 0;
        }
    }
    FlightFacts {
        max: walked.flight_max,
        median_peak: median,
        plateau,
        plateau_share: if peaks.is_empty() {
            0.0
        } else {
            inside as f64 / peaks.len() as f64
        },
        plateau_run: longest,
        growing_rounds: peaks.windows(2).filter(|pair| pair[1] * 2 >= pair[0] * 3).count() as u64,
        rounds: peaks.len() as u64,
    }
}

fn rates(rounds: &[Round]) -> Distribution {
    let mut values: Vec<f64> = rounds
        .iter()
        .filter(|round| round.delivered > 0)
        .map(|round| round.delivered as f64 / (round.to_s - round.from_s))
        .collect();
    Distribution::of(&mut values)
}

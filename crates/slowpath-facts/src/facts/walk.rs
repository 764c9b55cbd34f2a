//! Walking through a transfer as its sender saw it: what it waited for, moment by moment.

use crate::facts::distribution::quantile;
use crate::facts::flow::{Clocking, Round, TimeUse, WindowFacts};
use crate::track::Half;
use crate::track::log::{Ack, Tx, TxFlags};

use super::outages::Span;
use super::pauses;
use super::tap::{self, Split};
use super::timeline::{Drawn, Line, Waiting};

/// Most rounds kept of one flow; longer transfers get longer rounds.
const ROUNDS: f64 = 20_000.0;

/// Most movements of the window's right edge kept for its rhythm.
const MOVES: usize = 50_000;

/// No acknowledgement needs longer to the sender: one hour, nanoseconds.
const LONGEST_LAG: i64 = 3_600_000_000_000;

/// What the walk found.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) time: TimeUse,
    pub(crate) window: WindowFacts,
    pub(crate) clocking: Clocking,
    pub(crate) rounds: Vec<Round>,
    pub(crate) flight_max: u64,
    /// Flight at each transmission, for the graph: seconds and bytes.
    pub(crate) flight: Vec<(f64, u64)>,
    pub(crate) timeouts: u64,
    /// The transfer over time.
    pub(crate) drawn: Drawn,
}

struct Walker<'a> {
    origin: i64,
    segment: u64,
    shift: u8,
    rtt: f64,
    width: f64,
    base: i64,
    out: Walked,
    una: u64,
    sacked: u64,
    end: u64,
    edge: Option<u64>,
    window: u64,
    window_known: bool,
    largest_window: u64,
    repair_until: u64,
    now: i64,
    waiting: Waiting,
    idle_since: Option<i64>,
    last_sent: i64,
    last_ack: i64,
    burst_open: bool,
    bursts: u64,
    after_ack: u64,
    answers: u64,
    short_bursts: u64,
    slacks: Vec<f64>,
    full_windows: Vec<f64>,
    ratio_sum: f64,
    /// When the right edge moved on.
    moves: Vec<(i64, u64)>,
    eaten: u64,
    acked_total: u64,
    delivered: u64,
    last_len: u64,
    /// First and last time at which the window held the sender back: time and right edge.
    held: Option<[(i64, u64); 2]>,
    half: &'a Half,
    line: Line,
    /// When nothing got through the path, and the first of them that is not over.
    outages: &'a [Span],
    outage: usize,
}

/// Walks through the data of `half`. `origin` is the start of the capture, `shift` the window scale in force; round trips
/// are the typical and the least one, seconds.
pub(super) fn walk(
    half: &Half,
    (split, outages): (&Split, &[Span]),
    (rtt, least): (f64, f64),
    shift: u8,
    origin: i64,
    keep_flight: bool,
) -> Walked {
    let Some((from, _)) = half.data_span else {
        return Walked::default();
    };
    let sent = half.tx.entries();
    let acks = half.acks.entries();
    let until = last_moment(sent, acks);
    let span = (until - from) as f64 / 1e9;
    let width = rtt.max(0.002).max(span / ROUNDS);
    let mut walker = Walker {
        origin,
        segment: u64::from(half.segment_limit.max(1)),
        shift,
        rtt,
        width,
        base: from,
        out: Walked::default(),
        una: half.first,
        sacked: 0,
        end: half.first,
        edge: None,
        window: 0,
        window_known: false,
        largest_window: 0,
        repair_until: 0,
        now: from,
        waiting: Waiting::Nothing,
        idle_since: None,
        last_sent: from,
        last_ack: i64::MIN,
        burst_open: false,
        bursts: 0,
        after_ack: 0,
        answers: 0,
        short_bursts: 0,
        slacks: Vec::new(),
        full_windows: Vec::new(),
        ratio_sum: 0.0,
        moves: Vec::new(),
        eaten: 0,
        acked_total: 0,
        delivered: 0,
        last_len: 0,
        held: None,
        half,
        line: Line::new(half, from, until, least, origin),
        outages,
        outage: 0,
    };
    walker.line.note_outages(outages, origin);
    // Acknowledgements reach the sender later than the tap by `to_sender` and a queue on the way; the current
    // value comes from the timestamps of the data.
    let mut lag = split.to_sender;
    let smallest_lag = split.to_sender;
    let shifted = split.is_afar();
    let mut pending = acks.iter().peekable();
    let mut arrival = i64::MIN;
    let releases = if shifted {
        tap::smooth_releases(half)
    } else {
        Vec::new()
    };
    let mut releases = releases.into_iter().peekable();
    for (index, tx) in sent.iter().enumerate() {
        if let Some((_, release)) = releases.next_if(|&(place, _)| place <= index) {
            lag = release.clamp(smallest_lag, smallest_lag.max(0.001) * 50.0);
        }
        let delay = if shifted {
            ((lag * 1e9) as i64).min(LONGEST_LAG)
        } else {
            0
        };
        while let Some(ack) = pending.next_if(|ack| arrival.max(ack.at + delay) <= tx.at) {
            arrival = arrival.max(ack.at + delay);
            walker.acknowledged(ack, arrival);
        }
        if tx.seen() {
            walker.transmitted(tx, keep_flight);
        } else {
            walker.end = walker.end.max(tx.end());
        }
    }
    let delay = if shifted {
        ((smallest_lag * 1e9) as i64).min(LONGEST_LAG)
    } else {
        0
    };
    for ack in pending.filter(|ack| ack.at <= until) {
        arrival = arrival.max(ack.at + delay);
        walker.acknowledged(ack, arrival);
    }
    let mut walked = walker.finish(span);
    let pauses = pauses::pauses(half, split, rtt);
    walked.clocking.pauses = pauses.count;
    walked.clocking.pause_ack_share = pauses.share();
    walked.clocking.pause_chance_share = pauses.chance;
    walked.clocking.even_pace_share = pauses::even_pace(half, split, rtt);
    walked
}

/// The last transmission, or the acknowledgement of the last byte; what the window does after that is no transfer.
fn last_moment(sent: &[Tx], acks: &[Ack]) -> i64 {
    let sent = sent.last().map_or(i64::MIN, |tx| tx.at);
    let end = acks.last().map_or(0, |ack| ack.to);
    let acked = acks
        .get(acks.partition_point(|ack| ack.to < end))
        .map_or(i64::MIN, |ack| ack.at);
    sent.max(acked)
}

impl Walker<'_> {
    fn transmitted(&mut self, tx: &Tx, keep_flight: bool) {
        self.spend(tx.at);
        let end = tx.end();
        let retransmission = tx.flags.has(TxFlags::RETRANSMISSION);
        let silent = (tx.at - self.last_sent.max(self.last_ack)) as f64 / 1e9;
        if self.end > self.una {
            let time = &mut self.out.time;
            if self.waiting != Waiting::Closed {
                time.longest_stall_s = time.longest_stall_s.max(silent);
            }
            if retransmission && silent > (1.5 * self.rtt).max(0.19) {
                self.out.timeouts += u64::from(!tx.flags.has(TxFlags::HELD));
                let silent = !self.in_outage(tx.at);
                self.line
                    .timed_out(self.last_sent.max(self.last_ack), tx.at, silent);
            }
        }
        if self.end <= self.una
            && let Some(since) = self.idle_since.filter(|_| !self.in_outage(tx.at))
        {
            let pause = (tx.at - since) as f64 / 1e9;
            let time = &mut self.out.time;
            time.longest_idle_s = time.longest_idle_s.max(pause);
            time.idle_pauses += u64::from(pause > self.rtt.max(0.002));
        }
        self.idle_since = None;
        let near = ((self.rtt * 0.02).clamp(0.000_05, 0.002) * 1e9) as i64;
        let in_burst = self.burst_open && tx.at - self.last_sent <= near;
        if retransmission {
            self.repair_until = self.repair_until.max(self.end);
        } else {
            if !in_burst {
                self.short_bursts += u64::from(self.last_len > 0 && self.last_len < self.segment);
                self.bursts += 1;
                self.after_ack += u64::from(tx.at.saturating_sub(self.last_ack) <= near);
                self.answers += u64::from(tx.flags.has(TxFlags::ANSWERS));
            }
            self.burst_open = true;
            self.last_len = u64::from(tx.len) % self.segment.max(1);
            if self.last_len == 0 {
                self.last_len = self.segment;
            }
        }
        self.last_sent = tx.at;
        self.end = self.end.max(end);
        let flight = self.end.saturating_sub(self.una);
        self.out.flight_max = self.out.flight_max.max(flight);
        if keep_flight {
            self.out.flight.push(((tx.at - self.origin) as f64 / 1e9, flight));
        }
        let sent = u64::from(tx.len);
        let lost = u64::from(tx.lost);
        let rtt = f64::from(tx.rtt);
        let pipe = flight.saturating_sub(self.sacked);
        let answers = tx.flags.has(TxFlags::ANSWERS);
        self.line.sent(tx.at, sent, retransmission, lost, pipe, answers);
        let round = self.round(tx.at);
        round.sent += sent;
        round.lost += if tx.flags.has(TxFlags::CROWDED) { 0 } else { lost };
        round.flight = round.flight.max(flight);
        if rtt.is_finite() {
            round.rtt_s = rtt.min(round.rtt_s);
        }
        if retransmission {
            round.resent += sent;
        }
        self.waiting = self.state();
        if self.waiting == Waiting::Full && self.window_known {
            let frames = &mut self.out.window.full_frames;
            if frames[0] == 0 {
                frames[0] = tx.number;
            }
            frames[1] = tx.number;
        }
        if let Some(edge) = self.edge {
            self.slacks.push(edge as f64 - self.end as f64);
        }
    }

    fn acknowledged(&mut self, ack: &Ack, arrival: i64) {
        if arrival >= self.now {
            self.spend(arrival);
        }
        let scale = if ack.syn { 0 } else { self.shift };
        let window = u64::from(ack.window) << scale;
        let advance = ack.to.saturating_sub(self.una);
        let delivered = (ack.to - self.half.first.min(ack.to)) + u64::from(ack.sacked);
        let fresh = delivered.saturating_sub(self.delivered);
        self.line.delivered(arrival, fresh, u64::from(ack.marks), window);
        if fresh > 0 {
            self.delivered = delivered;
            self.round(arrival).delivered += fresh;
        }
        if ack.marks > 0 {
            self.round(arrival).marks += u64::from(ack.marks);
        }
        let edge = ack.to + window;
        let was = self.waiting;
        if let Some(old) = self.edge {
            let moved = edge.saturating_sub(old);
            self.acked_total += advance;
            self.eaten += advance.saturating_sub(moved);
            if advance == 0 {
                let largest = &mut self.out.window.largest_reopening;
                *largest = (*largest).max(moved);
            }
            if moved > 0 && self.moves.len() < MOVES {
                self.moves.push((arrival, moved));
            }
        }
        if !ack.syn && self.una >= self.half.first {
            self.window_known = true;
            self.largest_window = self.largest_window.max(window);
        }
        self.window = window;
        self.una = self.una.max(ack.to);
        self.sacked = u64::from(ack.sacked);
        self.edge = Some(self.edge.map_or(edge, |old| old.max(edge)));
        if advance > 0 {
            self.last_ack = arrival;
        }
        let state = self.state();
        if state == Waiting::Closed {
            let frames = &mut self.out.window.closed_frames;
            if was != Waiting::Closed {
                self.out.time.closures += 1;
                if frames[0] == 0 {
                    frames[0] = ack.number;
                }
            }
            frames[1] = ack.number;
        }
        if state == Waiting::Idle && self.idle_since.is_none() {
            self.idle_since = Some(arrival);
        }
        self.waiting = state;
        if matches!(state, Waiting::Full | Waiting::Closed) && !ack.syn {
            let here = (arrival, ack.to + window);
            self.held = Some([self.held.map_or(here, |[first, _]| first), here]);
        }
    }

    fn state(&self) -> Waiting {
        let flight = self.end.saturating_sub(self.una);
        if self.window_known
            && !self.half.acks.entries().is_empty()
            && self.window < self.segment.min(1 << 14)
        {
            let small_for_good = self.largest_window < 2 * self.segment;
            if self.window == 0 || (flight == 0 && !small_for_good) {
                return Waiting::Closed;
            }
        }
        if flight > 0 && (self.sacked > 0 || self.una < self.repair_until) {
            return Waiting::Recovery;
        }
        let slack = self.edge.map(|edge| edge.saturating_sub(self.end));
        let room = self
            .segment
            .max(u64::from(self.half.largest_acked().min(65_536)).min(self.largest_window / 4));
        if self.window_known && slack.is_some_and(|slack| slack < room) {
            return Waiting::Full;
        }
        if flight == 0 { Waiting::Idle } else { Waiting::Busy }
    }

    /// Whether nothing got through the path just before `at`.
    fn in_outage(&self, at: i64) -> bool {
        let first = self.outages.partition_point(|span| span.to < at);
        self.outages.get(first).is_some_and(|span| span.from < at)
    }

    /// Accounts the time from the last event to `at` to what the sender waited for, or to the path while that let nothing through.
    fn spend(&mut self, at: i64) {
        while let Some(span) = self.outages.get(self.outage).filter(|span| span.from < at) {
            self.spend_on(self.waiting, span.from);
            self.spend_on(Waiting::Outage, span.to.min(at));
            if span.to > at {
                return;
            }
            self.outage += 1;
        }
        self.spend_on(self.waiting, at);
    }

    /// Accounts the time from the last event to `at` to this.
    fn spend_on(&mut self, waiting: Waiting, at: i64) {
        if at <= self.now {
            return;
        }
        let ratio = if self.largest_window > 0 {
            self.window as f64 / self.largest_window as f64
        } else {
            1.0
        };
        let span = (at - self.now) as f64 / 1e9;
        if waiting == Waiting::Full {
            self.full_windows.push(self.window as f64);
        }
        if matches!(waiting, Waiting::Full | Waiting::Closed) {
            self.ratio_sum += span * ratio;
        }
        let shrunk = ratio < 0.75;
        self.line.waited(waiting, shrunk, self.now, at);
        let mut from = self.now;
        while from < at {
            let index = self.index(from).min(1 << 40);
            let boundary = self
                .base
                .saturating_add(((index + 1) as f64 * self.width * 1e9) as i64);
            // Beyond the precision of floating point a boundary may not lie ahead.
            let to = if boundary > from { at.min(boundary) } else { at };
            let span = (to - from) as f64 / 1e9;
            let round = self.round(from);
            match waiting {
                Waiting::Full => {
                    round.full_s += span;
                    if shrunk {
                        round.shrunk_s += span;
                    }
                }
                Waiting::Closed => round.closed_s += span,
                Waiting::Idle => round.idle_s += span,
                Waiting::Recovery | Waiting::Outage => round.recovery_s += span,
                Waiting::Busy | Waiting::Nothing => {}
            }
            from = to;
        }
        let time = &mut self.out.time;
        match waiting {
            Waiting::Full => {
                time.window_full_s += span;
                if shrunk {
                    time.window_shrunk_s += span;
                }
            }
            Waiting::Closed => time.window_closed_s += span,
            Waiting::Idle => time.idle_s += span,
            Waiting::Recovery => time.recovery_s += span,
            Waiting::Outage => time.outage_s += span,
            Waiting::Busy | Waiting::Nothing => time.busy_s += span,
        }
        self.now = at;
    }

    fn index(&self, at: i64) -> usize {
        (at.saturating_sub(self.base).max(0) as f64 / 1e9 / self.width) as usize
    }

    fn round(&mut self, at: i64) -> &mut Round {
        let index = self.index(at).min(2 * ROUNDS as usize);
        while self.out.rounds.len() <= index {
            let from = self.out.rounds.len() as f64 * self.width + (self.base - self.origin) as f64 / 1e9;
            self.out.rounds.push(Round {
                from_s: from,
                to_s: from + self.width,
                rtt_s: f64::NAN,
                ..Round::default()
            });
        }
        &mut self.out.rounds[index]
    }

    fn finish(mut self, span: f64) -> Walked {
        let held = self.out.time.window_full_s + self.out.time.window_closed_s;
        self.out.time.total_s = span;
        self.slacks.sort_unstable_by(f64::total_cmp);
        self.full_windows.sort_unstable_by(f64::total_cmp);
        let (acks, scale) = (self.half.acks.entries(), self.shift);
        let mut windows: Vec<f64> = acks
            .iter()
            .filter(|ack| !ack.syn)
            .map(|ack| (u64::from(ack.window) << scale) as f64)
            .collect();
        windows.sort_unstable_by(f64::total_cmp);
        let period = if held > 0.3 * span {
            rhythm(&self.moves, self.rtt)
        } else {
            0.0
        };
        let window = &mut self.out.window;
        window.shift = self.shift;
        window.min = windows.first().copied().unwrap_or(0.0) as u64;
        window.median = quantile(&windows, 0.5) as u64;
        window.max = windows.last().copied().unwrap_or(0.0) as u64;
        window.full_median = quantile(&self.full_windows, 0.5) as u64;
        window.full_ratio = if held > 0.0 { self.ratio_sum / held } else { 1.0 };
        window.eaten_fraction = if self.acked_total > 0 {
            self.eaten as f64 / self.acked_total as f64
        } else {
            0.0
        };
        window.slack_median = quantile(&self.slacks, 0.5);
        window.edge_rate = self.held.map_or(0.0, |[(from, low), (to, high)]| {
            if to > from {
                high.saturating_sub(low) as f64 * 1e9 / (to - from) as f64
            } else {
                0.0
            }
        });
        window.period_s = period;
        let sent: Vec<&Tx> = self.half.tx.entries().iter().filter(|tx| tx.seen()).collect();
        let share = |part: usize| {
            if sent.is_empty() {
                0.0
            } else {
                part as f64 / sent.len() as f64
            }
        };
        let near = (self.rtt * 0.02).clamp(0.000_05, 0.002);
        let forward_acks = acks.iter().filter(|ack| !ack.duplicate).count() as f64;
        self.out.clocking = Clocking {
            ack_share: if self.bursts > 0 {
                self.after_ack as f64 / self.bursts as f64
            } else {
                0.0
            },
            answer_share: if self.bursts > 0 {
                self.answers as f64 / self.bursts as f64
            } else {
                0.0
            },
            chance_share: if span > 0.0 {
                (forward_acks * near / span).min(1.0)
            } else {
                1.0
            },
            push_share: share(sent.iter().filter(|tx| tx.flags.has(TxFlags::PUSH)).count()),
            short_share: share(sent.iter().filter(|tx| u64::from(tx.len) < self.segment).count()),
            short_burst_share: if self.bursts > 0 {
                self.short_bursts as f64 / self.bursts as f64
            } else {
                0.0
            },
            // Those of the other direction are not known here.
            ..Clocking::default()
        };
        self.out.drawn = self.line.finish();
        self.out
    }
}

/// The period with which the right edge moves on faster and slower, if it has one; 0 otherwise.
///
/// What a round trip brings is one value, so that the rhythm of acknowledgements does not show; the period is the
/// lag with the highest autocorrelation, made exact at a multiple of it.
fn rhythm(moves: &[(i64, u64)], rtt: f64) -> f64 {
    const PER_ROUND: usize = 10;
    let (Some((first, _)), Some((last, _))) = (moves.first(), moves.last()) else {
        return 0.0;
    };
    let width = rtt.max(0.005) / PER_ROUND as f64;
    let count = (((last - first) as f64 / 1e9 / width) as usize + 1).min(40_000);
    if moves.len() < 50 || count < 20 * PER_ROUND {
        return 0.0;
    }
    let mut bins = vec![0.0; count];
    for (at, bytes) in moves {
        if let Some(bin) = bins.get_mut(((at - first) as f64 / 1e9 / width) as usize) {
            *bin += *bytes as f64;
        }
    }
    let rounds: Vec<f64> = bins.windows(PER_ROUND).map(|round| round.iter().sum()).collect();
    let mean = rounds.iter().sum::<f64>() / rounds.len() as f64;
    let variance: f64 = rounds.iter().map(|value| (value - mean).powi(2)).sum();
    let likeness = |lag: usize| {
        let pairs = rounds.iter().zip(&rounds[lag..]);
        let scale = rounds.len() as f64 / (rounds.len() - lag) as f64;
        pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() * scale / variance.max(1e-9)
    };
    let longest = (rounds.len() / 5).min(40 * PER_ROUND);
    let best = |from: usize, to: usize| {
        (from..to)
            .map(|lag| (likeness(lag), lag))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((0.0, 0))
    };
    let (strength, mut lag) = best(5 * PER_ROUND / 2, longest);
    // A multiple of the period is as like; take the smallest that is nearly as good.
    for part in (2..=6).rev() {
        let near = lag / part;
        if near >= 5 * PER_ROUND / 2 {
            let (other, shorter) = best(near.saturating_sub(3).max(1), near + 4);
            if other > 0.75 * strength {
                lag = shorter;
                break;
            }
        }
    }
    if strength < 0.2 || lag == 0 {
        return 0.0;
    }
    let mut period = lag as f64;
    for multiple in 2..=8_usize {
        let centre = (period * multiple as f64).round() as usize;
        if centre + 4 >= rounds.len() * 4 / 5 {
            break;
        }
        let (_, exact) = best(centre.saturating_sub(3), centre + 4);
        period = exact as f64 / multiple as f64;
    }
    period * width
}

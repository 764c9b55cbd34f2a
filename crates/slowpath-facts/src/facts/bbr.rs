//! BBR (version 1) of Linux, followed from what a capture beside the sender shows: what it took the path's bandwidth for, and how
//! fast it let segments go for that.
//!
//! Nothing is guessed but the phase in which its cycle begins, which Linux draws: the bandwidth is the highest rate of delivery of
//! ten rounds (`net/ipv4/tcp_rate.c`, `bbr_update_bw` in `tcp_bbr.c`), and the pace is that times the gain of the phase.

use std::collections::VecDeque;

/// Gain of the pace in the start (`bbr_high_gain`, 2 / ln 2).
const HIGH_GAIN: f64 = 2_885.0 / 1_000.0;
/// Gain of the pace while it empties the queue of the start (`bbr_drain_gain`).
const DRAIN_GAIN: f64 = 1_000.0 / 2_885.0;
/// Gains of the phases of a cycle (`bbr_pacing_gain`).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Gain of the congestion window behind the start (`bbr_cwnd_gain`).
const WINDOW_GAIN: f64 = 2.0;
/// It sends a hundredth slower than it reckons (`bbr_pacing_margin_percent`).
const MARGIN: f64 = 0.99;
/// The start is over after so many rounds (`bbr_full_bw_cnt`) without this growth (`bbr_full_bw_thresh`).
const FULL_ROUNDS: u32 = 3;
const GROWTH: f64 = 1.25;
/// Rounds of which the highest rate counts (`bbr_bw_rtts`).
const ROUNDS: u32 = 10;
/// After so long without a shorter round trip it looks for the least one (`bbr_min_rtt_win_sec`), for so long at least
/// (`bbr_probe_rtt_mode_ms`), nanoseconds.
const STALE: i64 = 10_000_000_000;
const LOOKS_FOR: i64 = 200_000_000;
/// First and smallest congestion window, segments.
const INITIAL: f64 = 10.0;
const SMALLEST: f64 = 4.0;
/// The most payload of one piece.
const LARGEST_PIECE: f64 = 65_536.0;
/// Below this pace, bytes per second, a piece is one segment (`bbr_min_tso_rate`).
const SLOW: f64 = 150_000.0;

/// What has been sent and not yet acknowledged, with what Linux keeps of it.
#[derive(Debug, Clone, Copy)]
struct Sent {
    at: i64,
    bytes: u64,
    /// Bytes delivered when it was sent, and when that was.
    delivered: u64,
    delivered_at: i64,
    /// When the piece had been sent that was acknowledged last then.
    first_at: i64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Start,
    Drain,
    Cycle(usize),
    RoundTrip { until: i64 },
}

/// The state of the control.
#[derive(Debug)]
pub(super) struct Bbr {
    segment: f64,
    mode: Mode,
    since: i64,
    pace: f64,
    /// Segments of a millisecond, and the payload of the largest piece.
    goal: f64,
    piece: u64,
    window: f64,
    least_rtt: Option<(i64, i64)>,
    /// Rounds and rates of delivery, the highest first.
    rates: VecDeque<(u32, f64)>,
    rounds: u32,
    next_round: u64,
    full: (f64, u32),
    delivered: u64,
    delivered_at: i64,
    first_at: i64,
    flying: VecDeque<Sent>,
    in_flight: u64,
    lost: bool,
}

impl Bbr {
    /// At the connection's first data. `round_trip` is the handshake's, nanoseconds.
    pub(super) fn new(segment: u64, round_trip: i64) -> Self {
        let segment = segment.max(1) as f64;
        let round_trip = round_trip.max(1_000_000) as f64 / 1e9;
        let mut out = Self {
            segment,
            mode: Mode::Start,
            since: 0,
            pace: 0.0,
            goal: 1.0,
            piece: 0,
            window: INITIAL,
            least_rtt: None,
            rates: VecDeque::new(),
            rounds: 0,
            next_round: 0,
            full: (0.0, 0),
            delivered: 0,
            delivered_at: 0,
            first_at: 0,
            flying: VecDeque::new(),
            in_flight: 0,
            lost: false,
        };
        out.set_pace(HIGH_GAIN * INITIAL * segment / round_trip);
        out
    }

    /// Bytes per second at which it lets segments go.
    pub(super) const fn pace(&self) -> f64 {
        self.pace
    }

    /// Payload of the largest piece that is sent at once: a millisecond's (`tcp_tso_autosize`), two segments at least
    /// (`bbr_min_tso_segs`).
    pub(super) const fn piece(&self) -> u64 {
        self.piece
    }

    fn set_pace(&mut self, pace: f64) {
        self.pace = pace;
        let segments = (pace / 1_024.0).min(LARGEST_PIECE) / self.segment;
        self.goal = segments.floor().max(1.0);
        let least = if pace < SLOW { 1.0 } else { 2.0 };
        self.piece = (self.goal.max(least) * self.segment) as u64;
    }

    /// Bytes sent and not known to have arrived.
    pub(super) const fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// Whether its congestion window holds it, with so many segments in flight at most of late (`tcp_is_cwnd_limited`).
    pub(super) fn is_window_limited(&self, most: f64) -> bool {
        if self.mode == Mode::Start {
            self.window < 2.0 * most
        } else {
            self.in_flight as f64 >= self.window * self.segment
        }
    }

    /// `bytes` were sent that will arrive; `again` if they had been sent before.
    pub(super) fn sent(&mut self, at: i64, bytes: u64, again: bool) {
        if self.in_flight == 0 {
            (self.first_at, self.delivered_at) = (at, at);
        }
        self.lost |= again;
        self.in_flight += bytes;
        self.flying.push_back(Sent {
            at,
            bytes,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_at: self.first_at,
        });
    }

    /// So many bytes more are known to have arrived; segments arrive in the order in which they were sent.
    pub(super) fn delivered(&mut self, at: i64, mut bytes: u64) {
        let before = self.in_flight;
        let mut newest = None;
        let mut segments = 0.0;
        while bytes > 0
            && let Some(first) = self.flying.front_mut()
        {
            let part = first.bytes.min(bytes);
            newest = Some(*first);
            segments += part as f64 / self.segment;
            (first.bytes, bytes) = (first.bytes - part, bytes - part);
            self.delivered += part;
            self.in_flight -= part;
            if first.bytes == 0 {
                self.flying.pop_front();
            }
        }
        let Some(newest) = newest else {
            return;
        };
        self.delivered_at = at;
        self.first_at = newest.at;
        let rtt = at - newest.at;
        let (least, seen_at) = match self.least_rtt {
            Some((least, seen_at)) if rtt >= least => (least, seen_at),
            _ => (rtt, at),
        };
        self.least_rtt = Some((least, seen_at));
        let began = self.rate(at, newest, least);
        let Some(&(_, rate)) = self.rates.front() else {
            return;
        };
        if began && self.full.1 < FULL_ROUNDS {
            self.full = if rate >= self.full.0 * GROWTH {
                (rate, 0)
            } else {
                (self.full.0, self.full.1 + 1)
            };
        }
        let holds = rate * least as f64 / 1e9;
        self.go_on(at, holds, before, seen_at);
        self.let_go(rate, holds, segments);
    }

    /// Takes a rate of delivery; whether a round began.
    fn rate(&mut self, at: i64, newest: Sent, least: i64) -> bool {
        let took = (newest.at - newest.first_at).max(at - newest.delivered_at);
        if took < least || took <= 0 {
            return false;
        }
        let began = newest.delivered >= self.next_round;
        if began {
            self.next_round = self.delivered;
            self.rounds += 1;
        }
        let rate = (self.delivered - newest.delivered) as f64 / (took as f64 / 1e9);
        let rounds = self.rounds;
        while self.rates.front().is_some_and(|old| old.0 + ROUNDS <= rounds) {
            self.rates.pop_front();
        }
        while self.rates.back().is_some_and(|old| old.1 <= rate) {
            self.rates.pop_back();
        }
        self.rates.push_back((rounds, rate));
        began
    }

    /// Goes on to the next phase. `holds` is what the path holds by its reckoning, `before` what was in flight, bytes.
    fn go_on(&mut self, at: i64, holds: f64, before: u64, seen_at: i64) {
        let least = self.least_rtt.map_or(0, |least| least.0);
        let is_full_length = at - self.since > least;
        let before = before as f64 / self.segment;
        if let Mode::Cycle(phase) = self.mode {
            let ends = match phase {
                0 => {
                    let wanted = self.budget(CYCLE[0] * holds, 2.0);
                    is_full_length && (self.lost || before + self.goal >= wanted)
                }
                1 => is_full_length || before <= self.budget(holds, 0.0),
                _ => is_full_length,
            };
            self.lost = false;
            if ends {
                (self.mode, self.since) = (Mode::Cycle((phase + 1) % CYCLE.len()), at);
            }
        }
        if self.mode == Mode::Start && self.full.1 >= FULL_ROUNDS {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && self.in_flight as f64 <= holds + 3.0 * self.goal * self.segment {
            (self.mode, self.since) = (Mode::Cycle(FIRST_PHASE), at);
        }
        if matches!(self.mode, Mode::Cycle(_)) && at - seen_at > STALE {
            self.mode = Mode::RoundTrip {
                until: at + LOOKS_FOR + least,
            };
        }
        if let Mode::RoundTrip { until } = self.mode
            && at >= until
        {
            self.least_rtt = Some((least, at));
            (self.mode, self.since) = (Mode::Cycle(FIRST_PHASE), at);
        }
    }

    /// Segments in flight that it wants for so many bytes (`bbr_quantization_budget`).
    fn budget(&self, bytes: f64, more: f64) -> f64 {
        let segments = (bytes / self.segment).ceil() + 3.0 * self.goal;
        segments + segments % 2.0 + more
    }

    /// Sets pace and congestion window; `acked` segments were delivered.
    fn let_go(&mut self, rate: f64, holds: f64, acked: f64) {
        let is_full = self.full.1 >= FULL_ROUNDS;
        let pace = self.gain() * rate * MARGIN;
        let gain = if matches!(self.mode, Mode::Start | Mode::Drain) {
            HIGH_GAIN
        } else {
            WINDOW_GAIN
        };
        let wanted = self.budget(gain * holds, 0.0);
        if is_full {
            self.window = (self.window + acked).min(wanted);
        } else if self.window < wanted || (self.delivered as f64) < INITIAL * self.segment {
            self.window += acked;
        }
        self.window = self.window.max(SMALLEST);
        if is_full || pace > self.pace {
            self.set_pace(pace);
        }
    }

    fn gain(&self) -> f64 {
        match self.mode {
            Mode::Start => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::Cycle(phase) => CYCLE[phase],
            Mode::RoundTrip { .. } => 1.0,
        }
    }

    /// Segments leave sooner than the pace lets them: Linux began the cycle at a later phase, and is where it sends faster.
    pub(super) fn is_ahead(&mut self, at: i64) {
        if matches!(self.mode, Mode::Cycle(phase) if phase > 0)
            && let Some(&(_, rate)) = self.rates.front()
        {
            (self.mode, self.since) = (Mode::Cycle(0), at);
            self.set_pace(self.gain() * rate * MARGIN);
        }
    }

    /// Whether it is past its start.
    pub(super) const fn has_cycles(&self) -> bool {
        matches!(self.mode, Mode::Cycle(_))
    }
}

/// Linux begins a cycle at any phase but the second (`bbr_reset_probe_bw_mode`); from the third on it is longest to the first.
const FIRST_PHASE: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// Sends a segment of 1,000 bytes each `every`, each acknowledged 100 ms later, up to `until`; the control behind that.
    fn paced(every: i64, until: i64) -> Bbr {
        let mut bbr = Bbr::new(1_000, 100 * MS);
        let mut at = 0;
        while at < until {
            if at >= 100 * MS {
                bbr.delivered(at, 1_000);
            }
            bbr.sent(at, 1_000, false);
            at += every;
        }
        bbr
    }

    #[test]
    fn what_is_delivered_is_the_bandwidth_and_three_rounds_without_growth_end_the_start() {
        let start = paced(10 * MS, 250 * MS);
        assert_eq!(start.mode, Mode::Start);
        // 10 segments of 1,000 bytes in 100 ms.
        let cycles = paced(10 * MS, 900 * MS);
        let rate = cycles.rates[0].1;
        assert!((99e3..=111e3).contains(&rate), "{rate}");
        assert!(cycles.has_cycles());
        assert!((cycles.pace() - cycles.gain() * rate * MARGIN).abs() < 1.0);
    }

    #[test]
    fn what_holds_it_below_its_first_phase_keeps_it_there() {
        // Ten segments in flight, as a window would let it have: the first phase wants a quarter more and never ends.
        let bbr = paced(10 * MS, 5_000 * MS);
        assert_eq!(bbr.mode, Mode::Cycle(0));
        assert!((bbr.pace() / (CYCLE[0] * bbr.rates[0].1) - MARGIN).abs() < 1e-9);
    }

    #[test]
    fn after_ten_seconds_it_looks_for_the_least_round_trip() {
        let mut bbr = paced(10 * MS, 9_000 * MS);
        assert!(bbr.has_cycles());
        // The last ones take longer than those before.
        let mut at = 9_000 * MS;
        let mut looked = false;
        while at < 11_500 * MS {
            bbr.delivered(at + 5 * MS, 1_000);
            bbr.sent(at + 5 * MS, 1_000, false);
            looked |= matches!(bbr.mode, Mode::RoundTrip { .. });
            at += 10 * MS;
        }
        assert!(looked && bbr.has_cycles());
    }
}

//! BBR version 1: a window and a pacing rate from measured bandwidth and round trip (Cardwell et al. 2016).
//!
//! | | Linux `tcp_bbr.c` | here | why |
//! |---|---|---|---|
//! | in-flight at the next departure | corrected for the pacing clock | not corrected | segments leave one by one |
//! | bandwidth unit | segments per microsecond, 24 fraction bits | the same | |

use slowpath_units::{BitRate, Duration, Time};

use super::{Algorithm, RateSample, State, View, Window};
use crate::filter::Best;
use crate::rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// BBR version 1 (`net/ipv4/tcp_bbr.c` with its default parameters).
#[derive(Debug, Clone)]
pub(crate) struct Bbr {
    seed: u64,
    picks: u64,
    mode: Mode,
    bandwidth: Best,
    rounds: u64,
    next_round_delivered: u64,
    round_start: bool,
    min_rtt: Option<Duration>,
    min_rtt_stamp: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,
    packet_conservation: bool,
    full_bandwidth: u64,
    full_count: u32,
    full_reached: bool,
    cycle: usize,
    cycle_stamp: Time,
    pacing_gain: u64,
    cwnd_gain: u64,
    prior_cwnd: u32,
    previous_state: State,
    seen_rtt: bool,
    pacing_rate: u64,
    long_term: LongTerm,
    aggregation: Aggregation,
}

/// Detection of policers from steady loss (`bbr_lt_bw_sampling`).
#[derive(Debug, Clone, Default)]
struct LongTerm {
    sampling: bool,
    in_use: bool,
    bandwidth: u64,
    rounds: u32,
    last_stamp: Time,
    last_delivered: u64,
    last_lost: u64,
}

/// How much more is acknowledged at once than the bandwidth explains (`bbr_update_ack_aggregation`).
#[derive(Debug, Clone, Default)]
struct Aggregation {
    epoch: Time,
    acked: u64,
    extra: [u64; 2],
    index: usize,
    rounds: u32,
}

impl Bbr {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed,
            picks: 0,
            mode: Mode::Startup,
            bandwidth: Best::new(0, 0),
            rounds: 0,
            next_round_delivered: 0,
            round_start: false,
            min_rtt: None,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            packet_conservation: false,
            full_bandwidth: 0,
            full_count: 0,
            full_reached: false,
            cycle: 0,
            cycle_stamp: Time::ZERO,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            prior_cwnd: 0,
            previous_state: State::Open,
            seen_rtt: false,
            pacing_rate: 0,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
        }
    }

    /// The rate at which data should leave.
    pub(crate) const fn pacing_rate(&self) -> BitRate {
        BitRate::new(self.pacing_rate.saturating_mul(8))
    }

    /// The connection is established: the first rate comes from the initial window (`bbr_init`).
    pub(crate) fn establish(&mut self, view: &View, window: &Window) {
        self.min_rtt = view.min_rtt;
        self.min_rtt_stamp = view.now;
        self.aggregation.epoch = view.now;
        self.init_pacing(view, window);
    }

    /// An acknowledgement was processed (`bbr_main`); sets the window and the pacing rate.
    ///
    /// Returns whether data sent from now on must be marked application-limited (a probe of the round trip is on).
    #[inline(never)]
    pub(crate) fn acknowledged(
        &mut self,
        view: &View,
        window: &mut Window,
        sample: &RateSample,
        delivered_at: Time,
    ) -> bool {
        self.update_bandwidth(view, sample, delivered_at);
        self.update_aggregation(sample, window, delivered_at);
        self.update_cycle(view, sample, delivered_at);
        self.check_full(sample);
        self.check_drain(view, window, delivered_at);
        self.update_min_rtt(view, window, sample, delivered_at);
        self.update_gains();
        let bandwidth = self.best_bandwidth();
        self.set_pacing(view, window, bandwidth, self.pacing_gain);
        self.set_cwnd(view, window, sample, bandwidth);
        self.mode == Mode::ProbeRtt
    }

    const fn max_bandwidth(&self) -> u64 {
        self.bandwidth.value()
    }

    const fn best_bandwidth(&self) -> u64 {
        if self.long_term.in_use {
            self.long_term.bandwidth
        } else {
            self.max_bandwidth()
        }
    }

    fn bytes_per_s(view: &View, bandwidth: u64, gain: u64) -> u64 {
        let rate = u128::from(bandwidth) * u128::from(view.mss) * u128::from(gain);
        let rate = (rate >> GAIN_BITS) * (1_000_000 / 100 * (100 - MARGIN_PERCENT));
        u64::try_from(rate >> BANDWIDTH_BITS).unwrap_or(u64::MAX)
    }

    fn init_pacing(&mut self, view: &View, window: &Window) {
        let rtt = match view.srtt {
            Some(rtt) => {
                self.seen_rtt = true;
                rtt.micros().max(1)
            }
            None => 1_000,
        };
        let bandwidth = (u64::from(window.cwnd) << BANDWIDTH_BITS) / rtt;
        self.pacing_rate = Self::bytes_per_s(view, bandwidth, HIGH_GAIN);
    }

    fn set_pacing(&mut self, view: &View, window: &Window, bandwidth: u64, gain: u64) {
        let rate = Self::bytes_per_s(view, bandwidth, gain);
        if !self.seen_rtt && view.srtt.is_some() {
            self.init_pacing(view, window);
        }
        if self.full_reached || rate > self.pacing_rate {
            self.pacing_rate = rate.max(1);
        }
    }

    fn update_bandwidth(&mut self, view: &View, sample: &RateSample, delivered_at: Time) {
        self.round_start = false;
        let Some(delivered) = sample.delivered else { return };
        if sample.interval == Duration::ZERO {
            return;
        }
        if sample.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = view.delivered;
            self.rounds += 1;
            self.round_start = true;
            self.packet_conservation = false;
        }
        self.sample_long_term(view, sample, delivered_at);
        let bandwidth = (delivered << BANDWIDTH_BITS) / sample.interval.micros().max(1);
        if !sample.app_limited || bandwidth >= self.max_bandwidth() {
            self.bandwidth
                .update_max(self.rounds, BANDWIDTH_ROUNDS, bandwidth);
        }
    }

    fn sample_long_term(&mut self, view: &View, sample: &RateSample, delivered_at: Time) {
        if self.long_term.in_use {
            if self.mode == Mode::ProbeBandwidth && self.round_start {
                self.long_term.rounds += 1;
                if self.long_term.rounds >= 48 {
                    self.long_term = LongTerm::default();
                    self.probe_bandwidth(delivered_at);
                }
            }
            return;
        }
        if !self.long_term.sampling {
            if sample.losses == 0 {
                return;
            }
            self.begin_long_term(view, delivered_at);
            self.long_term.sampling = true;
        }
        if sample.app_limited {
            self.long_term = LongTerm::default();
            return;
        }
        self.long_term.rounds += u32::from(self.round_start);
        if self.long_term.rounds < 4 {
            return;
        }
        if self.long_term.rounds > 16 {
            self.long_term = LongTerm::default();
            return;
        }
        if sample.losses == 0 {
            return;
        }
        let lost = view.lost_total - self.long_term.last_lost;
        let delivered = view.delivered - self.long_term.last_delivered;
        if delivered == 0 || (lost << GAIN_BITS) < 50 * delivered {
            return;
        }
        let span = delivered_at.since(self.long_term.last_stamp).micros();
        if span < 1_000 {
            return;
        }
        let bandwidth = (delivered << BANDWIDTH_BITS) / span;
        let known = self.long_term.bandwidth;
        if known > 0 {
            let difference = bandwidth.abs_diff(known);
            if difference << GAIN_BITS <= 32 * known || Self::bytes_per_s(view, difference, UNIT) <= 500 {
                self.long_term.bandwidth = u64::midpoint(bandwidth, known);
                self.long_term.in_use = true;
                self.pacing_gain = UNIT;
                self.long_term.rounds = 0;
                return;
            }
        }
        self.long_term.bandwidth = bandwidth;
        self.begin_long_term(view, delivered_at);
    }

    const fn begin_long_term(&mut self, view: &View, delivered_at: Time) {
        self.long_term.last_stamp = delivered_at;
        self.long_term.last_delivered = view.delivered;
        self.long_term.last_lost = view.lost_total;
        self.long_term.rounds = 0;
    }

    fn update_aggregation(&mut self, sample: &RateSample, window: &Window, delivered_at: Time) {
        if sample.acked_sacked == 0 || sample.delivered.is_none() || sample.interval == Duration::ZERO {
            return;
        }
        let bandwidth = self.best_bandwidth();
        let aggregation = &mut self.aggregation;
        if self.round_start {
            aggregation.rounds += 1;
            if aggregation.rounds >= 5 {
                aggregation.rounds = 0;
                aggregation.index ^= 1;
                aggregation.extra[aggregation.index] = 0;
            }
        }
        let acked = u64::from(sample.acked_sacked);
        let elapsed = delivered_at.since(aggregation.epoch).micros();
        let mut expected = u64::try_from((u128::from(bandwidth) * u128::from(elapsed)) >> BANDWIDTH_BITS)
            .unwrap_or(u64::MAX);
        if aggregation.acked <= expected || aggregation.acked + acked >= 1 << 20 {
            aggregation.acked = 0;
            aggregation.epoch = delivered_at;
            expected = 0;
        }
        aggregation.acked = (aggregation.acked + acked).min(0xf_ffff);
        let extra = (aggregation.acked - expected).min(u64::from(window.cwnd));
        let slot = &mut aggregation.extra[aggregation.index];
        *slot = (*slot).max(extra);
    }

    fn update_cycle(&mut self, view: &View, sample: &RateSample, delivered_at: Time) {
        if self.mode != Mode::ProbeBandwidth || !self.cycle_is_over(view, sample, delivered_at) {
            return;
        }
        self.cycle = (self.cycle + 1) % GAINS.len();
        self.cycle_stamp = delivered_at;
    }

    fn cycle_is_over(&self, view: &View, sample: &RateSample, delivered_at: Time) -> bool {
        let full_length = delivered_at.since(self.cycle_stamp) > self.min_rtt.unwrap_or(Duration::ZERO);
        if self.pacing_gain == UNIT {
            return full_length;
        }
        let in_flight = u64::from(sample.prior_in_flight);
        if self.pacing_gain > UNIT {
            let in_flight = in_flight + self.burst_goal(view);
            return full_length
                && (sample.losses > 0
                    || in_flight >= self.target(view, self.max_bandwidth(), self.pacing_gain));
        }
        full_length || in_flight <= self.target(view, self.max_bandwidth(), UNIT)
    }

    fn probe_bandwidth(&mut self, delivered_at: Time) {
        self.mode = Mode::ProbeBandwidth;
        self.picks += 1;
        // A random phase, but never the one that drains.
        let pick = usize::try_from(rng::draw(self.seed, self.picks) % 7).unwrap_or(0);
        self.cycle = (GAINS.len() - 1 - pick + 1) % GAINS.len();
        self.cycle_stamp = delivered_at;
    }

    fn check_full(&mut self, sample: &RateSample) {
        if self.full_reached || !self.round_start || sample.app_limited {
            return;
        }
        if self.max_bandwidth() >= self.full_bandwidth * 5 / 4 {
            self.full_bandwidth = self.max_bandwidth();
            self.full_count = 0;
            return;
        }
        self.full_count += 1;
        self.full_reached = self.full_count >= 3;
    }

    fn check_drain(&mut self, view: &View, window: &mut Window, delivered_at: Time) {
        if self.mode == Mode::Startup && self.full_reached {
            self.mode = Mode::Drain;
            let target = self.target(view, self.max_bandwidth(), UNIT);
            window.ssthresh = u32::try_from(target).unwrap_or(u32::MAX);
        }
        if self.mode == Mode::Drain
            && u64::from(view.in_flight) <= self.target(view, self.max_bandwidth(), UNIT)
        {
            self.probe_bandwidth(delivered_at);
        }
    }

    fn update_min_rtt(&mut self, view: &View, window: &mut Window, sample: &RateSample, delivered_at: Time) {
        let expired = view.now > self.min_rtt_stamp + MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt
            && (self.min_rtt.is_none_or(|min| rtt < min) || (expired && !sample.ack_delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_stamp = view.now;
        }
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(window);
            self.probe_rtt_done = None;
        }
        if self.mode == Mode::ProbeRtt {
            match self.probe_rtt_done {
                None if view.in_flight <= MIN_CWND => {
                    self.probe_rtt_done = Some(view.now + PROBE_RTT_TIME);
                    self.probe_rtt_round_done = false;
                    self.next_round_delivered = view.delivered;
                }
                None => {}
                Some(_) => {
                    self.probe_rtt_round_done |= self.round_start;
                    if self.probe_rtt_round_done {
                        self.check_probe_rtt(view, window, delivered_at);
                    }
                }
            }
        }
        if sample.delivered.is_some_and(|delivered| delivered > 0) {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt(&mut self, view: &View, window: &mut Window, delivered_at: Time) {
        if self.probe_rtt_done.is_none_or(|done| view.now <= done) {
            return;
        }
        self.min_rtt_stamp = view.now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        if self.full_reached {
            self.probe_bandwidth(delivered_at);
        } else {
            self.mode = Mode::Startup;
        }
    }

    fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBandwidth if self.long_term.in_use => (UNIT, CWND_GAIN),
            Mode::ProbeBandwidth => (GAINS[self.cycle], CWND_GAIN),
            Mode::ProbeRtt => (UNIT, UNIT),
        };
    }

    fn bdp(&self, bandwidth: u64, gain: u64) -> u64 {
        let Some(min_rtt) = self.min_rtt else {
            return INITIAL_CWND;
        };
        let product = u128::from(bandwidth) * u128::from(min_rtt.micros());
        let scaled = (product * u128::from(gain)) >> GAIN_BITS;
        u64::try_from((scaled + (1 << BANDWIDTH_BITS) - 1) >> BANDWIDTH_BITS).unwrap_or(u64::MAX)
    }

    /// Segments per burst that offloads would make of about 1 ms of the rate (`bbr_tso_segs_goal`).
    fn burst_goal(&self, view: &View) -> u64 {
        let least = if self.pacing_rate < 150_000 { 1 } else { 2 };
        let bytes = (self.pacing_rate >> 10).min(65_000);
        (bytes / u64::from(view.mss.max(1))).clamp(least, 0x7f)
    }

    fn quantised(&self, view: &View, cwnd: u64) -> u64 {
        let mut cwnd = cwnd + 3 * self.burst_goal(view);
        cwnd = (cwnd + 1) & !1;
        if self.mode == Mode::ProbeBandwidth && self.cycle == 0 {
            cwnd += 2;
        }
        cwnd
    }

    fn target(&self, view: &View, bandwidth: u64, gain: u64) -> u64 {
        self.quantised(view, self.bdp(bandwidth, gain))
    }

    fn aggregation_allowance(&self) -> u64 {
        if !self.full_reached {
            return 0;
        }
        let most = (u128::from(self.best_bandwidth()) * 100_000) >> BANDWIDTH_BITS;
        let extra = self.aggregation.extra[0].max(self.aggregation.extra[1]);
        extra.min(u64::try_from(most).unwrap_or(u64::MAX))
    }

    fn set_cwnd(&mut self, view: &View, window: &mut Window, sample: &RateSample, bandwidth: u64) {
        if sample.acked_sacked > 0 {
            let acked = sample.acked_sacked;
            let (mut cwnd, decided) = self.recover_or_restore(view, window, sample);
            if !decided {
                let target = self.bdp(bandwidth, self.cwnd_gain) + self.aggregation_allowance();
                let target = u32::try_from(self.quantised(view, target)).unwrap_or(u32::MAX);
                if self.full_reached {
                    cwnd = (cwnd + acked).min(target);
                } else if cwnd < target || view.delivered < INITIAL_CWND {
                    cwnd += acked;
                }
                cwnd = cwnd.max(MIN_CWND);
            }
            window.cwnd = cwnd;
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_CWND);
        }
    }

    fn recover_or_restore(&mut self, view: &View, window: &Window, sample: &RateSample) -> (u32, bool) {
        let (previous, state) = (self.previous_state, view.state);
        let mut cwnd = window.cwnd;
        if sample.losses > 0 {
            cwnd = cwnd.saturating_sub(sample.losses).max(1);
        }
        if state == State::Recovery && previous != State::Recovery {
            self.packet_conservation = true;
            self.next_round_delivered = view.delivered;
            cwnd = view.in_flight + sample.acked_sacked;
        } else if previous >= State::Recovery && state < State::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        self.previous_state = state;
        if self.packet_conservation {
            return (cwnd.max(view.in_flight + sample.acked_sacked), true);
        }
        (cwnd, false)
    }

    fn save_cwnd(&mut self, window: &Window) {
        self.prior_cwnd = if self.previous_state < State::Recovery && self.mode != Mode::ProbeRtt {
            window.cwnd
        } else {
            self.prior_cwnd.max(window.cwnd)
        };
    }
}

impl Algorithm for Bbr {
    fn ssthresh(&mut self, _view: &View, window: &Window) -> u32 {
        self.save_cwnd(window);
        window.ssthresh
    }

    fn increase(&mut self, _view: &View, _window: &mut Window, _acked: u32) {}

    fn state_change(&mut self, view: &View, _window: &mut Window, state: State) {
        if state == State::Loss {
            self.previous_state = State::Loss;
            self.full_bandwidth = 0;
            self.round_start = true;
            let sample = RateSample {
                losses: 1,
                ..RateSample::default()
            };
            self.sample_long_term(view, &sample, view.now);
        }
    }

    fn restart(&mut self, view: &View, window: &mut Window, _idle: Duration) {
        if !view.app_limited {
            return;
        }
        self.idle_restart = true;
        self.aggregation.epoch = view.now;
        self.aggregation.acked = 0;
        if self.mode == Mode::ProbeBandwidth {
            self.set_pacing(view, window, self.best_bandwidth(), UNIT);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt(view, window, view.now);
        }
    }

    fn undo(&mut self, _view: &View, window: &Window) -> u32 {
        self.full_bandwidth = 0;
        self.full_count = 0;
        self.long_term = LongTerm::default();
        window.cwnd
    }
}

const BANDWIDTH_BITS: u32 = 24;
const GAIN_BITS: u32 = 8;
const UNIT: u64 = 1 << GAIN_BITS;
/// 2/ln 2, the smallest gain that doubles the rate each round.
const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
const CWND_GAIN: u64 = UNIT * 2;
const GAINS: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
const BANDWIDTH_ROUNDS: u64 = 10;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
const MIN_CWND: u32 = 4;
const INITIAL_CWND: u64 = 10;
const MARGIN_PERCENT: u128 = 1;

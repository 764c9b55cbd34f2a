//! CUBIC (RFC 9438) with HyStart.
//!
//! | | Linux `tcp_cubic.c` | here | why |
//! |---|---|---|---|
//! | clock of the cubic function | jiffies (1 to 4 ms) | milliseconds | no tick here |
//! | ACK-train threshold | uses the size of super-packets | none | segments go out one by one |

use slowpath_units::{Duration, Time};

use super::{Algorithm, State, View, Window};

/// CUBIC (`net/ipv4/tcp_cubic.c` with its default parameters).
#[derive(Debug, Clone)]
pub(crate) struct Cubic {
    hystart: bool,
    per_segment: u32,
    last_max: u32,
    last_cwnd: u32,
    last_time: u64,
    origin: u32,
    /// Time to the origin in 1/1024 s.
    k: u64,
    delay_min: Option<Duration>,
    epoch: Option<u64>,
    acked: u32,
    reno_cwnd: u32,
    start: HyStart,
}

/// Looks for the end of slow start (Ha, Rhee 2011; RFC 9406 standardises a successor).
#[derive(Debug, Clone)]
struct HyStart {
    found: bool,
    round_start: Time,
    last_ack: Time,
    end: u64,
    round_min: Option<Duration>,
    samples: u32,
}

impl Cubic {
    pub(crate) const fn new(hystart: bool) -> Self {
        Self {
            hystart,
            per_segment: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            origin: 0,
            k: 0,
            delay_min: None,
            epoch: None,
            acked: 0,
            reno_cwnd: 0,
            start: HyStart {
                found: false,
                round_start: Time::ZERO,
                last_ack: Time::ZERO,
                end: 0,
                round_min: None,
                samples: 0,
            },
        }
    }

    /// Sets how many acknowledged segments one more segment of window takes.
    fn update(&mut self, now: Time, cwnd: u32, acked: u32) {
        let now_ms = now.nanos() / 1_000_000;
        self.acked += acked;
        if self.last_cwnd == cwnd && now_ms.saturating_sub(self.last_time) <= 31 {
            return;
        }
        if self.epoch.is_some() && now_ms == self.last_time {
            self.reno_friendly(cwnd);
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = now_ms;
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.acked = acked;
            self.reno_cwnd = cwnd;
            if self.last_max <= cwnd {
                self.k = 0;
                self.origin = cwnd;
            } else {
                self.k = cube_root(CUBE_FACTOR * u64::from(self.last_max - cwnd));
                self.origin = self.last_max;
            }
            now_ms
        });
        // Time is looked at one round trip ahead (RFC 9438, section 4.2).
        let ahead = self.delay_min.map_or(0, |delay| delay.nanos() / 1_000_000);
        let t = ((now_ms - epoch + ahead) << 10) / 1000;
        let offset = t.abs_diff(self.k);
        let delta = (u128::from(CUBE_RTT_SCALE) * u128::from(offset).pow(3)) >> 40;
        let delta = u32::try_from(delta).unwrap_or(u32::MAX);
        let target = if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        };
        self.per_segment = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if self.last_max == 0 {
            self.per_segment = self.per_segment.min(20);
        }
        self.reno_friendly(cwnd);
    }

    /// Never slower than Reno would be (RFC 9438, section 4.3).
    fn reno_friendly(&mut self, cwnd: u32) {
        let per_step = u32::try_from((u64::from(cwnd) * BETA_SCALE) >> 3)
            .unwrap_or(u32::MAX)
            .max(1);
        while self.acked > per_step {
            self.acked -= per_step;
            self.reno_cwnd += 1;
        }
        if self.reno_cwnd > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (self.reno_cwnd - cwnd));
        }
        self.per_segment = self.per_segment.max(2);
    }

    fn reset(&mut self, view: &View) {
        *self = Self::new(self.hystart);
        self.start.begin_round(view);
    }
}

impl Algorithm for Cubic {
    fn ssthresh(&mut self, _view: &View, window: &Window) -> u32 {
        self.epoch = None;
        let cwnd = window.cwnd;
        // Fast convergence (RFC 9438, section 4.7).
        self.last_max = if cwnd < self.last_max {
            cwnd * (SCALE + BETA) / (2 * SCALE)
        } else {
            cwnd
        };
        (cwnd * BETA / SCALE).max(2)
    }

    fn increase(&mut self, view: &View, window: &mut Window, acked: u32) {
        let mut acked = acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(view.now, window.cwnd, acked);
        window.additive_increase(self.per_segment, acked);
    }

    fn round_trip(&mut self, view: &View, window: &mut Window, rtt: Duration) {
        // Samples right after recovery say little.
        let now_ms = view.now.nanos() / 1_000_000;
        if self
            .epoch
            .is_some_and(|epoch| now_ms.saturating_sub(epoch) < 1000)
        {
            return;
        }
        if self.delay_min.is_none_or(|min| rtt < min) {
            self.delay_min = Some(rtt);
        }
        if self.hystart && !self.start.found && window.in_slow_start() {
            let delay_min = self.delay_min.unwrap_or(rtt);
            self.start.update(view, window, rtt, delay_min);
        }
    }

    fn state_change(&mut self, view: &View, _window: &mut Window, state: State) {
        if state == State::Loss {
            self.reset(view);
        }
    }

    fn restart(&mut self, view: &View, _window: &mut Window, idle: Duration) {
        // The cubic function stands still while nothing is sent.
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + idle.nanos() / 1_000_000).min(view.now.nanos() / 1_000_000);
        }
    }
}

impl HyStart {
    const fn begin_round(&mut self, view: &View) {
        self.round_start = view.now;
        self.last_ack = view.now;
        self.end = view.nxt;
        self.round_min = None;
        self.samples = 0;
    }

    fn update(&mut self, view: &View, window: &mut Window, rtt: Duration, delay_min: Duration) {
        if view.una > self.end {
            self.begin_round(view);
        }
        // Rounds are counted from the first acknowledgement on, whatever the window.
        if window.cwnd < HYSTART_LOW_WINDOW {
            return;
        }
        // An unbroken train of ACKs as long as half the path: the path is full.
        if view.now.since(self.last_ack) <= ACK_SPACING {
            self.last_ack = view.now;
            let threshold = if view.paced {
                delay_min + train_allowance(view)
            } else {
                (delay_min + train_allowance(view)) / 2
            };
            if view.now.since(self.round_start) > threshold {
                self.found = true;
                window.ssthresh = window.cwnd;
            }
        }
        // The round's shortest round trip has grown by an eighth: a queue builds up.
        if self.round_min.is_none_or(|min| rtt < min) {
            self.round_min = Some(rtt);
        }
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
        } else {
            let slack = (delay_min / 8).max(DELAY_SLACK_MIN).min(DELAY_SLACK_MAX);
            if self.round_min.is_some_and(|min| min > delay_min + slack) {
                self.found = true;
                window.ssthresh = window.cwnd;
            }
        }
    }
}

/// What super-packets add to the spacing of acknowledgements (`hystart_ack_delay`): at most 1 ms.
fn train_allowance(view: &View) -> Duration {
    match view.pacing_rate {
        Some(rate) if rate.bits_per_s() > 0 => {
            let (span, _) = rate.time_for(65_536 * 4, 0);
            span.min(Duration::from_millis(1))
        }
        _ => Duration::ZERO,
    }
}

/// The cube root, rounded down.
fn cube_root(value: u64) -> u64 {
    let mut root = 0_u64;
    for bit in (0..22).rev() {
        let candidate = root | 1 << bit;
        if u128::from(candidate).pow(3) <= u128::from(value) {
            root = candidate;
        }
    }
    root
}

const SCALE: u32 = 1024;
/// beta = 717/1024 = 0.7 (RFC 9438, section 4.6).
const BETA: u32 = 717;
/// C = 410/1024 = 0.4 (RFC 9438, section 5).
const CUBE_RTT_SCALE: u64 = 410;
const CUBE_FACTOR: u64 = (1 << 40) / CUBE_RTT_SCALE;
/// 8 (1 + beta) / (3 (1 - beta)).
const BETA_SCALE: u64 = 8 * (SCALE as u64 + BETA as u64) / 3 / (SCALE as u64 - BETA as u64);
const HYSTART_LOW_WINDOW: u32 = 16;
const MIN_SAMPLES: u32 = 8;
const ACK_SPACING: Duration = Duration::from_millis(2);
const DELAY_SLACK_MIN: Duration = Duration::from_millis(4);
const DELAY_SLACK_MAX: Duration = Duration::from_millis(16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_rounded_down() {
        for (value, root) in [
            (0, 0),
            (1, 1),
            (7, 1),
            (8, 2),
            (26, 2),
            (27, 3),
            (1 << 60, 1 << 20),
        ] {
            assert_eq!(cube_root(value), root, "{value}");
        }
    }

    #[test]
    fn the_window_returns_to_its_maximum_after_k_seconds() {
        // RFC 9438, figure 2: K = cbrt(W_max (1 - beta) / C); W_max 1000 gives 9.1 s.
        let mut cubic = Cubic::new(false);
        cubic.last_max = 1000;
        cubic.update(Time::from_nanos(1_000_000_000), 700, 1);
        let seconds = cubic.k as f64 / 1024.0;
        assert!((seconds - 9.09).abs() < 0.02, "{seconds}");
    }

    #[test]
    fn a_pause_longer_than_the_epoch_restarts_it() {
        let mut cubic = Cubic::new(false);
        cubic.last_max = 100;
        cubic.update(Time::from_nanos(1_000_000_000), 70, 1);
        let now = Time::from_nanos(1_500_000_000);
        let view = crate::cc::real::tests::view(1.5, 0);
        let mut window = Window::new(10, None);
        // Idle since before the epoch began: the epoch must not lie in the future.
        cubic.restart(&view, &mut window, Duration::from_secs(1));
        cubic.update(now, 70, 1);
        assert_eq!(cubic.epoch, Some(1_500));
    }
}

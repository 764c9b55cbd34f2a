//! BIC: binary search towards the window of the last loss (Xu, Harfoush, Rhee, INFOCOM 2004).

use slowpath_units::{Duration, Time};

use super::{Algorithm, State, View, Window};

/// BIC (`net/ipv4/tcp_bic.c` with its default parameters).
#[derive(Debug, Clone)]
pub(crate) struct Bic {
    per_segment: u32,
    last_max: u32,
    last_cwnd: u32,
    last_time: Time,
    epoch: Option<Time>,
    /// Segments per acknowledgement, times 16.
    ratio16: u32,
}

impl Bic {
    pub(crate) const fn new() -> Self {
        Self {
            per_segment: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: Time::ZERO,
            epoch: None,
            ratio16: 32,
        }
    }

    fn update(&mut self, now: Time, cwnd: u32) {
        if self.last_cwnd == cwnd && now.since(self.last_time) <= UPDATE_INTERVAL {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = now;
        self.epoch.get_or_insert(now);
        if cwnd <= LOW_WINDOW {
            self.per_segment = cwnd;
            return;
        }
        self.per_segment = if cwnd < self.last_max {
            // Binary increase.
            let distance = (self.last_max - cwnd) / BINARY;
            if distance > MAX_INCREMENT {
                cwnd / MAX_INCREMENT
            } else if distance <= 1 {
                cwnd * SMOOTH / BINARY
            } else {
                cwnd / distance
            }
        } else if cwnd < self.last_max + BINARY {
            // Slow start beyond the old maximum, as AMD linear increase.
            cwnd * SMOOTH / BINARY
        } else if cwnd < self.last_max + MAX_INCREMENT * (BINARY - 1) {
            cwnd * (BINARY - 1) / (cwnd - self.last_max)
        } else {
            cwnd / MAX_INCREMENT
        };
        if self.last_max == 0 {
            self.per_segment = self.per_segment.min(20);
        }
        self.per_segment = ((self.per_segment << 4) / self.ratio16).max(1);
    }
}

impl Algorithm for Bic {
    fn ssthresh(&mut self, _view: &View, window: &Window) -> u32 {
        self.epoch = None;
        let cwnd = window.cwnd;
        self.last_max = if cwnd < self.last_max {
            cwnd * (SCALE + BETA) / (2 * SCALE)
        } else {
            cwnd
        };
        if cwnd <= LOW_WINDOW {
            (cwnd / 2).max(2)
        } else {
            (cwnd * BETA / SCALE).max(2)
        }
    }

    fn increase(&mut self, view: &View, window: &mut Window, acked: u32) {
        let mut acked = acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(view.now, window.cwnd);
        window.additive_increase(self.per_segment, acked);
    }

    fn round_trip(&mut self, view: &View, _window: &mut Window, _rtt: Duration) {
        if view.state == State::Open {
            // One acknowledgement stands for two segments with delayed ACKs.
            self.ratio16 = self.ratio16 + 2 - (self.ratio16 >> 4);
        }
    }

    fn state_change(&mut self, _view: &View, _window: &mut Window, state: State) {
        if state == State::Loss {
            *self = Self::new();
        }
    }
}

const SCALE: u32 = 1024;
/// Reduction to 819/1024.
const BETA: u32 = 819;
/// Below this window BIC behaves as Reno.
const LOW_WINDOW: u32 = 14;
/// Largest increase in one round trip, in segments.
const MAX_INCREMENT: u32 = 16;
/// Part of the way to the target that is made in one round trip.
const BINARY: u32 = 4;
const SMOOTH: u32 = 20;
const UPDATE_INTERVAL: Duration = Duration::from_micros(31_250);

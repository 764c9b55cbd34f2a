//! How much of the congestion window is used (`tcp_cwnd_validate`; RFC 2861, RFC 7661).

use slowpath_units::{Duration, Time};

use crate::cc::{State, Window};

/// Watches how far the congestion window is filled.
///
/// It promises that a window grows only while it holds the sender back, and falls towards what was used once the
/// program sends less for a retransmission timeout or pauses that long.
#[derive(Debug, Clone)]
pub(crate) struct Usage {
    /// Whether an unused window falls (`tcp_slow_start_after_idle`).
    decays: bool,
    initial_window: u32,
    /// The window held the sender back when most was in flight of late; how much that was; when it counts anew.
    limited: bool,
    most_out: u32,
    until: u64,
    /// The most in flight since `since`, while the program was the limit.
    used: u32,
    since: Time,
}

/// Whether a window that is not filled falls (`tcp_cwnd_application_limited`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Falls {
    /// The control sets it by itself.
    Never,
    /// Losses are being made good, or the program waits for room in the send buffer: it is not what sends too little.
    NotNow,
    /// No loss is open and the program could write more.
    Now,
}

impl Usage {
    pub(crate) const fn new(decays: bool, initial_window: u32) -> Self {
        Self {
            decays,
            initial_window,
            limited: false,
            most_out: 0,
            until: 0,
            used: 0,
            since: Time::ZERO,
        }
    }

    /// Segments of the first window.
    pub(crate) const fn initial_window(&self) -> u32 {
        self.initial_window
    }

    /// Data may flow from `now`.
    pub(crate) const fn start(&mut self, now: Time) {
        self.since = now;
    }

    /// Whether the window, not the application or the receiver, holds the sender back (`tcp_is_cwnd_limited`).
    pub(crate) const fn is_window_limited(&self, window: &Window) -> bool {
        self.limited || (window.in_slow_start() && window.cwnd < 2 * self.most_out)
    }

    /// Sending came to an end with `out` segments in flight, the offsets `una` acknowledged and `nxt` sent.
    pub(crate) const fn note(&mut self, una: u64, nxt: u64, out: u32, by_window: bool) {
        if una >= self.until || by_window || (!self.limited && out > self.most_out) {
            self.limited = by_window;
            self.most_out = out;
            self.until = nxt;
        }
    }

    /// Lowers a window that was not filled for `timeout`; true if it may have changed.
    pub(crate) fn validate(
        &mut self,
        now: Time,
        out: u32,
        timeout: Duration,
        window: &mut Window,
        falls: Falls,
    ) -> bool {
        if self.is_window_limited(window) {
            self.used = 0;
            self.since = now;
            return false;
        }
        self.used = self.used.max(out);
        if !self.decays || falls == Falls::Never || now.since(self.since) < timeout {
            return false;
        }
        // The window falls towards what was used while the application was the limit (RFC 2861).
        if falls == Falls::Now {
            let used = self.used.max(self.initial_window);
            if used < window.cwnd {
                window.ssthresh = window.threshold_now(State::Open);
                window.cwnd = u32::midpoint(window.cwnd, used);
            }
            self.used = 0;
        }
        self.since = now;
        true
    }

    /// When [`validate`](Self::validate) next does anything if nothing is sent before.
    pub(crate) fn falls_at(&self, timeout: Duration, fixed: bool) -> Time {
        if !self.decays || fixed {
            Time::MAX
        } else {
            self.since + timeout
        }
    }

    /// The program writes again after `idle` with nothing in flight: the window falls by half for each timeout
    /// (`tcp_cwnd_restart`).
    pub(crate) fn restart(
        &mut self,
        now: Time,
        idle: Duration,
        timeout: Duration,
        window: &mut Window,
        state: State,
    ) {
        if !self.decays || idle <= timeout {
            return;
        }
        let mut idle = idle;
        let floor = self.initial_window.min(window.cwnd);
        window.ssthresh = window.threshold_now(state);
        while idle > timeout && window.cwnd > floor {
            idle = idle.saturating_sub(timeout);
            window.cwnd >>= 1;
        }
        window.cwnd = window.cwnd.max(floor);
        self.since = now;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(200);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_window_that_is_filled_may_grow() {
        let mut usage = Usage::new(true, 10);
        let mut window = Window::new(20, Some(5));
        usage.note(1, 100, 20, true);
        assert!(usage.is_window_limited(&window));
        assert!(!usage.validate(at(1000), 20, TIMEOUT, &mut window, Falls::Now));
        assert_eq!(window.cwnd, 20);
        // A smaller flight counts only once what was in flight then is acknowledged.
        usage.note(50, 200, 3, false);
        assert!(usage.is_window_limited(&window));
        usage.note(100, 200, 3, false);
        assert!(!usage.is_window_limited(&window));
    }

    #[test]
    fn a_window_that_is_not_filled_falls_towards_what_was_used() {
        let mut usage = Usage::new(true, 10);
        let mut window = Window::new(40, Some(8));
        usage.start(at(0));
        assert!(!usage.validate(at(100), 12, TIMEOUT, &mut window, Falls::Now));
        assert!(usage.validate(at(200), 8, TIMEOUT, &mut window, Falls::Now));
        assert_eq!((window.cwnd, window.ssthresh), (26, 30));
        // A program that waits for room in its send buffer would send more.
        assert!(usage.validate(at(400), 12, TIMEOUT, &mut window, Falls::NotNow));
        assert_eq!((window.cwnd, window.ssthresh), (26, 30));
        let mut kept = Window::new(40, Some(8));
        assert!(!Usage::new(false, 10).validate(at(900), 8, TIMEOUT, &mut kept, Falls::Now));
        assert_eq!(kept.cwnd, 40);
    }

    #[test]
    fn a_pause_halves_the_window_for_each_timeout() {
        let mut window = Window::new(100, Some(8));
        Usage::new(true, 10).restart(at(700), TIMEOUT * 3, TIMEOUT, &mut window, State::Open);
        assert_eq!((window.cwnd, window.ssthresh), (25, 75));
        Usage::new(true, 10).restart(at(9000), TIMEOUT * 40, TIMEOUT, &mut window, State::Open);
        assert_eq!(window.cwnd, 10);
    }
}

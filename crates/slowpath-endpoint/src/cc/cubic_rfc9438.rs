//! CUBIC as RFC 9438 writes it, in real numbers.
//!
//! | | RFC 9438 | here | why |
//! |---|---|---|---|
//! | slow start (4.10) | HyStart++, limited or plain | plain (RFC 5681) | the one that needs nothing else |
//! | Reno-friendly region (4.3) | cwnd is set to W_est | raised to it, never lowered | an acknowledgement is no reason to send less; the rows of section 5.1 are the same either way |
//! | flight_size (4.6) | bytes outstanding | the window where they fill it to the last whole segment | segments are whole, windows are not |
//! | loss recovery | PRR or RFC 6675 | the sender's ([`Recovery`](crate::tcp::Recovery)) | a choice of its own |

use slowpath_units::{Duration, Time};

use super::real::{Real, cube_root, whole};
use super::{Algorithm, State, View, Window};

/// CUBIC (RFC 9438, section 4), with fast convergence.
#[derive(Debug, Clone)]
pub(crate) struct CubicRfc9438 {
    real: Real,
    /// W_max in segments; `None` before the first loss and after a timeout.
    w_max: Option<f64>,
    /// The window before the last reduction.
    cwnd_prior: f64,
    /// The congestion avoidance stage that goes on.
    stage: Option<Stage>,
    before: Before,
}

/// A congestion avoidance stage (section 4.1.2).
#[derive(Debug, Clone, Copy)]
struct Stage {
    /// t_epoch.
    begun: Time,
    /// Seconds until the window is W_max again.
    k: f64,
    w_max: f64,
    /// The window of a Reno that is as fair (section 4.3).
    w_est: f64,
}

/// What a needless reduction is taken back to (section 4.9).
#[derive(Debug, Clone, Copy)]
struct Before {
    cwnd: f64,
    w_max: Option<f64>,
    cwnd_prior: f64,
    stage: Option<Stage>,
}

impl CubicRfc9438 {
    pub(crate) const fn new() -> Self {
        Self {
            real: Real::new(),
            w_max: None,
            cwnd_prior: 0.0,
            stage: None,
            before: Before {
                cwnd: 0.0,
                w_max: None,
                cwnd_prior: 0.0,
                stage: None,
            },
        }
    }

    fn begin_stage(&mut self, now: Time) -> Stage {
        let cwnd = self.real.cwnd;
        // Without a loss before, as after a timeout: K is 0 and W_max the window (sections 4.8, 4.10).
        let w_max = self.w_max.map_or(cwnd, |w_max| w_max.max(cwnd));
        if self.w_max.is_none() && self.cwnd_prior == 0.0 {
            self.cwnd_prior = cwnd;
        }
        Stage {
            begun: now,
            // Figure 2.
            k: cube_root((w_max - cwnd) / C),
            w_max,
            w_est: cwnd,
        }
    }
}

impl Stage {
    /// W_cubic(t) (figure 1).
    fn cubic(&self, t: f64) -> f64 {
        let from = t - self.k;
        C * from * from * from + self.w_max
    }
}

impl Algorithm for CubicRfc9438 {
    fn ssthresh(&mut self, view: &View, window: &Window) -> u32 {
        self.real.read(window);
        let cwnd = self.real.cwnd;
        self.before = Before {
            cwnd,
            w_max: self.w_max,
            cwnd_prior: self.cwnd_prior,
            stage: self.stage.take(),
        };
        // Fast convergence (section 4.7).
        self.w_max = Some(match self.w_max {
            Some(w_max) if cwnd < w_max => cwnd * f64::midpoint(1.0, BETA),
            _ => cwnd,
        });
        self.cwnd_prior = cwnd;
        // Section 4.6.
        self.real.reduce(view, BETA)
    }

    fn increase(&mut self, view: &View, window: &mut Window, acked: u32) {
        self.real.read(window);
        if self.real.slow_start(acked) {
            self.real.write(window);
            return;
        }
        let cwnd = self.real.cwnd;
        let mut stage = match self.stage.take() {
            Some(stage) => stage,
            None => self.begin_stage(view.now),
        };
        let alpha = if stage.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        // Figure 4.
        stage.w_est += alpha * f64::from(acked) / cwnd;
        let t = view.now.since(stage.begun).seconds();
        let rtt = view.srtt.map_or(0.0, Duration::seconds);
        self.real.cwnd = if stage.cubic(t) < stage.w_est {
            cwnd.max(stage.w_est)
        } else {
            // Sections 4.2, 4.4 and 4.5.
            let target = stage.cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd
        };
        self.stage = Some(stage);
        self.real.write(window);
    }

    fn state_change(&mut self, _view: &View, _window: &mut Window, state: State) {
        if state == State::Loss {
            self.w_max = None;
            self.stage = None;
        }
    }

    fn restart(&mut self, view: &View, _window: &mut Window, idle: Duration) {
        // Time in which nothing is sent does not count (section 5.8).
        if let Some(stage) = &mut self.stage {
            stage.begun = (stage.begun + idle).min(view.now);
        }
    }

    fn undo(&mut self, _view: &View, window: &Window) -> u32 {
        self.real.read(window);
        let before = self.before;
        if before.cwnd > self.real.cwnd {
            self.real.cwnd = before.cwnd;
            self.w_max = before.w_max;
            self.cwnd_prior = before.cwnd_prior;
            self.stage = before.stage;
        }
        whole(self.real.cwnd)
    }
}

/// Segments per second cubed (section 4.1.1, chosen in section 5.1).
const C: f64 = 0.4;
/// Multiplicative decrease (section 4.6).
const BETA: f64 = 0.7;
/// Additive increase with which a decrease to [`BETA`] is as fast as Reno (section 4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

#[cfg(test)]
mod tests {
    use super::super::real::tests::view;
    use super::*;

    /// After a loss at a window of `cwnd` segments, `before` the W_max of the loss before.
    fn reduced(cwnd: u32, before: Option<f64>) -> (CubicRfc9438, Window) {
        let mut cubic = CubicRfc9438::new();
        cubic.w_max = before;
        let mut window = Window::new(cwnd, Some(2));
        window.ssthresh = cubic.ssthresh(&view(10.0, cwnd.into()), &window);
        window.cwnd = window.ssthresh;
        (cubic, window)
    }

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() < 1e-3 * expected,
            "{value} for {expected}"
        );
    }

    #[test]
    fn a_loss_leaves_seven_tenths() {
        let (cubic, window) = reduced(101, None);
        assert_eq!(window.cwnd, 70);
        near(cubic.real.cwnd, 70.7);
        near(cubic.w_max.unwrap(), 101.0);
        // A window lost before it was back at W_max: fast convergence, (1 + 0.7) / 2.
        near(reduced(100, Some(120.0)).0.w_max.unwrap(), 85.0);
        near(reduced(130, Some(120.0)).0.w_max.unwrap(), 130.0);
    }

    #[test]
    fn the_window_returns_to_its_maximum_after_k_seconds() {
        let (mut cubic, mut window) = reduced(1000, None);
        cubic.increase(&view(10.1, 700), &mut window, 1);
        // cbrt(1000 * 0.3 / 0.4) = cbrt(750) = 9.0856 s. At first W_cubic(0) = 700 is less than W_est = 700 + 0.529 / 700.
        near(cubic.stage.unwrap().k, 9.0856);
        near(cubic.real.cwnd - 700.0, 0.529_41 / 700.0);
        // W_cubic(0.05 + 0.1) = 0.4 (0.15 - 9.0856)^3 + 1000 = 714.61: a window's share of the 14.61 between.
        let cwnd = cubic.real.cwnd;
        cubic.increase(&view(10.15, 700), &mut window, 1);
        near(cubic.real.cwnd - cwnd, 14.61 / 700.0);
        // At K it is W_max.
        near(cubic.stage.unwrap().cubic(9.0856), 1000.0);
        let cwnd = cubic.real.cwnd;
        cubic.increase(&view(10.1 + 9.0856, 700), &mut window, 1);
        near(cubic.real.cwnd - cwnd, (1000.0004 - cwnd) / cwnd);
        // Much later the target is half as much again, no more.
        let at = cubic.real.cwnd;
        cubic.increase(&view(40.0, 700), &mut window, 1);
        near(cubic.real.cwnd - at, 0.5);
    }

    #[test]
    fn a_small_window_grows_as_reno_would() {
        let (mut cubic, mut window) = reduced(10, None);
        // W_cubic(0) = 0.4 (-cbrt(7.5))^3 + 10 = 7, and W_est = 7 + 0.529 / 7 = 7.0756.
        cubic.increase(&view(10.1, 7), &mut window, 1);
        near(cubic.real.cwnd, 7.0756);
        // An acknowledgement of two segments: + 2 * 0.52941 / 7.0756 = 7.2252; W_cubic(0.1) = 10 - 0.4 * 1.8574^3 = 7.437
        // is more: the window moves to W_cubic(0.2) = 10 - 0.4 * 1.7574^3 = 7.8289 by a window's share of the way.
        cubic.increase(&view(10.2, 7), &mut window, 2);
        near(cubic.stage.unwrap().w_est, 7.2252);
        near(cubic.real.cwnd, 7.0756 + (7.8289 - 7.0756) / 7.0756);
    }

    #[test]
    fn beyond_the_window_of_the_loss_the_friendly_window_grows_by_a_segment() {
        let (mut cubic, mut window) = reduced(10, None);
        cubic.increase(&view(10.1, 7), &mut window, 1);
        cubic.stage.as_mut().unwrap().w_est = 10.0;
        let cwnd = cubic.real.cwnd;
        cubic.increase(&view(10.1, 7), &mut window, 1);
        near(cubic.stage.unwrap().w_est, 10.0 + 1.0 / cwnd);
        near(cubic.real.cwnd, 10.0 + 1.0 / cwnd);
    }

    #[test]
    fn after_a_timeout_the_window_begins_on_the_flat_top() {
        let (mut cubic, mut window) = reduced(100, None);
        cubic.state_change(&view(10.5, 100), &mut window, State::Loss);
        window.cwnd = 70;
        cubic.increase(&view(11.0, 70), &mut window, 1);
        let stage = cubic.stage.unwrap();
        assert!(stage.k == 0.0 && (stage.w_max - 70.0).abs() < 1e-9, "{stage:?}");
    }

    #[test]
    fn a_needless_reduction_is_taken_back_with_its_stage() {
        let (mut cubic, mut window) = reduced(100, None);
        cubic.increase(&view(10.1, 70), &mut window, 1);
        let (cwnd, k) = (cubic.real.cwnd, cubic.stage.unwrap().k);
        window.ssthresh = cubic.ssthresh(&view(11.0, 70), &window);
        window.cwnd = window.ssthresh;
        window.cwnd = cubic.undo(&view(11.1, 70), &window);
        assert_eq!(window.cwnd, 70);
        near(cubic.real.cwnd, cwnd);
        near(cubic.stage.unwrap().k, k);
        near(cubic.w_max.unwrap(), 100.0);
    }

    #[test]
    fn a_pause_does_not_count() {
        let (mut cubic, mut window) = reduced(100, None);
        cubic.increase(&view(10.1, 70), &mut window, 1);
        cubic.restart(&view(15.1, 0), &mut window, Duration::from_secs(3));
        assert_eq!(cubic.stage.unwrap().begun, view(13.1, 0).now);
        // Idle since before the stage began.
        cubic.restart(&view(15.2, 0), &mut window, Duration::from_secs(9));
        assert_eq!(cubic.stage.unwrap().begun, view(15.2, 0).now);
    }
}

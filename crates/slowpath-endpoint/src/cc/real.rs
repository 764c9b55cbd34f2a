//! Windows in real numbers, for the algorithms as the RFCs write them.
//!
//! Only the four basic operations of `f64` are used, which every processor rounds alike.

use super::{LARGEST, View, Window};

/// Congestion window and slow start threshold with their fractions, in segments.
///
/// The sender goes by the whole segments of [`Window`]; here is what they leave out. Where the sender has changed the
/// window by itself (a timeout, a pause), its whole segments count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Real {
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
}

impl Real {
    pub(super) const fn new() -> Self {
        Self {
            cwnd: 0.0,
            ssthresh: 0.0,
        }
    }

    /// Takes over what the sender changed.
    pub(super) fn read(&mut self, window: &Window) {
        if whole(self.cwnd) != window.cwnd {
            self.cwnd = f64::from(window.cwnd);
        }
        if whole(self.ssthresh) != window.ssthresh {
            self.ssthresh = f64::from(window.ssthresh);
        }
    }

    /// Gives the sender the whole segments of the window.
    pub(super) fn write(&mut self, window: &mut Window) {
        self.cwnd = self.cwnd.min(f64::from(LARGEST));
        window.cwnd = whole(self.cwnd);
    }

    /// Slow start for an acknowledgement of `acked` segments (RFC 5681, section 3.1, equation 2); whether it was in it.
    ///
    /// However much it acknowledges, the window grows by one segment at most.
    pub(super) fn slow_start(&mut self, acked: u32) -> bool {
        let slow = self.cwnd < self.ssthresh;
        if slow {
            self.cwnd += f64::from(acked.min(1));
        }
        slow
    }

    /// FlightSize (RFC 5681, section 2): the segments sent and not acknowledged, but for those that limited transmit
    /// (section 3.2, step 2) sent beyond the window.
    ///
    /// Where they fill the window to its last whole segment it is the window itself, with its fraction.
    pub(super) fn flight(&self, view: &View) -> f64 {
        let outstanding = view
            .nxt
            .saturating_sub(view.una)
            .div_ceil(u64::from(view.mss.max(1))) as f64;
        if outstanding + 1.0 > self.cwnd {
            self.cwnd
        } else {
            outstanding
        }
    }

    /// The window falls to `share` of the flight, at least two segments (RFC 5681, equation 4): once loss is repaired,
    /// the sender's window is the threshold that this returns.
    pub(super) fn reduce(&mut self, view: &View, share: f64) -> u32 {
        self.ssthresh = (self.flight(view) * share).max(2.0);
        self.cwnd = self.ssthresh;
        whole(self.ssthresh)
    }
}

/// The whole segments of a window.
#[expect(clippy::cast_sign_loss, reason = "windows are not negative")]
pub(super) const fn whole(segments: f64) -> u32 {
    segments as u32
}

/// The cube root of a number that is not negative, by Newton's method: the standard library's may differ from one system
/// to another.
pub(super) fn cube_root(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    // From above it falls towards the root; 0.5 + value / 2 is above by the inequality of the means, 1 + value more so.
    let mut root = 1.0 + value;
    loop {
        let next = (2.0 * root + value / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use slowpath_units::{Duration, Time};

    use super::*;
    use crate::cc::State;

    /// A sender with `flight` segments outstanding, at `seconds`, with a smoothed round trip of 100 ms.
    pub(in crate::cc) fn view(seconds: f64, flight: u64) -> View {
        View {
            now: Time::from_nanos(u64::from(whole(seconds * 1e6 + 0.5)) * 1_000),
            una: 1,
            nxt: 1 + flight * 1448,
            srtt: Some(Duration::from_millis(100)),
            min_rtt: None,
            in_flight: flight as u32,
            mss: 1448,
            delivered: 0,
            lost_total: 0,
            app_limited: false,
            state: State::Open,
            paced: false,
            pacing_rate: None,
        }
    }

    #[test]
    fn cube_roots_are_those_of_the_library() {
        for value in [0.0, 1e-9, 0.001, 0.3, 1.0, 8.0, 750.0, 1e6, 1e18] {
            let root: f64 = cube_root(value);
            assert!((root - value.cbrt()).abs() <= 1e-12 * root, "{value}: {root}");
        }
    }

    #[test]
    fn a_fraction_outlives_recovery_and_ends_with_a_timeout() {
        let mut real = Real::new();
        let mut window = Window::new(15, None);
        real.read(&window);
        window.ssthresh = real.reduce(&view(1.0, 15), 0.5);
        assert_eq!(window.ssthresh, 7);
        // The end of recovery.
        window.cwnd = window.ssthresh;
        real.read(&window);
        assert!((real.cwnd - 7.5).abs() < 1e-9);
        // A timeout sets one segment.
        window.cwnd = 1;
        real.read(&window);
        assert!((real.cwnd - 1.0).abs() < 1e-9);
        assert!((real.ssthresh - 7.5).abs() < 1e-9);
    }

    #[test]
    fn a_flight_that_does_not_fill_the_window_counts_itself() {
        let mut real = Real::new();
        real.read(&Window::new(20, None));
        real.cwnd = 20.9;
        assert!((real.flight(&view(1.0, 20)) - 20.9).abs() < 1e-9);
        // Limited transmit sent two more.
        assert!((real.flight(&view(1.0, 22)) - 20.9).abs() < 1e-9);
        assert!((real.flight(&view(1.0, 12)) - 12.0).abs() < 1e-9);
    }
}

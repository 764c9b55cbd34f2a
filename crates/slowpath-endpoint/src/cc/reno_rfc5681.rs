//! Reno as RFC 5681 writes it, in real numbers.
//!
//! | | RFC 5681 | here | why |
//! |---|---|---|---|
//! | congestion avoidance | SMSS·SMSS/cwnd per ACK (equation 3), or bytes counted (recommended) | 1/cwnd for each segment acknowledged | both at once: bytes are counted and none is lost to rounding |
//! | FlightSize | bytes outstanding | the window where they fill it to the last whole segment | segments are whole, windows are not |
//! | loss recovery | section 3.2 | the sender's ([`Recovery`](crate::tcp::Recovery)) | a choice of its own |

use super::real::{Real, whole};
use super::{Algorithm, View, Window};

/// Reno (RFC 5681, section 3.1).
#[derive(Debug, Clone)]
pub(crate) struct RenoRfc5681 {
    real: Real,
    /// The window before the last reduction.
    before: f64,
}

impl RenoRfc5681 {
    pub(crate) const fn new() -> Self {
        Self {
            real: Real::new(),
            before: 0.0,
        }
    }
}

impl Algorithm for RenoRfc5681 {
    fn ssthresh(&mut self, view: &View, window: &Window) -> u32 {
        self.real.read(window);
        self.before = self.real.cwnd;
        self.real.reduce(view, 0.5)
    }

    fn increase(&mut self, _view: &View, window: &mut Window, acked: u32) {
        self.real.read(window);
        if !self.real.slow_start(acked) {
            self.real.cwnd += f64::from(acked) / self.real.cwnd;
        }
        self.real.write(window);
    }

    fn undo(&mut self, _view: &View, window: &Window) -> u32 {
        self.real.read(window);
        self.real.cwnd = self.real.cwnd.max(self.before);
        whole(self.real.cwnd)
    }
}

#[cfg(test)]
mod tests {
    use super::super::real::tests::view;
    use super::*;

    #[test]
    fn each_segment_acknowledged_adds_its_share_of_a_segment() {
        let mut reno = RenoRfc5681::new();
        let mut window = Window::new(4, Some(4));
        // 4 + 1/4 = 4.25; + 1/4.25 = 4.4853; + 1/4.4853 = 4.7082; + 1/4.7082 = 4.9206: eight tenths short of two.
        for _ in 0..4 {
            reno.increase(&view(1.0, 4), &mut window, 1);
        }
        assert!((reno.real.cwnd - 4.9206).abs() < 1e-4, "{}", reno.real.cwnd);
        assert_eq!(window.cwnd, 4);
        // One acknowledgement for two: + 2/4.9206 = 5.3270.
        reno.increase(&view(1.0, 4), &mut window, 2);
        assert!((reno.real.cwnd - 5.3270).abs() < 1e-4, "{}", reno.real.cwnd);
        assert_eq!(window.cwnd, 5);
    }

    #[test]
    fn slow_start_adds_a_segment_for_an_acknowledgement_whatever_it_covers() {
        let mut reno = RenoRfc5681::new();
        let mut window = Window::new(10, Some(12));
        reno.increase(&view(1.0, 10), &mut window, 2);
        assert_eq!(window.cwnd, 11);
        reno.increase(&view(1.0, 10), &mut window, 1);
        assert_eq!(window.cwnd, 12);
        // At the threshold congestion avoidance begins.
        reno.increase(&view(1.0, 10), &mut window, 1);
        assert!((reno.real.cwnd - 12.0 - 1.0 / 12.0).abs() < 1e-9);
    }

    #[test]
    fn half_of_an_odd_window_keeps_its_half() {
        let mut reno = RenoRfc5681::new();
        let mut window = Window::new(15, Some(10));
        window.ssthresh = reno.ssthresh(&view(1.0, 18), &window);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 7);
        reno.increase(&view(1.1, 7), &mut window, 1);
        assert!((reno.real.cwnd - 7.5 - 1.0 / 7.5).abs() < 1e-9);
        // At least two segments.
        window.cwnd = 3;
        assert_eq!(reno.ssthresh(&view(2.0, 3), &window), 2);
    }

    #[test]
    fn a_needless_reduction_is_taken_back_with_the_fraction() {
        let mut reno = RenoRfc5681::new();
        let mut window = Window::new(15, Some(10));
        reno.increase(&view(1.0, 15), &mut window, 1);
        window.ssthresh = reno.ssthresh(&view(1.0, 15), &window);
        window.cwnd = window.ssthresh;
        window.cwnd = reno.undo(&view(1.1, 15), &window);
        assert_eq!(window.cwnd, 15);
        assert!((reno.real.cwnd - 15.0 - 1.0 / 15.0).abs() < 1e-9);
    }
}

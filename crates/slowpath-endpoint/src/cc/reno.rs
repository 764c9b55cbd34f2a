//! Reno: additive increase by one segment per window, multiplicative decrease by half (RFC 5681).

use super::{Algorithm, View, Window};

/// Reno (`net/ipv4/tcp_cong.c`); it keeps no state of its own.
#[derive(Debug, Clone)]
pub(crate) struct Reno;

impl Algorithm for Reno {
    fn ssthresh(&mut self, _view: &View, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    fn increase(&mut self, _view: &View, window: &mut Window, acked: u32) {
        let mut acked = acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        if acked > 0 {
            window.additive_increase(window.cwnd, acked);
        }
    }
}

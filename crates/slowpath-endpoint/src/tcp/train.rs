//! Segments cut off the queue, and the trains they leave in (`tcp_write_xmit`, `tcp_tso_autosize`).

use slowpath_units::{BitRate, Duration};

/// A segment to put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    /// First sequence offset.
    pub(crate) start: u64,
    /// Data bytes.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    pub(crate) retransmission: bool,
    /// Sent while the zero-window timer ran; carries nothing new.
    pub(crate) probe: bool,
}

/// The train that is being sent, and the small segment that may hold the next one back.
///
/// It promises that a train is no longer than about 1 ms of the rate, and that at most one segment that is not full is
/// outstanding while Nagle's algorithm is on.
#[derive(Debug, Clone)]
pub(crate) struct Train {
    /// Segments of the largest train.
    largest: u32,
    pub(crate) nagle: bool,
    /// Segments that may still follow.
    left: u32,
    /// Full segments sent since sending last came to an end.
    full: u32,
    /// End of the last segment sent that was not full.
    small_end: u64,
    /// It was better to wait for a larger train.
    deferred: bool,
    /// A tail loss probe sends one segment whatever the window.
    pub(crate) single: bool,
}

impl Train {
    pub(crate) fn new(nagle: bool, largest: u32) -> Self {
        Self {
            largest: largest.max(1),
            nagle,
            left: 0,
            full: 0,
            small_end: 0,
            deferred: false,
            single: false,
        }
    }

    /// Whether more segments belong to the train that is being sent.
    pub(crate) const fn is_under_way(&self) -> bool {
        self.left > 0
    }

    pub(crate) const fn begin(&mut self, segments: u32) {
        self.left = segments;
    }

    /// One segment of it goes.
    pub(crate) const fn follow(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    /// What follows starts a train of its own.
    pub(crate) const fn cut_short(&mut self) {
        self.left = 0;
    }

    /// Nothing more can be sent for now.
    pub(crate) const fn end(&mut self) {
        self.full = 0;
        self.left = 0;
    }

    /// Waiting for a larger train counts as held back by the window.
    pub(crate) const fn defer(&mut self) {
        self.deferred = true;
    }

    /// Whether the train was put off; asked once.
    pub(crate) const fn take_deferred(&mut self) -> bool {
        std::mem::replace(&mut self.deferred, false)
    }

    /// Linux splits a long buffer at the edge of the window, but only behind a full segment.
    pub(crate) const fn may_split(&self) -> bool {
        self.full > 0
    }

    /// `len` bytes up to the offset `end` left.
    pub(crate) const fn sent(&mut self, len: u32, mss: u32, end: u64) {
        if len < mss {
            self.small_end = end;
        }
        self.full = if len == mss { self.full + 1 } else { 0 };
    }

    /// A segment that is not full lies between `una` and `nxt`.
    pub(crate) const fn small_outstanding(&self, una: u64, nxt: u64) -> bool {
        self.small_end > una && self.small_end <= nxt
    }

    /// Nagle's algorithm with Minshall's change, as in Linux: only an outstanding small segment holds another.
    pub(crate) const fn nagle_holds(&self, una: u64, nxt: u64) -> bool {
        self.nagle && self.small_outstanding(una, nxt)
    }

    /// Segments in a train of full size at `rate` (`tcp_tso_autosize`).
    pub(crate) fn size(&self, rate: Option<BitRate>, min_rtt: Option<Duration>, mss: u32) -> u32 {
        // At most about 1 ms; more on short paths, where bursts do no harm.
        let mut bytes = rate.map_or(0, |rate| rate.bits_per_s() >> 13);
        let shift = min_rtt.map_or(64, |min| min.micros() >> 9);
        if shift < 32 {
            bytes += LARGEST_TRAIN >> shift;
        }
        let segments = bytes.min(LARGEST_TRAIN) / u64::from(mss);
        let most = u32::try_from(segments).unwrap_or(u32::MAX);
        most.max(2)
            .min((LARGEST_TRAIN as u32 / mss).max(1))
            .min(self.largest)
    }
}

/// Bytes of the largest train (`GSO_LEGACY_MAX_SIZE`).
const LARGEST_TRAIN: u64 = 65_536;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_train_is_a_millisecond_of_the_rate() {
        let train = Train::new(true, 44);
        let size = |mbit: u64, rtt_ms| {
            train.size(
                Some(BitRate::new(mbit * 1_000_000)),
                Some(Duration::from_millis(rtt_ms)),
                1448,
            )
        };
        assert_eq!(size(1, 100), 2, "never less than two");
        assert_eq!(size(100, 100), 8);
        assert_eq!(size(10_000, 100), 44, "never more than the offload takes");
        assert_eq!(size(1, 1), 22, "longer on a short path");
    }

    #[test]
    fn a_small_segment_holds_another() {
        let mut train = Train::new(true, 44);
        train.sent(1448, 1448, 1449);
        assert!(train.may_split() && !train.nagle_holds(1, 1449));
        train.sent(100, 1448, 1549);
        assert!(!train.may_split() && train.nagle_holds(1, 1549));
        assert!(!train.nagle_holds(1549, 1549), "acknowledged");
    }
}

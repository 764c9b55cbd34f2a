//! The window, and what an algorithm is told and may look at.

use slowpath_units::{BitRate, Duration, Time};

/// The congestion window of one connection, in segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
    /// Acknowledged segments that have not yet added up to one more segment of window.
    pub(crate) count: u32,
    /// The largest window at the time of the last reduction.
    pub(crate) prior: u32,
}

impl Window {
    pub(crate) const fn new(initial: u32, threshold: Option<u32>) -> Self {
        Self {
            cwnd: initial,
            ssthresh: match threshold {
                Some(threshold) => threshold,
                None => INFINITE,
            },
            count: 0,
            prior: 0,
        }
    }

    pub(crate) const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The threshold if a reduction came now (`tcp_current_ssthresh`).
    pub(crate) fn threshold_now(&self, state: State) -> u32 {
        if state == State::Cwr || state == State::Recovery {
            self.ssthresh
        } else {
            self.ssthresh.max((self.cwnd >> 1) + (self.cwnd >> 2))
        }
    }

    /// Grows by `acked` up to the threshold and returns what is left (`tcp_slow_start`).
    pub(crate) fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(LARGEST);
        left
    }

    /// Grows by one segment for every `per_segment` acknowledged (`tcp_cong_avoid_ai`).
    pub(crate) fn additive_increase(&mut self, per_segment: u32, acked: u32) {
        let per_segment = per_segment.max(1);
        if self.count >= per_segment {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per_segment {
            let more = self.count / per_segment;
            self.count -= more * per_segment;
            self.cwnd += more;
        }
        self.cwnd = self.cwnd.min(LARGEST);
    }
}

/// What an algorithm may look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) now: Time,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    pub(crate) srtt: Option<Duration>,
    pub(crate) min_rtt: Option<Duration>,
    pub(crate) in_flight: u32,
    pub(crate) mss: u32,
    pub(crate) delivered: u64,
    pub(crate) lost_total: u64,
    pub(crate) app_limited: bool,
    pub(crate) state: State,
    /// The sender paces, by its own wish or the host's.
    pub(crate) paced: bool,
    pub(crate) pacing_rate: Option<BitRate>,
}

/// The state of loss recovery (`tcp_ca_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// Nothing unusual.
    Open,
    /// Duplicate acknowledgements or SACK blocks, too few to mean loss.
    Disorder,
    /// The window is being reduced because of ECN or a tail loss probe.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// A measurement of delivery between two acknowledgements (`tcp_rate.c`).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateSample {
    /// Segments delivered over `interval`; `None` if there is no valid sample.
    pub(crate) delivered: Option<u64>,
    pub(crate) interval: Duration,
    /// Value of the delivered counter when the newest delivered segment was sent.
    pub(crate) prior_delivered: u64,
    pub(crate) rtt: Option<Duration>,
    /// Segments newly marked lost by this acknowledgement.
    pub(crate) losses: u32,
    /// Segments newly acknowledged or sacked by it.
    pub(crate) acked_sacked: u32,
    pub(crate) prior_in_flight: u32,
    pub(crate) app_limited: bool,
    pub(crate) ack_delayed: bool,
}

/// The hooks of an algorithm; each says what has just happened.
pub(crate) trait Algorithm {
    /// Loss or a mark was found: the new slow start threshold is asked for.
    fn ssthresh(&mut self, view: &View, window: &Window) -> u32;

    /// `acked` segments were acknowledged while the window was in use and recovery is not on.
    fn increase(&mut self, view: &View, window: &mut Window, acked: u32);

    /// An acknowledgement gave a round-trip time.
    fn round_trip(&mut self, _view: &View, _window: &mut Window, _rtt: Duration) {}

    /// The recovery state is about to change to `state`.
    fn state_change(&mut self, _view: &View, _window: &mut Window, _state: State) {}

    /// Data goes out after nothing was in flight; `idle` is the time since the last transmission.
    fn restart(&mut self, _view: &View, _window: &mut Window, _idle: Duration) {}

    /// A reduction turned out needless: the window to return to.
    fn undo(&mut self, _view: &View, window: &Window) -> u32 {
        window.cwnd.max(window.prior)
    }
}

/// No threshold yet (`TCP_INFINITE_SSTHRESH`).
pub(crate) const INFINITE: u32 = 0x7fff_ffff;
/// Segments of the largest window.
pub(crate) const LARGEST: u32 = 0x3fff_ffff;

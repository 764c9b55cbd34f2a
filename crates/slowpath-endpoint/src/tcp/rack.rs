//! RACK: a segment is lost when one sent later was delivered and enough time has passed (RFC 8985).

use slowpath_units::{Duration, Time};

/// State of RACK (`struct tcp_rack_info` of Linux).
#[derive(Debug, Clone)]
pub(crate) struct Rack {
    /// When the most recently sent segment of those delivered was sent, its end, and its round trip.
    sent: Time,
    end: u64,
    rtt: Duration,
    pub(crate) advanced: bool,
    /// The reordering window in quarters of the smallest round trip.
    steps: u32,
    persist: u32,
    pub(crate) dsack_seen: bool,
    last_delivered: u64,
}

impl Default for Rack {
    fn default() -> Self {
        Self {
            sent: Time::ZERO,
            end: 0,
            rtt: Duration::ZERO,
            advanced: false,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            last_delivered: 0,
        }
    }
}

impl Rack {
    /// A segment was delivered (RFC 8985, section 6.2, step 2).
    pub(crate) fn advance(
        &mut self,
        now: Time,
        sent: Time,
        end: u64,
        retransmitted: bool,
        min_rtt: Option<Duration>,
    ) {
        let rtt = now.since(sent);
        if retransmitted && min_rtt.is_some_and(|min| rtt < min) {
            // Probably the original, not the retransmission, was acknowledged.
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent, end) > (self.sent, self.end) {
            self.sent = sent;
            self.end = end;
        }
    }

    /// Widens the reordering window when D-SACK shows needless retransmissions (section 6.2, step 4).
    pub(crate) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered < self.last_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = (self.steps + 1).min(255);
            self.dsack_seen = false;
            self.last_delivered = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery ended; the wider window is forgotten after sixteen of them.
    pub(crate) const fn recovery_ended(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }
}

impl Rack {
    /// How long a segment may be overtaken at a smallest round trip of `min_rtt` (`tcp_rack_reo_wnd`).
    pub(crate) fn reordering_window(&self, min_rtt: Duration) -> Duration {
        min_rtt / 4 * u64::from(self.steps)
    }

    /// Whether a segment sent then, ending there, left after the newest one delivered: no judgement on it yet.
    pub(crate) fn is_behind(&self, sent: Time, end: u64) -> bool {
        (sent, end) >= (self.sent, self.end)
    }

    /// When a segment sent then should have been delivered.
    pub(crate) fn expected(&self, sent: Time) -> Time {
        sent + self.rtt
    }
}

const PERSIST: u32 = 16;

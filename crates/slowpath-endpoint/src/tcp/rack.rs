//! RACK: a segment is lost when one sent later was delivered and enough time has passed (RFC 8985).

use slowpath_units::{Duration, Time};

use super::sender::{Sender, TimerKind};
use crate::cc::State;

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

impl Sender {
    /// Whether RACK decides about losses on this connection.
    pub(crate) const fn uses_rack(&self) -> bool {
        self.settings.rack && self.sack
    }

    /// How long a segment may be overtaken before it counts as lost (`tcp_rack_reo_wnd`).
    fn reordering_window(&self) -> Duration {
        if !self.reordering_seen && (self.state >= State::Recovery || self.sacked_out() >= self.reordering) {
            return Duration::ZERO;
        }
        let min_rtt = self.rtt.minimum().unwrap_or(Duration::ZERO);
        let window = min_rtt / 4 * u64::from(self.rack.steps);
        window.min(self.rtt.smoothed().unwrap_or(Duration::ZERO))
    }

    /// Marks what RACK takes for lost and sets the reordering timer for the rest (section 6.2, step 5).
    ///
    /// Returns whether the reordering timer was set.
    pub(crate) fn rack_mark_lost(&mut self, now: Time) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(now);
        if wait > Duration::ZERO {
            self.timer = Some((TimerKind::Reorder, now + wait + REORDER_SLACK));
            return true;
        }
        false
    }

    /// Marks lost segments; the result is how long to wait for those still in doubt.
    fn rack_detect(&mut self, now: Time) -> Duration {
        let window = self.reordering_window();
        let mut wait = Duration::ZERO;
        let mut next = self.board.oldest();
        while let Some(number) = next {
            next = self.board.sent_after(number);
            let segment = *self.board.get(number);
            if (segment.sent, segment.end) >= (self.rack.sent, self.rack.end) {
                break;
            }
            let deadline = segment.sent + self.rack.rtt + window;
            if deadline <= now {
                self.mark_lost(number);
            } else {
                wait = Duration::from_nanos(wait.nanos().max(deadline.since(now).nanos()));
            }
        }
        wait
    }

    /// Whether RACK's time for this segment is over, taken with no reordering window.
    pub(crate) fn rack_expired(&self, now: Time, sent: Time) -> bool {
        sent + self.rack.rtt <= now
    }

    /// The reordering timer fired (`tcp_rack_reo_timeout`).
    pub(crate) fn reorder_timeout(&mut self, now: Time) {
        let before = self.in_flight();
        self.rack_detect(now);
        // What is lost goes out at the next poll.
        if before != self.in_flight() && self.state != State::Recovery {
            self.enter_recovery(now, false);
            if !self.control.is_bbr() {
                self.reduce_window(1, 0, false);
            }
        }
        if self.timer.is_none() {
            self.arm_retransmit(now);
        }
    }
}

const PERSIST: u32 = 16;
/// What the timer waits beyond the deadline (Linux: two ticks).
const REORDER_SLACK: Duration = Duration::from_millis(2);

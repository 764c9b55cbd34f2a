//! Which segments are lost: by RACK (RFC 8985), by counting (RFC 6675), by duplicate acknowledgements (RFC 6582).

use slowpath_units::{Duration, Time};

use super::ack::Findings;
use super::scoreboard::{Marks, before};
use super::sender::Sender;
use super::timer::TimerKind;
use crate::cc::State;

impl Sender {
    /// Marks losses by RACK, or by counting on a connection without SACK.
    pub(crate) fn identify_losses(&mut self, now: Time, found: &mut Findings) {
        if !self.sack {
            let fresh = self.state < State::Recovery && self.sacks.reno() >= self.sacks.reordering();
            if (fresh || (self.state == State::Recovery && found.advanced)) && !self.board.is_empty() {
                let head = self.board.first();
                if !self.board.get(head).is(Marks::LOST) {
                    self.mark_lost(head);
                    self.sacks.limit_reno(self.reno_room());
                }
            }
        } else if self.uses_rack() {
            let before = self.board.retransmitted;
            if self.rack_mark_lost(now) {
                found.set_timer = false;
            }
            found.lost_retransmission |= self.board.retransmitted < before;
        }
    }

    /// Marks segments below enough SACKed ones (RFC 6675), at least the head when recovery starts.
    pub(crate) fn mark_by_count(&mut self, at_least_head: bool) {
        let mut above = self.board.sacked;
        let mut number = self.board.first();
        let end = self.board.end();
        let mut marked = false;
        while before(number, end) && above >= self.sacks.reordering() {
            let segment = self.board.get(number);
            if segment.is(Marks::SACKED) {
                above -= 1;
            } else if !segment.is(Marks::LOST) {
                self.mark_lost(number);
                marked = true;
            }
            number = number.wrapping_add(1);
        }
        if at_least_head && !marked && self.board.lost == 0 && !self.board.is_empty() {
            let head = self.board.first();
            self.mark_lost(head);
        }
    }

    pub(crate) fn mark_lost(&mut self, number: u32) {
        if self.board.mark_lost(number) {
            self.delivery.add_lost();
        }
    }

    pub(crate) fn time_to_recover(&self) -> bool {
        self.board.lost > 0 || (!self.uses_rack() && self.sacked_out() >= self.sacks.reordering())
    }

    /// Whether RACK decides about losses on this connection.
    pub(crate) const fn uses_rack(&self) -> bool {
        self.settings.rack && self.sack
    }

    /// How long a segment may be overtaken before it counts as lost (`tcp_rack_reo_wnd`).
    fn reordering_window(&self) -> Duration {
        if !self.sacks.reordered()
            && (self.state >= State::Recovery || self.sacked_out() >= self.sacks.reordering())
        {
            return Duration::ZERO;
        }
        let min_rtt = self.rtt.minimum().unwrap_or(Duration::ZERO);
        let window = self.rack.reordering_window(min_rtt);
        window.min(self.rtt.smoothed().unwrap_or(Duration::ZERO))
    }

    /// Marks what RACK takes for lost and sets the reordering timer for the rest (section 6.2, step 5).
    ///
    /// Returns whether the reordering timer was set.
    fn rack_mark_lost(&mut self, now: Time) -> bool {
        if !self.rack.advanced {
            return false;
        }
        self.rack.advanced = false;
        let wait = self.rack_detect(now);
        if wait > Duration::ZERO {
            self.timer.set(TimerKind::Reorder, now + wait + REORDER_SLACK);
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
            if self.rack.is_behind(segment.sent, segment.end()) {
                break;
            }
            let deadline = self.rack.expected(segment.sent) + window;
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
        self.rack.expected(sent) <= now
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
        if !self.timer.is_set() {
            self.arm_retransmit(now);
        }
    }
}

/// What the timer waits beyond the deadline (Linux: two ticks).
const REORDER_SLACK: Duration = Duration::from_millis(2);

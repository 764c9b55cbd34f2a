//! Loss recovery as a state machine (`tcp_fastretrans_alert` of `net/ipv4/tcp_input.c`).
//!
//! | | Linux | here | why |
//! |---|---|---|---|
//! | partly SACKed segment | split | counts as not SACKed | every segment is one packet here |
//! | `proportional = false` | always PRR | window set to the threshold at once | RFC 6582 stacks |
//! | SACK reneging | detected after a delay | only at a timeout | rare |
//! | undo by timestamps (RFC 3522) | on partial and full acknowledgement | D-SACK and F-RTO only | millisecond clock |

use slowpath_units::Time;

use super::ack::Findings;
use super::scoreboard::before;
use super::sender::{Sender, TimerKind};
use crate::cc::State;

impl Sender {
    /// Something unusual came with an acknowledgement, or the state is unusual.
    pub(crate) fn alert(&mut self, now: Time, found: &mut Findings) {
        if found.ece {
            self.prior_ssthresh = None;
        }
        if self.leave_state(now) {
            return;
        }
        let enter = match self.state {
            State::Recovery => {
                if !found.advanced && !self.sack {
                    self.add_reno_sack(found.duplicates);
                }
                if self.try_undo_dsack(now) {
                    self.try_to_open(now, found.ece);
                }
                self.identify_losses(now, found);
                self.state != State::Recovery
            }
            State::Loss => {
                self.process_loss(now, found);
                self.identify_losses(now, found);
                self.state == State::Open || found.lost_retransmission
            }
            State::Open | State::Disorder | State::Cwr => {
                if !self.sack {
                    if found.advanced {
                        self.reno_sacked = 0;
                    }
                    self.add_reno_sack(found.duplicates);
                }
                if self.state <= State::Disorder {
                    self.try_undo_dsack(now);
                }
                self.identify_losses(now, found);
                true
            }
        };
        if enter {
            if self.time_to_recover() {
                self.enter_recovery(now, found.ece);
                if !self.uses_rack() && self.sack {
                    self.mark_by_count(true);
                }
            } else {
                self.try_to_open(now, found.ece);
            }
        } else if !self.uses_rack() && self.sack && self.state == State::Recovery {
            self.mark_by_count(found.duplicates == 0 && found.advanced);
        }
    }

    /// Leaves CWR, recovery or loss when everything sent before it is acknowledged; true if that ends the matter.
    fn leave_state(&mut self, now: Time) -> bool {
        if self.state == State::Open {
            self.first_retransmission = None;
            return false;
        }
        if self.una < self.high_seq {
            return false;
        }
        match self.state {
            State::Cwr if self.una != self.high_seq => {
                self.end_reduction();
                self.set_state(now, State::Open);
            }
            State::Recovery => {
                self.reno_sacked = 0;
                if self.try_undo_recovery(now) {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    /// Marks losses by RACK, or by counting on a connection without SACK.
    fn identify_losses(&mut self, now: Time, found: &mut Findings) {
        if !self.sack {
            let fresh = self.state < State::Recovery && self.reno_sacked >= self.reordering;
            if (fresh || (self.state == State::Recovery && found.advanced)) && !self.board.is_empty() {
                let head = self.board.first();
                if !self.board.get(head).lost {
                    self.mark_lost(head);
                    self.limit_after_loss();
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

    fn limit_after_loss(&mut self) {
        let room = self.board.len().saturating_sub(self.board.lost.max(1));
        self.reno_sacked = self.reno_sacked.min(room);
    }

    /// Marks segments below enough SACKed ones (RFC 6675), at least the head when recovery starts.
    fn mark_by_count(&mut self, at_least_head: bool) {
        let mut above = self.board.sacked;
        let mut number = self.board.first();
        let end = self.board.end();
        let mut marked = false;
        while before(number, end) && above >= self.reordering {
            let segment = self.board.get(number);
            if segment.sacked {
                above -= 1;
            } else if !segment.lost {
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
            self.lost_total += 1;
        }
    }

    fn time_to_recover(&self) -> bool {
        self.board.lost > 0 || (!self.uses_rack() && self.sacked_out() >= self.reordering)
    }

    /// Begins fast recovery (`tcp_enter_recovery`).
    pub(crate) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.prior_ssthresh = None;
        self.begin_undo();
        if self.state < State::Cwr {
            if !ece {
                self.prior_ssthresh = Some(self.current_ssthresh());
            }
            self.begin_reduction(now);
        }
        self.counters.recoveries += 1;
        self.set_state(now, State::Recovery);
        if !self.settings.proportional {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    fn begin_undo(&mut self) {
        self.undo_marker = self.settings.undo.then_some(self.una);
        // Retransmissions still in flight count as well; `None` means that there is nothing to disprove yet.
        self.undo_retransmissions = (self.board.retransmitted > 0).then_some(self.board.retransmitted);
    }

    /// The window is about to fall to a new threshold (`tcp_init_cwnd_reduction`).
    pub(crate) fn begin_reduction(&mut self, now: Time) {
        self.high_seq = self.nxt;
        self.tail_probe = None;
        self.window.count = 0;
        self.window.prior = self.window.cwnd;
        self.prr_delivered = 0;
        self.prr_out = 0;
        let view = self.view(now);
        self.window.ssthresh = self.control.hooks().ssthresh(&view, &self.window);
        self.cwr_pending = true;
    }

    /// Proportional rate reduction (RFC 6937 with the slow start bound; `tcp_cwnd_reduction`).
    pub(crate) fn reduce_window(&mut self, acked_sacked: u32, newly_lost: u32, advanced: bool) {
        if acked_sacked == 0 || self.window.prior == 0 {
            return;
        }
        if !self.settings.proportional {
            self.window.cwnd = self.window.ssthresh;
            return;
        }
        let in_flight = self.in_flight();
        let ssthresh = self.window.ssthresh;
        self.prr_delivered += acked_sacked;
        let mut send = if in_flight > ssthresh {
            let quota =
                (u64::from(ssthresh) * u64::from(self.prr_delivered)).div_ceil(u64::from(self.window.prior));
            u32::try_from(quota)
                .unwrap_or(u32::MAX)
                .saturating_sub(self.prr_out)
        } else {
            let mut send = self.prr_delivered.saturating_sub(self.prr_out).max(acked_sacked);
            if advanced && newly_lost == 0 {
                send += 1;
            }
            send.min(ssthresh - in_flight)
        };
        // Entering recovery always retransmits one segment.
        send = send.max(u32::from(self.prr_out == 0));
        self.window.cwnd = in_flight + send;
    }

    /// The reduction is complete (`tcp_end_cwnd_reduction`).
    pub(crate) fn end_reduction(&mut self) {
        if self.control.is_bbr() {
            return;
        }
        let reduced = self.window.ssthresh < crate::cc::INFINITE
            && (self.state == State::Cwr || self.undo_marker.is_some() || !self.settings.undo);
        if reduced {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    pub(crate) fn set_state(&mut self, now: Time, state: State) {
        if self.state >= State::Recovery && state < State::Recovery {
            self.rack.recovery_ended();
        }
        let view = self.view(now);
        self.control.hooks().state_change(&view, &mut self.window, state);
        self.state = state;
    }

    /// Nothing proves loss: Open, or Disorder while something is SACKed (`tcp_try_to_open`).
    fn try_to_open(&mut self, now: Time, ece: bool) {
        if !self.any_retransmission_done() {
            self.first_retransmission = None;
        }
        if ece {
            self.enter_cwr(now);
        }
        if self.state != State::Cwr {
            self.keep_open(now);
        }
    }

    pub(crate) fn keep_open(&mut self, now: Time) {
        let disorder = self.sacked_out() + self.board.lost > 0 || self.any_retransmission_done();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.set_state(now, state);
            self.high_seq = self.nxt;
        }
    }

    fn any_retransmission_done(&self) -> bool {
        self.board.retransmitted > 0 || self.board.front().is_some_and(|head| head.ever_retransmitted)
    }

    /// A queue marked a packet: one reduction for each window of data (`tcp_enter_cwr`; RFC 3168).
    fn enter_cwr(&mut self, now: Time) {
        self.prior_ssthresh = None;
        if self.state < State::Cwr {
            self.undo_marker = None;
            self.begin_reduction(now);
            self.counters.ecn_reductions += 1;
            self.set_state(now, State::Cwr);
        }
    }

    /// All retransmissions were reported as duplicates (RFC 3708).
    fn may_undo(&self) -> bool {
        self.undo_marker.is_some() && self.undo_retransmissions == Some(0)
    }

    fn undo(&mut self, now: Time, unmark: bool) {
        if unmark {
            self.board.clear_lost();
        }
        if let Some(prior) = self.prior_ssthresh {
            let view = self.view(now);
            self.window.cwnd = self.control.hooks().undo(&view, &self.window);
            if prior > self.window.ssthresh {
                self.window.ssthresh = prior;
                self.cwr_pending = false;
            }
        }
        self.counters.undone += 1;
        self.undo_marker = None;
        self.rack.advanced = true;
    }

    fn try_undo_recovery(&mut self, now: Time) -> bool {
        if self.may_undo() {
            self.undo(now, false);
        }
        if self.una == self.high_seq && !self.sack {
            // Hold the state until something above is acknowledged: no false fast retransmit (RFC 6582, section 4.1).
            if !self.any_retransmission_done() {
                self.first_retransmission = None;
            }
            return true;
        }
        self.set_state(now, State::Open);
        false
    }

    fn try_undo_dsack(&mut self, now: Time) -> bool {
        if self.may_undo() {
            self.undo(now, false);
            return true;
        }
        false
    }

    fn try_undo_loss(&mut self, now: Time, spurious: bool) -> bool {
        if !spurious && !self.may_undo() {
            return false;
        }
        self.undo(now, true);
        self.timeouts_in_a_row = 0;
        if spurious || self.sack {
            self.set_state(now, State::Open);
        }
        true
    }

    /// An acknowledgement arrived after a timeout (`tcp_process_loss`; RFC 5682 with SACK).
    fn process_loss(&mut self, now: Time, found: &Findings) {
        let recovered = self.una >= self.high_seq;
        if found.advanced && self.try_undo_loss(now, false) {
            return;
        }
        if self.forward_rto {
            if found.original_acked && self.settings.undo && self.try_undo_loss(now, true) {
                return;
            }
            if self.nxt > self.high_seq {
                if found.data_sacked || found.duplicates > 0 {
                    self.forward_rto = false;
                }
            } else if found.advanced && !recovered {
                self.high_seq = self.nxt;
                let room = (self.una + self.peer_window) > self.nxt;
                if self.write_end() > self.nxt && room {
                    self.new_data_first = true;
                    return;
                }
                self.forward_rto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(now);
            return;
        }
        if !self.sack {
            if self.nxt > self.high_seq && found.duplicates > 0 {
                self.add_reno_sack(found.duplicates);
            } else if found.advanced {
                self.reno_sacked = 0;
            }
        }
    }

    /// The retransmission timer fired (`tcp_retransmit_timer`, `tcp_enter_loss`).
    pub(crate) fn retransmit_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        self.timeouts_in_a_row += 1;
        if self.timeouts_in_a_row > self.settings.retries {
            self.given_up = true;
            return;
        }
        self.counters.timeouts += 1;
        let first = self.board.first();
        let reneged = self.board.get(first).sacked;
        if reneged {
            self.board.clear_sacked();
            self.sack_cache = [(0, 0); 4];
        } else if !self.sack {
            self.reno_sacked = 0;
        }
        let end = self.board.end();
        let mut number = first;
        while before(number, end) {
            let segment = self.board.get(number);
            let recent = self.uses_rack() && number != first && !self.rack_expired(now, segment.sent);
            if !recent {
                self.mark_lost(number);
            }
            number = number.wrapping_add(1);
        }
        let fresh = self.state <= State::Disorder || self.una >= self.high_seq;
        if fresh || (self.state == State::Loss && self.timeouts_in_a_row == 1) {
            self.prior_ssthresh = Some(self.current_ssthresh());
            self.window.prior = self.window.cwnd;
            let view = self.view(now);
            self.window.ssthresh = self.control.hooks().ssthresh(&view, &self.window);
            self.begin_undo();
        }
        self.window.cwnd = self.in_flight() + 1;
        self.window.count = 0;
        let new_recovery = self.state < State::Recovery;
        self.set_state(now, State::Loss);
        self.high_seq = self.nxt;
        self.cwr_pending = true;
        self.tail_probe = None;
        self.new_data_first = false;
        self.forward_rto =
            self.settings.forward_rto && self.sack && (new_recovery || self.timeouts_in_a_row > 1);
        self.rtt.back_off();
        self.timer = Some((TimerKind::Retransmit, now + self.rtt.timeout()));
    }
}

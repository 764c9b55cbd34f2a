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
use super::scoreboard::{Marks, before};
use super::sender::Sender;
use super::timer::TimerKind;
use crate::cc::State;

impl Sender {
    /// Something unusual came with an acknowledgement, or the state is unusual.
    #[inline(never)]
    pub(crate) fn alert(&mut self, now: Time, found: &mut Findings) {
        if found.ece {
            self.undo.forget_threshold();
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
                        self.sacks.clear_reno();
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
                self.sacks.clear_reno();
                if self.try_undo_recovery(now) {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    /// Begins fast recovery (`tcp_enter_recovery`).
    pub(crate) fn enter_recovery(&mut self, now: Time, ece: bool) {
        self.undo.forget_threshold();
        self.begin_undo();
        if self.state < State::Cwr {
            if !ece {
                self.undo.keep_threshold(self.window.threshold_now(self.state));
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
        // Retransmissions still in flight count as well.
        self.undo
            .begin(self.settings.undo, self.una, self.board.retransmitted);
    }

    /// The window is about to fall to a new threshold (`tcp_init_cwnd_reduction`).
    pub(crate) fn begin_reduction(&mut self, now: Time) {
        self.high_seq = self.nxt;
        self.tail_probe = None;
        self.window.count = 0;
        self.window.prior = self.window.cwnd;
        self.reduction.begin();
        let view = self.view(now);
        self.window.ssthresh = self.control.hooks().ssthresh(&view, &self.window);
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
        let send = self
            .reduction
            .quota(&self.window, in_flight, acked_sacked, newly_lost, advanced);
        self.window.cwnd = in_flight + send;
    }

    /// The reduction is complete (`tcp_end_cwnd_reduction`).
    pub(crate) fn end_reduction(&mut self) {
        if self.control.is_bbr() {
            return;
        }
        let reduced = self.window.ssthresh < crate::cc::INFINITE
            && (self.state == State::Cwr || self.undo.is_open() || !self.settings.undo);
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
        self.board.retransmitted > 0
            || self
                .board
                .front()
                .is_some_and(|head| head.is(Marks::EVER_RETRANSMITTED))
    }

    /// A queue marked a packet: one reduction for each window of data (`tcp_enter_cwr`; RFC 3168).
    fn enter_cwr(&mut self, now: Time) {
        self.undo.forget_threshold();
        if self.state < State::Cwr {
            self.undo.close();
            self.begin_reduction(now);
            self.counters.ecn_reductions += 1;
            self.set_state(now, State::Cwr);
        }
    }

    fn take_back(&mut self, now: Time, unmark: bool) {
        if unmark {
            self.board.clear_lost();
        }
        if let Some(prior) = self.undo.threshold() {
            let view = self.view(now);
            self.window.cwnd = self.control.hooks().undo(&view, &self.window);
            if prior > self.window.ssthresh {
                self.window.ssthresh = prior;
                self.reduction.withdraw();
            }
        }
        self.counters.undone += 1;
        self.undo.close();
        self.rack.advanced = true;
    }

    fn try_undo_recovery(&mut self, now: Time) -> bool {
        if self.undo.is_proven() {
            self.take_back(now, false);
        }
        if self.una == self.high_seq && !self.sack {
            // Hold the state until something above is acknowledged: no false fast retransmit (RFC 6582, section 4.1).
            return true;
        }
        self.set_state(now, State::Open);
        false
    }

    fn try_undo_dsack(&mut self, now: Time) -> bool {
        if self.undo.is_proven() {
            self.take_back(now, false);
            return true;
        }
        false
    }

    fn try_undo_loss(&mut self, now: Time, spurious: bool) -> bool {
        if !spurious && !self.undo.is_proven() {
            return false;
        }
        self.take_back(now, true);
        self.timeouts.progress();
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
        if self.timeouts.doubted() {
            if found.original_acked && self.settings.undo && self.try_undo_loss(now, true) {
                return;
            }
            if self.nxt > self.high_seq {
                if found.data_sacked || found.duplicates > 0 {
                    self.timeouts.believe();
                }
            } else if found.advanced && !recovered {
                self.high_seq = self.nxt;
                if self.unsent() > 0 && self.room() > 0 {
                    self.timeouts.try_new_data();
                    return;
                }
                self.timeouts.believe();
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
                self.sacks.clear_reno();
            }
        }
    }

    /// The retransmission timer fired (`tcp_retransmit_timer`, `tcp_enter_loss`).
    pub(crate) fn retransmit_timeout(&mut self, now: Time) {
        if self.board.is_empty() {
            return;
        }
        if !self.timeouts.count(self.settings.retries) {
            return;
        }
        self.counters.timeouts += 1;
        let first = self.board.first();
        let reneged = self.board.get(first).is(Marks::SACKED);
        if reneged {
            self.board.clear_sacked();
            self.sacks.forget();
        } else if !self.sack {
            self.sacks.clear_reno();
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
        if fresh || (self.state == State::Loss && self.timeouts.is_first()) {
            self.undo.keep_threshold(self.window.threshold_now(self.state));
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
        self.reduction.announce();
        self.tail_probe = None;
        let doubtful = new_recovery || !self.timeouts.is_first();
        self.timeouts
            .doubt(self.settings.forward_rto && self.sack && doubtful);
        self.rtt.back_off();
        self.timer.set(TimerKind::Retransmit, now + self.rtt.timeout());
    }
}

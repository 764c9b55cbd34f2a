//! Puts segments on the wire: new data, retransmissions and probes (`tcp_write_xmit` of `net/ipv4/tcp_output.c`).

use slowpath_units::{Duration, Time};
use std::hint::cold_path;

use super::scoreboard::Segment;
use super::sender::Sender;
use super::timer::TimerKind;
use super::train::Cut;
use super::usage::Falls;
use crate::cc::State;

impl Sender {
    /// The next segment to send at `now`, if one may go.
    #[inline]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Cut> {
        if now < self.quiet_until && self.unsent() == 0 && !self.queue.is_finished() {
            self.adapted = false;
            return None;
        }
        self.look(now)
    }

    /// The next segment to send at `now`, looked for.
    fn look(&mut self, now: Time) -> Option<Cut> {
        self.adapted = self.train.is_under_way();
        if self.timer.take_window_probe() {
            cold_path();
            return Some(self.window_probe(now));
        }
        if self.timer.take_tail_probe()
            && let Some(cut) = self.tail_loss_probe(now)
        {
            return Some(cut);
        }
        // Pacing holds back trains, not the segments within one.
        if self.pacer.holds(!self.train.is_under_way() && self.paced(), now) {
            return None;
        }
        let in_flight = self.in_flight();
        if in_flight >= self.window.cwnd {
            self.blocked(now, true);
            return None;
        }
        if !self.timeouts.new_data_first()
            && let Some(number) = self.board.next_lost()
        {
            cold_path();
            return Some(self.retransmit(now, number));
        }
        if !self.settings.limited_transmit
            && self.state == State::Disorder
            && in_flight + self.sacked_out() >= self.window.cwnd
        {
            return None;
        }
        let cut = self.new_data(now);
        if cut.is_none() {
            if self.timeouts.new_data_first() {
                cold_path();
                self.timeouts.doubt(false);
                return self.look(now);
            }
            // Waiting for a larger train counts as held back by the window.
            let deferred = self.train.take_deferred();
            self.blocked(now, deferred);
        }
        cut
    }

    /// Acts on the timer if it is due at `now`.
    pub(crate) fn fire(&mut self, now: Time) {
        let ended = self.timer.take(now);
        if ended.is_some() {
            self.quiet_until = Time::ZERO;
        }
        match ended {
            Some(TimerKind::Reorder) => self.reorder_timeout(now),
            Some(TimerKind::Retransmit) => self.retransmit_timeout(now),
            Some(TimerKind::Persist) => self.arm_persist(now),
            // The next poll sends the probe.
            Some(TimerKind::TailProbe) | None => {}
        }
    }

    /// Sets the timer after an acknowledgement that made progress: a tail probe if one fits, else the timeout.
    pub(crate) fn rearm(&mut self, now: Time) {
        if self.board.is_empty() {
            if !self.timer.is_for(TimerKind::Persist) {
                self.timer.stop();
            }
            return;
        }
        // The timeout counts from when the head was sent (`tcp_rearm_rto`).
        self.arm_retransmit(now);
        self.schedule_tail_probe(now);
    }

    /// Cuts new data off the stream.
    fn new_data(&mut self, now: Time) -> Option<Cut> {
        let unsent = self.unsent();
        let room = self.room();
        let fin_only = self.queue.is_finished() && self.nxt == self.queue.end();
        if unsent == 0 && !fin_only {
            return None;
        }
        if fin_only {
            cold_path();
            // A FIN needs no window (`tcp_snd_wnd_test` lets it pass with one byte of room).
            if room == 0 && self.peer.bytes > 0 && !self.board.is_empty() {
                return None;
            }
            return Some(self.send_new(now, 0, true));
        }
        let mss = u64::from(self.mss);
        if !self.train.is_under_way() && unsent > mss && room >= mss {
            let segments = self.next_train(now, room)?;
            self.train.begin(segments);
        }
        self.train.follow();
        let mut len = unsent.min(mss);
        let last = len == unsent;
        let ends = self.queue.is_finished() && last;
        if room < len {
            if room == 0 || !self.train.may_split() || self.train.small_outstanding(self.una, self.nxt) {
                return None;
            }
            len = room;
        } else if len < mss && !ends && !self.board.is_empty() && self.train.nagle_holds(self.una, self.nxt) {
            return None;
        }
        let fin = ends && len == unsent && room > len;
        Some(self.send_new(now, u32::try_from(len).unwrap_or(u32::MAX), fin))
    }

    /// How many segments leave together, or nothing while it is better to wait for more (`tcp_write_xmit`,
    /// `tcp_tso_should_defer`): trains of about 1 ms of the rate, as offloads make them.
    fn next_train(&mut self, now: Time, room: u64) -> Option<u32> {
        if self.train.single {
            return Some(1);
        }
        let mss = u64::from(self.mss);
        let (cwnd, in_flight) = (self.window.cwnd, self.in_flight());
        let open = cwnd.saturating_sub(in_flight).max(1);
        let rate = self.control.pacing_rate().or_else(|| self.plain_pacing_rate());
        let rate = self.pacer.capped(rate);
        let most = self.train.size(rate, self.rtt.minimum(), self.mss);
        let quota = open.min((cwnd / 2).max(1)).min(most);
        let limit = room.min(u64::from(open) * mss);
        let written = if self.paced() {
            self.last_sent.max(self.pacer.next())
        } else {
            self.last_sent
        };
        let chunk = self.peer.bytes.min(u64::from(cwnd) * mss) / 3;
        // Only if the next acknowledgement is near (6.18: within 1 ms, or half a round trip if that is less).
        let soon = match (self.board.front(), self.rtt.smoothed()) {
            (Some(head), Some(srtt)) => head.sent + srtt <= now + (srtt / 2).min(DEFER_AT_MOST),
            (head, _) => head.is_some(),
        };
        let defer = self.state < State::Recovery
            && now.since(written) <= DEFER_AT_MOST
            && limit < u64::from(most) * mss
            && limit < chunk
            && soon
            && !(self.queue.is_finished() && self.unsent() <= limit);
        if defer {
            self.train.defer();
            return None;
        }
        Some(quota)
    }

    fn send_new(&mut self, now: Time, len: u32, fin: bool) -> Cut {
        let start = self.nxt;
        let length = len + u32::from(fin);
        let end = start + u64::from(length);
        if self.board.is_empty() {
            cold_path();
            self.delivery.restart(now);
            let idle = now.since(self.last_sent);
            if self.counters.segments > 0 {
                let view = self.view(now);
                self.control.hooks().restart(&view, &mut self.window, idle);
            }
        }
        let mut segment = Segment::new(start, length, now);
        self.delivery.stamp(&mut segment);
        self.board.push(segment);
        self.nxt = end;
        self.train.sent(len, self.mss, end);
        if self.timeouts.new_data_first() && self.nxt > self.high_seq {
            self.timeouts.new_data_sent();
        }
        self.sent(now, len);
        if !self.timer.is_set() || self.timer.is_for(TimerKind::Persist) || self.board.len() == 1 {
            self.arm_retransmit(now);
        }
        self.schedule_tail_probe(now);
        let push = self.nxt >= self.queue.end();
        Cut {
            start,
            len,
            fin,
            push,
            retransmission: false,
            probe: false,
        }
    }

    fn retransmit(&mut self, now: Time, number: u32) -> Cut {
        let mut segment = *self.board.get(number);
        self.delivery.stamp(&mut segment);
        *self.board.get_mut(number) = segment;
        self.board.mark_retransmitted(number, now);
        self.undo.retransmitted();
        self.counters.retransmissions += 1;
        let fin = self.queue.is_finished() && segment.end() == self.queue.end() + 1;
        let len = segment.length() - u32::from(fin);
        self.sent(now, len);
        if number == self.board.first() && !self.timer.is_for(TimerKind::Reorder) {
            self.arm_retransmit(now);
        }
        Cut {
            start: segment.start,
            len,
            fin,
            push: false,
            retransmission: true,
            probe: false,
        }
    }

    /// Notes a transmission: counters, the reduction, the pacing clock.
    fn sent(&mut self, now: Time, len: u32) {
        self.counters.segments += 1;
        self.last_sent = now;
        self.quiet_until = Time::ZERO;
        if matches!(self.state, State::Recovery | State::Cwr) {
            self.reduction.sent();
        }
        // The first ten segments of a connection are not paced (`tcp_update_skb_after_send`).
        if self.paced()
            && self.counters.segments > 10
            && let Some(rate) = self.pacing_rate()
        {
            self.pacer.sent(now, len, rate);
        }
    }

    /// Nothing more can be sent for now: notes why (`tcp_cwnd_validate`, `tcp_rate_check_app_limited`).
    fn blocked(&mut self, now: Time, by_window: bool) {
        self.train.end();
        let out = self.board.len();
        self.usage.note(self.una, self.nxt, out, by_window);
        let fixed = self.control.is_bbr();
        let timeout = self.rtt.timeout();
        let falls = if fixed {
            Falls::Never
        } else if self.state == State::Open && !self.writer_waits {
            Falls::Now
        } else {
            Falls::NotNow
        };
        if self.usage.validate(now, out, timeout, &mut self.window, falls) {
            self.adapted = true;
        }
        let unsent = self.unsent();
        let in_flight = self.in_flight();
        if !by_window
            && unsent < u64::from(self.mss)
            && self.board.lost <= self.board.retransmitted
            && in_flight < self.window.cwnd
        {
            self.delivery.limit_by_application(in_flight);
        }
        if !by_window && self.board.is_empty() && unsent == 0 && !self.queue.is_finished() {
            // Until something is written, or the window falls for want of use, looking again would change nothing.
            self.quiet_until = self.usage.falls_at(timeout, fixed);
        }
        // Something waits but the peer's window is closed: probe (RFC 9293, section 3.8.6.1).
        if self.board.is_empty() && (unsent > 0 || self.fin_outstanding()) && !self.timer.is_set() {
            cold_path();
            self.arm_persist(now);
        }
    }

    /// Sets a tail loss probe if the state allows (`tcp_schedule_loss_probe`; RFC 8985, section 7.2).
    fn schedule_tail_probe(&mut self, now: Time) {
        let wanted = self.settings.tail_loss_probe
            && self.sack
            && !self.board.is_empty()
            && self.sacked_out() == 0
            && self.board.lost == 0
            && matches!(self.state, State::Open | State::Cwr)
            && self.tail_probe.is_none()
            && matches!(
                self.timer.kind(),
                None | Some(TimerKind::Retransmit | TimerKind::TailProbe)
            );
        if !wanted {
            return;
        }
        let mut delay = match self.rtt.smoothed() {
            Some(srtt) if self.board.len() == 1 => srtt * 2 + self.settings.min_rto,
            Some(srtt) => srtt * 2 + TAIL_PROBE_SLACK,
            None => self.settings.initial_rto,
        };
        if self.timer.is_for(TimerKind::Retransmit)
            && let Some(at) = self.timer.at()
        {
            delay = delay.min(at.since(now));
        }
        self.timer.set(TimerKind::TailProbe, now + delay);
    }

    /// A byte-less segment just below the window, or what little fits into it (`tcp_write_wakeup`).
    fn window_probe(&mut self, now: Time) -> Cut {
        self.counters.window_probes += 1;
        let room = self.room();
        let unsent = self.unsent();
        if room > 0 && unsent > 0 {
            let len = room.min(unsent).min(u64::from(self.mss));
            return self.send_new(now, u32::try_from(len).unwrap_or(0), false);
        }
        Cut {
            start: self.una - 1,
            len: 0,
            fin: false,
            push: false,
            retransmission: false,
            probe: true,
        }
    }

    /// New data if there are some, else the last segment again (RFC 8985, section 7.3).
    #[cold]
    #[inline(never)]
    fn tail_loss_probe(&mut self, now: Time) -> Option<Cut> {
        if self.tail_probe.is_some() || self.board.is_empty() {
            self.arm_retransmit(now);
            return None;
        }
        self.counters.tail_probes += 1;
        self.train.single = true;
        let fresh = self.new_data(now);
        self.train.single = false;
        self.train.cut_short();
        let cut = if let Some(cut) = fresh {
            self.tail_probe = Some((self.nxt, false));
            cut
        } else {
            let last = self.board.end().wrapping_sub(1);
            let cut = self.retransmit(now, last);
            self.tail_probe = Some((self.nxt, true));
            cut
        };
        self.arm_retransmit(now);
        Some(cut)
    }
}

/// A train waits for more only if the last one left within this span (`tcp_tso_should_defer`).
const DEFER_AT_MOST: Duration = Duration::from_millis(1);

/// What a tail loss probe waits beyond two round trips (Linux: two ticks).
const TAIL_PROBE_SLACK: Duration = Duration::from_millis(2);

//! The sending half of a connection: what may be sent, and when.
//!
//! Sequence numbers are 64-bit offsets: 0 is the SYN, data begin at 1, the FIN follows the last byte.
//! Windows and counts are in segments, as in Linux. [`super::ack`] takes acknowledgements in,
//! [`super::recovery`] is the state machine of loss recovery.

use slowpath_units::{BitRate, Duration, Time};

use super::config::{Config, Pacing, Recovery, SendBuffer};
use super::rack::Rack;
use super::rtt::Rtt;
use super::scoreboard::{Scoreboard, Segment};
use super::stream::SendStream;
use crate::cc::{Controller, State, View, Window};

/// What the retransmission timer is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimerKind {
    /// RACK waits for reordering to show itself.
    Reorder,
    /// Tail loss probe.
    TailProbe,
    /// Retransmission timeout.
    Retransmit,
    /// Zero-window probe.
    Persist,
}

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

/// Counters of one connection's sending half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that fast recovery was entered.
    pub recoveries: u64,
    /// Reductions taken back.
    pub undone: u64,
    /// Tail loss probes sent.
    pub tail_probes: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Reductions caused by ECN.
    pub ecn_reductions: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Sender {
    pub(crate) mss: u32,
    pub(crate) sack: bool,
    pub(crate) settings: Recovery,
    pub(crate) pacing: Pacing,
    pacing_percent: u32,
    pub(crate) nagle: bool,
    largest_train: u32,
    slow_start_after_idle: bool,
    initial_window: u32,
    send_buffer: SendBuffer,
    buffer_limit: u64,

    pub(crate) stream: SendStream,
    pub(crate) board: Scoreboard,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// `nxt` before segments were cut anew.
    pub(crate) highest_nxt: u64,
    fin: bool,
    /// Send window in bytes, and the largest ever.
    pub(crate) peer_window: u64,
    pub(crate) max_peer_window: u64,
    pub(crate) window_seq: u64,
    /// End of the last segment sent that was not full.
    small_end: u64,

    pub(crate) window: Window,
    pub(crate) control: Controller,
    pub(crate) rtt: Rtt,
    pub(crate) rack: Rack,
    pub(crate) state: State,
    pub(crate) high_seq: u64,
    /// Duplicate acknowledgements of a connection without SACK, as if they were SACKed segments.
    pub(crate) reno_sacked: u32,
    pub(crate) reordering: u32,
    pub(crate) reordering_seen: bool,
    pub(crate) highest_sacked: u64,
    pub(crate) sack_cache: [(u64, u64); 4],

    pub(crate) prr_delivered: u32,
    pub(crate) prr_out: u32,
    pub(crate) undo_marker: Option<u64>,
    pub(crate) undo_retransmissions: Option<u32>,
    pub(crate) prior_ssthresh: Option<u32>,
    pub(crate) first_retransmission: Option<Time>,
    pub(crate) timeouts_in_a_row: u32,
    pub(crate) forward_rto: bool,
    pub(crate) new_data_first: bool,
    /// `nxt` when the tail loss probe went out, and whether it was a retransmission.
    pub(crate) tail_probe: Option<(u64, bool)>,
    pub(crate) cwr_pending: bool,

    pub(crate) delivered: u64,
    pub(crate) delivered_at: Time,
    pub(crate) first_sent: Time,
    pub(crate) app_limited_until: u64,
    pub(crate) lost_total: u64,

    /// The last call, if it had nothing to send, ended a train or changed the window: the next may come to another end.
    pub(crate) adapted: bool,
    cwnd_limited: bool,
    max_packets_out: u32,
    usage_seq: u64,
    cwnd_used: u32,
    cwnd_stamp: Time,
    last_sent: Time,
    pace_next: Time,
    pace_blocked: bool,
    burst: u32,
    /// Segments that may still follow in the train that is being sent.
    train_left: u32,

    pub(crate) timer: Option<(TimerKind, Time)>,
    probe_backoff: u32,
    probe_due: bool,
    tail_due: bool,
    /// A tail loss probe sends one segment whatever the window.
    window_probing: bool,
    deferred: bool,
    pub(crate) given_up: bool,
    pub(crate) counters: SenderCounters,
}

impl Sender {
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        let settings = config.recovery;
        Self {
            mss: u32::from(config.mss),
            sack: false,
            settings,
            pacing: config.pacing,
            pacing_percent: config.pacing_percent,
            nagle: config.nagle,
            largest_train: config.largest_train.max(1),
            slow_start_after_idle: config.slow_start_after_idle,
            initial_window: config.initial_window,
            send_buffer: config.send_buffer,
            buffer_limit: match config.send_buffer {
                SendBuffer::Autotuned { initial, .. } => u64::from(initial),
                SendBuffer::Fixed { bytes } => u64::from(bytes),
            },
            stream: SendStream::default(),
            board: Scoreboard::default(),
            una: 0,
            nxt: 0,
            highest_nxt: 0,
            fin: false,
            peer_window: 0,
            max_peer_window: 0,
            window_seq: 0,
            small_end: 0,
            window: Window::new(config.initial_window, config.slow_start_threshold),
            control: Controller::new(config.congestion, seed),
            rtt: Rtt::new(settings.min_rto, settings.max_rto, settings.initial_rto),
            rack: Rack::default(),
            state: State::Open,
            high_seq: 0,
            reno_sacked: 0,
            reordering: settings.duplicate_acks,
            reordering_seen: false,
            highest_sacked: 0,
            sack_cache: [(0, 0); 4],
            prr_delivered: 0,
            prr_out: 0,
            undo_marker: None,
            undo_retransmissions: None,
            prior_ssthresh: None,
            first_retransmission: None,
            timeouts_in_a_row: 0,
            forward_rto: false,
            new_data_first: false,
            tail_probe: None,
            cwr_pending: false,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited_until: 0,
            lost_total: 0,
            adapted: false,
            cwnd_limited: false,
            max_packets_out: 0,
            usage_seq: 0,
            cwnd_used: 0,
            cwnd_stamp: Time::ZERO,
            last_sent: Time::ZERO,
            pace_next: Time::ZERO,
            pace_blocked: false,
            burst: 0,
            train_left: 0,
            timer: None,
            probe_backoff: 0,
            probe_due: false,
            tail_due: false,
            window_probing: false,
            deferred: false,
            given_up: false,
            counters: SenderCounters::default(),
        }
    }

    /// The handshake is over: options are known, data may flow from offset 1.
    pub(crate) fn establish(&mut self, now: Time, mss: u32, sack: bool, peer_window: u64) {
        self.mss = mss;
        self.sack = sack;
        self.una = 1;
        self.nxt = 1;
        self.peer_window = peer_window;
        self.max_peer_window = peer_window;
        self.cwnd_stamp = now;
        self.delivered_at = now;
        self.first_sent = now;
        self.timer = None;
        self.rtt.reset_back_off();
        self.high_seq = 1;
        // The first window fits the buffer (`tcp_init_buffer_space`).
        self.expand_buffer();
    }

    /// The handshake's round trip is known as well: the algorithm may begin.
    pub(crate) fn start_control(&mut self, now: Time) {
        let view = self.view(now);
        if let Some(bbr) = self.control.bbr() {
            bbr.establish(&view, &self.window);
        }
    }

    /// Segments must be smaller from now on: what is in flight is cut and sent anew.
    pub(crate) fn shrink_segments(&mut self, mss: u32) {
        self.mss = mss;
        self.board = Scoreboard::default();
        self.sack_cache = [(0, 0); 4];
        self.reno_sacked = 0;
        self.highest_nxt = self.highest_nxt.max(self.nxt);
        self.nxt = self.una;
        self.timer = None;
        self.tail_probe = None;
    }

    /// Offset behind everything the application wrote.
    pub(crate) const fn write_end(&self) -> u64 {
        1 + self.stream.end()
    }

    /// The application will write no more.
    pub(crate) const fn finish(&mut self) {
        self.fin = true;
    }

    /// The FIN was acknowledged.
    pub(crate) const fn fin_acknowledged(&self) -> bool {
        self.fin && self.una > self.write_end()
    }

    /// Bytes the application may write now.
    pub(crate) const fn writable(&self) -> u64 {
        self.buffer_limit.saturating_sub(self.queued())
    }

    /// Bytes written and not acknowledged.
    pub(crate) const fn queued(&self) -> u64 {
        self.write_end()
            .saturating_sub(if self.una == 0 { 1 } else { self.una })
    }

    /// Whether a program waiting for space is woken (`sk_stream_is_writeable`).
    pub(crate) const fn wakes_writer(&self) -> bool {
        self.writable() >= self.queued() / 2
    }

    pub(crate) fn sacked_out(&self) -> u32 {
        if self.sack {
            self.board.sacked
        } else {
            self.reno_sacked
        }
    }

    /// Segments believed to be in the network (`tcp_packets_in_flight`).
    pub(crate) fn in_flight(&self) -> u32 {
        (self.board.len() + self.board.retransmitted).saturating_sub(self.sacked_out() + self.board.lost)
    }

    pub(crate) fn view(&self, now: Time) -> View {
        View {
            now,
            una: self.una,
            nxt: self.nxt,
            srtt: self.rtt.smoothed(),
            min_rtt: self.rtt.minimum(),
            in_flight: self.in_flight(),
            mss: self.mss,
            delivered: self.delivered,
            lost_total: self.lost_total,
            app_limited: self.app_limited_until > 0,
            state: self.state,
            paced: self.paced(),
            pacing_rate: self.plain_pacing_rate(),
        }
    }

    /// Whether the window, not the application or the receiver, holds the sender back (`tcp_is_cwnd_limited`).
    pub(crate) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.max_packets_out)
    }

    /// The next segment to send at `now`, if one may go.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Cut> {
        self.adapted = self.train_left > 0;
        if self.probe_due {
            self.probe_due = false;
            return Some(self.window_probe(now));
        }
        if self.tail_due {
            self.tail_due = false;
            if let Some(cut) = self.tail_loss_probe(now) {
                return Some(cut);
            }
        }
        // Pacing holds back trains, not the segments within one.
        self.pace_blocked = self.train_left == 0 && self.paced() && now < self.pace_next;
        if self.pace_blocked {
            return None;
        }
        let in_flight = self.in_flight();
        if in_flight >= self.window.cwnd {
            self.blocked(now, true);
            return None;
        }
        if !self.new_data_first
            && let Some(number) = self.board.next_lost()
        {
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
            if self.new_data_first {
                self.new_data_first = false;
                self.forward_rto = false;
                return self.poll(now);
            }
            // Waiting for a larger train counts as held back by the window.
            let deferred = std::mem::take(&mut self.deferred);
            self.blocked(now, deferred);
        }
        cut
    }

    /// When pacing lets the next segment go, if it held one back.
    pub(crate) fn pace_event(&self) -> Option<Time> {
        self.pace_blocked.then_some(self.pace_next)
    }

    /// Cuts new data off the stream.
    fn new_data(&mut self, now: Time) -> Option<Cut> {
        let end = self.write_end();
        let unsent = end.saturating_sub(self.nxt);
        let room = (self.una + self.peer_window).saturating_sub(self.nxt);
        let fin_only = self.fin && self.nxt == end;
        if unsent == 0 && !fin_only {
            return None;
        }
        if fin_only {
            // A FIN needs no window (`tcp_snd_wnd_test` lets it pass with one byte of room).
            if room == 0 && self.peer_window > 0 && !self.board.is_empty() {
                return None;
            }
            return Some(self.send_new(now, 0, true));
        }
        let mss = u64::from(self.mss);
        if self.train_left == 0 && unsent > mss && room >= mss {
            self.train_left = self.next_train(now, room)?;
        }
        self.train_left = self.train_left.saturating_sub(1);
        let mut len = unsent.min(mss);
        let last = len == unsent;
        if room < len {
            // Linux splits a long buffer at the edge of the window, but only behind a full segment.
            if self.burst == 0 || room == 0 || self.small_outstanding() {
                return None;
            }
            len = room;
        } else if len < mss && !(self.fin && last) && self.nagle_holds() {
            return None;
        }
        let fin = self.fin && last && len == unsent && room > len;
        Some(self.send_new(now, u32::try_from(len).unwrap_or(u32::MAX), fin))
    }

    /// How many segments leave together, or nothing while it is better to wait for more (`tcp_write_xmit`,
    /// `tcp_tso_should_defer`): trains of about 1 ms of the rate, as offloads make them.
    fn next_train(&mut self, now: Time, room: u64) -> Option<u32> {
        if self.window_probing {
            return Some(1);
        }
        let mss = u64::from(self.mss);
        let (cwnd, in_flight) = (self.window.cwnd, self.in_flight());
        let open = cwnd.saturating_sub(in_flight).max(1);
        let most = self.train_size();
        let quota = open.min((cwnd / 2).max(1)).min(most);
        let limit = room.min(u64::from(open) * mss);
        let written = if self.paced() {
            self.last_sent.max(self.pace_next)
        } else {
            self.last_sent
        };
        let chunk = self.peer_window.min(u64::from(cwnd) * mss) / 3;
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
            && !(self.fin && self.write_end().saturating_sub(self.nxt) <= limit);
        if defer {
            self.deferred = true;
            return None;
        }
        Some(quota)
    }

    /// Segments in a train of full size (`tcp_tso_autosize`).
    fn train_size(&self) -> u32 {
        let rate = match &self.control {
            Controller::Bbr(bbr) => Some(bbr.pacing_rate()),
            _ => self.plain_pacing_rate(),
        };
        // At most about 1 ms; more on short paths, where bursts do no harm.
        let mut bytes = rate.map_or(0, |rate| rate.bits_per_s() >> 13);
        let shift = self.rtt.minimum().map_or(64, |min| min.micros() >> 9);
        if shift < 32 {
            bytes += LARGEST_TRAIN >> shift;
        }
        let segments = bytes.min(LARGEST_TRAIN) / u64::from(self.mss);
        let most = u32::try_from(segments).unwrap_or(u32::MAX);
        most.max(2)
            .min((LARGEST_TRAIN as u32 / self.mss).max(1))
            .min(self.largest_train)
    }

    const fn small_outstanding(&self) -> bool {
        self.small_end > self.una && self.small_end <= self.nxt
    }

    /// Nagle's algorithm with Minshall's change, as in Linux: only an outstanding small segment holds another.
    fn nagle_holds(&self) -> bool {
        self.nagle && !self.board.is_empty() && self.small_outstanding()
    }

    fn send_new(&mut self, now: Time, len: u32, fin: bool) -> Cut {
        let start = self.nxt;
        let end = start + u64::from(len) + u64::from(fin);
        if self.board.is_empty() {
            self.first_sent = now;
            self.delivered_at = now;
            let idle = now.since(self.last_sent);
            if self.counters.segments > 0 {
                let view = self.view(now);
                self.control.hooks().restart(&view, &mut self.window, idle);
            }
        }
        let mut segment = Segment::new(start, end, now);
        self.stamp(&mut segment);
        self.board.push(segment);
        self.nxt = end;
        if len < self.mss {
            self.small_end = end;
        }
        self.burst = if len == self.mss { self.burst + 1 } else { 0 };
        self.prr_out += u32::from(self.state == State::Recovery || self.state == State::Cwr);
        if self.new_data_first && self.nxt > self.high_seq {
            self.new_data_first = false;
        }
        self.sent(now, len);
        if self.timer.is_none() || self.timer_kind() == Some(TimerKind::Persist) || self.board.len() == 1 {
            self.arm_retransmit(now);
        }
        self.schedule_tail_probe(now);
        let push = self.nxt >= self.write_end();
        Cut {
            start,
            len,
            fin,
            push,
            retransmission: false,
            probe: false,
        }
    }

    const fn stamp(&self, segment: &mut Segment) {
        segment.delivered = self.delivered;
        segment.delivered_at = self.delivered_at;
        segment.first_sent = self.first_sent;
        segment.app_limited = self.app_limited_until > 0;
    }

    fn retransmit(&mut self, now: Time, number: u32) -> Cut {
        let mut segment = *self.board.get(number);
        self.stamp(&mut segment);
        *self.board.get_mut(number) = segment;
        self.board.mark_retransmitted(number, now);
        self.first_retransmission.get_or_insert(now);
        *self.undo_retransmissions.get_or_insert(0) += 1;
        self.prr_out += u32::from(self.state == State::Recovery || self.state == State::Cwr);
        self.counters.retransmissions += 1;
        let fin = self.fin && segment.end == self.write_end() + 1;
        let len = u32::try_from(segment.end - segment.start).unwrap_or(0) - u32::from(fin);
        self.sent(now, len);
        if number == self.board.first() && self.timer_kind() != Some(TimerKind::Reorder) {
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

    /// Notes a transmission: counters, pacing clock.
    fn sent(&mut self, now: Time, len: u32) {
        self.counters.segments += 1;
        self.last_sent = now;
        if self.paced()
            && let Some(rate) = self.pacing_rate()
        {
            // The first ten segments of a connection are not paced (`tcp_update_skb_after_send`).
            if self.counters.segments > 10 {
                let (span, _) = rate.time_for(u64::from(len), 0);
                // Up to half the span is forgiven for having been late.
                let credit = now.since(self.pace_next).min(span / 2);
                self.pace_next = now.max(self.pace_next) + span.saturating_sub(credit);
            }
        }
    }

    /// Nothing more can be sent for now: notes why (`tcp_cwnd_validate`, `tcp_rate_check_app_limited`).
    fn blocked(&mut self, now: Time, by_window: bool) {
        self.burst = 0;
        self.train_left = 0;
        let out = self.board.len();
        if self.una >= self.usage_seq || by_window || (!self.cwnd_limited && out > self.max_packets_out) {
            self.cwnd_limited = by_window;
            self.max_packets_out = out;
            self.usage_seq = self.nxt;
        }
        if self.is_cwnd_limited() {
            self.cwnd_used = 0;
            self.cwnd_stamp = now;
        } else {
            self.cwnd_used = self.cwnd_used.max(out);
            if self.slow_start_after_idle
                && !self.control.is_bbr()
                && now.since(self.cwnd_stamp) >= self.rtt.timeout()
            {
                self.application_limited(now);
                self.adapted = true;
            }
        }
        let unsent = self.write_end().saturating_sub(self.nxt);
        if !by_window
            && unsent < u64::from(self.mss)
            && self.board.lost <= self.board.retransmitted
            && self.in_flight() < self.window.cwnd
        {
            self.app_limited_until = (self.delivered + u64::from(self.in_flight())).max(1);
        }
        // Something waits but the peer's window is closed: probe (RFC 9293, section 3.8.6.1).
        if self.board.is_empty()
            && (unsent > 0 || (self.fin && self.una <= self.write_end()))
            && self.timer.is_none()
        {
            self.arm_persist(now);
        }
    }

    /// The window falls towards what was used while the application was the limit (RFC 2861).
    fn application_limited(&mut self, now: Time) {
        if self.state == State::Open {
            let used = self.cwnd_used.max(self.initial_window);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = u32::midpoint(self.window.cwnd, used);
            }
            self.cwnd_used = 0;
        }
        self.cwnd_stamp = now;
    }

    /// The application writes after a pause: the window shrinks by half for each timeout (`tcp_cwnd_restart`).
    pub(crate) fn about_to_write(&mut self, now: Time) {
        if !self.slow_start_after_idle || !self.board.is_empty() || self.una == 0 || self.control.is_bbr() {
            return;
        }
        let rto = self.rtt.timeout();
        let mut idle = now.since(self.last_sent);
        if idle <= rto || self.counters.segments == 0 {
            return;
        }
        let floor = self.initial_window.min(self.window.cwnd);
        self.window.ssthresh = self.current_ssthresh();
        while idle > rto && self.window.cwnd > floor {
            idle = idle.saturating_sub(rto);
            self.window.cwnd >>= 1;
        }
        self.window.cwnd = self.window.cwnd.max(floor);
        self.cwnd_stamp = now;
        self.cwnd_used = 0;
    }

    /// The threshold if a reduction came now (`tcp_current_ssthresh`).
    pub(crate) fn current_ssthresh(&self) -> u32 {
        let window = &self.window;
        if self.state == State::Cwr || self.state == State::Recovery {
            window.ssthresh
        } else {
            window.ssthresh.max((window.cwnd >> 1) + (window.cwnd >> 2))
        }
    }

    /// The send buffer grows with the congestion window (`tcp_sndbuf_expand`).
    pub(crate) fn expand_buffer(&mut self) {
        if let SendBuffer::Autotuned { maximum, .. } = self.send_buffer {
            let segments = self.window.cwnd.max(self.initial_window).max(self.reordering + 1);
            let per_segment = u64::from((self.mss + HEADER_SPACE).next_power_of_two()) + 256;
            let want = 2 * u64::from(segments) * per_segment;
            self.buffer_limit = self.buffer_limit.max(want.min(u64::from(maximum)));
        }
    }

    pub(crate) const fn paced(&self) -> bool {
        self.control.is_bbr() || !matches!(self.pacing, Pacing::Auto)
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        let rate = match &self.control {
            Controller::Bbr(bbr) => Some(bbr.pacing_rate()),
            _ if matches!(self.pacing, Pacing::On) => self.plain_pacing_rate(),
            _ => None,
        };
        match (self.pacing, rate) {
            (Pacing::Capped(cap), Some(rate)) => Some(rate.min(cap)),
            (Pacing::Capped(cap), None) => Some(cap),
            (_, rate) => rate,
        }
    }

    /// Twice the window per round trip in early slow start, 1.2 times later (`tcp_update_pacing_rate`).
    fn plain_pacing_rate(&self) -> Option<BitRate> {
        let srtt = self.rtt.smoothed()?.nanos().max(1);
        let percent: u64 = if self.window.cwnd < self.window.ssthresh / 2 {
            200
        } else {
            u64::from(self.pacing_percent)
        };
        let segments = u64::from(self.window.cwnd.max(self.board.len()));
        let bytes = segments * u64::from(self.mss);
        let factor = 8 * percent * 10_000_000;
        // Asked for at each acknowledgement: 128 bits only for windows of a gigabyte.
        let bits = match bytes.checked_mul(factor) {
            Some(product) => product / srtt,
            None => {
                u64::try_from(u128::from(bytes) * u128::from(factor) / u128::from(srtt)).unwrap_or(u64::MAX)
            }
        };
        Some(BitRate::new(bits.max(1)))
    }

    pub(crate) fn timer_kind(&self) -> Option<TimerKind> {
        self.timer.map(|(kind, _)| kind)
    }

    pub(crate) fn arm_retransmit(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timer = None;
            return;
        }
        self.timer = Some((TimerKind::Retransmit, now + self.rtt.timeout()));
    }

    /// Sets the timer after an acknowledgement that made progress: a tail probe if one fits, else the timeout.
    pub(crate) fn rearm(&mut self, now: Time) {
        if self.board.is_empty() {
            if self.timer_kind() != Some(TimerKind::Persist) {
                self.timer = None;
            }
            return;
        }
        // The timeout counts from when the head was sent (`tcp_rearm_rto`).
        self.arm_retransmit(now);
        self.schedule_tail_probe(now);
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
                self.timer_kind(),
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
        if let Some((TimerKind::Retransmit, at)) = self.timer {
            delay = delay.min(at.since(now));
        }
        self.timer = Some((TimerKind::TailProbe, now + delay));
    }

    fn arm_persist(&mut self, now: Time) {
        let base = self.rtt.base_timeout().nanos().max(self.settings.min_rto.nanos());
        let delay = base.saturating_mul(1 << self.probe_backoff.min(20));
        let delay = Duration::from_nanos(delay).min(self.settings.max_rto);
        self.timer = Some((TimerKind::Persist, now + delay));
    }

    /// The peer's window is open again.
    pub(crate) fn window_opened(&mut self) {
        self.probe_backoff = 0;
        if self.timer_kind() == Some(TimerKind::Persist) {
            self.timer = None;
        }
    }

    /// The peer answered a probe but the window stays shut: wait on (`tcp_ack_probe`).
    pub(crate) fn window_still_closed(&mut self, now: Time) {
        if self.timer_kind() == Some(TimerKind::Persist) {
            self.arm_persist(now);
        }
    }

    /// Acts on the timer if it is due at `now`.
    pub(crate) fn fire(&mut self, now: Time) {
        let Some((kind, at)) = self.timer else { return };
        if at > now {
            return;
        }
        self.timer = None;
        match kind {
            TimerKind::Reorder => self.reorder_timeout(now),
            TimerKind::TailProbe => {
                self.tail_due = true;
            }
            TimerKind::Retransmit => self.retransmit_timeout(now),
            TimerKind::Persist => {
                self.probe_due = true;
                self.probe_backoff += 1;
                self.arm_persist(now);
            }
        }
    }

    /// A byte-less segment just below the window, or what little fits into it (`tcp_write_wakeup`).
    fn window_probe(&mut self, now: Time) -> Cut {
        self.counters.window_probes += 1;
        let room = (self.una + self.peer_window).saturating_sub(self.nxt);
        let unsent = self.write_end().saturating_sub(self.nxt);
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
    fn tail_loss_probe(&mut self, now: Time) -> Option<Cut> {
        if self.tail_probe.is_some() || self.board.is_empty() {
            self.arm_retransmit(now);
            return None;
        }
        self.counters.tail_probes += 1;
        self.window_probing = true;
        let fresh = self.new_data(now);
        self.window_probing = false;
        self.train_left = 0;
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

/// What the kernel adds to a segment's payload before it rounds up, in bytes (`MAX_TCP_HEADER`, `skb_shared_info`).
const HEADER_SPACE: u32 = 640;

/// A train waits for more only if the last one left within this span (`tcp_tso_should_defer`).
const DEFER_AT_MOST: Duration = Duration::from_millis(1);

/// Bytes of the largest train (`GSO_LEGACY_MAX_SIZE`).
const LARGEST_TRAIN: u64 = 65_536;

/// What a tail loss probe waits beyond two round trips (Linux: two ticks).
const TAIL_PROBE_SLACK: Duration = Duration::from_millis(2);

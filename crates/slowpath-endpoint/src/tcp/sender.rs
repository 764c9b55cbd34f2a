//! The sending half of a connection: what may be sent, and when.
//!
//! Sequence numbers are 64-bit offsets: 0 is the SYN, data begin at 1, the FIN follows the last byte.
//! Windows and counts are in segments, as in Linux.
//!
//! Each part keeps a promise of its own: [`SendQueue`] what was written, [`Train`] what leaves together, [`Pacer`]
//! when, [`Usage`] that only a window in use grows, [`Scoreboard`] what is in flight, [`Sacks`] and [`Rack`] what is
//! missing, [`Reduction`] and [`Undo`] how the window falls and comes back, [`Timeouts`] and [`Timer`] what happens in
//! silence, [`Delivery`] the rate. What needs several of them stands in four files: [`super::transmit`] puts segments
//! on the wire, [`super::ack`] takes acknowledgements in, [`super::losses`] finds what is lost, [`super::recovery`] is
//! the state machine of loss recovery.

use slowpath_units::{BitRate, Time};

use super::config::{Config, Recovery};
use super::delivery::Delivery;
use super::pacer::Pacer;
use super::queue::SendQueue;
use super::rack::Rack;
use super::reduction::Reduction;
use super::rtt::Rtt;
use super::sacks::Sacks;
use super::scoreboard::Scoreboard;
use super::timeouts::Timeouts;
use super::timer::{Timer, TimerKind};
use super::train::Train;
use super::undo::Undo;
use super::usage::Usage;
use crate::cc::{Controller, State, View, Window};

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

    pub(crate) queue: SendQueue,
    /// The program waits for room in the send buffer (Linux, `SOCK_NOSPACE`).
    pub(crate) writer_waits: bool,
    pub(crate) board: Scoreboard,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// `nxt` before segments were cut anew.
    pub(crate) highest_nxt: u64,
    pub(crate) peer: PeerWindow,

    pub(crate) train: Train,
    pub(crate) pacer: Pacer,
    pub(crate) usage: Usage,
    pub(crate) last_sent: Time,
    /// Before this there is nothing to send, if nothing was written or sent and no timer ended since it was set.
    pub(crate) quiet_until: Time,
    /// The last call, if it had nothing to send, ended a train or changed the window: the next may come to another end.
    pub(crate) adapted: bool,

    pub(crate) window: Window,
    pub(crate) control: Controller,
    pub(crate) rtt: Rtt,
    pub(crate) delivery: Delivery,

    pub(crate) state: State,
    /// What was sent when the state was entered: once it is acknowledged, the state ends.
    pub(crate) high_seq: u64,
    pub(crate) rack: Rack,
    pub(crate) sacks: Sacks,
    pub(crate) reduction: Reduction,
    pub(crate) undo: Undo,
    pub(crate) timeouts: Timeouts,
    /// `nxt` when the tail loss probe went out, and whether it was a retransmission.
    pub(crate) tail_probe: Option<(u64, bool)>,
    pub(crate) timer: Timer,
    pub(crate) counters: SenderCounters,
}

/// The window that the peer advertises.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PeerWindow {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Sequence offset of the peer's segment that said so, which orders updates (RFC 9293, section 3.10.7.4).
    pub(crate) said_at: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config, seed: u64) -> Self {
        let settings = config.recovery;
        Self {
            mss: u32::from(config.mss),
            sack: false,
            settings,
            queue: SendQueue::new(config.send_buffer),
            writer_waits: false,
            board: Scoreboard::default(),
            una: 0,
            nxt: 0,
            highest_nxt: 0,
            peer: PeerWindow::default(),
            train: Train::new(config.nagle, config.largest_train),
            pacer: Pacer::new(config.pacing, config.pacing_percent),
            usage: Usage::new(config.slow_start_after_idle, config.initial_window),
            last_sent: Time::ZERO,
            quiet_until: Time::ZERO,
            adapted: false,
            window: Window::new(config.initial_window, config.slow_start_threshold),
            control: Controller::new(config.congestion, seed),
            rtt: Rtt::new(settings.min_rto, settings.max_rto, settings.initial_rto),
            delivery: Delivery::new(),
            state: State::Open,
            high_seq: 0,
            rack: Rack::default(),
            sacks: Sacks::new(settings.duplicate_acks),
            reduction: Reduction::default(),
            undo: Undo::default(),
            timeouts: Timeouts::default(),
            tail_probe: None,
            timer: Timer::default(),
            counters: SenderCounters::default(),
        }
    }

    /// The handshake is over: options are known, data may flow from offset 1.
    pub(crate) fn establish(&mut self, now: Time, mss: u32, sack: bool, peer_window: u64) {
        self.mss = mss;
        self.sack = sack;
        self.una = 1;
        self.nxt = 1;
        self.peer.bytes = peer_window;
        self.usage.start(now);
        self.delivery.restart(now);
        self.timer.stop();
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
        self.sacks.forget();
        self.sacks.clear_reno();
        self.highest_nxt = self.highest_nxt.max(self.nxt);
        self.nxt = self.una;
        self.timer.stop();
        self.tail_probe = None;
    }

    /// The FIN was acknowledged.
    pub(crate) const fn fin_acknowledged(&self) -> bool {
        self.queue.is_finished() && self.una > self.queue.end()
    }

    /// Bytes the application may write now.
    pub(crate) const fn writable(&self) -> u64 {
        self.queue.writable(self.una)
    }

    /// Bytes written and not acknowledged.
    pub(crate) const fn queued(&self) -> u64 {
        self.queue.queued(self.una)
    }

    /// Whether a program waiting for space is woken (`sk_stream_is_writeable`).
    pub(crate) const fn wakes_writer(&self) -> bool {
        self.queue.wakes_writer(self.una)
    }

    /// Bytes written and not yet sent.
    pub(crate) const fn unsent(&self) -> u64 {
        self.queue.end().saturating_sub(self.nxt)
    }

    /// Bytes that the peer's window still takes.
    pub(crate) const fn room(&self) -> u64 {
        (self.una + self.peer.bytes).saturating_sub(self.nxt)
    }

    pub(crate) fn sacked_out(&self) -> u32 {
        if self.sack {
            self.board.sacked
        } else {
            self.sacks.reno()
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
            delivered: self.delivery.delivered(),
            lost_total: self.delivery.lost(),
            app_limited: self.delivery.is_application_limited(),
            state: self.state,
            paced: self.paced(),
            pacing_rate: self.plain_pacing_rate(),
        }
    }

    /// When pacing lets the next segment go, if it held one back.
    pub(crate) fn pace_event(&self) -> Option<Time> {
        self.pacer.event()
    }

    pub(crate) const fn paced(&self) -> bool {
        self.control.is_bbr() || self.pacer.wanted()
    }

    pub(crate) fn pacing_rate(&self) -> Option<BitRate> {
        self.pacer
            .rate(self.control.pacing_rate(), || self.plain_pacing_rate())
    }

    /// The rate of a window for each round trip (`tcp_update_pacing_rate`).
    pub(crate) fn plain_pacing_rate(&self) -> Option<BitRate> {
        let srtt = self.rtt.smoothed()?;
        let segments = u64::from(self.window.cwnd.max(self.board.len()));
        let early = self.window.cwnd < self.window.ssthresh / 2;
        Some(self.pacer.plain_rate(segments * u64::from(self.mss), srtt, early))
    }

    /// The program writes: after a pause the window shrinks first (`tcp_cwnd_restart`).
    pub(crate) fn about_to_write(&mut self, now: Time) {
        if !self.board.is_empty() || self.una == 0 || self.control.is_bbr() || self.counters.segments == 0 {
            return;
        }
        let idle = now.since(self.last_sent);
        self.usage
            .restart(now, idle, self.rtt.timeout(), &mut self.window, self.state);
    }

    /// The send buffer grows with the congestion window (`tcp_sndbuf_expand`).
    pub(crate) fn expand_buffer(&mut self) {
        let segments = self.window.cwnd.max(self.usage.initial_window());
        self.queue
            .expand(segments.max(self.sacks.reordering() + 1), self.mss);
    }

    /// The FIN, or data before it, are not acknowledged yet.
    pub(crate) const fn fin_outstanding(&self) -> bool {
        self.queue.is_finished() && self.una <= self.queue.end()
    }

    pub(crate) fn arm_retransmit(&mut self, now: Time) {
        if self.board.is_empty() {
            self.timer.stop();
            return;
        }
        self.timer.set(TimerKind::Retransmit, now + self.rtt.timeout());
    }

    pub(crate) fn arm_persist(&mut self, now: Time) {
        let base = self.rtt.base_timeout().max(self.settings.min_rto);
        self.timer.persist(now, base, self.settings.max_rto);
    }
}

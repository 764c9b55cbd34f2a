//! What Linux would count of a sender with BBR: for how long the peer's window held it, and for how long its own send buffer did
//! (`rwnd_limited` and `sndbuf_limited` of `ss -i`).
//!
//! Linux asks the pacing before the window (`tcp_write_xmit` in `net/ipv4/tcp_output.c`): what a full window would hold back a moment
//! later counts as neither. Pacing forgives a late sender up to half of a piece's time (`tcp_update_skb_after_send`), so that a
//! window which always is full counts for half of the time or so with BBR, and for all of it with a control that does not pace.
//! A full buffer counts from the last piece of what the program gave until an acknowledgement makes room
//! (`tcp_cwnd_validate`), where the congestion window holds nothing back.

use serde::{Deserialize, Serialize};

use super::bbr::Bbr;
use crate::track::Half;
use crate::track::log::{Ack, Tx, TxFlags};

/// Seconds that Linux would count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Chronographs {
    /// The peer's window held the sender.
    pub window_s: f64,
    /// Its own buffer did.
    pub buffer_s: f64,
    /// Share of what was sent that left sooner than BBR's pacing lets it: far from 0 where the sender has another control.
    pub sooner: f64,
}

/// Segments are of one piece within so long, nanoseconds.
const ONE_PIECE: i64 = 60_000;
/// The tap sees what an acknowledgement or the pacing lets go within so long; later it was the program that had nothing.
const AT_ONCE: i64 = 250_000;
/// The same where a program had to wake up first, or the pacing's timer is late.
const WOKEN: i64 = 400_000;
/// How much sooner than its pacing a piece leaves that the pacing did not hold, and how often before the phase is another one.
const SOONER: i64 = 50_000;
const SOONER_TIMES: u32 = 3;
/// How much later than its pacing a piece leaves that the pacing is in step.
const LATER: i64 = 100_000;
/// Pieces from which another control shows, and the share of them that leave sooner than BBR lets them.
const SOME: u32 = 1_000;
const MOST: f64 = 0.7;
/// Linux does not pace a connection's first segments.
const UNPACED: u64 = 10;

/// Counts for a sender with BBR; `None` where the capture has too few of its packets one by one, or
/// shows another control. `round_trip_s` is the
/// handshake's, `shift` the scale of the advertised window.
pub(super) fn with_bbr(half: &Half, shift: u8, round_trip_s: f64) -> Option<Chronographs> {
    let (sent, acks) = (half.tx.entries(), half.acks.entries());
    if !half.tx.is_whole() || !half.acks.is_whole() || !half.acked || sent.is_empty() {
        return None;
    }
    let mut kernel = Kernel::new(half, shift, (round_trip_s * 1e9) as i64);
    let mut acks = acks.iter().peekable();
    let mut place = 0;
    while let Some(tx) = sent.get(place) {
        while let Some(ack) = acks.next_if(|ack| ack.at <= tx.at) {
            kernel.acknowledged(ack);
        }
        let most = kernel.bbr.piece();
        let mut length = u64::from(tx.len);
        let mut end = place + 1;
        while let Some(next) = sent.get(end).filter(|next| {
            next.at - tx.at < ONE_PIECE
                && acks.peek().is_none_or(|ack| ack.at > next.at)
                && length + u64::from(next.len) <= most
        }) {
            length += u64::from(next.len);
            end += 1;
        }
        kernel.transmitted(&sent[place..end]);
        if kernel.has_another_control() {
            return None;
        }
        place = end;
    }
    for ack in acks {
        if kernel.una >= kernel.next {
            break;
        }
        kernel.acknowledged(ack);
    }
    kernel.out.sooner = f64::from(kernel.pieces_sooner) / f64::from(kernel.pieces.max(1));
    Some(kernel.out)
}

/// What the kernel knows between two events. Times are nanoseconds, places in the sequence space 64-bit.
struct Kernel {
    out: Chronographs,
    bbr: Bbr,
    segment: u64,
    shift: u8,
    first: u64,
    una: u64,
    edge: u64,
    next: u64,
    /// Bytes known to have arrived, and above the cumulative acknowledgement.
    arrived: u64,
    sacked: u64,
    repair_until: u64,
    /// When pacing lets the next piece go, and when its timer wakes the sender.
    paced_until: i64,
    timer: Option<i64>,
    /// Since when the window is counted.
    held_since: Option<i64>,
    was_held: bool,
    /// When an acknowledgement let the next piece go, or did last.
    let_go: Option<i64>,
    last_ack: Option<i64>,
    last_sent: Option<i64>,
    segments: u64,
    /// Pieces that left, those of them that left sooner than their pacing, and these in a row.
    pieces: u32,
    pieces_sooner: u32,
    sooner: u32,
    /// The most segments in flight in a round, its last byte, and whether the congestion window held the last piece.
    most: f64,
    most_until: u64,
    may_count_buffer: bool,
}

impl Kernel {
    fn new(half: &Half, shift: u8, round_trip: i64) -> Self {
        let segment = u64::from(half.segment_limit.max(1));
        Self {
            out: Chronographs::default(),
            bbr: Bbr::new(segment, round_trip),
            segment,
            shift,
            first: half.first,
            una: half.first,
            edge: half.first,
            next: half.first,
            arrived: 0,
            sacked: 0,
            repair_until: half.first,
            paced_until: i64::MIN,
            timer: None,
            held_since: None,
            was_held: false,
            let_go: None,
            last_ack: None,
            last_sent: None,
            segments: 0,
            pieces: 0,
            pieces_sooner: 0,
            sooner: 0,
            most: 0.0,
            most_until: half.first,
            may_count_buffer: false,
        }
    }

    /// The window has no room for a piece: for a segment, or for as much as is worth waiting for (`tcp_tso_should_defer`).
    fn is_window_full(&self) -> bool {
        let room = self.edge.saturating_sub(self.next);
        if room >= self.segment.max(self.bbr.piece()) {
            return false;
        }
        let third = self.edge.saturating_sub(self.una) / 3;
        room < self.segment.max(self.bbr.piece().min(third))
    }

    /// Most of what was sent left sooner than BBR lets it.
    fn has_another_control(&self) -> bool {
        self.pieces >= SOME && f64::from(self.pieces_sooner) > MOST * f64::from(self.pieces)
    }

    fn hold(&mut self, at: i64) {
        self.was_held = true;
        self.held_since.get_or_insert(at);
    }

    fn release(&mut self, at: i64) {
        if let Some(since) = self.held_since.take() {
            self.out.window_s += (at - since) as f64 / 1e9;
        }
    }

    /// The pacing's timer, where it went off before `at`.
    fn wake(&mut self, at: i64) {
        if let Some(woken) = self.timer.take_if(|timer| *timer <= at)
            && self.is_window_full()
        {
            self.hold(woken);
        }
    }

    fn acknowledged(&mut self, ack: &Ack) {
        self.wake(ack.at);
        let scale = if ack.syn { 0 } else { self.shift };
        self.una = self.una.max(ack.to);
        self.edge = self.edge.max(ack.to + (u64::from(ack.window) << scale));
        self.sacked = u64::from(ack.sacked);
        let arrived = ack.to.saturating_sub(self.first) + self.sacked;
        let fresh = arrived.saturating_sub(self.arrived);
        self.arrived += fresh;
        self.last_ack = Some(ack.at);
        self.bbr.delivered(ack.at, fresh);
        if self.is_window_full() {
            self.let_go = None;
            if self.paced_until > ack.at {
                self.release(ack.at);
                self.timer = Some(self.paced_until);
            } else {
                self.hold(ack.at);
            }
        } else {
            self.release(ack.at);
            if self.paced_until > ack.at {
                self.let_go = Some(ack.at);
                self.timer = Some(self.paced_until);
            } else {
                self.let_go.get_or_insert(ack.at);
            }
        }
    }

    /// One piece was sent.
    fn transmitted(&mut self, piece: &[Tx]) {
        let Some(at) = piece.first().map(|tx| tx.at) else {
            return;
        };
        self.wake(at);
        self.release(at);
        let was_held = std::mem::take(&mut self.was_held);
        let mut length = 0;
        for tx in piece {
            let again = tx.flags.has(TxFlags::RETRANSMISSION);
            if again {
                self.repair_until = self.repair_until.max(self.next);
            }
            if !tx.flags.has(TxFlags::SPURIOUS) {
                self.bbr
                    .sent(tx.at, u64::from(tx.len.saturating_sub(tx.lost)), again);
            }
            self.next = self.next.max(tx.end());
            length += u64::from(tx.len);
        }
        // The kernel sends as soon as it may, and the tap sees that a little later.
        let may = self.paced_until.max(self.let_go.take().unwrap_or(at));
        let left = if (0..AT_ONCE).contains(&at.saturating_sub(may)) {
            may
        } else {
            at
        };
        if let (Some(sent), Some(ack)) = (self.last_sent, self.last_ack)
            && self.may_count_buffer
            && !was_held
            && self.una >= self.repair_until
            && self.sacked == 0
            && ack > sent
            && at - ack < WOKEN
            && self.paced_until < at - WOKEN
        {
            self.out.buffer_s += (ack - sent) as f64 / 1e9;
        }
        self.last_sent = Some(at);
        self.note_most();
        self.may_count_buffer = !self.bbr.is_window_limited(self.most);
        let is_sooner = self.paced_until.saturating_sub(at) > SOONER;
        self.pieces += 1;
        self.pieces_sooner += u32::from(is_sooner);
        if is_sooner && self.bbr.has_cycles() {
            self.sooner += 1;
            if self.sooner >= SOONER_TIMES {
                self.sooner = 0;
                self.bbr.is_ahead(at);
            }
        } else if self.paced_until < at - LATER {
            self.sooner = 0;
        }
        self.pace(left, length);
        if self.paced_until > at {
            self.timer = Some(self.paced_until);
        } else if self.is_window_full() {
            self.hold(at);
        }
    }

    /// The most segments in flight in this round (`max_packets_out`).
    fn note_most(&mut self) {
        let segments = (self.bbr.in_flight() / self.segment) as f64;
        if self.una >= self.most_until {
            (self.most_until, self.most) = (self.next, segments);
        } else {
            self.most = self.most.max(segments);
        }
    }

    /// A piece of `length` bytes left at `left`.
    fn pace(&mut self, left: i64, length: u64) {
        let before = self.paced_until;
        self.paced_until = before.max(left);
        self.segments += length.div_ceil(self.segment);
        if self.segments >= UNPACED {
            let takes = (length as f64 / self.bbr.pace() * 1e9) as i64;
            let credit = self.paced_until.saturating_sub(before);
            self.paced_until = self.paced_until.saturating_add(takes - credit.min(takes / 2));
        }
    }
}

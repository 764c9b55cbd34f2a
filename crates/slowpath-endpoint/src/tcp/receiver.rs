//! The receiving half of a connection: reassembly, the advertised window, and when to acknowledge.
//!
//! | | Linux | here | why |
//! |---|---|---|---|
//! | memory of a segment | `truesize` of its buffer | payload at the configured share of the buffer | no buffers here |
//! | windows | never shrink | the same | RFC 9293, section 3.8.6 |

use std::collections::BTreeMap;
use std::hint::cold_path;

use slowpath_packet::{Ecn, Seq32};
use slowpath_units::{Duration, Time};

use super::config::{Config, ReceiveWindow};
use crate::wire::{Payload, SackBlocks};

/// Counters of one connection's receiving half.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReceiverCounters {
    /// Segments with data that arrived.
    pub segments: u64,
    /// Of those, segments that brought nothing new.
    pub duplicates: u64,
    /// Of those, segments that arrived out of order.
    pub out_of_order: u64,
    /// Acknowledgements sent without data.
    pub acknowledgements: u64,
    /// Segments with the congestion experienced mark.
    pub marked: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Receiver {
    policy: ReceiveWindow,
    /// Share of the buffer that data may fill, in 256ths, once a full segment has been seen.
    share: u64,
    weighed: bool,
    /// A pause that ends the habit of delaying acknowledgements (Linux: the retransmission timeout).
    pub(crate) idle: Duration,
    every: u32,
    delay: Duration,
    min_delay: Duration,
    quick: u32,
    quick_at_most: u32,
    shift: u8,
    mss: u32,
    /// Next offset expected; 0 before the SYN arrived.
    pub(crate) nxt: u64,
    /// Out-of-order ranges, ascending and disjoint.
    ranges: Vec<(u64, u64)>,
    waiting: u64,
    /// The same ranges, most recently touched first.
    recent: Vec<(u64, u64)>,
    dsack: Option<(u64, u64)>,
    fin: Option<u64>,
    /// Bytes in order that the application has not read.
    pub(crate) unread: u64,
    read: u64,
    /// Real bytes are kept for the application.
    pub(crate) keeps: bool,
    bytes: Vec<u8>,
    pieces: BTreeMap<u64, Vec<u8>>,

    /// Buffer in bytes, and the window it allows.
    buffer: u64,
    clamp: u64,
    ssthresh: u64,
    /// The window last advertised counts from here.
    wup: u64,
    wnd: u64,
    space: SpaceEstimate,

    /// Nothing has arrived and nothing was read since the last acknowledgement.
    acknowledged: bool,
    unacked_segments: u32,
    pub(crate) ack_now: bool,
    pub(crate) ack_due: Option<Time>,
    compressing: Compression,
    last_arrival: Option<Time>,
    ato: Duration,
    /// This end answers what it receives: acknowledgements wait for the answer (`inet_csk_in_pingpong_mode`).
    answers: bool,
    /// The end of a write has arrived: when all is read, an acknowledgement goes out (`ICSK_ACK_PUSHED`).
    pushed: bool,
    pub(crate) ts_recent: u32,
    last_ack_sent: u64,
    pub(crate) ecn: bool,
    pub(crate) echo_congestion: bool,
    pub(crate) counters: ReceiverCounters,
}

/// Gathering of reports about out-of-order segments (`tcp_comp_sack_delay_ns`).
#[derive(Debug, Clone)]
struct Compression {
    longest: Duration,
    /// Where the gap was that is being reported.
    at: u64,
    /// Reports of it that went out at once.
    plain: u32,
    /// Segments that wait to be reported.
    waiting: u32,
}

/// Receive-buffer autotuning (`tcp_rcv_space_adjust`): how much was read in one round trip.
#[derive(Debug, Clone)]
struct SpaceEstimate {
    rtt: Option<Duration>,
    probe: Option<(u64, Time)>,
    space: u64,
    seq: u64,
    since: Time,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        let (buffer, share) = match config.receive {
            ReceiveWindow::Autotuned {
                initial, share_256, ..
            } => (initial, share_256),
            ReceiveWindow::Fixed { bytes, share_256 } => (bytes, share_256),
            ReceiveWindow::Exact { buffer, .. } => (buffer, 256),
        };
        // Before a full segment has been weighed, Linux takes half the buffer for data (`TCP_DEFAULT_SCALING_RATIO`).
        let first_share = share.min(match config.receive {
            ReceiveWindow::Exact { .. } => 256,
            _ => 128,
        });
        let clamp = u64::from(buffer) * u64::from(first_share) / 256;
        Self {
            policy: config.receive,
            share: u64::from(share.max(1)),
            weighed: false,
            idle: config.recovery.initial_rto,
            every: config.ack.every.max(1),
            delay: config.ack.delay,
            min_delay: config.ack.min_delay,
            quick: 0,
            quick_at_most: config.ack.quick,
            shift: 0,
            mss: u32::from(config.mss),
            nxt: 0,
            ranges: Vec::new(),
            waiting: 0,
            recent: Vec::new(),
            dsack: None,
            fin: None,
            unread: 0,
            read: 0,
            keeps: false,
            bytes: Vec::new(),
            pieces: BTreeMap::new(),
            buffer: u64::from(buffer),
            clamp,
            ssthresh: clamp,
            wup: 0,
            wnd: 0,
            space: SpaceEstimate {
                rtt: None,
                probe: None,
                space: 0,
                seq: 0,
                since: Time::ZERO,
            },
            acknowledged: false,
            unacked_segments: 0,
            ack_now: false,
            ack_due: None,
            compressing: Compression {
                longest: config.ack.compress,
                at: 0,
                plain: 0,
                waiting: 0,
            },
            last_arrival: None,
            ato: config.ack.min_delay,
            answers: false,
            pushed: false,
            ts_recent: 0,
            last_ack_sent: 0,
            ecn: false,
            echo_congestion: false,
            counters: ReceiverCounters::default(),
        }
    }

    /// The window field of a SYN, which is never scaled (RFC 7323, section 2.2).
    pub(crate) fn syn_window(&mut self, mss: u32) -> u16 {
        self.acknowledged = false;
        self.mss = mss;
        let window = if let ReceiveWindow::Exact { buffer, .. } = self.policy {
            u64::from(buffer)
        } else {
            let space = self.clamp.min(65_535 + 1);
            (space - space % u64::from(mss.max(1))).max(space.min(u64::from(mss)))
        };
        let field = window.min(65_535);
        self.wnd = field;
        self.ssthresh = match self.policy {
            ReceiveWindow::Exact { .. } => self.clamp,
            _ => field,
        };
        self.space.space = field.min(10 * u64::from(mss));
        u16::try_from(field).unwrap_or(u16::MAX)
    }

    /// The peer's SYN has arrived; both ends' options are known.
    pub(crate) fn establish(&mut self, now: Time, shift: Option<u8>, mss: u32) {
        self.acknowledged = false;
        self.shift = shift.unwrap_or(0);
        self.mss = mss;
        if shift.is_none() {
            self.clamp = self.clamp.min(65_535);
        }
        self.nxt = 1;
        self.wup = 1;
        self.last_ack_sent = 1;
        self.space.seq = 1;
        self.space.since = now;
    }

    /// Everything the peer sent has arrived, and the application has read it.
    pub(crate) const fn at_end(&self) -> bool {
        self.fin_received() && self.unread == 0
    }

    /// The peer's FIN is the next thing in order, or already taken.
    pub(crate) const fn fin_received(&self) -> bool {
        match self.fin {
            Some(at) => self.nxt > at,
            None => false,
        }
    }

    /// Takes the data (and FIN) of a segment that begins at offset `start`; true if new data are in order now.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        start: u64,
        payload: Payload<'_>,
        fin: bool,
        ecn: Ecn,
    ) -> bool {
        let len = u64::from(payload.len());
        let end = start + len;
        self.acknowledged = false;
        self.counters.segments += u64::from(len > 0);
        self.note_congestion(ecn);
        self.pace_acks(now);
        self.weigh(payload.len());
        if fin {
            cold_path();
            self.fin = Some(end);
        }
        // Beyond what was offered: nothing is taken, but the sender is told where we are.
        let edge = self.wup + self.wnd;
        if end > edge.max(self.nxt) + u64::from(self.mss) && start >= edge && len > 0 {
            cold_path();
            self.ack_now = true;
            return false;
        }
        if end + u64::from(fin) <= self.nxt {
            cold_path();
            self.counters.duplicates += 1;
            self.dsack = Some((start, end));
            self.be_quick();
            self.answers = false;
            self.ack_now = true;
            return false;
        }
        if start > self.nxt {
            cold_path();
            self.take_out_of_order(now, start, end, payload);
            return false;
        }
        self.take_in_order(now, start, end, payload);
        true
    }

    fn take_in_order(&mut self, now: Time, start: u64, end: u64, payload: Payload<'_>) {
        if start < self.nxt && end > start {
            cold_path();
            // The part that was known already.
            self.dsack = Some((start, self.nxt));
        }
        self.keep(self.nxt, start, end, payload);
        let before = self.nxt;
        self.nxt = self.nxt.max(end);
        let filled = !self.ranges.is_empty();
        while let Some(&(left, right)) = self.ranges.first() {
            cold_path();
            if left > self.nxt {
                break;
            }
            self.ranges.remove(0);
            self.waiting -= right - left;
            self.nxt = self.nxt.max(right);
        }
        if filled {
            cold_path();
            let nxt = self.nxt;
            self.recent.retain(|range| range.1 > nxt);
        }
        self.unread += self.nxt - before;
        if self.keeps {
            cold_path();
            self.join_pieces();
        }
        if self.fin == Some(self.nxt) {
            cold_path();
            self.nxt += 1;
            self.ack_now = true;
        }
        if filled {
            // Filling a gap is acknowledged at once (RFC 5681, section 4.2).
            self.ack_now = true;
        }
        self.measure_rtt_by_window(now);
        self.grow_window(end - start);
        self.unacked_segments += u32::from(end > start);
        self.schedule_ack(now);
    }

    #[inline(never)]
    fn take_out_of_order(&mut self, now: Time, start: u64, end: u64, payload: Payload<'_>) {
        self.counters.out_of_order += 1;
        if end == start {
            self.ack_now = true;
            return;
        }
        let first = self.ranges.partition_point(|range| range.1 < start);
        let mut merged = (start, end);
        let mut last = first;
        while let Some(range) = self.ranges.get(last) {
            if range.0 > end {
                break;
            }
            if range.0 <= start && end <= range.1 {
                self.dsack = Some((start, end));
                self.counters.duplicates += 1;
            }
            merged = (merged.0.min(range.0), merged.1.max(range.1));
            self.waiting -= range.1 - range.0;
            last += 1;
        }
        self.waiting += merged.1 - merged.0;
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        self.recent
            .retain(|range| range.1 < merged.0 || range.0 > merged.1);
        self.recent.insert(0, merged);
        self.recent.truncate(8);
        self.keep(start, start, end, payload);
        self.grow_window(end - start);
        if let ReceiveWindow::Autotuned { maximum, .. } = self.policy {
            self.grow_buffer(self.space.space, maximum);
        }
        self.report_gap(now);
    }

    /// A segment came out of order: says so at once, or together with those that follow (`__tcp_ack_snd_check`).
    fn report_gap(&mut self, now: Time) {
        let quick = self.is_quick();
        let compressing = &mut self.compressing;
        if compressing.at != self.nxt {
            compressing.at = self.nxt;
            compressing.plain = 0;
        }
        let longest = match self.space.rtt {
            Some(rtt) => compressing.longest.min(rtt / 20),
            None => compressing.longest,
        };
        let at_once = quick || self.dsack.is_some() || longest == Duration::ZERO;
        if at_once || compressing.waiting >= COMPRESSED_AT_MOST {
            self.ack_now = true;
        } else if compressing.plain < 3 {
            compressing.plain += 1;
            self.ack_now = true;
        } else {
            compressing.waiting += 1;
            let due = now + longest;
            self.ack_due = Some(self.ack_due.map_or(due, |known| known.min(due)));
        }
    }

    /// Stores real bytes from offset `from` on; `start` is where the payload begins.
    fn keep(&mut self, from: u64, start: u64, end: u64, payload: Payload<'_>) {
        if !self.keeps || end <= from {
            return;
        }
        let skip = usize::try_from(from.saturating_sub(start)).unwrap_or(0);
        let piece = match payload {
            Payload::Bytes(bytes) => bytes[skip..].to_vec(),
            Payload::Synthetic(len) => vec![0; len as usize - skip],
        };
        self.pieces.insert(from.max(start), piece);
    }

    #[inline(never)]
    fn join_pieces(&mut self) {
        while let Some((at, piece)) = self.pieces.pop_first() {
            let have = 1 + self.read + self.bytes.len() as u64;
            if at > have {
                self.pieces.insert(at, piece);
                break;
            }
            let skip = usize::try_from(have - at).unwrap_or(usize::MAX);
            if skip < piece.len() {
                self.bytes.extend_from_slice(&piece[skip..]);
            }
        }
    }

    /// The application reads up to `max` bytes; the result is how many.
    pub(crate) fn read(&mut self, now: Time, max: u64) -> u64 {
        let count = self.unread.min(max);
        if count == 0 {
            return 0;
        }
        self.acknowledged = false;
        self.unread -= count;
        self.read += count;
        if self.keeps {
            let drop = usize::try_from(count).unwrap_or(usize::MAX).min(self.bytes.len());
            self.bytes.drain(..drop);
        }
        self.autotune(now);
        if self.update_is_worth_it() {
            self.ack_now = true;
        }
        count
    }

    /// The real bytes in order that are not read yet.
    pub(crate) fn peek(&self) -> &[u8] {
        &self.bytes
    }

    fn note_congestion(&mut self, ecn: Ecn) {
        if self.ecn && ecn == Ecn::Ce {
            self.counters.marked += 1;
            if !self.echo_congestion {
                self.quick = self.quick.max(2);
                self.answers = false;
            }
            self.echo_congestion = true;
        }
    }

    /// Adapts the delay of acknowledgements to the spacing of segments (`tcp_event_data_recv`).
    fn pace_acks(&mut self, now: Time) {
        if let Some(last) = self.last_arrival {
            let gap = now.since(last);
            let floor = self.min_delay;
            if gap <= floor / 2 {
                self.ato = self.ato / 2 + floor / 2;
            } else if gap < self.ato {
                self.ato = (self.ato / 2 + gap).min(self.delay);
            } else if gap > self.idle {
                self.be_quick();
            }
        } else {
            self.be_quick();
        }
        self.last_arrival = Some(now);
    }

    /// The next segments are acknowledged at once: so many as half a window has, up to a limit (`tcp_incr_quickack`).
    fn be_quick(&mut self) {
        let half = u32::try_from(self.wnd / u64::from(2 * self.mss.max(1))).unwrap_or(u32::MAX);
        self.quick = self.quick.max(half.max(2).min(self.quick_at_most));
    }

    /// Acknowledgements go out at once (`tcp_in_quickack_mode`).
    const fn is_quick(&self) -> bool {
        self.quick > 0 && !self.answers
    }

    /// A segment that ends a write, or is not full, is acknowledged as soon as everything is read.
    pub(crate) const fn note_push(&mut self, push: bool, len: u32) {
        self.pushed |= len > 0 && (push || len < self.mss);
    }

    /// Data go out: soon after data came in, they are the answer (`tcp_event_data_sent`).
    pub(crate) fn note_answer(&mut self, now: Time) {
        self.answers |= self.last_arrival.is_some_and(|last| now.since(last) < self.ato);
    }

    /// The delayed acknowledgement is due (`tcp_delack_timer_handler`): the next may wait longer, unless it waited for
    /// an answer that did not come. None waits longer than a round trip (`tcp_send_delayed_ack`).
    pub(crate) fn delay_is_over(&mut self, round_trip: Option<Duration>) {
        self.ack_due = None;
        self.ack_now = true;
        if self.compressing.waiting == 0 {
            let most = round_trip.map_or(self.idle, |span| span.max(self.min_delay));
            self.ato = if self.answers {
                self.min_delay
            } else {
                (self.ato * 2).min(most)
            };
            self.answers = false;
        }
    }

    fn schedule_ack(&mut self, now: Time) {
        let unacked = self.nxt - self.wup;
        let enough =
            self.unacked_segments >= self.every && unacked > u64::from(self.mss) * u64::from(self.every - 1);
        if enough || self.is_quick() || self.ack_now {
            self.ack_now = true;
        } else if self.ack_due.is_none() {
            self.ack_due = Some(now + self.ato.max(self.min_delay).min(self.delay));
        }
    }

    /// An acknowledgement goes out with whatever is sent now; the result is the window field.
    pub(crate) fn acknowledge(&mut self, pure: bool) -> u16 {
        self.ack_now = false;
        self.quick = self.quick.saturating_sub(1);
        self.counters.acknowledgements += u64::from(pure);
        if !self.acknowledged {
            self.acknowledged = true;
            self.move_window();
        }
        u16::try_from(self.wnd >> self.shift).unwrap_or(u16::MAX)
    }

    /// Everything received is acknowledged, with the window that may be offered now.
    fn move_window(&mut self) {
        self.ack_due = None;
        self.pushed = false;
        self.unacked_segments = 0;
        self.compressing.waiting = 0;
        self.last_ack_sent = self.nxt;
        let current = (self.wup + self.wnd).saturating_sub(self.nxt);
        // Never shrink what was offered.
        let window = self.select_window().max(current);
        let window = self.rounded(window).min(65_535 << self.shift);
        self.wnd = window;
        self.wup = self.nxt;
    }

    /// The SACK blocks of an acknowledgement: a duplicate first, then the most recent ranges.
    pub(crate) fn sack_blocks(&mut self, peer_initial: Seq32, most: usize) -> SackBlocks {
        let mut blocks = SackBlocks::new();
        let mut put = |left: u64, right: u64| {
            blocks.push(peer_initial + left as u32, peer_initial + right as u32);
        };
        let mut room = most;
        if let Some((left, right)) = self.dsack.take() {
            put(left, right);
            room -= 1;
        }
        for &(left, right) in self.recent.iter().take(room) {
            put(left, right);
        }
        blocks
    }

    /// Whether there is anything that SACK would report.
    pub(crate) const fn has_gaps(&self) -> bool {
        !self.ranges.is_empty() || self.dsack.is_some()
    }

    /// The timestamp of an arriving segment is the one to echo if it begins at or before the last ACK (RFC 7323, 4.3).
    pub(crate) fn note_timestamp(&mut self, start: u64, value: u32) {
        if start <= self.last_ack_sent && Seq32(value) >= Seq32(self.ts_recent) {
            self.ts_recent = value;
        }
    }

    /// A timestamp echo measures the round trip from the receiver's side (`tcp_rcv_rtt_measure_ts`).
    pub(crate) fn note_rtt(&mut self, rtt: Duration) {
        self.space.rtt = Some(match self.space.rtt {
            Some(old) if rtt < old => rtt,
            // A longer one says nothing while the application has not read everything.
            Some(old) if self.unread > 0 => old,
            Some(old) => old.saturating_sub(old / 8) + rtt / 8,
            None => rtt,
        });
    }

    /// The window last advertised, in bytes.
    pub(crate) const fn advertised(&self) -> u64 {
        self.wnd
    }

    fn full_space(&self) -> u64 {
        self.clamp
    }

    fn free_space(&self) -> u64 {
        self.clamp.saturating_sub(self.unread + self.waiting)
    }

    /// The window to advertise (`__tcp_select_window`).
    fn select_window(&self) -> u64 {
        if let ReceiveWindow::Exact { .. } = self.policy {
            return self.clamp.saturating_sub(self.unread);
        }
        let full = self.full_space();
        let mss = u64::from(self.mss).min(full);
        let mut free = self.free_space();
        if free < full / 2 {
            let rounded = free >> self.shift << self.shift;
            if rounded < full / 16 || rounded < mss {
                return 0;
            }
        }
        free = free.min(self.ssthresh);
        if self.shift > 0 {
            return free;
        }
        if self.wnd <= free.saturating_sub(mss) || self.wnd > free {
            free - free % mss.max(1)
        } else {
            self.wnd
        }
    }

    fn rounded(&self, window: u64) -> u64 {
        let unit = 1_u64 << self.shift;
        match self.policy {
            // A foreign stack rounds down, so that it never offers what it does not have.
            ReceiveWindow::Exact { .. } => window / unit * unit,
            _ => window.div_ceil(unit) * unit,
        }
    }

    /// Whether reading opened the window enough to say so unasked.
    fn update_is_worth_it(&self) -> bool {
        let current = (self.wup + self.wnd).saturating_sub(self.nxt);
        let now = self.select_window();
        if let ReceiveWindow::Exact { update, .. } = self.policy {
            return now >= current + u64::from(update.max(1));
        }
        let pushed = self.pushed && !self.answers && self.unread == 0;
        let owed = self.unacked_segments > 0 && (pushed || self.nxt - self.wup > u64::from(self.mss));
        owed || (2 * current <= self.clamp && now > 0 && now >= 2 * current)
    }

    /// The first full segment shows how much of the buffer data take (`tcp_measure_rcv_mss`).
    fn weigh(&mut self, len: u32) {
        if self.weighed || len < self.mss || matches!(self.policy, ReceiveWindow::Exact { .. }) {
            return;
        }
        self.weighed = true;
        self.clamp = self.buffer * self.share / 256;
        if self.shift == 0 {
            self.clamp = self.clamp.min(65_535);
        }
    }

    /// Opens the window further while segments come in, and says so at once (`tcp_grow_window`).
    fn grow_window(&mut self, len: u64) {
        if matches!(self.policy, ReceiveWindow::Exact { .. }) || len < 128 {
            return;
        }
        let room = self.clamp.min(self.free_space()).saturating_sub(self.ssthresh);
        if room > 0 {
            self.ssthresh += room.min(2 * u64::from(self.mss));
            self.quick |= 1;
        }
    }

    /// Without timestamps: one window takes at least one round trip (`tcp_rcv_rtt_measure`).
    fn measure_rtt_by_window(&mut self, now: Time) {
        match self.space.probe {
            Some((until, _)) if self.nxt < until => return,
            Some((_, since)) => {
                let rtt = now.since(since);
                if self.space.rtt.is_none_or(|old| rtt < old) {
                    self.space.rtt = Some(rtt);
                }
            }
            None => {}
        }
        self.space.probe = Some((self.nxt + self.wnd, now));
    }

    /// Grows the buffer when more than before is read in a round trip (`tcp_rcv_space_adjust`).
    fn autotune(&mut self, now: Time) {
        let ReceiveWindow::Autotuned { maximum, .. } = self.policy else {
            return;
        };
        let Some(rtt) = self.space.rtt else { return };
        if now.since(self.space.since) < rtt {
            return;
        }
        let position = 1 + self.read;
        // What still waits to be read was not asked for in this round trip.
        let copied = (position - self.space.seq).saturating_sub(self.unread);
        if copied > self.space.space {
            self.grow_buffer(copied, maximum);
        }
        self.space.seq = position;
        self.space.since = now;
    }

    /// The buffer becomes what `copied` bytes in a round trip ask for (`tcp_rcvbuf_grow`).
    fn grow_buffer(&mut self, copied: u64, maximum: u32) {
        let old = self.space.space.max(1);
        self.space.space = copied;
        let window = 2 * copied;
        let grow = u128::from(window) * u128::from(copied.saturating_sub(old)) / u128::from(old);
        let gap = self.ranges.last().map_or(0, |range| range.1 - self.nxt);
        let window = u128::from(window) + 2 * grow + u128::from(gap);
        let share = if self.weighed {
            self.share
        } else {
            self.share.min(128)
        };
        let buffer = window * 256 / u128::from(share);
        let buffer = u64::try_from(buffer).unwrap_or(u64::MAX).min(u64::from(maximum));
        if buffer > self.buffer {
            self.buffer = buffer;
            self.clamp = buffer * share / 256;
        }
    }
}

/// Reports of out-of-order segments that wait at most (`tcp_comp_sack_nr`).
const COMPRESSED_AT_MOST: u32 = 44;

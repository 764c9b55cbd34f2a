//! One direction of a connection: the data of one sender and the acknowledgements of its peer.

use slowpath_packet::{Ecn, Seq32};
use slowpath_record::packets::{Marks, TcpFlags, TcpPacket};

use super::copies::Copies;
use super::counters::Counters;
use super::gaps::Gaps;
use super::log::{Ack, AckLog, SackLog, Tx, TxFlags, TxLog};
use super::marking::Marking;
use super::outstanding::Outstanding;
use super::own_clock::OwnClock;

/// Where the first sequence number is placed in the 64-bit space, so that nothing comes out negative.
const ORIGIN: u64 = 1 << 32;
/// SYN, FIN and RST: what a pure acknowledgement does not have.
const OPENING_OR_CLOSING: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::FIN.0 | TcpFlags::RST.0);

/// What one sender transmitted and what its peer acknowledged.
#[derive(Debug, Default)]
pub(crate) struct Half {
    /// Transmissions.
    pub(crate) tx: TxLog,
    /// Acknowledgements of the peer.
    pub(crate) acks: AckLog,
    /// SACK blocks of the peer.
    pub(crate) sack_log: SackLog,
    /// Counters of the packets that this sender sent.
    pub(crate) counters: Counters,
    /// What this sender's SYN offered.
    pub(crate) syn: Option<SynSeen>,
    /// The scale of the windows that this sender advertises, where somebody knows it who is not in the packets.
    pub(crate) told_scale: Option<u8>,
    /// First byte of data.
    pub(crate) first: u64,
    /// One past the highest byte seen.
    pub(crate) next: u64,
    /// Whether an acknowledgement was seen.
    pub(crate) acked: bool,
    /// Sequence space occupied by FIN: 0 or 1.
    pub(crate) fin: u64,
    /// Bytes acknowledged although the capture never showed them.
    pub(crate) missed: u64,
    /// Marks on its packets.
    pub(crate) marking: Marking,
    /// First and last data, nanoseconds.
    pub(crate) data_span: Option<(i64, i64)>,
    /// Payload bytes of a full segment on the wire, once known.
    pub(crate) segment_limit: u32,
    /// Span from an acknowledgement to the packet (by frame number) that echoes it, until logged.
    pub(crate) pending_release: Option<(u64, i64)>,
    /// Duplicate acknowledgements in a row.
    repeats: u32,
    /// Smallest time from an acknowledgement to data that echoes it, nanoseconds.
    release_min: Option<i64>,
    started: bool,
    outstanding: Outstanding,
    gaps: Gaps,
    copies: Copies,
    clock: OwnClock,
    last_packet: Option<i64>,
}

/// What a SYN offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SynSeen {
    pub(crate) at: i64,
    pub(crate) last_at: i64,
    pub(crate) seq: u32,
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack: bool,
    pub(crate) timestamps: bool,
    pub(crate) ace: u8,
    pub(crate) options_cut: bool,
    /// The window field, which a SYN never scales.
    pub(crate) window: u16,
}

impl Half {
    /// Whether `packet` of this sender was recorded already; remembers it otherwise.
    pub(crate) fn is_duplicate(&mut self, packet: &TcpPacket) -> bool {
        let beyond = self.started
            && packet.payload_len > 0
            && Seq32(packet.seq).distance(Seq32(self.next as u32)) >= 0;
        self.copies.is_copy(packet, beyond)
    }

    /// Takes a packet of this sender, with the payload in 64-bit sequence space.
    pub(crate) fn sent(&mut self, packet: &TcpPacket, base_rtt_ns: Option<i64>) {
        self.count_packet(packet);
        if packet.flags.has(TcpFlags::SYN) {
            self.sent_syn(packet);
            return;
        }
        if let Some(times) = packet.timestamps {
            self.clock.see(times.value, packet.at);
        }
        if packet.payload_len == 0 && !packet.flags.has(TcpFlags::FIN) {
            self.gaps.see(packet);
            return;
        }
        let start = self.extend(packet.seq);
        if !self.started {
            self.start_at(start);
        }
        let end = start + u64::from(packet.payload_len);
        if packet.flags.has(TcpFlags::FIN) {
            self.sent_fin(end);
        }
        if packet.payload_len > 0 {
            self.sent_data(packet, start, end, base_rtt_ns);
        }
        self.gaps.see(packet);
    }

    /// Takes the acknowledgement that a packet of the peer carries. `accurate` tells how marks are fed back.
    pub(crate) fn acknowledged(&mut self, packet: &TcpPacket, accurate: bool) {
        if !packet.flags.has(TcpFlags::ACK) || packet.flags.has(TcpFlags::RST) {
            return;
        }
        if !self.started {
            self.start_at(ORIGIN + u64::from(packet.ack));
        }
        let ack = self.extend(packet.ack);
        let marks = self.marking.reported(packet, accurate);
        let plain = packet.payload_len == 0 && !packet.flags.intersects(OPENING_OR_CLOSING);
        if ack > self.next {
            self.acknowledges_unseen(packet, ack);
        }
        let advanced = ack > self.outstanding.una || !self.acked;
        let previous_window = self.acks.last().map(|last| last.window);
        let same_window = previous_window == Some(packet.window);
        let mut told = None;
        if ack > self.outstanding.una {
            told = self
                .outstanding
                .advance(packet.at, ack, &mut self.tx, &mut self.counters);
            self.missed += self.gaps.acknowledged(ack, &mut self.tx);
        }
        self.acked = true;
        let sacked_before = self.outstanding.sacked_bytes;
        if !packet.sack.is_empty() {
            self.read_sack(packet, ack);
        }
        // The receiver had waited for a second segment to acknowledge, and one behind a gap made it answer: what it acknowledges
        // up to the gap says how long it waited, not how long the path takes.
        if self.outstanding.sacked_bytes > sacked_before
            && let Some(tx) = told.and_then(|told| self.tx.entry(told))
        {
            tx.rtt = f32::NAN;
        }
        let duplicate = plain
            && !advanced
            && ack == self.outstanding.una
            && self.next > self.outstanding.una
            && same_window;
        if advanced {
            self.repeats = 0;
        } else if duplicate {
            self.repeats += 1;
            self.counters.duplicate_acks += 1;
            self.counters.triple_duplicate_acks += u64::from(self.repeats == 3);
        }
        if !advanced
            && same_window
            && marks == 0
            && self.outstanding.sacked_bytes == sacked_before
            && !duplicate
        {
            return;
        }
        let sacked = self.outstanding.sacked_bytes.max(self.arrived_above(packet));
        self.acks.push(Ack {
            at: packet.at,
            to: self.outstanding.una,
            number: packet.number,
            sacked,
            window: packet.window,
            marks,
            duplicate,
            syn: packet.flags.has(TcpFlags::SYN),
            stamp: packet.timestamps.map(|times| times.value),
        });
    }

    /// Bytes that arrived above the hole at which an acknowledgement stands still that could not tell so: a receiver without SACK.
    fn arrived_above(&self, packet: &TcpPacket) -> u32 {
        let una = self.outstanding.una;
        if !packet.sack.is_empty() || !self.gaps.begins_at(una) {
            return 0;
        }
        let above = self.next.saturating_sub(una).saturating_sub(self.gaps.bytes());
        u32::try_from(above).unwrap_or(u32::MAX)
    }

    /// By how much the capture's clock ran ahead of this sender's own since its last packet, if it jumped: `at` is the
    /// time at which the tap says that a packet with timestamp `value` passed.
    pub(crate) fn clock_ran_ahead(&self, value: u32, at: i64) -> Option<i64> {
        self.clock.ran_ahead(value, at)
    }

    /// Whether this sender's clock is known well enough for that.
    pub(crate) fn is_timed(&self) -> bool {
        self.clock.is_known()
    }

    /// Time since the timestamp of this sender that the peer echoes at `at` was first seen.
    pub(crate) fn echo_of(&mut self, echo: u32, at: i64) -> Option<i64> {
        self.clock.echoed(echo, at)
    }

    /// Whether acknowledgement `ack` of this sender's data is the first for some of it.
    pub(crate) fn is_news(&self, ack: u32) -> bool {
        self.counters.data_packets > 0 && Seq32(ack).distance(Seq32(self.outstanding.una as u32)) > 0
    }

    /// The transmission with this frame number answers a message of the peer's program.
    pub(crate) fn answers(&mut self, number: u64) {
        if let Some(tx) = self.tx.last_mut()
            && tx.number == number
        {
            tx.flags.set(TxFlags::ANSWERS);
        }
    }

    /// Whether an acknowledgement `span` nanoseconds before `at` released the next data of this sender. With nothing
    /// outstanding and a silence before, its program has waited; then only a span like the shortest tells the path.
    /// (At a receiver nothing ever is outstanding, but there a queue on the way delivers without a silence.)
    pub(crate) fn was_released(&mut self, span: i64, at: i64) -> bool {
        let shortest = self.release_min.map_or(span, |least| least.min(span));
        self.release_min = Some(shortest);
        let outstanding = !self.acked || self.outstanding.una < self.next;
        let silence = self.data_span.map_or(0, |(_, last)| at.saturating_sub(last));
        let like_it = shortest.saturating_add(shortest / 2).saturating_add(2_000_000);
        outstanding || silence < span / 2 || span <= like_it
    }

    /// Extends a sequence number of this sender to 64 bits.
    pub(crate) fn extend(&self, seq: u32) -> u64 {
        if self.started {
            Seq32(seq).extend(self.next)
        } else {
            ORIGIN + u64::from(seq)
        }
    }

    /// Payload bytes acknowledged.
    pub(crate) fn delivered(&self) -> u64 {
        if !self.acked {
            return 0;
        }
        let end = if self.fin > 0 {
            self.outstanding.una.min(self.next - 1)
        } else {
            self.outstanding.una
        };
        end.saturating_sub(self.first)
    }

    /// Bytes in gaps that were neither filled nor acknowledged.
    pub(crate) fn open_gaps(&self) -> u64 {
        self.gaps.bytes()
    }

    /// Segments sent and not acknowledged, with how often the oldest was sent.
    pub(crate) fn unacknowledged(&self) -> Option<(u64, u64, u16)> {
        self.outstanding.oldest()
    }

    fn count_packet(&mut self, packet: &TcpPacket) {
        let counters = &mut self.counters;
        counters.total_packets += 1;
        if let Some(last) = self.last_packet {
            let idle = u64::try_from(packet.at - last).unwrap_or(0);
            counters.idle_max_ns = counters.idle_max_ns.max(idle);
        }
        self.last_packet = Some(packet.at);
        let flags = packet.flags;
        let bit = |flag: TcpFlags| u64::from(flags.has(flag));
        counters.ack_packets += bit(TcpFlags::ACK);
        counters.pushed_packets += bit(TcpFlags::PSH);
        counters.syns += bit(TcpFlags::SYN);
        counters.fins += bit(TcpFlags::FIN);
        counters.resets += bit(TcpFlags::RST);
        if flags.has(TcpFlags::ACK) && packet.payload_len == 0 && !flags.intersects(OPENING_OR_CLOSING) {
            counters.pure_acks += 1;
        }
        if !flags.intersects(TcpFlags(TcpFlags::SYN.0 | TcpFlags::RST.0)) {
            // Not scaled here: the scale may only be known later.
            let window = u64::from(packet.window);
            counters.max_window = counters.max_window.max(window);
            counters.min_window = if counters.window_samples == 0 {
                window
            } else {
                counters.min_window.min(window)
            };
            counters.window_sum += window;
            counters.window_samples += 1;
            counters.zero_windows += u64::from(window == 0);
        }
        if !packet.sack.is_empty() {
            counters.sack_packets += 1;
            counters.max_sack_blocks = counters.max_sack_blocks.max(packet.sack.as_slice().len() as u64);
        }
        self.marking.sent(packet);
    }

    fn sent_syn(&mut self, packet: &TcpPacket) {
        let start = ORIGIN + u64::from(packet.seq);
        if !self.started {
            self.start_at(start + 1);
        } else if self.syn.is_none() && self.counters.data_packets == 0 {
            // The peer's acknowledgement came first; the SYN gives the exact start.
            self.first = self.extend(packet.seq) + 1;
        }
        match &mut self.syn {
            Some(seen) => seen.last_at = packet.at,
            None => {
                self.syn = Some(SynSeen {
                    at: packet.at,
                    last_at: packet.at,
                    seq: packet.seq,
                    mss: packet.syn.mss,
                    window_scale: packet.syn.window_scale,
                    sack: packet.syn.sack_permitted,
                    timestamps: packet.timestamps.is_some(),
                    ace: packet.flags.ace(),
                    options_cut: packet.marks.has(Marks::OPTIONS_CUT),
                    window: packet.window,
                });
            }
        }
        if packet.payload_len > 0 {
            let from = self.extend(packet.seq) + 1;
            self.sent_data(packet, from, from + u64::from(packet.payload_len), None);
        }
    }

    fn sent_fin(&mut self, at: u64) {
        if at >= self.next {
            self.fin = 1;
        }
    }

    const fn start_at(&mut self, first: u64) {
        self.started = true;
        self.first = first;
        self.next = first;
        self.outstanding.una = first;
    }

    fn sent_data(&mut self, packet: &TcpPacket, start: u64, end: u64, base_rtt_ns: Option<i64>) {
        let len = end - start;
        let counters = &mut self.counters;
        counters.data_packets += 1;
        counters.data_bytes += len;
        counters.max_segment = counters.max_segment.max(len);
        counters.min_segment = if counters.min_segment == 0 {
            len
        } else {
            counters.min_segment.min(len)
        };
        if self.outstanding.una == self.first {
            counters.initial_window_bytes += len;
            counters.initial_window_packets += 1;
        }
        let (from, _) = *self.data_span.get_or_insert((packet.at, packet.at));
        self.data_span = Some((from, packet.at));
        counters.data_transmit_ns = u64::try_from(packet.at - from).unwrap_or(0);
        self.marking.sent_data(packet);
        if len == 1 && self.acks.last().is_some_and(|ack| ack.window == 0) && start == self.outstanding.una {
            self.counters.zero_window_probes += 1;
            self.counters.zero_window_probe_bytes += 1;
            if start < self.next {
                return;
            }
        }
        if len == 1 && start + 1 == self.next && self.outstanding.una == self.next {
            return;
        }
        let mut flags = TxFlags::default();
        if packet.flags.has(TcpFlags::PSH) {
            flags.set(TxFlags::PUSH);
        }
        if packet.ecn == Ecn::Ce {
            flags.set(TxFlags::CE);
        }
        if start > self.next {
            self.open_gap(packet, start);
        }
        let old_next = self.next;
        let fresh_from = start.max(old_next);
        let filled = if start < old_next {
            self.gaps.fill(
                packet,
                (start, end.min(old_next)),
                base_rtt_ns,
                &mut flags,
                &mut self.tx,
            )
        } else {
            0
        };
        self.counters.out_of_order_packets += u64::from(filled > 0);
        let resent = end.min(old_next).saturating_sub(start).saturating_sub(filled);
        if resent > 0 {
            self.counters.retransmitted_packets += 1;
            self.counters.retransmitted_bytes += resent;
            flags.set(TxFlags::RETRANSMISSION);
        }
        self.counters.unique_bytes += len - resent;
        let mss = self.segment_limit;
        let packets = if mss > 0 && len > u64::from(mss) {
            len.div_ceil(u64::from(mss))
        } else {
            1
        };
        let headers = u64::from(packet.ip_len).saturating_sub(len).clamp(40, 160);
        if packet.timestamps.is_some() {
            flags.set(TxFlags::STAMPED);
        }
        let tx = Tx {
            at: packet.at,
            seq: start,
            number: packet.number,
            len: packet.payload_len,
            wire: u32::try_from(len + headers * packets).unwrap_or(u32::MAX),
            lost: 0,
            rtt: f32::NAN,
            release: f32::NAN,
            stamp: packet.timestamps.map_or(0, |times| times.value),
            packets: u16::try_from(packets).unwrap_or(u16::MAX),
            flags,
        };
        let oldest = self.oldest_reference();
        let id = self.tx.push(tx, oldest);
        if resent > 0 {
            self.outstanding.resent(
                (start, end.min(old_next)),
                packet.at,
                id,
                &mut self.tx,
                &mut self.counters,
            );
        }
        if filled > 0 || end > fresh_from {
            self.outstanding
                .add(packet.at, (start, end), fresh_from, filled > 0, id);
        }
        self.next = self.next.max(end);
    }

    fn open_gap(&mut self, packet: &TcpPacket, start: u64) {
        let len = start - self.next;
        if self.counters.data_packets == 1 && len > 1 << 24 {
            // A first packet far from what the peer acknowledged: a capture that began later.
            self.first = start;
            self.next = start;
            return;
        }
        let mss = u64::from(self.segment_limit.max(1));
        let packets = len.div_ceil(mss);
        let mut flags = TxFlags::default();
        flags.set(TxFlags::GAP);
        let small = u32::try_from(len).unwrap_or(u32::MAX);
        let tx = Tx {
            at: packet.at,
            seq: self.next,
            number: packet.number,
            len: small,
            wire: u32::try_from(len + packets * 52).unwrap_or(u32::MAX),
            lost: small,
            rtt: f32::NAN,
            release: f32::NAN,
            stamp: 0,
            packets: u16::try_from(packets).unwrap_or(u16::MAX),
            flags,
        };
        let oldest = self.oldest_reference();
        let id = self.tx.push(tx, oldest);
        self.gaps.open(packet, self.next, start, id);
    }

    fn read_sack(&mut self, packet: &TcpPacket, ack: u64) {
        let blocks = packet.sack.as_slice();
        let mut extended = [(0, 0); 4];
        for (place, &(left, right)) in extended.iter_mut().zip(blocks) {
            *place = (self.extend(left), self.extend(right));
        }
        let told = &extended[..blocks.len().min(extended.len())];
        let place = (ack, self.next);
        self.outstanding
            .report(packet.at, place, told, &mut self.tx, &mut self.sack_log);
    }

    /// Segments that were overtaken on the way here, as their arrival shows.
    pub(crate) const fn came_late(&self) -> u64 {
        self.gaps.overtaken
    }

    /// Segments that were overtaken on the way, as their arrival or acknowledgement shows.
    pub(crate) const fn reordered(&self) -> u64 {
        self.gaps.overtaken + self.outstanding.overtaken
    }

    /// Retransmissions of bytes that had arrived.
    pub(crate) const fn spurious(&self) -> u64 {
        self.outstanding.in_vain
    }

    /// Reports of the receiver that bytes arrived twice (D-SACK).
    pub(crate) const fn told_twice(&self) -> u64 {
        self.outstanding.told_twice
    }

    /// Largest payload acknowledged.
    pub(crate) const fn largest_acked(&self) -> u32 {
        self.outstanding.largest_acked
    }

    fn acknowledges_unseen(&mut self, packet: &TcpPacket, ack: u64) {
        let fin = self.fin > 0 && ack == self.next + 1;
        if fin || ack - self.next > 1 << 30 {
            if fin {
                self.next = ack;
            }
            return;
        }
        if !self.acked
            && self.counters.data_packets == 0
            && self.outstanding.una == self.first
            && self.syn.is_none()
        {
            // Nothing known yet: the first acknowledgement is where the stream stands.
            self.start_at(ack);
            return;
        }
        self.open_gap(packet, ack);
        self.next = ack;
    }

    /// Smallest running number of a transmission that may still be changed; only needed when the log is full.
    fn oldest_reference(&self) -> u64 {
        if !self.tx.is_full() {
            return 0;
        }
        let referred = self.outstanding.oldest_reference().into_iter();
        referred.chain(self.gaps.oldest()).min().unwrap_or(u64::MAX)
    }
}

//! One direction of a connection: the data of one sender and the acknowledgements of its peer.

use std::collections::VecDeque;

use slowpath_packet::{Ecn, Seq32};
use slowpath_record::packets::{Marks, TcpFlags, TcpPacket};

use super::counters::Counters;
use super::log::{Ack, AckLog, SackBlock, SackLog, Tx, TxFlags, TxLog};
use super::ranges::Ranges;

/// Where the first sequence number is placed in the 64-bit space, so that nothing comes out negative.
const ORIGIN: u64 = 1 << 32;
/// Segments remembered as outstanding; more only when acknowledgements are missing.
const OUTSTANDING: usize = 1 << 16;
/// Retransmissions remembered until a D-SACK may call them spurious.
const REMEMBERED: usize = 256;
/// Blocks that a report has room for beside timestamps.
const FULL_REPORT: usize = 3;
/// Gaps remembered.
const GAPS: usize = 1024;
/// SYN, FIN and RST: what a pure acknowledgement does not have.
const OPENING_OR_CLOSING: TcpFlags = TcpFlags(TcpFlags::SYN.0 | TcpFlags::FIN.0 | TcpFlags::RST.0);
/// Packets compared with a new one to find duplicates of the capture.
const FINGERPRINTS: usize = 8;

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
    /// First byte of data.
    pub(crate) first: u64,
    /// One past the highest byte seen.
    pub(crate) next: u64,
    /// Highest cumulative acknowledgement.
    pub(crate) una: u64,
    /// Whether an acknowledgement was seen.
    pub(crate) acked: bool,
    /// Segments that were overtaken on the way, as their arrival or acknowledgement shows.
    pub(crate) reordered: u64,
    /// Retransmissions of bytes that had arrived.
    pub(crate) spurious: u64,
    /// Sequence space occupied by FIN: 0 or 1.
    pub(crate) fin: u64,
    /// Bytes acknowledged although the capture never showed them.
    pub(crate) missed: u64,
    /// Data packets marked CE.
    pub(crate) ce_packets: u64,
    /// Data packets marked ECT(0), ECT(1) or CE.
    pub(crate) ect_packets: u64,
    /// Acknowledgements with ECE (classic).
    pub(crate) ece_acks: u64,
    /// Data packets with CWR (classic).
    pub(crate) cwr_packets: u64,
    /// CE packets that the peer's ACE counter reported.
    pub(crate) ace_total: u64,
    /// CE bytes that the peer's AccECN option reported.
    pub(crate) ce_bytes: u64,
    /// DSCP values seen, in order.
    pub(crate) dscp: Vec<u8>,
    /// Smallest and largest TTL seen.
    pub(crate) ttl: Option<(u8, u8)>,
    /// Bytes resent in segments much smaller than those first sent, after losses of large ones.
    pub(crate) keepalives: u64,
    /// Largest payload acknowledged.
    pub(crate) largest_acked: u32,
    /// First and last data, nanoseconds.
    pub(crate) data_span: Option<(i64, i64)>,
    /// Frame number of the first D-SACK and how many.
    pub(crate) dsack_seen: Option<u64>,
    /// Payload bytes of a full segment on the wire, once known.
    pub(crate) segment_limit: u32,
    /// Span from an acknowledgement to the packet (by frame number) that echoes it, until logged.
    pub(crate) pending_release: Option<(u64, i64)>,
    /// Duplicate acknowledgements in a row.
    repeats: u32,
    /// First and last timestamp of this sender with their times at the tap.
    own_clock: Option<[(u32, i64); 2]>,
    /// Smallest time from an acknowledgement to data that echoes it, nanoseconds.
    release_min: Option<i64>,
    /// Smallest time from data to its acknowledgement, nanoseconds.
    answer_min: Option<i64>,
    started: bool,
    outstanding: VecDeque<Segment>,
    gaps: VecDeque<Gap>,
    sacked: Ranges,
    sacked_bytes: u32,
    remembered: VecDeque<Resent>,
    fingerprints: VecDeque<Fingerprint>,
    own_times: VecDeque<(u32, i64)>,
    newest_own_time: Option<u32>,
    ip_id: IpIds,
    last_packet: Option<i64>,
    ace_last: Option<u8>,
    ce_bytes_last: Option<u32>,
    highest_tsval: Option<u32>,
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

#[derive(Debug, Clone, Copy)]
struct Segment {
    start: u64,
    end: u64,
    at: i64,
    tx: u64,
    transmissions: u16,
    sacked: bool,
    passed_over: bool,
}

#[derive(Debug, Clone, Copy)]
struct Gap {
    start: u64,
    end: u64,
    at: i64,
    tx: u64,
    tsval: Option<u32>,
    ip_id: Option<u16>,
}

#[derive(Debug, Clone, Copy)]
struct Resent {
    start: u64,
    end: u64,
    original: u64,
    again: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint {
    ip_id: Option<u16>,
    seq: u32,
    ack: u32,
    len: u32,
    flags: TcpFlags,
    window: u16,
    tsval: u32,
    interface: u16,
    ttl: u8,
    at: i64,
}

/// Whether IP identifications of this sender count up, so that they tell the order of sending.
#[derive(Debug, Default)]
struct IpIds {
    last: Option<u16>,
    steps: u32,
    small_steps: u32,
}

impl IpIds {
    fn see(&mut self, id: Option<u16>) {
        let Some(id) = id else { return };
        if let Some(last) = self.last {
            self.steps += 1;
            if (1..=64).contains(&id.wrapping_sub(last)) {
                self.small_steps += 1;
            }
        }
        self.last = Some(id);
    }

    const fn count_up(&self) -> bool {
        self.steps >= 8 && self.small_steps * 10 >= self.steps * 8
    }
}

impl Half {
    /// Whether `packet` of this sender was recorded already; remembers it otherwise.
    pub(crate) fn is_duplicate(&mut self, packet: &TcpPacket) -> bool {
        let print = Fingerprint {
            ip_id: packet.ip_id.filter(|&id| id != 0),
            seq: packet.seq,
            ack: packet.ack,
            len: packet.payload_len,
            flags: packet.flags,
            window: packet.window,
            tsval: packet.timestamps.map_or(0, |times| times.value),
            interface: packet.interface,
            ttl: packet.ttl,
            at: packet.at,
        };
        // Data beyond all that was seen cannot be a copy.
        let beyond = self.started
            && packet.payload_len > 0
            && Seq32(packet.seq).distance(Seq32(self.next as u32)) >= 0;
        let copy = !beyond && self.fingerprints.iter().any(|old| print.copies(old));
        if !copy {
            if self.fingerprints.len() >= FINGERPRINTS {
                self.fingerprints.pop_front();
            }
            self.fingerprints.push_back(print);
        }
        copy
    }

    /// Takes a packet of this sender, with the payload in 64-bit sequence space.
    pub(crate) fn sent(&mut self, packet: &TcpPacket, base_rtt_ns: Option<i64>) {
        self.count_packet(packet);
        if packet.flags.has(TcpFlags::SYN) {
            self.sent_syn(packet);
            return;
        }
        if let Some(times) = packet.timestamps {
            self.remember_own_time(times.value, packet.at);
            let now = (times.value, packet.at);
            self.own_clock = Some(self.own_clock.map_or([now, now], |[first, _]| [first, now]));
        }
        if packet.payload_len == 0 && !packet.flags.has(TcpFlags::FIN) {
            if self.started
                && self.next > 0
                && self.extend(packet.seq) + 1 == self.next
                && self.una == self.next
            {
                self.keepalives += 1;
            }
            self.ip_id.see(packet.ip_id.filter(|&id| id != 0));
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
        self.ip_id.see(packet.ip_id.filter(|&id| id != 0));
        if let Some(times) = packet.timestamps {
            self.highest_tsval = Some(match self.highest_tsval {
                Some(high) if Seq32(high) >= Seq32(times.value) => high,
                _ => times.value,
            });
        }
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
        let marks = self.read_marks(packet, accurate);
        let plain = packet.payload_len == 0 && !packet.flags.intersects(OPENING_OR_CLOSING);
        if ack > self.next {
            self.acknowledges_unseen(packet, ack);
        }
        let advanced = ack > self.una || !self.acked;
        let previous_window = self.acks.last().map(|last| last.window);
        let same_window = previous_window == Some(packet.window);
        if ack > self.una {
            self.advance(packet, ack);
        }
        self.acked = true;
        let sacked_before = self.sacked_bytes;
        if !packet.sack.is_empty() {
            self.read_sack(packet, ack);
        }
        let duplicate = plain && !advanced && ack == self.una && self.next > self.una && same_window;
        if advanced {
            self.repeats = 0;
        } else if duplicate {
            self.repeats += 1;
            self.counters.duplicate_acks += 1;
            self.counters.triple_duplicate_acks += u64::from(self.repeats == 3);
        }
        if !advanced && same_window && marks == 0 && self.sacked_bytes == sacked_before && !duplicate {
            return;
        }
        self.acks.push(Ack {
            at: packet.at,
            to: self.una,
            number: packet.number,
            sacked: self.sacked_bytes,
            window: packet.window,
            marks,
            duplicate,
            syn: packet.flags.has(TcpFlags::SYN),
        });
    }

    /// By how much the capture's clock ran ahead of this sender's own since its last packet, if it jumped: `at` is
    /// the time at which the tap says that a packet with timestamp `value` passed.
    pub(crate) fn clock_ran_ahead(&self, value: u32, at: i64) -> Option<i64> {
        let [first, last] = self.own_clock?;
        let ticks = Seq32(last.0).distance(Seq32(first.0));
        let span = last.1.saturating_sub(first.1);
        // A clock is known once it ran for a second.
        if ticks < 10 || span < 1_000_000_000 {
            return None;
        }
        let passed =
            (f64::from(Seq32(value).distance(Seq32(last.0))) * span as f64 / f64::from(ticks)) as i64;
        let shown = at.saturating_sub(last.1);
        let ahead = shown.saturating_sub(passed);
        (passed >= 0 && ahead > 500_000_000 && passed < shown / 2).then_some(ahead)
    }

    /// Whether acknowledgement `ack` of this sender's data is the first for some of it.
    pub(crate) fn is_news(&self, ack: u32) -> bool {
        self.counters.data_packets > 0 && Seq32(ack).distance(Seq32(self.una as u32)) > 0
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
        let outstanding = !self.acked || self.una < self.next;
        let silence = self.data_span.map_or(0, |(_, last)| at - last);
        outstanding || silence < span / 2 || span <= shortest + shortest / 2 + 2_000_000
    }

    /// Time since the peer's timestamp echoed by `packet` of this sender was first seen on a packet of the peer.
    pub(crate) fn echo_of(&mut self, echo: u32, at: i64) -> Option<i64> {
        let mut found = None;
        while let Some(&(value, seen)) = self.own_times.front() {
            if Seq32(value) > Seq32(echo) {
                break;
            }
            if value == echo {
                found = Some(at - seen);
            }
            self.own_times.pop_front();
        }
        found.filter(|span| *span >= 0)
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
            self.una.min(self.next - 1)
        } else {
            self.una
        };
        end.saturating_sub(self.first)
    }

    /// Bytes in gaps that were neither filled nor acknowledged.
    pub(crate) fn open_gaps(&self) -> u64 {
        self.gaps.iter().map(|gap| gap.end - gap.start).sum()
    }

    /// Segments sent and not acknowledged, with how often the oldest was sent.
    pub(crate) fn unacknowledged(&self) -> Option<(u64, u64, u16)> {
        self.outstanding
            .front()
            .map(|oldest| (oldest.start, oldest.end, oldest.transmissions))
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
        if self.dscp.last() != Some(&packet.dscp.value())
            && self.dscp.len() < 16
            && !self.dscp.contains(&packet.dscp.value())
        {
            self.dscp.push(packet.dscp.value());
        }
        self.ttl = Some(self.ttl.map_or((packet.ttl, packet.ttl), |(low, high)| {
            (low.min(packet.ttl), high.max(packet.ttl))
        }));
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
        self.una = first;
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
        if self.una == self.first {
            counters.initial_window_bytes += len;
            counters.initial_window_packets += 1;
        }
        let (from, _) = *self.data_span.get_or_insert((packet.at, packet.at));
        self.data_span = Some((from, packet.at));
        counters.data_transmit_ns = u64::try_from(packet.at - from).unwrap_or(0);
        match packet.ecn {
            Ecn::NotEct => {}
            Ecn::Ce => {
                self.ce_packets += 1;
                self.ect_packets += 1;
            }
            Ecn::Ect0 | Ecn::Ect1 => self.ect_packets += 1,
        }
        self.cwr_packets += u64::from(packet.flags.has(TcpFlags::CWR));
        if len == 1 && self.acks.last().is_some_and(|ack| ack.window == 0) && start == self.una {
            self.counters.zero_window_probes += 1;
            self.counters.zero_window_probe_bytes += 1;
            if start < self.next {
                return;
            }
        }
        if len == 1 && start + 1 == self.next && self.una == self.next {
            self.keepalives += 1;
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
            self.fill_gaps(packet, start, end.min(old_next), base_rtt_ns, &mut flags)
        } else {
            0
        };
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
        let tx = Tx {
            at: packet.at,
            seq: start,
            number: packet.number,
            len: packet.payload_len,
            wire: u32::try_from(len + headers * packets).unwrap_or(u32::MAX),
            lost: 0,
            rtt: f32::NAN,
            release: f32::NAN,
            packets: u16::try_from(packets).unwrap_or(u16::MAX),
            flags,
        };
        let oldest = self.oldest_reference();
        let id = self.tx.push(tx, oldest);
        if resent > 0 {
            self.resent(start, end.min(old_next), packet.at, id);
        }
        if filled > 0 || end > fresh_from {
            self.remember(packet, start, end, fresh_from, filled, id);
        }
        self.next = self.next.max(end);
    }

    /// Adds a segment to those outstanding.
    fn remember(&mut self, packet: &TcpPacket, start: u64, end: u64, fresh_from: u64, filled: u64, tx: u64) {
        let segment = |start, end, transmissions| Segment {
            start,
            end,
            at: packet.at,
            tx,
            transmissions,
            sacked: false,
            passed_over: false,
        };
        if filled > 0 && start >= self.una {
            let to = end.min(fresh_from);
            let index = self.outstanding.partition_point(|old| old.start < start);
            if self.outstanding.get(index).is_none_or(|old| old.start >= to) {
                self.outstanding.insert(index, segment(start, to, 2));
            }
        }
        if end > fresh_from && end > self.una {
            if self.outstanding.len() >= OUTSTANDING {
                self.outstanding.pop_front();
            }
            self.outstanding.push_back(segment(fresh_from, end, 1));
        }
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
            packets: u16::try_from(packets).unwrap_or(u16::MAX),
            flags,
        };
        let oldest = self.oldest_reference();
        let id = self.tx.push(tx, oldest);
        if self.gaps.len() >= GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap {
            start: self.next,
            end: start,
            at: packet.at,
            tx: id,
            tsval: packet.timestamps.map(|times| times.value),
            ip_id: packet.ip_id.filter(|&id| id != 0),
        });
    }

    /// Fills gaps with `[start, end)`; returns the bytes filled and says in `flags` how they came.
    fn fill_gaps(
        &mut self,
        packet: &TcpPacket,
        start: u64,
        end: u64,
        base_rtt_ns: Option<i64>,
        flags: &mut TxFlags,
    ) -> u64 {
        let mut filled = 0;
        let mut index = self.gaps.partition_point(|gap| gap.end <= start);
        while let Some(&gap) = self.gaps.get(index) {
            if gap.start >= end {
                break;
            }
            let (from, to) = (gap.start.max(start), gap.end.min(end));
            let late = self.was_overtaken(packet, &gap, base_rtt_ns);
            filled += to - from;
            if late {
                flags.set(TxFlags::LATE);
                if let Some(tx) = self.tx.entry(gap.tx) {
                    tx.lost = tx.lost.saturating_sub((to - from) as u32);
                }
            } else {
                flags.set(TxFlags::FILLS);
            }
            let (left, right) = ((gap.start, from), (to, gap.end));
            match (left.0 < left.1, right.0 < right.1) {
                (false, false) => {
                    self.gaps.remove(index);
                    continue;
                }
                (true, false) => self.gaps[index].end = left.1,
                (false, true) => self.gaps[index].start = right.0,
                (true, true) => {
                    self.gaps[index].end = left.1;
                    self.gaps.insert(
                        index + 1,
                        Gap {
                            start: right.0,
                            ..gap
                        },
                    );
                    index += 1;
                }
            }
            index += 1;
        }
        if filled > 0 {
            self.counters.out_of_order_packets += 1;
            self.reordered += u64::from(flags.has(TxFlags::LATE));
        }
        filled
    }

    /// Whether a packet that fills a gap was sent before the packet that opened it.
    fn was_overtaken(&self, packet: &TcpPacket, gap: &Gap, base_rtt_ns: Option<i64>) -> bool {
        if self.ip_id.count_up()
            && let (Some(own), Some(opener)) = (packet.ip_id, gap.ip_id)
        {
            return opener.wrapping_sub(own).cast_signed() > 0;
        }
        if let (Some(own), Some(opener)) = (packet.timestamps, gap.tsval) {
            let distance = Seq32(own.value).distance(Seq32(opener));
            if distance != 0 {
                return distance < 0;
            }
        }
        packet.at - gap.at < base_rtt_ns.map_or(3_000_000, |rtt| rtt / 2)
    }

    /// Marks earlier transmissions of `[start, end)` as lost; a later D-SACK may take that back.
    fn resent(&mut self, start: u64, end: u64, at: i64, again: u64) {
        if end <= self.una {
            self.spurious += 1;
            if let Some(tx) = self.tx.entry(again) {
                tx.flags.set(TxFlags::SPURIOUS);
            }
            return;
        }
        let mut index = self.outstanding.partition_point(|old| old.end <= start);
        let mut needed = false;
        if let Some(old) = self.outstanding.get(index).filter(|old| old.start < end) {
            self.counters.retransmitted_after(at - old.at);
        }
        while let Some(&old) = self.outstanding.get(index) {
            if old.start >= end {
                break;
            }
            let (from, to) = (old.start.max(start), old.end.min(end));
            if !old.sacked {
                needed = true;
                if let Some(tx) = self.tx.entry(old.tx) {
                    tx.lost = tx.lost.saturating_add((to - from) as u32).min(tx.len);
                }
                if self.remembered.len() >= REMEMBERED {
                    self.remembered.pop_front();
                }
                self.remembered.push_back(Resent {
                    start: from,
                    end: to,
                    original: old.tx,
                    again,
                });
            }
            let transmissions = old.transmissions.saturating_add(1);
            self.counters.max_retransmissions = self
                .counters
                .max_retransmissions
                .max(u64::from(transmissions) - 1);
            let middle = Segment {
                start: from,
                end: to,
                at,
                tx: again,
                transmissions,
                ..old
            };
            let (left, right) = ((old.start, from), (to, old.end));
            self.outstanding[index] = middle;
            if left.0 < left.1 {
                self.outstanding.insert(index, Segment { end: left.1, ..old });
                index += 1;
            }
            if right.0 < right.1 {
                self.outstanding.insert(
                    index + 1,
                    Segment {
                        start: right.0,
                        ..old
                    },
                );
            }
            index += 1;
        }
        if !needed {
            self.spurious += 1;
            if let Some(tx) = self.tx.entry(again) {
                tx.flags.set(TxFlags::SPURIOUS);
            }
        }
    }

    fn acknowledges_unseen(&mut self, packet: &TcpPacket, ack: u64) {
        let fin = self.fin > 0 && ack == self.next + 1;
        if fin || ack - self.next > 1 << 30 {
            if fin {
                self.next = ack;
            }
            return;
        }
        if self.counters.data_packets == 0 && self.una == self.first && self.syn.is_none() {
            // Nothing known yet: the acknowledgement is where the stream stands.
            self.start_at(ack);
            return;
        }
        self.open_gap(packet, ack);
        self.next = ack;
    }

    /// Moves the cumulative acknowledgement to `ack`.
    fn advance(&mut self, packet: &TcpPacket, ack: u64) {
        let mut sample: Option<(u64, i64)> = None;
        let mut clean = true;
        let mut again = false;
        while let Some(segment) = self.outstanding.front().copied() {
            if segment.start >= ack {
                break;
            }
            if segment.end > ack {
                if let Some(front) = self.outstanding.front_mut() {
                    front.start = ack;
                }
                if segment.transmissions == 1 && !segment.sacked {
                    sample = Some((segment.tx, segment.at));
                }
                break;
            }
            self.outstanding.pop_front();
            if segment.end < ack {
                self.counters.cumulatively_acked += 1;
            } else if segment.transmissions > 1 {
                self.counters.ambiguous_acks += 1;
            } else if again {
                self.counters.post_loss_acks += 1;
            } else {
                self.counters.rtt_sample(packet.at - segment.at);
            }
            again |= segment.transmissions > 1;
            self.largest_acked = self.largest_acked.max((segment.end - segment.start) as u32);
            if segment.sacked {
                self.sacked_bytes = self
                    .sacked_bytes
                    .saturating_sub((segment.end - segment.start) as u32);
            } else if segment.transmissions == 1 {
                sample = Some((segment.tx, segment.at));
                if segment.passed_over {
                    self.overtaken(segment.tx);
                    clean = false;
                }
            } else {
                clean = false;
                self.answered_again(packet.at, segment);
            }
        }
        if clean && let Some((tx, sent)) = sample {
            self.sample(tx, packet.at - sent);
        }
        while let Some(&gap) = self.gaps.front() {
            if gap.start >= ack {
                break;
            }
            let to = gap.end.min(ack);
            let bytes = to - gap.start;
            self.missed += bytes;
            if let Some(tx) = self.tx.entry(gap.tx) {
                tx.lost = tx.lost.saturating_sub(bytes as u32);
                tx.flags.set(TxFlags::MISSED);
            }
            if to < gap.end {
                if let Some(front) = self.gaps.front_mut() {
                    front.start = to;
                }
                break;
            }
            self.gaps.pop_front();
        }
        self.sacked.forget_below(ack);
        if self.sacked.is_empty() {
            self.sacked_bytes = 0;
        }
        self.una = ack;
    }

    /// A segment that was sent again is acknowledged `span` after its last transmission: sooner than any answer can
    /// come, so an earlier transmission had arrived.
    fn answered_again(&mut self, at: i64, segment: Segment) {
        let (start, end) = (segment.start, segment.end);
        let span = at - segment.at;
        if self
            .answer_min
            .is_none_or(|least| least < 200_000 || span >= least / 10 * 8)
        {
            return;
        }
        if let Some(index) = self
            .remembered
            .iter()
            .rposition(|resent| resent.start < end && start < resent.end)
        {
            self.not_needed(index, start, end);
            // What was never seen to be passed over may have arrived in time, and no report of it came.
            self.reordered += u64::from(segment.passed_over);
        }
    }

    /// A segment was acknowledged after later ones although it was sent only once.
    fn overtaken(&mut self, tx: u64) {
        self.reordered += 1;
        if let Some(tx) = self.tx.entry(tx) {
            tx.flags.set(TxFlags::LATE);
        }
    }

    fn sample(&mut self, tx: u64, span: i64) {
        if span > 0 {
            self.answer_min = Some(self.answer_min.map_or(span, |least| least.min(span)));
        }
        if let Some(tx) = self.tx.entry(tx)
            && span >= 0
        {
            tx.rtt = (span as f64 / 1e9) as f32;
        }
    }

    fn read_sack(&mut self, packet: &TcpPacket, ack: u64) {
        let blocks = packet.sack.as_slice();
        // In which order the blocks of one report arrived is not known: none of them overtook another for certain.
        let mut news = [0; 4];
        let (mut told, mut room) = (0, FULL_REPORT);
        for (index, &(left, right)) in blocks.iter().enumerate() {
            let (from, to) = (self.extend(left), self.extend(right));
            if to <= from || to > self.next + (1 << 20) {
                continue;
            }
            let inside_second = index == 0
                && blocks
                    .get(1)
                    .is_some_and(|&(l, r)| self.extend(l) <= from && to <= self.extend(r));
            if index == 0 && (to <= ack || inside_second) {
                self.duplicate_report(packet, from, to);
                room -= 1;
                continue;
            }
            self.sack_log.push(SackBlock {
                at: packet.at,
                from,
                to,
            });
            let mut fresh: [(u64, u64); 8] = [(0, 0); 8];
            let mut count = 0;
            self.sacked.insert(from.max(ack), to, |a, b| {
                if count < fresh.len() {
                    fresh[count] = (a, b);
                    count += 1;
                }
            });
            for &(a, b) in &fresh[..count] {
                self.mark_sacked(packet.at, a, b);
            }
            if let (Some(slot), true) = (news.get_mut(told), count > 0) {
                *slot = fresh[0].0;
                told += 1;
            }
        }
        // A report full of news had no room for more of them: what it leaves out may have arrived as well.
        if told < room {
            for &from in &news[..told] {
                self.pass_over(from);
            }
        }
        if self.sacked.len() > GAPS {
            self.sacked = Ranges::default();
        }
    }

    fn mark_sacked(&mut self, at: i64, from: u64, to: u64) {
        let mut index = self.outstanding.partition_point(|segment| segment.end <= from);
        let mut sample = None;
        while let Some(&whole) = self.outstanding.get(index) {
            if whole.start >= to {
                break;
            }
            if whole.start < from {
                // Only the end of it is covered: a packet of several segments.
                self.outstanding[index].end = from;
                self.outstanding
                    .insert(index + 1, Segment { start: from, ..whole });
                index += 1;
                continue;
            }
            if whole.end > to {
                self.outstanding[index].end = to;
                self.outstanding.insert(index + 1, Segment { start: to, ..whole });
            }
            let segment = &mut self.outstanding[index];
            if !segment.sacked {
                segment.sacked = true;
                self.sacked_bytes = self
                    .sacked_bytes
                    .saturating_add((segment.end - segment.start) as u32);
                if segment.transmissions == 1 {
                    sample = Some((segment.tx, at - segment.at));
                    if segment.passed_over {
                        let tx = segment.tx;
                        self.overtaken(tx);
                        sample = None;
                    }
                }
            }
            index += 1;
        }
        if let Some((tx, span)) = sample {
            self.sample(tx, span);
        }
    }

    /// Whatever lies below `from`, which was selectively acknowledged, and is not so itself, was passed over.
    fn pass_over(&mut self, from: u64) {
        let mut below = self.outstanding.partition_point(|segment| segment.end <= from);
        while below > 0 {
            below -= 1;
            let segment = &mut self.outstanding[below];
            if segment.passed_over || segment.sacked {
                break;
            }
            segment.passed_over = true;
        }
    }

    /// A D-SACK: `[from, to)` arrived twice, so one of its transmissions was not needed.
    fn duplicate_report(&mut self, packet: &TcpPacket, from: u64, to: u64) {
        self.dsack_seen.get_or_insert(packet.number);
        let Some(index) = self
            .remembered
            .iter()
            .rposition(|resent| resent.start < to && from < resent.end)
        else {
            return;
        };
        self.not_needed(index, from, to);
    }

    /// Takes back that the original of a remembered retransmission was lost.
    fn not_needed(&mut self, index: usize, from: u64, to: u64) {
        let Some(resent) = self.remembered.remove(index) else {
            return;
        };
        let overlap = resent.end.min(to) - resent.start.max(from);
        if let Some(tx) = self.tx.entry(resent.original) {
            tx.lost = tx.lost.saturating_sub(overlap as u32);
            tx.flags.set(TxFlags::LATE);
        }
        if let Some(tx) = self.tx.entry(resent.again) {
            tx.flags.set(TxFlags::SPURIOUS);
        }
        self.spurious += 1;
    }

    fn read_marks(&mut self, packet: &TcpPacket, accurate: bool) -> u16 {
        if packet.flags.has(TcpFlags::SYN) {
            return 0;
        }
        if !accurate {
            let marked = packet.flags.has(TcpFlags::ECE);
            self.ece_acks += u64::from(marked);
            return u16::from(marked);
        }
        let ace = packet.flags.ace();
        let delta = self.ace_last.map_or(0, |last| ace.wrapping_sub(last) & 7);
        self.ace_last = Some(ace);
        self.ace_total += u64::from(delta);
        if let Some(ce) = packet.accecn.and_then(|option| option.ce) {
            let step = self
                .ce_bytes_last
                .map_or(0, |last| ce.wrapping_sub(last) & 0x00ff_ffff);
            if step < 1 << 23 {
                self.ce_bytes += u64::from(step);
                self.ce_bytes_last = Some(ce);
            }
        }
        u16::from(delta)
    }

    fn remember_own_time(&mut self, value: u32, at: i64) {
        if self
            .newest_own_time
            .is_some_and(|newest| Seq32(value) <= Seq32(newest))
        {
            return;
        }
        self.newest_own_time = Some(value);
        if self.own_times.len() >= 4096 {
            self.own_times.pop_front();
        }
        self.own_times.push_back((value, at));
    }

    /// Smallest running number of a transmission that may still be changed; only needed when the log is full.
    fn oldest_reference(&self) -> u64 {
        if !self.tx.is_full() {
            return 0;
        }
        let segments = self.outstanding.iter().map(|segment| segment.tx);
        let gaps = self.gaps.iter().map(|gap| gap.tx);
        let resent = self
            .remembered
            .iter()
            .map(|resent| resent.original.min(resent.again));
        segments.chain(gaps).chain(resent).min().unwrap_or(u64::MAX)
    }
}

impl Fingerprint {
    fn copies(&self, old: &Self) -> bool {
        let same = self.ip_id == old.ip_id
            && self.seq == old.seq
            && self.ack == old.ack
            && self.len == old.len
            && self.flags == old.flags
            && self.window == old.window
            && self.tsval == old.tsval;
        if !same {
            return false;
        }
        if self.ip_id.is_some() {
            return true;
        }
        // Without an identification only another tap or hop makes a copy certain.
        let near = self.at - old.at < 1_000_000;
        near && (self.len > 0 || self.interface != old.interface || self.ttl != old.ttl)
    }
}

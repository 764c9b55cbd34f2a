//! What one sender sent and its peer has not acknowledged.

use std::collections::VecDeque;

use super::counters::Counters;
use super::log::{SackBlock, SackLog, TxFlags, TxLog};
use super::ranges::Ranges;

/// Segments sent and not acknowledged, and which transmissions turn out to have been lost, late or in vain.
///
/// What is found out about a transmission is written into the log.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    segments: VecDeque<Segment>,
    /// Highest cumulative acknowledgement.
    pub(super) una: u64,
    sacked: Ranges,
    /// Bytes selectively acknowledged above it.
    pub(super) sacked_bytes: u32,
    remembered: VecDeque<Resent>,
    /// Smallest time from data to its acknowledgement, nanoseconds.
    answer_min: Option<i64>,
    /// Largest payload acknowledged.
    pub(super) largest_acked: u32,
    /// Segments that were overtaken on the way, as their acknowledgement shows.
    pub(super) overtaken: u64,
    /// Retransmissions of bytes that had arrived.
    pub(super) in_vain: u64,
    /// Reports of bytes that arrived twice (D-SACK).
    pub(super) told_twice: u64,
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
struct Resent {
    start: u64,
    end: u64,
    original: u64,
    again: u64,
}

impl Outstanding {
    /// Adds transmission `tx` of `[start, end)`, of which what lies from `fresh_from` on was never sent before; it may
    /// `fill` a gap.
    pub(super) fn add(&mut self, at: i64, (start, end): (u64, u64), fresh_from: u64, fills: bool, tx: u64) {
        let segment = |start, end, transmissions| Segment {
            start,
            end,
            at,
            tx,
            transmissions,
            sacked: false,
            passed_over: false,
        };
        if fills && start >= self.una {
            let to = end.min(fresh_from);
            let index = self.segments.partition_point(|old| old.start < start);
            if self.segments.get(index).is_none_or(|old| old.start >= to) {
                self.segments.insert(index, segment(start, to, 2));
            }
        }
        if end > fresh_from && end > self.una {
            if self.segments.len() >= SEGMENTS {
                self.segments.pop_front();
            }
            self.segments.push_back(segment(fresh_from, end, 1));
        }
    }

    /// Marks earlier transmissions of `[start, end)` as lost; a later D-SACK may take that back.
    pub(super) fn resent(
        &mut self,
        (start, end): (u64, u64),
        at: i64,
        again: u64,
        log: &mut TxLog,
        counters: &mut Counters,
    ) {
        if end <= self.una {
            self.in_vain += 1;
            if let Some(tx) = log.entry(again) {
                tx.flags.set(TxFlags::SPURIOUS);
            }
            return;
        }
        let mut index = self.segments.partition_point(|old| old.end <= start);
        let mut needed = false;
        if let Some(old) = self.segments.get(index).filter(|old| old.start < end) {
            counters.retransmitted_after(at - old.at);
        }
        while let Some(&old) = self.segments.get(index) {
            if old.start >= end {
                break;
            }
            let (from, to) = (old.start.max(start), old.end.min(end));
            if !old.sacked {
                needed = true;
                if let Some(tx) = log.entry(old.tx) {
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
            counters.max_retransmissions = counters.max_retransmissions.max(u64::from(transmissions) - 1);
            let middle = Segment {
                start: from,
                end: to,
                at,
                tx: again,
                transmissions,
                ..old
            };
            let (left, right) = ((old.start, from), (to, old.end));
            self.segments[index] = middle;
            if left.0 < left.1 {
                self.segments.insert(index, Segment { end: left.1, ..old });
                index += 1;
            }
            if right.0 < right.1 {
                self.segments.insert(
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
            self.in_vain += 1;
            if let Some(tx) = log.entry(again) {
                tx.flags.set(TxFlags::SPURIOUS);
            }
        }
    }

    /// Moves the cumulative acknowledgement to `ack`, at `at`. Returns the transmission that it told a round trip of.
    pub(super) fn advance(
        &mut self,
        at: i64,
        ack: u64,
        log: &mut TxLog,
        counters: &mut Counters,
    ) -> Option<u64> {
        let mut sample: Option<(u64, i64)> = None;
        let mut clean = true;
        let mut again = false;
        while let Some(segment) = self.segments.front().copied() {
            if segment.start >= ack {
                break;
            }
            if segment.end > ack {
                if let Some(front) = self.segments.front_mut() {
                    front.start = ack;
                }
                if segment.transmissions == 1 && !segment.sacked {
                    sample = Some((segment.tx, segment.at));
                }
                break;
            }
            self.segments.pop_front();
            if segment.end < ack {
                counters.cumulatively_acked += 1;
            } else if segment.transmissions > 1 {
                counters.ambiguous_acks += 1;
            } else if again {
                counters.post_loss_acks += 1;
            } else {
                counters.rtt_sample(at - segment.at);
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
                    self.came_late(segment.tx, log);
                    clean = false;
                }
            } else {
                clean = false;
                self.answered_again(at, segment, log);
            }
        }
        let told = sample.filter(|_| clean);
        if let Some((tx, sent)) = told {
            self.sample(tx, at - sent, log);
        }
        self.sacked.forget_below(ack);
        if self.sacked.is_empty() {
            self.sacked_bytes = 0;
        }
        self.una = ack;
        told.map(|(tx, _)| tx)
    }

    /// Takes the blocks of a selective acknowledgement, cumulative up to `ack`, of which `next` bytes can be true at most.
    pub(super) fn report(
        &mut self,
        at: i64,
        (ack, next): (u64, u64),
        blocks: &[(u64, u64)],
        log: &mut TxLog,
        sack_log: &mut SackLog,
    ) {
        // In which order the blocks of one report arrived is not known: none of them overtook another for certain.
        let mut news = [0; 4];
        let (mut told, mut room) = (0, FULL_REPORT);
        for (index, &(from, to)) in blocks.iter().enumerate() {
            if to <= from || to > next + (1 << 20) {
                continue;
            }
            let inside_second = index == 0
                && blocks
                    .get(1)
                    .is_some_and(|&(left, right)| left <= from && to <= right);
            if index == 0 && (to <= ack || inside_second) {
                self.duplicate_report(from, to, log);
                room -= 1;
                continue;
            }
            sack_log.push(SackBlock { at, from, to });
            let mut fresh: [(u64, u64); 8] = [(0, 0); 8];
            let mut count = 0;
            self.sacked.insert(from.max(ack), to, |a, b| {
                if count < fresh.len() {
                    fresh[count] = (a, b);
                    count += 1;
                }
            });
            for &(a, b) in &fresh[..count] {
                self.mark_sacked(at, a, b, log);
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
        if self.sacked.len() > RANGES {
            self.sacked = Ranges::default();
        }
    }

    /// The oldest segment, with how often it was sent.
    pub(super) fn oldest(&self) -> Option<(u64, u64, u16)> {
        self.segments
            .front()
            .map(|oldest| (oldest.start, oldest.end, oldest.transmissions))
    }

    /// Smallest running number of a transmission that may still be changed.
    pub(super) fn oldest_reference(&self) -> Option<u64> {
        let segments = self.segments.iter().map(|segment| segment.tx);
        let resent = self
            .remembered
            .iter()
            .map(|resent| resent.original.min(resent.again));
        segments.chain(resent).min()
    }

    /// A segment that was sent again is acknowledged `span` after its last transmission: sooner than any answer can
    /// come, so an earlier transmission had arrived.
    fn answered_again(&mut self, at: i64, segment: Segment, log: &mut TxLog) {
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
            self.not_needed(index, start, end, log);
            // What was never seen to be passed over may have arrived in time, and no report of it came.
            self.overtaken += u64::from(segment.passed_over);
        }
    }

    /// A segment was acknowledged after later ones although it was sent only once.
    fn came_late(&mut self, tx: u64, log: &mut TxLog) {
        self.overtaken += 1;
        if let Some(tx) = log.entry(tx) {
            tx.flags.set(TxFlags::LATE);
        }
    }

    fn sample(&mut self, tx: u64, span: i64, log: &mut TxLog) {
        if span > 0 {
            self.answer_min = Some(self.answer_min.map_or(span, |least| least.min(span)));
        }
        if let Some(tx) = log.entry(tx)
            && span >= 0
        {
            tx.rtt = (span as f64 / 1e9) as f32;
        }
    }

    fn mark_sacked(&mut self, at: i64, from: u64, to: u64, log: &mut TxLog) {
        let mut index = self.segments.partition_point(|segment| segment.end <= from);
        let mut sample = None;
        while let Some(&whole) = self.segments.get(index) {
            if whole.start >= to {
                break;
            }
            if whole.start < from {
                // Only the end of it is covered: a packet of several segments.
                self.segments[index].end = from;
                self.segments.insert(index + 1, Segment { start: from, ..whole });
                index += 1;
                continue;
            }
            if whole.end > to {
                self.segments[index].end = to;
                self.segments.insert(index + 1, Segment { start: to, ..whole });
            }
            let segment = &mut self.segments[index];
            if !segment.sacked {
                segment.sacked = true;
                self.sacked_bytes = self
                    .sacked_bytes
                    .saturating_add((segment.end - segment.start) as u32);
                if segment.transmissions == 1 {
                    sample = Some((segment.tx, at - segment.at));
                    if segment.passed_over {
                        let tx = segment.tx;
                        self.came_late(tx, log);
                        sample = None;
                    }
                }
            }
            index += 1;
        }
        if let Some((tx, span)) = sample {
            self.sample(tx, span, log);
            if let Some(tx) = log.entry(tx) {
                tx.flags.set(TxFlags::SACKED);
            }
        }
    }

    /// Whatever lies below `from`, which was selectively acknowledged, and is not so itself, was passed over.
    fn pass_over(&mut self, from: u64) {
        let mut below = self.segments.partition_point(|segment| segment.end <= from);
        while below > 0 {
            below -= 1;
            let segment = &mut self.segments[below];
            if segment.passed_over || segment.sacked {
                break;
            }
            segment.passed_over = true;
        }
    }

    /// A D-SACK: `[from, to)` arrived twice, so one of its transmissions was not needed.
    fn duplicate_report(&mut self, from: u64, to: u64, log: &mut TxLog) {
        self.told_twice += 1;
        let Some(index) = self
            .remembered
            .iter()
            .rposition(|resent| resent.start < to && from < resent.end)
        else {
            return;
        };
        self.not_needed(index, from, to, log);
    }

    /// Takes back that the original of a remembered retransmission was lost.
    fn not_needed(&mut self, index: usize, from: u64, to: u64, log: &mut TxLog) {
        let Some(resent) = self.remembered.remove(index) else {
            return;
        };
        let overlap = resent.end.min(to) - resent.start.max(from);
        if let Some(tx) = log.entry(resent.original) {
            tx.lost = tx.lost.saturating_sub(overlap as u32);
            tx.flags.set(TxFlags::LATE);
        }
        if let Some(tx) = log.entry(resent.again) {
            tx.flags.set(TxFlags::SPURIOUS);
        }
        self.in_vain += 1;
    }
}

/// Segments remembered; more only when acknowledgements are missing.
const SEGMENTS: usize = 1 << 16;

/// Retransmissions remembered until a D-SACK may call them spurious.
const REMEMBERED: usize = 256;

/// Blocks that a report has room for beside timestamps.
const FULL_REPORT: usize = 3;

/// Ranges of selective acknowledgements remembered.
const RANGES: usize = 1024;

//! What an acknowledgement tells the sender (`tcp_ack` of `net/ipv4/tcp_input.c`).

use slowpath_packet::Seq32;
use slowpath_units::{Duration, Time};
use std::hint::cold_path;

use super::scoreboard::{Marks, Segment, before};
use super::sender::Sender;
use super::timer::TimerKind;
use crate::cc::{RateSample, State};
use crate::wire::SackBlocks;

/// An acknowledgement, with everything the sender needs to know of the segment that carried it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ack<'a> {
    /// Offset acknowledged.
    pub(crate) offset: u64,
    /// Advertised window in bytes, scaled.
    pub(crate) window: u64,
    /// The peer's sequence offset, which orders window updates.
    pub(crate) seq: u64,
    pub(crate) sack: &'a SackBlocks,
    /// This end's initial sequence number, to read the SACK blocks with.
    pub(crate) initial: Seq32,
    /// ECN echo.
    pub(crate) ece: bool,
    /// When the acknowledged data were sent, by the timestamp echo.
    pub(crate) echoed: Option<Time>,
    /// The segment carried data, SYN or FIN: it cannot be a duplicate acknowledgement.
    pub(crate) carries_data: bool,
}

/// What has been found out while an acknowledgement is processed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Findings {
    pub(crate) advanced: bool,
    pub(crate) acked: bool,
    pub(crate) window_update: bool,
    pub(crate) carries_data: bool,
    pub(crate) data_sacked: bool,
    pub(crate) dsack: bool,
    pub(crate) ece: bool,
    pub(crate) retransmission_acked: bool,
    /// Data never retransmitted and sent before recovery began were (s)acked.
    pub(crate) original_acked: bool,
    pub(crate) set_timer: bool,
    pub(crate) lost_retransmission: bool,
    pub(crate) maybe_delayed: bool,
    pub(crate) duplicates: u32,
    first_sacked: Option<Time>,
    last_sacked: Option<Time>,
    lowest_reordered: Option<u64>,
    /// Of the newest delivered segment: its rate stamps.
    newest: Option<Segment>,
    send_interval: Duration,
}

impl Sender {
    /// Takes an acknowledgement.
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack<'_>) {
        if ack.offset > self.nxt {
            cold_path();
            if ack.offset > self.highest_nxt {
                return;
            }
            // Sent before segments were cut anew.
            self.nxt = ack.offset;
        }
        let mut found = Findings {
            carries_data: ack.carries_data,
            ece: ack.ece,
            ..Findings::default()
        };
        if ack.offset < self.una {
            cold_path();
            if !self.sack || ack.sack.as_slice().is_empty() {
                return;
            }
        } else {
            self.update_window(now, ack, &mut found);
        }
        if self.board.is_empty() {
            self.advance(ack);
            return;
        }
        let delivered_before = self.delivery.delivered();
        let lost_before = self.delivery.lost();
        let prior_in_flight = self.in_flight();
        let prior_highest = self.sacks.highest().max(self.una);
        if self.sack && !ack.sack.as_slice().is_empty() {
            cold_path();
            self.take_sack(now, ack, &mut found);
        }
        found.advanced = self.advance(ack);
        let rtt = self.clean(now, ack, &mut found, prior_highest);
        let mut sample = RateSample {
            rtt,
            prior_in_flight,
            ..RateSample::default()
        };
        if let Some(newest) = found.newest {
            sample.prior_delivered = self.delivery.at_sending(&newest);
        }
        if found.newest.is_some() {
            self.rack.adapt(sample.prior_delivered, self.delivery.delivered());
        }
        self.process_tail_probe(now, ack, &found);
        let unusual = !(found.carries_data || found.window_update || found.acked)
            || found.data_sacked
            || found.ece
            || found.dsack
            || self.state != State::Open;
        if unusual {
            cold_path();
            let quiet =
                found.advanced || found.carries_data || found.window_update || found.acked || found.dsack;
            found.duplicates = u32::from(!quiet);
            self.alert(now, &mut found);
        }
        if found.set_timer {
            self.rearm(now);
        }
        let acked_sacked = u32::try_from(self.delivery.delivered() - delivered_before).unwrap_or(u32::MAX);
        sample.losses = u32::try_from(self.delivery.lost() - lost_before).unwrap_or(u32::MAX);
        sample.acked_sacked = acked_sacked;
        sample.ack_delayed = found.maybe_delayed;
        let newest = found.newest.map(|newest| (newest, found.send_interval));
        self.delivery.sample(now, newest, self.rtt.minimum(), &mut sample);
        self.adjust_window(now, &found, &sample);
        self.expand_buffer();
    }

    /// Whether anything is newly acknowledged.
    #[inline]
    fn advance(&mut self, ack: &Ack<'_>) -> bool {
        let advanced = ack.offset > self.una;
        if advanced {
            self.una = ack.offset;
            self.queue.stream.acknowledge(ack.offset.saturating_sub(1));
            self.timeouts.progress();
        }
        advanced
    }

    fn update_window(&mut self, now: Time, ack: &Ack<'_>, found: &mut Findings) {
        let newer = ack.offset > self.una
            || ack.seq > self.peer.said_at
            || (ack.seq == self.peer.said_at && (ack.window > self.peer.bytes || ack.window == 0));
        if !newer {
            return;
        }
        found.window_update = true;
        self.peer.said_at = ack.seq;
        self.peer.bytes = ack.window;
        if ack.offset + ack.window > self.nxt {
            self.timer.window_opened();
        } else if self.timer.is_for(TimerKind::Persist) {
            // The peer answered a probe but the window stays shut: wait on (`tcp_ack_probe`).
            self.arm_persist(now);
        }
    }

    /// Marks what the SACK blocks report (`tcp_sacktag_write_queue`).
    #[inline(never)]
    fn take_sack(&mut self, now: Time, ack: &Ack<'_>, found: &mut Findings) {
        let mut blocks = [(0_u64, 0_u64); 4];
        let mut count = 0;
        let raw = ack.sack.as_slice();
        let una = self.una;
        let extend = |seq: Seq32| {
            una.checked_add_signed(i64::from(seq.distance(ack.initial + (una as u32))))
                .unwrap_or(0)
        };
        for (i, (left, right)) in raw.iter().enumerate() {
            let (left, right) = (extend(*left), extend(*right));
            let second = raw.get(1).map(|(l, r)| (extend(*l), extend(*r)));
            // RFC 2883: the first block may report a duplicate.
            if i == 0 && (right <= ack.offset || second.is_some_and(|(l, r)| left >= l && right <= r)) {
                self.take_dsack(left, right, found);
                continue;
            }
            if left >= right || right > self.nxt || right <= ack.offset {
                continue;
            }
            blocks[count] = (left.max(ack.offset), right);
            count += 1;
        }
        if count == 0 {
            return;
        }
        blocks[..count].sort_unstable();
        for &(left, right) in &blocks[..count] {
            let mut from = left;
            while let Some((start, stop)) = self.sacks.unknown(from, right) {
                self.tag(now, start, stop, found);
                from = stop;
            }
        }
        self.sacks.know(blocks, blocks[count - 1].1);
        if let Some(low) = found.lowest_reordered
            && (self.state != State::Loss || self.undo.is_open())
        {
            self.sacks.note_reordering(low, self.mss);
        }
    }

    fn take_dsack(&mut self, left: u64, right: u64, found: &mut Findings) {
        found.dsack = true;
        self.rack.dsack_seen = true;
        let segments = u32::try_from((right.saturating_sub(left)).div_ceil(u64::from(self.mss)))
            .unwrap_or(1)
            .max(1);
        self.undo.duplicate(right, segments);
        if let Some((_, true)) = self.tail_probe {
            // The probe was needless: the original had arrived.
            self.tail_probe = None;
        }
    }

    /// Marks the segments within `[left, right)` as held by the receiver.
    fn tag(&mut self, now: Time, left: u64, right: u64, found: &mut Findings) {
        let mut number = self.board.find(left);
        let end = self.board.end();
        while before(number, end) {
            let segment = *self.board.get(number);
            if segment.start >= right {
                break;
            }
            if segment.start >= left && segment.end() <= right && !segment.is(Marks::SACKED) {
                self.tag_one(now, number, &segment, found);
            }
            number = number.wrapping_add(1);
        }
    }

    fn tag_one(&mut self, now: Time, number: u32, segment: &Segment, found: &mut Findings) {
        if !segment.is(Marks::EVER_RETRANSMITTED) {
            if segment.start < self.sacks.highest() {
                let low = found.lowest_reordered.get_or_insert(segment.start);
                *low = (*low).min(segment.start);
            }
            if segment.end() <= self.high_seq {
                found.original_acked = true;
            }
            found.first_sacked.get_or_insert(segment.sent);
            found.last_sacked = Some(segment.sent);
        }
        found.data_sacked = true;
        self.delivery.add_delivered(1);
        let min_rtt = self.rtt.minimum();
        self.rack.advance(
            now,
            segment.sent,
            segment.end(),
            segment.is(Marks::EVER_RETRANSMITTED),
            min_rtt,
        );
        self.note_delivered(segment, found);
        self.board.mark_sacked(number);
        self.board.get_mut(number).set(Marks::SAMPLED, true);
    }

    /// Keeps the stamps of the most recently sent segment among those delivered (`tcp_rate_skb_delivered`).
    fn note_delivered(&mut self, segment: &Segment, found: &mut Findings) {
        if segment.is(Marks::SAMPLED) {
            return;
        }
        let newer = found
            .newest
            .is_none_or(|newest| (segment.sent, segment.end()) > (newest.sent, newest.end()));
        if newer {
            found.newest = Some(*segment);
            found.send_interval = self.delivery.begin_sample(segment);
        }
    }

    /// Takes acknowledged segments off (`tcp_clean_rtx_queue`); the result is the newest round trip.
    fn clean(
        &mut self,
        now: Time,
        ack: &Ack<'_>,
        found: &mut Findings,
        prior_highest: u64,
    ) -> Option<Duration> {
        let mut first_acked = None;
        let mut last_acked = None;
        let mut lowest = u64::MAX;
        let mut acked = 0_u32;
        while let Some(segment) = self.board.pop_acknowledged(ack.offset) {
            acked += 1;
            found.acked = true;
            if segment.is(Marks::EVER_RETRANSMITTED) {
                cold_path();
                found.retransmission_acked |= segment.is(Marks::RETRANSMITTED) || !segment.is(Marks::SACKED);
            } else if !segment.is(Marks::SACKED) {
                first_acked.get_or_insert(segment.sent);
                last_acked = Some(segment.sent);
                lowest = lowest.min(segment.start);
                found.original_acked |= segment.end() <= self.high_seq;
            }
            if !segment.is(Marks::SACKED) && self.sack {
                self.delivery.add_delivered(1);
                let min_rtt = self.rtt.minimum();
                self.rack.advance(
                    now,
                    segment.sent,
                    segment.end(),
                    segment.is(Marks::EVER_RETRANSMITTED),
                    min_rtt,
                );
            }
            self.note_delivered(&segment, found);
        }
        self.sacks.raise(self.una);
        if acked == 0 {
            cold_path();
            let sack_rtt = found.last_sacked.map(|sent| now.since(sent));
            if let (Some(first), Some(rtt)) = (found.first_sacked, sack_rtt) {
                self.take_round_trip(now, now.since(first));
                if self
                    .board
                    .front()
                    .is_some_and(|head| head.sent < now - now.since(first))
                {
                    found.set_timer = true;
                }
                self.control_round_trip(now, rtt);
                return Some(rtt);
            }
            return None;
        }
        found.set_timer = true;
        let mut newest = None;
        if let (Some(first), Some(last)) = (first_acked, last_acked)
            && !found.retransmission_acked
        {
            let rtt = now.since(last);
            self.take_round_trip(now, now.since(first));
            newest = Some(rtt);
            found.maybe_delayed = acked == 1 && self.board.is_empty();
        } else if let (Some(first), Some(last)) = (found.first_sacked, found.last_sacked) {
            let rtt = now.since(last);
            self.take_round_trip(now, now.since(first));
            newest = Some(rtt);
        } else if let Some(sent) = ack.echoed {
            let rtt = now.since(sent);
            self.take_round_trip(now, rtt);
            newest = Some(rtt);
        }
        if self.sack {
            if lowest < prior_highest && (self.state != State::Loss || self.undo.is_open()) {
                self.sacks.raise(prior_highest);
                self.sacks.note_reordering(lowest, self.mss);
            }
        } else {
            let delivered = self.sacks.remove_reno(acked, self.reno_room());
            self.delivery.add_delivered(delivered);
            if found.retransmission_acked {
                found.original_acked = false;
            }
        }
        if let Some(rtt) = newest {
            self.control_round_trip(now, rtt);
        }
        newest
    }

    fn take_round_trip(&mut self, now: Time, smoothed: Duration) {
        self.rtt.sample(now, smoothed, self.una, self.nxt);
        self.rtt.reset_back_off();
    }

    fn control_round_trip(&mut self, now: Time, rtt: Duration) {
        let view = self.view(now);
        self.control.hooks().round_trip(&view, &mut self.window, rtt);
    }

    /// One more duplicate acknowledgement on a connection without SACK.
    pub(crate) fn add_reno_sack(&mut self, duplicates: u32) {
        let delivered = self.sacks.add_reno(duplicates, self.reno_room());
        self.delivery.add_delivered(delivered);
    }

    /// Segments that duplicate acknowledgements can stand for: all but the holes.
    pub(crate) fn reno_room(&self) -> u32 {
        self.board.len().saturating_sub(self.board.lost.max(1))
    }

    /// Reduces, raises or leaves the window (`tcp_cong_control`).
    fn adjust_window(&mut self, now: Time, found: &Findings, sample: &RateSample) {
        let view = self.view(now);
        let delivered_at = self.delivery.delivered_at();
        if let Some(bbr) = self.control.bbr() {
            let probing = bbr.acknowledged(&view, &mut self.window, sample, delivered_at);
            if probing {
                self.delivery.limit_by_application(self.in_flight());
            }
            return;
        }
        if matches!(self.state, State::Cwr | State::Recovery) {
            cold_path();
            self.reduce_window(sample.acked_sacked, sample.losses, found.advanced);
            return;
        }
        let progress = if self.sacks.reordering() > self.settings.duplicate_acks {
            found.acked || found.data_sacked
        } else {
            found.acked
        };
        if progress && self.usage.is_window_limited(&self.window) {
            self.control
                .hooks()
                .increase(&view, &mut self.window, sample.acked_sacked);
        }
    }

    /// An acknowledgement arrived while a tail loss probe is out (`tcp_process_tlp_ack`; RFC 8985, section 7.4).
    fn process_tail_probe(&mut self, now: Time, ack: &Ack<'_>, found: &Findings) {
        let Some((end, retransmission)) = self.tail_probe else {
            return;
        };
        if ack.offset < end {
            return;
        }
        if !retransmission {
            self.tail_probe = None;
        } else if ack.offset > end {
            // Data beyond the probe are acknowledged: the probe repaired a loss.
            self.begin_reduction(now);
            self.set_state(now, State::Cwr);
            self.end_reduction();
            self.keep_open(now);
            self.tail_probe = None;
        } else if !(found.advanced
            || found.carries_data
            || found.window_update
            || found.acked
            || found.data_sacked)
        {
            self.tail_probe = None;
        }
    }
}

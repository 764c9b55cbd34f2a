//! The segments in flight, and what is known of each.

use slowpath_units::Time;
use std::hint::cold_path;

use super::order::Order;
use crate::ring::Ring;

/// One segment that was sent and is not yet cumulatively acknowledged.
///
/// It is kept small: lists of them are most of what thousands of connections keep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// First sequence offset.
    pub(crate) start: u64,
    /// When it was last sent.
    pub(crate) sent: Time,
    /// When what had been delivered was known, when it was last sent.
    pub(crate) delivered_at: Time,
    /// Start of the flight it was sent in, for the send rate.
    pub(crate) first_sent: Time,
    /// The low half of the number of segments delivered when it was last sent.
    pub(crate) delivered: u32,
    /// Its length above [`Marks::BITS`], which are below.
    length_and_marks: u32,
}

/// Something that may be true of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Marks(u32);

impl Marks {
    pub(crate) const APP_LIMITED: Self = Self(1);
    /// Already counted in a rate sample.
    pub(crate) const SAMPLED: Self = Self(2);
    pub(crate) const SACKED: Self = Self(4);
    pub(crate) const LOST: Self = Self(8);
    /// The last transmission was a retransmission and is still in flight.
    pub(crate) const RETRANSMITTED: Self = Self(16);
    /// Was retransmitted at some time.
    pub(crate) const EVER_RETRANSMITTED: Self = Self(32);
    /// Those that the scoreboard counts.
    const COUNTED: Self = Self(Self::SACKED.0 | Self::LOST.0 | Self::RETRANSMITTED.0);
    /// Bits of all of them.
    const BITS: u32 = 8;
}

impl Segment {
    /// A segment of `length`, a FIN included, that is sent now; no segment is longer than an IP packet.
    #[inline]
    pub(crate) const fn new(start: u64, length: u32, sent: Time) -> Self {
        debug_assert!(length < 1 << (u32::BITS - Marks::BITS));
        Self {
            start,
            sent,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            delivered: 0,
            length_and_marks: length << Marks::BITS,
        }
    }

    /// Offset behind the last.
    #[inline]
    pub(crate) const fn end(&self) -> u64 {
        self.start + self.length() as u64
    }

    #[inline]
    pub(crate) const fn length(&self) -> u32 {
        self.length_and_marks >> Marks::BITS
    }

    /// Whether any of `marks` is true of it.
    #[inline]
    pub(crate) const fn is(&self, marks: Marks) -> bool {
        self.length_and_marks & marks.0 != 0
    }

    #[inline]
    pub(crate) const fn set(&mut self, marks: Marks, to: bool) {
        self.length_and_marks = if to {
            self.length_and_marks | marks.0
        } else {
            self.length_and_marks & !marks.0
        };
    }

    /// What lies before `offset` is acknowledged.
    const fn cut_off(&mut self, offset: u64) {
        let marks = self.length_and_marks & ((1 << Marks::BITS) - 1);
        let length = (self.end() - offset) as u32;
        self.start = offset;
        self.length_and_marks = length << Marks::BITS | marks;
    }
}

/// The segments in flight in sequence order, and in the order in which they were sent.
///
/// Segments are named by a running number that never changes while they live.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scoreboard {
    segments: Ring<Segment>,
    /// Number of the first segment.
    first: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    /// No segment below this one waits for retransmission.
    lost_hint: u32,
    /// Those that are neither sacked nor lost are not all of them, or were not sent in order: [`order`](Self::order) counts.
    disordered: bool,
    /// In which order those were sent that are neither sacked nor lost; kept to be used again.
    order: Option<Box<Order>>,
}

impl Scoreboard {
    /// Segments in flight or lost, sacked ones included (`packets_out`).
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    /// Fetches the segments that an acknowledgement is about to touch, and the place of the next one.
    #[inline]
    pub(crate) fn prefetch(&self) {
        self.segments.prefetch();
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Number of the first segment.
    pub(crate) const fn first(&self) -> u32 {
        self.first
    }

    /// The number behind the last segment.
    pub(crate) fn end(&self) -> u32 {
        self.first.wrapping_add(self.len())
    }

    pub(crate) fn front(&self) -> Option<&Segment> {
        self.segments.front()
    }

    pub(crate) fn get(&self, number: u32) -> &Segment {
        &self.segments[self.position(number)]
    }

    pub(crate) fn get_mut(&mut self, number: u32) -> &mut Segment {
        let position = self.position(number);
        &mut self.segments[position]
    }

    /// Appends a segment that was just sent.
    #[inline]
    pub(crate) fn push(&mut self, segment: Segment) {
        self.segments.push(segment);
        if self.disordered {
            cold_path();
            self.order().push();
        }
    }

    /// Number of the first segment that ends behind `offset`; [`end`](Self::end) if there is none.
    pub(crate) fn find(&self, offset: u64) -> u32 {
        let Some(front) = self.segments.front() else {
            return self.first;
        };
        if offset < front.end() {
            return self.first;
        }
        // Segments are nearly all of one size: the guess is mostly right.
        let size = u64::from(front.length()).max(1);
        let guess = usize::try_from((offset - front.start) / size).unwrap_or(usize::MAX);
        let position = match self.segments.get(guess) {
            Some(segment) if segment.start <= offset && offset < segment.end() => guess,
            _ => self.segments.partition_point(|segment| segment.end() <= offset),
        };
        self.first
            .wrapping_add(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// Takes the first segment off if it ends at or before `offset`; shortens it if it only begins before.
    #[inline]
    pub(crate) fn pop_acknowledged(&mut self, offset: u64) -> Option<Segment> {
        let front = self.segments.front_mut()?;
        if front.end() > offset {
            if front.start < offset {
                cold_path();
                front.cut_off(offset);
            }
            return None;
        }
        let segment = *front;
        self.segments.pop();
        if segment.is(Marks::COUNTED) {
            cold_path();
            self.sacked -= u32::from(segment.is(Marks::SACKED));
            self.lost -= u32::from(segment.is(Marks::LOST));
            self.retransmitted -= u32::from(segment.is(Marks::RETRANSMITTED));
        }
        if self.disordered {
            cold_path();
            self.disordered = !self.order().pop();
        }
        self.first = self.first.wrapping_add(1);
        if before(self.lost_hint, self.first) {
            self.lost_hint = self.first;
        }
        Some(segment)
    }

    /// The receiver holds this segment.
    pub(crate) fn mark_sacked(&mut self, number: u32) {
        let segment = self.get_mut(number);
        let (lost, retransmitted) = (segment.is(Marks::LOST), segment.is(Marks::RETRANSMITTED));
        segment.set(Marks::SACKED, true);
        segment.set(Marks::LOST, false);
        segment.set(Marks::RETRANSMITTED, false);
        self.sacked += 1;
        self.lost -= u32::from(lost);
        self.retransmitted -= u32::from(retransmitted);
        self.order().remove(number);
    }

    /// The receiver dropped what it had (reneging, RFC 2018 section 8).
    pub(crate) fn clear_sacked(&mut self) {
        for number in self.numbers() {
            let segment = self.get_mut(number);
            if segment.is(Marks::SACKED) {
                segment.set(Marks::SACKED, false);
                self.order().renew(number);
            }
        }
        self.sacked = 0;
    }

    /// This segment (or its retransmission) is taken for lost.
    ///
    /// Returns whether that is news.
    pub(crate) fn mark_lost(&mut self, number: u32) -> bool {
        let segment = self.get_mut(number);
        let (was_lost, was_retransmitted) = (segment.is(Marks::LOST), segment.is(Marks::RETRANSMITTED));
        if segment.is(Marks::SACKED) || (was_lost && !was_retransmitted) {
            return false;
        }
        segment.set(Marks::LOST, true);
        segment.set(Marks::RETRANSMITTED, false);
        self.lost += u32::from(!was_lost);
        self.retransmitted -= u32::from(was_retransmitted);
        self.order().remove(number);
        if before(number, self.lost_hint) {
            self.lost_hint = number;
        }
        true
    }

    /// The loss marks were wrong: everything not sacked is in flight again.
    pub(crate) fn clear_lost(&mut self) {
        for number in self.numbers() {
            let segment = self.get_mut(number);
            if segment.is(Marks::LOST) {
                segment.set(Marks::LOST, false);
                self.order().restore(number);
            }
        }
        self.lost = 0;
    }

    /// The first segment that is lost and not sent again.
    #[inline]
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.lost <= self.retransmitted {
            return None;
        }
        cold_path();
        let end = self.end();
        while before(self.lost_hint, end) {
            let segment = self.get(self.lost_hint);
            if segment.is(Marks::LOST) && !segment.is(Marks::RETRANSMITTED) {
                return Some(self.lost_hint);
            }
            self.lost_hint = self.lost_hint.wrapping_add(1);
        }
        None
    }

    /// This segment was sent again at `now`.
    pub(crate) fn mark_retransmitted(&mut self, number: u32, now: Time) {
        let segment = self.get_mut(number);
        let news = !segment.is(Marks::RETRANSMITTED);
        segment.set(Marks::RETRANSMITTED, true);
        segment.set(Marks::EVER_RETRANSMITTED, true);
        segment.set(Marks::SAMPLED, false);
        segment.sent = now;
        self.retransmitted += u32::from(news);
        self.order().renew(number);
    }

    /// The segment sent longest ago that is neither sacked nor known to be lost.
    pub(crate) fn oldest(&self) -> Option<u32> {
        match &self.order {
            Some(order) if self.disordered => order.oldest(),
            _ => (!self.is_empty()).then_some(self.first),
        }
    }

    /// The one sent next after `number`.
    pub(crate) fn sent_after(&self, number: u32) -> Option<u32> {
        if let Some(order) = &self.order
            && self.disordered
        {
            return order.after(number);
        }
        let next = number.wrapping_add(1);
        (next != self.end()).then_some(next)
    }

    /// The order of sending, which is about to change.
    #[cold]
    fn order(&mut self) -> &mut Order {
        let (first, len) = (self.first, self.len());
        let begins = !std::mem::replace(&mut self.disordered, true);
        let order = self.order.get_or_insert_default();
        if begins {
            order.begin(first, len);
        }
        order
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.first;
        (0..self.len()).map(move |position| first.wrapping_add(position))
    }

    fn position(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }
}

/// Whether number `a` comes before `b`; numbers wrap.
pub(crate) const fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(count: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..count {
            board.push(Segment::new(1 + i * 100, 100, Time::from_nanos(i)));
        }
        board
    }

    #[test]
    fn finds_segments_by_offset() {
        let mut board = board(10);
        assert_eq!(board.find(1), 0);
        assert_eq!(board.find(100), 0);
        assert_eq!(board.find(101), 1);
        assert_eq!(board.find(1001), 10);
        board.push(Segment::new(1001, 10, Time::ZERO));
        board.push(Segment::new(1011, 100, Time::ZERO));
        assert_eq!(board.find(1005), 10);
        assert_eq!(board.find(1011), 11);
        while board.pop_acknowledged(301).is_some() {}
        assert_eq!((board.first(), board.find(301), board.find(1005)), (3, 3, 10));
    }

    #[test]
    fn counters_follow_the_marks() {
        let mut board = board(5);
        board.mark_sacked(2);
        assert!(board.mark_lost(0));
        assert!(board.mark_lost(1));
        assert!(!board.mark_lost(1), "known");
        assert_eq!((board.sacked, board.lost, board.retransmitted), (1, 2, 0));
        assert_eq!(board.next_lost(), Some(0));
        board.mark_retransmitted(0, Time::from_nanos(100));
        assert_eq!(board.next_lost(), Some(1));
        assert_eq!((board.lost, board.retransmitted), (2, 1));
        // Order of sending: 3, 4, then the retransmission of 0.
        assert_eq!(board.oldest(), Some(3));
        assert_eq!(board.sent_after(4), Some(0));
        assert!(board.mark_lost(0), "the retransmission was lost as well");
        assert_eq!(board.next_lost(), Some(0));
        while board.pop_acknowledged(501).is_some() {}
        assert_eq!(
            (board.sacked, board.lost, board.retransmitted, board.len()),
            (0, 0, 0, 0)
        );
        assert_eq!((board.oldest(), board.next_lost()), (None, None));
    }
}

//! The segments in flight, and what is known of each.

use std::collections::VecDeque;

use slowpath_units::Time;

/// One segment that was sent and is not yet cumulatively acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// First sequence offset.
    pub(crate) start: u64,
    /// Offset behind the last.
    pub(crate) end: u64,
    /// When it was last sent.
    pub(crate) sent: Time,
    /// Data delivered when it was last sent, in segments, and when that was known.
    pub(crate) delivered: u64,
    pub(crate) delivered_at: Time,
    /// Start of the flight it was sent in, for the send rate.
    pub(crate) first_sent: Time,
    pub(crate) app_limited: bool,
    /// Already counted in a rate sample.
    pub(crate) sampled: bool,
    pub(crate) sacked: bool,
    pub(crate) lost: bool,
    /// The last transmission was a retransmission and is still in flight.
    pub(crate) retransmitted: bool,
    /// Was retransmitted at some time.
    pub(crate) ever_retransmitted: bool,
    older: u32,
    newer: u32,
    listed: bool,
}

impl Segment {
    pub(crate) const fn new(start: u64, end: u64, sent: Time) -> Self {
        Self {
            start,
            end,
            sent,
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            app_limited: false,
            sampled: false,
            sacked: false,
            lost: false,
            retransmitted: false,
            ever_retransmitted: false,
            older: NONE,
            newer: NONE,
            listed: false,
        }
    }
}

/// The segments in flight in sequence order, threaded also by time of sending.
///
/// Segments are named by a running number that never changes while they live.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scoreboard {
    segments: VecDeque<Segment>,
    /// Number of the first segment.
    first: u32,
    pub(crate) sacked: u32,
    pub(crate) lost: u32,
    pub(crate) retransmitted: u32,
    oldest: Option<u32>,
    newest: Option<u32>,
    /// No segment below this one waits for retransmission.
    lost_hint: u32,
}

impl Scoreboard {
    /// Segments in flight or lost, sacked ones included (`packets_out`).
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.segments.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn is_empty(&self) -> bool {
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
    pub(crate) fn push(&mut self, segment: Segment) {
        let number = self.end();
        self.segments.push_back(segment);
        self.link_newest(number);
    }

    /// Number of the first segment that ends behind `offset`; [`end`](Self::end) if there is none.
    pub(crate) fn find(&self, offset: u64) -> u32 {
        let Some(front) = self.segments.front() else {
            return self.first;
        };
        if offset < front.end {
            return self.first;
        }
        // Segments are nearly all of one size: the guess is mostly right.
        let size = (front.end - front.start).max(1);
        let guess = usize::try_from((offset - front.start) / size).unwrap_or(usize::MAX);
        let position = match self.segments.get(guess) {
            Some(segment) if segment.start <= offset && offset < segment.end => guess,
            _ => self.segments.partition_point(|segment| segment.end <= offset),
        };
        self.first
            .wrapping_add(u32::try_from(position).unwrap_or(u32::MAX))
    }

    /// Takes the first segment off if it ends at or before `offset`; shortens it if it only begins before.
    pub(crate) fn pop_acknowledged(&mut self, offset: u64) -> Option<Segment> {
        let front = self.segments.front_mut()?;
        if front.end > offset {
            front.start = front.start.max(offset);
            return None;
        }
        let number = self.first;
        self.unlink(number);
        let segment = self.segments.pop_front()?;
        self.sacked -= u32::from(segment.sacked);
        self.lost -= u32::from(segment.lost);
        self.retransmitted -= u32::from(segment.retransmitted);
        self.first = self.first.wrapping_add(1);
        if before(self.lost_hint, self.first) {
            self.lost_hint = self.first;
        }
        Some(segment)
    }

    /// The receiver holds this segment.
    pub(crate) fn mark_sacked(&mut self, number: u32) {
        let segment = self.get_mut(number);
        let (lost, retransmitted) = (segment.lost, segment.retransmitted);
        segment.sacked = true;
        segment.lost = false;
        segment.retransmitted = false;
        self.sacked += 1;
        self.lost -= u32::from(lost);
        self.retransmitted -= u32::from(retransmitted);
        self.unlink(number);
    }

    /// The receiver dropped what it had (reneging, RFC 2018 section 8).
    pub(crate) fn clear_sacked(&mut self) {
        for position in 0..self.segments.len() {
            if self.segments[position].sacked {
                self.segments[position].sacked = false;
                self.link_newest(self.first.wrapping_add(u32::try_from(position).unwrap_or(0)));
            }
        }
        self.sacked = 0;
    }

    /// This segment (or its retransmission) is taken for lost.
    ///
    /// Returns whether that is news.
    pub(crate) fn mark_lost(&mut self, number: u32) -> bool {
        let segment = self.get_mut(number);
        if segment.sacked || (segment.lost && !segment.retransmitted) {
            return false;
        }
        let (was_lost, was_retransmitted) = (segment.lost, segment.retransmitted);
        segment.lost = true;
        segment.retransmitted = false;
        self.lost += u32::from(!was_lost);
        self.retransmitted -= u32::from(was_retransmitted);
        self.unlink(number);
        if before(number, self.lost_hint) {
            self.lost_hint = number;
        }
        true
    }

    /// The loss marks were wrong: everything not sacked is in flight again.
    pub(crate) fn clear_lost(&mut self) {
        for position in 0..self.segments.len() {
            let segment = &mut self.segments[position];
            if segment.lost {
                segment.lost = false;
                if !segment.listed {
                    self.link_newest(self.first.wrapping_add(u32::try_from(position).unwrap_or(0)));
                }
            }
        }
        self.lost = 0;
    }

    /// The first segment that is lost and not sent again.
    pub(crate) fn next_lost(&mut self) -> Option<u32> {
        if self.lost <= self.retransmitted {
            return None;
        }
        let end = self.end();
        while before(self.lost_hint, end) {
            let segment = self.get(self.lost_hint);
            if segment.lost && !segment.retransmitted {
                return Some(self.lost_hint);
            }
            self.lost_hint = self.lost_hint.wrapping_add(1);
        }
        None
    }

    /// This segment was sent again at `now`.
    pub(crate) fn mark_retransmitted(&mut self, number: u32, now: Time) {
        let segment = self.get_mut(number);
        let news = !segment.retransmitted;
        segment.retransmitted = true;
        segment.ever_retransmitted = true;
        segment.sampled = false;
        segment.sent = now;
        self.retransmitted += u32::from(news);
        self.unlink(number);
        self.link_newest(number);
    }

    /// The segment sent longest ago that is neither sacked nor known to be lost.
    pub(crate) const fn oldest(&self) -> Option<u32> {
        self.oldest
    }

    /// The one sent next after `number`.
    pub(crate) fn sent_after(&self, number: u32) -> Option<u32> {
        some(self.get(number).newer)
    }

    fn position(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    fn link_newest(&mut self, number: u32) {
        let newest = self.newest;
        let segment = self.get_mut(number);
        segment.older = newest.unwrap_or(NONE);
        segment.newer = NONE;
        segment.listed = true;
        match newest {
            Some(previous) => self.get_mut(previous).newer = number,
            None => self.oldest = Some(number),
        }
        self.newest = Some(number);
    }

    fn unlink(&mut self, number: u32) {
        let segment = self.get_mut(number);
        if !segment.listed {
            return;
        }
        segment.listed = false;
        let (older, newer) = (some(segment.older), some(segment.newer));
        match older {
            Some(other) => self.get_mut(other).newer = newer.unwrap_or(NONE),
            None => self.oldest = newer,
        }
        match newer {
            Some(other) => self.get_mut(other).older = older.unwrap_or(NONE),
            None => self.newest = older,
        }
    }
}

/// Whether number `a` comes before `b`; numbers wrap.
pub(crate) const fn before(a: u32, b: u32) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

const fn some(number: u32) -> Option<u32> {
    if number == NONE { None } else { Some(number) }
}

const NONE: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    fn board(count: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        for i in 0..count {
            board.push(Segment::new(1 + i * 100, 1 + (i + 1) * 100, Time::from_nanos(i)));
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
        board.push(Segment::new(1001, 1011, Time::ZERO));
        board.push(Segment::new(1011, 1111, Time::ZERO));
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

//! What the receiver holds beyond the acknowledged offset, and how far the path reorders.

/// What SACK blocks, or duplicate acknowledgements where there are none, have said so far.
///
/// It promises that a range is reported as new once, and that segments out of order widen the tolerance for the next
/// ones, never narrow it.
#[derive(Debug, Clone)]
pub(crate) struct Sacks {
    /// Blocks of the last acknowledgement that had any.
    known: [(u64, u64); 4],
    highest: u64,
    /// Duplicate acknowledgements of a connection without SACK, as if they were SACKed segments.
    reno: u32,
    /// Segments that may overtake one before it counts as lost.
    reordering: u32,
    reordered: bool,
}

impl Sacks {
    pub(crate) const fn new(duplicate_acks: u32) -> Self {
        Self {
            known: [(0, 0); 4],
            highest: 0,
            reno: 0,
            reordering: duplicate_acks,
            reordered: false,
        }
    }

    /// Everything reported is void: segments are cut anew, or the receiver dropped what it held.
    pub(crate) const fn forget(&mut self) {
        self.known = [(0, 0); 4];
    }

    /// The first part of `[from, to)` that was not reported before.
    pub(crate) fn unknown(&self, from: u64, to: u64) -> Option<(u64, u64)> {
        let mut from = from;
        while from < to {
            let Some(known) = self.known.iter().find(|known| known.0 <= from && from < known.1) else {
                let next = self
                    .known
                    .iter()
                    .map(|known| known.0)
                    .filter(|start| *start > from)
                    .min();
                return Some((from, to.min(next.unwrap_or(u64::MAX))));
            };
            from = known.1;
        }
        None
    }

    /// Takes the blocks of an acknowledgement, in order of offset, as known from now on.
    pub(crate) fn know(&mut self, blocks: [(u64, u64); 4], highest: u64) {
        self.known = blocks;
        self.raise(highest);
    }

    /// End of the highest byte held.
    pub(crate) const fn highest(&self) -> u64 {
        self.highest
    }

    pub(crate) fn raise(&mut self, to: u64) {
        self.highest = self.highest.max(to);
    }

    /// Segments that may overtake one before it counts as lost.
    pub(crate) const fn reordering(&self) -> u32 {
        self.reordering
    }

    /// Whether any segment ever arrived late.
    pub(crate) const fn reordered(&self) -> bool {
        self.reordered
    }

    /// A segment at `low` arrived after higher ones (`tcp_check_sack_reordering`).
    pub(crate) fn note_reordering(&mut self, low: u64, mss: u32) {
        if self.highest <= low {
            return;
        }
        let distance = self.highest - low;
        if distance > u64::from(self.reordering) * u64::from(mss) {
            self.reordering = u32::try_from(distance.div_ceil(u64::from(mss)))
                .unwrap_or(MAX_REORDERING)
                .min(MAX_REORDERING);
        }
        self.reordered = true;
    }

    /// Duplicate acknowledgements counted as segments held.
    pub(crate) const fn reno(&self) -> u32 {
        self.reno
    }

    pub(crate) const fn clear_reno(&mut self) {
        self.reno = 0;
    }

    /// No more than `room` segments can be held.
    pub(crate) fn limit_reno(&mut self, room: u32) {
        self.reno = self.reno.min(room);
    }

    /// More duplicate acknowledgements; the result is how many segments that newly delivered (`tcp_add_reno_sack`).
    pub(crate) fn add_reno(&mut self, duplicates: u32, room: u32) -> u32 {
        if duplicates == 0 {
            return 0;
        }
        let before = self.reno;
        self.reno += duplicates;
        self.limit_reno(room);
        self.reno.saturating_sub(before)
    }

    /// `acked` segments were acknowledged; the result is how many of them are news (`tcp_remove_reno_sacks`).
    pub(crate) fn remove_reno(&mut self, acked: u32, room: u32) -> u32 {
        let delivered = acked.saturating_sub(self.reno).max(1);
        self.reno = if acked > self.reno {
            0
        } else {
            self.reno - (acked - 1)
        };
        self.limit_reno(room);
        delivered
    }
}

/// Segments (`sysctl_tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_new_once() {
        let mut sacks = Sacks::new(3);
        assert_eq!(sacks.unknown(10, 50), Some((10, 50)));
        sacks.know([(0, 0), (0, 0), (10, 20), (30, 40)], 40);
        assert_eq!(sacks.unknown(5, 50), Some((5, 10)));
        assert_eq!(sacks.unknown(10, 50), Some((20, 30)));
        assert_eq!(sacks.unknown(30, 50), Some((40, 50)));
        assert_eq!(sacks.unknown(12, 18), None);
        assert_eq!(sacks.highest(), 40);
    }

    #[test]
    fn reordering_only_widens() {
        let mut sacks = Sacks::new(3);
        sacks.raise(10_000);
        sacks.note_reordering(10_000, 1000);
        assert!(!sacks.reordered());
        sacks.note_reordering(3_500, 1000);
        assert_eq!((sacks.reordering(), sacks.reordered()), (7, true));
        sacks.note_reordering(9_000, 1000);
        assert_eq!(sacks.reordering(), 7);
        sacks.raise(10_000_000);
        sacks.note_reordering(0, 1000);
        assert_eq!(sacks.reordering(), MAX_REORDERING);
    }

    #[test]
    fn duplicates_count_as_segments_held() {
        let mut sacks = Sacks::new(3);
        assert_eq!(sacks.add_reno(3, 2), 2, "two fit");
        assert_eq!(sacks.add_reno(0, 9), 0);
        assert_eq!(sacks.remove_reno(1, 9), 1);
        assert_eq!(sacks.reno(), 2);
        assert_eq!(sacks.remove_reno(5, 9), 3, "two of the five were known");
        assert_eq!(sacks.reno(), 0);
    }
}

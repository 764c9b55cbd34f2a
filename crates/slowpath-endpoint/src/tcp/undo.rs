//! Whether a reduction was needless, and what it is taken back to (RFC 3708; `tcp_try_undo_*` of Linux).

/// Evidence against the reduction that is on.
///
/// It promises that a reduction counts as needless only once every retransmission made for it was reported as a
/// duplicate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Undo {
    /// Where the reduction began; `None` when it cannot be taken back.
    marker: Option<u64>,
    /// Retransmissions not yet reported as duplicates; `None` when there was nothing to disprove yet.
    open: Option<u32>,
    /// The threshold before the reduction.
    threshold: Option<u32>,
}

impl Undo {
    /// A reduction begins at the offset `una` with `retransmitted` segments in flight, which count as well.
    pub(crate) fn begin(&mut self, allowed: bool, una: u64, retransmitted: u32) {
        self.marker = allowed.then_some(una);
        self.open = (retransmitted > 0).then_some(retransmitted);
    }

    /// Whether a reduction is on that could be taken back.
    pub(crate) const fn is_open(&self) -> bool {
        self.marker.is_some()
    }

    /// All retransmissions were reported as duplicates.
    pub(crate) fn is_proven(&self) -> bool {
        self.marker.is_some() && self.open == Some(0)
    }

    /// The reduction cannot be taken back any more.
    pub(crate) const fn close(&mut self) {
        self.marker = None;
    }

    /// Keeps the threshold to return to.
    pub(crate) const fn keep_threshold(&mut self, threshold: u32) {
        self.threshold = Some(threshold);
    }

    /// The network itself said that it was congested: the threshold stays reduced.
    pub(crate) const fn forget_threshold(&mut self) {
        self.threshold = None;
    }

    /// The threshold to return to.
    pub(crate) const fn threshold(&self) -> Option<u32> {
        self.threshold
    }

    /// A segment is sent again.
    pub(crate) fn retransmitted(&mut self) {
        *self.open.get_or_insert(0) += 1;
    }

    /// The receiver held `segments` ending at the offset `right` already.
    pub(crate) fn duplicate(&mut self, right: u64, segments: u32) {
        if let (Some(marker), Some(open)) = (self.marker, self.open.as_mut())
            && right > marker
        {
            *open = open.saturating_sub(segments);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needless_only_when_every_retransmission_was_a_duplicate() {
        let mut undo = Undo::default();
        undo.begin(true, 1000, 0);
        assert!(!undo.is_proven(), "nothing was sent again yet");
        undo.retransmitted();
        undo.retransmitted();
        undo.duplicate(900, 1);
        undo.duplicate(2000, 1);
        assert!(!undo.is_proven());
        undo.duplicate(3000, 1);
        assert!(undo.is_proven());
        undo.close();
        assert!(!undo.is_proven());
        undo.begin(false, 1000, 2);
        undo.duplicate(2000, 2);
        assert!(!undo.is_proven(), "not allowed");
    }
}

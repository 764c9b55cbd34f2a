//! Retransmission timeouts, and whether the last one was needless (F-RTO, RFC 5682).

/// Timeouts without progress between them, and what F-RTO is finding out.
///
/// It promises that a connection is given up after the configured number of timeouts in a row, and that new data are
/// tried at most once for each timeout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Timeouts {
    in_a_row: u32,
    given_up: bool,
    forward: bool,
    new_data_first: bool,
}

impl Timeouts {
    /// One more; false if that was one too many.
    pub(crate) const fn count(&mut self, most: u32) -> bool {
        self.in_a_row += 1;
        self.given_up = self.in_a_row > most;
        !self.given_up
    }

    /// Data were acknowledged, or the timeout was needless.
    pub(crate) const fn progress(&mut self) {
        self.in_a_row = 0;
    }

    /// Whether none came since the last progress but this one.
    pub(crate) const fn is_first(&self) -> bool {
        self.in_a_row == 1
    }

    pub(crate) const fn given_up(&self) -> bool {
        self.given_up
    }

    /// A timeout reduced the window: whether F-RTO looks for signs that it was needless.
    pub(crate) const fn doubt(&mut self, forward: bool) {
        self.new_data_first = false;
        self.forward = forward;
    }

    pub(crate) const fn doubted(&self) -> bool {
        self.forward
    }

    /// The loss is real: F-RTO is over.
    pub(crate) const fn believe(&mut self) {
        self.forward = false;
    }

    /// New data go before anything is sent again (RFC 5682, section 2.1, step 2b).
    pub(crate) const fn try_new_data(&mut self) {
        self.new_data_first = true;
    }

    pub(crate) const fn new_data_first(&self) -> bool {
        self.new_data_first
    }

    /// The new data went out.
    pub(crate) const fn new_data_sent(&mut self) {
        self.new_data_first = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_timeouts_in_a_row_end_the_connection() {
        let mut timeouts = Timeouts::default();
        assert!(timeouts.count(2) && timeouts.is_first());
        timeouts.progress();
        assert!(timeouts.count(2) && timeouts.count(2));
        assert!(!timeouts.given_up());
        assert!(!timeouts.count(2));
        assert!(timeouts.given_up());
    }
}

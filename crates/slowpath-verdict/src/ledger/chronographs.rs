//! The ledger in the terms of the sending kernel's own counts.

use slowpath_facts::Chronographs;

use super::{Ledger, State};
use crate::limit::Limit;

impl Ledger {
    /// What the sending kernel's counts (`rwnd_limited` and `sndbuf_limited` of Linux) would show of this transfer. `with_bbr` is
    /// what they show of a sender with BBR ([`slowpath_facts::FlowFacts::with_bbr`]); `None` for one that does not pace.
    ///
    /// The counts know nothing of the link: a full window counts, whether the link is full as well or not.
    pub fn chronographs(&self, with_bbr: Option<Chronographs>) -> Chronographs {
        let time_in = |state| self.time_where(|entry| entry.state == state);
        let Some(counted) = with_bbr else {
            return Chronographs {
                window_s: time_in(State::Window),
                buffer_s: time_in(State::Buffer),
                sooner: 0.0,
            };
        };
        // What nothing but a buffer shows as is taken for one only where one is seen.
        let buffer = time_in(State::Buffer).max(self.time_of(Limit::SendBuffer));
        let is_seen = buffer >= SEEN * self.duration_s;
        Chronographs {
            buffer_s: if is_seen { counted.buffer_s } else { 0.0 },
            ..counted
        }
    }
}

/// Share of the duration from which a buffer is seen.
const SEEN: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Entry;

    #[test]
    fn a_full_window_counts_whatever_else_is_full_and_with_bbr_as_far_as_its_pacing_lets_it() {
        let ledger = Ledger {
            duration_s: 10.0,
            entries: vec![
                Entry::plain(Limit::ReceiverWindow, State::Window, 6.0, None),
                Entry::plain(Limit::BottleneckBandwidth, State::Window, 3.0, None),
                Entry::plain(Limit::SlowStart, State::Start, 1.0, None),
            ],
            ..Ledger::default()
        };
        let plain = ledger.chronographs(None);
        assert_eq!((plain.window_s, plain.buffer_s), (9.0, 0.0));
        let counted = Chronographs {
            window_s: 4.5,
            buffer_s: 2.0,
            sooner: 0.0,
        };
        // No buffer is seen, so that what looks like one is none.
        let with_bbr = ledger.chronographs(Some(counted));
        assert_eq!((with_bbr.window_s, with_bbr.buffer_s), (4.5, 0.0));
    }
}

//! What gaps in what arrives mean, at the receiving end.

use super::facts::Facts;

/// Whether what was missing at the receiver was lost, a segment or so at a time, at rates that no bucket nor queue has, and slowed the
/// sender down each time.
pub(super) fn are_gaps_by_chance(facts: &Facts) -> bool {
    let (all, long, queued) = facts.gaps;
    let mostly_lost = long >= MANY_GAPS && long * 2 > all && queued * 2 <= long;
    let one_at_a_time = facts.lost_here as f64 <= TOGETHER * long as f64;
    let any_rate =
        (facts.rate_spread_at_gap).is_some_and(|spread| spread >= ANY_RATE) && facts.rates_at_most <= BOUNDED;
    let slowed_down = facts.rate_left_by_gap.is_some_and(|left| left <= SLOWED);
    facts.gaps_are_clear && mostly_lost && one_at_a_time && any_rate && slowed_down
}

/// What was missing at the receiver, where that is much and its cause stays open.
pub(super) fn gaps_seen(facts: &Facts) -> Option<GapsSeen> {
    let (all, long, _) = facts.gaps;
    let much = all >= GAPS && facts.missing_s >= MISSING * facts.seconds;
    (facts.receiving && much).then_some(if !facts.gaps_are_clear {
        GapsSeen::Either
    } else if long * 2 > all {
        GapsSeen::Lost
    } else if long * 4 <= all {
        GapsSeen::Overtaken
    } else {
        GapsSeen::Either
    })
}

/// What gaps in what arrives are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GapsSeen {
    /// Segments that were lost: each gap stayed open for a round trip.
    Lost,
    /// Segments that others overtook: gaps closed sooner than anything could be sent again.
    Overtaken,
    /// One or the other.
    Either,
}

/// Fewer gaps in what arrives are no rule.
const GAPS: usize = 3;
/// So many that the rates before them tell chance from a rule.
const MANY_GAPS: usize = 8;
/// Share of the time with something missing that is told.
const MISSING: f64 = 0.03;
/// Segments that chance takes at a time, on average, as far as a receiver can count them.
const TOGETHER: f64 = 2.0;
/// Spread of the rate at gaps that no bucket and no queue has, at a receiver.
const ANY_RATE: f64 = 0.2;
/// Share of the rates at gaps that are the same, and the greatest, from which on something bounds them.
const BOUNDED: f64 = 0.2;
/// A gap that slows the sender down leaves no more of its rate: CUBIC leaves 0.7, Reno 0.5.
const SLOWED: f64 = 0.85;

#[cfg(test)]
mod tests {
    use slowpath_sys::sock_diag::SocketMemory;
    use slowpath_verdict::{Limit, Verdict};

    use crate::why::facts::facts;
    use crate::why::judge::{ProgramView, judge};
    use crate::why::sample::ConnectionSample;
    use crate::why::track::Track;

    /// Looks at a download, one each 10 ms: segments arrive, and now and then one is missing for a while.
    struct Download {
        now: ConnectionSample,
        track: Track,
        behind: u32,
    }

    impl Download {
        fn new() -> Self {
            let mut now = ConnectionSample::default();
            now.info.state = 1;
            now.info.rcv_mss = SEGMENT;
            now.info.rcv_rtt = 50_000;
            now.info.min_rtt = 50_000;
            now.info.rcv_wnd = 6_000_000;
            now.memory = SocketMemory {
                receive_buffer: 6_000_000,
                ..SocketMemory::default()
            };
            Self {
                track: Track::new(now.clone()),
                now,
                behind: 0,
            }
        }

        /// `segments` arrive behind a missing one, or in order.
        fn look(&mut self, segments: u32, missing: bool) {
            self.now.at += 10_000_000;
            self.now.info.data_segs_in += segments;
            if missing {
                self.now.info.rcv_ooopack += segments;
                self.behind += segments;
            } else {
                self.now.info.bytes_received += u64::from(segments + self.behind) * u64::from(SEGMENT);
                self.behind = 0;
            }
            self.now.memory.receive_allocated = self.behind * 2_304;
            self.track.observe(self.now.clone());
        }

        /// Round trips of five looks with one segment more in a look each time, up to `most`; then one is lost, and the window is
        /// reduced to 0.7 of it.
        fn saw_tooth(mut self, tops: &[u32]) -> Self {
            let mut rate = tops[0] / 2;
            for &top in tops {
                while rate < top {
                    (0..5).for_each(|_| self.look(rate, false));
                    rate += 1;
                }
                (0..5).for_each(|_| self.look(top, true));
                rate = top * 7 / 10;
            }
            (0..10).for_each(|_| self.look(rate, false));
            self
        }

        fn verdict(&self) -> Verdict {
            judge(&facts(&self.track), ProgramView::default()).0
        }
    }

    #[test]
    fn gaps_and_the_stretches_with_them_are_not_told_alike() {
        let verdict = Download::new().saw_tooth(&[20]).verdict();
        let texts: Vec<&str> = verdict.evidence.iter().map(|one| one.text.as_str()).collect();
        let about = |begin: &str| texts.iter().filter(|text| text.starts_with(begin)).count();
        assert_eq!(about("1 gap in what arrived, open for "), 1, "{texts:?}");
        assert_eq!(
            about("something was missing at some moment of stretches"),
            1,
            "{texts:?}"
        );
    }

    #[test]
    fn losses_at_any_rate_are_named_by_the_receiver() {
        let tops = [20, 31, 24, 44, 36, 28, 52, 40, 30, 23];
        let download = Download::new().saw_tooth(&tops);
        let seen = facts(&download.track);
        assert_eq!(seen.gaps, (tops.len(), tops.len(), 0), "{seen:?}");
        assert_eq!(seen.lost_here, tops.len() as u64, "{seen:?}");
        // All segments are of one size, and all that came are counted once.
        assert_eq!(download.track.arrived(), download.track.received());
        let verdict = download.verdict();
        assert_eq!(verdict.limit, Limit::RandomLoss, "{verdict:?}");
        assert!(verdict.share > 0.9, "{verdict:?}");
        assert!(
            verdict
                .sentence
                .starts_with("Losses that this transfer does not cause"),
            "{verdict:?}"
        );
        assert!(verdict.sentence.contains("10 times"), "{verdict:?}");
        let lost = verdict.parameters.loss_fraction.unwrap();
        assert!(lost > 0.0005 && lost < 0.02, "{lost}");
    }

    #[test]
    fn losses_at_one_rate_stay_open_and_are_told() {
        // A policer's bucket, or a link with next to no queue.
        let download = Download::new().saw_tooth(&[40, 41, 40, 39, 40, 40, 41, 40, 40, 39]);
        let verdict = download.verdict();
        assert_eq!(verdict.limit, Limit::Unknown, "{verdict:?}");
        assert!(
            verdict
                .sentence
                .starts_with("Segments are lost before they come here: 10 times"),
            "{verdict:?}"
        );
        assert!(verdict.next_step.is_some());
        assert!(
            verdict.evidence.iter().any(|one| one.fact == "loss.gaps"),
            "{verdict:?}"
        );
    }

    #[test]
    fn a_rate_that_losses_do_not_change_is_not_theirs() {
        // A program at its own, changing pace, some of whose segments are lost.
        let mut download = Download::new();
        for rate in [20, 31, 24, 44, 36, 28, 52, 40, 30, 23] {
            (0..40).for_each(|_| download.look(rate, false));
            (0..5).for_each(|_| download.look(rate, true));
            (0..40).for_each(|_| download.look(rate, false));
        }
        let verdict = download.verdict();
        assert_eq!(verdict.limit, Limit::Unknown, "{verdict:?}");
        assert!(verdict.sentence.starts_with("Segments are lost"), "{verdict:?}");
    }

    #[test]
    fn segments_that_others_overtake_are_not_lost() {
        let mut download = Download::new();
        for _ in 0..30 {
            (0..8).for_each(|_| download.look(30, false));
            (0..2).for_each(|_| download.look(30, true));
        }
        let verdict = download.verdict();
        assert_eq!(verdict.limit, Limit::Unknown, "{verdict:?}");
        assert!(
            verdict.sentence.starts_with("Segments overtake each other"),
            "{verdict:?}"
        );
    }

    #[test]
    fn a_gap_now_and_then_is_not_told() {
        let download = Download::new().saw_tooth(&[90, 90]);
        let verdict = download.verdict();
        assert_eq!(verdict.limit, Limit::Unknown, "{verdict:?}");
        assert!(
            verdict.sentence.starts_with("Cannot be told from this end"),
            "{verdict:?}"
        );
    }

    /// Bytes in a segment.
    const SEGMENT: u32 = 1_448;
}

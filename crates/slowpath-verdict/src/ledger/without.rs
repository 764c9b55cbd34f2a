//! How long the same bytes would take without a cause, and how sure that is.
//!
//! What the cause cost is given back, up to the next limit that showed itself; where the path and the sender are known, their
//! course says what events cost that would come otherwise then. Two things may be otherwise. A limit that never
//! held takes over: then less is gained, the more likely so the less of the time the transfer filled the link by itself,
//! which no other limit let it do. And what was charged to others was this cause's: then more is gained.

use super::course::{Course, Law};
use super::{Entry, Ledger, State, Without};
use crate::limit::{Flag, Limit};

/// What the course of a transfer says of a faster link.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Faster {
    /// How long it would take, as a share of what the course takes now.
    pub share: f64,
    /// What the course takes now, as a share of what the transfer took: 1 where the course is the transfer's.
    pub as_seen: f64,
}

impl Ledger {
    /// How long the same bytes would take without a cause; `None` where the capacity is only bounded.
    ///
    /// Its time is given back up to the next limit: no other ceiling lets more through than it did while it held. Where the
    /// program no longer pauses, queues that its bursts overran no longer overrun.
    pub fn without(&self, cause: Limit) -> Option<Without> {
        let lost = self.lost_to(cause)?;
        let mut left = self.duration_s - lost;
        let pauses = self.sum(cause, Entry::is_gap, Entry::time);
        if pauses >= OFTEN * self.time_of(cause) && pauses > 0.0 {
            let overrun = |entry: &Entry| entry.flags.contains(&Flag::ShortQueue);
            left -= self.sum(Limit::BottleneckBandwidth, overrun, Entry::lost);
        }
        let next = self.next_ceiling(cause);
        let left = left.max(self.bytes / next).min(self.duration_s);
        let runs = self.runs(cause, next);
        let duration_s = runs.map_or(left, |runs| between(cause, left, runs));
        let less = CHARGED_WRONGLY * self.mistakable(cause);
        let more = self.unseen() * lost.max(0.0);
        // The link needs its time whatever is away, and nothing takes longer for that.
        let least = self.floor_s.unwrap_or(0.0).clamp(0.0, duration_s);
        Some(Without {
            cause,
            duration_s,
            low90_s: (duration_s - less).max(least) * (1.0 - EVEN),
            high90_s: (duration_s.max(left) + more).min(self.duration_s) * (1.0 + EVEN),
        })
    }

    /// The least payload rate of what else held the transfer and would hold it then, bytes per second; infinity for none.
    fn next_ceiling(&self, cause: Limit) -> f64 {
        // The whole of the transfer was faster: what held it so for a while was a stop, and its time is not given back.
        let stop = |rate: f64| rate * self.duration_s < self.bytes * (1.0 - ROUNDING);
        let others = self.ceilings.iter();
        others
            .filter(|(limit, rate)| !self.goes_with(*limit, cause) && !stop(*rate))
            .map(|(_, rate)| *rate)
            .fold(f64::INFINITY, f64::min)
    }

    /// Whether a limit is not there without the cause: itself, and with others a policer that nothing is charged to, as that is
    /// what they leave of the link.
    fn goes_with(&self, limit: Limit, cause: Limit) -> bool {
        let left_by_others = limit == Limit::Policed && self.time_of(Limit::Policed) <= 0.0;
        let of_policer = limit == Limit::SenderApplication && self.paces_by_policer();
        limit == cause
            || left_by_others && cause == Limit::SharedBottleneck
            || of_policer && cause == Limit::Policed
    }

    /// Whether what looks like a program's pace is a policer's rate, at which BBR sends of itself once it takes the path for policed
    /// (Linux, `bbr_lt_bw_sampling`).
    #[must_use]
    pub fn paces_by_policer(&self) -> bool {
        let rate = |limit: Limit| self.ceilings.iter().find(|(of, _)| *of == limit).map(|one| one.1);
        let clocked = self.course.is_some_and(|course| course.law == Law::Clocked);
        let both = rate(Limit::SenderApplication).zip(rate(Limit::Policed));
        clocked && both.is_some_and(|(pace, policed)| (pace / policed).ln().abs() < LIKE_A_POLICER)
    }

    /// How long it would take by the path and the sender that it shows, seconds: what is charged to events may come otherwise
    /// then. What the course does not know is added as it is charged. `None` where it does not know the way of sending.
    fn runs(&self, cause: Limit, ceiling: f64) -> Option<f64> {
        let course = self.course?.without(|limit| self.goes_with(limit, cause));
        let asks = self.entries.iter().any(Entry::is_answer);
        if !REMOVABLE.contains(&cause) || asks && course.part.is_none() {
            return None;
        }
        let unknown = |entry: &&Entry| {
            let cause_unknown = match entry.cause {
                Limit::SharedBottleneck | Limit::Reordering | Limit::Unknown => true,
                Limit::EcnCongestion => !course.marks,
                _ => false,
            };
            // The course waits for answers.
            entry.cause != cause && (cause_unknown || matches!(entry.state, State::Idle | State::Measurement))
        };
        let besides: f64 = self.entries.iter().filter(unknown).map(Entry::lost).sum();
        let runs = course.duration_s(self.bytes, ceiling) + besides.max(0.0);
        Some(runs.min(self.duration_s))
    }

    /// How long the same bytes would take behind a link of `times` its rate with the queue of now, `None` where no loss makes the window small,
    /// for a way of sending that losses do not hold, and where the course does not know the path.
    pub fn with_link(&self, times: f64) -> Option<Faster> {
        let course = self.course.filter(|course| course.law != Law::Clocked)?;
        let asks = self.entries.iter().any(Entry::is_answer);
        let overruns = self.entries.iter().any(Entry::follows_a_short_queue);
        if asks && course.part.is_none() || course.loss <= 0.0 && !overruns {
            return None;
        }
        let ceiling = self.next_ceiling(Limit::BottleneckBandwidth);
        let now_s = course.duration_s(self.bytes, ceiling);
        let faster = Course {
            rate: course.rate * times,
            ..course
        };
        let then_s = faster.duration_s(self.bytes, ceiling);
        let faster = Faster {
            share: then_s / now_s,
            as_seen: now_s / self.duration_s,
        };
        (faster.share.is_finite() && faster.as_seen.is_finite()).then_some(faster)
    }

    /// What a transfer without each of the causes would take that a change can take away and that cost a tenth of the
    /// duration or more, the costliest first.
    pub(super) fn all_without(&self) -> Vec<Without> {
        let mut out: Vec<(f64, Without)> = REMOVABLE
            .into_iter()
            .filter_map(|cause| Some((self.lost_to(cause)?, self.without(cause)?)))
            .filter(|(lost, _)| *lost >= TENTH * self.duration_s && *lost > 0.0)
            .collect();
        out.sort_by(|a, b| b.0.total_cmp(&a.0));
        out.into_iter().map(|(_, without)| without).collect()
    }

    /// Seconds lost to others that may have been lost to this cause: losses look alike; what holds a sender may hide any
    /// other.
    fn mistakable(&self, cause: Limit) -> f64 {
        let alike = |entry: &&Entry| {
            entry.cause != cause && (!is_of_losses(cause, &[]) || is_of_losses(entry.cause, &entry.flags))
        };
        self.entries
            .iter()
            .filter(alike)
            .map(Entry::lost)
            .sum::<f64>()
            .max(0.0)
    }

    /// Share of what a cause cost that a limit may take which never showed itself: nothing where the transfer filled the link for long.
    #[must_use]
    pub fn unseen(&self) -> f64 {
        let filled = |entry: &Entry| entry.state == State::Link;
        let own = self.sum(Limit::BottleneckBandwidth, filled, Entry::time) / self.duration_s.max(1e-9);
        (UNSEEN * (1.0 - own / FILLED)).max(0.0)
    }
}

/// A duration by what is given back and by what the course would be, half of each (as ratios): what was charged to other events
/// came beside this cause and may come otherwise; what the course makes longer, no event has shown yet. Where the cause had held the sender
/// still, what events cost beside it says nothing of what comes after: a course that is shorter is believed.
fn between(cause: Limit, left: f64, runs: f64) -> f64 {
    if runs < left && !is_of_losses(cause, &[]) && cause != Limit::SharedBottleneck {
        runs
    } else {
        (left * runs).sqrt()
    }
}

/// Whether losses or marks make this time.
fn is_of_losses(cause: Limit, flags: &[Flag]) -> bool {
    let losses = matches!(
        cause,
        Limit::RandomLoss | Limit::Policed | Limit::Reordering | Limit::EcnCongestion
    );
    losses || flags.contains(&Flag::ShortQueue)
}

/// Causes that were taken away from transfers to see how sure this is.
const REMOVABLE: [Limit; 7] = [
    Limit::RandomLoss,
    Limit::Policed,
    Limit::SharedBottleneck,
    Limit::ReceiverWindow,
    Limit::ReceiverApplication,
    Limit::SendBuffer,
    Limit::SenderApplication,
];
/// How exact rates are, as a share.
const ROUNDING: f64 = 1e-4;
/// How far the pace of BBR may be from the rate of the policer that it follows, as a logarithm.
const LIKE_A_POLICER: f64 = 0.2;
/// Share of the time of a program that it pauses, from which its bursts are its doing.
const OFTEN: f64 = 0.5;
/// Share of the duration from which a cause is told.
const TENTH: f64 = 0.1;
/// Share of what others cost that may be this cause's. Fitted, as the next three are: `docs/validation/ledger.md`.
const CHARGED_WRONGLY: f64 = 0.8;
/// How far a duration is off where nothing is mistaken: two runs differ by that.
const EVEN: f64 = 0.11;
/// Share of what the cause cost that a limit may take which never showed itself, where the link was never filled.
const UNSEEN: f64 = 0.25;
/// Share of the time for which a link is filled that no other limit holds.
const FILLED: f64 = 0.3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::CapacityIs;

    fn entry(cause: Limit, state: State, time_s: f64, lost_s: f64) -> Entry {
        Entry::plain(cause, state, time_s, Some(lost_s))
    }

    /// Ten seconds, of which random losses cost six and the link itself needs two.
    fn ledger(filled: f64) -> Ledger {
        Ledger {
            duration_s: 10.0,
            capacity_is: CapacityIs::Measured,
            floor_s: Some(2.0),
            bytes: 1e6,
            entries: vec![
                entry(Limit::RandomLoss, State::Growth, 7.0 - filled, 6.0),
                entry(Limit::Policed, State::Growth, 2.0, 1.5),
                entry(Limit::SendBuffer, State::Buffer, 1.0, 0.5),
                entry(Limit::BottleneckBandwidth, State::Link, filled, 0.0),
            ],
            ..Ledger::default()
        }
    }

    #[test]
    fn a_transfer_that_filled_its_link_tells_more_surely_what_it_would_take() {
        let [never, often] = [0.0, 4.0].map(|filled| ledger(filled).without(Limit::RandomLoss).unwrap());
        assert!((never.duration_s - 4.0).abs() < 1e-9 && (often.duration_s - 4.0).abs() < 1e-9);
        assert!(often.high90_s < never.high90_s, "{often:?} {never:?}");
        // A quarter of what the losses cost may be another limit's.
        assert!((never.high90_s - 5.5 * 1.11).abs() < 1e-9, "{never:?}");
        assert!((often.high90_s - 4.0 * 1.11).abs() < 1e-9, "{often:?}");
    }

    #[test]
    fn other_losses_may_have_been_these_but_no_buffer() {
        let loss = ledger(0.0).without(Limit::RandomLoss).unwrap();
        assert!((loss.low90_s - (4.0 - 0.8 * 1.5) * 0.89).abs() < 1e-9, "{loss:?}");
        let buffer = ledger(0.0).without(Limit::SendBuffer).unwrap();
        assert!(
            (buffer.low90_s - (9.5 - 0.8 * 7.5) * 0.89).abs() < 1e-9,
            "{buffer:?}"
        );
    }

    #[test]
    fn an_interval_ends_at_the_links_own_time_and_at_the_duration() {
        let mut slow = ledger(0.0);
        slow.floor_s = Some(3.5);
        let loss = slow.without(Limit::RandomLoss).unwrap();
        assert!((loss.low90_s - 3.5 * 0.89).abs() < 1e-9, "{loss:?}");
        let buffer = slow.without(Limit::SendBuffer).unwrap();
        assert!(
            buffer.high90_s <= 10.0 * 1.11 && buffer.low90_s <= buffer.duration_s,
            "{buffer:?}"
        );
    }

    #[test]
    fn only_what_costs_a_tenth_and_can_be_taken_away_is_told() {
        let told: Vec<Limit> = ledger(0.0)
            .all_without()
            .iter()
            .map(|without| without.cause)
            .collect();
        assert_eq!(told, [Limit::RandomLoss, Limit::Policed]);
        let unknown = Ledger {
            floor_s: None,
            ..ledger(0.0)
        };
        assert!(unknown.all_without().is_empty() && unknown.without(Limit::RandomLoss).is_none());
    }

    #[test]
    fn a_rate_below_that_of_the_whole_transfer_is_a_stop_and_no_ceiling() {
        let mut ledger = ledger(0.0);
        ledger.ceilings = vec![(Limit::ReceiverApplication, 0.9e5)];
        let without = ledger.without(Limit::RandomLoss).unwrap();
        assert!((without.duration_s - 4.0).abs() < 1e-9, "{without:?}");
        ledger.ceilings = vec![(Limit::ReceiverApplication, 2e5)];
        let without = ledger.without(Limit::RandomLoss).unwrap();
        assert!((without.duration_s - 5.0).abs() < 1e-9, "{without:?}");
    }

    /// The course of ten seconds of which overflows cost seven, though they grow back from within one.
    fn overrun() -> Ledger {
        let short = Entry {
            flags: vec![Flag::ShortQueue],
            ..entry(Limit::BottleneckBandwidth, State::Growth, 5.0, 4.0)
        };
        Ledger {
            entries: vec![entry(Limit::RandomLoss, State::Growth, 5.0, 4.0), short],
            course: Some(Course {
                rate: 0.5e6,
                rtt_s: 0.04,
                queue: 20_000.0,
                segment: 1_448.0,
                initial: 14_480.0,
                loss: 0.02,
                ..Course::default()
            }),
            ..ledger(0.0)
        }
    }

    #[test]
    fn overflows_cost_less_where_no_loss_comes_between_their_regrowth() {
        let without = overrun().without(Limit::RandomLoss).unwrap();
        // Half of the six seconds that are left as they were charged, half of the course.
        let course_s = without.duration_s * without.duration_s / 6.0;
        assert!((2.0..2.6).contains(&course_s), "{without:?}");
        let unseen = Ledger {
            course: None,
            ..overrun()
        };
        let without = unseen.without(Limit::RandomLoss).unwrap();
        assert!((without.duration_s - 6.0).abs() < 1e-9, "{without:?}");
        // Nobody knows what a program that asks would do then.
        let mut asks = overrun();
        asks.entries
            .push(entry(Limit::ProtocolWindow, State::Answer, 0.5, 0.5));
        assert!((asks.without(Limit::RandomLoss).unwrap().duration_s - 6.0).abs() < 1e-9);
    }

    #[test]
    fn what_the_course_does_not_know_is_still_lost() {
        let mut shared = overrun();
        shared
            .entries
            .push(entry(Limit::SharedBottleneck, State::Link, 2.0, 1.5));
        // The losses are away: half of the course counts, and half of what is left as it was charged, which is as much in both.
        let [with, without] = [shared, overrun()].map(|ledger| {
            let duration_s = ledger.without(Limit::RandomLoss).unwrap().duration_s;
            duration_s * duration_s / 6.0
        });
        assert!((with - without - 1.5).abs() < 1e-9, "{with} {without}");
    }

    #[test]
    fn bbr_sends_at_a_policers_rate_of_itself() {
        let mut ledger = ledger(0.0);
        ledger.entries[0].cause = Limit::Policed;
        ledger.course = Some(Course {
            law: Law::Clocked,
            ..Course::default()
        });
        ledger.ceilings = vec![(Limit::SenderApplication, 2.1e5), (Limit::Policed, 2e5)];
        assert!(ledger.paces_by_policer());
        assert!(ledger.goes_with(Limit::SenderApplication, Limit::Policed));
        // A program's pace stays where something else is taken away, and where it is another rate.
        assert!(!ledger.goes_with(Limit::SenderApplication, Limit::RandomLoss));
        ledger.ceilings[0].1 = 3e5;
        assert!(!ledger.paces_by_policer());
        // Other controls do not follow a policer.
        ledger.ceilings[0].1 = 2.1e5;
        ledger.course = Some(Course::default());
        assert!(!ledger.paces_by_policer());
    }

    #[test]
    fn a_bucket_that_nothing_is_charged_to_is_what_others_leave() {
        let mut ledger = ledger(0.0);
        ledger.entries[0].cause = Limit::SharedBottleneck;
        ledger.ceilings = vec![(Limit::Policed, 0.2e6)];
        let duration = |ledger: &Ledger| ledger.without(Limit::SharedBottleneck).unwrap().duration_s;
        // One with time of its own stays.
        assert!((duration(&ledger) - 5.0).abs() < 1e-9);
        ledger.entries.retain(|entry| entry.cause != Limit::Policed);
        assert!((duration(&ledger) - 4.0).abs() < 1e-9);
        // Others that are not there change nothing of it where something else is taken away.
        ledger.entries[0].cause = Limit::RandomLoss;
        assert!((ledger.without(Limit::RandomLoss).unwrap().duration_s - 5.0).abs() < 1e-9);
    }

    #[test]
    fn a_course_is_half_believed_and_a_shorter_one_wholly_where_something_held_the_sender() {
        let told = |cause, longer: f64, shorter: f64| {
            (between(cause, 4.0, 9.0) - longer).abs() < 1e-12
                && (between(cause, 4.0, 1.0) - shorter).abs() < 1e-12
        };
        for cause in [Limit::RandomLoss, Limit::Policed, Limit::SharedBottleneck] {
            assert!(told(cause, 6.0, 2.0), "{cause}");
        }
        for cause in [Limit::SendBuffer, Limit::ReceiverWindow, Limit::SenderApplication] {
            assert!(told(cause, 6.0, 1.0), "{cause}");
        }
    }
}

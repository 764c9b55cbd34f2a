//! What comes of it, in the form in which it is written as JSON (`slowpath/path/1`).

use serde::Serialize;
use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_verdict::Limit;

use super::change::{Change, Expected};
use super::compare::{CLEAR_GAIN, NO_GAIN, ratios};
use super::layer::Layer;
use crate::why::answer::ConnectionAnswer;

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/path/1";

/// What was found out about a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The targets, as they were given.
    pub server: String,
    /// The layer that was tested as it is and with changes: the lowest that the targets offer.
    pub layer: Layer,
    /// `out` if the data that the changes were tried with went to the server, `in` if they came from it.
    pub direction: &'static str,
    /// Seconds that one test lasted.
    pub test_s: f64,
    /// The largest packet that gets through.
    pub path_mtu: PathMtu,
    /// As it is, in the direction asked for.
    pub base: Way,
    /// As it is, in the other direction; absent where its test failed.
    pub other: Option<Way>,
    /// What each layer carries, those that others stand on first; only the one above where the targets offer no more.
    pub layers: Vec<LayerAnswer>,
    /// Which of them loses the rate; absent where there is but one.
    pub waterfall: Option<Waterfall>,
    /// What each change gave, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// Whether the changes support the verdict.
    pub support: Support,
    /// What was not done because it would have told no more.
    pub saved: Saved,
    /// What was not done, and why.
    pub notes: Vec<String>,
    /// What the tests cost.
    pub cost: Cost,
}

/// One direction as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Way {
    /// Bytes that arrived, byte/s, over all tests.
    pub goodput: Summary,
    /// The connection of the first test that came to what most of them came to: round trips, verdict, ledger.
    pub connection: ConnectionAnswer,
}

/// One layer as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerAnswer {
    /// Which.
    pub layer: Layer,
    /// Bytes that arrived, byte/s, over all tests.
    pub goodput: Summary,
    /// The layer that it stands on, of those tested.
    pub below: Option<Layer>,
    /// Its rate against that layer's.
    pub comparison: Option<Comparison>,
    /// The connection of its first test; absent where it could not be watched.
    pub connection: Option<ConnectionAnswer>,
}

/// The largest packet that gets through, bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PathMtu {
    /// What TCP went by in the first test.
    pub tcp: Option<u32>,
    /// The largest probe that was answered, of at most 1500 bytes; absent where none was.
    pub probed: Option<u32>,
    /// Whether larger probes vanished without any router saying so.
    pub black_hole: bool,
}

/// Tests that were not made, because what they would tell was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Saved {
    /// Tests of the rounds that are made at most.
    pub tests: u32,
    /// What they would have moved, bytes, by those that were made.
    pub bytes: u64,
}

/// Which layer loses the rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Waterfall {
    /// One loses more of what reaches it than any other, and that was shown.
    Loses {
        /// The layer.
        layer: Layer,
        /// The one that it stands on.
        below: Layer,
        /// Share of the rate below that it loses.
        share: f64,
        /// Lower end of the 95 % interval of that share.
        low: Option<f64>,
        /// Upper end.
        high: Option<f64>,
        /// What in it does, in English.
        culprit: String,
    },
    /// None costs more than this share, by the intervals.
    None {
        /// The share.
        at_most: f64,
    },
    /// What was measured is too uneven or too little.
    Unclear,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// What was different.
    pub change: Change,
    /// Bytes that arrived, byte/s, against as it is.
    pub comparison: Comparison,
    /// What limited its first test.
    pub limit: Option<Limit>,
    /// Share of the segments that were sent again, where this end knows.
    pub sent_again: Option<f64>,
}

/// Whether the changes support the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Support {
    /// Every change that can tell did what the verdict lets it do.
    Supported,
    /// One did something else.
    Contradicted,
    /// None can tell.
    Untested,
}

/// What the tests cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// How long all of it took, seconds.
    pub seconds: f64,
    /// Payload bytes moved, with those of tests that failed.
    pub bytes: u64,
    /// Tests made.
    pub tests: u32,
    /// The cap, bytes; absent where there was none.
    pub cap: Option<u64>,
}

impl Trial {
    /// Whether the change gave what `limit` lets it give; `None` where either may be, or nothing was shown.
    pub fn agrees(&self, limit: Limit) -> Option<bool> {
        match self.change.expected(limit) {
            Expected::Faster if self.is_faster() => Some(true),
            Expected::Faster => self.gives_little().then_some(false),
            Expected::Same if self.gives_little() => Some(true),
            Expected::Same => (self.is_faster() && self.comparison.ratio > CLEAR_GAIN).then_some(false),
            Expected::Slower if self.is_slower() => Some(true),
            Expected::Slower => self.costs_little().then_some(false),
            Expected::Open => None,
        }
    }

    fn gives_little(&self) -> bool {
        gives_little(&self.comparison)
    }

    /// Whether all that it may cost, by its interval, is less than a person would notice.
    fn costs_little(&self) -> bool {
        ratios(&self.comparison).is_some_and(|(low, _)| low > 1.0 / NO_GAIN)
    }

    /// Whether it was shown to be faster.
    pub fn is_faster(&self) -> bool {
        self.comparison.outcome == Outcome::Higher
    }

    /// Whether the tests leave it open that it is faster by so much that a person would notice: the interval reaches that far, or
    /// there is none.
    pub fn may_be_faster(&self) -> bool {
        ratios(&self.comparison).is_none_or(|(_, high)| high > NO_GAIN)
    }

    /// Whether it was shown to be slower by so much that a person would notice.
    pub fn is_slower(&self) -> bool {
        self.comparison.outcome == Outcome::Lower && self.comparison.ratio < 1.0 / NO_GAIN
    }
}

/// Whether all that a change may give, by its interval, is less than a limit's removal would.
pub(super) fn gives_little(comparison: &Comparison) -> bool {
    ratios(comparison).is_some_and(|(_, high)| high < CLEAR_GAIN)
}

/// What the trials together say of a verdict.
pub(super) fn support(limit: Limit, trials: &[Trial]) -> Support {
    let told: Vec<bool> = trials.iter().filter_map(|trial| trial.agrees(limit)).collect();
    match (told.is_empty(), told.iter().all(|agrees| *agrees)) {
        (true, _) => Support::Untested,
        (false, true) => Support::Supported,
        (false, false) => Support::Contradicted,
    }
}

fn most_promising(trials: &[Trial]) -> Option<&Trial> {
    let open = (trials.iter()).filter(|trial| !trial.is_faster() && trial.may_be_faster());
    open.max_by(|a, b| a.comparison.ratio.total_cmp(&b.comparison.ratio))
}

impl Diagnosis {
    /// The change that gave most, if any was shown to be faster by so much that a person would notice.
    pub fn best(&self) -> Option<&Trial> {
        let faster = self
            .trials
            .iter()
            .filter(|trial| trial.is_faster() && trial.comparison.ratio > NO_GAIN);
        faster.max_by(|a, b| a.comparison.ratio.total_cmp(&b.comparison.ratio))
    }

    /// Of the changes that may be faster and were not shown to be, the one that was fastest on average.
    pub fn most_promising(&self) -> Option<&Trial> {
        most_promising(&self.trials)
    }
}

impl Way {
    /// Shortest and mean round trip while data moved, seconds.
    pub const fn round_trips(&self) -> (f64, f64) {
        (
            self.connection.facts.least_rtt_s,
            self.connection.facts.mean_rtt_s,
        )
    }

    /// Whether the data themselves make a person who works beside them wait: queues of 50 ms or more, at least as long as
    /// the path.
    pub fn is_bloated(&self) -> bool {
        let (idle, loaded) = self.round_trips();
        loaded - idle >= BLOAT_S && loaded >= 2.0 * idle
    }
}

/// Queueing that a person notices, seconds.
const BLOAT_S: f64 = 0.05;
#[cfg(test)]
mod tests {
    use super::*;

    fn trial(change: Change, base: &[f64], with: &[f64]) -> Trial {
        Trial {
            change,
            comparison: Comparison::of_rates(base, with).unwrap(),
            limit: None,
            sent_again: None,
        }
    }

    #[test]
    fn four_times_as_fast_is_no_full_link() {
        let four = || trial(Change::Streams(4), &[1e6, 1.02e6, 0.99e6], &[3.9e6, 4.1e6, 4.0e6]);
        assert_eq!(support(Limit::RandomLoss, &[four()]), Support::Supported);
        assert_eq!(
            support(Limit::BottleneckBandwidth, &[four()]),
            Support::Contradicted
        );
        let same = trial(Change::Streams(4), &[1e6, 1.02e6, 0.99e6], &[1e6, 1.01e6, 1.0e6]);
        assert_eq!(
            support(Limit::BottleneckBandwidth, std::slice::from_ref(&same)),
            Support::Supported
        );
        assert_eq!(support(Limit::ReceiverWindow, &[same]), Support::Contradicted);
        assert_eq!(support(Limit::SharedBottleneck, &[four()]), Support::Untested);
    }

    /// A program that is slow is as slow with any congestion control; a processor may have less to do for another.
    #[test]
    fn another_congestion_control_does_not_make_a_program_faster() {
        let reno = || {
            trial(
                Change::CongestionControl("reno".to_owned()),
                &[1e6, 1.02e6, 0.99e6],
                &[1.9e6, 2.1e6, 2.0e6],
            )
        };
        assert_eq!(
            support(Limit::SenderApplication, &[reno()]),
            Support::Contradicted
        );
        assert_eq!(support(Limit::HostCpu, &[reno()]), Support::Untested);
    }

    #[test]
    fn a_difference_that_chance_may_make_tells_nothing() {
        let noisy = trial(Change::Streams(4), &[1e6, 3e6, 0.5e6], &[2e6, 4e6, 0.9e6]);
        assert_eq!(noisy.agrees(Limit::RandomLoss), None);
        assert_eq!(noisy.agrees(Limit::BottleneckBandwidth), None);
    }

    /// Two tests of each do not show a gain of four, and do not exclude it either: "nothing made it faster" would be untrue.
    #[test]
    fn a_gain_that_the_tests_do_not_exclude_is_open() {
        let bbr = || {
            trial(
                Change::CongestionControl("bbr".to_owned()),
                &[1.9e6, 0.8e6],
                &[5.2e6, 5.4e6],
            )
        };
        assert!(!bbr().is_faster() && bbr().may_be_faster());
        let once = trial(Change::Streams(4), &[1.9e6, 0.8e6], &[0.7e6]);
        assert!(once.may_be_faster());
        let same = || trial(Change::Streams(4), &[1e6, 1.01e6, 1e6], &[1e6, 1.01e6, 1.02e6]);
        assert!(!same().may_be_faster());
        assert_eq!(most_promising(&[same()]), None);
        assert_eq!(most_promising(&[same(), once, bbr()]), Some(&bbr()));
    }
}

//! What comes of it, in the form in which it is written as JSON (`slowpath/path/1`).

use serde::Serialize;
use slowpath_diagnose::stats::{Comparison, Outcome, Summary};
use slowpath_verdict::Limit;

use super::change::{Change, Expected};
use crate::why::answer::ConnectionAnswer;

/// Version of the JSON form.
pub const SCHEMA: &str = "slowpath/path/1";

/// What was found out about a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The server, address and port.
    pub server: String,
    /// `out` if the data that the changes were tried with went to the server, `in` if they came from it.
    pub direction: &'static str,
    /// Seconds that one test lasted.
    pub test_s: f64,
    /// As it is, in the direction asked for.
    pub base: Way,
    /// As it is, in the other direction; absent where its test failed.
    pub other: Option<Way>,
    /// What each change gave, in the order in which they were tried.
    pub trials: Vec<Trial>,
    /// Whether the changes support the verdict.
    pub support: Support,
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
    /// The connection of the first test: round trips, verdict, ledger.
    pub connection: ConnectionAnswer,
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
    /// Bytes sent and received, with those of tests that failed.
    pub bytes: u64,
}

impl Trial {
    /// Whether the change gave what `limit` lets it give; `None` where either may be, or nothing was shown.
    pub fn agrees(&self, limit: Limit) -> Option<bool> {
        match self.change.expected(limit) {
            Expected::Faster if self.is_faster() => Some(true),
            Expected::Faster => self.gives_little().then_some(false),
            Expected::Same if self.gives_little() => Some(true),
            Expected::Same => (self.is_faster() && self.comparison.ratio > CLEAR_GAIN).then_some(false),
            Expected::Open => None,
        }
    }

    fn gives_little(&self) -> bool {
        gives_little(&self.comparison)
    }

    /// Whether it was shown to be faster.
    pub fn is_faster(&self) -> bool {
        self.comparison.outcome == Outcome::Higher
    }

    /// Whether it was shown to be slower by so much that a person would notice.
    pub fn is_slower(&self) -> bool {
        self.comparison.outcome == Outcome::Lower && self.comparison.ratio < 1.0 / NO_GAIN
    }
}

/// Whether all that a change may give, by its interval, is less than a limit's removal would.
pub(super) fn gives_little(comparison: &Comparison) -> bool {
    let most = comparison.high95.map(|high| 1.0 + high / comparison.a.mean);
    most.is_some_and(|most| most < CLEAR_GAIN)
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

impl Diagnosis {
    /// The change that gave most, if any was shown to be faster by so much that a person would notice.
    pub fn best(&self) -> Option<&Trial> {
        let faster = self
            .trials
            .iter()
            .filter(|trial| trial.is_faster() && trial.comparison.ratio > NO_GAIN);
        faster.max_by(|a, b| a.comparison.ratio.total_cmp(&b.comparison.ratio))
    }
}

/// Below this ratio a person notices no gain.
const NO_GAIN: f64 = 1.15;
/// What the removal of a limit gives at least, and the sharing of a start by more connections does not.
const CLEAR_GAIN: f64 = 1.5;

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

    #[test]
    fn a_difference_that_chance_may_make_tells_nothing() {
        let noisy = trial(Change::Streams(4), &[1e6, 3e6, 0.5e6], &[2e6, 4e6, 0.9e6]);
        assert_eq!(noisy.agrees(Limit::RandomLoss), None);
        assert_eq!(noisy.agrees(Limit::BottleneckBandwidth), None);
    }
}

//! What came of a trial.

use serde::Serialize;
use slowpath_diagnose::alternation::{Effect, LEAST_BLOCKS};
use slowpath_diagnose::stats::Outcome;
use slowpath_words::{english, english_word};

use super::turns::{Block, Plan, Turns};

/// One change that was tried, or could not be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// How it was tried.
    pub method: Method,
    /// The change as it is typed: `congestion-control=bbr`; empty where nothing was worth trying.
    pub change: String,
    /// What was found.
    pub outcome: TrialOutcome,
    /// Rate with the change over the rate without, where there were blocks enough.
    pub effect: Option<Effect>,
    /// Seconds of each block that were not counted, and that were.
    pub settle_s: f64,
    /// The same that counted.
    pub measure_s: f64,
    /// The blocks in their order.
    pub blocks: Vec<BlockAnswer>,
    /// All of it in a sentence.
    pub sentence: String,
    /// What to know beside: what is not given back, what the kernel made of it.
    pub notes: Vec<String>,
}

/// How a change is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// On the living connection, in turns with none.
    Living,
    /// By running the command again, in turns with runs as it is.
    Again,
}

/// What a trial found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// The transfer is faster with the change.
    Faster,
    /// It is slower.
    Slower,
    /// No difference shown, which does not say that there is none.
    NotShown,
    /// Too few blocks.
    CannotTell,
    /// Not tried, and the sentence says why.
    NotTried,
}

/// The part of a block that counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BlockAnswer {
    /// Whether the change was on.
    pub on: bool,
    /// Seconds since the watch began.
    pub from_s: f64,
    /// Likewise.
    pub to_s: f64,
    /// Payload bytes per second.
    pub byte_per_s: f64,
}

impl From<&Block> for BlockAnswer {
    fn from(block: &Block) -> Self {
        Self {
            on: block.on,
            from_s: block.from as f64 / 1e9,
            to_s: block.to as f64 / 1e9,
            byte_per_s: block.rate(),
        }
    }
}

impl Trial {
    /// One that did not come about, and why: a clause without a full stop.
    pub fn not_tried(change: String, why: &str) -> Self {
        let sentence = if change.is_empty() {
            english!("why-trial-nothing", why = why)
        } else {
            english!("why-trial-not-tried", change = change, why = why)
        };
        Self {
            method: Method::Living,
            change,
            outcome: TrialOutcome::NotTried,
            effect: None,
            settle_s: 0.0,
            measure_s: 0.0,
            blocks: Vec::new(),
            sentence,
            notes: Vec::new(),
        }
    }

    /// The same of one that was to be tried by running the command again.
    #[must_use]
    pub fn again(self) -> Self {
        Self {
            method: Method::Again,
            ..self
        }
    }

    /// What whole runs in turns show, each a block; `ended` says why there are no more of them, a clause.
    pub fn of_runs(
        change: String,
        blocks: Vec<BlockAnswer>,
        ended: Option<&str>,
        notes: Vec<String>,
    ) -> Self {
        let rates: Vec<(bool, f64)> = blocks.iter().map(|block| (block.on, block.byte_per_s)).collect();
        let (effect, count) = (Effect::of_blocks(&rates), blocks.len());
        let (outcome, said) = match effect {
            Some(effect) => found(&effect),
            None => (
                TrialOutcome::CannotTell,
                few_runs(count, ended.unwrap_or(english_word!("why-trial-ended"))),
            ),
        };
        Self {
            method: Method::Again,
            sentence: format!("{change}: {said}."),
            change,
            outcome,
            effect,
            settle_s: 0.0,
            measure_s: slowpath_diagnose::stats::mean(
                &blocks
                    .iter()
                    .map(|block| block.to_s - block.from_s)
                    .collect::<Vec<_>>(),
            ),
            blocks,
            notes,
        }
    }

    /// What the blocks show; `ended` says why there are no more, a clause such as `the transfer ended`.
    pub fn of_blocks(
        change: String,
        plan: Plan,
        turns: &Turns,
        ended: Option<&str>,
        notes: Vec<String>,
    ) -> Self {
        let effect = turns.effect();
        let count = turns.blocks().len();
        let (outcome, said) = match effect {
            Some(effect) => found(&effect),
            None => (
                TrialOutcome::CannotTell,
                few_blocks(
                    count,
                    ended.unwrap_or(english_word!("why-trial-ended")),
                    plan.block_s(),
                ),
            ),
        };
        Self {
            method: Method::Living,
            sentence: format!("{change}: {said}."),
            change,
            outcome,
            effect,
            settle_s: plan.settle as f64 / 1e9,
            measure_s: plan.measure as f64 / 1e9,
            blocks: turns.blocks().iter().map(BlockAnswer::from).collect(),
            notes,
        }
    }
}

fn found(effect: &Effect) -> (TrialOutcome, String) {
    let (low, high) = (times(effect.low95), times(effect.high95));
    match effect.outcome() {
        Outcome::Higher => (
            TrialOutcome::Faster,
            english!(
                "why-trial-faster",
                times = times(effect.ratio),
                low = low,
                high = high
            ),
        ),
        Outcome::Lower => (
            TrialOutcome::Slower,
            english!(
                "why-trial-slower",
                times = times(effect.ratio),
                low = low,
                high = high
            ),
        ),
        Outcome::NotShown | Outcome::TooFew => (
            TrialOutcome::NotShown,
            english!("why-trial-same", low = low, high = high),
        ),
    }
}

fn few_runs(count: usize, why: &str) -> String {
    if count == 1 {
        english!("why-trial-one-run", why = why, least = LEAST_BLOCKS)
    } else {
        english!(
            "why-trial-few-runs",
            why = why,
            count = count,
            least = LEAST_BLOCKS
        )
    }
}

fn few_blocks(count: usize, why: &str, block_s: f64) -> String {
    let length = format!("{block_s:.1}");
    if count == 1 {
        english!(
            "why-trial-one-block",
            why = why,
            least = LEAST_BLOCKS,
            length = length
        )
    } else {
        english!(
            "why-trial-few-blocks",
            why = why,
            count = count,
            least = LEAST_BLOCKS,
            length = length
        )
    }
}

/// A ratio with as many digits as tell something.
fn times(ratio: f64) -> String {
    match ratio {
        ratio if ratio >= 100.0 => format!("{ratio:.0}"),
        ratio if ratio >= 2.0 => format!("{ratio:.1}"),
        ratio if ratio >= 0.1 => format!("{ratio:.2}"),
        ratio if ratio >= 0.01 => format!("{ratio:.3}"),
        ratio => format!("{ratio:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(rates: &[u64]) -> (Plan, Turns) {
        let plan = Plan {
            settle: 100_000_000,
            measure: 1_000_000_000,
            blocks: rates.len(),
            most: rates.len(),
            once: false,
        };
        let mut turns = Turns::new(plan, 0);
        let (mut at, mut bytes) = (0, 0);
        for rate in rates {
            at += 100_000_000;
            turns.step(at, bytes, 0);
            at += 1_000_000_000;
            bytes += rate;
            turns.step(at, bytes, 0);
        }
        (plan, turns)
    }

    #[test]
    fn runs_in_turns_are_compared_as_blocks_are() {
        let say = |rates: &[f64], ended: Option<&str>| {
            let block = |(place, rate): (usize, &f64)| BlockAnswer {
                on: place % 2 == 1,
                from_s: place as f64,
                to_s: place as f64 + 0.5,
                byte_per_s: *rate,
            };
            let blocks = rates.iter().enumerate().map(block).collect();
            Trial::of_runs("x=y".to_owned(), blocks, ended, Vec::new())
        };
        let faster = say(&[100.0, 230.0, 105.0, 220.0, 95.0, 240.0], None);
        assert_eq!(
            (faster.method, faster.outcome),
            (Method::Again, TrialOutcome::Faster)
        );
        assert!((faster.measure_s - 0.5).abs() < 1e-9 && faster.blocks.len() == 6);
        let few = say(&[100.0, 230.0], Some("it was interrupted"));
        assert_eq!(
            few.sentence,
            "x=y: cannot tell from 2 runs, it takes 5: it was interrupted."
        );
        assert_eq!(few.outcome, TrialOutcome::CannotTell);
    }

    #[test]
    fn what_was_found_is_said_with_its_interval() {
        let say = |rates: &[u64]| {
            let (plan, turns) = turns(rates);
            Trial::of_blocks(
                "x=y".to_owned(),
                plan,
                &turns,
                Some("the transfer ended"),
                Vec::new(),
            )
        };
        let faster = say(&[100_000, 230_000, 105_000, 220_000, 95_000, 240_000, 100_000]);
        assert_eq!(faster.outcome, TrialOutcome::Faster);
        assert_eq!(faster.sentence, "x=y: faster 2.3 times (2.1 to 2.6).");
        let slower = say(&[100_000, 23_000, 105_000, 22_000, 95_000]);
        assert_eq!(slower.outcome, TrialOutcome::Slower);
        assert!(
            slower
                .sentence
                .contains("slower, 0.22 times the rate (0.19 to 0.27)"),
            "{slower:?}"
        );
        let same = say(&[100_000, 103_000, 105_000, 92_000, 95_000]);
        assert!(same.sentence.contains("no difference shown"), "{same:?}");
        let short = say(&[100_000, 103_000, 105_000]);
        assert_eq!(
            short.sentence,
            "x=y: cannot tell: the transfer ended after 3 blocks; it takes 5 of 1.1 s each."
        );
        assert_eq!(short.effect, None);
    }
}

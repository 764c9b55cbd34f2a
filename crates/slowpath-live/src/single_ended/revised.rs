//! What the changes make of the verdict on one connection.

use slowpath_report::quantity;
use slowpath_verdict::{Evidence, Limit, Reason, Rejected, Verdict};
use slowpath_words::english;

use super::answer::Trial;
use super::change::Change;

/// Revises a verdict of random loss where the changes speak against it.
///
/// Chance takes its share from each connection alone, so more of them carry more, until they fill a link and a queue builds.
/// Where several carry no more than one and no queue builds either, the losses belong to a rate: a policer drops them, or a
/// link with hardly any queue.
pub(super) fn by(trials: &[Trial], verdict: &mut Verdict) {
    let limit = verdict.limit;
    if limit != Limit::RandomLoss {
        return;
    }
    let told = trials.iter().find(|trial| {
        matches!(trial.change, Change::Streams(_))
            && trial.agrees(limit) == Some(false)
            && matches!(trial.limit, Some(Limit::RandomLoss | Limit::Policed))
    });
    let Some(told) = told else { return };
    let ratio = told.comparison.ratio;
    let more = told.change.words();
    verdict.limit = Limit::Policed;
    verdict.sentence = english!(
        "path-losses-of-a-rate",
        rate = quantity::bit_rate(told.comparison.a.mean * 8.0),
        more = more
    );
    verdict.rejected.retain(|one| one.limit != Limit::Policed);
    verdict.rejected.push(Rejected {
        limit,
        reason: Reason::LossesFollowLoad,
        text: english!("path-losses-shared", more = more),
    });
    verdict.evidence.push(Evidence {
        fact: "trials.streams".to_owned(),
        text: english!(
            "path-losses-carried",
            more = more,
            ratio = format_args!("{ratio:.2}")
        ),
        value: ratio,
        unit: String::new(),
        packets: Vec::new(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_diagnose::stats::Comparison;
    use slowpath_verdict::Parameters;

    fn verdict(limit: Limit) -> Verdict {
        Verdict {
            limit,
            flags: Vec::new(),
            share: 1.0,
            confidence: 0.7,
            sentence: "before".to_owned(),
            parameters: Parameters::default(),
            evidence: Vec::new(),
            rejected: Vec::new(),
            next_step: None,
        }
    }

    fn four(with: &[f64], limit: Limit) -> Trial {
        Trial {
            change: Change::Streams(4),
            comparison: Comparison::of_rates(&[1e6, 1.02e6, 0.99e6], with).unwrap(),
            limit: Some(limit),
            sent_again: None,
        }
    }

    #[test]
    fn losses_that_more_connections_do_not_outrun_are_a_policers() {
        let mut found = verdict(Limit::RandomLoss);
        by(&[four(&[1e6, 1.01e6, 1.0e6], Limit::RandomLoss)], &mut found);
        assert_eq!(found.limit, Limit::Policed);
        assert!(found.sentence.contains("8.0"), "{}", found.sentence);
        assert!(found.rejected.iter().any(|one| one.limit == Limit::RandomLoss));
    }

    #[test]
    fn more_that_carry_more_or_fill_a_link_leave_the_losses_to_chance() {
        for trial in [
            four(&[3.9e6, 4.1e6, 4.0e6], Limit::RandomLoss),
            four(&[1e6, 1.01e6, 1.0e6], Limit::BottleneckBandwidth),
            four(&[0.5e6, 3e6, 1.0e6], Limit::RandomLoss),
        ] {
            let mut found = verdict(Limit::RandomLoss);
            by(&[trial], &mut found);
            assert_eq!(
                (found.limit, found.sentence.as_str()),
                (Limit::RandomLoss, "before")
            );
        }
        let mut window = verdict(Limit::ReceiverWindow);
        by(&[four(&[1e6, 1.01e6, 1.0e6], Limit::RandomLoss)], &mut window);
        assert_eq!(window.limit, Limit::ReceiverWindow);
    }
}

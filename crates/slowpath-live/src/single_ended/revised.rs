//! What the changes make of the verdict on one connection.

use slowpath_report::quantity;
use slowpath_verdict::{Evidence, Limit, Reason, Rejected, Verdict};
use slowpath_words::english;

use super::answer::Trial;
use super::change::Change;
use super::compare::ratios;
use crate::why::answer::ConnectionAnswer;

/// The connection whose verdict most of the tests came to, the first of these; one that says nothing counts where all are so.
pub(super) fn most(first: ConnectionAnswer, others: Vec<ConnectionAnswer>) -> ConnectionAnswer {
    let mut all = vec![first];
    all.extend(others);
    let weight = |one: &ConnectionAnswer| {
        let limit = one.verdict.limit;
        let alike = all.iter().filter(|other| other.verdict.limit == limit);
        if limit == Limit::Unknown { 0 } else { alike.count() }
    };
    // Of equals the last is the greatest, so they are asked from behind.
    let place = (0..all.len())
        .rev()
        .max_by_key(|&place| weight(&all[place]))
        .unwrap_or(0);
    all.swap_remove(place)
}

/// Revises a verdict on losses, or one that was left open beside losses, by what the changes carry; `lost` is the share
/// of the segments that one connection sent again as it is.
///
/// * Chance takes its share from each connection alone, so more of them carry more, until they fill a link and a queue builds.
///   Where several carry no more than one and no queue builds either, the losses belong to a rate: a policer drops them, or a
///   link with hardly any queue.
/// * Chance takes the same share from BBR, which does not slow down for it. A policer takes all that is above its rate.
pub(super) fn by(trials: &[Trial], lost: f64, verdict: &mut Verdict) {
    if !matches!(verdict.limit, Limit::RandomLoss | Limit::Policed | Limit::Unknown) {
        return;
    }
    let told = trials
        .iter()
        .find_map(|trial| Some((trial, told_by(trial, lost)?)));
    if let Some((trial, limit)) = told
        && limit != verdict.limit
    {
        revise(trial, lost, limit, verdict);
    }
}

/// What a change says of the losses; `None` where it says nothing.
fn told_by(trial: &Trial, lost: f64) -> Option<Limit> {
    let no_queue = matches!(
        trial.limit,
        Some(Limit::RandomLoss | Limit::Policed | Limit::Unknown)
    );
    let again = trial.sent_again.unwrap_or(0.0);
    let c = &trial.comparison;
    match &trial.change {
        Change::Streams(count) if *count >= SEVERAL && lost.max(again) >= LOSSY => {
            if no_queue && ratios(c).is_some_and(|(_, high)| high < CARRIES_MORE) {
                Some(Limit::Policed)
            } else if trial.is_faster() && c.ratio > SHARED {
                Some(Limit::RandomLoss)
            } else {
                None
            }
        }
        Change::CongestionControl(name)
            if name == "bbr" && trial.limit == Some(Limit::Policed) && again >= MORE_LOST * lost =>
        {
            Some(Limit::Policed)
        }
        _ => None,
    }
}

fn revise(told: &Trial, lost: f64, limit: Limit, verdict: &mut Verdict) {
    let before = verdict.limit;
    let ratio = told.comparison.ratio;
    let more = told.change.words();
    let rate = quantity::bit_rate(told.comparison.a.mean * 8.0);
    let times = format!("{ratio:.2}");
    verdict.limit = limit;
    verdict.rejected.retain(|one| one.limit != limit);
    let (reason, text, fact, evidence, value) = if matches!(told.change, Change::CongestionControl(_)) {
        let again = told.sent_again.unwrap_or(0.0);
        let (share, one) = (quantity::loss(again), quantity::loss(lost));
        verdict.sentence = english!("path-losses-above-a-rate", rate = rate, more = more);
        (
            Reason::LossesFollowLoad,
            english!("path-losses-same-share", more = more),
            "trials.sent-again",
            english!("path-more-lost", more = more, share = share, lost = one),
            again,
        )
    } else if limit == Limit::Policed {
        verdict.sentence = english!("path-losses-of-a-rate", rate = rate, more = more);
        (
            Reason::LossesFollowLoad,
            english!("path-losses-shared", more = more),
            "trials.streams",
            english!("path-losses-carried", more = more, ratio = times),
            ratio,
        )
    } else {
        verdict.sentence = english!("path-losses-by-chance", rate = rate, more = more, ratio = times);
        (
            Reason::LossesIgnoreLoad,
            english!("path-losses-not-of-a-rate", more = more),
            "trials.streams",
            english!("path-more-carried", more = more, ratio = times),
            ratio,
        )
    };
    if before != Limit::Unknown {
        verdict.rejected.push(Rejected {
            limit: before,
            reason,
            text,
        });
    }
    verdict.evidence.push(Evidence {
        fact: fact.to_owned(),
        text: evidence,
        value,
        unit: String::new(),
        packets: Vec::new(),
    });
}

/// Segments sent again below which losses do not hold a transfer.
const LOSSY: f64 = 5e-4;
/// Fewer connections do not tell sharing from carrying more.
const SEVERAL: u32 = 4;
/// Four connections that chance holds one by one carry four times as much, until a queue builds: not less than this.
const CARRIES_MORE: f64 = 2.0;
/// BBR loses so many times as much before a policer.
const MORE_LOST: f64 = 2.0;
/// What a policer takes from the bursts of one connection it may leave to several; not so much.
const SHARED: f64 = 2.5;

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
        by(
            &[four(&[1e6, 1.01e6, 1.0e6], Limit::RandomLoss)],
            0.01,
            &mut found,
        );
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
            by(&[trial], 0.01, &mut found);
            assert_eq!(
                (found.limit, found.sentence.as_str()),
                (Limit::RandomLoss, "before")
            );
        }
        let mut window = verdict(Limit::ReceiverWindow);
        by(
            &[four(&[1e6, 1.01e6, 1.0e6], Limit::RandomLoss)],
            0.01,
            &mut window,
        );
        assert_eq!(window.limit, Limit::ReceiverWindow);
    }

    #[test]
    fn what_bbr_loses_more_of_is_not_lost_by_chance() {
        let bbr = |again: f64| Trial {
            change: Change::CongestionControl("bbr".to_owned()),
            comparison: Comparison::of_rates(&[1e6, 1.02e6, 0.99e6], &[1.3e6, 1.31e6, 1.3e6]).unwrap(),
            limit: Some(Limit::Policed),
            sent_again: Some(again),
        };
        let after = |again: f64| {
            let mut found = verdict(Limit::RandomLoss);
            by(&[bbr(again)], 0.03, &mut found);
            found
        };
        let policed = after(0.16);
        assert_eq!(policed.limit, Limit::Policed);
        assert_eq!(policed.rejected[0].limit, Limit::RandomLoss);
        assert!(policed.evidence[0].text.contains("16"), "{:?}", policed.evidence);
        assert_eq!(after(0.04).limit, Limit::RandomLoss);
    }

    #[test]
    fn what_one_connection_leaves_open_more_of_them_decide() {
        let (same, more) = (&[1e6, 1.01e6, 1.0e6], &[3.9e6, 4.1e6, 4.0e6]);
        let after = |trial: Trial, lost: f64, limit: Limit| {
            let mut found = verdict(limit);
            by(&[trial], lost, &mut found);
            found
        };
        let open = after(four(same, Limit::Unknown), 0.001, Limit::Unknown);
        assert_eq!(open.limit, Limit::Policed);
        assert!(open.rejected.is_empty());
        assert_eq!(
            after(four(more, Limit::RandomLoss), 0.001, Limit::Unknown).limit,
            Limit::RandomLoss
        );
        let chance = after(four(more, Limit::RandomLoss), 0.001, Limit::Policed);
        assert_eq!(chance.limit, Limit::RandomLoss);
        assert!(
            chance.sentence.contains("3.99") || chance.sentence.contains("4.0"),
            "{}",
            chance.sentence
        );
        assert_eq!(chance.rejected[0].limit, Limit::Policed);
        // Without losses, with a queue, or where the gain may be a policer's.
        assert_eq!(
            after(four(same, Limit::Unknown), 0.0, Limit::Unknown).limit,
            Limit::Unknown
        );
        assert_eq!(
            after(four(same, Limit::BottleneckBandwidth), 0.01, Limit::Unknown).limit,
            Limit::Unknown
        );
        let two = Trial {
            change: Change::Streams(2),
            ..four(same, Limit::Unknown)
        };
        assert_eq!(after(two, 0.01, Limit::Unknown).limit, Limit::Unknown);
        let some = &[1.9e6, 2.0e6, 1.95e6];
        assert_eq!(
            after(four(some, Limit::Policed), 0.01, Limit::Policed).limit,
            Limit::Policed
        );
    }
}

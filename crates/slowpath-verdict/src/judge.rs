//! From facts to a verdict: the finding on the firmest ground, and from each other limit's rule why not.

use slowpath_facts::{FlowFacts, Surroundings};

use crate::booked;
use crate::case::{Case, is_doubtful, trust};
use crate::catalogue::Message;
use crate::finding::{Finding, No};
use crate::intervals;
use crate::ledger::Ledger;
use crate::limit::{Limit, Reason};
use crate::limits::{ORDER, full_link, seen, unknown};
use crate::look::{Certainty, Look};
use crate::message::{Share, named};
use crate::verdict::{Evidence, Interval, Rejected, Verdict};

/// Judges one flow, whose ledger says where its time went.
pub(crate) fn judge(facts: &FlowFacts, around: &Surroundings, ledger: &Ledger) -> (Verdict, Vec<Interval>) {
    let case = Case::of(facts, around);
    let (look, found) = first(&case);
    let limit = booked::settle(&case, (look, &found), ledger);
    let (look, mut found) = if limit == found.limit {
        (look, found)
    } else {
        of_limit(&case, limit, ledger)
    };
    booked::add(&case, &mut found, ledger);
    if let Some(stood) = booked::stood_still(limit, ledger) {
        found.sentence = stood;
    }
    found.also.extend(booked::differs(limit, ledger));
    if full_link::is_of_acknowledgements(&case, limit) {
        (found.sentence, found.next_step) = full_link::of_acknowledgements(&case);
        found.parameters.rate_bit_per_s = None;
    } else if limit == Limit::SharedBottleneck && around.flows <= 1 {
        found.also.push(Message::OrSlower {});
    }
    if is_doubtful(&case) && !limit.is_undecided() {
        let missed = Share(facts.capture_loss_fraction);
        found.also.push(Message::PartlyMissed { missed });
        found.next_step = Some(Message::CaptureAgain {});
    }
    let agrees = booked::agrees(limit, ledger);
    let intervals = if agrees {
        intervals::of_ledger(&case, ledger)
    } else {
        intervals::intervals(&case, limit)
    };
    let share = if agrees {
        ledger.time_of(limit) / ledger.duration_s
    } else {
        found.share
    };
    let verdict = Verdict {
        limit,
        flags: found.flags.clone(),
        share: share.clamp(0.0, 1.0),
        confidence: (found.confidence * trust(&case)).clamp(0.0, 1.0),
        sentence: found.text(),
        parameters: found.parameters.without_nothing(),
        evidence: evidence(&case, look)
            .into_iter()
            .chain(seen::outage(&case))
            .collect(),
        rejected: rejected(&case, limit),
        next_step: found.next_step.map(|next| next.to_string()),
    };
    (verdict, intervals)
}

/// The limit that the looks alone come to.
pub(crate) fn by_looks(case: &Case) -> Limit {
    first(case).1.limit
}

/// The finding that counts, and the look that found it; none looked for what is left when nothing shows.
fn first(case: &Case) -> (Option<&'static Look>, Finding) {
    for certainty in Certainty::ALL {
        for look in ORDER.iter().filter(|look| look.certainty == certainty) {
            if let Ok(found) = (look.at)(case) {
                return (Some(look), found);
            }
        }
    }
    (None, unknown::undecided(case))
}

/// What is found of a limit that the ledger names: by its own rule, or by the ledger alone.
fn of_limit(case: &Case, limit: Limit, ledger: &Ledger) -> (Option<&'static Look>, Finding) {
    let looks = || ORDER.iter().filter(|look| look.limit == limit);
    for look in looks() {
        if let Ok(found) = (look.at)(case) {
            return (Some(look), found);
        }
    }
    (looks().next(), booked::finding(case, limit, ledger))
}

fn evidence(case: &Case, look: Option<&Look>) -> Vec<Evidence> {
    look.map_or_else(|| unknown::evidence(case), |look| (look.evidence)(case))
}

/// Why each limit other than `chosen` was not.
fn rejected(case: &Case, chosen: Limit) -> Vec<Rejected> {
    let nothing = unknown::nothing_to_judge_by(case).filter(|_| chosen.is_undecided());
    Limit::ALL
        .into_iter()
        .filter(|limit| *limit != chosen && !limit.is_undecided())
        .map(|limit| {
            let No { reason, message } = nothing.clone().unwrap_or_else(|| not(case, limit, chosen));
            Rejected {
                limit,
                reason,
                text: message.to_string(),
            }
        })
        .collect()
}

/// Why a limit is not the one, as its own rule decided; `chosen` was found first.
fn not(case: &Case, limit: Limit, chosen: Limit) -> No {
    let mut plainest = None;
    for look in ORDER.iter().filter(|look| look.limit == limit) {
        match (look.at)(case) {
            Ok(_) => {
                let chosen = named(chosen);
                return No::new(Reason::SmallerShare, Message::Plainer { chosen });
            }
            Err(no) if look.plainest => plainest = Some(no),
            Err(_) => {}
        }
    }
    plainest.unwrap_or_else(|| match limit {
        Limit::DscpTreatment => No::new(Reason::NeedsComparison, Message::NeedsAnotherMark {}),
        _ => No::new(Reason::NotInPackets, Message::NotInPackets {}),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_looks_goes_from_the_firmest_ground_on() {
        assert!(ORDER.is_sorted_by_key(|look| look.certainty));
    }

    #[test]
    fn one_look_of_each_limit_says_why_not() {
        for limit in Limit::ALL {
            let looks = || ORDER.iter().filter(|look| look.limit == limit);
            let plainest = looks().filter(|look| look.plainest).count();
            let expected = usize::from(looks().next().is_some() && !limit.is_undecided());
            assert_eq!(plainest, expected, "{limit}");
        }
    }

    #[test]
    fn what_a_capture_shows_has_a_look() {
        for limit in Limit::ALL {
            let looked_for = ORDER.iter().any(|look| look.limit == limit);
            assert_eq!(
                looked_for,
                limit.is_in_captures() || limit.is_undecided(),
                "{limit}"
            );
        }
    }
}

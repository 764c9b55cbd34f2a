//! Cannot be told from here, and what to capture instead.

use slowpath_facts::Tap;

use super::constant::Constant;
use super::{losses, seen};
use crate::case::{Case, OWN_QUEUE, STANDING_SAMPLES};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::{Finding, No, require};
use crate::limit::{Limit, Reason};
use crate::look::{Certainty, Look};
use crate::message::{Count, Rate, Share, Size, Span};
use crate::verdict::Evidence;

cuts! {
    /// Fewest payload bytes, in segments, for a verdict about a limit.
    SEGMENTS: 30.0 between NONE, 41.4;
    /// Share of the data that the capture missed from which it shows nothing.
    NEARLY_ALL: 0.9 between 0.228, NONE;
    /// Share of lost segments with which congestion control that heeds losses keeps no more than a handful in flight.
    HEAVY_LOSS: 0.05 between 0.038_1, NONE;
    /// Variation of the delay, seconds, that no empty path makes.
    WAVERS: 0.003 between NONE, NONE;
}

/// The capture shows nothing to judge by.
pub(crate) const UNUSABLE: Look = Look {
    limit: Limit::Unknown,
    plainest: false,
    certainty: Certainty::Plain,
    at: unusable,
    evidence,
    cuts: CUTS,
};

/// Next to nothing was transferred.
pub(crate) const TOO_SHORT: Look = UNUSABLE.other(Certainty::Plain, too_short);
/// Losses come at one backlog, and nothing tells a queue from a bucket.
pub(crate) const QUEUE_OR_BUCKET: Look = UNUSABLE.other(Certainty::Inferred, queue_or_bucket);
/// Others may fill a queue before this tap.
pub(crate) const CROWDED_AFAR: Look = UNUSABLE.other(Certainty::Inferred, crowded_afar);
/// Losses come in a few bursts.
pub(crate) const FEW_BURSTS: Look = UNUSABLE.other(Certainty::Inferred, few_bursts);
/// Something fixed at the sender.
pub(crate) const HELD_BY_SENDER: Look = UNUSABLE.other(Certainty::Left, held_by_sender);

/// Looks for a capture that shows nothing to judge by.
fn unusable(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let (sentence, next) = if case.around.untimed {
        (Message::NoTimeStamps {}, Message::TakeTimeStamps {})
    } else if !facts.acknowledged {
        (Message::OneDirection {}, Message::TakeBothDirections {})
    } else if facts.bytes > 0 && (facts.segments == 0 || facts.capture_missed_bytes >= facts.bytes) {
        (Message::OnlyAcknowledgements {}, Message::TakeBothDirections {})
    } else if case.exceeds(NEARLY_ALL, facts.capture_loss_fraction) {
        (Message::NearlyAllMissed {}, Message::TakeBothDirections {})
    } else {
        return Err(No::new(Reason::SmallerShare, Message::HoldsNeeded {}));
    };
    let mut out = Finding::new(Limit::Unknown, 1.0, CLEAR, sentence);
    out.next_step = Some(next);
    Ok(out)
}

/// Why no limit can be ruled out: the capture shows nothing to judge by, or next to nothing was transferred.
pub(crate) fn nothing_to_judge_by(case: &Case) -> Option<No> {
    if unusable(case).is_ok() {
        Some(No::new(Reason::CaptureIncomplete, Message::NotSeen {}))
    } else if too_short(case).is_ok() {
        Some(No::new(Reason::TooShort, Message::TooLittleToRuleOut {}))
    } else {
        None
    }
}

/// Looks for a transfer of next to nothing.
fn too_short(case: &Case) -> Result<Finding, No> {
    let facts = case.facts;
    let segment = facts.segment_size.max(SMALL_SEGMENT);
    let size = Size(facts.bytes as f64);
    if case.reaches_times(SEGMENTS, facts.bytes, segment) {
        return Err(No::new(Reason::LongEnough, Message::Enough { size }));
    }
    let (sentence, next) = match facts.tap {
        Tap::Sender => (Message::TooLittle { size }, Message::CaptureLonger {}),
        Tap::Receiver | Tap::Middle | Tap::Unknown => (
            Message::TooLittleAfar { size },
            Message::CaptureAtSenderOrLonger {},
        ),
    };
    let mut out = Finding::new(Limit::Unknown, 1.0, CLEAR, sentence);
    out.next_step = Some(next);
    Ok(out)
}

/// Looks for losses at one backlog, without the delay that would tell a queue from a bucket.
fn queue_or_bucket(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    losses::lost(case)?;
    let fit = case.queue().unwrap_or_default();
    require(case.losses_follow_load(&fit), Reason::LossesIgnoreLoad, || {
        Message::NoOneBacklog {}
    })?;
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        OPEN,
        Message::QueueOrBucket {
            size: Size(fit.size_bytes),
            rate: Rate(fit.rate_bit_per_s),
        },
    );
    out.parameters.rate_bit_per_s = Some(fit.rate_bit_per_s);
    out.parameters.loss_fraction = Some(case.facts.loss.fraction);
    out.next_step = Some(Message::CaptureAtSenderOrOtherRate {});
    Ok(out)
}

/// Looks for losses in so few bursts that what made them cannot be told.
fn few_bursts(case: &Case) -> Result<Finding, No> {
    let loss = &case.facts.loss;
    losses::measurable(case)?;
    require(losses::in_few_bursts(case), Reason::SmallerShare, || {
        Message::HavePattern {
            episodes: Count(loss.episodes),
        }
    })?;
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        OPEN,
        Message::FewBursts {
            lost: Count(loss.lost_segments),
            episodes: Count(loss.episodes),
        },
    );
    out.parameters.loss_fraction = Some(loss.fraction);
    out.next_step = Some(Message::CaptureLongerAtSender {});
    Ok(out)
}

/// Looks for a queue that others may fill, seen from behind it.
///
/// There its delay shows as the time from an acknowledgement to what it released. Where that varies and the flow's own
/// load does not explain it, others' packets stand in that queue, or the path itself wavers: such losses may be its
/// overflow.
fn crowded_afar(case: &Case) -> Result<Finding, No> {
    case.whole()?;
    losses::lost(case)?;
    let facts = case.facts;
    let spread = facts.rtt.p90 - facts.rtt.p10;
    let own = case.queue().unwrap_or_default().delay.explained;
    let least = WAVERS.value.max(WAVERS_CLOCK * case.around.clock_s);
    let wavers = || {
        case.reaches(STANDING_SAMPLES, facts.rtt.count)
            && case.exceeds(HEAVY_LOSS, facts.loss.fraction)
            && case.told(WAVERS, spread, spread > least)
    };
    require(
        facts.tap == Tap::Receiver && wavers() && case.below(OWN_QUEUE, own),
        Reason::SmallerShare,
        || Message::DelayEven {},
    )?;
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        OPEN,
        Message::CrowdedAfar {
            lost: Share(facts.loss.fraction),
            spread: Span(spread),
        },
    );
    out.parameters.loss_fraction = Some(facts.loss.fraction);
    out.next_step = Some(Message::CaptureEmptyPath {});
    Ok(out)
}

/// Looks for something fixed at the sender of which no more can be said.
fn held_by_sender(case: &Case) -> Result<Finding, No> {
    let flight = &case.facts.flight;
    Constant::of(case)?;
    Constant::stays(case)?;
    let mut out = Finding::new(
        Limit::Unknown,
        flight.plateau_share,
        LIKELY,
        Message::HeldBySender {
            flight: Size(flight.plateau as f64),
            run: Count(flight.plateau_run),
            rounds: Count(flight.rounds),
            window: Size(case.facts.window.max as f64),
        },
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.next_step = Some(Message::CaptureAtSenderOrSample {});
    Ok(out)
}

/// What is left when nothing else was found.
pub(crate) fn undecided(case: &Case) -> Finding {
    let facts = case.facts;
    let mut out = Finding::new(
        Limit::Unknown,
        1.0,
        OPEN,
        Message::Undecided {
            lost: Count(facts.loss.lost_segments),
            episodes: Count(facts.loss.episodes),
            rtt: Span(case.rtt),
            base: Span(case.base_rtt),
        },
    );
    out.next_step = Some(match facts.tap {
        Tap::Sender => Message::SampleSender {},
        Tap::Receiver | Tap::Middle | Tap::Unknown => Message::CaptureAtSender {},
    });
    out
}

/// What was seen all the same.
pub(crate) fn evidence(case: &Case) -> Vec<Evidence> {
    let mut out = seen::queue(case);
    out.extend(seen::usual(case));
    out
}

/// A segment for transfers that show none of full size, bytes.
const SMALL_SEGMENT: u32 = 500;
/// Variation of the delay that no empty path makes, in units of the capture clock.
const WAVERS_CLOCK: f64 = 3.0;
/// Confidence that nothing can be told; chosen.
const CLEAR: f64 = 0.9;
/// Confidence that it is something at the sender; chosen.
const LIKELY: f64 = 0.6;
/// Confidence where several explanations are left; chosen.
const OPEN: f64 = 0.5;

#[cfg(test)]
mod tests {
    use slowpath_facts::{FlowFacts, Surroundings};

    use super::*;
    use crate::judge::judge;
    use crate::ledger::Ledger;
    use crate::limits::sample::{lossy, quiet, said, spread};

    #[test]
    fn heavy_losses_with_a_wavering_delay_at_the_receiver_cannot_be_told() {
        let mut facts = lossy(50e6, 5e6);
        facts.tap = Tap::Receiver;
        facts.rtt = spread(600, 0.159, 0.167, 0.171);
        facts.handshake_rtt_s = 0.165;
        facts.loss.fraction = 0.17;
        facts.loss.delay_rank = 0.4;
        let fit = facts.queue.as_mut().unwrap();
        fit.delay.explained = 0.0;
        let (limit, text) = said(&facts);
        assert_eq!(limit, Limit::Unknown, "{text}");
        assert!(text.contains("a queue that others fill"), "{text}");
        assert!(text.contains("capture at the sender"), "{text}");
        // With an even delay there is no queue that they could overflow.
        facts.rtt = spread(600, 0.1650, 0.1651, 0.1655);
        assert_eq!(said(&facts).0, Limit::RandomLoss, "{}", said(&facts).1);
    }

    #[test]
    fn too_little_seen_from_afar_says_where_to_look() {
        let mut facts = quiet();
        (facts.bytes, facts.segments) = (200, 1);
        for (tap, sender) in [(Tap::Sender, false), (Tap::Middle, true), (Tap::Receiver, true)] {
            facts.tap = tap;
            let (limit, text) = said(&facts);
            assert_eq!(limit, Limit::Unknown, "{text}");
            assert_eq!(text.contains("capture at the sender"), sender, "{text}");
        }
    }

    #[test]
    fn what_shows_nothing_rules_nothing_out() {
        let rejected = |facts: &FlowFacts| {
            let (verdict, _) = judge(facts, &Surroundings::default(), &Ledger::default());
            let reasons = verdict.rejected.iter().map(|rejected| rejected.reason);
            (verdict.limit, reasons.collect::<std::collections::BTreeSet<_>>())
        };
        let mut short = quiet();
        (short.bytes, short.segments) = (200, 1);
        assert_eq!(rejected(&short), (Limit::Unknown, [Reason::TooShort].into()));
        let mut acknowledgements = quiet();
        acknowledgements.capture_missed_bytes = acknowledgements.bytes;
        assert_eq!(
            rejected(&acknowledgements),
            (Limit::Unknown, [Reason::CaptureIncomplete].into())
        );
        // Of what can be judged each rule says why it is not.
        assert!(rejected(&quiet()).1.len() > 2);
    }
}

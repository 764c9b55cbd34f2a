//! What the rules say of a transfer as a whole, for the ledger of its parts.

use slowpath_facts::{FlowFacts, Surroundings, Tap};

use crate::analysis::FRAME_OVERHEAD;
use crate::case::{Case, EXPLAINED, IDLE_SHARE_ALONE};
use crate::ledger::Hints;
use crate::limit::Limit;
use crate::limits::Look;

/// What the rules say of one flow.
pub(crate) fn hints(facts: &FlowFacts, around: &Surroundings) -> Hints {
    let case = Case::of(facts, around);
    let fit = case.queue();
    let own = facts.queue.unwrap_or_default();
    let first = |looks: &[Look]| looks.iter().find_map(|look| look.at(&case).ok());
    let whole = first(&[Look::Unusable, Look::BlackHole]).map(|found| found.limit);
    let constant = first(&[
        Look::Answered,
        Look::IdleAlone,
        Look::Channel,
        Look::SendBuffer,
        Look::OwnRhythm,
        Look::HeldBySender,
    ]);
    let idle = constant.as_ref().is_some_and(|found| {
        found.limit == Limit::SenderApplication
            && found.parameters.flight_bytes.is_none()
            && facts.time.idle_pauses > 0
    });
    let constant = constant.filter(|_| !idle);
    let reader = first(&[Look::SlowReader]).is_some();
    Hints {
        segment: facts.segment_size,
        clock_s: around.clock_s,
        at_sender: facts.tap == Tap::Sender,
        window_known: facts.window.scale_known > 0,
        policed: first(&[Look::Policed])
            .and_then(|found| found.parameters.rate_bit_per_s)
            .map(|rate| payload(facts, rate)),
        slow_reader: reader,
        constant_bytes: match &constant {
            Some(found) if found.limit != Limit::SenderApplication => {
                found.parameters.flight_bytes.unwrap_or(0)
            }
            Some(_) => facts.flight.plateau,
            None => 0,
        },
        constant: constant.map(|found| found.limit),
        answered: facts.clocking.answers > 2
            && facts.clocking.answers * 2 >= facts.time.idle_pauses
            && facts.clocking.answer_bytes_share < 0.2,
        disorder: first(&[Look::Reordered]).is_some(),
        shared: first(&[Look::Crowded]).is_some() || around.flows > 1 && around.overlap > IDLE_SHARE_ALONE,
        delay_rate: (own.delay.explained >= EXPLAINED && own.delay.samples >= 10)
            .then_some(payload(facts, own.delay.rate_bit_per_s)),
        losses_follow_load: fit.is_some_and(|fit| Case::losses_follow_load(&fit)),
        losses_ignore_load: fit.is_some_and(|fit| Case::losses_ignore_load(&fit)),
        whole,
    }
}

/// Payload bytes per second of a rate that counts Ethernet frames with FCS, bits per second.
fn payload(facts: &FlowFacts, rate_bit_per_s: f64) -> f64 {
    let segment = f64::from(facts.segment_size.max(1));
    rate_bit_per_s / 8.0 * segment / (segment + FRAME_OVERHEAD)
}

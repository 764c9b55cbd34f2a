//! Observations that several limits rest on.

use slowpath_facts::facts::Policing;
use slowpath_facts::facts::policing::Answer;

use crate::case::{Case, RTT_SAMPLES};
use crate::catalogue::Message;
use crate::cut::cuts;
use crate::finding::observed;
use crate::message::{Count, Rate, Ratio, Share, Size, Span};
use crate::verdict::Evidence;

cuts! {
    /// Losses from which a fit is worth telling.
    LOSSES: 3.0 between NONE, NONE;
}

/// Losses and round trips.
pub(super) fn usual(case: &Case) -> Vec<Evidence> {
    let loss = &case.facts.loss;
    let mut out = Vec::new();
    if loss.lost_segments > 0 {
        let message = Message::LostIn {
            lost: Count(loss.lost_segments),
            episodes: Count(loss.episodes),
            fraction: Share(loss.fraction),
        };
        out.push(observed(
            "loss.lost",
            &message,
            loss.lost_segments as f64,
            "",
            &loss.frames,
        ));
    }
    out.extend(round_trips(case));
    out
}

/// Round trips.
pub(super) fn round_trips(case: &Case) -> Option<Evidence> {
    let rtt = &case.facts.rtt;
    let message = Message::RoundTrips {
        least: Span(rtt.min),
        median: Span(rtt.median),
        high: Span(rtt.p95),
    };
    (rtt.count > 0).then(|| observed("rtt", &message, rtt.median, "s", &[]))
}

/// The longest time in which the path let nothing through.
pub(crate) fn outage(case: &Case) -> Option<Evidence> {
    let outages = case.facts.timeline.outages.iter();
    let longest = outages.max_by(|a, b| a.length_s().total_cmp(&b.length_s()))?;
    let (length, at) = (Span(longest.length_s()), Span(longest.from_s));
    let message = if longest.held {
        Message::HeldBack { length, at }
    } else {
        Message::LostAll { length, at }
    };
    Some(observed("outage", &message, longest.length_s(), "s", &[]))
}

/// What a queue explains of losses and delays, and what the published detector of policers says.
pub(super) fn queue(case: &Case) -> Vec<Evidence> {
    let mut out = Vec::new();
    let Some(fit) = case.queue() else {
        return out;
    };
    let enough = case.reaches(LOSSES, fit.losses);
    if enough {
        let message = Message::FitError {
            size: Size(fit.size_bytes),
            rate: Rate(fit.rate_bit_per_s),
            error: Ratio(fit.error),
            losses: Count(fit.losses),
        };
        out.push(observed(
            "queue.error",
            &message,
            fit.error,
            "",
            &case.facts.loss.frames,
        ));
        let message = Message::DelayStep {
            step: Share(fit.delay_step),
        };
        out.push(observed("queue.delay_step", &message, fit.delay_step, "", &[]));
    }
    let second = case.second_witness();
    if enough && second.answer != Answer::TooFewLosses {
        out.push(observed(
            "policing.published",
            &published(&second),
            second.rate_bit_per_s,
            "bit/s",
            &[],
        ));
    }
    if case.reaches(RTT_SAMPLES, fit.delay.samples) {
        let explained = fit.delay.explained.max(0.0);
        let message = Message::QueueExplains {
            rate: Rate(fit.delay.rate_bit_per_s),
            explained: Share(explained),
        };
        out.push(observed("queue.explained", &message, explained, "", &[]));
    }
    out
}

/// What ends a sender's pauses: the network, or the program's own rhythm.
pub(super) fn clocking(case: &Case) -> [Evidence; 2] {
    let clocking = &case.facts.clocking;
    let bursts = Message::BurstsFollow {
        clocked: Share(clocking.ack_share),
    };
    let pauses = Message::PausesEnd {
        clocked: Share(clocking.pause_ack_share),
        pauses: Count(clocking.pauses),
        chance: Share(clocking.pause_chance_share),
    };
    [
        observed("clocking.ack_share", &bursts, clocking.ack_share, "", &[]),
        observed(
            "clocking.pause_ack_share",
            &pauses,
            clocking.pause_ack_share,
            "",
            &[],
        ),
    ]
}

/// The answer of the published detector.
fn published(said: &Policing) -> Message {
    match said.answer {
        Answer::Found => Message::PolicerPublished {
            rate: Rate(said.rate_bit_per_s),
            burst: Size(said.burst_bytes),
        },
        Answer::TooFewLosses => Message::PublishedTooFew {},
        Answer::LateLoss => Message::PublishedLate {},
        Answer::NegativeFill => Message::PublishedFill {},
        Answer::LossesWithTokens => Message::PublishedTokens {},
        Answer::LossesAtManyLevels => Message::PublishedLevels {},
        Answer::PassesWithoutTokens => Message::PublishedPasses {},
        Answer::DelayBeforeLosses => Message::PublishedDelay {},
    }
}

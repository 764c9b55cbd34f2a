//! What a verdict rests on: observations with packet numbers and values.

use slowpath_facts::facts::policing::Answer;
use slowpath_facts::facts::{Clocking, Policing};
use slowpath_facts::words::{bits, bytes, percent, span};

use crate::case::Case;
use crate::limit::Limit;
use crate::limits;
use crate::verdict::Evidence;

/// The observations for a limit that was found, the most telling first.
pub(crate) fn evidence(case: &Case, limit: Limit) -> Vec<Evidence> {
    let facts = case.facts;
    let loss = &facts.loss;
    let mut out = limits::evidence(case, limit);
    let mut add = |fact: &str, text: String, value: f64, unit: &str, packets: &[u64]| {
        out.push(observed(fact, text, value, unit, packets));
    };
    if let Some(fit) = case.queue()
        && matches!(
            limit,
            Limit::Policed
                | Limit::BottleneckBandwidth
                | Limit::SharedBottleneck
                | Limit::RandomLoss
                | Limit::EcnCongestion
                | Limit::Unknown
        )
    {
        if fit.losses >= 3 {
            add(
                "queue.error",
                format!(
                    "virtual queue of {} at {}: error {:.2} over {} losses",
                    bytes(fit.size_bytes),
                    bits(fit.rate_bit_per_s),
                    fit.error,
                    fit.losses
                ),
                fit.error,
                "",
                &loss.frames,
            );
            add(
                "queue.delay_step",
                format!(
                    "delay at full backlog: {} of what a queue would add",
                    percent(fit.delay_step)
                ),
                fit.delay_step,
                "",
                &[],
            );
        }
        let second = case.second_witness();
        if fit.losses >= 3 && second.answer != Answer::TooFewLosses {
            add(
                "policing.published",
                published(&second),
                second.rate_bit_per_s,
                "bit/s",
                &[],
            );
        }
        if fit.delay.samples >= 10 {
            add(
                "queue.explained",
                format!(
                    "a queue of {} explains {} of the delay",
                    bits(fit.delay.rate_bit_per_s),
                    percent(fit.delay.explained.max(0.0))
                ),
                fit.delay.explained.max(0.0),
                "",
                &[],
            );
        }
    }
    if loss.lost_segments > 0 && !matches!(limit, Limit::Policed) {
        add(
            "loss.lost",
            format!(
                "{} segments lost in {} episodes ({})",
                loss.lost_segments,
                loss.episodes,
                percent(loss.fraction)
            ),
            loss.lost_segments as f64,
            "",
            &loss.frames,
        );
    }
    if facts.rtt.count > 0 {
        add(
            "rtt",
            format!(
                "round trip {} at best, {} in the median, {} at the 95th percentile",
                span(facts.rtt.min),
                span(facts.rtt.median),
                span(facts.rtt.p95)
            ),
            facts.rtt.median,
            "s",
            &[],
        );
    }
    out
}

/// One observation, with the numbers of packets that show it; 0 is none.
pub(crate) fn observed(fact: &str, text: String, value: f64, unit: &str, packets: &[u64]) -> Evidence {
    Evidence {
        fact: fact.to_owned(),
        text,
        value,
        unit: unit.to_owned(),
        packets: packets.iter().copied().filter(|number| *number > 0).collect(),
    }
}

/// What ends a sender's pauses: the network, or the program's own rhythm.
pub(crate) fn clocking(facts: &Clocking) -> [Evidence; 2] {
    [
        observed(
            "clocking.ack_share",
            format!("{} of bursts follow an acknowledgement", percent(facts.ack_share)),
            facts.ack_share,
            "",
            &[],
        ),
        observed(
            "clocking.pause_ack_share",
            format!(
                "{} of {} pauses end with an acknowledgement, {} by chance",
                percent(facts.pause_ack_share),
                facts.pauses,
                percent(facts.pause_chance_share)
            ),
            facts.pause_ack_share,
            "",
            &[],
        ),
    ]
}

/// The answer of the published detector in a sentence.
fn published(said: &Policing) -> String {
    let why = match said.answer {
        Answer::Found => {
            return format!(
                "the published detector (SIGCOMM 2016) finds a policer of {}, {} before the first loss",
                bits(said.rate_bit_per_s),
                bytes(said.burst_bytes)
            );
        }
        Answer::TooFewLosses => "too few losses",
        Answer::LateLoss => "the first loss comes after more than 2 MB",
        Answer::NegativeFill => "less passed before the first loss than the rate lets through",
        Answer::LossesWithTokens => "a bucket at the mean rate is no emptier at losses",
        Answer::LossesAtManyLevels => "the level of a bucket at the mean rate differs from loss to loss",
        Answer::PassesWithoutTokens => "packets pass with a bucket at the mean rate empty",
        Answer::DelayBeforeLosses => "the round trip is long before losses",
    };
    format!("the published detector (SIGCOMM 2016) finds no policer: {why}")
}

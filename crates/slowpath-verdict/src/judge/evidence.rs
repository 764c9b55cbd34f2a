//! What a verdict rests on: observations with packet numbers and values.

use super::rules::{Case, Finding};
use crate::limit::Limit;
use crate::verdict::Evidence;
use slowpath_facts::facts::Clocking;
use slowpath_facts::facts::Policing;
use slowpath_facts::facts::policing::Answer;
use slowpath_facts::words::{bits, bytes, percent, span};

/// The observations for a finding, the most telling first.
pub(crate) fn evidence(case: &Case, found: &Finding) -> Vec<Evidence> {
    let facts = case.facts;
    let mut out = Vec::new();
    let mut add = |fact: &str, text: String, value: f64, unit: &str, packets: &[u64]| {
        out.push(Evidence {
            fact: fact.to_owned(),
            text,
            value,
            unit: unit.to_owned(),
            packets: packets.iter().copied().filter(|number| *number > 0).collect(),
        });
    };
    let window = &facts.window;
    let loss = &facts.loss;
    match found.limit {
        Limit::ReceiverWindow => {
            add(
                "window.full",
                format!("window full {} of the time", percent(case.held())),
                case.held(),
                "",
                &window.full_frames,
            );
            add(
                "window.size",
                format!("window while full {}", bytes(window.full_median as f64)),
                window.full_median as f64,
                "byte",
                &[],
            );
            add(
                "window.eaten",
                format!(
                    "right edge lags acknowledgements by {}",
                    percent(window.eaten_fraction)
                ),
                window.eaten_fraction,
                "",
                &[],
            );
        }
        Limit::ReceiverApplication => {
            add(
                "window.closed",
                format!(
                    "window closed {} in {} closures",
                    span(facts.time.window_closed_s),
                    facts.time.closures
                ),
                facts.time.window_closed_s,
                "s",
                &window.closed_frames,
            );
            add(
                "window.ratio",
                format!(
                    "while it held the sender, the window was {} of its largest",
                    percent(window.full_ratio)
                ),
                window.full_ratio,
                "",
                &window.full_frames,
            );
            add(
                "window.edge_rate",
                format!("its right edge moved on at {}/s", bytes(window.edge_rate)),
                window.edge_rate,
                "byte/s",
                &[],
            );
        }
        Limit::SenderApplication => {
            add(
                "time.idle",
                format!("nothing in flight for {}", span(facts.time.idle_s)),
                facts.time.idle_s,
                "s",
                &[],
            );
            for (fact, text, share) in clocking(&facts.clocking) {
                add(fact, text, share, "", &[]);
            }
        }
        Limit::SendBuffer | Limit::ProtocolWindow => {
            add(
                "flight.plateau",
                format!("flight constant at {}", bytes(facts.flight.plateau as f64)),
                facts.flight.plateau as f64,
                "byte",
                &[],
            );
            add(
                "flight.plateau_share",
                format!("in {} of round trips", percent(facts.flight.plateau_share)),
                facts.flight.plateau_share,
                "",
                &[],
            );
            for (fact, text, share) in clocking(&facts.clocking) {
                add(fact, text, share, "", &[]);
            }
        }
        Limit::EcnCongestion => {
            add(
                "ecn.rounds",
                format!("marks reported in {} round trips", facts.ecn.rounds_with_marks),
                facts.ecn.rounds_with_marks as f64,
                "",
                &facts.ecn.frames,
            );
            add(
                "ecn.reported",
                format!("{} marks reported", facts.ecn.reported),
                facts.ecn.reported as f64,
                "",
                &[],
            );
        }
        Limit::Reordering => {
            add(
                "loss.reordered",
                format!("{} segments came late", loss.reordered),
                loss.reordered as f64,
                "",
                &loss.frames,
            );
            add(
                "loss.spurious",
                format!("{} retransmissions were not needed", loss.spurious),
                loss.spurious as f64,
                "",
                &[],
            );
        }
        _ => {}
    }
    if let Some(fit) = case.queue()
        && matches!(
            found.limit,
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
    if loss.lost_segments > 0 && !matches!(found.limit, Limit::Policed) {
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

/// What ends a sender's pauses: the network, or the program's own rhythm.
fn clocking(facts: &Clocking) -> [(&'static str, String, f64); 2] {
    [
        (
            "clocking.ack_share",
            format!("{} of bursts follow an acknowledgement", percent(facts.ack_share)),
            facts.ack_share,
        ),
        (
            "clocking.pause_ack_share",
            format!(
                "{} of {} pauses end with an acknowledgement, {} by chance",
                percent(facts.pause_ack_share),
                facts.pauses,
                percent(facts.pause_chance_share)
            ),
            facts.pause_ack_share,
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

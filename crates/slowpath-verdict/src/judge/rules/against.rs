//! Why each limit that was not chosen was not.

use super::{Case, cutoff};
use crate::limit::{Limit, Reason};
use crate::verdict::Rejected;
use slowpath_facts::words::{bytes, percent, span};

/// Why each limit other than `chosen` was not.
pub(super) fn rejected(case: &Case, chosen: Limit) -> Vec<Rejected> {
    Limit::ALL
        .into_iter()
        .filter(|limit| *limit != chosen && !limit.is_undecided())
        .map(|limit| {
            let (reason, text) = against(case, limit, chosen);
            Rejected { limit, reason, text }
        })
        .collect()
}

fn against(case: &Case, limit: Limit, chosen: Limit) -> (Reason, String) {
    let facts = case.facts;
    let fit = case.queue().unwrap_or_default();
    let held = percent(case.held());
    if !facts.acknowledged || case.around.untimed {
        return (
            Reason::CaptureIncomplete,
            "the capture does not hold what is needed".to_owned(),
        );
    }
    match limit {
        Limit::ReceiverWindow if case.held() < cutoff::WINDOW_SHARE => (
            Reason::WindowHadRoom,
            format!("the window was full only {held} of the time"),
        ),
        Limit::ReceiverWindow if chosen == Limit::ReceiverApplication => (
            Reason::WindowShrinks,
            format!(
                "the window shrank from {} to {}",
                bytes(facts.window.max as f64),
                bytes(facts.window.min as f64)
            ),
        ),
        Limit::ReceiverWindow => (
            Reason::DelayFollowsLoad,
            "the window is full because a queue is: more window means more queue".to_owned(),
        ),
        Limit::ReceiverApplication if case.held() >= cutoff::WINDOW_SHARE => (
            Reason::WindowConstant,
            format!(
                "while full, the window stayed at {} of its largest",
                percent(facts.window.full_ratio)
            ),
        ),
        Limit::ReceiverApplication => (
            Reason::WindowNeverClosed,
            format!(
                "the window was closed {} and full {held} of the time",
                span(facts.time.window_closed_s)
            ),
        ),
        Limit::SenderApplication => (
            Reason::SenderNeverIdle,
            format!(
                "nothing was in flight only {} of the time",
                percent(case.share(facts.time.idle_s))
            ),
        ),
        Limit::SendBuffer | Limit::ProtocolWindow => {
            if facts.flight.plateau_share < cutoff::PLATEAU {
                (
                    Reason::FlightNotConstant,
                    format!(
                        "the flight was constant only in {} of the round trips",
                        percent(facts.flight.plateau_share)
                    ),
                )
            } else {
                (
                    Reason::SmallerShare,
                    "a constant flight has another cause here".to_owned(),
                )
            }
        }
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => {
            if limit == Limit::SharedBottleneck && case.around.flows < 2 {
                (
                    Reason::OneFlow,
                    "only one flow between these hosts was recorded".to_owned(),
                )
            } else if !case.inflated() {
                (
                    Reason::DelayAtBase,
                    format!(
                        "the median round trip of {} is near the empty path's {}",
                        span(case.rtt),
                        span(case.base_rtt)
                    ),
                )
            } else {
                (
                    Reason::DelayIgnoresLoad,
                    format!(
                        "the backlog explains {} of the delay",
                        percent(fit.delay.explained.max(0.0))
                    ),
                )
            }
        }
        Limit::Policed => {
            if facts.loss.lost_segments == 0 {
                (Reason::NoLoss, "nothing was lost".to_owned())
            } else if fit.losses < cutoff::FIT_LOSSES {
                (
                    Reason::TooFewLosses,
                    format!("{} losses are too few for a pattern", fit.losses),
                )
            } else if fit.delay_step >= cutoff::NO_QUEUE {
                (
                    Reason::QueueNotBucket,
                    format!(
                        "the delay grows by {} of what a queue of that size would add",
                        percent(fit.delay_step)
                    ),
                )
            } else {
                (
                    Reason::LossesIgnoreLoad,
                    format!(
                        "no rate and bucket explain the losses (error {:.2}, spread {:.2})",
                        fit.error, fit.spread
                    ),
                )
            }
        }
        Limit::RandomLoss => {
            if facts.loss.lost_segments == 0 {
                (Reason::NoLoss, "nothing was lost".to_owned())
            } else if Case::losses_follow_load(&fit) {
                (
                    Reason::LossesFollowLoad,
                    format!("losses come at one backlog ({})", bytes(fit.size_bytes)),
                )
            } else {
                (
                    Reason::SmallerShare,
                    format!("{} lost segments explain less", facts.loss.lost_segments),
                )
            }
        }
        Limit::EcnCongestion => (
            Reason::NoMarks,
            format!(
                "marks were reported in {} round trips",
                facts.ecn.rounds_with_marks
            ),
        ),
        Limit::Reordering => (
            Reason::NoReordering,
            format!("{} segments came late", facts.loss.reordered),
        ),
        Limit::MtuBlackHole => (
            Reason::LargePacketsPass,
            format!(
                "segments of {} bytes were acknowledged",
                facts.loss.largest_delivered
            ),
        ),
        Limit::SlowStart => (
            Reason::LongEnough,
            format!("the transfer took {} round trips", facts.flight.rounds),
        ),
        Limit::DscpTreatment => (
            Reason::NeedsComparison,
            "needs a transfer with another mark to compare with".to_owned(),
        ),
        Limit::DeviceLimit | Limit::HostCpu | Limit::CaptureLoss | Limit::Unknown => {
            (Reason::NotInPackets, "packets alone do not show it".to_owned())
        }
    }
}

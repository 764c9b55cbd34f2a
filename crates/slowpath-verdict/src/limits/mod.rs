//! What can limit a transfer: one limit, one file, each in the same order.
//!
//! What the limit means; its cut-offs; `look`, which gives a [`Finding`] or the reason why not, and decides nothing that
//! stands elsewhere; its evidence. What a limit is called stands in [`limit`](crate::limit), which of several findings
//! counts in [`order`](crate::order). A limit that can show in several ways looks in several ways.
//!
//! | limit | file |
//! |---|---|
//! | a window of the receiver | `receiver_window`, `receiver_application` |
//! | the sender and its program | `sender_application`, `send_buffer`, `protocol_window`; all lean on `constant` |
//! | a link, shaper or policer | `bottleneck_bandwidth` and `shared_bottleneck`, which lean on `full_link`; `policed`, `ecn_congestion` |
//! | what the path does whatever the load | `random_loss`, `reordering`, `mtu_black_hole` |
//! | too little to see | `slow_start`, `capture_loss`, `unknown` |

mod bottleneck_bandwidth;
mod capture_loss;
mod constant;
mod ecn_congestion;
mod full_link;
mod mtu_black_hole;
mod policed;
mod protocol_window;
mod random_loss;
mod receiver_application;
mod receiver_window;
mod reordering;
mod send_buffer;
mod sender_application;
mod shared_bottleneck;
mod slow_start;
#[cfg(test)]
mod tests;
mod unknown;

use crate::case::Case;
use crate::finding::{Finding, No};
use crate::limit::{Limit, Reason};
use crate::verdict::Evidence;

pub(crate) use unknown::undecided;

/// One way in which a limit shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The capture shows nothing to judge by.
    Unusable,
    /// Next to nothing was transferred.
    TooShort,
    /// Full segments never arrive.
    BlackHole,
    /// The window shrinks or closes.
    SlowReader,
    /// The window is full.
    FullWindow,
    /// The program pauses for most of the time.
    Idle,
    /// The program pauses, and nothing else explains the rest.
    IdleAlone,
    /// Data leaves at the program's own rhythm.
    OwnRhythm,
    /// The other end's program releases data.
    Answered,
    /// A fixed amount at the sender, on a port of SSH.
    Channel,
    /// A fixed amount at the sender.
    SendBuffer,
    /// Something fixed at the sender.
    HeldBySender,
    /// A token bucket drops.
    Policed,
    /// Marks come.
    Marked,
    /// Packets overtake each other.
    Reordered,
    /// Others fill the queue.
    Crowded,
    /// Flows of the same hosts fill the link.
    SharedLink,
    /// The flow fills the link.
    OwnLink,
    /// The rate stays in spite of losses.
    DespiteLosses,
    /// The capture may have lost what the path is said to have lost.
    CaptureLoss,
    /// Losses come at one backlog, and nothing tells a queue from a bucket.
    QueueOrBucket,
    /// Others may fill a queue before this tap.
    CrowdedAfar,
    /// Losses come in a few bursts.
    FewBursts,
    /// Losses come at any backlog.
    RandomLoss,
    /// The transfer ended while it still grew.
    SlowStart,
}

impl Look {
    /// Looks.
    pub(crate) fn at(self, case: &Case) -> Result<Finding, No> {
        match self {
            Self::Unusable => unknown::unusable(case),
            Self::TooShort => unknown::too_short(case),
            Self::BlackHole => mtu_black_hole::look(case),
            Self::SlowReader => receiver_application::look(case),
            Self::FullWindow => receiver_window::look(case),
            Self::Idle => sender_application::idle(case),
            Self::IdleAlone => sender_application::idle_alone(case),
            Self::OwnRhythm => sender_application::own_rhythm(case),
            Self::Answered => protocol_window::answered(case),
            Self::Channel => protocol_window::channel(case),
            Self::SendBuffer => send_buffer::look(case),
            Self::HeldBySender => unknown::held_by_sender(case),
            Self::Policed => policed::look(case),
            Self::Marked => ecn_congestion::look(case),
            Self::Reordered => reordering::look(case),
            Self::Crowded => shared_bottleneck::crowded(case),
            Self::SharedLink => shared_bottleneck::look(case),
            Self::OwnLink => bottleneck_bandwidth::look(case),
            Self::DespiteLosses => bottleneck_bandwidth::despite_losses(case),
            Self::CaptureLoss => capture_loss::look(case),
            Self::QueueOrBucket => unknown::queue_or_bucket(case),
            Self::CrowdedAfar => unknown::crowded_afar(case),
            Self::FewBursts => unknown::few_bursts(case),
            Self::RandomLoss => random_loss::look(case),
            Self::SlowStart => slow_start::look(case),
        }
    }
}

/// The ways in which a limit shows in one capture, the plainest first.
pub(crate) const fn looks(limit: Limit) -> &'static [Look] {
    match limit {
        Limit::ReceiverWindow => &[Look::FullWindow],
        Limit::ReceiverApplication => &[Look::SlowReader],
        Limit::SenderApplication => &[Look::IdleAlone, Look::OwnRhythm],
        Limit::SendBuffer => &[Look::SendBuffer],
        Limit::ProtocolWindow => &[Look::Answered, Look::Channel],
        Limit::BottleneckBandwidth => &[Look::OwnLink, Look::DespiteLosses],
        Limit::SharedBottleneck => &[Look::SharedLink, Look::Crowded],
        Limit::Policed => &[Look::Policed],
        Limit::RandomLoss => &[Look::RandomLoss],
        Limit::EcnCongestion => &[Look::Marked],
        Limit::MtuBlackHole => &[Look::BlackHole],
        Limit::Reordering => &[Look::Reordered],
        Limit::SlowStart => &[Look::SlowStart],
        Limit::DscpTreatment | Limit::DeviceLimit | Limit::HostCpu | Limit::CaptureLoss | Limit::Unknown => {
            &[]
        }
    }
}

/// Why a limit is not the one, as its own rule decided; `chosen` was found first.
pub(crate) fn not(case: &Case, limit: Limit, chosen: Limit) -> No {
    let mut first = None;
    for look in looks(limit) {
        match look.at(case) {
            Ok(_) => {
                return No::new(
                    Reason::SmallerShare,
                    format!("would fit too, but {chosen} shows more plainly"),
                );
            }
            Err(no) => {
                first.get_or_insert(no);
            }
        }
    }
    first.unwrap_or_else(|| match limit {
        Limit::DscpTreatment => No::new(
            Reason::NeedsComparison,
            "needs a transfer with another mark to compare with",
        ),
        _ => No::new(Reason::NotInPackets, "packets alone do not show it"),
    })
}

/// What shows a limit that was found, beside losses, queues and round trips.
pub(crate) fn evidence(case: &Case, limit: Limit) -> Vec<Evidence> {
    match limit {
        Limit::ReceiverWindow => receiver_window::evidence(case),
        Limit::ReceiverApplication => receiver_application::evidence(case),
        Limit::SenderApplication => sender_application::evidence(case),
        Limit::SendBuffer => send_buffer::evidence(case),
        Limit::ProtocolWindow => protocol_window::evidence(case),
        Limit::EcnCongestion => ecn_congestion::evidence(case),
        Limit::Reordering => reordering::evidence(case),
        _ => Vec::new(),
    }
}

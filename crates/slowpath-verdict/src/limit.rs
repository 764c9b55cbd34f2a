//! What can limit a transfer, and what can be remarkable about it: the vocabulary of every verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What limits a transfer. The names are stable in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The advertised window is constant and full each round trip.
    ReceiverWindow,
    /// The window shrinks or closes because the reading program, disk or CPU is slow.
    ReceiverApplication,
    /// The sending program did not provide data.
    SenderApplication,
    /// The sender's socket buffer holds less than the path could carry.
    SendBuffer,
    /// An application protocol's own window or pipelining: SSH channel, SFTP requests, S3 parts.
    ProtocolWindow,
    /// The flow fills a link or shaper.
    BottleneckBandwidth,
    /// The flow fills a link or shaper together with others.
    SharedBottleneck,
    /// A token bucket drops what exceeds its rate, without queueing.
    Policed,
    /// Losses that the flow's own load does not explain keep the congestion window small.
    RandomLoss,
    /// Congestion marks instead of losses keep the congestion window small.
    EcnCongestion,
    /// The marking of the packets decides how they are treated; seen only in a comparison.
    DscpTreatment,
    /// Packets per second or CPU of a device on the path.
    DeviceLimit,
    /// A processor of one of the hosts is busy.
    HostCpu,
    /// Large packets vanish and no message says so.
    MtuBlackHole,
    /// Packets overtake each other and the sender takes that for loss.
    Reordering,
    /// The transfer ended before the path was used.
    SlowStart,
    /// The capture misses too much.
    CaptureLoss,
    /// Cannot be told from here.
    Unknown,
}

impl Limit {
    /// Every limit, in the order of the user guide.
    pub const ALL: [Self; 18] = [
        Self::ReceiverWindow,
        Self::ReceiverApplication,
        Self::SenderApplication,
        Self::SendBuffer,
        Self::ProtocolWindow,
        Self::BottleneckBandwidth,
        Self::SharedBottleneck,
        Self::Policed,
        Self::RandomLoss,
        Self::EcnCongestion,
        Self::DscpTreatment,
        Self::DeviceLimit,
        Self::HostCpu,
        Self::MtuBlackHole,
        Self::Reordering,
        Self::SlowStart,
        Self::CaptureLoss,
        Self::Unknown,
    ];

    /// The stable name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReceiverWindow => "receiver-window",
            Self::ReceiverApplication => "receiver-application",
            Self::SenderApplication => "sender-application",
            Self::SendBuffer => "send-buffer",
            Self::ProtocolWindow => "protocol-window",
            Self::BottleneckBandwidth => "bottleneck-bandwidth",
            Self::SharedBottleneck => "shared-bottleneck",
            Self::Policed => "policed",
            Self::RandomLoss => "random-loss",
            Self::EcnCongestion => "ecn-congestion",
            Self::DscpTreatment => "dscp-treatment",
            Self::DeviceLimit => "device-limit",
            Self::HostCpu => "host-cpu",
            Self::MtuBlackHole => "mtu-black-hole",
            Self::Reordering => "reordering",
            Self::SlowStart => "slow-start",
            Self::CaptureLoss => "capture-loss",
            Self::Unknown => "unknown",
        }
    }

    /// Whether this says that no limit could be named.
    pub const fn is_undecided(self) -> bool {
        matches!(self, Self::CaptureLoss | Self::Unknown)
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is remarkable about a transfer beside its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flag {
    /// The queue of the bottleneck delays packets by much more than the path does.
    Bufferbloat,
    /// The limit was shared with other flows between the same hosts.
    SharedWithOtherFlows,
    /// The congestion controller's own losses or another cause was present for a part of the time.
    Mixed,
    /// Slow start ended before the path was full, without a loss.
    EarlyExit,
    /// The queue before the link is so short that its overflows leave the link idle.
    ShortQueue,
    /// The link's rate is not constant.
    VariableRate,
    /// The capacity is what this transfer alone got of a full link: others may have had the rest.
    OwnRate,
}

/// Why a limit was not chosen. The names are stable in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The flight stayed well below the advertised window.
    WindowHadRoom,
    /// The advertised window was constant.
    WindowConstant,
    /// The advertised window never closed or shrank.
    WindowNeverClosed,
    /// The window shrank or closed: the reader is slow, the window is not.
    WindowShrinks,
    /// Nothing was lost.
    NoLoss,
    /// Too few losses to tell their pattern.
    TooFewLosses,
    /// Losses come at the same backlog, so the flow's own load explains them.
    LossesFollowLoad,
    /// Losses come at any backlog, so the flow's own load does not explain them.
    LossesIgnoreLoad,
    /// The delay grows with the backlog: there is a queue.
    DelayFollowsLoad,
    /// The delay does not grow with the backlog: there is no queue.
    DelayIgnoresLoad,
    /// The backlog at losses is the delay's own: a queue, not a bucket.
    QueueNotBucket,
    /// There were always unacknowledged bytes: the sender never paused.
    SenderNeverIdle,
    /// The flight changes from round trip to round trip, so no fixed amount limits it.
    FlightNotConstant,
    /// The flight was constant.
    FlightConstant,
    /// No congestion marks.
    NoMarks,
    /// No packet overtook another.
    NoReordering,
    /// Large packets did get through.
    LargePacketsPass,
    /// The transfer went on long after slow start.
    LongEnough,
    /// The delay is that of the empty path.
    DelayAtBase,
    /// Only one flow was seen.
    OneFlow,
    /// Explains a smaller part of the time than the limit chosen.
    SmallerShare,
    /// Needs a comparison with another run.
    NeedsComparison,
    /// Cannot be seen in packets.
    NotInPackets,
    /// Cannot be seen from this tap.
    WrongTap,
    /// The capture misses too much.
    CaptureIncomplete,
    /// Too little was transferred.
    TooShort,
}

//! What can limit a transfer, and what can be remarkable about it: the vocabulary of every verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the limits: code, noun, and colours on light and on dark ground.
macro_rules! limits {
    ($($(#[$doc:meta])* $name:ident: $code:literal, $noun:literal, [$light:literal, $dark:literal];)+) => {
        /// What limits a transfer. The names are stable in JSON.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Limit {
            $($(#[$doc])* $name,)+
        }

        impl Limit {
            /// Every limit, in the order of the user guide.
            pub const ALL: [Self; [$(Self::$name),+].len()] = [$(Self::$name),+];

            /// The stable name, as in JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// The limit in words, as a noun: `receiver's window`.
            pub const fn noun(self) -> &'static str {
                match self {
                    $(Self::$name => $noun,)+
                }
            }

            /// Its colour on light and on dark ground, as `#rrggbb`.
            pub const fn colours(self) -> [&'static str; 2] {
                match self {
                    $(Self::$name => [$light, $dark],)+
                }
            }
        }
    };
}

limits! {
    /// The advertised window is constant and full each round trip.
    ReceiverWindow: "receiver-window", "receiver's window", ["#0a6cb0", "#5eb1ef"];
    /// The window shrinks or closes because the reading program, disk or CPU is slow.
    ReceiverApplication: "receiver-application", "receiving application", ["#b2518e", "#dd8cc0"];
    /// The sending program did not provide data.
    SenderApplication: "sender-application", "sending application", ["#8a8a20", "#b9b94f"];
    /// The sender's socket buffer holds less than the path could carry.
    SendBuffer: "send-buffer", "send buffer", ["#3d9bd0", "#86cdf2"];
    /// An application protocol's own window or pipelining: SSH channel, SFTP requests, S3 parts.
    ProtocolWindow: "protocol-window", "application protocol's window", ["#4a3f9f", "#9d92ee"];
    /// The flow fills a link or shaper.
    BottleneckBandwidth: "bottleneck-bandwidth", "bottleneck bandwidth", ["#0a8f6a", "#3fc79b"];
    /// The flow fills a link or shaper together with others.
    SharedBottleneck: "shared-bottleneck", "shared bottleneck", ["#3a9a8f", "#6bcabf"];
    /// A token bucket drops what exceeds its rate, without queueing.
    Policed: "policed", "policer", ["#d04a00", "#ff8343"];
    /// Losses that the flow's own load does not explain keep the congestion window small.
    RandomLoss: "random-loss", "random loss", ["#d9900a", "#f0b340"];
    /// Congestion marks instead of losses keep the congestion window small.
    EcnCongestion: "ecn-congestion", "congestion marks (ECN)", ["#b0a03a", "#d9cb74"];
    /// The marking of the packets decides how they are treated; seen only in a comparison.
    DscpTreatment: "dscp-treatment", "DSCP treatment", ["#97408f", "#cf83c8"];
    /// Packets per second or CPU of a device on the path.
    DeviceLimit: "device-limit", "device on the path", ["#86265a", "#cf6f9f"];
    /// A processor of one of the hosts is busy.
    HostCpu: "host-cpu", "processor of a host", ["#c25a6c", "#e58a99"];
    /// Large packets vanish and no message says so.
    MtuBlackHole: "mtu-black-hole", "MTU black hole", ["#55585f", "#a9adb5"];
    /// Packets overtake each other and the sender takes that for loss.
    Reordering: "reordering", "reordering", ["#6fb3c9", "#93d0e2"];
    /// The transfer ended before the path was used.
    SlowStart: "slow-start", "slow start", ["#9aa0aa", "#868c97"];
    /// The capture misses too much.
    CaptureLoss: "capture-loss", "capture incomplete", ["#b9bcc4", "#6a6f79"];
    /// Cannot be told from here.
    Unknown: "unknown", "cannot be told", ["#b9bcc4", "#6a6f79"];
}

impl Limit {
    /// Whether a single capture can show it; the others need a comparison, or a look at a host or a device.
    pub const fn is_in_captures(self) -> bool {
        !matches!(
            self,
            Self::DscpTreatment | Self::DeviceLimit | Self::HostCpu | Self::CaptureLoss | Self::Unknown
        )
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
    /// Nothing got through the path for a while.
    Outage,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_written_as_its_code() {
        for limit in Limit::ALL {
            let written = serde_json::to_value(limit).unwrap();
            assert_eq!(written.as_str(), Some(limit.name()));
        }
    }
}

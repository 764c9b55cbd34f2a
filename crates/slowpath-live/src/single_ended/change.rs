//! What is tried, and what each limit makes of it.

use serde::Serialize;
use slowpath_packet::mark::Dscp;
use slowpath_report::quantity;
use slowpath_units::{BitRate, ByteCount};
use slowpath_verdict::Limit;

/// One thing that a test does differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// So many connections at once.
    Streams(u32),
    /// Another congestion control at the sender.
    CongestionControl(String),
    /// Socket buffers of this size at both ends.
    Window(ByteCount),
    /// The sender paces itself to this rate.
    Pacing(BitRate),
    /// The packets carry this mark.
    Mark(Dscp),
}

/// What a limit lets a change give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Clearly faster.
    Faster,
    /// No faster.
    Same,
    /// Either.
    Open,
}

impl Change {
    /// A few words: `4 connections`.
    pub fn words(&self) -> String {
        match self {
            Self::Streams(count) => format!("{count} connections"),
            Self::CongestionControl(name) => format!("congestion control {name}"),
            Self::Window(bytes) => format!("socket buffers of {bytes}"),
            Self::Pacing(rate) => format!("paced to {}", quantity::bit_rate(rate.bits_per_s() as f64)),
            Self::Mark(mark) => format!("marked {mark}"),
        }
    }

    /// What `limit` lets this change give.
    pub fn expected(&self, limit: Limit) -> Expected {
        use Expected::{Faster, Open, Same};
        match (self, limit) {
            // What each connection is held by alone, more of them share.
            (
                Self::Streams(_),
                Limit::RandomLoss | Limit::ReceiverWindow | Limit::SendBuffer | Limit::ProtocolWindow,
            )
            | (Self::CongestionControl(_), Limit::RandomLoss)
            | (Self::Window(_), Limit::ReceiverWindow | Limit::SendBuffer) => Faster,
            (
                Self::Streams(_),
                Limit::BottleneckBandwidth | Limit::Policed | Limit::HostCpu | Limit::DeviceLimit,
            )
            | (
                Self::Window(_),
                Limit::BottleneckBandwidth | Limit::Policed | Limit::RandomLoss | Limit::HostCpu,
            )
            | (Self::Pacing(_), _) => Same,
            _ => Open,
        }
    }
}

/// What is worth trying where `limit` holds a transfer of `goodput` byte/s over `rtt_s`, the most telling first.
///
/// `controls` are the congestion controls that this user may choose, `own` is the one in use.
pub fn worth_trying(limit: Limit, goodput: f64, rtt_s: f64, own: &str, controls: &[String]) -> Vec<Change> {
    let mut out = vec![Change::Streams(MORE_STREAMS)];
    if matches!(limit, Limit::ReceiverWindow | Limit::SendBuffer) {
        let wanted = (goodput * rtt_s * WINDOW_TIMES).clamp(LEAST_WINDOW, MOST_WINDOW);
        #[expect(clippy::cast_possible_truncation, reason = "clamped to MOST_WINDOW")]
        let wanted = ByteCount::new(wanted as u64);
        out.push(Change::Window(wanted));
    }
    // The one that takes losses for something else than a full queue, or the one that does not.
    let other = if own == "bbr" { "cubic" } else { "bbr" };
    if controls.iter().any(|name| name == other) {
        out.push(Change::CongestionControl(other.to_owned()));
    }
    if matches!(
        limit,
        Limit::Policed | Limit::BottleneckBandwidth | Limit::SharedBottleneck
    ) {
        #[expect(clippy::cast_possible_truncation, reason = "a rate in bit/s")]
        out.push(Change::Pacing(BitRate::new((goodput * 8.0 * PACED) as u64)));
    }
    out
}

/// Connections at once that a test tries.
const MORE_STREAMS: u32 = 4;
/// A window that no longer holds a transfer: so many times what it had on its way.
const WINDOW_TIMES: f64 = 8.0;
/// Smallest window worth asking for, bytes.
const LEAST_WINDOW: f64 = 1_000_000.0;
/// Largest, bytes: more is refused by many a server.
const MOST_WINDOW: f64 = 64_000_000.0;
/// Share of the rate reached to which a sender is paced, to see whether it is its own bursts that are dropped.
const PACED: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_each_connection_alone_is_shared_by_more() {
        let streams = Change::Streams(4);
        for limit in [Limit::RandomLoss, Limit::ReceiverWindow, Limit::SendBuffer] {
            assert_eq!(streams.expected(limit), Expected::Faster, "{limit}");
        }
        for limit in [Limit::BottleneckBandwidth, Limit::Policed] {
            assert_eq!(streams.expected(limit), Expected::Same, "{limit}");
        }
        assert_eq!(streams.expected(Limit::SharedBottleneck), Expected::Open);
    }

    #[test]
    fn a_window_is_tried_only_where_one_holds() {
        let tried = |limit| worth_trying(limit, 1e6, 0.1, "cubic", &["bbr".to_owned()]);
        assert!(tried(Limit::ReceiverWindow).contains(&Change::Window(ByteCount::new(1_000_000))));
        assert!(
            !tried(Limit::RandomLoss)
                .iter()
                .any(|change| matches!(change, Change::Window(_)))
        );
        assert!(tried(Limit::Policed).contains(&Change::Pacing(BitRate::new(7_200_000))));
        assert!(tried(Limit::RandomLoss).contains(&Change::CongestionControl("bbr".to_owned())));
        // What this user may not choose is not tried.
        let none = worth_trying(Limit::RandomLoss, 1e6, 0.1, "cubic", &[]);
        assert_eq!(none, [Change::Streams(4)]);
    }
}

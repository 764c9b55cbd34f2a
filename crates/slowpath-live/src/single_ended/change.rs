//! What is tried, and what each limit makes of it.

use serde::Serialize;
use slowpath_packet::mark::Dscp;
use slowpath_report::quantity;
use slowpath_units::{BitRate, ByteCount};
use slowpath_verdict::Limit;
use slowpath_words::english;

/// One thing that a test does differently.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// So many connections at once.
    Streams(u32),
    /// Another congestion control at the sender.
    CongestionControl(String),
    /// Socket buffers of this size, at both ends where the protocol can ask for that.
    Window(ByteCount),
    /// The same, of half of what was on its way without.
    HalfWindow(ByteCount),
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
    /// Slower.
    Slower,
    /// Either.
    Open,
}

impl Change {
    /// A few words: `4 connections`.
    pub fn words(&self) -> String {
        match self {
            Self::Streams(count) => english!("path-change-connections", count = count),
            Self::CongestionControl(name) => english!("path-change-congestion-control", name = name),
            Self::Window(bytes) | Self::HalfWindow(bytes) => {
                let size = match bytes.bytes() {
                    large @ 1_000_000.. => format!("{} MB", quantity::significant(large as f64 / 1e6)),
                    small => format!("{} kB", quantity::significant(small as f64 / 1e3)),
                };
                english!("path-change-buffers", size = size)
            }
            Self::Pacing(rate) => {
                let rate = quantity::bit_rate(rate.bits_per_s() as f64);
                english!("path-change-paced", rate = rate)
            }
            Self::Mark(mark) => english!("path-change-marked", mark = mark),
        }
    }

    /// Whether it only tells how the rate goes with the number of connections.
    pub const fn is_further(&self) -> bool {
        matches!(self, Self::Streams(count) if *count != MORE_STREAMS)
    }

    /// What `limit` lets this change give.
    pub fn expected(&self, limit: Limit) -> Expected {
        use Expected::{Faster, Open, Same, Slower};
        match (self, limit) {
            // Only a control that does not slow down for losses outruns them.
            (Self::CongestionControl(name), Limit::RandomLoss) if name != "bbr" => Open,
            // What each connection is held by alone, more of them share.
            (
                Self::Streams(_),
                Limit::RandomLoss | Limit::ReceiverWindow | Limit::SendBuffer | Limit::ProtocolWindow,
            )
            | (Self::CongestionControl(_), Limit::RandomLoss)
            | (Self::Window(_), Limit::ReceiverWindow | Limit::SendBuffer) => Faster,
            (
                Self::Streams(_),
                Limit::BottleneckBandwidth | Limit::Policed | Limit::DeviceLimit,
            )
            // A program is as slow over any of them. What a processor has to do for each byte differs, and more connections may
            // have more processors.
            | (
                Self::CongestionControl(_),
                Limit::SenderApplication | Limit::ReceiverApplication | Limit::ProtocolWindow,
            )
            | (
                Self::Window(_),
                Limit::BottleneckBandwidth | Limit::Policed | Limit::RandomLoss | Limit::HostCpu,
            )
            | (Self::Pacing(_), _) => Same,
            (Self::HalfWindow(_), Limit::ReceiverWindow | Limit::SendBuffer) => Slower,
            _ => Open,
        }
    }
}

/// What the first test showed.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// What limits it.
    pub limit: Limit,
    /// Bytes a second.
    pub goodput: f64,
    /// Mean round trip, seconds.
    pub rtt_s: f64,
    /// Bytes that were on their way.
    pub flight: f64,
    /// The congestion control in use; empty where it is the other end's.
    pub own: &'a str,
    /// Whether the buffers of both ends can be chosen.
    pub both_ends: bool,
}

/// What is worth trying, the most telling first; `controls` are the congestion controls that this user may choose.
pub fn worth_trying(seen: &Seen<'_>, controls: &[String]) -> Vec<Change> {
    let limit = seen.limit;
    let mut out = vec![Change::Streams(MORE_STREAMS)];
    let size = |bytes: f64, least: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "clamped to MOST_WINDOW")]
        ByteCount::new(bytes.clamp(least, MOST_WINDOW) as u64)
    };
    let window = matches!(limit, Limit::ReceiverWindow) && seen.both_ends || limit == Limit::SendBuffer;
    if window {
        let wanted = seen.goodput * seen.rtt_s * WINDOW_TIMES;
        out.push(Change::Window(size(wanted, LEAST_WINDOW)));
    }
    // First the one that takes losses for something else than a full queue, or the one that does not. Those of the other end
    // are not ours to choose.
    let first = if seen.own == "bbr" { "cubic" } else { "bbr" };
    let mut others: Vec<&String> = controls.iter().filter(|name| *name != seen.own).collect();
    others.sort_by_key(|name| *name != first);
    if !seen.own.is_empty() {
        out.extend(others.into_iter().cloned().map(Change::CongestionControl));
    }
    if matches!(
        limit,
        Limit::Policed | Limit::BottleneckBandwidth | Limit::SharedBottleneck
    ) {
        #[expect(clippy::cast_possible_truncation, reason = "a rate in bit/s")]
        out.push(Change::Pacing(BitRate::new((seen.goodput * 8.0 * PACED) as u64)));
    }
    if window && seen.flight > 0.0 {
        out.push(Change::HalfWindow(size(seen.flight / 2.0, SMALLEST_WINDOW)));
    }
    out.extend(FURTHER_STREAMS.map(Change::Streams));
    out
}

/// Connections at once that a test tries.
const MORE_STREAMS: u32 = 4;
/// And those that it tries where there is time: how the rate goes with their number.
const FURTHER_STREAMS: [u32; 2] = [8, 2];
/// A window that no longer holds a transfer: so many times what it had on its way.
const WINDOW_TIMES: f64 = 8.0;
/// Smallest window worth asking for, bytes.
const LEAST_WINDOW: f64 = 1_000_000.0;
/// Smallest of all, bytes: the kernel takes no less than about two segments.
const SMALLEST_WINDOW: f64 = 4_096.0;
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
        let control = |name: &str| Change::CongestionControl(name.to_owned()).expected(Limit::RandomLoss);
        assert_eq!(
            (control("bbr"), control("reno")),
            (Expected::Faster, Expected::Open)
        );
    }

    #[test]
    fn a_window_is_tried_only_where_one_holds() {
        let seen = |limit, both_ends| Seen {
            limit,
            goodput: 1e6,
            rtt_s: 0.1,
            flight: 64e3,
            own: "cubic",
            both_ends,
        };
        let all = ["reno".to_owned(), "cubic".to_owned(), "bbr".to_owned()];
        let tried = |limit| worth_trying(&seen(limit, true), &all);
        let windows = tried(Limit::ReceiverWindow);
        assert!(windows.contains(&Change::Window(ByteCount::new(1_000_000))));
        assert!(windows.contains(&Change::HalfWindow(ByteCount::new(32_000))));
        let is_window = |change: &Change| matches!(change, Change::Window(_) | Change::HalfWindow(_));
        assert!(!tried(Limit::RandomLoss).iter().any(is_window));
        // The window of a server that takes no orders is not ours to choose.
        assert!(
            !worth_trying(&seen(Limit::ReceiverWindow, false), &all)
                .iter()
                .any(is_window)
        );
        assert!(tried(Limit::Policed).contains(&Change::Pacing(BitRate::new(7_200_000))));
        let controls: Vec<Change> = tried(Limit::RandomLoss)
            .into_iter()
            .filter(|change| matches!(change, Change::CongestionControl(_)))
            .collect();
        assert_eq!(
            controls,
            ["bbr", "reno"].map(|name| Change::CongestionControl(name.to_owned()))
        );
        // What this user may not choose is not tried.
        let none = worth_trying(&seen(Limit::RandomLoss, true), &[]);
        assert_eq!(none, [4, 8, 2].map(Change::Streams));
    }
}

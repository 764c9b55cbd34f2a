//! From a case and what the kernel and the path counted to the label of its captures.
//!
//! The scenario says what should limit a transfer; the kernel's chronographs (`tcpi_busy_time`, `tcpi_rwnd_limited`,
//! `tcpi_sndbuf_limited`) and the counters of the path say what did. Where they disagree the chronograph labels the
//! capture, or it is left out; both are counted.

use serde::{Deserialize, Serialize};
use slowpath_record::ElementCounters;
use slowpath_verdict::Limit;

use crate::causes::Case;
use crate::worker::KernelAccount;

/// What the kernel and the path counted, as shares and sums.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Counted {
    /// From the handshake to the last sample.
    pub elapsed_s: f64,
    /// Share of it with data unacknowledged or unsent.
    pub busy: f64,
    /// Share of it that the peer's window limited.
    pub receive_window: f64,
    /// Share of it that the send buffer limited.
    pub send_buffer: f64,
    /// Share of it that the sending program spent in writing to a full socket.
    pub blocked: f64,
    /// Share of it that the sending program waited for the peer program.
    pub waited: f64,
    /// Share of the samples in which less than a segment waited to be sent: nothing but the program or the send buffer
    /// kept the sender from sending more.
    pub starved: f64,
    /// Acknowledged payload over what the path's rate allows.
    pub fill: f64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// Packets that the constraint in the direction of the data dropped.
    pub dropped: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// Whether the sender had left slow start by a loss or mark.
    pub left_slow_start: bool,
}

/// What a capture is labelled with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Label {
    /// Scenario and chronograph agree.
    Agreed(Limit),
    /// The chronograph saw another limit than the scenario meant.
    Chronograph(Limit),
    /// Neither can be relied on.
    LeftOut(String),
}

impl Label {
    /// The limit, where there is one.
    pub const fn limit(&self) -> Option<Limit> {
        match self {
            Self::Agreed(limit) | Self::Chronograph(limit) => Some(*limit),
            Self::LeftOut(_) => None,
        }
    }
}

/// Sums up what was counted during `case`.
pub fn count(case: &Case, account: &KernelAccount, elements: &[ElementCounters]) -> Counted {
    let sent = &account.sent;
    let elapsed = sent.end.since(sent.start).seconds().max(1e-6);
    let Some(last) = sent.log.last() else {
        return Counted::default();
    };
    let share = |micros: u64| micros as f64 / 1e6 / elapsed;
    // The first round trips say nothing about what limits in the long run.
    let settled: Vec<_> = sent.log.samples.iter().skip(sent.log.samples.len() / 5).collect();
    let starved = settled
        .iter()
        .filter(|sample| sample.not_sent < sample.mss)
        .count();
    let dropped = elements
        .iter()
        .filter(|element| element.element.starts_with("up."))
        .flat_map(|element| &element.dropped)
        .map(|(_, traffic)| traffic.packets);
    let most = f64::from(case.rate_kbit_per_s) * 1e3 / 8.0 * PAYLOAD / FRAME;
    Counted {
        elapsed_s: elapsed,
        busy: share(last.busy),
        receive_window: share(last.receive_window_limited),
        send_buffer: share(last.send_buffer_limited),
        starved: starved as f64 / settled.len().max(1) as f64,
        blocked: sent.blocked.seconds() / elapsed,
        waited: sent.waited.seconds() / elapsed,
        fill: last.bytes_acked as f64 / elapsed / most,
        acknowledged: last.bytes_acked,
        dropped: dropped.sum(),
        retransmitted: u64::from(last.retransmitted_segments),
        left_slow_start: last.ssthresh < NO_THRESHOLD,
    }
}

/// The label of the captures of `case`.
pub fn label(case: &Case, counted: &Counted) -> Label {
    use Limit::{
        BottleneckBandwidth, EcnCongestion, MtuBlackHole, Policed, ProtocolWindow, RandomLoss,
        ReceiverApplication, ReceiverWindow, Reordering, SendBuffer, SenderApplication, SharedBottleneck,
        SlowStart,
    };
    let held_back = counted.receive_window + counted.send_buffer;
    let full = counted.fill >= FULL;
    // BBR spreads what the window allows over the round trip; the rest of the time its pacing is counted, not the window.
    let alone =
        |own: f64, other: f64| own >= MOST || (own >= LITTLE && other < LITTLE / 4.0 && counted.dropped == 0);
    let out = |why: String| Label::LeftOut(why);
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    match case.cause {
        ReceiverWindow | ReceiverApplication
            if !full && alone(counted.receive_window, counted.send_buffer) =>
        {
            return Label::Agreed(case.cause);
        }
        SendBuffer if !full && alone(counted.send_buffer, counted.receive_window) => {
            return Label::Agreed(case.cause);
        }
        // The kernel counts the send buffer only while its write queue is empty (tcp_cwnd_validate), which Nagle's
        // algorithm prevents. A program that waits in writing while nothing waits to be sent says the same; where a
        // window or the path is the limit, there is always something to be sent.
        SendBuffer
            if !full
                && counted.blocked >= NEARLY_ALL
                && counted.starved >= OFTEN
                && counted.receive_window < LITTLE / 4.0
                && counted.dropped == 0 =>
        {
            return Label::Agreed(case.cause);
        }
        ReceiverWindow | ReceiverApplication | SendBuffer => {
            return out(format!(
                "the kernel saw the window limit {} and the send buffer {} of the time, and nothing to be sent in {} of the samples",
                percent(counted.receive_window),
                percent(counted.send_buffer),
                percent(counted.starved)
            ));
        }
        _ if counted.receive_window >= MOST => return Label::Chronograph(ReceiverWindow),
        _ if counted.send_buffer >= MOST => return Label::Chronograph(SendBuffer),
        // A receive buffer that grows more slowly than the window limits a beginning now and then.
        _ if held_back > LITTLE => {
            return out(format!(
                "the kernel saw window or send buffer limit {} of the time",
                percent(held_back)
            ));
        }
        _ => {}
    }
    let agrees = match case.cause {
        BottleneckBandwidth => counted.fill >= NEARLY_FULL,
        EcnCongestion => counted.fill >= MOST && counted.left_slow_start,
        SharedBottleneck => counted.fill < FULL,
        Policed => counted.dropped >= 10,
        // A path used so much may be the limit as well, with an algorithm that does not mind the losses.
        RandomLoss => counted.dropped >= 5 && counted.fill < NEARLY_FULL,
        Reordering => counted.dropped * 5 <= counted.retransmitted && counted.retransmitted > 0 && !full,
        MtuBlackHole => counted.dropped > 0 && counted.acknowledged < 20_000,
        SlowStart => counted.dropped == 0 && !full && !counted.left_slow_start,
        SenderApplication => counted.dropped == 0 && counted.blocked < LITTLE && !full,
        ProtocolWindow => counted.dropped == 0 && counted.waited >= MOST && !full,
        _ => false,
    };
    if agrees {
        return Label::Agreed(case.cause);
    }
    if full && counted.blocked >= MOST && !case.is_shared() {
        // The wide link was not wide enough for this algorithm.
        return Label::Chronograph(BottleneckBandwidth);
    }
    out(format!(
        "the path was used to {}, {} packets were dropped, the program wrote to a full socket {} of the time",
        percent(counted.fill),
        counted.dropped,
        percent(counted.blocked)
    ))
}

/// A share of the time that makes a limit the limit.
const MOST: f64 = 0.5;

/// A share of the time that can be left out of account.
const LITTLE: f64 = 0.2;

/// A share of the samples that chance does not give.
const OFTEN: f64 = 0.3;

/// A share of the time that leaves nothing else.
const NEARLY_ALL: f64 = 0.8;

/// A path used so much is the limit itself.
const FULL: f64 = 0.9;

/// A path that is the limit is used at least so much, its beginning included.
const NEARLY_FULL: f64 = 0.7;

/// `snd_ssthresh` before the first loss (include/net/tcp.h, `TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;

/// Payload and frame of a full segment with timestamps.
const PAYLOAD: f64 = 1_448.0;
const FRAME: f64 = 1_514.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::causes;

    fn case(kind: &str) -> Case {
        causes::List::Tuned
            .cases()
            .into_iter()
            .find(|case| case.kind == kind)
            .unwrap()
    }

    #[test]
    fn the_chronograph_decides() {
        let counted = |receive_window, send_buffer, fill| Counted {
            elapsed_s: 8.0,
            busy: 1.0,
            receive_window,
            send_buffer,
            fill,
            dropped: 30,
            blocked: 0.9,
            left_slow_start: true,
            acknowledged: 5_000_000,
            ..Counted::default()
        };
        let window = case("receiver-window");
        let bottleneck = case("bottleneck");
        let loss = case("random-loss");
        for (case, counted, expected) in [
            (&window, counted(0.8, 0.0, 0.1), Some(Limit::ReceiverWindow)),
            (&window, counted(0.3, 0.0, 0.1), None),
            (
                &bottleneck,
                counted(0.0, 0.0, 0.9),
                Some(Limit::BottleneckBandwidth),
            ),
            (&bottleneck, counted(0.0, 0.7, 0.9), Some(Limit::SendBuffer)),
            (&bottleneck, counted(0.15, 0.15, 0.9), None),
            (&loss, counted(0.0, 0.0, 0.3), Some(Limit::RandomLoss)),
            (&loss, counted(0.0, 0.0, 0.8), None),
            (&loss, counted(0.0, 0.0, 0.95), Some(Limit::BottleneckBandwidth)),
        ] {
            assert_eq!(
                label(case, &counted).limit(),
                expected,
                "{} {counted:?}",
                case.kind
            );
        }
    }

    #[test]
    fn labels_keep_the_names_by_which_the_manifest_is_read() {
        // `crates/slowpath-verdict/tests/lab.rs` reads them.
        for (label, written) in [
            (Label::Agreed(Limit::Policed), r#"{"agreed":"policed"}"#),
            (
                Label::Chronograph(Limit::SendBuffer),
                r#"{"chronograph":"send-buffer"}"#,
            ),
            (Label::LeftOut("x".to_owned()), r#"{"left-out":"x"}"#),
        ] {
            assert_eq!(serde_json::to_string(&label).unwrap(), written);
        }
    }

    #[test]
    fn a_blocked_program_with_nothing_to_send_has_a_full_send_buffer() {
        let case = case("send-buffer");
        let mut counted = Counted {
            elapsed_s: 8.0,
            busy: 1.0,
            fill: 0.3,
            blocked: 0.95,
            starved: 0.6,
            ..Counted::default()
        };
        assert_eq!(label(&case, &counted), Label::Agreed(Limit::SendBuffer));
        // Something always waited to be sent: then a window or the path was in the way.
        counted.starved = 0.0;
        assert_eq!(label(&case, &counted).limit(), None);
    }
}

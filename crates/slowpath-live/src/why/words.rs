//! Sentences about what was seen: plain, short, the answer first.

use slowpath_report::quantity;
use slowpath_verdict::Limit;

use super::facts::Facts;
use super::track::State;

/// The verdict in one sentence.
pub(super) fn sentence(limit: Limit, facts: &Facts, share: f64, too_little: bool) -> String {
    if too_little {
        return "Too little was transferred while I looked to say what limits it.".to_owned();
    }
    let share = percent(share);
    let rate = quantity::byte_rate(facts.bytes as f64 / facts.seconds.max(1e-9));
    let rtt = quantity::seconds(facts.mean_rtt_s);
    match limit {
        Limit::ReceiverWindow => format!(
            "The receiver's window limits this transfer: {} each round trip of {rtt} ({share} of the time).",
            size(facts.window_bytes)
        ),
        Limit::ReceiverApplication if facts.receiving => format!(
            "The program here does not read what arrives: on average {} wait for it ({share} of the time).",
            size(facts.unread_bytes)
        ),
        Limit::ReceiverApplication => format!(
            "The receiving program is slow: it takes {rate}, and its window closes meanwhile ({share} of the time)."
        ),
        Limit::SenderApplication => format!(
            "The sending program is slow: it provides {rate}, and the connection waits for it ({share} of the time)."
        ),
        Limit::HostCpu => format!(
            "A processor here is the limit: the program computes, or waits to, and provides {rate} ({share} of the time)."
        ),
        Limit::SendBuffer => format!(
            "The send buffer limits this transfer: {} in flight each round trip of {rtt} ({share} of the time).",
            size(facts.flight_bytes)
        ),
        Limit::ProtocolWindow => format!(
            "The programs wait for each other: {} in flight each round trip of {rtt}, then a pause until the other end answers ({share} of the time).",
            size(facts.flight_bytes)
        ),
        Limit::BottleneckBandwidth => format!(
            "The path is full: {rate} get through, and packets queue for {} ({share} of the time).",
            quantity::seconds((facts.mean_rtt_s - facts.least_rtt_s).max(0.0))
        ),
        Limit::SharedBottleneck => {
            format!("The path is full and shared with others: {rate} are left for this transfer.")
        }
        Limit::Policed => format!(
            "Something on the path drops what exceeds about {} without queueing it ({share} of the time).",
            quantity::bit_rate(facts.rate_at_loss * 8.0)
        ),
        Limit::RandomLoss => format!(
            "Losses that this transfer does not cause keep it slow: {} of the segments were sent again, at any rate ({share} of the time).",
            percent(facts.segments.1 as f64 / facts.segments.0.max(1) as f64)
        ),
        Limit::EcnCongestion => format!(
            "Marks of congestion keep this transfer slow: {} segments were marked ({share} of the time).",
            facts.marked
        ),
        Limit::Reordering => format!(
            "Packets overtake each other and the sender takes that for loss: {} of {} retransmissions were not needed.",
            facts.spurious, facts.segments.1
        ),
        Limit::SlowStart => {
            format!("The transfer is still starting: its congestion window grows ({share} of the time).")
        }
        Limit::MtuBlackHole => format!(
            "Nothing is acknowledged for {}: large packets seem to vanish on the path.",
            quantity::seconds(facts.longest_stall_s)
        ),
        _ => {
            if facts.receiving {
                format!(
                    "Cannot be told from this end: data arrive at {rate}, and what paces them is at the other end or on the path."
                )
            } else {
                format!(
                    "Cannot be told from samples: {rate} get through, and nothing that they show explains why not more."
                )
            }
        }
    }
}

/// What to do when nothing could be said.
pub(super) fn next_step(facts: &Facts, too_little: bool) -> String {
    if too_little {
        "Watch a longer transfer, or for longer: --for 30.".to_owned()
    } else if facts.receiving {
        "Run `slowpath why` at the sending end, or capture packets there (tcpdump -s 128 -w FILE) and run `slowpath explain FILE`."
            .to_owned()
    } else {
        "Watch for longer (--for 60), or capture packets here (tcpdump -s 128 -w FILE) and run `slowpath explain FILE`."
            .to_owned()
    }
}

/// What a state means, with its share.
pub(super) fn state_sentence(state: State, receiving: bool, share: f64) -> String {
    let what = match (state, receiving) {
        (State::Idle, true) => "nothing arrived",
        (State::Idle, false) => "nothing was under way",
        (State::Program, _) => "everything was sent and the program had no more",
        (State::SendBuffer, _) => "the send buffer was full and all of it was sent",
        (State::Window, true) => "the window offered to the sender was used up",
        (State::Window, false) => "the receiver's window was full",
        (State::WindowShrunk, true) => "most of the buffer was taken by bytes that the program had not read",
        (State::WindowShrunk, false) => {
            "the receiver's window was full or closed, and far below its greatest size"
        }
        (State::WindowLate, _) => {
            "the receiver's window was full, and the round trip longer than that of the empty path"
        }
        (State::SlowStart, _) => "the congestion window grew from its start",
        (State::Queue, _) => "packets queued on the path",
        (State::Growth, true) => "data arrived evenly, with no queue and no loss to be seen",
        (State::Growth, false) => "the congestion window was full on a path without a queue",
        (State::Marked, _) => "marks of congestion came in",
        (State::Recovery, true) => "segments were missing",
        (State::Recovery, false) => "losses were being repaired",
        (State::Timeout, _) => "a timeout was being repaired",
    };
    format!("{what} for {} of the time", percent(share))
}

/// What the connection does now, in few words, for the line that updates.
pub(super) fn now(state: State, receiving: bool) -> &'static str {
    match (state, receiving) {
        (_, true) => "receiving",
        (State::Idle, _) => "nothing to send",
        (State::Program, _) => "waiting for the program",
        (State::SendBuffer, _) => "send buffer full",
        (State::Window, _) => "receiver's window full",
        (State::WindowShrunk, _) => "receiver does not read",
        (State::WindowLate, _) => "receiver's window full, path slow",
        (State::SlowStart, _) => "starting",
        (State::Queue, _) => "path full",
        (State::Growth, _) => "window growing",
        (State::Marked, _) => "marked as congested",
        (State::Recovery, _) => "repairing losses",
        (State::Timeout, _) => "repairing a timeout",
    }
}

pub(super) fn fill(fill: f64, window: f64) -> String {
    format!(
        "{} of a window of {} went through each round trip",
        percent(fill),
        size(window)
    )
}

pub(super) fn losses(facts: &Facts, fraction: f64) -> String {
    format!(
        "{} of {} segments were sent again ({}), in {} repairs, {} of them with packets queued before",
        facts.segments.1,
        facts.segments.0,
        percent(fraction),
        facts.episodes.0,
        facts.episodes.1
    )
}

pub(super) fn rate_spread(spread: f64, rate: f64) -> String {
    format!(
        "before the losses {} got through, give or take {}",
        quantity::bit_rate(rate * 8.0),
        percent(spread)
    )
}

pub(super) fn round_trip(facts: &Facts) -> String {
    let care = if facts.least_rtt_is_recent {
        " of the newest 300 s"
    } else {
        ""
    };
    format!(
        "round trip {} on average, {} at least{care}",
        quantity::seconds(facts.mean_rtt_s),
        quantity::seconds(facts.least_rtt_s)
    )
}

pub(super) fn percent(fraction: f64) -> String {
    quantity::percent(fraction)
}

/// Bytes in the unit that suits windows.
pub(super) fn size(bytes: f64) -> String {
    if bytes >= 1_048_576.0 {
        format!("{:.1} MiB", bytes / 1_048_576.0)
    } else if bytes >= 1024.0 {
        format!("{:.0} KiB", bytes / 1024.0)
    } else {
        format!("{bytes:.0} bytes")
    }
}

//! Sentences about what was seen: plain, short, the answer first.

use slowpath_report::quantity;
use slowpath_verdict::Limit;

use super::facts::Facts;
use super::gaps::{GapsSeen, gaps_seen};
use super::track::State;
use super::view::{Lacking, ProgramView};
use slowpath_words::{english, english_word};

/// The verdict in one sentence.
pub(super) fn sentence(
    limit: Limit,
    facts: &Facts,
    programs: ProgramView,
    share: f64,
    lacking: Option<Lacking>,
) -> String {
    match lacking {
        Some(Lacking::Bytes) => return english_word!("why-words-too-little-transferred-while-i").to_owned(),
        Some(Lacking::Udp) => return english_word!("why-words-transfer-over-udp").to_owned(),
        Some(Lacking::Time) => {
            return english!("why-words-too-short", seconds = quantity::seconds(facts.seconds));
        }
        None => {}
    }
    if facts.stands_still {
        return standstill(limit, facts);
    }
    let share = percent(share);
    let rate = quantity::byte_rate(facts.bytes as f64 / facts.seconds.max(1e-9));
    let rtt = quantity::seconds(facts.mean_rtt_s);
    match limit {
        Limit::ReceiverWindow => english!(
            "why-words-receivers-window-limits-transfer-each",
            window_bytes = size(facts.window_bytes),
            rtt = rtt,
            share = share
        ),
        Limit::ReceiverApplication if facts.receiving => english!(
            "why-words-program-here-does-not-read",
            unread_bytes = size(facts.unread_bytes),
            share = share
        ),
        Limit::ReceiverApplication => english!(
            "why-words-receiving-program-slow-takes-its",
            rate = rate,
            share = share
        ),
        Limit::SenderApplication
            if facts.times.of(State::Paced) > facts.times.sum(&[State::Program, State::Idle]) =>
        {
            english!("why-words-pacing-bound-holds", rate = rate, share = share)
        }
        Limit::SenderApplication => english!(
            "why-words-sending-program-slow-provides-connection",
            rate = rate,
            share = share
        ),
        Limit::HostCpu => english!(
            "why-words-processor-here-limit-program-computes",
            rate = rate,
            share = share
        ),
        Limit::SendBuffer => english!(
            "why-words-send-buffer-limits-transfer-flight",
            flight_bytes = size(facts.flight_bytes),
            rtt = rtt,
            share = share
        ),
        Limit::ProtocolWindow if !facts.is_flight_steady() => {
            if programs.ssh {
                english!("why-words-ssh-window-opens-as-far-program-reads", share = share)
            } else {
                english!("why-words-far-program-or-protocols-window", share = share)
            }
        }
        Limit::ProtocolWindow => english!(
            "why-words-programs-wait-each-other-flight",
            flight_bytes = size(facts.flight_bytes),
            rtt = rtt,
            share = share
        ),
        Limit::BottleneckBandwidth => english!(
            "why-words-path-full-get-through-packets",
            rate = rate,
            max = quantity::seconds((facts.mean_rtt_s - facts.least_rtt_s).max(0.0)),
            share = share
        ),
        Limit::SharedBottleneck => {
            english!("why-words-path-full-shared-with-others", rate = rate)
        }
        Limit::Policed => english!(
            "why-words-something-on-path-drops-what",
            rate_at_loss = quantity::bit_rate(facts.rate_at_loss * 8.0),
            share = share
        ),
        Limit::RandomLoss if facts.receiving => english!(
            "why-words-losses-seen-at-receiver",
            lost = percent(facts.lost_share()),
            gaps = facts.gaps.1,
            share = share
        ),
        Limit::RandomLoss => english!(
            "why-words-losses-transfer-does-not-cause",
            max = percent(facts.sent_again()),
            share = share
        ),
        Limit::EcnCongestion if facts.marked == 0 => english!(
            "why-words-earlier-marks-congestion",
            marked = facts.lifetime_marked,
            share = share
        ),
        Limit::EcnCongestion => english!(
            "why-words-marks-congestion-keep-transfer-slow",
            marked = facts.marked,
            share = share
        ),
        Limit::Reordering => english!(
            "why-words-packets-overtake-each-other-sender",
            spurious = facts.spurious,
            segments = facts.segments.1
        ),
        Limit::SlowStart => {
            english!("why-words-transfer-still-starting-its-congestion", share = share)
        }
        Limit::MtuBlackHole => english!(
            "why-words-nothing-acknowledged-large-packets-seem",
            longest_stall_s = quantity::seconds(facts.longest_stall_s)
        ),
        _ => {
            if let Some(seen) = gaps_seen(facts) {
                missing(seen, facts, &rate)
            } else if facts.receiving {
                english!("why-words-cannot-told-from-end-data", rate = rate)
            } else {
                english!("why-words-cannot-told-from-samples-get", rate = rate)
            }
        }
    }
}

/// That segments are missing of what arrives, and what this end can say of it.
fn missing(seen: GapsSeen, facts: &Facts, rate: &str) -> String {
    let share = percent(facts.missing_s / facts.seconds.max(1e-9));
    match seen {
        GapsSeen::Lost => english!(
            "why-words-segments-lost-before-here",
            gaps = facts.gaps.0,
            share = share,
            rate = rate
        ),
        GapsSeen::Overtaken => english!(
            "why-words-segments-overtaken-before-here",
            gaps = facts.gaps.0,
            share = share,
            rate = rate
        ),
        GapsSeen::Either => english!(
            "why-words-segments-missing-before-here",
            gaps = facts.gaps.0,
            share = share,
            rate = rate
        ),
    }
}

/// Why nothing moves at all.
fn standstill(limit: Limit, facts: &Facts) -> String {
    let seconds = quantity::seconds(facts.seconds);
    match limit {
        Limit::ReceiverApplication if facts.receiving => {
            english!("why-words-nothing-read-here", seconds = seconds)
        }
        Limit::ReceiverApplication => english!("why-words-window-closed", seconds = seconds),
        Limit::MtuBlackHole => english!(
            "why-words-nothing-acknowledged-large-packets-seem",
            longest_stall_s = seconds
        ),
        _ => english!(
            "why-words-nothing-comes-back",
            seconds = seconds,
            unanswered = facts.unanswered
        ),
    }
}

/// What to do when nothing could be said.
pub(super) fn next_step(facts: &Facts, programs: ProgramView, lacking: Option<Lacking>) -> String {
    if facts.stands_still {
        english_word!("why-words-see-whether-other-end-answers").to_owned()
    } else if lacking == Some(Lacking::Udp) {
        english_word!("why-words-measure-udp").to_owned()
    } else if lacking.is_some() {
        if programs.command {
            english_word!("why-words-watch-longer-command").to_owned()
        } else {
            english_word!("why-words-watch-longer-transfer-longer").to_owned()
        }
    } else if facts.receiving {
        english_word!("why-words-run-slowpath-why-sending-end").to_owned()
    } else {
        english_word!("why-words-watch-longer-capture-packets-here").to_owned()
    }
}

/// What a state means, with its share.
pub(super) fn state_sentence(state: State, receiving: bool, share: f64) -> String {
    let what = match (state, receiving) {
        (State::Idle, true) => english_word!("why-words-nothing-arrived"),
        (State::Idle, false) => english_word!("why-words-nothing-under-way"),
        (State::Program, _) => english_word!("why-words-everything-sent-program-had-no"),
        (State::Paced, _) => english_word!("why-words-socket-at-its-pacing-bound"),
        (State::SendBuffer, _) => english_word!("why-words-send-buffer-full-all-sent"),
        (State::Window, true) => english_word!("why-words-window-offered-sender-used-up"),
        (State::Window, false) => english_word!("why-words-receivers-window-full"),
        (State::WindowShrunk, true) => english_word!("why-words-most-buffer-taken-by-bytes"),
        (State::WindowShrunk, false) => {
            english_word!("why-words-receivers-window-full-closed-far")
        }
        (State::WindowLate, _) => {
            english_word!("why-words-receivers-window-full-round-trip")
        }
        (State::SlowStart, _) => english_word!("why-words-congestion-window-grew-from-its"),
        (State::Queue, _) => english_word!("why-words-packets-queued-on-path"),
        (State::Uneven, _) => english_word!("why-words-round-trip-longer-queue-or-jitter"),
        (State::Growth, true) => english_word!("why-words-data-arrived-evenly-with-no"),
        (State::Growth, false) => english_word!("why-words-congestion-window-full-on-path"),
        (State::Marked, _) => english_word!("why-words-marks-congestion-came"),
        // Gaps themselves are counted apart.
        (State::Recovery, true) => {
            return english!("why-words-stretches-with-gaps", share = percent(share));
        }
        (State::Recovery, false) => english_word!("why-words-losses-being-repaired"),
        (State::Timeout, _) => english_word!("why-words-timeout-being-repaired"),
    };
    english!("why-words-time", what = what, share = percent(share))
}

/// What the connection does now, in few words, for the line that updates.
pub(super) fn now(state: State, receiving: bool) -> &'static str {
    match (state, receiving) {
        (State::WindowShrunk, true) => english_word!("why-words-program-here-not-reading"),
        (_, true) => english_word!("why-words-receiving"),
        (State::Idle, _) => english_word!("why-words-nothing-send"),
        (State::Program, _) => english_word!("why-words-waiting-program"),
        (State::Paced, _) => english_word!("why-words-at-pacing-bound"),
        (State::SendBuffer, _) => english_word!("why-words-send-buffer-full"),
        (State::Window, _) => english_word!("why-words-receivers-window-full-2"),
        (State::WindowShrunk, _) => english_word!("why-words-receiver-does-not-read"),
        (State::WindowLate, _) => english_word!("why-words-receivers-window-full-path-slow"),
        (State::SlowStart, _) => english_word!("why-words-starting"),
        (State::Queue, _) => english_word!("why-words-path-full"),
        (State::Uneven, _) => english_word!("why-words-path-full-or-uneven"),
        (State::Growth, _) => english_word!("why-words-window-growing"),
        (State::Marked, _) => english_word!("why-words-marked-as-congested"),
        (State::Recovery, _) => english_word!("why-words-repairing-losses"),
        (State::Timeout, _) => english_word!("why-words-repairing-timeout"),
    }
}

pub(super) fn fill(fill: f64, window: f64) -> String {
    english!(
        "why-words-window-went-through-each-round",
        fill = percent(fill),
        window = size(window)
    )
}

pub(super) fn gaps(facts: &Facts, share: f64) -> String {
    let (all, long, _) = facts.gaps;
    english!(
        "why-words-gaps-in-what-arrived",
        all = all,
        share = percent(share),
        long = long
    )
}

pub(super) fn losses(facts: &Facts, fraction: f64) -> String {
    english!(
        "why-words-segments-sent-again-repairs-them",
        segments = facts.segments.1,
        segments2 = facts.segments.0,
        fraction = percent(fraction),
        episodes = facts.episodes.0,
        episodes2 = facts.episodes.1
    )
}

pub(super) fn rate_spread(spread: f64, rate: f64) -> String {
    english!(
        "why-words-before-losses-got-through-give",
        rate = quantity::bit_rate(rate * 8.0),
        spread = percent(spread)
    )
}

pub(super) fn round_trip(facts: &Facts) -> String {
    let care = if facts.least_rtt_is_recent {
        english_word!("why-words-newest-s")
    } else {
        ""
    };
    english!(
        "why-words-round-trip-on-average-least",
        mean_rtt_s = quantity::seconds(facts.mean_rtt_s),
        least_rtt_s = quantity::seconds(facts.least_rtt_s),
        care = care
    )
}

pub(super) fn percent(fraction: f64) -> String {
    quantity::percent(fraction)
}

/// Bytes in the unit that suits windows.
pub(super) fn size(bytes: f64) -> String {
    if bytes >= 1_048_576.0 {
        english!(
            "why-words-mib",
            bytes = format_args!("{:.1}", bytes / 1_048_576.0)
        )
    } else if bytes >= 1024.0 {
        english!("why-words-kib", bytes = format_args!("{:.0}", bytes / 1024.0))
    } else {
        english!("why-words-bytes", bytes = format_args!("{:.0}", bytes))
    }
}

//! Limits of the two hosts, their programs and protocols, and transfers that end before any other limit.

use super::{Case, Finding, cutoff, finding};
use crate::limit::{Flag, Limit};
use slowpath_facts::Tap;
use slowpath_facts::words::{bits, bytes, percent, span};

pub(super) fn receiver(case: &Case) -> Option<Finding> {
    let (facts, time, window) = (case.facts, &case.facts.time, &case.facts.window);
    let held = case.held();
    let closed = case.share(time.window_closed_s);
    let shrinking = held < cutoff::WINDOW_SHARE
        && case.share(time.window_closed_s + time.window_shrunk_s) >= cutoff::SHRUNK_SHARE;
    if window.scale_known == 0 || (held < cutoff::WINDOW_SHARE && closed < cutoff::CLOSED_SHARE && !shrinking)
    {
        return None;
    }
    let shrunk = time.window_closed_s + time.window_shrunk_s;
    let slow_reader = shrinking
        || closed >= cutoff::CLOSED_SHARE
        || window.full_ratio < cutoff::WINDOW_RATIO
        || shrunk > 0.5 * (time.window_closed_s + time.window_full_s);
    if slow_reader {
        let rate = if window.edge_rate > 0.0 {
            window.edge_rate
        } else {
            facts.bytes as f64 / case.total
        };
        let rhythmic = window.period_s > 0.0 && held >= cutoff::WINDOW_SHARE;
        let step = rhythmic.then(|| (rate * window.period_s).round() as u64);
        let steps = step.map_or_else(String::new, |step| {
            format!(
                ", in steps of {} every {}",
                bytes(step as f64),
                span(window.period_s)
            )
        });
        let mut out = finding(
            Limit::ReceiverApplication,
            held.max(closed),
            0.9,
            format!(
                "The receiving program takes only {}/s{steps}: the window shrinks from {} to {} and is closed {} of the time. A larger window or another path would not help.",
                bytes(rate),
                bytes(window.max as f64),
                bytes(window.min as f64),
                percent(closed)
            ),
        );
        out.parameters.drain_byte_per_s = Some(rate);
        out.parameters.drain_step_bytes = step;
        out.parameters.window_bytes = Some(window.full_median);
        out.parameters.rtt_s = Some(case.rtt);
        if held < cutoff::WINDOW_SHARE {
            out.flags.push(Flag::Mixed);
        }
        return Some(out);
    }
    let queue = facts.queue.unwrap_or_default();
    if case.inflated() && case.rtt > 1.5 * case.base_rtt && (case.fills(&queue) || case.steady_behind_queue())
    {
        // The window is full because a queue is: more window means more queue.
        return None;
    }
    let mut out = finding(
        Limit::ReceiverWindow,
        held,
        0.6 + 0.38 * held,
        format!(
            "The receiver's window of {} is full {} of the time: with a round trip of {} it allows {}, whatever the path could carry.",
            bytes(window.full_median as f64),
            percent(held),
            span(case.rtt),
            bits(window.full_median as f64 * 8.0 / case.rtt.max(1e-9))
        ),
    );
    out.parameters.window_bytes = Some(window.full_median);
    out.parameters.rtt_s = Some(case.rtt);
    if window.scale_known == 1 {
        out.confidence *= 0.8;
        out.sentence.push_str(" The window scale is inferred.");
    }
    Some(out)
}

pub(super) fn idle_program(case: &Case) -> Option<Finding> {
    let time = &case.facts.time;
    let idle = case.share(time.idle_s);
    // What follows the last data is no pause of the program.
    (idle >= cutoff::IDLE_SHARE && time.idle_pauses > 0).then(|| sender_idle(case, idle))
}

fn sender_idle(case: &Case, idle: f64) -> Finding {
    let time = &case.facts.time;
    let rate = case.facts.bytes as f64 / case.total;
    let mut out = finding(
        Limit::SenderApplication,
        idle,
        0.6 + 0.38 * idle,
        format!(
            "The sending program pauses: {} of the time nothing is in flight although the window is open ({} pauses, the longest {}).",
            percent(idle),
            time.idle_pauses,
            span(time.longest_idle_s)
        ),
    );
    out.parameters.source_byte_per_s = Some(rate);
    out
}

/// The peer's program, not its TCP, releases data: a protocol that allows a fixed amount until it is answered.
pub(super) fn answered(case: &Case) -> Option<Finding> {
    let (facts, clocking) = (case.facts, &case.facts.clocking);
    let idle = case.share(facts.time.idle_s);
    let steady = facts.loss.episodes <= 1 && !case.inflated() && case.held() < cutoff::WINDOW_SHARE;
    let messages = clocking.answers >= 20 && clocking.answer_bytes_share < 0.2;
    if !(steady && messages && clocking.answer_share >= cutoff::ANSWERED && facts.flight.rounds >= 8) {
        return None;
    }
    let mut out = finding(
        Limit::ProtocolWindow,
        1.0 - idle,
        0.6 + 0.35 * clocking.answer_share,
        format!(
            "The protocol allows {} until it is answered: {} of the bursts begin with the first acknowledgement of one of {} messages of the receiving program, without loss or queue, and with the TCP window open.",
            bytes(facts.flight.median_peak as f64),
            percent(clocking.answer_share),
            clocking.answers
        ),
    );
    out.parameters.flight_bytes = Some(facts.flight.median_peak);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

pub(super) fn constant_flight(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let idle = case.share(facts.time.idle_s);
    if idle >= cutoff::IDLE_SHARE_ALONE && facts.time.idle_pauses > 0 {
        return Some(sender_idle(case, idle));
    }
    let few_losses = facts.loss.episodes <= 1;
    let room = facts.window.scale_known == 0 || flight.plateau * 10 < facts.window.max * 9;
    let bulk = flight.plateau >= 3 * u64::from(facts.segment_size);
    let timed = case.around.clock_s < 0.2 * case.rtt;
    if !(bulk && timed && few_losses && room && flight.rounds >= 12) {
        return None;
    }
    let told = clocking.pauses >= cutoff::PAUSES;
    // Of what chance does not do anyway.
    let beyond = (clocking.pause_ack_share - clocking.pause_chance_share)
        / (1.0 - clocking.pause_chance_share).max(1e-9);
    let let_go = told && beyond >= cutoff::CLOCKED;
    if flight.plateau_share < cutoff::PLATEAU {
        return ceiling(case, let_go);
    }
    // A send buffer whose size is no multiple of the segment also makes short segments; then only a strict clock tells.
    let strictly = clocking.ack_share >= 0.9 && clocking.chance_share < 0.6;
    let clocked = clocking.ack_share >= 0.7;
    let unclocked = clocking.ack_share < 0.5 + 0.5 * clocking.chance_share.min(0.5);
    let ragged = clocking.short_share > 0.03 || clocking.short_burst_share > 0.08;
    let at_sender = facts.tap == Tap::Sender;
    let constant = format!(
        "the flight stays at {} for {} of {} round trips, below the window of {}",
        bytes(flight.plateau as f64),
        flight.plateau_run,
        flight.rounds,
        bytes(facts.window.max as f64)
    );
    // Seen from afar a program's rhythm may look like a clock by chance.
    let whole = clocking.short_share < 0.01 && clocking.short_burst_share < 0.01;
    let clocked_afar = clocked && whole && clocking.chance_share < 0.5;
    if (at_sender && clocked && !ragged) || strictly || clocked_afar || let_go {
        let limit = if case.around.ssh {
            Limit::ProtocolWindow
        } else {
            Limit::SendBuffer
        };
        let name = if case.around.ssh {
            "A fixed amount of the protocol (SSH channel window or the sender's buffer)"
        } else {
            "The sender's buffer (or another fixed amount of its program)"
        };
        let mut out = finding(
            limit,
            flight.plateau_share,
            0.85,
            format!(
                "{name} holds the transfer: {constant}, without loss or queue, and each acknowledgement releases the next data at once."
            ),
        );
        out.parameters.flight_bytes = Some(flight.plateau);
        out.parameters.rtt_s = Some(case.rtt);
        return Some(out);
    }
    let by_chance = clocking.ack_share < clocking.chance_share + 0.12;
    let own_rhythm = told && beyond < 0.5 * cutoff::CLOCKED && clocking.short_share > 0.03;
    if ragged && (own_rhythm || (unclocked && (at_sender || (by_chance && clocking.short_share > 0.03)))) {
        let mut out = finding(
            Limit::SenderApplication,
            flight.plateau_share,
            0.85,
            format!(
                "The sending program provides {}/s and no more: data leaves at its own rhythm, not when acknowledgements arrive ({} of bursts), in pieces smaller than a segment, with the window open.",
                bytes(facts.bytes as f64 / case.total),
                percent(clocking.ack_share)
            ),
        );
        out.parameters.source_byte_per_s = Some(facts.bytes as f64 / case.total);
        return Some(out);
    }
    let mut out = finding(
        Limit::Unknown,
        flight.plateau_share,
        0.6,
        format!(
            "Something at the sender holds the transfer: {constant}; from here a full send buffer and a program that provides data at a constant rate look alike."
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.next_step =
        Some("capture at the sender, or sample its socket (ss -ti: rwnd_limited, sndbuf_limited)".to_owned());
    Some(out)
}

/// The flight comes to one amount again and again and never exceeds it, as with pacing below a full send buffer.
fn ceiling(case: &Case, let_go: bool) -> Option<Finding> {
    let facts = case.facts;
    let (flight, clocking) = (&facts.flight, &facts.clocking);
    let whole = clocking.short_share < 0.03 && clocking.short_burst_share < 0.05;
    let reached = flight.plateau_share >= cutoff::CEILING && flight.plateau * 100 >= flight.max * 94;
    let quiet = !case.inflated() && facts.loss.episodes == 0;
    // A sender that waits for acknowledgements again and again, without loss, queue or a full window, and whose flight
    // does not grow all the same, waits for room in its buffer.
    let waits = let_go && flight.plateau_share >= cutoff::CEILING;
    if !quiet || !(waits || (reached && whole && flight.rounds >= 40)) {
        return None;
    }
    let limit = if case.around.ssh {
        Limit::ProtocolWindow
    } else {
        Limit::SendBuffer
    };
    let mut out = finding(
        limit,
        flight.plateau_share,
        0.7,
        format!(
            "A fixed amount at the sender (its buffer, most likely) holds the transfer: the flight comes to {} in {} of {} round trips and never exceeds {}, below the window of {}, without loss or queue.",
            bytes(flight.plateau as f64),
            percent(flight.plateau_share),
            flight.rounds,
            bytes(flight.max as f64),
            bytes(facts.window.max as f64)
        ),
    );
    out.parameters.flight_bytes = Some(flight.plateau);
    out.parameters.rtt_s = Some(case.rtt);
    Some(out)
}

pub(super) fn short_or_growing(case: &Case) -> Option<Finding> {
    let facts = case.facts;
    let busy = facts.flight.rounds;
    let growing = facts.flight.growing_rounds;
    let quiet = facts.loss.episodes == 0;
    // In four round trips no initial window grows to what a path carries, whether the steps show or not.
    let opening = growing * 3 >= busy || busy <= 4;
    if quiet && busy <= 14 && opening && !case.inflated() {
        let mut out = finding(
            Limit::SlowStart,
            1.0,
            0.75,
            format!(
                "The transfer ended after {busy} round trips of {}, while the congestion window was still growing: the path was never used.",
                span(case.rtt)
            ),
        );
        out.parameters.rtt_s = Some(case.rtt);
        return Some(out);
    }
    None
}

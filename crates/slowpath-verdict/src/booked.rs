//! One verdict of two accounts: what the looks find in a transfer as a whole, and where the ledger says that its time went.
//!
//! [`settle`] says which of the two counts. Where both name the same limit, the finding's sentence and figures stand
//! beside the ledger's times; where the ledger alone names one, [`finding`] says it in the ledger's words.

use slowpath_facts::Tap;

use crate::case::Case;
use crate::catalogue::Message;
use crate::finding::Finding;
use crate::ledger::{Entry, Ledger, State};
use crate::limit::{Flag, Limit};
use crate::limits::{random_loss, window};
use crate::look::{Certainty, Look};
use crate::message::{Count, PayloadRate, Span, named};

/// The limit that both accounts come to.
pub(crate) fn settle(case: &Case, (look, found): (Option<&Look>, &Finding), ledger: &Ledger) -> Limit {
    let Some(booked) = ledger.limit().filter(|booked| !booked.is_undecided()) else {
        return found.limit;
    };
    if stood_still(booked, ledger).is_some() && look.is_none_or(|look| look.certainty != Certainty::Plain) {
        return booked;
    }
    let at_sender = case.facts.tap == Tap::Sender;
    let told = ledger.floor_s.is_some();
    let mostly = ledger.time_of(booked) >= HALF * ledger.duration_s;
    let likely = told || at_sender || mostly;
    let follows = match (look.map(|look| look.certainty), found.limit, booked) {
        // There is nothing to judge by; a full link marks, and the marks hold the sender; others' overflows come at any queue
        // of one's own, as random losses do.
        // A program that pauses for most of the time or goes on at set times does so whatever its link does meanwhile.
        (Some(Certainty::Plain), _, _)
        | (Some(Certainty::Stated), Limit::SenderApplication, _)
        | (_, Limit::EcnCongestion, Limit::BottleneckBandwidth | Limit::SharedBottleneck)
        | (_, Limit::SharedBottleneck, Limit::RandomLoss) => false,
        // A window that stays small without anything that shows is held by a buffer as likely as by an early end of slow
        // start; but a transfer that was doubling for most of its time was a start, whatever its losses were.
        (_, Limit::Unknown | Limit::CaptureLoss, Limit::SlowStart) => {
            let starting = ledger.entries.iter().filter(|entry| entry.state == State::Start);
            let started: f64 = starting.map(|entry| entry.time_s).sum();
            told && started >= HALF * ledger.duration_s
        }
        // A bucket behind a link shows in what leaves the link, which the looks at the whole do not see.
        (_, Limit::RandomLoss, Limit::Policed) => true,
        // What shows in no whole shows in its parts; losses and disorder are there or not, whatever held the transfer
        // meanwhile; a flight that never grows looks like a queue; losses that a full link's queue does not explain as well.
        (_, Limit::Unknown | Limit::CaptureLoss | Limit::RandomLoss | Limit::Reordering, _)
        | (_, Limit::BottleneckBandwidth, Limit::SendBuffer) => likely,
        (_, Limit::BottleneckBandwidth, Limit::RandomLoss) => {
            at_sender || mostly || told && (random_loss::LOOK.at)(case).is_ok()
        }
        // Away from the sender a window that is always full looks like a queue.
        (_, Limit::ReceiverWindow, Limit::BottleneckBandwidth | Limit::SharedBottleneck) => told && at_sender,
        // A link that slows down empties buckets that are none.
        (_, Limit::BottleneckBandwidth, Limit::Policed) if found.flags.contains(&Flag::VariableRate) => told,
        // A program's pace is told from a link's by the link's rate; a bucket, a reader and others are seen, losses by chance
        // and windows are what is left.
        (_, Limit::BottleneckBandwidth, Limit::SenderApplication)
        | (_, Limit::Policed | Limit::ReceiverApplication, Limit::RandomLoss)
        | (_, Limit::ReceiverApplication, Limit::ReceiverWindow)
        | (_, Limit::SharedBottleneck, Limit::BottleneckBandwidth) => told,
        (_, _, _) => told || at_sender,
    };
    if follows { booked } else { found.limit }
}

/// Whether the ledger names the limit, or gives it so much of the time that its intervals and shares do not contradict the
/// verdict.
pub(crate) fn agrees(limit: Limit, ledger: &Ledger) -> bool {
    let of = |limit: Limit| ledger.time_of(limit);
    let most = ledger
        .entries
        .iter()
        .map(|entry| of(entry.cause))
        .fold(0.0, f64::max);
    most > 0.0 && (ledger.limit() == Some(limit) || of(limit) >= HALF * most)
}

/// Says why the ledger, which counts moments, gives most of the time to something else than the verdict; `None` where it does not.
pub(crate) fn differs(limit: Limit, ledger: &Ledger) -> Option<Message> {
    let longest = ledger.limit()?;
    if limit.is_undecided() || longest.is_undecided() || longest == limit || agrees(limit, ledger) {
        return None;
    }
    let time = Span(ledger.time_of(longest));
    let window = ledger.time_in(longest, State::Window);
    let link = matches!(longest, Limit::BottleneckBandwidth | Limit::SharedBottleneck);
    Some(match limit {
        Limit::SenderApplication if link => {
            let full = ledger.time_in(longest, State::Link);
            return (full >= TENTH * ledger.duration_s).then_some(Message::FullInBursts { time: Span(full) });
        }
        Limit::EcnCongestion if link => Message::FullLinkMarks { time },
        Limit::ReceiverWindow | Limit::ReceiverApplication if link && window >= TENTH * ledger.duration_s => {
            Message::QueueBehindWindow { time: Span(window) }
        }
        _ => Message::LedgerDiffers {
            cause: named(longest.noun()),
            time,
        },
    })
}

/// Adds to a finding what the ledger says is remarkable about its limit.
pub(crate) fn add(case: &Case, found: &mut Finding, ledger: &Ledger) {
    for flag in [
        Flag::EarlyExit,
        Flag::ShortQueue,
        Flag::VariableRate,
        Flag::Outage,
    ] {
        // Away from the sender what the program does looks like a rate that varies.
        let afar = flag == Flag::VariableRate && case.facts.tap != Tap::Sender;
        let least = if afar { MOSTLY } else { TENTH };
        let of = ledger
            .entries
            .iter()
            .filter(|entry| entry.cause == found.limit && entry.flags.contains(&flag));
        let time: f64 = of.map(|entry| entry.time_s).sum();
        if time >= least * ledger.duration_s && time > 0.0 && !found.flags.contains(&flag) {
            found.flags.push(flag);
        }
    }
}

/// What is said of a transfer for which outages cost more than anything else that has this cause, which one of them has; `None` where they
/// did not.
pub(crate) fn stood_still(limit: Limit, ledger: &Ledger) -> Option<Message> {
    let outages = || ledger.entries.iter().filter(|entry| entry.is_outage());
    let cost = |entry: &Entry| entry.lost_s.unwrap_or(entry.time_s);
    let others = (ledger.entries.iter()).filter(|entry| entry.cause == limit && !entry.is_outage());
    let (lost, others): (f64, f64) = (outages().map(cost).sum(), others.map(cost).sum());
    let of_limit = outages().any(|entry| entry.cause == limit);
    // Each cause's entries tell of the same ones.
    let times = |cause: Limit| {
        let of = outages().filter(|entry| entry.cause == cause);
        of.map(|entry| entry.events).max().unwrap_or(0)
    };
    (of_limit && lost >= AVOIDABLE * ledger.duration_s && lost > others).then(|| Message::PathStoodStill {
        time: Span(outages().map(|entry| entry.time_s).sum()),
        times: Count(times(Limit::BottleneckBandwidth) + times(Limit::RandomLoss)),
    })
}

/// What the ledger alone says of a limit.
pub(crate) fn finding(case: &Case, limit: Limit, ledger: &Ledger) -> Finding {
    let of = |state: State| ledger.time_in(limit, state);
    let time = ledger.time_of(limit);
    let rate = case.facts.bytes as f64 / case.total;
    let mostly = |state: State| of(state) >= HALF * time;
    let early = ledger
        .entries
        .iter()
        .find(|entry| entry.cause == limit && entry.flags.contains(&Flag::EarlyExit));
    let after = (ledger.entries.iter()).filter(|entry| entry.cause == limit && entry.follows_a_short_queue());
    let made_good = after.clone().map(|entry| entry.time_s).sum::<f64>();
    let events = after.map(|entry| entry.events).max().unwrap_or(0);
    let stop = window::one_stop(case);
    let sentence = match (limit, early, stop) {
        (Limit::ReceiverApplication, _, Some((at, length))) => Message::ReaderStopped {
            length: Span(length),
            at: Span(at),
        },
        (Limit::SenderApplication, _, _) if mostly(State::Pace) => Message::OwnPace {
            rate: PayloadRate(rate),
        },
        (Limit::ProtocolWindow, _, _) if mostly(State::Handshake) && of(State::Handshake) >= AGAIN => {
            Message::OpenedLate {
                time: Span(of(State::Handshake)),
            }
        }
        (Limit::BottleneckBandwidth, _, _) if made_good > 0.0 && made_good >= HALF * time => {
            Message::ShortQueueOverran {
                events: Count(events),
                time: Span(made_good),
            }
        }
        (Limit::SlowStart, Some(early), _) => Message::EndedEarly {
            segments: Count(early.segments),
        },
        _ => Message::TimeWentTo {
            cause: named(limit.noun()),
            time: Span(time),
        },
    };
    let mut out = Finding::new(limit, time / ledger.duration_s.max(LEAST), BOOKED, sentence);
    out.parameters.rtt_s = (case.rtt > 0.0).then_some(case.rtt);
    match limit {
        Limit::ReceiverApplication => out.parameters.stopped_s = stop.map(|(_, length)| length),
        Limit::SenderApplication => out.parameters.source_byte_per_s = Some(rate),
        Limit::RandomLoss => out.parameters.loss_fraction = Some(case.facts.loss.fraction),
        Limit::BottleneckBandwidth => {
            out.parameters.rate_bit_per_s = ledger
                .capacity_bit_per_s
                .filter(|_| ledger.floor_s.is_some())
                .map(|payload| case.frames(payload));
        }
        _ => {}
    }
    out
}

/// Share of the duration from which a part of the ledger counts.
const TENTH: f64 = 0.1;
/// The same for a rate that varies, seen away from the sender.
const MOSTLY: f64 = 0.8;
/// Share of the duration from which what could be avoided is the limit.
const AVOIDABLE: f64 = 0.2;
/// Share of a cause's time that is most of it.
const HALF: f64 = 0.5;
/// No duration is shorter, seconds.
const LEAST: f64 = 1e-9;
/// How long opening a connection takes once its first packet is lost, seconds (the initial timeout of RFC 6298 is one).
const AGAIN: f64 = 0.9;
/// Confidence in what the ledger alone says; chosen.
const BOOKED: f64 = 0.75;

#[cfg(test)]
mod tests {
    use slowpath_facts::Surroundings;

    use super::*;
    use crate::ledger::{CapacityIs, Entry};
    use crate::limits::sample::quiet;

    fn ledger(parts: &[(Limit, State, f64)]) -> Ledger {
        Ledger {
            duration_s: 10.0,
            capacity_is: CapacityIs::AtLeast,
            entries: parts
                .iter()
                .map(|(cause, state, time_s)| Entry::plain(*cause, *state, *time_s, None))
                .collect(),
            ..Ledger::default()
        }
    }

    #[test]
    fn an_answer_that_its_ledger_does_not_give_says_so() {
        let link = Limit::BottleneckBandwidth;
        let queue = ledger(&[
            (link, State::Window, 6.0),
            (link, State::Link, 2.0),
            (Limit::ReceiverWindow, State::Window, 2.0),
        ]);
        let key = |limit, ledger: &Ledger| differs(limit, ledger).map(|message| message.key());
        assert_eq!(key(Limit::ReceiverWindow, &queue), Some("ledger.but.window"));
        assert_eq!(key(Limit::EcnCongestion, &queue), Some("ledger.but.marks"));
        assert_eq!(key(Limit::Policed, &queue), Some("ledger.but"));
        assert_eq!(key(link, &queue), None);
        assert_eq!(key(Limit::Unknown, &queue), None);
        // A program that decides lets the link be full meanwhile, or made good what its bursts overran.
        let program = Limit::SenderApplication;
        assert_eq!(key(program, &queue), Some("ledger.but.bursts"));
        let overrun = ledger(&[(link, State::Growth, 9.0), (program, State::Pace, 1.0)]);
        assert_eq!(key(program, &overrun), None);
        // Nearly as long is no other answer.
        let near = ledger(&[
            (link, State::Link, 6.0),
            (Limit::ReceiverWindow, State::Window, 4.0),
        ]);
        assert_eq!(key(Limit::ReceiverWindow, &near), None);
    }

    #[test]
    fn what_a_short_queue_costs_is_no_full_link() {
        let link = Limit::BottleneckBandwidth;
        let facts = quiet();
        let around = Surroundings::default();
        let said = |growth: f64| {
            let mut account = ledger(&[(link, State::Growth, growth), (link, State::Link, 10.0 - growth)]);
            (account.entries[0].flags, account.entries[0].events) = (vec![Flag::ShortQueue], 6);
            finding(&Case::of(&facts, &around), link, &account).text()
        };
        assert!(said(9.0).contains("overflowed (6 times)"), "{}", said(9.0));
        assert!(!said(2.0).contains("overflowed"), "{}", said(2.0));
    }
}

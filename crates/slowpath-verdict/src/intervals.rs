//! Which limit held when: round trips labelled and joined.

use crate::case::Case;
use crate::ledger::Ledger;
use crate::limit::Limit;
use crate::verdict::Interval;
use slowpath_facts::Round;

/// What held most of each stretch of time by the ledger; one of less than two steps gives way to its neighbours.
pub(crate) fn of_ledger(case: &Case, ledger: &Ledger) -> Vec<Interval> {
    let mut shortest = 2.0 * case.facts.timeline.step_s;
    let mut out = absorb(&ledger.spans, shortest);
    while out.len() > INTERVALS {
        shortest *= 2.0;
        out = absorb(&out, shortest);
    }
    // What is short at the beginning has no neighbour before it.
    if let [first, second, ..] = out.as_mut_slice()
        && first.to_s - first.from_s < shortest
    {
        second.from_s = first.from_s;
        out.remove(0);
    }
    out
}

/// Labels round trips and joins neighbours; a label that lasts less than two of them gives way to its neighbours.
pub(crate) fn intervals(case: &Case, limit: Limit) -> Vec<Interval> {
    let rounds = &case.facts.rounds;
    let mut labels: Vec<Limit> = rounds.iter().map(|round| label(case, round, limit)).collect();
    opening(case, &mut labels);
    for index in 1..labels.len().saturating_sub(1) {
        let (before, after) = (labels[index - 1], labels[index + 1]);
        if before == after {
            labels[index] = before;
        }
    }
    let mut out: Vec<Interval> = Vec::new();
    for (round, label) in rounds.iter().zip(labels) {
        match out.last_mut() {
            Some(last) if last.limit == label => last.to_s = round.to_s,
            _ => out.push(Interval {
                from_s: round.from_s,
                to_s: round.to_s,
                limit: label,
            }),
        }
    }
    let mut shortest = rounds.first().map_or(0.0, |round| round.to_s - round.from_s) * 2.0;
    while out.len() > INTERVALS {
        out = absorb(&out, shortest);
        shortest *= 2.0;
    }
    out
}

/// The limit of one round trip: what its sender waited for most of the time.
fn label(case: &Case, round: &Round, limit: Limit) -> Limit {
    let span = round.to_s - round.from_s;
    let held = round.full_s + round.closed_s;
    let queued = matches!(limit, Limit::BottleneckBandwidth | Limit::SharedBottleneck);
    if round.closed_s + round.shrunk_s > MOST * span {
        return Limit::ReceiverApplication;
    }
    if held > MOST * span {
        return match limit {
            Limit::ReceiverApplication if round.closed_s > 0.0 || case.facts.window.full_ratio < SLOW => {
                limit
            }
            _ if queued => limit,
            _ => Limit::ReceiverWindow,
        };
    }
    if round.idle_s > MOST * span {
        return Limit::SenderApplication;
    }
    match limit {
        // The program or the window holds most of the transfer, but not this round trip.
        Limit::ReceiverWindow | Limit::ReceiverApplication => {
            if held > A_PART * span {
                limit
            } else if round.recovery_s > MOST * span || round.lost > 0 {
                Limit::RandomLoss
            } else {
                Limit::Unknown
            }
        }
        other => other,
    }
}

/// The first round trips of a transfer that grows without loss are slow start.
fn opening(case: &Case, labels: &mut [Limit]) {
    let rounds = &case.facts.rounds;
    for (index, round) in rounds.iter().enumerate().take(OPENING) {
        let grows = rounds
            .get(index + 1)
            .is_some_and(|next| next.flight as f64 >= GROWS * round.flight as f64);
        let quiet = round.lost == 0 && round.recovery_s <= 0.0 && round.full_s + round.closed_s <= 0.0;
        if !(grows && quiet && labels[index] != Limit::SenderApplication) {
            break;
        }
        labels[index] = Limit::SlowStart;
    }
}

fn absorb(intervals: &[Interval], shortest: f64) -> Vec<Interval> {
    let mut out: Vec<Interval> = Vec::with_capacity(intervals.len());
    for interval in intervals {
        match out.last_mut() {
            Some(last) if last.limit == interval.limit || interval.to_s - interval.from_s < shortest => {
                last.to_s = interval.to_s;
            }
            _ => out.push(*interval),
        }
    }
    out
}

/// Most intervals reported.
const INTERVALS: usize = 500;
/// Share of a round trip that gives it its limit.
const MOST: f64 = 0.5;
/// Share of a round trip during which the window held the sender from which it still counts as the window's.
const A_PART: f64 = 0.2;
/// Mean window while it holds, relative to its largest, below which the reader is slow.
const SLOW: f64 = 0.8;
/// Round trips among which a start is looked for.
const OPENING: usize = 40;
/// Growth of the flight from one round trip to the next in a start.
const GROWS: f64 = 1.25;

//! Where the time of a variant went, over all its runs.

use slowpath_verdict::Ledger;
use slowpath_verdict::message::{Count, List, Name, Part, Span, named};

use super::catalogue::Message;
use super::gain::the;
use crate::ledger::{Took, causes};
use crate::results::{RunResult, Variant};

/// The mean of each cause over the runs that have a ledger, every part of a tenth or more.
pub(super) fn of(variant: &Variant) -> Option<String> {
    let ledgers: Vec<&Ledger> = variant
        .runs
        .iter()
        .filter_map(|run: &RunResult| run.ledger.as_ref())
        .collect();
    said(&variant.name, &ledgers)
}

fn said(variant: &str, ledgers: &[&Ledger]) -> Option<String> {
    let runs = ledgers.len();
    let mean = |sum: f64| sum / runs as f64;
    let duration = mean(ledgers.iter().map(|ledger| ledger.duration_s).sum());
    let mut sums: Vec<(Took, f64, usize)> = Vec::new();
    let mut add = |took: Took, seconds: f64| match sums.iter_mut().find(|(known, ..)| *known == took) {
        Some((_, sum, count)) => {
            *sum += seconds;
            *count += 1;
        }
        None => sums.push((took, seconds, 1)),
    };
    // Whether the start is a part of its own is decided for all runs together.
    let starts = ledgers
        .iter()
        .filter_map(|ledger| ledger.start_s.filter(|_| ledger.floor_s.is_some()));
    let apart = mean(starts.sum()) >= TENTH * duration;
    for ledger in ledgers {
        for part in causes(ledger) {
            add(part.took, part.seconds);
        }
        if let Some(floor) = ledger.floor_s {
            let start = ledger.start_s.filter(|_| apart);
            add(Took::Link, floor - start.unwrap_or(0.0));
            if let Some(start) = start {
                add(Took::Start, start);
            }
        }
    }
    sums.retain(|(_, sum, _)| mean(*sum) >= TENTH * duration);
    // The link first, then the start, then the costliest.
    let order = |took: Took| match took {
        Took::Link => 0,
        Took::Start => 1,
        Took::Cause(_) => 2,
    };
    sums.sort_by(|a, b| order(a.0).cmp(&order(b.0)).then(b.1.total_cmp(&a.1)));
    let words = |(took, sum, count): &(Took, f64, usize)| {
        let time = Span(mean(*sum));
        let some = *count < runs;
        let in_some = Message::InSome {
            some: Count(*count as u64),
            all: Count(runs as u64),
        };
        let runs = Part::of(if some { in_some } else { Message::InAll {} });
        match took {
            Took::Link => Message::PartLink { time },
            Took::Start => Message::PartStart { time, runs },
            Took::Cause(cause) => Message::PartOf {
                time,
                cause: named(the(*cause)),
                runs,
            },
        }
    };
    let parts = List(sums.iter().map(words).collect());
    let (variant, duration) = (Name(variant.to_owned()), Span(duration));
    match runs {
        0 => None,
        1 => Some(
            Message::TimeOnce {
                variant,
                duration,
                parts,
            }
            .to_string(),
        ),
        _ => Some(
            Message::Time {
                variant,
                runs: Count(runs as u64),
                duration,
                parts,
            }
            .to_string(),
        ),
    }
}

/// Share of the duration from which a part is named, as in a ledger's own sentence.
const TENTH: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::lossy;

    fn ledger(floor_s: f64, start_s: f64, lost_s: f64) -> Ledger {
        Ledger {
            start_s: Some(start_s),
            ..lossy(floor_s + lost_s, lost_s)
        }
    }

    #[test]
    fn a_start_of_a_tenth_or_more_is_told_apart_from_the_link() {
        let (slow, quick) = (ledger(2.0, 0.9, 18.0), ledger(2.0, 0.9, 0.0));
        assert_eq!(
            said("short", &[&quick]).unwrap(),
            "short: of 2.00 s, 1.10 s are the link itself, 900 ms the handshake and slow start that every transfer needs."
        );
        // The same start of both is less than a tenth of what both took in the mean.
        assert_eq!(
            said("short", &[&slow, &quick]).unwrap(),
            "short, mean of 2 runs: of 11.0 s, 2.00 s are the link itself, 9.00 s random loss (in 1 of 2 runs)."
        );
        let mild = ledger(2.0, 0.9, 1.0);
        assert_eq!(
            said("short", &[&mild, &quick]).unwrap(),
            "short, mean of 2 runs: of 2.50 s, 1.10 s are the link itself, 900 ms the handshake and slow start that every transfer needs, 500 ms \
             random loss (in 1 of 2 runs)."
        );
    }
}

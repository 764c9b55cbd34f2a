//! Where the time of a variant went, over all its runs.

use slowpath_verdict::Ledger;
use slowpath_verdict::message::{Count, List, Name, Part, Span, named};

use super::catalogue::Message;
use super::gain::the;
use crate::ledger::{Took, parts};
use crate::results::{RunResult, Variant};

/// The mean of each cause over the runs that have a ledger, every part of a tenth or more.
pub(super) fn of(variant: &Variant) -> Option<String> {
    let ledgers: Vec<&Ledger> = variant
        .runs
        .iter()
        .filter_map(|run: &RunResult| run.ledger.as_ref())
        .collect();
    let runs = ledgers.len();
    let mean = |sum: f64| sum / runs as f64;
    let duration = mean(ledgers.iter().map(|ledger| ledger.duration_s).sum());
    let mut sums: Vec<(Took, f64, usize)> = Vec::new();
    for part in ledgers.iter().flat_map(|ledger| parts(ledger)) {
        match sums.iter_mut().find(|(took, ..)| *took == part.took) {
            Some((_, sum, count)) => {
                *sum += part.seconds;
                *count += 1;
            }
            None => sums.push((part.took, part.seconds, 1)),
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
    let (variant, duration) = (Name(variant.name.clone()), Span(duration));
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

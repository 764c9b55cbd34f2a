//! Where the time of a variant went, over all its runs.

use slowpath_verdict::message::{Count, List, Name, Part, Span, named};
use slowpath_verdict::{Ledger, Limit};

use super::catalogue::Message;
use super::gain::the;
use crate::ledger::parts;
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
    let mut sums: Vec<(Option<Limit>, f64, usize)> = Vec::new();
    for part in ledgers.iter().flat_map(|ledger| parts(ledger)) {
        match sums.iter_mut().find(|(cause, ..)| *cause == part.cause) {
            Some((_, sum, count)) => {
                *sum += part.seconds;
                *count += 1;
            }
            None => sums.push((part.cause, part.seconds, 1)),
        }
    }
    sums.retain(|(_, sum, _)| mean(*sum) >= TENTH * duration);
    // The link first, then the costliest.
    sums.sort_by(|a, b| {
        (b.0.is_none(), b.1)
            .partial_cmp(&(a.0.is_none(), a.1))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let words = |(cause, sum, count): &(Option<Limit>, f64, usize)| {
        let time = Span(mean(*sum));
        let some = *count < runs;
        let in_some = Message::InSome {
            some: Count(*count as u64),
            all: Count(runs as u64),
        };
        let runs = Part::of(if some { in_some } else { Message::InAll {} });
        match cause {
            None => Message::PartLink { time },
            Some(cause) => Message::PartOf {
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

//! Where the time of each run went: one stacked bar a run, all on one scale of seconds.

use serde::Serialize;
use slowpath_verdict::ledger::Ledger;

use crate::ledger::parts;
use crate::quantity::seconds;

/// The bars of all runs that have a ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct TimesView {
    rows: Vec<Bar>,
    /// Places of the scale's marks, percent, and their seconds in words.
    ticks: Vec<(f64, String)>,
    /// What the colours that can be seen mean, in the order of the bars.
    causes: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Bar {
    label: String,
    /// The place of its variant in the page.
    anchor: String,
    duration: String,
    parts: Vec<Piece>,
    /// The capacity is not known: the parts say how long each cause held, not what it cost.
    bounded: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Piece {
    /// The cause's code, `link` for what the link itself takes, `start` for the start that every transfer needs.
    cause: &'static str,
    /// Share of the scale, percent.
    width: f64,
    words: String,
}

impl TimesView {
    /// The bars of these runs, by their labels and their variants' anchors; `None` if no run has a ledger.
    pub(super) fn of<'a>(runs: impl Iterator<Item = (String, String, &'a Ledger)>) -> Option<Self> {
        let runs: Vec<(String, String, &Ledger)> = runs
            .filter(|(_, _, ledger)| ledger.duration_s > 0.0 && !ledger.entries.is_empty())
            .collect();
        let longest = runs
            .iter()
            .map(|(_, _, ledger)| ledger.duration_s)
            .fold(0.0, f64::max);
        if longest <= 0.0 {
            return None;
        }
        let step = step(longest);
        let scale = (longest / step).ceil() * step;
        let mut causes: Vec<&'static str> = Vec::new();
        let rows = runs
            .into_iter()
            .map(|(label, anchor, ledger)| Bar {
                label,
                anchor,
                duration: seconds(ledger.duration_s),
                parts: parts(ledger)
                    .into_iter()
                    .map(|part| {
                        let cause = part.took.name();
                        if part.seconds >= SEEN * scale && !causes.contains(&cause) {
                            causes.push(cause);
                        }
                        Piece {
                            cause,
                            width: 100.0 * part.seconds / scale,
                            words: format!("{cause} {}", seconds(part.seconds)),
                        }
                    })
                    .collect(),
                bounded: ledger.floor_s.is_none(),
            })
            .collect();
        let ticks = (0_u8..=10)
            .map(|mark| f64::from(mark) * step)
            .take_while(|at| *at <= scale * (1.0 + 1e-9))
            .map(|at| (100.0 * at / scale, seconds(at)))
            .collect();
        Some(Self { rows, ticks, causes })
    }
}

/// The distance of marks, seconds: one, two or five times a power of ten, four to ten marks for the longest.
fn step(longest: f64) -> f64 {
    let power = 10_f64.powf((longest / 10.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| longest / step <= 8.0)
        .unwrap_or(10.0 * power)
}

/// Share of the scale from which a part of a bar can be seen.
const SEEN: f64 = 0.002;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::lossy;

    #[test]
    fn bars_of_all_runs_share_one_scale() {
        let (short, long) = (lossy(5.0, 1.0), lossy(20.0, 8.0));
        let bar = |name: &str, ledger| (name.to_owned(), format!("v-{name}"), ledger);
        let runs = [bar("a", &short), bar("b", &long)];
        let view = TimesView::of(runs.into_iter()).unwrap();
        let width = |row: usize| view.rows[row].parts.iter().map(|part| part.width).sum::<f64>();
        assert!((width(0) - 25.0).abs() < 1e-9, "{view:?}");
        assert!((width(1) - 100.0).abs() < 1e-9, "{view:?}");
        assert_eq!(view.causes, ["link", "random-loss"]);
        assert_eq!(view.ticks.len(), 5);
    }

    #[test]
    fn a_start_of_a_tenth_or_more_is_a_part_of_its_own() {
        let bar = |start_s| {
            let ledger = Ledger {
                start_s: Some(start_s),
                ..lossy(5.0, 1.0)
            };
            let view = TimesView::of([("a".to_owned(), "v-a".to_owned(), &ledger)].into_iter()).unwrap();
            let parts = view.rows[0].parts.iter();
            parts.map(|part| part.words.clone()).collect::<Vec<_>>()
        };
        assert_eq!(bar(1.5), ["link 2.5 s", "start 1.5 s", "random-loss 1 s"]);
        assert_eq!(bar(0.4), ["link 4 s", "random-loss 1 s"]);
    }

    #[test]
    fn colours_that_nobody_can_see_are_not_explained() {
        let (whole, sliver) = (lossy(100.0, 0.0), lossy(100.0, 0.1));
        for ledger in [&whole, &sliver] {
            let view = TimesView::of([("a".to_owned(), "v-a".to_owned(), ledger)].into_iter()).unwrap();
            assert_eq!(view.causes, ["link"]);
        }
    }

    #[test]
    fn runs_without_a_ledger_have_no_bars() {
        let empty = Ledger::default();
        assert_eq!(
            TimesView::of([("a".to_owned(), "v-a".to_owned(), &empty)].into_iter()),
            None
        );
    }
}

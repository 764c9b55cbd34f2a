//! A setting over a range: from where on one variant is faster than another, or which values stand apart.

use slowpath_verdict::message::{List, Name, Times};

use super::catalogue::Message;
use crate::results::{RangePoint, RangeWish, Results};

/// The sentence of a range that was computed.
pub(super) fn of(results: &Results, wish: &RangeWish) -> Option<String> {
    let range = results.ranges.iter().find(|range| range.wish == *wish)?;
    let (first, last) = (range.points.first()?, range.points.last()?);
    let key = wish.sweep.split('=').next().unwrap_or_default();
    let called = Name(wish.called.clone().unwrap_or_else(|| key.to_owned()));
    let [a, b] = wish.of.as_slice() else {
        let of = Name(wish.of.first()?.clone());
        return Some(
            Message::RangeSteps {
                of,
                called,
                groups: List(groups(results, &range.points)),
            }
            .to_string(),
        );
    };
    let (a, b) = (Name(a.clone()), Name(b.clone()));
    let gain = |point: &RangePoint| Some((*point.byte_per_s.get(1)?)? / (*point.byte_per_s.first()?)?);
    let faster: Vec<bool> = range
        .points
        .iter()
        .map(|point| gain(point).is_some_and(|gain| gain >= GAIN))
        .collect();
    let (first, last) = (Name(first.value.clone()), Name(last.value.clone()));
    // From the first value behind the last one at which it is not faster.
    let begin = faster
        .iter()
        .rposition(|faster| !faster)
        .map_or(0, |place| place + 1);
    let message = match range.points.get(begin) {
        None => Message::RangeNever {
            b,
            a,
            called,
            first,
            last,
        },
        Some(_) if begin == 0 => Message::RangeAlways {
            b,
            a,
            called,
            first,
            last,
        },
        Some(from) => {
            let most = range
                .points
                .iter()
                .filter_map(|point| Some((point, gain(point)?)))
                .max_by(|x, y| x.1.total_cmp(&y.1))?;
            Message::RangeFrom {
                b,
                a,
                called,
                from: Name(from.value.clone()),
                times: Times(most.1),
                most: Name(most.0.value.clone()),
            }
        }
    };
    Some(message.to_string())
}

/// What the ranges that were computed had set otherwise than the variants have it.
pub(super) fn settings(results: &Results, wishes: &[RangeWish]) -> Option<String> {
    let mut set: Vec<&str> = Vec::new();
    for range in results.ranges.iter().filter(|range| wishes.contains(&range.wish)) {
        for one in &range.wish.set {
            if !set.contains(&one.as_str()) {
                set.push(one);
            }
        }
    }
    let told = !set.is_empty();
    told.then(|| {
        Message::RangeSet {
            set: Name(set.join(", ")),
        }
        .to_string()
    })
}

/// Values that give about the same rate, together; the most numerous first.
fn groups(results: &Results, points: &[RangePoint]) -> Vec<Message> {
    let mut groups: Vec<(f64, Vec<&str>)> = Vec::new();
    for point in points {
        let Some(rate) = point.byte_per_s.first().copied().flatten() else {
            continue;
        };
        match groups
            .iter_mut()
            .find(|(other, _)| (rate / *other - 1.0).abs() < ALIKE)
        {
            Some((_, values)) => values.push(&point.value),
            None => groups.push((rate, vec![&point.value])),
        }
    }
    groups.sort_by_key(|(_, values)| std::cmp::Reverse(values.len()));
    groups
        .iter()
        .map(|(rate, values)| {
            let rate = Name(results.rate_unit.show(*rate));
            if values.len() > MANY {
                let count = Name(values.len().to_string());
                return Message::RangeCounted { count, rate };
            }
            Message::RangeGroup {
                values: Name(values.join(", ")),
                rate,
            }
        })
        .collect()
}

/// A gain that is worth a change.
const GAIN: f64 = 1.1;
/// Rates nearer than this are alike.
const ALIKE: f64 = 0.2;
/// More values than this are counted, not named.
const MANY: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::RangeResult;

    fn said(of: &[&str], points: &[(&str, &[f64])]) -> String {
        let wish = RangeWish {
            of: of.iter().map(|name| (*name).to_owned()).collect(),
            sweep: "delay=1 ms,9 ms".to_owned(),
            called: Some("round trip".to_owned()),
            set: Vec::new(),
        };
        let point = |(value, rates): &(&str, &[f64])| RangePoint {
            value: (*value).to_owned(),
            byte_per_s: rates.iter().map(|rate| Some(*rate)).collect(),
        };
        let mut results = Results::new("x", 1);
        let points = points.iter().map(point).collect();
        results.ranges = vec![RangeResult {
            wish: wish.clone(),
            points,
        }];
        of_results(&results, &wish)
    }

    fn of_results(results: &Results, wish: &RangeWish) -> String {
        super::of(results, wish).unwrap()
    }

    #[test]
    fn the_first_value_from_which_on_it_is_faster() {
        let text = said(
            &["a", "b"],
            &[
                ("1 ms", &[1e6, 1e6]),
                ("5 ms", &[1e6, 1.5e6]),
                ("9 ms", &[1e6, 3e6]),
            ],
        );
        assert_eq!(
            text,
            "b is faster than a by a tenth and more from a round trip of 5 ms on, 3.0 times at 9 ms."
        );
        let text = said(&["a", "b"], &[("1 ms", &[1e6, 1e6]), ("9 ms", &[1e6, 1.05e6])]);
        assert_eq!(
            text,
            "b is nowhere faster than a by a tenth, at a round trip of 1 ms to 9 ms."
        );
    }

    #[test]
    fn settings_of_its_own_are_told() {
        let wish = RangeWish {
            of: vec!["a".to_owned()],
            sweep: "delay=1 ms,9 ms".to_owned(),
            called: None,
            set: vec!["workload.requests=16".to_owned()],
        };
        let mut results = Results::new("x", 1);
        assert_eq!(settings(&results, std::slice::from_ref(&wish)), None);
        let points = Vec::new();
        results.ranges = vec![RangeResult {
            wish: wish.clone(),
            points,
        }];
        let told = settings(&results, &[wish]).unwrap();
        assert!(told.contains("workload.requests=16"), "{told}");
    }

    #[test]
    fn values_that_stand_apart_are_named() {
        let points: Vec<(&str, &[f64])> = vec![("cs0", &[1e8]), ("cs1", &[1e6]), ("ef", &[1.01e8])];
        assert_eq!(
            said(&["a"], &points),
            "a by round trip: cs0, ef 100 MB/s, cs1 1 MB/s."
        );
    }
}

//! The sender's own figure beside the receiver's: a sending program counts what its socket took.

use slowpath_verdict::message::{Count, Name, Share, Size};

use super::catalogue::Message;
use super::variant::find;
use crate::results::{Results, RunResult, Variant};

/// A sentence for those that agree, and one for those that do not, with the one that is farthest off.
pub(super) fn of(results: &Results, names: &[String]) -> Vec<String> {
    let counted: Vec<(&Variant, f64, f64)> = names
        .iter()
        .filter_map(|name| {
            let variant = find(results, name)?;
            let receiver = variant.goodput_byte_per_s.as_ref()?.mean;
            Some((variant, mean(variant, rate)?, receiver))
        })
        .collect();
    let agrees = |(_, sender, receiver): &&(&Variant, f64, f64)| (sender / receiver - 1.0).abs() <= ALIKE;
    let near: Vec<f64> = counted
        .iter()
        .filter(agrees)
        .map(|(_, sender, receiver)| (sender / receiver - 1.0).abs())
        .collect();
    let mut out = Vec::new();
    if !near.is_empty() {
        let message = Message::SenderAgrees {
            near: Count(near.len() as u64),
            all: Count(counted.len() as u64),
            most: Share(near.iter().copied().fold(0.0, f64::max)),
        };
        out.push(message.to_string());
    }
    let apart = |is_more: bool| {
        let own = counted
            .iter()
            .filter(|row| !agrees(row) && (row.1 > row.2) == is_more);
        let rows = own.clone().count() as u64;
        let off = |row: &&(&Variant, f64, f64)| (row.1 / row.2).ln().abs();
        Some((rows, own.max_by(|a, b| off(a).total_cmp(&off(b)))?))
    };
    let show = |rate: f64| Name(results.rate_unit.show(rate));
    if let Some((rows, (variant, sender, receiver))) = apart(true) {
        // It counts over the time of the test; what it counted too many was still to be sent then.
        let span = mean(variant, |run| run.sender_duration_s).unwrap_or(0.0);
        let message = Message::SenderMore {
            rows: Count(rows),
            variant: Name(results.label(variant)),
            sender: show(*sender),
            receiver: show(*receiver),
            waiting: Size((sender - receiver) * span),
        };
        out.push(message.to_string());
    }
    if let Some((rows, (variant, sender, receiver))) = apart(false) {
        let message = Message::SenderLess {
            rows: Count(rows),
            variant: Name(results.label(variant)),
            sender: show(*sender),
            receiver: show(*receiver),
        };
        out.push(message.to_string());
    }
    out
}

/// What the sender of a run tells, byte/s.
fn rate(run: &RunResult) -> Option<f64> {
    let span = run.sender_duration_s.filter(|span| *span > 0.0)?;
    Some(run.sender_bytes? as f64 / span)
}

/// The mean over the runs that tell it.
fn mean(variant: &Variant, of: impl Fn(&RunResult) -> Option<f64>) -> Option<f64> {
    let told: Vec<f64> = variant.runs.iter().filter_map(of).collect();
    (!told.is_empty()).then(|| told.iter().sum::<f64>() / told.len() as f64)
}

/// Figures nearer than this agree.
const ALIKE: f64 = 0.02;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slowpath_record::Origin;

    use super::*;

    fn results(rows: &[(&str, f64, u64)]) -> Results {
        let mut results = Results::new("x", 1);
        for (name, goodput, counted) in rows {
            let run = json!({
                "bytes": 10_000_000, "duration_s": 10.0, "goodput_byte_per_s": goodput,
                "sender_bytes": counted, "sender_duration_s": 10.0, "retransmitted_segments": null, "flows": [],
                "health": {"state": "valid", "reasons": []}, "verdict": null, "captures": [],
            });
            let mut variant = Variant::new(name, Origin::Simulated);
            variant.runs = vec![serde_json::from_value(run).unwrap()];
            variant.summarize();
            results.variants.push(variant);
        }
        results
    }

    fn said(rows: &[(&str, f64, u64)]) -> Vec<String> {
        let names: Vec<String> = rows.iter().map(|row| row.0.to_owned()).collect();
        of(&results(rows), &names)
    }

    #[test]
    fn what_still_waited_in_the_send_buffer_is_told() {
        let told = said(&[
            ("a", 1e6, 10_005_000),
            ("b", 1e6, 15_000_000),
            ("c", 1e6, 9_000_000),
        ]);
        assert_eq!(
            told,
            [
                "The sender's own figure is within 0.050 % of the receiver's in 1 of 3 rows.",
                "In 1 it counts what still waits in its send buffer at the end, most in b: 1.5 MB/s where 1 MB/s arrive, \
                 5.00 MB.",
                "In 1 it counts less than arrives, least in c: 900 kB/s where 1 MB/s arrive.",
            ]
        );
        assert_eq!(said(&[]), [""; 0]);
    }
}

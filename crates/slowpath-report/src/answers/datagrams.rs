//! What of a stream of datagrams is lost and where, and its jitter beside the published one.

use slowpath_verdict::message::{Count, List, Name, RoundShare, Share, Span};

use super::catalogue::Message;
use super::variant::find;
use crate::results::{Figure, FlowRow, Results, Variant};

/// The sentences of the variants that were run.
pub(super) fn of(results: &Results, names: &[String]) -> Vec<String> {
    let rows: Vec<(&Variant, &FlowRow)> = names
        .iter()
        .filter_map(|name| {
            let variant = find(results, name)?;
            Some((variant, variant.runs.first()?.flows.first()?))
        })
        .collect();
    let (lossy, whole): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|(_, flow)| flow.loss_fraction > NO_LOSS);
    let mut out = Vec::new();
    if !whole.is_empty() {
        let message = Message::NoneLost {
            rows: Count(whole.len() as u64),
            all: Count((whole.len() + lossy.len()) as u64),
        };
        out.push(message.to_string());
    }
    if !lossy.is_empty() {
        let row = |(variant, flow): &(&Variant, &FlowRow)| lost(results.label(variant), flow);
        let rows = lossy.iter().map(row).collect();
        out.push(Message::DatagramsLost { rows: List(rows) }.to_string());
    }
    out.extend(jitter(results, names));
    out
}

/// What of a flow was lost, and where most of it, as far as that is counted.
fn lost(label: String, flow: &FlowRow) -> Message {
    let all: u64 = flow.lost.iter().map(|lost| lost.packets).sum();
    let (variant, share) = (Name(label), Share(flow.loss_fraction));
    match flow.lost.first() {
        Some(most) if all > 0 => Message::LostRowAt {
            variant,
            share,
            most: RoundShare(most.packets as f64 / all as f64),
            element: Name(most.element.clone()),
            cause: Name(most.cause.clone()),
        },
        _ => Message::LostRow { variant, share },
    }
}

/// How many rows have about the jitter that the source printed, and which is farthest from it.
fn jitter(results: &Results, names: &[String]) -> Option<String> {
    let pair = |figure: &Figure| {
        let both = figure.measured.zip(figure.published)?;
        (figure.name.ends_with("jitter") && both.0 > 0.0 && both.1 > 0.0).then_some(both)
    };
    let told: Vec<(&Variant, f64, f64)> = names
        .iter()
        .filter_map(|name| {
            let variant = find(results, name)?;
            let (measured, published) = variant.figures.iter().find_map(pair)?;
            Some((variant, measured, published))
        })
        .collect();
    let off = |(_, measured, published): &&(&Variant, f64, f64)| (measured / published).ln().abs();
    let farthest = told.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
    let message = Message::Jitter {
        near: Count(told.iter().filter(|row| off(row) <= 2.0_f64.ln()).count() as u64),
        all: Count(told.len() as u64),
        variant: Name(results.label(farthest.0)),
        measured: Span(farthest.1),
        published: Span(farthest.2),
    };
    Some(message.to_string())
}

/// A share of losses that no row shows.
const NO_LOSS: f64 = 5e-6;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slowpath_record::{LostPackets, Origin};

    use super::*;

    fn variant(name: &str, loss: f64, lost: &[(&str, u64)], jitter: Option<(f64, f64)>) -> Variant {
        let mut variant = Variant::new(name, Origin::Simulated);
        let run = json!({
            "bytes": 1_000_000, "duration_s": 10.0, "goodput_byte_per_s": 1e5, "retransmitted_segments": null, "flows": [],
            "health": {"state": "valid", "reasons": []}, "verdict": null, "captures": [],
        });
        variant.runs = vec![serde_json::from_value(run).unwrap()];
        variant.runs[0].flows = vec![FlowRow {
            name: "udp".to_owned(),
            loss_fraction: loss,
            goodput_byte_per_s: 1e5 * (1.0 - loss),
            lost: lost
                .iter()
                .map(|(element, packets)| LostPackets {
                    element: (*element).to_owned(),
                    cause: "tail-drop".to_owned(),
                    packets: *packets,
                })
                .collect(),
            ..FlowRow::default()
        }];
        variant.figures.extend(jitter.map(|(measured, published)| Figure {
            name: "udp: jitter".to_owned(),
            measured: Some(measured),
            published: Some(published),
            ..Figure::default()
        }));
        variant.summarize();
        variant
    }

    #[test]
    fn losses_with_their_place_and_the_farthest_jitter() {
        let mut results = Results::new("x", 1);
        results.variants = vec![
            variant("a", 0.0, &[], Some((0.001, 0.0015))),
            variant("b", 0.25, &[("uplink", 3), ("host", 1)], Some((0.001, 0.004))),
            variant("c", 0.5, &[], None),
        ];
        let names = ["a", "b", "c", "not run"].map(str::to_owned);
        assert_eq!(
            of(&results, &names),
            [
                "Nothing is lost in 1 of 3 rows.",
                "Lost are 25.0 % in b (75 % of that at uplink, tail-drop), 50.0 % in c.",
                "Jitter is within a factor of two of the published in 1 of 2 rows; farthest off is b, 1.00 ms beside 4.00 ms.",
            ]
        );
    }
}

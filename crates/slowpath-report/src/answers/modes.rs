//! What each way to measure a path measures: by what limits its rows, and by how near they come to the best rate on the
//! same network.

use slowpath_verdict::Limit;
use slowpath_verdict::message::{Clauses, Count, List, Name, RoundShare};

use super::catalogue::Message;
use super::question::Mode;
use super::variant::find;
use crate::results::{Results, Variant};

/// What a row of a mode measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measures {
    Path,
    Window,
    Own,
    Drops,
    Other,
}

/// What is measured, each with the modes that measure it.
pub(super) fn of(results: &Results, modes: &[Mode]) -> Option<String> {
    let rate = |variant: &Variant| Some(variant.goodput_byte_per_s.as_ref()?.mean);
    let row = |mode: &Mode, network: usize| {
        let variant = find(results, mode.rows.get(network)?)?;
        Some((variant, rate(variant).or_else(|| flows_rate(variant))?))
    };
    let networks = modes.iter().map(|mode| mode.rows.len()).max().unwrap_or(0);
    let best: Vec<f64> = (0..networks)
        .map(|network| {
            modes
                .iter()
                .filter_map(|mode| Some(row(mode, network)?.1))
                .fold(0.0, f64::max)
        })
        .collect();
    let mut told: Vec<(Measures, Message)> = Vec::new();
    for mode in modes {
        let rows: Vec<(Measures, f64)> = (0..networks)
            .filter_map(|network| {
                let (variant, rate) = row(mode, network)?;
                Some((measures(variant.verdict.as_ref()?.limit), rate / best[network]))
            })
            .collect();
        for kind in KINDS {
            let own = rows.iter().filter(|row| row.0 == kind).map(|row| row.1);
            let own: Vec<f64> = own.collect();
            told.extend(of_mode(mode, &own, rows.len()).map(|message| (kind, message)));
        }
    }
    let group = |wanted: Measures| {
        let own: Vec<Message> = told
            .iter()
            .filter(|(kind, _)| *kind == wanted)
            .map(|(_, text)| text.clone())
            .collect();
        (!own.is_empty()).then_some(List(own))
    };
    let of = |kind: Measures, message: fn(List<Message>) -> Message| Some(message(group(kind)?));
    let groups: Vec<Message> = [
        of(Measures::Path, |modes| Message::ModesPath { modes }),
        of(Measures::Window, |modes| Message::ModesWindow { modes }),
        of(Measures::Own, |modes| Message::ModesOwn { modes }),
        of(Measures::Drops, |modes| Message::ModesDrops { modes }),
        of(Measures::Other, |modes| Message::ModesOther { modes }),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!groups.is_empty()).then(|| {
        Message::Modes {
            groups: Clauses(groups),
        }
        .to_string()
    })
}

fn flows_rate(variant: &Variant) -> Option<f64> {
    let flows = &variant.runs.first()?.flows;
    (!flows.is_empty()).then(|| flows.iter().map(|flow| flow.goodput_byte_per_s).sum())
}

/// The shares of the best rate that a mode has in its rows of one kind, of `all` rows.
fn of_mode(mode: &Mode, shares: &[f64], all: usize) -> Option<Message> {
    let rounded = |share: f64| RoundShare(share).to_string();
    let lowest = shares.iter().copied().reduce(f64::min)?;
    let highest = shares.iter().copied().fold(0.0, f64::max);
    let name = Name(mode.name.clone());
    let (some, all) = (Count(shares.len() as u64), Count(all as u64));
    let (lowest, highest, same) = (
        RoundShare(lowest),
        RoundShare(highest),
        rounded(lowest) == rounded(highest),
    );
    let share = highest;
    Some(match (some == all, same) {
        (true, true) => Message::ModeOnce { name, share },
        (true, false) => Message::ModeOf {
            name,
            lowest,
            highest,
        },
        (false, true) => Message::ModeSomeOnce {
            name,
            some,
            all,
            share,
        },
        (false, false) => Message::ModeSome {
            name,
            some,
            all,
            lowest,
            highest,
        },
    })
}

/// What a row measures, by what limits it.
const fn measures(limit: Limit) -> Measures {
    match limit {
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => Measures::Path,
        Limit::ReceiverWindow => Measures::Window,
        Limit::SenderApplication => Measures::Own,
        Limit::Policed | Limit::DeviceLimit => Measures::Drops,
        _ => Measures::Other,
    }
}

/// In the order in which they are told.
const KINDS: [Measures; 5] = [
    Measures::Path,
    Measures::Window,
    Measures::Own,
    Measures::Drops,
    Measures::Other,
];

#[cfg(test)]
mod tests {
    use serde_json::json;
    use slowpath_record::Origin;

    use super::*;

    fn row(name: &str, limit: &str, goodput: f64) -> Variant {
        let verdict = json!({
            "limit": limit, "flags": [], "share": 1.0, "confidence": 0.9, "sentence": "", "parameters": {},
            "evidence": [], "rejected": [],
        });
        let run = json!({
            "bytes": 10_000_000, "duration_s": 10.0, "goodput_byte_per_s": goodput, "sender_bytes": null,
            "sender_duration_s": null, "retransmitted_segments": null, "flows": [],
            "health": {"state": "valid", "reasons": []}, "verdict": null, "captures": [],
        });
        let mut variant = Variant::new(name, Origin::Simulated);
        variant.runs = vec![serde_json::from_value(run).unwrap()];
        variant.summarize();
        variant.verdict = Some(serde_json::from_value(verdict).unwrap());
        variant
    }

    #[test]
    fn each_row_counts_as_what_limits_it() {
        let mut results = Results::new("x", 1);
        results.variants = vec![
            row("near", "bottleneck-bandwidth", 1e6),
            row("near-small", "bottleneck-bandwidth", 0.9e6),
            row("far", "bottleneck-bandwidth", 1e6),
            row("far-small", "receiver-window", 0.1e6),
        ];
        let mode = |name: &str, rows: [&str; 2]| Mode {
            name: name.to_owned(),
            rows: rows.map(str::to_owned).to_vec(),
        };
        let modes = [
            mode("large", ["near", "far"]),
            mode("small", ["near-small", "far-small"]),
        ];
        assert_eq!(
            of(&results, &modes).unwrap(),
            "Share of the best rate on each network: the path is measured by large (100 %), small (on 1 of 2, 90 %); \
             the receiver's window by small (on 1 of 2, 10 %)."
        );
    }
}

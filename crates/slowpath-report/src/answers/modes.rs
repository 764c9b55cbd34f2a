//! What each way to measure a path measures: by what limits its rows, and by how near they come to the best rate on the
//! same network.

use slowpath_verdict::Limit;
use slowpath_verdict::message::{Clauses, List, Name, RoundShare};

use super::catalogue::Message;
use super::question::Mode;
use super::variant::find;
use crate::results::{Results, Variant};

/// What a mode measures where most of its rows do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measures {
    Path,
    Window,
    Own,
    Drops,
    Mixed,
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
        let rows: Vec<(Limit, f64)> = (0..networks)
            .filter_map(|network| {
                let (variant, rate) = row(mode, network)?;
                Some((variant.verdict.as_ref()?.limit, rate / best[network]))
            })
            .collect();
        let Some(lowest) = rows.iter().map(|(_, share)| *share).reduce(f64::min) else {
            continue;
        };
        let highest = rows.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        let name = Name(mode.name.clone());
        let message = if rows.len() == 1 {
            Message::ModeOnce {
                name,
                share: RoundShare(lowest),
            }
        } else {
            Message::ModeOf {
                name,
                lowest: RoundShare(lowest),
                highest: RoundShare(highest),
            }
        };
        told.push((measures(&rows), message));
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
        of(Measures::Mixed, |modes| Message::ModesMixed { modes }),
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

/// What most rows of a mode are limited by; nothing in particular where none of these holds half of them.
fn measures(rows: &[(Limit, f64)]) -> Measures {
    let of = |limit: Limit| match limit {
        Limit::BottleneckBandwidth | Limit::SharedBottleneck => Measures::Path,
        Limit::ReceiverWindow => Measures::Window,
        Limit::SenderApplication => Measures::Own,
        Limit::Policed | Limit::DeviceLimit => Measures::Drops,
        _ => Measures::Mixed,
    };
    let count = |wanted: Measures| rows.iter().filter(|(limit, _)| of(*limit) == wanted).count();
    [Measures::Path, Measures::Window, Measures::Own, Measures::Drops]
        .into_iter()
        .find(|wanted| count(*wanted) * 2 > rows.len())
        .unwrap_or(Measures::Mixed)
}

//! Layers of programs, each on top of what carries it: what each costs against the first.

use slowpath_verdict::message::{List, Name, Part, Share, named};

use super::catalogue::Message;
use super::gain::the;
use super::variant::find;
use crate::results::{Results, Variant};

/// The sentence of the layers that were run; the first is the barest.
pub(super) fn of(results: &Results, names: &[String]) -> Option<String> {
    let rate = |variant: &Variant| Some(variant.goodput_byte_per_s.as_ref()?.mean);
    let run: Vec<(&Variant, f64)> = names
        .iter()
        .filter_map(|name| find(results, name))
        .filter_map(|variant| Some((variant, rate(variant)?)))
        .collect();
    let [(first, most), others @ ..] = run.as_slice() else {
        return None;
    };
    let less = |rate: f64| (1.0 - rate / most).max(0.0);
    let layers: Vec<Message> = others
        .iter()
        .map(|(variant, rate)| {
            let name = Name(variant.name.clone());
            match less(*rate) {
                less if less >= ALIKE => Message::LayerLess {
                    name,
                    less: Share(less),
                },
                _ => Message::LayerSame { name },
            }
        })
        .collect();
    let (worst, rate) = others.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let end = if less(*rate) >= COSTS {
        let limit = worst
            .verdict
            .as_ref()
            .map_or_else(String::new, |verdict| the(verdict.limit));
        Message::LayerCostliest {
            name: Name(worst.name.clone()),
            less: Share(less(*rate)),
            limit: named(limit),
        }
    } else {
        Message::LayerNone {
            most: Share(less(*rate).max(ALIKE)),
        }
    };
    let first_rate = Name(results.rate_unit.show(*most));
    let first = Name(first.name.clone());
    Some(
        Message::Layers {
            first,
            rate: first_rate,
            layers: List(layers),
            end: Part::of(end),
        }
        .to_string(),
    )
}

/// Differences below this are not told.
const ALIKE: f64 = 0.01;
/// From this share on a layer is said to cost.
const COSTS: f64 = 0.1;

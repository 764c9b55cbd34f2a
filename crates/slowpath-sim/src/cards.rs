//! What every backend adds to a planned network: the hosts' own network cards, and taps where captures are wanted.

use slowpath_path::{ElementKind, ElementSpec, Limit, Link, NetworkSpec, Rate, Tap, Target};
use slowpath_scenario::{Captures, Plan};
use slowpath_units::{BitRate, Layer};

/// The planned network with a network card behind each port and, where all is to be captured, a tap behind
/// each element.
///
/// Without the card a host could put its whole window into the first queue at one instant, which no real
/// network card can.
pub fn complete(plan: &Plan) -> NetworkSpec {
    with_cards(plan.network.clone(), plan.captures == Captures::All)
}

/// `spec` with a network card behind each port and, if wanted, a recording tap behind each element.
pub fn with_cards(mut spec: NetworkSpec, taps: bool) -> NetworkSpec {
    if taps {
        add_taps(&mut spec);
    }
    let rate = card_rate(&spec);
    for index in 0..spec.ports.len() {
        let port = spec.ports[index].name.clone();
        let Some(entry) = spec.ports[index].entry.take() else {
            continue;
        };
        let name = format!("{port}{CARD}");
        let card = ElementKind::Link(Link::fifo(rate, Layer::Wire, Limit::Packets(CARD_QUEUE)));
        spec.elements.push(ElementSpec {
            name: name.clone(),
            does: card,
            outputs: vec![entry],
        });
        spec.ports[index].entry = Some(Target::to(name));
    }
    spec
}

/// Whether an element of that name is a host's network card.
pub fn is_card(element: &str) -> bool {
    element.ends_with(CARD)
}

/// Ten times the fastest link, at least 10 Gbit/s: the card must never be the limit.
fn card_rate(spec: &NetworkSpec) -> BitRate {
    let rates = spec.elements.iter().filter_map(|element| match &element.does {
        ElementKind::Link(Link {
            rate: Rate::Fixed(rate),
            ..
        }) => Some(rate.bits_per_s()),
        _ => None,
    });
    BitRate::new(
        rates
            .max()
            .unwrap_or(LEAST_CARD)
            .saturating_mul(10)
            .max(LEAST_CARD),
    )
}

/// A recording tap behind every output of every element.
fn add_taps(spec: &mut NetworkSpec) {
    let mut taps = Vec::new();
    for element in &mut spec.elements {
        if matches!(element.does, ElementKind::Tap(_)) {
            continue;
        }
        for (number, output) in element.outputs.iter_mut().enumerate() {
            let name = if number == 0 {
                format!("after {}", element.name)
            } else {
                format!("after {} {number}", element.name)
            };
            let tap = ElementKind::Tap(Tap { record: true });
            taps.push(ElementSpec {
                name: name.clone(),
                does: tap,
                outputs: vec![output.clone()],
            });
            *output = Target::to(name);
        }
    }
    spec.elements.extend(taps);
}

/// Ending of the names of network cards.
const CARD: &str = ".card";

/// Slowest card, in bits per second.
const LEAST_CARD: u64 = 10_000_000_000;

/// Packets that may wait in a card: more than any window of an experiment holds.
const CARD_QUEUE: u32 = 1_000_000;

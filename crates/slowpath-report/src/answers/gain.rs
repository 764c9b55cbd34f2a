//! Two variants: how much faster the second is, what limits either, and what a test of the change said.

use slowpath_diagnose::stats::{Comparison, Outcome};
use slowpath_verdict::Limit;
use slowpath_verdict::message::{Name, Part, Share, Times, named};

use super::catalogue::Message;
use super::variant::find;
use crate::results::{Held, Proof, ProofOutcome, Results, Variant};
use slowpath_words::{english, english_word};

/// The sentences of a pair, the slower or older one first.
pub(super) fn of(results: &Results, [a, b]: &[String; 2]) -> Vec<String> {
    let (Some(a), Some(b)) = (find(results, a), find(results, b)) else {
        return Vec::new();
    };
    let mut out = vec![compared(results, a, b).to_string()];
    out.extend(tests(results, a));
    out
}

/// What the tests of changes to a variant said.
pub(super) fn tests<'a>(results: &'a Results, variant: &'a Variant) -> impl Iterator<Item = String> + 'a {
    let own = results
        .proofs
        .iter()
        .filter(|proof| proof.variant == variant.name);
    own.filter_map(|proof| tested(results, proof))
}

fn compared(results: &Results, a: &Variant, b: &Variant) -> Message {
    let limits = Part::of(limits(a, b));
    let names = [a, b].map(|variant| Name(results.label(variant)));
    let [of_a, of_b] = names;
    let Some(result) = Comparison::of_rates(&a.rates(), &b.rates()) else {
        return Message::Starves {
            a: of_a,
            b: of_b,
            limits,
        };
    };
    let show = |rate: f64| results.rate_unit.show(rate);
    let rates = Name(english!(
        "gain-against",
        mean = show(result.b.mean),
        mean2 = show(result.a.mean)
    ));
    // One run each of a model without chance differs by what differs.
    let differs = match result.outcome {
        Outcome::NotShown => false,
        Outcome::TooFew => (result.ratio - 1.0).abs() >= ALIKE,
        Outcome::Higher | Outcome::Lower => true,
    };
    let (a, b) = (of_a, of_b);
    match result.ratio {
        _ if !differs => Message::NotShown { b, a, rates, limits },
        ratio if ratio >= DOUBLE => Message::Faster {
            b,
            a,
            times: Times(ratio),
            rates,
            limits,
        },
        ratio if ratio >= 1.0 => Message::LittleFaster {
            b,
            a,
            more: Share(ratio - 1.0),
            rates,
            limits,
        },
        ratio => Message::Slower {
            b,
            a,
            less: Share(1.0 - ratio),
            rates,
            limits,
        },
    }
}

fn limits(a: &Variant, b: &Variant) -> Message {
    let told = |held: &Held| !matches!(held, Held::By(limit) if limit.is_undecided());
    match (a.held().filter(told), b.held().filter(told)) {
        (Some(before), Some(after)) if before == after => Message::LimitBoth {
            limit: named(held_by(before)),
        },
        (Some(before), Some(after)) => Message::LimitChanges {
            before: named(held_by(before)),
            after: named(held_by(after)),
        },
        _ => Message::LimitUntold {},
    }
}

/// What holds a variant, with its article where it takes one.
fn held_by(held: Held) -> String {
    match held {
        Held::By(limit) => the(limit),
        Held::Outage => english_word!("gain-outage").to_owned(),
        Held::ShortQueue => english_word!("gain-short-queue").to_owned(),
    }
}

/// A limit with its article where it takes one.
pub(super) fn the(limit: Limit) -> String {
    match limit {
        Limit::RandomLoss
        | Limit::SlowStart
        | Limit::Reordering
        | Limit::DscpTreatment
        | Limit::EcnCongestion => limit.noun().to_owned(),
        _ => english!("gain-the", noun = limit.noun()),
    }
}

/// What a test of a change to the first variant said.
fn tested(results: &Results, proof: &Proof) -> Option<String> {
    let show = |rate: f64| results.rate_unit.show(rate);
    let change = Name(proof.change.clone());
    let range = proof.predicted_byte_per_s;
    let predicted = Name(range.high.map_or_else(
        || english!("gain-least", low = show(range.low)),
        |high| english!("gain-to", low = show(range.low), high = show(high)),
    ));
    let measured = Name(show(proof.measured_byte_per_s?));
    let message = match proof.outcome {
        ProofOutcome::Held => Message::ProofHeld {
            change,
            predicted,
            measured,
        },
        ProofOutcome::Refuted => Message::ProofRefuted {
            change,
            predicted,
            measured,
        },
        ProofOutcome::Undecided => Message::ProofOpen {
            change,
            predicted,
            measured,
        },
    };
    Some(message.to_string())
}

/// From this ratio on a gain is told as a multiple.
const DOUBLE: f64 = 2.0;
/// Single runs nearer than this are called alike.
const ALIKE: f64 = 0.01;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_variants_stand_in_the_order_of_their_rates() {
        let (b, a) = (Name("second".to_owned()), Name("first".to_owned()));
        let rates = Name("2 MB/s against 1 MB/s".to_owned());
        let said = Message::NotShown {
            b,
            a,
            rates,
            limits: Part::of(Message::LimitUntold {}),
        }
        .to_string();
        assert!(
            said.contains("second and first (2 MB/s against 1 MB/s)"),
            "{said}"
        );
    }
}

//! What variants, clocks and changes say beside each other.

use serde::{Deserialize, Serialize};
use slowpath_diagnose::stats::{Comparison, Summary};
use slowpath_verdict::Limit;

use super::variant::Variant;
use crate::quantity::{RateUnit, loss};
use slowpath_words::english;

/// A comparison of two variants.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantComparison {
    /// The variant compared with.
    pub a: String,
    /// The variant that is compared.
    pub b: String,
    /// What is compared, such as `goodput_byte_per_s`.
    pub quantity: String,
    /// Means, interval of the difference, p-value, outcome.
    pub result: Comparison,
    /// The outcome that the experiment expects, for `--check`.
    #[serde(default)]
    pub expected: Option<slowpath_diagnose::stats::Outcome>,
    /// What it says, in a sentence.
    pub sentence: String,
}

impl VariantComparison {
    /// Compares what each of several flows without acknowledgements lost, and the goodput of all together; `None` where the
    /// variants do not have several flows of the same names.
    pub fn losses(a: &Variant, b: &Variant, unit: RateUnit) -> Option<Self> {
        let names = |variant: &Variant| -> Vec<String> {
            let flows = variant.runs.first().map(|run| run.flows.iter());
            flows
                .into_iter()
                .flatten()
                .map(|flow| flow.name.clone())
                .collect()
        };
        let flows = names(a);
        if flows.len() < 2 || names(b) != flows {
            return None;
        }
        let parts: Vec<String> = flows
            .iter()
            .filter_map(|flow| {
                Some(english!(
                    "results-compared-loses-instead",
                    flow = flow,
                    flow2 = loss(lost(b, flow)?),
                    flow3 = loss(lost(a, flow)?)
                ))
            })
            .collect();
        let mut out = Self::goodput(a, b, unit)?;
        out.sentence = english!(
            "results-compared-against-all-together-get-instead",
            b = b.name,
            a = a.name,
            parts = parts.join(", "),
            mean = unit.show(out.result.b.mean),
            mean2 = unit.show(out.result.a.mean)
        );
        Some(out)
    }

    /// Compares the goodput of two variants' valid runs; `None` when one has none.
    pub fn goodput(a: &Variant, b: &Variant, unit: RateUnit) -> Option<Self> {
        let result = Comparison::of_rates(&a.rates(), &b.rates())?;
        let sentence = crate::compare::sentence(&a.name, &b.name, &result, unit);
        Some(Self {
            a: a.name.clone(),
            b: b.name.clone(),
            quantity: "goodput_byte_per_s".to_owned(),
            result,
            expected: None,
            sentence,
        })
    }
}

/// The share of a flow's packets that were lost, over all runs that count; `None` where no run has such a flow.
fn lost(variant: &Variant, flow: &str) -> Option<f64> {
    let shares: Vec<f64> = variant
        .runs
        .iter()
        .filter(|run| run.complete)
        .flat_map(|run| run.flows.iter().filter(|own| own.name == flow))
        .map(|flow| flow.loss_fraction)
        .collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// One variant in both clocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Twin {
    /// The variant.
    pub variant: String,
    /// Published goodput, byte/s.
    pub published_byte_per_s: Option<f64>,
    /// Goodput in real time.
    pub lab: Summary,
    /// Goodput in simulated time.
    pub simulated: Summary,
    /// Simulated over lab, of the geometric means.
    pub ratio: f64,
    /// Lower end of the ratio's 95 % interval (Welch on logarithms); absent with a single run on either side.
    pub low95: Option<f64>,
    /// Upper end of it.
    pub high95: Option<f64>,
    /// The limit found in the lab.
    pub lab_limit: Option<Limit>,
    /// The limit found in simulated time.
    pub simulated_limit: Option<Limit>,
}

impl Twin {
    /// Compares the same variant in both clocks; `None` when one has no valid run.
    pub fn of(lab: &Variant, simulated: &Variant) -> Option<Self> {
        let logarithms = |variant: &Variant| -> Vec<f64> {
            let rates = variant.rates().into_iter();
            rates.filter(|rate| *rate > 0.0).map(f64::ln).collect()
        };
        let difference = Comparison::welch(&logarithms(lab), &logarithms(simulated))?;
        Some(Self {
            variant: lab.name.clone(),
            published_byte_per_s: lab.reference.as_ref().map(|r| r.goodput_byte_per_s),
            lab: lab.goodput_byte_per_s.clone()?,
            simulated: simulated.goodput_byte_per_s.clone()?,
            ratio: (difference.b.mean - difference.a.mean).exp(),
            low95: difference.low95.map(f64::exp),
            high95: difference.high95.map(f64::exp),
            lab_limit: lab.verdict.as_ref().map(|verdict| verdict.limit),
            simulated_limit: simulated.verdict.as_ref().map(|verdict| verdict.limit),
        })
    }
}

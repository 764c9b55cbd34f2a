//! An end that takes packets one after another, more slowly than any link of the path brings them.
//!
//! Packets alone show such an end as a link; that no link of the plan is that slow shows what it is.

use slowpath_report::quantity::{bit_rate, grouped};
use slowpath_report::results::Variant;
use slowpath_scenario::Plan;
use slowpath_scenario::intervention::slowest_rate;
use slowpath_scenario::plan::Stack;
use slowpath_verdict::Limit;
use slowpath_verdict::ledger::CapacityIs;
use slowpath_words::english;

/// The sentence that says so, where a variant's packets show a full link at the rate of its receiving end.
pub(crate) fn told(plan: &Plan, variant: &Variant) -> Option<String> {
    let verdict = variant.verdict.as_ref()?;
    if verdict.limit != Limit::BottleneckBandwidth {
        return None;
    }
    let receiver = plan.receiver();
    let Stack::Model(model) = &plan.host(receiver)?.stack else {
        return None;
    };
    let packets = 1.0 / model.input.as_ref()?.per_packet.seconds();
    let seen: Vec<f64> = variant
        .runs
        .iter()
        .filter_map(|run| run.ledger.as_ref())
        .filter(|ledger| ledger.capacity_is == CapacityIs::Measured)
        .filter_map(|ledger| ledger.capacity_bit_per_s)
        .collect();
    let seen = seen.iter().sum::<f64>() / seen.len().max(1) as f64;
    let link = slowest_rate(&plan.network, receiver)?;
    let taken = packets * f64::from(model.tcp.mss) * 8.0;
    let alike = (seen / taken - 1.0).abs() <= ALIKE;
    (alike && link.bits_per_s() as f64 > seen * FASTER).then(|| {
        english!(
            "slow-end",
            link = bit_rate(link.bits_per_s() as f64),
            host = receiver,
            packets = grouped(packets, 0)
        )
    })
}

/// Rates nearer than this are the same.
const ALIKE: f64 = 0.1;
/// A link that is faster by this is not the one that is full.
const FASTER: f64 = 1.25;

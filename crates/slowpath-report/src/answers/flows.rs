//! The flows of two variants: what each loses and gets.

use slowpath_verdict::message::{List, Name, Share};

use super::catalogue::Message;
use super::variant::find;
use crate::results::{FlowRow, Results};
use slowpath_words::english;

/// The sentence of a pair: the first is what the second is compared with.
pub(super) fn of(results: &Results, [a, b]: &[String; 2]) -> Option<String> {
    let (a, b) = (find(results, a)?, find(results, b)?);
    let (before, after) = (&a.runs.first()?.flows, &b.runs.first()?.flows);
    let show = |rate: f64| results.rate_unit.show(rate);
    let told = |flow: &FlowRow| {
        let same = before.iter().find(|other| other.name == flow.name)?;
        let rates = english!(
            "flows-instead",
            goodput_byte_per_s = show(flow.goodput_byte_per_s),
            goodput_byte_per_s2 = show(same.goodput_byte_per_s)
        );
        Some(Message::Flow {
            name: Name(flow.name.clone()),
            after: Share(flow.loss_fraction),
            before: Share(same.loss_fraction),
            rates: Name(rates),
        })
    };
    let flows: Vec<Message> = after.iter().filter_map(told).collect();
    let (of_a, of_b) = (Name(a.name.clone()), Name(b.name.clone()));
    (!flows.is_empty()).then(|| {
        Message::Flows {
            b: of_b,
            a: of_a,
            flows: List(flows),
        }
        .to_string()
    })
}

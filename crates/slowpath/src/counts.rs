//! Published figures that the counters of a record answer: packets, loss and rate of a flow or of all together.

use slowpath_record::{FlowResult, RunRecord};
use slowpath_scenario::figure::FigureValue;

/// What a figure's name asks for: a flow's or transfer's name, or `total`, a point, and a quantity.
fn parts(id: &str) -> Option<(&str, Quantity)> {
    let (name, quantity) = id.rsplit_once('.')?;
    let quantity = match quantity {
        "received_packets" => Quantity::ReceivedPackets,
        "sent_packets" => Quantity::SentPackets,
        "loss" => Quantity::Loss,
        "jitter" => Quantity::Jitter,
        "goodput" | "throughput" => Quantity::Rate,
        "duration" => Quantity::Duration,
        "retransmits" => Quantity::Retransmits,
        "sender_rate" => Quantity::SenderRate,
        _ => return None,
    };
    Some((name, quantity))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    ReceivedPackets,
    SentPackets,
    Loss,
    Jitter,
    Rate,
    Duration,
    Retransmits,
    SenderRate,
}

/// A title for the reader, such as `udp: packets received`; `None` for names that are not of this kind.
pub(crate) fn title(id: &str) -> Option<String> {
    let (name, quantity) = parts(id)?;
    let what = match quantity {
        Quantity::ReceivedPackets => "packets received",
        Quantity::SentPackets => "packets sent",
        Quantity::Loss => "share lost",
        Quantity::Jitter => "jitter",
        Quantity::Rate => "delivered",
        Quantity::Duration => "time to finish",
        Quantity::Retransmits => "segments sent again",
        Quantity::SenderRate => "counted by the sender",
    };
    Some(format!("{name}: {what}"))
}

/// The figure called `id` in a record, in the base unit of `like`; `None` where the record does not show it.
pub(crate) fn measure(id: &str, like: FigureValue, record: &RunRecord) -> Option<f64> {
    let (name, quantity) = parts(id)?;
    let flows: Vec<&FlowResult> = record
        .flows
        .iter()
        .filter(|flow| name == ALL || flow.name == name)
        .collect();
    let transfers = || {
        let own = record
            .transfers
            .iter()
            .filter(|transfer| name == ALL || transfer.name == name);
        own.filter(|transfer| transfer.complete)
    };
    let sum = |count: fn(&FlowResult) -> u64| flows.iter().map(|flow| count(flow)).sum::<u64>() as f64;
    let some = (!flows.is_empty()).then_some(());
    match quantity {
        Quantity::ReceivedPackets => some.map(|()| sum(|flow| flow.received_packets)),
        Quantity::SentPackets => some.map(|()| sum(|flow| flow.sent_packets)),
        Quantity::Loss => {
            let sent = sum(|flow| flow.sent_packets);
            some.filter(|()| sent > 0.0)
                .map(|()| 1.0 - sum(|flow| flow.received_packets) / sent)
        }
        Quantity::Jitter => {
            let jitters = flows.iter().filter_map(|flow| flow.jitter);
            jitters.map(slowpath_units::Duration::seconds).reduce(f64::max)
        }
        Quantity::Rate => {
            let byte_per_s = match some {
                Some(()) => flows.iter().map(|flow| flow.goodput_byte_per_s).sum(),
                None => transfers()
                    .map(slowpath_record::TransferResult::goodput_byte_per_s)
                    .reduce(|a, b| a + b)?,
            };
            Some(in_unit_of(like, byte_per_s))
        }
        Quantity::SenderRate => {
            let byte_per_s: f64 = transfers()
                .map(|transfer| Some(transfer.sender?.byte_per_s()))
                .sum::<Option<f64>>()
                .filter(|rate| *rate > 0.0)?;
            Some(in_unit_of(like, byte_per_s))
        }
        Quantity::Duration => transfers()
            .map(|transfer| transfer.duration().seconds())
            .reduce(f64::max),
        Quantity::Retransmits => transfers()
            .filter_map(|transfer| transfer.retransmitted_segments)
            .reduce(|a, b| a + b)
            .map(|count| count as f64),
    }
}

/// A rate in the base unit of a figure.
const fn in_unit_of(like: FigureValue, byte_per_s: f64) -> f64 {
    match like {
        FigureValue::BitsPerSecond(_) => byte_per_s * 8.0,
        _ => byte_per_s,
    }
}

/// The name under which all flows together are published.
const ALL: &str = "total";

#[cfg(test)]
mod tests {
    use slowpath_units::BitRate;

    use super::*;

    fn record() -> RunRecord {
        let flow = |name: &str, sent, received| FlowResult {
            name: name.to_owned(),
            sent_packets: sent,
            received_packets: received,
            goodput_byte_per_s: received as f64 * 100.0,
            ..FlowResult::default()
        };
        let text = serde_json::json!({
            "schema": slowpath_record::run::SCHEMA, "origin": "simulated", "experiment": "", "variant": "",
            "repeat": 0, "seed": 1, "plan_digest": "", "health": {"state": "valid", "reasons": []},
        });
        let mut record: RunRecord = serde_json::from_value(text).unwrap();
        record.flows = vec![flow("tcp", 1000, 800), flow("udp", 1000, 1000)];
        record
    }

    #[test]
    fn flows_answer_alone_and_together() {
        let record = record();
        let packets = FigureValue::Packets(0);
        let rate = FigureValue::BitsPerSecond(BitRate::new(1).bits_per_s());
        for (id, like, value) in [
            ("tcp.received_packets", packets, 800.0),
            ("total.received_packets", packets, 1800.0),
            ("tcp.loss", packets, 0.2),
            ("total.loss", packets, 0.1),
            ("udp.throughput", rate, 800_000.0),
            ("udp.goodput", packets, 100_000.0),
        ] {
            let measured = measure(id, like, &record).unwrap();
            assert!((measured - value).abs() < 1e-9, "{id}: {measured}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_measured() {
        let record = record();
        for id in ["icmp.loss", "tcp.jitter", "tcp.colour", "goodput", "tcp.duration"] {
            assert_eq!(measure(id, FigureValue::Packets(0), &record), None, "{id}");
        }
    }
}

//! Two captures of the same kind of transfer, a good and a bad one: what differs.

use serde::{Deserialize, Serialize};

use crate::analysis::{Analysis, Connection, Side};
use crate::judge::words::{bits, bytes, percent, span};
use crate::limit::Limit;

/// What differs between a good and a bad transfer, the most telling first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Goodput of the bad transfer over that of the good one.
    pub goodput_ratio: f64,
    /// Limit of the good and of the bad transfer.
    pub limits: [Limit; 2],
    /// What differs.
    pub differences: Vec<Difference>,
    /// The result for people.
    pub sentence: String,
}

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Name of the fact.
    pub fact: String,
    /// In the good and in the bad transfer, for people.
    pub values: [String; 2],
    /// How far apart they are: 0 for equal, 1 for a factor of two or another kind.
    pub weight: f64,
}

/// Compares the largest connections of two captures; `None` if one of them holds none.
pub fn compare(good: &Analysis, bad: &Analysis) -> Option<Comparison> {
    let pair = [good.main_connection()?, bad.main_connection()?];
    let mut differences: Vec<Difference> = numbers(pair).into_iter().chain(kinds(pair)).collect();
    differences.retain(|difference| difference.weight >= 0.15);
    differences.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.fact.cmp(&b.fact)));
    let ratio = if pair[0].goodput_bit_per_s > 0.0 {
        pair[1].goodput_bit_per_s / pair[0].goodput_bit_per_s
    } else {
        0.0
    };
    let limits = pair.map(|connection| connection.verdict.limit);
    let sentence = sentence(pair, limits, ratio, &differences);
    Some(Comparison {
        goodput_ratio: ratio,
        limits,
        differences,
        sentence,
    })
}

fn numbers(pair: [&Connection; 2]) -> Vec<Difference> {
    type Fact = (&'static str, fn(&Connection) -> f64, fn(f64) -> String, f64);
    const COUNT: fn(f64) -> String = |value| format!("{value:.0}");
    const FACTS: &[Fact] = &[
        ("goodput", |c| c.goodput_bit_per_s, bits, 1e3),
        ("base round-trip time", |c| c.rtt_s.min, span, 1e-4),
        ("median round-trip time", |c| c.rtt_s.median, span, 1e-4),
        ("loss", |c| c.facts.loss.fraction, percent, 1e-4),
        (
            "retransmitted segments",
            |c| c.retransmitted_segments as f64,
            COUNT,
            3.0,
        ),
        ("reordered segments", |c| c.reordered_segments as f64, COUNT, 3.0),
        (
            "largest advertised window",
            |c| c.facts.window.max as f64,
            bytes,
            1e3,
        ),
        ("largest flight", |c| c.facts.flight.max as f64, bytes, 1e3),
        ("segment size", |c| f64::from(c.facts.segment_size), bytes, 10.0),
        (
            "time with a full window",
            |c| share(c, c.facts.time.window_full_s),
            percent,
            0.02,
        ),
        (
            "time with a closed window",
            |c| share(c, c.facts.time.window_closed_s),
            percent,
            0.02,
        ),
        (
            "time with nothing in flight",
            |c| share(c, c.facts.time.idle_s),
            percent,
            0.02,
        ),
        (
            "round trips with congestion marks",
            |c| c.facts.ecn.rounds_with_marks as f64,
            COUNT,
            2.0,
        ),
    ];
    FACTS
        .iter()
        .map(|(fact, value, print, floor)| {
            let values = pair.map(value);
            Difference {
                fact: (*fact).to_owned(),
                values: values.map(print),
                weight: ((values[0] + floor) / (values[1] + floor)).log2().abs(),
            }
        })
        .collect()
}

fn kinds(pair: [&Connection; 2]) -> Vec<Difference> {
    type Kind = (&'static str, fn(&Connection) -> String);
    const KINDS: &[Kind] = &[
        ("limit", |c| c.verdict.limit.to_string()),
        ("DSCP of the data", |c| format!("{:?}", dscp_of_data(c))),
        ("ECN", |c| format!("{:?}", c.handshake.ecn).to_lowercase()),
        ("SACK", |c| both(c.handshake.sack)),
        ("timestamps", |c| both(c.handshake.timestamps)),
        ("window scaling", |c| {
            both(
                c.handshake
                    .window_scale
                    .map(|scale| c.handshake.seen.then_some(scale.is_some())),
            )
        }),
    ];
    KINDS
        .iter()
        .map(|(fact, value)| {
            let values = pair.map(value);
            Difference {
                fact: (*fact).to_owned(),
                weight: if values[0] == values[1] { 0.0 } else { 1.0 },
                values,
            }
        })
        .collect()
}

fn share(connection: &Connection, seconds: f64) -> f64 {
    let total = connection.facts.time.total_s;
    if total > 0.0 { seconds / total } else { 0.0 }
}

fn dscp_of_data(connection: &Connection) -> &[u8] {
    match connection.data_from {
        Side::Client => &connection.dscp.client,
        Side::Server => &connection.dscp.server,
    }
}

fn both(offered: [Option<bool>; 2]) -> String {
    match offered {
        [Some(true), Some(true)] => "yes",
        [None, _] | [_, None] => "unknown",
        _ => "no",
    }
    .to_owned()
}

fn sentence(pair: [&Connection; 2], limits: [Limit; 2], ratio: f64, differences: &[Difference]) -> String {
    let speed = format!(
        "The bad transfer reaches {} against {} ({} of it)",
        bits(pair[1].goodput_bit_per_s),
        bits(pair[0].goodput_bit_per_s),
        percent(ratio)
    );
    let cause = if limits[0] == limits[1] {
        format!("both are limited by {}", limits[0])
    } else {
        format!(
            "the good one is limited by {}, the bad one by {}",
            limits[0], limits[1]
        )
    };
    let network = [
        Limit::Policed,
        Limit::RandomLoss,
        Limit::BottleneckBandwidth,
        Limit::SharedBottleneck,
        Limit::EcnCongestion,
        Limit::Reordering,
    ];
    let marks_differ = dscp_of_data(pair[0]) != dscp_of_data(pair[1]);
    let hint = if marks_differ && limits[0] != limits[1] && network.contains(&limits[1]) {
        " Their DSCP differ too: the network may treat the marks differently, which a run with only the mark changed would show."
    } else {
        ""
    };
    let most: Vec<String> = differences
        .iter()
        .filter(|difference| difference.fact != "goodput" && difference.fact != "limit")
        .take(3)
        .map(|difference| {
            format!(
                "{} {} against {}",
                difference.fact, difference.values[1], difference.values[0]
            )
        })
        .collect();
    let most = if most.is_empty() {
        String::new()
    } else {
        format!(" Largest differences: {}.", most.join(", "))
    };
    format!("{speed}; {cause}.{most}{hint}")
}

//! Counters against those that tcptrace 6.6.7 prints for the same files.
//!
//! Where the two disagree for a reason, the reason stands in [`EXPLAINED`].

#![allow(clippy::disallowed_methods)] // the corpus is read from files

mod support;

use std::collections::BTreeMap;

use slowpath_facts::Connection;

/// File, counter, and why the two differ.
const EXPLAINED: &[(&str, &str, &str)] = &[
    (
        "bad-ack-hardware-dups",
        "rexmt_data",
        "copies made by the capture are no retransmissions; tcptrace warns of them, and counts them",
    ),
    (
        "bad-ack-hardware-dups",
        "pure_acks_sent",
        "copies made by the capture are counted once",
    ),
    ("pcap-v2.2", "rexmt_data", "as above: the same packets"),
    ("pcap-v2.2", "pure_acks_sent", "as above: the same packets"),
    (
        "first-segment-out-of-order",
        "outoforder_pkts",
        "the gap before the very first segment, which the SYN shows, counts here",
    ),
    (
        "single-byte-retransmit",
        "rexmt_data",
        "a keep-alive of one acknowledged byte is no retransmission",
    ),
    ("urgent-data", "rexmt_data", "see zero-window probes"),
    (
        "urgent-data",
        "unique_bytes_sent",
        "the byte of a zero-window probe that got through is data",
    ),
];

type Field = (&'static str, fn(&Connection, usize) -> u64);

const FIELDS: &[Field] = &[
    ("total_packets", |c, side| {
        c.counters[side].total_packets + c.counters[side].hardware_duplicates
    }),
    ("unique_bytes_sent", |c, side| c.counters[side].unique_bytes),
    ("actual_data_pkts", |c, side| c.counters[side].data_packets),
    ("rexmt_data_pkts", |c, side| {
        c.counters[side].retransmitted_packets
    }),
    ("rexmt_data_bytes", |c, side| c.counters[side].retransmitted_bytes),
    ("outoforder_pkts", |c, side| c.counters[side].out_of_order_packets),
    ("pure_acks_sent", |c, side| c.counters[side].pure_acks),
    ("sack_pkts_sent", |c, side| c.counters[side].sack_packets),
    ("max_win_adv", |c, side| c.counters[side].max_window),
    ("zero_win_adv", |c, side| c.counters[side].zero_windows),
    ("mss_requested", |c, side| {
        c.handshake.mss[side].map_or(0, u64::from)
    }),
    ("hardware_dups", |c, side| c.counters[side].hardware_duplicates),
];

#[test]
fn counters_agree_with_tcptrace() {
    let Some(folder) = support::corpus("counters_agree_with_tcptrace") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the corpus has a manifest");
    let manifest: toml::Table = text.parse().expect("the manifest is TOML");
    let mut score: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut listed = Vec::new();
    for entry in manifest["capture"].as_array().expect("captures are listed") {
        let Some(connections) = entry.get("tcptrace").and_then(toml::Value::as_array) else {
            continue;
        };
        let file = entry["file"].as_str().unwrap_or_default();
        let Some(analysis) = support::observe(&folder.join(file)) else {
            continue;
        };
        for expected in connections {
            let name = |key: &str| expected[key].as_str().unwrap_or_default().to_owned();
            let (a, b) = (name("a"), name("b"));
            let same: Vec<&Connection> = analysis
                .connections
                .iter()
                .filter(|c| {
                    (plain(&c.client) == a && plain(&c.server) == b)
                        || (plain(&c.client) == b && plain(&c.server) == a)
                })
                .collect();
            // Port pairs used again cannot be told apart by name.
            let [connection] = same[..] else { continue };
            let sides = if plain(&connection.client) == a {
                [0, 1]
            } else {
                [1, 0]
            };
            for (field, value) in FIELDS {
                for (direction, side) in [("a2b", sides[0]), ("b2a", sides[1])] {
                    let Some(theirs) = expected
                        .get(format!("{field}_{direction}"))
                        .and_then(toml::Value::as_integer)
                    else {
                        continue;
                    };
                    let ours = value(connection, side);
                    let slot = score.entry(field).or_default();
                    slot.1 += 1;
                    if i64::try_from(ours) == Ok(theirs) {
                        slot.0 += 1;
                    } else if !EXPLAINED
                        .iter()
                        .any(|(name, counter, _)| file.contains(name) && field.starts_with(counter))
                    {
                        listed.push(format!(
                            "{file} {a}>{b} {field} {direction}: slowpath {ours}, tcptrace {theirs}"
                        ));
                    }
                }
            }
        }
    }
    for (field, (agree, all)) in &score {
        println!("{field:20} {agree:5} of {all}");
    }
    let compared: usize = score.values().map(|(_, all)| all).sum();
    assert!(compared > 500, "only {compared} counters were compared");
    assert!(listed.is_empty(), "{listed:#?}");
}

/// `ip:port` without the brackets of IPv6, as tcptrace prints it.
fn plain(endpoint: &str) -> String {
    endpoint.replace(['[', ']'], "")
}

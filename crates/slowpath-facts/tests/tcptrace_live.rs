//! Counters against tcptrace itself, where it is installed, on the labelled captures of the lab.
//!
//! What the two count differently, and why:
//!
//! | counter | difference |
//! |---|---|
//! | `segs_cum_acked`, `RTT_min`, `RTT_max` | tcptrace takes the FIN for a segment with a round trip; so that of an end without data is not compared |
//! | `duplicate_acks`, `triple_dupacks` | tcptrace counts repeated acknowledgements whose window changed or that answer a probe or the FIN; Linux and RFC 5681 do not |

#![allow(clippy::disallowed_methods)] // runs a program on files

mod support;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use slowpath_facts::Counters;

/// What tcptrace prints for the only connection of a capture, by column.
fn tcptrace(file: &Path) -> Option<BTreeMap<String, String>> {
    // Of a compressed file it leaves the first bytes in /tmp, whatever TMPDIR says; so it gets a plain one.
    let plain = Plain::of(file);
    let out = Command::new("tcptrace")
        .args(["-n", "-l", "-r", "--csv"])
        .arg(&plain.0)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let mut rows = text.lines().filter(|line| line.matches(',').count() > 50);
    let (names, values) = (rows.next()?, rows.next()?);
    let split = |line: &str| {
        line.split(',')
            .map(|field| field.trim().to_owned())
            .collect::<Vec<_>>()
    };
    Some(split(names).into_iter().zip(split(values)).collect())
}

/// A capture without compression, for as long as the value lives.
struct Plain(PathBuf);

impl Plain {
    fn of(file: &Path) -> Self {
        let place = std::env::temp_dir().join(format!("slowpath-tcptrace-{}.pcap", std::process::id()));
        let mut content = Vec::new();
        let mut compressed = flate2::read::MultiGzDecoder::new(std::fs::File::open(file).unwrap());
        match compressed.read_to_end(&mut content) {
            Ok(_) => std::fs::write(&place, content).unwrap(),
            // Not compressed at all.
            Err(_) => drop(std::fs::copy(file, &place).unwrap()),
        }
        Self(place)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

type Field = (&'static str, fn(&Counters) -> f64, f64);

/// Column, our value, and how far apart they may be: as the table above says, or what tcptrace rounds away.
const FIELDS: &[Field] = &[
    ("total_packets", |c| c.total_packets as f64, 0.0),
    ("ack_pkts_sent", |c| c.ack_packets as f64, 0.0),
    ("pure_acks_sent", |c| c.pure_acks as f64, 0.0),
    ("sack_pkts_sent", |c| c.sack_packets as f64, 0.0),
    ("max_sack_blks/ack", |c| c.max_sack_blocks as f64, 0.0),
    ("unique_bytes_sent", |c| c.unique_bytes as f64, 0.0),
    ("actual_data_pkts", |c| c.data_packets as f64, 0.0),
    ("actual_data_bytes", |c| c.data_bytes as f64, 0.0),
    ("rexmt_data_pkts", |c| c.retransmitted_packets as f64, 0.0),
    ("rexmt_data_bytes", |c| c.retransmitted_bytes as f64, 0.0),
    ("outoforder_pkts", |c| c.out_of_order_packets as f64, 0.0),
    ("max_segm_size", |c| c.max_segment as f64, 0.0),
    ("min_segm_size", |c| c.min_segment as f64, 0.0),
    ("max_win_adv", |c| c.max_window as f64, 0.0),
    ("zero_win_adv", |c| c.zero_windows as f64, 0.0),
    ("initial_window_bytes", |c| c.initial_window_bytes as f64, 0.0),
    ("initial_window_pkts", |c| c.initial_window_packets as f64, 0.0),
    ("idletime_max", |c| c.idle_max_ns as f64 / 1e6, 0.11),
    ("data_xmit_time", |c| c.data_transmit_ns as f64 / 1e9, 0.0011),
    ("RTT_min", |c| c.rtt_min_ns as f64 / 1e6, 0.11),
    ("RTT_max", |c| c.rtt_max_ns as f64 / 1e6, 0.11),
    ("segs_cum_acked", |c| c.cumulatively_acked as f64, 1.0),
    ("duplicate_acks", |c| c.duplicate_acks as f64, 9.0),
    ("triple_dupacks", |c| c.triple_duplicate_acks as f64, 1.0),
    ("max_#_retrans", |c| c.max_retransmissions as f64, 0.0),
    ("min_retr_time", |c| c.retransmit_min_ns as f64 / 1e6, 0.11),
    ("max_retr_time", |c| c.retransmit_max_ns as f64 / 1e6, 0.11),
];

#[test]
fn counters_are_those_of_tcptrace() {
    let Some(files) = support::lab_files("counters_are_those_of_tcptrace", "tcptrace") else {
        return;
    };
    let mut score: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    let mut apart = Vec::new();
    for file in &files {
        let (Some(theirs), Some(ours)) = (tcptrace(file), support::observe(file)) else {
            continue;
        };
        let [connection] = &ours.connections[..] else {
            continue;
        };
        for (name, value, tolerance) in FIELDS {
            for (side, end) in ["a2b", "b2a"].iter().enumerate() {
                let Some(expected) = theirs
                    .get(&format!("{name}_{end}"))
                    .and_then(|text| text.parse::<f64>().ok())
                else {
                    continue;
                };
                let counters = &connection.counters[side];
                if name.starts_with("RTT") && counters.data_packets == 0 {
                    continue;
                }
                let found = value(counters);
                let slot = score.entry(name).or_default();
                slot[1] += 1;
                if (found - expected).abs() <= *tolerance {
                    slot[0] += 1;
                } else {
                    apart.push(format!(
                        "{} {name}_{end}: slowpath {found}, tcptrace {expected}",
                        file.display()
                    ));
                }
            }
        }
    }
    for (name, [agree, all]) in &score {
        println!("{name:24} {agree:5} of {all}");
    }
    for line in &apart {
        println!("{line}");
    }
    let all: usize = score.values().map(|[_, all]| all).sum();
    assert!(all > 500, "only {all} counters were compared");
    assert!(apart.is_empty(), "{apart:#?}");
}

//! What Wireshark says, as slowpath works it out, against tshark's own flags, where it is installed.

#![allow(clippy::disallowed_methods)] // runs a program on files

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use slowpath_facts::wireshark::{Tag, Was};

/// Segments that tshark flags, by flag.
fn tshark(file: &Path) -> Option<BTreeMap<Tag, u64>> {
    let filter = "tcp.len > 0 && (tcp.analysis.retransmission || tcp.analysis.out_of_order)";
    let out = Command::new("tshark")
        .args(["-Y", filter, "-T", "fields"])
        .args([
            "-e",
            "tcp.analysis.fast_retransmission",
            "-e",
            "tcp.analysis.spurious_retransmission",
        ])
        .args(["-e", "tcp.analysis.out_of_order", "-r"])
        .arg(file)
        .output()
        .ok()?;
    let mut found = BTreeMap::new();
    for line in String::from_utf8_lossy(&out.stdout).lines() {
        let set: Vec<bool> = line.split('\t').map(|field| !field.is_empty()).collect();
        let is = |index: usize| set.get(index).copied().unwrap_or(false);
        let tag = if is(1) {
            Tag::SpuriousRetransmission
        } else if is(0) {
            Tag::FastRetransmission
        } else if is(2) {
            Tag::OutOfOrder
        } else {
            Tag::Retransmission
        };
        *found.entry(tag).or_default() += 1;
    }
    Some(found)
}

#[test]
fn wireshark_says_what_is_worked_out() {
    let Some(files) = support::lab_files("wireshark_says_what_is_worked_out", "tshark") else {
        return;
    };
    let (mut same, mut all) = (0, 0);
    let mut mistaken = 0;
    for file in &files {
        let (Some(theirs), Some(ours)) = (tshark(file), support::observe(file)) else {
            continue;
        };
        let mut counts: BTreeMap<Tag, u64> = BTreeMap::new();
        for row in ours
            .connections
            .iter()
            .flat_map(|connection| &connection.wireshark)
        {
            *counts.entry(row.wireshark).or_default() += row.segments;
            assert!(!row.frames.is_empty() && !row.why.is_empty());
            if row.wireshark == Tag::OutOfOrder && row.slowpath == Was::Retransmission {
                mistaken += row.segments;
            }
        }
        for tag in [
            Tag::Retransmission,
            Tag::FastRetransmission,
            Tag::SpuriousRetransmission,
            Tag::OutOfOrder,
        ] {
            let count = |of: &BTreeMap<Tag, u64>| of.get(&tag).copied().unwrap_or(0);
            let (a, b) = (count(&counts), count(&theirs));
            same += a.min(b);
            all += a.max(b);
            if a != b {
                println!("{}: {} {a}, tshark {b}", file.display(), tag.name());
            }
        }
    }
    println!("{same} of {all} flags are tshark's; {mistaken} retransmissions are called out of order");
    assert!(all > 500, "only {all} flags");
    assert!(same * 100 >= all * 95, "{same} of {all}");
    assert!(
        mistaken > 0,
        "Wireshark 4.0 calls retransmissions at a sender out of order"
    );
}

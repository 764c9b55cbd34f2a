//! Verdicts on captures that the lab made with one known limit each.
//!
//! `SLOWPATH_LAB_CAPTURES` names a folder that `cargo run --release -p slowpath-validate --example standing -- captures`
//! wrote: its `manifest.json` says which limit the kernel's chronographs and the path's counters confirmed, or put in
//! the place of the one that the scenario meant.
//!
//! The rules of the analysis were tuned on an earlier recording of the same list of transfers. So the bounds below
//! guard what was reached on that list; they say nothing of the share of right verdicts on paths that it never met.

#![allow(clippy::disallowed_methods)] // captures are read from files

mod support;

use std::collections::BTreeMap;
use std::path::PathBuf;

use slowpath_verdict::Limit;

/// Right, wrong, cannot tell.
type Score = [usize; 3];

#[test]
fn verdicts_on_lab_captures() {
    let Some(folder) = std::env::var_os("SLOWPATH_LAB_CAPTURES").map(PathBuf::from) else {
        eprintln!("skipped: verdicts_on_lab_captures: SLOWPATH_LAB_CAPTURES names no folder");
        return;
    };
    let text = std::fs::read_to_string(folder.join("manifest.json")).expect("the folder has a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("the manifest is JSON");
    let only = std::env::var("SLOWPATH_LAB_ONLY").ok();
    let mut scores: BTreeMap<(String, String), Score> = BTreeMap::new();
    let mut all: Score = [0; 3];
    for entry in manifest["captures"].as_array().expect("captures are listed") {
        let word = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let label = &entry["label"];
        let Some(label) = label["agreed"].as_str().or_else(|| label["chronograph"].as_str()) else {
            assert!(
                label["left-out"].is_string(),
                "no label that this test knows: {entry}"
            );
            continue;
        };
        let file = word("file");
        if only.as_ref().is_some_and(|only| !file.contains(only.as_str())) {
            continue;
        }
        let Some(analysis) = support::analyze(&folder.join(&file)) else {
            panic!("{file} does not open");
        };
        let connection = analysis.main_connection();
        let limit = connection.map_or(Limit::Unknown, |connection| connection.verdict.limit);
        let slot = match limit {
            limit if limit.name() == label => 0,
            limit if limit.is_undecided() => 2,
            _ => 1,
        };
        scores.entry((word("kind"), word("place"))).or_default()[slot] += 1;
        all[slot] += 1;
        if let Some(connection) = connection.filter(|_| slot > 0 || only.is_some()) {
            println!(
                "{file}: {limit} instead of {label} ({:.2})\n    {}\n    {:?} {:?}\n    {:?}\n    arrival {:.0} bit/s busy {:.2}, rtt {:?}\n    {:?}\n    {:?}\n    {:?} {:?}\n    {:?}",
                connection.verdict.confidence,
                connection.verdict.sentence,
                connection.facts.tap,
                connection.facts.time,
                connection.facts.clocking,
                connection.facts.arrival_peak_bit_per_s,
                connection.facts.arrival_busy,
                connection.facts.rtt,
                connection.facts.flight,
                connection.facts.queue,
                connection.facts.to_receiver_s,
                connection.facts.to_sender_s,
                connection.facts.loss,
            );
        }
    }
    println!("{:24} {:10} right wrong cannot tell", "kind", "place");
    for ((kind, place), [right, wrong, undecided]) in &scores {
        println!("{kind:24} {place:10} {right:5} {wrong:5} {undecided:5}");
    }
    let [right, wrong, undecided] = all;
    let count = right + wrong + undecided;
    println!("all: {right} right, {wrong} wrong, {undecided} cannot tell, of {count}");
    if only.is_none() {
        assert!(count >= 100, "only {count} captures have a label");
        assert!(right * 100 >= count * 95, "{right} right of {count}");
        assert!(wrong * 100 <= count * 2, "{wrong} wrong of {count}");
    }
}

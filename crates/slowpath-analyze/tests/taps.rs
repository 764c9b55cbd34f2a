//! Two captures of one connection, and a good and a bad transfer.

mod support;

use slowpath_analyze::compare::compare;
use slowpath_analyze::taps::{TwoTaps, Which, two_taps};
use slowpath_analyze::{Analyzer, Limit};
use slowpath_record::packets::{Conversations, Record};
use support::wire::{MS, Seen, Transfer, run};

fn analyzer(records: &[Record], conversations: &Conversations) -> Analyzer {
    let mut analyzer = Analyzer::new();
    for record in records {
        analyzer.push(record, conversations);
    }
    analyzer
}

fn pair(seen: &Seen, first: &[Record], second: &[Record]) -> TwoTaps {
    let (a, b) = (
        analyzer(first, &seen.conversations),
        analyzer(second, &seen.conversations),
    );
    let mut found = two_taps((&a, &seen.conversations), (&b, &seen.conversations));
    assert_eq!(found.len(), 1);
    found.swap_remove(0)
}

fn with_clock(records: &[Record], offset: i64, drift_ppm: i64) -> Vec<Record> {
    records
        .iter()
        .map(|record| {
            let Record::Tcp(mut packet) = *record else {
                return *record;
            };
            packet.at += offset + packet.at / 1_000_000 * drift_ppm;
            Record::Tcp(packet)
        })
        .collect()
}

#[test]
fn clock_offset_and_drift_are_found_whichever_capture_comes_first() {
    let seen = run(Transfer {
        bytes: 8 << 20,
        send_buffer: 128 << 10,
        ..Transfer::default()
    });
    let shifted = with_clock(&seen.receiver, 3_500 * MS, 80);
    let found = pair(&seen, &seen.sender, &shifted);
    assert_eq!(found.near, Which::First);
    assert!(
        (found.clock_offset_s - 3.5).abs() < 0.002,
        "{}",
        found.clock_offset_s
    );
    assert!(
        (found.clock_drift_ppm - 80.0).abs() < 10.0,
        "{}",
        found.clock_drift_ppm
    );
    assert!((found.delay_s.min - 0.050).abs() < 0.002, "{:?}", found.delay_s);
    assert_eq!(found.lost, [0, 0, 0]);
    let turned = pair(&seen, &shifted, &seen.sender);
    assert_eq!(turned.near, Which::Second);
    assert!(
        (turned.clock_offset_s + 3.5).abs() < 0.002,
        "{}",
        turned.clock_offset_s
    );
    assert!((turned.delay_s.min - 0.050).abs() < 0.002, "{:?}", turned.delay_s);
}

#[test]
fn changes_between_the_taps_are_placed_there() {
    let seen = run(Transfer {
        bytes: 4 << 20,
        send_buffer: 128 << 10,
        ..Transfer::default()
    });
    let mut far = seen.receiver.clone();
    for record in &mut far {
        if let Record::Tcp(packet) = record {
            packet.ttl -= 3;
            if packet.payload_len > 0 {
                packet.dscp = slowpath_packet::Dscp::new(8).unwrap();
            }
            if let Some(mss) = &mut packet.syn.mss {
                *mss = (*mss).min(1300);
            }
        }
    }
    let found = pair(&seen, &seen.sender, &far);
    assert_eq!(found.hops, 3);
    let fields: Vec<(&str, &str, &str)> = found
        .changes
        .iter()
        .map(|change| {
            (
                change.field.as_str(),
                change.before.as_str(),
                change.after.as_str(),
            )
        })
        .collect();
    assert!(fields.contains(&("mss", "1460", "1300")), "{fields:?}");
    assert!(
        fields
            .iter()
            .any(|(field, before, after)| *field == "dscp" && *before == "0" && after.contains('8')),
        "{fields:?}"
    );
}

#[test]
fn labelled_pairs_place_loss_and_queue_between_the_taps() {
    let Some(folder) = support::corpus("labelled_pairs_place_loss_and_queue_between_the_taps") else {
        return;
    };
    let load = |name: &str| {
        let (records, conversations, _) = support::read(&folder.join(name)).expect("the corpus has the file");
        (analyzer(&records, &conversations), conversations)
    };
    for (name, queue) in [
        ("random-loss-3pct", 0.0),
        ("bottleneck-6mbit-queue-60k", 0.07),
        ("bufferbloat-4mbit-queue-400k", 0.7),
    ] {
        let near = load(&format!("lab/{name}-sender.pcap.gz"));
        let far = load(&format!("lab/{name}-receiver.pcap.gz"));
        let found = two_taps((&near.0, &near.1), (&far.0, &far.1));
        let found = &found[0];
        let [before, between, behind] = found.lost;
        assert_eq!(found.near, Which::First, "{name}");
        assert_eq!((before, behind), (0, 0), "{name}: {found:?}");
        assert!(between >= 20, "{name}: {between}");
        // One machine, one clock; half of what a packet takes on the wire looks like offset.
        assert!(
            found.clock_offset_s.abs() < 0.002,
            "{name}: one machine, one clock: {}",
            found.clock_offset_s
        );
        let standing = found.delay_s.p95 - found.delay_s.min;
        assert!(
            standing >= queue && standing < queue * 1.5 + 0.02,
            "{name}: {standing}"
        );
    }
}

#[test]
fn a_good_and_a_bad_transfer_differ_where_they_were_made_to() {
    let good = run(Transfer::default());
    let bad = run(Transfer {
        buffer: 32_768,
        scale: None,
        ..Transfer::default()
    });
    let comparison = compare(&good.analysis(&good.sender), &bad.analysis(&bad.sender)).unwrap();
    assert_eq!(comparison.limits[1], Limit::ReceiverWindow);
    assert!(comparison.goodput_ratio < 0.3, "{}", comparison.goodput_ratio);
    let facts: Vec<&str> = comparison
        .differences
        .iter()
        .map(|difference| difference.fact.as_str())
        .collect();
    assert!(
        facts.contains(&"largest advertised window") && facts.contains(&"window scaling"),
        "{facts:?}"
    );
    assert!(!facts.contains(&"base round-trip time"), "{facts:?}");
    assert!(
        comparison.sentence.contains("receiver-window"),
        "{}",
        comparison.sentence
    );
    assert!(compare(&good.analysis(&[]), &bad.analysis(&bad.sender)).is_none());
}

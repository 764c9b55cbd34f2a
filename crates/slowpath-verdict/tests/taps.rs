//! Two captures of one connection, and transfers that differ in one thing.

mod support;

use slowpath_facts::Analyzer;
use slowpath_facts::taps::{TwoTaps, Which, two_taps};
use slowpath_packet::Dscp;
use slowpath_record::packets::{Conversations, Record};
use slowpath_verdict::Limit;
use slowpath_verdict::compare::{device_limit, dscp_treatment};
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

fn marked(records: &[Record], dscp: u8) -> Vec<Record> {
    records
        .iter()
        .map(|record| {
            let Record::Tcp(mut packet) = *record else {
                return *record;
            };
            packet.dscp = Dscp::new(dscp).expect("six bits");
            Record::Tcp(packet)
        })
        .collect()
}

#[test]
fn only_the_mark_differs_and_the_rate_with_it() {
    let at = |rate: f64| {
        run(Transfer {
            rate,
            ..Transfer::default()
        })
    };
    let (fast, slow) = (at(50e6), at(8e6));
    let best_effort = slow.analysis(&marked(&slow.sender, 0));
    let bulk = fast.analysis(&marked(&fast.sender, 10));
    let verdict = dscp_treatment(&[&bulk, &best_effort]).expect("marks and rates differ");
    assert_eq!(verdict.limit, Limit::DscpTreatment);
    assert!(
        verdict.sentence.contains("DSCP 0 (best effort)"),
        "{}",
        verdict.sentence
    );
    assert!(verdict.sentence.contains("10 (AF11)"), "{}", verdict.sentence);
    assert_eq!(verdict.evidence.len(), 2);
    let again = dscp_treatment(&[&bulk, &best_effort, &bulk, &best_effort, &bulk, &best_effort]).unwrap();
    assert!(again.confidence > verdict.confidence);

    // The same mark, the same rate, or another path prove nothing.
    assert!(dscp_treatment(&[&bulk, &bulk]).is_none());
    assert!(dscp_treatment(&[&bulk, &fast.analysis(&marked(&fast.sender, 0))]).is_none());
    assert!(dscp_treatment(&[&bulk]).is_none());
    let far = run(Transfer {
        rate: 8e6,
        one_way: 90 * MS,
        ..Transfer::default()
    });
    assert!(dscp_treatment(&[&bulk, &far.analysis(&marked(&far.sender, 0))]).is_none());
    // A receiver with a small window is slow by itself.
    let small = run(Transfer {
        buffer: 32_768,
        scale: None,
        ..Transfer::default()
    });
    assert!(dscp_treatment(&[&bulk, &small.analysis(&marked(&small.sender, 0))]).is_none());
}

#[test]
fn packets_per_second_are_the_same_with_segments_of_any_size() {
    let with = |mss: u32, rate: f64| {
        let seen = run(Transfer {
            mss,
            rate,
            window_limit: 120,
            ..Transfer::default()
        });
        seen.analysis(&seen.sender)
    };
    let (large, small) = (with(1460, 8e6), with(536, 8e6 * 606.0 / 1530.0));
    for run in [&large, &small] {
        let limit = run.connections[0].verdict.limit;
        assert_eq!(
            limit,
            Limit::BottleneckBandwidth,
            "{}",
            run.connections[0].verdict.sentence
        );
    }
    let verdict = device_limit(&[&large, &small]).expect("packet rates are equal");
    assert_eq!(verdict.limit, Limit::DeviceLimit);
    assert!(
        verdict.sentence.contains("packets per second"),
        "{}",
        verdict.sentence
    );
    assert!(
        device_limit(&[&large, &with(536, 8e6)]).is_none(),
        "a link counts bits"
    );
    assert!(device_limit(&[&large, &large]).is_none());
}

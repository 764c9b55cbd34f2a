//! Limits of the two hosts, on transfers whose limit is known, seen from both ends.

mod support;

use slowpath_facts::Tap;
use slowpath_record::packets::Record;
use slowpath_verdict::Limit;
use support::wire::{MS, Reader, Transfer, run};

/// A router that does not scale its window, as its default settings leave it.
fn router() -> Transfer {
    Transfer {
        bytes: 2 << 20,
        buffer: 16_384,
        scale: None,
        timestamps: false,
        ..Transfer::default()
    }
}

#[test]
fn a_small_constant_window_is_the_receivers() {
    let seen = run(router());
    for (records, tap) in [(&seen.sender, Tap::Sender), (&seen.receiver, Tap::Receiver)] {
        let connection = seen.judge(records);
        assert_eq!(connection.tap, tap);
        let verdict = &connection.verdict;
        assert_eq!(verdict.limit, Limit::ReceiverWindow, "{}", verdict.sentence);
        let window = verdict.parameters.window_bytes.unwrap();
        assert!((14_600..=16_384).contains(&window), "{window}");
        assert!(verdict.evidence.iter().any(|item| !item.packets.is_empty()));
    }
}

#[test]
fn one_long_stop_of_the_reader_is_an_event_and_no_pace() {
    let seen = run(Transfer {
        bytes: 12 << 20,
        buffer: 1 << 20,
        reader: Some(Reader {
            unit: 7 << 20,
            bytes_per_s: 1e9,
            pause: 5_000 * MS,
            chunk: 1_460,
        }),
        ..Transfer::default()
    });
    for records in [&seen.sender, &seen.receiver] {
        let connection = seen.judge(records);
        let verdict = &connection.verdict;
        assert_eq!(verdict.limit, Limit::ReceiverApplication, "{}", verdict.sentence);
        assert!(
            verdict.sentence.contains("stopped reading once"),
            "{}",
            verdict.sentence
        );
        let stopped = verdict.parameters.stopped_s.unwrap();
        assert!((3.8..5.2).contains(&stopped), "{stopped}");
        assert_eq!(verdict.parameters.drain_byte_per_s, None);
        let longest = connection
            .intervals
            .iter()
            .filter(|interval| interval.limit == Limit::ReceiverApplication)
            .map(|interval| interval.to_s - interval.from_s)
            .fold(0.0, f64::max);
        assert!((3.8..5.6).contains(&longest), "{:?}", connection.intervals);
    }
}

#[test]
fn a_slow_store_behind_a_small_buffer_is_the_receiving_program() {
    for (pause, chunk) in [(100, 512), (45, 1460), (200, 4096), (0, 512)] {
        let reader = Reader {
            unit: 65_536,
            bytes_per_s: 86_948.0,
            pause: pause * MS,
            chunk,
        };
        let seen = run(Transfer {
            reader: Some(reader),
            ..router()
        });
        for records in [&seen.sender, &seen.receiver] {
            let connection = seen.judge(records);
            let verdict = &connection.verdict;
            assert_eq!(
                verdict.limit,
                Limit::ReceiverApplication,
                "pause {pause} ms, chunk {chunk}: {} {:?}",
                verdict.sentence,
                connection.facts.window
            );
            let drain = verdict.parameters.drain_byte_per_s.unwrap();
            let goodput = connection.goodput_bit_per_s / 8.0;
            assert!(
                (drain / goodput - 1.0).abs() < 0.03,
                "drain {drain}, goodput {goodput}"
            );
        }
    }
}

#[test]
fn a_slow_store_behind_a_large_buffer_is_the_receiving_program() {
    let reader = Reader {
        unit: 65_536,
        bytes_per_s: 86_948.0,
        pause: 100 * MS,
        chunk: 1460,
    };
    let setup = Transfer {
        bytes: 4 << 20,
        buffer: 2_500_000,
        scale: Some(6),
        reader: Some(reader),
        ..router()
    };
    let seen = run(setup);
    for records in [&seen.sender, &seen.receiver] {
        let connection = seen.judge(records);
        let verdict = &connection.verdict;
        assert_eq!(
            verdict.limit,
            Limit::ReceiverApplication,
            "{} {:?}",
            verdict.sentence,
            connection.facts.time
        );
        let drain = verdict.parameters.drain_byte_per_s.unwrap();
        assert!((drain / 86_948.0 - 1.0).abs() < 0.03, "{drain}");
    }
}

#[test]
fn a_full_send_buffer_is_told_from_a_slow_program() {
    let seen = run(Transfer {
        bytes: 6 << 20,
        send_buffer: 64 << 10,
        ..Transfer::default()
    });
    let verdict = seen.judge(&seen.sender).verdict;
    assert_eq!(verdict.limit, Limit::SendBuffer, "{}", verdict.sentence);
    let flight = verdict.parameters.flight_bytes.unwrap();
    assert!(flight.abs_diff(64 << 10) < 2 * 1460, "{flight}");
    let seen = run(Transfer {
        bytes: 2 << 20,
        source: Some((250_000.0, 5_000)),
        ..Transfer::default()
    });
    let verdict = seen.judge(&seen.sender).verdict;
    assert_eq!(verdict.limit, Limit::SenderApplication, "{}", verdict.sentence);
    let rate = verdict.parameters.source_byte_per_s.unwrap();
    assert!((rate / 250_000.0 - 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn a_full_link_is_a_bottleneck_with_bufferbloat_from_both_ends() {
    let setup = Transfer {
        bytes: 12 << 20,
        rate: 10e6,
        one_way: 20 * MS,
        window_limit: 300,
        ..Transfer::default()
    };
    let seen = run(setup);
    for records in [&seen.sender, &seen.receiver] {
        let verdict = seen.judge(records).verdict;
        assert_eq!(verdict.limit, Limit::BottleneckBandwidth, "{}", verdict.sentence);
        assert!(verdict.flags.contains(&slowpath_verdict::Flag::Bufferbloat));
        let rate = verdict.parameters.rate_bit_per_s.unwrap();
        assert!((rate / 10e6 - 1.0).abs() < 0.06, "{rate}");
    }
}

#[test]
fn a_short_transfer_ends_in_slow_start() {
    let seen = run(Transfer {
        bytes: 400_000,
        rate: 1e9,
        ..Transfer::default()
    });
    let verdict = seen.judge(&seen.sender).verdict;
    assert_eq!(verdict.limit, Limit::SlowStart, "{}", verdict.sentence);
    let seen = run(Transfer {
        bytes: 4_000,
        ..Transfer::default()
    });
    assert_eq!(seen.judge(&seen.sender).verdict.limit, Limit::Unknown);
}

#[test]
fn the_unit_of_a_slow_store_shows_in_the_windows_rhythm() {
    let reader = Reader {
        unit: 65_536,
        bytes_per_s: 86_948.0,
        pause: 100 * MS,
        chunk: 512,
    };
    let seen = run(Transfer {
        reader: Some(reader),
        ..router()
    });
    let verdict = seen.judge(&seen.sender).verdict;
    let step = verdict
        .parameters
        .drain_step_bytes
        .expect("the store takes units");
    assert!(step.abs_diff(65_536) < 2_000, "{step}");
    assert!(verdict.sentence.contains("in steps of"), "{}", verdict.sentence);
}

/// The records with every packet that bears data recorded `late` nanoseconds too late, behind what acknowledges it.
fn acknowledged_early(records: &[Record], late: i64) -> Vec<Record> {
    let mut records = records.to_vec();
    for record in &mut records {
        if let Record::Tcp(packet) = record
            && packet.payload_len > 0
        {
            packet.at += late;
        }
    }
    let at = |record: &Record| match record {
        Record::Tcp(packet) => packet.at,
        Record::Other(packet) => packet.at,
    };
    records.sort_by_key(at);
    for (number, record) in (1..).zip(&mut records) {
        if let Record::Tcp(packet) = record {
            packet.number = number;
        }
    }
    records
}

#[test]
fn acknowledgements_before_their_data_are_no_missing_data() {
    let seen = run(router());
    for late in [20_000, 500_000, 4 * MS] {
        let connection = seen.judge(&acknowledged_early(&seen.receiver, late));
        let facts = &connection.facts;
        assert_eq!(
            connection.verdict.limit,
            Limit::ReceiverWindow,
            "{late}: {}",
            connection.verdict.sentence
        );
        let wrong = (
            facts.capture_missed_bytes,
            facts.loss.spurious,
            facts.loss.retransmitted_segments,
        );
        assert_eq!(wrong, (0, 0, 0), "{late}");
        assert_eq!(facts.bytes, seen.judge(&seen.receiver).facts.bytes, "{late}");
    }
    // What the capture missed is still missed: the data behind it tells.
    let mut index = 0;
    let mut records = seen.receiver.clone();
    records.retain(|record| {
        let data = matches!(record, Record::Tcp(packet) if packet.payload_len > 0);
        index += usize::from(data);
        !data || index % 50 != 0
    });
    let missed = seen.judge(&records).facts.capture_missed_bytes;
    assert_eq!(missed % 1_460, 0);
    assert!(missed > 20 * 1_460, "{missed}");
}

#[test]
fn acknowledgements_alone_tell_how_much_arrived_and_how_fast() {
    let seen = run(router());
    let whole = seen.judge(&seen.receiver);
    let mut records = seen.receiver.clone();
    records.retain(|record| !matches!(record, Record::Tcp(packet) if packet.payload_len > 0));
    let alone = seen.judge(&records);
    assert!(alone.verdict.limit.is_undecided(), "{}", alone.verdict.sentence);
    assert_eq!(alone.bytes_delivered, whole.bytes_delivered);
    let ratio = alone.goodput_bit_per_s / whole.goodput_bit_per_s;
    assert!((0.9..1.01).contains(&ratio), "{ratio}");
    // In segments of full size, as far as can be told.
    let segments = alone.facts.segments;
    assert!((1..=whole.facts.segments * 2).contains(&segments), "{segments}");
}

/// A capture of one direction alone, without anything that the sender sent, its SYN neither.
#[test]
fn the_receivers_packets_alone_tell_how_much_arrived() {
    let seen = run(router());
    let whole = seen.judge(&seen.receiver);
    let sent = seen.receiver.iter().find_map(|record| match record {
        Record::Tcp(packet) if packet.payload_len > 0 => Some(packet.direction),
        _ => None,
    });
    let mut records = seen.receiver.clone();
    records.retain(|record| matches!(record, Record::Tcp(packet) if Some(packet.direction) != sent));
    let alone = seen.judge(&records);
    assert!(alone.verdict.limit.is_undecided(), "{}", alone.verdict.sentence);
    let missing = whole.bytes_delivered - alone.bytes_delivered;
    assert!(missing <= 2 * 1_460, "{missing} bytes are not counted");
    assert!(alone.goodput_bit_per_s > 0.5 * whole.goodput_bit_per_s);
}

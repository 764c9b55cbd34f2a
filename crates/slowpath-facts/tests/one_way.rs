//! Beside the receiver the sender's timestamps tell how long each segment stood in a queue.

use slowpath_facts::{Analyzer, Tap, Timeline};
use slowpath_packet::{FlowKey, Protocol};
use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, Record, SynOptions, TcpFlags, TcpPacket, Timestamps,
};

const MS: i64 = 1_000_000;
const SEGMENT: u32 = 1_000;
/// One way of the empty path.
const WAY: i64 = 20 * MS;
/// When the first data are sent.
const FIRST: i64 = 137_000;

/// Data as their receiver sees them: a segment each 5 ms, delayed by `queue` nanoseconds beyond the path, with a clock of
/// the sender that ticks each `tick` nanoseconds.
fn seen(tick: i64, queue: impl Fn(i64) -> i64) -> Timeline {
    seen_as(tick, |number| {
        let sent = number * 5 * MS + FIRST;
        (sent, queue(sent))
    })
}

/// The same where `sends` says when each segment is sent, and by how much it is delayed.
fn seen_as(tick: i64, sends: impl Fn(i64) -> (i64, i64)) -> Timeline {
    let mut conversations = Conversations::new();
    let (client, server) = (([192, 0, 2, 1], 1000), ([192, 0, 2, 2], 80));
    let (id, _) = conversations.intern(&FlowKey::new(Protocol::TCP, client.into(), server.into()));
    let stamp = |sent: i64| u32::try_from((sent + 1_000 * MS) / tick).unwrap();
    let packet = |direction, at, seq: u32, ack: u32, len: u32, value: u32| TcpPacket {
        seq,
        ack,
        payload_len: len,
        ip_len: len + 52,
        wire_len: len + 66,
        window: u16::MAX,
        flags: TcpFlags::ACK,
        timestamps: Some(Timestamps { value, echo: 1 }),
        ..TcpPacket::new(id, direction, at, 0)
    };
    let options = SynOptions {
        mss: Some(1000),
        window_scale: Some(0),
        sack_permitted: true,
    };
    let open = -4 * WAY;
    let mut packets = vec![
        TcpPacket {
            flags: TcpFlags::SYN,
            syn: options,
            ..packet(Direction::Forward, open + WAY, 0, 0, 0, stamp(open))
        },
        TcpPacket {
            flags: TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0),
            syn: options,
            ..packet(Direction::Backward, open + WAY, 0, 1, 0, 7)
        },
        packet(Direction::Forward, open + 3 * WAY, 1, 1, 0, stamp(open + 2 * WAY)),
    ];
    for number in 0..400 {
        let (sent, queue) = sends(i64::from(number));
        let at = sent + WAY + queue;
        let next = 1 + number * SEGMENT;
        packets.push(packet(Direction::Forward, at, next, 1, SEGMENT, stamp(sent)));
        packets.push(packet(Direction::Backward, at, 1, next + SEGMENT, 0, 7));
    }
    let mut analyzer = Analyzer::new();
    for (number, mut packet) in (1..).zip(packets) {
        packet.number = number;
        analyzer.push(&Record::Tcp(packet), &conversations);
    }
    let facts = analyzer.finish(&conversations, &CaptureSummary::default());
    assert_eq!(facts.connections[0].facts.tap, Tap::Receiver);
    facts.connections[0].facts.timeline.clone()
}

#[test]
fn timestamps_tell_a_queue_to_the_unit_of_the_senders_clock() {
    // For a second of two the queue delays by 30 ms.
    let stands = |sent: i64| {
        if (500 * MS..1_500 * MS).contains(&sent) {
            30 * MS
        } else {
            0
        }
    };
    let line = seen(MS, stands);
    assert!((line.delay_unit_s - 0.001).abs() < 1e-9, "{}", line.delay_unit_s);
    assert!((line.reached_s() - 0.03).abs() <= 0.002, "{}", line.reached_s());
    assert!(
        (line.delayed(0.025) - 0.5).abs() < 0.05,
        "{}",
        line.delayed(0.025)
    );
    assert!(line.delayed(0.033) < 0.01);
    // An empty path delays by no more than the unit.
    let empty = seen(MS, |_| 0);
    assert!(empty.reached_s() <= 0.001, "{}", empty.reached_s());
}

#[test]
fn a_clock_of_no_known_unit_tells_no_time() {
    assert!(seen(37 * MS, |_| 0).delay_unit_s.abs() < 1e-12);
}

/// Without a clock of the sender, what a window lets through in each round trip looks as regular as what a link spread.
#[test]
fn what_takes_longer_than_half_a_round_trip_is_no_train() {
    let no_clock = 37 * MS;
    let every = |apart: i64| seen_as(no_clock, |number| (number * apart + FIRST, 0)).train_rate;
    assert_eq!(every(5 * MS), None);
    let close = every(MS);
    assert!(
        close.is_some_and(|rate| (rate / 1e6 - 1.0).abs() < 0.05),
        "{close:?}"
    );
}

/// Five segments in each round trip: their queue is empty before the next five come, and a link of 250 kB/s has room.
#[test]
fn bursts_far_apart_are_no_train_however_long_each_stands_in_a_queue() {
    let window = |number: i64| (number / 5 * 40 * MS + FIRST, number % 5 * 4 * MS);
    assert_eq!(seen_as(MS, window).train_rate, None);
    // Ten segments fill the link: each stands behind the one before.
    let full = |number: i64| (number / 10 * 40 * MS + FIRST, 8 * MS + number % 10 * 4 * MS);
    let rate = seen_as(MS, full).train_rate;
    assert!(
        rate.is_some_and(|rate| (rate / 250e3 - 1.0).abs() < 0.05),
        "{rate:?}"
    );
}

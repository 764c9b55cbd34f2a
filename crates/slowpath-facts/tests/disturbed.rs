//! What a capture shows while its machine held packets up is left out.

use std::collections::BTreeSet;

use slowpath_facts::{Analyzer, CaptureFacts};
use slowpath_packet::{FlowKey, Protocol};
use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, Record, SackBlocks, SynOptions, TcpFlags, TcpPacket,
};

const MS: i64 = 1_000_000;
const SEGMENT: u32 = 1000;
/// From a segment to its acknowledgement.
const ROUND_TRIP: i64 = 50 * MS;

/// A segment each 10 ms over a path that loses the 20th and the 60th, which are sent again a round trip later, seen beside
/// the sender and analysed without `spans`.
fn seen(spans: &[(i64, i64)]) -> CaptureFacts {
    let mut conversations = Conversations::new();
    let (client, server) = (([192, 0, 2, 1], 1000), ([192, 0, 2, 2], 80));
    let (id, _) = conversations.intern(&FlowKey::new(Protocol::TCP, client.into(), server.into()));
    let packet = |direction, at, seq: u32, ack: u32, len: u32| TcpPacket {
        seq,
        ack,
        payload_len: len,
        ip_len: len + 40,
        wire_len: len + 54,
        window: u16::MAX,
        flags: TcpFlags::ACK,
        ..TcpPacket::new(id, direction, at, 0)
    };
    let syn = |direction, at, flags, ack| TcpPacket {
        flags,
        syn: SynOptions {
            mss: Some(1000),
            window_scale: Some(0),
            sack_permitted: true,
        },
        ..packet(direction, at, 0, ack, 0)
    };
    let mut packets = vec![
        syn(Direction::Forward, -2 * ROUND_TRIP, TcpFlags::SYN, 0),
        syn(
            Direction::Backward,
            -ROUND_TRIP,
            TcpFlags(TcpFlags::SYN.0 | TcpFlags::ACK.0),
            1,
        ),
        packet(Direction::Forward, -ROUND_TRIP, 1, 1, 0),
    ];
    let mut sent: Vec<(i64, u32)> = (0..100)
        .map(|number| (i64::from(number) * 10 * MS, number))
        .collect();
    let lost = [20, 60];
    sent.extend(lost.map(|number| (i64::from(number) * 10 * MS + 65 * MS, number)));
    sent.sort_unstable();
    let mut arrived = BTreeSet::new();
    for &(at, number) in &sent {
        packets.push(packet(Direction::Forward, at, 1 + number * SEGMENT, 1, SEGMENT));
        if lost.contains(&number) && at == i64::from(number) * 10 * MS {
            continue;
        }
        arrived.insert(number);
        let next = (0..=100).find(|number| !arrived.contains(number)).unwrap();
        let mut answer = packet(Direction::Backward, at + ROUND_TRIP, 1, 1 + next * SEGMENT, 0);
        if number > next {
            let mut blocks = SackBlocks::NONE;
            blocks.push(1 + (next + 1) * SEGMENT, 1 + (number + 1) * SEGMENT);
            answer.sack = blocks;
        }
        packets.push(answer);
    }
    packets.sort_by_key(|packet| packet.at);
    let mut analyzer = Analyzer::new();
    for (number, mut packet) in (1..).zip(packets) {
        packet.number = number;
        analyzer.push(&Record::Tcp(packet), &conversations);
    }
    analyzer.leave_out(spans);
    analyzer.finish(&conversations, &CaptureSummary::default())
}

#[test]
fn losses_that_the_machine_may_have_made_are_no_evidence_of_losses() {
    let losses = |spans: &[(i64, i64)]| {
        let facts = seen(spans);
        let connection = &facts.connections[0];
        let loss = connection.facts.loss;
        (
            [loss.lost_segments, loss.episodes, loss.disturbed_segments],
            connection.lost_segments,
        )
    };
    assert_eq!(losses(&[]), ([2, 2, 0], 2));
    assert_eq!(losses(&[(198 * MS, 202 * MS)]), ([1, 1, 1], 2), "sent in a span");
    assert_eq!(
        losses(&[(180 * MS, 191 * MS)]),
        ([1, 1, 1], 2),
        "sent into its crowd"
    );
    assert_eq!(losses(&[(180 * MS, 185 * MS)]), ([2, 2, 0], 2), "sent after that");
    assert_eq!(
        losses(&[(198 * MS, 202 * MS), (599 * MS, 601 * MS)]),
        ([0, 0, 2], 2)
    );
}

//! Captures with a clock that jumps, and paths that swallow large packets.

mod support;

use std::net::SocketAddr;

use slowpath_packet::{FlowKey, Protocol};
use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, OtherPacket, Record, SackBlocks, SynOptions, TcpFlags,
    TcpPacket, Timestamps,
};
use slowpath_verdict::{Analysis, Limit};
use support::wire::{MS, Transfer, run};

#[test]
fn a_clock_that_jumps_forward_is_taken_back() {
    let seen = run(Transfer {
        bytes: 2 << 20,
        buffer: 32_768,
        scale: None,
        ..Transfer::default()
    });
    let plain = seen.analysis(&seen.sender);
    let middle = seen.sender.len() / 2;
    let jumped: Vec<Record> = seen
        .sender
        .iter()
        .enumerate()
        .map(|(index, record)| {
            let Record::Tcp(mut packet) = *record else {
                return *record;
            };
            packet.at += if index >= middle { 3_600_000 * MS } else { 0 };
            Record::Tcp(packet)
        })
        .collect();
    let after = seen.analysis(&jumped);
    let warned = after
        .capture
        .quality
        .warnings
        .iter()
        .any(|text| text.contains("jumped forward by 3599.9"));
    assert!(warned, "{:?}", after.capture.quality.warnings);
    let [a, b] = [&plain, &after].map(|analysis| &analysis.connections[0]);
    assert_eq!(a.verdict.limit, Limit::ReceiverWindow);
    assert_eq!(b.verdict.limit, a.verdict.limit, "{}", b.verdict.sentence);
    assert!(
        (b.duration_s - a.duration_s).abs() < 0.5,
        "{} {}",
        a.duration_s,
        b.duration_s
    );
}

/// Datagrams beside a connection are not followed, and where they are many that is said.
#[test]
fn datagrams_beside_a_connection_are_told() {
    let seen = run(Transfer {
        bytes: 1 << 20,
        ..Transfer::default()
    });
    let warned = |every: usize| {
        let beside: Vec<Record> = seen
            .sender
            .iter()
            .enumerate()
            .flat_map(|(index, record)| {
                let Record::Tcp(packet) = *record else {
                    return vec![*record];
                };
                let datagram = Record::Other(OtherPacket {
                    at: packet.at,
                    number: packet.number,
                    conversation: packet.conversation,
                    protocol: Protocol::UDP,
                    ip_len: 1_400,
                    interface: 0,
                    dscp: packet.dscp,
                    ecn: packet.ecn,
                    ttl: 64,
                    direction: packet.direction,
                    icmp: None,
                });
                let one = (index % every == 0).then_some(datagram);
                std::iter::once(*record).chain(one).collect()
            })
            .collect();
        let warnings = seen.analysis(&beside).capture.quality.warnings;
        warnings.into_iter().find(|text| text.contains("UDP"))
    };
    let told = warned(1).unwrap();
    assert!(told.contains(" % of the bytes are UDP"), "{told}");
    assert_eq!(warned(100), None);
}

#[test]
fn a_program_that_pauses_is_no_jump_of_the_clock() {
    let seen = run(Transfer {
        bytes: 1 << 20,
        source: Some((100_000.0, 100_000)),
        ..Transfer::default()
    });
    let analysis = seen.analysis(&seen.sender);
    let warnings = &analysis.capture.quality.warnings;
    assert!(
        !warnings.iter().any(|text| text.contains("jumped")),
        "{warnings:?}"
    );
    assert_eq!(analysis.connections[0].verdict.limit, Limit::SenderApplication);
}

/// Packets of one connection, client to server first.
struct Script {
    records: Vec<Record>,
    conversations: Conversations,
}

impl Script {
    fn new() -> Self {
        let mut conversations = Conversations::new();
        let client = SocketAddr::from(([192, 0, 2, 1], 40_000));
        let server = SocketAddr::from(([192, 0, 2, 2], 5001));
        conversations.intern(&FlowKey::new(Protocol::TCP, client, server));
        let mut script = Self {
            records: Vec::new(),
            conversations,
        };
        for (at, direction, flags) in [
            (0, Direction::Forward, TcpFlags::SYN),
            (40, Direction::Backward, TcpFlags::SYN.with(TcpFlags::ACK)),
        ] {
            script.add(at * MS, direction, flags, 0, 0);
        }
        script.add(40 * MS + 10_000, Direction::Forward, TcpFlags::ACK, 1, 0);
        script
    }

    fn add(&mut self, at: i64, direction: Direction, flags: TcpFlags, position: u32, len: u32) {
        let number = self.records.len() as u64 + 1;
        let mut packet = TcpPacket::new(slowpath_record::packets::ConversationId(0), direction, at, number);
        packet.flags = flags;
        let syn = flags.has(TcpFlags::SYN);
        match direction {
            Direction::Forward => (packet.seq, packet.ack) = (position, u32::from(!syn)),
            Direction::Backward => (packet.seq, packet.ack) = (u32::from(!syn), position.max(1)),
        }
        packet.payload_len = len;
        packet.ip_len = len + 52;
        packet.wire_len = len + 66;
        packet.window = if syn { 65_535 } else { 512 };
        packet.ip_id = u16::try_from(number).ok();
        packet.timestamps = Some(Timestamps {
            value: u32::try_from(at / MS).unwrap_or(0) + 1,
            echo: 0,
        });
        if syn {
            packet.syn = SynOptions {
                mss: Some(1460),
                window_scale: Some(7),
                sack_permitted: true,
            };
        }
        self.records.push(Record::Tcp(packet));
    }

    fn data(&mut self, at_ms: i64, position: u32, len: u32) {
        self.add(at_ms * MS, Direction::Forward, TcpFlags::ACK, position, len);
    }

    fn ack(&mut self, at_ms: i64, position: u32) {
        self.add(at_ms * MS, Direction::Backward, TcpFlags::ACK, position, 0);
    }

    /// An acknowledgement with blocks of segments, the newest first; segment n begins at 1 + 1448 n.
    fn report(&mut self, at_ms: i64, position: u32, blocks: &[(u32, u32)]) {
        self.ack(at_ms, position);
        let Some(Record::Tcp(packet)) = self.records.last_mut() else {
            return;
        };
        let mut sack = SackBlocks::NONE;
        for (from, to) in blocks {
            sack.push(1 + from * 1448, 1 + to * 1448);
        }
        packet.sack = sack;
    }

    fn analysis(&self) -> Analysis {
        support::analyze_records(&self.records, &self.conversations, &CaptureSummary::default())
    }
}

/// A greeting gets through, full-size segments do not, however often they are sent.
#[test]
fn full_size_segments_that_never_pass_are_a_black_hole() {
    let mut script = Script::new();
    script.data(50, 1, 200);
    script.ack(90, 201);
    for segment in 0..10 {
        script.data(100, 201 + segment * 1448, 1448);
    }
    for at in [400, 1000, 2200, 4600, 9400] {
        script.data(at, 201, 1448);
    }
    let analysis = script.analysis();
    let verdict = &analysis.connections[0].verdict;
    assert_eq!(verdict.limit, Limit::MtuBlackHole, "{}", verdict.sentence);
    assert!(verdict.sentence.contains("sent 6 times"), "{}", verdict.sentence);
}

/// A path that breaks after full-size segments had passed swallows everything, not large packets.
#[test]
fn an_outage_is_no_black_hole() {
    let mut script = Script::new();
    for round in 0..6_u32 {
        let at = 50 + i64::from(round) * 40;
        for segment in 0..10 {
            script.data(at, 1 + (round * 10 + segment) * 1448, 1448);
        }
        script.ack(at + 40, 1 + (round + 1) * 10 * 1448);
    }
    let stuck = 1 + 60 * 1448;
    script.data(400, stuck, 1448);
    for at in [700, 1300, 2500, 4900] {
        script.data(at, stuck, 1448);
    }
    let analysis = script.analysis();
    let limit = analysis.connections[0].verdict.limit;
    assert_ne!(limit, Limit::MtuBlackHole);
}

/// Thirty segments, of which some are lost.
fn thirty_segments() -> Script {
    let mut script = Script::new();
    for segment in 0..30 {
        script.data(50, 1 + segment * 1448, 1448);
    }
    script
}

/// A receiver that joins what arrived into one report (as Linux does with many losses) says in which order its blocks
/// were reported last, not in which they arrived; and what found no room in it may have arrived as well.
#[test]
fn blocks_of_one_report_overtake_nothing() {
    // Lost: 0, 10, 12, 20.
    let mut script = thirty_segments();
    script.report(90, 1, &[(21, 22), (13, 20), (1, 10)]);
    // Only now 11 is reported: the report before had no room for it.
    script.report(91, 1, &[(21, 30), (11, 12), (13, 20)]);
    for segment in [0, 10, 12, 20] {
        script.data(92, 1 + segment * 1448, 1448);
    }
    for (at, to) in [(132, 10), (133, 12), (134, 20), (135, 30)] {
        script.ack(at, 1 + to * 1448);
    }
    let analysis = script.analysis();
    let connection = &analysis.connections[0];
    assert_eq!(connection.reordered_segments, 0, "{:?}", connection.facts.loss);
    assert_eq!(connection.lost_segments, 4, "{:?}", connection.facts.loss);
}

#[test]
fn a_segment_reported_after_later_ones_was_overtaken() {
    let mut script = thirty_segments();
    script.report(90, 1 + 5 * 1448, &[(6, 7)]);
    script.report(91, 1 + 5 * 1448, &[(6, 8)]);
    // 5 arrives by itself.
    script.ack(92, 1 + 8 * 1448);
    // 10 and 8 arrive before 9 does.
    script.report(93, 1 + 9 * 1448, &[(10, 11)]);
    script.ack(94, 1 + 11 * 1448);
    script.ack(95, 1 + 30 * 1448);
    let analysis = script.analysis();
    let connection = &analysis.connections[0];
    assert_eq!(connection.reordered_segments, 2, "{:?}", connection.facts.loss);
    assert_eq!(connection.lost_segments, 0, "{:?}", connection.facts.loss);
}

//! Packets that make no sense: nothing panics, hangs or overflows, and every figure stays finite.

mod support;

use proptest::prelude::*;
use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};
use slowpath_record::packets::{
    AccEcn, CaptureSummary, Conversations, Direction, IcmpError, Marks, OtherPacket, Record, SackBlocks,
    SynOptions, TcpFlags, TcpPacket, Timestamps,
};
use slowpath_verdict::Analysis;

/// Numbers near the places where arithmetic breaks, and near each other.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        0_u32..20_000,
        any::<u32>(),
        Just(u32::MAX),
        (0_u32..20_000).prop_map(|low| u32::MAX - low),
        (0_u32..20_000).prop_map(|low| 0x7fff_f000 + low),
    ]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => 0_i64..10_000_000_000,
        1 => any::<i64>(),
        1 => Just(i64::MIN),
        1 => Just(i64::MAX),
    ]
}

prop_compose! {
    fn packet()(
        at in time(),
        seq in number(),
        ack in number(),
        payload_len in prop_oneof![Just(0_u32), 1_u32..3_000, number()],
        window in any::<u16>(),
        flags in prop_oneof![Just(0x10_u16), Just(0x18), Just(0x02), Just(0x12), any::<u16>()],
        stamps in prop::option::of((number(), number())),
        blocks in prop::collection::vec((number(), number()), 0..5),
        marks in any::<u8>(),
        syn in (prop::option::of(any::<u16>()), prop::option::of(any::<u8>()), any::<bool>()),
        rest in (any::<bool>(), 0_usize..3, prop::option::of(any::<u16>()), any::<u8>(), 0_u8..64, any::<bool>()),
        ce in prop::option::of(number()),
    ) -> (usize, TcpPacket) {
        let (backward, flow, ip_id, ttl, dscp, ecn) = rest;
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let mut packet = TcpPacket::new(slowpath_record::packets::ConversationId(0), direction, at, 1);
        packet.seq = seq;
        packet.ack = ack;
        packet.payload_len = payload_len;
        packet.ip_len = payload_len.saturating_add(40);
        packet.wire_len = payload_len;
        packet.window = window;
        packet.flags = TcpFlags(flags & 0x1ff);
        packet.timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let mut sack = SackBlocks::NONE;
        for (left, right) in blocks {
            sack.push(left, right);
        }
        packet.sack = sack;
        packet.marks = Marks(marks);
        packet.syn = SynOptions { mss: syn.0, window_scale: syn.1, sack_permitted: syn.2 };
        packet.ip_id = ip_id;
        packet.ttl = ttl;
        packet.dscp = Dscp::new(dscp).unwrap_or_default();
        packet.ecn = if ecn { Ecn::Ce } else { Ecn::NotEct };
        packet.accecn = ce.map(|ce| AccEcn { ect0: Some(ce), ce: Some(ce), ect1: None });
        (flow, packet)
    }
}

fn analyse(packets: Vec<(usize, TcpPacket)>) -> Analysis {
    let mut conversations = Conversations::new();
    let ids: Vec<_> = (0..3_u16)
        .map(|port| {
            let (a, b) = (([192, 0, 2, 1], 1000 + port), ([192, 0, 2, 2], 80));
            conversations
                .intern(&FlowKey::new(Protocol::TCP, a.into(), b.into()))
                .0
        })
        .collect();
    let records: Vec<Record> = packets
        .into_iter()
        .enumerate()
        .map(|(index, (flow, mut packet))| {
            packet.conversation = ids[flow];
            packet.number = index as u64 + 1;
            if index % 17 == 16 {
                return Record::Other(OtherPacket {
                    at: packet.at,
                    number: packet.number,
                    conversation: packet.conversation,
                    protocol: Protocol::ICMP,
                    ip_len: packet.ip_len,
                    interface: 0,
                    dscp: packet.dscp,
                    ecn: packet.ecn,
                    ttl: packet.ttl,
                    direction: packet.direction,
                    icmp: Some(IcmpError {
                        kind: 3,
                        code: 4,
                        mtu: packet.window,
                        quoted: Some((packet.conversation, packet.direction)),
                    }),
                });
            }
            Record::Tcp(packet)
        })
        .collect();
    support::analyze_records(&records, &conversations, &CaptureSummary::default())
}

fn check(analysis: &Analysis) {
    // A number that is not finite becomes null in JSON, which does not read back as a number.
    let json = serde_json::to_string(analysis).expect("an analysis can be written");
    let back: Analysis = serde_json::from_str(&json).expect("and read again");
    assert_eq!(back.connections.len(), analysis.connections.len());
    for connection in &analysis.connections {
        let verdict = &connection.verdict;
        assert!(
            (0.0..=1.0).contains(&verdict.confidence),
            "{}",
            verdict.confidence
        );
        assert!((0.0..=1.0).contains(&verdict.share), "{}", verdict.share);
        assert!(!verdict.sentence.is_empty());
        assert!(
            !verdict
                .rejected
                .iter()
                .any(|rejected| rejected.limit == verdict.limit)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nonsense_is_survived(packets in prop::collection::vec(packet(), 0..120)) {
        check(&analyse(packets));
    }

    #[test]
    fn a_transfer_with_nonsense_in_it_is_survived(
        packets in prop::collection::vec((any::<prop::sample::Index>(), packet()), 1..12),
    ) {
        let mut records: Vec<(usize, TcpPacket)> = Vec::new();
        let seen = support::wire::run(support::wire::Transfer { bytes: 200_000, ..Default::default() });
        records.extend(seen.sender.iter().filter_map(|record| match record {
            Record::Tcp(packet) => Some((0, *packet)),
            Record::Other(_) => None,
        }));
        for (place, (_, packet)) in packets {
            let place = place.index(records.len());
            records.insert(place, (0, packet));
        }
        check(&analyse(records));
    }
}

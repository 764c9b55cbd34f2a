//! Packets to facts to verdict to words: transfers that go well, badly, and not by any rule.
//!
//! The input is a list of small orders. Most of them go on where a connection stands, as a real one would, because
//! wholly random numbers never get past the first packet; each order may also replace any field by anything.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_verdict::compare::{device_limit, dscp_treatment};
use slowpath_facts::taps::two_taps;
use slowpath_facts::Analyzer;
use slowpath_verdict::Analysis;
use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};
use slowpath_record::packets::{
    AccEcn, CaptureSummary, ConversationId, Conversations, Direction, IcmpError, Marks, OtherPacket, Record,
    SackBlocks, SynOptions, TcpFlags, TcpPacket, Timestamps,
};
use slowpath_report::Style;
use slowpath_report::explain::Explanation;
use slowpath_report::explain_text::{Depth, write_explanation};

fuzz_target!(|data: &[u8]| {
    let (records, conversations) = Script(data).run();
    let analysis = analyse(&records, &conversations);
    // A second capture of the same, with every seventh packet missing and another clock: another tap.
    let mut taps = [Analyzer::new(), Analyzer::new()];
    for (index, record) in records.iter().enumerate() {
        taps[0].push(record, &conversations);
        if index % 7 != 3 {
            taps[1].push(&later(record, index), &conversations);
        }
    }
    for found in two_taps((&taps[0], &conversations), (&taps[1], &conversations)) {
        assert!(!found.findings.is_empty() || found.matched_segments == 0);
    }
    let other = Analysis::of(taps[1].look(&conversations, &CaptureSummary::default()));
    let _ = (dscp_treatment(&[&analysis, &other]), device_limit(&[&analysis, &other]));
});

/// Analyses, checks what must always hold, and renders.
fn analyse(records: &[Record], conversations: &Conversations) -> Analysis {
    let mut analyzer = Analyzer::new();
    for record in records {
        analyzer.push(record, conversations);
    }
    let analysis = Analysis::of(analyzer.finish(conversations, &CaptureSummary::default()));
    // A number that is not finite becomes null in JSON, which does not read back as a number.
    let json = serde_json::to_string(&analysis).expect("an analysis can be written");
    let back: Analysis = serde_json::from_str(&json).expect("and read again");
    assert_eq!(back.connections.len(), analysis.connections.len());
    for connection in &analysis.connections {
        let verdict = &connection.verdict;
        assert!((0.0..=1.0).contains(&verdict.confidence), "{}", verdict.confidence);
        assert!((0.0..=1.0).contains(&verdict.share), "{}", verdict.share);
        assert!(!verdict.sentence.is_empty());
        assert!(verdict.rejected.iter().all(|rejected| rejected.limit != verdict.limit));
        assert!(connection.intervals.iter().all(|interval| interval.from_s <= interval.to_s));
    }
    let explanation = Explanation::diagnosed(back);
    let mut text = Vec::new();
    write_explanation(&explanation, Style::default(), Depth::default(), &mut text).expect("memory takes text");
    analysis
}

/// The same packet at another tap.
fn later(record: &Record, index: usize) -> Record {
    let mut copy = *record;
    if let Record::Tcp(packet) = &mut copy {
        packet.at = packet.at.saturating_add(5_000_000_000 + index as i64 % 3 * 1000);
        packet.ttl = packet.ttl.wrapping_sub(1);
    }
    copy
}

/// What one end of a connection sent so far.
#[derive(Clone, Copy, Default)]
struct End {
    next: u32,
    time: u32,
    ip_id: u16,
}

struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn u8(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.u8(), self.u8()])
    }

    fn u32(&mut self) -> u32 {
        u32::from(self.u16()) | u32::from(self.u16()) << 16
    }

    fn run(mut self) -> (Vec<Record>, Conversations) {
        let mut conversations = Conversations::new();
        let ids: Vec<ConversationId> = (0..FLOWS as u16)
            .map(|flow| {
                let (a, b) = (([192, 0, 2, 1], 40_000 + flow), ([192, 0, 2, 2], [80, 22, 443][usize::from(flow)]));
                conversations.intern(&FlowKey::new(Protocol::TCP, a.into(), b.into())).0
            })
            .collect();
        let mut records = Vec::new();
        let mut at = 0_i64;
        let mut ends = [[End::default(); 2]; FLOWS];
        while !self.0.is_empty() && records.len() < MOST {
            let order = self.u8();
            let flow = usize::from(order & 3) % FLOWS;
            let backward = order & 4 != 0;
            // How many times the order is carried out: trains and whole transfers from a few bytes.
            let times = match order >> 3 & 3 {
                0 | 1 => 1,
                2 => 1 + usize::from(self.u8() & 0x3f),
                _ => 1 + usize::from(self.u16() & 0x3ff),
            };
            let odd = order & 0x20 != 0;
            let with_ack_every = if order & 0x40 != 0 { 1 + usize::from(self.u8() & 7) } else { usize::MAX };
            let other = order & 0x80 != 0;
            let step = self.step();
            let size = match self.u8() {
                0 => 0,
                1..=127 => 1448,
                large @ 128..=160 => 1448 * (u32::from(large) - 126),
                small => u32::from(small),
            };
            let mut shape = Shape::default();
            if odd {
                shape = self.shape();
            }
            for round in 0..times {
                if records.len() >= MOST {
                    break;
                }
                at = at.saturating_add(step);
                let direction = if backward { Direction::Backward } else { Direction::Forward };
                let number = records.len() as u64 + 1;
                let mut packet = self.packet(ids[flow], direction, at, number, size, &mut ends[flow]);
                shape.apply(&mut packet, round as u32);
                records.push(if other { icmp(&packet) } else { Record::Tcp(packet) });
                if round % with_ack_every == with_ack_every - 1 {
                    let number = records.len() as u64 + 1;
                    let later = at.saturating_add(step / 2);
                    let ack = self.packet(ids[flow], direction.reversed(), later, number, 0, &mut ends[flow]);
                    records.push(Record::Tcp(ack));
                }
            }
        }
        (records, conversations)
    }

    /// Nanoseconds from one packet to the next: any order of size, now and then backwards.
    fn step(&mut self) -> i64 {
        let choice = self.u8();
        let span = (1 + i64::from(choice & 7)) << (choice >> 3).min(40);
        match self.u8() {
            0 => -span,
            1 => i64::MAX / 2,
            fine => span + i64::from(fine),
        }
    }

    /// The packet that comes next if all goes well.
    fn packet(
        &mut self,
        conversation: ConversationId,
        direction: Direction,
        at: i64,
        number: u64,
        size: u32,
        ends: &mut [End; 2],
    ) -> TcpPacket {
        let peer = ends[direction.reversed().index()];
        let own = &mut ends[direction.index()];
        let mut packet = TcpPacket::new(conversation, direction, at, number);
        packet.flags = TcpFlags::ACK;
        packet.window = 8_192;
        if own.next == 0 {
            packet.flags = if peer.next == 0 { TcpFlags::SYN } else { TcpFlags::SYN.with(TcpFlags::ACK) };
            packet.syn = SynOptions { mss: Some(1460), window_scale: Some(7), sack_permitted: true };
        } else {
            packet.payload_len = size;
        }
        packet.seq = own.next;
        packet.ack = peer.next;
        own.next = own.next.wrapping_add(packet.seq_len()).max(1);
        own.time = (at / 1_000_000) as u32;
        own.ip_id = own.ip_id.wrapping_add(1);
        packet.timestamps = Some(Timestamps { value: own.time, echo: peer.time });
        packet.ip_id = Some(own.ip_id);
        packet.ip_len = packet.payload_len.saturating_add(52);
        packet.wire_len = packet.ip_len.saturating_add(14);
        packet
    }

    fn shape(&mut self) -> Shape {
        let which = self.u16();
        let has = |bit: u16| which & 1 << bit != 0;
        let mut shape = Shape::default();
        if has(0) {
            shape.seq = Some((has(1), self.number()));
        }
        if has(2) {
            shape.ack = Some((has(3), self.number()));
        }
        if has(4) {
            shape.flags = Some(self.u16());
        }
        if has(5) {
            shape.window = Some(self.u16());
        }
        if has(6) {
            shape.times = Some((has(7), self.number(), self.number()));
        }
        if has(8) {
            shape.sack = (0..1 + self.u8() % 4).map(|_| (self.number(), self.number())).collect();
        }
        if has(9) {
            shape.len = Some(self.u32());
        }
        if has(10) {
            shape.at = Some(i64::from(self.u32()) << (self.u8() & 0x1f));
        }
        if has(11) {
            shape.marks = Some(Marks(self.u8()));
        }
        if has(12) {
            shape.ip = Some((self.u16(), self.u8(), self.u8()));
        }
        if has(13) {
            shape.syn = Some((self.u16(), self.u8(), self.u8()));
        }
        if has(14) {
            shape.ce = Some(self.u32() & 0x00ff_ffff);
        }
        shape
    }

    /// A small number, a multiple of a segment, or anything; before or behind zero.
    fn number(&mut self) -> u32 {
        match self.u8() {
            near @ 0..=99 => u32::from(near) * 1448,
            near @ 100..=199 => 0_u32.wrapping_sub((u32::from(near) - 100) * 1448),
            near @ 200..=227 => u32::from(near).wrapping_sub(214),
            _ => self.u32(),
        }
    }
}

/// What an order replaces in its packets.
#[derive(Default)]
struct Shape {
    /// Relative or absolute.
    seq: Option<(bool, u32)>,
    ack: Option<(bool, u32)>,
    flags: Option<u16>,
    window: Option<u16>,
    times: Option<(bool, u32, u32)>,
    /// Relative to the acknowledgement.
    sack: Vec<(u32, u32)>,
    len: Option<u32>,
    at: Option<i64>,
    marks: Option<Marks>,
    ip: Option<(u16, u8, u8)>,
    syn: Option<(u16, u8, u8)>,
    ce: Option<u32>,
}

impl Shape {
    fn apply(&self, packet: &mut TcpPacket, round: u32) {
        let place = |(relative, value): (bool, u32), now: u32| if relative { now.wrapping_add(value) } else { value };
        if let Some(seq) = self.seq {
            packet.seq = place(seq, packet.seq);
        }
        if let Some(ack) = self.ack {
            packet.ack = place(ack, packet.ack);
        }
        if let Some(flags) = self.flags {
            packet.flags = TcpFlags(flags & 0x1ff);
        }
        packet.window = self.window.unwrap_or(packet.window);
        if let Some((there, value, echo)) = self.times {
            packet.timestamps = there.then_some(Timestamps { value, echo });
        }
        for (left, right) in &self.sack {
            let left = packet.ack.wrapping_add(*left).wrapping_add(round.wrapping_mul(1448));
            packet.sack.push(left, left.wrapping_add(*right));
        }
        if let Some(len) = self.len {
            packet.payload_len = len;
            packet.ip_len = len.saturating_add(40);
        }
        packet.at = self.at.unwrap_or(packet.at);
        packet.marks = self.marks.unwrap_or(packet.marks);
        if let Some((id, ttl, mark)) = self.ip {
            packet.ip_id = Some(id).filter(|id| *id != 0);
            packet.ttl = ttl;
            packet.interface = u16::from(mark & 1);
            packet.dscp = Dscp::new(mark >> 2).unwrap_or_default();
            packet.ecn = [Ecn::NotEct, Ecn::Ce, Ecn::Ect0, Ecn::Ect1][usize::from(mark & 3)];
        }
        if let Some((mss, scale, rest)) = self.syn {
            packet.syn = SynOptions {
                mss: (rest & 1 != 0).then_some(mss),
                window_scale: (rest & 2 != 0).then_some(scale),
                sack_permitted: rest & 4 != 0,
            };
        }
        if let Some(ce) = self.ce {
            let ce = Some(ce.wrapping_add(round) & 0x00ff_ffff);
            packet.accecn = Some(AccEcn { ect0: ce, ce, ect1: None });
        }
        if packet.sack.as_slice().is_empty() {
            packet.sack = SackBlocks::NONE;
        }
    }
}

/// An ICMP error about the connection of `packet`.
fn icmp(packet: &TcpPacket) -> Record {
    Record::Other(OtherPacket {
        at: packet.at,
        number: packet.number,
        conversation: packet.conversation,
        protocol: Protocol::ICMP,
        ip_len: packet.ip_len,
        interface: packet.interface,
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
    })
}

const FLOWS: usize = 3;

/// Most packets of one input, so that a run takes milliseconds.
const MOST: usize = 6_000;

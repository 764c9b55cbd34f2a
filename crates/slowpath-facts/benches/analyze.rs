//! Time of the analysis per packet, as a ratio to copying the same records, on a transfer made in memory.

#![allow(clippy::disallowed_methods)] // a bench measures time
#![allow(clippy::cast_sign_loss)]

use std::hint::black_box;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use slowpath_facts::Analyzer;
use slowpath_packet::{FlowKey, Protocol};
use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, Record, SynOptions, TcpFlags, TcpPacket, Timestamps,
};

fn main() {
    // `cargo test --benches` runs every bench: a short transfer shows that it works.
    let as_test = !std::env::args().any(|argument| argument == "--bench");
    let (records, conversations) = transfer(if as_test { 20_000 } else { 600_000 });
    let copy = best(|| {
        records
            .iter()
            .map(|record| black_box(*record))
            .filter(|record| matches!(record, Record::Other(_)))
            .count()
    });
    let analysis = best(|| {
        let mut analyzer = Analyzer::new();
        for record in &records {
            analyzer.push(record, &conversations);
        }
        analyzer
            .finish(&conversations, &CaptureSummary::default())
            .connections
            .len()
    });
    println!(
        "{} packets: analysis with verdict takes {:.1} times as long as copying the records ({} ns per packet)",
        records.len(),
        analysis.as_secs_f64() / copy.as_secs_f64(),
        analysis.as_nanos() / records.len() as u128
    );
}

fn best(mut work: impl FnMut() -> usize) -> Duration {
    (0..3)
        .map(|_| {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// Full-size segments, an acknowledgement for every second, in round trips of 20 ms over 1 Gbit/s.
fn transfer(packets: u64) -> (Vec<Record>, Conversations) {
    let mut conversations = Conversations::new();
    let address = |last| SocketAddr::from(([192, 0, 2, last], 5000 + u16::from(last)));
    let (id, _) = conversations.intern(&FlowKey::new(Protocol::TCP, address(1), address(2)));
    let mut out = Vec::new();
    let mut add = |direction, at, seq, ack, payload_len: u32, flags: TcpFlags| {
        let mut packet = TcpPacket::new(id, direction, at, out.len() as u64 + 1);
        packet.seq = seq;
        packet.ack = ack;
        packet.payload_len = payload_len;
        packet.ip_len = payload_len + 52;
        packet.wire_len = payload_len + 66;
        packet.flags = flags;
        packet.window = 30_000;
        packet.ip_id = Some(out.len() as u16);
        packet.timestamps = Some(Timestamps {
            value: (at / 1_000_000) as u32,
            echo: ((at - 20_000_000).max(0) / 1_000_000) as u32,
        });
        if flags.has(TcpFlags::SYN) {
            packet.syn = SynOptions {
                mss: Some(1460),
                window_scale: Some(10),
                sack_permitted: true,
            };
        }
        out.push(Record::Tcp(packet));
    };
    add(Direction::Forward, 0, 0, 0, 0, TcpFlags::SYN);
    add(
        Direction::Backward,
        20_000_000,
        0,
        1,
        0,
        TcpFlags::SYN.with(TcpFlags::ACK),
    );
    add(Direction::Forward, 20_010_000, 1, 1, 0, TcpFlags::ACK);
    let (mut now, mut sent, mut acked) = (20_020_000_i64, 0_u64, 0_u64);
    while sent < packets {
        add(
            Direction::Forward,
            now,
            (1 + sent * 1448) as u32,
            1,
            1448,
            TcpFlags::ACK,
        );
        sent += 1;
        now += 12_000;
        if sent > 1700 && sent.is_multiple_of(2) {
            acked += 2;
            add(
                Direction::Backward,
                now,
                1,
                (1 + acked * 1448) as u32,
                0,
                TcpFlags::ACK,
            );
        }
    }
    (out, conversations)
}

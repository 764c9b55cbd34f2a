//! The same transfer recorded in another way must keep its verdict: cut short, in another format, inside a tunnel, at
//! another place of the path.
//!
//! Here whole files are rewritten, byte by byte, and read again; `metamorphic.rs` rewrites decoded packets.

mod support;

use std::io::{Cursor, Write};
use std::net::Ipv4Addr;

use slowpath_capture::{LinkType, PacketInfo, PacketReader, PcapngWriter, Reader, SectionInfo, TapInfo};
use slowpath_facts::{Analyzer, Tap};
use slowpath_packet::Ipv4Header;
use slowpath_record::packets::{Direction, Record};
use slowpath_units::Time;
use slowpath_verdict::{Analysis, Connection, Limit};

/// One capture of each cause that one connection shows, taken at the sender or near it.
const CAPTURES: &[&str] = &[
    "receiver-window-42k-sender",
    "receiver-application-slow-read",
    "sender-application-bursts-sender",
    "sender-application-2mbit",
    "send-buffer-64k",
    "random-loss-0.5pct",
    "bottleneck-6mbit-queue-60k-sender",
    "bottleneck-7mbit-queue-150k-bbr",
    "bufferbloat-4mbit-queue-400k-sender",
    "ecn-10mbit-sender",
    "policed-4mbit-bucket-50k",
    "policed-6mbit-bucket-250k-bbr",
    "reordering-sender",
];

/// Transfers that were recorded at both ends.
const BOTH_ENDS: &[&str] = &[
    "bottleneck-6mbit-queue-60k",
    "bufferbloat-4mbit-queue-400k",
    "ecn-10mbit",
    "random-loss-3pct",
    "receiver-window-42k",
    "reordering",
    "sender-application-bursts",
];

/// A frame as a file holds it.
#[derive(Clone)]
struct Kept {
    at_ns: i64,
    wire_len: u32,
    bytes: Vec<u8>,
}

struct Capture {
    name: &'static str,
    frames: Vec<Kept>,
    limit: Limit,
}

fn load(test: &str) -> Vec<Capture> {
    let Some(folder) = support::corpus(test) else {
        return Vec::new();
    };
    let all = CAPTURES.iter().map(|&name| {
        let file = folder.join("lab").join(format!("{name}.pcap.gz"));
        let mut reader = Reader::open(&file).expect("the corpus has the file");
        let mut frames = Vec::new();
        while let Some(frame) = reader.next_frame().expect("files can be read") {
            assert_eq!(frame.link_type, LinkType::ETHERNET, "{name}");
            frames.push(Kept {
                at_ns: frame.at.expect("pcap has times"),
                wire_len: frame.wire_len,
                bytes: frame.bytes.to_vec(),
            });
        }
        let limit = judge(pcap(&frames, LinkType::ETHERNET, true, false));
        assert!(!limit.is_undecided(), "{name}: {limit}");
        Capture { name, frames, limit }
    });
    all.collect()
}

fn judge(file: Vec<u8>) -> Limit {
    let mut reader = PacketReader::new(Cursor::new(file)).expect("what was written opens");
    let mut analyzer = Analyzer::new();
    while let Some(record) = reader.next_record().expect("memory can be read") {
        analyzer.push(&record, reader.conversations());
    }
    let summary = reader.summary();
    assert_eq!((summary.undecoded_packets, &summary.damage), (0, &None));
    let analysis = Analysis::of(analyzer.finish(reader.conversations(), &summary));
    analysis
        .main_connection()
        .map_or(Limit::Unknown, |main| main.verdict.limit)
}

/// Judges every capture as `rewrite` makes a file of it.
fn check(test: &str, rewrite: impl Fn(&[Kept]) -> Vec<u8>) {
    for capture in load(test) {
        let limit = judge(rewrite(&capture.frames));
        assert_eq!(limit, capture.limit, "{}", capture.name);
    }
}

fn pcap(frames: &[Kept], link: LinkType, nanoseconds: bool, big: bool) -> Vec<u8> {
    let number = |value: u32| {
        if big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let (magic, unit): (u32, i64) = if nanoseconds {
        (0xa1b2_3c4d, 1)
    } else {
        (0xa1b2_c3d4, 1000)
    };
    let versions = if big { 0x0002_0004 } else { 0x0004_0002 };
    let mut out = Vec::new();
    for field in [magic, versions, 0, 0, 262_144, u32::from(link.0)] {
        out.extend(number(field));
    }
    for frame in frames {
        let (seconds, rest) = (
            frame.at_ns.div_euclid(1_000_000_000),
            frame.at_ns.rem_euclid(1_000_000_000),
        );
        let fields = [
            u32::try_from(seconds).expect("after 1970"),
            u32::try_from(rest / unit).expect("less than a second"),
            frame.bytes.len() as u32,
            frame.wire_len,
        ];
        for field in fields {
            out.extend(number(field));
        }
        out.extend(&frame.bytes);
    }
    out
}

fn pcapng(frames: &[Kept]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &SectionInfo::default()).expect("memory takes all");
    let mut tap = TapInfo::raw("eth0", "");
    tap.link_type = LinkType::ETHERNET;
    let tap = writer.add_tap(&tap).expect("memory takes all");
    for frame in frames {
        let info = PacketInfo {
            wire_len: frame.wire_len,
            ..PacketInfo::default()
        };
        let at = Time::from_nanos(frame.at_ns.cast_unsigned());
        writer
            .packet(tap, at, &frame.bytes, &info)
            .expect("memory takes all");
    }
    writer.finish().expect("memory takes all")
}

#[test]
fn cut_to_96_bytes() {
    check("cut_to_96_bytes", |frames| {
        let cut: Vec<Kept> = frames
            .iter()
            .cloned()
            .map(|mut frame| {
                frame.bytes.truncate(96);
                frame
            })
            .collect();
        pcap(&cut, LinkType::ETHERNET, true, false)
    });
}

#[test]
fn in_microseconds_and_big_endian() {
    check("in_microseconds_and_big_endian", |frames| {
        pcap(frames, LinkType::ETHERNET, false, true)
    });
}

#[test]
fn as_pcapng() {
    check("as_pcapng", pcapng);
}

#[test]
fn compressed() {
    check("compressed", |frames| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let file = pcap(frames, LinkType::ETHERNET, false, false);
        encoder.write_all(&file).expect("memory takes all");
        encoder.finish().expect("memory takes all")
    });
}

/// Puts `front` of each frame in the place of its first `without` bytes.
fn wrapped(frames: &[Kept], without: usize, front: impl Fn(&Kept) -> Vec<u8>) -> Vec<Kept> {
    let wrap = |frame: &Kept| {
        let mut bytes = front(frame);
        let wire_len = frame.wire_len + bytes.len() as u32 - without as u32;
        bytes.extend(&frame.bytes[without..]);
        Kept {
            wire_len,
            bytes,
            ..*frame
        }
    };
    frames.iter().map(wrap).collect()
}

/// Ethernet and IP headers of a tunnel, then `inner`; `carried` bytes of the frame follow it on the wire.
fn tunnel(protocol: u8, inner: &[u8], carried: u32) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let (from, to) = (Ipv4Addr::new(203, 0, 113, 1), Ipv4Addr::new(203, 0, 113, 2));
    let mut header = [0; 20];
    Ipv4Header::new(from, to, protocol, inner.len() as u32 + carried).write(&mut header);
    bytes.extend(header);
    bytes.extend(inner);
    bytes
}

#[test]
fn with_vlan_tags() {
    check("with_vlan_tags", |frames| {
        let tagged = wrapped(frames, 12, |frame| {
            [&frame.bytes[..12], &[0x88, 0xa8, 0, 5, 0x81, 0, 0, 7]].concat()
        });
        pcap(&tagged, LinkType::ETHERNET, true, false)
    });
}

#[test]
fn inside_gre() {
    check("inside_gre", |frames| {
        let inside = wrapped(frames, 14, |frame| {
            tunnel(47, &[0, 0, frame.bytes[12], frame.bytes[13]], frame.wire_len - 14)
        });
        pcap(&inside, LinkType::ETHERNET, true, false)
    });
}

#[test]
fn inside_vxlan() {
    check("inside_vxlan", |frames| {
        let inside = wrapped(frames, 0, |frame| {
            let len = (16 + frame.wire_len) as u16;
            let [high, low] = len.to_be_bytes();
            let udp = [0xc0, 0, 0x12, 0xb5, high, low, 0, 0, 8, 0, 0, 0, 0, 0, 42, 0];
            tunnel(17, &udp, frame.wire_len)
        });
        pcap(&inside, LinkType::ETHERNET, true, false)
    });
}

#[test]
fn as_a_linux_cooked_capture() {
    check("as_a_linux_cooked_capture", |frames| {
        let cooked = wrapped(frames, 14, |frame| {
            let mut header = vec![frame.bytes[12], frame.bytes[13], 0, 0, 0, 0, 0, 3, 0, 1, 0, 6];
            header.extend(&frame.bytes[6..12]);
            header.extend([0, 0]);
            header
        });
        pcap(&cooked, LinkType::LINUX_SLL2, true, false)
    });
}

/// The main connection's verdict must be `limit` or undecided; says how often it was which.
fn same_or_undecided(name: &str, main: &Connection, limit: Limit, kept: &mut [usize; 2]) {
    let found = main.verdict.limit;
    assert!(
        found == limit || found.is_undecided(),
        "{name}, {:?}: {found} for {limit}: {}",
        main.tap,
        main.verdict.sentence
    );
    kept[usize::from(found != limit)] += 1;
    if found.is_undecided() {
        println!("{name}: {found}: {}", main.verdict.sentence);
        assert!(
            main.verdict.next_step.is_some(),
            "{name}: undecided without saying what to capture"
        );
    }
}

#[test]
fn at_the_sender_and_at_the_receiver() {
    let Some(folder) = support::corpus("at_the_sender_and_at_the_receiver") else {
        return;
    };
    let mut kept = [0, 0];
    for name in BOTH_ENDS {
        let [sender, receiver] = ["sender", "receiver"].map(|end| {
            let file = folder.join("lab").join(format!("{name}-{end}.pcap.gz"));
            let analysis = support::analyze(&file).expect("the corpus has the file");
            analysis.main_connection().cloned().expect("it has a connection")
        });
        assert_eq!((sender.tap, receiver.tap), (Tap::Sender, Tap::Receiver), "{name}");
        assert!(!sender.verdict.limit.is_undecided(), "{name}");
        same_or_undecided(name, &receiver, sender.verdict.limit, &mut kept);
    }
    println!("same verdict at the receiver: {} of {}", kept[0], BOTH_ENDS.len());
}

/// Moves the tap of captures at a sender downstream by a third of the shortest round trip: data passes it later,
/// acknowledgements earlier.
#[test]
fn in_the_middle() {
    let Some(folder) = support::corpus("in_the_middle") else {
        return;
    };
    let (mut kept, mut moved) = ([0, 0], 0);
    for name in CAPTURES {
        let file = folder.join("lab").join(format!("{name}.pcap.gz"));
        let (mut records, conversations, summary) = support::read(&file).expect("the corpus has the file");
        let at_sender = support::analyze_records(&records, &conversations, &summary);
        let main = at_sender.main_connection().expect("it has a connection");
        if main.tap != Tap::Sender {
            continue;
        }
        moved += 1;
        let third = (main.rtt_s.min / 3.0 * 1e9) as i64;
        let from = data_direction(&records);
        for record in &mut records {
            if let Record::Tcp(packet) = record {
                packet.at += if packet.direction == from { third } else { -third };
            }
        }
        records.sort_by_key(at);
        let analysis = support::analyze_records(&records, &conversations, &summary);
        let middle = analysis.main_connection().expect("it has a connection");
        assert_eq!(middle.tap, Tap::Middle, "{name}");
        same_or_undecided(name, middle, main.verdict.limit, &mut kept);
    }
    println!("same verdict in the middle: {} of {moved}", kept[0]);
}

/// The direction of most data.
fn data_direction(records: &[Record]) -> Direction {
    let bytes = |wanted: Direction| -> u64 {
        let data = records.iter().filter_map(|record| match record {
            Record::Tcp(packet) if packet.direction == wanted => Some(u64::from(packet.payload_len)),
            _ => None,
        });
        data.sum()
    };
    let (forward, backward) = (bytes(Direction::Forward), bytes(Direction::Backward));
    if forward >= backward {
        Direction::Forward
    } else {
        Direction::Backward
    }
}

fn at(record: &Record) -> i64 {
    match record {
        Record::Tcp(packet) => packet.at,
        Record::Other(packet) => packet.at,
    }
}

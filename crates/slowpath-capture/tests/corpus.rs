//! Every file of the labelled corpus opens or is refused with a clear message, and its counts are right.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use slowpath_capture::{LinkType, PacketReader, Reader};
use slowpath_record::packets::{ConversationId, Direction, Marks, Record, TcpFlags, TcpPacket};

#[derive(Deserialize)]
struct Manifest {
    capture: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    link_type: String,
    packets: u64,
    tcp_connections: usize,
    #[serde(default)]
    malformed: bool,
    capinfos_error: Option<String>,
    #[serde(default)]
    flow: Vec<Flow>,
}

/// A bulk connection, as counted from the packets by other means.
#[derive(Deserialize)]
struct Flow {
    sender_port: u16,
    ports: String,
    data_segments: usize,
}

/// Folder and manifest of the corpus, or nothing with a line on standard error.
fn corpus(test: &str) -> Option<(PathBuf, Manifest)> {
    let Some(folder) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) else {
        let _ = writeln!(
            io::stderr(),
            "skipped: {test}: SLOWPATH_CORPUS does not name the corpus of captures"
        );
        return None;
    };
    let text = std::fs::read_to_string(folder.join("manifest.toml")).expect("the corpus has a manifest");
    Some((
        folder,
        toml::from_str(&text).expect("the manifest is as its README says"),
    ))
}

/// The manifest's name of a link type, as capinfos prints it.
fn manifest_name(types: &[LinkType]) -> &'static str {
    match *types {
        [] => "none",
        [only] => match only {
            LinkType::ETHERNET => "ether",
            LinkType::LINUX_SLL => "linux-sll",
            LinkType::LINUX_SLL2 => "linux-sll2",
            LinkType::NULL => "null",
            LinkType::LOOP => "loop",
            LinkType::RAW | LinkType::RAW_12 | LinkType::RAW_14 => "rawip",
            LinkType::IPV4 => "rawip4",
            LinkType::IPV6 => "rawip6",
            LinkType::PPP => "ppp",
            LinkType::NFLOG => "nflog",
            LinkType::NETLINK => "netlink",
            LinkType::FDDI => "fddi-swapped",
            _ => "other",
        },
        _ => "per-packet",
    }
}

#[test]
fn every_file_opens_or_is_refused_and_counts_agree() {
    let Some((folder, manifest)) = corpus("every_file_opens_or_is_refused_and_counts_agree") else {
        return;
    };
    let mut wrong = Vec::new();
    for entry in &manifest.capture {
        let mut check = |what: &str, found: String, expected: String| {
            if found != expected {
                wrong.push(format!(
                    "{}: {what} {found}, the manifest says {expected}",
                    entry.file
                ));
            }
        };
        let mut reader = match Reader::open(&folder.join(&entry.file)) {
            Ok(reader) => reader,
            Err(error) => {
                // Only a broken file without a single packet may be refused, and the message says why.
                let refusable = entry.malformed && entry.packets == 0 && entry.link_type == "none";
                check("refused:", refusable.to_string(), "true".into());
                let reason = REFUSED
                    .iter()
                    .find(|(file, _)| *file == entry.file)
                    .map(|(_, reason)| *reason);
                let clear = reason.is_some_and(|reason| error.to_string().contains(reason));
                check(
                    "refused:",
                    format!("{error}, clear: {clear}"),
                    format!("{error}, clear: true"),
                );
                continue;
            }
        };
        while reader.next_frame().expect("files can be read").is_some() {}
        check("packets", reader.packets().to_string(), entry.packets.to_string());
        check(
            "link type",
            manifest_name(&reader.link_types()).into(),
            entry.link_type.clone(),
        );
        let damage = reader.damage().map(ToString::to_string).unwrap_or_default();
        let expected = entry.malformed && entry.capinfos_error.is_some();
        if damage.is_empty() == expected {
            check("damage", damage, format!("{:?}", entry.capinfos_error));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differences:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Every TCP segment of a file.
fn segments(path: &Path) -> Vec<TcpPacket> {
    let mut reader = PacketReader::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut all = Vec::new();
    while let Some(record) = reader.next_record().expect("files can be read") {
        if let Record::Tcp(packet) = record {
            all.push(packet);
        }
    }
    all
}

/// What must not depend on how a segment was recorded.
fn essence(packet: &TcpPacket) -> TcpPacket {
    TcpPacket {
        at: 0,
        number: 0,
        wire_len: 0,
        interface: 0,
        marks: Marks::NONE,
        ..*packet
    }
}

#[test]
fn one_transfer_in_every_format_decodes_to_the_same_segments() {
    let Some((folder, _)) = corpus("one_transfer_in_every_format_decodes_to_the_same_segments") else {
        return;
    };
    let base = segments(&folder.join("derived/base.pcap"));
    assert_eq!(base.len(), 700);
    for (file, clock) in SAME {
        let found = segments(&folder.join("derived").join(file));
        assert!(found.iter().map(essence).eq(base.iter().map(essence)), "{file}");
        let unit = match clock {
            Clock::Other => continue,
            Clock::Within(unit) => *unit,
        };
        let shift = found[0].at - base[0].at;
        for (found, base) in found.iter().zip(&base) {
            assert!(
                (found.at - base.at - shift).abs() <= unit,
                "{file}: packet {}",
                found.number
            );
        }
    }
}

#[test]
fn the_same_transfer_cut_joined_or_doubled_keeps_its_bytes() {
    let Some((folder, _)) = corpus("the_same_transfer_cut_joined_or_doubled_keeps_its_bytes") else {
        return;
    };
    let read = |file: &str| segments(&folder.join("derived").join(file));
    let base = read("base.pcap");
    let bytes = |packets: &[TcpPacket]| {
        packets
            .iter()
            .map(|packet| u64::from(packet.payload_len))
            .sum::<u64>()
    };
    for file in [
        "cut-54.pcap",
        "cut-68.pcap",
        "super-segments.pcap",
        "super-segments-ip-length-0.pcap",
    ] {
        assert_eq!(bytes(&read(file)), bytes(&base), "{file}");
    }
    let joined = read("super-segments-ip-length-0.pcap");
    assert!(
        joined
            .iter()
            .any(|packet| packet.marks.has(Marks::LENGTH_INFERRED) && packet.payload_len > 1448)
    );
    let cut = read("cut-54.pcap");
    assert!(
        cut.iter()
            .all(|packet| packet.timestamps.is_none() && packet.marks.has(Marks::OPTIONS_CUT))
    );
    let copies = read("sll2-any-duplicates.pcap");
    assert_eq!((copies.len(), bytes(&copies)), (1400, 2 * bytes(&base)));
    assert_ne!(
        copies[0].interface, copies[1].interface,
        "copies come from different devices"
    );
    for tunnel in [
        "gre.pcap",
        "ipip.pcap",
        "vxlan.pcap",
        "geneve.pcap",
        "gre-key-ethernet.pcap",
    ] {
        assert!(
            read(tunnel)
                .iter()
                .all(|packet| packet.marks.has(Marks::TUNNELLED)),
            "{tunnel}"
        );
    }
    let mut drops = PacketReader::open(&folder.join("derived/direction-flags-isb-drop.pcapng")).unwrap();
    while drops.next_record().unwrap().is_some() {}
    assert_eq!(drops.summary().reported_drops, Some(37));
    let mut simple = PacketReader::open(&folder.join("derived/simple-packets.pcapng")).unwrap();
    while let Some(Record::Tcp(packet)) = simple.next_record().unwrap() {
        assert!(packet.marks.has(Marks::NO_TIME));
    }
}

#[test]
fn every_connection_is_found() {
    let Some((folder, manifest)) = corpus("every_connection_is_found") else {
        return;
    };
    let mut wrong = Vec::new();
    for entry in manifest.capture.iter().filter(|entry| entry.link_type != "none") {
        let mut seen: Vec<ConversationId> = Vec::new();
        for packet in segments(&folder.join(&entry.file)) {
            if !seen.contains(&packet.conversation) {
                seen.push(packet.conversation);
            }
        }
        let expected = match FEWER.iter().find(|(file, ..)| *file == entry.file) {
            Some((_, count, _)) => *count,
            None => entry.tcp_connections,
        };
        if seen.len() != expected {
            wrong.push(format!("{}: {} instead of {expected}", entry.file, seen.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_data_segment_of_bulk_connections_is_counted() {
    let Some((folder, manifest)) = corpus("every_data_segment_of_bulk_connections_is_counted") else {
        return;
    };
    let mut wrong = Vec::new();
    let mut flows = 0;
    for entry in manifest.capture.iter().filter(|entry| !entry.flow.is_empty()) {
        let mut reader = PacketReader::open(&folder.join(&entry.file)).unwrap();
        let mut counts: BTreeMap<(u16, u16), usize> = BTreeMap::new();
        while let Some(record) = reader.next_record().unwrap() {
            let Record::Tcp(packet) = record else { continue };
            let key = *reader.conversations().key(packet.conversation).unwrap();
            let key = if packet.direction == Direction::Forward {
                key
            } else {
                key.reversed()
            };
            if packet.payload_len > 0 {
                *counts.entry((key.src_port, key.dst_port)).or_default() += 1;
            }
        }
        for flow in &entry.flow {
            let (a, b) = flow.ports.split_once('-').unwrap();
            let (a, b): (u16, u16) = (a.parse().unwrap(), b.parse().unwrap());
            let other = if a == flow.sender_port { b } else { a };
            let found = counts.get(&(flow.sender_port, other)).copied().unwrap_or(0);
            if found != flow.data_segments {
                wrong.push(format!(
                    "{}, {}: {found} instead of {}",
                    entry.file, flow.ports, flow.data_segments
                ));
            }
            flows += 1;
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {flows}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(flows >= 90, "{flows} flows");
}

#[test]
fn special_packets_are_read_as_they_were_sent() {
    let Some((folder, _)) = corpus("special_packets_are_read_as_they_were_sent") else {
        return;
    };
    let read = |file: &str| segments(&folder.join("formats").join(file));
    for (file, payload) in [
        ("bigtcp-ipv4.pcap", 80_000),
        ("bigtcp-ipv6.pcap", 79_968),
        ("bigtcp-ipv6-jumbo.pcap", 80_000),
        ("bigtcp-ipv4-geneve-ipv4.pcap", 80_000),
        ("bigtcp-ipv6-vxlan-ipv6.pcap", 80_000),
    ] {
        assert_eq!(read(file)[0].payload_len, payload, "{file}");
    }
    let syn = &read("fragments-syn.pcap")[0];
    assert!(syn.flags.has(TcpFlags::SYN) && syn.marks.has(Marks::FRAGMENT));
    let pieces = read("fragments-ipv4.pcap");
    for pair in pieces.windows(2) {
        assert_eq!(
            pair[0].seq + pair[0].payload_len,
            pair[1].seq,
            "packet {}",
            pair[1].number
        );
    }
    assert!(
        read("accecn-handshake.pcap")
            .iter()
            .any(|packet| packet.accecn.is_some())
    );
    assert!(
        read("window-scale-out-of-range.pcap")
            .iter()
            .any(|packet| packet.syn.window_scale > Some(14))
    );
    // Time stamps before 1970, written as a signed number by the program that made the file.
    let odd = read("pcapng-zstd.pcapng.zst");
    let span = odd
        .iter()
        .map(|packet| packet.at)
        .fold((i64::MAX, i64::MIN), |(a, b), at| (a.min(at), b.max(at)));
    assert!(span.0 < 0 && span.1 < i64::MAX, "{span:?}");
}

/// How the clock of a copy of the transfer relates to the original's.
enum Clock {
    /// The same but for a shift and this many nanoseconds.
    Within(i64),
    /// Coarse, stepped or absent.
    Other,
}

/// Copies of one transfer that differ only in how they were recorded.
const SAME: &[(&str, Clock)] = &[
    ("us-big-endian.pcap", Clock::Within(0)),
    ("ns-little-endian.pcap", Clock::Within(1000)),
    ("ns-big-endian.pcap", Clock::Within(1000)),
    ("modified-magic.pcap", Clock::Within(0)),
    ("snaplen-zero-field.pcap", Clock::Within(0)),
    ("snaplen-small-field.pcap", Clock::Within(0)),
    ("null.pcap", Clock::Within(0)),
    ("null-swapped.pcap", Clock::Within(0)),
    ("loop.pcap", Clock::Within(0)),
    ("raw-101.pcap", Clock::Within(0)),
    ("raw-12.pcap", Clock::Within(0)),
    ("ipv4-228.pcap", Clock::Within(0)),
    ("ppp.pcap", Clock::Within(0)),
    ("sll.pcap", Clock::Within(0)),
    ("sll2.pcap", Clock::Within(0)),
    ("vlan.pcap", Clock::Within(0)),
    ("qinq-88a8.pcap", Clock::Within(0)),
    ("qinq-9100.pcap", Clock::Within(0)),
    ("mpls.pcap", Clock::Within(0)),
    ("pppoe.pcap", Clock::Within(0)),
    ("gre.pcap", Clock::Within(0)),
    ("gre-key-ethernet.pcap", Clock::Within(0)),
    ("ipip.pcap", Clock::Within(0)),
    ("vxlan.pcap", Clock::Within(0)),
    ("geneve.pcap", Clock::Within(0)),
    ("fcs-trailer.pcap", Clock::Within(0)),
    ("clock-10ms.pcap", Clock::Within(10_000_000)),
    ("clock-step-back.pcap", Clock::Other),
    ("time-offset-1970.pcap", Clock::Within(0)),
    ("tsresol-base2.pcapng", Clock::Within(1000)),
    ("tsoffset-ns.pcapng", Clock::Within(1000)),
    ("tsoffset-negative.pcapng", Clock::Within(1000)),
    ("sections-le-be.pcapng", Clock::Within(1000)),
    ("interfaces-by-direction.pcapng", Clock::Within(1000)),
    ("direction-flags-isb-drop.pcapng", Clock::Within(1000)),
    ("simple-packets.pcapng", Clock::Other),
    ("members.pcap.gz", Clock::Within(0)),
    ("plain-name-but-gzip.pcap", Clock::Within(0)),
    ("base.pcap.xz", Clock::Within(0)),
    ("base.pcap.zst", Clock::Within(0)),
    ("base.pcap.lz4", Clock::Within(0)),
];

/// Where the count of conversations is not the manifest's count of connections, and why.
const FEWER: &[(&str, usize, &str)] = &[
    (
        "tcptrace/6syns.pcap",
        1,
        "one port pair used twice is one conversation",
    ),
    (
        "tcptrace/badsyns.pcap",
        1,
        "one port pair used twice is one conversation",
    ),
    (
        "tcptrace/fast-port-reuse.pcap",
        1,
        "one port pair used 18 times is one conversation",
    ),
    (
        "formats/sixin4.pcap",
        5,
        "the sixth is a packet quoted in an ICMP error",
    ),
    (
        "formats/bad-tcp-header-length.pcap",
        0,
        "a TCP header longer than its packet is no segment",
    ),
];

/// Files that hold no readable packet, and what the message must say.
const REFUSED: &[(&str, &str)] = &[
    ("formats/bad-linktype-reserved.pcap", "reserved bits set"),
    ("formats/bad-version.pcap", "version 1.4 is not known"),
    ("formats/bad-version.pcapng", "version 0.1"),
    (
        "formats/bad-shb-option.pcapng",
        "an option of 12336 bytes where 20 are left",
    ),
    ("derived/bad-empty.pcap", "empty"),
];

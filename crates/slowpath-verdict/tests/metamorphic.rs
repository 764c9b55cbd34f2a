//! The same transfer rewritten must keep its verdict, or become undecided where records are missing.

mod support;

use slowpath_record::packets::{
    CaptureSummary, Conversations, Direction, Marks, Record, SackBlocks, SynOptions, TcpFlags, TcpPacket,
};
use slowpath_verdict::Limit;

/// One capture of each cause that one connection shows, taken at the sender.
const CAPTURES: &[&str] = &[
    "lab/receiver-window-42k-sender.pcap.gz",
    "lab/receiver-application-slow-read.pcap.gz",
    "lab/sender-application-bursts-sender.pcap.gz",
    "lab/sender-application-2mbit.pcap.gz",
    "lab/send-buffer-64k.pcap.gz",
    "lab/random-loss-0.5pct.pcap.gz",
    "lab/bottleneck-6mbit-queue-60k-sender.pcap.gz",
    "lab/bottleneck-7mbit-queue-150k-bbr.pcap.gz",
    "lab/bufferbloat-4mbit-queue-400k-sender.pcap.gz",
    "lab/ecn-10mbit-sender.pcap.gz",
    "lab/policed-4mbit-bucket-50k.pcap.gz",
    "lab/policed-6mbit-bucket-250k-bbr.pcap.gz",
    "lab/reordering-sender.pcap.gz",
];

struct Loaded {
    name: &'static str,
    records: Vec<Record>,
    conversations: Conversations,
    summary: CaptureSummary,
    limit: Limit,
}

fn load(test: &str) -> Vec<Loaded> {
    let Some(folder) = support::corpus(test) else {
        return Vec::new();
    };
    CAPTURES
        .iter()
        .map(|name| {
            let (records, conversations, summary) =
                support::read(&folder.join(name)).expect("the corpus has the file");
            let mut out = Loaded {
                name,
                records,
                conversations,
                summary,
                limit: Limit::Unknown,
            };
            out.limit = out.judge(&out.records);
            assert!(!out.limit.is_undecided(), "{name}");
            out
        })
        .collect()
}

impl Loaded {
    fn judge(&self, records: &[Record]) -> Limit {
        support::analyze_records(records, &self.conversations, &self.summary)
            .main_connection()
            .map_or(Limit::Unknown, |connection| connection.verdict.limit)
    }

    fn packets(&self) -> impl Iterator<Item = TcpPacket> {
        self.records.iter().filter_map(|record| match record {
            Record::Tcp(packet) => Some(*packet),
            Record::Other(_) => None,
        })
    }
}

fn check(test: &str, rewrite: impl Fn(&Loaded) -> Vec<Record>) {
    for capture in load(test) {
        let limit = capture.judge(&rewrite(&capture));
        assert_eq!(limit, capture.limit, "{}", capture.name);
    }
}

#[test]
fn every_packet_twice() {
    check("every_packet_twice", |capture| {
        capture
            .packets()
            .flat_map(|packet| {
                let mut copy = packet;
                copy.at += 9_000;
                copy.ttl = copy.ttl.saturating_sub(1);
                [Record::Tcp(packet), Record::Tcp(copy)]
            })
            .collect()
    });
}

#[test]
fn sequence_numbers_wrap() {
    check("sequence_numbers_wrap", |capture| {
        let first = capture.packets().next().map_or(0, |packet| packet.seq);
        let shift = u32::MAX.wrapping_sub(first).wrapping_sub(400_000);
        capture
            .packets()
            .map(|mut packet| {
                match packet.direction {
                    Direction::Forward => packet.seq = packet.seq.wrapping_add(shift),
                    Direction::Backward => {
                        packet.ack = packet.ack.wrapping_add(shift);
                        let mut sack = SackBlocks::NONE;
                        for (left, right) in packet.sack.as_slice() {
                            sack.push(left.wrapping_add(shift), right.wrapping_add(shift));
                        }
                        packet.sack = sack;
                    }
                }
                Record::Tcp(packet)
            })
            .collect()
    });
}

#[test]
fn clock_before_1970() {
    check("clock_before_1970", |capture| {
        let first = capture.packets().next().map_or(0, |packet| packet.at);
        capture
            .packets()
            .map(|mut packet| {
                packet.at -= first + 5_000_000_000;
                Record::Tcp(packet)
            })
            .collect()
    });
}

#[test]
fn neighbouring_segments_joined() {
    check("neighbouring_segments_joined", |capture| {
        let mut out: Vec<TcpPacket> = Vec::new();
        for packet in capture.packets() {
            if let Some(last) = out.last_mut()
                && last.payload_len > 0
                && packet.payload_len > 0
                && last.direction == packet.direction
                && last.seq.wrapping_add(last.payload_len) == packet.seq
                && packet.at - last.at < 100_000
                && last.payload_len + packet.payload_len < 64_000
            {
                last.payload_len += packet.payload_len;
                last.ip_len += packet.payload_len;
                last.wire_len += packet.payload_len;
                last.flags = last.flags.with(packet.flags);
            } else {
                out.push(packet);
            }
        }
        out.into_iter().map(Record::Tcp).collect()
    });
}

#[test]
fn another_flow_added() {
    for capture in load("another_flow_added") {
        // The same packets again between other hosts, a second later, and only the first half of them.
        let mut conversations = capture.conversations.clone();
        let mut key = *conversations
            .key(slowpath_record::packets::ConversationId(0))
            .expect("there is one");
        key.src = std::net::IpAddr::from([198, 51, 100, 77]);
        let (other, _) = conversations.intern(&key);
        let mut records = capture.records.clone();
        let half = capture.records.len() / 2;
        records.extend(capture.packets().take(half).map(|mut packet| {
            packet.conversation = other;
            packet.at += 1_000_000_000;
            Record::Tcp(packet)
        }));
        records.sort_by_key(|record| match record {
            Record::Tcp(packet) => packet.at,
            Record::Other(packet) => packet.at,
        });
        let analysis = support::analyze_records(&records, &conversations, &capture.summary);
        assert_eq!(analysis.connections.len(), 2, "{}", capture.name);
        let main = analysis.main_connection().expect("there are two");
        assert_eq!(
            main.verdict.limit, capture.limit,
            "{}: {}",
            capture.name, main.verdict.sentence
        );
    }
}

#[test]
fn cut_before_the_options() {
    for capture in load("cut_before_the_options") {
        let records: Vec<Record> = capture
            .packets()
            .map(|mut packet| {
                packet.timestamps = None;
                packet.sack = SackBlocks::NONE;
                packet.accecn = None;
                packet.syn = SynOptions::NONE;
                packet.marks.set(Marks::OPTIONS_CUT);
                Record::Tcp(packet)
            })
            .collect();
        let limit = capture.judge(&records);
        assert!(
            limit == capture.limit || limit.is_undecided(),
            "{}: {limit} for {}",
            capture.name,
            capture.limit
        );
    }
}

#[test]
fn records_removed_are_no_network_loss() {
    let mut kept = [0, 0, 0];
    let captures = load("records_removed_are_no_network_loss");
    for capture in &captures {
        for (slot, percent) in [1_u64, 5, 20].into_iter().enumerate() {
            let mut state = 12_345 + percent;
            let records: Vec<Record> = capture
                .packets()
                .filter(|packet| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    packet.syn.mss.is_some() || (state >> 33) % 100 >= percent
                })
                .map(Record::Tcp)
                .collect();
            let limit = capture.judge(&records);
            let network_loss = matches!(limit, Limit::RandomLoss | Limit::Policed | Limit::Reordering);
            assert!(
                !network_loss || limit == capture.limit,
                "{} without {percent} %: {limit}",
                capture.name
            );
            kept[slot] += usize::from(limit == capture.limit);
            if limit != capture.limit {
                println!("{} without {percent} %: {limit}", capture.name);
            }
            assert!(
                limit == capture.limit || limit.is_undecided(),
                "{} without {percent} %: {limit}",
                capture.name
            );
        }
    }
    println!(
        "same verdict with 1, 5, 20 % removed: {kept:?} of {}",
        captures.len()
    );
}

/// A receiver or a device on the way that joins acknowledgements less than a millisecond apart takes details away, and
/// adds no cause.
#[test]
fn acknowledgements_joined() {
    for capture in load("acknowledgements_joined") {
        let packets: Vec<TcpPacket> = capture.packets().collect();
        let plain = |packet: &TcpPacket| packet.payload_len == 0 && packet.flags == TcpFlags::ACK;
        for keep in [2, 4, 8] {
            let mut joined = 0;
            let joins = |index: usize| {
                let at = packets[index].at;
                let mut next = packets[index + 1..]
                    .iter()
                    .take_while(|next| next.at - at < 1_000_000);
                next.any(|next| plain(next) && next.direction == packets[index].direction)
            };
            let kept = packets.iter().enumerate().filter(|(index, packet)| {
                joined += 1;
                let drop = plain(packet) && joined < keep && joins(*index);
                if !drop {
                    joined = 0;
                }
                !drop
            });
            let limit = capture.judge(&kept.map(|(_, packet)| Record::Tcp(*packet)).collect::<Vec<_>>());
            assert!(
                limit == capture.limit || limit.is_undecided(),
                "{} with one acknowledgement in {keep}: {limit}",
                capture.name
            );
        }
    }
}

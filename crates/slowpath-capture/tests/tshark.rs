//! tshark and this crate see the same segments.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use slowpath_capture::PacketReader;
use slowpath_record::packets::{Direction, Record};

/// Ports, sequence, acknowledgement, window, payload and control bits of each segment by frame number.
type Segments = BTreeMap<u64, [u64; 7]>;

#[test]
fn tshark_sees_the_same_segments() {
    let test = "tshark_sees_the_same_segments";
    let Some(folder) = std::env::var_os("SLOWPATH_CORPUS").map(PathBuf::from) else {
        let _ = writeln!(
            io::stderr(),
            "skipped: {test}: SLOWPATH_CORPUS does not name the corpus of captures"
        );
        return;
    };
    for file in FILES {
        let path = folder.join(file);
        match by_tshark(&path) {
            Ok(expected) => {
                assert!(!expected.is_empty(), "{file}");
                assert_eq!(by_us(&path), expected, "{file}");
            }
            Err(error) => {
                let _ = writeln!(io::stderr(), "skipped: {test}: tshark: {error}");
                return;
            }
        }
    }
}

fn by_us(path: &Path) -> Segments {
    let mut reader = PacketReader::open(path).unwrap();
    let mut all = Segments::new();
    while let Some(record) = reader.next_record().unwrap() {
        if let Record::Tcp(packet) = record {
            let key = *reader.conversations().key(packet.conversation).unwrap();
            let key = if packet.direction == Direction::Forward {
                key
            } else {
                key.reversed()
            };
            let fields = [
                u64::from(key.src_port),
                u64::from(key.dst_port),
                u64::from(packet.seq),
                u64::from(packet.ack),
                u64::from(packet.window),
                u64::from(packet.payload_len),
                u64::from(packet.flags.0),
            ];
            all.insert(packet.number, fields);
        }
    }
    all
}

fn by_tshark(path: &Path) -> io::Result<Segments> {
    let fields = [
        "srcport",
        "dstport",
        "seq_raw",
        "ack_raw",
        "window_size_value",
        "len",
        "flags",
    ];
    let mut command = Command::new("tshark");
    command.args([
        "-T",
        "fields",
        "-E",
        "occurrence=l",
        "-o",
        "ip.defragment:FALSE",
        "-e",
        "frame.number",
    ]);
    for field in fields {
        command.arg("-e").arg(format!("tcp.{field}"));
    }
    let output = command.arg("-r").arg(path).output()?;
    let mut all = Segments::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let mut columns = line.split('\t');
        let number = columns.next().and_then(|text| text.parse().ok()).unwrap_or(0);
        let values: Vec<u64> = columns
            .map_while(|text| match text.strip_prefix("0x") {
                Some(hex) => u64::from_str_radix(hex, 16).ok(),
                None => text.parse().ok(),
            })
            .collect();
        if let Ok(mut values) = <[u64; 7]>::try_from(values) {
            values[6] &= 0x1ff;
            all.insert(number, values);
        }
    }
    Ok(all)
}

/// One file for each way in which segments can be wrapped, from other hands than ours.
const FILES: &[&str] = &[
    "formats/nflog-http.pcap",
    "formats/qinq-three-tags.pcap",
    "formats/mpls-vlan-mixed.pcap",
    "formats/gre.pcap",
    "formats/fourin6.pcap",
    "formats/vxlan-http.pcap",
    "formats/geneve.pcap",
    "formats/pppoe-over-qinq.pcap",
    "formats/raw-ip.pcap",
    "formats/tso-kerberos.pcapng",
    "formats/fragments-ipv6-atomic.pcap",
    "formats/padding-after-ip.pcap",
    "formats/snaplen-truncated-header.pcap",
    "formats/pcapng-many-interfaces.pcapng",
    "formats/duplicates-ssh.pcap",
    "tcptrace/ppp.pcap",
    "tcptrace/linux-cooked.pcap",
];

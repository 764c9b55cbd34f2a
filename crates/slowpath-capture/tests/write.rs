//! What the writer writes is read by the programs that people use.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;

use slowpath_capture::{
    Damage, LinkType, PacketInfo, PcapngWriter, Reader, SectionInfo, TapDirection, TapInfo, TapStatistics,
};
use slowpath_packet::{Ipv4Header, Seq32, TcpFlags, TcpHeader, TcpOptions, checksum::Sum};
use slowpath_units::Time;

/// An IPv4 packet with a TCP segment of `len` payload bytes.
fn segment(len: usize) -> Vec<u8> {
    let (source, destination) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 1));
    let tcp = TcpHeader {
        source_port: 20,
        destination_port: 40_000,
        sequence: Seq32(1),
        acknowledgement: Seq32(2),
        flags: TcpFlags::ACK,
        window: 1000,
        urgent: 0,
        options: TcpOptions::default(),
    };
    let payload = vec![0x5a; len];
    let total = (tcp.len() + len) as u32;
    let mut packet = vec![0; 20 + tcp.len()];
    Ipv4Header::new(source, destination, 6, total).write(&mut packet);
    tcp.write(
        &mut packet[20..],
        Sum::pseudo_v4(source, destination, 6, total),
        &payload,
    );
    packet.extend(payload);
    packet
}

fn sample() -> Vec<u8> {
    let section = SectionInfo {
        application: "slowpath test".into(),
        comment: "two taps, Unicode: Zürich".into(),
        system: String::new(),
        origin_ns: 1_700_000_000_000_000_000,
    };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    let client = writer.add_tap(&TapInfo::raw("client", "at the client")).unwrap();
    let cut = TapInfo {
        snap_len: 60,
        link_type: LinkType::IPV4,
        rate_bit_per_s: Some(50_000_000),
        ..TapInfo::raw("wan-down", "")
    };
    let wan = writer.add_tap(&cut).unwrap();
    writer
        .names(&[(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), "server")])
        .unwrap();
    let packet = segment(1001);
    for index in 0..100_u64 {
        let at = Time::from_nanos(index * 1_000_001);
        let info = PacketInfo {
            direction: TapDirection::Inbound,
            id: Some(index),
            ..PacketInfo::default()
        };
        writer.packet(client, at, &packet, &info).unwrap();
        let dropped = PacketInfo {
            comment: Some(format_args!("dropped by loss element wan-down at {at}")),
            ..PacketInfo::default()
        };
        writer
            .packet_parts(wan, at, &[&packet[..20], &packet[20..]], &dropped)
            .unwrap();
    }
    for tap in [client, wan] {
        let end = Time::from_nanos(2_000_000_000);
        let counters = TapStatistics {
            end,
            received: 100,
            writer_drops: 3,
            ..TapStatistics::default()
        };
        writer.statistics(tap, &counters).unwrap();
    }
    writer.finish().unwrap()
}

/// Writes the sample to a file that is removed at the end.
struct Sample(PathBuf);

impl Sample {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("slowpath-{name}-{}.pcapng", std::process::id()));
        std::fs::write(&path, sample()).unwrap();
        Self(path)
    }

    /// Runs a program on the file; nothing if it is not installed.
    fn run(&self, test: &str, program: &str, arguments: &[&str]) -> Option<(String, String)> {
        match Command::new(program).args(arguments).arg(&self.0).output() {
            Ok(output) => {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                assert!(output.status.success(), "{program}: {}", text(&output.stderr));
                Some((text(&output.stdout), text(&output.stderr)))
            }
            Err(error) => {
                let _ = writeln!(io::stderr(), "skipped: {test}: {program}: {error}");
                None
            }
        }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn capinfos_opens_it() {
    let sample = Sample::new("capinfos");
    let Some((report, complaints)) = sample.run("capinfos_opens_it", "capinfos", &["-M"]) else {
        return;
    };
    assert_eq!(complaints, "");
    for expected in [
        "nanoseconds (9)",
        "Number of packets:   200",
        "Name = client",
        "Name = wan-down",
    ] {
        assert!(report.contains(expected), "{expected} is missing in\n{report}");
    }
}

#[test]
fn tshark_reads_every_field() {
    let sample = Sample::new("tshark");
    let fields = [
        "-T",
        "fields",
        "-e",
        "frame.time_epoch",
        "-e",
        "frame.interface_name",
        "-e",
        "frame.cap_len",
        "-e",
        "frame.len",
        "-e",
        "frame.comment",
        "-e",
        "ip.checksum.status",
        "-e",
        "tcp.checksum.status",
        "-o",
        "ip.check_checksum:TRUE",
        "-o",
        "tcp.check_checksum:TRUE",
        "-r",
    ];
    let Some((rows, _)) = sample.run("tshark_reads_every_field", "tshark", &fields) else {
        return;
    };
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows.len(), 200);
    assert_eq!(rows[2], "1700000000.001000001\tclient\t1041\t1041\t\t1\t1");
    let comment = "dropped by loss element wan-down at 0.001000001 s";
    assert!(
        rows[3].starts_with(&format!("1700000000.001000001\twan-down\t60\t1041\t{comment}\t1")),
        "{}",
        rows[3]
    );
}

#[test]
fn a_tap_of_another_file_is_refused() {
    let section = SectionInfo::default();
    let mut one = PcapngWriter::new(Vec::new(), &section).unwrap();
    let mut two = PcapngWriter::new(Vec::new(), &section).unwrap();
    let tap = one.add_tap(&TapInfo::raw("a", "")).unwrap();
    let error = two
        .packet(tap, Time::ZERO, &[0x45], &PacketInfo::default())
        .unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn an_endless_comment_is_cut_at_a_character() {
    let mut writer = PcapngWriter::new(Vec::new(), &SectionInfo::default()).unwrap();
    let tap = writer.add_tap(&TapInfo::raw("a", "")).unwrap();
    let long = "ü".repeat(40_000);
    let info = PacketInfo {
        comment: Some(format_args!("{long}")),
        ..PacketInfo::default()
    };
    writer.packet(tap, Time::ZERO, &segment(0), &info).unwrap();
    let bytes = writer.finish().unwrap();
    assert_eq!(bytes.len() % 4, 0);
    assert!(bytes.len() < 66_000);
}

/// A disk with room for so many bytes.
#[derive(Debug)]
struct Disk {
    room: usize,
    written: Vec<u8>,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.room);
        if count == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.room -= count;
        self.written.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_reported_and_what_was_written_stays() {
    let none = Disk {
        room: 0,
        written: Vec::new(),
    };
    let error = PcapngWriter::new(none, &SectionInfo::default()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);

    let mut disk = Disk {
        room: 300_000,
        written: Vec::new(),
    };
    let mut writer = PcapngWriter::new(&mut disk, &SectionInfo::default()).unwrap();
    let tap = writer.add_tap(&TapInfo::raw("a", "")).unwrap();
    let packet = segment(1000);
    let mut failed = None;
    for _ in 0..1000 {
        if let Err(error) = writer.packet(tap, Time::ZERO, &packet, &PacketInfo::default()) {
            failed = Some(error.kind());
            break;
        }
    }
    assert_eq!(failed, Some(io::ErrorKind::StorageFull));
    assert!(writer.flush().is_err(), "nothing follows a hole");
    drop(writer);
    let mut reader = Reader::new(io::Cursor::new(disk.written)).unwrap();
    while reader.next_frame().unwrap().is_some() {}
    assert!(reader.packets() >= 270, "{} packets", reader.packets());
    assert!(matches!(reader.damage(), Some(Damage::Cut { .. })));
}

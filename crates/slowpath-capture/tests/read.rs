//! The same frames in every format, byte order, unit and compression; files that grow, break off or lie.

mod support;

use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use slowpath_capture::{
    Damage, FileFormat, LinkType, OpenError, PacketInfo, PacketReader, PcapngWriter, ReadAhead, Reader,
    SectionInfo, TapDirection, TapInfo, TapStatistics,
};
use slowpath_units::Time;
use support::*;

/// What a frame is, kept beyond the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    at: Option<i64>,
    wire_len: u32,
    interface: u32,
    link_type: LinkType,
    bytes: Vec<u8>,
}

fn read_all(reader: &mut Reader) -> Vec<Seen> {
    let mut all = Vec::new();
    while let Some(frame) = reader.next_frame().unwrap() {
        all.push(Seen {
            at: frame.at,
            wire_len: frame.wire_len,
            interface: frame.interface,
            link_type: frame.link_type,
            bytes: frame.bytes.to_vec(),
        });
    }
    all
}

fn open(bytes: Vec<u8>) -> Reader {
    Reader::new(Cursor::new(bytes)).unwrap()
}

/// Numbers in one byte order.
struct Bytes {
    big: bool,
    out: Vec<u8>,
}

impl Bytes {
    fn new(big: bool) -> Self {
        Self { big, out: Vec::new() }
    }

    fn u16(&mut self, value: u16) -> &mut Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    fn u32(&mut self, value: u32) -> &mut Self {
        self.out.extend(if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        });
        self
    }

    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend(bytes);
        self
    }

    fn padded(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend(bytes);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
        self
    }

    /// A pcapng block with `body`.
    fn block(&mut self, kind: u32, body: &[u8]) -> &mut Self {
        let len = body.len() as u32 + 12;
        self.u32(kind).u32(len).raw(body).u32(len)
    }

    fn section(&mut self) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u32(0x1a2b_3c4d).u16(1).u16(0).u32(u32::MAX).u32(u32::MAX);
        self.block(0x0a0d_0d0a, &body.out)
    }

    fn interface(&mut self, link_type: u16, snap_len: u32, options: &[(u16, Vec<u8>)]) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u16(link_type).u16(0).u32(snap_len);
        for (code, value) in options {
            body.u16(*code).u16(value.len() as u16).padded(value);
        }
        body.u32(0);
        self.block(1, &body.out)
    }

    fn enhanced(&mut self, interface: u32, ticks: u64, frame: &[u8]) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u32(interface).u32((ticks >> 32) as u32).u32(ticks as u32);
        body.u32(frame.len() as u32)
            .u32(frame.len() as u32 + 7)
            .padded(frame);
        self.block(6, &body.out)
    }

    fn obsolete(&mut self, interface: u16, ticks: u64, frame: &[u8]) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u16(interface)
            .u16(0)
            .u32((ticks >> 32) as u32)
            .u32(ticks as u32);
        body.u32(frame.len() as u32)
            .u32(frame.len() as u32 + 7)
            .padded(frame);
        self.block(2, &body.out)
    }

    fn simple(&mut self, frame: &[u8]) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u32(frame.len() as u32).padded(frame);
        self.block(3, &body.out)
    }
}

fn frames() -> Vec<Vec<u8>> {
    (0..20).map(|index| v4(&tcp(), index * 37)).collect()
}

#[test]
fn classic_files_of_every_kind_read_alike() {
    // Magic, nanoseconds of the unit, bytes of a record header beyond the usual, version, lengths swapped.
    let kinds = [
        (0xa1b2_c3d4_u32, 1000, 0, 4, false),
        (0xa1b2_3c4d, 1, 0, 4, false),
        (0xa1b2_cd34, 1000, 8, 4, false),
        (0xa1b2_c3d4, 1000, 0, 3, false),
        (0xa1b2_c3d4, 1000, 0, 3, true),
        (0xa1b2_c3d4, 1000, 0, 2, true),
    ];
    for big in [false, true] {
        for (magic, unit, extra, minor, swapped) in kinds {
            let mut file = Bytes::new(big);
            file.u32(magic).u16(2).u16(minor).u32(0).u32(0).u32(20).u32(101);
            for (index, frame) in frames().iter().enumerate() {
                let lengths = [frame.len() as u32, frame.len() as u32 + 7];
                let lengths = if swapped {
                    [lengths[1], lengths[0]]
                } else {
                    lengths
                };
                file.u32(4_000_000_000)
                    .u32(index as u32)
                    .u32(lengths[0])
                    .u32(lengths[1]);
                file.raw(&vec![9; extra]).raw(frame);
            }
            let mut reader = open(file.out);
            let seen = read_all(&mut reader);
            assert_eq!(
                (reader.format(), seen.len()),
                (FileFormat::Pcap, 20),
                "{magic:#x}"
            );
            for (index, (seen, frame)) in seen.iter().zip(frames()).enumerate() {
                let at = 4_000_000_000_000_000_000 + i64::try_from(index).unwrap() * unit;
                let expected = Seen {
                    at: Some(at),
                    wire_len: frame.len() as u32 + 7,
                    interface: 0,
                    link_type: LinkType::RAW,
                    bytes: frame,
                };
                assert_eq!(*seen, expected, "{magic:#x}, big endian {big}, swapped {swapped}");
            }
            assert_eq!(reader.damage(), None);
        }
    }
}

#[test]
fn pcapng_packets_of_every_kind_read_alike() {
    for big in [false, true] {
        let mut file = Bytes::new(big);
        let seconds = |value: i64| {
            if big {
                value.to_be_bytes()
            } else {
                value.to_le_bytes()
            }
            .to_vec()
        };
        let frame = v4(&tcp(), 33);
        file.section()
            .interface(101, 0, &[])
            .interface(
                101,
                50,
                &[(9, vec![9]), (14, seconds(-5)), (2, b"second".to_vec())],
            )
            .interface(228, 0, &[(9, vec![0x8a]), (14, seconds(7))])
            .enhanced(0, 1_000_000, &frame)
            .enhanced(1, 6_000_000_001, &frame)
            .enhanced(2, 1536, &frame)
            .obsolete(0, 2_000_000, &frame)
            .block(0x0bad, &[1, 2, 3, 4])
            .block(4, &[0; 4])
            .simple(&frame)
            // Another section of the other byte order numbers its interfaces anew.
            .out
            .extend({
                let mut other = Bytes::new(!big);
                other
                    .section()
                    .interface(229, 0, &[])
                    .enhanced(0, 3_000_000, &frame);
                other.out
            });
        let mut reader = open(file.out);
        let seen = read_all(&mut reader);
        assert_eq!(reader.damage(), None);
        let expected = [
            (Some(1_000_000_000), 0, LinkType::RAW),
            (Some(1_000_000_001), 1, LinkType::RAW),
            (Some(8_500_000_000), 2, LinkType::IPV4),
            (Some(2_000_000_000), 0, LinkType::RAW),
            (None, 0, LinkType::RAW),
            (Some(3_000_000_000), 3, LinkType::IPV6),
        ];
        let found: Vec<_> = seen
            .iter()
            .map(|frame| (frame.at, frame.interface, frame.link_type))
            .collect();
        assert_eq!(found, expected);
        assert!(seen.iter().all(|seen| seen.bytes == frame));
        let interface = &reader.interfaces()[1];
        assert_eq!(
            (
                interface.name.as_str(),
                interface.snap_len,
                interface.resolution_ns
            ),
            ("second", 50, 1)
        );
    }
}

#[test]
fn simple_packets_end_at_the_snap_length() {
    let mut file = Bytes::new(false);
    let frame = v4(&tcp(), 33);
    file.section().interface(101, 50, &[]);
    let mut body = Bytes::new(false);
    body.u32(frame.len() as u32).padded(&frame[..50]);
    file.block(3, &body.out);
    let seen = read_all(&mut open(file.out));
    assert_eq!(
        (seen[0].bytes.len(), seen[0].wire_len as usize),
        (50, frame.len())
    );
}

#[test]
fn what_the_writer_writes_comes_back() {
    let section = SectionInfo {
        origin_ns: 1_700_000_000_000_000_000,
        ..SectionInfo::default()
    };
    let mut writer = PcapngWriter::new(Vec::new(), &section).unwrap();
    let near = writer.add_tap(&TapInfo::raw("near", "at the client")).unwrap();
    let far = writer
        .add_tap(&TapInfo {
            snap_len: 60,
            ..TapInfo::raw("far", "")
        })
        .unwrap();
    let packet = v4(&tcp(), 500);
    let fate = "dropped by loss element wan-down at 0.000000042 s";
    let info = PacketInfo {
        direction: TapDirection::Outbound,
        comment: Some(format_args!("{fate}")),
        id: Some(99),
        dropped_before: 3,
        ..PacketInfo::default()
    };
    writer.packet(near, Time::from_nanos(42), &packet, &info).unwrap();
    writer
        .packet_parts(
            far,
            Time::from_nanos(43),
            &[&packet[..30], &packet[30..]],
            &PacketInfo::default(),
        )
        .unwrap();
    let end = Time::from_nanos(100);
    let counters = TapStatistics {
        end,
        received: 7,
        tap_drops: 1,
        writer_drops: 2,
        ..TapStatistics::default()
    };
    writer.statistics(near, &counters).unwrap();
    let bytes = writer.finish().unwrap();

    let mut reader = open(bytes.clone());
    let frame = reader.next_frame().unwrap().unwrap();
    assert_eq!(
        (frame.at, frame.bytes),
        (Some(1_700_000_000_000_000_042), &packet[..])
    );
    assert_eq!(
        (frame.comment(), frame.direction()),
        (Some(fate), TapDirection::Outbound)
    );
    assert_eq!((frame.packet_id(), frame.dropped_before()), (Some(99), 3));
    let frame = reader.next_frame().unwrap().unwrap();
    assert_eq!(
        (frame.bytes, frame.wire_len as usize),
        (&packet[..60], packet.len())
    );
    assert_eq!(
        (frame.comment(), frame.direction()),
        (None, TapDirection::Unknown)
    );
    assert!(reader.next_frame().unwrap().is_none());
    let near = &reader.interfaces()[0];
    assert_eq!(
        (near.name.as_str(), near.description.as_str()),
        ("near", "at the client")
    );
    assert_eq!((near.received, near.dropped), (Some(7), Some(3)));

    let mut packets = PacketReader::new(Cursor::new(bytes)).unwrap();
    while packets.next_record().unwrap().is_some() {}
    let names = [0, 1, 2].map(|number| packets.tap_name(number));
    assert_eq!(names, [Some("near".to_owned()), Some("far".to_owned()), None]);
    let summary = packets.summary();
    assert_eq!(
        (summary.format.as_str(), summary.link_types),
        ("pcapng", vec!["raw".to_owned()])
    );
    assert_eq!(
        (summary.packets, summary.undecoded_packets, summary.reported_drops),
        (2, 0, Some(3))
    );
    assert_eq!(
        (summary.stated_resolution_ns, summary.damage, summary.snap_len),
        (1, None, Some(60))
    );
}

/// `data` compressed in every way, in two members or frames each, a quarter of it in the first: name, bytes, and
/// length of the first.
fn compressed(data: &[u8]) -> Vec<(&'static str, Vec<u8>, usize)> {
    let halves = data.split_at(data.len() / 4);
    let twice = |name, compress: &dyn Fn(&[u8]) -> Vec<u8>| {
        let (first, second) = (compress(halves.0), compress(halves.1));
        (name, join(&first, &second), first.len())
    };
    let gzip = |part: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let lz4 = |part: &[u8]| {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let xz = |part: &[u8]| {
        let options = lzma_rust2::XzOptions::with_preset(1);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let zstd =
        |part: &[u8]| ruzstd::encoding::compress_to_vec(part, ruzstd::encoding::CompressionLevel::Fastest);
    // A skippable frame in front of the second.
    let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
    let skipping = |part: &[u8]| join(&zstd(part), &skippable);
    vec![
        twice("gzip", &gzip),
        twice("lz4", &lz4),
        twice("xz", &xz),
        twice("zstd", &zstd),
        twice("zstd, skippable frame", &skipping),
    ]
}

#[test]
fn compressed_files_read_alike_and_give_what_is_there_when_cut() {
    let many: Vec<Vec<u8>> = (0..400).map(|index| v4(&tcp(), index * 3 % 1400)).collect();
    let file = pcap(101, &many);
    let plain = read_all(&mut open(file.clone()));
    assert_eq!(plain.len(), 400);
    for (name, bytes, first) in compressed(&file) {
        let mut reader = open(bytes.clone());
        assert_eq!(read_all(&mut reader), plain, "{name}");
        assert_eq!(reader.damage(), None, "{name}");
        assert_eq!(
            reader.compression().unwrap().to_string(),
            name.split(',').next().unwrap()
        );
        // The first member is whole: its frames must come out.
        for cut in (first + 1..bytes.len() - 16).step_by(bytes.len() / 50) {
            let mut reader = open(bytes[..cut].to_vec());
            let seen = read_all(&mut reader);
            assert_eq!(seen[..], plain[..seen.len()], "{name}, {cut} bytes");
            assert!(seen.len() >= 100, "{name}, {cut} bytes: {} frames", seen.len());
            assert!(reader.damage().is_some(), "{name}, {cut} bytes");
            assert!(
                reader.next_frame().unwrap().is_none(),
                "{name}, {cut} bytes: goes on after the end"
            );
        }
    }
}

/// A file that another program appends to.
#[derive(Clone, Default)]
struct Growing(Arc<Mutex<(Vec<u8>, usize)>>);

impl Growing {
    fn append(&self, bytes: &[u8]) {
        self.0.lock().unwrap().0.extend(bytes);
    }
}

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (data, at) = &mut *self.0.lock().unwrap();
        let count = buffer.len().min(data.len() - *at);
        buffer[..count].copy_from_slice(&data[*at..*at + count]);
        *at += count;
        Ok(count)
    }
}

#[test]
fn a_growing_file_gives_each_frame_as_soon_as_it_is_whole() {
    let mut writer = PcapngWriter::new(Vec::new(), &SectionInfo::default()).unwrap();
    let tap = writer.add_tap(&TapInfo::raw("tap", "")).unwrap();
    writer.names(&[(std::net::IpAddr::V4(SERVER), "server")]).unwrap();
    for frame in frames() {
        writer
            .packet(tap, Time::ZERO, &frame, &PacketInfo::default())
            .unwrap();
    }
    for (file, start) in [(pcap(101, &frames()), 24), (writer.finish().unwrap(), 32)] {
        let growing = Growing::default();
        growing.append(&file[..start]);
        let mut reader = Reader::new(growing.clone()).unwrap();
        let mut seen = Vec::new();
        for byte in &file[start..] {
            growing.append(&[*byte]);
            let before = seen.len();
            seen.extend(read_all(&mut reader));
            assert!(seen.len() <= before + 1);
            assert!(matches!(reader.damage(), None | Some(Damage::Cut { .. })));
        }
        assert_eq!((seen.len(), reader.damage()), (20, None));
        assert!(seen.iter().map(|seen| &seen.bytes).eq(&frames()));
    }
}

#[test]
fn a_pipe_that_gives_single_bytes_is_enough() {
    struct Single(Cursor<Vec<u8>>);
    impl Read for Single {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }
    let mut reader = Reader::new(Single(Cursor::new(pcap(101, &frames())))).unwrap();
    assert_eq!(read_all(&mut reader).len(), 20);
}

#[test]
fn errors_of_the_input_are_told() {
    struct Failing(Cursor<Vec<u8>>);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(io::Error::other("the disk is gone")),
                count => Ok(count),
            }
        }
    }
    let mut reader = Reader::new(Failing(Cursor::new(pcap(101, &frames())))).unwrap();
    for _ in 0..20 {
        assert!(reader.next_frame().unwrap().is_some());
    }
    assert_eq!(reader.next_frame().unwrap_err().to_string(), "the disk is gone");
}

#[test]
fn damage_is_told_with_its_place() {
    let whole = pcap(101, &frames());
    let second = 24 + 16 + frames()[0].len();
    let mut huge = whole.clone();
    huge[second + 8..second + 12].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    let mut cut = whole.clone();
    cut.truncate(second + 30);
    let mut section = Bytes::new(false);
    section
        .section()
        .interface(101, 0, &[])
        .enhanced(0, 1, &frames()[0]);
    let end = section.out.len();
    let with = |tail: &dyn Fn(&mut Bytes)| {
        let mut file = Bytes {
            big: false,
            out: section.out.clone(),
        };
        tail(&mut file);
        file.out
    };
    let cases = [
        (
            huge,
            Damage::PacketLength {
                offset: second as u64,
                claimed: 0x7fff_ffff,
            },
        ),
        (
            cut,
            Damage::Cut {
                offset: second as u64,
                part: "record",
                needed: 105,
                found: 30,
            },
        ),
        (
            with(&|file| {
                file.u32(6).u32(0).u32(0);
            }),
            Damage::BlockLength {
                offset: end as u64,
                kind: 6,
                claimed: 0,
            },
        ),
        (
            with(&|file| {
                file.u32(6).u32(0xffff_fff0).raw(&[0; 40]);
            }),
            Damage::BlockLength {
                offset: end as u64,
                kind: 6,
                claimed: 0xffff_fff0,
            },
        ),
        (
            with(&|file| {
                file.enhanced(5, 1, &[0x45; 20]);
            }),
            Damage::UnknownInterface {
                offset: end as u64,
                interface: 5,
                known: 1,
            },
        ),
        (
            with(&|file| {
                file.u32(4).u32(16).u32(0).u32(16).u32(6).u32(12).u32(13);
            }),
            Damage::BlockEnd {
                offset: end as u64 + 16,
                before: 12,
                after: 13,
            },
        ),
        (
            with(&|file| {
                file.u32(0x0a0d_0d0a).u32(28).u32(0x1122_3344).raw(&[0; 16]);
            }),
            Damage::ByteOrder {
                offset: end as u64,
                found: 0x4433_2211,
            },
        ),
        (
            with(&|file| {
                file.u32(77).u32(4_000_000_000).raw(&[0; 100]);
            }),
            Damage::Cut {
                offset: end as u64,
                part: "block",
                needed: 4_000_000_000,
                found: 108,
            },
        ),
    ];
    for (bytes, expected) in cases {
        let mut reader = open(bytes);
        assert_eq!(read_all(&mut reader).len(), 1, "{expected}");
        assert_eq!(reader.damage(), Some(&expected));
        assert!(reader.next_frame().unwrap().is_none());
    }
}

#[test]
fn what_is_no_capture_is_refused_with_advice() {
    let cases: [(&[u8], &str); 8] = [
        (b"", "the file is empty"),
        (b"\xd4\xc3", "ends after 2 bytes"),
        (b"\xd4\xc3\xb2\xa1\x02\x00", "ends after 6 bytes"),
        (
            b"GIF89a.........................",
            "not a pcap or pcapng capture (it begins with the bytes 47 49 46 38)",
        ),
        (
            b"BZh91AY&SY......................",
            "this is bzip2; unpack it first",
        ),
        (b"snoop\0\0\0\0\0\0\x02\0\0\0\x04", "editcap"),
        (
            b"\x1f\x8b\x08garbage that is no deflate stream at all",
            "gzip data that cannot be decompressed",
        ),
        (
            b"\xfd7zXZ\0garbage garbage garbage",
            "xz data that cannot be decompressed",
        ),
    ];
    for (bytes, expected) in cases {
        let error = Reader::new(Cursor::new(bytes)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert!(matches!(
        Reader::open("/nonexistent/capture.pcap".as_ref()),
        Err(OpenError::Io(_))
    ));
}

#[test]
fn reading_ahead_gives_the_same_packets_and_conversations() {
    let many: Vec<Vec<u8>> = (0..30_000_u16)
        .map(|index| {
            let header = slowpath_packet::TcpHeader {
                source_port: index / 7,
                ..tcp()
            };
            v4(&header, usize::from(index % 50))
        })
        .collect();
    let file = pcap(101, &many);
    let mut plain = PacketReader::new(Cursor::new(file.clone())).unwrap();
    let mut expected = Vec::new();
    while let Some(record) = plain.next_record().unwrap() {
        expected.push(record);
    }
    let mut ahead = ReadAhead::start(PacketReader::new(Cursor::new(file.clone())).unwrap()).unwrap();
    let mut found = Vec::new();
    let mut conversations = 0;
    while let Some(batch) = ahead.next_batch().unwrap() {
        for record in batch.records {
            let slowpath_record::packets::Record::Tcp(packet) = record else {
                panic!("{record:?}")
            };
            assert!(
                batch.conversations.key(packet.conversation)
                    == plain.conversations().key(packet.conversation)
            );
        }
        found.extend_from_slice(batch.records);
        conversations = batch.conversations.len();
    }
    assert!(found == expected);
    assert_eq!(conversations, plain.conversations().len());
    assert_eq!(ahead.finish().summary(), plain.summary());

    // An analysis that stops early leaves nothing behind.
    let mut ahead = ReadAhead::start(PacketReader::new(Cursor::new(file)).unwrap()).unwrap();
    assert!(ahead.next_batch().unwrap().is_some());
    assert!(ahead.finish().reader().packets() < 30_000);
}

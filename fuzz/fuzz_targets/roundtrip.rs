//! Frames with captured length, length on the wire, direction and lost records varied: through the writer, the file,
//! the reader and the decoder to the analysis.
//!
//! What was written must be read again: wholly, and as it arrives.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;
use slowpath_facts::Analyzer;
use slowpath_verdict::Analysis;
use slowpath_capture::write::TapDirection;
use slowpath_capture::{LinkType, PacketInfo, PacketReader, PcapngWriter, Reader, SectionInfo, TapInfo};
use slowpath_record::packets::Record;
use slowpath_units::Time;

fuzz_target!(|data: &[u8]| {
    let (file, written) = file(data);
    let mut reader = Reader::new(Cursor::new(file.clone())).expect("what was written opens");
    for expected in &written {
        let frame = reader.next_frame().expect("memory reads").expect("nothing is missing");
        assert_eq!(frame.bytes, expected.bytes);
        assert_eq!((frame.wire_len, frame.dropped_before()), (expected.wire_len, expected.dropped));
        assert_eq!((frame.direction(), frame.link_type), (expected.direction, expected.link_type));
        assert_eq!(frame.packet_id(), expected.id);
        assert_eq!(frame.at, Some(expected.at));
        assert_eq!(frame.is_cut(), frame.bytes.len() < frame.wire_len as usize);
    }
    assert!(reader.next_frame().expect("memory reads").is_none());
    assert!(reader.damage().is_none(), "{:?}", reader.damage());

    let whole = records(PacketReader::new(Cursor::new(file.clone())));
    assert_eq!(whole, records(PacketReader::new(Dripping(Cursor::new(file)))));
});

/// Everything a reader gives, with the analysis run over it.
fn records(reader: Result<PacketReader, slowpath_capture::OpenError>) -> Vec<Record> {
    let mut reader = reader.expect("what was written opens");
    let mut analyzer = Analyzer::new();
    let mut records = Vec::new();
    while let Some(record) = reader.next_record().expect("memory reads") {
        analyzer.push(&record, reader.conversations());
        records.push(record);
    }
    let analysis = Analysis::of(analyzer.finish(reader.conversations(), &reader.summary()));
    assert_eq!(analysis.capture.packets, reader.summary().packets);
    records
}

/// A frame as it was handed to the writer.
struct Written {
    bytes: Vec<u8>,
    wire_len: u32,
    at: i64,
    direction: TapDirection,
    dropped: u64,
    id: Option<u64>,
    link_type: LinkType,
}

fn file(data: &[u8]) -> (Vec<u8>, Vec<Written>) {
    let mut writer = PcapngWriter::new(Vec::new(), &SectionInfo::default()).expect("memory takes all");
    let links = [LinkType::ETHERNET, LinkType::RAW, LinkType::LINUX_SLL2, LinkType::NULL];
    let taps: Vec<_> = links
        .iter()
        .map(|link| {
            let mut tap = TapInfo::raw("tap", "");
            tap.link_type = *link;
            writer.add_tap(&tap).expect("memory takes all")
        })
        .collect();
    let mut written = Vec::new();
    let mut rest = data;
    let mut at = 0_u64;
    while let [what, cut, longer, dropped, step, len, more @ ..] = rest {
        let take = (usize::from(*len) * 2).min(more.len());
        let (bytes, behind) = more.split_at(take);
        rest = behind;
        let which = usize::from(what & 3);
        // Every combination: cut by any number of bytes, longer on the wire than what was given, or as it is.
        let kept = bytes.len().saturating_sub(usize::from(*cut));
        let wire_len = match longer {
            0 => bytes.len() as u32,
            255 => u32::MAX,
            more => bytes.len() as u32 + u32::from(*more) * 7,
        };
        at += u64::from(*step) * 1000;
        let info = PacketInfo {
            wire_len,
            direction: [TapDirection::Unknown, TapDirection::Inbound, TapDirection::Outbound]
                [usize::from(what >> 2 & 3) % 3],
            comment: None,
            id: (what & 0x40 != 0).then_some(at),
            dropped_before: u64::from(*dropped) << (what >> 4 & 1) * 56,
        };
        let time = Time::from_nanos(at);
        writer.packet(taps[which], time, &bytes[..kept], &info).expect("memory takes all");
        written.push(Written {
            bytes: bytes[..kept].to_vec(),
            wire_len: if wire_len == 0 { kept as u32 } else { wire_len },
            at: at as i64,
            direction: info.direction,
            dropped: info.dropped_before,
            id: info.id,
            link_type: links[which],
        });
    }
    (writer.finish().expect("memory takes all"), written)
}

/// Gives few bytes at a time.
struct Dripping(Cursor<Vec<u8>>);

impl Read for Dripping {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let most = buffer.len().min(1 + self.0.position() as usize % 37);
        self.0.read(&mut buffer[..most])
    }
}

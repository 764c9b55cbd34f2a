//! Files and frames changed at random, the same way in every run: nothing crashes, hangs or grows.
//!
//! The fuzz targets in `fuzz/` go further; what they find is replayed here.

mod support;

use std::io::{Cursor, Write};

use slowpath_capture::{
    Decoder, Frame, LinkType, PacketInfo, PacketReader, PcapngWriter, SectionInfo, TapDirection, TapInfo,
    TapStatistics,
};
use slowpath_record::packets::Record;
use slowpath_units::Time;
use support::*;

/// Changes some bytes, lengths or places.
fn mutate(dice: &mut Dice, bytes: &mut Vec<u8>) {
    for _ in 0..=dice.below(4) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len());
        match dice.below(7) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][dice.below(5)],
            2 => bytes[at] = dice.below(256) as u8,
            3 => bytes.truncate(at),
            4 => drop(bytes.drain(at..(at + 1 + dice.below(20)).min(bytes.len()))),
            5 => {
                let part: Vec<u8> = bytes[at..].iter().copied().take(dice.below(64)).collect();
                let to = dice.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => {
                let end = (at + 4).min(bytes.len());
                bytes[at..end].fill([0, 0xff][dice.below(2)]);
            }
        }
    }
}

/// Reads everything; returns frames and the bytes they hold.
fn drain(bytes: Vec<u8>) -> u64 {
    let Ok(mut reader) = PacketReader::new(Cursor::new(bytes)) else {
        return 0;
    };
    while let Ok(Some(record)) = reader.next_record() {
        check(&record);
    }
    for _ in 0..3 {
        assert!(
            matches!(reader.next_record(), Ok(None) | Err(_)),
            "records behind the end"
        );
    }
    let _ = reader.summary();
    reader.reader().packets()
}

fn check(record: &Record) {
    if let Record::Tcp(packet) = record {
        assert!(packet.payload_len <= packet.ip_len, "{packet:?}");
    }
}

fn pcapng() -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new(), &SectionInfo::default()).unwrap();
    let taps = ["a", "b"].map(|name| writer.add_tap(&TapInfo::raw(name, "a tap")).unwrap());
    for index in 0..12 {
        let info = PacketInfo {
            direction: TapDirection::Inbound,
            comment: Some(format_args!("packet {index}")),
            ..PacketInfo::default()
        };
        let packet = if index % 2 == 0 {
            v4(&tcp(), 20)
        } else {
            v6(&tcp(), 20)
        };
        writer
            .packet(taps[index % 2], Time::from_nanos(index as u64), &packet, &info)
            .unwrap();
    }
    writer.statistics(taps[0], &TapStatistics::default()).unwrap();
    writer.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn changed_files_end() {
    let frames: Vec<Vec<u8>> = (0..12)
        .map(|index| ethernet(0x0800, &v4(&tcp(), index)))
        .collect();
    let plain = [pcap(1, &frames), pcapng()];
    let mut dice = Dice::new(1);
    for _ in 0..6_000 {
        let mut bytes = plain[dice.below(2)].clone();
        mutate(&mut dice, &mut bytes);
        // The shortest record of either format is 16 bytes: every call reads on or ends.
        let most = bytes.len() as u64 / 16;
        assert!(drain(bytes) <= most);
    }
}

#[test]
fn changed_compressed_files_end() {
    let frames: Vec<Vec<u8>> = (0..12)
        .map(|index| ethernet(0x0800, &v4(&tcp(), index * 50)))
        .collect();
    let file = pcap(1, &frames);
    let lz4 = {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(&file).unwrap();
        encoder.finish().unwrap()
    };
    let xz = {
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(&file).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = ruzstd::encoding::compress_to_vec(&file[..], ruzstd::encoding::CompressionLevel::Fastest);
    let files = [gzip(&file), lz4, xz, zstd];
    let mut dice = Dice::new(2);
    for _ in 0..1_500 {
        let mut bytes = files[dice.below(4)].clone();
        mutate(&mut dice, &mut bytes);
        drain(bytes);
    }
}

#[test]
fn changed_frames_decode_or_say_why() {
    let links = [
        0, 1, 9, 10, 12, 14, 50, 51, 101, 108, 113, 204, 228, 229, 239, 253, 276, 4711,
    ];
    let inner = [v4(&tcp(), 60), v6(&tcp(), 60)];
    let seeds: Vec<Vec<u8>> = inner
        .iter()
        .flat_map(|ip| {
            let frame = ethernet(if ip[0] >> 4 == 4 { 0x0800 } else { 0x86dd }, ip);
            [
                ip.clone(),
                frame.clone(),
                in_udp(4789, &join(&[8, 0, 0, 0, 0, 0, 1, 0], &frame)),
                in_udp(6081, &join(&[1, 0, 0x65, 0x58, 0, 0, 1, 0, 0, 1, 2, 3], &frame)),
                in_udp(
                    2152,
                    &join(&[0x34, 255, 1, 92, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], ip),
                ),
                in_v4(47, &join(&[0x30, 0, 0x65, 0x58, 0, 0, 0, 1, 0, 0, 0, 2], &frame)),
                in_v6(44, &join(&[6, 0, 0, 1, 0, 0, 0, 9], &ip[20..])),
                in_v6(0, &join(&[6, 0, 0xc2, 4, 0, 1, 0, 0], &ip[20..])),
                ethernet(0x8847, &join(&[0, 0, 0x11, 9, 0, 0, 0, 0], &frame)),
                join(&[2, 0, 0, 0, 8, 0, 1, 0, 8, 0, 1, 0, 124, 0, 9, 0], ip),
            ]
        })
        .collect();
    let mut dice = Dice::new(3);
    let mut decoder = Decoder::new();
    for number in 0..40_000 {
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        mutate(&mut dice, &mut bytes);
        let mut frame = Frame::bare(LinkType(links[dice.below(links.len())]), &bytes);
        // The length on the wire may be anything: equal, longer, shorter, nothing at all.
        frame.wire_len = match dice.below(4) {
            0 => frame.wire_len,
            1 => frame.wire_len + dice.below(100_000) as u32,
            2 => dice.below(2_000) as u32,
            _ => [0, 1, 64, 65_535, 65_536, u32::MAX][dice.below(6)],
        };
        frame.fcs_len = dice.below(8) as u8;
        frame.at = (dice.below(3) > 0).then_some(number);
        if let Ok(record) = decoder.decode(&frame) {
            check(&record);
        }
    }
}

/// Inputs that once crashed, hung or grew, here or elsewhere; each name says what is special about it.
#[test]
fn what_was_found_before_stays_found() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("the folder of inputs is part of the crate") {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let most = bytes.len() as u64 / 16;
        let packets = drain(bytes.clone());
        assert!(packets <= most, "{}: {packets} packets", path.display());
        for link in 0..300 {
            let _ = Decoder::new().decode(&Frame::bare(LinkType(link), &bytes));
        }
        count += 1;
    }
    assert!(count >= 6, "{count} inputs");
}

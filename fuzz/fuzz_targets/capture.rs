//! Whole files: pcap and pcapng, plain or compressed.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use slowpath_capture::PacketReader;

fuzz_target!(|data: &[u8]| {
    let Ok(mut reader) = PacketReader::new(Cursor::new(data.to_vec())) else {
        return;
    };
    while let Ok(Some(_)) = reader.next_record() {}
    // Every call reads on or ends: an uncompressed record is at least 16 bytes long.
    if reader.reader().compression().is_none() {
        assert!(reader.reader().packets() <= data.len() as u64 / 16);
    }
    assert!(!matches!(reader.next_record(), Ok(Some(_))), "records behind the end");
    let _ = reader.summary();
});

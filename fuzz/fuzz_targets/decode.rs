//! Frames with any link type, captured length, length on the wire and frame check sequence.
//!
//! One input is several frames for one decoder, so that fragments and conversations meet.
#![no_main]

use libfuzzer_sys::fuzz_target;
use slowpath_capture::{Decoder, Frame, LinkType};
use slowpath_record::packets::Record;

fuzz_target!(|data: &[u8]| {
    let mut decoder = Decoder::new();
    let mut rest = data;
    while let [link, fcs, a, b, c, d, len, more @ ..] = rest {
        let take = (usize::from(*len) * 4).min(more.len());
        let (bytes, behind) = more.split_at(take);
        rest = behind;
        let mut frame = Frame::bare(LINKS[usize::from(*link) % LINKS.len()], bytes);
        frame.fcs_len = *fcs;
        // Zero stands for "as captured", which is the most frequent case by far.
        match u32::from_le_bytes([*a, *b, *c, *d]) {
            0 => {}
            wire_len => frame.wire_len = wire_len,
        }
        frame.at = (fcs & 1 == 0).then_some(i64::from(*len));
        if let Ok(Record::Tcp(packet)) = decoder.decode(&frame) {
            assert!(packet.payload_len <= packet.ip_len);
            assert!(decoder.conversations().key(packet.conversation).is_some());
        }
    }
});

const LINKS: [LinkType; 16] = [
    LinkType::ETHERNET,
    LinkType::RAW,
    LinkType::NULL,
    LinkType::LOOP,
    LinkType::PPP,
    LinkType::PPP_HDLC,
    LinkType::PPP_ETHER,
    LinkType::PPP_WITH_DIRECTION,
    LinkType::FDDI,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::IPV4,
    LinkType::IPV6,
    LinkType::NFLOG,
    LinkType::NETLINK,
    LinkType(4711),
];

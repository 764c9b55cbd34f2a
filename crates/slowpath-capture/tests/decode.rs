//! One segment in every wrapping gives the same record.

mod support;

use slowpath_capture::{Decoder, Frame, LinkType, Undecoded};
use slowpath_packet::{Ecn, Protocol, TcpOptions, ip::pseudo_sum};
use slowpath_record::packets::{Marks, Record, TcpPacket};
use support::*;

const LEN: usize = 300;

fn decode(link_type: LinkType, bytes: &[u8]) -> Result<Record, Undecoded> {
    Decoder::new().decode(&Frame::bare(link_type, bytes))
}

fn segment(name: &str, link_type: LinkType, bytes: &[u8]) -> TcpPacket {
    match decode(link_type, bytes) {
        Ok(Record::Tcp(packet)) => packet,
        other => panic!("{name}: {other:?}"),
    }
}

/// The same segment behind every link layer and tunnel: name, link type, bytes, and whether it is tunnelled.
fn wrappings(ip: &[u8], six: bool) -> Vec<(&'static str, LinkType, Vec<u8>, bool)> {
    let ether_type = if six { 0x86dd_u16 } else { 0x0800 };
    let number = if six { 41 } else { 4 };
    let family: u32 = if six { 10 } else { 2 };
    let typed = |head: &[u8]| join(&join(head, &ether_type.to_be_bytes()), ip);
    let frame = ethernet(ether_type, ip);
    let ppp = join(&[0, if six { 0x57 } else { 0x21 }], ip);
    let pppoe = join(&join(&[0x11, 0, 0, 9], &(ppp.len() as u16).to_be_bytes()), &ppp);
    let mpls = join(&[0, 0, 0x10, 0x40, 0, 0, 0x21, 0x40], ip);
    let sll2 = join(
        &ether_type.to_be_bytes(),
        &join(&[0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0], ip),
    );
    let nflog_payload = join(
        &(ip.len() as u16 + 4).to_le_bytes(),
        &join(&9_u16.to_le_bytes(), ip),
    );
    let nflog = join(
        &[2, 0, 0, 0, 8, 0, 1, 0, 8, 0, 1, 0, 5, 0, 10, 0, 0, 0, 0, 0],
        &nflog_payload,
    );
    vec![
        ("ethernet", LinkType::ETHERNET, frame.clone(), false),
        (
            "vlan",
            LinkType::ETHERNET,
            ethernet(0x8100, &typed(&[0, 7])),
            false,
        ),
        (
            "qinq",
            LinkType::ETHERNET,
            ethernet(0x88a8, &typed(&[0, 7, 0x81, 0, 0, 8])),
            false,
        ),
        (
            "three tags",
            LinkType::ETHERNET,
            ethernet(0x9100, &typed(&[0, 7, 0x92, 0, 0, 8, 0x81, 0, 0, 9])),
            false,
        ),
        (
            "snap",
            LinkType::ETHERNET,
            ethernet(400, &typed(&[0xaa, 0xaa, 3, 0, 0, 0])),
            false,
        ),
        (
            "null, little endian",
            LinkType::NULL,
            join(&family.to_le_bytes(), ip),
            false,
        ),
        (
            "null, big endian",
            LinkType::NULL,
            join(&family.to_be_bytes(), ip),
            false,
        ),
        ("loop", LinkType::LOOP, join(&family.to_be_bytes(), ip), false),
        ("raw 101", LinkType::RAW, ip.to_vec(), false),
        ("raw 12", LinkType::RAW_12, ip.to_vec(), false),
        ("raw 14", LinkType::RAW_14, ip.to_vec(), false),
        (
            "raw 228/229",
            if six { LinkType::IPV6 } else { LinkType::IPV4 },
            ip.to_vec(),
            false,
        ),
        (
            "sll",
            LinkType::LINUX_SLL,
            typed(&[0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0]),
            false,
        ),
        ("sll2", LinkType::LINUX_SLL2, sll2, false),
        ("ppp", LinkType::PPP, join(&[0xff, 3], &ppp), false),
        ("ppp, compressed", LinkType::PPP, ppp[1..].to_vec(), false),
        (
            "ppp with direction",
            LinkType::PPP_WITH_DIRECTION,
            join(&[1], &ppp),
            false,
        ),
        ("ppp over ethernet", LinkType::PPP_ETHER, pppoe.clone(), false),
        ("pppoe", LinkType::ETHERNET, ethernet(0x8864, &pppoe), false),
        (
            "fddi",
            LinkType::FDDI,
            join(&[0x50; 13], &typed(&[0xaa, 0xaa, 3, 0, 0, 0])),
            false,
        ),
        ("nflog", LinkType::NFLOG, nflog, false),
        ("mpls", LinkType::ETHERNET, ethernet(0x8847, &mpls), false),
        (
            "mpls with ethernet",
            LinkType::ETHERNET,
            ethernet(0x8847, &join(&[0, 0, 0x11, 9, 0, 0, 0, 0], &frame)),
            false,
        ),
        ("ip in ip", LinkType::RAW, in_v4(number, ip), true),
        ("ip in ipv6", LinkType::RAW, in_v6(number, ip), true),
        (
            "ip in ip in ip",
            LinkType::RAW,
            in_v6(4, &in_v4(number, ip)),
            true,
        ),
        ("gre", LinkType::RAW, in_v4(47, &typed(&[0, 0])), true),
        (
            "gre with key",
            LinkType::RAW,
            in_v4(
                47,
                &join(
                    &join(&[0x20, 0], &ether_type.to_be_bytes()),
                    &join(&[0, 0, 0, 9], ip),
                ),
            ),
            true,
        ),
        (
            "gre with ethernet",
            LinkType::RAW,
            in_v4(47, &join(&[0, 0, 0x65, 0x58], &frame)),
            true,
        ),
        (
            "gre in gre",
            LinkType::RAW,
            in_v4(47, &join(&[0, 0, 8, 0], &in_v4(47, &typed(&[0, 0])))),
            true,
        ),
        (
            "pptp",
            LinkType::RAW,
            in_v4(
                47,
                &join(
                    &[0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 9, 0, 0, 0, 1, 0, 0, 0, 2],
                    &ppp,
                ),
            ),
            true,
        ),
        (
            "erspan ii",
            LinkType::RAW,
            in_v4(
                47,
                &join(
                    &[0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0],
                    &frame,
                ),
            ),
            true,
        ),
        (
            "erspan iii",
            LinkType::RAW,
            in_v4(
                47,
                &join(
                    &[
                        0x10, 0, 0x22, 0xeb, 0, 0, 0, 1, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    ],
                    &frame,
                ),
            ),
            true,
        ),
        (
            "authentication",
            LinkType::RAW,
            in_v4(51, &join(&[number, 4], &join(&[0; 22], ip))),
            true,
        ),
        (
            "ethernet in ip",
            LinkType::RAW,
            in_v4(97, &join(&[0x30, 0], &frame)),
            true,
        ),
        ("mpls in ip", LinkType::RAW, in_v4(137, &mpls), true),
        (
            "vxlan",
            LinkType::RAW,
            in_udp(4789, &join(&[8, 0, 0, 0, 0, 0, 1, 0], &frame)),
            true,
        ),
        (
            "geneve",
            LinkType::RAW,
            in_udp(6081, &join(&[1, 0, 0x65, 0x58, 0, 0, 1, 0, 0, 1, 2, 3], &frame)),
            true,
        ),
        (
            "geneve with ip",
            LinkType::RAW,
            in_udp(
                6081,
                &join(
                    &join(&[0, 0], &ether_type.to_be_bytes()),
                    &join(&[0, 0, 1, 0], ip),
                ),
            ),
            true,
        ),
        (
            "gtp-u",
            LinkType::RAW,
            in_udp(2152, &join(&[0x30, 255, 1, 84, 0, 0, 0, 1], ip)),
            true,
        ),
        (
            "gtp-u with extension",
            LinkType::RAW,
            in_udp(
                2152,
                &join(&[0x34, 255, 1, 92, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 9, 0], ip),
            ),
            true,
        ),
    ]
}

#[test]
fn every_wrapping_gives_the_same_record() {
    for six in [false, true] {
        let ip = if six { v6(&tcp(), LEN) } else { v4(&tcp(), LEN) };
        let mut plain = segment("plain", LinkType::RAW, &ip);
        assert_eq!((plain.seq, plain.ack, plain.window), (1_000_000, 77, 4321));
        assert_eq!((plain.payload_len, plain.ip_len as usize), (LEN as u32, ip.len()));
        assert_eq!((plain.dscp.value(), plain.ecn, plain.ttl), (8, Ecn::Ect0, 64));
        assert_eq!((plain.ip_id, plain.marks), ((!six).then_some(4242), Marks::NONE));
        for (name, link_type, bytes, tunnelled) in wrappings(&ip, six) {
            let found = segment(name, link_type, &bytes);
            plain.wire_len = bytes.len() as u32;
            plain.marks = if tunnelled { Marks::TUNNELLED } else { Marks::NONE };
            assert_eq!(found, plain, "{name}, IPv6: {six}");
        }
    }
}

#[test]
fn a_cut_frame_gives_the_same_lengths_or_nothing() {
    for six in [false, true] {
        let ip = if six { v6(&tcp(), LEN) } else { v4(&tcp(), LEN) };
        for (name, link_type, bytes, _) in wrappings(&ip, six) {
            for kept in 0..bytes.len() {
                let mut frame = Frame::bare(link_type, &bytes[..kept]);
                frame.wire_len = bytes.len() as u32;
                // What is left is the segment with its true length, a shorter view of the tunnel, or nothing.
                if let Ok(Record::Tcp(packet)) = Decoder::new().decode(&frame) {
                    assert_eq!(
                        (packet.payload_len, packet.seq),
                        (LEN as u32, 1_000_000),
                        "{name}, {kept} bytes"
                    );
                    assert!(packet.marks.has(Marks::CUT), "{name}, {kept} bytes");
                    let header = bytes.len() - LEN;
                    assert_eq!(
                        packet.marks.has(Marks::OPTIONS_CUT),
                        kept < header,
                        "{name}, {kept} bytes"
                    );
                }
            }
        }
    }
}

#[test]
fn a_super_packet_takes_its_length_from_the_frame() {
    for six in [false, true] {
        let mut ip = if six {
            v6(&tcp(), 100_000)
        } else {
            v4(&tcp(), 100_000)
        };
        for (name, link_type, mut bytes, tunnelled) in wrappings(&ip, six) {
            // Those that state lengths of their own in 16 bits cannot carry it.
            if tunnelled || name.contains("ppp") || name == "nflog" {
                continue;
            }
            let found = segment(name, link_type, &bytes);
            assert_eq!(
                (found.payload_len, found.marks),
                (100_000, Marks::LENGTH_INFERRED),
                "{name}"
            );
            // Cut to 200 bytes, as captures usually are.
            let wire_len = bytes.len() as u32;
            bytes.truncate(200);
            let mut frame = Frame::bare(link_type, &bytes);
            frame.wire_len = wire_len;
            let Ok(Record::Tcp(found)) = Decoder::new().decode(&frame) else {
                panic!("{name}")
            };
            assert_eq!(found.payload_len, 100_000, "{name}, cut");
        }
        // A frame check sequence that the file speaks of is no data.
        ip.extend([1, 2, 3, 4]);
        let mut frame = Frame::bare(LinkType::RAW, &ip);
        frame.fcs_len = 4;
        let Ok(Record::Tcp(found)) = Decoder::new().decode(&frame) else {
            panic!("frame check sequence")
        };
        assert_eq!(found.payload_len, 100_000);
    }
}

#[test]
fn padding_is_no_data() {
    let mut acknowledgement = v4(
        &slowpath_packet::TcpHeader {
            options: TcpOptions::default(),
            ..tcp()
        },
        0,
    );
    let mut frame = ethernet(0x0800, &acknowledgement);
    frame.resize(60, 0);
    assert_eq!(segment("padded", LinkType::ETHERNET, &frame).payload_len, 0);
    // The same with a length of zero: a frame that may be padded is not taken for data.
    acknowledgement[2..4].fill(0);
    let mut frame = ethernet(0x0800, &acknowledgement);
    frame.resize(60, 0);
    assert_eq!(
        segment("padded, length 0", LinkType::ETHERNET, &frame).payload_len,
        0
    );
}

#[test]
fn what_is_no_tcp_keeps_its_flow() {
    let mut decoder = Decoder::new();
    let cases = [
        ("udp", in_udp(5201, &[0; 20]), Protocol::UDP, (50_000, 5201)),
        (
            "echo request",
            in_v4(1, &[8, 0, 0, 0, 0, 9, 0, 1]),
            Protocol::ICMP,
            (9, 0),
        ),
        (
            "echo reply",
            in_v4(1, &[0, 0, 0, 0, 0, 9, 0, 1]),
            Protocol::ICMP,
            (0, 9),
        ),
        (
            "a tunnel that cannot be read",
            in_v4(47, &[0, 0, 8, 0, 0x45]),
            Protocol(47),
            (0, 0),
        ),
    ];
    for (name, bytes, protocol, ports) in cases {
        let Ok(Record::Other(packet)) = decoder.decode(&Frame::bare(LinkType::RAW, &bytes)) else {
            panic!("{name}");
        };
        let key = decoder
            .conversations()
            .key(packet.conversation)
            .expect("interned");
        assert_eq!(
            (packet.protocol, packet.ip_len as usize),
            (protocol, bytes.len()),
            "{name}"
        );
        assert_eq!((key.src_port, key.dst_port), ports, "{name}");
    }
}

#[test]
fn an_icmp_error_names_the_conversation_it_is_about() {
    let mut decoder = Decoder::new();
    let data = v4(&tcp(), LEN);
    let Ok(Record::Tcp(first)) = decoder.decode(&Frame::bare(LinkType::RAW, &data)) else {
        panic!()
    };
    let error = in_v4(1, &join(&[3, 4, 0, 0, 0, 0, 5, 0x78], &data[..28]));
    let Ok(Record::Other(found)) = decoder.decode(&Frame::bare(LinkType::RAW, &error)) else {
        panic!()
    };
    let icmp = found.icmp.expect("an ICMP error");
    assert_eq!((icmp.kind, icmp.code, icmp.mtu), (3, 4, 1400));
    assert_eq!(icmp.quoted, Some((first.conversation, first.direction)));
}

#[test]
fn fragments_continue_the_segment() {
    let whole = v4(&tcp(), 2000);
    let (header, body) = whole.split_at(20);
    let fragment = |from: usize, to: usize| {
        let mut packet = join(header, &body[from..to]);
        let len = packet.len() as u16;
        packet[2..4].copy_from_slice(&len.to_be_bytes());
        let more = if to < body.len() { 0x2000 } else { 0 };
        packet[6..8].copy_from_slice(&(more + from as u16 / 8).to_be_bytes());
        packet
    };
    let end = body.len();
    // The TCP header is 32 bytes long; the last case cuts it in two.
    for cuts in [vec![0, 1000, end], vec![0, 40, 1480, end], vec![0, 24, 80, end]] {
        let mut decoder = Decoder::new();
        let mut next = 1_000_000;
        for pair in cuts.windows(2) {
            let record = decoder.decode(&Frame::bare(LinkType::RAW, &fragment(pair[0], pair[1])));
            match record {
                Ok(Record::Tcp(piece)) => {
                    assert_eq!(piece.seq, next, "{cuts:?}");
                    assert!(piece.marks.has(Marks::FRAGMENT));
                    assert_eq!(
                        piece.flags.has(slowpath_record::packets::TcpFlags::PSH),
                        pair[1] == end
                    );
                    next += piece.payload_len;
                }
                Ok(Record::Other(_)) => assert_eq!(pair[1], 24, "only a cut header is no segment"),
                Err(error) => panic!("{cuts:?}: {error}"),
            }
        }
        assert_eq!(next, 1_002_000, "{cuts:?}");
    }
    // Without the first fragment nothing is known but the addresses.
    let lost = Decoder::new().decode(&Frame::bare(LinkType::RAW, &fragment(1000, end)));
    assert!(matches!(lost, Ok(Record::Other(packet)) if packet.protocol == Protocol::TCP));
}

#[test]
fn short_lengths_of_pppoe_win_over_the_packet() {
    // A concentrator that counts Ethernet's padding into the IP length of an acknowledgement.
    let mut packet = v4(
        &slowpath_packet::TcpHeader {
            options: TcpOptions::default(),
            ..tcp()
        },
        6,
    );
    assert_eq!(packet.len(), 46);
    let pppoe = join(&[0x11, 0, 0, 9, 0, 42, 0, 0x21], &packet);
    assert_eq!(
        segment("pppoe", LinkType::ETHERNET, &ethernet(0x8864, &pppoe)).payload_len,
        0
    );
    // Where it does not, the packet is right.
    packet.truncate(40);
    packet[3] = 40;
    assert_eq!(segment("raw", LinkType::RAW, &packet).payload_len, 0);
}

#[test]
fn nesting_is_bounded() {
    let mut packet = v4(&tcp(), 10);
    for _ in 0..200 {
        packet = in_v4(4, &packet);
    }
    let Ok(Record::Other(found)) = decode(LinkType::RAW, &packet) else {
        panic!("deep nesting")
    };
    assert_eq!(found.protocol, Protocol(4));
    let tags = [0x81, 0, 0, 1].repeat(100);
    assert_eq!(
        decode(LinkType::ETHERNET, &ethernet(0x8100, &tags[2..])),
        Err(Undecoded::TooDeep)
    );
}

#[test]
fn what_is_not_ip_says_why() {
    let cases = [
        (
            LinkType::ETHERNET,
            ethernet(0x0806, &[0; 28]),
            Undecoded::NotIp { ether_type: 0x0806 },
        ),
        (LinkType::ETHERNET, vec![0; 13], Undecoded::Cut),
        (LinkType(4711), vec![0; 60], Undecoded::LinkType(LinkType(4711))),
        (
            LinkType::NULL,
            vec![7, 0, 0, 0, 0x45],
            Undecoded::NotIp { ether_type: 7 },
        ),
    ];
    for (link_type, bytes, expected) in cases {
        assert_eq!(decode(link_type, &bytes), Err(expected));
    }
    let error = decode(LinkType::RAW, &[0x45; 10]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "IPv4 header needs 20 bytes, found 10: the packet was cut off"
    );
}

#[test]
fn pseudo_header_of_the_support_module_is_right() {
    // The tests stand on packets whose checksums are right.
    for packet in [v4(&tcp(), 7), v6(&tcp(), 7)] {
        let ip = slowpath_packet::IpView::parse(&packet).unwrap();
        let sum = pseudo_sum(ip.source(), ip.destination(), 6, ip.payload().len() as u32);
        assert_eq!(sum.add_bytes(ip.payload()).finish(), 0);
    }
}

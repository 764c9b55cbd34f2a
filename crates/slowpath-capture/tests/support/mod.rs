//! Frames and captures made for tests.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slowpath_packet::ip::pseudo_sum;
use slowpath_packet::{Ipv4Header, Ipv6Header, Seq32, TcpFlags, TcpHeader, TcpOptions};

pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);
pub(crate) const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
pub(crate) const CLIENT_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);

/// A data segment's header.
pub(crate) fn tcp() -> TcpHeader {
    TcpHeader {
        source_port: 20,
        destination_port: 40_000,
        sequence: Seq32(1_000_000),
        acknowledgement: Seq32(77),
        flags: TcpFlags::ACK | TcpFlags::PSH,
        window: 4321,
        urgent: 0,
        options: TcpOptions {
            timestamps: Some((5, 6)),
            ..TcpOptions::default()
        },
    }
}

/// An IPv4 packet with a TCP segment of `len` payload bytes.
pub(crate) fn v4(header: &TcpHeader, len: usize) -> Vec<u8> {
    ip(false, header, len)
}

/// An IPv6 packet with a TCP segment of `len` payload bytes.
pub(crate) fn v6(header: &TcpHeader, len: usize) -> Vec<u8> {
    ip(true, header, len)
}

fn ip(six: bool, header: &TcpHeader, len: usize) -> Vec<u8> {
    let payload = vec![0x5a; len];
    let total = (header.len() + len) as u32;
    let mut packet = vec![0; if six { 40 } else { 20 }];
    let (source, destination): (IpAddr, IpAddr) = if six {
        let ip = Ipv6Header {
            traffic_class: 0x22,
            ..Ipv6Header::new(SERVER_V6, CLIENT_V6, 6, total)
        };
        ip.write(&mut packet);
        (SERVER_V6.into(), CLIENT_V6.into())
    } else {
        let ip = Ipv4Header {
            traffic_class: 0x22,
            identification: 4242,
            ..Ipv4Header::new(SERVER, CLIENT, 6, total)
        };
        ip.write(&mut packet);
        (SERVER.into(), CLIENT.into())
    };
    let start = packet.len();
    packet.resize(start + header.len(), 0);
    header.write(
        &mut packet[start..],
        pseudo_sum(source, destination, 6, total),
        &payload,
    );
    packet.extend(payload);
    packet
}

/// `inner` as the payload of an IPv4 packet of `protocol`.
pub(crate) fn in_v4(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 20];
    Ipv4Header::new(
        Ipv4Addr::new(10, 0, 0, 1),
        Ipv4Addr::new(10, 0, 0, 2),
        protocol,
        inner.len() as u32,
    )
    .write(&mut packet);
    packet.extend(inner);
    packet
}

/// `inner` as the payload of an IPv6 packet of `protocol`.
pub(crate) fn in_v6(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let mut packet = vec![0; 40];
    Ipv6Header::new(Ipv6Addr::LOCALHOST, SERVER_V6, protocol, inner.len() as u32).write(&mut packet);
    packet.extend(inner);
    packet
}

/// `inner` as the payload of a UDP datagram to `port`, without a checksum.
pub(crate) fn in_udp(port: u16, inner: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    for field in [50_000, port, inner.len() as u16 + 8, 0] {
        datagram.extend(field.to_be_bytes());
    }
    datagram.extend(inner);
    in_v4(17, &datagram)
}

/// `head` and `rest` one after another.
pub(crate) fn join(head: &[u8], rest: &[u8]) -> Vec<u8> {
    [head, rest].concat()
}

/// `inner` in an Ethernet frame of `ether_type`.
pub(crate) fn ethernet(ether_type: u16, inner: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    frame.extend(ether_type.to_be_bytes());
    frame.extend(inner);
    frame
}

/// A nanosecond pcap of `frames`, a microsecond apart.
pub(crate) fn pcap(link_type: u16, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for field in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, u32::from(link_type)] {
        file.extend(field.to_le_bytes());
    }
    for (index, frame) in frames.iter().enumerate() {
        let len = frame.len() as u32;
        for field in [1_700_000_000, index as u32 * 1000, len, len] {
            file.extend(field.to_le_bytes());
        }
        file.extend(frame);
    }
    file
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((u128::from(self.0) * limit as u128) >> 64) as usize
    }
}

//! Captures without addresses, ports, names and payload, for those who analyse them elsewhere.
//!
//! Addresses are replaced so that two that share a prefix of so many bits share one afterwards as well, and no more (the idea
//! of Crypto-PAn, RFC 6235 section 4.1.1.4; here as ipcrypt-pfx of draft-denis-ipcrypt). The same key gives the same
//! addresses in every file. A copy is written anew from what the decoder understands: what it does not read cannot be in it.
//!
//! | in a packet | in the copy |
//! |---|---|
//! | link layer, tags, tunnels | none: the innermost IP packet, as raw IP |
//! | addresses | replaced, prefixes kept |
//! | ports | replaced, unless they are kept |
//! | lengths, TTL, DSCP, ECN, IPv4 identification | as they are |
//! | sequence numbers, windows, flags, MSS, window scale, SACK, timestamps, accurate ECN | as they are |
//! | other options, fragments' payload, payload | left out |
//! | ICMP errors | type, code, MTU, addresses and ports of the quoted packet, replaced |
//! | names of interfaces and hosts, comments, the capturing machine | left out |
//! | time stamps, numbers of dropped packets | as they are |

use std::fmt;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use ipcrypt_rs::IpcryptPfx;
use slowpath_packet::{FlowKey, Ipv4Header, Ipv6Header, Protocol};
use slowpath_record::packets::{Conversations, Direction, IcmpError, Marks, OtherPacket, Record, TcpPacket};
use slowpath_units::Time;

use crate::decode::Decoder;
use crate::read::Reader;
use crate::write::{PacketInfo, PcapngWriter, SectionInfo, TapId, TapInfo, TapStatistics};

/// Replaces addresses and ports, always in the same way with the same key.
pub struct Anonymizer {
    cipher: IpcryptPfx,
    keeps_ports: bool,
}

impl Anonymizer {
    /// One with a key of its own, which nobody knows; `keep_ports` leaves ports as they are.
    pub fn random(keep_ports: bool) -> Self {
        Self {
            cipher: IpcryptPfx::new_random(),
            keeps_ports: keep_ports,
        }
    }

    /// One with this key.
    ///
    /// # Errors
    /// If both halves of the key are equal, which would undo it.
    pub fn with_key(key: [u8; 32], keep_ports: bool) -> Result<Self, WeakKey> {
        if key[..16] == key[16..] {
            return Err(WeakKey);
        }
        Ok(Self {
            cipher: IpcryptPfx::new(key),
            keeps_ports: keep_ports,
        })
    }

    /// The address that stands for `address`.
    pub fn address(&self, address: IpAddr) -> IpAddr {
        self.cipher.encrypt_ipaddr(address)
    }

    /// The port that stands for `port`; 0, which is none, stays.
    pub fn port(&self, port: u16) -> u16 {
        if self.keeps_ports || port == 0 {
            return port;
        }
        // The last bits of an address are a permutation of 16 bits. One that led to 0 goes on to where 0 leads.
        let step = |port: u16| {
            let address = Ipv6Addr::from_bits(PORTS | u128::from(port));
            match self.cipher.encrypt_ipaddr(IpAddr::V6(address)) {
                IpAddr::V6(address) => address.to_bits() as u16,
                IpAddr::V4(address) => address.to_bits() as u16,
            }
        };
        match step(port) {
            0 => step(0),
            other => other,
        }
    }

    /// The same flow between the addresses and ports that stand for its own.
    #[must_use]
    pub fn flow(&self, key: FlowKey) -> FlowKey {
        FlowKey {
            src: self.address(key.src),
            dst: self.address(key.dst),
            src_port: self.port(key.src_port),
            dst_port: self.port(key.dst_port),
            protocol: key.protocol,
        }
    }

    /// What stands for `address:port` as it is written.
    pub fn end(&self, end: &str) -> String {
        end.parse::<SocketAddr>().map_or_else(
            |_| HIDDEN.to_owned(),
            |end| SocketAddr::new(self.address(end.ip()), self.port(end.port())).to_string(),
        )
    }
}

impl fmt::Debug for Anonymizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Never the key.
        f.debug_struct("Anonymizer")
            .field("keeps_ports", &self.keeps_ports)
            .finish_non_exhaustive()
    }
}

/// Both halves of a key are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("both halves of the key are equal")]
pub struct WeakKey;

/// Writes anonymised pcapng files: packet for packet, with the same numbers.
pub struct Copy<'a, W: Write> {
    anonymizer: &'a Anonymizer,
    writer: PcapngWriter<W>,
    decoder: Decoder,
    flows: Flows,
    taps: Vec<TapId>,
    last: Time,
    packets: u64,
    dropped: Option<u64>,
}

impl<'a, W: Write> Copy<'a, W> {
    /// Starts a file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(anonymizer: &'a Anonymizer, out: W) -> io::Result<Self> {
        let section = SectionInfo {
            application: "slowpath".to_owned(),
            comment: "addresses replaced, prefixes kept; payload, names and link layer left out".to_owned(),
            ..SectionInfo::default()
        };
        Ok(Self {
            anonymizer,
            writer: PcapngWriter::new(out, &section)?,
            decoder: Decoder::new(),
            flows: Flows::default(),
            taps: Vec::new(),
            last: Time::ZERO,
            packets: 0,
            dropped: None,
        })
    }

    /// Adds what `reader` still has: a capture, or the next file of a recording.
    ///
    /// # Errors
    /// Those of the input and of the output.
    pub fn add(&mut self, reader: &mut Reader) -> io::Result<()> {
        let mut bytes = [0; LONGEST];
        while let Some(frame) = reader.next_frame()? {
            let decoded = self.decoder.decode(&frame);
            let at = frame.at.and_then(|at| u64::try_from(at).ok());
            self.last = at.map_or(self.last, Time::from_nanos);
            let (interface, wire_len, kept) = match &decoded {
                Ok(record) => {
                    self.flows.learn(self.decoder.conversations(), self.anonymizer);
                    let (wire_len, kept) = packet(record, &self.flows, &mut bytes);
                    (number(record), wire_len.unwrap_or(frame.wire_len), kept)
                }
                // Nothing of it, but its place.
                Err(_) => (0, frame.wire_len, 0),
            };
            while self.taps.len() <= usize::from(interface) {
                let name = format!("tap {}", self.taps.len());
                self.taps.push(self.writer.add_tap(&TapInfo::raw(name, ""))?);
            }
            let info = PacketInfo {
                // A length of 0 would stand for that of the bytes.
                wire_len: wire_len.max(1),
                dropped_before: frame.dropped_before(),
                ..PacketInfo::default()
            };
            let tap = self.taps[usize::from(interface)];
            self.writer.packet(tap, self.last, &bytes[..kept], &info)?;
            self.packets += 1;
        }
        let dropped = reader
            .interfaces()
            .iter()
            .filter_map(|interface| interface.dropped);
        self.dropped = self.dropped.max(dropped.reduce(u64::saturating_add));
        Ok(())
    }

    /// Ends the file; says how many packets are in it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<u64> {
        if let (Some(tap_drops), Some(tap)) = (self.dropped, self.taps.first()) {
            let counters = TapStatistics {
                end: self.last,
                received: self.packets,
                tap_drops,
                ..TapStatistics::default()
            };
            self.writer.statistics(*tap, &counters)?;
        }
        self.writer.finish()?;
        Ok(self.packets)
    }
}

impl<W: Write> fmt::Debug for Copy<'_, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Copy")
            .field("packets", &self.packets)
            .finish_non_exhaustive()
    }
}

/// What stands for the flows of a capture, by the number of their conversation.
#[derive(Default)]
struct Flows(Vec<FlowKey>);

impl Flows {
    /// Takes the conversations that are new.
    fn learn(&mut self, conversations: &Conversations, anonymizer: &Anonymizer) {
        for index in self.0.len()..conversations.len() {
            let id = slowpath_record::packets::ConversationId(index as u32);
            let Some(key) = conversations.key(id) else { return };
            self.0.push(anonymizer.flow(*key));
        }
    }

    fn key(&self, id: slowpath_record::packets::ConversationId, direction: Direction) -> Option<FlowKey> {
        let key = *self.0.get(id.0 as usize)?;
        Some(match direction {
            Direction::Forward => key,
            Direction::Backward => key.reversed(),
        })
    }
}

const fn number(record: &Record) -> u16 {
    match record {
        Record::Tcp(packet) => packet.interface,
        Record::Other(packet) => packet.interface,
    }
}

/// Writes a packet anew: its length on the wire where that has to be another, and how many bytes are kept.
fn packet(record: &Record, flows: &Flows, out: &mut [u8; LONGEST]) -> (Option<u32>, usize) {
    match record {
        Record::Tcp(packet) => flows
            .key(packet.conversation, packet.direction)
            .map_or((None, 0), |key| tcp(packet, &key, out)),
        Record::Other(packet) => (
            None,
            flows
                .key(packet.conversation, packet.direction)
                .map_or(0, |key| other(packet, &key, flows, out)),
        ),
    }
}

fn tcp(packet: &TcpPacket, key: &FlowKey, out: &mut [u8; LONGEST]) -> (Option<u32>, usize) {
    let class = packet.dscp.tos(packet.ecn);
    let ip_header = if key.src.is_ipv4() { 20 } else { 40 };
    // What stood between the addresses and the payload, options of IP among it, is made up for by padding.
    let room = packet.ip_len.saturating_sub(ip_header + packet.payload_len);
    let header = (room.clamp(20, 60) / 4 * 4) as usize;
    let upper = header as u32 + packet.payload_len;
    let at = ip(key, packet.ttl, class, packet.ip_id, upper, out);
    let tcp = &mut out[at..at + 60];
    tcp.fill(0);
    tcp[0..2].copy_from_slice(&key.src_port.to_be_bytes());
    tcp[2..4].copy_from_slice(&key.dst_port.to_be_bytes());
    tcp[4..8].copy_from_slice(&packet.seq.to_be_bytes());
    tcp[8..12].copy_from_slice(&packet.ack.to_be_bytes());
    tcp[12] = (header as u8 / 4) << 4 | (packet.flags.0 >> 8) as u8 & 1;
    tcp[13] = packet.flags.0 as u8;
    tcp[14..16].copy_from_slice(&packet.window.to_be_bytes());
    options(packet, &mut tcp[20..header]);
    let cut = packet.marks.has(Marks::OPTIONS_CUT);
    let kept = at + if cut { 20 } else { header };
    // A packet of the kernel that is longer than its header can say has the length of its frame.
    let long = u64::from(upper) + u64::from(ip_header) > 65_535;
    (long.then_some(upper + ip_header), kept)
}

/// Writes the options that an analysis reads.
fn options(packet: &TcpPacket, out: &mut [u8]) {
    // No operation.
    out.fill(1);
    let mut at = 0;
    let mut put = |kind: u8, data: &[u8]| {
        let end = at + 2 + data.len();
        if let Some(place) = out.get_mut(at..end) {
            place[0] = kind;
            place[1] = place.len() as u8;
            place[2..].copy_from_slice(data);
            at = end;
        }
    };
    if let Some(mss) = packet.syn.mss {
        put(2, &mss.to_be_bytes());
    }
    if let Some(shift) = packet.syn.window_scale {
        put(3, &[shift]);
    }
    if packet.syn.sack_permitted {
        put(4, &[]);
    }
    if let Some(times) = packet.timestamps {
        let mut data = [0; 8];
        data[..4].copy_from_slice(&times.value.to_be_bytes());
        data[4..].copy_from_slice(&times.echo.to_be_bytes());
        put(8, &data);
    }
    if !packet.sack.is_empty() {
        let mut data = [0; 32];
        let blocks = packet.sack.as_slice();
        for (place, (left, right)) in data.chunks_exact_mut(8).zip(blocks) {
            place[..4].copy_from_slice(&left.to_be_bytes());
            place[4..].copy_from_slice(&right.to_be_bytes());
        }
        put(5, &data[..blocks.len() * 8]);
    }
    if let Some(counters) = packet.accecn {
        let mut data = [0; 9];
        // Whichever order leaves nothing out that is there.
        let (kind, fields) = if counters.ect0.is_some() || counters.ect1.is_none() {
            (172, [counters.ect0, counters.ce, counters.ect1])
        } else {
            (174, [counters.ect1, counters.ce, counters.ect0])
        };
        let mut len = 0;
        for field in fields.into_iter().map_while(|field| field) {
            data[len..len + 3].copy_from_slice(&field.to_be_bytes()[1..]);
            len += 3;
        }
        put(kind, &data[..len]);
    }
}

/// Writes the header of an IP packet with `upper` bytes behind it; says how long the header is.
fn ip(key: &FlowKey, ttl: u8, class: u8, id: Option<u16>, upper: u32, out: &mut [u8]) -> usize {
    match (key.src, key.dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let mut header = Ipv4Header::new(src, dst, key.protocol.0, upper);
            header.ttl = ttl;
            header.traffic_class = class;
            header.identification = id.unwrap_or(0);
            header.write(out)
        }
        (src, dst) => {
            let six = |address| match address {
                IpAddr::V4(address) => Ipv4Addr::to_ipv6_mapped(&address),
                IpAddr::V6(address) => address,
            };
            let mut header = Ipv6Header::new(six(src), six(dst), key.protocol.0, upper);
            header.hop_limit = ttl;
            header.traffic_class = class;
            header.write(out)
        }
    }
}

fn other(packet: &OtherPacket, key: &FlowKey, flows: &Flows, out: &mut [u8; LONGEST]) -> usize {
    let class = packet.dscp.tos(packet.ecn);
    let ip_header = if key.src.is_ipv4() { 20 } else { 40 };
    let upper = packet.ip_len.saturating_sub(ip_header);
    let at = ip(key, packet.ttl, class, Some(0), upper, out);
    let rest = &mut out[at..];
    let own = match (packet.icmp, key.protocol) {
        (Some(error), _) => icmp(&error, flows, rest),
        (None, Protocol::UDP) => {
            rest[..2].copy_from_slice(&key.src_port.to_be_bytes());
            rest[2..4].copy_from_slice(&key.dst_port.to_be_bytes());
            rest[4..6].copy_from_slice(&(upper.min(65_535) as u16).to_be_bytes());
            rest[6..8].fill(0);
            8
        }
        _ => 0,
    };
    at + own.min(upper as usize)
}

/// Writes an ICMP error with what it quotes: addresses and ports alone.
fn icmp(error: &IcmpError, flows: &Flows, out: &mut [u8]) -> usize {
    out[..8].fill(0);
    out[0] = error.kind;
    out[1] = error.code;
    out[6..8].copy_from_slice(&error.mtu.to_be_bytes());
    let quoted = error.quoted.and_then(|(id, direction)| flows.key(id, direction));
    let Some(key) = quoted else { return 8 };
    let at = 8 + ip(&key, 64, 0, Some(0), 40, &mut out[8..]);
    out[at..at + 8].fill(0);
    out[at..at + 2].copy_from_slice(&key.src_port.to_be_bytes());
    out[at + 2..at + 4].copy_from_slice(&key.dst_port.to_be_bytes());
    at + 8
}

/// Longest packet that is written: IPv6, and TCP with all its options, or ICMP with another packet's header.
const LONGEST: usize = 160;

/// Stands for an end that is no address and port.
const HIDDEN: &str = "hidden";

/// The addresses whose last bits stand for ports: of the range for documentation, which nobody has.
const PORTS: u128 = 0x2001_0db8_0000_0000_736c_6f77_7000_0000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn anonymizer(keep_ports: bool) -> Anonymizer {
        let key = std::array::from_fn(|place| place as u8 * 7 + 3);
        Anonymizer::with_key(key, keep_ports).unwrap()
    }

    #[test]
    fn prefixes_are_kept_and_addresses_are_not() {
        let anonymizer = anonymizer(false);
        let shared = |a: u32, b: u32| (a ^ b).leading_zeros();
        let all: Vec<u32> = [
            0x0a00_0001,
            0x0a00_0002,
            0x0a00_0101,
            0x0a01_0001,
            0xc000_0201,
            0xc000_0202,
        ]
        .into();
        let new: Vec<u32> = all
            .iter()
            .map(|bits| match anonymizer.address(Ipv4Addr::from(*bits).into()) {
                IpAddr::V4(address) => address.to_bits(),
                IpAddr::V6(address) => panic!("{address}"),
            })
            .collect();
        for (one, first) in all.iter().zip(&new) {
            assert_ne!(one, first);
            for (other, second) in all.iter().zip(&new) {
                assert_eq!(shared(*one, *other), shared(*first, *second));
            }
        }
        let six = |text: &str| match anonymizer.address(text.parse().unwrap()) {
            IpAddr::V6(address) => address.to_bits(),
            IpAddr::V4(address) => panic!("{address}"),
        };
        let (one, other) = (six("2001:db8:1::1"), six("2001:db8:1::2"));
        assert_eq!((one ^ other).leading_zeros(), 126);
    }

    #[test]
    fn ports_are_exchanged_one_for_one() {
        let anonymizer = anonymizer(false);
        let ports: BTreeSet<u16> = (0..=u16::MAX).map(|port| anonymizer.port(port)).collect();
        assert_eq!(ports.len(), 1 << 16);
        assert_eq!(anonymizer.port(0), 0);
        let same = (1..=u16::MAX)
            .filter(|port| anonymizer.port(*port) == *port)
            .count();
        assert!(same < 100, "{same}");
        assert_eq!(super::tests::anonymizer(true).port(443), 443);
    }

    #[test]
    fn what_is_no_address_is_hidden_and_weak_keys_are_refused() {
        assert_eq!(anonymizer(true).end("host.example:80"), "hidden");
        assert!(anonymizer(true).end("10.0.0.1:80").ends_with(":80"));
        assert!(anonymizer(true).end("[2001:db8::1]:80").ends_with("]:80"));
        assert_eq!(Anonymizer::with_key([7; 32], true).unwrap_err(), WeakKey);
        assert!(!format!("{:?}", anonymizer(true)).contains("cipher"));
    }
}

//! From frames to packets: takes off link layer, tags and tunnels, and reads the innermost IP packet.
//!
//! * [`Decoder`]: one frame in, one [`Record`] out. Start here.
//! * [`PacketReader`]: a [`Reader`](crate::Reader) and a decoder together, with the summary of the capture.
//! * [`ReadAhead`]: the same on a thread of its own, ahead of the analysis.
//! * [`Undecoded`]: why a frame gave no record.
//!
//! Read are Ethernet, VLAN and stacked tags, Linux cooked captures, BSD loopback, raw IP, PPP, PPPoE, FDDI,
//! netfilter log, MPLS, GRE (with ERSPAN and PPTP), IP in IP of all four kinds, authentication headers, VXLAN,
//! Geneve and GTP-U. Lengths come from headers, never from the number of captured bytes; only where the IP
//! length is zero (the kernel's super-packets) it is the frame's length on the wire.

mod ahead;
mod fragments;
mod layer;
mod reader;
mod slice;
mod transport;
mod undecoded;

use std::collections::HashMap;

use slowpath_packet::ethernet::ether_type;
use slowpath_packet::{IpView, Protocol, TcpView, UdpView};
use slowpath_record::packets::{ConversationId, Conversations, Direction, Marks, Record, TcpPacket};

use crate::link::LinkType;
use crate::read::Frame;

pub use ahead::{Batch, ReadAhead};
use fragments::Fragments;
use layer::Next;
pub use reader::{Following, PacketReader};
use slice::Slice;
use transport::{Found, Place};
use undecoded::MAX_LAYERS;
pub use undecoded::Undecoded;

/// What stands where no record was written yet.
pub(crate) const NOTHING: Record = Record::Tcp(TcpPacket::new(ConversationId(0), Direction::Forward, 0, 0));

/// Turns frames into records and numbers the conversations.
///
/// One decoder serves one capture, as it remembers addresses and fragments.
#[derive(Debug, Default)]
pub struct Decoder {
    conversations: Conversations,
    fragments: Fragments,
    taps: Taps,
    last_at: i64,
}

impl Decoder {
    /// A decoder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes a frame.
    ///
    /// # Errors
    /// [`Undecoded`] if no IP packet was found in it.
    #[inline]
    pub fn decode(&mut self, frame: &Frame<'_>) -> Result<Record, Undecoded> {
        let mut record = NOTHING;
        self.decode_into(frame, &mut record)?;
        Ok(record)
    }

    /// Decodes a frame and writes what it is to `record`.
    #[inline]
    pub(crate) fn decode_into(&mut self, frame: &Frame<'_>, record: &mut Record) -> Result<(), Undecoded> {
        if let Some(headers) = usual_headers(frame) {
            let place = self.place(frame, 0);
            *record = Record::Tcp(transport::usual(headers, &place, &mut self.conversations));
            return Ok(());
        }
        if let Some((found, tcp)) = plain_segment(frame) {
            let place = self.place(frame, 0);
            found.segment(&tcp, &place, &mut self.conversations, record);
            return Ok(());
        }
        *record = self.decode_any(frame)?;
        Ok(())
    }

    /// Decodes a frame of any kind.
    #[inline(never)]
    fn decode_any(&mut self, frame: &Frame<'_>) -> Result<Record, Undecoded> {
        let whole = Slice {
            bytes: frame.bytes,
            wire: (frame.wire_len as usize)
                .max(frame.bytes.len())
                .saturating_sub(usize::from(frame.fcs_len)),
            limited: false,
        };
        let (next, slice, device) = layer::link(frame.link_type, whole)?;
        // Ethernet fills short frames up; only there a length of zero may stand beside padding.
        let padded = frame.link_type == LinkType::ETHERNET && frame.wire_len <= 64;
        let found = Search {
            padded,
            layers: 0,
            tunnelled: false,
        }
        .innermost(next, slice)?;
        let place = self.place(frame, device);
        Ok(self.record(&found, &place))
    }

    #[inline]
    fn place(&mut self, frame: &Frame<'_>, device: u32) -> Place {
        let mut marks = Marks::NONE;
        if frame.is_cut() {
            marks.set(Marks::CUT);
        }
        if frame.at.is_none() {
            marks.set(Marks::NO_TIME);
        }
        self.last_at = frame.at.unwrap_or(self.last_at);
        Place {
            at: self.last_at,
            number: frame.number,
            wire_len: frame.wire_len,
            interface: self.taps.number(frame.interface, device),
            marks,
        }
    }

    fn record(&mut self, found: &Found<'_>, place: &Place) -> Record {
        if found.ip.protocol() == Protocol::TCP.0 && found.ip.is_complete() {
            if let Some(fragment) = found.ip.fragment() {
                return self
                    .fragments
                    .record(found, fragment, place, &mut self.conversations);
            }
            if let Ok(tcp) = TcpView::parse(found.payload.bytes)
                && tcp.header_len() as u32 <= found.payload_len()
            {
                return Record::Tcp(found.whole_segment(&tcp, place, &mut self.conversations));
            }
        }
        Record::Other(found.other(place, &mut self.conversations))
    }

    /// Addresses and ports of the conversations seen so far.
    pub const fn conversations(&self) -> &Conversations {
        &self.conversations
    }

    /// Time of the last frame that had one, nanoseconds.
    pub(crate) const fn last_at(&self) -> i64 {
        self.last_at
    }

    /// What a record's interface number stands for: the index of the reader's interface, and the kernel's
    /// number of the device where the link type gives one (captures of "any").
    pub fn tap(&self, number: u16) -> Option<(u32, Option<u32>)> {
        let (interface, device) = *self.taps.list.get(usize::from(number))?;
        Some((interface, Some(device).filter(|&device| device != 0)))
    }
}

/// The headers of a frame that could not be more usual: a whole TCP segment in IPv4, on Ethernet or raw, with timestamps as
/// its only option or with none. All its fields stand at fixed places.
///
/// Gives nothing that [`Decoder::decode_any`] would not find too.
#[inline]
fn usual_headers<'a>(frame: &Frame<'a>) -> Option<&'a transport::Headers> {
    let at = match frame.link_type {
        LinkType::ETHERNET if matches!(frame.bytes, [_, _, _, _, _, _, _, _, _, _, _, _, 0x08, 0x00, ..]) => {
            14
        }
        LinkType::RAW => 0,
        _ => return None,
    };
    let headers = frame.bytes.get(at..)?.first_chunk()?;
    transport::are_usual(headers).then_some(headers)
}

/// The one kind of frame that nearly all are: a whole TCP segment in IP, on Ethernet or raw.
///
/// Gives nothing that [`Decoder::decode_any`] would not find too, only sooner: everything here is inlined.
#[inline]
fn plain_segment<'a>(frame: &Frame<'a>) -> Option<(Found<'a>, TcpView<'a>)> {
    let bytes = match frame.link_type {
        LinkType::ETHERNET => match frame.bytes {
            [_, _, _, _, _, _, _, _, _, _, _, _, 0x08, 0x00, rest @ ..]
            | [_, _, _, _, _, _, _, _, _, _, _, _, 0x86, 0xdd, rest @ ..] => rest,
            _ => return None,
        },
        LinkType::RAW => frame.bytes,
        _ => return None,
    };
    let ip = match bytes.first()? >> 4 {
        4 => IpView::parse_v4(bytes).ok()?,
        6 => IpView::parse_v6_plain(bytes)?,
        _ => return None,
    };
    let ip_len = ip.length()?;
    if ip.protocol() != Protocol::TCP.0 || ip.fragment().is_some() {
        return None;
    }
    let payload = Slice {
        bytes: ip.payload(),
        wire: ip_len as usize - ip.header_len(),
        limited: false,
    };
    let tcp = TcpView::parse(payload.bytes).ok()?;
    let found = Found {
        ip,
        ip_len,
        payload,
        inferred: false,
        tunnelled: false,
    };
    (tcp.header_len() as u32 <= found.payload_len()).then_some((found, tcp))
}

/// The way from a frame's first header to its innermost IP packet.
#[derive(Debug, Clone, Copy)]
struct Search {
    /// The frame may end in padding.
    padded: bool,
    /// Headers read so far.
    layers: usize,
    /// An IP header was among them.
    tunnelled: bool,
}

impl Search {
    /// Goes on to the innermost IP packet; where a tunnel's inside cannot be read, the outside counts.
    #[inline]
    fn innermost(mut self, mut next: Next, mut slice: Slice<'_>) -> Result<Found<'_>, Undecoded> {
        loop {
            if matches!(
                next,
                Next::Ip | Next::EtherType(ether_type::IPV4 | ether_type::IPV6)
            ) {
                return self.ip(slice);
            }
            (next, slice) = layer::step(next, slice)?;
            self.layers += 1;
            if self.layers > MAX_LAYERS {
                return Err(Undecoded::TooDeep);
            }
        }
    }

    #[inline]
    fn ip(self, slice: Slice<'_>) -> Result<Found<'_>, Undecoded> {
        let ip = IpView::parse(slice.bytes)?;
        let header_len = ip.header_len();
        let (ip_len, inferred) = match ip.length() {
            Some(length) if slice.limited => (length.min(slice.wire as u32), false),
            Some(length) => (length, false),
            None if self.padded => (header_len as u32 + header_at_least(&ip), true),
            None => (slice.wire as u32, true),
        };
        let payload_len = (ip_len as usize).saturating_sub(header_len);
        let payload = slice.tail(header_len).first(payload_len);
        let found = Found {
            ip,
            ip_len,
            payload,
            inferred,
            tunnelled: self.tunnelled,
        };
        if ip.protocol() == Protocol::TCP.0 {
            return Ok(found);
        }
        Ok(self.inside(&found).unwrap_or(found))
    }

    /// The IP packet inside another, if there is one that can be read.
    #[inline(never)]
    fn inside<'a>(mut self, found: &Found<'a>) -> Option<Found<'a>> {
        self.layers += 1;
        if self.layers > MAX_LAYERS || !found.ip.is_complete() {
            return None;
        }
        if found.ip.fragment().is_some_and(|fragment| fragment.offset != 0) {
            return None;
        }
        self.tunnelled = true;
        let payload = found.payload;
        match found.ip.protocol() {
            // IPv4 in IP (RFC 2003) and IPv6 in IP (RFC 4213, RFC 2473).
            4 | 41 => self.ip(payload).ok(),
            47 => self.innermost(Next::Gre, payload).ok(),
            // Authentication header in front of the payload (RFC 4302): length in 4-byte units, less two.
            51 => match payload.u8(0).ok()? {
                4 | 41 => self
                    .ip(payload.behind((usize::from(payload.u8(1).ok()?) + 2) * 4).ok()?)
                    .ok(),
                _ => None,
            },
            // Ethernet in IP (RFC 3378), MPLS in IP (RFC 4023).
            97 => self.innermost(Next::Ethernet, payload.behind(2).ok()?).ok(),
            137 => self.innermost(Next::Mpls, payload).ok(),
            17 => {
                let udp = UdpView::parse(payload.bytes).ok()?;
                let (next, rest) =
                    layer::udp_tunnel(udp.source_port(), udp.destination_port(), payload.behind(8).ok()?)?;
                self.innermost(next, rest).ok()
            }
            _ => None,
        }
    }
}

/// Bytes of the payload that are certainly there in a padded frame of unknown length: the TCP header.
fn header_at_least(ip: &IpView<'_>) -> u32 {
    match TcpView::parse(ip.payload()) {
        Ok(tcp) if ip.protocol() == Protocol::TCP.0 => tcp.header_len() as u32,
        _ => 0,
    }
}

/// Numbers for interfaces, told apart by the kernel's device number too.
#[derive(Debug, Default)]
struct Taps {
    list: Vec<(u32, u32)>,
    numbers: HashMap<(u32, u32), u16>,
    last: Option<((u32, u32), u16)>,
}

impl Taps {
    #[inline]
    fn number(&mut self, interface: u32, device: u32) -> u16 {
        let key = (interface, device);
        match self.last {
            Some((last, number)) if last == key => number,
            _ => self.other_number(key),
        }
    }

    #[cold]
    fn other_number(&mut self, key: (u32, u32)) -> u16 {
        // More taps than numbers: the last number stands for all the rest.
        let next = self.list.len().min(usize::from(u16::MAX)) as u16;
        let number = if next == u16::MAX {
            self.numbers.get(&key).copied().unwrap_or(next)
        } else {
            *self.numbers.entry(key).or_insert(next)
        };
        if usize::from(number) == self.list.len() {
            self.list.push(key);
        }
        self.last = Some((key, number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slowpath_packet::{Ipv4Header, Ipv6Header, TcpHeader, TcpOptions};
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn packet(six: bool) -> Vec<u8> {
        let tcp = TcpHeader {
            source_port: 1,
            destination_port: 2,
            sequence: slowpath_packet::Seq32(3),
            acknowledgement: slowpath_packet::Seq32(4),
            flags: slowpath_packet::TcpFlags::ACK,
            window: 5,
            urgent: 0,
            options: TcpOptions {
                timestamps: Some((6, 7)),
                ..TcpOptions::default()
            },
        };
        let mut bytes = vec![0; 120];
        let (v4, v6) = (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST);
        let at = if six {
            Ipv6Header::new(v6, v6, 6, 80).write(&mut bytes)
        } else {
            Ipv4Header::new(v4, v4, 6, 100).write(&mut bytes)
        };
        tcp.write_without_checksum(&mut bytes[at..]);
        bytes
    }

    /// The short ways may only find what the long way finds.
    #[test]
    fn the_short_ways_agree_with_the_long_one() {
        let (mut short, mut usual) = (0, 0);
        for six in [false, true] {
            let good = packet(six);
            // Every byte of the headers in turn takes every value.
            for at in 0..if six { 72 } else { 52 } {
                for value in 0..=255 {
                    let mut bytes = good.clone();
                    bytes[at] = value;
                    for kept in [bytes.len(), 60, 50] {
                        let mut frame = Frame::bare(LinkType::RAW, &bytes[..kept]);
                        frame.wire_len = bytes.len() as u32;
                        short += usize::from(plain_segment(&frame).is_some());
                        usual += usize::from(usual_headers(&frame).is_some());
                        let found = Decoder::new().decode(&frame);
                        assert_eq!(found, Decoder::new().decode_any(&frame), "byte {at} = {value}");
                    }
                }
            }
        }
        assert!(short > 30_000, "the short way was taken {short} times only");
        assert!(usual > 15_000, "the shortest way was taken {usual} times only");
    }
}

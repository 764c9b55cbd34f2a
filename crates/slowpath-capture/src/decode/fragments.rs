//! Fragments of TCP segments.
//!
//! A fragment becomes a segment of its own: the first one gives sequence numbers and options, later ones
//! continue where their offset says. So bytes are counted once and nothing has to be held back. Where the
//! fragment that holds the header is missing, a fragment is told as a packet without ports.

use std::net::IpAddr;

use slowpath_packet::{Fragment, TcpView};
use slowpath_record::packets::{Conversations, Marks, OtherPacket, Record, TcpFlags, TcpPacket};

use super::slice::Slice;
use super::transport::{Found, Place};

/// Segments whose fragments may still come.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    recent: Vec<Entry>,
    /// Where the next entry goes once all places are taken.
    oldest: usize,
}

/// What is known of one fragmented segment.
#[derive(Debug, Clone, Copy)]
struct Entry {
    source: IpAddr,
    destination: IpAddr,
    id: u32,
    /// The start of the segment, until the header is whole.
    head: [u8; HEADER],
    head_len: usize,
    /// The segment's first piece, once the header is whole, with all its control bits.
    first: Option<TcpPacket>,
    /// Length of the TCP header.
    data_at: u32,
}

impl Fragments {
    /// Turns a fragment into a record.
    pub(super) fn record(
        &mut self,
        found: &Found<'_>,
        fragment: Fragment,
        place: &Place,
        conversations: &mut Conversations,
    ) -> Record {
        let index = match self.find(found, fragment) {
            Some(index) => index,
            None if fragment.offset == 0 => self.remember(found, fragment),
            None => return Record::Other(found.other(place, conversations)),
        };
        let entry = &mut self.recent[index];
        if fragment.offset == 0 {
            entry.first = None;
            entry.head_len = 0;
        }
        match &entry.first {
            None => match entry.begin(found, fragment, place, conversations) {
                Ok(packet) => Record::Tcp(packet),
                Err(other) => Record::Other(other),
            },
            Some(first) => Record::Tcp(entry.continued(first, found, fragment, place)),
        }
    }

    fn find(&self, found: &Found<'_>, fragment: Fragment) -> Option<usize> {
        self.recent.iter().position(|entry| {
            entry.id == fragment.id
                && entry.source == found.ip.source()
                && entry.destination == found.ip.destination()
        })
    }

    /// Makes room for another segment, in the place of the oldest if need be.
    fn remember(&mut self, found: &Found<'_>, fragment: Fragment) -> usize {
        let entry = Entry {
            source: found.ip.source(),
            destination: found.ip.destination(),
            id: fragment.id,
            head: [0; HEADER],
            head_len: 0,
            first: None,
            data_at: 0,
        };
        if self.recent.len() < REMEMBERED {
            self.recent.push(entry);
            return self.recent.len() - 1;
        }
        let index = self.oldest;
        self.oldest = (index + 1) % REMEMBERED;
        self.recent[index] = entry;
        index
    }
}

impl Entry {
    /// Adds to the header; gives the first piece once the header is whole.
    fn begin(
        &mut self,
        found: &Found<'_>,
        fragment: Fragment,
        place: &Place,
        conversations: &mut Conversations,
    ) -> Result<TcpPacket, OtherPacket> {
        let before = self.head_len;
        let fits = fragment.offset as usize == before;
        let bytes = found.payload.bytes;
        if fits {
            let take = bytes.len().min(HEADER - before);
            self.head[before..before + take].copy_from_slice(&bytes[..take]);
            self.head_len += take;
        }
        let head = &self.head[..self.head_len];
        let (true, Ok(tcp)) = (fits, TcpView::parse(head)) else {
            return Err(found.other(place, conversations));
        };
        let all = before as u32 + found.payload_len();
        if tcp.options_cut() && fragment.more && all < tcp.header_len() as u32 {
            return Err(found.other(place, conversations));
        }
        let whole = Found {
            ip_len: found.ip_len + before as u32,
            payload: Slice {
                bytes: head,
                wire: all as usize,
                limited: false,
            },
            ..*found
        };
        let mut packet = whole.whole_segment(&tcp, place, conversations);
        packet.marks.set(Marks::FRAGMENT);
        packet.ip_len = found.ip_len;
        self.data_at = tcp.header_len() as u32;
        self.first = Some(packet);
        packet.flags = piece_flags(packet.flags, fragment);
        Ok(packet)
    }

    /// The segment that a later fragment stands for.
    fn continued(
        &self,
        first: &TcpPacket,
        found: &Found<'_>,
        fragment: Fragment,
        place: &Place,
    ) -> TcpPacket {
        let syn = u32::from(first.flags.has(TcpFlags::SYN));
        TcpPacket {
            at: place.at,
            number: place.number,
            seq: first
                .seq
                .wrapping_add(syn)
                .wrapping_add(fragment.offset.saturating_sub(self.data_at)),
            payload_len: found.payload_len(),
            ip_len: found.ip_len,
            wire_len: place.wire_len,
            interface: place.interface,
            flags: piece_flags(TcpFlags(first.flags.0 & !TcpFlags::SYN.0), fragment),
            ttl: found.ip.hop_limit(),
            dscp: found.ip.dscp(),
            ecn: found.ip.ecn(),
            ..*first
        }
    }
}

/// Control bits of a piece: FIN and PSH belong to the last one.
const fn piece_flags(flags: TcpFlags, fragment: Fragment) -> TcpFlags {
    if fragment.more {
        TcpFlags(flags.0 & !(TcpFlags::FIN.0 | TcpFlags::PSH.0))
    } else {
        flags
    }
}

/// Segments remembered at the same time.
const REMEMBERED: usize = 64;

/// Longest TCP header in bytes.
const HEADER: usize = 60;

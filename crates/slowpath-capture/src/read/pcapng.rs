//! The pcapng format: sections, interfaces, and packet blocks of all three kinds.
//!
//! Layout: draft-ietf-opsawg-pcapng. Blocks that carry no packets, interfaces or counters are skipped
//! without being held in memory, whatever length they claim.

use std::io;

use super::bytes::Order;
use super::damage::{Damage, MAX_INTERFACES, MAX_PACKET};
use super::frame::{Clock, Interface, Options, Scale};
use super::step::{Raw, Stop};
use super::window::Window;
use crate::block::{self, option};
use crate::link::LinkType;

/// A pcapng capture, read block by block.
#[derive(Debug)]
pub(super) struct PcapNg {
    order: Order,
    /// Index of the current section's first interface.
    first_interface: usize,
    /// Bytes left of a block that is being skipped.
    to_skip: u64,
}

/// The header of a block.
#[derive(Clone, Copy)]
struct Header {
    kind: u32,
    /// Total length in bytes.
    len: u32,
    /// Where it begins.
    offset: u64,
}

impl Header {
    const fn bad_length(self) -> Damage {
        Damage::BlockLength {
            offset: self.offset,
            kind: self.kind,
            claimed: self.len,
        }
    }
}

impl PcapNg {
    /// Recognises the first block.
    pub(super) fn detect(first: [u8; 4]) -> Option<Self> {
        (u32::from_le_bytes(first) == block::SECTION_HEADER).then_some(Self {
            order: Order::Little,
            first_interface: 0,
            to_skip: 0,
        })
    }

    /// Looks at the first section header, so that a file that is none of ours is refused at once.
    pub(super) fn open(&mut self, window: &mut Window) -> io::Result<Result<(), Damage>> {
        let cut = |window: &Window, needed: u64| Damage::Cut {
            offset: 0,
            part: "section header",
            needed,
            found: window.bytes().len() as u64,
        };
        if !window.ensure(12)? {
            return Ok(Err(cut(window, 28)));
        }
        if let Err(damage) = self.set_order(window) {
            return Ok(Err(damage));
        }
        let header = Header {
            kind: block::SECTION_HEADER,
            len: self.order.u32(&window.bytes()[4..]),
            offset: 0,
        };
        if header.len < 28 || !header.len.is_multiple_of(4) || header.len > MAX_BLOCK {
            return Ok(Err(header.bad_length()));
        }
        let len = header.len as usize;
        if !window.ensure(len)? {
            return Ok(Err(cut(window, u64::from(header.len))));
        }
        Ok(self.section(header, &window.bytes()[8..len - 4]))
    }

    /// Reads on to the next packet.
    #[inline]
    pub(super) fn step(&mut self, window: &mut Window, interfaces: &mut Vec<Interface>) -> Result<Raw, Stop> {
        loop {
            if self.to_skip > 0 {
                self.skip(window)?;
            }
            if !window.ensure(8)? {
                return Err(Stop::end(window, "block header", 8));
            }
            let kind = self.order.u32(window.bytes());
            if kind == block::SECTION_HEADER {
                if !window.ensure(12)? {
                    return Err(Stop::end(window, "block header", 12));
                }
                self.set_order(window)?;
            }
            let header = Header {
                kind,
                len: self.order.u32(&window.bytes()[4..]),
                offset: window.offset(),
            };
            if header.len < 12 || !header.len.is_multiple_of(4) {
                return Err(header.bad_length().into());
            }
            if !matches!(
                kind,
                block::SECTION_HEADER | block::INTERFACE..=block::SIMPLE_PACKET
            ) && !matches!(kind, block::INTERFACE_STATISTICS | block::ENHANCED_PACKET)
            {
                self.to_skip = u64::from(header.len);
                continue;
            }
            if header.len > MAX_BLOCK {
                return Err(header.bad_length().into());
            }
            if !window.ensure(header.len as usize)? {
                return Err(Stop::end(window, "block", u64::from(header.len)));
            }
            if let Some(raw) = self.block(header, window, interfaces)? {
                return Ok(raw);
            }
        }
    }

    /// Goes on with a block that is passed over.
    #[cold]
    fn skip(&mut self, window: &mut Window) -> Result<(), Stop> {
        let skipping = self.to_skip;
        self.to_skip = window.skip(skipping)?;
        if self.to_skip == 0 {
            return Ok(());
        }
        let (needed, found) = (skipping, skipping - self.to_skip);
        let offset = window.offset() - found;
        Err(Damage::Cut {
            offset,
            part: "block",
            needed,
            found,
        }
        .into())
    }

    /// Takes the byte order of a section from its magic.
    fn set_order(&mut self, window: &Window) -> Result<(), Damage> {
        for order in [Order::Little, Order::Big] {
            if order.u32(&window.bytes()[8..]) == block::BYTE_ORDER_MAGIC {
                self.order = order;
                return Ok(());
            }
        }
        let found = Order::Big.u32(&window.bytes()[8..]);
        Err(Damage::ByteOrder {
            offset: window.offset(),
            found,
        })
    }

    /// Reads a block that is whole in memory and consumes it.
    #[inline]
    fn block(
        &mut self,
        header: Header,
        window: &mut Window,
        interfaces: &mut Vec<Interface>,
    ) -> Result<Option<Raw>, Stop> {
        let len = header.len as usize;
        let block = &window.bytes()[..len];
        let after = self.order.u32(&block[len - 4..]);
        if after != header.len {
            return Err(Damage::BlockEnd {
                offset: header.offset,
                before: header.len,
                after,
            }
            .into());
        }
        let body = &block[8..len - 4];
        let place = match header.kind {
            block::ENHANCED_PACKET => Some(self.enhanced(header, body, interfaces)?),
            block::SIMPLE_PACKET => Some(self.simple(header, body, interfaces)?),
            block::PACKET => Some(self.obsolete(header, body, interfaces)?),
            block::SECTION_HEADER => {
                self.section(header, body)?;
                self.first_interface = interfaces.len();
                None
            }
            block::INTERFACE => {
                if interfaces.len() >= MAX_INTERFACES {
                    return Err(Damage::TooManyInterfaces {
                        offset: header.offset,
                    }
                    .into());
                }
                interfaces.push(self.interface(header, body)?);
                None
            }
            _ => {
                self.statistics(body, interfaces);
                None
            }
        };
        let taken = window.consume(len);
        Ok(place.map(|place| Raw {
            taken,
            bytes: (8 + place.start, 8 + place.end),
            options: (8 + place.end.next_multiple_of(4), len - 4),
            order: self.order,
            at: place.at,
            wire_len: place.wire_len,
            interface: place.interface as u32,
        }))
    }

    fn section(&self, header: Header, body: &[u8]) -> Result<(), Damage> {
        if body.len() < 16 {
            return Err(header.bad_length());
        }
        let (major, minor) = (self.order.u16(&body[4..]), self.order.u16(&body[6..]));
        if major != 1 || !matches!(minor, 0 | 2) {
            return Err(Damage::SectionVersion {
                offset: header.offset,
                major,
                minor,
            });
        }
        self.options(header, &body[16..])
            .try_for_each(|option| option.map(drop))
    }

    fn interface(&self, header: Header, body: &[u8]) -> Result<Interface, Damage> {
        if body.len() < 8 {
            return Err(header.bad_length());
        }
        let mut interface = Interface {
            link_type: LinkType(self.order.u16(body)),
            snap_len: self.order.u32(&body[4..]),
            name: String::new(),
            description: String::new(),
            resolution_ns: 0,
            received: None,
            dropped: None,
            fcs_len: 0,
            clock: Clock {
                scale: Scale::from_option(6),
                offset_ns: 0,
            },
        };
        let text = |value: &[u8]| String::from_utf8_lossy(&value[..value.len().min(MAX_TEXT)]).into_owned();
        for found in self.options(header, &body[8..]) {
            match found? {
                (option::IF_NAME, value) => interface.name = text(value),
                (option::IF_DESCRIPTION, value) => interface.description = text(value),
                (option::IF_TSRESOL, &[value, ..]) => interface.clock.scale = Scale::from_option(value),
                (option::IF_FCSLEN, &[value, ..]) => interface.fcs_len = value,
                (option::IF_TSOFFSET, value) if value.len() >= 8 => {
                    let seconds = self.order.u64(value).cast_signed();
                    interface.clock.offset_ns = seconds.saturating_mul(1_000_000_000);
                }
                _ => {}
            }
        }
        interface.resolution_ns = interface.clock.scale.resolution_ns();
        Ok(interface)
    }

    /// Counters; statistics of an unknown interface or with broken options are passed over.
    fn statistics(&self, body: &[u8], interfaces: &mut [Interface]) {
        let Some(interface) = body
            .get(..12)
            .and_then(|body| interfaces.get_mut(self.first_interface + self.order.u32(body) as usize))
        else {
            return;
        };
        let options = Options::new(self.order, &body[12..]).iter();
        let mut dropped = None;
        for (code, value) in options.map_while(Result::ok) {
            // All ones is how some programs write "not known".
            let value = value.get(..8).map(|value| self.order.u64(value));
            let Some(value) = value.filter(|&value| value != u64::MAX) else {
                continue;
            };
            match code {
                option::ISB_IF_RECV => interface.received = Some(value),
                option::ISB_IF_DROP | option::ISB_OS_DROP => {
                    dropped = Some(dropped.unwrap_or(0_u64).saturating_add(value));
                }
                _ => {}
            }
        }
        interface.dropped = dropped.or(interface.dropped);
    }

    #[inline]
    fn enhanced(&self, header: Header, body: &[u8], interfaces: &[Interface]) -> Result<Place, Damage> {
        if body.len() < STAMPED {
            return Err(header.bad_length());
        }
        self.stamped(header, body, self.order.u32(body), interfaces)
    }

    fn obsolete(&self, header: Header, body: &[u8], interfaces: &[Interface]) -> Result<Place, Damage> {
        if body.len() < STAMPED {
            return Err(header.bad_length());
        }
        self.stamped(header, body, u32::from(self.order.u16(body)), interfaces)
    }

    /// A block whose fields after the first four bytes are those of an enhanced packet block; `body` holds them all.
    fn stamped(
        &self,
        header: Header,
        body: &[u8],
        interface: u32,
        interfaces: &[Interface],
    ) -> Result<Place, Damage> {
        let (index, interface) = self.described(header, interface, interfaces)?;
        let stamp = Stamp {
            high: self.order.u32(&body[4..]),
            low: self.order.u32(&body[8..]),
        };
        let lengths = Lengths {
            captured: self.order.u32(&body[12..]),
            wire: self.order.u32(&body[16..]),
        };
        Place::new(header, body, STAMPED, index, Some(stamp.on(interface)), lengths)
    }

    fn simple(&self, header: Header, body: &[u8], interfaces: &[Interface]) -> Result<Place, Damage> {
        if body.len() < 4 {
            return Err(header.bad_length());
        }
        let (index, interface) = self.described(header, 0, interfaces)?;
        let wire = self.order.u32(body);
        let kept = if interface.snap_len == 0 {
            wire
        } else {
            wire.min(interface.snap_len)
        };
        let captured = kept.min(body.len() as u32 - 4);
        Place::new(header, body, 4, index, None, Lengths { captured, wire })
    }

    /// Interface `number` of the current section, and its index in the whole capture.
    #[inline]
    fn described<'i>(
        &self,
        header: Header,
        number: u32,
        interfaces: &'i [Interface],
    ) -> Result<(usize, &'i Interface), Damage> {
        let index = self.first_interface + number as usize;
        match interfaces.get(index) {
            Some(interface) => Ok((index, interface)),
            None => Err(Damage::UnknownInterface {
                offset: header.offset,
                interface: number,
                known: interfaces.len() - self.first_interface,
            }),
        }
    }

    fn options<'a>(
        &self,
        header: Header,
        bytes: &'a [u8],
    ) -> impl Iterator<Item = Result<(u16, &'a [u8]), Damage>> {
        let offset = header.offset;
        Options::new(self.order, bytes).iter().map(move |option| {
            option.map_err(|overrun| Damage::OptionLength {
                offset,
                claimed: overrun.claimed,
                found: overrun.found,
            })
        })
    }
}

/// Where a packet stands in the body of its block.
struct Place {
    start: usize,
    end: usize,
    interface: usize,
    at: Option<i64>,
    wire_len: u32,
}

impl Place {
    #[inline]
    fn new(
        header: Header,
        body: &[u8],
        start: usize,
        interface: usize,
        at: Option<i64>,
        lengths: Lengths,
    ) -> Result<Self, Damage> {
        if lengths.captured > MAX_PACKET {
            return Err(Damage::PacketLength {
                offset: header.offset,
                claimed: lengths.captured,
            });
        }
        let end = start + lengths.captured as usize;
        if end > body.len() {
            return Err(header.bad_length());
        }
        Ok(Self {
            start,
            end,
            interface,
            at,
            wire_len: lengths.wire,
        })
    }
}

/// Captured and original length of a packet.
#[derive(Clone, Copy)]
struct Lengths {
    captured: u32,
    wire: u32,
}

/// A time stamp as its block holds it.
struct Stamp {
    high: u32,
    low: u32,
}

impl Stamp {
    #[inline]
    fn on(&self, interface: &Interface) -> i64 {
        interface
            .clock
            .nanos(u64::from(self.high) << 32 | u64::from(self.low))
    }
}

/// Longest block that is held in memory: the largest packet and as much again for its options.
const MAX_BLOCK: u32 = 2 * MAX_PACKET;

/// Bytes of fields before the data in an enhanced packet block, and in the obsolete packet block.
const STAMPED: usize = 20;

/// Longest name or description that is kept.
const MAX_TEXT: usize = 256;

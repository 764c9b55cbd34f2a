//! The classic pcap format: microseconds or nanoseconds, either byte order, and the "modified" variant.
//!
//! Layout: draft-ietf-opsawg-pcap. The modified variant (magic a1b2cd34) has record headers of 24 bytes.

use super::bytes::Order;
use super::damage::{Damage, MAX_PACKET, OpenError};
use super::frame::{Clock, Interface, Scale};
use super::step::{Raw, Stop};
use super::window::Window;
use crate::link::LinkType;

/// A classic capture behind its file header.
#[derive(Debug)]
pub(super) struct Pcap {
    order: Order,
    /// Nanoseconds of the unit that counts fractions of a second.
    unit_ns: u32,
    record_header: usize,
    swapped: Swapped,
}

/// Whether captured and original length stand in each other's place.
#[derive(Debug, Clone, Copy)]
enum Swapped {
    Never,
    /// Versions before 2.3.
    Always,
    /// Version 2.3: some programs swapped them, some did not. The captured length cannot be the larger one.
    WhereLarger,
}

impl Pcap {
    /// Recognises the magic number.
    pub(super) fn detect(first: [u8; 4]) -> Option<Self> {
        for order in [Order::Little, Order::Big] {
            let (unit_ns, record_header) = match order.u32(&first) {
                0xa1b2_c3d4 => (1_000, 16),
                0xa1b2_3c4d => (1, 16),
                0xa1b2_cd34 => (1_000, 24),
                _ => continue,
            };
            return Some(Self {
                order,
                unit_ns,
                record_header,
                swapped: Swapped::Never,
            });
        }
        None
    }

    /// Reads the file header.
    pub(super) fn open(mut self, window: &mut Window) -> Result<(Self, Interface), OpenError> {
        if !window.ensure(FILE_HEADER)? {
            return Err(OpenError::Short {
                found: window.bytes().len(),
            });
        }
        let header = window.bytes();
        let (major, minor) = (self.order.u16(&header[4..]), self.order.u16(&header[6..]));
        let (snap_len, link) = (self.order.u32(&header[16..]), self.order.u32(&header[20..]));
        self.swapped = match (major, minor) {
            (2, 3) => Swapped::WhereLarger,
            (2, 0..3) | (543, 0) => Swapped::Always,
            (2, _) => Swapped::Never,
            _ => return Err(OpenError::Version { major, minor }),
        };
        if link & 0x03ff_0000 != 0 {
            return Err(OpenError::LinkType { found: link });
        }
        // The upper bits say how many 16-bit units of frame check sequence each frame ends in.
        let fcs_len = if link & 0x0400_0000 != 0 {
            (link >> 28) as u8 * 2
        } else {
            0
        };
        let scale = Scale::Multiply(u64::from(self.unit_ns));
        window.consume(FILE_HEADER);
        let interface = Interface {
            link_type: LinkType(link as u16),
            snap_len,
            name: String::new(),
            description: String::new(),
            resolution_ns: u64::from(self.unit_ns),
            received: None,
            dropped: None,
            fcs_len,
            clock: Clock { scale, offset_ns: 0 },
        };
        Ok((self, interface))
    }

    /// Reads the next record.
    #[inline]
    pub(super) fn step(&mut self, window: &mut Window) -> Result<Raw, Stop> {
        let head = self.record_header;
        if !window.ensure(head)? {
            return Err(Stop::end(window, "record header", head as u64));
        }
        let header = window.bytes();
        let (seconds, fraction) = (self.order.u32(header), self.order.u32(&header[4..]));
        let (mut captured, mut wire_len) = (self.order.u32(&header[8..]), self.order.u32(&header[12..]));
        match self.swapped {
            Swapped::Never => {}
            Swapped::WhereLarger if captured <= wire_len => {}
            _ => std::mem::swap(&mut captured, &mut wire_len),
        }
        if captured > MAX_PACKET {
            return Err(Damage::PacketLength {
                offset: window.offset(),
                claimed: captured,
            }
            .into());
        }
        let total = head + captured as usize;
        if !window.ensure(total)? {
            return Err(Stop::end(window, "record", total as u64));
        }
        let at = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * i64::from(self.unit_ns);
        Ok(Raw {
            taken: window.consume(total),
            bytes: (head, total),
            options: (0, 0),
            order: self.order,
            at: Some(at),
            wire_len,
            interface: 0,
        })
    }
}

/// Length of the file header in bytes.
const FILE_HEADER: usize = 24;

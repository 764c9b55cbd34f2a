//! What a reader hands out: frames, and the interfaces they came from.

use crate::block::option;
use crate::link::LinkType;
use crate::write::TapDirection;

use super::bytes::Order;

/// One captured frame; its bytes are valid until the next one is read.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Number in the capture, from 1.
    pub number: u64,
    /// Capture time in nanoseconds since 1970-01-01 UTC; nothing where the file gives none.
    pub at: Option<i64>,
    /// Bytes on the wire as the file states them.
    pub wire_len: u32,
    /// Index of the interface in [`super::Reader::interfaces`].
    pub interface: u32,
    /// What the bytes start with.
    pub link_type: LinkType,
    /// Bytes of the frame check sequence at the end of the frame on the wire.
    pub fcs_len: u8,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    pub(super) options: Options<'a>,
}

impl Frame<'_> {
    /// A frame outside any file, for example one that was just made.
    pub const fn bare(link_type: LinkType, bytes: &[u8]) -> Frame<'_> {
        Frame {
            number: 1,
            at: Some(0),
            wire_len: bytes.len() as u32,
            interface: 0,
            link_type,
            fcs_len: 0,
            bytes,
            options: Options::NONE,
        }
    }

    /// Says whether fewer bytes were captured than were on the wire.
    pub const fn is_cut(&self) -> bool {
        (self.bytes.len() as u64) < self.wire_len as u64
    }

    /// The comment, for example a packet's fate.
    pub fn comment(&self) -> Option<&str> {
        let (_, text) = self.options.find(option::COMMENT)?;
        std::str::from_utf8(text).ok()
    }

    /// Which way the frame passed the interface.
    pub fn direction(&self) -> TapDirection {
        let flags = self.options.find(option::EPB_FLAGS);
        match flags
            .and_then(|(order, value)| Some(order.u32(value.get(..4)?)))
            .map(|flags| flags & 3)
        {
            Some(1) => TapDirection::Inbound,
            Some(2) => TapDirection::Outbound,
            _ => TapDirection::Unknown,
        }
    }

    /// Frames that the interface lost since the one before.
    pub fn dropped_before(&self) -> u64 {
        let count = self.options.find(option::EPB_DROP_COUNT);
        count
            .and_then(|(order, value)| Some(order.u64(value.get(..8)?)))
            .unwrap_or(0)
    }

    /// The number that the same packet has at every interface, where the file gives one.
    pub fn packet_id(&self) -> Option<u64> {
        let (order, value) = self.options.find(option::EPB_PACKET_ID)?;
        Some(order.u64(value.get(..8)?))
    }
}

/// The options of a pcapng block, looked through only when asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options<'a> {
    order: Order,
    bytes: &'a [u8],
}

impl<'a> Options<'a> {
    pub(super) const NONE: Options<'static> = Options {
        order: Order::Little,
        bytes: &[],
    };

    /// The options in `bytes`.
    #[inline]
    pub(super) const fn new(order: Order, bytes: &'a [u8]) -> Self {
        Self { order, bytes }
    }

    /// The options one by one.
    pub(super) const fn iter(self) -> OptionIter<'a> {
        OptionIter(self)
    }

    /// The first option `code`.
    fn find(self, code: u16) -> Option<(Order, &'a [u8])> {
        let (_, value) = self
            .iter()
            .map_while(Result::ok)
            .find(|(found, _)| *found == code)?;
        Some((self.order, value))
    }
}

/// Goes through options; a broken one ends the list.
#[derive(Debug)]
pub(super) struct OptionIter<'a>(Options<'a>);

/// An option that is longer than what is left of its block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Overrun {
    pub(super) claimed: u16,
    pub(super) found: usize,
}

impl<'a> Iterator for OptionIter<'a> {
    type Item = Result<(u16, &'a [u8]), Overrun>;

    fn next(&mut self) -> Option<Self::Item> {
        let Options { order, bytes } = self.0;
        let (code, claimed) = (order.u16(bytes.get(..4)?), order.u16(&bytes[2..]));
        let (rest, len) = (&bytes[4..], usize::from(claimed));
        self.0.bytes = &[];
        if code == 0 {
            return None;
        }
        let Some(value) = rest.get(..len) else {
            let found = rest.len();
            return Some(Err(Overrun { claimed, found }));
        };
        self.0.bytes = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some(Ok((code, value)))
    }
}

/// Where frames were captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// What its frames start with.
    pub link_type: LinkType,
    /// Bytes kept of a frame at most; 0 if there is no limit.
    pub snap_len: u32,
    /// Its name, or empty.
    pub name: String,
    /// Its description, or empty.
    pub description: String,
    /// Unit of its time stamps in nanoseconds, at least 1.
    pub resolution_ns: u64,
    /// Frames it received, by its last statistics.
    pub received: Option<u64>,
    /// Frames lost by the interface or the capturing machine, by its last statistics.
    pub dropped: Option<u64>,
    pub(super) fcs_len: u8,
    pub(super) clock: Clock,
}

/// How ticks of an interface become nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) scale: Scale,
    pub(super) offset_ns: i64,
}

/// Nanoseconds of a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// A tick is this many nanoseconds.
    Multiply(u64),
    /// This many ticks make a nanosecond.
    Divide(u64),
    /// Two to this power ticks make a second.
    Binary(u8),
}

impl Scale {
    /// From the option `if_tsresol`.
    pub(super) const fn from_option(value: u8) -> Self {
        let exponent = value & 0x7f;
        if value & 0x80 != 0 {
            Self::Binary(exponent)
        } else if exponent <= 9 {
            Self::Multiply(10_u64.pow(9 - exponent as u32))
        } else {
            // A unit below 10^-28 s: even the largest count is a point in 1970.
            Self::Divide(match 10_u64.checked_pow(exponent as u32 - 9) {
                Some(divisor) => divisor,
                None => u64::MAX,
            })
        }
    }

    /// Unit in nanoseconds, at least 1.
    pub(super) const fn resolution_ns(self) -> u64 {
        match self {
            Self::Multiply(factor) => factor,
            Self::Divide(_) | Self::Binary(30..) => 1,
            Self::Binary(exponent) => 1_000_000_000 >> exponent,
        }
    }
}

impl Clock {
    /// Nanoseconds since 1970, kept within the range that an `i64` holds (to the year 2262).
    ///
    /// A count with its highest bit set is a point before 1970 that some program wrote as a signed number: no
    /// unit reaches such a count in earnest.
    #[inline]
    pub(super) fn nanos(self, ticks: u64) -> i64 {
        let ticks = ticks.cast_signed();
        let nanos = match self.scale {
            Scale::Multiply(factor) => ticks.saturating_mul(factor.cast_signed()),
            Scale::Divide(divisor) => i64::try_from(divisor).map_or(0, |divisor| ticks / divisor),
            Scale::Binary(exponent) => {
                let nanos = (i128::from(ticks) * 1_000_000_000) >> exponent;
                i64::try_from(nanos).unwrap_or(i64::MAX)
            }
        };
        nanos.saturating_add(self.offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_resolution_gives_nanoseconds() {
        let cases: [(u8, u64, i64, u64); 9] = [
            (6, 1_700_000_000_000_001, 1_700_000_000_000_001_000, 1_000),
            (9, 5, 5, 1),
            (0, 7, 7_000_000_000, 1_000_000_000),
            (2, 3, 30_000_000, 10_000_000),
            (12, 5_999, 5, 1),
            (127, u64::MAX >> 1, 0, 1),
            (0x8a, 1536, 1_500_000_000, 976_562),
            (0xff, u64::MAX >> 1, 0, 1),
            (6, u64::MAX - 4, -5_000, 1_000),
        ];
        for (option, ticks, expected, resolution) in cases {
            let scale = Scale::from_option(option);
            let clock = Clock { scale, offset_ns: 0 };
            assert_eq!(
                (clock.nanos(ticks), scale.resolution_ns()),
                (expected, resolution),
                "{option}"
            );
        }
        let far = Clock {
            scale: Scale::from_option(0),
            offset_ns: i64::MIN,
        };
        assert_eq!(far.nanos(u64::MAX >> 1), -1);
    }

    #[test]
    fn a_broken_option_ends_the_list() {
        let bytes = [1, 0, 3, 0, b'a', b'b', b'c', 0, 2, 0, 9, 0, 1, 2];
        let mut options = Options::new(Order::Little, &bytes).iter();
        assert!(matches!(options.next(), Some(Ok((1, b"abc")))));
        assert!(matches!(
            options.next(),
            Some(Err(Overrun { claimed: 9, found: 2 }))
        ));
        assert!(options.next().is_none());
    }
}

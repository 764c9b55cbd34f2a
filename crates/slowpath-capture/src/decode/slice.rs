//! The rest of a frame: what was captured of it, and how long it was on the wire.

use super::undecoded::Undecoded;

/// Bytes of a frame behind the headers read so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice<'a> {
    /// The bytes that were captured.
    pub(super) bytes: &'a [u8],
    /// How many there were on the wire.
    pub(super) wire: usize,
    /// A header below said how many there are: what an IP header says beyond that is wrong.
    pub(super) limited: bool,
}

impl Slice<'_> {
    /// Leaves out a header of `len` bytes.
    #[inline]
    pub(super) fn behind(self, len: usize) -> Result<Self, Undecoded> {
        match self.bytes.get(len..) {
            Some(bytes) => Ok(Self {
                bytes,
                wire: self.wire.saturating_sub(len),
                ..self
            }),
            None => Err(Undecoded::Cut),
        }
    }

    /// Leaves out a header of `len` bytes; nothing is left if it was cut.
    #[inline]
    pub(super) fn tail(self, len: usize) -> Self {
        let bytes = self.bytes.get(len..).unwrap_or_default();
        Self {
            bytes,
            wire: self.wire.saturating_sub(len),
            limited: false,
        }
    }

    /// Leaves out what stands behind the first `len` bytes.
    #[inline]
    pub(super) fn first(self, len: usize) -> Self {
        let wire = self.wire.min(len);
        Self {
            bytes: &self.bytes[..self.bytes.len().min(wire)],
            wire,
            ..self
        }
    }

    /// The byte at `at`.
    #[inline]
    pub(super) fn u8(self, at: usize) -> Result<u8, Undecoded> {
        self.bytes.get(at).copied().ok_or(Undecoded::Cut)
    }

    /// The big-endian number at `at`.
    #[inline]
    pub(super) fn u16(self, at: usize) -> Result<u16, Undecoded> {
        match self.bytes.get(at..at + 2) {
            Some(bytes) => Ok(u16::from_be_bytes([bytes[0], bytes[1]])),
            None => Err(Undecoded::Cut),
        }
    }

    /// The big-endian number at `at`.
    #[inline]
    pub(super) fn u32(self, at: usize) -> Result<u32, Undecoded> {
        match self.bytes.get(at..at + 4) {
            Some(bytes) => Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
            None => Err(Undecoded::Cut),
        }
    }
}

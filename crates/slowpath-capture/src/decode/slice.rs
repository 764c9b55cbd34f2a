//! The rest of a frame: what was captured of it, and how long it was on the wire.

use super::Undecoded;

/// Bytes of a frame behind the headers read so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slice<'a> {
    /// The bytes that were captured.
    pub(super) bytes: &'a [u8],
    /// How many there were on the wire.
    pub(super) wire: usize,
}

impl Slice<'_> {
    /// Leaves out a header of `len` bytes.
    #[inline]
    pub(super) fn behind(self, len: usize) -> Result<Self, Undecoded> {
        match self.bytes.get(len..) {
            Some(bytes) => Ok(Self {
                bytes,
                wire: self.wire.saturating_sub(len),
            }),
            None => Err(Undecoded::Cut),
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

//! A reused buffer over a [`Read`]: the only place where bytes of a capture are held.
//!
//! Files are read, not mapped: copying into a buffer that stays in the processor's cache costs half of what bringing in
//! the pages of a mapping does, and whatever happens to the file meanwhile is an error and no signal.

use std::io::{self, Read};

/// The part of a stream that is in memory.
pub(super) struct Window {
    input: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the stream of the byte at `start`.
    offset: u64,
}

impl Window {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self {
            input,
            buffer: vec![0; CAPACITY],
            start: 0,
            end: 0,
            offset: 0,
        }
    }

    /// Replaces the input by what `wrap` makes of it; the bytes that are in memory come first.
    pub(super) fn rewire(self, wrap: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>) -> Self {
        let seen = self.buffer[self.start..self.end].to_vec();
        Self::new(wrap(Box::new(io::Cursor::new(seen).chain(self.input))))
    }

    /// The bytes in memory that were not consumed.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Offset in the stream of the first byte of [`Self::bytes`].
    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until `needed` bytes are in memory; false if the stream ends before.
    ///
    /// Memory grows only as bytes arrive: a length that a file claims reserves nothing.
    #[inline]
    pub(super) fn ensure(&mut self, needed: usize) -> io::Result<bool> {
        if self.end - self.start >= needed {
            Ok(true)
        } else {
            self.fill(needed)
        }
    }

    #[cold]
    #[inline(never)]
    fn fill(&mut self, needed: usize) -> io::Result<bool> {
        if self.end == self.buffer.len() && self.end < LARGE {
            // The stream filled all of it: a short one never pays for more.
            self.buffer.resize(2 * self.end, 0);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < needed {
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(count) => self.end += count.min(self.buffer.len() - self.end),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Gives up the first `count` bytes, which must be in memory, and returns where they are.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) -> Taken {
        let at = self.start;
        self.start += count;
        self.offset += count as u64;
        Taken { start: at }
    }

    /// Bytes that were consumed last: `from..to` counted from their start.
    #[inline]
    pub(super) fn taken(&self, taken: Taken, from: usize, to: usize) -> &[u8] {
        &self.buffer[taken.start + from..taken.start + to]
    }

    /// Gives up `count` bytes, in memory or not; returns how many the stream did not have.
    pub(super) fn skip(&mut self, mut count: u64) -> io::Result<u64> {
        while count > 0 {
            if self.start == self.end && !self.ensure(1)? {
                break;
            }
            let step = count.min((self.end - self.start) as u64);
            self.consume(step as usize);
            count -= step;
        }
        Ok(count)
    }
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Window")
            .field("offset", &self.offset)
            .field("in_memory", &(self.end - self.start))
            .finish_non_exhaustive()
    }
}

/// Where consumed bytes are, until the window reads on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taken {
    start: usize,
}

/// Bytes read at once at first: enough that system calls do not count, few enough that a small file touches little memory.
const CAPACITY: usize = 256 * 1024;

/// Bytes read at once of a long stream: no larger, so that they stay in a processor's cache.
const LARGE: usize = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_skips_and_keeps_count() {
        let data: Vec<u8> = (0..4_000_000_u32).map(|index| index as u8).collect();
        let mut window = Window::new(Box::new(io::Cursor::new(data)));
        assert!(window.ensure(10).unwrap());
        window.consume(10);
        assert!(window.ensure(2 * CAPACITY).unwrap());
        assert_eq!((window.offset(), window.bytes()[0]), (10, 10));
        assert_eq!(window.skip(3_900_000).unwrap(), 0);
        assert_eq!(
            (window.offset(), window.bytes()[0]),
            (3_900_010, 3_900_010_u32 as u8)
        );
        assert!(!window.ensure(100_000).unwrap());
        assert_eq!(window.skip(100_000).unwrap(), 10);
        assert_eq!(window.offset(), 4_000_000);
        assert_eq!(window.buffer.len(), LARGE);
    }

    #[test]
    fn what_was_seen_comes_first_behind_another_input() {
        let input = io::Cursor::new([1; 6]).chain(io::Cursor::new(vec![7; 10_000]));
        let mut window = Window::new(Box::new(input));
        assert!(window.ensure(6).unwrap());
        let mut window = window.rewire(|input| Box::new(input.take(9_000)));
        assert!(window.ensure(9_000).unwrap());
        assert_eq!(window.bytes()[..7], [1, 1, 1, 1, 1, 1, 7]);
        assert!(!window.ensure(9_001).unwrap());
        assert_eq!((window.offset(), window.bytes().len()), (0, 9_000));
        assert_eq!(window.buffer.len(), CAPACITY);
    }
}

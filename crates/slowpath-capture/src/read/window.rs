//! A reused buffer over a [`Read`], or a file in place: the only place where bytes of a capture are held.

use std::io::{self, Read};

use super::in_place::InPlace;

/// The part of a stream that is in memory.
pub(super) struct Window {
    input: Input,
    /// Bytes read of a stream.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Offset in the stream of the byte at `start`.
    offset: u64,
    /// Offsets behind the parts consumed last, in a ring.
    recent: [u64; AHEAD],
    newest: usize,
}

enum Input {
    Stream(Box<dyn Read + Send>),
    InPlace(Box<dyn InPlace>),
    /// Between the two.
    None,
}

impl Window {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
        Self {
            input: Input::Stream(input),
            buffer: vec![0; CAPACITY],
            start: 0,
            end: 0,
            offset: 0,
            recent: [0; AHEAD],
            newest: 0,
        }
    }

    /// A window on a file that is read without copying.
    pub(super) fn in_place(input: Box<dyn InPlace>) -> Self {
        Self {
            input: Input::InPlace(input),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            recent: [0; AHEAD],
            newest: 0,
        }
    }

    /// Replaces the input by what `wrap` makes of it; the bytes that are in memory come first.
    ///
    /// # Errors
    /// Those of the input.
    pub(super) fn rewire(
        mut self,
        wrap: impl FnOnce(Box<dyn Read + Send>) -> Box<dyn Read + Send>,
    ) -> io::Result<Self> {
        self.stream()?;
        let seen = self.buffer[self.start..self.end].to_vec();
        Ok(match self.input {
            Input::Stream(input) => Self::new(wrap(Box::new(io::Cursor::new(seen).chain(input)))),
            Input::InPlace(_) | Input::None => self,
        })
    }

    /// Reads a file that was in place as a stream from here on.
    fn stream(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.input, Input::None) {
            Input::InPlace(input) => {
                self.input = Input::Stream(input.into_read(self.offset)?);
                self.buffer = vec![0; CAPACITY];
                (self.start, self.end) = (0, 0);
            }
            input => self.input = input,
        }
        Ok(())
    }

    /// All bytes in memory.
    #[inline]
    fn held(&self) -> &[u8] {
        match &self.input {
            Input::InPlace(input) => input.bytes(),
            Input::Stream(_) | Input::None => &self.buffer,
        }
    }

    /// The bytes in memory that were not consumed.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.held()[self.start..self.end]
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
        if let Input::InPlace(input) = &mut self.input {
            match input.advance(self.offset, needed) {
                Ok(()) => {
                    (self.start, self.end) = (0, input.bytes().len());
                    return Ok(self.end >= needed);
                }
                Err(_) => self.stream()?,
            }
        }
        let Input::Stream(input) = &mut self.input else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < needed {
            if self.end == self.buffer.len() {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
            match input.read(&mut self.buffer[self.end..]) {
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
        if let Input::InPlace(input) = &self.input {
            // Records come in a rhythm, such as two segments and an acknowledgement: what follows the next ones is as
            // far away as what came before the last ones.
            self.newest = (self.newest + 1) % AHEAD;
            let before = std::mem::replace(&mut self.recent[self.newest], self.offset);
            input.soon(self.start + (self.offset - before) as usize);
        }
        Taken { start: at }
    }

    /// Bytes that were consumed last: `from..to` counted from their start.
    #[inline]
    pub(super) fn taken(&self, taken: Taken, from: usize, to: usize) -> &[u8] {
        &self.held()[taken.start + from..taken.start + to]
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

/// Bytes read at once: enough that system calls do not count, small enough to stay in a processor's cache.
const CAPACITY: usize = 256 * 1024;

/// Records by which a file in place is fetched ahead: a multiple of the usual rhythms, far enough for slow memory.
const AHEAD: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_skips_and_keeps_count() {
        let data: Vec<u8> = (0..1_000_000_u32).map(|index| index as u8).collect();
        let mut window = Window::new(Box::new(io::Cursor::new(data)));
        assert!(window.ensure(10).unwrap());
        window.consume(10);
        assert!(window.ensure(500_000).unwrap());
        assert_eq!((window.offset(), window.bytes()[0]), (10, 10));
        assert_eq!(window.skip(900_000).unwrap(), 0);
        assert_eq!((window.offset(), window.bytes()[0]), (900_010, 900_010_u32 as u8));
        assert!(!window.ensure(100_000).unwrap());
        assert_eq!(window.skip(100_000).unwrap(), 10);
        assert_eq!(window.offset(), 1_000_000);
    }

    /// Pieces of `piece` bytes, as long as the offset is below `until`.
    struct Pieces {
        data: Vec<u8>,
        piece: usize,
        until: u64,
        at: (usize, usize),
    }

    impl InPlace for Pieces {
        fn advance(&mut self, offset: u64, needed: usize) -> io::Result<()> {
            if offset >= self.until {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let from = (offset as usize).min(self.data.len());
            self.at = (from, (from + needed.max(self.piece)).min(self.data.len()));
            Ok(())
        }

        fn bytes(&self) -> &[u8] {
            &self.data[self.at.0..self.at.1]
        }

        fn into_read(self: Box<Self>, offset: u64) -> io::Result<Box<dyn Read + Send>> {
            let mut data = io::Cursor::new(self.data);
            data.set_position(offset);
            Ok(Box::new(data))
        }
    }

    #[test]
    fn a_file_in_place_reads_like_a_stream_whenever_that_ends() {
        let data: Vec<u8> = (0..100_000_u32).map(|index| (index / 3) as u8).collect();
        for until in [0, 1, 1000, 50_001, u64::MAX] {
            let mut window = Window::in_place(Box::new(Pieces {
                data: data.clone(),
                piece: 4096,
                until,
                at: (0, 0),
            }));
            let mut at = 0;
            while window.ensure(16).unwrap() {
                let needed = 16 + at % 5_000;
                if !window.ensure(needed).unwrap() {
                    break;
                }
                assert_eq!(window.bytes()[..needed], data[at..at + needed]);
                let taken = window.consume(needed);
                assert_eq!(window.taken(taken, 3, needed), &data[at + 3..at + needed]);
                at += needed;
                assert_eq!(window.offset(), at as u64);
            }
            assert_eq!(window.bytes(), &data[at..]);
            let left = window.bytes().len() as u64;
            assert_eq!(window.skip(left + 7).unwrap(), 7);
        }
    }

    #[test]
    fn a_compressed_file_in_place_becomes_a_stream() {
        let pieces = Pieces {
            data: vec![7; 10_000],
            piece: 100,
            until: u64::MAX,
            at: (0, 0),
        };
        let mut window = Window::in_place(Box::new(pieces));
        assert!(window.ensure(6).unwrap());
        let mut window = window.rewire(|input| Box::new(input.take(9_000))).unwrap();
        assert!(window.ensure(9_000).unwrap());
        assert!(!window.ensure(9_001).unwrap());
        assert_eq!((window.offset(), window.bytes().len()), (0, 9_000));
    }
}

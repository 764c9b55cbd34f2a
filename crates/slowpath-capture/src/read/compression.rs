//! Compressed captures, told by their first bytes and never by their names.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How the bytes of a capture are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// gzip (RFC 1952), one member or several.
    Gzip,
    /// Zstandard (RFC 8878).
    Zstd,
    /// LZ4 frames.
    Lz4,
    /// xz.
    Xz,
}

impl Compression {
    /// Tells it from the first bytes, of which six decide.
    pub(super) fn detect(first: &[u8]) -> Option<Self> {
        match *first {
            [0x1f, 0x8b, 8, ..] => Some(Self::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Self::Zstd),
            [0x04, 0x22, 0x4d, 0x18, ..] => Some(Self::Lz4),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Self::Xz),
            _ => None,
        }
    }

    /// A reader of what `input` decompresses to, guarded against bombs.
    pub(super) fn decoder(self, input: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        let consumed = Arc::new(AtomicU64::new(0));
        let input = Counted {
            input,
            consumed: Arc::clone(&consumed),
        };
        let input = io::BufReader::with_capacity(64 * 1024, input);
        let output: Box<dyn Read + Send> = match self {
            Self::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(input)),
            Self::Zstd => Box::new(Zstd::new(input)),
            Self::Lz4 => Box::new(Lz4(lz4_flex::frame::FrameDecoder::new(input))),
            Self::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB)),
        };
        Box::new(Guarded {
            output: Some(output),
            consumed,
            produced: 0,
        })
    }
}

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Xz => "xz",
        })
    }
}

/// Counts the bytes that pass.
struct Counted<R> {
    input: R,
    consumed: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.consumed.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Stands between a decompressor and the reader: ends a stream that grows beyond all measure (no capture of
/// packets compresses like that), and never asks a decompressor again that has failed.
struct Guarded {
    output: Option<Box<dyn Read + Send>>,
    consumed: Arc<AtomicU64>,
    produced: u64,
}

impl Guarded {
    fn read_unguarded(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(output) = &mut self.output else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // A decompressor that panics on a damaged stream has found damage, no more; it is not asked again.
        let count = catch_unwind(AssertUnwindSafe(|| output.read(buffer)))
            .unwrap_or_else(|_| Err(invalid("the decompressor gave up on a damaged stream".to_owned())))?;
        self.produced += count as u64;
        let consumed = self.consumed.load(Ordering::Relaxed).max(1);
        if self.produced > BOMB_FLOOR && self.produced / consumed > BOMB_RATIO {
            return Err(invalid(format!(
                "{consumed} bytes grew to {} and more: refused as a decompression bomb",
                self.produced
            )));
        }
        Ok(count)
    }
}

impl Read for Guarded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.read_unguarded(buffer);
        if result.is_err() {
            self.output = None;
        }
        result
    }
}

/// Zstandard frames one after another, as parallel compressors write them.
///
/// The decoder keeps a window of up to 8 MiB back until a frame ends; where the input breaks off in the middle
/// of a frame, an empty last block is put in its place, so that the window comes out before the error.
struct Zstd<R> {
    input: R,
    decoder: FrameDecoder,
    /// What broke, told once everything decoded was handed out.
    broken: Option<io::Error>,
}

impl<R: BufRead> Zstd<R> {
    fn new(input: R) -> Self {
        Self {
            input,
            decoder: FrameDecoder::new(),
            broken: None,
        }
    }

    /// Starts the next frame; false at the end of the input.
    fn next_frame(&mut self) -> io::Result<bool> {
        while !self.input.fill_buf()?.is_empty() {
            match self.decoder.reset(&mut self.input) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    let skipped = io::copy(&mut self.input.by_ref().take(length), &mut io::sink())?;
                    if skipped < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(error) => return Err(invalid(error.to_string())),
            }
        }
        Ok(false)
    }

    /// Decodes one block, or ends a frame that is broken.
    fn next_block(&mut self) {
        let strategy = BlockDecodingStrategy::UptoBlocks(1);
        if let Err(error) = self.decoder.decode_blocks(&mut self.input, strategy) {
            self.broken = Some(invalid(error.to_string()));
            // An empty raw block marked as the last, and four bytes in the place of a checksum.
            let end = [1, 0, 0, 0, 0, 0, 0];
            if self
                .decoder
                .decode_blocks(&end[..], BlockDecodingStrategy::All)
                .is_err()
            {
                self.decoder = FrameDecoder::new();
            }
        }
    }

    /// Compares the checksum at the end of a frame, where there is one.
    fn check(&self) -> io::Result<()> {
        match (
            self.decoder.get_checksum_from_data(),
            self.decoder.get_calculated_checksum(),
        ) {
            (Some(stated), Some(found)) if stated != found => Err(invalid(format!(
                "frame checksum {found:08x} instead of {stated:08x}"
            ))),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if let Some(error) = self.broken.take() {
                return Err(error);
            }
            if self.decoder.is_finished() {
                self.check()?;
                if !self.next_frame()? {
                    return Ok(0);
                }
            }
            self.next_block();
        }
    }
}

/// LZ4 frames one after another.
struct Lz4<R: Read>(lz4_flex::frame::FrameDecoder<R>);

impl<R: BufRead> Read for Lz4<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            // Zero is the end of a frame; the next call starts another if there is one.
            match self.0.read(buffer)? {
                0 if !buffer.is_empty() && !self.0.get_mut().fill_buf()?.is_empty() => {}
                count => return Ok(count),
            }
        }
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Below this many bytes a stream is no bomb, whatever it grew from.
const BOMB_FLOOR: u64 = 1 << 30;

/// Growth that no capture of packets reaches.
const BOMB_RATIO: u64 = 1000;

/// Memory that an xz block may ask for; `xz -9` needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Endless zeros.
    struct Zeros;

    impl Read for Zeros {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(0);
            Ok(buffer.len())
        }
    }

    #[test]
    fn a_decompressor_that_panics_is_damage() {
        struct Panics;
        impl Read for Panics {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                std::panic::resume_unwind(Box::new("a bug in a decompressor"))
            }
        }
        let consumed = Arc::new(AtomicU64::new(0));
        let mut guarded = Guarded {
            output: Some(Box::new(Panics)),
            consumed,
            produced: 0,
        };
        let error = guarded.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(guarded.output.is_none());
    }

    #[test]
    fn a_bomb_ends_after_its_floor() {
        let consumed = Arc::new(AtomicU64::new(1000));
        let mut guarded = Guarded {
            output: Some(Box::new(Zeros)),
            consumed,
            produced: 0,
        };
        let mut buffer = vec![0; 1 << 20];
        let error = loop {
            if let Err(error) = guarded.read(&mut buffer) {
                break error;
            }
        };
        assert!(error.to_string().contains("decompression bomb"), "{error}");
        assert!(guarded.produced <= BOMB_FLOOR + buffer.len() as u64);
        assert!(guarded.output.is_none() && guarded.read(&mut buffer).is_err());
    }
}

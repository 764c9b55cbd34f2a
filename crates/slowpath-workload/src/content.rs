//! Test data: bytes that look random, cost little, and can be checked at any offset.

use std::io::{self, Write};
use std::path::Path;

use slowpath_units::ByteCount;

/// A stream of bytes that depends on nothing but its seed.
///
/// Eight bytes at a time from the SplitMix64 finaliser over a counter, so any offset is reached at once and
/// compressors (OpenSSH's `Compression`, a WAN optimiser) find nothing. Not for secrets, and not the source of
/// any model's randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    seed: u64,
}

impl Content {
    /// The stream of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Writes the bytes at `offset` of the stream into `buffer`.
    pub fn fill(self, offset: u64, buffer: &mut [u8]) {
        let mut word = offset / 8;
        let skip = (offset % 8) as usize;
        let mut rest = buffer;
        if skip != 0 {
            let head = rest.len().min(8 - skip);
            let (now, later) = rest.split_at_mut(head);
            now.copy_from_slice(&self.word(word).to_le_bytes()[skip..skip + head]);
            rest = later;
            word += 1;
        }
        let mut chunks = rest.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.word(word).to_le_bytes());
            word += 1;
        }
        let tail = chunks.into_remainder();
        let last = self.word(word).to_le_bytes();
        tail.copy_from_slice(&last[..tail.len()]);
    }

    /// The first position in `bytes`, which were received at `offset`, that differs from the stream.
    pub fn first_difference(self, offset: u64, bytes: &[u8]) -> Option<u64> {
        let mut expected = [0_u8; 4096];
        let mut at = offset;
        for chunk in bytes.chunks(expected.len()) {
            let expected = &mut expected[..chunk.len()];
            self.fill(at, expected);
            if expected != chunk {
                let within = chunk.iter().zip(expected).position(|(got, want)| *got != *want)?;
                return Some(at + within as u64);
            }
            at += chunk.len() as u64;
        }
        None
    }

    const fn word(self, index: u64) -> u64 {
        let mut z = self
            .seed
            .wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Writes a test file of `size` bytes of the stream of `seed`.
///
/// # Errors
/// What the file system answers, a full disk for example; the file is then incomplete.
pub fn write_test_file(path: &Path, size: ByteCount, seed: u64) -> io::Result<()> {
    let mut file = std::fs::File::create(path)?;
    let content = Content::new(seed);
    let mut buffer = vec![0_u8; 1 << 20];
    let mut at = 0;
    while at < size.bytes() {
        let len = (size.bytes() - at).min(buffer.len() as u64) as usize;
        content.fill(at, &mut buffer[..len]);
        file.write_all(&buffer[..len])?;
        at += len as u64;
    }
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn golden_start() {
        let mut bytes = [0_u8; 16];
        Content::new(0).fill(0, &mut bytes);
        // First two outputs of SplitMix64 from state 0.
        assert_eq!(
            u64::from_le_bytes(bytes[..8].try_into().unwrap()),
            0xe220_a839_7b1d_cdaf
        );
        assert_eq!(
            u64::from_le_bytes(bytes[8..].try_into().unwrap()),
            0x6e78_9e6a_a1b9_65f4
        );
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_stream(seed: u64, cut in 0_usize..64, len in 0_usize..64) {
            let content = Content::new(seed);
            let mut whole = [0_u8; 128];
            content.fill(0, &mut whole);
            let mut part = vec![0_u8; len];
            content.fill(cut as u64, &mut part);
            prop_assert_eq!(&part[..], &whole[cut..cut + len]);
            prop_assert_eq!(content.first_difference(cut as u64, &part), None);
            if len > 3 {
                part[3] ^= 1;
                prop_assert_eq!(content.first_difference(cut as u64, &part), Some(cut as u64 + 3));
            }
        }
    }
}

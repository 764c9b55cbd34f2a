//! How far a file is read, for whoever waits.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a file that were read, and how many it has; clones count the same.
#[derive(Debug, Clone, Default)]
pub struct Reading(Arc<Counted>);

#[derive(Debug, Default)]
struct Counted {
    done: AtomicU64,
    all: AtomicU64,
}

impl Reading {
    /// Bytes read so far, and all of them; the latter is 0 where that is not known, as of a pipe.
    pub fn so_far(&self) -> (u64, u64) {
        let all = self.0.all.load(Ordering::Relaxed);
        (self.0.done.load(Ordering::Relaxed).min(all), all)
    }

    /// Begins a file of so many bytes.
    pub(crate) fn begin(&self, file: &File) {
        let all = file.metadata().map_or(0, |metadata| metadata.len());
        self.0.done.store(0, Ordering::Relaxed);
        self.0.all.store(all, Ordering::Relaxed);
    }

    /// Begins several files of so many bytes together.
    pub fn expect(&self, all: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.all.store(all, Ordering::Relaxed);
    }

    /// So many more bytes were read.
    pub(crate) fn passed(&self, bytes: u64) {
        self.0.done.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Everything up to `offset` was read.
    pub fn reached(&self, offset: u64) {
        self.0.done.fetch_max(offset, Ordering::Relaxed);
    }

    /// `input` with its bytes counted.
    pub(crate) fn counting<R: Read>(&self, input: R) -> Counting<R> {
        Counting {
            input,
            reading: self.clone(),
        }
    }
}

/// An input whose bytes are counted.
pub(crate) struct Counting<R> {
    input: R,
    reading: Reading,
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.reading.0.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_up_to_the_file_s_own() {
        let file = std::env::temp_dir().join(format!("slowpath-reading-{}", std::process::id()));
        std::fs::write(&file, [7; 1000]).unwrap();
        let reading = Reading::default();
        assert_eq!(reading.so_far(), (0, 0));
        let input = File::open(&file).unwrap();
        reading.begin(&input);
        let mut half = [0; 500];
        let mut counting = reading.counting(input);
        counting.read_exact(&mut half).unwrap();
        assert_eq!(reading.so_far(), (500, 1000));
        reading.reached(800);
        reading.reached(700);
        assert_eq!(reading.so_far(), (800, 1000));
        reading.reached(2000);
        assert_eq!(reading.so_far(), (1000, 1000), "a file that grows");
        std::fs::remove_file(file).unwrap();
    }
}

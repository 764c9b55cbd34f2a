//! Captures read where their bytes lie in memory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use slowpath_capture::{InPlace, OpenError, Reader};
use slowpath_sys::held_file::HeldFile;

use crate::reading::Reading;

/// A file that nobody can change while it is read.
struct Held {
    file: HeldFile,
    reading: Reading,
}

impl InPlace for Held {
    fn advance(&mut self, offset: u64, needed: usize) -> io::Result<()> {
        self.reading.reached(offset);
        self.file.advance(offset, needed)
    }

    fn bytes(&self) -> &[u8] {
        self.file.bytes()
    }

    fn soon(&self, index: usize) {
        self.file.soon(index);
    }

    fn into_read(self: Box<Self>, offset: u64) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.file.release()?;
        file.seek(SeekFrom::Start(offset))?;
        self.reading.reached(offset);
        Ok(Box::new(self.reading.counting(file)))
    }
}

/// Bytes of a file in place at a time: enough that mapping them costs little, few enough to count for nothing.
const PIECE: usize = 4 << 20;

/// The file in place, or read in the ordinary way where that cannot be done.
pub(super) fn open(file: File, reading: &Reading) -> Result<Reader, OpenError> {
    match HeldFile::hold(file, PIECE) {
        Ok(file) => Reader::in_place(Held {
            file,
            reading: reading.clone(),
        }),
        // Pipes, files that grow, files of others, files from a network.
        Err((file, _)) => Reader::new(reading.counting(file)),
    }
}

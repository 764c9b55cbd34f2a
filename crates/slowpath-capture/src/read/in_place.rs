//! Files whose bytes need not be copied.

use std::io::{self, Read};

/// A file whose bytes can be read where they lie in memory, as a mapping gives them.
///
/// A capture of full-size packets is read for its headers alone, which are a twentieth of it: not copying the rest
/// is most of what reading costs.
pub trait InPlace: Send {
    /// Makes the bytes from `offset` on available: at least `needed` of them, or all that the file has.
    ///
    /// # Errors
    /// Where this does not go on, for whatever reason; the file is read by [`Self::into_read`] from there on.
    fn advance(&mut self, offset: u64, needed: usize) -> io::Result<()>;

    /// The bytes that [`Self::advance`] made available last.
    fn bytes(&self) -> &[u8];

    /// Says that the byte with this index in [`Self::bytes`] and those behind it will probably be read soon; the index
    /// may lie anywhere. A hint, which may be ignored.
    fn soon(&self, index: usize) {
        let _ = index;
    }

    /// Reads the file from `offset` on in the ordinary way instead.
    ///
    /// # Errors
    /// Those of the file.
    fn into_read(self: Box<Self>, offset: u64) -> io::Result<Box<dyn Read + Send>>;
}

//! Captures on systems where nothing keeps others from changing a file that is mapped: they are read.

use std::fs::File;

use slowpath_capture::{OpenError, Reader};

use crate::reading::Reading;

/// The file read in the ordinary way.
pub(super) fn open(file: File, reading: &Reading) -> Result<Reader, OpenError> {
    Reader::new(reading.counting(file))
}

//! Why bytes could not be read as a header.

/// Bytes that cannot be the header they were read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes end before the fixed part of the header does.
    #[error("{header} header needs {needed} bytes, found {found}: the packet was cut off")]
    Short {
        /// The header that was being read.
        header: &'static str,
        /// Bytes that the fixed part needs.
        needed: usize,
        /// Bytes that were there.
        found: usize,
    },
    /// The version field holds another version.
    #[error("{header} header says version {found}")]
    Version {
        /// The header that was being read.
        header: &'static str,
        /// The version found.
        found: u8,
    },
    /// The header length field holds less than the fixed part of the header.
    #[error("{header} header says it is {found} bytes long, the minimum is {minimum}")]
    HeaderLength {
        /// The header that was being read.
        header: &'static str,
        /// The least value that is allowed, in bytes.
        minimum: usize,
        /// The value found, in bytes.
        found: usize,
    },
    /// A length field says that the packet ends inside its own header.
    #[error("{header} says its total length is {found} bytes, less than its header of {header_len}")]
    TotalLength {
        /// The header that was being read.
        header: &'static str,
        /// Length of the header in bytes.
        header_len: usize,
        /// The total length found in bytes.
        found: usize,
    },
}

/// Errors with [`Malformed::Short`] unless `bytes` holds at least `needed` bytes.
#[inline]
pub(crate) fn at_least(header: &'static str, bytes: &[u8], needed: usize) -> Result<(), Malformed> {
    if bytes.len() < needed {
        Err(Malformed::Short {
            header,
            needed,
            found: bytes.len(),
        })
    } else {
        Ok(())
    }
}

/// The big-endian 16-bit number at `at`; the caller has checked the length.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The big-endian 32-bit number at `at`; the caller has checked the length.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

//! Memory in large pages, for buffers that are copied through at high rates.

use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A zeroed region of memory that starts at a multiple of 2 MiB and asks the kernel for huge pages.
///
/// Without huge pages it is ordinary memory. Pages that were never touched take no memory.
#[derive(Debug)]
pub struct LargePages {
    mapping: NonNull<u8>,
    mapped: usize,
    start: usize,
    length: usize,
}

// SAFETY: the region belongs to the value alone, like a boxed slice.
unsafe impl Send for LargePages {}
// SAFETY: shared access only reads.
unsafe impl Sync for LargePages {}

impl LargePages {
    /// A region of `length` bytes.
    ///
    /// # Errors
    /// `ENOMEM` when there is no room in the address space.
    pub fn new(length: usize) -> io::Result<Self> {
        let mapped = length.checked_add(LARGE).ok_or(io::ErrorKind::InvalidInput)?;
        let (protection, flags) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
        );
        // SAFETY: a new anonymous mapping touches no existing memory.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), mapped, protection, flags, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(at.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let start = at.align_offset(LARGE);
        // SAFETY: `start` bytes into the mapping lies inside it, and so do the `length` bytes from there; the
        // advice changes nothing but page sizes, and its failure nothing at all.
        unsafe { libc::madvise(mapping.as_ptr().add(start).cast(), length, libc::MADV_HUGEPAGE) };
        Ok(Self {
            mapping,
            mapped,
            start,
            length,
        })
    }
}

impl Deref for LargePages {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable, zeroed by the kernel, and lives as long as `self`; `start + length`
        // is within it by construction.
        unsafe { std::slice::from_raw_parts(self.mapping.as_ptr().add(self.start), self.length) }
    }
}

impl DerefMut for LargePages {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` makes the access exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.as_ptr().add(self.start), self.length) }
    }
}

impl Drop for LargePages {
    fn drop(&mut self) {
        // SAFETY: unmaps exactly what `new` mapped; nobody borrows it any more.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped) };
    }
}

const LARGE: usize = 2 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zeroed_aligned_and_writable() {
        let mut region = LargePages::new(3 << 20).unwrap();
        assert_eq!(region.as_ptr().addr() % LARGE, 0);
        assert_eq!(region.len(), 3 << 20);
        assert!(region.iter().step_by(4096).all(|byte| *byte == 0));
        region[(3 << 20) - 1] = 9;
        assert_eq!(region[(3 << 20) - 1], 9);
    }
}

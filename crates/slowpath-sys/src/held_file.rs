//! A regular file's bytes where they lie in memory: nothing is copied, and nobody can change or shorten them meanwhile.
//!
//! A mapping of a file that becomes shorter kills the process that touches the part that is gone (`SIGBUS`), and one
//! that changes breaks what `&[u8]` promises. Both need somebody who has the file open for writing. A read lease
//! (fcntl(2), `F_SETLEASE`) is granted only while nobody has; whoever then opens the file for writing, or cuts it,
//! waits until the lease is given up. [`HeldFile::advance`] looks for such a waiter before it maps each piece, and
//! fails if there is one: its caller drops the value, which gives the lease up, and goes on with `read(2)`. Pages are
//! brought in by `MADV_POPULATE_READ` (Linux 5.14), so a disk that fails is an error too and no signal.
//!
//! Refused are files that others may write to, files of other users (without `CAP_LEASE`), file systems whose contents
//! change without the kernel's knowledge (network, FUSE, overlays), and old kernels.
//!
//! What is left: the kernel makes a writer wait for `/proc/sys/fs/lease-break-time` and no longer, 45 seconds by
//! default; a time below ten seconds is refused here. Who is stopped for longer in the middle of a piece, while another
//! program cuts the file, and then continues, still gets the signal.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// A regular file under a read lease, and the piece of it that is mapped.
#[derive(Debug)]
pub struct HeldFile {
    file: File,
    length: u64,
    page: u64,
    /// Bytes to be mapped at a time.
    piece: usize,
    mapping: NonNull<u8>,
    mapped: usize,
    /// Where in the mapping the bytes asked for begin.
    skip: usize,
}

// SAFETY: the mapping belongs to the value alone, like a boxed slice.
unsafe impl Send for HeldFile {}
// SAFETY: shared access only reads.
unsafe impl Sync for HeldFile {}

impl HeldFile {
    /// Takes the lease on a file that is open for reading; `piece` bytes are to be in place at a time, or more if asked for.
    ///
    /// # Errors
    /// The file goes back, to be read in the ordinary way, with the reason: `EAGAIN` where somebody has it open for
    /// writing, `EACCES` where it is somebody else's, `EINVAL` or `EOPNOTSUPP` where this cannot be done.
    pub fn hold(file: File, piece: usize) -> Result<Self, (File, io::Error)> {
        match lease(&file) {
            Ok(()) => {}
            Err(error) => return Err((file, error)),
        }
        // From here on nobody can change the length.
        let length = match file.metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) => {
                give_up(&file);
                return Err((file, error));
            }
        };
        // SAFETY: takes an integer only.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Ok(Self {
            file,
            length,
            page: u64::try_from(page).unwrap_or(4096).max(1),
            piece,
            mapping: NonNull::dangling(),
            mapped: 0,
            skip: 0,
        })
    }

    /// Puts the bytes from `offset` on in place: at least `needed` of them, or all that the file has.
    ///
    /// # Errors
    /// `EAGAIN` when somebody waits to write to the file: then nothing is in place any more, and the value is to be
    /// given up soon. `EFAULT` when the disk fails; those of `mmap`.
    pub fn advance(&mut self, offset: u64, needed: usize) -> io::Result<()> {
        self.unmap();
        if !self.is_undisturbed() {
            return Err(io::Error::from_raw_os_error(libc::EAGAIN));
        }
        if offset >= self.length {
            return Ok(());
        }
        let from = offset / self.page * self.page;
        let wanted = (offset - from)
            .saturating_add(needed as u64)
            .max(self.piece as u64);
        let length = usize::try_from(wanted.min(self.length - from)).map_err(io::Error::other)?;
        let place = libc::off_t::try_from(from).map_err(io::Error::other)?;
        let skip = usize::try_from(offset - from).map_err(io::Error::other)?;
        // SAFETY: a new mapping of an open file touches no existing memory.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_SHARED,
                self.file.as_raw_fd(),
                place,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        self.mapping = NonNull::new(at.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        self.mapped = length;
        self.skip = skip;
        // SAFETY: the range was mapped just now; this only brings its pages in.
        let brought = unsafe { libc::madvise(at, length, libc::MADV_POPULATE_READ) };
        if brought != 0 {
            let error = io::Error::last_os_error();
            self.unmap();
            return Err(error);
        }
        Ok(())
    }

    /// The bytes in place: those of the last [`advance`](Self::advance); none if it failed.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `mapped` bytes from `mapping` on are readable until `unmap`, which needs `&mut self`, and `skip` is
        // not larger (both are 0 where nothing is mapped). They lie within the file, whose length and contents cannot
        // change under the lease.
        unsafe { std::slice::from_raw_parts(self.mapping.as_ptr().add(self.skip), self.mapped - self.skip) }
    }

    /// Says that the byte with this index in [`bytes`](Self::bytes) and those behind it will be read soon, so that the
    /// processor may fetch them beforehand; the index may lie anywhere.
    #[inline]
    pub fn soon(&self, index: usize) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let at = self.mapping.as_ptr().wrapping_add(self.skip.wrapping_add(index));
            // SAFETY: a hint, which reads nothing and never faults, whatever the address.
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(at.cast());
                _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(64).cast());
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = index;
    }

    /// Whether nobody waits to write to the file.
    pub fn is_undisturbed(&self) -> bool {
        // SAFETY: takes an open descriptor and integers.
        let lease = unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_GETLEASE) };
        lease == libc::F_RDLCK
    }

    /// Gives the lease up and the file back.
    ///
    /// # Errors
    /// Those of `dup(2)`.
    pub fn release(self) -> io::Result<File> {
        // The copy shares the lease, which `drop` gives up.
        self.file.try_clone()
    }

    fn unmap(&mut self) {
        if self.mapped > 0 {
            // SAFETY: unmaps exactly what `advance` mapped; nobody borrows it any more.
            unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped) };
        }
        self.mapping = NonNull::dangling();
        self.mapped = 0;
        self.skip = 0;
    }
}

impl Drop for HeldFile {
    fn drop(&mut self) {
        self.unmap();
        give_up(&self.file);
    }
}

/// Takes a read lease on a file whose contents only this kernel changes.
fn lease(file: &File) -> io::Result<()> {
    let unfit = || io::Error::from_raw_os_error(libc::EOPNOTSUPP);
    if !file.metadata()?.is_file() {
        return Err(unfit());
    }
    let patience = std::fs::read_to_string("/proc/sys/fs/lease-break-time")?;
    if patience.trim().parse::<u32>().map_err(io::Error::other)? < 10 {
        return Err(unfit());
    }
    // SAFETY: all zeros are a valid value of this plain structure of integers.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: an open descriptor, and a structure that the call fills.
    crate::cvt(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut about) })?;
    // Signed in one C library and unsigned in another.
    #[allow(clippy::cast_sign_loss)]
    let file_system = about.f_type as u64;
    if !LOCAL.contains(&file_system) {
        return Err(unfit());
    }
    // Whoever waits is announced by a signal; this one is ignored unless a handler is set (signal(7)).
    // SAFETY: takes an open descriptor and integers.
    crate::cvt(unsafe { libc::fcntl(file.as_raw_fd(), F_SETSIG, libc::SIGURG) })?;
    // SAFETY: as above.
    crate::cvt(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_RDLCK) })?;
    Ok(())
}

fn give_up(file: &File) {
    // SAFETY: takes an open descriptor and integers. It cannot fail for a lease that is held, and closing the file
    // would give it up too.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
}

/// Chooses the signal of a lease (linux/fcntl.h); the libc crate lacks it.
const F_SETSIG: libc::c_int = 10;

/// Magic numbers of file systems whose files change through this kernel alone (statfs(2), linux/magic.h): ext2 to ext4,
/// XFS, btrfs, F2FS, tmpfs.
const LOCAL: [u64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::path::PathBuf;
    use std::thread;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str, bytes: &[u8]) -> Self {
            // An overlay takes no leases, and may be what the temporary folder lies on.
            let memory = PathBuf::from("/dev/shm");
            let folder = if memory.is_dir() {
                memory
            } else {
                std::env::temp_dir()
            };
            let path = folder.join(format!("slowpath-held-{name}-{}", std::process::id()));
            std::fs::write(&path, bytes).unwrap();
            Self(path)
        }

        /// The file held, unless this machine cannot do it.
        fn hold(&self, test: &str, piece: usize) -> Option<HeldFile> {
            match HeldFile::hold(File::open(&self.0).unwrap(), piece) {
                Ok(held) => Some(held),
                Err((_, error)) => {
                    eprintln!("skipped: {test}: no lease on a file in the temporary folder: {error}");
                    None
                }
            }
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    fn pattern(count: u32) -> Vec<u8> {
        (0..count).map(|index| (index * 7 / 3).to_le_bytes()[0]).collect()
    }

    #[test]
    fn every_piece_is_what_the_file_holds() {
        let data = pattern(100_000);
        let scratch = Scratch::new("pieces", &data);
        let Some(mut held) = scratch.hold("every_piece_is_what_the_file_holds", 8192) else {
            return;
        };
        assert!(held.bytes().is_empty());
        for (offset, needed) in [
            (0_usize, 1),
            (4095, 3),
            (12_345, 50_000),
            (99_999, 1),
            (99_000, 5_000),
        ] {
            held.advance(offset as u64, needed).unwrap();
            let rest = &data[offset..];
            let found = held.bytes();
            assert!(
                found.len() >= needed.min(rest.len()),
                "{} at {offset}",
                found.len()
            );
            assert_eq!(found, &rest[..found.len()]);
        }
        held.advance(100_000, 1).unwrap();
        assert!(held.bytes().is_empty());
        let mut file = held.release().unwrap();
        let mut again = Vec::new();
        file.read_to_end(&mut again).unwrap();
        assert_eq!(again, data);
    }

    #[test]
    fn a_file_that_is_written_to_is_refused() {
        let scratch = Scratch::new("written", b"abc");
        let mut writer = OpenOptions::new().append(true).open(&scratch.0).unwrap();
        let refused = HeldFile::hold(File::open(&scratch.0).unwrap(), 4096);
        assert!(refused.is_err(), "a writer has it open");
        writer.write_all(b"def").unwrap();
        drop(writer);
        let pipe = HeldFile::hold(File::open("/dev/null").unwrap(), 4096);
        assert_eq!(pipe.unwrap_err().1.raw_os_error(), Some(libc::EOPNOTSUPP));
    }

    #[test]
    fn whoever_cuts_the_file_waits_until_it_is_given_up() {
        let data = pattern(50_000);
        let scratch = Scratch::new("cut", &data);
        let Some(mut held) = scratch.hold("whoever_cuts_the_file_waits_until_it_is_given_up", 4096) else {
            return;
        };
        held.advance(0, 50_000).unwrap();
        let path = scratch.0.clone();
        let cutter = thread::spawn(move || File::create(path).unwrap());
        while held.is_undisturbed() {
            thread::yield_now();
        }
        // It waits: everything is still there.
        assert_eq!(held.bytes(), data);
        assert_eq!(held.advance(0, 1).unwrap_err().raw_os_error(), Some(libc::EAGAIN));
        assert!(held.bytes().is_empty());
        drop(held);
        drop(cutter.join().unwrap());
        assert_eq!(std::fs::metadata(&scratch.0).unwrap().len(), 0);
    }
}

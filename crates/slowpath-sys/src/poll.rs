//! Waiting for descriptors with nanosecond timeouts.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::raw::c_short;

use crate::{clock, cvt};

/// A reusable set of descriptors to wait for.
///
/// Wakes for readability unless added with [`PollSet::add_writable`]. The set borrows nothing: the caller
/// keeps the descriptors open while it waits.
#[derive(Default)]
pub struct PollSet {
    entries: Vec<libc::pollfd>,
}

impl PollSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a descriptor to wait on until it is readable; returns its index.
    pub fn add_readable(&mut self, fd: BorrowedFd<'_>) -> usize {
        self.add(fd, libc::POLLIN)
    }

    /// Adds a descriptor to wait on until it is writable; returns its index.
    pub fn add_writable(&mut self, fd: BorrowedFd<'_>) -> usize {
        self.add(fd, libc::POLLOUT)
    }

    /// Waits until a descriptor is ready or `nanos` have passed (`None`: no limit); returns how many are ready.
    ///
    /// A signal counts as a wake-up with nothing ready.
    ///
    /// # Errors
    /// Those of `ppoll(2)`, except `EINTR`.
    pub fn wait(&mut self, nanos: Option<u64>) -> io::Result<usize> {
        let limit = nanos.map(clock::timespec);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let count = self.entries.len() as libc::nfds_t;
        // SAFETY: `entries` holds `count` valid pollfd structures; `limit` is null or points to a timespec
        // that lives until the end of this function; a null signal mask leaves the mask alone.
        let code = unsafe { libc::ppoll(self.entries.as_mut_ptr(), count, limit, std::ptr::null()) };
        match cvt(code) {
            Ok(ready) => Ok(usize::try_from(ready).unwrap_or(0)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                for entry in &mut self.entries {
                    entry.revents = 0;
                }
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the descriptor with that index was ready (or failed) in the last [`PollSet::wait`].
    pub fn is_ready(&self, index: usize) -> bool {
        self.entries.get(index).is_some_and(|entry| entry.revents != 0)
    }

    /// Whether nobody was left at the other end in the last [`PollSet::wait`], and nothing to read either.
    pub fn is_hung_up(&self, index: usize) -> bool {
        let hung_up = |entry: &libc::pollfd| entry.revents & (libc::POLLHUP | libc::POLLIN) == libc::POLLHUP;
        self.entries.get(index).is_some_and(hung_up)
    }

    fn add(&mut self, fd: BorrowedFd<'_>, events: c_short) -> usize {
        self.entries.push(libc::pollfd {
            fd: fd.as_raw_fd(),
            events,
            revents: 0,
        });
        self.entries.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn times_out_and_wakes() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut set = PollSet::new();
        let index = set.add_readable(socket.as_fd());
        let start = clock::monotonic();
        assert_eq!(set.wait(Some(1_000_000)).unwrap(), 0);
        assert!(clock::monotonic() - start >= 1_000_000);
        socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
        assert_eq!(set.wait(Some(1_000_000_000)).unwrap(), 1);
        assert!(set.is_ready(index));
    }
}

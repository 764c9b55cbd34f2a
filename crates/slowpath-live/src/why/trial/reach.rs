//! A second descriptor of a socket that a program of ours holds.

use std::io;
use std::os::fd::OwnedFd;

use serde::{Deserialize, Serialize};
use slowpath_sys::process_table::{self, Descriptor};
use slowpath_sys::shared_socket;

/// Where a program holds a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The process.
    pub process: u32,
    /// Its descriptor.
    pub number: u32,
    /// The socket's inode.
    pub inode: u32,
}

/// Why a socket cannot be reached.
#[derive(Debug, thiserror::Error)]
pub enum ReachError {
    /// The program closed it.
    #[error("the connection was closed")]
    Closed,
    /// This user may not look into the program.
    #[error(
        "this user may not reach into process {process}: it runs as another user, forbids it (as programs that change their \
         user do), or left the family of the program that was started"
    )]
    Forbidden {
        /// The process.
        process: u32,
    },
    /// The machine forbids it.
    #[error(
        "this machine lets nobody but its administrator reach into a process (kernel.yama.ptrace_scope is {scope}); run it as root, \
         or have it set to 1"
    )]
    Machine {
        /// The setting's value.
        scope: String,
    },
    /// The kernel is too old.
    #[error("this kernel cannot share a socket with another process; that takes Linux 5.6")]
    Kernel,
    /// Anything else.
    #[error("reaching the program's connection: {0}")]
    System(#[source] io::Error),
}

impl Place {
    /// Finds who of `processes` holds the socket of that inode.
    ///
    /// # Errors
    /// [`ReachError::Forbidden`] where a process does not show its descriptors, [`ReachError::Closed`] where none has it.
    pub fn find(processes: impl IntoIterator<Item = u32>, inode: u32) -> Result<Self, ReachError> {
        let mut forbidden = None;
        for process in processes {
            match process_table::sockets(process) {
                Ok(sockets) => {
                    if let Some(&(number, _)) = sockets.iter().find(|(_, of)| *of == inode) {
                        return Ok(Self {
                            process,
                            number,
                            inode,
                        });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => forbidden = Some(process),
                Err(_) => {} // gone meanwhile
            }
        }
        Err(forbidden.map_or(ReachError::Closed, |process| ReachError::Forbidden { process }))
    }

    /// A second descriptor of the socket, if the program still holds the one with this cookie there.
    ///
    /// # Errors
    /// [`ReachError`].
    pub fn open(&self, cookie: u64) -> Result<OwnedFd, ReachError> {
        let opened = shared_socket::open_process(self.process)
            .and_then(|process| shared_socket::duplicate_from(process, self.number));
        let socket = opened.map_err(|error| self.refused(error))?;
        match shared_socket::cookie(&socket) {
            Ok(found) if found == cookie => Ok(socket),
            _ => Err(ReachError::Closed),
        }
    }

    /// Whether the program still holds the socket there.
    pub fn is_held(&self) -> bool {
        matches!(
            process_table::descriptor(self.process, u64::from(self.number)),
            Ok(Descriptor::Socket(inode)) if inode == self.inode
        )
    }

    fn refused(&self, error: io::Error) -> ReachError {
        match error.raw_os_error() {
            Some(EPERM) => match std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope") {
                Ok(scope) if matches!(scope.trim(), "2" | "3") => ReachError::Machine {
                    scope: scope.trim().to_owned(),
                },
                _ => ReachError::Forbidden {
                    process: self.process,
                },
            },
            Some(EBADF | ESRCH | ENOENT) => ReachError::Closed,
            Some(ENOSYS) => ReachError::Kernel,
            _ => ReachError::System(error),
        }
    }
}

/// Error numbers of `errno(3)`.
const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const EBADF: i32 = 9;
const ENOSYS: i32 = 38;

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    #[test]
    fn a_socket_is_found_reached_and_seen_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let me = process_table::own_number().unwrap();
        let fd = u32::try_from(stream.as_raw_fd()).unwrap();
        let (number, inode) = process_table::sockets(me)
            .unwrap()
            .into_iter()
            .find(|(number, _)| *number == fd)
            .unwrap();
        let place = Place::find([me], inode).unwrap();
        assert_eq!((place.process, place.number), (me, number));
        let cookie = shared_socket::cookie(&stream).unwrap();
        let again = place.open(cookie).unwrap();
        assert_eq!(shared_socket::cookie(&again).unwrap(), cookie);
        assert!(matches!(place.open(cookie + 1), Err(ReachError::Closed)));
        assert!(place.is_held());
        drop((stream, again));
        assert!(!place.is_held());
        assert!(matches!(Place::find([me], inode), Err(ReachError::Closed)));
    }
}

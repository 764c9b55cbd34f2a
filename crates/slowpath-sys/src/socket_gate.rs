//! A program whose TCP sockets can be looked at before it connects or listens with them.
//!
//! The kernel stops the program, and what it starts, at `connect(2)` and `listen(2)` and tells this process, which lets it go on
//! when it has done what has to be done before the connection opens, such as setting a buffer that decides the window scale of
//! the handshake. Nothing is changed in the program; it takes no root.
//! Sources: `seccomp_unotify(2)`, `seccomp(2)`, `pidfd_open(2)`.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::poll::PollSet;
use crate::shared_socket::{
    duplicate_from, open_number, owned, receive_with_descriptor, send_with_descriptor,
};
use crate::sockopt::get_bytes;
use crate::{cvt, process};

/// The gate of a program that is about to be started.
#[derive(Debug)]
pub struct Pending {
    here: UnixDatagram,
}

/// The gate of a program that runs. When it is dropped, calls that wait at it, and later ones, fail with `ENOSYS`: keep it as long
/// as the program lives.
#[derive(Debug)]
pub struct Gate {
    listener: OwnedFd,
}

/// A call that waits at the gate.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    id: u64,
    thread: u32,
    descriptor: u32,
}

/// What stood at the gate when it was looked at.
#[derive(Debug)]
pub enum Next {
    /// A call, which waits until it is let go on.
    Call(Call),
    /// Nothing in the time given.
    Nothing,
    /// The program and all that it started have ended.
    Ended,
}

/// Puts a gate before the program that `command` will start. The program ends when the calling thread does.
///
/// A program behind a gate gains no rights by running another one (`no_new_privs`), unless this process has `CAP_SYS_ADMIN`.
///
/// # Errors
/// `Unsupported` on processors whose system calls are not known here, and those of `socketpair(2)`.
pub fn put_before(command: &mut Command) -> io::Result<Pending> {
    if ARCHITECTURE == 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let (here, there) = UnixDatagram::pair()?;
    here.set_nonblocking(true)?;
    let close = move || {
        process::set_parent_death_signal(libc::SIGTERM)?;
        let listener = install()?;
        send_with_descriptor(&there, b"g", Some(listener.as_fd()))
    };
    // SAFETY: between fork and exec `close` makes system calls on values of its own and on the stack; it allocates nothing and
    // takes no lock. What it opens is closed on exec.
    unsafe { command.pre_exec(close) };
    Ok(Pending { here })
}

impl Pending {
    /// The gate, once the program has been started.
    ///
    /// # Errors
    /// `WouldBlock` when it was not.
    pub fn begun(self) -> io::Result<Gate> {
        let mut byte = [0; 1];
        let (_, listener) = receive_with_descriptor(&self.here, &mut byte)?;
        let listener = listener.ok_or(io::ErrorKind::WouldBlock)?;
        Ok(Gate { listener })
    }
}

impl Gate {
    /// Waits for a call for at most so many nanoseconds.
    ///
    /// # Errors
    /// Those of `poll(2)` and of the kernel's notification.
    pub fn next(&self, nanos: u64) -> io::Result<Next> {
        let mut set = PollSet::new();
        let index = set.add_readable(self.listener.as_fd());
        set.wait(Some(nanos))?;
        if set.is_hung_up(index) {
            return Ok(Next::Ended);
        }
        if !set.is_ready(index) {
            return Ok(Next::Nothing);
        }
        // SAFETY: all-zero bytes are a valid seccomp_notif, and the kernel wants them so.
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the ioctl writes one seccomp_notif, which `call` is.
        let got = cvt(unsafe {
            libc::ioctl(
                self.listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                &raw mut call,
            )
        });
        match got {
            // The low half of the first argument is the descriptor.
            Ok(_) => Ok(Next::Call(Call {
                id: call.id,
                thread: call.pid,
                descriptor: (call.data.args[0] & 0xffff_ffff) as u32,
            })),
            // The caller was killed, or a signal came, between the two calls.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EINTR)) => {
                Ok(Next::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// A second descriptor of the socket that a call is about; `None` where it is not of TCP.
    ///
    /// # Errors
    /// As [`duplicate_from`]; `ESRCH` when the caller is gone.
    pub fn socket(&self, call: &Call) -> io::Result<Option<OwnedFd>> {
        let socket = duplicate_from(open_thread(call.thread)?, call.descriptor)?;
        // Its number could be another program's by now.
        // SAFETY: the ioctl reads one u64, which `call.id` is.
        cvt(unsafe {
            libc::ioctl(
                self.listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
                &raw const call.id,
            )
        })?;
        Ok(is_tcp(socket.as_fd()).then_some(socket))
    }

    /// Lets a call do what it would have done.
    ///
    /// # Errors
    /// `ENOENT` when the caller is gone.
    pub fn let_go_on(&self, call: &Call) -> io::Result<()> {
        let answer = libc::seccomp_notif_resp {
            id: call.id,
            val: 0,
            error: 0,
            flags: CONTINUE,
        };
        // SAFETY: the ioctl reads one seccomp_notif_resp, which `answer` is.
        cvt(unsafe {
            libc::ioctl(
                self.listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw const answer,
            )
        })?;
        Ok(())
    }
}

/// The calling process's filter: `connect` and `listen` wait for whoever holds the descriptor that it gives.
fn install() -> io::Result<OwnedFd> {
    let word = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: code.try_into().unwrap_or(u16::MAX),
        jt,
        jf,
        k,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let number = |call: libc::c_long| u32::try_from(call).unwrap_or(u32::MAX);
    let mut filter = [
        word(load, OFFSET_OF_ARCHITECTURE, 0, 0),
        word(equal, ARCHITECTURE, 0, 4),
        word(load, OFFSET_OF_NUMBER, 0, 0),
        word(equal, number(libc::SYS_connect), 1, 0),
        word(equal, number(libc::SYS_listen), 0, 1),
        word(give, libc::SECCOMP_RET_USER_NOTIF, 0, 0),
        word(give, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: filter.len().try_into().unwrap_or(0),
        filter: filter.as_mut_ptr(),
    };
    let install = || {
        // SAFETY: `program` points to `filter`, both of which live until the end of this function; the kernel copies them.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
                &raw const program,
            )
        };
        owned(fd)
    };
    install().or_else(|error| {
        if error.raw_os_error() != Some(libc::EACCES) {
            return Err(error);
        }
        // SAFETY: takes integers only.
        cvt(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) })?;
        install()
    })
}

/// A handle of the process of a thread, by this process's own numbers.
fn open_thread(thread: u32) -> io::Result<OwnedFd> {
    let number = libc::pid_t::try_from(thread).map_err(|_| io::ErrorKind::InvalidInput)?;
    // A thread that is not its process's first needs PIDFD_THREAD (O_EXCL), since Linux 6.9.
    open_number(number, 0).or_else(|error| match error.raw_os_error() {
        Some(libc::EINVAL | libc::ENOENT) => open_number(number, libc::O_EXCL),
        _ => Err(error),
    })
}

fn is_tcp(socket: BorrowedFd<'_>) -> bool {
    let mut value = [0; 4];
    let got = get_bytes(socket, libc::SOL_SOCKET, libc::SO_PROTOCOL, &mut value);
    got.is_ok() && i32::from_ne_bytes(value) == libc::IPPROTO_TCP
}

/// AUDIT_ARCH of `linux/audit.h`; 0 where it is not known.
const ARCHITECTURE: u32 = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
    0xc000_003e
} else if cfg!(target_arch = "aarch64") {
    0xc000_00b7
} else {
    0
};
/// SECCOMP_USER_NOTIF_FLAG_CONTINUE of `linux/seccomp.h`.
const CONTINUE: u32 = 1;
/// Where `struct seccomp_data` has them.
const OFFSET_OF_NUMBER: u32 = 0;
const OFFSET_OF_ARCHITECTURE: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sockopt;
    use std::net::TcpListener;
    use std::process::Stdio;

    /// A receive buffer that is set at the gate is the one that the program has, and what it connects to need not be of TCP.
    #[test]
    fn a_buffer_is_there_before_the_connection() {
        if std::process::Command::new("python3").arg("-V").output().is_err() {
            eprintln!("skipped: a_buffer_is_there_before_the_connection: no python3 here");
            return;
        }
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        let text = format!(
            "import socket, threading\n\
             u = socket.socket(socket.AF_UNIX)\n\
             try: u.connect('/nowhere/at/all')\n\
             except OSError as e: print(e.errno)\n\
             def go():\n \
               s = socket.socket(); s.connect(('127.0.0.1', {port}))\n \
               print(s.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF))\n\
             t = threading.Thread(target=go); t.start(); t.join()"
        );
        let mut command = Command::new("python3");
        command.args(["-c", &text]).stdout(Stdio::piped());
        let pending = put_before(&mut command).unwrap();
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                eprintln!(
                    "skipped: a_buffer_is_there_before_the_connection: this system has no such filter: {error}"
                );
                return;
            }
        };
        let gate = pending.begun().unwrap();
        let mut seen = Vec::new();
        loop {
            match gate.next(5_000_000_000).unwrap() {
                Next::Call(call) => {
                    let socket = gate.socket(&call).unwrap();
                    if let Some(socket) = &socket {
                        sockopt::set_receive_buffer(socket, 50_000).unwrap();
                    }
                    seen.push(socket.is_some());
                    gate.let_go_on(&call).unwrap();
                }
                Next::Ended => break,
                Next::Nothing => panic!("nothing in five seconds"),
            }
        }
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(text, format!("{}\n100000\n", libc::ENOENT));
        // Its C library may have looked for a name service's socket before that.
        let (last, others) = seen.split_last().unwrap();
        assert!(
            *last && others.iter().all(|tcp| !tcp) && !others.is_empty(),
            "{seen:?}"
        );
    }

    #[test]
    fn a_program_that_does_not_start_has_no_gate() {
        let mut command = Command::new("/nowhere/at/all");
        let pending = put_before(&mut command).unwrap();
        assert_eq!(command.spawn().unwrap_err().kind(), io::ErrorKind::NotFound);
        drop(command);
        // The gate came into being, and there is nobody behind it.
        if let Ok(gate) = pending.begun() {
            assert!(matches!(gate.next(1_000_000_000).unwrap(), Next::Ended));
        }
    }
}

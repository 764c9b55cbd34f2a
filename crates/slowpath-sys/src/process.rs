//! Child processes that cannot outlive their parent, and what the scheduler knows about a thread.
//!
//! A [`Keeper`] is the first process of a new PID namespace. It holds one end of a pipe whose other end only
//! this process has; when this process ends for any reason, `kill -9` included, the pipe closes, the keeper
//! exits, and the kernel kills everything in the namespace, however deep it forked.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::namespace::enter_namespace;
use crate::{cvt, cvt_len};

/// A PID namespace whose processes die with this process, or when the keeper is dropped.
#[derive(Debug)]
pub struct Keeper {
    pid: libc::pid_t,
    namespace: OwnedFd,
    /// Closing it ends the namespace.
    lifeline: Option<OwnedFd>,
}

impl Keeper {
    /// Starts the namespace's first process.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`.
    pub fn start() -> io::Result<Self> {
        let (reader, writer) = pipe()?;
        // SAFETY: a plain fork into a new PID namespace, by number because libc's wrapper wants a stack. With
        // CLONE_VM absent the child has its own copy of memory; it only makes async-signal-safe calls.
        let pid = unsafe {
            libc::syscall(
                libc::SYS_clone,
                libc::c_long::from(libc::CLONE_NEWPID | libc::SIGCHLD),
                0,
                0,
                0,
                0,
            )
        };
        match pid {
            0 => keep(reader.as_raw_fd()),
            1.. => {
                let pid = libc::pid_t::try_from(pid).map_err(io::Error::other)?;
                let namespace = fs::File::open(format!("/proc/{pid}/ns/pid"));
                let namespace = namespace.inspect_err(|_| {
                    drop(writer.try_clone());
                })?;
                Ok(Self {
                    pid,
                    namespace: namespace.into(),
                    lifeline: Some(writer),
                })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Makes the calling thread start its child processes inside the namespace from now on.
    ///
    /// The thread itself stays where it is, and can start no more threads: use one that ends after spawning.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`.
    pub fn adopt_children(&self) -> io::Result<()> {
        enter_namespace(self.namespace.as_fd(), libc::CLONE_NEWPID)
    }

    /// The keeper's process id.
    pub fn id(&self) -> u32 {
        self.pid.unsigned_abs()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        let pid = self.pid;
        // The keeper's exit completes only when every process of the namespace has been waited for, also by
        // owners of `Child` in this process: waiting here could wait for our own caller.
        std::thread::spawn(move || {
            // SAFETY: takes integers and a null pointer; `pid` is our own child, not waited for before.
            while unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) } < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        });
    }
}

/// The keeper's whole life: wait for the pipe to close.
fn keep(reader: libc::c_int) -> ! {
    // SAFETY: only async-signal-safe calls on integers and one local byte; never returns to Rust code that
    // would run destructors of the copied memory.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::dup2(reader, 3);
        libc::syscall(libc::SYS_close_range, 4, libc::c_uint::MAX, 0);
        let mut byte = 0_u8;
        loop {
            let got = libc::read(3, (&raw mut byte).cast(), 1);
            if got == 0 || (got < 0 && *libc::__errno_location() != libc::EINTR) {
                libc::_exit(0);
            }
        }
    }
}

/// Nanoseconds that the calling thread has waited for a processor while it could have run.
///
/// # Errors
/// When the kernel keeps no such count (`/proc/thread-self/schedstat`).
pub fn run_delay() -> io::Result<u64> {
    RunDelay::open()?.read()
}

/// A thread's scheduling statistics, kept open for repeated reading by that thread.
#[derive(Debug)]
pub struct RunDelay {
    file: OwnedFd,
}

impl RunDelay {
    /// Opens the statistics of the calling thread.
    ///
    /// # Errors
    /// When the kernel keeps none.
    pub fn open() -> io::Result<Self> {
        Ok(Self {
            file: fs::File::open("/proc/thread-self/schedstat")?.into(),
        })
    }

    /// Nanoseconds that the thread has waited for a processor.
    ///
    /// # Errors
    /// When the text is not as expected.
    pub fn read(&self) -> io::Result<u64> {
        let mut text = [0_u8; 96];
        // SAFETY: pointer and length describe `text`, which the kernel fills.
        let length =
            cvt_len(unsafe { libc::pread(self.file.as_raw_fd(), text.as_mut_ptr().cast(), text.len(), 0) })?;
        let text = std::str::from_utf8(&text[..length]).map_err(io::Error::other)?;
        let delay = text
            .split_whitespace()
            .nth(1)
            .and_then(|field| field.parse().ok());
        delay.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// How often the calling thread has left its processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switches {
    /// To wait for something (`ru_nvcsw` of `getrusage(2)`).
    pub given_up: u64,
    /// Though it could have gone on (`ru_nivcsw`).
    pub lost: u64,
}

impl Switches {
    /// The calling thread's so far.
    ///
    /// # Errors
    /// None is expected on Linux.
    pub fn read() -> io::Result<Self> {
        // SAFETY: all-zero bytes are a valid rusage, which the kernel fills.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a rusage that outlives the call.
        cvt(unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) })?;
        Ok(Self {
            given_up: u64::try_from(usage.ru_nvcsw).map_err(io::Error::other)?,
            lost: u64::try_from(usage.ru_nivcsw).map_err(io::Error::other)?,
        })
    }
}

/// Asks that the calling thread, once woken, waits little for a processor: turns of `nanos`, 0.1 to 100 ms.
///
/// A thread that takes short turns interrupts those that take longer ones as soon as it has something to do; its share
/// of the processor stays what it was. Kernels before 6.12 keep to their own length (2.8 ms); one built without
/// preemption otherwise lets a woken thread wait for the next tick. Policy and niceness stay.
///
/// # Errors
/// Those of `sched_setattr(2)`; none is expected without privileges.
pub fn take_short_turns(nanos: u64) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid sched_attr; the kernel writes at most the given size.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = u32::try_from(size_of::<libc::sched_attr>()).unwrap_or(0);
    // SAFETY: pointer and size describe `attributes`; thread 0 is the calling one; flags must be 0.
    let code = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
    cvt(code.try_into().unwrap_or(-1))?;
    attributes.size = size;
    attributes.sched_flags |= u64::from(libc::SCHED_FLAG_KEEP_POLICY.unsigned_abs());
    attributes.sched_runtime = nanos;
    // SAFETY: the kernel only reads `attributes`, whose size it holds; flags must be 0.
    let code = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    cvt(code.try_into().unwrap_or(-1))?;
    Ok(())
}

/// Binds the calling thread to one processor.
///
/// # Errors
/// `EINVAL` when there is no such processor.
pub fn pin_to_processor(number: usize) -> io::Result<()> {
    // SAFETY: all-zero bytes are an empty cpu_set_t; CPU_SET checks its bound; the kernel only reads the set.
    cvt(unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(number, &mut set);
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set)
    })?;
    Ok(())
}

/// Sends a signal to a process of ours.
///
/// # Errors
/// `ESRCH` when it is gone.
pub fn signal(pid: u32, number: i32) -> io::Result<()> {
    let pid = libc::pid_t::try_from(pid).map_err(|_| io::ErrorKind::InvalidInput)?;
    if pid <= 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: takes integers only.
    cvt(unsafe { libc::kill(pid, number) })?;
    Ok(())
}

/// Sends a signal to the process of a handle, as [`open_process`](crate::shared_socket::open_process) gives it.
///
/// # Errors
/// `ESRCH` when it is gone, `EPERM` when it is somebody else's.
pub fn signal_handle(process: impl AsFd, number: i32) -> io::Result<()> {
    let (handle, none) = (process.as_fd().as_raw_fd(), std::ptr::null::<libc::siginfo_t>());
    // SAFETY: takes integers and a null pointer, which stands for what kill(2) would send.
    let sent = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, handle, number, none, 0) };
    cvt(sent.try_into().unwrap_or(-1))?;
    Ok(())
}

/// Sends a signal to every process of a group of ours.
///
/// # Errors
/// `ESRCH` when none is left; numbers that would name more than one group are refused.
pub fn signal_group(group: u32, number: i32) -> io::Result<()> {
    let group = libc::pid_t::try_from(group).map_err(|_| io::ErrorKind::InvalidInput)?;
    // 0 is the caller's own group, and -1 stands for every process.
    if group <= 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: takes integers only.
    cvt(unsafe { libc::kill(-group, number) })?;
    Ok(())
}

/// Asks the kernel to send `number` to the calling thread's process when the *thread* that started it ends.
///
/// # Errors
/// `EINVAL` for an unknown signal.
pub fn set_parent_death_signal(number: i32) -> io::Result<()> {
    // SAFETY: takes integers only.
    cvt(unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, number, 0, 0, 0) })?;
    Ok(())
}

/// Effective user and group id of the process.
pub fn user_and_group() -> (u32, u32) {
    // SAFETY: these calls take no arguments and cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Drops to another user and group for good, with no supplementary groups; for tests of the unprivileged paths.
///
/// # Errors
/// `EPERM` when the process may not.
pub fn become_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: integers and a null pointer with length zero; affects the ids of this process only.
    unsafe {
        cvt(libc::setgroups(0, std::ptr::null()))?;
        cvt(libc::setresgid(gid, gid, gid))?;
        cvt(libc::setresuid(uid, uid, uid))?;
        // Changing ids clears the dumpable flag, without which /proc/self/uid_map could not be written.
        cvt(libc::prctl(libc::PR_SET_DUMPABLE, 1, 0, 0, 0))?;
    }
    Ok(())
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for the two descriptors; on success both are fresh and ours alone.
    unsafe {
        cvt(libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn the_namespace_takes_everything_with_it() {
        let Ok(keeper) = Keeper::start() else {
            eprintln!("skipped: the_namespace_takes_everything_with_it: no permission for PID namespaces");
            return;
        };
        // A shell that forks a grandchild; both must go when the keeper goes.
        let child = std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    keeper.adopt_children().unwrap();
                    Command::new("sh")
                        .args(["-c", "sleep 600 & sleep 600"])
                        .stdin(Stdio::null())
                        .spawn()
                        .unwrap()
                })
                .join()
                .unwrap()
        });
        let mut child = child;
        assert!(child.try_wait().unwrap().is_none());
        let start = Instant::now();
        drop(keeper);
        let status = child.wait().unwrap();
        assert!(!status.success());
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn short_turns_need_no_privilege() {
        take_short_turns(100_000).unwrap();
        take_short_turns(100_000).unwrap();
    }

    #[test]
    fn the_scheduler_keeps_count() {
        let Ok(delay) = RunDelay::open() else {
            eprintln!("skipped: the_scheduler_keeps_count: no schedstat here");
            return;
        };
        let first = delay.read().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        assert!(delay.read().unwrap() >= first);
        // A thread that never gives its processor up loses it as soon as others want it: here they do.
        let (before, processors) = (
            Switches::read().unwrap(),
            std::thread::available_parallelism().unwrap(),
        );
        let end = std::time::Instant::now() + Duration::from_millis(200);
        std::thread::scope(|scope| {
            for _ in 0..processors.get() {
                scope.spawn(|| while std::time::Instant::now() < end {});
            }
            while std::time::Instant::now() < end {}
        });
        let after = Switches::read().unwrap();
        assert!(after.lost > before.lost, "{before:?} {after:?}");
        std::thread::sleep(Duration::from_millis(1));
        assert!(Switches::read().unwrap().given_up > after.given_up);
        assert!(signal(0, 0).is_err());
        for group in [0, 1, u32::MAX] {
            let refused = signal_group(group, 0).unwrap_err().kind();
            assert_eq!(refused, io::ErrorKind::InvalidInput, "{group}");
        }
    }
}

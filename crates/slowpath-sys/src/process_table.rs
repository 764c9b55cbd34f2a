//! What `/proc` and the control groups tell of processes, own and foreign.
//!
//! State, processor time and parent are readable for everybody; I/O counters, descriptors and the current system
//! call only for own processes (`ptrace(2)`, "Ptrace access mode checking"). Sources: `proc(5)`, `cgroups(7)`.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::namespace::enter_namespace;

/// One thread, or a whole process, as the scheduler sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Number of the process or thread.
    pub id: u32,
    /// Name of the program, cut by the kernel to 15 bytes.
    pub name: String,
    /// State: `R` running or runnable, `S` sleeping, `D` waiting for a device, `T` stopped, `Z` ended.
    pub state: char,
    /// Number of the parent process.
    pub parent: u32,
    /// When it was started, ticks of 10 ms after the machine was: with the number, unique.
    pub started: u64,
}

/// What the scheduler counted for one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scheduled {
    /// Nanoseconds on a processor.
    pub ran: u64,
    /// Nanoseconds ready to run, without a processor.
    pub waited: u64,
}

/// What a process read and wrote, in bytes since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessIo {
    /// Passed through `read` and its like, sockets and pipes included.
    pub read: u64,
    /// Passed through `write` and its like.
    pub written: u64,
    /// Fetched from a block device.
    pub device_read: u64,
    /// Sent to a block device.
    pub device_written: u64,
}

/// What a control group's processor quota did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Throttled {
    /// Periods in which the group used its quota up.
    pub periods: u64,
    /// Microseconds that its threads were held back, added over processors.
    pub microseconds: u64,
}

/// What a thread waits in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemCall {
    /// The call's number on this architecture.
    pub number: i64,
    /// Its first argument: for `read` and `write` the descriptor.
    pub first: u64,
    /// The arguments behind the first, as many as the kernel shows.
    pub more: [u64; 5],
}

/// What kind of thing a descriptor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descriptor {
    /// A socket with its inode.
    Socket(u32),
    /// A pipe or FIFO.
    Pipe,
    /// A regular file or a block device.
    File,
    /// A terminal or another character device.
    Device,
    /// Anything else.
    Other,
}

/// Every process of the machine that this user may see.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn processes() -> io::Result<Vec<Status>> {
    Ok(numbers(Path::new("/proc"))?
        .filter_map(|pid| status(pid).ok())
        .collect())
}

/// The number of the calling process in `/proc`, which may be mounted for another PID namespace than its own.
///
/// # Errors
/// Those of reading the link.
pub fn own_number() -> io::Result<u32> {
    let target = fs::read_link("/proc/self")?;
    target
        .to_str()
        .and_then(|number| number.parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The number in `/proc` of the process that has the number `pid` for the calling process: another one where `/proc` is mounted for
/// another PID namespace (`pid_namespaces(7)`). `pid` itself where no process of the own namespace has it.
pub fn number_in_proc(pid: u32) -> u32 {
    if is_own_proc() {
        return pid;
    }
    let all = numbers(Path::new("/proc")).into_iter().flatten();
    let mut all = all.filter(|process| number_for_us(*process) == Some(pid));
    all.next().unwrap_or(pid)
}

/// The other way: the number that the calling process knows the process `process` of `/proc` by; `process` itself where that is in another
/// PID namespace.
pub fn number_here(process: u32) -> u32 {
    if is_own_proc() {
        return process;
    }
    number_for_us(process).unwrap_or(process)
}

/// Whether `/proc` is that of the own PID namespace.
fn is_own_proc() -> bool {
    own_number().is_ok_and(|number| number == std::process::id())
}

/// The number of a process of the own PID namespace in that.
fn number_for_us(process: u32) -> Option<u32> {
    let of = |process: &str| fs::metadata(format!("/proc/{process}/ns/pid")).map(|file| file.ino());
    let own = of("self").ok()?;
    if of(&process.to_string()).ok()? != own {
        return None;
    }
    innermost_number(&fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// The number in the innermost PID namespace of a process, from its `/proc/PID/status`.
fn innermost_number(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// One process.
///
/// # Errors
/// `ENOENT` when it is gone.
pub fn status(pid: u32) -> io::Result<Status> {
    read_status(&PathBuf::from(format!("/proc/{pid}/stat")))
}

/// The threads of a process.
///
/// # Errors
/// `ENOENT` when it is gone.
pub fn threads(pid: u32) -> io::Result<Vec<Status>> {
    let folder = PathBuf::from(format!("/proc/{pid}/task"));
    Ok(numbers(&folder)?
        .filter_map(|tid| read_status(&folder.join(tid.to_string()).join("stat")).ok())
        .collect())
}

/// The children that a thread of a process has started and that are still there.
///
/// # Errors
/// `ENOENT` when it is gone or the kernel keeps no such list (`CONFIG_PROC_CHILDREN`).
pub fn children(pid: u32, tid: u32) -> io::Result<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/children"))?;
    Ok(text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect())
}

/// What the scheduler counted for a thread of a process, also of a foreign one.
///
/// # Errors
/// `ENOENT` when it is gone or the kernel keeps no such count.
pub fn scheduled(pid: u32, tid: u32) -> io::Result<Scheduled> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat"))?;
    let mut fields = text.split_whitespace().map(str::parse);
    match (fields.next(), fields.next()) {
        (Some(Ok(ran)), Some(Ok(waited))) => Ok(Scheduled { ran, waited }),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// What a process of our own read and wrote.
///
/// # Errors
/// `EACCES` for a foreign process.
pub fn process_io(pid: u32) -> io::Result<ProcessIo> {
    Ok(parse_io(&fs::read_to_string(format!("/proc/{pid}/io"))?))
}

/// The system call in which a thread of our own waits; `None` while it runs.
///
/// # Errors
/// `EACCES` or `EPERM` for a foreign process, or one that is not a descendant under Yama.
pub fn system_call(pid: u32, tid: u32) -> io::Result<Option<SystemCall>> {
    Ok(parse_system_call(&fs::read_to_string(format!(
        "/proc/{pid}/task/{tid}/syscall"
    ))?))
}

/// What a descriptor of a process of our own is.
///
/// # Errors
/// `EACCES` for a foreign process; `ENOENT` when it is closed.
pub fn descriptor(pid: u32, number: u64) -> io::Result<Descriptor> {
    let path = PathBuf::from(format!("/proc/{pid}/fd/{number}"));
    let target = fs::read_link(&path)?;
    if let Some(inode) = socket_inode(&target.to_string_lossy()) {
        return Ok(Descriptor::Socket(inode));
    }
    let mode = fs::metadata(&path)?.mode() & libc::S_IFMT;
    Ok(match mode {
        libc::S_IFIFO => Descriptor::Pipe,
        libc::S_IFREG | libc::S_IFBLK => Descriptor::File,
        libc::S_IFCHR => Descriptor::Device,
        _ => Descriptor::Other,
    })
}

/// The inodes of the sockets that a process of our own holds.
///
/// # Errors
/// `EACCES` for a foreign process.
pub fn socket_inodes(pid: u32) -> io::Result<Vec<u32>> {
    Ok(sockets(pid)?.into_iter().map(|(_, inode)| inode).collect())
}

/// The sockets that a process of our own holds: descriptor and inode of each.
///
/// # Errors
/// `EACCES` for a foreign process.
pub fn sockets(pid: u32) -> io::Result<Vec<(u32, u32)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        let Ok(entry) = entry else { continue };
        let Ok(target) = fs::read_link(entry.path()) else {
            continue; // closed meanwhile
        };
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        if let (Some(number), Some(inode)) = (number, socket_inode(&target.to_string_lossy())) {
            found.push((number, inode));
        }
    }
    Ok(found)
}

/// A process's network namespace, by its number, as `ls -l /proc/PID/ns/net` shows it.
///
/// # Errors
/// `EACCES` for a foreign process.
pub fn network_namespace(pid: u32) -> io::Result<u64> {
    Ok(fs::metadata(format!("/proc/{pid}/ns/net"))?.ino())
}

/// Moves the calling thread into a process's network namespace.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN` over that namespace, `EACCES` for a foreign process.
pub fn enter_network_namespace(pid: u32) -> io::Result<()> {
    let file = fs::File::open(format!("/proc/{pid}/ns/net"))?;
    let fd: BorrowedFd<'_> = file.as_fd();
    enter_namespace(fd, libc::CLONE_NEWNET)
}

/// The file that counts how a process's control group was throttled, of version 2 or 1.
///
/// # Errors
/// `ENOENT` when the group has no processor controller.
pub fn throttling_file(pid: u32) -> io::Result<PathBuf> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup"))?;
    group_files(&text)
        .into_iter()
        .find(|path| fs::read_to_string(path).is_ok_and(|text| text.contains("nr_throttled")))
        .ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Reads such a file.
///
/// # Errors
/// Those of reading a file.
pub fn throttled(file: &Path) -> io::Result<Throttled> {
    Ok(parse_throttled(&fs::read_to_string(file)?))
}

/// Microseconds for which some task of the machine waited for `resource`: `cpu`, `io` or `memory`.
///
/// # Errors
/// `ENOENT` or `EOPNOTSUPP` where the kernel keeps no pressure.
pub fn pressure(resource: &str) -> io::Result<u64> {
    let text = fs::read_to_string(format!("/proc/pressure/{resource}"))?;
    let some = text.lines().find(|line| line.starts_with("some"));
    some.and_then(|line| line.split("total=").nth(1)?.trim().parse().ok())
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn numbers(folder: &Path) -> io::Result<impl Iterator<Item = u32>> {
    Ok(fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()))
}

fn read_status(path: &Path) -> io::Result<Status> {
    let bytes = fs::read(path)?;
    parse_status(&String::from_utf8_lossy(&bytes)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The name stands in brackets and may hold brackets and spaces itself.
fn parse_status(text: &str) -> Option<Status> {
    let (id, rest) = text.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(Status {
        id: id.parse().ok()?,
        name: name.to_owned(),
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn parse_io(text: &str) -> ProcessIo {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
            .unwrap_or(0)
    };
    ProcessIo {
        read: field("rchar"),
        written: field("wchar"),
        device_read: field("read_bytes"),
        device_written: field("write_bytes"),
    }
}

fn parse_system_call(text: &str) -> Option<SystemCall> {
    let mut fields = text.split_whitespace();
    let number = fields.next()?.parse().ok()?;
    let mut arguments = fields.map_while(|field| u64::from_str_radix(field.strip_prefix("0x")?, 16).ok());
    let first = arguments.next()?;
    let more = std::array::from_fn(|_| arguments.next().unwrap_or(0));
    Some(SystemCall { number, first, more })
}

fn parse_throttled(text: &str) -> Throttled {
    let field = |name: &str| {
        text.lines().find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(' ')?
                .trim()
                .parse::<u64>()
                .ok()
        })
    };
    Throttled {
        periods: field("nr_throttled").unwrap_or(0),
        // Version 1 counts nanoseconds.
        microseconds: field("throttled_usec")
            .or_else(|| Some(field("throttled_time")? / 1_000))
            .unwrap_or(0),
    }
}

/// Where `cpu.stat` of a process may lie, from its `/proc/PID/cgroup`, and from there up: a quota holds for all below it.
fn group_files(text: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let roots: &[&str] = if controllers.is_empty() {
            &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        } else if controllers.split(',').any(|name| name == "cpu") {
            &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"]
        } else {
            continue;
        };
        for root in roots {
            files.push(
                Path::new(root)
                    .join(group.trim_start_matches('/'))
                    .join("cpu.stat"),
            );
        }
    }
    files
}

fn socket_inode(target: &str) -> Option<u32> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    #[test]
    fn reads_itself() {
        let me = std::process::id();
        let status = status(me).unwrap();
        assert_eq!(status.id, me);
        assert!(
            processes()
                .unwrap()
                .iter()
                .any(|process| process == &status || process.id == me)
        );
        let threads = threads(me).unwrap();
        assert!(threads.iter().any(|thread| thread.id == me));
        assert!(process_io(me).unwrap().read > 0);
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let number = u64::try_from(socket.as_raw_fd()).unwrap();
        let Descriptor::Socket(inode) = descriptor(me, number).unwrap() else {
            panic!("a listener is a socket");
        };
        assert!(socket_inodes(me).unwrap().contains(&inode));
        assert!(network_namespace(me).unwrap() > 0);
        if let Err(error) = scheduled(me, me) {
            eprintln!("skipped: reads_itself: no schedstat here: {error}");
        }
    }

    #[test]
    fn the_last_number_is_that_of_the_innermost_namespace() {
        let status = "Name:\tsh\nPid:\t2653\nNSpid:\t2653\t46\nNSpgid:\t2653\t7\n";
        assert_eq!(innermost_number(status), Some(46));
        assert_eq!(innermost_number("NSpid:\t12\n"), Some(12));
        assert_eq!(innermost_number("Name:\tsh\n"), None);
        // In a namespace whose own /proc this is, nothing changes.
        let me = own_number().unwrap();
        assert_eq!(number_in_proc(std::process::id()), me);
        assert_eq!(number_here(me), std::process::id());
    }

    #[test]
    fn names_may_hold_brackets() {
        let text = "77 (a) (b c) D 5 1 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 900 0 0";
        let status = parse_status(text).unwrap();
        assert_eq!(
            (status.name.as_str(), status.state, status.parent),
            ("a) (b c", 'D', 5)
        );
        assert_eq!(status.started, 900);
        for cut in 0..30 {
            assert_eq!(parse_status(&text[..cut]), None, "{cut}");
        }
    }

    #[test]
    fn texts_of_the_kernel() {
        let io = parse_io(
            "rchar: 5\nwchar: 6\nsyscr: 1\nread_bytes: 7\nwrite_bytes: 8\ncancelled_write_bytes: 9\n",
        );
        assert_eq!(
            (io.read, io.written, io.device_read, io.device_written),
            (5, 6, 7, 8)
        );
        assert_eq!(parse_system_call("running\n"), None);
        let call = parse_system_call("0 0x3 0x7f 0x0 0x0 0x0 0x0 0x7f 0x7f\n").unwrap();
        assert_eq!((call.number, call.first, call.more[0]), (0, 3, 0x7f));
        assert_eq!(parse_system_call("0 0x3 0x5\n").unwrap().more, [5, 0, 0, 0, 0]);
        let two = parse_throttled("usage_usec 1\nnr_periods 3\nnr_throttled 2\nthrottled_usec 55\n");
        assert_eq!((two.periods, two.microseconds), (2, 55));
        let one = parse_throttled("nr_periods 3\nnr_throttled 2\nthrottled_time 55000\n");
        assert_eq!(one, two);
        let files = group_files("3:cpuset:/x\n1:cpu,cpuacct:/a/b\n0::/user\n");
        assert!(files.contains(&PathBuf::from("/sys/fs/cgroup/cpu/a/b/cpu.stat")));
        assert!(files.contains(&PathBuf::from("/sys/fs/cgroup/user/cpu.stat")));
        assert_eq!(files.len(), 4);
        assert_eq!(
            (socket_inode("socket:[12]"), socket_inode("pipe:[12]")),
            (Some(12), None)
        );
    }
}

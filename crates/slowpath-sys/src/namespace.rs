//! User, network and mount namespaces, and the capabilities that they need.
//!
//! A network namespace belongs to a *thread*: [`NetworkNamespace::enter`] moves only the caller, and sockets
//! keep the namespace in which they were opened. A user namespace belongs to the whole process and can only
//! be entered while the process has one thread: [`enter_user_namespace`] goes first in `main`.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::cvt;

/// Which ids the process has inside its user namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mapping {
    /// Its own: programs see the usual user and home; capabilities pass to children as ambient ones. `sshd` needs this.
    Keep,
    /// 0: programs think that they run as root.
    Root,
}

/// The capabilities that a lab asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// `CAP_NET_ADMIN`: devices, addresses, routes.
    NetAdmin = 12,
    /// `CAP_NET_RAW`: raw and packet sockets.
    NetRaw = 13,
    /// `CAP_SYS_ADMIN`: namespaces and mounts.
    SysAdmin = 21,
}

/// Whether the calling thread has a capability in its user namespace (`/proc/thread-self/status`, line `CapEff`).
///
/// # Errors
/// When the file cannot be read.
pub fn has_capability(capability: Capability) -> io::Result<bool> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    Ok(mask.is_some_and(|mask| mask >> capability as u32 & 1 == 1))
}

/// Moves the process into a new user namespace where it has all capabilities.
///
/// Must be called while the process has one thread.
///
/// # Errors
/// `EINVAL` when there are more threads; `EPERM`, `ENOSPC` or `EUSERS` when this machine does not permit it;
/// `EACCES` from writing the id maps when a security module takes the capabilities away.
pub fn enter_user_namespace(mapping: Mapping) -> io::Result<()> {
    // SAFETY: these calls take no arguments and cannot fail.
    let (uid, gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    // SAFETY: takes flags only; a changed user namespace invalidates no memory.
    cvt(unsafe { libc::unshare(libc::CLONE_NEWUSER) })?;
    fs::write("/proc/self/setgroups", "deny")?;
    let (as_user, as_group) = match mapping {
        Mapping::Keep => (uid, gid),
        Mapping::Root => (0, 0),
    };
    fs::write("/proc/self/uid_map", format!("{as_user} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{as_group} {gid} 1"))?;
    if mapping == Mapping::Keep {
        raise_ambient()
    } else {
        Ok(())
    }
}

/// Makes every permitted capability ambient, so that it survives `exec` without being root.
fn raise_ambient() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    const VERSION_3: u32 = 0x2008_0522;
    let mut header = Header {
        version: VERSION_3,
        pid: 0,
    };
    // Two times (effective, permitted, inheritable), low and high half of 64 capabilities.
    let mut data = [[0_u32; 3]; 2];
    // SAFETY: version 3 reads the header and fills two data structures, which `data` provides.
    cvt_long(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, data.as_mut_ptr()) })?;
    for half in &mut data {
        half[2] = half[1];
    }
    // SAFETY: as above; the kernel only reads both.
    cvt_long(unsafe { libc::syscall(libc::SYS_capset, &raw mut header, data.as_ptr()) })?;
    for number in 0..64_u32 {
        if data[(number / 32) as usize][1] >> (number % 32) & 1 == 1 {
            // SAFETY: PR_CAP_AMBIENT takes integers only.
            cvt(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_RAISE, number, 0, 0) })?;
        }
    }
    Ok(())
}

/// A network namespace, kept alive by its descriptor; it vanishes with the last descriptor, thread and socket in it.
#[derive(Debug)]
pub struct NetworkNamespace {
    fd: OwnedFd,
}

impl NetworkNamespace {
    /// Creates an empty namespace; the calling thread stays where it is.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`.
    pub fn create() -> io::Result<Self> {
        let made = std::thread::scope(|scope| {
            let maker = scope.spawn(|| {
                // SAFETY: takes flags only and moves only this short-lived thread.
                cvt(unsafe { libc::unshare(libc::CLONE_NEWNET) })?;
                Self::current()
            });
            maker.join()
        });
        made.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    }

    /// The namespace of the calling thread.
    ///
    /// # Errors
    /// Those of `open(2)`.
    pub fn current() -> io::Result<Self> {
        Ok(Self {
            fd: fs::File::open("/proc/thread-self/ns/net")?.into(),
        })
    }

    /// Moves the calling thread into the namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN` over it.
    pub fn enter(&self) -> io::Result<()> {
        enter_namespace(self.fd.as_fd(), libc::CLONE_NEWNET)
    }

    /// The namespace's number, as `ls -l /proc/self/ns/net` shows it.
    ///
    /// # Errors
    /// Those of `fstat(2)`.
    pub fn inode(&self) -> io::Result<u64> {
        use std::os::unix::fs::MetadataExt;
        Ok(fs::File::from(self.fd.try_clone()?).metadata()?.ino())
    }
}

impl AsFd for NetworkNamespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Gives the calling thread its own mount namespace in which changes stay private.
///
/// # Errors
/// `EPERM` without `CAP_SYS_ADMIN`.
pub fn unshare_mounts() -> io::Result<()> {
    // SAFETY: takes flags only; also gives this thread its own working directory and root.
    cvt(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
    mount(None, Path::new("/"), None, libc::MS_REC | libc::MS_PRIVATE)
}

/// Mounts an empty memory file system on a directory of the calling thread's mount namespace.
///
/// # Errors
/// Those of `mount(2)`.
pub fn mount_tmpfs(at: &Path) -> io::Result<()> {
    mount(
        Some(Path::new("tmpfs")),
        at,
        Some("tmpfs"),
        libc::MS_NOSUID | libc::MS_NODEV,
    )
}

/// Shows `source` (file or directory) at `at` in the calling thread's mount namespace.
///
/// # Errors
/// Those of `mount(2)`.
pub fn mount_bind(source: &Path, at: &Path) -> io::Result<()> {
    mount(Some(source), at, None, libc::MS_BIND)
}

pub(crate) fn enter_namespace(fd: BorrowedFd<'_>, kind: libc::c_int) -> io::Result<()> {
    // SAFETY: takes a descriptor and flags only; affects the calling thread.
    cvt(unsafe { libc::setns(fd.as_raw_fd(), kind) })?;
    Ok(())
}

fn mount(source: Option<&Path>, at: &Path, kind: Option<&str>, flags: libc::c_ulong) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let source = source.map(|path| text(path.as_os_str().as_bytes())).transpose()?;
    let kind = kind.map(|name| text(name.as_bytes())).transpose()?;
    let at = text(at.as_os_str().as_bytes())?;
    let pointer =
        |string: &Option<CString>| string.as_ref().map_or(std::ptr::null(), |string| string.as_ptr());
    // SAFETY: every pointer is null or a NUL-terminated string that outlives the call.
    cvt(unsafe {
        libc::mount(
            pointer(&source),
            at.as_ptr(),
            pointer(&kind),
            flags,
            std::ptr::null(),
        )
    })?;
    Ok(())
}

fn cvt_long(code: libc::c_long) -> io::Result<()> {
    if code < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::{Address, LinkChange, Netlink, Route, RouteMetrics};

    fn may(test: &str) -> bool {
        let may =
            has_capability(Capability::SysAdmin).unwrap() && has_capability(Capability::NetAdmin).unwrap();
        if !may {
            eprintln!("skipped: {test}: needs CAP_SYS_ADMIN and CAP_NET_ADMIN");
        }
        may
    }

    #[test]
    fn a_namespace_has_its_own_devices_addresses_and_routes() {
        if !may("a_namespace_has_its_own_devices_addresses_and_routes") {
            return;
        }
        let (one, two) = (
            NetworkNamespace::create().unwrap(),
            NetworkNamespace::create().unwrap(),
        );
        assert_ne!(one.inode().unwrap(), two.inode().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                one.enter().unwrap();
                let mut netlink = Netlink::open().unwrap();
                let lo = netlink.link("lo").unwrap();
                netlink
                    .change_link(
                        lo.index,
                        &LinkChange {
                            up: Some(true),
                            ..LinkChange::default()
                        },
                    )
                    .unwrap();
                netlink.add_veth("eth0", "peer0", two.as_fd()).unwrap();
                let link = netlink.link("eth0").unwrap();
                assert_eq!(link.hardware.len(), 6);
                let change = LinkChange {
                    up: Some(true),
                    no_arp: Some(true),
                    mtu: Some(1400),
                    queue_length: Some(2000),
                    gso_max_size: Some(30_000),
                    gso_max_segments: Some(10),
                };
                netlink.change_link(link.index, &change).unwrap();
                let link = netlink.link("eth0").unwrap();
                assert!(link.up && link.mtu == 1400 && link.queue_length == 2000);
                let address = Address {
                    ip: "10.9.8.7".parse().unwrap(),
                    prefix: 32,
                };
                netlink.add_address(link.index, address).unwrap();
                assert_eq!(
                    netlink
                        .add_address(link.index, address)
                        .unwrap_err()
                        .raw_os_error(),
                    Some(libc::EEXIST)
                );
                let route = |algorithm: &str| Route {
                    destination: Address {
                        ip: "0.0.0.0".parse().unwrap(),
                        prefix: 0,
                    },
                    link: link.index,
                    gateway: None,
                    source: Some(address.ip),
                    metrics: RouteMetrics {
                        congestion_control: Some(algorithm.into()),
                        initial_window: Some(4),
                        minimum_rto_ms: Some(300),
                        ..RouteMetrics::default()
                    },
                };
                netlink.set_route(&route("reno")).unwrap();
                netlink.set_route(&route("cubic")).unwrap();
                assert!(netlink.set_route(&route("no-such")).is_err());
            });
        });
        std::thread::scope(|scope| {
            scope.spawn(|| {
                two.enter().unwrap();
                assert_eq!(Netlink::open().unwrap().link("peer0").unwrap().name, "peer0");
            });
        });
    }

    #[test]
    fn mounts_stay_private() {
        if !may("mounts_stay_private") {
            return;
        }
        let directory = Path::new("/tmp");
        let seen = std::thread::spawn(move || {
            unshare_mounts().unwrap();
            mount_tmpfs(directory).unwrap();
            fs::write(directory.join("slowpath-private-mount-test"), "x").unwrap();
            directory.join("slowpath-private-mount-test").exists()
        });
        assert!(seen.join().unwrap());
        assert!(!directory.join("slowpath-private-mount-test").exists());
    }
}

//! TUN devices that hand over whole trains with a [`crate::vnet::VnetHeader`] before each.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::cvt;

/// An open TUN device; it vanishes when this is dropped.
///
/// Reads return one train with its header before it, writes take one; both never block.
#[derive(Debug)]
pub struct Tun {
    file: File,
    /// Whether UDP trains are offered (Linux 6.2 and later).
    pub udp_trains: bool,
}

impl Tun {
    /// Creates a device in the calling thread's network namespace.
    ///
    /// `trains` turns segmentation offloads on: TCP in IPv4 and IPv6, with ECN, and UDP where the kernel can.
    ///
    /// # Errors
    /// `EACCES` or `ENOENT` for `/dev/net/tun`; `EPERM` without `CAP_NET_ADMIN`; `EBUSY` when the name is taken.
    pub fn create(name: &str, trains: bool) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        // SAFETY: all-zero bytes are a valid ifreq.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        if name.len() >= request.ifr_name.len() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from.cast_signed();
        }
        let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
        // SAFETY: TUNSETIFF reads and writes one ifreq, which lives until after the call.
        cvt(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
        let mut tun = Self {
            file,
            udp_trains: false,
        };
        tun.set_trains(trains)?;
        Ok(tun)
    }

    fn set_trains(&mut self, on: bool) -> io::Result<()> {
        if !on {
            return self.set_offload(libc::TUN_F_CSUM);
        }
        let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
        self.udp_trains = self
            .set_offload(tcp | libc::TUN_F_USO4 | libc::TUN_F_USO6)
            .is_ok();
        if self.udp_trains {
            Ok(())
        } else {
            self.set_offload(tcp)
        }
    }

    fn set_offload(&self, mask: libc::c_uint) -> io::Result<()> {
        // SAFETY: TUNSETOFFLOAD takes its mask by value.
        cvt(unsafe {
            libc::ioctl(
                self.file.as_raw_fd(),
                libc::TUNSETOFFLOAD,
                libc::c_ulong::from(mask),
            )
        })?;
        Ok(())
    }

    /// The device as a file, for reading and vectored writing.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

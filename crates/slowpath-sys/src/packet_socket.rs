//! Packet sockets: raw Ethernet frames of one device, with whole trains where the device offers them.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use crate::{cvt, sockopt};

/// A raw socket on one device; reads and writes carry a [`crate::vnet::VnetHeader`] before the Ethernet frame.
///
/// Does not see its own transmissions and bypasses the device's queueing discipline. Never blocks.
#[derive(Debug)]
pub struct PacketSocket {
    file: File,
}

impl PacketSocket {
    /// Opens a socket on device `index` of the calling thread's network namespace.
    ///
    /// # Errors
    /// `EPERM` without `CAP_NET_RAW`.
    pub fn open(index: u32) -> io::Result<Self> {
        let all = u16::try_from(libc::ETH_P_ALL).unwrap_or(0).to_be();
        let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK;
        // Protocol 0 receives nothing until the socket is bound, so no other device's frame slips in.
        let fd = crate::socket(libc::AF_PACKET, kind, 0)?;
        for option in [PACKET_VNET_HDR, PACKET_IGNORE_OUTGOING, PACKET_QDISC_BYPASS] {
            sockopt::set_bytes(fd.as_fd(), libc::SOL_PACKET, option, &1_i32.to_ne_bytes())?;
        }
        // SAFETY: all-zero bytes are a valid sockaddr_ll.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::sa_family_t::try_from(libc::AF_PACKET).unwrap_or(0);
        address.sll_protocol = all;
        address.sll_ifindex = i32::try_from(index).map_err(|_| io::ErrorKind::InvalidInput)?;
        let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).unwrap_or(0);
        // SAFETY: `address` is a sockaddr_ll of `length` bytes that outlives the call.
        cvt(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) })?;
        Ok(Self { file: fd.into() })
    }

    /// Asks for a receive buffer of `bytes`, beyond `net.core.rmem_max` where that is permitted; returns what came of it.
    ///
    /// # Errors
    /// Those of `setsockopt(2)`.
    pub fn set_buffer(&self, bytes: i32) -> io::Result<i32> {
        let value = bytes.to_ne_bytes();
        if sockopt::set_bytes(self.as_fd(), libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &value).is_err() {
            sockopt::set_receive_buffer(self, bytes)?;
        }
        if sockopt::set_bytes(self.as_fd(), libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &value).is_err() {
            sockopt::set_send_buffer(self, bytes)?;
        }
        sockopt::receive_buffer(self)
    }

    /// Frames dropped for want of buffer since the last call (`PACKET_STATISTICS` resets on reading).
    ///
    /// # Errors
    /// Those of `getsockopt(2)`.
    pub fn take_drops(&self) -> io::Result<u32> {
        let mut bytes = [0; 8];
        sockopt::get_bytes(
            self.as_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            &mut bytes,
        )?;
        Ok(u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]))
    }

    /// The socket as a file, for reading and vectored writing.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl AsFd for PacketSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

const PACKET_VNET_HDR: i32 = 15;
const PACKET_QDISC_BYPASS: i32 = 20;
const PACKET_IGNORE_OUTGOING: i32 = 23;

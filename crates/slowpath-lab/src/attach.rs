//! Where packets leave and enter a kernel host: a TUN device, or a virtual Ethernet device with a packet socket.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use slowpath_sys::namespace::NetworkNamespace;
use slowpath_sys::packet_socket::PacketSocket;
use slowpath_sys::tun::Tun;
use slowpath_sys::vnet::VnetHeader;

/// One attachment; reading and writing go through `&self`, so that two wires may share it.
#[derive(Debug)]
pub(crate) enum Attachment {
    /// Trains of bare IP packets.
    Tun(Tun),
    /// Trains of Ethernet frames.
    Veth {
        socket: PacketSocket,
        /// Hardware address of the host's end.
        host: [u8; 6],
        /// Where the wire's end of the pair lives, only to be kept alive.
        _outside: NetworkNamespace,
    },
}

/// Ethernet types.
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
const ETHERNET: usize = 14;

impl Attachment {
    /// Bytes between the header of trains and the IP header.
    pub(crate) fn link_header(&self) -> usize {
        match self {
            Self::Tun(_) => 0,
            Self::Veth { .. } => ETHERNET,
        }
    }

    /// Bytes before the IP header in what is read.
    pub(crate) fn prefix(&self) -> usize {
        VnetHeader::LENGTH + self.link_header()
    }

    /// Reads one train; `None` when there is none.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            match self.file().read(buffer) {
                Ok(length) => return Ok(Some(length)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The header of trains of what was read, with offsets from the IP header; `None` if it carries no IP.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Option<VnetHeader> {
        let mut vnet = VnetHeader::decode(bytes)?;
        if let Self::Veth { .. } = self {
            let kind: [u8; 2] = bytes
                .get(VnetHeader::LENGTH + 12..VnetHeader::LENGTH + 14)?
                .try_into()
                .ok()?;
            if kind != IPV4 && kind != IPV6 {
                return None;
            }
            vnet.checksum_start = vnet.checksum_start.saturating_sub(14);
            vnet.header_length = vnet.header_length.saturating_sub(14);
        }
        Some(vnet)
    }

    /// Writes one train of headers and payload.
    pub(crate) fn write(&self, mut vnet: VnetHeader, headers: &[u8], payload: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(_) => {
                let vnet = vnet.encode();
                self.put(&[IoSlice::new(&vnet), IoSlice::new(headers), IoSlice::new(payload)])
            }
            Self::Veth { host, .. } => {
                if vnet.needs_checksum {
                    vnet.checksum_start += 14;
                }
                vnet.header_length += 14;
                let mut frame = [0; ETHERNET];
                frame[..6].copy_from_slice(host);
                // A locally administered sender that nobody else has.
                frame[6] = 2;
                frame[12..].copy_from_slice(if headers.first().is_some_and(|byte| byte >> 4 == 6) {
                    &IPV6
                } else {
                    &IPV4
                });
                let vnet = vnet.encode();
                self.put(&[
                    IoSlice::new(&vnet),
                    IoSlice::new(&frame),
                    IoSlice::new(headers),
                    IoSlice::new(payload),
                ])
            }
        }
    }

    /// Writes bytes that are already in this attachment's form.
    pub(crate) fn write_whole(&self, bytes: &[u8]) -> io::Result<()> {
        self.put(&[IoSlice::new(bytes)])
    }

    /// Packets that the attachment lost since the last call.
    pub(crate) fn take_drops(&self) -> u64 {
        match self {
            Self::Tun(_) => 0,
            Self::Veth { socket, .. } => socket.take_drops().map_or(0, u64::from),
        }
    }

    fn put(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        loop {
            match self.file().write_vectored(parts) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map(drop),
            }
        }
    }

    fn file(&self) -> &File {
        match self {
            Self::Tun(tun) => tun.file(),
            Self::Veth { socket, .. } => socket.file(),
        }
    }
}

impl AsFd for Attachment {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Veth { socket, .. } => socket.as_fd(),
        }
    }
}

//! Building, sending and taking apart netlink messages.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::{cvt_len, socket};

const HEADER: usize = 16;
const ACK: u16 = 0x4;
const REQUEST: u16 = 0x1;
const MULTI: u16 = 0x2;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const NESTED: u16 = 0x8000;

/// A netlink socket of one protocol.
pub(crate) struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    pub(crate) fn open(protocol: i32) -> io::Result<Self> {
        let fd = socket(libc::AF_NETLINK, libc::SOCK_RAW, protocol)?;
        Ok(Self {
            fd,
            sequence: 0,
            buffer: vec![0; 1 << 16],
        })
    }

    /// Sends a request that only succeeds or fails.
    pub(crate) fn execute(&mut self, message: Message) -> io::Result<()> {
        self.request(message, ACK, &mut |_, _| {})
    }

    /// Sends a request and passes each answer (type, payload) to `answer`.
    ///
    /// `flags` are added to NLM_F_REQUEST: NLM_F_DUMP for lists, NLM_F_ACK for changes, 0 for one object.
    pub(crate) fn request(
        &mut self,
        message: Message,
        flags: u16,
        answer: &mut dyn FnMut(u16, &[u8]),
    ) -> io::Result<()> {
        self.sequence += 1;
        let bytes = message.finish(flags | REQUEST, self.sequence);
        self.send(&bytes)?;
        loop {
            let length = self.receive(0)?;
            if self.consume(length, answer)? {
                return Ok(());
            }
        }
    }

    /// Joins a multicast group.
    ///
    /// The socket gets a number of its own first: what the kernel multicasts does not reach those that have none.
    pub(crate) fn join(&self, group: u32) -> io::Result<()> {
        // SAFETY: all-zero bytes are a valid address of netlink.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = u16::try_from(libc::AF_NETLINK).unwrap_or(0);
        let size = libc::socklen_t::try_from(size_of::<libc::sockaddr_nl>()).unwrap_or(0);
        // SAFETY: pointer and size describe `address`, which the kernel only reads.
        let bound = unsafe { libc::bind(self.fd.as_raw_fd(), (&raw const address).cast(), size) };
        if bound < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            return Err(io::Error::last_os_error());
        }
        let (level, name) = (libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP);
        crate::sockopt::set_bytes(self.fd.as_fd(), level, name, &group.to_ne_bytes())
    }

    /// Passes the payload of every message that waits to `told`; does not wait for more.
    pub(crate) fn drain(&mut self, told: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        loop {
            let length = match self.receive(libc::MSG_DONTWAIT) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
            let mut rest = &self.buffer[..length];
            while let Some(size) = u32_at(rest, 0) {
                let Some(payload) = rest.get(HEADER..size as usize) else {
                    break;
                };
                told(payload);
                rest = rest
                    .get((size as usize).next_multiple_of(4)..)
                    .unwrap_or_default();
            }
        }
    }

    /// Walks through one received buffer; true when the answer is complete.
    fn consume(&self, length: usize, answer: &mut dyn FnMut(u16, &[u8])) -> io::Result<bool> {
        let mut rest = &self.buffer[..length];
        let mut complete = false;
        while let Some(header) = rest.get(..HEADER) {
            let size = u32_at(header, 0).unwrap_or(0) as usize;
            let (kind, flags) = (u16_at(header, 4).unwrap_or(0), u16_at(header, 6).unwrap_or(0));
            let sequence = u32_at(header, 8).unwrap_or(0);
            let Some(payload) = rest.get(HEADER..size) else {
                break;
            };
            if sequence == self.sequence {
                match kind {
                    ERROR => match u32_at(payload, 0).unwrap_or(0).cast_signed() {
                        0 => return Ok(true),
                        code => return Err(io::Error::from_raw_os_error(-code)),
                    },
                    DONE => return Ok(true),
                    _ => {
                        answer(kind, payload);
                        complete = flags & MULTI == 0;
                    }
                }
            }
            rest = rest.get(size.next_multiple_of(4)..).unwrap_or_default();
        }
        Ok(complete)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: pointer and length describe `bytes`; an unconnected netlink socket sends to the kernel.
        cvt_len(unsafe { libc::send(self.fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) })?;
        Ok(())
    }

    fn receive(&mut self, flags: libc::c_int) -> io::Result<usize> {
        // SAFETY: pointer and length describe `buffer`, which the kernel fills.
        cvt_len(unsafe {
            libc::recv(
                self.fd.as_raw_fd(),
                self.buffer.as_mut_ptr().cast(),
                self.buffer.len(),
                flags,
            )
        })
    }
}

/// A message under construction.
pub(crate) struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// Starts a message of type `kind` with its fixed part.
    pub(crate) fn new(kind: u16, fixed: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(fixed);
        let mut message = Self { bytes };
        message.pad();
        message
    }

    pub(crate) fn attribute(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.pad();
    }

    pub(crate) fn attribute_u32(&mut self, kind: u16, value: u32) {
        self.attribute(kind, &value.to_ne_bytes());
    }

    pub(crate) fn attribute_text(&mut self, kind: u16, text: &str) {
        let mut value = text.as_bytes().to_vec();
        value.push(0);
        self.attribute(kind, &value);
    }

    /// Adds an attribute whose value is what `fill` appends (attributes, or a fixed part and attributes).
    pub(crate) fn nest(&mut self, kind: u16, fill: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        self.attribute(kind | NESTED, &[]);
        fill(self);
        let length = u16::try_from(self.bytes.len() - start).unwrap_or(u16::MAX);
        self.bytes[start..start + 2].copy_from_slice(&length.to_ne_bytes());
    }

    /// Appends bytes that are no attribute (the fixed part of a nested message).
    pub(crate) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(super) fn finish(mut self, flags: u16, sequence: u32) -> Vec<u8> {
        let length = u32::try_from(self.bytes.len()).unwrap_or(u32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_ne_bytes());
        self.bytes[6..8].copy_from_slice(&flags.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// Iterates over the attributes in a payload: (type without flags, value).
pub(crate) struct Attributes<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let length = usize::from(u16_at(self.0, 0)?);
        let kind = u16_at(self.0, 2)? & 0x3fff;
        let value = self.0.get(4..length)?;
        self.0 = self.0.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    }
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_round_trip_and_bad_lengths_end_the_walk() {
        let mut message = Message::new(16, &[1, 2, 3]);
        message.attribute_u32(5, 77);
        message.nest(6, |inner| inner.attribute_text(7, "veth"));
        let bytes = message.finish(0, 9);
        assert_eq!(bytes.len() % 4, 0);
        let all: Vec<_> = Attributes(&bytes[HEADER + 4..]).collect();
        assert_eq!(all[0], (5, &77_u32.to_ne_bytes()[..]));
        assert_eq!(all[1].0, 6);
        assert_eq!(Attributes(all[1].1).next(), Some((7, &b"veth\0"[..])));
        for cut in 0..bytes.len() {
            assert!(Attributes(&bytes[cut..]).count() < bytes.len());
        }
        assert_eq!(
            Attributes(&[0, 0, 1, 0, 9]).next(),
            None,
            "a zero length does not loop"
        );
    }
}

//! Addresses of devices.

use std::io;
use std::net::IpAddr;

use super::{Message, Netlink, family, ip_bytes};

/// An address with its prefix length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// Prefix length in bits: 32 or 128 for a host that reaches everything by a route.
    pub prefix: u8,
}

impl Netlink {
    /// Gives a device an address; no duplicate-address detection is done, so it works at once.
    ///
    /// # Errors
    /// `EEXIST` when the device has it; `EACCES` or `EPERM` without the capability, or for IPv6 when it is off.
    pub fn add_address(&mut self, link: u32, address: Address) -> io::Result<()> {
        // struct ifaddrmsg: family, prefix length, flags, scope, index.
        let mut fixed = vec![family(address.ip), address.prefix, IFA_F_NODAD, 0];
        fixed.extend_from_slice(&link.to_ne_bytes());
        let mut message = Message::new(RTM_NEWADDR, &fixed);
        message.attribute(IFA_LOCAL, &ip_bytes(address.ip));
        message.attribute(IFA_ADDRESS, &ip_bytes(address.ip));
        self.socket.request(message, CREATE_NEW, &mut |_, _| {})
    }
}

/// `NLM_F_ACK | NLM_F_EXCL | NLM_F_CREATE`.
pub(super) const CREATE_NEW: u16 = 0x4 | 0x200 | 0x400;
/// `NLM_F_ROOT | NLM_F_MATCH`.
pub(super) const DUMP: u16 = 0x300;
const RTM_NEWADDR: u16 = 20;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;

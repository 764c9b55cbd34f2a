//! Network devices: creation, changes, statistics.

use std::ffi::CString;
use std::io;

use super::message::{u32_at, u64_at};
use super::{Attributes, Message, Netlink};

/// A network device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// Index within its namespace.
    pub index: u32,
    /// Name, for example `"tun0"`.
    pub name: String,
    /// Whether it is administratively up.
    pub up: bool,
    /// Largest IP packet in bytes.
    pub mtu: u32,
    /// Length of the transmit queue in packets.
    pub queue_length: u32,
    /// Hardware address; empty for devices without one.
    pub hardware: Vec<u8>,
    /// The driver's name, such as `"tun"` or `"veth"`; empty for devices that name none.
    pub kind: String,
    /// Counters since the device was created.
    pub stats: LinkStats,
}

/// Counters of a device (`struct rtnl_link_stats64`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkStats {
    /// Packets received by the namespace (a train counts once).
    pub rx_packets: u64,
    /// Packets sent by the namespace (a train counts once).
    pub tx_packets: u64,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Receive errors.
    pub rx_errors: u64,
    /// Transmit errors.
    pub tx_errors: u64,
    /// Packets dropped on reception.
    pub rx_dropped: u64,
    /// Packets dropped on transmission; for TUN: its ring was full.
    pub tx_dropped: u64,
}

/// Changes to a device; `None` leaves a setting alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkChange {
    /// Administratively up or down.
    pub up: Option<bool>,
    /// Turns address resolution off (`IFF_NOARP`).
    pub no_arp: Option<bool>,
    /// Largest IP packet in bytes.
    pub mtu: Option<u32>,
    /// Transmit queue in packets; for TUN the size of its ring.
    pub queue_length: Option<u32>,
    /// Largest super-packet that TCP may hand to the device, in bytes.
    pub gso_max_size: Option<u32>,
    /// Most wire packets in one super-packet.
    pub gso_max_segments: Option<u32>,
}

impl Netlink {
    /// Finds a device by name.
    ///
    /// # Errors
    /// `ENODEV` when there is none of that name.
    pub fn link(&mut self, name: &str) -> io::Result<Link> {
        let mut message = Message::new(RTM_GETLINK, &info_message(0, 0, 0));
        message.attribute_text(IFLA_IFNAME, name);
        let mut found = None;
        self.socket
            .request(message, 0, &mut |_, payload| found = parse(payload))?;
        found.ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
    }

    /// Lists the devices of the namespace.
    ///
    /// # Errors
    /// Those of the netlink request.
    pub fn links(&mut self) -> io::Result<Vec<Link>> {
        let message = Message::new(RTM_GETLINK, &info_message(0, 0, 0));
        let mut all = Vec::new();
        self.socket
            .request(message, super::address::DUMP, &mut |_, payload| {
                all.extend(parse(payload));
            })?;
        Ok(all)
    }

    /// Changes a device.
    ///
    /// # Errors
    /// `EPERM` without the capability; `EINVAL` for values that the device refuses.
    pub fn change_link(&mut self, index: u32, change: &LinkChange) -> io::Result<()> {
        let (mut flags, mut mask) = (0, 0);
        for (bit, wanted) in [(libc::IFF_UP, change.up), (libc::IFF_NOARP, change.no_arp)] {
            let bit = bit.cast_unsigned();
            if let Some(on) = wanted {
                mask |= bit;
                flags |= if on { bit } else { 0 };
            }
        }
        let mut message = Message::new(RTM_NEWLINK, &info_message(index, flags, mask));
        let settings = [
            (IFLA_MTU, change.mtu),
            (IFLA_TXQLEN, change.queue_length),
            (IFLA_GSO_MAX_SIZE, change.gso_max_size),
            (IFLA_GSO_MAX_SEGS, change.gso_max_segments),
        ];
        for (kind, value) in settings {
            if let Some(value) = value {
                message.attribute_u32(kind, value);
            }
        }
        self.socket.execute(message)
    }

    /// Creates a pair of connected virtual Ethernet devices; the second starts in the namespace of `peer_namespace`.
    ///
    /// # Errors
    /// `EEXIST` when a name is taken; `EPERM` without the capability; `EOPNOTSUPP` when the kernel has no veth.
    pub fn add_veth(
        &mut self,
        name: &str,
        peer: &str,
        peer_namespace: std::os::fd::BorrowedFd<'_>,
    ) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        let mut message = Message::new(RTM_NEWLINK, &info_message(0, 0, 0));
        message.attribute_text(IFLA_IFNAME, name);
        message.nest(IFLA_LINKINFO, |info| {
            info.attribute_text(IFLA_INFO_KIND, "veth");
            info.nest(IFLA_INFO_DATA, |data| {
                data.nest(VETH_INFO_PEER, |inner| {
                    inner.raw(&info_message(0, 0, 0));
                    inner.attribute_text(IFLA_IFNAME, peer);
                    inner.attribute(IFLA_NET_NS_FD, &peer_namespace.as_raw_fd().to_ne_bytes());
                });
            });
        });
        self.socket.request(message, 0x4 | 0x200 | 0x400, &mut |_, _| {})
    }

    /// Removes a device.
    ///
    /// # Errors
    /// Those of the netlink request.
    pub fn delete_link(&mut self, index: u32) -> io::Result<()> {
        self.socket
            .execute(Message::new(RTM_DELLINK, &info_message(index, 0, 0)))
    }
}

/// The index of a device in the calling thread's namespace.
///
/// # Errors
/// `ENODEV` when there is none of that name.
pub fn index_of(name: &str) -> io::Result<u32> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(io::Error::last_os_error()),
        index => Ok(index),
    }
}

/// `struct ifinfomsg`.
fn info_message(index: u32, flags: u32, change: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[4..8].copy_from_slice(&index.to_ne_bytes());
    bytes[8..12].copy_from_slice(&flags.to_ne_bytes());
    bytes[12..16].copy_from_slice(&change.to_ne_bytes());
    bytes
}

fn parse(payload: &[u8]) -> Option<Link> {
    let mut link = Link {
        index: u32_at(payload, 4)?,
        up: u32_at(payload, 8)? & libc::IFF_UP.cast_unsigned() != 0,
        ..Link::default()
    };
    for (kind, value) in Attributes(payload.get(16..)?) {
        let int = || u32_at(value, 0).unwrap_or(0);
        match kind {
            IFLA_IFNAME => link.name = text(value),
            IFLA_LINKINFO => {
                let kind = Attributes(value).find(|(kind, _)| *kind == IFLA_INFO_KIND);
                link.kind = kind.map(|(_, value)| text(value)).unwrap_or_default();
            }
            IFLA_ADDRESS => link.hardware = value.to_vec(),
            IFLA_MTU => link.mtu = int(),
            IFLA_TXQLEN => link.queue_length = int(),
            IFLA_STATS64 => link.stats = parse_stats(value),
            _ => {}
        }
    }
    Some(link)
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.strip_suffix(&[0]).unwrap_or(value)).into_owned()
}

fn parse_stats(value: &[u8]) -> LinkStats {
    let word = |position: usize| u64_at(value, position * 8).unwrap_or(0);
    LinkStats {
        rx_packets: word(0),
        tx_packets: word(1),
        rx_bytes: word(2),
        tx_bytes: word(3),
        rx_errors: word(4),
        tx_errors: word(5),
        rx_dropped: word(6),
        tx_dropped: word(7),
    }
}

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_GETLINK: u16 = 18;
const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFLA_LINKINFO: u16 = 18;
const IFLA_STATS64: u16 = 23;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_GSO_MAX_SIZE: u16 = 41;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_loopback() {
        let mut netlink = Netlink::open().unwrap();
        let link = netlink.link("lo").unwrap();
        assert_eq!((link.name.as_str(), link.index), ("lo", index_of("lo").unwrap()));
        assert!(link.mtu >= 1500);
        assert!(netlink.links().unwrap().iter().any(|other| other.name == "lo"));
        assert_eq!(
            netlink.link("no-such-dev").unwrap_err().raw_os_error(),
            Some(libc::ENODEV)
        );
    }
}

//! Whether this process is on a host of a lab, whose only way out is the wire.

use std::net::{IpAddr, UdpSocket};

use slowpath_sys::netlink::{Link, Netlink};

use crate::kernel::DEVICE;

/// Whether this is the network of a lab's host with that address: the address is its own, and beside loopback there is
/// one device, the lab's wire. Nothing that is sent from there leaves the machine.
pub fn is_inside(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok() && devices().is_ok_and(|devices| is_lab(&devices))
}

fn devices() -> std::io::Result<Vec<Link>> {
    Netlink::open()?.links()
}

/// Whether the only device beside loopback is a wire as the lab makes it.
fn is_lab(devices: &[Link]) -> bool {
    let mut others = devices.iter().filter(|device| device.name != "lo");
    let is_wire = others
        .next()
        .is_some_and(|device| device.name == DEVICE && ["tun", "veth"].contains(&device.kind.as_str()));
    is_wire && others.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_labs_wire_alone_is_a_lab() {
        let device = |name: &str, kind: &str| Link {
            name: name.to_owned(),
            kind: kind.to_owned(),
            ..Link::default()
        };
        let lo = || device("lo", "");
        for (devices, expected) in [
            (vec![lo(), device("wire0", "tun")], true),
            (vec![lo(), device("wire0", "veth")], true),
            (vec![lo()], false),
            (vec![lo(), device("eth0", "veth")], false),
            (vec![lo(), device("eth0", "")], false),
            (vec![lo(), device("wire0", "")], false),
            (vec![lo(), device("wire0", "tun"), device("eth0", "")], false),
        ] {
            assert_eq!(is_lab(&devices), expected, "{devices:?}");
        }
    }

    #[test]
    fn the_machines_own_network_is_none() {
        // Loopback, and every address that this machine could have: none makes it a lab.
        for own in ["127.0.0.1", "0.0.0.0", "::1", "192.0.2.1"] {
            assert!(!is_inside(own.parse().unwrap()), "{own}");
        }
    }
}

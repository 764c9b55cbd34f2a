//! Whether this process is on one of `slowpath shell`'s hosts, where every address may be loaded.

use std::net::{IpAddr, UdpSocket};

use slowpath_sys::netlink::{Link, Netlink};

use crate::shell;

/// Whether this is the network of one of the hosts of `slowpath shell`, where nothing leaves the machine: `told` are
/// the addresses that the shell tells its programs, one of them is this host's, and beside loopback there is one device,
/// the lab's wire. On any other network this is false even if somebody left the variables of a shell behind.
pub fn is_own_namespace(told: &[IpAddr]) -> bool {
    let has_address = told
        .iter()
        .any(|address| shell::ADDRESSES.contains(address) && UdpSocket::bind((*address, 0)).is_ok());
    has_address && devices().is_ok_and(|devices| is_lab(&devices))
}

fn devices() -> std::io::Result<Vec<Link>> {
    Netlink::open()?.links()
}

/// Whether the only device beside loopback is a wire as the lab makes it.
fn is_lab(devices: &[Link]) -> bool {
    let mut others = devices.iter().filter(|device| device.name != "lo");
    let is_wire = others.next().is_some_and(|device| {
        device.name == slowpath_lab::DEVICE && ["tun", "veth"].contains(&device.kind.as_str())
    });
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
        let own = ["127.0.0.1", "0.0.0.0", "::1", "192.0.2.1"];
        let own: [IpAddr; 4] = own.map(|address| address.parse().unwrap());
        assert!(!is_own_namespace(&own));
        assert!(!is_own_namespace(&[]));
    }
}

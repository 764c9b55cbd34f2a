//! Which addresses may be loaded, and with how much; which clients are served.
//!
//! A measuring tool fills links on purpose. On a network that others use this needs a decision by a person,
//! so the workloads themselves refuse load on addresses that are neither loopback nor in a namespace of
//! slowpath's own, unless they are told the flag, a cap in bytes and rate, and a deadline.

use std::net::IpAddr;

use slowpath_units::{BitRate, ByteCount};

/// Where load may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Permission {
    /// Loopback addresses only.
    #[default]
    Loopback,
    /// Any address, because the calling thread is in a network namespace that slowpath made: nothing leaves
    /// the machine.
    OwnNamespace,
    /// Any address, explicitly allowed, with a cap. The [`Context`](crate::Context) must also have a deadline.
    Remote {
        /// Application bytes, both directions and all connections together, after which workloads stop.
        bytes: ByteCount,
        /// Highest rate of each sending socket; faster requests are refused or paced down to it.
        rate: BitRate,
    },
}

impl Permission {
    /// Whether `address` may be loaded; `deadline` says whether the run has one.
    ///
    /// # Errors
    /// What is missing.
    pub fn admit(self, address: IpAddr, deadline: bool) -> Result<(), Refused> {
        match self {
            _ if address.to_canonical().is_loopback() => Ok(()),
            Self::OwnNamespace => Ok(()),
            Self::Remote { .. } if deadline => Ok(()),
            Self::Remote { .. } => Err(Refused::Deadline(address)),
            Self::Loopback => Err(Refused::Flag(address)),
        }
    }

    /// The rate that a sending socket towards `address` must not exceed.
    pub fn rate_cap(self, address: IpAddr) -> Option<BitRate> {
        match self {
            Self::Remote { rate, .. } if !address.to_canonical().is_loopback() => Some(rate),
            _ => None,
        }
    }
}

/// An address prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    /// Any address in it.
    pub address: IpAddr,
    /// Length of the prefix in bits.
    pub prefix: u8,
}

impl Network {
    /// Whether `address` lies in it.
    pub fn contains(self, address: IpAddr) -> bool {
        let shift = |bits: u8| u32::from(bits.saturating_sub(self.prefix));
        match (self.address.to_canonical(), address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (u64::from(own.to_bits()) >> shift(32)) == (u64::from(other.to_bits()) >> shift(32))
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let cut = |bits: u128| bits.checked_shr(shift(128)).unwrap_or(0);
                cut(own.to_bits()) == cut(other.to_bits())
            }
            _ => false,
        }
    }
}

/// Why load on an address was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Nobody allowed it.
    #[error(
        "load on {0}, which is not a local address, was not allowed; allow it explicitly with a cap and a \
         deadline, and only on a path whose users agree"
    )]
    Flag(IpAddr),
    /// There is no deadline.
    #[error("load on {0}, which is not a local address, needs a deadline")]
    Deadline(IpAddr),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_load_needs_flag_cap_and_deadline() {
        let loopback: IpAddr = "127.0.0.9".parse().unwrap();
        let mapped: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
        let remote: IpAddr = "192.0.2.1".parse().unwrap();
        let capped = Permission::Remote {
            bytes: ByteCount::new(1),
            rate: BitRate::new(1),
        };
        let cases = [
            (Permission::Loopback, loopback, false, Ok(())),
            (Permission::Loopback, mapped, false, Ok(())),
            (Permission::Loopback, remote, true, Err(Refused::Flag(remote))),
            (Permission::OwnNamespace, remote, false, Ok(())),
            (capped, remote, false, Err(Refused::Deadline(remote))),
            (capped, remote, true, Ok(())),
        ];
        for (permission, address, deadline, expected) in cases {
            assert_eq!(
                permission.admit(address, deadline),
                expected,
                "{permission:?} {address}"
            );
        }
        assert_eq!(capped.rate_cap(loopback), None);
        assert_eq!(capped.rate_cap(remote), Some(BitRate::new(1)));
    }

    #[test]
    fn networks_contain_their_addresses() {
        let network = |text: &str, prefix| Network {
            address: text.parse().unwrap(),
            prefix,
        };
        for (network, address, expected) in [
            (network("192.0.2.0", 24), "192.0.2.255", true),
            (network("192.0.2.0", 24), "192.0.3.0", false),
            (network("0.0.0.0", 0), "203.0.113.9", true),
            (network("192.0.2.1", 32), "::ffff:192.0.2.1", true),
            (network("2001:db8::", 32), "2001:db8:1::1", true),
            (network("2001:db8::", 32), "2001:db9::1", false),
            (network("::", 0), "2001:db9::1", true),
            (network("::", 0), "192.0.2.1", false),
        ] {
            assert_eq!(
                network.contains(address.parse().unwrap()),
                expected,
                "{network:?} {address}"
            );
        }
    }
}

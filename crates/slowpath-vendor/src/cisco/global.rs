//! Commands outside any section.

use slowpath_packet::Dscp;

use super::config::Config;
use crate::notes::Outcome;
use crate::text::number;

pub(super) fn read(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["version", version] => {
            config.version = version.split('.').next().and_then(number);
            Outcome::ignored()
        }
        ["ip", "tcp", rest @ ..] => tcp(rest, config),
        ["no", "ip", "tcp", rest @ ..] => no_tcp(rest, config),
        ["ip", "ftp", "passive"] => {
            config.ftp_active = false;
            Outcome::modelled("FTP data connections are opened by the device only (passive)")
        }
        ["no", "ip", "ftp", "passive"] => {
            config.ftp_active = true;
            Outcome::modelled("the FTP server may open data connections (active)")
        }
        ["ip", "ftp", "source-interface" | "username" | "password", ..] => Outcome::ignored(),
        ["ip", "tftp", "blocksize", bytes] => match number::<u64>(bytes) {
            Some(bytes @ 512..=8192) => {
                config.tftp_block = Some(bytes);
                Outcome::not_modelled(format!("TFTP moves {bytes} bytes per round trip"))
            }
            _ => Outcome::refused("the block size is 512 to 8192 bytes"),
        },
        ["ip", "ssh", rest @ ..] => ssh(rest, config),
        ["no", "ip", "ssh", "bulk-mode", ..] => {
            config.ssh_bulk_mode = None;
            Outcome::not_modelled("SSH keeps its small channel window: copies over long paths are slow")
        }
        ["no", "ip", "ssh", ..] => Outcome::ignored(),
        ["access-list", ..] => Outcome::not_modelled(
            "which packets a list means is not followed; classes by access list match nothing here",
        ),
        ["no", first, ..] if IGNORED.contains(first) => Outcome::ignored(),
        [first, ..] if IGNORED.contains(first) => Outcome::ignored(),
        ["ip" | "ipv6", second, ..] | ["no", "ip" | "ipv6", second, ..] if IGNORED_IP.contains(second) => {
            Outcome::ignored()
        }
        _ => Outcome::unrecognised(),
    }
}

fn tcp(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["window-size", bytes] => match number::<u64>(bytes).filter(|bytes| *bytes <= LARGEST_WINDOW) {
            Some(bytes) => {
                config.window = Some(bytes);
                let scaling = if bytes > 65_535 {
                    format!("with window scaling by {}", shift(bytes))
                } else {
                    "without window scaling".to_owned()
                };
                Outcome::modelled(format!(
                    "receive window of {bytes} bytes {scaling}: at most {bytes} bytes per round trip"
                ))
                .sets("window")
            }
            None => Outcome::refused(format!("the window is 0 to {LARGEST_WINDOW} bytes")),
        },
        ["selective-ack"] => {
            config.selective_ack = true;
            Outcome::modelled(
                "selective acknowledgement is offered: several losses in one window cost one round trip",
            )
            .sets("sack")
        }
        ["timestamp"] => {
            config.timestamp = true;
            Outcome::modelled("timestamps are offered: 12 bytes of every segment").sets("timestamps")
        }
        ["ecn"] => {
            config.ecn = true;
            Outcome::modelled("explicit congestion notification is offered").sets("ecn")
        }
        ["mss", bytes] => match number::<u16>(bytes) {
            Some(bytes @ 68..=10_000) => {
                config.mss = Some(bytes);
                Outcome::modelled(format!(
                    "segments of connections of the device itself carry at most {bytes} bytes"
                ))
                .sets("mss")
            }
            _ => Outcome::refused("the segment size is 68 to 10000 bytes"),
        },
        ["path-mtu-discovery"] | ["path-mtu-discovery", "age-timer", _] => {
            config.path_mtu_discovery = true;
            Outcome::not_modelled(
                "connections of the device itself find the path's MTU instead of using 536-byte segments off-link",
            )
        }
        ["synwait-time", _] => Outcome::ignored(),
        ["queuemax", packets] => match number::<u32>(packets) {
            Some(packets) => Outcome::not_modelled(format!(
                "at most {packets} segments wait to be sent per connection"
            )),
            None => Outcome::unrecognised(),
        },
        ["chunk-size", _] => Outcome::not_modelled("how much is read from a connection at once"),
        ["keepalive" | "async-mobility" | "RST-count", ..] => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn no_tcp(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["window-size", ..] => {
            config.window = None;
            Outcome::modelled("the receive window goes back to its default")
        }
        ["selective-ack"] => {
            config.selective_ack = false;
            Outcome::modelled("selective acknowledgement is not offered, which is the default")
        }
        ["timestamp"] => {
            config.timestamp = false;
            Outcome::modelled("timestamps are not offered, which is the default")
        }
        ["ecn"] => {
            config.ecn = false;
            Outcome::modelled("explicit congestion notification is not offered, which is the default")
        }
        ["mss", ..] => {
            config.mss = None;
            Outcome::modelled("the segment size goes back to its default")
        }
        ["path-mtu-discovery", ..] => {
            config.path_mtu_discovery = false;
            Outcome::not_modelled("the path's MTU is not searched for")
        }
        ["synwait-time" | "queuemax" | "chunk-size" | "keepalive", ..] => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn ssh(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["window-size", bytes] => match number::<u64>(bytes) {
            Some(bytes) => {
                config.ssh_window = Some(bytes);
                Outcome::not_modelled(format!("SSH copies move at most {bytes} bytes per round trip"))
            }
            None => Outcome::refused("the window is a number of bytes"),
        },
        ["bulk-mode"] => {
            config.ssh_bulk_mode = Some(131_072);
            Outcome::not_modelled("SSH copies move up to 131072 bytes per round trip")
        }
        ["bulk-mode", bytes] => match number::<u64>(bytes) {
            Some(bytes) => {
                config.ssh_bulk_mode = Some(bytes);
                Outcome::not_modelled(format!("SSH copies move up to {bytes} bytes per round trip"))
            }
            None => Outcome::refused("the window is a number of bytes"),
        },
        ["dscp", value] => match number::<u8>(value).and_then(Dscp::new) {
            Some(dscp) => {
                config.ssh_dscp = Some(dscp);
                Outcome::not_modelled(format!("SSH packets of the device itself are marked {dscp}"))
            }
            None => Outcome::refused("the mark is 0 to 63"),
        },
        ["precedence", value] => match number::<u8>(value).filter(|value| *value < 8) {
            Some(value) => {
                config.ssh_dscp = Dscp::new(value << 3);
                Outcome::not_modelled(format!(
                    "SSH packets of the device itself are marked with precedence {value}"
                ))
            }
            None => Outcome::refused("the precedence is 0 to 7"),
        },
        _ => Outcome::ignored(),
    }
}

/// The smallest shift with which a window fits 16 bits (RFC 7323, section 2.3).
fn shift(window: u64) -> u32 {
    (0..14)
        .find(|shift| window >> shift <= 65_535)
        .map_or(1 << 14, |shift| 1 << shift)
}

/// The largest value of `ip tcp window-size` (IOS-XE 16.11.1).
const LARGEST_WINDOW: u64 = 1_073_741_823;

/// First words of commands without effect on throughput.
const IGNORED: &[&str] = &[
    "version",
    "service",
    "hostname",
    "boot-start-marker",
    "boot-end-marker",
    "boot",
    "enable",
    "aaa",
    "username",
    "clock",
    "logging",
    "snmp-server",
    "ntp",
    "banner",
    "end",
    "exit",
    "memory",
    "diagnostic",
    "spanning-tree",
    "vtp",
    "vlan",
    "cdp",
    "lldp",
    "mmi",
    "subscriber",
    "multilink",
    "license",
    "login",
    "alias",
    "errdisable",
    "scheduler",
    "cns",
    "card",
    "file",
    "prompt",
    "parser",
    "tftp-server",
    "transceiver",
    "netconf-yang",
    "restconf",
    "Building",
    "Current",
    "Last",
    "NVRAM",
    "stackwise-virtual",
    "switch",
    "authentication",
    "dot1x",
    "password",
    "monitor",
    "privilege",
    "standby",
    "site-id",
];

/// Second words of `ip` commands without effect on throughput.
const IGNORED_IP: &[&str] = &[
    "route",
    "address",
    "domain",
    "domain-name",
    "domain-lookup",
    "name-server",
    "host",
    "http",
    "forward-protocol",
    "cef",
    "subnet-zero",
    "classless",
    "source-route",
    "finger",
    "bootp",
    "gratuitous-arps",
    "dhcp",
    "nat",
    "multicast-routing",
    "pim",
    "igmp",
    "prefix-list",
    "as-path",
    "community-list",
    "scp",
    "telnet",
    "unicast-routing",
    "nd",
    "ospf",
    "eigrp",
    "sla",
    "flow",
    "bgp-community",
    "routing",
    "arp",
    "icmp",
    "radius",
    "tacacs",
    "dns",
    "identd",
    "reflexive-list",
    "virtual-reassembly",
    "redirects",
    "unreachables",
    "proxy-arp",
    "split-horizon",
    "enable",
    "local",
];

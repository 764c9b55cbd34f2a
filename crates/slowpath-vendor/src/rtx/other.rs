//! Commands outside queues, tunnels and IP interfaces.

use super::config::{Config, Scheduler};
use super::line::is_port;
use crate::notes::Outcome;

pub(super) fn read(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["no", rest @ ..] => undo(rest, config),
        ["lan", "type", ..] => Outcome::not_modelled("speed and duplex of a port"),
        ["lan", "port-based-option" | "linkup" | "shutdown", ..] => Outcome::ignored(),
        ["qos", "dscp" | "cos", ..] => Outcome::not_modelled("marks and classes of a switch port"),
        ["nat", ..] => Outcome::not_modelled("address translation costs the device time per packet"),
        ["switch", "control", ..] => Outcome::ignored(),
        ["cooperation" | "statistics", ..] => Outcome::ignored(),
        [first, ..] if IGNORED.contains(first) => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

/// `no ...`: deletes a setting and restores its default.
fn undo(words: &[&str], config: &mut Config) -> Outcome {
    match words {
        ["speed", port, ..] if is_port(port) => {
            config.ports.entry((*port).to_owned()).or_default().speed = None;
            Outcome::modelled("the speed goes back to its default")
        }
        ["queue", port, "type", ..] if is_port(port) => {
            config.ports.entry((*port).to_owned()).or_default().scheduler = Scheduler::Fifo;
            Outcome::modelled("packets leave in the order of arrival")
        }
        ["queue", port, "class", "property", class, ..] if is_port(port) => {
            if let (Some(port), Some(class)) = (config.ports.get_mut(*port), crate::text::number(class)) {
                port.classes.remove(&class);
            }
            Outcome::modelled("the class has the whole interface again")
        }
        ["queue", "class", "filter", id, ..] => {
            if let Some(id) = crate::text::number::<u32>(id) {
                config.class_filters.remove(&id);
            }
            Outcome::modelled("the class filter is deleted")
        }
        ["ip", "tos" | "dscp", "supersede", id, ..] => {
            if let Some(id) = crate::text::number::<u32>(id) {
                config.rewrites.remove(&id);
            }
            Outcome::modelled("the rewriting rule is deleted")
        }
        ["ipv6", "dscp", "supersede", id, ..] => {
            if let Some(id) = crate::text::number::<u32>(id) {
                config.rewrites_v6.remove(&id);
            }
            Outcome::modelled("the rewriting rule is deleted")
        }
        [
            "queue" | "speed" | "ip" | "ipv6" | "ipsec" | "tunnel" | "pp" | "ppp" | "pppoe",
            ..,
        ] => Outcome::not_modelled("a setting goes back to its default"),
        [first, ..] if IGNORED.contains(first) || *first == "nat" => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

/// First words of commands without effect on throughput.
const IGNORED: &[&str] = &[
    "login",
    "administrator",
    "user",
    "security",
    "timezone",
    "console",
    "syslog",
    "dhcp",
    "dns",
    "ntpdate",
    "date",
    "time",
    "telnetd",
    "sshd",
    "sftpd",
    "httpd",
    "schedule",
    "snmp",
    "snmpv2c",
    "snmpv3",
    "description",
    "auth",
    "radius",
    "bgp",
    "ospf",
    "rip",
    "l2ms",
    "wins",
    "netvolante-dns",
    "upnp",
    "sip",
    "mobile",
    "wwan",
    "usbhost",
    "sd",
    "external-memory",
    "embedded",
    "alarm",
    "operation",
    "system",
    "lua",
    "packet-buffer",
    "clear",
    "save",
    "restart",
    "heartbeat",
    "heartbeat2",
    "mail",
    "url",
    "yno",
    "ngn",
    "isdn",
    "analog",
    "bri",
    "pri",
    "account",
    "disconnect",
    "connect",
    "bridge",
    "vlan",
    "vrrp",
    "loopback",
    "dashboard",
    "speaker",
    "igmp",
    "mld",
    "pim",
    "exec",
    "set",
    "show",
    "tftp",
    "rtfs",
    "led",
    "dpi",
    "wlan",
    "provider",
    "certificate",
    "pki",
    "onfi",
    "onu",
    "monitor",
    "keepalive",
    "arp",
    "grp",
    "tcp",
    "lan-map",
    "lldp",
    "wan",
    "boot",
    "detection",
    "sntpd",
    "http",
    "ssh",
    "scp",
    "character",
    "english",
    "quit",
    "exit",
    "copy",
];

//! What follows from all lines together.

use std::collections::BTreeSet;

use super::config::{Config, DEFAULT_CLASS, Peer, Port, Scheduler};
use crate::finding::Trap;
use crate::notes::Notes;

/// Reports settings that contradict each other, lead nowhere, or are known to surprise.
pub(super) fn settle(config: &Config, notes: &mut Notes) {
    for (name, port) in &config.ports {
        scheduler(config, name, port, notes);
    }
    filters(config, notes);
    replay(config, notes);
    tunnels(config, notes);
}

fn scheduler(config: &Config, name: &str, port: &Port, notes: &mut Notes) {
    let property = |class: u16| format!("queue {name} class property {class}");
    if port.scheduler == Scheduler::Fifo {
        if port.speed.is_some() {
            let line = notes.find(&format!("speed {name}"));
            notes.finding(
                line,
                Trap::SpeedWithoutQueue {
                    interface: name.to_owned(),
                },
            );
        }
        if !port.classes.is_empty() {
            let line = notes.find(&format!("queue {name} class property"));
            notes.finding(
                line,
                Trap::ClassesWithoutScheduler {
                    interface: name.to_owned(),
                },
            );
        }
        return;
    }
    if port.scheduler == Scheduler::Priority {
        for class in port
            .classes
            .keys()
            .filter(|class| **class > config.model.priority_classes())
        {
            let line = notes.find(&property(*class));
            notes.finding(
                line,
                Trap::UnknownClass {
                    class: class.to_string(),
                },
            );
        }
        return;
    }
    let default = port.default_class.unwrap_or(DEFAULT_CLASS);
    let limited = |class: u16| {
        port.classes
            .get(&class)
            .is_some_and(|class| class.ceiling.is_some())
    };
    if !port.classes.is_empty() && !limited(default) {
        let line = notes.find(&format!("queue {name} type"));
        notes.finding(
            line,
            Trap::DefaultClassUnlimited {
                interface: name.to_owned(),
                class: default,
            },
        );
    }
    let Some(speed) = port.speed.map(slowpath_units::BitRate::bits_per_s) else {
        return;
    };
    let mut sum = 0_u64;
    for (number, class) in &port.classes {
        if class.ceiling.is_some_and(|ceiling| ceiling.of(speed) > speed) {
            let line = notes.find(&property(*number));
            if let Some(line) = line {
                let why = "more than the speed of the interface";
                notes.hidden(line, &format!("the device refuses this line: {why}"));
            }
            notes.finding(
                line,
                Trap::CeilingAboveSpeed {
                    interface: name.to_owned(),
                    class: *number,
                },
            );
        }
        sum = sum.saturating_add(class.guarantee.map_or(0, |guarantee| guarantee.of(speed)));
    }
    if sum > speed {
        let line = notes.find(&format!("queue {name} class property"));
        notes.finding(
            line,
            Trap::GuaranteesExceedSpeed {
                interface: name.to_owned(),
                sum,
                speed,
            },
        );
    }
}

/// Filters that lists name, against those that exist.
fn filters(config: &Config, notes: &mut Notes) {
    let mut used = BTreeSet::new();
    let mut lists: Vec<(String, &[u32])> = Vec::new();
    lists.extend(config.ports.iter().map(|(name, port)| {
        (
            format!("queue {name} class filter list"),
            port.filter_list.as_slice(),
        )
    }));
    lists.extend(config.tunnels.values().map(|tunnel| {
        (
            "queue tunnel class filter list".to_owned(),
            tunnel.filter_list.as_slice(),
        )
    }));
    lists.extend(config.peers.values().map(|peer: &Peer| {
        (
            "queue pp class filter list".to_owned(),
            peer.filter_list.as_slice(),
        )
    }));
    for (start, list) in lists {
        for number in list {
            used.insert(*number);
            if !config.class_filters.contains_key(number) {
                let line = notes.find_with(&start, *number);
                notes.finding(line, Trap::UnknownFilter { number: *number });
            }
        }
    }
    for number in config
        .class_filters
        .keys()
        .filter(|number| !used.contains(number))
    {
        let line = notes.find(&format!("queue class filter {number} "));
        notes.finding(line, Trap::UnusedFilter { number: *number });
    }
    // Rules of each IP version refer to filters of their own.
    for (rewrites, known, starts) in [
        (
            &config.rewrites,
            &config.filters,
            &["ip tos supersede", "ip dscp supersede"][..],
        ),
        (&config.rewrites_v6, &config.filters_v6, &["ipv6 dscp supersede"]),
    ] {
        let missing: BTreeSet<u32> = rewrites
            .values()
            .flat_map(|rewrite| &rewrite.filters)
            .copied()
            .filter(|filter| !known.contains_key(filter))
            .collect();
        for number in missing {
            let line = starts.iter().find_map(|start| notes.find_with(start, number));
            if line.is_some() {
                notes.finding(line, Trap::UnknownFilter { number });
            }
        }
    }
}

/// A queue that reorders behind an encryption that numbers.
fn replay(config: &Config, notes: &mut Notes) {
    let reorders = config
        .ports
        .values()
        .any(|port| port.scheduler != Scheduler::Fifo);
    for tunnel in config
        .tunnels
        .values()
        .filter(|tunnel| !tunnel.filter_list.is_empty())
    {
        let Some((id, policy)) = tunnel
            .policy
            .and_then(|id| config.policies.get(&id).map(|policy| (id, policy)))
        else {
            continue;
        };
        let checks = policy.anti_replay.unwrap_or_else(|| config.model.checks_replay());
        if reorders && checks {
            let line = notes.find(&format!("ipsec sa policy {id}"));
            notes.finding(line, Trap::AntiReplayBehindQueue { policy: id });
        }
    }
}

impl Config {
    /// The largest packet that fits the line inside tunnel `number`, in IP bytes; `None` for a tunnel that the text
    /// does not describe.
    pub fn tunnel_fits(&self, number: u32) -> Option<u32> {
        let way = self.tunnels.get(&number)?.encapsulation(self)?;
        Some(way.largest_inner(line_mtu(self)))
    }
}

/// The smallest MTU of the lines that could carry a tunnel: the text does not always say which one does.
fn line_mtu(config: &Config) -> u32 {
    config
        .peers
        .values()
        .filter(|peer| peer.port.is_some())
        .map(|peer| peer.link.mtu.unwrap_or(PPPOE_MTU))
        .min()
        .unwrap_or(ETHERNET_MTU)
}

fn tunnels(config: &Config, notes: &mut Notes) {
    for (number, tunnel) in &config.tunnels {
        let Some(encapsulation) = tunnel.encapsulation(config) else {
            continue;
        };
        let fits = encapsulation.largest_inner(line_mtu(config));
        let line = notes.find(&format!("tunnel select {number}"));
        if tunnel.link.mtu.is_none() {
            notes.finding(line, Trap::TunnelMtuDefault { tunnel: *number });
        } else if tunnel.mtu() > fits {
            notes.finding(
                line,
                Trap::TunnelMtuTooLarge {
                    tunnel: *number,
                    mtu: tunnel.mtu(),
                    fits,
                },
            );
        }
    }
}

/// Bytes of an IP packet on Ethernet.
const ETHERNET_MTU: u32 = 1_500;

/// Bytes of an IP packet on PPPoE (RFC 2516): eight less.
const PPPOE_MTU: u32 = 1_492;

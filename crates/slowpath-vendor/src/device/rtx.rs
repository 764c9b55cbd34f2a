//! A Yamaha RTX on a path: rewriting, classes, tunnel, scheduler.
//!
//! The order is the vendor's: marks are rewritten and packets classified before encryption; the queue is that
//! of the last physical port, after encryption.
//!
//! | | reference | here | why |
//! |---|---|---|---|
//! | which bytes a shaper counts | layer 2 by default, layer 1 with `shaping-level=1` | RTX2000: layer 1; others as written, with FCS | the published table fits layer 1; whether FCS counts is not documented |
//! | queue length of the RTX2000 | not documented | 64 packets | the published counts leave 43 to 61 packets behind |
//! | what is left over under DTC | not documented | by guarantee | |
//! | DSCP of the outer header | not documented | copied | reports of others; usual (RFC 2983) |
//! | too large for the tunnel | | says so from a port's address | usual (RFC 1191) |
//! | the far router | | same settings, replay check of the same policy | its configuration is another file |

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use slowpath_packet::overhead::{Encapsulation, IpVersion};
use slowpath_path::{
    Addresses, Adjust, Class, Classes, Classify, Decapsulate, ElementKind, Encapsulate, Framing, Limit, Link,
    Match, Mtu, OuterDf, OuterDscp, Queue, Rate, Remark, RemarkRule, Rule, SetMark, Surplus,
};
use slowpath_scenario::Assumption;
use slowpath_scenario::Standing;
use slowpath_scenario::device::{DeviceElements, DevicePart, DeviceUse};
use slowpath_units::{BitRate, Layer};

use super::error::{DeviceError, unknown_port};
use crate::rtx::{
    ClassFilter, ClassTarget, Config, DEFAULT_CLASS, FilterAction, IpFilter, Mark, MssLimit, Port, Rewrite,
    Scheduler, Tunnel,
};

pub(super) fn elements(config: &Config, device: &DeviceUse) -> Result<DeviceElements, DeviceError> {
    let port = config
        .ports
        .get(&device.port)
        .ok_or_else(|| unknown_port(device, config.ports.keys()))?;
    let mut found = DeviceElements::default();
    let tunnel = config
        .tunnels
        .values()
        .find_map(|tunnel| Some((tunnel, tunnel.encapsulation(config)?)));
    let (tunnel, way) = tunnel.unzip();
    let peer = config
        .peers
        .values()
        .find(|peer| peer.port.as_ref() == Some(&device.port));
    let mut push = |name: &str, does: ElementKind| found.elements.push(DevicePart::new(name, does));

    let remark = remark(config);
    if !remark.rules.is_empty() {
        push("rewrite", ElementKind::Remark(remark));
    }
    let links = [
        Some(&port.link),
        tunnel.map(|tunnel| &tunnel.link),
        peer.map(|peer| &peer.link),
    ];
    let strip_window_scale = links.iter().flatten().any(|link| link.remove_window_scale);
    let line_mtu = peer.map_or(1_500, |peer| peer.link.mtu.unwrap_or(1_492));
    let mss = mss(links, tunnel, line_mtu);
    if mss.is_some() || strip_window_scale {
        push(
            "adjust",
            ElementKind::Adjust(Adjust {
                mss,
                strip_window_scale,
            }),
        );
    }
    let lists = [
        tunnel.map(|tunnel| &tunnel.filter_list),
        peer.map(|peer| &peer.filter_list),
        Some(&port.filter_list),
    ];
    let list = lists.into_iter().flatten().find(|list| !list.is_empty());
    let default = port.default_class.unwrap_or(DEFAULT_CLASS);
    if port.scheduler != Scheduler::Fifo {
        push(
            "classify",
            ElementKind::Classify(classify(config, list.map_or(&[][..], Vec::as_slice), default)),
        );
    }
    if let (Some(tunnel), Some(way)) = (tunnel, way) {
        push(
            "mtu",
            ElementKind::Mtu(Mtu {
                mtu: tunnel.mtu(),
                answers_as: Some(address(config, device)),
                ignore_df: false,
                announced: None,
            }),
        );
        push("encrypt", ElementKind::Encapsulate(encapsulate(way)));
    }
    if peer.is_some() {
        push("pppoe", ElementKind::Framing(Framing { bytes: PPPOE_BYTES }));
    }
    push("port", ElementKind::Link(link(config, port, device, default)));
    if peer.is_some() {
        push("line", ElementKind::Framing(Framing { bytes: 0 }));
    }
    if let Some(tunnel) = tunnel.filter(|_| device.far) {
        push(
            "decrypt",
            ElementKind::Decapsulate(Decapsulate {
                replay_window: replay_window(config, tunnel),
            }),
        );
    }
    found.assumptions = assumptions(config, port, device, tunnel);
    Ok(found)
}

/// The first rule that matches decides; a rejecting filter stops without rewriting. Each IP version has its own rules.
fn remark(config: &Config) -> Remark {
    let v4 = Addresses::prefix(Ipv4Addr::UNSPECIFIED.into(), 0);
    let v6 = Addresses::prefix(Ipv6Addr::UNSPECIFIED.into(), 0);
    let mut rules = rewriting(&config.rewrites, &config.filters, v4);
    rules.extend(rewriting(&config.rewrites_v6, &config.filters_v6, v6));
    Remark { rules }
}

/// The rules of one IP version, whose addresses are `all`.
fn rewriting(
    rewrites: &BTreeMap<u32, Rewrite>,
    filters: &BTreeMap<u32, IpFilter>,
    all: Addresses,
) -> Vec<RemarkRule> {
    let mut rules = Vec::new();
    for rewrite in rewrites.values() {
        let set = match rewrite.set {
            Mark::Tos { tos, precedence } => SetMark::Tos {
                tos,
                precedence,
                spares_ecn: false,
            },
            Mark::Dscp(dscp) => SetMark::Dscp(dscp),
        };
        for filter in rewrite.filters.iter().filter_map(|number| filters.get(number)) {
            let set = if filter.action == FilterAction::Reject {
                SetMark::Keep
            } else {
                set
            };
            let mut matches = filter.matches.clone();
            if matches.src.is_empty() {
                matches.src.push(all);
            }
            rules.push(RemarkRule { matches, set });
        }
    }
    rules
}

/// The smallest limit on segments that any of the interfaces sets.
fn mss(links: [Option<&crate::rtx::Link>; 3], tunnel: Option<&Tunnel>, line_mtu: u32) -> Option<u16> {
    let headers = 40;
    let [_, in_tunnel, _] = links;
    links
        .into_iter()
        .flatten()
        .filter_map(|link| match link.mss_limit? {
            MssLimit::Off => None,
            MssLimit::Bytes(bytes) => Some(bytes),
            MssLimit::Auto => {
                let own = in_tunnel.is_some_and(|tunnel_link| std::ptr::eq(tunnel_link, link));
                let mtu = match tunnel {
                    Some(tunnel) if own => tunnel.mtu(),
                    _ => link.mtu.unwrap_or(line_mtu),
                };
                u16::try_from(mtu.saturating_sub(headers)).ok()
            }
        })
        .min()
}

fn classify(config: &Config, list: &[u32], default: u16) -> Classify {
    let filters = list
        .iter()
        .filter_map(|number| config.class_filters.get(number))
        .filter(|filter| !filter.ipv6);
    let rules = filters.flat_map(rules).collect();
    Classify {
        rules,
        default_class: Some(class(default)),
        default_output: 0,
    }
}

fn rules(filter: &ClassFilter) -> Vec<Rule> {
    let rule = |matches: Match, number: u16| Rule {
        matches,
        class: Some(class(number)),
        output: 0,
    };
    match &filter.target {
        ClassTarget::Class(number) => vec![rule(filter.matches.clone(), *number)],
        ClassTarget::Precedence(mapping) => (0..8)
            .map(|precedence| {
                let mapped = mapping
                    .iter()
                    .find(|(from, _)| *from == precedence)
                    .map(|(_, class)| *class);
                let matches = Match {
                    precedence: vec![precedence],
                    ..filter.matches.clone()
                };
                rule(matches, mapped.unwrap_or(u16::from(precedence) + 1))
            })
            .collect(),
        // The table is not published.
        ClassTarget::Dscp => Vec::new(),
    }
}

/// The address from which the router says that a packet is too large: that of a port towards senders.
fn address(config: &Config, device: &DeviceUse) -> IpAddr {
    config
        .ports
        .iter()
        .filter(|(name, _)| **name != device.port)
        .find_map(|(_, port)| port.link.address.as_deref()?.split('/').next()?.parse().ok())
        .unwrap_or(UNNAMED)
}

fn encapsulate(way: Encapsulation) -> Encapsulate {
    let (src, dst) = match outer(way) {
        IpVersion::V4 => (IpAddr::from([198, 51, 100, 1]), IpAddr::from([198, 51, 100, 2])),
        IpVersion::V6 => (
            IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 1]),
            IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, 2]),
        ),
    };
    Encapsulate {
        way,
        src,
        dst,
        dscp: OuterDscp::Copy,
        df: OuterDf::Copy,
    }
}

fn link(config: &Config, port: &Port, device: &DeviceUse, default: u16) -> Link {
    let layer = config.model.counts(port.shaping_level);
    let length = |number: u16| {
        let index = usize::from(number.saturating_sub(1));
        let written = port.lengths.get(index).or(port.lengths.last()).copied();
        written.unwrap_or_else(|| queue_length(config))
    };
    let speed = port.speed.unwrap_or(device.line);
    let mut numbers: Vec<u16> = port.classes.keys().copied().chain([default]).collect();
    numbers.extend(
        config
            .class_filters
            .values()
            .flat_map(|filter| match &filter.target {
                ClassTarget::Class(number) => vec![*number],
                ClassTarget::Precedence(mapping) => {
                    (1..=8).chain(mapping.iter().map(|(_, class)| *class)).collect()
                }
                ClassTarget::Dscp => Vec::new(),
            }),
    );
    numbers.sort_unstable();
    numbers.dedup();
    let queue = match port.scheduler {
        Scheduler::Fifo | Scheduler::Cbq | Scheduler::Wfq => {
            Queue::Fifo(slowpath_path::Fifo::new(Limit::Packets(length(1))))
        }
        Scheduler::Priority => Queue::Classes(Classes {
            classes: numbers
                .iter()
                .map(|n| Class {
                    rank: class(*n),
                    ..Class::plain(class(*n), length(*n))
                })
                .collect(),
            default: class(default),
            speed: port.speed,
            layer,
            counts_inner: false,
            surplus: Surplus::ByNumber,
        }),
        Scheduler::Shaping => Queue::Classes(Classes {
            classes: numbers
                .iter()
                .map(|number| {
                    let settings = port.classes.get(number).copied().unwrap_or_default();
                    // A bandwidth above the interface's is refused: the class has what a class without one has.
                    let rate =
                        |share: crate::rtx::Share| BitRate::new(share.of(speed.bits_per_s())).min(speed);
                    let ceiling = settings.ceiling.map_or(speed, rate);
                    Class {
                        rank: u8::from(settings.priority) * class(*number),
                        guarantee: settings.guarantee.map(rate).or(settings.ceiling.map(|_| ceiling)),
                        ceiling: Some(ceiling),
                        ..Class::plain(class(*number), length(*number))
                    }
                })
                .collect(),
            default: class(default),
            speed: None,
            layer,
            counts_inner: false,
            surplus: Surplus::ByGuarantee,
        }),
    };
    Link {
        rate: Rate::Fixed(device.line),
        layer: Layer::Wire,
        queue,
    }
}

fn queue_length(config: &Config) -> u32 {
    if config.model.name == "RTX2000" {
        RTX2000_QUEUE
    } else {
        config.model.queue_length()
    }
}

/// The window of the receiver's replay check, if it checks.
fn replay_window(config: &Config, tunnel: &Tunnel) -> Option<u32> {
    let policy = config.policies.get(&tunnel.policy?)?;
    policy
        .anti_replay
        .unwrap_or_else(|| config.model.checks_replay())
        .then_some(REPLAY_WINDOW)
}

fn assumptions(config: &Config, port: &Port, device: &DeviceUse, tunnel: Option<&Tunnel>) -> Vec<Assumption> {
    let assumption = |name: &str, value: String, standing: Standing, source: &str| Assumption {
        place: format!("{} {}", device.file, device.port),
        name: name.to_owned(),
        value,
        standing,
        source: source.to_owned(),
    };
    let mut list = Vec::new();
    let rtx2000 = config.model.name == "RTX2000";
    if port.lengths.is_empty() && rtx2000 {
        list.push(assumption(
            "queue length",
            format!("{RTX2000_QUEUE} packets"),
            Standing::Fitted,
            "the published counts exceed the allocations by 43 to 61 packets",
        ));
    }
    if port.shaping_level.is_none() && port.scheduler != Scheduler::Fifo {
        let (standing, source) = if rtx2000 {
            (
                Standing::Fitted,
                "the published counts fit the encrypted packet with preamble and gap",
            )
        } else {
            (
                Standing::Assumed,
                "layer 2 is the documented default; whether FCS counts is not documented",
            )
        };
        list.push(assumption(
            "what the shaper counts",
            config.model.counts(port.shaping_level).to_string(),
            standing,
            source,
        ));
    }
    if tunnel.is_some() {
        list.push(assumption(
            "mark of the outer header",
            "copied".to_owned(),
            Standing::Assumed,
            "not documented for this router; usual (RFC 2983)",
        ));
    }
    list
}

fn class(number: u16) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn outer(way: Encapsulation) -> IpVersion {
    match way {
        Encapsulation::Ipip { outer }
        | Encapsulation::Gre { outer, .. }
        | Encapsulation::Esp { outer, .. }
        | Encapsulation::Vxlan { outer }
        | Encapsulation::Udp { outer } => outer,
        Encapsulation::Translation => IpVersion::V6,
    }
}

/// A router whose configuration names no address of its own (RFC 5737, section 3).
const UNNAMED: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

/// PPPoE's header and PPP's protocol number (RFC 2516).
const PPPOE_BYTES: u8 = 8;

/// Packets that a class's queue holds; not documented, fitted.
const RTX2000_QUEUE: u32 = 64;

/// Packets of the replay window (RFC 4303 recommends 64).
const REPLAY_WINDOW: u32 = 64;

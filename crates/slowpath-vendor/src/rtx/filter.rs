//! Filters, rewriting, and the lines of IP interfaces (chapters 8, 26 and 30).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use slowpath_packet::{Dscp, Protocol};
use slowpath_path::elements::classify::{Addresses, Match};

use super::config::{
    ClassFilter, ClassTarget, Config, FilterAction, IpFilter, Link, Mark, MssLimit, Ports, Protocols, Rewrite,
};
use super::line::{Command, Context, dscp, is_port};
use crate::finding::Trap;
use crate::notes::Outcome;
use crate::text::number;

pub(super) fn read(words: &[&str], command: &Command, config: &mut Config, context: &Context) -> Outcome {
    match words {
        ["ip", "filter", id, rest @ ..] => ip_filter(id, rest, &mut config.filters),
        ["ipv6", "filter", id, rest @ ..] => ip_filter(id, rest, &mut config.filters_v6),
        ["ip" | "ipv6", "filter" | "inbound", ..] => Outcome::not_modelled(
            "a filter that is not followed; each filter costs the device time per packet",
        ),
        ["ip", "tos", "supersede", id, tos, rest @ ..] => tos_supersede(id, tos, rest, config),
        ["ip", "dscp", "supersede", id, mark, filters @ ..] => {
            dscp_supersede(false, id, mark, filters, config)
        }
        ["ipv6", "dscp", "supersede", id, mark, filters @ ..] => {
            dscp_supersede(true, id, mark, filters, config)
        }
        ["ip", "fragment", "remove", "df-bit", ..] => Outcome::not_modelled(
            "routers may fragment packets whose senders forbade it: no black holes, but fragments",
        ),
        ["ip", "route", destination, "gateway", rest @ ..] if !rest.is_empty() => {
            config.routes.push(((*destination).to_owned(), rest.join(" ")));
            Outcome::modelled(format!(
                "packets to {destination} leave through {}",
                rest[..rest.len().min(2)].join(" ")
            ))
        }
        ["ip" | "ipv6", "pp", rest @ ..] => match context.pp() {
            Some(number) => link(
                rest,
                command,
                &format!("peer {number}"),
                &mut config.peers.entry(number).or_default().link,
            ),
            None => Outcome::doubtful("without `pp select` this line belongs to no peer"),
        },
        ["ip" | "ipv6", "tunnel", rest @ ..] => match context.tunnel() {
            Some(number) => link(
                rest,
                command,
                &format!("tunnel {number}"),
                &mut config.tunnels.entry(number).or_default().link,
            ),
            None => Outcome::doubtful("without `tunnel select` this line belongs to no tunnel"),
        },
        ["ip" | "ipv6", port, rest @ ..] if is_port(port) => {
            let name = (*port).to_owned();
            link(
                rest,
                command,
                port,
                &mut config.ports.entry(name).or_default().link,
            )
        }
        [
            "ip" | "ipv6",
            "loopback1" | "loopback2" | "loopback3" | "loopback",
            ..,
        ] => Outcome::ignored(),
        ["ip" | "ipv6", second, ..] if IGNORED.contains(second) => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

/// The lines of one IP interface, without `ip` and the interface's name.
fn link(words: &[&str], command: &Command, name: &str, link: &mut Link) -> Outcome {
    match words {
        ["address", address, ..] => {
            if link.address.is_none() {
                // Addresses keep their writing; prefixes may be in upper-case hexadecimal.
                link.address = command
                    .written
                    .iter()
                    .find(|word| word.eq_ignore_ascii_case(address))
                    .cloned();
            }
            Outcome::modelled(format!("{name} has the address {address}"))
        }
        ["mtu", bytes] => match number::<u32>(bytes).filter(|bytes| (64..=9_578).contains(bytes)) {
            Some(bytes) => {
                link.mtu = Some(bytes);
                Outcome::modelled(format!(
                    "packets above {bytes} bytes are fragmented or refused at {name}"
                ))
            }
            None => Outcome::refused("the MTU is 64 to 9578 bytes"),
        },
        ["tcp", "mss", "limit", value] => {
            let limit = match *value {
                "auto" => Some(MssLimit::Auto),
                "off" => Some(MssLimit::Off),
                bytes => number::<u16>(bytes)
                    .filter(|bytes| (536..=1_460).contains(bytes))
                    .map(MssLimit::Bytes),
            };
            link.mss_limit = limit;
            match limit {
                None => Outcome::refused("auto, off, or 536 to 1460 bytes"),
                Some(MssLimit::Auto) => Outcome::modelled(format!(
                    "segments of passing connections are made to fit the MTU of {name}"
                )),
                Some(MssLimit::Off) => Outcome::modelled("segments of passing connections are not limited"),
                Some(MssLimit::Bytes(bytes)) => Outcome::modelled(format!(
                    "segments of passing connections carry at most {bytes} bytes"
                )),
            }
        }
        ["tcp", "window-scale", "remove"] | ["tcp", "window-scale", "remove", "on"] => {
            link.remove_window_scale = true;
            Outcome::modelled(
                "window scaling is taken out of passing handshakes: at most 65535 bytes per round trip",
            )
            .trap(Trap::WindowScaleRemoved)
        }
        ["tcp", "window-scale", ..] => {
            link.remove_window_scale = false;
            Outcome::modelled("window scaling passes, which is the default")
        }
        ["secure", "filter", ..] => Outcome::not_modelled(
            "filters drop packets and cost the device time; intrusion detection costs more",
        ),
        ["intrusion", "detection", ..] => {
            Outcome::not_modelled("intrusion detection costs the device time per packet")
        }
        [
            "rebound" | "wol" | "proxyarp" | "arp" | "secondary" | "routing" | "rip" | "ospf" | "nat"
            | "dhcp" | "pim" | "igmp" | "mld" | "traffic" | "vrrp" | "icmp" | "prefix" | "rtadv" | "forward"
            | "broadcast" | "hold-routing" | "remote" | "keepalive" | "secondary-address" | "redirect",
            ..,
        ] => Outcome::ignored(),
        _ => Outcome::unrecognised(),
    }
}

fn ip_filter(id: &str, words: &[&str], filters: &mut BTreeMap<u32, IpFilter>) -> Outcome {
    let Some(id) = number::<u32>(id) else {
        return match id {
            "dynamic" | "set" | "source-route" | "directed-broadcast" | "fqdn" => Outcome::not_modelled(
                "a filter that is not followed; each filter costs the device time per packet",
            ),
            _ => Outcome::unrecognised(),
        };
    };
    let (Some(action), Some(fields)) = (words.first(), words.get(1..)) else {
        return Outcome::refused("an action");
    };
    let action = match action.split('-').next() {
        Some("pass") => FilterAction::Pass,
        Some("reject") => FilterAction::Reject,
        Some("restrict") => FilterAction::Restrict,
        _ => return Outcome::refused("an action: pass, reject or restrict"),
    };
    match matches(fields) {
        Err(why) => Outcome::refused(why),
        Ok(None) => Outcome::not_modelled("a filter of a kind that is not followed"),
        Ok(Some(matches)) => {
            filters.insert(id, IpFilter { action, matches });
            Outcome::not_modelled(
                "a filter: rewriting rules may refer to it; what it passes or drops is not modelled, and each costs time per packet",
            )
        }
    }
}

fn tos_supersede(id: &str, tos: &str, rest: &[&str], config: &mut Config) -> Outcome {
    let tos = match tos {
        "normal" => Some(0),
        "min-monetary-cost" => Some(1),
        "max-reliability" => Some(2),
        "max-throughput" => Some(4),
        "min-delay" => Some(8),
        word => number::<u8>(word).filter(|tos| *tos < 16),
    };
    let mut precedence = None;
    let mut filters = Vec::new();
    for word in rest {
        if let Some(value) = word.strip_prefix("precedence=") {
            match number::<u8>(value).filter(|value| *value < 8) {
                Some(value) => precedence = Some(value),
                None => return Outcome::refused("a precedence of 0 to 7"),
            }
        } else if let Some(filter) = number(word) {
            filters.push(filter);
        } else {
            return Outcome::refused(format!("`{word}` is not the number of a filter"));
        }
    }
    let (Some(id), Some(tos)) = (number::<u32>(id).filter(|id| (1..=65_535).contains(id)), tos) else {
        return Outcome::refused("an identifier of 1 to 65535 and a ToS of 0 to 15");
    };
    if filters.is_empty() {
        return Outcome::refused("the number of a filter is missing");
    }
    config.rewrites.insert(
        id,
        Rewrite {
            set: Mark::Tos { tos, precedence },
            filters,
        },
    );
    match precedence {
        Some(precedence) => {
            let byte = precedence * 32 + tos * 2;
            Outcome::modelled(format!(
                "forwarded packets of the filters are marked {}",
                Dscp::from_tos(byte)
            ))
        }
        None => Outcome::doubtful(
            "only the four ToS bits are written; the precedence, and with it a class selector, stays",
        )
        .trap(Trap::TosKeepsPrecedence),
    }
}

fn dscp_supersede(ipv6: bool, id: &str, mark: &str, filters: &[&str], config: &mut Config) -> Outcome {
    if config.model.has_dscp_supersede() == Some(false) {
        return Outcome::refused(format!(
            "{} with this firmware has no dscp supersede",
            config.model.name
        ));
    }
    let Some(set) = dscp(mark).or_else(|| number(mark).and_then(Dscp::new)) else {
        return Outcome::refused("a mark of 0 to 63, default, cs1 to cs7, af11 to af43 or ef");
    };
    let Some(id) = number::<u32>(id).filter(|id| (1..=65_535).contains(id)) else {
        return Outcome::refused("an identifier of 1 to 65535");
    };
    match filters
        .iter()
        .map(|word| number(word))
        .collect::<Option<Vec<u32>>>()
    {
        Some(filters) if !filters.is_empty() => {
            let rules = if ipv6 {
                &mut config.rewrites_v6
            } else {
                &mut config.rewrites
            };
            rules.insert(
                id,
                Rewrite {
                    set: Mark::Dscp(set),
                    filters,
                },
            );
            let family = if ipv6 { "IPv6" } else { "IPv4" };
            Outcome::modelled(format!(
                "forwarded {family} packets of the filters are marked {set}"
            ))
        }
        _ => Outcome::refused("the number of a filter is missing"),
    }
}

/// `CLASS [cos=...] ip|ipv6 SRC [DST [PROTO [SPORT [DPORT]]]]`; `None` is a known form that is not followed.
pub(super) fn class_filter(words: &[&str]) -> Result<Option<ClassFilter>, String> {
    let (class, mut rest) = words.split_first().ok_or("a class is missing")?;
    let mut mapping = Vec::new();
    while let Some((option, value)) = rest.first().and_then(|word| word.split_once('=')) {
        match option {
            "cos" => {}
            "mapping" => {
                for pair in value.split(',') {
                    let (precedence, class) = pair.split_once(':').ok_or("mapping=PRECEDENCE:CLASS")?;
                    mapping.push((
                        number(precedence).ok_or("a precedence")?,
                        number(class).ok_or("a class")?,
                    ));
                }
            }
            _ => return Ok(None),
        }
        rest = &rest[1..];
    }
    let target = match *class {
        "precedence" => ClassTarget::Precedence(mapping),
        "dscp" => ClassTarget::Dscp,
        word => {
            // `class1/class2` names a second level.
            let first = word.split('/').next().unwrap_or(word);
            ClassTarget::Class(number(first).ok_or_else(|| format!("`{word}` is not a class"))?)
        }
    };
    let (ipv6, fields) = match rest {
        ["ip", fields @ ..] => (false, fields),
        ["ipv6", fields @ ..] => (true, fields),
        _ => return Err("`ip` or `ipv6` is missing".to_owned()),
    };
    if fields.first() == Some(&"dpi") {
        return Ok(None);
    }
    Ok(matches(fields)?.map(|matches| ClassFilter {
        target,
        ipv6,
        matches,
        written: fields.join(" "),
    }))
}

/// `SRC [DST [PROTO [SPORT [DPORT]]]]`; omitted fields are `*`.
fn matches(fields: &[&str]) -> Result<Option<Match>, String> {
    let field = |index: usize| fields.get(index).copied().unwrap_or("*");
    let (Some(src), Some(dst)) = (addresses(field(0)), addresses(field(1))) else {
        return Ok(None);
    };
    let Some(protocols) = protocols(field(2)) else {
        return Ok(None);
    };
    let ports = |word: &str| ports(word).ok_or_else(|| format!("`{word}` is not a list of ports"));
    Ok(Some(Match {
        src,
        dst,
        protocols,
        src_ports: ports(field(3))?,
        dst_ports: ports(field(4))?,
        ..Match::default()
    }))
}

/// A list of addresses, ranges, prefixes or octet wildcards; `None` for names and other forms.
fn addresses(word: &str) -> Option<Vec<Addresses>> {
    if word == "*" {
        return Some(Vec::new());
    }
    word.split(',').map(address_range).collect()
}

fn address_range(word: &str) -> Option<Addresses> {
    if let Some((first, last)) = word.split_once('-') {
        return Some(Addresses {
            first: first.parse().ok()?,
            last: last.parse().ok()?,
        });
    }
    if let Some((address, mask)) = word.split_once('/') {
        let address: IpAddr = address.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let length = match mask.parse::<Ipv4Addr>() {
            Ok(mask) => prefix_length(u32::from(mask))?,
            Err(_) => match mask.strip_prefix("0x") {
                Some(hex) => prefix_length(u32::from_str_radix(hex, 16).ok()?)?,
                None => number::<u8>(mask)?,
            },
        };
        return (length <= most).then(|| Addresses::prefix(address, length));
    }
    if let Some(fixed) = word.strip_suffix(".*") {
        // Wildcards at the end are a prefix; others are not followed.
        let octets: Vec<&str> = fixed.split('.').filter(|octet| *octet != "*").collect();
        if octets.len() > 3
            || fixed.split('.').count() > 3
            || fixed.split('.').take(octets.len()).any(|octet| octet == "*")
        {
            return None;
        }
        let mut address = [0_u8; 4];
        for (place, octet) in address.iter_mut().zip(&octets) {
            *place = number(octet)?;
        }
        let length = u8::try_from(octets.len() * 8).ok()?;
        return Some(Addresses::prefix(IpAddr::from(address), length));
    }
    word.parse().ok().map(Addresses::one)
}

fn prefix_length(mask: u32) -> Option<u8> {
    (mask.leading_ones() + mask.trailing_zeros() >= 32)
        .then(|| u8::try_from(mask.leading_ones()).unwrap_or(32))
}

/// Up to five protocols; `None` for words that are not followed, such as `established`.
fn protocols(word: &str) -> Option<Protocols> {
    if word == "*" {
        return Some(Vec::new());
    }
    word.split(',')
        .map(|protocol| {
            Some(match protocol {
                "icmp" | "icmp-error" | "icmp-info" => Protocol::ICMP,
                "icmp6" => Protocol::ICMPV6,
                "tcp" => Protocol::TCP,
                "udp" => Protocol::UDP,
                "esp" => Protocol::ESP,
                "gre" => Protocol(47),
                "ah" => Protocol(51),
                "ipip" => Protocol(4),
                number => Protocol(self::number(number)?),
            })
        })
        .collect()
}

/// Up to ten ports, ranges or names.
fn ports(word: &str) -> Option<Ports> {
    if word == "*" {
        return Some(Vec::new());
    }
    word.split(',')
        .map(|part| {
            if let Some((first, last)) = part.split_once('-') {
                let first = if first.is_empty() { 0 } else { port(first)? };
                let last = if last.is_empty() { u16::MAX } else { port(last)? };
                return (first <= last).then_some(first..=last);
            }
            let one = port(part)?;
            Some(one..=one)
        })
        .collect()
}

fn port(word: &str) -> Option<u16> {
    PORT_NAMES
        .iter()
        .find(|(name, _)| *name == word)
        .map(|(_, port)| *port)
        .or_else(|| number(word))
}

/// The mnemonics of the reference's list.
const PORT_NAMES: &[(&str, u16)] = &[
    ("ftpdata", 20),
    ("ftp", 21),
    ("ssh", 22),
    ("telnet", 23),
    ("smtp", 25),
    ("time", 37),
    ("whois", 43),
    ("dns", 53),
    ("domain", 53),
    ("dhcps", 67),
    ("dhcpc", 68),
    ("tftp", 69),
    ("gopher", 70),
    ("finger", 79),
    ("www", 80),
    ("http", 80),
    ("pop3", 110),
    ("sunrpc", 111),
    ("ident", 113),
    ("nntp", 119),
    ("ntp", 123),
    ("ms-rpc", 135),
    ("netbios_ns", 137),
    ("netbios_dgm", 138),
    ("netbios_ssn", 139),
    ("imap", 143),
    ("snmp", 161),
    ("snmptrap", 162),
    ("bgp", 179),
    ("imap3", 220),
    ("ldap", 389),
    ("https", 443),
    ("ms-ds", 445),
    ("ike", 500),
    ("rlogin", 513),
    ("rwho", 513),
    ("rsh", 514),
    ("syslog", 514),
    ("printer", 515),
    ("rip", 520),
    ("ripng", 521),
    ("ms-sql", 1433),
    ("h323", 1720),
    ("nfs", 2049),
    ("msblast", 4444),
    ("sip", 5060),
    ("submission", 587),
];

/// Second words of `ip` and `ipv6` commands without effect on throughput.
const IGNORED: &[&str] = &[
    "routing",
    "route",
    "stealth",
    "icmp",
    "flow",
    "arp",
    "host",
    "policy",
    "implicit-route",
    "keepalive",
    "simple-service",
    "prefix",
    "source",
    "rh0",
    "max",
    "ospf",
    "rip",
    "nd",
    "multicast",
    "interface",
    "local",
    "reassembly",
];

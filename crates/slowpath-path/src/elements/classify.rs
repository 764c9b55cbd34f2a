//! Telling packets apart by addresses, ports, protocol and marks; choosing a class or a way.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use slowpath_packet::{Dscp, Ecn, FlowKey, Protocol};

use crate::context::Step;
use crate::flows::Flows;
use crate::packet::Packet;
use crate::setting::SettingError;

/// Gives each packet a class, or sends it out of one of several outputs, by the first rule that matches.
///
/// Outputs: as many as rules and default name. Inside a tunnel it sees the tunnel's own addresses and protocol;
/// classify before the tunnel to see the inner ones.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classify {
    /// The rules, in order; the first that matches decides.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// The class of what no rule matches; nothing keeps the class it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_class: Option<u8>,
    /// The output of what no rule matches.
    #[serde(default)]
    pub default_output: u8,
}

/// One rule of a classifier.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it matches.
    #[serde(default)]
    pub matches: Match,
    /// The class it gives; nothing keeps the class the packet has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<u8>,
    /// The output it leads to.
    #[serde(default)]
    pub output: u8,
}

/// What a rule looks at; every list that is not empty must contain the packet's value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Match {
    /// Source addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub src: Vec<Addresses>,
    /// Destination addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dst: Vec<Addresses>,
    /// Protocols.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<Protocol>,
    /// Source ports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub src_ports: Vec<RangeInclusive<u16>>,
    /// Destination ports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dst_ports: Vec<RangeInclusive<u16>>,
    /// Code points.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dscp: Vec<Dscp>,
    /// IP precedences, 0 to 7 (RFC 791).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub precedence: Vec<u8>,
    /// Type-of-service values, the four bits 0 to 15 of RFC 1349; the lowest but one overlaps the ECN field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tos: Vec<u8>,
    /// ECN fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ecn: Vec<Ecn>,
}

/// A range of addresses of one IP version, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Addresses {
    /// The lowest.
    pub first: IpAddr,
    /// The highest.
    pub last: IpAddr,
}

impl Addresses {
    /// One address.
    pub const fn one(address: IpAddr) -> Self {
        Self {
            first: address,
            last: address,
        }
    }

    /// All addresses that share the first `length` bits with `address`.
    pub fn prefix(address: IpAddr, length: u8) -> Self {
        match address {
            IpAddr::V4(v4) => {
                let host = u32::MAX.checked_shr(u32::from(length)).unwrap_or(0);
                let bits = u32::from(v4);
                Self {
                    first: IpAddr::V4((bits & !host).into()),
                    last: IpAddr::V4((bits | host).into()),
                }
            }
            IpAddr::V6(v6) => {
                let host = u128::MAX.checked_shr(u32::from(length)).unwrap_or(0);
                let bits = u128::from(v6);
                Self {
                    first: IpAddr::V6((bits & !host).into()),
                    last: IpAddr::V6((bits | host).into()),
                }
            }
        }
    }

    /// Whether `address` lies in the range; an address of the other IP version never does.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.first.is_ipv4() == address.is_ipv4() && (self.first..=self.last).contains(&address)
    }
}

impl Match {
    /// Whether a packet of flow `key` with this mark matches.
    pub fn matches(&self, key: &FlowKey, dscp: Dscp, ecn: Ecn) -> bool {
        fn any<T>(list: &[T], is: impl Fn(&T) -> bool) -> bool {
            list.is_empty() || list.iter().any(is)
        }
        let byte = dscp.tos(ecn);
        any(&self.protocols, |protocol| *protocol == key.protocol)
            && any(&self.src, |range| range.contain(key.src))
            && any(&self.dst, |range| range.contain(key.dst))
            && any(&self.src_ports, |range| range.contains(&key.src_port))
            && any(&self.dst_ports, |range| range.contains(&key.dst_port))
            && any(&self.dscp, |code| *code == dscp)
            && any(&self.precedence, |precedence| *precedence == dscp.precedence())
            && any(&self.tos, |tos| *tos == byte >> 1 & 0xf)
            && any(&self.ecn, |field| *field == ecn)
    }
}

impl Classify {
    /// One more than the highest output that any rule or the default names.
    pub fn outputs(&self) -> u8 {
        let highest = self
            .rules
            .iter()
            .map(|rule| rule.output)
            .fold(self.default_output, u8::max);
        highest.saturating_add(1)
    }

    pub(crate) fn check(&self) -> Result<(), SettingError> {
        if self.rules.len() >= usize::from(u16::MAX) {
            return Err(SettingError::Contradiction {
                setting: "rules",
                found: format!("has {} entries", self.rules.len()),
                limit: "at most 65534 are examined".to_owned(),
            });
        }
        Ok(())
    }
}

/// A classifier at work; it remembers its verdict on each flow and mark.
#[derive(Debug)]
pub(crate) struct State {
    config: Classify,
    /// By flow: the type-of-service byte last seen and which rule matched, plus one; 0 means not looked at yet.
    known: Vec<(u8, u16)>,
}

impl State {
    pub(crate) fn new(config: &Classify) -> Self {
        Self {
            config: config.clone(),
            known: Vec::new(),
        }
    }

    #[inline(never)]
    pub(crate) fn accept(&mut self, packet: &mut Packet, flows: &Flows) -> Step {
        Step::Pass(self.apply(packet, flows).0)
    }

    /// Classifies `packet`; returns its output and how many rules were examined.
    #[inline]
    pub(crate) fn apply(&mut self, packet: &mut Packet, flows: &Flows) -> (u8, u16) {
        let index = self.matching(packet, flows);
        let rule = self.config.rules.get(usize::from(index));
        let class = rule.map_or(self.config.default_class, |rule| rule.class);
        packet.class = class.unwrap_or(packet.class);
        let examined = (index + 1).min(self.config.rules.len() as u16);
        (
            rule.map_or(self.config.default_output, |rule| rule.output),
            examined,
        )
    }

    #[inline]
    fn matching(&mut self, packet: &Packet, flows: &Flows) -> u16 {
        let (flow, byte) = (packet.flow.0 as usize, packet.dscp.tos(packet.ecn));
        match self.known.get(flow) {
            Some((seen, rule)) if *seen == byte && *rule != 0 => rule - 1,
            _ => self.look(packet, flows),
        }
    }

    #[cold]
    fn look(&mut self, packet: &Packet, flows: &Flows) -> u16 {
        let rules = &self.config.rules;
        let matching = flows
            .key(packet.flow)
            .and_then(|key| {
                rules
                    .iter()
                    .position(|rule| rule.matches.matches(key, packet.dscp, packet.ecn))
            })
            .unwrap_or(rules.len()) as u16;
        let flow = packet.flow.0 as usize;
        if self.known.len() <= flow {
            self.known.resize(flow + 1, (0, 0));
        }
        self.known[flow] = (packet.dscp.tos(packet.ecn), matching + 1);
        matching
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Cargo;

    fn key(protocol: Protocol, src: &str, dst: &str) -> FlowKey {
        FlowKey::new(protocol, src.parse().unwrap(), dst.parse().unwrap())
    }

    #[test]
    fn address_ranges_and_prefixes() {
        let prefix = |text: &str, length| Addresses::prefix(text.parse().unwrap(), length);
        for (range, address, inside) in [
            (prefix("192.168.1.77", 24), "192.168.1.0", true),
            (prefix("192.168.1.77", 24), "192.168.2.0", false),
            (prefix("0.0.0.0", 0), "255.255.255.255", true),
            (prefix("0.0.0.0", 0), "::1", false),
            (prefix("10.0.0.1", 32), "10.0.0.1", true),
            (prefix("10.0.0.1", 32), "10.0.0.2", false),
            (prefix("2001:db8::", 32), "2001:db8:ffff::1", true),
            (prefix("2001:db8::", 128), "2001:db8::1", false),
        ] {
            assert_eq!(
                range.contain(address.parse().unwrap()),
                inside,
                "{range:?} {address}"
            );
        }
    }

    #[test]
    fn each_criterion_counts_and_empty_ones_do_not() {
        let tcp = key(Protocol::TCP, "10.0.0.1:5000", "10.0.0.2:80");
        let cs1 = Dscp::CS1;
        let matched = |rule: Match| rule.matches(&tcp, cs1, Ecn::Ect0);
        assert!(matched(Match::default()));
        assert!(matched(Match {
            protocols: vec![Protocol::UDP, Protocol::TCP],
            ..Match::default()
        }));
        assert!(!matched(Match {
            protocols: vec![Protocol::UDP],
            ..Match::default()
        }));
        assert!(matched(Match {
            src_ports: vec![1..=4, 5000..=5000],
            ..Match::default()
        }));
        assert!(!matched(Match {
            dst_ports: vec![81..=90],
            ..Match::default()
        }));
        assert!(matched(Match {
            precedence: vec![1],
            ..Match::default()
        }));
        // The byte is 0x22: its four TOS bits are 0001 because ECT(0) overlaps them.
        assert!(matched(Match {
            tos: vec![1],
            ..Match::default()
        }));
        assert!(!matched(Match {
            ecn: vec![Ecn::Ce],
            ..Match::default()
        }));
        assert!(!matched(Match {
            dscp: vec![Dscp::EF],
            precedence: vec![1],
            ..Match::default()
        }));
    }

    #[test]
    fn remembers_by_flow_and_mark() {
        let mut flows = Flows::default();
        let udp = flows.register(&key(Protocol::UDP, "10.0.0.1:1", "10.0.0.2:2"));
        let tcp = flows.register(&key(Protocol::TCP, "10.0.0.1:1", "10.0.0.2:2"));
        let rule = |matches, class| Rule {
            matches,
            class: Some(class),
            output: class,
        };
        let config = Classify {
            rules: vec![
                rule(
                    Match {
                        dscp: vec![Dscp::EF],
                        ..Match::default()
                    },
                    4,
                ),
                rule(
                    Match {
                        protocols: vec![Protocol::UDP],
                        ..Match::default()
                    },
                    3,
                ),
            ],
            default_class: Some(2),
            default_output: 0,
        };
        assert_eq!(config.outputs(), 5);
        let mut state = State::new(&config);
        for _ in 0..2 {
            for (flow, dscp, class, examined) in [
                (udp, Dscp::DEFAULT, 3, 2),
                (udp, Dscp::EF, 4, 1),
                (tcp, Dscp::DEFAULT, 2, 2),
                (tcp, Dscp::EF, 4, 1),
            ] {
                let mut packet = Packet {
                    dscp,
                    ..Packet::new(Cargo::new(0), flow, 100)
                };
                let (output, count) = state.apply(&mut packet, &flows);
                assert_eq!((packet.class, count), (class, examined));
                assert_eq!(output, if class == 2 { 0 } else { class });
            }
        }
    }
}

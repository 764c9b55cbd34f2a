//! What an RTX configuration says, as one value.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use slowpath_packet::overhead::{Encapsulation, EspTransform, IpVersion};
use slowpath_packet::{Dscp, Protocol};
use slowpath_path::elements::classify::Match;
use slowpath_units::BitRate;

use super::model::Model;

/// What an RTX configuration says about throughput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Config {
    /// The model, as far as the text or the caller tells.
    pub model: Model,
    /// Physical ports by name: `lan1`, `lan1.3`, `wan1`.
    pub ports: BTreeMap<String, Port>,
    /// PPP peers by number, as `pp select` names them.
    pub peers: BTreeMap<u32, Peer>,
    /// Tunnels by number.
    pub tunnels: BTreeMap<u32, Tunnel>,
    /// Security associations by policy number.
    pub policies: BTreeMap<u32, SaPolicy>,
    /// `queue class filter` by number.
    pub class_filters: BTreeMap<u32, ClassFilter>,
    /// `ip filter` by number.
    pub filters: BTreeMap<u32, IpFilter>,
    /// `ipv6 filter` by number.
    pub filters_v6: BTreeMap<u32, IpFilter>,
    /// `ip tos supersede` and `ip dscp supersede` by number, in the order in which they are asked.
    pub rewrites: BTreeMap<u32, Rewrite>,
    /// `ipv6 dscp supersede` by number.
    pub rewrites_v6: BTreeMap<u32, Rewrite>,
    /// `ip route`: destination and gateway as written.
    pub routes: Vec<(String, String)>,
}

/// What a configuration says about a physical port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Port {
    /// `speed`: the rate the scheduler works to.
    pub speed: Option<BitRate>,
    /// `queue ... type`.
    pub scheduler: Scheduler,
    /// `shaping-level`: 1 counts the wire, 2 (the default) the frame.
    pub shaping_level: Option<u8>,
    /// `queue ... class property` by class.
    pub classes: BTreeMap<u16, Class>,
    /// `queue ... default class`; 2 when nothing is written.
    pub default_class: Option<u16>,
    /// `queue ... length` in packets, by class number in order; the last holds for all further classes.
    pub lengths: Vec<u32>,
    /// `queue ... class filter list`.
    pub filter_list: Vec<u32>,
    /// What holds for every kind of interface.
    pub link: Link,
}

/// What a configuration says about a PPP peer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peer {
    /// The port that carries it (`pppoe use`).
    pub port: Option<String>,
    /// `queue pp class filter list`.
    pub filter_list: Vec<u32>,
    /// What holds for every kind of interface.
    pub link: Link,
}

/// What holds for every kind of interface.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Link {
    /// First address with prefix, as written.
    pub address: Option<String>,
    /// `ip ... mtu` in bytes.
    pub mtu: Option<u32>,
    /// `ip ... tcp mss limit`.
    pub mss_limit: Option<MssLimit>,
    /// `ip ... tcp window-scale remove`.
    pub remove_window_scale: bool,
}

/// `tcp mss limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MssLimit {
    /// From the interface's MTU.
    Auto,
    /// Not limited.
    Off,
    /// Bytes.
    Bytes(u16),
}

/// How a port chooses the next packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Scheduler {
    /// In the order of arrival; the default.
    #[default]
    Fifo,
    /// Always the highest class that has packets; lower ones can starve.
    Priority,
    /// Each class up to its bandwidth.
    Shaping,
    /// Polled with unequal frequency, with borrowing; only on PPP of some models.
    Cbq,
    /// Weighted fair queueing; only on PPP of some models.
    Wfq,
}

/// `queue ... class property`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Class {
    /// Upper limit in bits per second; without it 100 % of the interface.
    pub ceiling: Option<Share>,
    /// Guaranteed rate (dynamic traffic control).
    pub guarantee: Option<Share>,
    /// Served before all shaped classes.
    pub priority: bool,
}

/// A bandwidth, absolute or relative to the interface's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Share {
    /// Bits per second.
    Rate(u64),
    /// Hundredths of the interface's speed.
    Percent(u8),
}

impl Share {
    /// Bits per second on an interface of `speed`.
    pub fn of(self, speed: u64) -> u64 {
        match self {
            Self::Rate(rate) => rate,
            Self::Percent(percent) => {
                u64::try_from(u128::from(speed) * u128::from(percent) / 100).unwrap_or(u64::MAX)
            }
        }
    }
}

/// What a configuration says about a tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tunnel {
    /// `tunnel encapsulation`; ipsec when nothing is written.
    pub kind: Kind,
    /// `ipsec tunnel`: the policy that protects it.
    pub policy: Option<u32>,
    /// Whether `tunnel endpoint` gives IPv6 addresses.
    pub over_ipv6: bool,
    /// `queue tunnel class filter list`.
    pub filter_list: Vec<u32>,
    /// What holds for every kind of interface.
    pub link: Link,
}

/// How a tunnel encapsulates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// ESP in tunnel mode.
    #[default]
    Ipsec,
    /// IP in IP.
    Ipip,
    /// IP in UDP.
    IpUdp,
    /// IPv4 in IPv6 by address mapping.
    MapE,
    /// Another kind, whose bytes are not modelled.
    Other,
}

/// `ipsec sa policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaPolicy {
    /// The gateway that it belongs to.
    pub gateway: u32,
    /// Encryption and integrity; `None` for AH, whose bytes are not modelled.
    pub transform: Option<EspTransform>,
    /// `anti-replay-check`; the model's default when nothing is written.
    pub anti_replay: Option<bool>,
}

impl Tunnel {
    /// How packets are carried, for exact lengths; `None` where that is not modelled.
    ///
    /// The outer header is IPv4, except for kinds that are about IPv6 and between IPv6 endpoints.
    pub fn encapsulation(&self, config: &Config) -> Option<Encapsulation> {
        let outer = if self.over_ipv6 {
            IpVersion::V6
        } else {
            IpVersion::V4
        };
        match self.kind {
            Kind::Ipsec => {
                let transform = config.policies.get(&self.policy?)?.transform?;
                Some(Encapsulation::Esp {
                    outer,
                    transform,
                    udp: false,
                })
            }
            Kind::Ipip => Some(Encapsulation::Ipip { outer }),
            Kind::IpUdp => Some(Encapsulation::Udp { outer }),
            Kind::MapE => Some(Encapsulation::IPV4_IN_IPV6),
            Kind::Other => None,
        }
    }

    /// The MTU of the tunnel in bytes: what is written, or the default of 1280.
    pub fn mtu(&self) -> u32 {
        self.link.mtu.unwrap_or(DEFAULT_MTU)
    }
}

/// `queue class filter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassFilter {
    /// Where matching packets go.
    pub target: ClassTarget,
    /// Whether it is about IPv6.
    pub ipv6: bool,
    /// Which packets match.
    pub matches: Match,
    /// The condition as written.
    pub written: String,
}

/// Where a class filter sends packets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClassTarget {
    /// One class.
    Class(u16),
    /// The class that follows from the precedence: precedence plus one, unless mapped.
    Precedence(Vec<(u8, u16)>),
    /// The class that follows from the DSCP, by a table that is not published.
    Dscp,
}

impl ClassTarget {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Class(class) => format!("class {class}"),
            Self::Precedence(_) => "the class of their precedence".to_owned(),
            Self::Dscp => "the class of their DSCP".to_owned(),
        }
    }
}

impl ClassFilter {
    pub(super) fn describe(&self) -> String {
        if self.matches == Match::default() {
            return if self.ipv6 {
                "IPv6".to_owned()
            } else {
                "IPv4".to_owned()
            };
        }
        format!("\"{}\"", self.written)
    }
}

/// `ip filter` and `ipv6 filter`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IpFilter {
    /// What happens to matching packets.
    pub action: FilterAction,
    /// Which packets match.
    pub matches: Match,
}

/// What a filter does with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilterAction {
    /// `pass...`: lets it through.
    Pass,
    /// `reject...`: drops it.
    Reject,
    /// `restrict...`: lets it through while the line is up.
    Restrict,
}

/// `ip tos supersede`, `ip dscp supersede` and `ipv6 dscp supersede`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// What is written.
    pub set: Mark,
    /// The filters that choose the packets: the first that matches decides; a rejecting one stops.
    pub filters: Vec<u32>,
}

/// What a rewriting rule writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The four type-of-service bits, and the precedence if given.
    Tos {
        /// 0 to 15.
        tos: u8,
        /// 0 to 7.
        precedence: Option<u8>,
    },
    /// The six bits of the DSCP.
    Dscp(Dscp),
}

/// The protocols of a filter.
pub type Protocols = Vec<Protocol>;

/// The ports of a filter.
pub type Ports = Vec<RangeInclusive<u16>>;

/// The class of packets that no filter matches.
pub(crate) const DEFAULT_CLASS: u16 = 2;

/// The reference's default of `ip tunnel mtu`; whether it held on the RTX2000 in 2004 is not known.
const DEFAULT_MTU: u32 = 1_280;

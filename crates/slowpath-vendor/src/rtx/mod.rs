//! Yamaha RTX: queues, classes, tunnels, rewriting, and what else changes throughput.
//!
//! Keywords are case-insensitive, lines have at most 4095 characters, and indentation means nothing:
//! `tunnel select`, `pp select` and `ipsec tunnel` switch a context that stays until the next select.
//! A line with an error is ignored by the device, not fatal.
//!
//! Source: the vendor's command reference for Rev.14.00.34 to 23.02.02 (chapters 8, 11, 14, 15, 26, 30).
//! The reference is for models newer than the RTX2000; differences are in [`Model`].

mod filter;
mod model;
mod other;
mod queue;
mod settle;
mod tunnel;

use std::collections::BTreeMap;

use slowpath_packet::Dscp;
use slowpath_units::BitRate;

pub use filter::{ClassFilter, ClassTarget, FilterAction, IpFilter, Mark, Ports, Protocols, Rewrite};
pub use model::Model;
pub use tunnel::{Kind, SaPolicy, Tunnel};

use crate::reading::{Notes, Outcome};
use crate::text::words;

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

/// The contexts that selects switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Context {
    selected: Selected,
    ipsec_tunnel: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Selected {
    #[default]
    None,
    Tunnel(u32),
    Pp(u32),
}

impl Context {
    fn name(&self) -> String {
        match (self.selected, self.ipsec_tunnel) {
            (Selected::None, _) => String::new(),
            (Selected::Tunnel(number), None) => format!("tunnel {number}"),
            (Selected::Tunnel(number), Some(policy)) => format!("tunnel {number}, ipsec tunnel {policy}"),
            (Selected::Pp(number), _) => format!("pp {number}"),
        }
    }

    const fn tunnel(&self) -> Option<u32> {
        match self.selected {
            Selected::Tunnel(number) => Some(number),
            _ => None,
        }
    }

    const fn pp(&self) -> Option<u32> {
        match self.selected {
            Selected::Pp(number) => Some(number),
            _ => None,
        }
    }
}

/// The words of one line: as written, and in lower case for keywords.
struct Command {
    written: Vec<String>,
    lower: Vec<String>,
}

impl Command {
    fn keywords(&self) -> Vec<&str> {
        self.lower.iter().map(String::as_str).collect()
    }
}

/// Reads a configuration; `model` is the caller's word and goes before what the text says.
pub(crate) fn read(text: &str, model: Option<Model>, notes: &mut Notes) -> Config {
    let model = model.or_else(|| Model::from_header(text)).unwrap_or_default();
    let mut config = Config {
        model,
        ..Config::default()
    };
    let mut context = Context::default();
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let number = index + 1;
        if line.len() > LONGEST_LINE {
            notes.line(
                number,
                line,
                &context.name(),
                Outcome::refused(format!("a line has at most {LONGEST_LINE} characters")),
            );
            continue;
        }
        let written = words(line);
        let lower = written.iter().map(|word| word.to_lowercase()).collect();
        let command = Command { written, lower };
        let outcome = command_outcome(&command, &mut config, &mut context);
        notes.line(number, line, &context.name(), outcome);
    }
    settle::settle(&config, notes);
    config
}

fn command_outcome(command: &Command, config: &mut Config, context: &mut Context) -> Outcome {
    let keywords = command.keywords();
    match keywords.as_slice() {
        ["tunnel" | "pp" | "ipsec" | "pppoe" | "ppp" | "l2tp" | "pptp", ..] => {
            tunnel::read(&keywords, command, config, context)
        }
        ["queue" | "speed", ..] => queue::read(&keywords, config, context),
        ["ip" | "ipv6", ..] => filter::read(&keywords, command, config, context),
        _ => other::read(&keywords, config),
    }
}

/// Whether `name` names a physical port.
fn is_port(name: &str) -> bool {
    ["lan", "wan", "bridge", "onu", "vlan"].iter().any(|kind| {
        name.strip_prefix(kind).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit())
                && rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '/')
        })
    })
}

/// The class of packets that no filter matches.
pub(crate) const DEFAULT_CLASS: u16 = 2;

/// The reference's limit for one line.
const LONGEST_LINE: usize = 4_095;

/// A mark as rewriting commands take it: a number or a PHB's name.
fn dscp(word: &str) -> Option<Dscp> {
    match word {
        "default" => Some(Dscp::DEFAULT),
        "le" | "va" | "cs0" => None,
        _ => word.parse().ok(),
    }
}

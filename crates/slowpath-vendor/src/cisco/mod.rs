//! Cisco IOS and IOS-XE: the lines of TCP, FTP, TFTP and SSH, interfaces, and the modular QoS command line.
//!
//! Commands may be abbreviated on the device; a configuration as `show running-config` prints it never is,
//! so abbreviations are not understood here. Sections are told by the line that opens them, not by
//! indentation, because pasted texts lose it.

mod config;
mod global;
mod interface;
mod policy;
mod qos;

use slowpath_units::ByteCount;

pub use config::Config;
pub use interface::Interface;
pub use policy::{Action, Bandwidth, ClassMap, Match, Police, PolicyClass, PolicyMap, own_bucket};

use crate::finding::Trap;
use crate::notes::{LineState, Notes, Outcome};

/// The section that a line belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Section {
    #[default]
    Global,
    Interface(String),
    ClassMap(String),
    PolicyMap(String),
    PolicyClass(String, String),
    /// A section in which nothing is of consequence here.
    Other(String),
}

impl Section {
    fn name(&self) -> String {
        match self {
            Self::Global => String::new(),
            Self::Interface(name) => format!("interface {name}"),
            Self::ClassMap(name) => format!("class-map {name}"),
            Self::PolicyMap(name) => format!("policy-map {name}"),
            Self::PolicyClass(policy, class) => format!("policy-map {policy} class {class}"),
            Self::Other(name) => name.clone(),
        }
    }
}

/// Reads a configuration; what it sets on the host goes to `notes`.
pub(crate) fn read(text: &str, notes: &mut Notes) -> Config {
    let mut config = Config::default();
    let mut section = Section::Global;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.starts_with('!') && raw.starts_with('!') {
            section = Section::Global;
        }
        if line.is_empty() || line.starts_with('!') {
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let context = section.name();
        let outcome = match open(&words, &mut config) {
            Some((next, outcome)) => {
                section = next;
                notes.line(index + 1, line, "", outcome);
                continue;
            }
            None => in_section(&words, raw.starts_with([' ', '\t']), &mut section, &mut config),
        };
        let context = if section == Section::Global {
            String::new()
        } else {
            context
        };
        notes.line(index + 1, line, &context, outcome);
    }
    settle(&config, notes);
    config
}

/// A line that opens a section, wherever it stands.
fn open(words: &[&str], config: &mut Config) -> Option<(Section, Outcome)> {
    match words {
        ["interface", rest @ ..] if !rest.is_empty() => {
            let name = rest.join("");
            config.interfaces.entry(name.clone()).or_default();
            Some((Section::Interface(name), Outcome::ignored()))
        }
        ["class-map", rest @ ..] if !rest.is_empty() => {
            let (any, name) = match rest {
                ["match-any", name] | ["type", "qos", "match-any", name] => (true, *name),
                ["match-all", name] | ["type", "qos", "match-all", name] | [name] => (false, *name),
                _ => return Some((Section::Other(words.join(" ")), Outcome::unrecognised())),
            };
            config.class_maps.insert(
                name.to_owned(),
                ClassMap {
                    any,
                    matches: Vec::new(),
                },
            );
            let which = if any { "any" } else { "all" };
            let meaning = format!("class {name} takes packets that meet {which} of the following conditions");
            Some((Section::ClassMap(name.to_owned()), Outcome::modelled(meaning)))
        }
        ["policy-map", name] | ["policy-map", "type", "qos", name] => {
            config.policy_maps.entry((*name).to_owned()).or_default();
            let meaning = format!("policy {name}: what happens to each class of packets");
            Some((Section::PolicyMap((*name).to_owned()), Outcome::modelled(meaning)))
        }
        [first, ..] if OTHER_SECTIONS.contains(first) => Some((
            Section::Other(words[..words.len().min(3)].join(" ")),
            Outcome::ignored(),
        )),
        ["ip" | "ipv6", "access-list", ..] => Some((
            Section::Other(words.join(" ")),
            Outcome::not_modelled(
                "which packets a list means is not followed; classes by access list match nothing here",
            ),
        )),
        ["vrf", "definition", ..] | ["ip", "vrf", _] | ["ip", "dhcp", "pool", ..] | ["crypto", ..] => {
            Some((Section::Other(words.join(" ")), Outcome::ignored()))
        }
        _ => None,
    }
}

fn in_section(words: &[&str], indented: bool, section: &mut Section, config: &mut Config) -> Outcome {
    match section {
        Section::Interface(name) => {
            let interface = config.interfaces.entry(name.clone()).or_default();
            if let Some(outcome) = interface::read(words, interface) {
                return outcome;
            }
        }
        Section::ClassMap(name) => {
            if let Some(map) = config.class_maps.get_mut(name)
                && let Some(outcome) = qos::read_match(words, map)
            {
                return outcome;
            }
        }
        Section::PolicyMap(policy) | Section::PolicyClass(policy, _) if words.first() == Some(&"class") => {
            return match words {
                ["class", class] | ["class", "type", "qos", class] => {
                    let classes = &mut config.policy_maps.entry(policy.clone()).or_default().classes;
                    classes.push(PolicyClass {
                        class: (*class).to_owned(),
                        ..PolicyClass::default()
                    });
                    *section = Section::PolicyClass(policy.clone(), (*class).to_owned());
                    Outcome::modelled(format!("what follows is for packets of class {class}"))
                }
                _ => Outcome::unrecognised(),
            };
        }
        Section::PolicyClass(policy, _) => {
            let class = config
                .policy_maps
                .get_mut(policy)
                .and_then(|map| map.classes.last_mut());
            if let Some(class) = class
                && let Some(outcome) = qos::read_action(words, class)
            {
                return outcome;
            }
        }
        Section::Other(_) if indented => return Outcome::ignored(),
        Section::PolicyMap(_) | Section::Other(_) | Section::Global => {}
    }
    let outcome = global::read(words, config);
    if indented && outcome.state() == LineState::Unrecognised {
        return outcome;
    }
    if outcome.state() != LineState::Unrecognised {
        *section = Section::Global;
    }
    outcome
}

/// What follows from all lines together.
fn settle(config: &Config, notes: &mut Notes) {
    let at = |notes: &Notes, start: &str| notes.find(start);
    if let Some(window) = config.window {
        notes.settings.window = Some(ByteCount::new(window));
        let line = at(notes, "ip tcp window-size");
        if window <= 65_535 {
            notes.finding(line, Trap::WindowScalingOff { window });
        } else if !config.selective_ack {
            notes.finding(line, Trap::SackOff);
        }
    }
    notes.settings.sack = config.selective_ack.then_some(true);
    notes.settings.timestamps = config.timestamp.then_some(true);
    notes.settings.mss = config.mss;
    if config.ecn {
        notes.settings.ecn = Some(slowpath_scenario::host::EcnMode::On);
    }
    if let Some(block) = config.tftp_block {
        let line = at(notes, "ip tftp blocksize");
        notes.finding(line, Trap::OneBlockPerRoundTrip { block });
    }
    qos::settle(config, notes);
}

/// Sections whose lines have no effect on throughput.
const OTHER_SECTIONS: &[&str] = &[
    "line",
    "router",
    "key",
    "voice",
    "telephony-service",
    "call-home",
    "redundancy",
    "control-plane",
    "event",
    "archive",
    "track",
    "banner",
    "license",
    "platform",
    "flow",
    "track-list",
    "policy-list",
    "template",
    "aaa-group",
];

//! One line and where it stands.

use slowpath_packet::Dscp;

/// The contexts that selects switch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Context {
    pub(super) selected: Selected,
    pub(super) ipsec_tunnel: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Selected {
    #[default]
    None,
    Tunnel(u32),
    Pp(u32),
}

impl Context {
    pub(super) fn name(&self) -> String {
        match (self.selected, self.ipsec_tunnel) {
            (Selected::None, _) => String::new(),
            (Selected::Tunnel(number), None) => format!("tunnel {number}"),
            (Selected::Tunnel(number), Some(policy)) => format!("tunnel {number}, ipsec tunnel {policy}"),
            (Selected::Pp(number), _) => format!("pp {number}"),
        }
    }

    pub(super) const fn tunnel(&self) -> Option<u32> {
        match self.selected {
            Selected::Tunnel(number) => Some(number),
            _ => None,
        }
    }

    pub(super) const fn pp(&self) -> Option<u32> {
        match self.selected {
            Selected::Pp(number) => Some(number),
            _ => None,
        }
    }
}

/// The words of one line: as written, and in lower case for keywords.
pub(super) struct Command {
    pub(super) written: Vec<String>,
    pub(super) lower: Vec<String>,
}

impl Command {
    pub(super) fn keywords(&self) -> Vec<&str> {
        self.lower.iter().map(String::as_str).collect()
    }
}

/// Whether `name` names a physical port.
pub(super) fn is_port(name: &str) -> bool {
    ["lan", "wan", "bridge", "onu", "vlan"].iter().any(|kind| {
        name.strip_prefix(kind).is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_ascii_digit())
                && rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '/')
        })
    })
}

/// A mark as rewriting commands take it: a number or a PHB's name.
pub(super) fn dscp(word: &str) -> Option<Dscp> {
    match word {
        "default" => Some(Dscp::DEFAULT),
        "le" | "va" | "cs0" => None,
        _ => word.parse().ok(),
    }
}

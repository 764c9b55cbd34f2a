//! A network as plain data: named ports, named elements, and who feeds whom.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::elements::{
    Adjust, Classify, Decapsulate, Delay, Device, Duplicate, Encapsulate, Framing, Link, Loss, Mtu, Police,
    Remark, Router, Tap, Treat,
};
use crate::setting::SettingError;

/// A whole network: what [`Network::build`](crate::Network::build) builds from.
///
/// A chain is the easy case, see [`NetworkSpec::chain`]. In general it is a small directed graph without loops:
/// each port's packets enter at one input, each element's outputs lead to further inputs or to ports.
/// Names of ports and elements are unique together; an element's name also chooses its random stream.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkSpec {
    /// Where hosts attach, each both a source and a destination.
    pub ports: Vec<PortSpec>,
    /// The elements. Among events of one instant ports act first; then, where all is chains, elements in the order of
    /// the flow, and else in the order of this list.
    pub elements: Vec<ElementSpec>,
}

/// Where a host attaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSpec {
    /// Its name.
    pub name: String,
    /// Where the packets go that its host sends; nothing means that it only receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Target>,
}

/// One element and where its outputs lead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementSpec {
    /// Its name, for outcomes, counters and the random stream.
    pub name: String,
    /// What it does.
    pub does: ElementKind,
    /// Where its outputs lead, by number; what each number means is said at the element.
    pub outputs: Vec<Target>,
}

/// An input of an element, or a port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The name of the element or port.
    pub to: String,
    /// Which input, for elements that tell theirs apart; else 0.
    #[serde(default)]
    pub input: u8,
}

impl Target {
    /// The first input of `name`, or the port `name`.
    pub fn to(name: impl Into<String>) -> Self {
        Self {
            to: name.into(),
            input: 0,
        }
    }

    /// Input number `input` of the element `name`.
    pub fn input(name: impl Into<String>, input: u8) -> Self {
        Self {
            to: name.into(),
            input,
        }
    }
}

/// Every kind of element, with its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ElementKind {
    /// A queue served at a rate.
    Link(Link),
    /// Propagation delay, with or without jitter.
    Delay(Delay),
    /// Loss of packets.
    Loss(Loss),
    /// Duplication of packets.
    Duplicate(Duplicate),
    /// A place where packets are seen.
    Tap(Tap),
    /// A class, or a way, by addresses, ports, protocol and marks.
    Classify(Classify),
    /// Rewriting of marks.
    Remark(Remark),
    /// A policer.
    Police(Police),
    /// Treatment by code point.
    Treat(Treat),
    /// A device's processing budget, shared by its ports.
    Device(Device),
    /// A router's hop.
    Router(Router),
    /// A limit on packet size.
    Mtu(Mtu),
    /// The entry of a tunnel.
    Encapsulate(Encapsulate),
    /// The exit of a tunnel.
    Decapsulate(Decapsulate),
    /// MSS clamping and window-scale removal.
    Adjust(Adjust),
    /// Bytes at layer 2 beyond plain Ethernet.
    Framing(Framing),
}

impl NetworkSpec {
    /// A network of two ports, `near` and `far`, with one chain each way: `up` from near to far, `down` back.
    ///
    /// Elements keep the given names; an empty chain joins the ports directly.
    pub fn chain(
        near: &str,
        far: &str,
        up: Vec<(String, ElementKind)>,
        down: Vec<(String, ElementKind)>,
    ) -> Self {
        let mut spec = Self::default();
        let up = spec.add_chain(up, &Target::to(far));
        let down = spec.add_chain(down, &Target::to(near));
        spec.ports.push(PortSpec {
            name: near.to_owned(),
            entry: Some(up),
        });
        spec.ports.push(PortSpec {
            name: far.to_owned(),
            entry: Some(down),
        });
        spec
    }

    /// Adds elements one behind the other, the last leading to `end`; returns where the chain begins.
    pub fn add_chain(&mut self, chain: Vec<(String, ElementKind)>, end: &Target) -> Target {
        let names: Vec<String> = chain.iter().map(|(name, _)| name.clone()).collect();
        for (index, (name, does)) in chain.into_iter().enumerate() {
            let output = names.get(index + 1).map_or_else(|| end.clone(), Target::to);
            self.elements.push(ElementSpec {
                name,
                does,
                outputs: vec![output],
            });
        }
        names.into_iter().next().map_or_else(|| end.clone(), Target::to)
    }

    /// The element called `name`.
    pub fn element(&self, name: &str) -> Option<&ElementSpec> {
        self.elements.iter().find(|element| element.name == name)
    }

    /// The element called `name`, to be changed.
    pub fn element_mut(&mut self, name: &str) -> Option<&mut ElementSpec> {
        self.elements.iter_mut().find(|element| element.name == name)
    }

    /// Looks for contradictions.
    ///
    /// # Errors
    /// The first one found, naming the element or port.
    pub fn check(&self) -> Result<(), BuildError> {
        let mut inputs: BTreeMap<&str, u8> = BTreeMap::new();
        let ports = self.ports.iter().map(|port| (port.name.as_str(), 1));
        let elements = self
            .elements
            .iter()
            .map(|element| (element.name.as_str(), element.does.inputs()));
        for (name, count) in ports.chain(elements) {
            if inputs.insert(name, count).is_some() {
                return Err(BuildError::DuplicateName {
                    name: name.to_owned(),
                });
            }
        }
        if self.ports.len() + self.elements.len() > usize::from(u16::MAX) {
            return Err(BuildError::TooLarge);
        }
        let entries = self
            .ports
            .iter()
            .filter_map(|port| port.entry.as_ref().map(|to| (port.name.as_str(), to)));
        let outputs = self
            .elements
            .iter()
            .flat_map(|from| from.outputs.iter().map(|to| (from.name.as_str(), to)));
        for (from, target) in entries.chain(outputs) {
            match inputs.get(target.to.as_str()) {
                None => {
                    return Err(BuildError::UnknownTarget {
                        from: from.to_owned(),
                        to: target.to.clone(),
                    });
                }
                Some(count) if target.input >= *count => {
                    return Err(BuildError::UnknownInput {
                        from: from.to_owned(),
                        to: target.to.clone(),
                        input: target.input,
                        inputs: *count,
                    });
                }
                Some(_) => {}
            }
        }
        for element in &self.elements {
            let wanted = element.does.outputs();
            if !wanted.contains(&element.outputs.len()) {
                return Err(BuildError::Outputs {
                    element: element.name.clone(),
                    found: element.outputs.len(),
                    least: *wanted.start(),
                    most: *wanted.end(),
                });
            }
            element.does.check().map_err(|source| BuildError::Setting {
                element: element.name.clone(),
                source,
            })?;
        }
        self.check_loops()
    }

    /// Refuses loops in which no time passes: a packet would never leave them.
    fn check_loops(&self) -> Result<(), BuildError> {
        let index: BTreeMap<&str, usize> = self
            .elements
            .iter()
            .enumerate()
            .map(|(index, element)| (element.name.as_str(), index))
            .collect();
        // 0 = not visited, 1 = on the path, 2 = done.
        let mut state = vec![0_u8; self.elements.len()];
        for start in 0..self.elements.len() {
            let mut path = vec![(start, 0)];
            while let Some((at, next)) = path.pop() {
                if next == 0 {
                    if state[at] == 2 {
                        continue;
                    }
                    state[at] = 1;
                }
                let Some(target) = self.elements[at].outputs.get(next) else {
                    state[at] = 2;
                    continue;
                };
                path.push((at, next + 1));
                if self.elements[at].does.answer_output() == Some(next) {
                    continue;
                }
                if let Some(&child) = index.get(target.to.as_str()) {
                    match state[child] {
                        0 => path.push((child, 0)),
                        1 => {
                            return Err(BuildError::Loop {
                                element: self.elements[child].name.clone(),
                            });
                        }
                        _ => {}
                    }
                }
            }
        }
        Ok(())
    }
}

/// Why a network cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Two ports or elements share a name.
    #[error("building the network: the name \"{name}\" is used twice; give each port and element its own")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// An output or entry leads to nothing.
    #[error("building the network: \"{from}\" leads to \"{to}\", but no port or element has that name")]
    UnknownTarget {
        /// Where the wire begins.
        from: String,
        /// The name that does not exist.
        to: String,
    },
    /// An output or entry leads to an input that the element does not have.
    #[error(
        "building the network: \"{from}\" leads to input {input} of \"{to}\", which has {inputs} input(s)"
    )]
    UnknownInput {
        /// Where the wire begins.
        from: String,
        /// The element.
        to: String,
        /// The input asked for, from 0.
        input: u8,
        /// How many it has.
        inputs: u8,
    },
    /// An element has too few or too many outputs.
    #[error("building the network: \"{element}\" has {found} output(s) wired, but needs {least} to {most}")]
    Outputs {
        /// The element.
        element: String,
        /// How many are wired.
        found: usize,
        /// How many it needs at least.
        least: usize,
        /// How many it can have at most.
        most: usize,
    },
    /// Elements lead back to themselves.
    #[error("building the network: \"{element}\" leads back to itself; a port must end every path")]
    Loop {
        /// An element on the loop.
        element: String,
    },
    /// More than 65,535 ports and elements.
    #[error("building the network: more than 65535 ports and elements; split it into several networks")]
    TooLarge,
    /// A setting of one element is impossible.
    #[error("building the network: element \"{element}\": {source}")]
    Setting {
        /// The element.
        element: String,
        /// What is wrong.
        source: SettingError,
    },
}

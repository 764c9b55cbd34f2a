//! Which elements of a network have nothing to do with each other.

use std::collections::BTreeMap;

use crate::spec::{NetworkSpec, Target};

/// One independent part: elements in their order, and for each port whether its packets enter here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) elements: Vec<usize>,
    pub(crate) sources: Vec<bool>,
}

/// The parts of `spec` between which no packet can pass, in the order of their first source port.
///
/// The sending and the receiving side of one port are two different things here.
pub(crate) fn independent(spec: &NetworkSpec) -> Vec<Part> {
    let ports = spec.ports.len();
    let index: BTreeMap<&str, usize> = spec
        .elements
        .iter()
        .enumerate()
        .map(|(index, element)| (element.name.as_str(), index + ports))
        .collect();
    // Members: first the sending side of each port, then the elements.
    let mut group: Vec<usize> = (0..ports + spec.elements.len()).collect();
    let mut join = |member: usize, target: &Target| {
        if let Some(other) = index.get(target.to.as_str()) {
            let (from, to) = (group[*other].max(group[member]), group[*other].min(group[member]));
            group
                .iter_mut()
                .filter(|root| **root == from)
                .for_each(|root| *root = to);
        }
    };
    for (member, port) in spec.ports.iter().enumerate() {
        port.entry.iter().for_each(|target| join(member, target));
    }
    for (element, from) in spec.elements.iter().enumerate() {
        from.outputs
            .iter()
            .for_each(|target| join(ports + element, target));
    }
    let mut roots: Vec<usize> = group.clone();
    roots.sort_unstable();
    roots.dedup();
    let part = |root: usize| Part {
        elements: (0..spec.elements.len())
            .filter(|element| group[ports + element] == root)
            .collect(),
        sources: (0..ports)
            .map(|port| group[port] == root && spec.ports[port].entry.is_some())
            .collect(),
    };
    roots
        .into_iter()
        .map(part)
        .filter(|part| part.sources.contains(&true))
        .collect()
}

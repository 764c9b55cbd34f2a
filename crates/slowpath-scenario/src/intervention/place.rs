//! Which elements of a network a change is meant for.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_path::{ElementKind, ElementSpec, NetworkSpec, Rate, Target};
use slowpath_units::BitRate;

use super::who::Who;

/// Which elements of a network a change is meant for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The element of that name.
    Element(String),
    /// Every fitting element on the way to that host.
    Towards(Who),
    /// The slowest link on the way to that host, or all that are as slow.
    Bottleneck(Who),
    /// Every fitting element.
    Everywhere,
}

impl Place {
    /// The host that the place names, if it names one.
    pub(super) fn host_mut(&mut self) -> Option<&mut Who> {
        match self {
            Self::Towards(host) | Self::Bottleneck(host) => Some(host),
            Self::Element(_) | Self::Everywhere => None,
        }
    }

    /// The numbers of the elements meant, in the order of the specification; none for a role that no plan has filled.
    pub(super) fn elements(&self, network: &NetworkSpec) -> Vec<usize> {
        match self {
            Self::Element(name) => network
                .elements
                .iter()
                .position(|element| element.name == *name)
                .into_iter()
                .collect(),
            Self::Towards(host) => towards(network, host),
            Self::Bottleneck(host) => slowest(network, &towards(network, host)),
            Self::Everywhere => (0..network.elements.len()).collect(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(name) => write!(f, "at \"{name}\""),
            Self::Towards(host) => write!(f, "on the way to {host}"),
            Self::Bottleneck(host) => write!(f, "at the slowest link towards {host}"),
            Self::Everywhere => f.write_str("in both directions"),
        }
    }
}

/// The rate of the slowest link towards a host; of one whose rate changes its lowest that is not an outage.
pub fn slowest_rate(network: &NetworkSpec, host: &str) -> Option<BitRate> {
    least_rate(network, &towards(network, &Who::from(host)))
}

/// The lowest rate of the links `among` these.
fn least_rate(network: &NetworkSpec, among: &[usize]) -> Option<BitRate> {
    among.iter().filter_map(|index| rate(network, *index)).min()
}

/// The rate of a link; of one whose rate changes the lowest that is not an outage.
fn rate(network: &NetworkSpec, index: usize) -> Option<BitRate> {
    let ElementKind::Link(link) = &network.elements[index].does else {
        return None;
    };
    match &link.rate {
        Rate::Fixed(rate) | Rate::Bucket { rate, .. } => Some(*rate),
        Rate::Steps(steps) => steps
            .iter()
            .map(|step| step.rate)
            .filter(|rate| rate.bits_per_s() > 0)
            .min(),
        Rate::Markov(markov) => markov
            .levels
            .iter()
            .map(|level| level.rate)
            .filter(|rate| rate.bits_per_s() > 0)
            .min(),
        Rate::Trace(_) => None,
    }
}

/// Those of the elements `among` that are links with the lowest rate.
fn slowest(network: &NetworkSpec, among: &[usize]) -> Vec<usize> {
    let Some(least) = least_rate(network, among) else {
        return Vec::new();
    };
    among
        .iter()
        .copied()
        .filter(|index| rate(network, *index) == Some(least))
        .collect()
}

/// The elements from which packets can reach `host`.
fn towards(network: &NetworkSpec, host: &Who) -> Vec<usize> {
    let Some(port) = host.named() else {
        return Vec::new();
    };
    let mut reaching: BTreeSet<&str> = BTreeSet::from([port]);
    loop {
        let before = reaching.len();
        for element in &network.elements {
            if onward(element)
                .iter()
                .any(|target| reaching.contains(target.to.as_str()))
            {
                reaching.insert(&element.name);
            }
        }
        if reaching.len() == before {
            break;
        }
    }
    let found = |name: &str| reaching.contains(name);
    network
        .elements
        .iter()
        .enumerate()
        .filter(|(_, element)| found(&element.name))
        .map(|(index, _)| index)
        .collect()
}

/// The outputs that carry packets on; messages back to the sender are not on the way.
fn onward(element: &ElementSpec) -> &[Target] {
    match element.does {
        ElementKind::Router(_) | ElementKind::Mtu(_) => &element.outputs[..element.outputs.len().min(1)],
        _ => &element.outputs,
    }
}

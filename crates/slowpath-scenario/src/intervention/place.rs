//! Which elements of a network a change is meant for.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use slowpath_path::{ElementKind, ElementSpec, NetworkSpec, Target};

/// Which elements of a network a change is meant for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The element of that name.
    Element(String),
    /// Every fitting element on the way to that host.
    Towards(String),
    /// Every fitting element.
    Everywhere,
}

impl Place {
    /// The numbers of the elements meant, in the order of the specification.
    pub(super) fn elements(&self, network: &NetworkSpec) -> Vec<usize> {
        match self {
            Self::Element(name) => network
                .elements
                .iter()
                .position(|element| element.name == *name)
                .into_iter()
                .collect(),
            Self::Towards(port) => towards(network, port),
            Self::Everywhere => (0..network.elements.len()).collect(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Element(name) => write!(f, "at \"{name}\""),
            Self::Towards(host) => write!(f, "on the way to {host}"),
            Self::Everywhere => f.write_str("in both directions"),
        }
    }
}

/// The elements from which packets can reach `port`.
fn towards(network: &NetworkSpec, port: &str) -> Vec<usize> {
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

//! Whether two plans lead through the same links.

use slowpath_path::{ElementKind, NetworkSpec};

use super::Plan;
use crate::host::System;

impl Plan {
    /// Whether the other plan has the same network, between hosts of the same systems.
    pub fn has_network_of(&self, other: &Self) -> bool {
        systems(self) == systems(other) && self.network == other.network
    }

    /// Whether the other plan has the same links, devices and tunnels in the same order, between hosts of the same systems:
    /// what carries the same rate. Delays may differ, and what drops packets (loss, policers, treatment of marks).
    pub fn has_links_of(&self, other: &Self) -> bool {
        let rates = |kind: &&ElementKind| !matches!(kind, ElementKind::Delay(_));
        let (own, others) = (links(&self.network), links(&other.network));
        systems(self) == systems(other) && own.filter(rates).eq(others.filter(rates))
    }

    /// As [`has_links_of`](Self::has_links_of), with the same delays.
    pub fn has_links_and_delays_of(&self, other: &Self) -> bool {
        systems(self) == systems(other) && links(&self.network).eq(links(&other.network))
    }
}

fn systems(plan: &Plan) -> Vec<System> {
    plan.hosts.iter().map(|host| host.system).collect()
}

/// What every packet meets on its way, in order.
fn links(network: &NetworkSpec) -> impl Iterator<Item = &ElementKind> {
    network
        .elements
        .iter()
        .map(|element| &element.does)
        .filter(|kind| {
            matches!(
                kind,
                ElementKind::Link(_)
                    | ElementKind::Delay(_)
                    | ElementKind::Device(_)
                    | ElementKind::Router(_)
                    | ElementKind::Mtu(_)
                    | ElementKind::Encapsulate(_)
                    | ElementKind::Decapsulate(_)
                    | ElementKind::Adjust(_)
                    | ElementKind::Framing(_)
            )
        })
}

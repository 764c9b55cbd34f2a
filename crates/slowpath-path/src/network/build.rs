//! From a checked specification to a working network or part.

use slowpath_units::{Duration, Time};

use super::{Network, Node, Port, Schedule, Wire};
use crate::calendar::Calendar;
use crate::context::Shared;
use crate::counters::Counters;
use crate::dice::Dice;
use crate::element::Element;
use crate::outcome::{ElementId, PortId};
use crate::ring::Ring;
use crate::spec::{ElementKind, NetworkSpec, Target};

impl Network {
    pub(super) fn build_part(
        spec: &NetworkSpec,
        seed: u64,
        elements: &[usize],
        sources: &[bool],
        number: u64,
    ) -> Self {
        let wire = |target: &Target| {
            if let Some(port) = spec.ports.iter().position(|port| port.name == target.to) {
                return Wire::Port(PortId(port as u16));
            }
            let index = elements
                .iter()
                .position(|index| spec.elements[*index].name == target.to);
            index.map_or(Wire::Nowhere, |index| Wire::Node {
                index: index as u16,
                input: target.input,
            })
        };
        let first_id = number << 48;
        let mut shared = Shared::numbered_from(first_id);
        // Tunnels' own flows get the same numbers in every part.
        for element in &spec.elements {
            if let ElementKind::Encapsulate(tunnel) = &element.does {
                shared.flows.register(&tunnel.outer_flow());
            }
        }
        let nodes: Vec<Node> = elements
            .iter()
            .map(|&index| {
                let element = &spec.elements[index];
                let built = Element::new(
                    &element.does,
                    element.outputs.len(),
                    Dice::new(seed, &element.name),
                    &mut shared.flows,
                );
                Node {
                    id: ElementId(index as u16),
                    reacts: built.reacts(),
                    element: built,
                    first: element.outputs.first().map_or(Wire::Nowhere, wire),
                    outputs: element.outputs.iter().map(wire).collect(),
                    counters: Counters::default(),
                    occupied: None,
                }
            })
            .collect();
        let entries: Vec<Option<Wire>> = (spec.ports.iter().zip(sources))
            .map(|(port, own)| port.entry.as_ref().filter(|_| *own).map(wire))
            .collect();
        let reaches = |port: usize| {
            let port = Wire::Port(PortId(port as u16));
            entries.contains(&Some(port)) || nodes.iter().any(|node| node.outputs.contains(&port))
        };
        let ports = (0..spec.ports.len())
            .map(|port| Port {
                entry: entries[port],
                delivers: reaches(port),
                pending: Ring::new(),
                latest: Time::ZERO,
            })
            .collect::<Vec<_>>();
        let kinds: Vec<&ElementKind> = elements.iter().map(|&index| &spec.elements[index].does).collect();
        Self {
            seed,
            now: Time::ZERO,
            schedule: Schedule::new(&ports, &nodes, spec.elements.len()),
            leads: leads(&ports, &nodes, &kinds),
            ports,
            nodes,
            shared,
            first_id,
            spec: spec.clone(),
        }
    }
}

/// By port and then by element: how long a packet that enters or leaves there takes at least to where the driver sees it,
/// a port or a recording tap.
fn leads(ports: &[Port], nodes: &[Node], kinds: &[&ElementKind]) -> Vec<Duration> {
    let mut leads = vec![Duration::MAX; nodes.len()];
    let along = |leads: &[Duration], wire: Wire| match wire {
        Wire::Port(_) => Duration::ZERO,
        Wire::Nowhere => Duration::MAX,
        Wire::Node { index, .. } => {
            let index = usize::from(index);
            if kinds[index].records() {
                Duration::ZERO
            } else {
                kinds[index].least_delay() + leads[index]
            }
        }
    };
    // Nearly every element comes before those it feeds, so one round and one to see that nothing changes do.
    loop {
        let mut settled = true;
        for index in (0..nodes.len()).rev() {
            let outputs = nodes[index].outputs.iter();
            let shortest = outputs.map(|wire| along(&leads, *wire)).min();
            let shortest = shortest.unwrap_or(Duration::MAX);
            settled &= shortest == leads[index];
            leads[index] = shortest;
        }
        if settled {
            break;
        }
    }
    let entries = ports.iter().map(|port| match port.entry {
        Some(wire) => along(&leads, wire),
        None => Duration::MAX,
    });
    entries.chain(leads.iter().copied()).collect()
}

impl Schedule {
    /// By element where all is chains that share no port to deliver to, else by time.
    fn new(ports: &[Port], nodes: &[Node], elements: usize) -> Self {
        let by_time = || Self::ByTime(Calendar::new(ports.len() + nodes.len()));
        let entries = ports.iter().filter_map(|port| port.entry);
        let mut reached: Vec<Wire> = entries
            .clone()
            .chain(nodes.iter().map(|node| node.first))
            .collect();
        reached.sort_unstable();
        let shared = reached.windows(2).any(|pair| pair[0] == pair[1]);
        if shared || nodes.iter().any(|node| node.outputs.len() != 1) {
            return by_time();
        }
        let chains = entries.clone().count();
        let mut order: Vec<u16> = Vec::with_capacity(nodes.len());
        let mut rank = vec![0; elements];
        for mut wire in entries {
            while let Wire::Node { index, .. } = wire {
                let node = &nodes[usize::from(index)];
                rank[usize::from(node.id.0)] = order.len() as u16;
                order.push(index);
                wire = node.first;
            }
        }
        Self::ByElement {
            order,
            rank,
            next: vec![Time::MAX; nodes.len()],
            chains,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, ports: usize, index: usize, time: Time) {
        match self {
            Self::ByTime(calendar) => calendar.set(ports + index, time),
            Self::ByElement { next, .. } => next[index] = time,
        }
    }
}

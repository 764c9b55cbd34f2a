//! What is known beside one flow: the capture's clock, and the other flows between the same hosts.

use std::collections::BTreeMap;
use std::net::IpAddr;

use slowpath_record::packets::{Conversations, Direction};

use crate::ends::Side;
use crate::facts::queue::{self, Item};
use crate::facts::{Measured, Policing, QueueFit, policing};
use crate::track::Conn;

/// What is known beside the flow itself.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Surroundings {
    /// Flows of some size between the same hosts in the same direction, this one included; 0 if alone.
    pub flows: u32,
    /// The virtual queue fitted to all of them together.
    pub shared: Option<QueueFit>,
    /// Share of this flow's time during which another was active.
    pub overlap: f64,
    /// Most packets have no time stamp.
    pub untimed: bool,
    /// Unit of the capture clock, seconds.
    pub clock_s: f64,
    /// Packets were recorded with one of the ports of SSH.
    pub ssh: bool,
    /// What the published detector of policers says of this flow.
    pub policing: Policing,
    /// What it says of all of them together.
    pub shared_policing: Policing,
}

/// For each flow, what is known of the other flows between the same hosts in the same direction.
pub(crate) fn shared_fits(
    measured: &[(usize, Measured)],
    connections: &[&Conn],
    conversations: &Conversations,
) -> Vec<Surroundings> {
    let mut groups: BTreeMap<(IpAddr, IpAddr), Vec<usize>> = BTreeMap::new();
    for (rank, (index, flow)) in measured.iter().enumerate() {
        if flow.facts.bytes < 20_000 {
            continue;
        }
        if let Some(hosts) = hosts(connections[*index], flow.facts.from, conversations) {
            groups.entry(hosts).or_default().push(rank);
        }
    }
    let mut out = vec![Surroundings::default(); measured.len()];
    for members in groups.values().filter(|members| members.len() > 1) {
        let largest = members
            .iter()
            .map(|&rank| measured[rank].1.facts.bytes)
            .max()
            .unwrap_or(0);
        let big: Vec<usize> = members
            .iter()
            .copied()
            .filter(|&rank| measured[rank].1.facts.bytes * 20 >= largest)
            .collect();
        if big.len() < 2 {
            continue;
        }
        let (fit, policing) = together(members, measured);
        for &rank in members {
            out[rank].flows = big.len() as u32;
            out[rank].shared = fit;
            out[rank].shared_policing = policing;
            out[rank].overlap = overlap(rank, &big, measured);
        }
    }
    out
}

/// What explains the losses of several flows taken as one.
fn together(members: &[usize], measured: &[(usize, Measured)]) -> (Option<QueueFit>, Policing) {
    let mut items: Vec<Item> = members
        .iter()
        .flat_map(|&rank| measured[rank].1.items.iter().copied())
        .collect();
    items.sort_by_key(|item| item.at);
    let rtt = members
        .iter()
        .map(|&rank| measured[rank].1.facts.rtt.median)
        .fold(0.0, f64::max);
    let flows = members.iter().map(|&rank| &measured[rank].1);
    (queue::fit(&items, rtt), policing::of_flows(&items, flows))
}

/// Share of a flow's time during which another of `big` was active.
fn overlap(rank: usize, big: &[usize], measured: &[(usize, Measured)]) -> f64 {
    let span = |rank: usize| {
        let rounds = &measured[rank].1.facts.rounds;
        (
            rounds.first().map_or(0.0, |round| round.from_s),
            rounds.last().map_or(0.0, |round| round.to_s),
        )
    };
    let (from, to) = span(rank);
    let longest = big
        .iter()
        .filter(|&&other| other != rank)
        .map(|&other| {
            let (a, b) = span(other);
            (to.min(b) - from.max(a)).max(0.0)
        })
        .fold(0.0, f64::max);
    if to > from { longest / (to - from) } else { 0.0 }
}

/// Addresses of the sender and the receiver of a connection's data.
fn hosts(conn: &Conn, from: Side, conversations: &Conversations) -> Option<(IpAddr, IpAddr)> {
    let key = conversations.key(conn.conversation)?;
    let forward = (from == Side::Client) == (conn.client == Direction::Forward);
    Some(if forward {
        (key.src, key.dst)
    } else {
        (key.dst, key.src)
    })
}

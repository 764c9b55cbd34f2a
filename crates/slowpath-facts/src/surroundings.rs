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

/// Flows between the same hosts in the same direction, by rank.
#[derive(Debug)]
pub(crate) struct Group {
    members: Vec<usize>,
    /// Those that are not small beside the largest; at least two.
    big: Vec<usize>,
}

/// What explains the losses of several flows taken as one.
#[derive(Debug)]
pub(crate) struct Shared(Option<QueueFit>, Policing);

/// The groups in which several flows are of some size.
pub(crate) fn groups<'a>(
    measured: &[Measured],
    connection: impl Fn(usize) -> &'a Conn,
    conversations: &Conversations,
) -> Vec<Group> {
    let mut by_hosts: BTreeMap<(IpAddr, IpAddr), Vec<usize>> = BTreeMap::new();
    for (rank, flow) in measured.iter().enumerate() {
        if flow.facts.bytes < 20_000 {
            continue;
        }
        if let Some(hosts) = hosts(connection(rank), flow.facts.from, conversations) {
            by_hosts.entry(hosts).or_default().push(rank);
        }
    }
    let of = |members: Vec<usize>| {
        let bytes = |rank: &usize| measured[*rank].facts.bytes;
        let largest = members.iter().map(bytes).max().unwrap_or(0);
        let big = members.iter().copied().filter(|rank| bytes(rank) * 20 >= largest);
        let big: Vec<usize> = big.collect();
        (big.len() > 1).then_some(Group { members, big })
    };
    by_hosts.into_values().filter_map(of).collect()
}

impl Group {
    /// What explains the losses of its flows taken as one.
    pub(crate) fn fit(&self, measured: &[Measured]) -> Shared {
        let flows = || self.members.iter().map(|&rank| &measured[rank]);
        // Who comes while a queue stands never sees the empty path: its delays are above the least of all.
        let shortest = |flow: &Measured| Some(flow.facts.rtt.min).filter(|least| *least > 0.0);
        let least = flows().filter_map(shortest).fold(f64::INFINITY, f64::min);
        let mut items: Vec<Item> = Vec::new();
        for flow in flows() {
            let above = shortest(flow).map_or(0.0, |own| own - least) as f32;
            items.extend(flow.items.iter().map(|item| Item {
                delay: item.delay + above,
                ..*item
            }));
        }
        items.sort_by_key(|item| item.at);
        let rtt = flows().map(|flow| flow.facts.rtt.median).fold(0.0, f64::max);
        Shared(queue::fit(&items, rtt), policing::of_flows(&items, flows()))
    }

    /// Takes what was found to each of its flows.
    pub(crate) fn note(&self, found: &Shared, measured: &[Measured], out: &mut [Surroundings]) {
        for &rank in &self.members {
            let Shared(shared, shared_policing) = *found;
            out[rank] = Surroundings {
                flows: self.big.len() as u32,
                shared,
                shared_policing,
                overlap: overlap(rank, &self.big, measured),
                ..out[rank]
            };
        }
    }
}

/// Share of a flow's time during which another of `big` was active.
fn overlap(rank: usize, big: &[usize], measured: &[Measured]) -> f64 {
    let span = |rank: usize| {
        let rounds = &measured[rank].facts.rounds;
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

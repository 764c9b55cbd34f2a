//! From facts to an [`Analysis`]: capture quality, then a verdict for every connection.
//!
//! Nothing here touches packets; [`rules`] decides from [`FlowFacts`] alone.

mod evidence;
mod graphs;
mod intervals;
mod policing;
mod quality;
mod rules;
pub(crate) mod words;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use slowpath_packet::FlowKey;
use slowpath_record::packets::{CaptureSummary, Conversations, Direction};

use crate::analysis::{Analysis, Capture, Connection, DscpSeen, Handshake, RttSummary, SCHEMA, Side, Tap};
use crate::analyzer::Seen;
use crate::facts::queue::{self, Item};
use crate::facts::{Counters, FlowFacts, Graphs, Measured, QueueFit, measure};
use crate::ledger;
use crate::track::Conn;

use policing::Policing;

pub(crate) use rules::Surroundings;

/// Connections with graphs; the smaller ones go without.
const WITH_GRAPHS: usize = 50;
/// Connections with full facts; the rest is only counted.
const WITH_FACTS: usize = 20_000;

/// Measures and judges everything.
pub(crate) fn analysis(
    connections: &[&Conn],
    seen: &Seen<'_>,
    conversations: &Conversations,
    summary: &CaptureSummary,
) -> Analysis {
    let (clock, packets) = (seen.clock, seen.packets);
    let (start, end) = clock.span().unwrap_or((0, 0));
    let mut order: Vec<(usize, Side, u64)> = connections.iter().copied().enumerate().map(by_size).collect();
    order.sort_by_key(|&(index, _, size)| (std::cmp::Reverse(size), index));
    let measured: Vec<(usize, Measured)> = order
        .iter()
        .take(WITH_FACTS)
        .enumerate()
        .map(|(rank, &(index, side, _))| {
            (
                index,
                measure(connections[index], side, start, rank < WITH_GRAPHS),
            )
        })
        .collect();
    let shared = shared_fits(&measured, connections, conversations);
    let quality = quality::judge(&measured, connections, clock, packets, summary);
    let out = measured
        .into_iter()
        .zip(shared)
        .enumerate()
        .map(|(rank, ((index, measured), surroundings))| {
            let conn = connections[index];
            let key = conversations.key(conn.conversation);
            let surroundings = Surroundings {
                untimed: clock.untimed > 0 && clock.untimed * 2 > packets,
                clock_s: clock.resolution_ns() as f64 / 1e9,
                ssh: key.is_some_and(|key| key.src_port == 22 || key.dst_port == 22),
                policing: policing::of_flow(&measured),
                ..surroundings
            };
            connection(conn, key, measured, &surroundings, start, rank < WITH_GRAPHS)
        })
        .collect();
    Analysis {
        schema: SCHEMA.to_owned(),
        capture: Capture {
            file: String::new(),
            format: summary.format.clone(),
            link_types: summary.link_types.clone(),
            packets: if summary.packets > 0 {
                summary.packets
            } else {
                packets
            },
            bytes: if summary.bytes > 0 {
                summary.bytes
            } else {
                seen.bytes
            },
            connections: seen.connections,
            duration_s: (end - start) as f64 / 1e9,
            start_ns: start,
            quality,
        },
        connections: out,
    }
}

/// A connection's number, the side that sent more payload, and how much.
fn by_size((index, conn): (usize, &Conn)) -> (usize, Side, u64) {
    let size = |side: Side| {
        let half = conn.half(side);
        half.counters.unique_bytes.max(half.delivered())
    };
    let (client, server) = (size(Side::Client), size(Side::Server));
    if client > server {
        (index, Side::Client, client)
    } else {
        (index, Side::Server, server)
    }
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

/// For each flow, what is known of the other flows between the same hosts in the same direction.
fn shared_fits(
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

fn connection(
    conn: &Conn,
    key: Option<&FlowKey>,
    measured: Measured,
    surroundings: &Surroundings,
    start: i64,
    with_graphs: bool,
) -> Connection {
    let facts = &measured.facts;
    let (verdict, intervals) = rules::judge(facts, surroundings);
    let basis = rules::hints::hints(facts, surroundings);
    let ledger = ledger::book(&facts.timeline, &basis, None);
    let sides = [Side::Client, Side::Server];
    let half = sides.map(|side| conn.half(side));
    let graphs = if with_graphs {
        graphs::graphs(conn, &measured, start)
    } else {
        Graphs::default()
    };
    let wireshark = if with_graphs {
        let first_rtt = match conn.handshake_ns {
            (Some(there), Some(back)) => Some(there.saturating_add(back)),
            _ => None,
        };
        crate::wireshark::rows(conn.half(facts.from), first_rtt)
    } else {
        Vec::new()
    };
    let (client, server) = endpoints(conn, key);
    Connection {
        id: conn.id,
        client,
        server,
        data_from: facts.from,
        handshake: handshake(conn),
        dscp: DscpSeen {
            client: half[0].dscp.clone(),
            server: half[1].dscp.clone(),
        },
        bytes_delivered: facts.bytes,
        duration_s: (conn.span.1 - conn.span.0) as f64 / 1e9,
        start_s: (conn.span.0 - start) as f64 / 1e9,
        goodput_bit_per_s: if facts.active_s > 0.0 {
            facts.bytes as f64 * 8.0 / facts.active_s
        } else {
            0.0
        },
        rtt_s: RttSummary {
            min: facts.rtt.min,
            median: facts.rtt.median,
            p95: facts.rtt.p95,
            handshake: facts.handshake_rtt_s,
        },
        retransmitted_segments: facts.loss.retransmitted_segments,
        lost_segments: facts.loss.lost_segments,
        reordered_segments: facts.loss.reordered,
        spurious_retransmissions: facts.loss.spurious,
        zero_window_s: facts.time.window_closed_s,
        tap: facts.tap,
        verdict,
        intervals,
        ledger,
        basis,
        counters: sides.map(|side| counters(conn, side)),
        wireshark,
        facts: measured.facts,
        parallel_flows: surroundings.flows,
        shared_queue: surroundings.shared,
        graphs,
    }
}

pub(crate) fn endpoints(conn: &Conn, key: Option<&FlowKey>) -> (String, String) {
    let Some(key) = key else {
        return (String::new(), String::new());
    };
    let src = SocketAddr::new(key.src, key.src_port).to_string();
    let dst = SocketAddr::new(key.dst, key.dst_port).to_string();
    match conn.client {
        Direction::Forward => (src, dst),
        Direction::Backward => (dst, src),
    }
}

fn handshake(conn: &Conn) -> Handshake {
    let syn = [Side::Client, Side::Server].map(|side| conn.half(side).syn);
    // Options that were cut off are unknown, not absent.
    let known = |present: bool, syn: &crate::track::SynSeen| (present || !syn.options_cut).then_some(present);
    let inferred = [Side::Server, Side::Client].map(|sender| {
        let (shift, how) = crate::facts::window_shift(conn, sender);
        (how == 1).then_some(shift)
    });
    Handshake {
        mss: syn.map(|syn| syn.and_then(|syn| syn.mss)),
        window_scale: syn.map(|syn| syn.and_then(|syn| syn.window_scale)),
        sack: syn.map(|syn| syn.and_then(|syn| known(syn.sack, &syn))),
        timestamps: syn.map(|syn| syn.and_then(|syn| known(syn.timestamps, &syn))),
        ecn: conn.ecn,
        seen: syn.iter().all(Option::is_some),
        inferred_window_scale: inferred,
    }
}

/// The counters of `side`, with windows scaled.
fn counters(conn: &Conn, side: Side) -> Counters {
    let mut out = conn.half(side).counters;
    // The windows that this side advertised limit the data of the other.
    let (shift, _) = crate::facts::window_shift(conn, side.other());
    let unscaled = conn.half(side).syn.map_or(0, |syn| u64::from(syn.window));
    out.max_window = (out.max_window << shift).max(unscaled);
    out.min_window <<= shift;
    out.window_sum <<= shift;
    out.missed_bytes = conn.half(side).missed + conn.half(side).open_gaps();
    out
}

/// Where the tap of the largest connection is.
fn main_tap(flows: &[(usize, Measured)]) -> Tap {
    flows.first().map_or(Tap::Unknown, |(_, flow)| flow.facts.tap)
}

/// Facts of the largest flow.
fn main_facts(flows: &[(usize, Measured)]) -> Option<&FlowFacts> {
    flows.first().map(|(_, flow)| &flow.facts)
}

//! From followed connections to [`CaptureFacts`].

use std::cmp::Reverse;

use slowpath_record::packets::{CaptureSummary, Conversations};

use crate::capture::{Capture, CaptureFacts};
use crate::connection::{self, Drawn};
use crate::ends::Side;
use crate::facts::{Measured, measure, policing};
use crate::quality;
use crate::surroundings::{Surroundings, shared_fits};
use crate::track::{Clock, Conn};

/// What was seen of a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// All connections, those given up included.
    pub(crate) connections: u64,
    /// When the capturing machine held packets up: beginnings and ends in order, nanoseconds.
    pub(crate) disturbed: &'a [(i64, i64)],
    /// Whether graphs are wanted.
    pub(crate) graphs: bool,
}

/// The facts of one connection's data, on their way from whoever measured them.
#[derive(Debug)]
pub struct Part(Measured, Drawn);

/// Measures everything. `spread` may do a part of the work on several threads; see
/// [`Analyzer::finish_spread`](crate::Analyzer::finish_spread).
pub(crate) fn observe(
    connections: &[&Conn],
    seen: &Seen<'_>,
    conversations: &Conversations,
    summary: &CaptureSummary,
    spread: impl FnOnce(usize, &(dyn Fn(usize) -> Part + Sync)) -> Vec<Part>,
) -> CaptureFacts {
    let (clock, packets) = (seen.clock, seen.packets);
    let (start, end) = clock.span().unwrap_or((0, 0));
    let by_size = |(index, conn): (usize, &&Conn)| {
        let (side, size) = conn.larger_side();
        (index, side, size)
    };
    let mut order: Vec<(usize, Side, u64)> = connections.iter().enumerate().map(by_size).collect();
    order.sort_by_key(|&(index, _, size)| (Reverse(size), index));
    order.truncate(WITH_FACTS);
    let one = |rank: usize| {
        let (index, side, _) = order[rank];
        let large = rank < WITH_GRAPHS;
        let graphs = large && seen.graphs;
        let mut out = measure(connections[index], side, start, graphs);
        out.facts.timeline.note_held(seen.disturbed, start);
        let drawn = if large {
            Drawn::of(connections[index], &out, start, graphs)
        } else {
            Drawn::default()
        };
        Part(out, drawn)
    };
    let worth = order
        .iter()
        .take(SPREAD)
        .take_while(|(_, _, size)| *size >= WORTH_A_THREAD);
    let ahead = spread(worth.count(), &one);
    let mut measured: Vec<(usize, Measured)> = Vec::with_capacity(order.len());
    let mut drawn: Vec<Drawn> = Vec::with_capacity(order.len());
    let mut ahead = ahead.into_iter();
    for (rank, (index, _, _)) in order.iter().enumerate() {
        let Part(own, of_it) = ahead.next().unwrap_or_else(|| one(rank));
        measured.push((*index, own));
        drawn.push(of_it);
    }
    let shared = shared_fits(&measured, connections, conversations);
    let quality = quality::judge(&measured, connections, clock, packets, summary);
    let out = measured
        .into_iter()
        .zip(shared)
        .zip(drawn)
        .map(|(((index, measured), surroundings), drawn)| {
            let conn = connections[index];
            let key = conversations.key(conn.conversation);
            let surroundings = Surroundings {
                untimed: clock.untimed > 0 && clock.untimed * 2 > packets,
                clock_s: clock.resolution_ns() as f64 / 1e9,
                ssh: key.is_some_and(|key| key.src_port == 22 || key.dst_port == 22),
                policing: policing::of_flow(&measured),
                ..surroundings
            };
            connection::observed(conn, key, measured, surroundings, start, drawn)
        })
        .collect();
    CaptureFacts {
        capture: Capture {
            file: String::new(),
            parts: Vec::new(),
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

/// Connections with graphs; the smaller ones go without.
const WITH_GRAPHS: usize = 50;
/// Connections with full facts; the rest is only counted.
const WITH_FACTS: usize = 20_000;
/// Most connections whose measuring is spread over threads: fewer than get graphs.
const SPREAD: usize = 16;
/// Payload bytes from which measuring takes longer than starting a thread.
const WORTH_A_THREAD: u64 = 1 << 20;

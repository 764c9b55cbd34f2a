//! From followed connections to [`CaptureFacts`].

use std::cmp::Reverse;

use slowpath_record::packets::{CaptureSummary, Conversations};

use crate::capture::{Capture, CaptureFacts};
use crate::connection::{self, Drawn};
use crate::ends::Side;
use crate::facts::{Measured, Policing, Queues, measure, policing};
use crate::quality;
use crate::spread::{self, Spread, gather};
use crate::surroundings::{self, Shared, Surroundings};
use crate::track::{Clock, Conn};

/// What was seen of a capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Of these, those of UDP.
    pub(crate) datagrams: u64,
    /// All connections, those given up included.
    pub(crate) connections: u64,
    /// When the capturing machine held packets up: beginnings and ends in order, nanoseconds.
    pub(crate) disturbed: &'a [(i64, i64)],
    /// Whether graphs are wanted.
    pub(crate) graphs: bool,
}

/// What explains losses: those of flows together, and those of one.
enum Fitted {
    Together(Shared),
    Alone(Box<Queues>, Policing),
}

/// Measures everything, as far as it is worth it with `spread`.
pub(crate) fn observe(
    connections: &[&Conn],
    seen: &Seen<'_>,
    conversations: &Conversations,
    summary: &CaptureSummary,
    spread: Spread<'_>,
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
        (out, drawn)
    };
    let size: u64 = order.iter().map(|&(_, _, size)| size).sum();
    let spread: Spread<'_> = if size >= WORTH_A_THREAD {
        spread
    } else {
        &spread::here
    };
    let (mut measured, drawn): (Vec<Measured>, Vec<Drawn>) =
        gather(spread, order.len(), one).into_iter().unzip();
    let groups = surroundings::groups(&measured, |rank| connections[order[rank].0], conversations);
    // The losses of flows together take longest: they begin first.
    let fitted = gather(spread, groups.len() + measured.len(), |job| {
        match job.checked_sub(groups.len()) {
            None => Fitted::Together(groups[job].fit(&measured)),
            Some(rank) => {
                let flow = &measured[rank];
                Fitted::Alone(Box::new(flow.queues()), policing::of_flow(flow))
            }
        }
    });
    let mut surroundings = vec![Surroundings::default(); measured.len()];
    for (job, found) in fitted.into_iter().enumerate() {
        match found {
            Fitted::Together(fit) => groups[job].note(&fit, &measured, &mut surroundings),
            Fitted::Alone(queues, policing) => {
                let rank = job - groups.len();
                measured[rank].note(&queues, start);
                surroundings[rank].policing = policing;
            }
        }
    }
    let datagrams = seen.datagrams as f64 / seen.bytes.max(1) as f64;
    let quality = quality::judge(&measured, connections, clock, packets, datagrams, summary);
    let out = measured
        .into_iter()
        .zip(surroundings)
        .zip(drawn)
        .zip(&order)
        .map(|(((measured, surroundings), drawn), &(index, _, _))| {
            let conn = connections[index];
            let key = conversations.key(conn.conversation);
            let surroundings = Surroundings {
                untimed: clock.untimed > 0 && clock.untimed * 2 > packets,
                clock_s: clock.resolution_ns() as f64 / 1e9,
                ssh: key.is_some_and(|key| key.src_port == 22 || key.dst_port == 22),
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
/// Payload bytes from which measuring takes longer than starting threads.
const WORTH_A_THREAD: u64 = 1 << 20;

//! What a capture shows of a transfer, in the form in which a simulation shows it at the same place.

use slowpath_facts::{Connection, Tap};
use slowpath_sim::watch::{LEAST_STEP, episodes};
pub use slowpath_sim::watch::{Seen, Watch};

/// What a capture shows of a connection, up to so many bytes; `None` without data and acknowledgements.
pub fn of(connection: &Connection, most: u64) -> Option<Seen> {
    let graphs = &connection.graphs;
    let first = graphs.segments.first()?;
    let (start, base) = (first.at_s, first.from as f64);
    let payload = connection.facts.bytes as f64;
    let mut seen = Seen {
        complete: true,
        ..Seen::default()
    };
    let at_sender = connection.facts.tap != Tap::Receiver;
    let mut highest = 0.0_f64;
    let mut next_step = 0.0;
    // The points of a graph are thinned by value: order matters only between equal times.
    for point in &graphs.acks {
        let at = point.at_s - start;
        // A FIN takes a sequence number and carries nothing (RFC 9293, section 3.4).
        let value = point.value - base;
        let value = if (value - payload - 1.0).abs() < 0.5 {
            payload
        } else {
            value
        };
        if at < 0.0 || value <= highest {
            continue;
        }
        highest = value;
        seen.duration_s = at;
        if at >= next_step || value >= most as f64 {
            seen.delivered.push((at, value));
            next_step = at + LEAST_STEP;
        }
        if value >= most as f64 {
            break;
        }
    }
    if seen.delivered.last().is_some_and(|last| last.1 < highest) {
        seen.delivered.push((seen.duration_s, highest));
    }
    seen.bytes = highest as u64;
    if seen.bytes == 0 || seen.duration_s <= 0.0 {
        return None;
    }
    if at_sender {
        let inside = graphs.rtt.iter().map(|point| (point.at_s - start, point.value));
        seen.round_trips = inside
            .filter(|(at, _)| (0.0..=seen.duration_s).contains(at))
            .collect();
    }
    let again = graphs.segments.iter().filter(|segment| segment.retransmission);
    let again: Vec<f64> = again
        .map(|segment| segment.at_s - start)
        .filter(|at| *at <= seen.duration_s)
        .collect();
    let apart = 2.0 * connection.facts.rtt.median.max(1e-3);
    let whole = seen.bytes >= connection.facts.bytes.min(most);
    seen.resent = if at_sender && whole && most >= connection.facts.bytes {
        let spurious = connection.facts.loss.spurious;
        connection.retransmitted_segments.saturating_sub(spurious)
    } else {
        again.len() as u64
    };
    seen.episodes = episodes(&again, apart);
    Some(seen)
}
